"""Splits of a node's categories into two sets, by the order of their mean gradients.

The best of all 2^(K-1) divisions of K categories keeps their order by G / H (Fisher 1958; here
G / (H + lambda), so that rare categories are in the middle): K - 1 cuts are evaluated, each with
missing values on either side.
"""

import numpy as np

from psephos.kernels.numerics.ordering import order_of
from psephos.kernels.sorted_trees.newton_gain import centre_of, comes_first, loss_of
from psephos.runtime.jit import jit


@jit
def split_categories(
    pen, x, column, allowed, slot, gh, level, sums, ratio, present, room, loss, chosen,
    missing_left, members,
):  # fmt: skip
    """Improve the best split of every slot by one categorical column.

    Parameters
    ----------
    x : (n,) float32 codes, NaN where missing
    allowed : (S,) whether a node may use the column; empty if all may
    slot, gh, level : see `scan_columns`
    sums : (S + 1, n_codes, 3) zeros, for gradients, hessians and rows by code
    ratio, present, room : scratch, (n_codes,) float64, (n_codes,) and (2, n_codes) int64
    loss, chosen, missing_left : (S,) the best so far, updated
    members : (S, >= n_codes) the codes of the first child of updated splits
    """
    totals, _whole, _size, root, low, high = level
    slots, n_codes = len(loss), len(ratio)
    for i in range(len(slot)):
        if x[i] == x[i]:
            c = np.int64(x[i])
            sums[slot[i], c, 0] += np.float64(gh[i, 0])
            sums[slot[i], c, 1] += np.float64(gh[i, 1])
            sums[slot[i], c, 2] += 1.0
    for s in range(slots):
        if len(allowed) and not allowed[s]:
            continue
        count = np.int64(0)
        known_g = known_h = 0.0
        for c in range(n_codes):
            if sums[s, c, 2] > 0.0:
                g, h = sums[s, c, 0], sums[s, c, 1]
                present[count] = c
                ratio[count] = g / (h + pen.lam) if h + pen.lam > 0.0 else 0.0
                known_g += g
                known_h += h
                count += 1
        if count == 0:
            continue
        order = room[order_of(ratio, count, room)]
        absent_g, absent_h = totals[s, 0] - known_g, totals[s, 1] - known_h
        centre, base = centre_of(pen, totals[s, 0], totals[s, 1], root[s])
        best = -1
        acc_g = acc_h = 0.0
        for i in range(count):
            acc_g += sums[s, present[order[i]], 0]
            acc_h += sums[s, present[order[i]], 1]
            for side in range(2):
                left_g, left_h = acc_g + side * absent_g, acc_h + side * absent_h
                right_g, right_h = totals[s, 0] - left_g, totals[s, 1] - left_h
                if left_h < pen.least or right_h < pen.least or left_h == 0.0 or right_h == 0.0:
                    continue
                if i == count - 1 and side == 1:
                    continue
                left_g, right_g = left_g - centre * left_h, right_g - centre * right_h
                got = loss_of(
                    pen, left_g, left_h, right_g, right_h, base, low[s], high[s], np.int64(0)
                )
                drawn = got == loss[s] and comes_first(pen.ties, column, chosen[s])
                better = got > loss[s] or drawn
                if better and got < np.inf:
                    best = i
                    loss[s], chosen[s], missing_left[s] = got, column, side == 1
        if best >= 0:
            for c in range(members.shape[1]):
                members[s, c] = False
            for i in range(best + 1):
                members[s, present[order[i]]] = True
