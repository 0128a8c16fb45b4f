"""A second-order tree on binned columns, best split first or with a limit on its leaves.

As in `newton_hist`, but a leaf is looked at when it is made, and waits until it is the best of
all. Histograms of waiting leaves are kept while memory for them is left, so that the larger
child's need not be made; otherwise they are made again when the leaf's turn comes, with the same
sums.
"""

import numpy as np

from psephos.kernels.binned_trees.newton_hist import (
    BEGIN,
    END,
    FEATURE,
    LOSS,
    divide_node,
    fill,
    make_leaf,
    make_root,
    search_node,
    take_away,
)
from psephos.runtime.jit import jit


@jit
def _first(best_first, reals, one, two):
    """Return whether leaf `one` is split before `two`: it gains more, or was made before."""
    if best_first and reals[one, LOSS] != reals[two, LOSS]:
        return reals[one, LOSS] > reals[two, LOSS]
    return one < two


@jit
def grow_best(
    pen, bins, levels, draw, limits, rows, spare, packed, scale, hists, sums, lut, categories, own,
    waiting, nodes,
):  # fmt: skip
    """Grow one tree and return its number of nodes.

    Parameters
    ----------
    limits : (max_depth, max_leaves, best_first); in the order of gains, else in that in which nodes
        are made: level by level
    hists : (h, blocks * WIDTH, BINS) for histograms, h at least 3
    waiting : (leaf, depth, place, whole, free), arrays of the capacity of `nodes`; the last (h,);
        leaves that wait; of each node its depth, the place of its histogram or -1, and its packed
        sum; places that are free
    others : see `grow_hist`
    """
    max_depth, max_leaves, best_first = limits
    leaf, depth, place, whole, free = waiting
    ints, reals = nodes
    enough = 2.0 * pen.least * (1.0 - 1e-9)
    for i in range(len(free)):
        free[i] = i
    vacant = len(free)  # at least two wherever a leaf is taken
    make_root(nodes, len(rows))
    depth[0] = 0
    count, leaves, size = np.int64(1), 1, np.int64(0)
    wanted, other = np.int64(0), np.int64(-1)  # a histogram to be made, and taken from another
    small, large, new = np.int64(0), np.int64(0), 1  # nodes to look at: the last `new` ones
    node = np.int64(-1)  # to be split
    while True:
        if wanted >= 0:
            vacant -= 1
            place[wanted] = free[vacant]
            hist, mine = hists[place[wanted]], rows[ints[wanted, BEGIN] : ints[wanted, END]]
            fill(bins[0], mine, packed, hist)
            if other >= 0:
                take_away(hists[place[other]], hist)
            wanted = other = -1
        if node < 0:
            for child in range(count - new, count):
                if place[child] < 0:
                    continue  # too little to be split
                whole[child] = search_node(
                    pen, bins, levels, draw, child, depth[child], hists[place[child]], scale,
                    sums, categories, own, nodes,
                )  # fmt: skip
                if ints[child, FEATURE] >= 0:
                    leaf[size] = child
                    size += 1
                    continue
                free[vacant] = place[child]
                vacant += 1
                place[child] = -1
            for child in (small, large):
                if vacant < 2 and place[child] >= 0:
                    free[vacant] = place[child]
                    vacant += 1
                    place[child] = -1
            if size == 0 or leaves == max_leaves:
                break
            chosen = 0
            for i in range(1, size):
                if _first(best_first, reals, leaf[i], leaf[chosen]):
                    chosen = i
            node = leaf[chosen]
            size -= 1
            leaf[chosen] = leaf[size]
            if place[node] < 0:
                wanted = node
                continue
        at = place[node]
        left_h, right_h = divide_node(
            pen, bins, node, count, hists[at], whole[node], rows, spare, scale, lut, categories,
            nodes,
        )  # fmt: skip
        new = 0
        if ints[node, FEATURE] >= 0:
            small, large, large_h = count, count + 1, right_h
            if ints[small, END] - ints[small, BEGIN] > ints[large, END] - ints[large, BEGIN]:
                small, large, large_h = large, small, left_h
            count += 2
            leaves += 1
            depth[small] = depth[large] = depth[node] + 1
            place[small] = place[large] = -1
            open_end = depth[small] < max_depth and leaves < max_leaves
            if open_end and (left_h >= enough or right_h >= enough):
                new, wanted = 2, small
                if large_h >= enough:
                    place[large] = at
                    other, at = large, np.int64(-1)
        if at >= 0:
            free[vacant] = at
            vacant += 1
        place[node] = -1
        node = np.int64(-1)
    for i in range(size):  # never their turn
        make_leaf(nodes, leaf[i])
    return count
