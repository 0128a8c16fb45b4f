"""The compiled walk goes where the definition says, whatever is missing."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from psephos.kernels.prediction.tree_walk_binary import binary_leaves, pack_nodes
from psephos.trees.tree import SPREAD, STAY, Tree, join_trees

from ...trees.tree_twin import answer, cases, parts, random_tree

KINDS = {
    "plain": {"codes": False, "surrogates": 0, "missing": 1},
    "any": {},
    "spread": {"missing": SPREAD, "surrogates": 0, "n_splits": 12},
    "stay": {"missing": STAY},
    "strict": {"strict": True},
    "single": {"single": True},
    "leaf": {"n_splits": 0},
}


@pytest.mark.parametrize("kind", KINDS)
def test_rows_end_where_the_definition_says(kind, random_seed):
    rng = np.random.default_rng(random_seed)
    for _ in range(5):
        tree, X = random_tree(rng, **KINDS[kind]), cases(rng, 40)
        ends = [parts(tree, row) for row in X]
        expected = [-1 if spread else next(iter(nodes)) for nodes, spread in ends]
        assert_array_equal(tree.leaves(X)[:, 0], expected)
        said = np.array([answer(tree, row) for row in X])
        assert_allclose(tree.answers(X)[:, 0], said, rtol=1e-13, atol=1e-13)


def test_all_ways_are_met(random_seed):
    """The random trees above do spread rows, stop them, and go by surrogates."""
    rng = np.random.default_rng(random_seed)
    tree, X = random_tree(rng, 30), cases(rng, 400)
    ends = tree.leaves(X)[:, 0]
    assert (ends == -1).any()
    assert (tree.n_children[ends[ends >= 0]] > 0).any()
    assert (tree.n_children[ends[ends >= 0]] == 0).any()
    alone = random_tree(np.random.default_rng(random_seed), 30, surrogates=0)
    assert (tree.leaves(X) != alone.leaves(X)).any()


@pytest.mark.parametrize("strict", [False, True])
@pytest.mark.parametrize("flip", [False, True])
def test_the_threshold_itself(strict, flip):
    stump = random_tree(np.random.default_rng(0), 1, codes=False, missing=STAY, surrogates=0)
    stump.threshold[0], stump.flip[0] = 0.1, flip
    X = np.full((3, 6), np.nan)
    X[:, stump.column[0]] = [0.1, np.nextafter(0.1, 0), np.nextafter(0.1, 1)]
    same = Tree(**{**vars(stump), "strict": strict})
    expected = np.array([2 if strict else 1, 1, 2])
    assert_array_equal(same.leaves(X)[:, 0], 3 - expected if flip else expected)


def test_single_precision_is_of_the_value_alone():
    stump = random_tree(np.random.default_rng(0), 1, codes=False, missing=STAY, surrogates=0)
    stump.threshold[0], stump.flip[0] = np.float32(0.1), False
    X = np.full((1, 6), np.float64(np.float32(0.1)) + 1e-12)
    assert stump.leaves(X)[0, 0] == 2
    assert Tree(**{**vars(stump), "single": True}).leaves(X)[0, 0] == 1


def test_infinite_values_are_values(random_seed):
    rng = np.random.default_rng(random_seed)
    tree, X = random_tree(rng, missing=SPREAD), cases(rng, 60, missing=0)
    X[:, [0, 1, 3, 4]] = rng.choice([-np.inf, np.inf], (60, 4))
    assert_allclose(tree.answers(X)[:, 0], [answer(tree, row) for row in X], atol=1e-13)


def test_trees_in_a_row_answer_as_each_alone(random_seed):
    rng = np.random.default_rng(random_seed)
    trees = [random_tree(rng, int(rng.integers(0, 9))) for _ in range(6)]
    X = cases(rng, 30)
    root, nodes = join_trees(trees)
    assert_array_equal(
        nodes.answers(X, root), np.concatenate([tree.answers(X) for tree in trees], axis=1)
    )
    alone = np.concatenate([tree.leaves(X) for tree in trees], axis=1)
    assert_array_equal(nodes.leaves(X, root), np.where(alone < 0, -1, alone + root))


def test_a_row_in_parts_keeps_its_weight(random_seed):
    rng = np.random.default_rng(random_seed)
    tree, X = random_tree(rng, 30, missing=SPREAD, surrogates=0), cases(rng, 50, missing=0.8)
    ones = np.ones((tree.n_nodes, 1))
    assert_allclose(tree.answers(X, value=ones), 1.0, rtol=1e-12)
    assert_allclose(tree.answers(X, value=np.eye(tree.n_nodes)).sum(axis=2), 1.0, rtol=1e-12)


# ---------------------------------------------------------------------- binary trees, by the block
def binary_trees(rng, n_trees, n_columns, codes=False):
    """Node arrays of random binary trees, children anywhere after their parents."""
    rows = []  # (feature, threshold, missing_left, first, second, codes on the left)
    root = []
    for _ in range(n_trees):
        root.append(len(rows))
        rows.append(None)
        for _ in range(rng.integers(0, 25)):
            node = int(rng.choice([i for i in range(root[-1], len(rows)) if rows[i] is None]))
            feature, left = int(rng.integers(n_columns)), len(rows)
            on_codes = codes and feature % 2 == 0
            own = rng.random(rng.integers(1, 6)) < 0.5 if on_codes else []
            pair = [left, left + 1] if rng.random() < 0.5 else [left + 1, left]
            threshold = np.nan if on_codes else rng.choice([np.inf, -np.inf, *rng.random(8)])
            rows[node] = (feature, threshold, rng.random() < 0.5, *pair, own)
            rows += [None, None]
    rows = [row or (-1, 0.0, False, -1, -1, []) for row in rows]
    feature, threshold, missing, first, second, own = zip(*rows, strict=True)
    sets = np.array([flag for one in own for flag in one], dtype=bool)
    ptr = np.cumsum([0, *(len(one) for one in own)]).astype(np.intp)
    whole = [np.array(a, dtype=np.intp) for a in (root, feature, first, second)]
    return whole, np.array(threshold), np.array(missing), ptr, sets


def leaf_by_hand(node, row, trees, single):
    (_, feature, first, second), threshold, missing, ptr, sets = trees
    while feature[node] >= 0:
        x, own = row[feature[node]], sets[ptr[node] : ptr[node + 1]]
        x = float(np.float32(x)) if single else x
        if len(own):
            left = own[int(x)] if 0 <= x < len(own) else missing[node]
        else:
            left = missing[node] if np.isnan(x) else x <= threshold[node]
        node = first[node] if left else second[node]
    return node


@pytest.mark.parametrize("codes", [False, True])
@pytest.mark.parametrize("single", [False, True])
@pytest.mark.parametrize("n", [0, 1, 40, 300])
def test_rows_go_down_binary_trees(n, single, codes, random_seed):
    rng = np.random.default_rng(random_seed)
    trees = binary_trees(rng, 6, 5, codes)
    (root, feature, first, second), threshold, missing, ptr, sets = trees
    X = rng.random((n, 5))
    X[rng.random(X.shape) < 0.5] = rng.choice([np.nan, np.inf, -np.inf, 1e-300])
    X[rng.random(X.shape) < 0.1] = 1e300  # infinite in float32
    if codes:
        X[:, ::2] = rng.integers(-2, 8, (n, 3))
    X[rng.random(X.shape) < 0.2] = np.nan
    nodes = pack_nodes(feature, threshold, missing, first, second, ptr if codes else ptr[:0])
    with np.errstate(over="ignore"):  # of kernels that run uncompiled, and by hand
        got = binary_leaves(nodes, sets, X, root, single)
        expected = [[leaf_by_hand(node, row, trees, single) for node in root] for row in X]
    assert_array_equal(got, np.reshape(expected, (n, len(root))))
