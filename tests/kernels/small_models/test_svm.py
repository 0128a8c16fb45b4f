"""Tiny support vector machines against plain NumPy."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from psephos.kernels.small_models.gaussian_svm import free_room, machines, rbf_scores, smo
from psephos.kernels.small_models.linear_svm import hinge, linear_machines, linear_scores
from psephos.kernels.small_models.svm_common import layout, pair_scores
from psephos.runtime.jit import frozen


def twin_dual(K, y, cap, tol=1e-10):
    """Maximise the dual by the pair that violates optimality most; return y alpha and b."""
    beta, f = np.zeros(len(y)), y.astype(float)
    lo, hi = np.minimum(0, y * cap), np.maximum(0, y * cap)
    for _ in range(200_000):
        i = np.where(beta < hi, f, -np.inf).argmax()
        j = np.where(beta > lo, f, np.inf).argmin()
        if f[i] - f[j] < tol:
            break
        curve = max(K[i, i] + K[j, j] - 2 * K[i, j], 1e-12)
        step = min((f[i] - f[j]) / curve, hi[i] - beta[i], beta[j] - lo[j])
        beta[i] += step
        beta[j] -= step
        f -= step * (K[i] - K[j])
    free = (beta > lo) & (beta < hi)
    return beta, f[free].mean() if free.any() else (f[i] + f[j]) / 2


def twin_scaled(X, weight, rows, scale):
    centre = np.average(X[rows], axis=0, weights=weight[rows])
    sd = np.sqrt(np.average((X[rows] - centre) ** 2, axis=0, weights=weight[rows]))
    return (X - centre) / np.where((sd > 1e-12) & scale, sd, 1.0)


def twin_gamma(X, Z, rows, scale):
    spread = (Z if scale else X)[rows].var()
    return 1 / (Z.shape[1] * spread) if spread > 0 else 1.0


def twin_pairs(margins, n_classes):
    if n_classes == 2:
        return margins
    out = np.zeros((len(margins), n_classes))
    pairs = [(a, b) for a in range(n_classes) for b in range(a + 1, n_classes)]
    for row, margin in zip(out, margins, strict=True):
        sums = np.zeros(n_classes)
        for m, (a, b) in zip(margin, pairs, strict=True):
            row[b if m > 0 else a] += 1
            sums += m * ((np.arange(n_classes) == b).astype(int) - (np.arange(n_classes) == a))
        row += sums / (3 * (abs(sums) + 1))
    return out


def twin_scores(table, subset, train, test, C, kernel, scale=True, gamma=None):
    """Scores of one candidate on one split by the dual of every pair of classes."""
    X, y, weight, n_classes = table
    X = X[:, subset]
    Z = twin_scaled(X, weight, train, scale)
    g = gamma or twin_gamma(X, Z, train, scale)

    def k(A, B):
        if kernel == "linear":
            return A @ B.T
        return np.exp(-g * ((A[:, None] - B[None]) ** 2).sum(axis=2))

    margins = []
    for a in range(n_classes):
        for b in range(a + 1, n_classes):
            rows = train[(y[train] == a) | (y[train] == b)]
            sign = np.where(y[rows] == b, 1.0, -1.0)
            if not len(rows) or (sign == sign[0]).all():
                margins.append(np.full(len(test), sign[0] if len(rows) else 0.0))
                continue
            beta, level = twin_dual(k(Z[rows], Z[rows]), sign, C * weight[rows])
            margins.append(k(Z[test], Z[rows]) @ beta + level)
    return twin_pairs(np.stack(margins, axis=1), n_classes)


def example(seed, n=24, p=5, n_classes=2, weights=False):
    rng = np.random.default_rng(seed)
    y = np.arange(n) % n_classes
    X = rng.standard_normal((n, p)) + rng.standard_normal((n_classes, p))[y]
    X = X * rng.uniform(0.1, 9, p) + rng.normal(0, 5, p)
    weight = rng.uniform(0.3, 2, n) if weights else np.ones(n)
    order = rng.permutation(n)
    cuts = [np.sort(order[:5]), np.sort(order[5:9])]
    splits = [(np.setdiff1d(np.arange(n), test), test) for test in cuts]
    return (np.asfortranarray(X), y, weight, n_classes), splits


def joined(splits):
    train, test = [np.concatenate([s[i] for s in splits]).astype(np.int32) for i in (0, 1)]
    ptr = [np.cumsum([0, *(len(s[i]) for s in splits)]) for i in (0, 1)]
    return train, ptr[0], test, ptr[1]


def run_rbf(table, splits, subsets, C=(1.0,), gamma=0.0, scale=True, tol=1e-9):
    X, y, weight, n_classes = table
    plan = layout(frozen(X.T), y, n_classes, weight, *joined(splits), scale)
    subsets = np.asarray(subsets, dtype=np.intp)
    out = np.empty((len(C), len(subsets), len(plan.test), n_classes if n_classes > 2 else 1))
    room = machines(len(X), subsets.shape[1], n_classes, len(C))
    rbf_scores(
        plan, (0, len(splits)), subsets, np.full(len(subsets), gamma), np.array(C), tol, room,
        room.pair if plan.classes.shape[1] > 3 else None, out,
    )  # fmt: skip
    return out


def run_linear(table, splits, subsets, C=1.0, scale=True):
    X, y, weight, n_classes = table
    plan = layout(frozen(X.T), y, n_classes, weight, *joined(splits), scale)
    subsets = np.asarray(subsets, dtype=np.intp)
    out = np.empty((len(subsets), len(plan.test), n_classes if n_classes > 2 else 1))
    room = linear_machines(len(X), subsets.shape[1], n_classes)
    linear_scores(plan, (0, len(splits)), subsets, C, room, out)
    return out


@pytest.mark.parametrize("scale", [True, False])
def test_moments(random_seed, scale):
    (X, y, weight, _), splits = example(random_seed, weights=True)
    X[:, 2] = 3.7
    plan = layout(frozen(X.T), y, 2, weight, *joined(splits), scale)
    for s, (rows, _) in enumerate([*splits, (np.arange(len(X)), None)]):
        mine = plan.rows[plan.ptr[s] : plan.ptr[s + 1]]
        assert_array_equal(np.sort(mine), rows)
        assert (np.diff(y[mine]) >= 0).all()
        assert_array_equal(np.diff(plan.classes[s]), np.bincount(y[rows], minlength=2))
        Z = twin_scaled(X, weight, rows, scale)
        centre, inverse, mean, variance = plan.moments[:, s].T
        assert_allclose((X - centre) * inverse, Z, atol=1e-12)
        seen = Z if scale else X
        assert_allclose(mean, seen[rows].mean(axis=0), atol=1e-12)
        assert_allclose(variance, seen[rows].var(axis=0), atol=1e-12)
        assert inverse[2] == 1.0


def test_pair_scores(random_seed):
    rng = np.random.default_rng(random_seed)
    for n_classes in (2, 3, 5):
        margins = rng.normal(0, 2, (30, n_classes * (n_classes - 1) // 2)).round(1)
        expected = twin_pairs(margins, n_classes)
        out = np.empty_like(expected)
        for margin, row in zip(margins, out, strict=True):
            pair_scores(margin, n_classes, row)
        assert_allclose(out, expected, atol=1e-13)


@pytest.mark.parametrize("C", [0.05, 1.0, 30.0])
def test_smo(random_seed, C):
    rng = np.random.default_rng(random_seed)
    n, wide = 20, 32
    Z = rng.standard_normal((n, 2))
    Z[7] = Z[3]  # identical rows: no curvature between them
    y = np.where(rng.random(n) < 0.4, 1.0, -1.0)
    y[:2] = 1.0, -1.0
    cap = C * rng.uniform(0.5, 2, n)
    K = np.zeros((n, wide))
    K[:, :n] = np.exp(-0.7 * ((Z[:, None] - Z[None]) ** 2).sum(axis=2))
    lo, hi, beta, f, up, low = np.zeros((6, wide))
    lo[:n], hi[:n], f[:n] = np.minimum(0, y * cap), np.maximum(0, y * cap), y
    level = smo(K, lo, hi, wide, 1e-10, beta, f, up, low, free_room(wide))
    expected, b = twin_dual(K[:, :n], y, cap)
    assert_allclose(beta[:n].sum(), 0, atol=1e-12 * C)
    assert (beta >= lo).all()
    assert (beta <= hi).all()
    assert_allclose(K[:, :n] @ beta[:n] + level, K[:, :n] @ expected + b, atol=1e-7)
    assert_allclose(f[:n], y - K[:, :n] @ beta[:n], atol=1e-9)


def signed(table, subset, wide):
    X, y, weight, _ = table
    Z = twin_scaled(X[:, subset], weight, np.arange(len(y)), True)
    sign = np.where(y == 1, 1.0, -1.0)
    A = np.zeros((len(subset) + 1, wide))
    A[:-1, : len(y)], A[-1, : len(y)] = (Z * sign[:, None]).T, sign
    return Z, sign, A


@pytest.mark.parametrize("C", [0.02, 1.0, 100.0])
@pytest.mark.parametrize("separable", [False, True])
def test_hinge(random_seed, C, separable):
    table, _ = example(random_seed, weights=True)
    X, y, weight, _ = table
    if separable:
        X[:, 0] = np.where(y == 1, 5.0, -5.0) + 0.1 * X[:, 1]
    Z, sign, A = signed(table, [0, 2, 3], 32)
    cap = np.full(32, C)
    cap[: len(y)] *= weight
    w, V, M = np.zeros(4), np.empty((12, 32)), np.empty((5, 4))
    assert hinge(A, cap, 3, 32, w, V, M) < 50
    beta, level = twin_dual(Z @ Z.T, sign, cap[: len(y)])
    assert_allclose(w[:3], beta @ Z, atol=2e-3, rtol=1e-3)

    def loss(w):
        return w[:3] @ w[:3] / 2 + cap[: len(y)] @ np.maximum(0, 1 - sign * (Z @ w[:3] + w[3]))

    assert loss(w) <= loss(np.append(beta @ Z, level)) * (1 + 1e-7)


def test_the_middle_of_an_interval_of_intercepts():
    """Small C and as many rows of each class: all rows at their bound, b is free between two."""
    table, _ = example(4)
    Z, sign, A = signed(table, [0, 1], 32)
    cap = np.full(32, 1e-3)
    w, V, M = np.zeros(3), np.empty((12, 32)), np.empty((4, 3))
    hinge(A, cap, 2, 32, w, V, M)
    beta, level = twin_dual(Z @ Z.T, sign, cap[:24])
    assert (abs(beta) == 1e-3).all()
    assert_allclose(w, [*(beta @ Z), level], atol=1e-7)


@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize("weights", [False, True])
@pytest.mark.parametrize("scale", [True, False])
def test_scores_of_pairs(random_seed, n_classes, weights, scale):
    table, splits = example(random_seed, n_classes=n_classes, weights=weights)
    if not scale:
        table[0][:] = (table[0] - table[0].mean(axis=0)) / table[0].std(axis=0) + 0.5
    subsets = [[0, 1, 3], [1, 2, 4]]
    rbf = run_rbf(table, splits, subsets, scale=scale)[0]
    linear = run_linear(table, splits, subsets, scale=scale)
    for b, subset in enumerate(subsets):
        for kernel, mine in (("rbf", rbf), ("linear", linear)):
            expected = [twin_scores(table, subset, *split, 1.0, kernel, scale) for split in splits]
            assert_allclose(mine[b], np.concatenate(expected), atol=1e-5)


def test_the_grid_gives_what_each_value_gives_alone(random_seed):
    table, splits = example(random_seed)
    grid = (0.25, 1.0, 16.0)
    together = run_rbf(table, splits, [[0, 1]], grid, gamma=0.4)
    for C, mine in zip(grid, together, strict=True):
        alone = run_rbf(table, splits, [[0, 1]], (C,), gamma=0.4)[0]
        assert_allclose(mine, alone, atol=1e-6)
        twin = [twin_scores(table, [0, 1], *s, C, "rbf", gamma=0.4) for s in splits]
        assert_allclose(mine[0], np.concatenate(twin), atol=1e-6)


@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize("linear", [False, True])
def test_degenerate_tables(n_classes, linear):
    """Constant, doubled and no columns; a split that lacks a class, has one, or has no row."""
    table, splits = example(0, n_classes=n_classes)
    X, y = table[:2]
    X[:, 1], X[:, 3] = 2.5, X[:, 0]
    test = splits[0][1]
    splits += [(np.flatnonzero(y != 0), test), (np.flatnonzero(y == 1), test)]
    splits += [(np.array([0, 1]), test), (np.empty(0, dtype=int), test)]

    def run(subset):
        if linear:
            return run_linear(table, splits, [subset])
        return run_rbf(table, splits, [subset], (0.5, 8.0))[:, 0]

    subsets = [[1], [0, 3], [0, 1, 2, 3, 4], []]
    for subset in subsets:
        out = run(np.array(subset, dtype=np.intp))
        assert np.isfinite(out).all()
        starts = np.cumsum([0, *(len(s[1]) for s in splits)])
        lacking = out[:, starts[2] : starts[3]]
        said = (lacking[..., 0] > 0).astype(int) if n_classes == 2 else lacking.argmax(axis=2)
        assert (said != 0).all()
        single = out[:, starts[3] : starts[4]]
        said = (single[..., 0] > 0).astype(int) if n_classes == 2 else single.argmax(axis=2)
        assert (said == 1).all()
        if subset in ([1], []):  # nothing to tell rows apart by
            assert np.ptp(out[:, : starts[1]], axis=1).max() < 1e-9


def test_batches_do_not_matter(random_seed):
    table, splits = example(random_seed, n_classes=3)
    subsets = [[0, 1], [2, 4], [1, 3]]
    for run in (
        lambda s: run_rbf(table, splits, s, (1.0, 4.0))[1],
        lambda s: run_linear(table, splits, s),
    ):
        together = run(subsets)
        for b in (2, 0, 1):
            assert_array_equal(run([subsets[b]])[0], together[b])
