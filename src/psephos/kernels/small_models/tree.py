"""Tiny trees, and forests of them for many candidates.

The columns of a problem are sorted once. A tree uses that order without the rows that it does not
train on, and splits keep it by a stable partition, so that nothing is sorted again. A cut between
two neighbours is possible if their values differ. A child that will not be split again is closed at
once, and its rows are no longer moved.

With the JIT off the same functions run as plain Python.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from psephos.kernels.binned_trees.bins import between
from psephos.runtime.jit import jit

GAMMA = np.uint64(0x9E3779B97F4A7C15)
_FIRST, _SECOND = np.uint64(0xBF58476D1CE4E5B9), np.uint64(0x94D049BB133111EB)
_S27, _S30, _S31, _S32 = np.uint64(27), np.uint64(30), np.uint64(31), np.uint64(32)


class TreeTable(NamedTuple):
    """A training table: `values` (p, n) float64, `order` (p, n) uint32 rows by value; `y` (n,).

    `y` holds class codes 0, 1, ... as float64, or the targets of a regression, preferably of mean
    0.
    """

    values: NDArray[np.float64]
    order: NDArray[np.uint32]
    y: NDArray[np.float64]


class SmallTreeGrowth(NamedTuple):
    """How a tree grows; `n_classes` is 0 for a regression, `least` the rows a leaf needs."""

    n_classes: int
    max_depth: int
    least: int
    max_features: int


class SmallTree(NamedTuple):
    """Nodes of a tree: the second child follows the first, and children their parent.

    `link` (nodes, 2) int32: the position of the feature among the tree's columns, -1 at a leaf,
    and the first child. `sums` (nodes, 2 + C): the threshold, the node's weight, and the weight of
    each class (two classes: of the second; regression: the sum of weight times y).
    """

    link: NDArray[np.int32]
    sums: NDArray[np.float64]


class TreeScratch(NamedTuple):
    """Scratch of one thread; see `room`.

    `mass` (n, 2): a row's weight, and weight times y. `lines` (d + 1, n): the rows of the open
    nodes, each a segment, in the order of each column; the last line is spare.
    """

    mass: NDArray[np.float64]
    lines: NDArray[np.uint32]
    side: NDArray[np.int64]
    stack: NDArray[np.int64]
    shuffled: NDArray[np.int64]
    left: NDArray[np.float64]


def room(n: int, d: int, n_classes: int) -> tuple[TreeScratch, SmallTree]:
    """Return scratch for trees of n rows and d columns, and arrays for the largest such tree."""
    sums = n_classes if n_classes > 2 else 1
    nodes = max(2 * n - 1, 1)
    work = TreeScratch(
        np.zeros((n, 2)),
        np.empty((d + 1, n), np.uint32),
        np.zeros(n, np.int64),
        np.zeros((n + 1, 4), np.int64),
        np.empty(d, np.int64),
        np.empty(sums),
    )
    return work, SmallTree(np.empty((nodes, 2), np.int32), np.empty((nodes, 2 + sums)))


@jit
def mix(state):
    """Return the 64 bits that SplitMix64 makes of its state (Steele, Lea & Flood 2014, fig. 14)."""
    z = (state ^ (state >> _S30)) * _FIRST
    z = (z ^ (z >> _S27)) * _SECOND
    return z ^ (z >> _S31)


@jit
def draw(state, below):
    """Return the next state and a whole number from 0 to below - 1, below < 2^32."""
    state = state + GAMMA
    return state, np.int64(((mix(state) >> _S32) * np.uint64(below)) >> _S32)


@jit
def grow(table, rule, columns, state, work, tree, left=None):
    """Grow a tree on the rows of positive weight in ``work.mass`` and return its number of nodes.

    At a node, columns are drawn without replacement until `max_features` have been searched, and
    further while all of them were constant, as in scikit-learn. The first of equal cuts is chosen;
    without a draw, columns are in their order. The worth of a cut is S_l^2 / W_l + S_r^2 / W_r,
    summed over the classes: it increases as the impurity decreases.

    Parameters
    ----------
    columns : (d,) int64
    state : uint64; state of the draws of columns (used if max_features < d)
    work, tree : TreeScratch, SmallTree; of `room`; `tree` is the result
    left : (n_classes,) float64 or None; scratch, ``work.left``; None unless there are three classes
        or more (if it is None, their part is left out when compiling)
    """
    # One function, with each step once: a helper is compiled again at every call.
    values, order, y = table.values, table.order, table.y
    mass, lines, side, stack = work.mass, work.lines, work.side, work.stack
    link, sums, shuffled = tree.link, tree.sums, work.shuffled
    n_classes, max_depth, least = rule.n_classes, rule.max_depth, rule.least
    n, d, spare = len(y), len(columns), lines[len(lines) - 1]
    size = 0
    for row in range(n):  # lines[0] is overwritten below unless there are no columns
        mass[row, 1] = mass[row, 0] * y[row]
        lines[0, size] = row
        size += mass[row, 0] > 0.0
    for f in range(d):
        shuffled[f] = f
        ordered, line, at = order[columns[f]], lines[f], 0
        for k in range(n):
            row = ordered[k]
            line[at] = row
            at += mass[row, 0] > 0.0
    # The root is opened as the first side of a cut that has no second.
    node, nodes, opened, top = 0, 0, 1, 0
    start, end, depth, f, cut = 0, size, 0, 0, size - 1
    classes = 1.0 if n_classes == 2 else 0.0
    while True:
        waiting, line = 0, lines[f]
        for child in range(opened):  # the second side lies on top of the stack
            low_at = start if child == 0 else cut + 1
            high_at = cut + 1 if child == 0 else end
            node = nodes + child
            link[node, 0] = -1
            w = s = known = 0.0
            pure = True
            if low_at < high_at:
                known = y[line[low_at]]
            for k in range(low_at, high_at):
                row = line[k]
                side[row] = child
                w += mass[row, 0]
                s += mass[row, 1]
                pure = pure and y[row] == known
            sums[node, 0], sums[node, 1], sums[node, 2] = 0.0, w, s
            if left is not None:
                for c in range(n_classes):
                    sums[node, 2 + c] = 0.0
                for k in range(low_at, high_at):
                    row = line[k]
                    sums[node, 2 + np.int64(y[row])] += mass[row, 0]
            if not pure and depth < max_depth and high_at - low_at >= 2 * least:
                stack[top, 0], stack[top, 1] = node, low_at
                stack[top, 2], stack[top, 3] = high_at, depth
                top += 1
                waiting += 1 + child
        nodes += opened
        # The rows of every column by side, each side in its order; of one side alone if the other
        # is closed: it moves to the start of the segment.
        if opened == 2 and waiting > 0:
            for g in range(d):
                if waiting < 3 or g != f:
                    line, at, spared = lines[g], start, 0
                    for k in range(start, end):
                        row = line[k]
                        marked = side[row]
                        line[at] = row
                        spare[spared] = row
                        at += (1 - marked) if waiting != 2 else marked
                        spared += marked
                    if waiting == 3:
                        for k in range(spared):
                            line[at + k] = spare[k]
            if waiting < 3:
                stack[top - 1, 2] += start - stack[top - 1, 1]
                stack[top - 1, 1] = start
        f = -1
        while top > 0 and f < 0:
            top -= 1
            node, start, end, depth = stack[top, 0], stack[top, 1], stack[top, 2], stack[top, 3]
            weight, whole, best = sums[node, 1], sums[node, 2], -np.inf
            most = weight if n_classes > 0 else np.inf  # no cut of classes is worth more
            looked = varied = 0
            while looked < d and best < most and (looked < rule.max_features or varied == 0):
                g = looked
                if rule.max_features < d:
                    state, ahead = draw(state, d - looked)
                    g = shuffled[looked + ahead]
                    shuffled[looked + ahead] = shuffled[looked]
                    shuffled[looked] = g
                looked += 1
                line, column = lines[g], values[columns[g]]
                if not column[line[start]] < column[line[end - 1]]:
                    continue
                varied += 1
                if end - start == 2:  # of two rows every column makes the same two leaves
                    if most > best:
                        best, f, cut = most, g, start
                elif left is not None:
                    squares_l = squares_r = w = 0.0
                    for c in range(n_classes):
                        left[c] = 0.0
                        squares_r += sums[node, 2 + c] * sums[node, 2 + c]
                    for k in range(start, end - least):
                        row = line[k]
                        c = np.int64(y[row])
                        add = mass[row, 0]
                        right = sums[node, 2 + c] - left[c]
                        squares_l += add * (2.0 * left[c] + add)
                        squares_r -= add * (2.0 * right - add)
                        left[c] += add
                        w += add
                        if k >= start + least - 1 and column[line[k + 1]] > column[row]:
                            worth = squares_l / w + squares_r / (weight - w)
                            if worth > best:
                                best, f, cut = worth, g, k
                else:  # two classes: the first's sums are what the second's leave
                    s = w = 0.0
                    for k in range(start, start + least - 1):
                        row = line[k]
                        w += mass[row, 0]
                        s += mass[row, 1]
                    value = column[line[start + least - 1]]
                    for k in range(start + least - 1, end - least):
                        row = line[k]
                        w += mass[row, 0]
                        s += mass[row, 1]
                        following = column[line[k + 1]]
                        if following > value:
                            others, rest = weight - w, whole - s
                            low, high = classes * (w - s), classes * (others - rest)
                            worth = (low * low + s * s) / w + (high * high + rest * rest) / others
                            if worth > best:
                                best, f, cut = worth, g, k
                        value = following
        if f < 0:
            return nodes
        low_value = values[columns[f], lines[f, cut]]
        high_value = values[columns[f], lines[f, cut + 1]]
        link[node, 0], link[node, 1] = f, nodes
        sums[node, 0] = between(low_value, high_value)
        opened = 2
        depth += 1


@jit
def leaf_of(values, columns, link, sums, row):
    """Return the leaf of a `SmallTree`, given as its arrays, that a row of values reaches."""
    node = 0
    while link[node, 0] >= 0:
        value = values[columns[link[node, 0]], row]
        node = link[node, 1] + (value > sums[node, 0])
    return node


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
