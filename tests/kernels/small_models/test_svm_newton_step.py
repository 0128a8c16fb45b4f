"""Newton steps on the free rows of a machine's dual."""

import os

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from psephos.kernels.small_models.gaussian_svm import (
    MOST_FREE,
    free_room,
    newton_cost,
    newton_step,
    smo,
)


def dual(seed, n=11, wide=12, cap=50.0):
    """A kernel, signs, bounds and a feasible point with its gradient; rows 0 and 1 at a bound."""
    rng = np.random.default_rng(seed)
    Z = 3.0 * rng.normal(size=(n, 3))
    y = np.where(np.arange(n) % 2 == 0, 1.0, -1.0)
    K = np.zeros((wide, wide))
    K[:n, :n] = np.exp(-((Z[:, None] - Z[None]) ** 2).sum(axis=2))
    lo, hi, beta, f = np.zeros((4, wide))
    lo[:n], hi[:n] = np.minimum(0, cap * y), np.maximum(0, cap * y)
    beta[:n] = 0.4 * cap * y
    beta[:2] = 0.0
    beta[:n] -= np.where(beta[:n] > 0, beta.sum() / (beta > 0).sum(), 0.0)
    f[:n] = y - K[:n, :n] @ beta[:n]
    return K, y, lo, hi, beta, f


def value(K, y, beta):
    n = len(y)
    return y @ beta[:n] - beta[:n] @ K[:n, :n] @ beta[:n] / 2


def test_a_step_without_bounds_ends_at_the_optimum_of_the_free_rows(random_seed):
    K, y, lo, hi, beta, f = dual(random_seed, cap=1e4)
    n, before = len(y), beta.copy()
    free = np.flatnonzero((lo < beta) & (beta < hi))
    assert not newton_step(K, lo, hi, 12, beta, f, free_room(12))
    matrix = np.block([[K[np.ix_(free, free)], np.ones((len(free), 1))], [np.ones(len(free)), 0]])
    gradient = (y - K[:n, :n] @ before[:n])[free]
    step = np.linalg.solve(matrix, [*gradient, 0.0])[:-1]
    assert_allclose(beta[free], before[free] + step, rtol=1e-5, atol=1e-3)
    assert_array_equal(beta[:2], 0.0)
    assert_allclose(f[:n], y - K[:n, :n] @ beta[:n], atol=1e-8)
    assert np.ptp(f[free]) < 1e-3 * np.ptp(gradient)


def test_a_step_stops_at_the_first_bound(random_seed):
    K, y, lo, hi, beta, f = dual(random_seed, cap=0.3)
    free = np.flatnonzero((lo < beta) & (beta < hi))
    before, height = beta.copy(), value(K, y, beta)
    assert newton_step(K, lo, hi, 12, beta, f, free_room(12))
    met = free[(beta[free] == lo[free]) | (beta[free] == hi[free])]
    assert len(met) >= 1
    assert ((lo <= beta) & (beta <= hi)).all()
    assert_allclose(beta.sum(), before.sum(), atol=1e-12)
    assert value(K, y, beta) > height


def test_rows_that_coincide_have_a_step_too():
    K, y, lo, hi, beta, f = dual(3)
    n = len(y)
    K[:n, :n] = 1.0  # a table whose rows are all equal
    f[:n] = y - K[:n, :n] @ beta[:n]
    height = value(K, y, beta)
    newton_step(K, lo, hi, 12, beta, f, free_room(12))
    assert np.isfinite(beta).all()
    assert value(K, y, beta) > height


@pytest.mark.parametrize("n_free", [0, 1, 2, MOST_FREE, MOST_FREE + 1])
def test_the_cost_says_where_no_step_is_possible(n_free):
    wide = MOST_FREE + 4
    lo, hi, beta = np.zeros(wide), np.ones(wide), np.zeros(wide)
    beta[:n_free] = 0.5
    assert (newton_cost(lo, hi, beta, wide) > 0) == (2 <= n_free <= MOST_FREE)


def test_machines_of_more_free_rows_than_a_factorisation_holds():
    """Pairs alone end at the optimum: the kernel is nearly the identity, every row is free."""
    n = MOST_FREE + 8
    y = np.where(np.arange(n) % 2 == 0, 1.0, -1.0)
    K = np.eye(n)
    lo, hi = np.minimum(0, 5 * y), np.maximum(0, 5 * y)
    beta, up, low = np.zeros((3, n))
    f = y.copy()
    level = smo(K, lo, hi, n, 1e-6, beta, f, up, low, free_room(n))
    assert_allclose(beta, y, atol=1e-6)
    assert abs(level) < 1e-6


@pytest.mark.skipif(
    bool(os.environ.get("NUMBA_DISABLE_JIT")), reason="a thousand rows need compiled kernels"
)
@pytest.mark.parametrize("noise", [0.1, 0.3])
def test_many_free_rows_and_a_large_C_are_solved_too(noise):
    """Most rows are free on the way, so that Newton steps are dear or impossible."""
    rng = np.random.default_rng(0)
    n, cap = 1000, 1000.0
    Z = rng.normal(size=(n, 2))
    y = np.where((Z[:, 0] * Z[:, 1] > 0) ^ (rng.random(n) < noise), 1.0, -1.0)
    K = np.exp(-0.5 * ((Z[:, None] - Z[None]) ** 2).sum(axis=2))
    lo, hi = np.minimum(0, cap * y), np.maximum(0, cap * y)
    beta, up, low = np.zeros((3, n))
    f = y.copy()
    smo(K, lo, hi, n, 1e-3, beta, f, up, low, free_room(n))
    gradient = y - K @ beta
    violation = gradient[beta < hi].max() - gradient[beta > lo].min()
    assert violation < 2e-3
    assert_allclose(beta.sum(), 0.0, atol=1e-9 * cap)
