"""Rows that a tree is grown on: copies are one row, and draws go by weight."""

import numpy as np
import pytest
from numpy.testing import assert_array_equal

from psephos.kernels.forest_draws import draw_counts, make_guide, take_rows
from psephos.kernels.forest_random import uniform
from psephos.trees.forest_rows import Draws, Rows

# NumPy says so where kernels run uncompiled
pytestmark = pytest.mark.filterwarnings("ignore:overflow")


def drawn_slowly(mass, size, seed):
    until, state = np.cumsum(mass), np.uint64(seed)
    count = np.zeros(len(mass), int)
    for _ in range(size):
        state, u = uniform(np.uint64(state))  # compiled, it returns a plain int
        count[min(np.searchsorted(until, u * until[-1], side="right"), len(mass) - 1)] += 1
    return count


@pytest.mark.parametrize("kind", ["ones", "even", "wild"])
def test_draws_are_those_of_a_plain_search(kind):
    rng = np.random.default_rng(0)
    n = 40
    mass = {"ones": np.ones(n), "even": rng.random(n), "wild": 10.0 ** rng.integers(-6, 6, n)}[kind]
    until, guide, count = np.cumsum(mass), np.empty(n, np.int64), np.empty(n, np.int32)
    make_guide(until, guide)
    for seed in (1, 2):
        draw_counts(until, guide, 300, np.uint64(seed), count)
        assert_array_equal(count, drawn_slowly(mass, 300, seed))


def test_the_stream_of_draws_is_fixed():
    """Saved forests draw their samples again: the numbers must never change."""
    assert_array_equal(Draws(np.ones(12), 12).counts(2**63 + 5), FIXED)
    assert_array_equal(Draws(np.arange(1.0, 7.0), 30).counts(7), WEIGHTED)


FIXED = [1, 1, 1, 3, 1, 1, 1, 0, 0, 1, 0, 2]
WEIGHTED = [1, 4, 1, 10, 4, 10]


def test_draws_go_by_weight():
    mass = np.array([1.0, 2.0, 0.5, 4.0])
    count = Draws(mass, 75_000).counts(3)
    expected = 75_000 * mass / mass.sum()
    assert ((count - expected) ** 2 / expected).sum() < 16.3  # chi squared, 3 degrees: 0.1 %


def test_copies_are_one_row_in_an_order_of_content():
    rng = np.random.default_rng(0)
    X = rng.integers(0, 3, (60, 3)).astype(float)
    X[rng.random(X.shape) < 0.1] = np.nan
    y, weight = rng.integers(0, 2, 60), rng.integers(1, 4, 60).astype(float)
    rows = Rows.of(X, {}, y, weight, 255, None)
    keys = [(tuple(np.nan_to_num(x, nan=-1.0)), label) for x, label in zip(X, y, strict=True)]
    assert len(rows.mass) == len(set(keys))
    for g in range(len(rows.mass)):
        mine = np.flatnonzero(rows.group == g)
        assert len({keys[i] for i in mine}) == 1
        assert rows.mass[g] == weight[mine].sum()
        assert rows.y[g] == y[mine[0]]
    order = np.repeat(np.arange(60), weight.astype(int))[::-1]
    again = Rows.of(X[order], {}, y[order], np.ones(len(order)), 255, 2)
    assert_array_equal(again.bins.codes, rows.bins.codes)
    assert_array_equal(again.mass, rows.mass)
    assert_array_equal(again.y, rows.y)
    assert again.n_draws(None) == rows.n_draws(None) == weight.sum()
    assert again.n_draws(0.5) == round(weight.sum() / 2)
    assert again.n_draws(9) == 9
    assert Rows.of(X, {}, y, weight / 3.0, 255, None).n_draws(None) == 60


def test_rows_whose_marks_agree_by_chance_stay_apart():
    from psephos.kernels.forest_draws import merge_rows

    codes = np.array([[0, 1, 0]], np.uint8)
    first, group, mass = np.empty(3, np.int64), np.empty(3, np.int64), np.empty(3)
    marks, order = np.zeros(3, np.uint64), np.array([0, 2, 1])
    found = merge_rows(codes, np.zeros(3), np.ones(3), order, marks, first, mass, group)
    assert found == 2
    assert_array_equal(group, [0, 1, 0])


def test_taken_rows_are_those_of_weight():
    row, y, w = np.empty(4, np.int32), np.empty(4), np.empty(4)
    answers = np.array([1.0, 2.0, 3.0, 4.0])
    assert take_rows(np.array([0, 2, 0, 1]), answers, row, y, w) == 2
    assert_array_equal(row[:2], [1, 3])
    assert_array_equal(y[:2], [2.0, 4.0])
    assert_array_equal(w[:2], [2.0, 1.0])
