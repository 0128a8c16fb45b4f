"""Tiny Gaussian classifiers against plain formulas, split by split."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from psephos.kernels.small_models.moments import NEVER
from psephos.models.swag.learners.closed_forms import (
    LinearDiscriminantLearner,
    NaiveBayesLearner,
)
from psephos.models.swag.problem import Folds, SearchProblem

LEARNERS = [
    LinearDiscriminantLearner(),
    NaiveBayesLearner(),
    NaiveBayesLearner(0.01),
]


def problem(n_classes=2, n=24, p=5, weights=True, seed=0, **changes):
    rng = np.random.default_rng(seed)
    y = np.arange(n) % n_classes
    X = rng.standard_normal((n, p)) + y[:, None] * np.linspace(0, 1, p)
    weight = rng.integers(1, 4, n).astype(float) if weights else np.ones(n)
    folds = Folds.of(
        [(np.delete(np.arange(n), part), part) for part in np.arange(n).reshape(4, -1)]
    )
    fields = {"X": np.asfortranarray(X), "y": y, "n_classes": n_classes, "weight": weight}
    return SearchProblem(**{**fields, "folds": folds, **changes})


def covariance(X, w):
    middle = np.average(X, axis=0, weights=w)
    return (X - middle).T @ ((X - middle) * w[:, None]) / w.sum()


def slow(learner, X, y, w, T, n_classes):
    """The scores (rows of T, classes) of the formulas as the books write them."""
    share = np.array([w[y == k].sum() for k in range(n_classes)]) / w.sum()
    means = [np.average(X[y == k], axis=0, weights=w[y == k]) for k in range(n_classes)]
    own = [covariance(X[y == k], w[y == k]) for k in range(n_classes)]
    out = np.empty((len(T), n_classes))
    for k in range(n_classes):
        if isinstance(learner, LinearDiscriminantLearner):
            S = sum(a * b for a, b in zip(share, own, strict=True))
        else:
            S = np.diag(np.diag(own[k]) + learner.var_smoothing * np.diag(covariance(X, w)).max())
        gap = T - means[k]
        out[:, k] = -0.5 * np.einsum("ni,ij,nj->n", gap, np.linalg.inv(S), gap)
        out[:, k] += np.log(share[k]) - 0.5 * np.linalg.slogdet(S)[1]
    return out


def expected(learner, at, columns):
    out = []
    for a, b, c, d in zip(
        at.folds.train_ptr, at.folds.train_ptr[1:], at.folds.test_ptr, at.folds.test_ptr[1:],
        strict=False,
    ):  # fmt: skip
        train, test = at.folds.train[a:b], at.folds.test[c:d]
        X, T = at.X[np.ix_(train, columns)], at.X[np.ix_(test, columns)]
        out.append(slow(learner, X, at.y[train], at.weight[train], T, at.n_classes))
    return np.concatenate(out)


def centred(scores):
    return scores - scores.mean(axis=-1, keepdims=True)


@pytest.mark.parametrize("learner", LEARNERS, ids=repr)
@pytest.mark.parametrize("n_classes", [2, 3])
def test_scores_are_the_formula(learner, n_classes):
    at = problem(n_classes)
    subsets = np.array([[0, 1, 4], [1, 2, 3]])
    scores = learner.bind(at).scores(subsets)
    for found, columns in zip(scores, subsets, strict=True):
        slowly = expected(learner, at, columns)
        if n_classes == 2:
            assert_allclose(found[:, 0], slowly[:, 1] - slowly[:, 0], rtol=1e-9, atol=1e-9)
        else:
            assert_allclose(centred(found), centred(slowly), rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize("learner", LEARNERS, ids=repr)
def test_a_weight_is_a_row_given_again(learner):
    at = problem()
    again = np.repeat(np.arange(24), at.weight.astype(int))
    parts = [
        (np.flatnonzero(np.isin(again, at.folds.train[a:b])), np.array([np.argmax(again == i)]))
        for a, b, c, d in zip(
            at.folds.train_ptr, at.folds.train_ptr[1:], at.folds.test_ptr, at.folds.test_ptr[1:],
            strict=False,
        )
        for i in at.folds.test[c:d]
    ]  # fmt: skip
    twice = problem(
        X=np.asfortranarray(at.X[again]), y=at.y[again], weight=np.ones(len(again)),
        folds=Folds.of(parts),
    )  # fmt: skip
    subsets = np.array([[0, 2, 3]])
    assert_allclose(learner.bind(twice).scores(subsets), learner.bind(at).scores(subsets), 1e-9)


@pytest.mark.parametrize("learner", LEARNERS, ids=repr)
@pytest.mark.parametrize("n_classes", [2, 3])
def test_other_candidates_change_no_bit(learner, n_classes):
    bound = learner.bind(problem(n_classes))
    subsets = np.array([[0, 1], [0, 4], [1, 2], [2, 3], [2, 4], [3, 4]])
    together = bound.scores(subsets)
    for b in range(len(subsets)):
        assert_array_equal(together[b], bound.scores(subsets[b : b + 1])[0])


@pytest.mark.parametrize("learner", LEARNERS, ids=repr)
@pytest.mark.parametrize("n_classes", [2, 3])
def test_a_constant_column_changes_nothing(learner, n_classes):
    at = problem(n_classes, weights=False)
    at.X[:, 1] = 1e5 / 3
    bound = learner.bind(at)
    prior = bound.scores(np.empty((1, 0), dtype=np.intp))
    assert_allclose(bound.scores(np.array([[1]])), prior, atol=1e-12)
    if "0.4" not in repr(learner):  # a shrunken trace counts the column
        without = bound.scores(np.array([[0, 3]]))
        assert_allclose(bound.scores(np.array([[0, 1, 3]])), without, rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize("learner", LEARNERS, ids=repr)
@pytest.mark.parametrize("n_classes", [2, 3])
def test_a_column_that_is_constant_in_training_only(learner, n_classes):
    at = problem(n_classes)
    at.X[:, 1] = 1.0 / 3
    at.X[at.folds.test[0], 1] = 1e7
    at.X[:, 2] = 0.1  # of size of the rounding of its mean elsewhere
    scores = learner.bind(at).scores(np.array([[0, 1], [1, 2]]))
    assert np.isfinite(scores).all()
    prior = learner.bind(at).scores(np.empty((1, 0), dtype=np.intp))
    assert_allclose(scores[1, :1], prior[0, :1], atol=1e-9)


@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize("learner", LEARNERS, ids=repr)
def test_degenerate_tables_give_finite_scores(learner, n_classes):
    n = 12
    y = np.arange(n) % n_classes
    rng = np.random.default_rng(3)
    twin = rng.standard_normal(n)
    columns = [
        twin, twin, 2 * twin - 1, y, (y == 0) * 1e-9, np.where(np.arange(n) == 0, 1e300, 0.0),
        np.full(n, 1e308), rng.standard_normal(n) * 1e-300, rng.standard_normal(n) + 1e12,
    ]  # fmt: skip
    folds = Folds.of([
        (np.arange(3, n), [0, 1, 2]), (np.array([0, 1, 3]), [4, 5]), (np.flatnonzero(y == 1), [0]),
        (np.array([5]), [0, 1]), (np.empty(0, dtype=int), [0]), (np.flatnonzero(y < 2), [2, 3]),
    ])  # fmt: skip
    X = np.asfortranarray(np.column_stack(columns).astype(float))
    at = problem(n_classes, X=X, y=y, weight=np.ones(n), folds=folds)
    pairs = np.array([(a, b) for a in range(9) for b in range(a + 1, 9)])
    for subsets in (np.arange(9)[:, None], pairs, np.arange(9)[None], np.arange(6)[None]):
        scores = learner.bind(at).scores(subsets)
        assert np.isfinite(scores).all()
        one_class = scores[:, folds.test_ptr[2] : folds.test_ptr[4]]
        if n_classes == 2:
            assert (np.abs(one_class) == NEVER).all()
        else:
            sides = one_class.max(axis=-1) - np.sort(one_class, axis=-1)[..., -2]
            assert (sides == NEVER).all()


@pytest.mark.parametrize("learner", LEARNERS, ids=repr)
def test_a_class_that_training_lacks_is_not_chosen(learner):
    y = np.arange(24) % 3
    folds = Folds.of([(np.flatnonzero(y != 1), np.arange(24))])
    at = problem(3, y=y, folds=folds)
    scores = learner.bind(at).scores(np.array([[0, 1]]))[0]
    others = np.sort(scores[:, [0, 2]], axis=1)
    assert_allclose(scores[:, 1], others[:, 0] - NEVER, rtol=1e-9)
    rows = y != 1
    two = problem(2, X=at.X, y=np.where(rows, y // 2, 0), weight=at.weight, folds=folds)
    margin = learner.bind(two).scores(np.array([[0, 1]]))[0, :, 0]
    assert_allclose(scores[:, 2] - scores[:, 0], margin, rtol=1e-9, atol=1e-9)


def test_a_column_that_separates_the_classes_is_used():
    at = problem()
    at.X[:, 0] = at.y
    for learner in LEARNERS:
        score = learner.bind(at).scores(np.array([[0, 1]]))[0, :, 0]
        assert_array_equal(score > 0, at.y[at.folds.test] == 1)


def test_a_duplicate_column_changes_no_linear_score():
    at = problem()
    at.X[:, 4] = 2 * at.X[:, 0] + 1
    bound = LinearDiscriminantLearner().bind(at)
    once, twice = bound.scores(np.array([[0, 2]])), bound.scores(np.array([[0, 2, 4]]))
    assert_allclose(once, twice, rtol=1e-9, atol=1e-9)


def test_far_classes_cost_no_digits():
    """Sums about class centres: a distance of 1e6 deviations, and still the formula."""
    at = problem(weights=False)
    at.X[:, 0] += 1e4 * at.y
    at.X[:, 1] += 1e7
    columns = np.array([0, 1, 2])
    found = LinearDiscriminantLearner().bind(at).scores(columns[None])[0, :, 0]
    at.X[:, 1] -= 1e7
    slowly = expected(LinearDiscriminantLearner(), at, columns)
    assert_allclose(found, slowly[:, 1] - slowly[:, 0], rtol=1e-7)
