"""Cuts for two classes where weights are whole numbers: a row's weight and answer are one integer.

A pair is ``weight << 32 | weight of the second class``: one sum adds up both. Weights of a tree
are below 2^31 together, and count rows: no side has a least number of rows but its least weight.
`forest_cuts` states what the functions take and return.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from psephos.kernels.binned_trees.forest_cuts import heavy, list_codes
from psephos.kernels.numerics.criteria import side_of_sum
from psephos.runtime.jit import jit

FEW_PAIRS = 48  # rows of a node, at most, that are compared each with each
LIGHT = 1 << 15  # the weight of such a node is below: its pairs are packed in 32 bits
_ONES = 0xFFFFFFFF  # the bits of the second class


class Pairs(NamedTuple):
    """Scratch (48,) int32 of a small node: pairs of 16 bits, codes, and pairs of left sides."""

    pack: NDArray[np.int32]
    code: NDArray[np.int32]
    left: NDArray[np.int32]


@jit
def pack_few(y, start, m, pack):
    """Write a node's pairs in 32 bits, and zeros up to a multiple of eight."""
    for k in range(m):
        pack[k] = (y[start + k] >> 32) << 16 | (y[start + k] & _ONES)
    for k in range(m, (m + 7) // 8 * 8):
        pack[k] = 0


@jit
def cut_few_pairs(crit, n_bins, column, row, start, m, weight, ones, few):
    """Return the best cut of the rows of `pack_few`: each row's left side is summed on its own."""
    pack, code, left = few.pack, few.code, few.left
    first, last = np.int32(256), np.int32(-1)
    for k in range(m):
        code[k] = column[row[np.uintp(start + k)]]
    for k in range(m):
        first = code[k] if code[k] < first else first
        last = code[k] if code[k] > last else last
    best, low, missing_left = -np.inf, -1, False
    if first == last:
        return best, low, missing_left, 0
    whole = (m + 7) // 8 * 8
    for k in range(m, whole):
        code[k] = 0
    for b in range(0, whole, 8):
        c0, c1, c2, c3 = code[b], code[b + 1], code[b + 2], code[b + 3]
        c4, c5, c6, c7 = code[b + 4], code[b + 5], code[b + 6], code[b + 7]
        nothing = np.int32(0)
        t0 = t1 = t2 = t3 = t4 = t5 = t6 = t7 = nothing
        for q in range(whole):
            c, add = code[q], pack[q]
            t0 += add if c <= c0 else nothing
            t1 += add if c <= c1 else nothing
            t2 += add if c <= c2 else nothing
            t3 += add if c <= c3 else nothing
            t4 += add if c <= c4 else nothing
            t5 += add if c <= c5 else nothing
            t6 += add if c <= c6 else nothing
            t7 += add if c <= c7 else nothing
        left[b], left[b + 1], left[b + 2], left[b + 3] = t0, t1, t2, t3
        left[b + 4], left[b + 5], left[b + 6], left[b + 7] = t4, t5, t6, t7
    missing = np.int32(0)
    if last == n_bins:
        for k in range(m):
            missing += pack[k] if code[k] == n_bins else np.int32(0)
    for missing_first in range(2 if last == n_bins else 1):
        for k in range(m):
            total = left[k] + (missing if missing_first == 1 else np.int32(0))
            w_l, s_l = np.float64(total >> 16), np.float64(total & 0xFFFF)
            if not w_l < weight or code[k] == n_bins:
                continue
            worth = side_of_sum(crit, s_l, w_l) + side_of_sum(crit, ones - s_l, weight - w_l)
            if worth > best and heavy(crit, w_l, weight):
                best, low, missing_left = worth, code[k], missing_first == 1
    return best, low, missing_left, 1


@jit
def cut_many_pairs(crit, n_bins, column, row, y, start, end, weight, ones, bins):
    """Return the best cut of any number of rows, by the sums of their bins."""
    cells, seen, held = bins.cells, bins.seen, bins.held
    for k in range(end - start):
        here = np.uintp(start + k)  # an index without a sign takes no test for one
        code = column[row[here]]
        seen[code] = 1
        cells[code] += y[here]
    best, low, missing_left = -np.inf, -1, False
    present = list_codes(bins)
    lacks = present > 1 and held[present - 1] == n_bins
    for missing_first in range(2 if lacks else 1):
        total = cells[n_bins] if missing_first == 1 else np.int64(0)
        for step in range(present - 1 - missing_first):
            b = held[step]
            total += cells[b]
            w_l, s_l = np.float64(total >> 32), np.float64(total & _ONES)
            worth = side_of_sum(crit, s_l, w_l) + side_of_sum(crit, ones - s_l, weight - w_l)
            if worth > best and heavy(crit, w_l, weight):
                best, low, missing_left = worth, b, missing_first == 1
    for i in range(present):
        cells[held[i]] = 0
    return best, low, missing_left, 1 if present > 1 else 0
