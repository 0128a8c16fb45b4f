"""Losses of gradient boosting against finite differences and slow readable twins."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from psephos.models.boosting.losses import (
    Exponential,
    LeafRows,
    LogLoss,
    MultiLogLoss,
    Quantile,
    SquaredNumbers,
)

NUMBERS = [SquaredNumbers(), Quantile(0.5, size=2.0), Quantile(0.3)]
CLASSES = [LogLoss(), MultiLogLoss(4), Exponential()]
SCALE = {SquaredNumbers: 0.5, LogLoss: 0.5}  # their losses are twice what is descended


def problem(loss, n=40, seed=0):
    rng = np.random.default_rng(seed)
    margin = rng.standard_normal((n, loss.n_outputs))
    y = rng.standard_normal(n) if loss in NUMBERS else rng.integers(max(2, loss.n_outputs), size=n)
    return margin, y, rng.uniform(0.5, 2.0, n)


@pytest.mark.parametrize("loss", NUMBERS + CLASSES, ids=lambda loss: type(loss).__name__)
def test_residuals_are_the_negative_gradient(loss):
    margin, y, w = problem(loss)
    found = loss.residuals(margin, y, w)
    step = 1e-6
    for k in range(loss.n_outputs):
        up, down = margin.copy(), margin.copy()
        up[:, k] += step
        down[:, k] -= step
        for i in range(len(y)):
            one = np.zeros(len(y))
            one[i] = 1.0
            slope = (loss.loss(up, y, one) - loss.loss(down, y, one)) / (2 * step)
            assert found[i, k] == pytest.approx(-slope * SCALE.get(type(loss), 1.0), abs=1e-6)


@pytest.mark.parametrize("loss", NUMBERS + CLASSES, ids=lambda loss: type(loss).__name__)
def test_no_constant_is_better_than_the_start(loss):
    _, y, w = problem(loss, 200)
    start = loss.start(y, w)
    best = loss.loss(np.repeat(start[None], len(y), axis=0), y, w)
    for k in range(loss.n_outputs):
        for step in (-0.1, -1e-3, 1e-3, 0.1):
            other = start.copy()
            other[k] += step
            assert loss.loss(np.repeat(other[None], len(y), axis=0), y, w) >= best - 1e-12


def quantile_twin(values, weight, share):
    total = 0.0
    for i in np.argsort(values, kind="stable"):
        total += weight[i]
        if total >= share * weight.sum() * (1 - 1e-12):
            return values[i]
    raise AssertionError


def test_quantiles_of_leaves():
    rng = np.random.default_rng(0)
    for seed in range(20):
        n = int(rng.integers(1, 60))
        leaf, values = rng.integers(2, 9, n), np.round(rng.standard_normal(n), 1)
        weight = rng.integers(1, 5, n).astype(float) if seed % 2 else rng.random(n)
        share = float(rng.choice([0.1, 0.5, 0.75, 0.9]))
        found = LeafRows(leaf, 11, weight).quantiles(values, share)
        for node in range(11):
            own = leaf == node
            said = quantile_twin(values[own], weight[own], share) if own.any() else 0.0
            assert found[node] == said


def test_a_quantile_of_weight_two_is_that_of_the_row_twice():
    values, weight = np.arange(10.0), np.ones(10)
    zero = np.zeros(10, np.intp)
    assert LeafRows(zero, 1, weight).quantiles(values, 0.9)[0] == 8.0
    assert LeafRows(zero, 1, 1e-9 * weight / 3).quantiles(values, 0.7)[0] == 6.0
    weight[9] = 3.0
    one = LeafRows(zero, 1, weight).quantiles(values, 0.75)
    rows = np.append(np.arange(10), [9, 9])
    twice = LeafRows(rows * 0, 1, np.ones(12)).quantiles(values[rows], 0.75)
    assert_array_equal(one, twice)


def test_steps_of_leaves():
    leaf, w = np.array([0, 0, 2, 2, 2]), np.array([1.0, 2.0, 1.0, 1.0, 3.0])
    leaves = LeafRows(leaf, 4, w)
    y, margin = np.array([0, 1, 1, 1, 0]), np.array([0.3, -0.2, 1.0, 2.0, -1.0])
    p = 1 / (1 + np.exp(-margin))
    r = y - p
    said = LogLoss().answers(r, margin, y, leaves)
    wanted = [np.sum((w * r)[leaf == k]) / np.sum((w * p * (1 - p))[leaf == k]) for k in (0, 2)]
    assert_allclose(said, [wanted[0], 0, wanted[1], 0])
    assert_allclose(MultiLogLoss(5).answers(r, margin, y, leaves), 0.8 * said)
    sign = 2 * y - 1
    r = sign * np.exp(-sign * margin)
    said = Exponential().answers(r, margin, y, leaves)
    assert said[0] == pytest.approx((w * r)[:2].sum() / (w * abs(r))[:2].sum())


def test_a_small_residual_keeps_its_digits():
    r = LogLoss().residuals(np.array([[40.0], [-40.0]]), np.array([1, 0]), np.ones(2))
    assert_allclose(r[:, 0], [np.exp(-40.0), -np.exp(-40.0)], rtol=1e-12)
