"""The best rule of a CART on one column, for one node: layout, worth, search.

A column is a row of `keys`: one number ``rank << 32 | row`` per known value, sorted, where `rank`
is the index of the value among the distinct values of the column. The value of a category is its
code. A node has the same span of every column; its entries are divided among its children in place
and stay sorted. Thresholds are looked up in `values` by rank, so that the table is not read while
the tree grows.

Breiman, Friedman, Olshen and Stone, Classification and Regression Trees (1984), sections 2.4, 4.3,
8.3 and 11.8; ties, directions and the least number of rows as in rpart (Therneau and Atkinson, An
Introduction to Recursive Partitioning).

The best rule on a column of categories:

Two classes or numbers: the levels are ordered by their mean; one of the nested subsets is the best
of all (Fisher 1958; Breiman et al. 1984, theorem 4.5), if none is rejected for too few rows on a
side. More classes: every subset, by exchanging one level at a time (Gray code); beyond `max_levels`
levels the nested subsets in the order of the first principal component of the levels' class shares
(Coppersmith, Hong and Hosking 1999, "Partitioning nominal attributes in decision trees", section
4), which may miss the best.
"""

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from psephos.kernels.numerics.ordering import order_of, sort_rows
from psephos.runtime.jit import jit

SHIFT = 32
ROW = (1 << SHIFT) - 1


class Cart(NamedTuple):
    """The training rows.

    `y` holds class indices, `target` numbers (centred). A row counts with `weight`, times `rho` of
    its class in the risk of a node, times `alpha` in the worth of splits; these factors are applied
    to sums, so that results do not depend on the order of rows. `copies` is the number of rows that
    a row counts as. `zero_one`: whether `loss` is 1 off the diagonal.
    ``values[start[j] : start[j + 1]]`` are the distinct values of column j.
    """

    n_classes: int
    y: NDArray[np.int32]
    target: NDArray[np.float64]
    weight: NDArray[np.float64]
    copies: NDArray[np.int64]
    alpha: NDArray[np.float64]
    rho: NDArray[np.float64]
    loss: NDArray[np.float64]
    zero_one: bool
    start: NDArray[np.int64]
    values: NDArray[np.float64]
    costs: NDArray[np.float64]


class Rules(NamedTuple):
    """Settings; `use` is 0 (surrogates are only listed), 1 (used) or 2 (then the majority)."""

    min_split: int
    min_leaf: int
    max_depth: int
    max_competitors: int
    max_surrogates: int
    of_known: bool
    use: int
    max_levels: int
    floor: float


class Slots(NamedTuple):
    """The best few rules of a node so far, best first; the i-th is in slot ``whole[i, 5]``.

    `whole` is (slots, 6): column, rows counted, side of the low values (-1 left, 1 right), number
    of levels, last rank of the low side; `real` is (slots, 3): worth, threshold, adjusted
    agreement. `level` (2, slots, levels) holds codes and branches, None without categories.
    """

    whole: NDArray[np.int64]
    real: NDArray[np.float64]
    level: NDArray[np.int32] | None


class Levels(NamedTuple):
    """Workspace by level of a category.

    `whole` (7, levels): code, rows (two rows), side, best side, order (two rows); `real` (2,
    levels): weight, key to sort by; `sums` (levels, K).
    """

    whole: NDArray[np.int64]
    real: NDArray[np.float64]
    sums: NDArray[np.float64]


class Scratch(NamedTuple):
    """Workspace: by class, by row, by level (None without categories).

    `sums` (6, K): weight in all, left and right of a cut, and the same times the classes' alpha.
    """

    sums: NDArray[np.float64]
    go: NDArray[np.int8]
    key: NDArray[np.int64]
    rows: NDArray[np.int32]
    level: Levels | None


def sorted_columns(values):
    """Return (keys, known, n_values, distinct values) of the columns that are the rows of (b, n).

    The first ``known[j]`` keys of a column are its entries; missing values come after them.
    """
    order, ranked, known = sort_rows(values)
    new = np.ones(ranked.shape, np.bool_)
    np.not_equal(ranked[:, 1:], ranked[:, :-1], out=new[:, 1:])
    keys = ((np.cumsum(new, axis=1) - 1) << SHIFT) | order
    new &= np.arange(values.shape[1]) < known[:, None]
    return keys, known, new.sum(axis=1), ranked[new] + 0.0


@jit
def cut_between(low, high):
    """Return the midpoint, or `high` if rounding would make it `low`."""
    middle = (low + high) / 2.0
    return middle if low < middle <= high else high


@jit
def keep_rows(keys, known, kept, out, out_known):
    """Write to `out` the entries of every column whose rows are `kept`."""
    for j in range(keys.shape[0]):
        m = 0
        for i in range(known[j]):
            key = keys[j, i]
            out[j, m] = key
            m += kept[key & ROW]
        out_known[j] = m


@jit
def put(slots, held, worth):
    """Return (slot for a rule of this worth or -1, number held); equals keep their order."""
    room = slots.whole.shape[0]
    if held == room:
        if held == 0 or worth <= slots.real[slots.whole[held - 1, 5], 0]:
            return -1, held
        held -= 1
    slot = slots.whole[held, 5]
    i = held
    while i > 0 and slots.real[slots.whole[i - 1, 5], 0] < worth:
        slots.whole[i, 5] = slots.whole[i - 1, 5]
        i -= 1
    slots.whole[i, 5] = slot
    slots.real[slot, 0] = worth
    return slot, held + 1


#: The decrease of the weighted Gini impurity; of the weighted entropy; and
#: ``W p_L p_R / 4 (sum_k |p(k|L) - p(k|R)|)^2``, half the largest decrease of Gini's impurity over
#: all ways to unite the classes into two.
GINI, ENTROPY, TWOING = range(3)


def worth(kind, parent, left, right):
    """Return the improvement by dividing the class weights `parent` (K,) into two sides."""
    total_p = total_l = total_r = squares_p = squares_l = squares_r = result = 0.0
    for k in range(len(parent)):
        squares_p += parent[k] * parent[k]
        squares_l += left[k] * left[k]
        squares_r += right[k] * right[k]
        total_p += parent[k]
        total_l += left[k]
        total_r += right[k]
    if kind == GINI:
        if total_l < 0.0 or total_r < 0.0:  # by rounding
            return -np.inf
        # A side without weight is pure, and must not divide by zero.
        pure_l = squares_l / total_l if total_l > 0.0 else 0.0
        pure_r = squares_r / total_r if total_r > 0.0 else 0.0
        return (pure_l + pure_r) - (squares_p / total_p if total_p > 0.0 else 0.0)
    if kind == TWOING and (total_l <= 0.0 or total_r <= 0.0):
        return 0.0
    for k in range(len(parent)):
        if kind == TWOING:
            result += abs(left[k] / total_l - right[k] / total_r)
        else:
            if parent[k] > 0.0:
                result -= parent[k] * np.log(parent[k] / total_p)
            if left[k] > 0.0:
                result += left[k] * np.log(left[k] / total_l)
            if right[k] > 0.0:
                result += right[k] * np.log(right[k] / total_r)
    if kind == TWOING:
        return total_l * total_r / (total_l + total_r) * result * result / 4.0
    return result


worth_inside = jit(worth)  # for kernels


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
    `min_leaf` rows on both sides; of equals the lowest is chosen. `crit` is one of the above.
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
