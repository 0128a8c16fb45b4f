"""Lasso paths against the conditions that define them, and the choice along a path."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from psephos.kernels.small_models.lasso import lasso_model, lasso_scores
from psephos.kernels.small_models.logistic import PAD
from psephos.runtime.jit import frozen


def table(n=20, p=4, seed=0):
    rng = np.random.default_rng(seed)
    y = rng.integers(0, 2, n)
    X = rng.standard_normal((n, p)) + y[:, None] * [1.0, 0.4, 0.0, -0.7][:p]
    return X * [1.0, 20.0, 0.1, 3.0][:p], y, rng.uniform(0.5, 2, n)


def splits_of(n):
    order = np.random.default_rng(3).permutation(n)
    return [(np.sort(np.setdiff1d(order, t)), np.sort(t)) for t in np.array_split(order, 2)]


def scores(X, y, w, splits, subsets, lambdas, K=1):
    n = len(X)
    masks = np.zeros((len(splits) + 1, -(-n // PAD) * PAD))
    for s, (train, _) in enumerate(splits):
        masks[s, train] = w[train]
    masks[-1, :n] = w
    ys = np.zeros((K, masks.shape[1]))
    for k in range(K):
        ys[k, :n] = y == (k if K > 1 else 1)
    test = np.concatenate([t for _, t in splits]).astype(np.int32)
    ptr = np.cumsum([0, *(len(t) for _, t in splits)])
    out, chosen = np.full((len(subsets), len(test), K), np.nan), np.empty(len(subsets), np.intp)
    lasso_scores(
        frozen(X.T), ys, y.astype(np.intp), masks, masks.sum(axis=1), test, ptr,
        np.asarray(subsets, dtype=np.intp), np.asarray(lambdas, float), 1e-7, 200, out, chosen,
    )  # fmt: skip
    return out, chosen


def model(X, y, w, lambdas):
    n, d = X.shape
    weight, ys = np.zeros(-(-n // PAD) * PAD), np.zeros((1, -(-n // PAD) * PAD))
    weight[:n], ys[0, :n] = w, y
    out = np.empty((1, d + 1))
    lambdas = np.asarray(lambdas, float)
    lasso_model(frozen(X.T), ys, weight, np.arange(d), lambdas, 1e-9, 500, out)
    return out[0]


def check_minimum(X, y, w, coef, by):
    """0 is in the subdifferential: slopes are -lambda sign where not 0, within lambda where 0."""
    z = X @ coef[:-1] + coef[-1]
    residual = w * (1 / (1 + np.exp(-z)) - y) / w.sum()
    mean = np.average(X, axis=0, weights=w)
    sd = np.sqrt(np.average((X - mean) ** 2, axis=0, weights=w))
    slope = ((X - mean) / np.where(sd > 1e-12, sd, 1.0)).T @ residual
    assert abs(residual.sum()) < 1e-7
    active = coef[:-1] != 0
    assert_allclose(slope[active], -by * np.sign(coef[:-1][active]), atol=1e-7)
    assert (np.abs(slope[~active]) <= by + 1e-7).all()


@pytest.mark.parametrize("by", [0.25, 0.12, 0.05, 0.003])
def test_model_is_the_minimum(by):
    X, y, w = table()
    path = [v for v in np.linspace(0.3, 0, 12) if v > by]
    coef = model(X, y, w, [*path, by])
    check_minimum(X, y, w, coef, by)
    assert_allclose(coef, model(X, y, w, [by]), rtol=1e-5, atol=1e-7)


def test_no_column_above_the_first_penalty():
    X, y, w = table()
    coef = model(X, y, w, [10.0])
    assert_array_equal(coef[:-1], 0.0)
    share = np.average(y, weights=w)
    assert_allclose(coef[-1], np.log(share / (1 - share)), rtol=1e-9)


@pytest.mark.parametrize("by", [0.1, 1e-3])
def test_constant_duplicate_and_separating_columns(by):
    X, y, w = table()
    X[:, 1] = X[:, 0]
    X[:, 2] = -4.0
    coef = model(X, y, w, [by])
    assert coef[2] == 0.0
    check_minimum(X, y, w, coef, by)
    X[:, 3] = y + 0.01 * X[:, 3]
    check_minimum(X, y, w, model(X, y, w, [by]), by)


def test_path_ends_where_zero_is_asked():
    """Penalty 0 on separable rows: a small one stands for it, and the scores are finite."""
    X, y, w = table()
    X[:, 0] = y + 0.01 * X[:, 0]
    splits = splits_of(len(y))
    out, _ = scores(X, y, w, splits, [[0, 1]], [0.0])
    assert np.isfinite(out).all()
    assert_array_equal(out[0, :, 0] > 0, y[np.concatenate([t for _, t in splits])] == 1)


@pytest.mark.parametrize("by", [0.2, 0.04])
def test_scores_are_those_of_models_on_the_training_rows(by):
    X, y, w = table()
    rare = splits_of(len(y))[0][1][0]
    X[:, 2] = 0.5  # constant on the training rows of the first split
    X[rare, 2] = 9.0
    splits = splits_of(len(y))
    subsets = [[0, 1, 3], [0, 2, 3]]
    out, chosen = scores(X, y, w, splits, subsets, [by])
    assert_array_equal(chosen, 0)
    for b, columns in enumerate(subsets):
        first = 0
        for train, test in splits:
            coef = model(X[np.ix_(train, columns)], y[train], w[train], [by])
            expected = X[np.ix_(test, columns)] @ coef[:-1] + coef[-1]
            said = out[b, first : first + len(test), 0]
            assert_allclose(said, expected, rtol=1e-5, atol=1e-6)
            first += len(test)
        assert_array_equal(scores(X, y, w, splits, [columns], [by])[0][0], out[b])


@pytest.mark.parametrize("K", [1, 3])
def test_choice_along_the_path(K):
    X, y, w = table(n=27)
    if K == 3:
        y = np.arange(27) % 3
    splits, lambdas = splits_of(27), np.linspace(0.3, 0, 7)
    out, chosen = scores(X, y, w, splits, [[0, 1], [1, 3]], lambdas, K)
    rows = np.concatenate([t for _, t in splits])
    for b, columns in enumerate([[0, 1], [1, 3]]):
        each = [scores(X, y, w, splits, [columns], [v], K)[0][0] for v in lambdas]
        said = [s[:, 0] > 0 if K == 1 else s.argmax(axis=1) for s in each]
        wrong = [w[rows] @ (answers != y[rows]) for answers in said]
        assert chosen[b] == np.argmin(np.round(wrong, 9))
        assert_allclose(out[b], each[chosen[b]], rtol=1e-5, atol=1e-6)


def test_training_rows_of_one_class():
    X, y, w = table()
    rows = np.flatnonzero(y == 0)
    out, _ = scores(X, y, w, [(rows, np.array([0, 1]))], [[0, 1]], [0.1])
    assert_allclose(out, -np.log(1 + 2 * w[rows].sum()), rtol=1e-12)
