"""Surrogate splits: rules on other columns, by their agreement with a node's own rule.

Breiman, Friedman, Olshen and Stone (1984), section 5.3; least numbers of rows and the order of
equals as in rpart.
"""

import numpy as np

from psephos.kernels.sorted_trees.cart_layout import ROW, SHIFT
from psephos.runtime.jit import jit


@jit
def sent(data, keys, j, s, m, go):
    """Return (weight left, weight right, rows) of the entries that the node's rule sends."""
    left = right = 0.0
    rows = np.int64(0)
    for i in range(s, s + m):
        row = keys[j, i] & ROW
        if go[row] != 0:
            rows += data.copies[row]
            if go[row] < 0:
                left += data.weight[row]
            else:
                right += data.weight[row]
    return left, right, rows


@jit
def agree_numbers(data, keys, j, s, m, go, left, right, rows):
    """Return (weight in agreement, last rank below, first above, side of the low values).

    `left`, `right` and `rows` are those of `sent`. A cut must leave at least two rows on both sides
    and agree more than sending every row to the heavier side; else the side is 0.
    """
    best = right if right > left else left
    low, high, where = np.int64(-1), np.int64(-1), np.int64(0)
    lead = 0.0  # weight below the cut: sent left less sent right
    below = np.int64(0)
    previous = np.int64(-1)
    for i in range(s, s + m):
        key = keys[j, i]
        row, rank = key & ROW, key >> SHIFT
        g = go[row]
        if rank != previous and below >= 2:
            if rows - below < 2:
                break
            if left - lead > best:
                best, low, high, where = left - lead, previous, rank, np.int64(1)
            if right + lead > best:
                best, low, high, where = right + lead, previous, rank, np.int64(-1)
        if g != 0:
            lead -= g * data.weight[row]
            below += data.copies[row]
        previous = rank
    return best, low, high, where


@jit
def agree_levels(data, keys, j, s, m, go, left, right, work):
    """Return (weight in agreement, number of levels, whether the rule is usable).

    `left` and `right` are those of `sent` for this column. A level goes to the side to which most
    of its weight is sent; on a tie to the heavier of `left` and `right`, and right if they are
    equal, too. Sides and codes are written to `work`. The rule is usable if it sends at least two
    rows each way; rpart requires two rows that agree and two that do not, and so rejects a perfect
    copy of the column.
    """
    n_levels = 0
    last = np.int64(-1)
    for i in range(s, s + m):
        key = keys[j, i]
        row = key & ROW
        g = go[row]
        if g == 0:
            continue
        if key >> SHIFT != last:
            last = key >> SHIFT
            work.level.whole[0, n_levels] = np.int32(data.values[data.start[j] + last])
            work.level.real[0, n_levels] = 0.0  # sent left
            work.level.real[1, n_levels] = 0.0  # sent right
            work.level.whole[1, n_levels] = 0
            work.level.whole[2, n_levels] = 0
            n_levels += 1
        at = n_levels - 1
        if g < 0:
            work.level.real[0, at] += data.weight[row]
            work.level.whole[1, at] += data.copies[row]
        else:
            work.level.real[1, at] += data.weight[row]
            work.level.whole[2, at] += data.copies[row]
    heavier = -1 if left > right else 1
    agreement = 0.0
    to_left, to_right = np.int64(0), np.int64(0)
    for a in range(n_levels):
        of_left, of_right = work.level.real[0, a], work.level.real[1, a]
        side = heavier if of_left == of_right else (-1 if of_left > of_right else 1)
        rows_l, rows_r = work.level.whole[1, a], work.level.whole[2, a]
        work.level.whole[4, a] = side
        if side < 0:
            agreement += of_left
            to_left += rows_l + rows_r
        else:
            agreement += of_right
            to_right += rows_l + rows_r
    return agreement, n_levels, to_left > 1 and to_right > 1
