"""Whom a model misses: the tables beside scikit-learn's."""

import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import load_breast_cancer
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import confusion_matrix, precision_score, recall_score

from psephos import CARTClassifier, PsephosError
from psephos.explain import MissedDisplay


@pytest.fixture(scope="module", name="case")
def _case():
    X, y = load_breast_cancer(return_X_y=True)
    y = np.where(y == 1, "benign", "malignant")
    model = CARTClassifier(max_depth=3).fit(X[:300], y[:300])
    return model, X[300:], y[300:]


@pytest.mark.parametrize("threshold", [0.2, 0.5, 0.9])
def test_counts_and_measures_are_scikit_learns(case, threshold):
    model, X, y = case
    display = MissedDisplay.from_estimator(model, X, y, threshold=threshold)
    truth, called = y == "malignant", model.predict_proba(X)[:, 1] >= threshold
    tn, fp, fn, tp = confusion_matrix(truth, called).ravel().tolist()
    c = display.counts
    assert (c.found, c.missed, c.alarms, c.cleared) == (tp, fn, fp, tn)
    told = dict(zip(display.measures()["measure"], display.measures()["value"], strict=True))
    assert told["sensitivity"] == pytest.approx(recall_score(truth, called))
    assert told["specificity"] == pytest.approx(recall_score(~truth, ~called))
    assert told["PPV"] == pytest.approx(precision_score(truth, called))
    frame = display.frame()
    assert frame["outcome"].value_counts().get("missed", 0) == fn
    wrong = frame["outcome"].isin(["missed", "false alarm"])
    assert wrong[: fn + fp].all()
    far = (frame["answer"] - threshold).abs()[wrong]
    assert (far.diff().dropna() <= 0).all()
    other = MissedDisplay.from_estimator(model, X, y, threshold=1 - threshold).at(threshold)
    assert str(other) == str(display)
    assert other.table() == display.table()


def test_the_other_class_and_other_libraries(case):
    _, X, y = case
    model = LogisticRegression(max_iter=10_000).fit(X, y)
    display = MissedDisplay.from_estimator(model, X, y, pos_label="benign", ids=np.arange(len(y)))
    np.testing.assert_allclose(display.answers, model.predict_proba(X)[:, 0])
    assert display.names == ("benign", "malignant")
    assert "benign found" in str(display)


def test_groups_widen_the_intervals(case):
    model, X, y = case
    twice = np.repeat(np.arange(len(y)), 2)
    alone = MissedDisplay.from_estimator(model, X[twice], y[twice])
    grouped = MissedDisplay.from_estimator(model, X[twice], y[twice], groups=twice)
    wide = [d.counts.sensitivity.high - d.counts.sensitivity.low for d in (alone, grouped)]
    assert wide[1] > wide[0]


def test_what_is_refused(case):
    model, X, y = case
    with pytest.raises(PsephosError, match="must hold probabilities"):
        MissedDisplay.from_predictions([0, 1], [0.2, 1.2])
    with pytest.raises(PsephosError, match="pos_label must be given"):
        MissedDisplay.from_predictions([0, 1, 2], [0.2, 0.3, 0.4])
    with pytest.raises(PsephosError, match=r"pos_label must be one of \['benign', 'malignant'\]"):
        MissedDisplay.from_estimator(model, X, y, pos_label="ill")
    with pytest.raises(PsephosError, match="two classes"):
        MissedDisplay.from_estimator(LogisticRegression(), X, y)
    one = MissedDisplay.from_predictions([0, 1, 2], [0.2, 0.3, 0.9], pos_label=2)
    assert one.names == ("class 2", "others")
    all_ill = MissedDisplay.from_predictions(["ill"] * 3, [0.2, 0.6, 0.7], pos_label="ill")
    assert all_ill.counts.missed == 1


def test_the_picture_has_the_counts_and_a_dot_a_case(case):
    pytest.importorskip("matplotlib", reason="needs matplotlib (extra 'plot')").use("Agg")
    model, X, y = case
    display = MissedDisplay.from_estimator(model, X, y)
    axes = display.plot()
    assert sum(len(dots.get_offsets()) for dots in axes.collections) == len(y)
    assert f"{display.counts.missed} missed" in {text.get_text() for text in axes.texts}


def test_answers_at_the_threshold_but_for_rounding_are_called():
    truth, answers = ["ill", "ill", "well", "well"], [0.3, 0.1 + 0.2, 0.3 - 4e-17, 0.2]
    displays = [
        MissedDisplay.from_predictions(truth, answers, pos_label="ill", threshold=t)
        for t in (0.3, 0.1 + 0.2)
    ]
    for one in displays:
        assert (one.counts.found, one.counts.alarms) == (2, 1)
        assert one.table()["outcome"].count("found") == 2


@pytest.mark.parametrize("gone", [None, float("nan"), pd.NA])
def test_a_missing_true_class_is_no_other_class(gone):
    truth = np.array([1, 0, gone, 1], dtype=object)
    with pytest.raises(PsephosError, match="missing in 1 of 4 rows, such as row 2"):
        MissedDisplay.from_predictions(truth, [0.9, 0.1, 0.9, 0.1], pos_label=1)


def test_a_class_that_the_model_has_not_is_no_other_class():
    X = np.arange(20.0)[:, None]
    model = LogisticRegression().fit(X, X[:, 0] > 9)
    with pytest.raises(PsephosError, match=r"y must hold classes of the model, .* got 7"):
        MissedDisplay.from_estimator(model, X[:2], [1, 7])
