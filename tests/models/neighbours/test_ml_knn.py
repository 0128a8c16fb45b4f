"""ML-kNN: by hand, on published tables, and what does not change it."""

import zipfile

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.sparse import csr_array
from scipy.spatial.distance import cdist

from psephos import MLKNeighborsClassifier, PsephosError, load, save

RNG = np.random.default_rng(0)
X = RNG.standard_normal((80, 4))
Y = np.column_stack([X[:, 0] > 0, X[:, 1] > 0.8, X[:, 2] + X[:, 3] > 0]).astype(int)
NEW = RNG.standard_normal((30, 4))


def by_hand(X, Y, new, k, s=1.0):
    """Return P(H1 | C) row by row, label by label, as the source has it."""
    apart = cdist(X, X)
    np.fill_diagonal(apart, np.inf)
    near = np.argsort(apart, axis=1, kind="stable")[:, :k]
    asked = np.argsort(cdist(new, X), axis=1, kind="stable")[:, :k]
    out = np.empty((len(new), Y.shape[1]))
    for label in range(Y.shape[1]):
        y = Y[:, label]
        prior = (s + y.sum()) / (2 * s + len(y))
        table = np.zeros((2, k + 1))
        for i in range(len(y)):
            table[y[i], y[near[i]].sum()] += 1
        chance = (s + table) / (s * (k + 1) + table.sum(axis=1, keepdims=True))
        for i, row in enumerate(asked):
            yes = prior * chance[1, y[row].sum()]
            out[i, label] = yes / (yes + (1 - prior) * chance[0, y[row].sum()])
    return out


@pytest.mark.parametrize("k", [1, 4, 10])
def test_by_hand(k):
    model = MLKNeighborsClassifier(k).fit(X, Y)
    chances = by_hand(X, Y, NEW, k)
    assert_allclose(model.predict_proba(NEW), chances, rtol=1e-12)
    assert_array_equal(model.predict(NEW), chances >= 0.5)
    few = MLKNeighborsClassifier(k, threshold=0.3, strict=True).fit(X, Y)
    assert_array_equal(few.predict(NEW), chances > 0.3)


def test_at_the_threshold():
    """One label, posteriors of exactly one half: given, or with strict=True not."""
    cases = np.array([[0.0], [1.0], [10.0], [11.0], [20.0], [21.0], [30.0], [31.0]])
    labels = np.tile([[0], [1], [0], [1], [0], [0], [1], [1]], 2)  # neighbours tell nothing
    loose = MLKNeighborsClassifier(1).fit(cases, labels)
    assert_array_equal(loose.predict_proba(cases), 0.5)
    assert (loose.predict(cases) == 1).all()
    strict = MLKNeighborsClassifier(1, strict=True).fit(cases, labels)
    assert (strict.predict(cases) == 0).all()


@pytest.mark.parametrize("most", [1, 3, 2000])
def test_whole_numbers(most):
    """Small ones are compared by products alone, large ones are not: all find the nearest."""
    rng = np.random.default_rng(most)
    cases, asked = rng.integers(-most, most + 1, (300, 7)), rng.integers(-most, most + 1, (40, 7))
    labels = rng.integers(0, 2, (300, 2))
    model = MLKNeighborsClassifier(6).fit(cases, labels)
    far = cdist(asked, cases)
    order = np.argsort(far, axis=1, kind="stable")[:, :6]
    apart, rows = model.kneighbors(asked)
    assert_array_equal(rows, order)
    assert_allclose(apart, np.take_along_axis(far, order, axis=1), rtol=1e-12)


def test_forms_and_weights():
    model = MLKNeighborsClassifier(5).fit(X, Y)
    chances = model.predict_proba(NEW)
    sparse = MLKNeighborsClassifier(5).fit(csr_array(X), csr_array(Y))
    assert_array_equal(sparse.predict_proba(csr_array(NEW)), chances)
    weight = 1 + np.arange(len(X)) % 3
    twice = MLKNeighborsClassifier(5).fit(
        np.repeat(X, weight, axis=0), np.repeat(Y, weight, axis=0)
    )
    weighed = MLKNeighborsClassifier(5).fit(X, Y, sample_weight=weight)
    assert_allclose(weighed.predict_proba(NEW), twice.predict_proba(NEW), rtol=1e-12)


@pytest.mark.parametrize("metric", ["manhattan", "cosine"])
def test_other_metrics(metric):
    model = MLKNeighborsClassifier(4, metric=metric).fit(X, Y)
    apart = cdist(NEW, X, {"manhattan": "cityblock"}.get(metric, metric))
    assert_array_equal(model.kneighbors(NEW)[1], np.argsort(apart, axis=1, kind="stable")[:, :4])
    holes = NEW.copy()
    holes[0, 0] = np.nan
    with pytest.raises(PsephosError, match="lacks a value"):
        model.predict(holes)


def test_neighbours_and_ballots(tmp_path):
    model = MLKNeighborsClassifier(3).fit(X, Y)
    apart, rows = model.kneighbors()
    assert_array_equal(rows != np.arange(len(X))[:, None], True)
    every = cdist(X, X)
    np.fill_diagonal(every, np.inf)
    assert_allclose(apart, np.sort(every, axis=1)[:, :3])
    with pytest.raises(PsephosError, match=r"n_neighbors must be .* from 1 to 79; got 80"):
        model.kneighbors(n_neighbors=80)
    ballots = model.explain(NEW[:2])
    for case, near in enumerate(model.kneighbors(NEW[:2])[1]):
        for label in range(3):
            carried = [f"row {row}" for row in sorted(near) if Y[row, label]]
            assert sorted(ballots.carried_by(case, label)) == sorted(carried)
        assert {v - 1 for line in ballots.lines(case) for v in line.voters} == set(near.tolist())
    for label in ballots.given(0):
        assert f"  {label}: row " in str(ballots)
    named = set(ballots.vote.voters.rows.tolist())
    assert named == set(model.kneighbors(NEW[:2])[1].ravel().tolist())
    save(model, tmp_path / "model.psephos")
    again = load(tmp_path / "model.psephos")
    assert_array_equal(again.predict_proba(NEW), model.predict_proba(NEW))
    assert_array_equal(again.posterior_, model.posterior_)


def test_missing_values_are_left_out_of_distances():
    holes = X.copy()
    holes[::7, 1] = np.nan
    model = MLKNeighborsClassifier(5).fit(holes, Y)
    asked = NEW.copy()
    asked[::2, 0] = np.nan
    both = ~np.isnan(asked)[:, None] & ~np.isnan(holes)[None]
    gap = np.where(both, np.nan_to_num(asked)[:, None] - np.nan_to_num(holes)[None], 0.0)
    apart = np.sqrt(4 / both.sum(axis=2) * (gap**2).sum(axis=2))
    assert_allclose(model.kneighbors(asked)[0], np.sort(apart, axis=1)[:, :5])


@pytest.mark.parametrize("size", [1e155, 1e200, 1e300])
@pytest.mark.parametrize("whole", [True, False])
def test_a_row_that_is_too_far_for_distances_is_refused(size, whole):
    X = np.random.default_rng(0).normal(size=(60, 6))
    model = MLKNeighborsClassifier(5).fit(X, np.column_stack([X[:, 0] > 0, X[:, 1] > 0.5]))
    asked = X[:3].copy()
    asked[1] *= size
    asked[1, 3] = asked[1, 3] if whole else np.nan
    for ask in (model.predict, model.predict_proba, model.kneighbors):
        with pytest.raises(PsephosError, match=r"at most 1e\+150 in size"):
            ask(asked)
    with pytest.raises(PsephosError, match="so far from the training cases that distances"):
        model.vote_.answers(asked)
    asked = X[:3] * [[1], [1e90], [1]]
    alone = np.concatenate([model.predict_proba(row[None]) for row in asked])
    assert_array_equal(model.predict_proba(asked), alone)


def two_laboratories(rng, n):
    """Return rows of which the first half has the columns 0 and 1, the second 3 and 4."""
    X = rng.standard_normal((n, 5))
    Y = np.column_stack([X[:, 0] > 0, X[:, 1] > 0]).astype(int)
    X[: n // 2, 2:] = np.nan
    X[n // 2 :, :3] = np.nan
    return X, Y


@pytest.mark.parametrize("weight", [None, 1.5])
def test_cases_that_share_no_column_are_no_neighbours(weight):
    rng = np.random.default_rng(0)
    X, Y = two_laboratories(rng, 200)
    w = None if weight is None else np.full(200, weight)
    model = MLKNeighborsClassifier(5).fit(X, Y, sample_weight=w)
    asked = two_laboratories(rng, 60)[0][:30]
    assert (model.kneighbors(asked)[1] < 100).all()
    heard = model.vote_.weighed(asked)
    assert (heard < 100).all()
    alone = MLKNeighborsClassifier(5).fit(X[:100, :2], Y[:100])
    assert_array_equal(model.kneighbors(asked)[1], alone.kneighbors(asked[:, :2])[1])
    apart, _ = model.kneighbors(asked, 150)
    assert np.isinf(apart[:, 100:]).all()
    assert np.isfinite(apart[:, :100]).all()


def test_cases_without_a_value():
    """They are nobody's neighbour, count in no table, and are answered by the prior."""
    blank = np.vstack([np.full((10, 4), np.nan), X])
    labels = np.vstack([np.ones((10, 3), dtype=int), Y])
    model, full = (MLKNeighborsClassifier(5).fit(*part) for part in ((blank, labels), (X, Y)))
    assert (model.kneighbors(NEW)[1] >= 10).all()
    own, rows = model.kneighbors()
    assert np.isinf(own[:10]).all()
    assert (rows != np.arange(90)[:, None]).all()
    odds = model.posterior_ / (1 - model.posterior_)
    prior = model.prior_ / (1 - model.prior_)
    wanted = full.posterior_ / (1 - full.posterior_)
    assert_allclose(odds / prior[:, None], wanted / (full.prior_ / (1 - full.prior_))[:, None])
    asked = np.vstack([np.full(4, np.nan), NEW[:3]])
    assert_allclose(model.predict_proba(asked)[0], model.prior_)
    assert_array_equal(model.predict(asked)[0], model.prior_ >= 0.5)
    assert_allclose(model.decision_function(asked)[0], 2 * model.prior_ - 1)
    assert_allclose(list(model.staged_predict_proba(asked))[-1], model.predict_proba(asked))
    ballots = model.explain(asked)
    assert ballots.given(0) == np.flatnonzero(model.prior_ >= 0.5).tolist()
    assert [len(near) for near in ballots.nearest()] == [0, 5, 5, 5]
    assert model.explain(asked[:1]).carried_by(0, 0) == []
    classes = MLKNeighborsClassifier(5).fit(blank, labels[:, 0])
    prior = classes.prior_ / classes.prior_.sum()
    assert_allclose(classes.predict_proba(asked)[0], prior)


def test_fewer_neighbours_than_k():
    """Two of the four in reach say yes: the table is read at the same share of five, rounded."""
    cases = np.full((40, 2), np.nan)
    cases[:36, 0], cases[36:, 1] = np.arange(36), np.arange(4)
    labels = np.tile(np.r_[np.arange(36) % 2, 1, 1, 0, 0][:, None], 2)
    model = MLKNeighborsClassifier(5).fit(cases, labels)
    said = model.predict_proba([[np.nan, 0.0]])[0, 0]
    assert said == model.posterior_[0, round(5 * 2 / 4)]


def test_a_count_that_was_not_seen_says_the_prior():
    """Without smoothing there is nothing to divide by."""
    cases = np.r_[np.arange(6.0), 100 + np.arange(6.0)][:, None]
    labels = np.tile(np.r_[np.zeros(6), np.ones(6)][:, None], 2).astype(int)
    model = MLKNeighborsClassifier(4, smoothing=0).fit(cases, labels)
    assert_array_equal(model.posterior_[0], [0, 0.5, 0.5, 0.5, 1])  # all or none of four


def test_columns_in_other_units():
    """column_scale='std' is distances of standardised columns; the default is the paper's."""
    units = np.array([1.0, 1e3, 1e-3, 10.0])
    plain = MLKNeighborsClassifier(5).fit(X / X.std(axis=0), Y)
    for weight in (None, np.ones(len(X))):
        scaled = MLKNeighborsClassifier(5, column_scale="std").fit(X * units, Y, weight)
        assert_allclose(
            scaled.predict_proba(NEW * units), plain.predict_proba(NEW / X.std(axis=0)), rtol=1e-12
        )
    assert (scaled.predict_proba(NEW * units) != MLKNeighborsClassifier(5).fit(X * units, Y)
            .predict_proba(NEW * units)).any()  # fmt: skip
    tiny = X * [1e-200, 1, 1, 1]
    MLKNeighborsClassifier(5, column_scale="std").fit(tiny, Y)
    with pytest.raises(PsephosError, match="column_scale='std'"):
        MLKNeighborsClassifier(5).fit(tiny, Y)
    assert MLKNeighborsClassifier.contender.settings({}, None, 0) == {"column_scale": "std"}


def test_only_neighbours_with_a_weight_are_heard():
    """The last of equally heavy cases may be beyond k: it is found, and not heard."""
    cases = np.arange(6.0)[:, None]
    labels = np.tile([[0], [1]], (3, 2))
    model = MLKNeighborsClassifier(2).fit(cases, labels, sample_weight=[2, 2, 1, 1, 1, 1])
    assert_array_equal(model.vote_.weighed(np.zeros((1, 1))), [0])
    assert_array_equal(model.vote_.weights(np.zeros((1, 1)))[0], [2, 0, 0, 0, 0, 0])
    assert len(model.explain([[0.0]]).nearest()[0]) == 1
    by_votes = model.vote_.weights(cases).sum(axis=0)
    assert_allclose(model.vote_.weighting.mean_share(), by_votes / by_votes.sum())


def test_few_cases_and_many():
    """Few are sorted and many screened: the same neighbours."""
    many = np.random.default_rng(3).standard_normal((300, 4))
    for m in (100, 300):
        model = MLKNeighborsClassifier(7).fit(many[:m], many[:m, :2] > 0)
        far = cdist(NEW, many[:m])
        assert_array_equal(model.kneighbors(NEW)[1], np.argsort(far, axis=1, kind="stable")[:, :7])


def test_training_cases_are_stored_once(tmp_path):
    model = MLKNeighborsClassifier(3).fit(X, Y)
    save(model, tmp_path / "m.psephos")
    with zipfile.ZipFile(tmp_path / "m.psephos") as file:
        names = [name for name in file.namelist() if name.endswith("cases.npy")]
    assert names == ["arrays/vote.voters.cases.npy"]
    again = load(tmp_path / "m.psephos")
    assert again.vote_.weighting.cases is again.vote_.voters.cases
    save(again, tmp_path / "n.psephos")
    assert (tmp_path / "n.psephos").read_bytes() == (tmp_path / "m.psephos").read_bytes()
    assert_array_equal(again.predict_proba(NEW), model.predict_proba(NEW))


def test_the_answer_can_be_followed_in_words():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((60, 3))
    Y = np.column_stack([X[:, 0] > 0, X[:, 1] > 1.0, rng.random(60) > 0.5]).astype(int)
    model = MLKNeighborsClassifier(10).fit(X, Y)
    rows, chances = rng.standard_normal((4, 3)), None
    near, chances = model.kneighbors(rows)[1], model.predict_proba(rows)
    told = model.predict(rows)
    ballots = model.explain(rows)
    text, page = str(ballots), ballots._repr_html_()
    for i in range(4):
        for k in range(3):
            answer = "given" if told[i, k] else "not given"
            have = int(Y[near[i], k].sum())
            words = f"{have} of 10 neighbours have it: probability {chances[i, k]:.3f}, {answer}"
            assert f"  {k}: {words}" in text
            assert f"<p>{k}: {words}</p>" in page
            assert f"{k}: {words}" in ballots.columns()["looked_up"][i * len(ballots.voter_numbers)]
    assert "frame() has every label" in page
    described = "\n".join(model.describe())
    row = " ".join(f"{p:.3f}" for p in model.posterior_[1])
    assert f"Posterior of 1 where 0, 1, ..., 10 of 10 neighbours say it: {row}" in described
    assert described.count("near row") == 12
    assert "48 training cases more" in described


def test_of_classes_the_look_up_is_told_too():
    X, y = np.arange(20.0)[:, None], np.repeat(["no", "yes"], 10)
    told = str(MLKNeighborsClassifier(4).fit(X, y).explain([[0.0]]))
    assert "no: 4 of 4 neighbours are it: probability" in told


def test_a_constant_column_has_no_importance():
    rng = np.random.default_rng(0)
    X = np.column_stack([rng.standard_normal((40, 2)), np.full(40, 5.0)])
    Y = np.column_stack([X[:, 0] > 0, X[:, 1] > 0])
    shares = MLKNeighborsClassifier(5).fit(X, Y).feature_importances_
    assert shares[2] == 0.0
    assert shares[:2].min() > 0.1
