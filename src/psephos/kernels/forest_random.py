"""Random cuts of one column of codes at one node: those of extra trees."""

import numpy as np

from psephos.kernels._jit import jit
from psephos.kernels.forest_cuts import heavy, worth_left
from psephos.kernels.tiny_tree import GAMMA, draw, mix

__all__ = ["random_cut", "random_set", "uniform"]

_S11 = np.uint64(11)


@jit(_nrt=False)
def uniform(state):
    """Return the next state and a number in [0, 1), of 53 bits."""
    state = state + GAMMA
    return state, np.float64(mix(state) >> _S11) * 2.0**-53


@jit(_nrt=False)
def _threshold(low, high, first, last, u):
    """Return (bin, threshold): u of the way from the least to the greatest value of two bins.

    Values of bins up to the one returned are at most the threshold, and others are above it. A
    place inside a bin moves to the gap after it.
    """
    wanted = low[first] + u * (high[last] - low[first])
    if not wanted < np.inf:  # the difference of the ends is infinite
        wanted = (1.0 - u) * low[first] + u * high[last]
    a, b = first, last  # the last bin that begins at or below the number, but not the last of all
    while b - a > 1:
        middle = (a + b) // 2
        if low[middle] <= wanted:
            a = middle
        else:
            b = middle
    return a, wanted if high[a] <= wanted and wanted < low[a + 1] else high[a]


@jit(_nrt=False)
def _range(code, m):
    """Return the least and the greatest of the first m codes."""
    first, last = code[0], code[0]
    for k in range(1, m):
        first = min(first, code[k])
        last = max(last, code[k])
    return np.int64(first), np.int64(last)


@jit(_nrt=False, fastmath={"reassoc"})
def _numbers_left(code, at, y, w, start, m):
    """Return the weight and the sum of w y of the codes up to `at`."""
    w_l = s_l = 0.0
    for k in range(m):
        add = w[start + k] if code[k] <= at else 0.0
        w_l += add
        s_l += add * y[start + k]
    return w_l, s_l


@jit(_nrt=False)
def _classes_left(code, at, y, w, start, m, left, twin):
    """Write the weight a class of the codes up to `at`; return their sum. `twin` stays zero."""
    left[:] = 0.0
    for k in range(0, m - 1, 2):  # two sums in turn: adding to one twice in a row waits
        left[y[start + k]] += w[start + k] if code[k] <= at else 0.0
        twin[y[start + k + 1]] += w[start + k + 1] if code[k + 1] <= at else 0.0
    if m % 2 == 1:
        left[y[start + m - 1]] += w[start + m - 1] if code[m - 1] <= at else 0.0
    total = 0.0
    for c in range(len(left)):
        left[c] += twin[c]
        twin[c] = 0.0
        total += left[c]
    return total


@jit(_nrt=False)
def random_cut(
    crit, least, n_bins, column, low, high, row, y, w, start, end, sums, weight, u, code, left, twin
):  # fmt: skip
    """Return (worth, bin, threshold, missing left, varied) of the cut u in [0, 1) of the way.

    The way is from the least known value at the node to the greatest. Missing values go to the
    better side; where all known values are equal, they are cut from the missing ones.
    """
    m = end - start
    for k in range(m):
        code[k] = column[row[start + k]]
    first, last = _range(code, m)
    missing = last == n_bins
    if missing:  # the greatest of the known ones
        last = np.int64(-1)
        for k in range(m):
            last = max(last, np.int64(code[k]) if code[k] != n_bins else np.int64(-1))
    if last < 0 or (first == last and not missing):
        return -np.inf, -1, 0.0, False, 0
    at, threshold = n_bins - 1, np.inf
    if first < last:
        at, threshold = _threshold(low, high, first, last, u)
    best, missing_left = -np.inf, False
    for missing_first in range(2 if missing and first < last else 1):
        w_l = s_l = 0.0
        n_l = least
        if missing_first == 1:  # as if they were below all others
            for k in range(m):
                code[k] = 0 if code[k] == n_bins else code[k]
        if left is not None:
            w_l = _classes_left(code, at, y, w, start, m, left, twin)
        else:
            w_l, s_l = _numbers_left(code, at, y, w, start, m)
        if least > 1:
            n_l = 0
            for k in range(m):
                n_l += code[k] <= at
        if n_l >= least and m - n_l >= least:
            worth = worth_left(crit, sums, weight, w_l, s_l, left)
            if worth > best and heavy(crit, w_l, weight):
                best, missing_left = worth, missing_first == 1
    return best, at, threshold, missing_left, 1


@jit(_nrt=False)
def random_set(crit, least, bins, present, m, sums, weight, state, left, mask):
    """Return (worth, varied, state) of a random set of the categories present; write `mask`.

    The mask is as in `cut_categories`. Each present category is in the set with probability 1/2,
    among the sets that are neither empty nor all. The missing values are one more category.
    """
    cells, count, held = bins.cells, bins.rows, bins.held
    mask[:] = 2
    if present < 2:
        return -np.inf, 0, state
    inside = 0
    while inside == 0 or inside == present:
        inside = 0
        for i in range(present):
            state, bit = draw(state, 2)
            mask[held[i]] = bit
            inside += bit
    w_l = s_l = 0.0
    n_l = 0
    if left is not None:
        left[:] = 0.0
    for i in range(present):
        b = held[i]
        if mask[b] == 1:
            n_l += count[b]
            if left is not None:
                for c in range(len(left)):
                    left[c] += cells[b, c]
                    w_l += cells[b, c]
            else:
                w_l += cells[b, 0]
                s_l += cells[b, 1]
    if n_l < least or m - n_l < least or not heavy(crit, w_l, weight):
        return -np.inf, 1, state
    return worth_left(crit, sums, weight, w_l, s_l, left), 1, state
