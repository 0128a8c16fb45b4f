import numpy as np
import pytest
from numpy.testing import assert_array_equal

from psephos.kernels.stump.gain import Worth
from psephos.trees import StumpSearch
from psephos.trees import stump_screen as _screen
from psephos.trees.stump import Criterion

CRITERIA: list[Criterion] = ["error", "gini"]

needs_bounds = pytest.mark.skipif(
    not _screen.has_bounds, reason="this processor does not look 64 bytes up at once"
)


@pytest.fixture(autouse=True)
def _bounds_at_any_size(monkeypatch):
    monkeypatch.setattr(_screen, "_BOUNDED", 0)
    monkeypatch.setattr(_screen, "_VALUES", 0)
    monkeypatch.setattr(_screen, "_WORTH", 0)


def _tables(rng):
    """Columns without ties, with ties, with missing values, copied; for few rows and for more."""
    for n, p in [(13, 200), (70, 130), (300, 70)]:
        X = rng.standard_normal((n, p))
        yield X
        yield np.round(X)
        X = X.copy()
        X[:, : p // 3] = np.round(X[:, : p // 3], 1)
        X[:, p // 2 :: 5][rng.random(X[:, p // 2 :: 5].shape) < 0.1] = np.nan
        X[:, 3] = X[:, 4] = X[:, 60]
        yield X


def _weights(rng, n):
    return [
        np.ones(n),
        rng.random(n),
        10.0 ** rng.uniform(-12, 3, n),
        (rng.random(n) < 0.3) + 0.0,
        np.where(np.arange(n) == 5, 1.0, 1e-9),
    ]


@needs_bounds
@pytest.mark.parametrize("criterion", CRITERIA)
@pytest.mark.parametrize("share", [0.5, 0.05])
def test_with_bounds_the_same_columns_remain(random_seed, monkeypatch, criterion, share):
    rng = np.random.default_rng(random_seed)
    monkeypatch.setattr("psephos.trees.stump._UNSCREENED", 0)
    bounded = _screen.Screen._by_bounds
    found = []
    monkeypatch.setattr(
        _screen.Screen, "_by_bounds", lambda *a: found.append(bounded(*a)) or found[-1]
    )
    for X in _tables(rng):
        y = (rng.random(len(X)) < share).astype(int)
        search = StumpSearch(X, y, 2)
        search.best(np.ones(len(X)), criterion)  # the first search has no bins yet
        for w in _weights(rng, len(X)):
            screen, padded = search._screen, np.append(w, 0.0)
            crit = _criterion(criterion)
            screen._wait = 1
            want = screen.promising(crit, padded)
            before = len(found)
            screen._wait = 0
            at = screen.promising(crit, padded)
            assert len(found) > before
            assert_array_equal(at, want)


def _criterion(name):
    return Worth(True if name == "error" else None, 2)


@needs_bounds
@pytest.mark.parametrize("criterion", CRITERIA)
def test_few_columns_are_screened_where_bounds_tell(random_seed, monkeypatch, criterion):
    rng = np.random.default_rng(random_seed)
    n, p = 300, 600
    X, y = rng.standard_normal((n, p)), rng.integers(0, 2, n)
    X[:, 500] += 2.0 * y
    X[:, 17] += 0.2 * y
    search = StumpSearch(X, y, 2)
    screened = []
    kernel = "screen_error" if criterion == "error" else "screen_gini"
    inner = getattr(_screen, kernel)

    def count(order, blocks, *rest):
        screened.append(len(blocks))
        inner(order, blocks, *rest)

    monkeypatch.setattr(_screen, kernel, count)
    w = rng.random(n)
    first = search.best(w, criterion)
    assert sum(screened) == len(search._ordered.order)
    screened.clear()
    second = search.best(w, criterion)
    assert 0 < sum(screened) < 10
    assert first is not None
    assert second is not None
    assert first.column == second.column == 500
    assert (first.gain, first.threshold) == (second.gain, second.threshold)


@needs_bounds
def test_bounds_that_tell_nothing_are_tried_rarely(random_seed, monkeypatch):
    # All columns are one: each of them comes near the best.
    rng = np.random.default_rng(random_seed)
    x, y = rng.standard_normal((80, 1)), rng.integers(0, 2, 80)
    search = StumpSearch(np.repeat(x, 600, axis=1), y, 2)
    bounded = _screen.Screen._by_bounds
    tried = []
    monkeypatch.setattr(_screen.Screen, "_by_bounds", lambda *a: tried.append(1) or bounded(*a))
    stumps, count = [], []
    for _ in range(45):
        stumps += [search.best(np.ones(80), "error")]
        count += [len(tried)]
    assert_array_equal(np.flatnonzero(np.diff(count, prepend=0)), [1, 6, 15, 32])
    assert len({(s.column, s.gain, s.threshold) for s in stumps if s is not None}) == 1
    assert None not in stumps


@needs_bounds
@pytest.mark.parametrize("criterion", CRITERIA)
def test_threads_share_the_bounds(random_seed, monkeypatch, criterion):
    rng = np.random.default_rng(random_seed)
    monkeypatch.setattr(_screen, "_SERIAL", 0)
    monkeypatch.setattr(_screen, "BLOCK", 16)
    X, y = rng.standard_normal((260, 300)), rng.integers(0, 2, 260)
    w = rng.random(260)
    stumps = []
    for n_jobs in (1, 3):
        search = StumpSearch(X, y, 2, n_jobs=n_jobs)
        stumps += [search.best(w, criterion) for _ in range(3)]
    assert len({(s.column, s.gain, s.threshold) for s in stumps if s is not None}) == 1
    assert None not in stumps


@needs_bounds
def test_bounds_are_for_columns_of_many_values(random_seed, monkeypatch):
    rng = np.random.default_rng(random_seed)
    monkeypatch.setattr(_screen, "_VALUES", 20)
    X, y = rng.standard_normal((100, 64)), rng.integers(0, 2, 100)
    few, holes = np.round(X), X.copy()
    holes[0] = np.nan
    for share, fit in [(0.125, True), (0.25, False)]:
        some = np.arange(64) < 64 * share
        for other in (few, holes):
            search = StumpSearch(np.where(some, other, X), y, 2)
            assert search._screen._bounds is fit
    assert StumpSearch(np.round(X, 1), y, 2)._screen._bounds
    assert not StumpSearch(np.zeros((100, 64)), y, 2)._screen._bounds


@needs_bounds
def test_bounds_are_compiled_where_that_pays(random_seed, monkeypatch):
    rng = np.random.default_rng(random_seed)
    n, p = 300, 64
    X, y = rng.standard_normal((n, p)), rng.integers(0, 2, n)
    monkeypatch.setattr(_screen, "is_compiled", lambda kernel: False)
    monkeypatch.setattr(_screen, "_WORTH", 2 * n * p + 1)
    monkeypatch.setattr(_screen.Screen, "_searched", 0)
    bounded = _screen.Screen._by_bounds
    tried = []
    monkeypatch.setattr(_screen.Screen, "_by_bounds", lambda *a: tried.append(1) or bounded(*a))
    for _ in range(2):  # what is searched counts for the whole process
        search = StumpSearch(X, y, 2)
        for _ in range(3):
            search.best(np.ones(n), "error")
    assert len(tried) == 1
