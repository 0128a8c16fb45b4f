"""Batched logistic fits against their definition: standardise the split, then minimise the loss."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from psephos.kernels.small_models.logistic import PAD, logistic_model, logistic_scores, solve
from psephos.runtime.jit import frozen


def twin_fit(A, y, w, K, ridge):
    """Newton's steps on all K (d + 1) parameters, halved until the loss goes down: (W, b)."""
    n, d = A.shape
    one = np.column_stack([A, np.ones(n)])
    Y = (y[:, None] == np.arange(K)).astype(float)
    penalty = np.append(np.full(d, ridge), 0.0)

    def loss(theta):
        z = one @ theta.T
        top = z.max(axis=1)
        total = (
            w * (np.log(np.exp(z - top[:, None]).sum(axis=1)) + top - (Y * z).sum(axis=1))
        ).sum()
        return total + 0.5 * (penalty * theta**2).sum()

    theta = np.zeros((K, d + 1))
    for _ in range(300):
        z = one @ theta.T
        p = np.exp(z - z.max(axis=1, keepdims=True))
        p /= p.sum(axis=1, keepdims=True)
        slope = ((w[:, None] * (p - Y)).T @ one + penalty * theta).ravel()
        S = np.einsum("nk,kl->nkl", p, np.eye(K)) - p[:, :, None] * p[:, None, :]
        H = np.einsum("n,nkl,na,nb->kalb", w, S, one, one).reshape(K * (d + 1), -1)
        H += np.diag(np.tile(penalty, K))
        step = -np.linalg.lstsq(H, slope, rcond=1e-14)[0].reshape(theta.shape)
        size = 1.0
        while loss(theta + size * step) > loss(theta) and size > 1e-10:
            size /= 2
        theta = theta + size * step
        if np.abs(step).max() < 1e-11:
            break
    return theta[:, :-1], theta[:, -1]


def twin_scores(X, y, w, splits, columns, K, C, scaled):
    out = []
    for train, test in splits:
        A, wt = X[np.ix_(train, columns)], w[train]
        mean = np.average(A, axis=0, weights=wt)
        sd = np.sqrt(np.average((A - mean) ** 2, axis=0, weights=wt))
        constant = sd <= 1e-14 * np.abs(mean)
        scale = np.where(constant | (not scaled), 1.0, sd)
        move = lambda B: np.where(constant, 0.0, (B - mean) / scale)  # noqa: B023, E731
        if K == 2:  # half the ridge on each of two opposite rows is one row's
            W, b = twin_fit(move(A), y[train], wt, 2, 2 / C)
            W, b = (W[1] - W[0])[None], (b[1] - b[0])[None]
        else:
            W, b = twin_fit(move(A), y[train], wt, K, 1 / C)
        out.append(move(X[np.ix_(test, columns)]) @ W.T + b)
    return np.concatenate(out)


def batched(X, y, w, splits, subsets, K, C=10.0, scaled=True):
    n = len(X)
    masks = np.zeros((len(splits) + 1, -(-n // PAD) * PAD))
    for s, (train, _) in enumerate(splits):
        masks[s, train] = w[train]
    masks[-1, :n] = w
    padded = np.zeros(masks.shape[1])
    padded[:n] = y
    test = np.concatenate([t for _, t in splits]).astype(np.int32)
    ptr = np.cumsum([0, *(len(t) for _, t in splits)])
    out = np.full((len(subsets), len(test), 1 if K == 2 else K), np.nan)
    logistic_scores(
        frozen(X.T), padded, masks, masks.sum(axis=1), test, ptr,
        np.asarray(subsets, dtype=np.intp), 1 / C, scaled, 1e-6, 200, out,
    )  # fmt: skip
    return out


def table(K, n=21, p=4, seed=0):
    rng = np.random.default_rng(seed)
    y = np.arange(n) % K
    X = rng.standard_normal((n, p)) + 0.8 * (y[:, None] == 1) * (np.arange(p) % 2)
    return X * [1.0, 5.0, 0.1, 30.0], y, rng.uniform(0.5, 2.0, n)


def thirds(n, seed=1):
    order = np.random.default_rng(seed).permutation(n)
    return [(np.sort(np.setdiff1d(order, t)), np.sort(t)) for t in np.array_split(order, 3)]


def centred(scores):
    return scores - scores.mean(axis=-1, keepdims=True) if scores.shape[-1] > 1 else scores


@pytest.mark.parametrize("K", [2, 3])
@pytest.mark.parametrize("scaled", [True, False])
def test_scores(K, scaled):
    X, y, w = table(K)
    splits, subsets = thirds(len(y)), [[0, 1], [1, 3]]
    out = batched(X, y, w, splits, subsets, K, scaled=scaled)
    for b, columns in enumerate(subsets):
        expected = twin_scores(X, y, w, splits, columns, K, 10.0, scaled)
        assert_allclose(out[b], expected, rtol=1e-7, atol=1e-7)
        assert_array_equal(batched(X, y, w, splits, [columns], K, scaled=scaled)[0], out[b])


@pytest.mark.parametrize("C", [1.0, 1e4])
def test_separable_rows(C):
    X, y, w = table(2)
    X[:, 0] = y + 0.01 * X[:, 0]
    splits = thirds(len(y))
    out = batched(X, y, w, splits, [[0, 2]], 2, C)
    assert_allclose(out[0], twin_scores(X, y, w, splits, [0, 2], 2, C, True), rtol=1e-5)


@pytest.mark.parametrize("K", [2, 3])
def test_columns_constant_duplicate_or_nearly_constant_in_training(K):
    X, y, w = table(K)
    splits = thirds(len(y))
    X[:, 0] = 7.1
    X[:, 2] = X[:, 1]
    rare = splits[0][1][0]
    X[:, 3] = 1e-3  # constant on the training rows of the first split alone
    X[rare, 3] = 2.0
    for columns in ([0, 1], [1, 2], [1, 3]):
        out = batched(X, y, w, splits, [columns], K)
        expected = twin_scores(X, y, w, splits, columns, K, 10.0, True)
        assert_allclose(out[0], expected, rtol=1e-6, atol=1e-6)
    prior = batched(X, y, w, splits, np.empty((1, 0)), K)
    assert_allclose(batched(X, y, w, splits, [[0]], K), prior, atol=1e-12)
    for (train, _), score in zip(splits, prior[0][:: len(y) // 3], strict=True):
        share = np.bincount(y[train], w[train])
        logs = np.log(share)
        expected = [logs[1] - logs[0]] if K == 2 else logs - logs.mean()
        assert_allclose(centred(score), expected, atol=1e-6)


def test_a_column_that_an_outlier_stretches():
    """Standardised by all rows it would be flat on the training rows; by these it is not."""
    X, y, w = table(2)
    splits = thirds(len(y))
    X[splits[0][1][0], 1] = 1e9
    out = batched(X, y, w, splits, [[0, 1]], 2)
    expected = twin_scores(X, y, w, splits, [0, 1], 2, 10.0, True)
    assert_allclose(out[0], expected, rtol=1e-6, atol=1e-6)


def test_fewer_rows_than_columns():
    X, y, w = table(2, n=6, p=4)
    X = np.column_stack([X, X[:, :3] ** 2])
    splits = [(np.array([0, 1, 3]), np.array([2, 4, 5]))]
    out = batched(X, y, w, splits, [np.arange(7)], 2)
    expected = twin_scores(X, y, w, splits, np.arange(7), 2, 10.0, True)
    assert_allclose(out[0], expected, rtol=1e-6, atol=1e-6)


def test_training_rows_of_one_class():
    X, y, w = table(2)
    rows = np.flatnonzero(y == 1)
    out = batched(X, y, w, [(rows, np.array([0, 1]))], [[0, 1]], 2)
    assert_allclose(out[0], np.log(1 + 2 * w[rows].sum()), rtol=1e-12)
    X, y, w = table(3)
    rows = np.flatnonzero(y == 2)
    out = batched(X, y, w, [(rows, np.array([0, 1]))], [[0, 1]], 3)
    assert (out.argmax(axis=2) == 2).all()
    assert np.isfinite(out).all()


def test_one_of_three_classes_missing_in_training():
    X, y, w = table(3)
    train, test = np.flatnonzero(y != 1), np.arange(5)
    out = batched(X, y, w, [(train, test)], [[0, 1]], 3)[0]
    two = twin_scores(X, (y == 2).astype(int), w, [(train, test)], [0, 1], 2, 20.0, True)
    assert_allclose(out[:, 2] - out[:, 0], two[:, 0], rtol=1e-6, atol=1e-6)
    gap = np.log(1 + 2 * w[train].sum())
    assert_allclose(out[:, 1], out[:, [0, 2]].min(axis=1) - gap, rtol=1e-9)


@pytest.mark.parametrize("K", [2, 3])
def test_coefficients_on_the_columns_as_they_are(K):
    X, y, w = table(K)
    n, every = len(y), np.arange(len(y))
    weight, codes = np.zeros((2, -(-n // PAD) * PAD))
    weight[:n], codes[:n] = w, y
    out = np.empty((1 if K == 2 else K, 4))
    columns = np.array([0, 1, 3])
    logistic_model(frozen(X.T), codes, weight, columns, 0.1, True, 1e-8, 200, out)
    expected = twin_scores(X, y, w, [(every, every)], columns, K, 10.0, True)
    assert_allclose(X[:, columns] @ out[:, :3].T + out[:, 3], expected, rtol=1e-8, atol=1e-8)


def test_systems_of_equations():
    rng = np.random.default_rng(0)
    A = rng.standard_normal((5, 5))
    H, g = A @ A.T, rng.standard_normal(5)
    x = g.copy()
    solve(np.tril(H), x)
    assert_allclose(H @ x, g, rtol=1e-9)
    H = np.array([[2.0, 2.0, 0.0], [2.0, 2.0, 0.0], [0.0, 0.0, 0.0]])  # second as the first
    x = np.array([4.0, 4.0, 0.0])
    solve(H, x)
    assert_allclose(x, [2.0, 0.0, 0.0], rtol=1e-12)
