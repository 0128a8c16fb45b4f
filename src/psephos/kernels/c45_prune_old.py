"""Pruning as release 8 of C4.5 does: a branch is pruned, in thought, before it may be raised."""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from psephos.kernels._jit import jit
from psephos.kernels.c45_prune import (
    count_rows,
    longer,
    more_rows,
    pessimistic,
    rows_of_branch,
    shares,
    sort_out,
    take_place,
    widest,
)
from psephos.kernels.c45_worth import at_least

__all__ = ["prune_old"]

_SLACK = 0.1
_ROUNDING = 1e-10  # numbers are compared as they are, but not by their rounding
# Where a visit stands: it begins, takes the next child, heard from it, heard from the branch that
# may be raised, saw that branch pruned in earnest.
_BEGIN, _NEXT, _HEARD, _TRIED, _RAISED = 0, 1, 2, 3, 4


class _Visit(NamedTuple):
    """The visits on the way, one a row; the function calls itself but for its own stack.

    A compiled function that calls itself does not survive numba's cache.
    """

    # node, rows from and to, next child, place in `sizes`, rows in use, whether to write, stand,
    # the largest child
    whole: NDArray[np.int64]
    errors: NDArray[np.float64]  # of the tree so far, of a leaf, of the largest branch


@jit(no_cpython_wrapper=True)
def _call(visits, depth, node, start, end, at, top, write):
    """Add a visit and return the visits."""
    if depth == len(visits.whole):
        size = 2 * depth
        visits = _Visit(more_rows(visits.whole, size), more_rows(visits.errors, size))
    own = visits.whole[depth]
    own[0], own[1], own[2], own[3], own[4], own[5] = node, start, end, 0, at, top
    own[6], own[7], own[8] = write, _BEGIN, 0
    visits.errors[depth, 0] = 0.0
    return visits


@jit
def prune_old(X, y, weight, nodes, limit, raising):
    """Prune a tree in place; nodes that are no longer reached are left over.

    Every node is asked, children first, whether it does better as a leaf, or as its largest
    branch; that branch is sent all the node's rows and asked in the same way, node by node, before
    it is compared. If it is raised it is pruned so in earnest, and not asked again.

    Parameters
    ----------
    X : (p, n) float64
    y, weight : (n,) int64, (n,) float64
    nodes : Nodes
    limit : Limit
    raising : bool
        Whether a node may be replaced by its largest branch.
    """
    n, most = len(y), widest(nodes)
    branch, row_of, weight_of = np.empty(n, np.int32), np.empty(n, np.int32), np.empty(n)
    size, share = np.empty(most + 1, np.int64), np.empty(most)
    counts = np.empty(nodes.counts.shape[1])
    rows, heavy = np.empty(n, np.int32), np.empty(n)
    for i in range(n):
        rows[i], heavy[i] = i, weight[i]
    sizes, parts = np.empty(2 * most + 64, np.int64), np.empty(2 * most + 64)
    visits = _Visit(np.empty((64, 9), np.int64), np.empty((64, 3)))
    zero, one = np.int64(0), np.int64(1)  # constants would be compiled for one by one
    visits = _call(visits, zero, zero, zero, n, zero, n, one)
    depth, said = one, 0.0
    while depth > 0:
        own, errors = visits.whole[depth - 1], visits.errors[depth - 1]
        node, start, end, b, at, top, write, stand, largest = own
        k, first = nodes.n_children[node], nodes.child[node]
        if stand == _BEGIN:
            count_rows(y, rows, heavy, start, end, counts, nodes, node, write)
            errors[1] = pessimistic(counts, limit)
            if k == 0:
                said = errors[1]
                depth -= 1
                continue
            sort_out(X, nodes, node, rows, heavy, start, end, branch, row_of, weight_of, size)
            shares(nodes, node, heavy, start, size, share)
            if at + k + 1 > len(sizes):
                sizes, parts = longer(sizes, at + k + 1), longer(parts, at + k + 1)
            sizes[at + k] = size[k]
            for c in range(k):
                sizes[at + c], parts[at + c] = size[c], share[c]
                if share[c] > share[own[8]]:
                    own[8] = c
                if write:
                    nodes.share[first + c] = share[c]
                    if share[c] <= 0.0:
                        for a in range(len(counts)):
                            nodes.counts[first + c, a] = 0.0
                        nodes.n_rows[first + c] = 0
                        nodes.n_children[first + c] = 0
            own[7] = _NEXT
            continue
        if stand == _HEARD:
            errors[0] += said
            own[7] = _NEXT
            continue
        if stand == _RAISED:
            take_place(nodes, node, first + largest)
            said = errors[2]
            depth -= 1
            continue
        if stand == _NEXT:
            while b < k and parts[at + b] <= 0.0:
                b += 1
            if b < k:
                own[3], own[7] = b + 1, _HEARD
                rows, heavy, begun, stop, top = rows_of_branch(
                    rows, heavy, sizes, at, k, b, start, end, parts[at + b], 0.0, top
                )
                visits = _call(visits, depth, first + b, begun, stop, at + k + 1, top, write)
                depth += 1
                continue
            own[7] = _TRIED
            if raising:
                largest_node = first + largest
                visits = _call(visits, depth, largest_node, start, end, at + k + 1, top, zero)
                depth += 1
                continue
            said = np.inf
        tree, leaf, best = errors[0], errors[1], said  # it was tried
        if at_least(best + _SLACK, leaf, _ROUNDING) and at_least(tree + _SLACK, leaf, _ROUNDING):
            if write:
                nodes.n_children[node] = 0
            said = leaf
            depth -= 1
        elif at_least(tree + _SLACK, best, _ROUNDING):
            errors[2], own[7], said = best, _RAISED, best
            if write:
                visits = _call(visits, depth, first + largest, start, end, at + k + 1, top, one)
                depth += 1
            else:
                depth -= 1
        else:
            said = tree
            depth -= 1
