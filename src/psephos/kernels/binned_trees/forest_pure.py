"""Trees grown without looking at labels: the pure random forests of theory."""

import numpy as np

from psephos.kernels.binned_trees.forest_random import uniform
from psephos.kernels.small_models.tree import draw
from psephos.runtime.jit import jit

__all__ = ["BALANCED", "MIDPOINT", "UNIFORM", "cell_sides", "count_cells", "grow_pure"]

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
        state, u = uniform(state)
        state, v = uniform(state)
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
