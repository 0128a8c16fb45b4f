"""Leaves of rows in many binary trees, one tree at a time for a block of rows.

The nodes of a tree so stay in the cache. A leaf is its own child.
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from psephos.runtime.jit import frozen, jit

_NODE = np.dtype(
    [("threshold", "f8"), ("read", "i4"), ("other", "i4"), ("first", "i4"), ("codes", "i4")]
)
_ROWS = 256  # rows of a block


def pack_nodes(
    feature: NDArray[np.intp],
    threshold: NDArray[np.float64],
    missing_left: NDArray[np.bool_],
    first: NDArray[np.intp],
    second: NDArray[np.intp],
    category_ptr: NDArray[np.intp],
) -> Any:
    """Return the nodes in one array of 24 bytes each, in the order of the arguments.

    Parameters
    ----------
    feature : (nodes,) intp; position of the column; -1 at a leaf
    threshold : (nodes,) float64; ``value <= threshold`` goes to the first child
    missing_left : (nodes,) bool; whether a missing value goes there, too
    first, second : (nodes,) intp; the children
    category_ptr : (nodes + 1,) intp, or empty if no rule is on categories; start and end of the
        codes of each node
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
def _leaves(nodes, in_set, X, root, single, out):
    for start in range(0, X.shape[0], _ROWS):
        for t in range(len(root)):
            for i in range(start, min(start + _ROWS, X.shape[0])):
                at = np.int64(root[t])
                while nodes[at]["first"] != at:
                    node = nodes[at]
                    x = X[i, node["read"] >> 1]
                    if single:
                        x = np.float64(np.float32(x))
                    if node["codes"] >= 0 and x >= 0.0 and x < node["threshold"]:  # their number
                        left = in_set[node["codes"] + np.int64(x)]
                    elif node["codes"] >= 0 or x != x:
                        left = (node["read"] & 1) == 1
                    else:
                        left = x <= node["threshold"]
                    at = np.int64(node["first"] if left else node["other"])
                out[i, t] = at


def binary_leaves(
    nodes: Any, in_set: NDArray[np.bool_], X: Any, root: NDArray[np.intp], single: bool
) -> NDArray[np.intp]:
    """Return the node at which each row ends in each tree, shape (n, T).

    Parameters
    ----------
    nodes : (nodes,) array of `pack_nodes`; not checked
    in_set : (C,) bool; whether each of a node's codes goes to the first child; a code beyond them
        is a missing value
    X : (n, q) array; missing is NaN; a category is its code
    root : (T,) intp; the first node of each tree
    single : whether values are rounded to float32 first, for trees grown on float32
    """
    out = np.empty((len(X), len(root)), np.intp)
    _leaves(frozen(nodes), frozen(in_set), frozen(X, np.float64), frozen(root), single, out)
    return out
