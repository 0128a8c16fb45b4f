"""Two classes, one of which is the answer from a given probability on."""

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.datasets import load_breast_cancer
from small_settings import small_settings

from psephos import (
    AdaBoostClassifier,
    CARTClassifier,
    GradientBoostingClassifier,
    at_threshold,
    calibrate,
    load,
    save,
)
from psephos._errors import PsephosError
from psephos.scoring.sheet import sheet_of
from psephos.testing import small_table

X, Y = load_breast_cancer(return_X_y=True)
WORDS = np.array(["malignant", "well"])[Y]
TWO = sorted(
    name
    for name, model in small_settings().items()
    if name in ("samba", "cart", "proset", "swag", "rank-ridge", "c45-rules", "newton-boosting")
)


@pytest.mark.parametrize("positive", [0, 1])
@pytest.mark.parametrize("threshold", [0.05, 0.35, 0.5, 0.8])
@pytest.mark.parametrize("name", TWO)
def test_the_answer_is_the_class_whose_probability_reaches_the_threshold(name, threshold, positive):
    X, y = small_table(2)
    words = np.array(["a", "b"])[np.unique(y, return_inverse=True)[1]]
    model = clone(small_settings()[name]).fit(X, words)
    before = model.predict(X)
    decided = at_threshold(model, threshold, "ab"[positive])
    p = decided.predict_proba(X)[:, positive]
    reaches = p >= threshold - 1e-12
    assert (decided.predict(X) == np.where(reaches, "ab"[positive], "ab"[1 - positive])).all()
    assert (decided.predict_proba(X) == model.predict_proba(X)).all()
    assert (model.predict(X) == before).all()


def test_a_model_file_keeps_the_threshold(tmp_path):
    model = at_threshold(CARTClassifier(max_depth=3, n_folds=0).fit(X, WORDS), 0.05, "malignant")
    save(model, tmp_path / "m")
    again = load(tmp_path / "m")
    assert (again.predict(X) == model.predict(X)).all()
    assert (model.predict(X) != clone(model).fit(X, WORDS).predict(X)).any()
    assert "Answer: malignant where its probability is at least 5.0 %." in again.describe()[0]
    assert "(" in again.explain(X[:1]).answer(0)


def test_another_calibration_keeps_the_threshold():
    model = GradientBoostingClassifier(n_estimators=5, random_state=0).fit(X[::2], WORDS[::2])
    model = at_threshold(model, 0.9, "well")
    found = calibrate(model, X[1::2], WORDS[1::2])
    p = found.predict_proba(X)[:, 1]
    assert ((found.predict(X) == "well") == (p >= 0.9)).all()
    assert 0 < (found.predict(X) == "well").sum() < (p >= 0.5).sum()


def test_a_sheet_gives_the_answers_of_the_threshold():
    from psephos.scoring import conformance, plain

    model = AdaBoostClassifier(n_estimators=4, random_state=0).fit(X, WORDS)
    for threshold in (0.2, 0.8):
        decided = at_threshold(model, threshold, "malignant")
        sheet = sheet_of(decided)
        assert sheet.base != sheet_of(model).base
        assert set(conformance(decided, 200)["answers"]) == {"malignant", "well"}
        assert plain(decided)["target"]["threshold"] == threshold


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ({"threshold": 0.0}, "above 0 and below 1"),
        ({"threshold": 1}, "above 0 and below 1"),
        ({"threshold": "high"}, "above 0 and below 1"),
        ({"threshold": float("nan")}, "above 0 and below 1"),
        ({"threshold": 0.5, "positive": "ill"}, "must be one of"),
    ],
)
def test_bad_thresholds_are_refused(given, words):
    model = CARTClassifier(max_depth=1, n_folds=0).fit(X, WORDS)
    with pytest.raises(PsephosError, match=words):
        at_threshold(model, **given)


def test_models_without_two_classes_are_refused():
    three = CARTClassifier(max_depth=1, n_folds=0).fit(X[:60], np.arange(60) % 3)
    with pytest.raises(PsephosError, match="this one has 3 classes"):
        at_threshold(three, 0.5)
    costly = CARTClassifier(max_depth=1, n_folds=0, loss=np.array([[0.0, 1.0], [2.0, 0.0]]))
    with pytest.raises(PsephosError, match="losses of answers"):
        at_threshold(costly.fit(X, Y), 0.5)
    with pytest.raises(PsephosError, match="not a fitted classifier"):
        at_threshold(CARTClassifier(), 0.5)
