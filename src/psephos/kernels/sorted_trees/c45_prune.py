"""Collapsing and pruning a tree of C4.5: pessimistic errors, and raising the largest branch.

The pessimistic errors of a node are its training errors plus those added by a binomial limit at the
given confidence. For every node, children first, the subtree is compared with a leaf and with its
largest branch, which is evaluated on all the node's rows.
"""

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from psephos.kernels.sorted_trees.c45_grow import TIE, at_least, longer, total_of
from psephos.runtime.jit import jit

_SLACK = 0.1
_ROUNDING = 1e-10  # tolerance for release 8, which compares exactly
_ROWS, _SIZES, _VISITS = 1, 2, 3  # arrays that are too short
_GROWN = {_ROWS: ("rows", "weights"), _SIZES: ("sizes", "parts"), _VISITS: ("whole", "errors")}
# States of a visit: at its beginning; at the next child; after a child; after the branch that may
# be raised; after that branch was raised and pruned; after its rows were counted again.
_BEGIN, _NEXT, _BACK, _TRIED, _RAISED, _COUNTED = 0, 1, 2, 3, 4, 5
_ESTIMATE, _WRITE, _DECIDE = 0, 1, 2  # modes of a visit, as bits
_VISITS_FIRST = 64  # initial room for visits


class Limit(NamedTuple):
    """The confidence CF, the normal deviate z of 1 - CF, and whether to follow release 8."""

    confidence: float
    z: float
    old: bool


def added_errors(n, e, limit):
    """Return the errors added by the confidence limit to e errors in a leaf of weight n."""
    cf, z, old = limit.confidence, limit.z, limit.old
    if cf > 0.5 and not old:
        return 0.0
    none = n * (1.0 - cf ** (1.0 / n))
    if e < (1e-6 if old else 1e-300):
        return none
    few = e < (0.9999 if old else 1.0)  # then interpolated between no error and one
    one = 1.0 if few else e
    c = z * z
    if one + 0.5 >= n:
        added = 0.67 * (n - one) if old else n - one if n > one else 0.0
    elif old:
        root = math.sqrt(c * ((one + 0.5) * (1.0 - (one + 0.5) / n) + c / 4.0))
        added = n * (one + 0.5 + c / 2.0 + root) / (n + c) - one
    else:
        f = (one + 0.5) / n
        root = z * math.sqrt(f / n - f * f / n + c / (4.0 * n * n))
        added = n * (f + c / (2.0 * n) + root) / (1.0 + c / n) - one
    return none + e * (added - none) if few else added


_added_errors = jit(added_errors)


@jit
def pessimistic(counts, limit):
    """Return the pessimistic errors of a leaf with these class weights."""
    n = top = 0.0
    for a in range(len(counts)):
        n += counts[a]
        top = counts[a] if counts[a] > top else top
    if n < TIE:
        return 0.0
    return n - top + _added_errors(n, n - top, limit)


def _levels(nodes):
    """Return the nodes in use, level by level, children in the order of their parents."""
    levels = [np.zeros(1, np.int64)]
    while True:
        parents = levels[-1][nodes.n_children[levels[-1]] > 0]
        if len(parents) == 0:
            return levels
        number = nodes.n_children[parents]
        begun = np.cumsum(number) - number
        levels.append(np.repeat(nodes.child[parents] - begun, number) + np.arange(number.sum()))


def collapse(nodes, below):
    """Turn nodes into leaves if that adds no training errors, up to 0.001, in place.

    `below`: whether a node is collapsed after its children (release 8, while it grows), or before.
    """
    total = np.zeros(len(nodes.child))
    for weight in nodes.counts.T:  # summed in the order of the kernels
        total += weight
    own = total - nodes.counts.max(axis=1)
    errors = own.copy()
    levels = _levels(nodes)
    for level, children in zip(levels[-2::-1], levels[:0:-1], strict=True):
        parents = level[nodes.n_children[level] > 0]
        number = nodes.n_children[parents]
        inside = np.bincount(np.repeat(np.arange(len(parents)), number), errors[children])
        errors[parents] = inside
        if below:
            leaf = parents[inside >= own[parents] - 1e-3]
            errors[leaf], nodes.n_children[leaf] = own[leaf], 0
    if not below:
        lacks = own - 1e-3 - errors
        nodes.n_children[(lacks <= 0.0) | (lacks < TIE)] = 0


@jit
def branch_of(nodes, node, value):
    """Return the branch of a value; -1 if it is missing, or a category without a branch."""
    if value != value:
        return -1
    cut = nodes.threshold[node]
    return np.int64(value) if cut != cut else np.int64(value > cut)


@jit
def sort_out(X, nodes, node, rows, weights, start, end, branch, row_of, weight_of, size):
    """Sort the rows of a node by its branches, those with missing values last.

    ``size[: k + 1]`` becomes the number of rows of each branch.
    """
    k, column = nodes.n_children[node], X[nodes.column[node]]
    for b in range(k + 1):
        size[b] = 0
    for i in range(start, end):
        b = branch_of(nodes, node, column[rows[i]])
        branch[i - start] = b if b >= 0 else k
        size[branch[i - start]] += 1
        row_of[i - start] = rows[i]
        weight_of[i - start] = weights[i]
    at = start
    for b in range(k + 1):  # from numbers to positions, and back below
        at, size[b] = at + size[b], at
    for i in range(end - start):
        b = branch[i]
        rows[size[b]], weights[size[b]] = row_of[i], weight_of[i]
        size[b] += 1
    at = start
    for b in range(k + 1):
        at, size[b] = size[b], size[b] - at


@jit
def shares(nodes, node, weights, start, size, share):
    """Set the branches' shares of the weight with known values (equal if there is none)."""
    k, at, known = nodes.n_children[node], start, 0.0
    for b in range(k):
        share[b] = 0.0
        for i in range(at, at + size[b]):
            share[b] += weights[i]
        at += size[b]
        known += share[b]
    for b in range(k):
        share[b] = share[b] / known if known > 0.0 else 1.0 / k


@jit
def count_rows(y, rows, weights, start, end, counts, nodes, node, write):
    """Add up the class weights of rows; if `write`, they become the node's."""
    for a in range(len(counts)):
        counts[a] = 0.0
    for i in range(start, end):
        counts[y[rows[i]]] += weights[i]
    if write:
        for a in range(len(counts)):
            nodes.counts[node, a] = counts[a]
        nodes.n_rows[node] = end - start


@jit
def rows_of_branch(rows, weights, sizes, at, k, b, start, end, part, least, top):
    """Return (first, last, top): the span of the rows of branch b, and the rows in use.

    The sorted rows begin at `start`, with numbers by branch in ``sizes[at : at + k + 1]``. If
    `part` is above `least`, rows with missing values are added with that part of their weight: all
    are then copied to `top`. If there is not enough room, nothing is done, and the returned `top`
    is minus the room needed.
    """
    first = start
    for c in range(b):
        first += sizes[at + c]
    last, missing = first + sizes[at + b], sizes[at + k]
    if missing == 0 or part <= least:
        return first, last, top
    need = top + last - first + missing
    if need > len(rows):
        return first, last, -need
    to = top
    for i in range(first, last):
        rows[to], weights[to] = rows[i], weights[i]
        to += 1
    for i in range(end - missing, end):
        rows[to], weights[to] = rows[i], weights[i] * part
        to += 1
    return top, to, to


class PruneScratch(NamedTuple):
    """Workspace, allocated and extended outside the kernel.

    The stack of visits, a row each of `whole` and `errors`: node, first and last row, next child,
    position in `sizes`, rows in use, mode, state, the largest child; errors of the subtree so far,
    of a leaf, of the largest branch. (Numba cannot cache recursive functions.) Then rows and
    weights, rows and shares by branch of the nodes on the path; and for one node: branches, rows
    and weights to copy, rows and share by branch, class weights.
    """

    whole: NDArray[np.int64]
    errors: NDArray[np.float64]
    rows: NDArray[np.int32]
    weights: NDArray[np.float64]
    sizes: NDArray[np.int64]
    parts: NDArray[np.float64]
    branch: NDArray[np.int32]
    row_of: NDArray[np.int32]
    weight_of: NDArray[np.float64]
    size: NDArray[np.int64]
    share: NDArray[np.float64]
    counts: NDArray[np.float64]


@jit
def take_place(nodes, node, other):
    """Replace the split of a node by that of another node below it."""
    nodes.child[node], nodes.n_children[node] = nodes.child[other], nodes.n_children[other]
    nodes.column[node], nodes.threshold[node] = nodes.column[other], nodes.threshold[other]
    nodes.gain[node] = nodes.gain[other]


@jit
def _largest(nodes, node):
    """Return the last branch whose weight is (nearly) the greatest."""
    best, most = np.int64(-1), 0.0
    for b in range(nodes.n_children[node]):
        own = total_of(nodes.counts[nodes.child[node] + b])
        if at_least(own, most, TIE):
            best, most = b, own
    return best


@jit
def _call(work, depth, node, start, end, at, top, mode):
    """Push a visit on the stack, which must have room."""
    own = work.whole[depth]
    own[0], own[1], own[2], own[3], own[4], own[5] = node, start, end, 0, at, top
    own[6], own[7], own[8] = mode, _BEGIN, 0
    work.errors[depth, 0] = 0.0


def prune(X, y, weight, nodes, limit):
    """Prune a tree in place; nodes that are no longer reached remain in the arrays.

    Every node, children first, is compared with a leaf, and with its largest branch, which gets all
    the node's rows for that. J48 sums the errors of that branch as it is, and visits the node again
    if the branch is raised. Release 8 also prunes the branch for the comparison; if it is raised,
    that pruning is made final, and the node is not visited again.

    `X` (p, n) float64; `y`, `weight` (n,) int64, (n,) float64.
    """
    n, most = len(y), int(nodes.n_children.max(initial=0))
    work = PruneScratch(
        np.empty((_VISITS_FIRST, 9), np.int64), np.zeros((_VISITS_FIRST, 3)),
        np.empty(3 * n, np.int32), np.empty(3 * n),
        np.empty(2 * most + 64, np.int64), np.empty(2 * most + 64),
        np.empty(n, np.int32), np.empty(n, np.int32), np.empty(n), np.empty(most + 1, np.int64),
        np.empty(most), np.empty(nodes.counts.shape[1]),
    )  # fmt: skip
    work.rows[:n], work.weights[:n] = np.arange(n), weight
    work.whole[0] = 0, 0, n, 0, 0, n, _WRITE | _DECIDE, _BEGIN, 0
    state, carried = np.array([1, 0, 0, 0]), np.zeros(3)
    while _prune(X, y, nodes, limit, work, state, carried):
        grown = {name: getattr(work, name) for name in _GROWN[int(state[1])]}
        work = work._replace(**{name: longer(a, int(state[2])) for name, a in grown.items()})


@jit
def _prune(X, y, nodes, limit, work, state, carried):
    """Continue the pruning of `prune`; return whether it needs more room.

    ``state``: the number of visits, the array that is too short, its required length, and the
    number of visits before a branch was tried. ``carried``: the errors returned by the last visit
    and, for J48, the errors of the branch so far, and the limit above which it is not raised.
    """
    whole, all_errors, rows, weights, sizes, parts, branch, row_of, weight_of = work[:9]
    size, share, counts = work[9:]
    old, tie = limit.old, _ROUNDING if limit.old else TIE
    least = 0.0 if old else TIE  # branches with at most this share get no rows with missing values
    depth, returned = state[0], carried[0]
    short, need = np.int64(0), np.int64(0)
    while depth > 0:
        if depth == len(whole):
            short, need = _VISITS, depth + 1
            break
        own, errors = whole[depth - 1], all_errors[depth - 1]
        node, start, end, b, at, top, mode, stand, largest = own
        k, first = nodes.n_children[node], nodes.child[node]
        counted = old or mode < _DECIDE  # otherwise the counts of the node are current
        if stand == _BEGIN:
            if at + k + 1 > len(sizes):
                short, need = _SIZES, at + k + 1
                break
            if counted:
                count_rows(y, rows, weights, start, end, counts, nodes, node, mode & _WRITE)
            else:
                for a in range(len(counts)):
                    counts[a] = nodes.counts[node, a]
            errors[1] = pessimistic(counts, limit)
            if k == 0:
                returned = errors[1]
                depth -= 1
                carried[1] += returned
                if carried[1] > carried[2] and mode == _ESTIMATE and not old:
                    depth = state[3]
                continue
            sort_out(X, nodes, node, rows, weights, start, end, branch, row_of, weight_of, size)
            if counted:
                shares(nodes, node, weights, start, size, share)
            sizes[at + k] = size[k]
            for c in range(k):
                if not counted:
                    share[c] = nodes.share[first + c]
                sizes[at + c], parts[at + c] = size[c], share[c]
                if share[c] > share[own[8]]:
                    own[8] = c
                if counted and mode & _WRITE:
                    nodes.share[first + c] = share[c]
                    if old and share[c] <= 0.0:
                        for a in range(len(counts)):
                            nodes.counts[first + c, a] = 0.0
                        nodes.n_rows[first + c] = 0
                        nodes.n_children[first + c] = 0
            own[7] = _NEXT
            continue
        if stand == _BACK:
            errors[0] += returned
            own[7] = _NEXT
            continue
        if stand == _RAISED:
            take_place(nodes, node, first + largest)
            returned = errors[2]
            depth -= 1
            continue
        if stand == _COUNTED:
            own[3], own[7], errors[0] = 0, _BEGIN, 0.0
            continue
        target, does = np.int64(-1), np.int64(mode)
        if stand == _NEXT:
            if b < k:
                c = b if mode >= _DECIDE else k - 1 - b
                begun, stop, used = start, start, top
                if counted or nodes.n_children[first + c] > 0:
                    begun, stop, used = rows_of_branch(
                        rows, weights, sizes, at, k, c, start, end, parts[at + c], least, top
                    )
                if used < 0:
                    short, need = _ROWS, -used
                    break
                own[3] = b + 1
                if parts[at + c] > 0.0 if old else (begun < stop or mode > _ESTIMATE):
                    own[7] = _BACK
                    _call(work, depth, first + c, begun, stop, at + k + 1, used, mode)
                    depth += 1
                continue
            if mode < _DECIDE:
                returned = errors[0]
                depth -= 1
                continue
            if not old:
                largest = own[8] = _largest(nodes, node)
                if top + end - start > len(rows):
                    short, need = _ROWS, top + end - start
                    break
            returned = errors[1]
            if old or nodes.n_children[first + largest] > 0:
                target, does = first + largest, _DECIDE if old else _ESTIMATE
                carried[1] = 0.0
                carried[2] = (errors[0] if errors[0] > errors[1] else errors[1]) + 2.0 * _SLACK
                own[7], state[3] = _TRIED, depth
        else:  # it was tried
            returned = returned if old else carried[1]
        if own[7] != _TRIED or stand == _TRIED:
            if at_least(returned + _SLACK, errors[1], tie) and at_least(
                errors[0] + _SLACK, errors[1], tie
            ):
                if mode & _WRITE:
                    nodes.n_children[node] = 0
                returned = errors[1]
            elif at_least(errors[0] + _SLACK, returned, tie):
                errors[2], own[7] = returned, _RAISED
                if mode & _WRITE:
                    target, does = first + largest, mode
                    if not old:
                        take_place(nodes, node, target)
                        target, own[7], does = node, _COUNTED, _WRITE
            else:
                returned = errors[0]
        if target < 0:
            depth -= 1
            continue
        if not old:  # the order of the node's own rows is kept
            for i in range(start, end):
                rows[top + i - start], weights[top + i - start] = rows[i], weights[i]
            start, end = top, top + end - start
            top = end
        _call(work, depth, target, start, end, at + k + 1, top, does)
        depth += 1
    state[0], state[1], state[2], carried[0] = depth, short, need, returned
    return short > 0


def reached(nodes):
    """Return (old, child): the nodes in use, level by level, and their new first children."""
    levels = _levels(nodes)
    old = np.concatenate(levels)
    number = nodes.n_children[old]
    return old, np.where(number > 0, 1 + np.cumsum(number) - number, 0)
