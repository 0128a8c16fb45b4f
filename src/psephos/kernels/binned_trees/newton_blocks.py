"""Kernels for one block of rows: sums of gradients by node and bin, and rows sent to children.

Histograms are sums of whole numbers, so they are the same for any order of rows or blocks. Sums in
floating point are continued from block to block in the order of the rows.
"""

import numpy as np

from psephos.kernels.binned_trees.newton_hist import FEATURE, FIRST
from psephos.runtime.jit import jit


@jit
def add_block(codes, start, stop, rows, place, packed, sums):
    """Add rows of a block to the histograms of their slots, for columns ``start`` to ``stop``.

    `codes` (p, m) uint8; `rows`, `place` (r,) int64, (r,) int32; `packed` (m,) int64, gradient and
    hessian as one whole number; `sums` (slots, p, 256) int64, result.
    """
    for j in range(start, stop):
        column = codes[j]
        for k in range(len(rows)):
            i = np.uintp(rows[k])
            sums[np.uintp(place[k]), j, np.uintp(column[i])] += packed[i]


@jit
def route_block(codes, node, ints, luts):
    """Send each row of a block from its node to a child, in place; rows at leaves stay there.

    `codes` (p, m) uint8; `node` (m,) int32; `ints` (nodes, 6) as in `newton_hist`; `luts`
    (nodes, 256) uint8, 1 for each code whose rows go to the first child of a node, else 0.
    """
    for i in range(len(node)):
        at = node[i]
        j = ints[at, FEATURE]
        if j < 0:
            continue
        node[i] = ints[at, FIRST] + 1 - np.int64(luts[at, codes[j, i]])


@jit
def add_leaves(gh, node, sums):
    """Add gradients, hessians (m, 2) and numbers of rows to their nodes' ``sums`` (nodes, 3)."""
    for i in range(len(node)):
        sums[node[i], 0] += np.float64(gh[i, 0])
        sums[node[i], 1] += np.float64(gh[i, 1])
        sums[node[i], 2] += 1.0
