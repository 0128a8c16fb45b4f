"""Where a row goes in a tree with soft thresholds, and its answer."""

from psephos.kernels._jit import jit
from psephos.kernels.prediction.tree_walk import next_branch

__all__ = ["first_share", "soft_ends", "soft_values"]

_SPREAD = -1
_ENDS, _BY_SHARES = -1.0, -2.0  # instead of a share: the row ends here; it is spread


@jit
def first_share(x, lower, threshold, upper):
    """Return the share of a row of value x that goes to the first branch.

    It is 1 up to `lower`, 1/2 at `threshold`, 0 from `upper` on, and linear in between. (Numbers
    are halved before they are subtracted: a difference may overflow.)
    """
    if x <= threshold:
        if x <= lower:
            return 1.0
        width = 0.5 * threshold - 0.5 * lower
        return 1.0 - 0.5 * ((0.5 * x - 0.5 * lower) / width) if width > 0.0 else 0.5
    if x >= upper:
        return 0.0
    width = 0.5 * upper - 0.5 * threshold
    return 0.5 * ((0.5 * upper - 0.5 * x) / width) if width > 0.0 else 0.5


@jit(inner=True)
def _descend(nodes, lower, upper, row, node):
    """Return the node where a row ends or is divided, and the share of its first branch.

    `_ENDS` if it is not divided, `_BY_SHARES` if a missing value spreads it.
    """
    rules = nodes.rules
    while nodes.n_children[node] > 0:
        x, bound = row[rules.feature[node]], rules.threshold[node]
        if x > lower[node] and (x < upper[node] or x <= bound):  # never where it is missing
            return node, first_share(x, lower[node], bound, upper[node])
        branch = next_branch(nodes, row, node)
        if branch < 0:
            return node, _BY_SHARES if branch == _SPREAD else _ENDS
        node = nodes.child[node] + branch
    return node, _ENDS


@jit
def soft_ends(nodes, lower, upper, X, root, out):
    """Write to out (n, T) the node at which each row of X ends; -1 where it is divided."""
    for i in range(X.shape[0]):
        for t in range(len(root)):
            node, share = _descend(nodes, lower, upper, X[i], root[t])
            out[i, t] = node if share == _ENDS else -1


@jit(inner=True)
def _mix(nodes, lower, upper, row, top, value, open_node, open_part, out):
    """Add to out (K,) the values of the leaves that a row reaches, by the parts that reach them.

    Leaves are added in their order from the first branch to the last.
    """
    open_node[0], open_part[0], height = top, 1.0, 1
    while height > 0:
        height -= 1
        part = open_part[height]
        node, share = _descend(nodes, lower, upper, row, open_node[height])
        first, k = nodes.child[node], nodes.n_children[node]
        if share >= 0.0:
            open_node[height], open_part[height] = first + 1, part * (1.0 - share)
            open_node[height + 1], open_part[height + 1] = first, part * share
            height += 2
            continue
        total = 0.0
        if share == _BY_SHARES:
            for child in range(first, first + k):
                total += max(nodes.share[child], 0.0)
        if total > 0.0:
            for back in range(k):
                child = first + k - 1 - back
                if nodes.share[child] > 0.0:
                    open_node[height] = child
                    open_part[height] = part * (nodes.share[child] / total)
                    height += 1
        else:
            for a in range(out.shape[0]):
                out[a] += part * value[node, a]


@jit
def soft_values(nodes, lower, upper, X, root, value, open_node, open_part, out):
    """Write to out (n, T, K) each tree's answer to each row of X (n, q).

    Parameters
    ----------
    nodes, X, root, value, open_node, open_part, out
        As for `kernels.prediction.tree_walk.mixed_values`.
    lower, upper : (nodes,) float64
        Where a row begins and ceases to be part of both branches; NaN at a node that compares no
        numbers.
    """
    for i in range(X.shape[0]):
        for t in range(len(root)):
            node, share = _descend(nodes, lower, upper, X[i], root[t])
            if share == _ENDS:
                for a in range(out.shape[2]):
                    out[i, t, a] = value[node, a]
            else:
                for a in range(out.shape[2]):
                    out[i, t, a] = 0.0
                _mix(nodes, lower, upper, X[i], node, value, open_node, open_part, out[i, t])
