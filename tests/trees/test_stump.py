import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from numpy.testing import assert_allclose, assert_array_equal

from psephos.trees.stump import Stump, StumpSearch, _between

from . import stump_twin

CRITERIA = ["error", "gini"]


@pytest.fixture(autouse=True)
def _screened(monkeypatch):
    """Small tables go the way of the large ones."""
    monkeypatch.setattr("psephos.trees.stump._UNSCREENED", 0)


def same(a: Stump | None, b: Stump | None) -> None:
    if a is None or b is None:
        assert a is b
        return
    assert (a.column, a.missing_left, a.gain) == (b.column, b.missing_left, b.gain)
    assert_array_equal(a.threshold, b.threshold)
    assert_array_equal(a.left_totals, b.left_totals)
    assert_array_equal(a.right_totals, b.right_totals)
    if a.left_categories is None:
        assert b.left_categories is None
    else:
        assert_array_equal(a.left_categories, b.left_categories)


def check(X, y, n_classes, w, criterion, categories=None):
    """The search finds a split of the greatest gain, and says truly what it does."""
    search = StumpSearch(X, y, n_classes, categories=categories)
    stump = search.best(w, criterion)
    dense = X.toarray() if sp.issparse(X) else np.asarray(X)
    top, where = stump_twin.best(dense, y, n_classes, w, criterion, categories)
    if stump is None:
        assert not where
        return stump
    assert_allclose(stump.gain, top, rtol=0, atol=1e-12 * max(1, w.sum()))
    left = search.left(stump)
    assert_allclose(np.bincount(y[left], w[left], n_classes), stump.left_totals, atol=1e-12)
    assert_allclose(np.bincount(y[~left], w[~left], n_classes), stump.right_totals, atol=1e-12)
    if stump.left_categories is None:
        names = [(j, t) for j, t, _ in where]
        assert (stump.column, stump.threshold) in names
        assert stump.column == min(j for j, _ in names)
        x = dense[:, stump.column]
        side = (x <= stump.threshold) | (np.isnan(x) & stump.missing_left)
        assert_array_equal(side, left)
        if not np.isnan(x).any():
            heavier = stump.left_totals.sum() > stump.right_totals.sum()
            assert stump.missing_left == heavier
    return stump


def table(rng, n, p, ties, missing, dtype=np.float64):
    X = rng.integers(-3, 4, (n, p)) if ties else rng.standard_normal((n, p))
    X = X.astype(dtype)
    X[rng.random((n, p)) < missing] = np.nan
    return X


@pytest.mark.parametrize("criterion", CRITERIA)
@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize("missing", [0.0, 0.3])
@pytest.mark.parametrize("ties", [False, True])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_best_is_the_best_of_all_cuts(random_seed, criterion, n_classes, missing, ties, dtype):
    rng = np.random.default_rng(random_seed)
    for n, p in [(1, 3), (2, 1), (7, 20), (25, 9)]:
        X = table(rng, n, p, ties, missing, dtype)
        check(X, rng.integers(0, n_classes, n), n_classes, rng.random(n), criterion)


@pytest.mark.parametrize("criterion", CRITERIA)
def test_small_tables(criterion):
    number = st.sampled_from([-2.5, -0.0, 0.0, 1.0, 1e-310, 1e300, np.nan])

    @settings(max_examples=60)
    @given(data=st.data())
    def run(data):
        n = data.draw(st.integers(1, 8))
        p = data.draw(st.integers(1, 4))
        X = data.draw(hnp.arrays(np.float64, (n, p), elements=number))
        y = data.draw(hnp.arrays(np.int64, n, elements=st.integers(0, 1)))
        w = data.draw(hnp.arrays(np.float64, n, elements=st.sampled_from([0.0, 0.25, 1.0, 3.0])))
        check(X, y, 2, w, criterion)
        check(sp.csc_array(X), y, 2, w, criterion)

    run()


def test_sparse_cuts_between_negative_numbers_and_zeros_beside_missing_ones():
    X = np.array([[np.nan], [-2.5], [-1.0], [0.0], [0.0], [np.nan]])
    y = np.array([0, 1, 1, 0, 0, 0])
    stump = check(sp.csc_array(X), y, 2, np.ones(6), "error")
    assert stump is not None
    assert (stump.threshold, stump.gain) == (-0.5, 2.0)


@pytest.mark.parametrize("criterion", CRITERIA)
@pytest.mark.parametrize("n_classes", [2, 4])
@pytest.mark.parametrize("missing", [0.0, 0.2])
def test_sparse_equals_dense(random_seed, criterion, n_classes, missing):
    rng = np.random.default_rng(random_seed)
    for n, p in [(3, 4), (30, 25)]:
        X = table(rng, n, p, True, missing)
        X[rng.random((n, p)) < 0.6] = 0.0
        y, w = rng.integers(0, n_classes, n), rng.random(n)
        S = sp.csc_matrix(X)
        dense, sparse = StumpSearch(X, y, n_classes), StumpSearch(S, y, n_classes)
        same(dense.best(w, criterion), sparse.best(w, criterion))
        stump = sparse.best(w, criterion)
        if stump is not None:
            assert_array_equal(dense.left(stump), sparse.left(stump))


def test_sparse_with_stored_zeros():
    X = sp.csc_array(np.array([[1.0, 2.0], [3.0, 0.0], [-1.0, 5.0]]))
    X.data[0] = 0.0
    check(X, np.array([0, 1, 0]), 2, np.ones(3), "gini")


@pytest.mark.parametrize("criterion", CRITERIA)
def test_many_columns_are_screened_without_loss(random_seed, criterion):
    rng = np.random.default_rng(random_seed)
    for missing in (0.0, 0.02):
        X = table(rng, 12, 400, False, missing)
        X[:, 200:] = np.round(X[:, 200:])
        for w in (np.ones(12), rng.random(12), 10.0 ** rng.uniform(-12, 3, 12)):
            check(X, rng.integers(0, 2, 12), 2, w, criterion)


@pytest.mark.parametrize("criterion", CRITERIA)
def test_without_the_screen_the_stump_is_the_same(random_seed, monkeypatch, criterion):
    rng = np.random.default_rng(random_seed)
    for missing, ties in [(0.0, False), (0.1, False), (0.1, True)]:
        search = StumpSearch(table(rng, 30, 50, ties, missing), rng.integers(0, 2, 30), 2)
        for w in (np.ones(30), rng.random(30)):
            monkeypatch.setattr("psephos.trees.stump._UNSCREENED", 0)
            screened = search.best(w, criterion)
            monkeypatch.setattr("psephos.trees.stump._UNSCREENED", 10**9)
            same(screened, search.best(w, criterion))


def test_the_screen_proves_nothing_where_no_stump_beats_a_constant():
    # Every true split has a negative gain, but "all rows left" in the column with a missing value
    # looks better; it is no split, and the other columns must not be lost to it.
    X = np.array([[0.0, np.nan], [1.0, 1.0], [0.0, 2.0], [1.0, 3.0]])
    y = np.array([0, 0, 0, 0])
    check(X, y, 2, np.array([1.0, 2.0, 3.0, 4.0]), "error")


@pytest.mark.parametrize("criterion", CRITERIA)
@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize("missing", [0.0, 0.25])
def test_categories(random_seed, criterion, n_classes, missing):
    rng = np.random.default_rng(random_seed)
    for _ in range(4):
        n = 20
        X = rng.integers(0, 5, (n, 3)).astype(float)
        X[:, 2] += rng.random(n)
        X[rng.random((n, 3)) < missing] = np.nan
        y, w = rng.integers(0, n_classes, n), rng.random(n)
        categories = {0: 5, 1: 6}
        if criterion == "gini" and n_classes > 2:
            search = StumpSearch(X, y, n_classes, categories=categories)
            top, _ = stump_twin.best(X, y, n_classes, w, criterion, categories)
            stump = search.best(w, criterion)
            assert stump is not None
            assert 0.5 * top < stump.gain <= top + 1e-12  # documented as a heuristic
        else:
            check(X, y, n_classes, w, criterion, categories)


def test_category_without_weight_goes_right_and_unseen_to_the_missing_side():
    X = np.array([[0.0], [0.0], [1.0], [2.0]])
    search = StumpSearch(X, np.array([0, 0, 1, 1]), 2, categories={0: 4})
    stump = search.best(np.array([1.0, 1.0, 1.0, 0.0]), "error")
    assert stump is not None
    assert stump.left_categories is not None
    assert_array_equal(stump.left_categories, [True, False, False, False])
    assert np.isnan(stump.threshold)
    assert stump.missing_left  # two rows against one


def test_many_categories_split_exactly(random_seed):
    rng = np.random.default_rng(random_seed)
    X = rng.integers(0, 60, (300, 1)).astype(float)
    y = (rng.random(300) < (X[:, 0] % 7) / 7).astype(int)
    stump = StumpSearch(X, y, 2, categories={0: 60}).best(np.ones(300), "gini")
    codes = X[:, 0].astype(int)
    share = np.bincount(codes, y, 60) / np.maximum(np.bincount(codes, minlength=60), 1)
    order = np.argsort(share, kind="stable")
    gains = []
    for c in range(1, 60):
        side = np.isin(codes, order[:c])
        gains.append(
            stump_twin.gain("gini", np.bincount(y[side], minlength=2) * 1.0,
                            np.bincount(y[~side], minlength=2) * 1.0)
        )  # fmt: skip
    assert stump is not None
    assert_allclose(stump.gain, max(gains), rtol=1e-12)


@pytest.mark.parametrize("criterion", CRITERIA)
def test_nothing_to_cut(criterion):
    constant = np.ones((5, 3))
    assert StumpSearch(constant, np.arange(5) % 2, 2).best(np.ones(5), criterion) is None
    assert StumpSearch(constant[:1], [0], 2).best([1.0], criterion) is None
    absent = np.full((5, 1), np.nan)
    assert StumpSearch(absent, np.arange(5) % 2, 2).best(np.ones(5), criterion) is None
    codes = np.zeros((5, 1))
    search = StumpSearch(codes, np.arange(5) % 2, 2, categories={0: 3})
    assert search.best(np.ones(5), criterion) is None
    empty = sp.csc_array((5, 2))
    assert StumpSearch(empty, np.arange(5) % 2, 2).best(np.ones(5), criterion) is None


@pytest.mark.parametrize("criterion", CRITERIA)
def test_present_or_missing(criterion):
    X = np.array([[1.0], [1.0], [np.nan], [np.nan]])
    for table_ in (X, sp.csc_array(X)):
        stump = StumpSearch(table_, [0, 0, 1, 1], 2).best(np.ones(4), criterion)
        assert stump is not None
        assert (stump.threshold, stump.missing_left) == (np.inf, False)
        assert_array_equal(stump.left_totals, [2.0, 0.0])


def test_threshold_separates_neighbours():
    for low, high in [(0.1, np.nextafter(0.1, 1)), (5e-324, 1e-323), (-1.7e308, 1.7e308),
                      (-5e-324, 5e-324), (1.0, 2.0)]:  # fmt: skip
        t = _between(low, high)
        assert low <= t < high
        stump = StumpSearch(np.array([[low], [high]]), [0, 1], 2).best(np.ones(2), "gini")
        assert stump is not None
        assert_array_equal(stump.left_totals, [1.0, 0.0])


def test_ties_go_to_the_lowest_column_then_the_lowest_threshold():
    X = np.array([[3.0, -1.0, 1.0], [2.0, -2.0, 2.0], [1.0, -3.0, 3.0]])
    for criterion in CRITERIA:
        stump = StumpSearch(X, [0, 1, 0], 2).best(np.ones(3), criterion)
        assert stump is not None
        assert (stump.column, stump.threshold) == (0, 1.5)


def test_equal_splits_have_equal_gains_to_the_last_bit(random_seed):
    rng = np.random.default_rng(random_seed)
    x = rng.standard_normal(200)
    y = rng.integers(0, 2, 200)
    w = rng.random(200)
    for criterion in CRITERIA:
        one = StumpSearch(np.column_stack([x, -x]), y, 2).best(w, criterion)
        two = StumpSearch(-x[:, None], y, 2).best(w, criterion)
        assert one is not None
        assert two is not None
        assert one.column == 0
        assert one.gain == two.gain


def test_weight_two_is_the_row_twice(random_seed):
    rng = np.random.default_rng(random_seed)
    X, y = table(rng, 40, 30, False, 0.1), rng.integers(0, 2, 40)
    w = rng.integers(1, 4, 40)
    again = np.repeat(np.arange(40), w)
    for criterion in CRITERIA:
        one = StumpSearch(X, y, 2).best(w.astype(float), criterion)
        two = StumpSearch(X[again], y[again], 2).best(np.ones(len(again)), criterion)
        same(one, two)


@pytest.mark.parametrize("criterion", CRITERIA)
@pytest.mark.parametrize("n_classes", [2, 3])
def test_threads_and_layout_change_nothing(
    random_seed, tmp_path, monkeypatch, criterion, n_classes
):
    monkeypatch.setattr("psephos.trees.stump._SERIAL", 0)
    monkeypatch.setattr("psephos.trees.stump._BLOCK", 2)
    monkeypatch.setattr("psephos.trees.stump._CHUNK_BYTES", 4096)
    rng = np.random.default_rng(random_seed)
    X = table(rng, 30, 120, False, 0.0)
    X[:, 40:80] = np.round(X[:, 40:80])
    X[:, 80:][rng.random((30, 40)) < 0.1] = np.nan
    y, w = rng.integers(0, n_classes, 30), rng.random(30)
    frozen = X.copy()
    frozen.flags.writeable = False
    mapped = np.memmap(tmp_path / "X", dtype=np.float64, mode="w+", shape=X.shape)
    mapped[:] = X
    mapped.flush()
    mapped = np.memmap(tmp_path / "X", dtype=np.float64, mode="r", shape=X.shape)
    first = StumpSearch(X, y, n_classes).best(w, criterion)
    for again, n_jobs in [(X, 2), (np.asfortranarray(X), 1), (frozen, 1), (mapped, 2)]:
        same(first, StumpSearch(again, y, n_classes, n_jobs=n_jobs).best(w, criterion))
    sparse = [
        StumpSearch(sp.csc_array(X), y, n_classes, n_jobs=j).best(w, criterion) for j in (1, 2)
    ]
    same(*sparse)
    same(first, sparse[0])


def test_numbers_that_agree_in_many_bits_are_sorted_all_the_same(random_seed):
    rng = np.random.default_rng(random_seed)
    n = 300
    X = 1.0 + rng.permutation(n)[:, None] * 2.0**-50
    X = np.column_stack([X, rng.lognormal(0, 30, n), 1e300 * rng.standard_normal(n)])
    X[::7, 1] = np.nan
    y = rng.integers(0, 2, n)
    check(X, y, 2, rng.random(n), "gini")


def test_more_rows_than_sixteen_bits_hold(random_seed):
    rng = np.random.default_rng(random_seed)
    n = 2**15 + 10
    X = rng.standard_normal((n, 2))
    X[:, 1] = np.round(X[:, 1], 2)
    X[::5, 1] = np.nan
    y = (X[:, 0] > 0.3).astype(int)
    for criterion in CRITERIA:
        stump = StumpSearch(X, y, 2).best(np.ones(n), criterion)
        assert stump is not None
        assert stump.column == 0
        assert_array_equal(stump.left_totals, [(y == 0).sum(), 0])


def test_zero_weights_everywhere():
    X = np.arange(4.0)[:, None]
    for criterion in CRITERIA:
        stump = StumpSearch(X, [0, 1, 0, 1], 2).best(np.zeros(4), criterion)
        assert stump is not None
        assert stump.gain == 0.0


def test_gini_chooses_as_scikit_learn(random_seed):
    tree = pytest.importorskip("sklearn.tree")
    rng = np.random.default_rng(random_seed)
    for n, p in [(60, 200), (200, 40)]:
        X = rng.standard_normal((n, p)).astype(np.float32)
        y = rng.integers(0, 3, n)
        w = rng.random(n)
        peer = tree.DecisionTreeClassifier(max_depth=1, random_state=0).fit(X, y, w).tree_
        stump = StumpSearch(X, y, 3).best(w, "gini")
        assert stump is not None
        assert stump.column == peer.feature[0]
        assert_allclose(stump.threshold, peer.threshold[0], rtol=1e-6)
