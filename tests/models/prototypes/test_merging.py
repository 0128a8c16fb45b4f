"""Merging against a table of all distances, which the module does without."""

import tracemalloc

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from numpy.testing import assert_allclose, assert_array_equal
from scipy.sparse.csgraph import connected_components

from psephos.models.prototypes.batches import merge_prototypes


def by_table(places, label, weight, tolerance):
    gone = np.isnan(places)
    filled = np.where(gone, 0.0, places)
    linked = (np.abs(filled[:, None] - filled[None]) <= tolerance).all(axis=2)
    linked &= (gone[:, None] == gone[None]).all(axis=2)
    linked &= label[:, None] == label
    component = connected_components(linked)[1]
    kept = np.sort([np.flatnonzero(component == c)[0] for c in np.unique(component)])
    return kept, np.array([weight[component == component[k]].sum() for k in kept])


@given(data=st.data(), n=st.integers(1, 25), q=st.integers(0, 4))
def test_what_is_linked_is_merged(data, n, q):
    """Whole numbers and a tolerance of 1: chains, gaps, corners and gaps in the rows all occur."""
    cell = st.sampled_from([0.0, 1.0, 2.0, 4.0, 5.0, 9.0, np.nan])
    places = data.draw(arrays(np.float64, (n, q), elements=cell))
    label = data.draw(arrays(np.intp, n, elements=st.integers(0, 1)))
    weight = np.arange(1.0, n + 1)
    kept, summed = merge_prototypes(places, label, weight, tolerance=1.0)
    expected, sums = by_table(places, label, weight, 1.0)
    assert_array_equal(kept, expected)
    assert_array_equal(summed, sums)


def test_the_tolerance_is_a_millionth():
    places = np.array([[0.0, 1.0], [0.9e-6, 1.0], [1.8e-6, 1.0], [0.0, 1.0 + 3e-6]])
    kept, weight = merge_prototypes(places, np.zeros(4, dtype=np.intp), np.array([1, 2, 4, 8.0]))
    assert_array_equal(kept, [0, 3])
    assert_array_equal(weight, [7.0, 8.0])


def test_a_chain_that_no_column_shows_is_followed_only_where_it_holds():
    """Either column alone has no gap; the corner at (0, 2) is linked to none of the others."""
    places = np.array([[0, 0], [1, 0], [2, 0], [2, 1], [2, 2], [0, 2]], dtype=float)
    kept, weight = merge_prototypes(places, np.zeros(6, dtype=np.intp), np.ones(6), tolerance=1.0)
    assert_array_equal(kept, [0, 5])
    assert_array_equal(weight, [5.0, 1.0])


def test_missing_is_equal_to_missing_only():
    places = np.array([[np.nan, 0.0], [0.0, 0.0], [np.nan, 0.0], [0.0, np.nan]])
    kept, weight = merge_prototypes(places, np.zeros(4, dtype=np.intp), np.ones(4))
    assert_array_equal(kept, [0, 1, 3])
    assert_array_equal(weight, [2.0, 1.0, 1.0])


def test_without_columns_a_class_has_one_place():
    label = np.array([1, 0, 1, 0, 2])
    kept, weight = merge_prototypes(np.empty((5, 0)), label, np.arange(1.0, 6.0))
    assert_array_equal(kept, [0, 1, 4])
    assert_array_equal(weight, [4.0, 6.0, 5.0])


def test_no_prototype_stays_none():
    kept, weight = merge_prototypes(np.empty((0, 3)), np.empty(0, dtype=np.intp), np.empty(0))
    assert kept.shape == weight.shape == (0,)


def test_kernel_sums_stay_as_they_were():
    """Also the inputs: they are not written to."""
    rng = np.random.default_rng(0)
    base = rng.normal(size=(40, 3))
    places = np.vstack([base, base[:25] + rng.uniform(-4e-7, 4e-7, (25, 3)), base[:10]])
    label, weight = np.zeros(75, dtype=np.intp), rng.uniform(0.1, 2.0, 75)
    for array in (places, label, weight):
        array.setflags(write=False)
    kept, merged = merge_prototypes(places, label, weight)
    assert_array_equal(kept, np.arange(40))
    query = rng.normal(size=(30, 3))

    def sums(c, w):
        return np.exp(-0.5 * ((query[:, None] - c) ** 2).sum(axis=2)) @ w

    assert_allclose(sums(places[kept], merged), sums(places, weight), rtol=1e-5)


@pytest.mark.parametrize("kind", ["spread", "one place", "many near one place"])
def test_memory_is_that_of_the_places(kind):
    """A table of all distances of 20,000 would take 3.2 GB as float64, 0.4 GB as bool."""
    n = 20_000
    rng = np.random.default_rng(0)
    places = {
        "spread": rng.normal(size=(n, 3)),
        "one place": np.ones((n, 3)),
        "many near one place": rng.uniform(0, 9e-7, size=(n, 3)),
    }[kind]
    tracemalloc.start()
    kept, weight = merge_prototypes(places, np.zeros(n, dtype=np.intp), np.ones(n))
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert len(kept) == (n if kind == "spread" else 1)
    assert weight.sum() == n
    assert peak < 30e6
