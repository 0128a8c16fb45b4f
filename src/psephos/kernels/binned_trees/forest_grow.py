"""Grow one tree of a forest on binned columns, depth first, each node's rows a block of their own.

With the JIT off the same functions run as plain Python.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from psephos.kernels.binned_trees import forest_cuts
from psephos.kernels.binned_trees.bins import between
from psephos.kernels.numerics.criteria import most, rise, side, side_of_sum
from psephos.kernels.small_models.tree import draw
from psephos.runtime.jit import jit

_DEPTH = 64  # open nodes at once: the larger child waits, so each is at most half the one below


class BinnedSample(NamedTuple):
    """A binned table; see `psephos.trees.bins.Bins`.

    `codes` (p, n) uint8; `n_bins` (p,) int64; `ptr` (p + 1,) int64, where each column's bins begin
    in `low` and `high`; `is_category` (p,) bool.

    Where trees cut values instead of bins (see `Kind`), `codes` holds the values, float64 or
    float32, and each column has two bins, the sides of a cut; `low` and `high` are empty.
    """

    codes: NDArray[np.uint8]
    n_bins: NDArray[np.int64]
    ptr: NDArray[np.int64]
    low: NDArray[np.float64]
    high: NDArray[np.float64]
    is_category: NDArray[np.bool_]


class ForestGrowth(NamedTuple):
    """How a tree grows.

    A node is cut if it has at least `min_split` rows and the weight `min_weight`, into sides of at
    least `least` rows each. These counts of rows ignore weights.
    """

    max_depth: int
    min_split: int
    least: int
    max_features: int
    min_weight: float = 0.0


class Kind(NamedTuple):
    """Which kernel is compiled: one of the first two and one of the next three are not None.

    `numbers`: answers are numbers, for two classes 0 and 1. `classes`: three classes or more.
    `best`: the best cuts; `chance` (m,) uint8 or `values`: the cuts of extra trees, on bins or on
    values. `mask` (256,) uint8: columns may be categorical; not together with `values`.
    """

    numbers: bool | None
    classes: forest_cuts.ClassScratch | None
    best: bool | None
    chance: NDArray[np.uint8] | None
    values: forest_cuts.Values | None
    mask: NDArray[np.uint8] | None


class ForestScratch(NamedTuple):
    """Scratch of one thread; see `workspace`."""

    row: NDArray[np.uint32]
    y: NDArray[np.generic]
    w: NDArray[np.float64]
    code: NDArray[np.uint8]
    sums: NDArray[np.float64]
    bins: forest_cuts.BinSums
    mask: NDArray[np.uint8]
    stack: NDArray[np.int64]
    shuffled: NDArray[np.int64]


class GrownTree(NamedTuple):
    """A tree: the two children of a node are adjacent and come after it.

    `link` (nodes, 4) int32: the column, the first child, the last bin on the left (numeric) and
    the index in `sets` (categorical, else -1). At a leaf: -1 and the answer, which for classes is
    a class k < C if all rows have it, else C + i with ``sums[i]`` the weight per class; for numbers
    it is i, with ``sums[i]`` the weight and the sum of w y. `threshold` (nodes,), NaN at a leaf;
    `gain` (nodes,), the decrease of the impurity; `missing_left` (nodes,). `sets` (cuts of
    categories, 256) uint8: 1 on the left.
    """

    link: NDArray[np.int32]
    threshold: NDArray[np.float64]
    gain: NDArray[np.float64]
    missing_left: NDArray[np.bool_]
    sums: NDArray[np.float64]
    sets: NDArray[np.uint8]


def blank(nodes: int, leaves: int, n_sums: int, sets: int) -> GrownTree:
    """Return workspace for so many nodes, leaves and sets; unused parts take no physical memory."""
    return GrownTree(
        np.empty((nodes, 4), np.int32),
        np.empty(nodes),
        np.empty(nodes),
        np.empty(nodes, np.bool_),
        np.empty((leaves, n_sums)),
        np.empty((sets, 256), np.uint8),
    )


def kind_of(m: int, n_classes: int, random: bool, unbinned: bool = False) -> Kind:
    """Return the kind of trees of at most m rows; `unbinned`: random cuts of values."""
    return Kind(
        True if n_classes <= 2 else None,
        forest_cuts.ClassScratch(np.zeros(n_classes), np.zeros(n_classes))
        if n_classes > 2
        else None,
        None if random else True,
        np.empty(m, np.uint8) if random and not unbinned else None,
        forest_cuts.Values(np.empty(m), np.empty(m, np.uint8)) if unbinned else None,
        None if unbinned else np.empty(256, np.uint8),
    )


def workspace(m: int, n_classes: int, y: NDArray[np.generic], kind: Kind, p: int) -> ForestScratch:
    """Return scratch for trees of at most m rows and p columns, with answers of y's type."""
    n_sums = n_classes if n_classes > 2 else 2
    seen = np.zeros(256, np.uint8)
    return ForestScratch(
        np.empty(m, np.uint32),
        np.empty(m, y.dtype),
        np.empty(m),
        np.empty(m, np.uint8),
        np.empty(n_sums),
        forest_cuts.BinSums(
            np.zeros((256, n_sums)),
            np.zeros(256, np.int64),
            seen,
            seen.view(np.uint64),
            np.empty(257, np.int64),
        ),
        np.zeros(256, np.uint8),
        np.empty((_DEPTH, 4), np.int64),
        np.empty(p, np.int64),
    )


@jit
def _part(
    column, n_bins, low, missing_left, cut, values, mask, row, y, w, start, end, work
):  # fmt: skip
    """Move the rows of the left side to the front, keeping the order within each side.

    With `values`, the left side has the values up to `cut`.

    Returns where the right side begins, how many rows lack the value, and the first known bin on
    the right (255 if none).
    """
    m, code, spare, spare_y, spare_w = end - start, work.code, work.row, work.y, work.w
    if values is not None:
        for k in range(m):
            value = column[row[np.uintp(start + k)]]
            code[k] = 2 if np.isnan(value) else np.int64(value > cut)
    else:
        for k in range(m):
            code[k] = column[row[np.uintp(start + k)]]
    missing, following = 0, np.uint8(255)
    for k in range(m):
        missing += code[k] == n_bins
    if mask is not None:
        for k in range(m):
            code[k] = mask[code[k]] != 1
    else:
        for k in range(m):
            above = code[k] > low and code[k] != n_bins
            following = min(following, code[k] if above else np.uint8(255))
        lack = n_bins if missing_left else 256
        for k in range(m):
            code[k] = np.int64(code[k] > low) & np.int64(code[k] != lack)
    # No branch, because sides cannot be predicted; unsigned indices need no test for negative ones.
    at, spared, one = np.uintp(start), np.uintp(0), np.uintp(1)
    for k in range(m):
        here = np.uintp(start + k)
        right, r, answer = np.uintp(code[k]), row[here], y[here]
        row[at], y[at], spare[spared], spare_y[spared] = r, answer, r, answer
        w[at], spare_w[spared] = w[here], w[here]
        at += one - right
        spared += right
    middle = np.int64(at)
    for k in range(end - middle):
        row[middle + k], y[middle + k], w[middle + k] = spare[k], spare_y[k], spare_w[k]
    return middle, missing, following


@jit
def _place(low, high, at, following):
    """Return (bin, threshold): midway between a bin and the next bin of the node.

    Values of bins up to the one returned are at most the threshold, and others are above it. If
    the midpoint lies inside a bin between the two (not in the node), it moves to the gap after it.
    """
    threshold = between(high[at], low[following])
    while low[at + 1] <= threshold:
        at += 1
    if high[at] > threshold:
        threshold = between(high[at], low[at + 1])
    return at, threshold


@jit
def grow(
    crit, rule, table, row, y, w, state, work, tree, numbers, classes, best, chance, values, mask
):
    """Grow a tree into the nodes of `tree`; return (nodes, rows of `sums`, sets of categories).

    At a node, columns are drawn without replacement until `max_features` have been searched, and
    further while all of them had a single value there, as in scikit-learn.

    Parameters
    ----------
    crit : criterion
    row, y, w : (m,) uint32, (m,), (m,) float64; rows of the tree, their answers (numbers float64,
        classes uint32) and positive weights; reordered
    state : uint64; state of the random draws
    work, tree : ForestScratch, GrownTree; of `workspace` and `blank`; `tree` is the result
    numbers, classes, best, chance, values, mask : see `Kind`, and `forest_cuts` for tests of None
    """
    # One function, with few calls of each step: every call is compiled once more in here.
    link, sums, bins, shuffled, stack = tree.link, work.sums, work.bins, work.shuffled, work.stack
    p, least, n_sums = len(shuffled), rule.least, len(work.sums)
    chosen, n_sets, n_sums_kept, nodes, top = work.mask, 0, 0, 1, 1
    for j in range(p):  # a tree must not depend on the trees before it
        shuffled[j] = j
    stack[0, 0], stack[0, 1], stack[0, 2], stack[0, 3] = 0, 0, len(row), 0
    while top > 0:
        top -= 1
        node, start, end, depth = stack[top, 0], stack[top, 1], stack[top, 2], stack[top, 3]
        m = end - start
        weight, pure = forest_cuts.total_of(y, w, start, end, sums, numbers, classes)
        f, at, threshold, to_left, worth_most = -1, -1, np.nan, False, -np.inf
        parent = 0.0
        few = m < rule.min_split or m < 2 * least or weight < rule.min_weight
        if not (pure or few or depth >= rule.max_depth):
            # ---------------------------------------------------------------- the best column
            terms, extent = 0.0, weight
            if classes is not None:
                for c in range(n_sums):
                    terms += rise(crit, 0.0, sums[c])
                parent = side(crit, terms, weight)
            else:
                parent = side_of_sum(crit, sums[1], weight)
                extent = sums[1]
            highest = most(crit, extent)
            looked = varied = 0
            while looked < p and worth_most < highest:
                if looked >= rule.max_features and varied > 0:
                    break
                state, ahead = draw(state, p - looked)
                g = shuffled[looked + ahead]
                shuffled[looked + ahead] = shuffled[looked]
                shuffled[looked] = g
                looked += 1
                n_bins, column = table.n_bins[g], table.codes[g]
                worth, here, wanted, left, several = -np.inf, -1, np.nan, False, 0
                done = False
                if mask is not None:
                    done = table.is_category[g]
                    if done:
                        present = forest_cuts.add_categories(
                            column, row, y, w, start, end, n_bins, bins, numbers, classes
                        )
                        if chance is not None:
                            worth, several, state = forest_cuts.random_set(
                                crit, least, bins, present, m, sums, weight, state,
                                numbers, classes, mask,
                            )  # fmt: skip
                        if best is not None:
                            worth, several = forest_cuts.cut_categories(
                                crit, least, bins, present, m, sums, weight, numbers, classes, mask
                            )
                        forest_cuts.clear_categories(bins, present)
                        if worth > worth_most:
                            for b in range(256):
                                chosen[b] = mask[b]
                if not done:
                    if chance is not None:
                        state, u = forest_cuts.uniform(state)
                        low, code = table.low[table.ptr[g] :], chance
                        first, last, kinds = forest_cuts.ends_of(
                            column, n_bins, row, start, m, code
                        )
                        several, both = min(kinds, 1), kinds == 2 and first < last
                        if several > 0:
                            here = n_bins - 1  # where all known rows have one code: all of them
                            if first < last:
                                wanted = forest_cuts.place_between(
                                    low[first], table.high[table.ptr[g] + last], u
                                )
                                here = forest_cuts.last_left(low, first, last, wanted)
                            worth, left = forest_cuts.random_cut(
                                crit, least, n_bins, here, both, code, y, w, start, m, sums,
                                weight, numbers, classes,
                            )  # fmt: skip
                    if values is not None:
                        state, u = forest_cuts.uniform(state)
                        code = values.side
                        wanted, kinds = forest_cuts.aim_at_values(column, row, start, m, u, values)
                        several, both = min(kinds, 1), kinds == 2 and wanted < np.inf
                        if several > 0:
                            here = 0
                            worth, left = forest_cuts.random_cut(
                                crit, least, n_bins, here, both, code, y, w, start, m, sums,
                                weight, numbers, classes,
                            )  # fmt: skip
                    if best is not None:
                        forest_cuts.add_rows(
                            column, row, y, w, start, end, least > 1, bins, numbers, classes
                        )
                        worth, here, left, several = forest_cuts.cut_many(
                            crit, least, n_bins, bins, m, sums, weight, terms, numbers, classes
                        )
                varied += several
                if worth > worth_most:
                    worth_most, f, at, threshold, to_left = worth, g, here, wanted, left
        # ------------------------------------------------------------------------ leaf or children
        link[node, 0], link[node, 1], link[node, 2], link[node, 3] = f, nodes, at, -1
        if f < 0:
            tree.threshold[node], tree.gain[node], tree.missing_left[node] = np.nan, 0.0, False
            if pure and crit.n_classes > 0:
                link[node, 1] = np.int64(y[start])
            else:
                link[node, 1] = crit.n_classes + n_sums_kept
                if crit.n_classes == 2:  # grown as numbers 0 and 1
                    sums[0] -= sums[1]
                for c in range(n_sums):
                    tree.sums[n_sums_kept, c] = sums[c]
                n_sums_kept += 1
            continue
        n_bins, column, is_set = table.n_bins[f], table.codes[f], False
        middle, missing, following = start, 0, np.uint8(255)
        if mask is not None:
            is_set = table.is_category[f]
            if is_set:
                to_left = chosen[n_bins] == 1
                middle, missing, following = _part(
                    column, n_bins, at, to_left, np.nan, None, chosen, row, y, w, start, end, work
                )  # fmt: skip
        if not is_set:
            middle, missing, following = _part(
                column, n_bins, at, to_left, threshold, values, None, row, y, w, start, end, work
            )
            at_end = following == 255  # only missing values are on the right
            low, high = table.low[table.ptr[f] :], table.high[table.ptr[f] :]
            if at_end:
                at, threshold = n_bins - 1, np.inf
            elif best is not None:
                at, threshold = _place(low, high, at, following)
            elif chance is not None:
                at, threshold = forest_cuts.settle(low, high, at, following, threshold)
        if missing == 0:  # no missing value in training: they follow the side of more rows
            to_left = middle - start > end - middle
        if is_set:
            for b in range(256):  # categories that the node lacks follow the missing values
                tree.sets[n_sets, b] = to_left if chosen[b] == 2 else chosen[b] == 1
            link[node, 3] = n_sets
            n_sets += 1
        link[node, 2] = at
        tree.threshold[node], tree.missing_left[node] = threshold, to_left
        tree.gain[node] = worth_most - parent
        smaller = 1 if middle - start >= end - middle else 0  # opened first
        for child in (1 - smaller, smaller):
            stack[top, 0], stack[top, 3] = nodes + child, depth + 1
            stack[top, 1] = middle if child == 1 else start
            stack[top, 2] = end if child == 1 else middle
            top += 1
        nodes += 2
    return nodes, n_sums_kept, n_sets


UNIFORM, MIDPOINT, BALANCED = 0, 1, 2


@jit
def _side(node, f, parent, link, cut):
    """Return (low, high) of a node's cell along coordinate f."""
    low, high = 0.0, 1.0
    while node > 0 and not (low > 0.0 and high < 1.0):
        above = parent[node]
        if link[above, 0] == f:
            if node == link[above, 1]:
                high = min(high, cut[above])
            else:
                low = max(low, cut[above])
        node = above
    return low, high


@jit
def _unused(node, n_columns, depth, parent, link, state):
    """Return (state, coordinate), uniformly among those not yet cut above the node in its round."""
    state, wanted = draw(state, n_columns - depth % n_columns)
    for f in range(n_columns):
        used, above = False, node
        for _ in range(depth % n_columns):
            above = parent[above]
            used = used or link[above, 0] == f
        if not used:
            if wanted == 0:
                return state, f
            wanted -= 1
    return state, -1


@jit
def grow_pure(kind, n_columns, n_leaves, state, link, cut, missing_left, parent, leaves):
    """Cut the cube [0, 1]^d into cells.

    Parameters
    ----------
    kind : `UNIFORM`: a leaf, a coordinate and a place on its side are drawn uniformly, and it is
        cut there. `MIDPOINT`: the same, but cut in the middle. `BALANCED`: cut in the middle, level
        by level (in the last level, leaves are drawn uniformly), with every coordinate once in d
        levels, in an order drawn separately for each path.
    state : uint64; state of the random draws
    link : (2 k - 1, 2) int64; result: coordinate (-1 at a leaf) and first child; the second follows
        it
    cut, missing_left : (2 k - 1,) float64, (2 k - 1,) bool; results. A missing value goes to a side
        with the share of the side's length.
    parent, leaves : (2 k - 1,) int64, (2 k - 1,) int64; scratch
    """
    leaves[0], parent[0], link[0, 0], link[0, 1] = 0, -1, -1, 0
    first, waiting, depth, nodes, done = 0, 1, 0, 1, 0
    while done + 1 < n_leaves:
        # The leaves that may be cut are leaves[first : first + waiting].
        state, at = draw(state, waiting)
        node = leaves[first + at]
        if kind == BALANCED:
            state, f = _unused(node, n_columns, depth, parent, link, state)
        else:
            state, f = draw(state, n_columns)
        low, high = _side(node, f, parent, link, cut)
        state, u = forest_cuts.uniform(state)
        state, v = forest_cuts.uniform(state)
        share = u if kind == UNIFORM else 0.5
        link[node, 0], link[node, 1] = f, nodes
        cut[node] = low + share * (high - low)
        missing_left[node] = v < share
        for child in range(nodes, nodes + 2):
            parent[child], link[child, 0], link[child, 1] = node, -1, 0
        if kind == BALANCED:  # the children are queued after the level
            leaves[first + at] = leaves[first]
            leaves[2 * done + 1], leaves[2 * done + 2] = nodes, nodes + 1
            first += 1
            waiting -= 1
            if waiting == 0:
                depth += 1
                waiting = 2 * done + 3 - first
        else:
            leaves[at], leaves[waiting] = nodes, nodes + 1
            waiting += 1
        nodes += 2
        done += 1


@jit
def count_cells(X, y, weight, column, link, threshold, missing_left, sums):
    """Add the weights of rows to `sums` (nodes, K) of the leaves that they reach.

    ``X`` (n, p); the coordinate f of a node is ``column[f]``; ``value <= threshold`` goes to the
    first child.
    """
    for i in range(len(X)):
        node = 0
        while link[node, 0] >= 0:
            value = X[i, column[link[node, 0]]]
            left = missing_left[node] if np.isnan(value) else value <= threshold[node]
            node = link[node, 1] + (0 if left else 1)
        sums[node, y[i]] += weight[i]


@jit
def cell_sides(X, link, cut, low, high, out):
    """Write to out (n, d) the sides of the cell of each row of X, shape (n, d) in [0, 1].

    ``low`` and ``high`` (d,) are scratch.
    """
    for i in range(len(X)):
        low[:] = 0.0
        high[:] = 1.0
        node = 0
        while link[node, 0] >= 0:
            f = link[node, 0]
            if X[i, f] <= cut[node]:
                high[f] = cut[node]
                node = link[node, 1]
            else:
                low[f] = cut[node]
                node = link[node, 1] + 1
        for f in range(len(low)):
            out[i, f] = high[f] - low[f]
