import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_array_equal

from psephos.kernels.numerics import quantiles as kernel

from . import quantile_twin as twin


@st.composite
def rows(draw, least=1):
    """Sorted values with ties, and whole weights, so that sums are exact in any order."""
    n = draw(st.integers(least, 30))
    values = draw(st.lists(st.integers(-8, 8), min_size=n, max_size=n))
    weights = draw(st.lists(st.integers(1, 9), min_size=n, max_size=n))
    order = np.argsort(values, kind="stable")
    return np.array(values, dtype=float)[order], np.array(weights, dtype=float)[order]


def points(summary):
    return [tuple(map(float, column)) for column in summary.T]


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_collapse(dtype):
    values = np.array([-1, -1, 0.5, 2, 2, 2], dtype=dtype)
    weights = np.array([1.0, 2.0, 0.5, 1.0, 1.0, 4.0])
    expected = [(-1.0, 0.0, 3.0, 3.0), (0.5, 3.0, 3.5, 0.5), (2.0, 3.5, 9.5, 6.0)]
    assert points(kernel.collapse(values, weights)) == expected
    assert points(kernel.collapse(values, np.empty(0)))[2] == (2.0, 3.0, 6.0, 3.0)
    assert kernel.collapse(values[:0], np.empty(0)).shape == (4, 0)


@settings(max_examples=60)
@given(rows())
def test_collapse_is_the_definition(table):
    assert points(kernel.collapse(*table)) == twin.exact(*map(list, table))


@settings(max_examples=60)
@given(rows(), rows(), st.integers(1, 6), st.integers(1, 6))
def test_merge_and_prune_are_the_formulas(one, two, b, c):
    a, slow_a = kernel.collapse(*one), twin.exact(*map(list, one))
    a, slow_a = kernel.pruned(a, b), twin.pruned(slow_a, b)
    assert points(a) == slow_a
    both = kernel.merge(a, kernel.collapse(*two))
    slow = twin.merged(slow_a, twin.exact(*map(list, two)))
    assert points(both) == slow
    again, slow = kernel.pruned(both, c), twin.pruned(slow, c)
    assert points(again) == slow


@settings(max_examples=60)
@given(rows(), st.lists(st.floats(0, 1), min_size=1, max_size=8))
def test_nearest_is_the_formula(table, shares):
    s = kernel.collapse(*table)
    wanted = np.sort(shares) * s[kernel.HIGH, -1]
    slow = [twin.chosen(points(s), d)[0] for d in wanted]
    assert s[kernel.VALUE, kernel.nearest(s, wanted)].tolist() == slow


def test_a_small_summary_is_copied_whole():
    s = kernel.collapse(np.arange(4.0), np.empty(0))
    same = kernel.pruned(s, 3)
    assert_array_equal(same, s)
    assert not np.shares_memory(same, s)
