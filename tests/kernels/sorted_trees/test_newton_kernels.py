"""Kernels of second-order boosting against slow twins that read like the formulas."""

import ctypes
import sys
from itertools import pairwise

import numba
import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from psephos.kernels.binned_trees.bins import bin_columns
from psephos.kernels.sorted_trees.newton_exact import (
    exact_split,
    level_totals,
    pack,
    scan_columns,
)
from psephos.kernels.sorted_trees.newton_gain import (
    Penalty,
    gain_of,
    logistic_gradients,
    loss_of,
    softmax_gradients,
    weight_of,
)
from psephos.trees.newton import sizes_of

F = np.float32
NO_LOW, NO_HIGH = F(-np.inf), F(np.inf)
# NumPy says so where kernels run uncompiled
pytestmark = pytest.mark.filterwarnings("ignore:overflow")


# ---------------------------------------------------------------------- losses
def test_logistic_gradients_are_the_derivatives():
    margin = np.linspace(-120, 120, 41, dtype=F)
    y = (np.arange(41) % 2).astype(F)
    out = np.empty((41, 2), F)
    logistic_gradients(margin, y, out)
    p = 1 / (1 + np.exp(-np.clip(margin.astype(float), -88.7, None)))
    assert_allclose(out[:, 0], p - y, atol=1e-7)
    assert_allclose(out[:, 1], np.maximum(p * (1 - p), 1e-16), rtol=1e-5, atol=1e-7)


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="asks for the C library by name")
def test_logistic_gradients_use_the_c_librarys_exponential():
    if logistic_gradients is getattr(logistic_gradients, "py_func", logistic_gradients):
        pytest.skip("math.exp is of float64 where kernels run uncompiled")
    library = ctypes.CDLL("libm.so.6")
    library.expf.restype, library.expf.argtypes = ctypes.c_float, [ctypes.c_float]
    margin = np.random.default_rng(0).uniform(-80, 80, 3000).astype(F)
    out = np.empty((3000, 2), F)
    logistic_gradients(margin, np.zeros(3000, F), out)
    e = np.array([library.expf(float(-m)) for m in margin], F)
    assert_array_equal(out[:, 0], F(1) / (e + F(1)))


def test_softmax_gradients_are_the_derivatives():
    rng = np.random.default_rng(0)
    margin, y = (3 * rng.standard_normal((20, 4))).astype(F), rng.integers(0, 4, 20)
    out = np.empty((4, 20, 2), F)
    softmax_gradients(margin, y, np.empty(4, F), out)
    p = np.exp(margin.astype(float))
    p /= p.sum(axis=1, keepdims=True)
    assert_allclose(out[:, :, 0].T, p - np.eye(4)[y], atol=1e-6)
    assert_allclose(out[:, :, 1].T, 2 * p * (1 - p), atol=1e-6)


# ---------------------------------------------------------------------- worth
@pytest.mark.parametrize("alpha", [0.0, 0.7])
@pytest.mark.parametrize("lam", [0.0, 2.0])
def test_weights_minimise_what_gains_measure(alpha, lam):
    pen = Penalty(lam, alpha)
    for g, h in ((3.0, 2.0), (-5.0, 1.5), (0.3, 1.0)):
        grid = np.linspace(-6, 6, 200_001)
        cost = g * grid + (h + lam) * grid**2 / 2 + alpha * np.abs(grid)
        assert abs(weight_of(pen, g, h, NO_LOW, NO_HIGH) - grid[cost.argmin()]) < 1e-4
        assert_allclose(gain_of(pen, g, h, NO_LOW, NO_HIGH), -2 * cost.min(), atol=1e-5)


def test_weights_are_bounded():
    assert weight_of(Penalty(step=0.5), 9.0, 1.0, NO_LOW, NO_HIGH) == -0.5
    directed = Penalty(constrained=True)
    assert weight_of(directed, 9.0, 1.0, F(-1), F(2)) == -1
    assert weight_of(directed, -9.0, 1.0, F(-1), F(2)) == 2
    falls = loss_of(directed, -3.0, 2.0, 3.0, 2.0, F(0), NO_LOW, NO_HIGH, 1)
    rises = loss_of(directed, 3.0, 2.0, -3.0, 2.0, F(0), NO_LOW, NO_HIGH, 1)
    assert falls == -np.inf
    assert_allclose(rises, 6.0)
    assert gain_of(Penalty(), 3.0, 0.0, NO_LOW, NO_HIGH) == 0


# ---------------------------------------------------------------------- exact splits
def tied_table(seed, n=40, p=6, missing=0.2):
    rng = np.random.default_rng(seed)
    x = rng.standard_normal((p, n)).astype(F)
    x[1] = np.round(x[1])
    x[2] = 1.0
    x[3] = rng.integers(0, 3, n)
    x[4:, :][rng.random((p - 4, n)) < missing] = np.nan
    order = np.argsort(x, axis=1, kind="stable").astype(np.uint16)
    known = (~np.isnan(x)).sum(axis=1).astype(np.int64)
    gh = np.stack([rng.standard_normal(n), rng.uniform(0.1, 1, n)], axis=1).astype(F)
    return x, order, known, gh


def twin_split(pen, x, known, gh, rows, G, H, root, directions):
    """Every cut of every column, both ways for the missing, best loss, then lowest column."""
    best = (F(0.0), None, None, -1)
    for j in range(len(x)):
        here = [r for r in rows if not np.isnan(x[j, r])]
        values = sorted({x[j, r] for r in here})
        sides = [False, True] if known[j] < x.shape[1] else [True]
        for missing_left in sides:
            cuts = [(a + b) * F(0.5) for a, b in pairwise(values)]
            if not missing_left:
                cuts += [values[-1] + (abs(values[-1]) + F(1e-6))] if values else []
            else:
                cuts = [values[0] - (abs(values[0]) + F(1e-6)), *cuts] if values else []
            for cut in cuts if not missing_left else cuts[::-1]:
                left = [r for r in rows if (missing_left if np.isnan(x[j, r]) else x[j, r] < cut)]
                lg = gh[left, 0].astype(float).sum()
                lh = gh[left, 1].astype(float).sum()
                if lh < pen.least or H - lh < pen.least or not here:
                    continue
                if set(left) in ({*rows}, set()):
                    continue
                got = loss_of(pen, lg, lh, G - lg, H - lh, root, NO_LOW, NO_HIGH, directions[j])
                if got > best[0] * F(1 + 1e-6):
                    best = (got, cut, missing_left, j)
    return best


@pytest.mark.parametrize(
    "pen",
    [Penalty(), Penalty(lam=0.0, least=0.5), Penalty(alpha=0.8), Penalty(step=0.4),
     Penalty(least=0.0, lam=0.0)],
)  # fmt: skip
@pytest.mark.parametrize("seed", [0, 1, 2])
def test_scan_finds_the_best_cut_of_every_node(pen, seed):
    x, order, known, gh = tied_table(seed)
    p, n = x.shape
    slot = np.random.default_rng(seed).integers(0, 4, n).astype(np.uint16)  # the last is dead
    slots = 3
    total = sizes_of(gh[slot < slots])
    assert_allclose(total, np.abs(gh[slot < slots].astype(float)).sum(axis=0))
    scale = tuple(2.0**30 / total)
    packed = np.empty(n, np.int64)
    pack(gh, slot, slots, *scale, packed)
    sums, whole = np.zeros((slots + 1, 2)), np.zeros(slots + 1, np.int64)
    size = np.zeros(slots + 1, np.int64)
    level_totals(slot, gh, packed, sums, whole, size)
    assert_array_equal(size, np.bincount(slot, minlength=4))
    root = np.array([gain_of(pen, *s, NO_LOW, NO_HIGH) for s in sums[:slots]], F)
    start = np.cumsum(np.concatenate([[0], size])) + np.arange(1, slots + 3)
    level = (sums[:slots], whole[:slots], size, root, np.full(3, NO_LOW), np.full(3, NO_HIGH))
    directions = np.zeros(p, np.int64)
    found = (np.zeros(3, F), np.zeros(3, F), np.zeros(3, bool), np.full(3, -1))
    scan_columns(
        pen, (x, order, known, directions), np.arange(p), np.empty((0, 0), bool), slot, gh, packed,
        start, level, *scale, np.empty(4, np.uint32), np.empty(start[-1], np.int64),
        np.empty(4, np.uint32), np.empty(start[-1], np.uint16), *found,
    )  # fmt: skip
    for s in range(slots):
        rows = np.flatnonzero(slot == s)
        expected = twin_split(pen, x, known, gh, rows, *sums[s], root[s], directions)
        assert_allclose(found[0][s], expected[0], rtol=1e-5)
        if found[3][s] != expected[3]:  # the same rows by another column
            continue
        column = x[found[3][s], rows]
        ways = [
            np.where(np.isnan(column), left, column < F(cut))
            for cut, left in ((found[1][s], found[2][s]), expected[1:3])
        ]
        assert_array_equal(*ways)


def test_exact_split_thins_cuts_to_shares_of_the_hessian():
    n = 64
    x = np.arange(n, dtype=F)
    gh = np.stack([np.where(x < 13, -1, 1), np.ones(n)], axis=1).astype(F)
    arguments = (
        x, np.arange(n, dtype=np.uint16), False, gh, float(gh[:, 0].sum()), float(n),
        (F(0), NO_LOW, NO_HIGH, 0), 0, (F(0), F(0), False, -1),
    )  # fmt: skip
    split = numba.njit(error_model="numpy")(lambda *given: exact_split(*given))
    assert split(Penalty(), *arguments)[1] == 12.5
    coarse = split(Penalty(share=1 / 4), *arguments)
    assert coarse[1] == 15.5  # cuts at a quarter of the rows, the backward scan counts from above


# ---------------------------------------------------------------------- bins and sums
def test_bins_hold_equal_shares_of_the_hessian():
    rng = np.random.default_rng(0)
    n = 300
    x = np.stack([rng.standard_normal(n), rng.integers(0, 4, n), rng.standard_normal(n)]).astype(F)
    x[2, :40] = np.nan
    order = np.argsort(x, axis=1, kind="stable").astype(np.uint16)
    hessian, kept = (
        rng.uniform(0.1, 2, n),
        rng.random(n) < 0.8,
    )  # others are coded, but weigh nothing
    codes, n_bins = np.empty((3, n), np.uint8), np.empty(3, np.int64)
    low, high = np.full((2, 3, 256), np.nan)
    bin_columns(x, order, hessian * kept, 10, np.empty((2, n)), codes, n_bins, low, high)
    assert_array_equal(n_bins, [10, 4, 10])
    assert_array_equal(codes[1], x[1])
    for j in range(3):
        there = ~np.isnan(x[j])
        assert (codes[j, ~there] == n_bins[j]).all()
        for b in range(n_bins[j]):
            mine = x[j, there & (codes[j] == b)]
            assert (mine.min(), mine.max()) == (low[j, b], high[j, b])
        assert (high[j, : n_bins[j] - 1] < low[j, 1 : n_bins[j]]).all()
    mass = np.bincount(codes[0][kept], hessian[kept], minlength=10)
    assert mass.max() < 1.5 * mass.sum() / 10
