"""Rows that a tree is grown on: copies are one row, and draws go by weight."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.stats import binom, chi2

from psephos.kernels.binned_trees.forest_cuts import uniform
from psephos.kernels.binned_trees.forest_draws import (
    draw_counts,
    make_alias,
    split_counts,
    take_rows,
)
from psephos.trees.forest import Bootstraps, ForestRows

# NumPy says so where kernels run uncompiled
pytestmark = pytest.mark.filterwarnings("ignore:overflow")


MASSES = {
    "ones": np.ones(40),
    "even": np.random.default_rng(0).random(40) + 0.01,
    "wild": 10.0 ** np.random.default_rng(0).integers(-6, 6, 40),
    "one": np.ones(1),
}


@pytest.mark.parametrize("mass", MASSES.values(), ids=MASSES)
def test_the_table_of_draws_holds_the_weights(mass):
    m = len(mass)
    share, other = np.empty(m), np.empty(m, np.int32)
    make_alias(mass, share, other, np.empty(m, np.int64))
    held = share + np.bincount(other, 1.0 - share, m)
    assert_allclose(held / m, mass / mass.sum(), rtol=1e-9, atol=1e-14)
    count, state = np.empty(m, np.int32), np.uint64(1)
    draw_counts(share, other, 300, state, count)
    slowly = np.zeros(m, int)
    for _ in range(300):
        state, u = uniform(np.uint64(state))  # compiled, it returns a plain int
        place = u * m
        at = int(place)
        slowly[at if place - at < share[at] else other[at]] += 1
    assert_array_equal(count, slowly)


def test_many_draws_a_row_are_binomial_one_by_one():
    mass = np.array([1.0, 0.002, 3.0, 40.0, 2.0])
    counts = np.empty((2000, 5), np.int32)
    for seed in range(len(counts)):
        split_counts(mass, 900, np.uint64(7919 * seed), counts[seed])
    assert (counts.sum(axis=1) == 900).all()
    assert counts.min() >= 0
    share = mass / mass.sum()
    off = (counts.mean(axis=0) - 900 * share) / np.sqrt(900 * share * (1 - share) / 2000)
    assert (np.abs(off) < 3.5).all()
    expected = 900 * (np.diag(share) - np.outer(share, share))
    scale = np.sqrt(np.outer(expected.diagonal(), expected.diagonal()))
    assert (np.abs(np.cov(counts.T) - expected) / scale < 0.12).all()
    for j, most in ((0, 60), (3, 900)):  # by the distribution function, and by rejection
        found = np.bincount(counts[:, j], minlength=901)[: most + 1]
        wanted = 2000 * binom.pmf(np.arange(most + 1), 900, share[j])
        kept = wanted > 5
        assert ((found - wanted)[kept] ** 2 / wanted[kept]).sum() < chi2.ppf(0.999, kept.sum())


def test_the_stream_of_draws_is_fixed():
    """Saved forests draw their samples again: the numbers must never change."""
    assert_array_equal(Bootstraps(np.ones(12), 12).counts(2**63 + 5), FIXED)
    assert_array_equal(Bootstraps(np.arange(1.0, 7.0), 30).counts(7), WEIGHTED)
    assert_array_equal(Bootstraps(np.arange(1.0, 7.0), 3000).counts(7), MANY)


FIXED = [1, 1, 1, 3, 1, 1, 1, 0, 0, 1, 0, 2]
WEIGHTED = [1, 1, 8, 3, 5, 12]
MANY = [139, 310, 423, 566, 685, 877]


@pytest.mark.parametrize("copies", [1, 2000])
def test_draws_go_by_weight(copies):
    mass = np.repeat([1.0, 2.0, 0.5, 4.0], copies)  # many draws a row, and few
    count = Bootstraps(mass, 15_000).counts(3).reshape(4, copies).sum(axis=1)
    expected = 15_000 * np.array([1.0, 2.0, 0.5, 4.0]) / 7.5
    assert ((count - expected) ** 2 / expected).sum() < 16.3  # chi squared, 3 degrees: 0.1 %


def test_copies_are_one_row_in_an_order_of_content():
    rng = np.random.default_rng(0)
    X = rng.integers(0, 3, (60, 3)).astype(float)
    X[rng.random(X.shape) < 0.1] = np.nan
    y, weight = rng.integers(0, 2, 60), rng.integers(1, 4, 60).astype(float)
    rows = ForestRows.of(X, {}, y, weight, 255, None)
    keys = [(tuple(np.nan_to_num(x, nan=-1.0)), label) for x, label in zip(X, y, strict=True)]
    assert len(rows.mass) == len(set(keys))
    for g in range(len(rows.mass)):
        mine = np.flatnonzero(rows.group == g)
        assert len({keys[i] for i in mine}) == 1
        assert rows.mass[g] == weight[mine].sum()
        assert rows.y[g] == y[mine[0]]
    order = np.repeat(np.arange(60), weight.astype(int))[::-1]
    again = ForestRows.of(X[order], {}, y[order], np.ones(len(order)), 255, 2)
    assert_array_equal(again.bins.codes[:, again.first], rows.bins.codes[:, rows.first])
    assert_array_equal(rows.y, y[rows.first])
    assert_array_equal(again.mass, rows.mass)
    assert_array_equal(again.y, rows.y)
    assert again.n_draws(None) == rows.n_draws(None) == weight.sum()
    assert again.n_draws(0.5) == round(weight.sum() / 2)
    assert again.n_draws(9) == 9
    assert ForestRows.of(X, {}, y, weight / 3.0, 255, None).n_draws(None) == 60


def test_rows_whose_marks_agree_by_chance_stay_apart():
    from psephos.kernels.binned_trees.forest_draws import merge_rows

    codes = np.array([[0, 1, 0]], np.uint8)
    first, group, mass = np.empty(3, np.int64), np.empty(3, np.int64), np.empty(3)
    marks, order = np.zeros(3, np.uint64), np.array([0, 2, 1])
    found = merge_rows(codes, np.zeros(3), np.ones(3), order, marks, first, mass, group)
    assert found == 2
    assert_array_equal(group, [0, 1, 0])


def test_taken_rows_are_those_of_weight():
    row, y, w = np.empty(4, np.uint32), np.empty(4), np.empty(4)
    answers = np.array([1.0, 2.0, 3.0, 4.0])
    assert take_rows(np.arange(10, 14), np.array([0, 2, 0, 1]), answers, row, y, w) == 2
    assert_array_equal(row[:2], [11, 13])
    assert_array_equal(y[:2], [2.0, 4.0])
    assert_array_equal(w[:2], [2.0, 1.0])
