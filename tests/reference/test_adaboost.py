"""AdaBoost against scikit-learn's, on random sets where no ties decide."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.ensemble import AdaBoostClassifier as Peer
from sklearn.tree import DecisionTreeClassifier

from psephos import AdaBoostClassifier

pytestmark = pytest.mark.reference


def table(seed, n_classes, n=120, p=8):
    """Values that float32 holds exactly: scikit-learn's trees round what they read."""
    rng = np.random.default_rng(seed)
    y = rng.integers(0, n_classes, n)
    X = rng.standard_normal((n, p))
    X[:, :3] += rng.standard_normal((n_classes, 3))[y]
    new = rng.standard_normal((60, p)) * 2
    return X.astype(np.float32), y, rng.uniform(0.2, 3.0, n), new.astype(np.float32)


SETS = [(seed, 2 + seed % 3, (1.0, 0.5)[seed % 2]) for seed in range(20)]


def compare(ours, peer, table):
    X, y, w, new = table
    ours.fit(X, y, sample_weight=w)
    peer.fit(X, y, sample_weight=w)
    assert ours.vote_.n_voters == len(peer.estimators_)
    assert_allclose(
        ours.estimator_errors_, peer.estimator_errors_[: len(peer.estimators_)], atol=1e-10
    )
    binary = len(ours.classes_) == 2
    for cases in (X, new):
        score = ours.decision_function(cases)
        assert_allclose(2 * score if binary else score, peer.decision_function(cases), atol=1e-10)
        assert_allclose(ours.predict_proba(cases), peer.predict_proba(cases), atol=1e-10)
        assert_array_equal(ours.predict(cases), peer.predict(cases))
    stages = zip(
        ours.staged_decision_function(new), peer.staged_decision_function(new), strict=True
    )
    for mine, theirs in stages:
        assert_allclose(2 * mine if binary else mine, theirs, atol=1e-10)


@pytest.mark.parametrize(("seed", "n_classes", "rate"), SETS)
def test_stumps(seed, n_classes, rate):
    ours = AdaBoostClassifier(n_estimators=12, learning_rate=rate)
    peer = Peer(n_estimators=12, learning_rate=rate, random_state=0)
    compare(ours, peer, table(seed, n_classes))


@pytest.mark.parametrize(("seed", "n_classes", "rate"), SETS)
def test_deeper_trees(seed, n_classes, rate):
    tree = DecisionTreeClassifier(max_depth=2)
    ours = AdaBoostClassifier(tree, n_estimators=8, learning_rate=rate)
    peer = Peer(tree, n_estimators=8, learning_rate=rate, random_state=0)
    compare(ours, peer, table(seed, n_classes, n=400))  # small leaves tie, and are decided by lot


def test_perfect_voter_ends_the_search():
    X = np.arange(10.0)[:, None]
    y = X[:, 0] > 4
    model = AdaBoostClassifier().fit(X, y)
    peer = Peer().fit(X, y)
    assert model.vote_.n_voters == len(peer.estimators_) == 1
    assert_allclose(2 * model.decision_function(X), peer.decision_function(X), atol=1e-12)
    assert_array_equal(model.predict(X), y)
