"""Random cuts of one column of codes at one node: those of extra trees."""

import numpy as np

from psephos.kernels._jit import jit
from psephos.kernels.criteria import side
from psephos.kernels.forest_cuts import heavy
from psephos.kernels.forest_sets import worth_left
from psephos.kernels.tiny_tree import GAMMA, mix

__all__ = ["random_cut", "settle", "uniform"]

_S11 = np.uint64(11)
_ONES = 0xFFFFFFFF  # the bits of a pair's second class


@jit(_nrt=False)
def uniform(state):
    """Return the next state and a number in [0, 1), of 53 bits."""
    state = state + GAMMA
    return state, np.float64(mix(state) >> _S11) * 2.0**-53


@jit(_nrt=False)
def _classes_left(code, at, y, w, start, m, classes):
    """Write the weight a class of the codes up to `at`; return their sum."""
    left, half = classes.left, classes.half
    left[:] = 0.0
    half[:] = 0.0
    for k in range(0, m - 1, 2):  # two sums in turn: adding to one twice in a row waits
        one, two = np.uintp(start + k), np.uintp(start + k + 1)
        left[y[one]] += w[one] if code[k] <= at else 0.0
        half[y[two]] += w[two] if code[k + 1] <= at else 0.0
    if m % 2 == 1:
        left[y[start + m - 1]] += w[start + m - 1] if code[m - 1] <= at else 0.0
    total = 0.0
    for c in range(len(left)):
        left[c] += half[c]
        total += left[c]
    return total


@jit(_nrt=False)
def _bin_of(low, first, last, code, m, wanted):
    """Return the bin of a place from the first bin at a node on: see `random_cut`.

    It is the last that begins at or below the place, among those at the node or among all, but
    not the last at the node.
    """
    at = np.int64(first)
    if m <= 64:  # many loads at once, where a search has to wait for each of them
        for k in range(m):
            known = code[k] if code[k] < last else first
            at = max(at, np.int64(known) if low[known] <= wanted else np.int64(0))
        return at
    width = np.int64(last) - at
    while width > 1:  # without a branch: which half is next cannot be guessed
        half = width >> 1
        at += half if low[np.uintp(at + half)] <= wanted else 0
        width -= half
    return at


@jit(_nrt=False)
def settle(low, high, at, following, wanted):
    """Return (bin, threshold) of a cut of `random_cut` at the place that it returned.

    `at` is a bin on the left and `following` the first that the node has on the right. Values of
    bins up to the one returned are at most the threshold, and others are above it: a place inside
    a bin moves to the gap after it.
    """
    while at + 1 < following and low[at + 1] <= wanted:
        at += 1
    return at, wanted if high[at] <= wanted and wanted < low[at + 1] else high[at]


@jit(_nrt=False, fastmath={"reassoc"})
def random_cut(
    crit, least, n_bins, column, low, high, row, y, w, start, end, sums, weight, u, code,
    pairs, numbers, classes,
):  # fmt: skip
    """Return (worth, bin, place, missing left, varied) of the cut u in [0, 1) of the way.

    The way is from the least known value at the node to the greatest. The bin is the last on the
    left, as far as the rows of the node can tell: `settle` tells it from the place. Missing values
    go to the better side; where all known values are equal, they are cut from the missing ones.
    `code` (m,) uint8 is scratch. Answers are pairs (see `forest_pairs`) where `pairs` is given.
    """
    m = end - start
    first, last = np.uint8(255), np.uint8(0)
    for k in range(m):
        c = column[row[np.uintp(start + k)]]
        code[k] = c
        first, last = min(first, c), max(last, c)
    missing = last == n_bins
    if first == last:
        return -np.inf, -1, 0.0, False, 0
    if missing:  # the greatest of the known ones
        last = np.uint8(0)
        for k in range(m):
            last = max(last, code[k] if code[k] != n_bins else np.uint8(0))
    at, wanted = n_bins - 1, np.inf
    if first < last:
        wanted = low[first] + u * (high[last] - low[first])
        if not wanted < np.inf:  # the difference of the ends is infinite
            wanted = (1.0 - u) * low[first] + u * high[last]
        at = _bin_of(low, first, last, code, m, wanted)
    best, missing_left = -np.inf, False
    for missing_first in range(2 if missing and first < last else 1):
        w_l = s_l = 0.0
        n_l = least
        if missing_first == 1:  # as if they were below all others
            for k in range(m):
                code[k] = 0 if code[k] == n_bins else code[k]
        if pairs is not None:
            total = np.int64(0)
            for k in range(m):
                total += y[np.uintp(start + k)] if code[k] <= at else np.int64(0)
            w_l, s_l = np.float64(total >> 32), np.float64(total & _ONES)
        if classes is not None:
            w_l = _classes_left(code, at, y, w, start, m, classes)
        if numbers is not None:
            for k in range(m):
                add = w[np.uintp(start + k)] if code[k] <= at else 0.0
                w_l += add
                s_l += add * y[np.uintp(start + k)]
        if least > 1:
            n_l = 0
            for k in range(m):
                n_l += code[k] <= at
        if n_l >= least and m - n_l >= least and heavy(crit, w_l, weight):
            worth = -np.inf
            if pairs is not None:
                worth = side(crit, s_l, w_l) + side(crit, sums[1] - s_l, weight - w_l)
            if numbers is not None:
                worth = worth_left(crit, sums, weight, w_l, s_l, numbers, classes)
            if classes is not None:
                worth = worth_left(crit, sums, weight, w_l, s_l, numbers, classes)
            if worth > best:
                best, missing_left = worth, missing_first == 1
    return best, at, wanted, missing_left, 1
