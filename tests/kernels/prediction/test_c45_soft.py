"""The share of a row at a soft threshold, and class weights counted anew."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal

from psephos.kernels._jit import frozen
from psephos.kernels.prediction.tree_walk import first_share
from psephos.kernels.sorted_trees.c45_grow import ALL_CODES, CUT, Nodes
from psephos.kernels.sorted_trees.c45_prune import Limit, recount

NUMBERS = st.floats(allow_nan=False, allow_infinity=False)


@given(st.tuples(NUMBERS, NUMBERS, NUMBERS), NUMBERS, NUMBERS)
def test_a_share_falls_from_one_to_none(edges, x, other):
    lower, threshold, upper = sorted(edges)
    low, high = sorted([x, other])
    first, second = (first_share(v, lower, threshold, upper) for v in (low, high))
    assert 0.0 <= second <= first <= 1.0
    if low <= lower:
        assert first == 1.0
    if high >= upper and high > threshold:
        assert second == 0.0


@pytest.mark.parametrize(
    ("x", "share"),
    [(-1, 1), (0, 1), (1, 0.875), (4, 0.5), (5, 0.25), (5.5, 0.125), (6, 0), (9, 0)],
)
def test_shares_by_hand(x, share):
    assert first_share(float(x), 0.0, 4.0, 6.0) == share


@pytest.mark.parametrize("old", [False, True])
def test_rows_are_counted_anew(old):
    """Three codes, the last without rows; a gap is divided; then a cut."""
    X = frozen([[0, 0, 0, 1, 1, np.nan], [1, 1, 8, 1, 1, 1.0]])
    y, w = np.array([0, 0, 1, 1, 1, 0]), np.array([1.0, 1, 1, 2, 1, 6])
    n = 8
    nodes = Nodes(
        child=np.array([1, 4, 0, 6, 0, 0, 0, 0]), n_children=np.array([3, 2, 0, 2, 0, 0, 0, 0]),
        column=np.array([0, 1, -1, 1, -1, -1, -1, -1]),
        threshold=np.array([np.nan, 4, np.nan, 4, *[np.nan] * 4]),
        code=np.array([ALL_CODES, *[CUT] * 7]), share=np.full(n, 9.0), gain=np.zeros(n),
        n_rows=np.full(n, 99), counts=np.full((n, 2), 99.0),
    )  # fmt: skip
    recount(X, y, w, nodes, Limit(0.25, 0.69, old))
    assert_allclose(nodes.counts[:3], [[8, 4], [5, 1], [3, 3]])
    assert_allclose(nodes.counts[3:6], [[0, 0], [5, 0], [0, 1]])
    assert_allclose(nodes.counts[6:], 99 if old else 0)  # below a leaf nothing is reached
    assert_allclose(nodes.share[1:6], [0.5, 0.5, 0, 5 / 6, 1 / 6])
    assert_array_equal(nodes.n_rows[[0, 1, 2, 4, 5]], [6, 4, 3, 3, 1])
    assert nodes.n_children[3] == (0 if old else 2)
