"""Maps of held-out answers: what they are, how they are judged, where they go."""

from dataclasses import replace

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import brier_score_loss, log_loss

import psephos
from psephos import PsephosError, SamBAClassifier
from psephos._errors import ModelFileError
from psephos.recalibrating import cross_fitted, recalibrated, recalibration_of
from psephos.vote.calibration import Sigmoid


def _pairs(n=400, slope=3.0, seed=0):
    rng = np.random.default_rng(seed)
    odds = rng.normal(size=n)
    y = (rng.random(n) < 1 / (1 + np.exp(-odds))).astype(int)
    p = 1 / (1 + np.exp(-slope * odds))
    return np.column_stack([1 - p, p]), y, odds


def test_the_map_undoes_what_was_exaggerated():
    chances, y, odds = _pairs()
    found = recalibration_of(chances, y)
    assert found.method == "sigmoid"
    assert found.log_loss == pytest.approx(log_loss(y, chances[:, 1]))
    assert found.brier == pytest.approx(brier_score_loss(y, chances[:, 1]))
    assert found.helped
    plain = LogisticRegression(C=np.inf).fit(3 * odds[:, None], y)
    assert found.calibration.slope[1] == pytest.approx(plain.coef_[0, 0], rel=0.05)
    assert "lowered" in found.words()


def test_cross_fitting_keeps_cases_and_groups_on_one_side():
    chances, y, _ = _pairs(60)
    twice = np.repeat(np.arange(60), 2)
    one, two = recalibration_of(chances, y), recalibration_of(chances[twice], y[twice], twice)
    assert two.n_cases == 60
    assert two.log_loss == pytest.approx(one.log_loss)
    np.testing.assert_allclose(two.calibration.slope, one.calibration.slope, rtol=1e-3)
    noise = np.random.default_rng(1).random(60)
    flat = np.column_stack([1 - noise, noise])
    found = recalibration_of(flat[twice], y[twice], twice, method="isotonic")
    leaky = cross_fitted(flat[twice], y[twice], np.arange(120), method="isotonic")[0]
    assert found.log_loss_after > log_loss(y[twice], leaky[:, 1])


def test_probabilities_that_no_sigmoid_maps_get_a_rising_map_of_any_form():
    """Two of three are certain, and often wrong; a share of .8 is right as often as one of 1."""
    rng = np.random.default_rng(3)
    p = rng.choice([0.0, 0.2, 0.8, 1.0], p=[0.35, 0.15, 0.15, 0.35], size=900)
    y = (rng.random(900) < np.where(p > 0.5, 0.8, 0.05)).astype(int)
    chances = np.column_stack([1 - p, p])
    found = recalibration_of(chances, y)
    assert found.method == "isotonic"
    assert found.log_loss_after < recalibration_of(chances, y, method="sigmoid").log_loss_after
    assert abs(found.calibration.chances(np.array([[0.0, 1.0]]), apart=False)[0, 1] - 0.8) < 0.06


def test_too_few_cases_are_refused():
    chances, y, _ = _pairs(30)
    with pytest.raises(PsephosError, match="at least two cases"):
        recalibration_of(chances, np.where(np.arange(30) == 0, 1, 0))
    with pytest.raises(PsephosError, match=r"cannot be divided|at least two"):
        recalibration_of(chances, y, groups=y)


def test_a_thousand_cases_may_have_any_rising_map():
    assert recalibration_of(*_pairs(1000)[:2]).method == "isotonic"


@pytest.fixture(name="model")
def _model():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(80, 3))
    model = SamBAClassifier(n_estimators=3).fit(X, X[:, 0] > 0)
    chances, y, _ = _pairs(80)
    model.recalibration_ = recalibration_of(chances, y)
    return model, X


def test_the_map_goes_with_the_model_and_changes_no_answer_unasked(model, tmp_path):
    model, X = model
    plain = SamBAClassifier(n_estimators=3).fit(X, X[:, 0] > 0)
    np.testing.assert_array_equal(model.predict_proba(X), plain.predict_proba(X))
    sure = recalibrated(model)
    mapped = model.recalibration_.calibration.chances(model.predict_proba(X), apart=False)
    np.testing.assert_array_equal(sure.predict_proba(X), mapped)
    np.testing.assert_array_equal(sure.predict(X), mapped[:, 1] > mapped[:, 0])
    assert sure.recalibration_ is None
    psephos.save(model, tmp_path / "one.psephos")
    again = psephos.load(tmp_path / "one.psephos")
    psephos.save(again, tmp_path / "two.psephos")
    assert (tmp_path / "one.psephos").read_bytes() == (tmp_path / "two.psephos").read_bytes()
    np.testing.assert_array_equal(recalibrated(again).predict_proba(X), mapped)
    np.testing.assert_array_equal(recalibrated(model.reduce()).predict_proba(
        X[:, model.vote_.columns]), mapped)  # fmt: skip


def test_a_file_with_a_map_of_other_classes_is_refused(model, tmp_path):
    model, _ = model
    three = Sigmoid(np.ones(3), np.zeros(3))
    model.recalibration_ = replace(model.recalibration_, calibration=three)
    psephos.save(model, tmp_path / "bad.psephos")
    with pytest.raises(ModelFileError, match="lacks a map"):
        psephos.load(tmp_path / "bad.psephos")
    for wrong in ({"log_loss": -1.0}, {"n_cases": 0}, {"brier_after": np.inf}):
        with pytest.raises(PsephosError):
            replace(model.recalibration_, **wrong)


def test_a_new_fit_or_calibration_has_none(model):
    model, X = model
    new = np.random.default_rng(9).normal(size=(60, X.shape[1]))
    noisy = new[:, 0] + new[:, 1] > 0
    assert psephos.calibrate(model, new, noisy).recalibration_ is None
    assert model.fit(X, X[:, 1] > 0).recalibration_ is None
    with pytest.raises(PsephosError, match="no map of held-out answers"):
        recalibrated(model)
