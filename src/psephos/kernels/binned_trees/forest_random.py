"""Random cuts of one column of codes at one node: those of extra trees."""

import numpy as np

from psephos.kernels._jit import jit
from psephos.kernels.binned_trees.forest_cuts import ask, heavy
from psephos.kernels.binned_trees.forest_sets import worth_left
from psephos.kernels.numerics.criteria import side
from psephos.kernels.small_models.tree import GAMMA, mix

__all__ = ["aim", "ends_of", "random_cut", "settle", "uniform"]

_S11 = np.uint64(11)
_ONES = 0xFFFFFFFF  # the bits of a pair's second class


@jit
def uniform(state):
    """Return the next state and a number in [0, 1), of 53 bits."""
    state = state + GAMMA
    return state, np.float64(mix(state) >> _S11) * 2.0**-53


@jit(inner=True)
def _classes_left(code, at, y, w, start, m, classes):
    """Write the weight a class of the codes up to `at`; return their sum."""
    left, half = classes.left, classes.half
    for c in range(len(left)):
        left[c] = half[c] = 0.0
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


@jit(inner=True)
def ends_of(column, n_bins, row, start, m, code):
    """Write the codes of a node's m rows; return (first, last, kinds).

    The first two are the least and the greatest known code; `kinds` is 0 if all rows have one
    code, 1 if several known ones, and 2 if values are missing, too.
    """
    first, last = np.uint8(255), np.uint8(0)
    for k in range(m):
        c = column[row[np.uintp(start + k)]]
        code[k] = c
        first = c if c < first else first
        last = c if c > last else last
    if first == last:
        return first, last, 0
    if last < n_bins:
        return first, last, 1
    last = np.uint8(0)
    for k in range(m):
        known = code[k] if code[k] != n_bins else np.uint8(0)
        last = known if known > last else last
    return first, last, 2


@jit(inner=True)
def aim(low, high, sixteenth, first, last, u):
    """Return (place, bin): the place u in [0, 1) of the way between two bins of a column.

    The bin is the last of ``0, 16, ...`` that begins at or below the place, found by
    `sixteenth` (16,), where these begin; the bins from it on are searched.
    """
    wanted = low[first] + u * (high[last] - low[first])
    if not wanted < np.inf:  # the difference of the ends is infinite
        wanted = (1.0 - u) * low[first] + u * high[last]
    block = 0
    for i in range(1, 16):
        block += sixteenth[i] <= wanted
    ask(low, np.uintp(16 * block))
    ask(low, np.uintp(16 * block + 8))
    return wanted, 16 * block


@jit(inner=True)
def settle(low, high, at, following, wanted):
    """Return (bin, threshold) of a cut of `random_cut` at the place that it returned.

    `at` is a bin on the left and `following` the first that the node has on the right. Values of
    bins up to the one returned are at most the threshold, and others are above it: a place inside
    a bin moves to the gap after it.
    """
    while at + 1 < following and low[at + 1] <= wanted:
        at += 1
    return at, wanted if high[at] <= wanted and wanted < low[at + 1] else high[at]


@jit(inner=True, fastmath={"reassoc"})
def random_cut(
    crit, least, n_bins, first, last, kinds, low, wanted, base, code, y, w, start, m, sums, weight,
    pairs, numbers, classes,
):  # fmt: skip
    """Return (worth, bin, place, missing left) of the cut at a place of `aim`.

    `first`, `last`, `kinds` and `code` are of `ends_of`, `wanted` and `base` of `aim`, where first
    < last; `low` is where the column's bins begin. The bin is the last on the left: `settle` finds
    it among those that the node holds. Missing values go to the better side; where all known values
    are equal, they are cut from the missing ones. Answers are pairs (see `forest_pairs`) where
    `pairs` is given.
    """
    at, missing = n_bins - 1, kinds == 2
    if first < last:
        at = base
        for i in range(1, 16):
            b = base + i if base + i < n_bins else n_bins - 1
            at += low[np.uintp(b)] <= wanted
        at = np.int64(first) if at < first else at
        at = np.int64(last) - 1 if at >= last else at
    else:
        wanted = np.inf
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
        if pairs is None:  # noqa: SIM102 (joined, the tests would leave nothing out)
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
    return best, at, wanted, missing_left
