"""Trees on residuals against a slow readable twin."""

import numpy as np
import pytest
from numpy.testing import assert_array_equal

from psephos.trees.gradient import GradientLimits, SquaresGrower
from psephos.trees.newton import TreeSample


def problem(n=60, p=3, seed=0):
    rng = np.random.default_rng(seed)
    values = rng.standard_normal((p, n)).astype(np.float32)
    residual = values[0] ** 2 + values[1] * (values[2] > 0) + 0.3 * rng.standard_normal(n)
    return values, residual, rng.integers(4, 16, n) / 8


def every(n, p):
    return TreeSample(np.ones(n, bool), np.arange(p))


def impurity(r, w):
    return np.sum(w * (r - np.average(r, weights=w)) ** 2)


def best_cut(values, r, w, rows, limits, total):
    """Return (gain, rows to the left), or None."""
    best = None
    for x in values:
        for cut in np.unique(x[rows])[1:]:
            left, right = rows[x[rows] < cut], rows[x[rows] >= cut]
            least = max(limits.min_leaf, limits.min_leaf_share * total)
            if min(w[left].sum(), w[right].sum()) < least:
                continue
            gain = impurity(r[rows], w[rows]) - impurity(r[left], w[left])
            gain -= impurity(r[right], w[right])
            if best is None or gain > best[0] * (1 + 1e-12):
                best = gain, left
    return best


def twin(values, r, w, limits):
    """Return the sets of rows of the leaves: the best of all leaves is split, and again."""
    total = w.sum()
    leaves = [(np.arange(len(r)), 0)]
    while limits.max_leaves is None or len(leaves) < limits.max_leaves:
        offers = []
        for rows, depth in leaves:
            found = None
            if (limits.max_depth is None or depth < limits.max_depth) and (
                w[rows].sum() >= limits.min_split
            ):
                found = best_cut(values, r, w, rows, limits, total)
            if found and found[0] < limits.min_decrease * total:
                found = None
            offers.append(found)
        chosen = max(range(len(leaves)), key=lambda i: offers[i][0] if offers[i] else -1.0)
        if offers[chosen] is None:
            break
        rows, depth = leaves.pop(chosen)
        left = offers[chosen][1]
        leaves += [(left, depth + 1), (np.setdiff1d(rows, left), depth + 1)]
    return sorted(tuple(rows.tolist()) for rows, _ in leaves)


def leaf_sets(leaf):
    return sorted(tuple(np.flatnonzero(leaf == node).tolist()) for node in np.unique(leaf))


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize(
    "limits",
    [
        GradientLimits(2, min_leaf=5.0),
        GradientLimits(3, min_leaf_share=0.1),
        GradientLimits(4, min_leaf=5.0, min_split=25.0),
        GradientLimits(None, min_leaf=5.0, min_decrease=0.05),
        GradientLimits(None, min_leaf=5.0, max_leaves=5),
        GradientLimits(3, min_leaf=5.0, max_leaves=5),
    ],
)
def test_trees_are_the_twins(limits, seed):
    values, r, w = problem(seed=seed)
    tree, position, own = SquaresGrower(values, {}, w, limits).grow(r, every(60, 3))
    wanted = twin(values.astype(np.float64), r, w, limits)
    assert leaf_sets(own[position]) == wanted
    assert (tree.feature[np.unique(own[position])] < 0).all()
    assert_array_equal(own[tree.leaves(values)], own[position])


@pytest.mark.parametrize("kind", ["numbers", "few values", "categories"])
@pytest.mark.parametrize(("method", "far"), [("exact", 1e6), ("hist", 1e4)])
def test_a_nodes_mean_does_not_matter(kind, method, far):
    values, r, w = problem(n=200)
    if kind != "numbers":
        values = np.digitize(values, [-1, -0.3, 0.3, 1]).astype(np.float32)
    n_codes = {0: 5, 2: 5} if kind == "categories" else {}
    draws = every(200, 3)
    apart = np.where(values[1] > 1, far, -far)
    grower = SquaresGrower(values, n_codes, w, GradientLimits(4, min_leaf=5.0), method)
    tree, position, own = grower.grow(r + apart, draws)
    assert tree.feature[0] == 1
    below = SquaresGrower(values, n_codes, w, GradientLimits(3, min_leaf=5.0), method)
    wanted = []  # of each side alone, without what is apart
    for side in (apart > 0, apart < 0):
        part = below.grow(np.where(side, r, 0.0), TreeSample(side, np.arange(3)))
        wanted += leaf_sets(np.where(side, part.own[part.position], -1))
    wanted = [rows for rows in wanted if len(rows) < 200 and not same_side(rows, apart)]
    assert sorted(set(leaf_sets(own[position]))) == sorted(set(wanted))
    assert len(wanted) > 6


def same_side(rows, apart):
    """Return whether rows are the whole of one side."""
    return len(rows) == (apart == apart[rows[0]]).sum()


def test_rows_that_are_not_drawn_change_nothing():
    values, r, w = problem()
    drawn = np.arange(60) % 3 > 0
    grower = SquaresGrower(values, {}, w, GradientLimits(3))
    one = grower.grow(r, TreeSample(drawn, np.arange(3)))
    two = grower.grow(np.where(drawn, r, 1e9), TreeSample(drawn, np.arange(3)))
    assert_array_equal(one.position, two.position)
    assert_array_equal(one.tree.threshold, two.tree.threshold)


@pytest.mark.parametrize("method", ["exact", "hist"])
def test_a_node_of_equal_residuals_is_a_leaf(method):
    values, _, w = problem()
    w *= np.pi / 3  # sums of weights round
    r = np.where(values[0] > 0.1, 1.1, -0.3)
    grower = SquaresGrower(values, {}, w, GradientLimits(None), method)
    _, position, own = grower.grow(r, every(60, 3))
    assert len(np.unique(own[position])) == 2
    none = grower.grow(np.full(60, 0.7), every(60, 3))
    assert (none.own[none.position] == 0).all()


@pytest.mark.parametrize("method", ["exact", "hist"])
def test_sets_of_undone_splits_are_forgotten(method):
    _, r, w = problem()
    values = np.random.default_rng(0).integers(5, size=(2, 60)).astype(np.float32)
    grower = SquaresGrower(values, {0: 5, 1: 5}, w, GradientLimits(4, max_leaves=3), method)
    tree, position, own = grower.grow(r, every(60, 2))
    assert set(tree.sets) == set(np.flatnonzero(tree.feature >= 0).tolist())
    assert len(np.unique(own[position])) == 3
    small = tree
    small.answer = np.arange(tree.n_nodes, dtype=np.float32)
    assert small.compact().n_nodes == 5
