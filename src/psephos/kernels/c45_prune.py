"""Collapsing and pruning a tree of C4.5: pessimistic errors, and raising the largest branch.

A node's pessimistic errors are its training errors plus what a binomial limit at the given
confidence adds. Every node is asked, children first, whether its tree does better than a leaf or
than its largest branch, and the latter is judged on all the node's rows, sent down anew.
"""

from typing import NamedTuple

import numpy as np

from psephos.kernels._jit import jit
from psephos.kernels.c45_grow import ALL_CODES, CUT, GROUPED, total_of
from psephos.kernels.c45_worth import TIE, at_least

__all__ = [
    "Limit",
    "added_errors",
    "branch_of",
    "collapse",
    "count_rows",
    "longer",
    "more_rows",
    "pessimistic",
    "prune",
    "reached",
    "rows_of_branch",
    "shares",
    "sort_out",
    "take_place",
    "widest",
]

_SLACK = 0.1


class Limit(NamedTuple):
    """The confidence CF, the normal deviate z of 1 - CF, and whether errors are release 8's."""

    confidence: float
    z: float
    old: bool


@jit(_nrt=False)
def added_errors(n, e, limit):
    """Return how many errors a leaf of weight n with e errors may have more than those."""
    cf, z, old = limit.confidence, limit.z, limit.old
    if cf > 0.5 and not old:
        return 0.0
    none = n * (1.0 - cf ** (1.0 / n))
    if e < (1e-6 if old else 1e-300):
        return none
    if e < (0.9999 if old else 1.0):
        return none + e * (added_errors_of_one(n, limit) - none)
    if e + 0.5 >= n:
        return 0.67 * (n - e) if old else max(n - e, 0.0)
    c = z * z
    if old:
        root = np.sqrt(c * ((e + 0.5) * (1.0 - (e + 0.5) / n) + c / 4.0))
        return n * (e + 0.5 + c / 2.0 + root) / (n + c) - e
    f = (e + 0.5) / n
    root = z * np.sqrt(f / n - f * f / n + c / (4.0 * n * n))
    return n * (f + c / (2.0 * n) + root) / (1.0 + c / n) - e


@jit(_nrt=False, no_cpython_wrapper=True)
def added_errors_of_one(n, limit):
    """Return `added_errors` of one error."""
    c = limit.z * limit.z
    if n <= 1.5:
        return 0.67 * (n - 1.0) if limit.old else max(n - 1.0, 0.0)
    if limit.old:
        root = np.sqrt(c * (1.5 * (1.0 - 1.5 / n) + c / 4.0))
        return n * (1.5 + c / 2.0 + root) / (n + c) - 1.0
    f = 1.5 / n
    root = limit.z * np.sqrt(f / n - f * f / n + c / (4.0 * n * n))
    return n * (f + c / (2.0 * n) + root) / (1.0 + c / n) - 1.0


@jit(_nrt=False)
def pessimistic(counts, limit):
    """Return the pessimistic errors of a leaf of these class weights."""
    n = top = 0.0
    for a in range(len(counts)):
        n += counts[a]
        top = max(top, counts[a])
    if n < TIE:
        return 0.0
    return n - top + added_errors(n, n - top, limit)


@jit(_nrt=False, no_cpython_wrapper=True)
def errors_of(counts):
    """Return the weight of all classes but the heaviest."""
    n = top = 0.0
    for a in range(len(counts)):
        n += counts[a]
        top = max(top, counts[a])
    return n - top


@jit
def collapse(nodes, below):
    """Make leaves of nodes whose leaves make as many training errors, up to 0.001.

    Parameters
    ----------
    nodes : Nodes
        Changed in place.
    below : bool
        True: a node is asked after its children (release 8, while it grows); False: before.
    """
    size = len(nodes.child)
    errors = np.zeros(size)
    for node in range(size - 1, -1, -1):
        counts = nodes.counts[node]
        own = errors_of(counts)
        errors[node] = own
        if nodes.n_children[node] > 0:
            inside = 0.0
            for child in range(nodes.child[node], nodes.child[node] + nodes.n_children[node]):
                inside += errors[child]
            errors[node] = inside
            if below and inside >= own - 1e-3:
                nodes.n_children[node] = 0
                errors[node] = own
    if not below:
        for node in range(size):
            counts = nodes.counts[node]
            if at_least(errors[node], errors_of(counts) - 1e-3, TIE):
                nodes.n_children[node] = 0


@jit(_nrt=False, no_cpython_wrapper=True)
def branch_of(nodes, node, value):
    """Return the branch of a value, -1 if it is missing, or of a category that has none."""
    if value != value:
        return -1
    code = nodes.code[node]
    if code == CUT:
        return 0 if value <= nodes.threshold[node] else 1
    if code == ALL_CODES:
        return np.int64(value)
    if code <= GROUPED:
        return nodes.groups[GROUPED - code + np.int64(value)]
    return 0 if np.int64(value) == code else 1


@jit(no_cpython_wrapper=True)
def longer(a, size):
    """Return a list with room for `size`, or twice what it had."""
    out = np.empty(max(size, 2 * len(a)), a.dtype)
    for i in range(len(a)):
        out[i] = a[i]
    return out


@jit(no_cpython_wrapper=True)
def _part(a, start, end):
    """Return a copy of some of a list, with room for twice as many."""
    out = np.empty(2 * (end - start), a.dtype)
    for i in range(start, end):
        out[i - start] = a[i]
    return out


@jit(no_cpython_wrapper=True)
def more_rows(a, size):
    """Return a table with room for so many rows."""
    out = np.empty((size, a.shape[1]), a.dtype)
    for i in range(len(a)):
        for j in range(a.shape[1]):
            out[i, j] = a[i, j]
    return out


@jit(no_cpython_wrapper=True)
def sort_out(X, nodes, node, rows, heavy, start, end, branch, row_of, weight_of, size):
    """Put the rows of a node in the order of its branches, those of missing value last.

    ``size[: k + 1]`` says how many there are of each.
    """
    k, column = nodes.n_children[node], X[nodes.column[node]]
    for b in range(k + 1):
        size[b] = 0
    for i in range(start, end):
        b = branch_of(nodes, node, column[rows[i]])
        branch[i - start] = b if b >= 0 else k
        size[branch[i - start]] += 1
        row_of[i - start] = rows[i]
        weight_of[i - start] = heavy[i]
    at = start
    for b in range(k + 1):  # from numbers to places, and back below
        at, size[b] = at + size[b], at
    for i in range(end - start):
        b = branch[i]
        rows[size[b]], heavy[size[b]] = row_of[i], weight_of[i]
        size[b] += 1
    at = start
    for b in range(k + 1):
        at, size[b] = size[b], size[b] - at


@jit(no_cpython_wrapper=True)
def shares(nodes, node, heavy, start, size, share):
    """Set the branches' shares of the weight of known value (alike without any)."""
    k, at, known = nodes.n_children[node], start, 0.0
    for b in range(k):
        share[b] = 0.0
        for i in range(at, at + size[b]):
            share[b] += heavy[i]
        at += size[b]
        known += share[b]
    for b in range(k):
        share[b] = share[b] / known if known > 0.0 else 1.0 / k


@jit(_nrt=False, no_cpython_wrapper=True)
def count_rows(y, rows, heavy, start, end, counts, nodes, node, write):
    """Add up the class weights of rows; if `write`, they become the node's."""
    for a in range(len(counts)):
        counts[a] = 0.0
    for i in range(start, end):
        counts[y[rows[i]]] += heavy[i]
    if write:
        for a in range(len(counts)):
            nodes.counts[node, a] = counts[a]
        nodes.n_rows[node] = end - start


@jit(no_cpython_wrapper=True)
def rows_of_branch(rows, heavy, sizes, at, k, b, start, end, part, least, top):
    """Return (rows, heavy, first, last, top): where the rows of branch b are found.

    Sorted out, they lie from `start` on, numbers by branch in ``sizes[at : at + k + 1]``. Rows of
    missing value are added, `part` of their weight each, if that is above `least`: then all are
    copied to `top`, and the room is made longer if need be.
    """
    first = start
    for c in range(b):
        first += sizes[at + c]
    last, missing = first + sizes[at + b], sizes[at + k]
    if missing == 0 or part <= least:
        return rows, heavy, first, last, top
    need = top + last - first + missing
    if need > len(rows):
        rows, heavy = longer(rows, need), longer(heavy, need)
    to = top
    for i in range(first, last):
        rows[to], heavy[to] = rows[i], heavy[i]
        to += 1
    for i in range(end - missing, end):
        rows[to], heavy[to] = rows[i], heavy[i] * part
        to += 1
    return rows, heavy, top, to, to


@jit(no_cpython_wrapper=True)
def _send_down(X, y, nodes, root, rows, heavy, begin, end, work, limit, stop, rewrite):
    """Return the pessimistic errors of a subtree on part of the rows; may stop once above `stop`.

    If `rewrite`, the nodes' class weights, shares and numbers of rows become those of the rows.
    """
    branch, row_of, weight_of, size, share, counts = work
    waiting = np.empty((64, 3), np.int64)
    waiting[0, 0], waiting[0, 1], waiting[0, 2] = root, 0, end - begin
    open_nodes, errors = 1, 0.0
    rows, heavy = _part(rows, begin, end), _part(heavy, begin, end)
    while open_nodes > 0 and errors <= stop:
        open_nodes -= 1
        node, start = waiting[open_nodes, 0], waiting[open_nodes, 1]
        end = waiting[open_nodes, 2]
        count_rows(y, rows, heavy, start, end, counts, nodes, node, rewrite)
        k = nodes.n_children[node]
        if k == 0:
            errors += pessimistic(counts, limit)
            continue
        sort_out(X, nodes, node, rows, heavy, start, end, branch, row_of, weight_of, size)
        shares(nodes, node, heavy, start, size, share)
        missing = size[k]
        wide = k if missing > 0 else 0
        need = end + wide * missing
        if need > len(rows):
            rows, heavy = longer(rows, need), longer(heavy, need)
        for i in range(end - start):
            row_of[i], weight_of[i] = rows[start + i], heavy[start + i]
        if open_nodes + k > len(waiting):
            waiting = more_rows(waiting, 2 * (open_nodes + k))
        top, at = start, 0
        for b in range(k):
            child = nodes.child[node] + b
            if rewrite:
                nodes.share[child] = share[b]
            begun = top
            for i in range(at, at + size[b]):
                rows[top], heavy[top] = row_of[i], weight_of[i]
                top += 1
            at += size[b]
            if share[b] > TIE:
                for i in range(end - start - missing, end - start):
                    rows[top], heavy[top] = row_of[i], weight_of[i] * share[b]
                    top += 1
            if top > begun or rewrite:
                waiting[open_nodes, 0], waiting[open_nodes, 1] = child, begun
                waiting[open_nodes, 2] = top
                open_nodes += 1
    return errors


@jit(_nrt=False, no_cpython_wrapper=True)
def take_place(nodes, node, other):
    """Give a node the split of another, which is below it."""
    nodes.child[node], nodes.n_children[node] = nodes.child[other], nodes.n_children[other]
    nodes.column[node], nodes.threshold[node] = nodes.column[other], nodes.threshold[other]
    nodes.code[node], nodes.gain[node] = nodes.code[other], nodes.gain[other]


@jit(_nrt=False, no_cpython_wrapper=True)
def _largest(nodes, node):
    """Return the last child of (nearly) the greatest weight."""
    best, most = -1, 0.0
    for child in range(nodes.child[node], nodes.child[node] + nodes.n_children[node]):
        own = total_of(nodes.counts[child])
        if at_least(own, most, TIE):
            best, most = child, own
    return best


@jit(_nrt=False, no_cpython_wrapper=True)
def widest(nodes):
    """Return the greatest number of children."""
    most = 0
    for node in range(len(nodes.child)):
        most = max(most, nodes.n_children[node])
    return most


def prune(X, y, weight, nodes, limit, raising):
    """Prune a tree in place, by J48's rules; nodes that are no longer reached are left over.

    Parameters
    ----------
    X : (p, n) float64
    y, weight : (n,) int64, (n,) float64
    nodes : Nodes
    limit : Limit
    raising : bool
        Whether a node may be replaced by its largest branch.
    """
    n, most = len(y), int(nodes.n_children.max(initial=0))
    work = (
        np.empty(n, np.int32), np.empty(n, np.int32), np.empty(n), np.empty(most + 1, np.int64),
        np.empty(most), np.empty(nodes.counts.shape[1]),
    )  # fmt: skip
    guess = np.zeros(len(nodes.child))  # pessimistic errors of each subtree
    sizes = np.empty(2 * most + 64, np.int64)  # rows by branch of the nodes on the way
    # On the way: node, rows from and to, next branch, its place in `sizes`, rows in use
    way = np.empty((64, 6), np.int64)
    rows, heavy = np.arange(n, dtype=np.int32), np.array(weight)
    _prune(X, y, nodes, limit, raising, work, guess, sizes, way, rows, heavy)


@jit
def _prune(X, y, nodes, limit, raising, work, guess, sizes, way, rows, heavy):
    """Do what `prune` says, in room made outside: numba takes long over what makes an array."""
    n = len(y)
    branch, row_of, weight_of, size = work[0], work[1], work[2], work[3]
    way[0, 0], way[0, 1], way[0, 2], way[0, 3], way[0, 4], way[0, 5] = 0, 0, n, -1, 0, n
    depth = 1
    while depth > 0:
        frame = way[depth - 1]
        node, start, end, b, at, top = frame[0], frame[1], frame[2], frame[3], frame[4], frame[5]
        k, first = nodes.n_children[node], nodes.child[node]
        if k == 0:
            guess[node] = pessimistic(nodes.counts[node], limit)
            depth -= 1
            continue
        if b < 0:
            sort_out(X, nodes, node, rows, heavy, start, end, branch, row_of, weight_of, size)
            if at + k + 1 > len(sizes):
                sizes = longer(sizes, at + k + 1)
            for c in range(k + 1):
                sizes[at + c] = size[c]
            b = 0
        while b < k and nodes.n_children[first + b] == 0:
            guess[first + b] = pessimistic(nodes.counts[first + b], limit)
            b += 1
        if b < k:
            frame[3] = b + 1
            rows, heavy, begun, stop, top = rows_of_branch(
                rows, heavy, sizes, at, k, b, start, end, nodes.share[first + b], TIE, top
            )
            if depth == len(way):
                way = more_rows(way, 2 * depth)
            frame = way[depth]
            frame[0], frame[1], frame[2], frame[3] = first + b, begun, stop, -1
            frame[4], frame[5] = at + k + 1, top
            depth += 1
            continue
        tree = 0.0
        for child in range(first, first + k):
            tree += guess[child]
        leaf = branch_errors = pessimistic(nodes.counts[node], limit)
        largest = _largest(nodes, node)
        if not raising:
            branch_errors = np.inf
        elif nodes.n_children[largest] > 0:
            branch_errors = _send_down(
                X, y, nodes, largest, rows, heavy, start, end, work, limit,
                max(tree, leaf) + 2.0 * _SLACK, np.bool_(False),
            )  # fmt: skip
        if at_least(tree + _SLACK, leaf, TIE) and at_least(branch_errors + _SLACK, leaf, TIE):
            nodes.n_children[node] = 0
            guess[node] = leaf
            depth -= 1
        elif at_least(tree + _SLACK, branch_errors, TIE):
            take_place(nodes, node, largest)
            _send_down(
                X,
                y,
                nodes,
                node,
                rows,
                heavy,
                start,
                end,
                work,
                limit,
                np.inf,
                np.bool_(True),
            )
            frame[3] = -1
        else:
            guess[node] = tree
            depth -= 1


@jit
def reached(nodes):
    """Return (old, child): the nodes in use, children side by side, and their new children."""
    old, child = np.zeros(len(nodes.child), np.int64), np.zeros(len(nodes.child), np.int64)
    used, i = 1, 0
    while i < used:
        node = old[i]
        if nodes.n_children[node] > 0:
            child[i] = used
            for b in range(nodes.n_children[node]):
                old[used] = nodes.child[node] + b
                used += 1
        i += 1
    return old[:used], child[:used]
