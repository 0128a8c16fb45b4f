"""The best rule on one column of categories, for one node of a CART.

Two classes or numbers: the levels are ordered by their mean; one of the nested subsets is the best
of all (Fisher 1958; Breiman et al. 1984, theorem 4.5), if none is rejected for too few rows on a
side. More classes: every subset, by exchanging one level at a time (Gray code); beyond `max_levels`
levels the nested subsets in the order of the first principal component of the levels' class shares
(Coppersmith, Hong and Hosking 1999, "Partitioning nominal attributes in decision trees", section
4), which may miss the best.
"""

import math

import numpy as np

from psephos.kernels.numerics.ordering import order_of
from psephos.kernels.sorted_trees.cart_layout import ROW, SHIFT
from psephos.kernels.sorted_trees.cart_scan import lower_left, worth_of
from psephos.runtime.jit import jit

_POWER = 100  # steps of the power method


@jit
def gather_levels(crit, target, data, keys, j, s, m, work):
    """Return the number of levels among the node's entries; write the sums of each."""
    n_levels = np.int64(0)
    last = np.int64(-1)
    for i in range(s, s + m):
        key = keys[j, i]
        row = key & ROW
        if key >> SHIFT != last:
            last = key >> SHIFT
            work.level.whole[0, n_levels] = np.int32(data.values[data.start[j] + last])
            work.level.whole[1, n_levels] = 0
            work.level.real[0, n_levels] = 0.0
            for k in range(work.level.sums.shape[1]):
                work.level.sums[n_levels, k] = 0.0
            n_levels += 1
        at = n_levels - 1
        work.level.whole[1, at] += data.copies[row]
        w = data.weight[row]
        work.level.real[0, at] += w
        if target is not None:
            work.level.sums[at, 0] += w * target[row]
        if crit is not None:
            work.level.sums[at, data.y[row]] += w
    return n_levels


@jit
def best_levels(crit, target, data, min_leaf, max_levels, rows, n_levels, work):
    """Return the worth of the best rule; write the side of every level to ``work.level``.

    Uses the sums of `gather_levels`; ``work.sums[0]`` holds the class sums of the known entries.
    """
    worth = 0.0
    if target is not None:
        whole = sums = 0.0
        for a in range(n_levels):
            whole += work.level.real[0, a]
            sums += work.level.sums[a, 0]
        mean = sums / whole
        for a in range(n_levels):
            work.level.sums[a, 0] -= mean * work.level.real[0, a]
            work.level.real[1, a] = _ratio(work.level.sums[a, 0], work.level.real[0, a])
        worth = _nested_numbers(min_leaf, rows, n_levels, whole, work)
    if crit is not None:
        if data.n_classes == 2:
            for a in range(n_levels):
                work.level.real[1, a] = _ratio(work.level.sums[a, 1], work.level.real[0, a])
        else:
            if n_levels <= max_levels:
                return _every_subset(crit, data, min_leaf, rows, n_levels, work)
            _principal_order(n_levels, work)
        worth = _nested_classes(crit, data, min_leaf, rows, n_levels, work)
    return worth


@jit
def _ratio(part, whole):
    return part / whole if whole > 0.0 else 0.0


@jit
def _nested_numbers(min_leaf, rows, n_levels, whole, work):
    room = work.level.whole[5:]
    order = room[order_of(work.level.real[1], n_levels, room)]
    best, cut = 0.0, -1
    weight_l = sum_l = 0.0
    below = np.int64(0)
    for i in range(n_levels - 1):
        a = order[i]
        weight_l += work.level.real[0, a]
        sum_l += work.level.sums[a, 0]
        below += work.level.whole[1, a]
        if below < min_leaf or rows - below < min_leaf:
            continue
        worth = sum_l * sum_l / weight_l + sum_l * sum_l / (whole - weight_l)
        if worth > best:
            best, cut = worth, i
    for i in range(n_levels):
        work.level.whole[4, order[i]] = -1 if i <= cut else 1
    return best


@jit
def _nested_classes(crit, data, min_leaf, rows, n_levels, work):
    room = work.level.whole[5:]
    order = room[order_of(work.level.real[1], n_levels, room)]
    left, right, total = work.sums[1], work.sums[2], work.sums[0]
    for k in range(total.shape[0]):
        left[k] = 0.0
        right[k] = total[k]
    base = worth_of(crit, data.alpha, work.sums)
    best, cut = base, -1
    where = np.int64(-1)
    below = np.int64(0)
    for i in range(n_levels - 1):
        a = order[i]
        for k in range(total.shape[0]):
            left[k] += work.level.sums[a, k]
            right[k] = total[k] - left[k]
        below += work.level.whole[1, a]
        if below < min_leaf or rows - below < min_leaf:
            continue
        worth = worth_of(crit, data.alpha, work.sums)
        if worth > best:
            best, cut = worth, i
            where = lower_left(work.sums)
    for i in range(n_levels):
        work.level.whole[4, order[i]] = where if i <= cut else -where
    return best - base


@jit
def _every_subset(crit, data, min_leaf, rows, n_levels, work):
    left, right, total = work.sums[1], work.sums[2], work.sums[0]
    for k in range(total.shape[0]):
        left[k] = 0.0
        right[k] = total[k]
    for a in range(n_levels):
        work.level.whole[3, a] = 1
    base = worth_of(crit, data.alpha, work.sums)
    best = base
    below = np.int64(0)
    for i in range(1, 1 << (n_levels - 1)):
        a = 0
        while (i >> a) & 1 == 0:
            a += 1
        sign = float(work.level.whole[3, a])  # 1: the level moves to the left
        work.level.whole[3, a] = -work.level.whole[3, a]
        below += work.level.whole[1, a] if sign > 0.0 else -work.level.whole[1, a]
        for k in range(total.shape[0]):
            left[k] += sign * work.level.sums[a, k]
            right[k] -= sign * work.level.sums[a, k]
        if below < min_leaf or rows - below < min_leaf:
            continue
        worth = worth_of(crit, data.alpha, work.sums)
        if worth > best:
            best = worth
            where = lower_left(work.sums)
            for b in range(n_levels):
                work.level.whole[4, b] = where if work.level.whole[3, b] < 0 else -where
    return best - base


@jit
def _principal_order(n_levels, work):
    """Write each level's first principal component of class shares."""
    k_all = work.sums.shape[1]
    mean, axis, turned = work.sums[3], work.sums[4], work.sums[5]
    whole = widest = 0.0
    for k in range(k_all):
        whole += work.sums[0, k]
    for k in range(k_all):
        mean[k] = work.sums[0, k] / whole
        axis[k] = 0.0
    for k in range(k_all):  # start from the class whose shares vary most
        spread = 0.0
        for a in range(n_levels):
            w = work.level.real[0, a]
            off = _ratio(work.level.sums[a, k], w) - mean[k]
            spread += w * (off * off)
        if spread > widest:
            widest = spread
            for c in range(k_all):
                axis[c] = 1.0 if c == k else 0.0
    for _ in range(_POWER):
        for k in range(k_all):
            turned[k] = 0.0
        for a in range(n_levels):
            w = work.level.real[0, a]
            along = 0.0
            for k in range(k_all):
                along += axis[k] * (_ratio(work.level.sums[a, k], w) - mean[k])
            for k in range(k_all):
                turned[k] += w * along * (_ratio(work.level.sums[a, k], w) - mean[k])
        length = 0.0
        for k in range(k_all):
            length += turned[k] * turned[k]
        length = math.sqrt(length)
        if length <= 0.0:
            break
        for k in range(k_all):
            axis[k] = turned[k] / length
    for a in range(n_levels):
        along = 0.0
        for k in range(k_all):
            along += axis[k] * _ratio(work.level.sums[a, k], work.level.real[0, a])
        work.level.real[1, a] = along
