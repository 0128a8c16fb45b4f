"""One block of rows at a time: sums of gradients by node and bin, and rows sent to children.

Histograms are sums of whole numbers, so they are the same for any order of rows, blocks or
machines. Sums in floating point go on from block to block in the order of the rows.
"""

import numpy as np

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
def route_block(codes, node, column, cut, missing_left, missing_code, first):
    """Send each row of a block from its node to a child, in place.

    Parameters
    ----------
    codes : (p, m) uint8
    node : (m,) int32
    column : (nodes,) int64, -1 where rows stay
    cut : (nodes,) int64, the last bin of the first child
    missing_left : (nodes,) bool
    missing_code : (p,) int64, the code of a missing value in each column
    first : (nodes,) int64, the first child; the second is the next node
    """
    for i in range(len(node)):
        at = node[i]
        j = column[at]
        if j < 0:
            continue
        code = codes[j, i]
        left = missing_left[at] if code == missing_code[j] else code <= cut[at]
        node[i] = first[at] if left else first[at] + 1


@jit
def add_leaves(gh, node, sums):
    """Go on adding gradients and hessians (m, 2) to their nodes' ``sums`` (nodes, 2)."""
    for i in range(len(node)):
        sums[node[i], 0] += np.float64(gh[i, 0])
        sums[node[i], 1] += np.float64(gh[i, 1])
