"""Which leaves rows reach in many binary trees: a block of rows at a time, eight rows abreast.

A step down a tree is a chain of loads, each waiting for the one before; eight rows that go down
together keep the processor busy, and the nodes of a tree stay near while a block of rows passes.
A leaf is its own child, so that rows which have arrived can go on with the rest.

A process that does not find the kernel compiled lets NumPy do its first few rows: compiling takes
most of a second, and they go to the same leaves.

Missing values take no test. Every column of a block is written twice, with NaN and with minus
infinity in its place: a node whose missing values go to the first child reads the second copy.
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from psephos.runtime.jit import frozen, is_compiled, jit

_NODE = np.dtype(
    [("threshold", "f8"), ("read", "i4"), ("other", "i4"), ("first", "i4"), ("codes", "i4")]
)
_ROWS, _NUMBERS = 256, 1 << 18  # of a block
_WAYS, _CALL = 1 << 18, 1 << 10  # down trees before the kernel is compiled; what a call counts for
_gone = [0]


def pack_nodes(
    feature: NDArray[np.intp],
    threshold: NDArray[np.float64],
    missing_left: NDArray[np.bool_],
    first: NDArray[np.intp],
    second: NDArray[np.intp],
    category_ptr: NDArray[np.intp],
) -> Any:
    """Return the nodes in one array: 24 bytes each, in the order of the arguments.

    Parameters
    ----------
    feature : (nodes,) intp; position of the column; -1 at a leaf
    threshold : (nodes,) float64; ``value <= threshold`` goes to the first child
    missing_left : (nodes,) bool; whether a missing value goes there too
    first, second : (nodes,) intp; the children
    category_ptr : (nodes + 1,) intp, or empty if no rule is on categories; where the codes of a
        node begin and end
    """
    inner = feature >= 0
    me = np.arange(len(feature))
    nodes = np.empty(len(feature), _NODE)
    nodes["threshold"] = np.where(inner, threshold, np.inf)
    nodes["read"] = np.where(inner, 2 * feature + missing_left, 0)
    nodes["first"] = np.where(inner, first, me)
    nodes["other"] = np.where(inner, second, me)
    nodes["codes"] = -1
    if len(category_ptr):
        number = np.diff(category_ptr)
        on = number > 0
        nodes["codes"][on] = category_ptr[:-1][on]
        nodes["threshold"][on] = number[on]
    return nodes


@jit
def _copy(X, start, size, single, block):
    """Write rows to a block (rows, 2 q): each value, and the same with NaN as minus infinity."""
    for r in range(size):
        for j in range(X.shape[1]):
            x = X[start + r, j]
            if single:
                x = np.float64(np.float32(x))
            block[r, 2 * j] = x
            block[r, 2 * j + 1] = x if x == x else -np.inf


@jit
def _step(nodes, in_set, row, at):
    """Return the child of a node that a row of a block goes to."""
    node = nodes[at]
    x = row[node["read"]]
    if node["codes"] < 0:
        return np.int64(node["first"] if x <= node["threshold"] else node["other"])
    left = (node["read"] & 1) == 1
    if x >= 0.0 and x < node["threshold"]:  # the number of codes
        left = in_set[node["codes"] + np.int64(x)]
    return np.int64(node["first"] if left else node["other"])


@jit
def _eight(nodes, in_set, block, i, last, top, out, t):
    """Write to column t of out the leaves of rows i to i + 7, none after the last."""
    i1, i2, i3 = min(i + 1, last), min(i + 2, last), min(i + 3, last)
    i4, i5, i6, i7 = min(i + 4, last), min(i + 5, last), min(i + 6, last), min(i + 7, last)
    a0 = a1 = a2 = a3 = a4 = a5 = a6 = a7 = np.int64(top)
    moved = True
    while moved:
        b0 = _step(nodes, in_set, block[i], a0)
        b1 = _step(nodes, in_set, block[i1], a1)
        b2 = _step(nodes, in_set, block[i2], a2)
        b3 = _step(nodes, in_set, block[i3], a3)
        b4 = _step(nodes, in_set, block[i4], a4)
        b5 = _step(nodes, in_set, block[i5], a5)
        b6 = _step(nodes, in_set, block[i6], a6)
        b7 = _step(nodes, in_set, block[i7], a7)
        near = (a0 ^ b0) | (a1 ^ b1) | (a2 ^ b2) | (a3 ^ b3)
        moved = (near | (a4 ^ b4) | (a5 ^ b5) | (a6 ^ b6) | (a7 ^ b7)) != 0
        a0, a1, a2, a3, a4, a5, a6, a7 = b0, b1, b2, b3, b4, b5, b6, b7
    out[i, t], out[i1, t], out[i2, t], out[i3, t] = a0, a1, a2, a3
    out[i4, t], out[i5, t], out[i6, t], out[i7, t] = a4, a5, a6, a7


@jit
def _leaves(nodes, in_set, X, root, single, block, out):
    for start in range(0, X.shape[0], block.shape[0]):
        size = min(block.shape[0], X.shape[0] - start)
        _copy(X, start, size, single, block)
        for t in range(len(root)):
            for i in range(0, size, 8):
                _eight(nodes, in_set, block, i, size - 1, root[t], out[start : start + size], t)


def binary_leaves(
    nodes: Any, in_set: NDArray[np.bool_], X: Any, root: NDArray[np.intp], single: bool
) -> NDArray[np.intp]:
    """Return the node at which each row ends in each tree, shape (n, T).

    Parameters
    ----------
    nodes : (nodes,) array of `pack_nodes`; trusted: who packs them has checked them
    in_set : (C,) bool; which of a node's codes go to the first child; a code beyond them is a
        missing value
    X : (n, q) array; missing is NaN; a category is its code
    root : (T,) intp; the first node of each tree
    single : values are rounded to float32 first, as by trees that were grown on float32
    """
    n, q = X.shape
    if _gone[0] <= _WAYS and not is_compiled(_leaves):
        _gone[0] += max(n * len(root), _CALL)
        if _gone[0] <= _WAYS:
            return _few_leaves(nodes, in_set, np.asarray(X, np.float64), root, single)
    rows = min(_ROWS, max(8, _NUMBERS // max(2 * q, 1)), max(n, 1))
    out = np.empty((n, len(root)), np.intp)
    read = (frozen(nodes), frozen(in_set), frozen(X, np.float64), frozen(root))
    _leaves(*read, single, np.empty((rows, 2 * max(q, 1))), out)
    return out


def _few_leaves(
    nodes: Any, in_set: NDArray[np.bool_], X: Any, root: NDArray[np.intp], single: bool
) -> NDArray[np.intp]:
    """Do what `binary_leaves` says: all rows a step down all trees at a time."""
    n, q = X.shape
    at = np.repeat(root[None, :], n, axis=0)
    if q == 0:
        return at
    with np.errstate(over="ignore"):  # as the kernel, which does not warn
        values = X.astype(np.float32).astype(np.float64) if single else X
    row = np.arange(n)[:, None]
    while True:
        node = nodes[at]
        x = values[row, node["read"] >> 1]
        x = np.where(np.isnan(x) & (node["read"] & 1 == 1), -np.inf, x)
        first = x <= node["threshold"]
        coded = node["codes"] >= 0
        if coded.any():
            first[coded] = (node["read"][coded] & 1) == 1
            held = coded & (x >= 0.0) & (x < node["threshold"])
            first[held] = in_set[node["codes"][held] + x[held].astype(np.int64)]
        below = np.where(first, node["first"], node["other"]).astype(np.intp)
        if np.array_equal(below, at):
            return at
        at = below
