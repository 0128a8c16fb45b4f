"""The share of a row at a soft threshold, and class weights counted anew."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from psephos.trees.tree import first_share

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
