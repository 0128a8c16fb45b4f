"""Bins keep the order of values, lose nothing where values are few, and leave no row out."""

import numpy as np
import pytest
from numpy.testing import assert_array_equal
from scipy import sparse

from psephos.kernels.binned_trees.bins import between
from psephos.trees.bins import Bins


def table(n=300, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, 5))
    X[:, 1] = rng.integers(0, 7, n) / 3.0
    X[:, 2] = rng.exponential(size=n) * (rng.random(n) < 0.4)  # a heavy value
    X[rng.random(n) < 0.2, 3] = np.nan
    X[:, 4] = 2.5
    return X


def cuts_of(bins, j):
    """The thresholds of a numeric column, midway between its bins."""
    span = slice(bins.ptr[j], bins.ptr[j + 1])
    return np.array(
        [between(*ends) for ends in zip(bins.high[span][:-1], bins.low[span][1:], strict=True)]
    )


def test_codes_are_where_values_stand_among_the_cuts():
    X = table()
    for max_bins in (2, 8, 100, 255):
        bins = Bins.of(X, max_bins=max_bins)
        assert (bins.n_bins <= max_bins).all()
        for j in range(X.shape[1]):
            known = ~np.isnan(X[:, j])
            cuts = cuts_of(bins, j)
            assert len(cuts) == bins.n_bins[j] - 1
            assert (np.diff(cuts) > 0).all()
            assert_array_equal(bins.codes[j, known], np.searchsorted(cuts, X[known, j]))
            assert (bins.codes[j, ~known] == bins.n_bins[j]).all()
            for b in range(bins.n_bins[j]):
                inside = X[known, j][bins.codes[j, known] == b]
                at = bins.ptr[j] + b
                assert (bins.low[at], bins.high[at]) == (inside.min(), inside.max())


def test_ends_of_blocks_stand_at_their_columns():
    """Two blocks: of columns with as many bins as may be, of a value each or of several."""
    many = np.random.default_rng(0).standard_normal((300, 120))
    of_each, few = np.arange(300.0)[:, None] % 255 + np.arange(120.0), np.round(many)
    for left in (many, of_each, few):
        for right in (many, of_each, few):
            X = np.concatenate([left[:, :110], right[:, 110:]], axis=1)
            bins = Bins.of(X)
            for j in (0, 109, 110, 119):
                inside = [X[bins.codes[j] == b, j] for b in range(bins.n_bins[j])]
                span = slice(bins.ptr[j], bins.ptr[j + 1])
                assert_array_equal(bins.low[span], [x.min() for x in inside])
                assert_array_equal(bins.high[span], [x.max() for x in inside])


def test_few_values_lose_nothing():
    X = table(250)
    bins = Bins.of(X)
    assert_array_equal(bins.low, bins.high)
    for j in range(X.shape[1]):
        levels = np.unique(X[~np.isnan(X[:, j]), j])
        assert_array_equal(bins.low[bins.ptr[j] : bins.ptr[j + 1]], levels)
        assert_array_equal(cuts_of(bins, j), levels[:-1] / 2 + levels[1:] / 2)


def test_bins_are_of_nearly_equal_weight():
    rng = np.random.default_rng(0)
    x = rng.standard_normal(10_000)
    sizes = np.bincount(Bins.of(x[:, None], max_bins=100).codes[0])
    assert sizes.min() >= 95
    assert sizes.max() <= 105
    weight = np.exp(x)
    heavy = np.bincount(Bins.of(x[:, None], weight=weight, max_bins=100).codes[0], weight)
    assert heavy.max() < 1.6 * weight.sum() / 100


def test_a_frequent_value_has_a_bin_of_its_own():
    x = np.concatenate([np.zeros(700), np.arange(1, 301)])
    bins = Bins.of(x[:, None], max_bins=11)
    sizes = np.bincount(bins.codes[0])
    assert sizes[0] == 700
    assert_array_equal(sizes[1:], 30)


def test_weight_two_is_the_row_twice():
    x = np.random.default_rng(1).standard_normal(900)
    twice = np.arange(900) % 3 == 0
    weighted = Bins.of(x[:, None], weight=1.0 + twice, max_bins=50)
    repeated = Bins.of(np.concatenate([x, x[twice]])[:, None], max_bins=50)
    assert_array_equal(cuts_of(weighted, 0), cuts_of(repeated, 0))


def test_sparse_float32_and_threads_change_nothing():
    X = np.round(table(600), 2).astype(np.float32)
    X[:, 0] *= np.random.default_rng(2).random(600) < 0.1
    expected = Bins.of(X.astype(np.float64))
    wide = np.tile(X[:500], 120)  # more than one block of columns
    for other in (Bins.of(X), Bins.of(sparse.csc_array(X)), Bins.of(np.asfortranarray(X))):
        assert_array_equal(other.codes, expected.codes)
        assert_array_equal(other.high, expected.high)
    for n_jobs in (1, 3):
        assert_array_equal(
            Bins.of(wide, n_jobs=n_jobs).codes, np.tile(Bins.of(X[:500]).codes, (120, 1))
        )


def test_categories_keep_their_codes():
    X = np.array([[0.0], [2.0], [np.nan], [4.0]])
    bins = Bins.of(X, {0: 5})
    assert_array_equal(bins.codes[0], [0, 2, 5, 4])
    assert bins.n_bins[0] == 5


@pytest.mark.parametrize("size", [255, 256, 1000, 100_000])
def test_the_rarest_of_many_categories_share_a_bin(size):
    rng = np.random.default_rng(0)
    column = np.concatenate([np.arange(size), rng.integers(0, 100, 5000)]).astype(float)
    bins = Bins.of(column[:, None], {0: size})
    kept = bins.categories[0]
    assert len(kept) == size
    if size <= 255:
        assert_array_equal(kept, np.arange(size))
        return
    assert bins.n_bins[0] == 255
    assert_array_equal(kept[:100], np.arange(100))  # the frequent ones
    assert (np.bincount(kept, minlength=255)[:254] == 1).all()
    assert (kept == 254).sum() == size - 254
    assert_array_equal(bins.codes[0], kept[column.astype(int)])


def test_cuts_stay_between_their_values():
    tiny = np.nextafter(0.0, 1.0)
    for low, high in (
        (1.0, np.nextafter(1.0, 2.0)),
        (0.0, tiny),
        (tiny, 2 * tiny),
        (-1e308, 1e308),
    ):
        assert low <= between(low, high) < high
    X = np.array([[-1.7e308], [1.7e308], [0.0]])
    assert_array_equal(Bins.of(X).codes[0], [0, 2, 1])


def test_empty_corners():
    assert Bins.of(np.full((3, 1), np.nan)).n_bins[0] == 0
    assert Bins.of(np.array([[1.0, np.nan]])).codes.tolist() == [[0], [0]]
    assert Bins.of(np.empty((4, 0))).codes.shape == (0, 4)
