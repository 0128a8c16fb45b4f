import numpy as np
import pytest
from numpy.testing import assert_array_equal

from psephos._errors import PsephosError
from psephos.trees.newton_grow import bin_table
from psephos.trees.out_of_core.bins import BlockBins, QuantileSummary
from psephos.trees.out_of_core.grow import BlockLabels


@pytest.mark.parametrize("max_bin", [3, 8, 256])
def test_bins_are_those_of_a_table_in_memory(max_bin, random_seed):
    rng = np.random.default_rng(random_seed)
    X = rng.standard_normal((6, 900)).astype(np.float32)
    X[1] = rng.integers(0, 5, 900)
    X[2] = np.where(rng.random(900) < 0.6, 0.0, X[2])
    X[3] = 4.0
    X[4, :2] = [np.float32(1.0), np.nextafter(np.float32(1.0), np.float32(2.0))]
    X[:5, ::11] = np.nan
    X[5] = np.nan
    bins = BlockBins.of([QuantileSummary.of(x) for x in X], max_bin)
    expected = bin_table(X, {}, max_bin)
    assert_array_equal(bins.n_bins, expected.n_bins)
    assert_array_equal(bins.codes(X), expected.codes)
    for j, n in enumerate(bins.n_bins):
        assert_array_equal(bins.cuts[j, :n], expected.cuts[j, :n])


def test_codes_are_the_cuts_passed(random_seed):
    rng = np.random.default_rng(random_seed)
    X = rng.integers(-4, 5, (2, 200)).astype(np.float32)
    X[0, 0] = np.nan
    bins = BlockBins.of([QuantileSummary.of([-1.0, 0.5, 3.0]), QuantileSummary.of([])])
    assert bins.n_bins.tolist() == [3, 0]
    inner = bins.cuts[0, :2]
    expected = (X[0][:, None] >= inner).sum(axis=1)
    expected[0] = 3
    assert_array_equal(bins.codes(X, n_jobs=2)[0], expected)
    assert (bins.codes(X)[1] == 0).all()


@pytest.mark.parametrize("max_bin", [2, 257])
def test_too_many_bins(max_bin):
    with pytest.raises(PsephosError, match=f"max_bin must be .* got {max_bin}"):
        BlockBins.of([], max_bin)


# ------------------------------------------------------------------- labels
def test_labels_are_joined():
    a = BlockLabels.of(np.array(["b", "a", "b"]), np.array([1.0, 2.0, 0.5]), False)
    b = BlockLabels.of(np.array(["c", "a"]), np.array([0.25, 2.0]), False)
    both = a.join(b)
    classes, weight = both.classes()
    assert (classes.tolist(), weight.tolist(), both.n_rows) == (["a", "b", "c"], [4, 1.5, 0.25], 5)
    singles = BlockLabels.of(np.array([2, 1], dtype=np.float32), None, False)
    assert singles.join(singles).classes()[0].dtype == np.float32
    numbers = BlockLabels.of(np.array([1.0, 3.0]), None, True).join(
        BlockLabels.of(np.array([8]), None, True)
    )
    assert (numbers.mean(), numbers.n_rows) == (4.0, 3)


@pytest.mark.parametrize(
    ("work", "words"),
    [
        (lambda: BlockLabels.of(np.array([1, 1]), None, False).classes(), "1 class"),
        (lambda: BlockLabels.of(np.arange(1001), None, False), "more than 1000 classes"),
        (lambda: BlockLabels.of(np.array([1.0, np.nan]), None, False), "y holds nan"),
        (lambda: BlockLabels.of(np.array([1.0, np.inf]), None, True), "y holds inf"),
    ],
)
def test_labels_that_cannot_be_learnt(work, words):
    with pytest.raises(PsephosError, match=words):
        work()
