"""Tiny ridge regressions against the normal equations, split by split."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from psephos.models.swag.learners.closed_forms import LeastSquaresLearner, RidgeLearner
from psephos.models.swag.problem import Folds, SearchProblem

LEARNERS = [RidgeLearner(), RidgeLearner(3.0, scale=False), RidgeLearner(0.0)]


def problem(n_classes=0, n=24, p=5, seed=0, **changes):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, p)) * np.logspace(-2, 2, p) + 10
    y = np.arange(n) % n_classes if n_classes else X[:, 0] * 40 + rng.standard_normal(n)
    weight = rng.uniform(0.5, 3, n)
    folds = Folds.of(
        [(np.delete(np.arange(n), part), part) for part in np.arange(n).reshape(4, -1)]
    )
    fields = {"X": np.asfortranarray(X), "y": y, "n_classes": n_classes, "weight": weight}
    return SearchProblem(**{**fields, "folds": folds, **changes})


def slow(X, Y, w, T, alpha, scale):
    """Predictions (rows of T, K) of the normal equations with the penalty on the diagonal."""
    middle, level = np.average(X, axis=0, weights=w), np.average(Y, axis=0, weights=w)
    Z = X - middle
    unit = np.sqrt(np.average(Z**2, axis=0, weights=w)) if scale else np.ones(X.shape[1])
    Z = Z / unit
    gram = Z.T @ (Z * w[:, None]) + alpha * np.eye(X.shape[1])
    return (T - middle) / unit @ np.linalg.solve(gram, Z.T @ ((Y - level) * w[:, None])) + level


def expected(learner, at, columns):
    Y = at.y[:, None].astype(float)
    if at.n_classes:
        Y = np.where(at.y[:, None] == np.arange(at.n_classes), 1.0, -1.0)
        Y = Y[:, 1:] if at.n_classes == 2 else Y
    ends = (at.folds.train_ptr, at.folds.train_ptr[1:], at.folds.test_ptr, at.folds.test_ptr[1:])
    out = []
    for a, b, c, d in zip(*ends, strict=False):
        train, test = at.folds.train[a:b], at.folds.test[c:d]
        X, T = at.X[np.ix_(train, columns)], at.X[np.ix_(test, columns)]
        out.append(slow(X, Y[train], at.weight[train], T, learner.alpha, learner.scale))
    return np.concatenate(out)


@pytest.mark.parametrize("learner", LEARNERS, ids=repr)
@pytest.mark.parametrize("n_classes", [0, 2, 3])
def test_scores_are_the_normal_equations(learner, n_classes):
    at = problem(n_classes)
    subsets = np.array([[0, 1, 4], [1, 2, 3]])
    found = learner.bind(at).scores(subsets)
    for scores, columns in zip(found, subsets, strict=True):
        assert_allclose(scores, expected(learner, at, columns), rtol=1e-8, atol=1e-8)


def test_least_squares_is_ridge_without_penalty():
    at, subsets = problem(), np.array([[0, 1, 4], [1, 2, 3]])
    plain = LeastSquaresLearner().bind(at).scores(subsets)
    assert_array_equal(plain, RidgeLearner(0.0, scale=False).bind(at).scores(subsets))


@pytest.mark.parametrize("learner", LEARNERS, ids=repr)
@pytest.mark.parametrize("n_classes", [0, 2, 3])
def test_degenerate_columns(learner, n_classes):
    at = problem(n_classes)
    at.X[:, 1], at.X[:, 3] = 1 / 3, 2 * at.X[:, 0] - 7
    bound = learner.bind(at)
    prior = bound.scores(np.empty((1, 0), dtype=np.intp))
    assert_allclose(bound.scores(np.array([[1]])), prior, atol=1e-12)
    alone = bound.scores(np.array([[0, 2]]))
    assert_allclose(bound.scores(np.array([[0, 1, 2]])), alone, rtol=1e-9, atol=1e-9)
    twice = bound.scores(np.array([[0, 2, 3]]))
    assert np.isfinite(twice).all()
    if learner.alpha == 0:
        assert_allclose(twice, alone, rtol=1e-8, atol=1e-8)


@pytest.mark.parametrize("n_classes", [0, 2, 3])
@pytest.mark.parametrize("learner", LEARNERS, ids=repr)
def test_few_rows_and_wild_numbers_give_finite_scores(learner, n_classes):
    rng = np.random.default_rng(1)
    X = np.column_stack([
        np.full(24, 1e308), rng.standard_normal(24) * 1e-300, np.arange(24) == 0,
        rng.standard_normal(24) + 1e12, rng.standard_normal(24) * 1e150,
    ]).astype(float)  # fmt: skip
    folds = Folds.of([
        (np.arange(3), np.arange(3, 24)), (np.array([1]), [0]), (np.empty(0, dtype=int), [1]),
        (np.arange(6, 24), np.arange(6)),
    ])  # fmt: skip
    at = problem(n_classes, X=np.asfortranarray(X), folds=folds)
    for d in range(1, 6):
        scores = learner.bind(at).scores(np.arange(d)[None])
        assert np.isfinite(scores).all()
    only = learner.bind(at).scores(np.arange(2)[None])[0, 21]  # trained on row 1 alone
    y = at.y[1]
    one_row = {0: [y], 2: [1.0], 3: [-1.0, 1.0, -1.0]}[n_classes]
    assert_allclose(only, one_row, rtol=1e-12)


@pytest.mark.parametrize("n_classes", [0, 3])
def test_other_candidates_change_no_bit(n_classes):
    bound = RidgeLearner().bind(problem(n_classes))
    subsets = np.array([[0, 1], [0, 4], [1, 2], [2, 3], [2, 4], [3, 4]])
    together = bound.scores(subsets)
    for b in range(len(subsets)):
        assert_array_equal(together[b], bound.scores(subsets[b : b + 1])[0])
