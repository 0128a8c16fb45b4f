"""Calibration on held-out rows."""

from dataclasses import replace

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.special import expit, logit
from sklearn.calibration import CalibratedClassifierCV, _SigmoidCalibration
from sklearn.datasets import load_breast_cancer, load_wine
from sklearn.frozen import FrozenEstimator
from sklearn.isotonic import IsotonicRegression
from sklearn.metrics import log_loss

from psephos import (
    CARTClassifier,
    CARTRegressor,
    ExtraTreesClassifier,
    PsephosError,
    RandomForestClassifier,
    SamBAClassifier,
    SparseWrapperClassifier,
    VotingClassifier,
    calibrate,
    load,
    save,
    shrink,
)
from psephos.calibrating import fitted_map
from psephos.scoring import plain
from psephos.scoring.reader import PlainModel
from psephos.vote.calibration import Sigmoid, Temperature
from psephos.vote.reading.core import CALIBRATIONS

METHODS = ["sigmoid", "isotonic", "temperature"]


def split(load_set, seed=0):
    X, y = load_set(return_X_y=True)
    order = np.random.default_rng(seed).permutation(len(y))
    return X[order], y[order]


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("load_set", [load_breast_cancer, load_wine])
def test_a_calibrated_model_answers_by_its_probabilities(method, load_set, tmp_path):
    X, y = split(load_set)
    model = RandomForestClassifier(n_estimators=9, max_depth=2, random_state=0).fit(X[:80], y[:80])
    before = model.predict_proba(X)
    sure = calibrate(model, X[80:160], y[80:160], method)
    assert_array_equal(model.predict_proba(X), before)
    proba = sure.predict_proba(X[160:])
    assert_allclose(proba.sum(axis=1), 1.0)
    best = proba.round(12).argmax(axis=1)
    assert_array_equal(sure.predict(X[160:]), sure.classes_[best])
    assert_array_equal(sure.decision_function(X), model.decision_function(X))
    save(sure, tmp_path / "m.psephos")
    assert_array_equal(load(tmp_path / "m.psephos").predict_proba(X[160:]), proba)
    again = calibrate(sure, X[80:160], y[80:160], method)  # replaced, not stacked
    assert_array_equal(again.predict_proba(X[160:]), proba)


def test_a_share_of_the_vote_becomes_a_probability():
    """SWAG's share of models that agree is near 0 or 1; calibrated it says how often they err."""
    rng = np.random.default_rng(0)
    X = rng.standard_normal((600, 20))
    y = (X[:, 0] + 1.5 * rng.standard_normal(600) > 0).astype(int)
    model = SparseWrapperClassifier(p_max=2, m=30, n_folds=3, random_state=0).fit(X[:80], y[:80])
    rest = X[300:], y[300:]
    plain = log_loss(rest[1], model.predict_proba(rest[0]))
    for method in METHODS:
        sure = calibrate(model, X[80:300], y[80:300], method)
        told = sure.predict_proba(rest[0])
        assert log_loss(rest[1], told) < min(plain, 0.7)
        assert abs(told[:, 1].mean() - rest[1].mean()) < 0.1


def test_the_maps_are_those_of_the_field():
    X, y = split(load_breast_cancer)
    model = RandomForestClassifier(n_estimators=9, max_depth=2, random_state=0).fit(X[:80], y[:80])
    p, new = model.predict_proba(X[80:300])[:, 1], model.predict_proba(X[300:])[:, 1]
    odds = logit((220 * p + 1) / 222)  # as n rows can tell
    weight = np.random.default_rng(0).random(220)
    ours = weight / weight.mean()  # the smoothing counts rows
    platt = _SigmoidCalibration().fit(odds, y[80:300], sample_weight=ours)
    found = calibrate(model, X[80:300], y[80:300], sample_weight=weight).predict_proba(X[300:])
    new_odds = logit((220 * new + 1) / 222)
    assert_allclose(found[:, 1], expit(-(platt.a_ * new_odds + platt.b_)), atol=2e-3)
    peer = IsotonicRegression(y_min=0, y_max=1, out_of_bounds="clip").fit(p, y[80:300])
    found = calibrate(model, X[80:300], y[80:300], "isotonic").predict_proba(X[300:])
    assert_allclose(found[:, 1], peer.predict(new), atol=1e-12)
    t = 3.0  # an answer of known temperature is found
    blurred = expit(new_odds / t)
    truth = (np.random.default_rng(1).random(len(blurred)) < blurred).astype(int)
    found = calibrate(model, X[300:], truth, "temperature").vote_.readout.calibration.t
    assert 2.0 < found < 4.5


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("load_set", [load_breast_cancer, load_wine])
def test_it_warns_where_scores_go_with_the_other_class(method, load_set):
    X, y = split(load_set)
    model = RandomForestClassifier(n_estimators=9, max_depth=2, random_state=0).fit(X[:80], y[:80])
    turned = (model.predict(X[80:]) + 1) % len(model.classes_)
    words = {"temperature": r"limit, t = 148\.\d, .* nearly equal"}.get(
        method, "higher probability of class 0 and of .* a constant"
    )
    with pytest.warns(UserWarning, match=words):
        calibrate(model, X[80:], turned, method)


def test_it_warns_of_a_temperature_that_makes_all_sure():
    X, y = split(load_breast_cancer)
    model = RandomForestClassifier(n_estimators=9, max_depth=2, random_state=0).fit(X[:80], y[:80])
    with pytest.warns(UserWarning, match=r"t = 0\.006\d+, which makes nearly every prob.* 0 or 1"):
        calibrate(model, X[80:], model.predict(X[80:]), "temperature")


def test_wrong_input_is_refused():
    X, y = split(load_wine)
    model = RandomForestClassifier(n_estimators=3, random_state=0).fit(X, y)
    for given, words in (
        ((model, X, y, "loud"), "method must be one of 'sigmoid', .*; got 'loud'"),
        ((model, X, np.where(y == 2, 1, y)), "no row is of class 2"),
        ((model, X, y + 1), "label 3 is not one of the model's classes"),
        ((model, X, y[:9]), "9 labels for 178 rows"),
        ((RandomForestClassifier(), X, y), "not a fitted single-label classifier"),
        ((CARTRegressor().fit(X, y), X, y), "CARTRegressor is not a fitted single-label"),
    ):
        with pytest.raises(PsephosError, match=words):
            calibrate(*given)


@pytest.mark.parametrize("method", METHODS)
def test_class_votes_stay_and_weigh_what_is_calibrated(method, tmp_path):
    X, y = split(load_wine)
    trees = [("a", CARTClassifier(max_depth=1, n_folds=0)), ("b", CARTClassifier(n_folds=0))]
    plain = VotingClassifier(trees).fit(X[:80], y[:80])
    model = VotingClassifier(trees, class_votes={2: 5.0}).fit(X[:80], y[:80])
    sure = calibrate(model, X[80:130], y[80:130], method)
    wanted = calibrate(plain, X[80:130], y[80:130], method).predict_proba(X) * [1.0, 1.0, 5.0]
    assert_allclose(sure.predict_proba(X), wanted / wanted.sum(axis=1, keepdims=True), atol=1e-12)
    again = calibrate(sure, X[80:130], y[80:130], method)
    assert_array_equal(again.predict_proba(X), sure.predict_proba(X))
    words = f"calibrated ({method}), then weighed by class (2 × 5)"
    assert words in sure.describe()[0]
    assert f"Answer: probabilities are calibrated ({method})." in " ".join(
        calibrate(
            RandomForestClassifier(3, max_depth=1, random_state=0).fit(X[80:], y[80:]),
            X[:80],
            y[:80],
            method,
        ).describe()
    )
    with pytest.raises(PsephosError, match=r"plain sum of votes; .* weighed by class \(2 × 5\)"):
        shrink(model, 3, X, y)
    save(sure, tmp_path / "m.psephos")
    assert_array_equal(load(tmp_path / "m.psephos").predict_proba(X), sure.predict_proba(X))


@pytest.mark.parametrize("method", ["sigmoid", "isotonic", "temperature"])
@pytest.mark.parametrize("size", [1e-300, 1 / 200, 1e300])
def test_weights_count_beside_each_other(method, size):
    X, y = load_breast_cancer(return_X_y=True)
    model = SamBAClassifier(n_estimators=3).fit(X[:300], y[:300])
    weight = np.where(np.arange(150) % 3 == 0, 2.0, 1.0)
    weight[:5] = 0
    one = calibrate(model, X[300:450], y[300:450], method, weight).predict_proba(X)
    other = calibrate(model, X[300:450], y[300:450], method, weight * size).predict_proba(X)
    assert_allclose(other, one, atol=1e-6)
    kept = weight > 0
    rows, labels = X[300:450][kept], y[300:450][kept]
    plain = calibrate(model, rows, labels, method).predict_proba(X)
    same = calibrate(model, rows, labels, method, np.full(kept.sum(), size)).predict_proba(X)
    assert_allclose(same, plain, atol=1e-6)
    if method == "isotonic":  # a row of weight 2 is the row twice
        twice = np.repeat(np.arange(150), weight.astype(int))
        copies = calibrate(model, X[300:450][twice], y[300:450][twice], method).predict_proba(X)
        assert_allclose(copies, one, atol=1e-6)


@pytest.mark.parametrize("seed", range(4))
def test_the_sigmoid_and_the_temperature_are_the_best_there_are(seed):
    rng = np.random.default_rng(seed)
    p = expit(3 * rng.normal(size=60))
    truth = (rng.random(60) < expit(0.2 + (seed - 0.5) * logit(p))).astype(float)
    chances, labels = np.column_stack([1 - p, p]), np.column_stack([1 - truth, truth])
    weight = rng.random(60)
    found = fitted_map(chances, labels, weight, "sigmoid")
    yes, no = weight @ truth, weight @ (1 - truth)
    wanted = np.where(truth == 1, (yes + 1) / (yes + 2), 1 / (no + 2))
    least = 1 / (weight.sum() + 2)
    moved = least + (1 - 2 * least) * chances
    odds = logit(moved[:, 1])
    gap = weight * (expit(found.slope[1] * odds + found.offset[1]) - wanted)
    assert abs(gap.sum()) < 1e-9
    assert abs(gap @ odds) < 1e-8 or (found.slope[1] == 0 and gap @ odds > 0)
    cool = fitted_map(chances, labels, weight, "temperature")
    assert found.least == cool.least == pytest.approx(least)
    t = cool.t
    if seed == 0:  # they go with the other class: both maps are at their limits
        assert found.slope[1] == 0
        assert t == pytest.approx(np.exp(5), rel=1e-6)
        return
    logs = np.log(moved)
    told = np.exp(logs / t) / np.exp(logs / t).sum(axis=1, keepdims=True)
    assert abs(weight @ ((labels - told) * logs).sum(axis=1)) < 1e-5 * t


@pytest.mark.filterwarnings("ignore:calibrate. the .* map does not lower")  # of some splits
@pytest.mark.parametrize("forest", [RandomForestClassifier, ExtraTreesClassifier])
def test_shares_of_0_and_1_do_not_make_a_calibration_harmful(forest):
    """Log-odds of 27.6, of shares clipped at 1e-12, once made the slope, and the loss larger."""
    losses = []
    for seed in range(6):
        X, y = split(load_breast_cancer, seed)
        model = forest(30, random_state=seed).fit(X[:100], y[:100])
        given = model, X[100:220], y[100:220]
        peer = CalibratedClassifierCV(FrozenEstimator(model)).fit(*given[1:])
        every = [model, calibrate(*given), calibrate(*given, "temperature"), peer]
        losses.append([log_loss(y[220:], one.predict_proba(X[220:])) for one in every])
    raw, sigmoid, temperature, theirs = np.mean(losses, axis=0)
    assert sigmoid < raw - 0.02
    assert temperature < raw - 0.02
    assert sigmoid < theirs + 0.02
    assert losses[0][1] <= losses[0][0] + 0.01
    assert losses[0][1] <= losses[0][3] + 0.02


@pytest.mark.parametrize("method", ["sigmoid", "temperature"])
def test_a_calibration_keeps_the_order_of_probabilities_and_its_limit(method, tmp_path):
    X, y = split(load_breast_cancer)
    model = RandomForestClassifier(30, random_state=0).fit(X[:100], y[:100])
    sure = calibrate(model, X[100:220], y[100:220], method)
    found = sure.vote_.readout.calibration
    assert found.least == 1 / 122
    p = np.array([0.0, 1e-9, 1e-4, 0.01, 0.99, 1 - 1e-4, 1.0])
    told = found.chances(np.column_stack([1 - p, p]), apart=False)
    assert (np.diff(told[:, 1]) > 0).all()
    before, after = model.predict_proba(X)[:, 1], sure.predict_proba(X)
    assert {0.0, 1.0} <= set(before)
    save(sure, tmp_path / "m.psephos")
    assert_array_equal(load(tmp_path / "m.psephos").predict_proba(X), after)
    reader = PlainModel(plain(sure))
    for row, wanted in zip(X[:, sure.vote_.columns].tolist(), after, strict=True):
        assert_allclose(reader.answer(row)["probabilities"], wanted, rtol=0, atol=1e-12)
    for least in (-0.1, 0.5, np.nan):
        with pytest.raises(PsephosError, match="least probability of a map"):
            replace(found, least=least)


@pytest.mark.parametrize("method", ["sigmoid", "temperature"])
def test_a_map_without_a_limit_clips_as_it_did(method):
    """Files of before have no limit."""
    p = np.array([0.0, 1e-13, 1e-9, 0.3, 1.0])
    chances = np.column_stack([1 - p, p])
    kept = np.clip(p, 1e-12, 1 - 1e-12)
    one = Sigmoid(np.full(2, 0.5), np.zeros(2)) if method == "sigmoid" else Temperature(2.0)
    assert_allclose(one.chances(chances, apart=False)[:, 1], expit(logit(kept) / 2), atol=1e-9)
    data = {"slope": [0.5, 0.5], "offset": [0.0, 0.0], "t": 2.0, "kind": f"{method} calibration"}
    reader = CALIBRATIONS[data["kind"]](data)
    for row, wanted in zip(chances.tolist(), one.chances(chances, apart=False), strict=True):
        assert_allclose(reader.chances(row, False, True), wanted, rtol=1e-12)


def test_it_warns_where_the_probabilities_are_better_as_they_are():
    X = np.random.default_rng(0).normal(size=(200, 3))
    y = X[:, 0] > 0
    model = SamBAClassifier(n_estimators=3).fit(X[:80], y[:80])
    clear = np.flatnonzero(np.abs(X[:, 0]) > 0.2)[80:]
    with pytest.warns(
        UserWarning, match=r"does not lower .* \(0\.0.* before, 0\.0.* calibration is needed"
    ):
        calibrate(model, X[clear], y[clear])
