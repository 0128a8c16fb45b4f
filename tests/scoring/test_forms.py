"""ONNX, sheets of paper and models of rounded rows."""

import itertools
import re
from decimal import Decimal

import numpy as np
import pytest

from psephos import (
    AdaBoostClassifier,
    BaggingClassifier,
    C45Classifier,
    CARTClassifier,
    RandomForestClassifier,
    at_threshold,
)
from psephos._errors import PsephosError
from psephos.scoring import conformance, plain
from psephos.scoring.form import single_bound
from psephos.scoring.reader.calibrated import Posteriors
from psephos.scoring.sheet import hand_bound, sheet, sheet_of
from psephos.scoring.vectors import drawn_rows, with_rounded_rows

KEEPING = ["proset, 3 classes, 0.2 missing", "ml-knn, 3 classes, 0.2 missing"]
ONNX = [
    "adaboost, 2 classes, 0.2 missing",
    "adaboost-trees, 3 classes, 0.0 missing",
    "random-forest, 3 classes, 0.2 missing",
    "newton-numbers-hist, 0 classes, 0.2 missing",
    "newton-boosting, frame",
    "gradient-boosting, 2 classes, 0.0 missing",
    "threshold, shares",
    "threshold, log-odds",
    "linear numbers",
    "cart, 3 classes, 0.2 missing",
    "cart-stays, 2 classes, 0.2 missing",
    "cart, frame",
    "c45-rules, 3 classes, 0.2 missing",
    "linear-tree-leaves, 3 classes, 0.2 missing",
    "linear-tree-leaves, 2 classes, 0.2 missing",
    "linear-tree-numbers-leaves, 0 classes, 0.2 missing",
    "linear-tree-leaves, frame",
    "linear-tree-numbers-leaves, frame",
    "c45, 3 classes, 0.2 missing",
    "c45, frame",
    "gibbs, 2 classes, 0.0 missing",
    "bagging, 2 classes, 0.0 missing",
    "bagging-stays, 2 classes, 0.2 missing",
    "adaboost-c45, 2 classes, 0.2 missing",
    "column-budget, 2 classes, 0.0 missing",
    "column-budget-regressor, 0 classes, 0.0 missing",
    "column-budget, 3 classes, 0.0 missing",
    "bagging, 3 classes, 0.0 missing",
    "rank-ridge, 3 classes, 0.0 missing",
    "rank-ridge, frame",
    "median",
    "adaboost-regressor, 0 classes, 0.2 missing",
    "adaboost-regressor, frame",
    "column-budget-regressor, frame",
]


def _in_single(vote, X):
    """Return rows as a reader of single precision sees them: what is rounded to a mark is the mark.

    A threshold is rounded as the values are, so that a value equal to it stays on its side.
    """
    out = X.astype(np.float32).astype(np.float64)
    for j, value in zip(*vote.marks(), strict=True):
        if np.isfinite(value):
            column = out[:, int(j)]
            column[column == float(np.float32(value))] = value
    return out


@pytest.mark.parametrize("strict", [False, True])
def test_thresholds_of_single_precision(strict):
    rng = np.random.default_rng(0)
    for threshold in [*rng.standard_normal(50), 0.0, 1.0, 16777217.0, 1e-40]:
        bound = single_bound(float(threshold), strict)
        near = [bound, np.nextafter(bound, np.inf), np.nextafter(bound, -np.inf), threshold]
        for x in near:
            read = float(np.float32(x))
            assert (x <= bound) == (read < threshold if strict else read <= threshold)


# ---------------------------------------------------------------------- onnx
def test_values_of_a_threshold_stay_on_its_side_in_onnx():
    """C4.5's thresholds are values of the table: 0.8 in float32 is above 0.8."""
    pytest.importorskip("onnx", reason="needs onnx (extra 'onnx')")
    runtime = pytest.importorskip("onnxruntime", reason="needs onnxruntime to run the model")
    from psephos.scoring.onnx import onnx_model

    values = np.arange(1, 100) / 10
    above = 0
    for at in range(10, 90):
        y = (np.arange(99) > at).astype(int)
        model = C45Classifier().fit(values[:, None], y)
        session = runtime.InferenceSession(onnx_model(model))
        found = session.run(None, {"columns": values[:, None].astype(np.float32)})
        np.testing.assert_array_equal(found[1], model.predict(values[:, None]))
        above += float(np.float32(values[at])) > values[at]
    assert above > 20


def test_onnx_of_categories_that_votes_within_a_vote_read():
    pytest.importorskip("onnx", reason="needs onnx (extra 'onnx')")
    runtime = pytest.importorskip("onnxruntime", reason="needs onnxruntime to run the model")
    from psephos.scoring.onnx import onnx_model

    rng = np.random.default_rng(0)
    X = np.column_stack([rng.integers(0, 4, 120), rng.normal(size=120)])
    y = (np.isin(X[:, 0], [0, 2]) & (X[:, 1] > -0.5)).astype(int)
    trees = BaggingClassifier(CARTClassifier(), 5, random_state=0, categorical_features=[0])
    model = trees.fit(X, y)
    cases = np.array([[c, b] for c in (0, 1, 2, 3, 4, 7, np.nan) for b in (-1, 0, 1, np.nan)])
    found = runtime.InferenceSession(onnx_model(model)).run(
        None, {"columns": cases.astype(np.float32)}
    )
    np.testing.assert_allclose(found[0], model.vote_.score(cases), atol=1e-6)


@pytest.mark.parametrize("positive", [0, 1])
def test_onnx_of_a_threshold_that_is_a_leaf(positive):
    pytest.importorskip("onnx", reason="needs onnx (extra 'onnx')")
    runtime = pytest.importorskip("onnxruntime", reason="needs onnxruntime to run the model")
    from psephos.scoring.onnx import onnx_model

    rng = np.random.default_rng(0)
    X = rng.integers(0, 4, (200, 3)).astype(float)
    y = (X.sum(axis=1) + rng.normal(size=200) > 5).astype(int)
    model = RandomForestClassifier(10, max_depth=2, random_state=0).fit(X, y)
    for share in np.unique(model.predict_proba(X)[:, positive]):
        if 0.0 < share < 1.0:
            decided = at_threshold(model, float(share), positive=positive)
            found = runtime.InferenceSession(onnx_model(decided)).run(
                None, {"columns": X[:, decided.vote_.columns].astype(np.float32)}
            )
            np.testing.assert_array_equal(found[1], decided.predict(X))


@pytest.mark.parametrize("name", ONNX)
def test_onnx_gives_the_same_scores(name, families):
    pytest.importorskip("onnx", reason="needs onnx (extra 'onnx')")
    runtime = pytest.importorskip("onnxruntime", reason="needs onnxruntime to run the model")
    from psephos.scoring.onnx import onnx_model

    model = families.fitted(name)
    levels = [c.get("levels") for c in plain(model)["columns"]]
    X = np.array(
        [
            [np.nan if v is None else known.index(v) if known else v
             for v, known in zip(row, levels, strict=True)]
            for row in conformance(model, 300)["rows"]
        ]
    ).astype(np.float32)  # fmt: skip
    vote = model.vote_.select(model.vote_.columns)
    score, mass = vote.score_and_mass(_in_single(vote, X))
    found = runtime.InferenceSession(onnx_model(model)).run(None, {"columns": X})
    size = np.maximum(1.0, np.abs(score).max(axis=1, keepdims=True))
    assert np.abs((found[0] - score) / size).max() <= 2e-6
    if vote.target.n_classes:
        chances = vote.readout.probabilities(score, vote.target, mass)
        assert np.abs(found[2] - chances).max() <= 2e-6
        bound = getattr(vote.target, "bound", 0.0)
        top = np.sort(score, axis=1) if score.shape[1] > 1 else np.abs(score - bound)
        gap = top[:, -1] - top[:, -2] if score.shape[1] > 1 else top[:, 0]
        clear = gap > 2e-6 * size[:, 0]
        assert (found[1] == vote.target.chosen(score))[clear].all()


@pytest.mark.parametrize("name", ["sigmoid, calibrated", "class votes", "losses", "labels"])
def test_onnx_of_answers_that_are_mapped_is_refused(name, families):
    pytest.importorskip("onnx", reason="needs onnx (extra 'onnx')")
    from psephos.scoring.onnx import onnx_model

    with pytest.raises(PsephosError, match="export a scorer"):
        onnx_model(families.fitted(name))


def test_onnx_is_asked_for_by_name(monkeypatch, families):
    import sys

    from psephos.scoring.onnx import onnx_model

    monkeypatch.setitem(sys.modules, "onnx", None)
    with pytest.raises(PsephosError, match=r"psephos\[onnx\]"):
        onnx_model(families.fitted("adaboost, 2 classes, 0.2 missing"))


# ---------------------------------------------------------------------- paper
@pytest.mark.parametrize(
    ("n_classes", "threshold"), [(2, None), (3, None), (2, 0.3), (2, 0.45), (2, 0.7)]
)
def test_every_total_of_a_sheet_gives_the_answer_of_the_model(n_classes, threshold, families):
    X, y = families.small_table(n_classes, missing=0.2)
    model = AdaBoostClassifier(n_estimators=6, random_state=0).fit(X, y)
    if threshold is not None:
        model = at_threshold(model, threshold)
    made, columns = sheet_of(model), plain(model)["columns"]
    choices, values = [], []
    for _, bands in made.columns:
        told = " ".join(band.words for band in bands)
        ends = re.findall(r"(at most|below) ([^\s,]+)", told)
        own = [float(x) - (1e-9 if side == "below" else 0.0) for side, x in ends]
        values.append([*own, own[-1] + 1.0, None] if own else [0.0, None])
        choices.append(range(len(bands)))
    names = [column["name"] for column in columns]
    places = [names.index(name) for name, _ in made.columns]
    reader = families.reader(model)
    for chosen in itertools.product(*choices):
        row = [None] * len(columns)
        for place, own, band in zip(places, values, chosen, strict=True):
            row[place] = own[band]
        assert made.answer(list(chosen)) == reader.answer(row)["label"]


@pytest.mark.parametrize("seed", range(3))
def test_a_bound_on_paper_parts_written_values_as_the_model_does(seed):
    rng = np.random.default_rng(seed)
    bounds = [0.1 + 0.2, 2.3499999999999996, -0.6779999999999999, 1 / 3, -1e-7, 5e20, 0.0, 1.0]
    bounds += ((rng.integers(-999, 999, 200) + rng.integers(-999, 999, 200)) / 2000).tolist()
    bounds += (rng.normal(size=50) * 10.0 ** rng.integers(-6, 6, 50)).tolist()
    for bound in bounds:
        closed, text = hand_bound(bound)
        shown = Decimal(text)
        assert len(shown.normalize().as_tuple().digits) <= 12
        step = Decimal(1).scaleb(Decimal(bound).adjusted() - 11) if bound else Decimal("0.001")
        for k in range(-3, 4):
            value = (shown + k * step).normalize()
            if len(value.as_tuple().digits) > 12:
                continue
            told = value <= shown if closed else value < shown
            assert told == (float(value) <= bound), (bound, text, value)
    assert hand_bound(-0.6779999999999999) == (True, "-0.678")
    assert hand_bound(2.3499999999999996) == (False, "2.35")


def test_a_page_is_escaped_and_has_no_script(families):
    table, y = families.frame()
    model = AdaBoostClassifier(n_estimators=5, random_state=0).fit(table, y)
    page = sheet(model, "<script>alert(1)</script>")
    assert "<script" not in page
    assert "k__B;p__<b>" not in page
    assert "not measured" in page


def test_rules_are_a_list(families):
    model = families.fitted("c45-rules, 3 classes, 0.2 missing")
    page = sheet(model)
    assert page.count("<li>") == model.vote_.n_voters
    assert "Otherwise: " in page


def test_other_models_have_no_sheet(families):
    with pytest.raises(PsephosError, match="no score sheet"):
        sheet(families.fitted("samba, frame"))
    X, y = families.small_table(2, p=40, n=60, seed=5)
    wide = AdaBoostClassifier(n_estimators=60, random_state=0).fit(X, np.roll(y, 1))
    if wide.n_features_used_ > 20:
        with pytest.raises(PsephosError, match="combinations of bands"):
            sheet(wide)


# ---------------------------------------------------------------------- models of rounded rows
@pytest.mark.parametrize("name", ["samba-paper, 2 classes, 0.0 missing", *KEEPING])
def test_rounded_rows_answer_nearly_the_same(name, families):
    model = families.fitted(name)
    text = str(plain(with_rounded_rows(model, 2)))
    assert len(text) < len(str(plain(model)))
    table = drawn_rows(model.vote_, model.schema_.levels, 200)
    rows = np.full((len(table), model.vote_.n_features), np.nan)
    rows[:, model.vote_.columns] = table
    before = model.vote_.score(rows)
    same = model.vote_.answers(rows) == with_rounded_rows(model, 2).vote_.answers(rows)
    assert np.mean(same) > 0.8
    np.testing.assert_allclose(with_rounded_rows(model, 17).vote_.score(rows), before, atol=1e-12)


def test_a_model_without_training_rows_is_not_rounded(families):
    model = families.fitted("cart, frame")
    assert with_rounded_rows(model, 3) is model


def test_a_parameter_of_a_hostile_file_is_no_error(families):
    model = families.fitted("cart, frame")
    model.absent = np.empty(0, dtype=object)
    assert plain(model)["model"] == "CARTClassifier"
    del model.absent


@pytest.mark.parametrize("m", [7, 49, 98, 103, 107])
def test_a_table_of_posteriors_is_looked_up_at_the_count(m):
    table = Posteriors({"posterior": [[k / 1000 for k in range(m + 1)]], "prior": []})
    for k in range(m + 1):
        for share in (k / m, 1 / m * k, sum([1 / m] * k)):
            assert table.chances([share], apart=True, has_weight=True) == [k / 1000]
