"""Forests of tiny trees for many candidates: out-of-fold scores, node arrays, and their means."""

import numpy as np

from psephos.kernels.small_models.tree import GAMMA, draw, grow, leaf_of, mix
from psephos.runtime.jit import jit


@jit
def _absorb(state, number):
    return mix((state ^ number) + GAMMA)


@jit
def tree_seed(seed, columns, split, number):
    """Return the first random state of a tree: a hash of its candidate, split and number."""
    state = _absorb(_absorb(np.uint64(0), np.uint64(seed)), np.uint64(len(columns)))
    for j in range(len(columns)):
        state = _absorb(state, np.uint64(columns[j]))
    return _absorb(_absorb(state, np.uint64(split)), np.uint64(number))


@jit
def weigh(mass, train, start, end, weight, bootstrap, state):
    """Write the weights of the rows of one tree; return the state after the draws.

    With `bootstrap`, as many rows as there are get drawn with replacement, and the weight of a row
    is multiplied by the number of times it was drawn.
    """
    for row in range(len(mass)):
        mass[row, 0] = 0.0
    if not bootstrap:
        for k in range(start, end):
            mass[train[k], 0] = weight[train[k]]
        return state
    for _ in range(start, end):
        state, k = draw(state, end - start)
        mass[train[start + k], 0] += 1.0
    for k in range(start, end):
        mass[train[k], 0] *= weight[train[k]]
    return state


@jit
def _score(shares, i, n_train, n_classes, out, b, at):
    """Write the score for a row's shares: log-odds, log-probabilities, or a regression's mean."""
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
def add_share(sums, leaf, n_classes, shares, i):
    """Add to shares[i] a leaf's class shares, or its mean; shares are equal if it has no weight."""
    weight = sums[leaf, 1]
    if weight <= 0.0:
        for c in range(n_classes):
            shares[i, c] += 1.0 / n_classes
    elif n_classes == 2:
        shares[i, 0] += (weight - sums[leaf, 2]) / weight
        shares[i, 1] += sums[leaf, 2] / weight
    else:
        for c in range(shares.shape[1]):
            shares[i, c] += sums[leaf, 2 + c] / weight


@jit
def forest_scores(
    table, rule, weight, train, train_ptr, test, test_ptr, subsets, seed, split, numbers,
    bootstrap, work, tree, left, shares, out,
):  # fmt: skip
    """Write out-of-fold scores of forests, one per candidate and split.

    Returns the nodes of the last tree.

    A share is the mean over trees of the class share at the leaf, clipped from below at
    1 / (2 n + 2), n the training rows of the split, so that its logarithm is finite. The scores are
    these logarithms; for two classes, the logarithm of the ratio of the shares (0 if equal).

    Parameters
    ----------
    table, rule : TreeTable, SmallTreeGrowth
    weight : (n,) float64
    train, train_ptr, test, test_ptr : rows of each split
    subsets : (B, d) int64
    seed : uint64
    split : number of the first split, as it enters the seeds of the trees
    numbers : tuple of two ints; the first tree of a forest and the one after the last
    bootstrap : if False, each tree trains on all rows
    work, tree, left : of `room`, and as in `grow`; `tree` holds the last tree grown
    shares : (n, C) float64, scratch
    out : (B, L, K) float64
    """
    first_tree, end_tree = numbers
    nodes = 0
    for b in range(len(subsets)):
        columns = subsets[b]
        for s in range(len(train_ptr) - 1):
            start, end = train_ptr[s], train_ptr[s + 1]
            first, n_tests = test_ptr[s], test_ptr[s + 1] - test_ptr[s]
            for i in range(n_tests):
                for c in range(shares.shape[1]):
                    shares[i, c] = 0.0
            for number in range(first_tree, end_tree):
                state = tree_seed(seed, columns, split + s, number)
                state = weigh(work.mass, train, start, end, weight, bootstrap, state)
                nodes = grow(table, rule, columns, state, work, tree, left)
                for i in range(n_tests):
                    leaf = leaf_of(table.values, columns, tree.link, tree.sums, test[first + i])
                    add_share(tree.sums, leaf, rule.n_classes, shares, i)
            for i in range(n_tests):
                for c in range(shares.shape[1]):
                    shares[i, c] /= end_tree - first_tree
                _score(shares, i, end - start, rule.n_classes, out, b, first + i)
    return nodes
