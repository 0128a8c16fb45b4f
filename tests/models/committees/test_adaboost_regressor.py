"""AdaBoost.R2 against a plain reading of Drucker's algorithm, and against scikit-learn."""

import numpy as np
import pytest
from sklearn.datasets import make_friedman1
from sklearn.ensemble import AdaBoostRegressor as Peer
from sklearn.tree import DecisionTreeRegressor

from psephos import AdaBoostRegressor, PsephosError
from psephos.models.committees.adaboost_regressor import _RegressorRun


@pytest.mark.parametrize("loss", ["linear", "square", "exponential"])
def test_a_round_is_that_of_the_paper(loss):
    rng = np.random.default_rng(0)
    pi = rng.random(9)
    pi /= pi.sum()
    error = rng.random(9) ** 3  # few rows are far off: every loss has a mean below one half
    run = _RegressorRun(pi.copy())
    run.add("voter", error, loss, 0.7)
    relative = [e / max(error) for e in error]
    each = {
        "linear": relative,
        "square": [e * e for e in relative],
        "exponential": [1 - np.exp(-e) for e in relative],
    }[loss]
    mean = sum(p * e for p, e in zip(pi, each, strict=True))
    assert mean < 0.5
    beta = mean / (1 - mean)
    moved = np.array([p * beta ** (0.7 * (1 - e)) for p, e in zip(pi, each, strict=True)])
    np.testing.assert_allclose(run.pi, moved / moved.sum(), rtol=1e-13)
    assert run.weights == [pytest.approx(0.7 * np.log(1 / beta))]
    assert run.errors == [pytest.approx(mean)]


def test_the_ways_of_ending():
    run = _RegressorRun(np.full(4, 0.25))
    run.add("first", np.array([1.0, 1.0, 1.0, 0.0]), "linear", 1.0)
    assert (run.stopped, run.weights) == ("average loss of one half", [1.0])
    run = _RegressorRun(np.full(4, 0.25), ["earlier"], [0.3], [0.2])
    run.add("bad", np.array([1.0, 1.0, 1.0, 0.0]), "linear", 1.0)
    assert run.models == ["earlier"]
    run = _RegressorRun(np.full(4, 0.25))
    run.add("right", np.zeros(4), "linear", 1.0)
    assert (run.stopped, run.weights, run.errors) == ("perfect voter", [1.0], [0.0])


def test_the_answer_is_the_weighted_median_of_the_voters():
    X, y = make_friedman1(80, random_state=0)
    model = AdaBoostRegressor(n_estimators=9, random_state=0).fit(X, y)
    said = np.array([voter.predict(X) for voter in model])
    weight = model.estimator_weights_
    for i in range(len(X)):
        order = np.argsort(said[:, i])
        place = np.searchsorted(np.cumsum(weight[order]), weight.sum() / 2)
        assert model.predict(X[i : i + 1])[0] == pytest.approx(said[order[place], i])


@pytest.mark.parametrize("loss", ["linear", "square", "exponential"])
def test_as_good_as_scikit_learn_on_new_rows(loss):
    ours, theirs = [], []
    new, truth = make_friedman1(600, random_state=99)
    for seed in range(4):
        X, y = make_friedman1(150, random_state=seed)
        tree = DecisionTreeRegressor(max_depth=3)
        settings = {"n_estimators": 15, "loss": loss, "random_state": seed}
        ours.append(AdaBoostRegressor(tree, **settings).fit(X, y).score(new, truth))
        theirs.append(Peer(tree, **settings).fit(X, y).score(new, truth))
    assert np.mean(ours) == pytest.approx(np.mean(theirs), abs=0.03)


def test_a_classifier_is_refused_as_a_voter():
    from psephos import CARTClassifier

    with pytest.raises(PsephosError, match="regressor"):
        AdaBoostRegressor(CARTClassifier()).fit([[0.0], [1.0], [2.0]], [0.1, 0.2, 0.3])


def test_groups_reach_the_members(monkeypatch):
    from psephos.models.boosting import newton_fit
    from psephos.models.boosting.newton import NewtonBoostingRegressor

    seen = []
    divide = newton_fit.hold_out_rows

    def spied(data, context, share):
        train, held = divide(data, context, share)
        seen.append(set(context.groups[train]) & set(context.groups[held]))
        return train, held

    monkeypatch.setattr(newton_fit, "hold_out_rows", spied)
    X, y = make_friedman1(60, random_state=0)
    member = NewtonBoostingRegressor(n_estimators=2, validation_fraction=0.3, random_state=0)
    groups = np.repeat(np.arange(12), 5)
    AdaBoostRegressor(member, n_estimators=2, random_state=0).fit(X, y, groups=groups)
    assert seen == [set(), set()]


@pytest.mark.parametrize("rate", [100.0, 1000.0, 1e5])
def test_a_huge_learning_rate_ends_with_a_reason(rate):
    """Rows of weight 0 had errors beyond the largest, and weights that were no numbers."""
    X, y = make_friedman1(150, random_state=0)
    model = AdaBoostRegressor(n_estimators=10, learning_rate=rate, random_state=0).fit(X, y)
    assert model.stopped_ != "all voters"
    assert np.isfinite(model.predict(X)).all()
