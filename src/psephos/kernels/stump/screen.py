"""Quick bounds on the best split of every column, for two classes.

Weights become whole numbers below 2^30 in all, so that running sums in 32 bits are exact and the
only error is that of rounding the weights, which is known. A column can hold the best split only
if its screen value is within twice that error of the greatest; those few columns are searched
again in float64 (``scan``).
"""

import numpy as np

from psephos.kernels.stump.lanes import LANES, lane_extremes, lane_gini
from psephos.runtime.jit import jit


@jit(allocates=True)
def quantise(weights, labels, signed, totals):
    """Whole-number weights, below zero in the first class, into ``signed`` int32 (n,).

    ``totals`` receives the sum of ``signed``, the sum of weights and the sum of the absolute
    rounding errors, in units of the rounded weights; returns False where the weights are zero or
    next to it.
    """
    n = weights.shape[0]
    total = 0.0
    for i in range(n):
        total += weights[i]
    if not total > 2.0**-900 or total == np.inf:  # no factor would do
        return False
    # The greatest power of two that keeps the sum, rounding included, below 2^30.
    factor = 1.0
    while total * factor < 2.0**29 - n:
        factor *= 2.0
    while total * factor > 2.0**30 - n:
        factor *= 0.5
    sum_d = sum_w = 0
    error = 0.0
    for i in range(n):
        exact = weights[i] * factor
        whole = np.int64(np.floor(exact + 0.5))
        error += abs(exact - whole)
        d = whole if labels[i] == 1 else -whole
        signed[i] = d
        sum_d += d
        sum_w += whole
    totals[0] = sum_d
    totals[1] = sum_w
    totals[2] = error
    return True


@jit(allocates=True)
def screen_error(order, blocks, table, total, values):
    """Greatest ``|2 S - D|`` over the splits of each column, S the signed sum on the left.

    ``order`` is of ``layout``; ``blocks`` (b,) int64 of it are searched, ``values`` (all blocks, 8)
    receives them. Where rows are missing both sides are tried for them, "all on one side" among
    them: an upper bound.
    """
    out = np.empty((3, LANES), np.int32)
    for block in blocks:
        lane_extremes(order, block, table, out)
        for lane in range(LANES):
            absent = total - out[0, lane]
            top = 2 * np.int64(out[1, lane]) - total
            bottom = 2 * np.int64(out[2, lane]) - total
            value = max(abs(top), abs(bottom))
            if absent != 0:
                value = max(value, abs(top + 2 * absent), abs(bottom + 2 * absent))
            values[block, lane] = value


@jit(allocates=True)
def screen_gini(order, blocks, table, total_d, total_w, values):
    """Greatest ``d^2 / w`` of left plus right over the splits of each column, in float32.

    ``order``, ``blocks`` and ``values`` as in ``screen_error``. Missing rows count as right;
    columns that have any are to be searched in full.
    """
    d, w = np.int32(total_d), np.int32(total_w)
    out = np.empty(LANES, np.float32)
    for block in blocks:
        lane_gini(order, block, table, d, w, out)
        for lane in range(LANES):
            values[block, lane] = out[lane]
