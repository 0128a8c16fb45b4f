"""Selection stability against its definition, its known values, and by simulation."""

import math
from itertools import combinations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose

from psephos._errors import PsephosError
from psephos.protocol import selection_stability
from psephos.protocol.evaluation.stability import positions_of, ranges_of


def table_of(sets, d):
    return np.array([[f in s for f in range(d)] for s in sets], dtype=float)


def by_the_paper(Z):
    """Definition 4 and theorem 7 of Nogueira, Sechidis and Brown (2018), term by term."""
    m, d = Z.shape
    p, k = Z.mean(axis=0), Z.sum(axis=1)
    kbar = k.mean()
    denominator = kbar / d * (1 - kbar / d)
    value = 1 - np.mean(m / (m - 1) * p * (1 - p)) / denominator
    phi = [
        (
            np.mean(Z[i] * p)
            - k[i] * kbar / d**2
            + value / 2 * (2 * k[i] * kbar / d**2 - k[i] / d - kbar / d + 1)
        )
        / denominator
        for i in range(m)
    ]
    return value, 4 / m**2 * np.sum((phi - np.mean(phi)) ** 2)


def kuncheva(a, b, d):
    k = len(a)
    return (len(a & b) - k * k / d) / (k - k * k / d)


subsets = st.lists(st.sets(st.integers(0, 11), max_size=11), min_size=2, max_size=7)


@given(subsets)
def test_it_is_the_definition(sets):
    found = selection_stability(sets, 12)
    if not any(sets):
        assert math.isnan(found.value)
        return
    value, variance = by_the_paper(table_of(sets, 12))
    assert_allclose(found.value, value, atol=1e-12)
    half = 1.959963984540054 * math.sqrt(variance)
    assert_allclose(
        (found.low, found.high), (max(value - half, -1), min(value + half, 1)), atol=1e-9
    )


def test_sets_of_one_size_give_the_mean_of_kunchevas_index():
    rng = np.random.default_rng(0)
    sets = [set(rng.choice(20, size=4, replace=False).tolist()) for _ in range(6)]
    index = np.mean([kuncheva(a, b, 20) for a, b in combinations(sets, 2)])
    assert_allclose(selection_stability(sets, 20).value, index, atol=1e-12)


def test_the_same_columns_are_1_and_columns_by_lot_are_0():
    assert selection_stability([[1, 5]] * 4, 30).value == pytest.approx(1)
    rng = np.random.default_rng(1)
    told = [
        selection_stability([rng.choice(50, size=5, replace=False) for _ in range(5)], 50).value
        for _ in range(400)
    ]
    assert abs(np.mean(told)) < 4 * np.std(told) / 20


def test_where_nothing_is_selected_there_is_no_figure():
    for sets in ([], [[1]], [[], []], [range(6), range(6)]):
        found = selection_stability(sets, 6)
        assert found.n == len(sets)
        assert math.isnan(found.value)
        assert math.isnan(found.low)
    with pytest.raises(PsephosError, match="columns of the table, 0 to 5"):
        selection_stability([[1], [6]], 6)


def test_the_interval_holds_what_it_says():
    """Each of 100 independent splits reads column f with probability p_f, so that in the limit
    the stability is 1 - mean p(1 - p) / (k/d (1 - k/d))."""
    rng = np.random.default_rng(2)
    p = np.r_[np.full(5, 0.8), np.full(45, 0.05)]
    truth = 1 - np.mean(p * (1 - p)) / (p.mean() * (1 - p.mean()))
    inside = 0
    for _ in range(200):
        drawn = rng.random((100, 50)) < p
        found = selection_stability([np.flatnonzero(z) for z in drawn], 50)
        inside += found.low <= truth <= found.high
    assert 0.88 <= inside / 200 <= 0.99


@given(st.sets(st.integers(0, 40)))
def test_columns_come_back_from_their_text(columns):
    assert positions_of(ranges_of(np.array(sorted(columns), dtype=np.intp))) == sorted(columns)


def test_the_text_is_short():
    assert ranges_of(np.array([0, 1, 2, 3, 4, 7, 9, 10], dtype=np.intp)) == "0..4 7 9..10"
    assert ranges_of(np.arange(100_000)) == "0..99999"
    with pytest.raises(PsephosError, match="columns must be a list"):
        positions_of("0..b")
