"""Trees grown block by block are those grown in memory, to the last bit."""

import numpy as np
import pytest
from numpy.testing import assert_array_equal

from psephos import (
    NewtonBoostingClassifier,
    NewtonBoostingRegressor,
    PsephosError,
    RandomForestRegressor,
    load,
    save,
)
from psephos.models.boosting.out_of_core import fit_blocks
from psephos.trees import newton_grow
from psephos.trees.out_of_core.bins import BlockBins, QuantileSummary
from psephos.trees.out_of_core.rows import ArrayRows, ParquetRows


def table(seed, n=300, p=6, classes=2):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, p)).astype(np.float32)
    X[:, 1] = rng.integers(0, 3, n)
    X[rng.random((n, p)) < 0.1] = np.nan
    X[:, 3] = 5.0
    score = np.nan_to_num(X[:, 0] * X[:, 1] - X[:, 2]) + 0.5 * rng.standard_normal(n)
    y = np.digitize(score, [0.0, 0.8][: classes - 1]) if classes else score.astype(np.float32)
    return X, y, rng.choice([0.0, 0.5, 1.0, 3.0], n)


def make(classes, **params):
    kind = NewtonBoostingClassifier if classes else NewtonBoostingRegressor
    return kind("hist", **{"n_estimators": 3, "base_score": 0.3, **params})


def same_votes(one, two):
    """All arrays of the votes have the same bytes."""
    for a, b in zip(one.vote_.voters.parts, two.vote_.voters.parts, strict=True):
        for name in a.__dataclass_fields__:
            first, second = np.asarray(getattr(a, name)), np.asarray(getattr(b, name))
            assert first.dtype == second.dtype, name
            assert first.tobytes() == second.tobytes(), name


PARAMS = {
    "plain": {},
    "costs": {"gamma": 1.0, "reg_alpha": 0.3, "max_delta_step": 0.4},
    "free": {"min_child_weight": 0.0, "reg_lambda": 0.0, "max_depth": 9},
    "directed": {"monotone_constraints": [1, 0, -1, 0, 0, 0]},
    "few bins": {"max_bin": 5},
    "rows drawn": {"subsample": 0.4, "random_state": 3},
}


@pytest.mark.parametrize("params", PARAMS)
@pytest.mark.parametrize(("classes", "weighted"), [(0, True), (2, False), (2, True), (3, True)])
def test_as_in_memory(params, classes, weighted, random_seed):
    X, y, w = table(random_seed, classes=classes)
    weight = w if weighted else None
    expected = make(classes, **PARAMS[params]).fit(X, y, weight)
    source = ArrayRows(X, y, weight, block_rows=77)
    found = fit_blocks(make(classes, **PARAMS[params]), source)
    same_votes(found, expected)
    assert_array_equal(found.predict(X), expected.predict(X))
    assert (found.n_features_in_, found.n_estimators_) == (6, 3)


@pytest.mark.parametrize("classes", [0, 2, 3])
def test_blocks_and_threads_do_not_matter(classes, random_seed, tmp_path):
    X, y, w = table(random_seed, n=300, p=20, classes=classes)
    np.save(tmp_path / "x.npy", X)
    whole = fit_blocks(make(classes), ArrayRows(X, y, w))
    for block_rows, n_jobs in ((64, 1), (299, 2), (7, 1)):
        source = ArrayRows(tmp_path / "x.npy", y, w, block_rows=block_rows)
        same_votes(fit_blocks(make(classes, n_jobs=n_jobs), source, scratch=tmp_path), whole)
    assert [f.name for f in tmp_path.iterdir()] == ["x.npy"]  # the scratch folder is gone


def test_the_base_score_is_found(random_seed):
    for classes in (0, 2, 3):
        X, y, w = table(random_seed, classes=classes)
        expected = make(classes, base_score=None).fit(X, y, w)
        found = fit_blocks(make(classes, base_score=None), ArrayRows(X, y, w, block_rows=50))
        bases = [m.vote_.voters.parts[0].values for m in (found, expected)]
        np.testing.assert_allclose(*bases, rtol=1e-6)


def test_a_column_of_more_values_than_a_summary_keeps(random_seed, monkeypatch):
    """The cuts are then other ones: the trees are those grown in memory on the same cuts."""
    X, y, _ = table(random_seed, n=50_000)
    seen = []

    def kept(*given):
        seen.append(original(*given))
        return seen[-1]

    original = BlockBins.of
    monkeypatch.setattr(BlockBins, "of", kept)
    found = fit_blocks(make(2), ArrayRows(X, y, block_rows=3000))
    exact = make(2).fit(X, y)
    assert abs(found.score(X, y) - exact.score(X, y)) < 0.01

    def binned(values, n_codes, max_bin, n_jobs=None, weight=None):
        bins = seen[0]
        codes = bins.codes(values)
        return newton_grow.BinnedTable(
            values, codes, newton_grow.side_by_side(codes), bins.n_bins, bins.cuts, {}
        )

    monkeypatch.setattr(newton_grow, "bin_table", binned)
    same_votes(found, make(2).fit(X, y))
    again = fit_blocks(make(2), ArrayRows(X, y, block_rows=999), bins=seen[0])
    same_votes(again, found)


def test_parquet_parts(random_seed, tmp_path):
    pa = pytest.importorskip("pyarrow", reason="pyarrow reads parquet files")
    pd = pytest.importorskip("pandas", reason="frames have names")
    from pyarrow import parquet

    X, y, _ = table(random_seed)
    frame = pd.DataFrame(X, columns=list("abcdef"))
    words = np.array(["well", "ill"])[y]
    whole = pa.Table.from_pandas(frame.assign(state=words), preserve_index=False)
    for i in range(3):
        parquet.write_table(whole.slice(100 * i, 100), tmp_path / f"p{i}.parquet")
    found = fit_blocks(make(2), ParquetRows(tmp_path, "state", block_rows=30))
    expected = make(2).fit(frame, words)
    same_votes(found, expected)
    assert found.classes_.tolist() == ["ill", "well"]
    assert found.feature_names_in_.tolist() == list("abcdef")
    assert_array_equal(found.predict(frame), expected.predict(frame))
    assert found.features_used_.tolist() == expected.features_used_.tolist()
    save(found, tmp_path / "found")
    save(expected, tmp_path / "expected")
    assert (tmp_path / "found").read_bytes() == (tmp_path / "expected").read_bytes()
    assert_array_equal(load(tmp_path / "found").predict(frame), found.predict(frame))


@pytest.mark.parametrize("kind", ["words", "dictionary"])
@pytest.mark.parametrize("classes", [0, 2, 3])
def test_text_is_a_category(classes, kind, random_seed, tmp_path):
    """Sets of categories are divided as in memory, more than 255 of them too."""
    pa = pytest.importorskip("pyarrow", reason="pyarrow reads parquet files")
    pd = pytest.importorskip("pandas", reason="frames have names")
    from pyarrow import parquet

    X, y, _ = table(random_seed, n=900, classes=classes)
    rng = np.random.default_rng(random_seed)
    frame = pd.DataFrame(X, columns=list("abcdef"))
    frame["few"] = np.array(["low", "é", "high"])[1 * (y > 0) + (X[:, 2] > 1)]
    frame["many"] = [f"site {k:03d}" for k in rng.integers(0, 400, 900)]
    frame.loc[rng.random(900) < 0.1, "few"] = None
    frame = frame.astype({"few": "category", "many": "category"})
    given = frame if kind == "dictionary" else frame.astype({"few": object, "many": object})
    whole = pa.Table.from_pandas(given.assign(y=y), preserve_index=False)
    for i in range(3):
        parquet.write_table(whole.slice(300 * i, 300), tmp_path / f"p{i}.parquet")
    params = {"max_depth": 4, "subsample": 0.7, "random_state": 1}
    found = fit_blocks(make(classes, **params), ParquetRows(tmp_path, "y", block_rows=170))
    expected = make(classes, **params).fit(frame, y)
    assert {"few", "many"} <= set(found.features_used_.tolist())  # both columns of text are read
    same_votes(found, expected)
    assert_array_equal(found.predict(frame), expected.predict(frame))
    assert found.describe() == expected.describe()


def test_known_or_missing_may_be_all_there_is_to_ask():
    X = np.full((6, 2), np.nan)
    X[:3, 1] = 1.0
    y = np.array([0, 0, 0, 1, 1, 1])
    found = fit_blocks(make(2, min_child_weight=0.0), ArrayRows(X, y, block_rows=2))
    assert_array_equal(found.predict(X), y)
    assert found.features_used_.tolist() == [1]
    same_votes(found, make(2, min_child_weight=0.0).fit(X, y))


def test_one_row():
    X = np.array([[1.0, np.nan]])
    found = fit_blocks(make(0, base_score=None), ArrayRows(X, np.array([2.5])))
    assert found.predict(X).tolist() == [2.5]


def test_gradients_that_round_to_nothing(random_seed):
    """One number is so large that the others are hardly a step."""
    rng = np.random.default_rng(random_seed)
    X = rng.standard_normal((400, 2)).astype(np.float32)
    y = np.where(np.arange(400) == 7, 1e6, rng.standard_normal(400)).astype(np.float32)
    params = {"min_child_weight": 0.0, "reg_lambda": 0.0, "max_depth": 12}
    found = fit_blocks(make(0, **params), ArrayRows(X, y, block_rows=64))
    same_votes(found, make(0, **params).fit(X, y))


@pytest.mark.parametrize(
    ("params", "words"),
    [
        ({"tree_method": "exact"}, "tree_method='exact': on rows that are read in blocks"),
        ({"colsample_bytree": 0.5}, "colsample_bytree=0.5"),
        ({"max_leaves": 5}, "max_leaves=5"),
        ({"grow_policy": "lossguide"}, "grow_policy='lossguide'"),
        ({"validation_fraction": 0.1}, "validation_fraction=0.1"),
        ({"n_estimators": 0}, "n_estimators"),
    ],
)
def test_what_blocks_cannot_do_is_said(params, words, random_seed):
    X, y, _ = table(random_seed, n=20)
    with pytest.raises(PsephosError, match=words):
        fit_blocks(make(2).set_params(**params), ArrayRows(X, y))


@pytest.mark.parametrize("classes", [2, 3])
def test_own_objective_is_told_class_indices(classes, random_seed):
    X, y, w = table(random_seed, classes=classes)
    words = np.array(["egg", "ham", "jam"])[y]

    def brier(y, margin):
        coded = np.eye(classes)[y]  # an index, so whole numbers are needed
        return margin - (coded if classes > 2 else coded[:, 1]), np.ones(margin.shape)

    expected = make(classes, objective=brier).fit(X, words, w)
    found = fit_blocks(make(classes, objective=brier), ArrayRows(X, words, w, block_rows=77))
    same_votes(found, expected)


def test_no_limit_on_depth(random_seed):
    X, y, _ = table(random_seed)
    free = {"max_depth": None, "min_child_weight": 0.0}
    found = fit_blocks(make(2, **free), ArrayRows(X, y, block_rows=77))
    same_votes(found, make(2, **free).fit(X, y))
    limited = make(2).fit(X, y)
    assert len(found.vote_.voters.parts[1].feature) > len(limited.vote_.voters.parts[1].feature)


def test_rows_that_cannot_be_learnt(random_seed):
    X, y, _ = table(random_seed, n=20)
    with pytest.raises(PsephosError, match=r"y holds 0\.5, a fraction.*regressor"):
        fit_blocks(make(2), ArrayRows(X, np.where(y == 1, 0.5, 2.0)))
    with pytest.raises(PsephosError, match="at least one row"):
        fit_blocks(make(2), ArrayRows(X[:0], y[:0]))
    with pytest.raises(PsephosError, match="1 class"):
        fit_blocks(make(2), ArrayRows(X, y * 0))
    for classes in (0, 2):
        with pytest.raises(PsephosError, match="at least one row must have weight above 0"):
            fit_blocks(make(classes), ArrayRows(X, y, y * 0.0))


def test_an_error_in_the_middle_leaves_nothing_behind(random_seed, tmp_path):
    X, y, _ = table(random_seed, n=200)

    def wild(y, margin):
        return margin * np.nan, np.ones_like(margin)

    source = ArrayRows(X, y, block_rows=30)
    with pytest.raises(PsephosError, match="not finite"):
        fit_blocks(make(2, objective=wild), source, scratch=tmp_path)
    assert list(tmp_path.iterdir()) == []


def test_what_was_given_amiss_is_said():
    X, y = np.arange(40.0).reshape(20, 2), np.arange(20.0)
    rows = ArrayRows(X, y)
    with pytest.raises(PsephosError, match="the source names the categories"):
        fit_blocks(NewtonBoostingRegressor("hist", categorical_features=[0]), rows)
    with pytest.raises(PsephosError, match="cannot be fitted in blocks"):
        fit_blocks(RandomForestRegressor(), rows)
    with pytest.raises(PsephosError, match="Divide y"):
        fit_blocks(NewtonBoostingRegressor("hist"), ArrayRows(X, y * 1e150))
    narrow = BlockBins.of([QuantileSummary.of(X[:, 0])], 8)
    with pytest.raises(PsephosError, match="bins are of 1 columns"):
        fit_blocks(NewtonBoostingRegressor("hist"), rows, bins=narrow)
