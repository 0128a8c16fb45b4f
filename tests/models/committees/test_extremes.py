"""Committees at the ends of what may be given: weights, numbers, classes without votes."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.datasets import load_wine
from sklearn.linear_model import Ridge
from sklearn.naive_bayes import GaussianNB

from psephos import (
    CARTClassifier,
    EnsembleSelectionRegressor,
    MultiViewClassifier,
    RankRidgeRegressor,
    VotingClassifier,
    VotingRegressor,
    save,
)

X, Y = load_wine(return_X_y=True)
NUMBERS = X[:, 0] - 3 * X[:, 5]
TREE = CARTClassifier(n_folds=0, max_depth=2)
MEMBERS = [("tree", TREE), ("bayes", GaussianNB())]
LINES = [("ridge", Ridge()), ("ranks", RankRidgeRegressor(1.0))]


@pytest.mark.parametrize("voting", ["soft", "hard"])
@pytest.mark.parametrize("n_classes", [2, 3])
def test_a_class_of_weight_0_is_never_answered(voting, n_classes):
    rows = n_classes > Y
    model = VotingClassifier([("tree", TREE)], voting=voting, class_votes={0: 0})
    model.fit(X[rows], Y[rows])
    assert (VotingClassifier([("tree", TREE)], voting="hard").fit(X, Y).predict(X) == 0).any()
    assert not (model.predict(X) == 0).any()
    chances = model.predict_proba(X)
    assert (chances[:, 0] == 0).all()
    assert_allclose(chances.sum(axis=1), 1)
    plain = VotingClassifier([("tree", TREE)], voting=voting).fit(X[rows], Y[rows])
    shares = plain.predict_proba(X) * np.arange(n_classes).astype(bool)
    known = shares.any(axis=1)
    assert_allclose(chances[known], shares[known] / shares[known].sum(axis=1, keepdims=True))
    if voting == "hard":
        assert not known.all()
        assert_allclose(chances[~known, 1:], 1 / (n_classes - 1))
        assert_array_equal(model.predict(X)[~known], 1)


@pytest.mark.parametrize("size", [1e308, 1e300, 1e-300, 5e-324])
def test_weights_of_any_size_are_weights(size, tmp_path):
    for voting in ("soft", "hard", "borda", "median", "trimmed"):
        kind = {"voting": voting}
        model = VotingClassifier(MEMBERS, weights=[size, size], **kind).fit(X, Y)
        plain = VotingClassifier(MEMBERS, **kind).fit(X, Y)
        assert_allclose(model.predict_proba(X), plain.predict_proba(X), atol=1e-12)
    save(model, tmp_path / "m.psephos")
    large = VotingRegressor(LINES, weights=[size, size]).fit(X, NUMBERS * 1e20)
    assert_allclose(large.predict(X), VotingRegressor(LINES).fit(X, NUMBERS * 1e20).predict(X))
    views = [("a", [0, 1]), ("b", [2])]
    seen = MultiViewClassifier(views, estimator=TREE, weights=[size, size]).fit(X, Y)
    plain = MultiViewClassifier(views, estimator=TREE).fit(X, Y)
    assert_allclose(seen.predict_proba(X), plain.predict_proba(X), atol=1e-12)
    votes = VotingClassifier(MEMBERS, class_votes=dict.fromkeys(range(3), size)).fit(X, Y)
    plain = VotingClassifier(MEMBERS).fit(X, Y)
    assert_allclose(votes.predict_proba(X), plain.predict_proba(X), atol=1e-12)


@pytest.mark.parametrize("exponent", [510, 520, -600])
def test_selection_does_not_depend_on_the_unit_of_numbers(exponent):
    settings = {"estimators": LINES, "cv": 3, "random_state": 0}
    plain = EnsembleSelectionRegressor(**settings).fit(X, NUMBERS)
    with np.errstate(over="ignore"):  # of mean squared errors beyond float64
        scaled = EnsembleSelectionRegressor(**settings).fit(X, np.ldexp(NUMBERS, exponent))
    assert_array_equal(scaled.counts_, plain.counts_)
    assert_allclose(np.ldexp(scaled.predict(X), -exponent), plain.predict(X), rtol=1e-9)
