"""Where a row goes in a tree of any number of branches, and its answer."""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from psephos.kernels._jit import jit

__all__ = ["Nodes", "Rules", "end_nodes", "mixed_values", "next_branch", "rule_branch"]

_SPREAD = -1


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


@jit(inner=True)
def rule_branch(rules, r, x, strict, single):
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


@jit(inner=True)
def next_branch(nodes, row, node):
    """Return the branch of a row (q,) at a node that is no leaf; < 0: see `Tree.missing`."""
    rules, surrogates = nodes.rules, nodes.surrogates
    branch = rule_branch(rules, node, row[rules.feature[node]], nodes.strict, nodes.single)
    if branch >= 0:
        return branch
    for r in range(nodes.surrogate_ptr[node], nodes.surrogate_ptr[node + 1]):
        branch = rule_branch(surrogates, r, row[surrogates.feature[r]], nodes.strict, nodes.single)
        if branch >= 0:
            return branch
    return nodes.missing[node]


@jit(inner=True)
def _descend(nodes, row, node):
    """Return the node where a row ends or is spread, and whether it is spread."""
    while nodes.n_children[node] > 0:
        branch = next_branch(nodes, row, node)
        if branch < 0:
            return node, branch == _SPREAD
        node = nodes.child[node] + branch
    return node, False


@jit
def end_nodes(nodes, X, root, out):
    """Write to out (n, T) the node at which each row of X ends; -1 where it is spread."""
    for i in range(X.shape[0]):
        for t in range(len(root)):
            node, spread = _descend(nodes, X[i], root[t])
            out[i, t] = -1 if spread else node


@jit(inner=True)
def _mix(nodes, row, top, value, open_node, open_part, out):
    """Add to out (K,) the values of the leaves that a row reaches from a node that spreads it.

    A part of the row goes to each child in proportion to the shares above 0; where there is none,
    it stays. Leaves are added in their order from the first branch to the last.
    """
    open_node[0], open_part[0], height = top, 1.0, 1
    while height > 0:
        height -= 1
        node, part = open_node[height], open_part[height]
        node, spread = _descend(nodes, row, node)
        total, first = 0.0, nodes.child[node]
        if spread:
            for child in range(first, first + nodes.n_children[node]):
                if nodes.share[child] > 0.0:
                    total += nodes.share[child]
        if total > 0.0:
            for back in range(nodes.n_children[node]):
                child = first + nodes.n_children[node] - 1 - back
                if nodes.share[child] > 0.0:
                    open_node[height] = child
                    open_part[height] = part * (nodes.share[child] / total)
                    height += 1
        else:
            for k in range(out.shape[0]):
                out[k] += part * value[node, k]


@jit
def mixed_values(nodes, X, root, value, open_node, open_part, out):
    """Write to out (n, T, K) each tree's answer to each row of X (n, q).

    Parameters
    ----------
    nodes : Nodes
    X : (n, q) float64
    root : (T,) intp
        The first node of each tree.
    value : (nodes, K) float64
        A row that ends at a node gets its value; a row that is spread, the mean over the
        leaves it reaches by the part of it that reaches them.
    open_node, open_part : scratch as long as the largest tree
    """
    for i in range(X.shape[0]):
        for t in range(len(root)):
            node, spread = _descend(nodes, X[i], root[t])
            if spread:
                for k in range(out.shape[2]):
                    out[i, t, k] = 0.0
                _mix(nodes, X[i], node, value, open_node, open_part, out[i, t])
            else:
                for k in range(out.shape[2]):
                    out[i, t, k] = value[node, k]
