"""Exact float64 search of the best threshold in presorted columns, any criterion.

The weights that come in are multiples of one power of two (``round_weights``), so that every sum
of them is exact: the gain of a split is a function of the split alone, not of the order in which
its rows were added. Equal splits have equal gains to the last bit, in any column.
"""

import math

import numpy as np
from numpy.typing import NDArray

from psephos.kernels.stump.gain import gain_inside
from psephos.kernels.stump.lanes import LANES
from psephos.runtime.jit import jit


def round_weights(weights: NDArray[np.float64]) -> NDArray[np.float64]:
    """Weights rounded to a multiple of ``2^-52`` of a power of two above their sum.

    The change of a weight is at most ``2^-53`` of that power; all partial sums are then exact.
    """
    total = float(weights.sum())
    if not 0.0 < total < math.inf:
        return weights
    exponent = 52 - math.frexp(total)[1]
    if not -1000 < exponent < 1000:  # sums near the ends of the float64 range: leave them
        return weights
    whole = weights * 2.0**exponent
    np.rint(whole, out=whole)
    whole *= 2.0**-exponent
    return whole


@jit(inner=True, forceinline=True)
def _best_side(crit, parent, left, right, absent, both):
    """Return (gain, missing left) of a cut: missing rows are on the right, or `both` are tried."""
    best = gain_inside(crit, parent, left, right)
    if not both:
        return best, False
    for c in range(len(absent)):
        left[c] += absent[c]
        right[c] -= absent[c]
    value = gain_inside(crit, parent, left, right)
    for c in range(len(absent)):
        left[c] -= absent[c]
        right[c] += absent[c]
    return (value, True) if value > best else (best, False)


@jit
def scan_ordered(
    crit, order, flag, columns, n_present, labels, weights, parent, sums, gains, cuts,
    missing_left,
):  # fmt: skip
    """Best threshold of some columns of the interleaved orders (``layout``).

    Parameters
    ----------
    order, flag : (blocks, n, 8) orders, and the bit of an entry after which a threshold may lie
    columns : (c,) int64, ``LANES * block + lane``
    n_present : (c,) int64, rows that are not missing; they come first
    labels, weights : (n + 1,), the last being the padding row
    parent : (K,) totals per class
    sums : (3, K) scratch
    gains, cuts, missing_left : (c,) results. A cut k lies after the k-th entry of the order; -1
        where nothing is admissible.
    """
    n_classes = parent.shape[0]
    left, right, absent = sums[0], sums[1], sums[2]
    mask = flag - 1
    for w in range(columns.shape[0]):
        block, lane = columns[w] // LANES, columns[w] % LANES
        present = n_present[w]
        missing = present < order.shape[1]
        for c in range(n_classes):
            left[c] = 0.0
            right[c] = parent[c]
            absent[c] = parent[c] if missing else 0.0
        if missing:
            for k in range(present):
                row = np.int64(order[block, k, lane]) & mask
                absent[labels[row]] -= weights[row]
        best = -np.inf
        cut = -1
        side = False
        for k in range(present):
            entry = np.int64(order[block, k, lane])
            row = entry & mask
            left[labels[row]] += weights[row]
            right[labels[row]] -= weights[row]
            if entry >= flag:
                both = missing and k < present - 1
                value, to_left = _best_side(crit, parent, left, right, absent, both)
                if value > best:
                    best, cut, side = value, k, to_left
        gains[w] = best
        cuts[w] = cut
        missing_left[w] = side


@jit(allocates=True)
def scan_sparse(
    crit, start, rows, edge, n_below, n_present, zeros, columns, labels, weights, parent,
    gains, cuts, missing_left,
):  # fmt: skip
    """Best threshold of each sparse column: stored values sorted, the zeros one tie group.

    ``start`` (p + 1,), ``rows`` and ``edge`` (a threshold may lie after me) describe the stored
    entries, missing last; ``n_below`` (p,) counts the negative ones, ``n_present`` (p,) the
    numbers, ``zeros`` (p,) says whether a zero occurs. The cut counts the zero group as one entry.
    """
    n_classes = parent.shape[0]
    left = np.empty(n_classes)
    right = np.empty(n_classes)
    absent = np.empty(n_classes)
    zero = np.empty(n_classes)
    for w in range(columns.shape[0]):
        j = columns[w]
        first, end = start[j], start[j + 1]
        present, below = n_present[j], n_below[j]
        missing = first + present < end
        for c in range(n_classes):
            left[c] = 0.0
            right[c] = parent[c]
            absent[c] = 0.0
            zero[c] = parent[c]
        for s in range(first, end):
            c = labels[rows[s]]
            zero[c] -= weights[rows[s]]
            if s >= first + present:
                absent[c] += weights[rows[s]]
        best = -np.inf
        cut = -1
        side = False
        length = present + (1 if zeros[j] else 0)
        for k in range(length):
            if zeros[j] and k == below:
                for c in range(n_classes):
                    left[c] += zero[c]
                    right[c] -= zero[c]
                admissible = True
            else:
                s = first + k - (1 if zeros[j] and k > below else 0)
                left[labels[rows[s]]] += weights[rows[s]]
                right[labels[rows[s]]] -= weights[rows[s]]
                admissible = edge[s]
            if k == length - 1:
                admissible = missing
            if admissible:
                both = missing and k < length - 1
                value, to_left = _best_side(crit, parent, left, right, absent, both)
                if value > best:
                    best, cut, side = value, k, to_left
        gains[w] = best
        cuts[w] = cut
        missing_left[w] = side
