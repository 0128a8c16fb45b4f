"""Grow one tiny tree, on a few presorted columns and at most thousands of rows.

The columns of a problem are sorted once. A tree's order of rows is that order without the rows it
does not train on; a split keeps it by a stable partition, so nothing is ever sorted again, and the
cut between two neighbours is worth looking at when their values differ. A child that will not be
split again is closed at once and its rows are moved no more.

With the JIT off the same functions run as plain Python.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from psephos.kernels._jit import jit

__all__ = ["GAMMA", "Rule", "Table", "Tree", "Work", "draw", "grow", "leaf_of", "mix", "room"]

GAMMA = np.uint64(0x9E3779B97F4A7C15)
_FIRST, _SECOND = np.uint64(0xBF58476D1CE4E5B9), np.uint64(0x94D049BB133111EB)
_S27, _S30, _S31, _S32 = np.uint64(27), np.uint64(30), np.uint64(31), np.uint64(32)


class Table(NamedTuple):
    """A training table: `values` (p, n) float32, `order` (p, n) uint32 rows by value; `y` (n,).

    `y` holds class codes 0, 1, ... as float64, or the numbers of a regression, best with mean 0.
    """

    values: NDArray[np.float32]
    order: NDArray[np.uint32]
    y: NDArray[np.float64]


class Rule(NamedTuple):
    """How a tree grows; `n_classes` is 0 for a regression, `least` the rows a leaf needs."""

    n_classes: int
    max_depth: int
    least: int
    max_features: int


class Tree(NamedTuple):
    """Nodes of a tree: the second child follows the first, and children their parent.

    `link` (nodes, 2) int32: the position of the feature among the tree's columns, -1 at a leaf,
    and the first child. `sums` (nodes, 2 + C): the threshold, the node's weight, and the weight of
    each class (two classes: of the second; regression: the sum of weight times y).
    """

    link: NDArray[np.int32]
    sums: NDArray[np.float64]


class Work(NamedTuple):
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


def room(n: int, d: int, n_classes: int) -> tuple[Work, Tree]:
    """Return scratch for trees of n rows and d columns, and the largest such tree."""
    sums = n_classes if n_classes > 2 else 1
    nodes = max(2 * n - 1, 1)
    work = Work(
        np.zeros((n, 2)),
        np.empty((d + 1, n), np.uint32),
        np.zeros(n, np.int64),
        np.zeros((n + 1, 4), np.int64),
        np.empty(d, np.int64),
        np.empty(sums),
    )
    return work, Tree(np.empty((nodes, 2), np.int32), np.empty((nodes, 2 + sums)))


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


@jit(inline="always")
def _cut_sums(table, column, work, f, start, end, node, tree, least, classes):
    """Best cut of a column by sums: two classes (Gini) or a regression (squared error).

    The worth of a cut is S_l^2 / W_l + S_r^2 / W_r, for two classes with the squares of the first
    class's weight (`classes` is 1, else 0) beside those of the second: both grow as the impurity
    falls. Returns the worth and the last position of the first side, -1 where there is none.
    """
    best, cut = -np.inf, -1
    weight, whole = tree.sums[node, 1], tree.sums[node, 2]
    s = w = 0.0
    for k in range(start, start + least - 1):
        row = work.lines[f, k]
        w += work.mass[row, 0]
        s += work.mass[row, 1]
    value = table.values[column, work.lines[f, start + least - 1]]
    for k in range(start + least - 1, end - least):
        row = work.lines[f, k]
        w += work.mass[row, 0]
        s += work.mass[row, 1]
        following = table.values[column, work.lines[f, k + 1]]
        if following > value:
            others, rest = weight - w, whole - s
            low, high = classes * (w - s), classes * (others - rest)
            worth = (low * low + s * s) / w + (high * high + rest * rest) / others
            if worth > best:
                best, cut = worth, k
        value = following
    return best, cut


@jit(inline="always")
def _cut_classes(table, column, work, f, start, end, node, tree, least):
    """Best cut of a column by Gini impurity, three classes or more: as `_cut_sums`."""
    best, cut = -np.inf, -1
    weight = tree.sums[node, 1]
    left = work.left
    squares_l = squares_r = w = 0.0
    for c in range(len(left)):
        left[c] = 0.0
        squares_r += tree.sums[node, 2 + c] * tree.sums[node, 2 + c]
    for k in range(start, end - least):
        row = work.lines[f, k]
        c = np.int64(table.y[row])
        add = work.mass[row, 0]
        right = tree.sums[node, 2 + c] - left[c]
        squares_l += add * (2.0 * left[c] + add)
        squares_r -= add * (2.0 * right - add)
        left[c] += add
        w += add
        following = table.values[column, work.lines[f, k + 1]]
        if k >= start + least - 1 and following > table.values[column, row]:
            worth = squares_l / w + squares_r / (weight - w)
            if worth > best:
                best, cut = worth, k
    return best, cut


@jit(inline="always")
def _fill(table, work, tree, node, f, start, end, mark):
    """Sum a node's rows, mark their side, and return whether all their y are equal."""
    tree.link[node, 0] = -1
    for c in range(tree.sums.shape[1]):
        tree.sums[node, c] = 0.0
    if start == end:
        return True
    known = table.y[work.lines[f, start]]
    pure = True
    w = s = 0.0
    for k in range(start, end):
        row = work.lines[f, k]
        work.side[row] = mark
        w += work.mass[row, 0]
        s += work.mass[row, 1]
        pure = pure and table.y[row] == known
    tree.sums[node, 1] = w
    if tree.sums.shape[1] == 3:
        tree.sums[node, 2] = s
    else:
        for k in range(start, end):
            row = work.lines[f, k]
            tree.sums[node, 2 + np.int64(table.y[row])] += work.mass[row, 0]
    return pure


@jit(inline="always")
def _sort_out(table, work, columns):
    """Write to `lines` the rows of positive weight in the order of each column; return how many."""
    n = len(table.y)
    size = 0
    for row in range(n):  # without columns: the rows as they come
        work.mass[row, 1] = work.mass[row, 0] * table.y[row]
        work.lines[0, size] = row
        size += work.mass[row, 0] > 0.0
    for f in range(len(columns)):
        at = 0
        for k in range(n):
            row = table.order[columns[f], k]
            work.lines[f, at] = row
            at += work.mass[row, 0] > 0.0
    return size


@jit(inline="always")
def _part(work, f, start, end):
    """Divide a column's rows by side, each in its order."""
    at, spared, spare = start, 0, len(work.lines) - 1
    for k in range(start, end):
        row = work.lines[f, k]
        work.lines[f, at] = row
        work.lines[spare, spared] = row
        at += 1 - work.side[row]
        spared += work.side[row]
    for k in range(spared):
        work.lines[f, at + k] = work.lines[spare, k]


@jit(inline="always")
def _keep(work, f, start, end, mark):
    """Move the rows of one side to the start of the segment, in their order."""
    at = start
    for k in range(start, end):
        row = work.lines[f, k]
        work.lines[f, at] = row
        at += work.side[row] == mark


@jit(inline="always")
def _best_cut(table, rule, columns, state, work, tree, node, start, end):
    """Return the state, the feature and the cut of the greatest worth; feature -1 if none.

    Columns are drawn without replacement until `max_features` have been looked at, and beyond
    them while all have been constant, as scikit-learn does. The first of equals wins, without a
    draw in the order of the columns.
    """
    d = len(columns)
    best, feature, cut = -np.inf, -1, -1
    looked = varied = 0
    most = tree.sums[node, 1] if rule.n_classes > 0 else np.inf  # no cut of classes is worth more
    while looked < d and best < most and (looked < rule.max_features or varied == 0):
        if rule.max_features < d:
            state, ahead = draw(state, d - looked)
            f = work.shuffled[looked + ahead]
            work.shuffled[looked + ahead] = work.shuffled[looked]
            work.shuffled[looked] = f
        else:
            f = looked
        looked += 1
        j = columns[f]
        low = table.values[j, work.lines[f, start]]
        if low < table.values[j, work.lines[f, end - 1]]:
            varied += 1
            if end - start == 2:  # of two rows every column makes the same two leaves
                worth, k = most, start
            elif rule.n_classes > 2:
                worth, k = _cut_classes(table, j, work, f, start, end, node, tree, rule.least)
            else:
                classes = 1.0 if rule.n_classes == 2 else 0.0
                worth, k = _cut_sums(table, j, work, f, start, end, node, tree, rule.least, classes)
            if worth > best:
                best, feature, cut = worth, f, k
    return state, feature, cut


@jit
def grow(table, rule, columns, state, work, tree):
    """Grow a tree on the rows of positive weight in ``work.mass`` and return its number of nodes.

    Parameters
    ----------
    table : Table
    rule : Rule
    columns : (d,) int64
    state : uint64, where the draws of columns begin (used if max_features < d)
    work, tree : Work, Tree
        Of `room`; `tree` is the result.
    """
    d = len(columns)
    stack, least = work.stack, 2 * rule.least
    for f in range(d):
        work.shuffled[f] = f
    for k in range(4):
        stack[0, k] = 0
    stack[0, 2] = _sort_out(table, work, columns)
    pure = _fill(table, work, tree, stack[0, 0], stack[0, 0], stack[0, 1], stack[0, 2], stack[0, 3])
    nodes = 1
    top = 1 if not pure and rule.max_depth > 0 and stack[0, 2] >= least else 0
    while top > 0:
        top -= 1
        node, start, end, depth = stack[top, 0], stack[top, 1], stack[top, 2], stack[top, 3] + 1
        state, f, cut = _best_cut(table, rule, columns, state, work, tree, node, start, end)
        if f < 0:
            continue
        low = np.float64(table.values[columns[f], work.lines[f, cut]])
        high = np.float64(table.values[columns[f], work.lines[f, cut + 1]])
        tree.link[node, 0], tree.link[node, 1] = f, nodes
        tree.sums[node, 0] = low / 2.0 + high / 2.0
        waiting = 0
        for child in range(2):  # the second side lies on top of the stack
            low_at = start if child == 0 else cut + 1
            high_at = cut + 1 if child == 0 else end
            pure = _fill(table, work, tree, nodes + child, f, low_at, high_at, child)
            if not pure and depth < rule.max_depth and high_at - low_at >= least:
                stack[top, 0], stack[top, 1] = nodes + child, low_at
                stack[top, 2], stack[top, 3] = high_at, depth
                top += 1
                waiting += 1 + child
        nodes += 2
        if waiting == 3:
            for g in range(d):
                if g != f:
                    _part(work, g, start, end)
        elif waiting > 0:
            for g in range(d):
                _keep(work, g, start, end, waiting - 1)
            stack[top - 1, 2] += start - stack[top - 1, 1]
            stack[top - 1, 1] = start
    return nodes


@jit
def leaf_of(table, columns, tree, row):
    """Return the leaf that a row of the table reaches."""
    node = 0
    while tree.link[node, 0] >= 0:
        value = table.values[columns[tree.link[node, 0]], row]
        node = tree.link[node, 1] + (value > tree.sums[node, 0])
    return node
