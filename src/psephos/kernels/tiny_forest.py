"""Forests of tiny trees for many candidates: out-of-fold scores, node arrays, and their means."""

import numpy as np

from psephos.kernels._jit import jit
from psephos.kernels.tiny_tree import GAMMA, draw, grow, leaf_of, mix

__all__ = ["add_share", "forest_scores", "group_means", "grow_one", "tree_seed", "weigh"]


@jit
def _absorb(state, number):
    return mix((state ^ np.uint64(number)) + GAMMA)


@jit
def tree_seed(seed, columns, split, number):
    """Return where the draws of one tree begin: a hash of its candidate, its split and itself."""
    state = _absorb(_absorb(np.uint64(0), seed), len(columns))
    for j in columns:
        state = _absorb(state, j)
    return _absorb(_absorb(state, split), number)


@jit
def weigh(work, train, start, end, weight, bootstrap, state):
    """Give the rows of one tree their weights; return the state after the draws.

    With `bootstrap` as many rows are drawn as there are, with replacement, and a row's weight
    counts as often as it was drawn.
    """
    for row in range(len(work.mass)):
        work.mass[row, 0] = 0.0
    if not bootstrap:
        for k in range(start, end):
            work.mass[train[k], 0] = weight[train[k]]
        return state
    for _ in range(start, end):
        state, k = draw(state, end - start)
        work.mass[train[start + k], 0] += 1.0
    for k in range(start, end):
        work.mass[train[k], 0] *= weight[train[k]]
    return state


@jit
def grow_one(
    table, rule, columns, train, start, end, weight, seed, split, number, bootstrap, work, tree,
):  # fmt: skip
    """Grow tree `number` of a candidate on ``train[start:end]``; return its number of nodes."""
    state = tree_seed(seed, columns, split, number)
    state = weigh(work, train, start, end, weight, bootstrap, state)
    return grow(table, rule, columns, state, work, tree)


@jit
def _score(shares, i, n_train, n_classes, out, b, at):
    """Write the score of shares: log-odds, log-probabilities, or the mean of a regression."""
    least = 1.0 / (2.0 * n_train + 2.0)
    if n_classes == 0:
        out[b, at, 0] = shares[i, 0]
    elif n_classes == 2:
        odds, most = np.inf, (1.0 - least) / least
        if shares[i, 0] > 0.0:
            odds = shares[i, 1] / shares[i, 0]
        if odds > most:
            odds = most
        elif odds * most < 1.0:
            odds = 1.0 / most
        out[b, at, 0] = np.log(odds)
    else:
        for c in range(n_classes):
            share = shares[i, c]
            out[b, at, c] = np.log(share if share > least else least)


@jit
def add_share(tree, leaf, n_classes, shares, i):
    """Add to shares[i] the class shares at a leaf, or its mean; without weight all are equal."""
    weight = tree.sums[leaf, 1]
    if weight <= 0.0:
        for c in range(n_classes):
            shares[i, c] += 1.0 / n_classes
    elif n_classes == 2:
        shares[i, 0] += (weight - tree.sums[leaf, 2]) / weight
        shares[i, 1] += tree.sums[leaf, 2] / weight
    else:
        for c in range(shares.shape[1]):
            shares[i, c] += tree.sums[leaf, 2 + c] / weight


@jit
def forest_scores(
    table, rule, weight, train, train_ptr, test, test_ptr, subsets, seed, n_trees, bootstrap,
    work, tree, shares, out,
):  # fmt: skip
    """Write out-of-fold scores of forests, one per candidate and split.

    A share is the mean over trees of the class share at the leaf, clipped from below at
    1 / (2 n + 2), n the training rows of the split, so that its logarithm is finite; two classes:
    the logarithm of the shares' ratio, 0 where they are equal.

    Parameters
    ----------
    table, rule : Table, Rule
    weight : (n,) float64
    train, train_ptr, test, test_ptr : rows of each split
    subsets : (B, d) int64
    seed : uint64
    n_trees, bootstrap : trees of a forest; without bootstrap each trains on all rows
    work, tree : of `room`
    shares : (n, C) float64, scratch
    out : (B, L, K) float64
    """
    for b in range(len(subsets)):
        columns = subsets[b]
        for s in range(len(train_ptr) - 1):
            start, end = train_ptr[s], train_ptr[s + 1]
            first, n_tests = test_ptr[s], test_ptr[s + 1] - test_ptr[s]
            for i in range(n_tests):
                for c in range(shares.shape[1]):
                    shares[i, c] = 0.0
            for number in range(n_trees):
                grow_one(
                    table, rule, columns, train, start, end, weight, seed, s, number, bootstrap,
                    work, tree,
                )  # fmt: skip
                for i in range(n_tests):
                    leaf = leaf_of(table, columns, tree, test[first + i])
                    add_share(tree, leaf, rule.n_classes, shares, i)
            for i in range(n_tests):
                for c in range(shares.shape[1]):
                    shares[i, c] /= n_trees
                _score(shares, i, end - start, rule.n_classes, out, b, first + i)


@jit
def group_means(leaf, group, value, out):
    """Write to out (n, T, C) the mean of value (nodes, C) over the leaves of each group of trees.

    ``leaf`` is (n, trees); group t is the trees ``group[t] : group[t + 1]``.
    """
    for i in range(out.shape[0]):
        for t in range(out.shape[1]):
            for c in range(out.shape[2]):
                total = 0.0
                for k in range(group[t], group[t + 1]):
                    total += value[leaf[i, k], c]
                out[i, t, c] = total / (group[t + 1] - group[t])
