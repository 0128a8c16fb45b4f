"""Random cuts of one column at one node, of codes or of values: those of extra trees."""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from psephos.kernels.binned_trees.forest_cuts import heavy
from psephos.kernels.binned_trees.forest_sets import worth_left
from psephos.kernels.small_models.tree import GAMMA, mix
from psephos.runtime.jit import jit

_S11 = np.uint64(11)


class Values(NamedTuple):
    """Scratch (m,) for a column at a node.

    `value`: the values. `side` uint8: 0 where they are at most the place of a cut, 1 above it, and
    2 where they are missing.
    """

    value: NDArray[np.float64]
    side: NDArray[np.uint8]


@jit
def uniform(state):
    """Return the next state and a number in [0, 1), of 53 bits."""
    state = state + GAMMA
    return state, np.float64(mix(state) >> _S11) * 2.0**-53


@jit
def _classes_left(code, at, y, w, start, m, classes):
    """Write the weight per class of the codes up to `at`; return their sum."""
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


@jit
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


@jit
def place_between(low, high, u):
    """Return the place u in [0, 1) of the way from one number to another."""
    place = low + u * (high - low)
    # The difference of the ends may be infinite.
    return place if place < np.inf else (1.0 - u) * low + u * high


@jit
def aim_at_values(column, row, start, m, u, values):
    """Draw a cut of a column of values; return (place, kinds), with `kinds` as in `ends_of`.

    The place is the fraction u in [0, 1) of the way from the least to the greatest value of a
    node's m rows; infinite if these are equal. ``values.side`` gets the sides of the rows.
    """
    value, code = values
    low, high, known = np.inf, -np.inf, 0
    for k in range(m):
        v = np.float64(column[row[np.uintp(start + k)]])
        value[k] = v
        known += not np.isnan(v)
    for k in range(m):  # a missing value is neither less nor more
        low = value[k] if value[k] < low else low
        high = value[k] if value[k] > high else high
    if not low < high:
        for k in range(m):
            code[k] = 0 if value[k] == low else 2
        return np.inf, 2 if 0 < known < m else 0
    place = place_between(low, high, u)
    if not place < high:  # rounded up: the greatest value of the column below the greatest here
        place = low
        for i in range(len(column)):
            v = np.float64(column[i])
            place = v if place < v and v < high else place
    for k in range(m):
        code[k] = value[k] > place
    if known == m:
        return place, 1
    for k in range(m):
        code[k] = np.uint8(2) if np.isnan(value[k]) else code[k]
    return place, 2


@jit
def settle(low, high, at, following, wanted):
    """Return (bin, threshold) of a cut of `random_cut` at the place that it returned.

    `at` is a bin on the left and `following` the first that the node has on the right. Values of
    bins up to the one returned are at most the threshold, and others are above it: a place inside
    a bin moves to the gap after it.
    """
    while at + 1 < following and low[at + 1] <= wanted:
        at += 1
    return at, wanted if high[at] <= wanted and wanted < low[at + 1] else high[at]


@jit
def last_left(low, first, last, wanted):
    """Return the last bin left of a place, among those from `first` up to the one before `last`."""
    at, end = np.int64(first), np.int64(last) - 1
    while at < end:
        middle = (at + end + 1) // 2
        if low[middle] <= wanted:
            at = middle
        else:
            end = middle - 1
    return at


@jit(fastmath={"reassoc"})
def random_cut(crit, least, n_bins, at, both, code, y, w, start, m, sums, weight, numbers, classes):
    """Return (worth, missing left) of the cut after the bin `at`.

    `code` are the node's rows. Missing values are on the right, or if `both` on the better side.
    """
    best, missing_left = -np.inf, False
    for missing_first in range(2 if both else 1):
        w_l = s_l = 0.0
        n_l = least
        if missing_first == 1:  # as if they were below all others
            for k in range(m):
                code[k] = 0 if code[k] == n_bins else code[k]
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
            worth = worth_left(crit, sums, weight, w_l, s_l, numbers, classes)
            if worth > best:
                best, missing_left = worth, missing_first == 1
    return best, missing_left
