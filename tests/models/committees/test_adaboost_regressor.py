"""AdaBoost.R2 against a plain reading of Drucker's algorithm, and against scikit-learn."""

import numpy as np
import pytest
from sklearn.datasets import make_friedman1
from sklearn.ensemble import AdaBoostRegressor as Peer
from sklearn.tree import DecisionTreeRegressor

from psephos import AdaBoostRegressor, PsephosError
from psephos.models.committees.adaboost_regressor import _Run


@pytest.mark.parametrize("loss", ["linear", "square", "exponential"])
def test_a_round_is_that_of_the_paper(loss):
    rng = np.random.default_rng(0)
    pi = rng.random(9)
    pi /= pi.sum()
    error = rng.random(9)
    run = _Run(pi.copy())
    run.add("voter", error, loss, 0.7)
    relative = [e / max(error) for e in error]
    each = {
        "linear": relative,
        "square": [e * e for e in relative],
        "exponential": [1 - np.exp(-e) for e in relative],
    }[loss]
    mean = sum(p * e for p, e in zip(pi, each, strict=True))
    if mean >= 0.5:
        assert run.stopped == "average loss of one half"
        return
    beta = mean / (1 - mean)
    moved = np.array([p * beta ** (0.7 * (1 - e)) for p, e in zip(pi, each, strict=True)])
    np.testing.assert_allclose(run.pi, moved / moved.sum(), rtol=1e-13)
    assert run.weights == [pytest.approx(0.7 * np.log(1 / beta))]
    assert run.errors == [pytest.approx(mean)]


def test_the_ways_of_ending():
    run = _Run(np.full(4, 0.25))
    run.add("first", np.array([1.0, 1.0, 1.0, 0.0]), "linear", 1.0)
    assert (run.stopped, run.weights) == ("average loss of one half", [1.0])
    run = _Run(np.full(4, 0.25), ["earlier"], [0.3], [0.2])
    run.add("bad", np.array([1.0, 1.0, 1.0, 0.0]), "linear", 1.0)
    assert run.models == ["earlier"]
    run = _Run(np.full(4, 0.25))
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
