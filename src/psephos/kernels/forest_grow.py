"""Grow one tree of a forest on binned columns, depth first, each node's rows a block of their own.

With the JIT off the same functions run as plain Python.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from psephos.kernels._jit import jit
from psephos.kernels.bins import between
from psephos.kernels.criteria import most, rise, side
from psephos.kernels.forest_cuts import (
    BinSums,
    clear,
    cut_categories,
    cut_counted,
    cut_sorted,
    order_rows,
    tally,
)
from psephos.kernels.forest_random import random_cut, random_set, uniform
from psephos.kernels.tiny_tree import draw

__all__ = ["Grown", "Rule", "Table", "Work", "blank", "grow", "room"]

_DEPTH = 64  # open nodes at once: the larger child waits, so each is at most half the one below


class Table(NamedTuple):
    """A binned table; see `psephos.trees.bins.Bins`.

    `codes` (p, n) uint8; `n_bins` (p,) int64; `ptr` (p + 1,) int64, where each column's bins stand
    in `low` and `high`; `is_category` (p,) bool.
    """

    codes: NDArray[np.uint8]
    n_bins: NDArray[np.int64]
    ptr: NDArray[np.int64]
    low: NDArray[np.float64]
    high: NDArray[np.float64]
    is_category: NDArray[np.bool_]


class Rule(NamedTuple):
    """How a tree grows; rows are counted, not weighed, each once."""

    max_depth: int
    min_split: int
    least: int
    max_features: int


class Work(NamedTuple):
    """Scratch of one thread; see `room`."""

    row: NDArray[np.int32]
    y: NDArray[np.generic]
    w: NDArray[np.float64]
    key: NDArray[np.int64]
    spare: NDArray[np.int64]
    place: NDArray[np.int64]
    code: NDArray[np.uint8]
    bins: BinSums
    mask: NDArray[np.uint8]
    stack: NDArray[np.int64]
    shuffled: NDArray[np.int64]


class Grown(NamedTuple):
    """A tree: children stand side by side, after their parent.

    `link` (nodes, 4) int32: the column (-1 at a leaf), the first child, the last bin on the left
    (numeric) and the place in `sets` (categorical, else -1). `numbers` (nodes, 2): the threshold
    and the decrease of the impurity. `missing_left` (nodes,). `sums` (nodes, C): the weight a
    class, or the weight and the sum of w y. `sets` (cuts of categories, 256) uint8: 1 on the left.
    """

    link: NDArray[np.int32]
    numbers: NDArray[np.float64]
    missing_left: NDArray[np.bool_]
    sums: NDArray[np.float64]
    sets: NDArray[np.uint8]

    def part(self, start: int, end: int | None = None) -> "Grown":
        """Return these nodes, as views, and all sets."""
        span = slice(start, end)
        return Grown(
            self.link[span], self.numbers[span], self.missing_left[span], self.sums[span], self.sets
        )


def blank(nodes: int, n_sums: int, sets: int) -> Grown:
    """Return room for so many nodes and sets; what is not reached takes no memory."""
    return Grown(
        np.empty((nodes, 4), np.int32),
        np.empty((nodes, 2)),
        np.empty(nodes, np.bool_),
        np.empty((nodes, n_sums)),
        np.empty((sets, 256), np.uint8),
    )


def room(m: int, n_sums: int, y: NDArray[np.generic], table: Table) -> Work:
    """Return scratch for trees of at most m rows, of ``2 m - 1`` nodes and m sets.

    Parameters
    ----------
    m : int
    n_sums : int
        Totals of a node: 2 for numbers, else the number of classes.
    y : ndarray
        The trees' answers are of its type.
    table : Table
    """
    seen, held = np.zeros(256, np.uint8), np.empty(257, np.int64)
    cells = np.zeros((256, n_sums))
    return Work(
        np.empty(m, np.int32),
        np.empty(m, y.dtype),
        np.empty(m),
        np.empty(m, np.int64),
        np.empty(m, np.int64),
        np.empty(258, np.int64),
        np.empty(m, np.uint8),
        BinSums(cells, np.zeros_like(cells), np.zeros(256, np.int64), seen, held),
        np.zeros(256, np.uint8),
        np.empty((_DEPTH, 4), np.int64),
        np.empty(len(table.n_bins), np.int64),
    )


@jit(_nrt=False)
def _all_equal(y, start, end):
    differ = False
    for k in range(start + 1, end):
        differ |= y[k] != y[start]
    return not differ


@jit(_nrt=False, fastmath={"reassoc"})
def _sum_numbers(y, w, start, end, out):
    weight = total = 0.0
    for k in range(start, end):
        weight += w[k]
        total += w[k] * y[k]
    out[0], out[1] = weight, total


@jit(_nrt=False)
def _total(y, w, start, end, out, twin, left):
    """Write the totals of a node to out (C,)."""
    if left is None:
        _sum_numbers(y, w, start, end, out)
        return
    out[:] = 0.0
    for k in range(start, end - 1, 2):  # two sums in turn: adding to one twice in a row waits
        out[y[k]] += w[k]
        twin[y[k + 1]] += w[k + 1]
    if (end - start) % 2 == 1:
        out[y[end - 1]] += w[end - 1]
    for c in range(len(left)):
        out[c] += twin[c]
        twin[c] = 0.0


@jit(_nrt=False)
def _place(low, high, at, following):
    """Return (bin, threshold): midway between a bin and the next that a node holds.

    Values of bins up to the one returned are at most the threshold, and others are above it. A
    place inside a bin between the two, which the node lacks, moves to the gap after it.
    """
    threshold = between(high[at], low[following])
    while low[at + 1] <= threshold:
        at += 1
    if high[at] > threshold:
        threshold = between(high[at], low[at + 1])
    return at, threshold


@jit(_nrt=False)
def _search(
    crit, rule, table, row, y, w, start, end, sums, state, work, left, chance, mask
):  # fmt: skip
    """Return the best cut among some columns drawn without replacement.

    Columns are drawn until `max_features` have been looked at, and beyond them while all have had
    one value at the node, as scikit-learn does.

    Returns
    -------
    tuple
        State of the draws, column (-1: none), last bin on the left, threshold, whether missing
        values go left, decrease of the impurity. The set of categories is in ``work.mask``.
    """
    m, p = end - start, len(table.n_bins)
    terms, weight = 0.0, sums[0]
    if left is not None:
        weight = 0.0
        for c in range(len(left)):
            weight += sums[c]
            terms += rise(crit, 0.0, sums[c])
    parent = side(crit, terms if left is not None else sums[1], weight)
    highest = most(crit, weight if left is not None else sums[1])
    best, f, low, threshold, missing_left = -np.inf, -1, -1, 0.0, False
    shuffled = work.shuffled
    looked = varied = 0
    bins, counting = work.bins, rule.least > 1
    k = 0 if left is None else len(left)
    while looked < p and best < highest and (looked < rule.max_features or varied == 0):
        state, ahead = draw(state, p - looked)
        g = shuffled[looked + ahead]
        shuffled[looked + ahead] = shuffled[looked]
        shuffled[looked] = g
        looked += 1
        n_bins, column = table.n_bins[g], table.codes[g]
        is_set = False
        if mask is not None:
            is_set = table.is_category[g]
            if is_set:
                present = tally(column, row, y, w, start, end, n_bins, is_set, bins, left)
                if chance is not None:
                    worth, several, state = random_set(
                        crit, rule.least, bins, present, m, sums, weight, state, left, mask
                    )
                else:
                    worth, several = cut_categories(
                        crit, rule.least, bins, present, m, sums, weight, left, mask
                    )
                clear(bins, present)
                varied += several
                if worth > best:
                    best, f = worth, g
                    for b in range(256):
                        work.mask[b] = mask[b]
        if is_set:
            continue
        if chance is not None:
            state, u = uniform(state)
            base = table.ptr[g]
            worth, at, wanted, to_left, several = random_cut(
                crit, rule.least, n_bins, column, table.low[base:], table.high[base:], row, y, w,
                start, end, sums, weight, u, chance, left, bins.twin[0],
            )  # fmt: skip
            varied += several
            if worth > best:
                best, f, low, threshold, missing_left = worth, g, at, wanted, to_left
        else:
            # Rows cost more to sort than to count, but the bins of a count cost too.
            if m <= 32 or (k > 0 and 11 * m < min(m, n_bins) * (6 + k) + 260):
                order_rows(column, row, start, end, n_bins, work.key, work.spare, work.place)
                worth, at, following, to_left, several = cut_sorted(
                    crit, rule.least, n_bins, work.key, y, w, start, end, sums, weight, terms, left
                )
            else:
                present = tally(column, row, y, w, start, end, n_bins, counting, bins, left)
                worth, at, following, to_left, several = cut_counted(
                    crit, rule.least, n_bins, bins, present, m, sums, weight, terms, left
                )
                clear(bins, present)
            varied += several
            if worth > best:
                best, f, low, missing_left, threshold = worth, g, n_bins - 1, to_left, np.inf
                if following < n_bins:
                    base = table.ptr[g]
                    low, threshold = _place(table.low[base:], table.high[base:], at, following)
    return state, f, low, threshold, missing_left, best - parent


@jit(_nrt=False)
def _part(column, n_bins, low, missing_left, is_set, mask, row, y, w, start, end, work):
    """Bring the rows of the left side to the front, each side in its order.

    Returns
    -------
    tuple
        Where the right side begins, and how many rows lack the value.
    """
    at, spared, missing = start, 0, 0
    side, spare, spare_y, spare_w = work.code, work.row, work.y, work.w
    if is_set:
        for k in range(start, end):
            code = column[row[k]]
            missing += code == n_bins
            side[k - start] = mask[code] != 1
    else:
        lack = n_bins if missing_left else 256
        for k in range(start, end):
            code = np.int64(column[row[k]])
            missing += code == n_bins
            side[k - start] = np.int64(code > low) & np.int64(code != lack)
    for k in range(start, end):  # no branch: which side is next cannot be guessed
        right = np.int64(side[k - start])
        r, answer, weight = row[k], y[k], w[k]
        row[at], y[at], w[at] = r, answer, weight
        spare[spared], spare_y[spared], spare_w[spared] = r, answer, weight
        at += 1 - right
        spared += right
    for k in range(spared):
        row[at + k], y[at + k], w[at + k] = spare[k], spare_y[k], spare_w[k]
    return at, missing


@jit(_nrt=False)
def grow(crit, rule, table, row, y, w, state, work, tree, left, chance, mask):
    """Grow a tree into the nodes of `tree`; return (nodes, sets of categories).

    Parameters
    ----------
    crit : criterion
    rule : Rule
    table : Table
    row, y, w : (m,) int32, (m,) int32 or float64, (m,) float64
        Rows of the tree, their answers and positive weights; they change places.
    state : uint64
        Where the draws begin.
    work, tree : Work, Grown
        Of `room` and `blank`; `tree` is the result.
    left : (n_classes,) float64 or None
        Scratch; None for numbers, which `crit` must be for.
    chance : (m,) uint8 or None
        Scratch; None: the best cuts; else those of extra trees.
    mask : (256,) uint8 or None
        Scratch; None: no column is categorical. What is None is known while compiling, and leaves
        its part out.
    """
    link, numbers, sums, missing_left = tree.link, tree.numbers, tree.sums, tree.missing_left
    stack, chosen, n_sets = work.stack, work.mask, 0
    for j in range(len(work.shuffled)):  # a tree must not depend on those before it
        work.shuffled[j] = j
    stack[0, 0], stack[0, 1], stack[0, 2], stack[0, 3] = 0, 0, len(row), 0
    top, nodes = 1, 1
    while top > 0:
        top -= 1
        node, start, end, depth = stack[top, 0], stack[top, 1], stack[top, 2], stack[top, 3]
        _total(y, w, start, end, sums[node], work.bins.twin[0], left)
        link[node, 0], link[node, 1], link[node, 2], link[node, 3] = -1, 0, 0, -1
        numbers[node, 0], numbers[node, 1], missing_left[node] = np.nan, 0.0, False
        m = end - start
        if depth >= rule.max_depth or m < rule.min_split or m < 2 * rule.least:
            continue
        if _all_equal(y, start, end):
            continue
        state, f, low, threshold, to_left, gain = _search(
            crit, rule, table, row, y, w, start, end, sums[node], state, work, left, chance, mask
        )
        if f < 0:
            continue
        n_bins, is_set = table.n_bins[f], table.is_category[f]
        if is_set:
            to_left = chosen[n_bins] == 1
        middle, missing = _part(
            table.codes[f], n_bins, low, to_left, is_set, chosen, row, y, w, start, end, work
        )
        if missing == 0:  # nothing was learned of missing values: they follow the most rows
            to_left = middle - start > end - middle
        if is_set:
            for b in range(256):  # categories that are not here follow the missing values
                tree.sets[n_sets, b] = to_left if chosen[b] == 2 else chosen[b] == 1
            link[node, 3] = n_sets
            n_sets += 1
        link[node, 0], link[node, 1], link[node, 2] = f, nodes, low
        numbers[node, 0], numbers[node, 1], missing_left[node] = threshold, gain, to_left
        first = 1 if middle - start >= end - middle else 0  # the smaller child is opened first
        for child in range(2):
            right = (child + first + 1) % 2
            stack[top, 0] = nodes + right
            stack[top, 1] = middle if right else start
            stack[top, 2] = end if right else middle
            stack[top, 3] = depth + 1
            top += 1
        nodes += 2
    return nodes, n_sets
