"""Scores of forests against the plain mean of their trees."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from psephos.kernels.small_models.tree import (
    SmallTreeGrowth,
    TreeTable,
    add_share,
    forest_scores,
    grow,
    leaf_of,
    room,
    tree_seed,
    weigh,
)
from psephos.runtime.jit import frozen

# NumPy says so where kernels run uncompiled
pytestmark = pytest.mark.filterwarnings("ignore:overflow")

_N, _P, _TREES = 24, 5, 3
_SEED = np.uint64(3)


def table_of(n_classes, seed=0):
    rng = np.random.default_rng(seed)
    y = rng.integers(0, n_classes, _N).astype(float) if n_classes else rng.standard_normal(_N)
    values = rng.standard_normal((_P, _N))
    values[0] += 0.5 * y
    return TreeTable(frozen(values), np.argsort(values, axis=1).astype(np.uint32), y)


def splits():
    fold = np.arange(_N) % 3
    train = [np.flatnonzero(fold != s).astype(np.int32) for s in range(3)]
    test = [np.flatnonzero(fold == s).astype(np.int32) for s in range(3)]
    ends = [np.concatenate([[0], np.cumsum([len(r) for r in rows])]) for rows in (train, test)]
    return np.concatenate(train), ends[0], np.concatenate(test), ends[1]


def scores(table, rule, subsets, weight, bootstrap=True):
    subsets = np.asarray(subsets, dtype=np.int64)
    out = np.empty((len(subsets), _N, rule.n_classes if rule.n_classes > 2 else 1))
    work, tree = room(_N, subsets.shape[1], rule.n_classes)
    left = work.left if rule.n_classes > 2 else None
    shares = np.full((_N, max(rule.n_classes, 1)), 9.0)
    forest_scores(
        table, rule, weight, *splits(), subsets, _SEED, 0, (0, _TREES), bootstrap, work, tree, left,
        shares, out,
    )  # fmt: skip
    return out


@pytest.mark.parametrize("n_classes", [0, 2, 3])
@pytest.mark.parametrize("bootstrap", [True, False])
def test_scores_are_those_of_the_mean_tree(n_classes, bootstrap):
    table, rule = table_of(n_classes), SmallTreeGrowth(n_classes, 4, 1, 1)
    weight = np.random.default_rng(1).uniform(0.5, 2, _N)
    columns = np.array([0, 2, 4])
    work, tree = room(_N, 3, n_classes)
    train, train_ptr, test, test_ptr = splits()
    got = scores(table, rule, columns[None], weight, bootstrap)[0]
    for s in range(3):
        rows = train[train_ptr[s] : train_ptr[s + 1]]
        share = np.zeros((_N, max(n_classes, 1)))
        for number in range(_TREES):
            state = np.uint64(tree_seed(_SEED, columns, s, number))
            state = weigh(work.mass, rows, 0, len(rows), weight, bootstrap, np.uint64(state))
            left = work.left if n_classes > 2 else None
            grow(table, rule, columns, np.uint64(state), work, tree, left)
            for i in test[test_ptr[s] : test_ptr[s + 1]]:
                leaf = leaf_of(table.values, columns, *tree, i)
                weight_at, total = tree.sums[leaf, 1:2], tree.sums[leaf, 2:]
                if n_classes == 2:
                    total = np.concatenate([weight_at - total, total])
                share[i] += total / weight_at / _TREES
        share = share[test[test_ptr[s] : test_ptr[s + 1]]]
        least = 1 / (2 * len(rows) + 2)
        if n_classes == 0:
            expected = share
        elif n_classes == 2:
            p = np.clip(share, least, 1 - least)
            expected = np.log(p[:, 1:] / p[:, :1])
        else:
            expected = np.log(np.maximum(share, least))
        assert_allclose(got[test_ptr[s] : test_ptr[s + 1]], expected, rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("n_classes", [2, 3])
def test_a_candidate_does_not_depend_on_its_batch(n_classes):
    table, rule, weight = table_of(n_classes), SmallTreeGrowth(n_classes, 9, 1, 1), np.ones(_N)
    subsets = [[0, 1], [1, 3], [2, 4]]
    whole = scores(table, rule, subsets, weight)
    for b in range(3):
        assert_array_equal(scores(table, rule, subsets[b : b + 1], weight)[0], whole[b])
    assert_array_equal(scores(table, rule, subsets[::-1], weight)[::-1], whole)


def test_bootstrap_draws_as_many_rows_as_there_are():
    work, _ = room(_N, 1, 2)
    train, weight = np.arange(4, 20, dtype=np.int32), np.arange(1, _N + 1) / 4
    total = np.zeros(_N)
    for number in range(100):
        state = np.uint64(tree_seed(_SEED, np.array([2]), 1, number))
        after = weigh(work.mass, train, 0, 16, weight, True, state)
        assert after != state
        counts = work.mass[:, 0] / weight
        assert_array_equal(counts, np.round(counts))
        assert counts.sum() == counts[4:20].sum() == 16
        total += counts
    expected = total[4:20].mean()
    assert expected == 100
    assert ((total[4:20] - expected) ** 2 / expected).sum() < 37.7  # 15 degrees, one in a thousand
    weigh(work.mass, train, 2, 9, weight, False, state)
    inside = (np.arange(_N) >= 6) & (np.arange(_N) < 13)
    assert_array_equal(work.mass[:, 0], np.where(inside, weight, 0))


def test_every_tree_draws_its_own():
    seeds = {
        int(tree_seed(np.uint64(seed), np.array(columns), split, number))
        for seed in (0, 1)
        for columns in ([0], [1], [0, 1], [1, 0])
        for split in (0, 1)
        for number in (0, 1)
    }
    assert len(seeds) == 32


def test_training_without_rows_knows_nothing():
    work, tree = room(_N, 1, 3)
    table = table_of(3)
    work.mass[:, 0] = 0.0
    grow(table, SmallTreeGrowth(3, 9, 1, 1), np.array([0]), _SEED, work, tree, work.left)
    shares = np.zeros((1, 3))
    add_share(tree.sums, 0, 3, shares, 0)
    assert_allclose(shares, 1 / 3)
    number = np.zeros((1, 1))
    add_share(tree.sums, 0, 0, number, 0)
    assert_array_equal(number, 0)
