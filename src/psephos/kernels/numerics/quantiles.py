"""Weighted quantile summaries: collapse, merge, prune, on plain arrays.

A summary is an array (4, k) of k points in increasing order: the value, a lower bound of the
weight strictly below it, an upper bound of the weight up to and with it, a lower bound of its own
weight. ``trees.quantiles`` says what may be asked of it.
"""

import numpy as np

from psephos.runtime.jit import jit

VALUE, LOW, HIGH, WEIGHT = 0, 1, 2, 3


@jit
def collapse(values, weights):
    """Return the exact summary of sorted values; ``weights`` of length 0 means ones."""
    n = len(values)
    k = 0
    for i in range(n):
        k += i == 0 or values[i] != values[i - 1]
    out = np.empty((4, k))
    at = -1
    total = 0.0  # of all rows so far
    own = 0.0
    for i in range(n):
        if i == 0 or values[i] != values[i - 1]:
            if at >= 0:
                total += own
                out[HIGH, at] = total
                out[WEIGHT, at] = own
            at += 1
            own = 0.0
            out[VALUE, at] = values[i]
            out[LOW, at] = total
        own += weights[i] if len(weights) else 1.0
    if at >= 0:
        out[HIGH, at] = total + own
        out[WEIGHT, at] = own
    return out


@jit
def merge(a, b):
    """Return the summary of both: the union of points, the sums of the extended functions.

    Between two points of a summary, low is that of the left one with its weight, high that of the
    right one without its weight; below the first point both are 0, above the last one both the
    total.
    """
    ka, kb = a.shape[1], b.shape[1]
    out = np.empty((4, ka + kb))
    i = j = k = 0
    low_a = low_b = 0.0  # of a value between the points at hand and those before them
    while i < ka and j < kb:
        # Which of the two comes first is a coin's toss: selections, not branches.
        first_a, first_b = a[VALUE, i] <= b[VALUE, j], b[VALUE, j] <= a[VALUE, i]
        weight_a, weight_b = a[WEIGHT, i], b[WEIGHT, j]
        high_a = a[HIGH, i] - weight_a if i > 0 else 0.0
        high_b = b[HIGH, j] - weight_b if j > 0 else 0.0
        out[VALUE, k] = a[VALUE, i] if first_a else b[VALUE, j]
        out[LOW, k] = (a[LOW, i] if first_a else low_a) + (b[LOW, j] if first_b else low_b)
        out[HIGH, k] = (a[HIGH, i] if first_a else high_a) + (b[HIGH, j] if first_b else high_b)
        out[WEIGHT, k] = (weight_a if first_a else 0.0) + (weight_b if first_b else 0.0)
        low_a = a[LOW, i] + weight_a if first_a else low_a
        low_b = b[LOW, j] + weight_b if first_b else low_b
        i += first_a
        j += first_b
        k += 1
    rest, at, n = (a, i, ka) if i < ka else (b, j, kb)
    low, high = 0.0, 0.0  # of the summary that has ended, beyond its last point
    if i < ka and kb > 0:
        low, high = low_b, b[HIGH, kb - 1]
    elif i >= ka and ka > 0:
        low, high = low_a, a[HIGH, ka - 1]
    for m in range(at, n):
        out[VALUE, k] = rest[VALUE, m]
        out[LOW, k] = rest[LOW, m] + low
        out[HIGH, k] = rest[HIGH, m] + high
        out[WEIGHT, k] = rest[WEIGHT, m]
        k += 1
    return out[:, :k].copy()


@jit
def nearest(s, wanted):
    """Return, for each of the ascending ranks ``wanted``, the point whose rank is near it.

    The rank of a point is the middle of its bounds; between two points, the middle of the bounds
    of what lies between them decides.
    """
    k = s.shape[1]
    out = np.empty(len(wanted), np.int64)
    i = 0
    for m in range(len(wanted)):
        twice = 2.0 * wanted[m]
        if twice < s[LOW, 0] + s[HIGH, 0]:
            out[m] = 0
            continue
        while i + 1 < k and s[LOW, i + 1] + s[HIGH, i + 1] <= twice:
            i += 1
        if i == k - 1:
            out[m] = i
            continue
        between = s[LOW, i] + s[WEIGHT, i] + s[HIGH, i + 1] - s[WEIGHT, i + 1]
        out[m] = i if twice < between else i + 1
    return out


@jit
def pruned(s, b):
    """Return at most ``b + 1`` points of a summary: those nearest the ranks (i / b) of its total.

    A summary of no more points is returned as it is.
    """
    k = s.shape[1]
    if k <= b + 1:
        return s.copy()
    wanted = np.empty(b + 1)
    for i in range(b + 1):
        wanted[i] = (i / b) * s[HIGH, k - 1]
    wanted[b] = s[HIGH, k - 1]
    chosen = nearest(s, wanted)
    # The ends stay, whatever rounding did to ranks: minimum and maximum are exact.
    chosen[0], chosen[b] = 0, k - 1
    out = np.empty((4, b + 1))
    m = 0
    for i in range(b + 1):
        if i == 0 or chosen[i] != chosen[i - 1]:
            for row in range(4):
                out[row, m] = s[row, chosen[i]]
            m += 1
    return out[:, :m].copy()
