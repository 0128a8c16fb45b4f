"""The least share of the weight on either side of a stump."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.sparse import csc_array

from psephos.kernels.stump import Worth, gain
from psephos.trees.stump import StumpSearch


def best_by_hand(X, y, w, criterion, least):
    """Greatest gain over all thresholds whose sides weigh enough."""
    crit = Worth(None if criterion == "gini" else True, int(y.max()) + 1)
    parent = np.bincount(y, w)
    best = -np.inf
    for column in X.T:
        for cut in np.unique(column)[:-1]:
            left = np.bincount(y, w * (column <= cut), minlength=len(parent))
            right = parent - left
            if min(left.sum(), right.sum()) >= least * w.sum():
                best = max(best, gain(crit, parent, left, right))
    return best


@pytest.mark.parametrize("criterion", ["error", "gini"])
@pytest.mark.parametrize("n_classes", [2, 3])
@given(seed=st.integers(0, 10**6), least=st.sampled_from([0.1, 0.3, 0.45]))
def test_equals_the_search_by_hand(criterion, n_classes, seed, least):
    rng = np.random.default_rng(seed)
    X = rng.integers(0, 5, (12, 3)).astype(float)
    y = np.arange(12) % n_classes
    w = rng.integers(1, 5, 12).astype(float)
    for table in (X, csc_array(X)):
        found = StumpSearch(table, y, n_classes).best(w, criterion, least)
        expected = best_by_hand(X, y, w, criterion, least)
        if found is None:
            assert expected == -np.inf
            continue
        assert found.gain == pytest.approx(expected, abs=1e-12)
        assert min(found.left_totals.sum(), found.right_totals.sum()) >= least * w.sum() - 1e-9


@pytest.mark.parametrize("criterion", ["error", "gini"])
def test_categories_keep_both_sides_heavy(criterion):
    codes = np.repeat([0.0, 1.0, 2.0, 3.0], [1, 5, 5, 1])[:, None]
    y = np.array([1, 0, 1, 0, 1, 0, 1, 0, 1, 0, 1, 1])
    search = StumpSearch(codes, y, 2, categories={0: 4})
    found = search.best(np.ones(12), criterion, 0.3)
    assert found is not None
    assert min(found.left_totals.sum(), found.right_totals.sum()) >= 0.3 * 12
