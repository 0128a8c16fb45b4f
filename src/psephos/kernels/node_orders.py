"""Sorted columns of a node, handed on to its children without sorting again.

A node holds m entries (rows, or parts of rows) and, for every column, the entries with a known
value in sorted order: ``order[j, : known[j]]``. Each child gets the same lists without the entries
that are not its own: a stable filter, so every node of a tree costs one pass over its entries.
"""

import numpy as np

from psephos.kernels._jit import jit

__all__ = ["filter_orders", "sort_orders"]


def sort_orders(values):
    """Return (order, known) of the (p, n) table: int32 rows by value, NaN last, and their number.

    Rows of equal value keep their order.
    """
    order = np.argsort(values, axis=1, kind="stable").astype(np.int32)
    known = values.shape[1] - np.isnan(values).sum(axis=1)
    return order, known.astype(np.int64)


@jit(_nrt=False)
def filter_orders(order, known, place, child_order, child_known):
    """Write the lists of one child: of every entry e, in order, ``place[e]`` unless it is < 0."""
    for j in range(order.shape[0]):
        kept = 0
        for i in range(known[j]):
            e = place[order[j, i]]
            if e >= 0:
                child_order[j, kept] = e
                kept += 1
        child_known[j] = kept
