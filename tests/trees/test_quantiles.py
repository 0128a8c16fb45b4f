import pickle

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from psephos._errors import PsephosError
from psephos.trees.bins import Bins
from psephos.trees.out_of_core.bins import QuantileSummary, SummaryStream


def error(s, x, w=None):
    """The largest error of the ranks of all values, as a share of the total."""
    order = np.argsort(x, kind="stable")
    upto = np.cumsum(np.ones(len(x)) if w is None else w[order])
    last = np.append(x[order][1:] != x[order][:-1], True)
    kept = np.append(0.0, np.cumsum(s.points[1]))
    off = upto[last] - kept[np.searchsorted(s.values, x[order][last], side="right")]
    assert off.min() >= -1e-9 * upto[-1]
    return off.max() / upto[-1]


def columns(random_seed, n=20_000):
    rng = np.random.default_rng(random_seed)
    return {
        "normal": rng.standard_normal(n),
        "counts": rng.poisson(1.5, n).astype(float),
        "zeros": np.where(rng.random(n) < 0.6, 0.0, rng.exponential(size=n)),
        "constant": np.full(n, 3.0),
        "sorted": np.arange(n, dtype=np.float32),
    }


def test_rows_that_do_not_count():
    x = np.array([3.0, np.nan, 1.0, 2.0, 1.0])
    whole = QuantileSummary.of(x, [1.0, 5.0, 2.0, 0.0, 0.5])
    assert whole.values.tolist() == [1.0, 3.0]
    assert whole.total == 3.5
    assert whole.points[1].tolist() == [2.5, 1.0]
    none = QuantileSummary.of([np.nan, 2.0], [1.0, 0.0])
    assert (len(none), none.total) == (0, 0.0)
    assert none.merge(whole) is whole
    assert whole.merge(none) is whole
    assert [a.tolist() for a in none.bins(8)] == [[], []]


def test_bins_of_few_values_part_all_of_them():
    s = QuantileSummary.of([5.0, 1.0, 1.0, 2.0])
    assert [a.tolist() for a in s.bins(3)] == [[1.0, 2.0, 5.0], [1.0, 2.0, 5.0]]
    # half of the weight on each side
    assert [a.tolist() for a in s.bins(2)] == [[1.0, 2.0], [1.0, 5.0]]


@pytest.mark.parametrize("name", ["normal", "counts", "zeros", "constant", "sorted"])
@pytest.mark.parametrize("max_bin", [2, 7, 255])
def test_bins_part_the_weight(name, max_bin, random_seed):
    x = columns(random_seed)[name]
    low, high = QuantileSummary.of(x).bins(max_bin)
    assert len(low) <= max_bin
    assert (low <= high).all()
    assert (high[:-1] < low[1:]).all()
    code = np.searchsorted(high, x)
    for c in np.unique(code):
        own = x[code == c]
        heaviest = np.unique(own, return_counts=True)[1].max()
        assert len(own) <= heaviest + 2 * len(x) / max_bin
    bins = Bins.of(x[:, None], max_bins=max_bin)
    assert_array_equal(low, bins.low)
    assert_array_equal(high, bins.high)


@pytest.mark.parametrize("name", ["normal", "counts", "zeros", "constant", "sorted"])
def test_a_stream_keeps_its_promise(name, random_seed):
    x = columns(random_seed, 200_000)[name]
    stream = SummaryStream(0.01, max_rows=len(x))
    for block in np.array_split(x, 17):
        stream.push(block)
    found = stream.summary()
    assert error(found, x) <= 0.01
    assert found.total == len(x)
    assert len(found) <= 8 * stream.b
    assert (found.values[0], found.values[-1]) == (x.min(), x.max())


def test_a_stream_does_not_see_blocks(random_seed):
    rng = np.random.default_rng(random_seed)
    x, w = rng.standard_normal(70_000), rng.random(70_000)
    x[::7] = np.nan
    found = []
    for size in (5000, 16_384, 69_999):
        stream = SummaryStream(0.02, max_rows=70_000)
        for a in range(0, len(x), size):
            stream.push(x[a : a + size], w[a : a + size])
            stream.summary()  # asking changes nothing
        found.append(stream.summary().points)
    assert_array_equal(found[0], found[1])
    assert_array_equal(found[0], found[2])
    known = ~np.isnan(x)
    assert 0.0 < error(QuantileSummary(found[0]), x[known], w[known]) <= 0.02
    assert_allclose(found[0][1].sum(), w[known].sum(), rtol=1e-12)


def test_a_stream_of_few_rows_is_exact():
    stream = SummaryStream(0.1)
    stream.push([3.0, 1.0])
    stream.push(np.array([1.0, np.nan], dtype=np.float32), [2.0, 1.0])
    assert_array_equal(stream.summary().points, QuantileSummary.of([1, 1, 3], [1, 2, 1]).points)
    assert len(SummaryStream(0.5).summary()) == 0


def test_more_rows_than_expected_cost_error_and_say_so(random_seed):
    x = np.random.default_rng(random_seed).standard_normal(200_000)
    stream = SummaryStream(0.001, max_rows=10)
    stream.push(x)
    found = stream.summary()
    assert found.total == len(x)
    assert 0.0 < error(found, x) <= len(stream._levels) / stream.b


def test_it_is_an_array():
    s = QuantileSummary.of([1.0, 2.0, 5.0]).prune(2)
    for copy in (QuantileSummary(s.points.copy()), pickle.loads(pickle.dumps(s))):
        assert_array_equal(copy.points, s.points)


@pytest.mark.parametrize(
    ("work", "words"),
    [
        (lambda: QuantileSummary.of([1.0, np.inf]), "infinite.*row 1"),
        (lambda: QuantileSummary.of([1.0, 2.0], [1.0, -1.0]), "weight of row 1"),
        (lambda: QuantileSummary.of([1.0, 2.0], [np.nan, 1.0]), "weight of row 0"),
        (lambda: QuantileSummary.of([[1.0]]), "one column"),
        (lambda: QuantileSummary.of([1.0], [1.0, 2.0]), "one column"),
    ],
)
def test_what_cannot_be_is_said(work, words):
    with pytest.raises(PsephosError, match=words):
        work()
