"""Where a row goes in a tree of any number of branches, and its answer."""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from psephos.runtime.jit import jit

_SPREAD = -1
_ENDS, _BY_SHARES = -1.0, -2.0  # instead of a share: the row ends here; it is spread


class Rules(NamedTuple):
    """Rules on one column each; see `psephos.trees.tree.Tree`.

    `feature` (R,): the position of the column. The codes of rule r are
    ``code_branch[code_ptr[r] : code_ptr[r + 1]]``; a rule without any is on numbers.
    """

    feature: NDArray[np.intp]
    threshold: NDArray[np.float64]
    flip: NDArray[np.bool_]
    code_ptr: NDArray[np.intp]
    code_branch: NDArray[np.intp]


class Nodes(NamedTuple):
    """The nodes of one tree or several: `rules` has one entry a node, `surrogates` those of all.

    The surrogates of node i are ``surrogate_ptr[i] : surrogate_ptr[i + 1]``. All arrays are
    trusted: who makes them has checked them.
    """

    child: NDArray[np.intp]
    n_children: NDArray[np.intp]
    missing: NDArray[np.intp]
    share: NDArray[np.float64]
    rules: Rules
    surrogate_ptr: NDArray[np.intp]
    surrogates: Rules
    strict: bool
    single: bool


@jit
def _rule_branch(rules, r, x, strict, single):
    """Return the branch that rule r names for the value x; -1 if it is missing or unknown."""
    if x != x:
        return -1
    first = rules.code_ptr[r]
    n_codes = rules.code_ptr[r + 1] - first
    if n_codes == 0:
        if single:
            x = np.float64(np.float32(x))
        holds = x < rules.threshold[r] if strict else x <= rules.threshold[r]
        return 0 if holds != rules.flip[r] else 1
    if x >= 0.0 and x < n_codes:
        return rules.code_branch[first + np.int64(x)]
    return -1


@jit
def _next_branch(nodes, row, node):
    """Return the branch of a row (q,) at a node that is no leaf; < 0: see `Tree.missing`."""
    rules, surrogates = nodes.rules, nodes.surrogates
    branch = _rule_branch(rules, node, row[rules.feature[node]], nodes.strict, nodes.single)
    if branch >= 0:
        return branch
    for r in range(nodes.surrogate_ptr[node], nodes.surrogate_ptr[node + 1]):
        branch = _rule_branch(surrogates, r, row[surrogates.feature[r]], nodes.strict, nodes.single)
        if branch >= 0:
            return branch
    return nodes.missing[node]


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


@jit
def _descend(nodes, bounds, row, node):
    """Return the node where a row ends or is divided, and the share of its first branch.

    `_ENDS` if it is not divided, `_BY_SHARES` if a missing value spreads it.
    """
    while nodes.n_children[node] > 0:
        if bounds is not None:
            x, bound = row[nodes.rules.feature[node]], nodes.rules.threshold[node]
            lower, upper = bounds[0][node], bounds[1][node]
            if x > lower and (x < upper or x <= bound):  # never where it is missing
                return node, first_share(x, lower, bound, upper)
        branch = _next_branch(nodes, row, node)
        if branch < 0:
            return node, _BY_SHARES if branch == _SPREAD else _ENDS
        node = nodes.child[node] + branch
    return node, _ENDS


@jit
def end_nodes(nodes, bounds, X, root, out):
    """Write to out (n, T) the node at which each row of X ends; -1 where it is divided."""
    for i in range(X.shape[0]):
        for t in range(len(root)):
            node, share = _descend(nodes, bounds, X[i], root[t])
            out[i, t] = node if share == _ENDS else -1


@jit
def _mix(nodes, bounds, row, top, value, open_node, open_part, out):
    """Add to out (K,) the values of the leaves that a row reaches, by the parts that reach them.

    A row that is spread goes to each child in proportion to the shares above 0; where there is
    none, it stays. Leaves are added in their order from the first branch to the last.
    """
    open_node[0], open_part[0], height = top, 1.0, 1
    while height > 0:
        height -= 1
        part = open_part[height]
        node, share = _descend(nodes, bounds, row, open_node[height])
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
def mixed_values(nodes, bounds, X, root, value, open_node, open_part, out):
    """Write to out (n, T, K) each tree's answer to each row of X (n, q).

    Parameters
    ----------
    bounds : None, or (lower, upper), (nodes,) float64 each; where a row begins and ceases to be
        part of both branches, if thresholds are soft; NaN at a node that compares no numbers
    X : (n, q) float64
    root : (T,) intp; the first node of each tree
    value : (nodes, K) float64; a row that ends at a node gets its value; a row that is divided, the
        mean over the leaves it reaches by the part of it that reaches them
    open_node, open_part : scratch as long as the largest tree
    """
    for i in range(X.shape[0]):
        for t in range(len(root)):
            node, share = _descend(nodes, bounds, X[i], root[t])
            if share == _ENDS:
                for a in range(out.shape[2]):
                    out[i, t, a] = value[node, a]
            else:
                for a in range(out.shape[2]):
                    out[i, t, a] = 0.0
                _mix(nodes, bounds, X[i], node, value, open_node, open_part, out[i, t])
