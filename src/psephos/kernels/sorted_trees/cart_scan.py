"""The best rule on one column of numbers, for one node of a CART.

Breiman, Friedman, Olshen and Stone (1984), sections 2.4 and 8.3; ties, directions and the least
number of rows as in rpart (Therneau and Atkinson, An Introduction to Recursive Partitioning).
"""

import numpy as np

from psephos.kernels.sorted_trees.cart_layout import ROW, SHIFT
from psephos.kernels.sorted_trees.cart_worth import GINI, worth_inside
from psephos.runtime.jit import jit

_NEAR = 1e-9  # cuts whose approximate worth is this close to the best, per weight, are recomputed


@jit
def class_sums(data, keys, j, s, m, total):
    """Write the weight of every class among the node's entries; return rows and weight."""
    for k in range(total.shape[0]):
        total[k] = 0.0
    rows = np.int64(0)
    weight = 0.0
    y, weights, copies = data.y, data.weight, data.copies
    for i in range(s, s + m):
        row = keys[j, i] & ROW
        rows += copies[row]
        total[y[row]] += weights[row]
        weight += weights[row]
    return rows, weight


@jit
def worth_of(crit, alpha, sums):
    """Return the worth of dividing ``sums[0]`` into ``sums[1]`` and ``sums[2]``."""
    for k in range(len(alpha)):
        sums[3, k] = alpha[k] * sums[0, k]
        sums[4, k] = alpha[k] * sums[1, k]
        sums[5, k] = alpha[k] * sums[2, k]
    return worth_inside(crit, sums[3], sums[4], sums[5])


@jit
def lower_left(sums):
    """Return -1 if the mean class index of the sides of `worth_of` is lower on the left, else 1."""
    left, right = sums[4], sums[5]
    mean_l = mean_r = total_l = total_r = 0.0
    for k in range(len(left)):
        mean_l += k * left[k]
        mean_r += k * right[k]
        total_l += left[k]
        total_r += right[k]
    return np.int64(-1) if mean_l / total_l < mean_r / total_r else np.int64(1)


@jit
def scan_classes(crit, data, min_leaf, keys, j, s, m, rows, work):
    """Return (worth, last rank below the cut, first above, side of the low values).

    ``work.sums[0]`` holds the class sums of the m known entries, which are `rows` rows. A cut needs
    `min_leaf` rows on both sides; of equals the lowest is chosen. `crit` is one of `cart_worth`.
    """
    sums = work.sums
    left, right = sums[1], sums[2]
    whole = terms_l = terms_r = 0.0
    for k in range(data.n_classes):
        left[k] = 0.0
        right[k] = sums[0, k]
        whole += data.alpha[k] * right[k]
        terms_r += (data.alpha[k] * right[k]) * (data.alpha[k] * right[k])
    base = worth_of(crit, data.alpha, sums)
    best, low, high, where = base, np.int64(-1), np.int64(-1), np.int64(0)
    screened, bar = crit == GINI, -np.inf  # others are computed exactly at every cut
    weight_l, below = 0.0, np.int64(0)
    alpha, y, weights, copies = data.alpha, data.y, data.weight, data.copies
    for i in range(s, s + m - 1):
        key = keys[j, i]
        row = key & ROW
        k = y[row]
        had, has = left[k], right[k]
        w, a = weights[row], alpha[k]
        left[k] = had + w
        right[k] = has - w
        terms_l += (a * left[k]) * (a * left[k]) - (a * had) * (a * had)
        terms_r += (a * right[k]) * (a * right[k]) - (a * has) * (a * has)
        weight_l += a * w
        below += copies[row]
        after = keys[j, i + 1] >> SHIFT
        if after == key >> SHIFT or below < min_leaf:
            continue
        if rows - below < min_leaf:
            break
        weight_r = whole - weight_l
        if weight_l <= 0.0 or weight_r <= 0.0:
            continue
        worth = terms_l / weight_l + terms_r / weight_r
        if screened and worth < bar - _NEAR * whole:
            continue
        if worth > bar:
            bar = worth
        exact = worth_of(crit, alpha, sums)
        if exact > best:
            best, low, high, where = exact, key >> SHIFT, after, lower_left(sums)
    return best - base, low, high, where


@jit
def scan_numbers(target, data, min_leaf, keys, j, s, m, rows):
    """Return the same for a numeric target; the worth is the decrease of the sum of squares."""
    weights, copies = data.weight, data.copies
    sums = whole = 0.0
    for i in range(s, s + m):
        row = keys[j, i] & ROW
        w = weights[row]
        sums += w * target[row]
        whole += w
    mean = sums / whole
    best, low, high, where = 0.0, np.int64(-1), np.int64(-1), np.int64(0)
    weight_l = sum_l = 0.0
    below = np.int64(0)
    for i in range(s, s + m - 1):
        key = keys[j, i]
        row = key & ROW
        w = weights[row]
        below += copies[row]
        weight_l += w
        sum_l += w * (target[row] - mean)
        after = keys[j, i + 1] >> SHIFT
        if after == key >> SHIFT or below < min_leaf:
            continue
        if rows - below < min_leaf:
            break
        weight_r = whole - weight_l
        if weight_r <= 0.0:
            continue
        worth = sum_l * sum_l / weight_l + sum_l * sum_l / weight_r
        if worth > best:
            best, low, high = worth, key >> SHIFT, after
            where = np.int64(-1) if sum_l < 0.0 else np.int64(1)
    return best, low, high, where
