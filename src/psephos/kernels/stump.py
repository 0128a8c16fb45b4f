"""Search for the best decision stump: thresholds in sorted columns, and divisions of categories.

Weights must be multiples of one power of two (``round_weights``), so that all their sums are exact:
the gain of a split does not depend on the order of its rows, and equal splits have exactly equal
gains, in any column.

The screens are for two classes. Weights are rounded to integers with a sum below 2^30, so that
running sums in 32 bits are exact, and the only error is the known rounding of the weights. A column
can have the best split only if its screen value is within twice that error of the greatest; only
those few columns are searched in float64.
"""

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from psephos.kernels.numerics.ordering import order_of
from psephos.runtime.jit import jit

ROW = np.uint32(2**31 - 1)  # the bits of an entry that hold its row
FLAG = np.uint32(2**31)  # the bit of an entry that a threshold may follow
_LOW, _HIGH = np.int32(-(2**31) + 1), np.int32(2**31 - 1)
_ONE, _NONE = np.int32(1), np.float32(-1.0)


class Worth(NamedTuple):
    """The criterion of splits; the gain is -inf if a side has less weight than `least`.

    `by_error` is None for Gini, so that numba compiles only one of the two.
    """

    by_error: bool | None
    n_classes: int
    least: float = 0.0


def gain(crit, parent, left, right):
    """Return the gain of dividing ``parent`` into ``left`` and ``right``, totals per class (K,).

    By Gini it is the decrease of the weighted impurity ``W (1 - sum_k (w_k / W)^2)``. By error it
    is the correctly classified weight with the best pair of different labels, less the heaviest
    class: ``max over k != l of (left[k] + right[l]) - max_k parent[k]``. The two sides always have
    different labels, so that the rule is never constant, and its gain can be negative.
    """
    total_p = total_l = total_r = 0.0
    if crit.by_error is None:
        squares_p = squares_l = squares_r = 0.0
        for k in range(crit.n_classes):
            squares_p += parent[k] * parent[k]
            squares_l += left[k] * left[k]
            squares_r += right[k] * right[k]
            total_p += parent[k]
            total_l += left[k]
            total_r += right[k]
        # A side without weight is pure, and must not divide by zero.
        pure_l = squares_l / total_l if total_l > 0.0 else 0.0
        pure_r = squares_r / total_r if total_r > 0.0 else 0.0
        pure_p = squares_p / total_p if total_p > 0.0 else 0.0
        light = total_l < crit.least or total_r < crit.least
        return -np.inf if light else (pure_l + pure_r) - pure_p
    first_l = first_r = second_l = second_r = heaviest = -np.inf
    where_l = where_r = -1
    if crit.n_classes == 2:  # the same without unpredictable branches
        total_l = left[0] + left[1]
        total_r = right[0] + right[1]
        heaviest = max(parent[0], parent[1])
        first_l = max(left[0] + right[1], left[1] + right[0])
        first_r = 0.0
    else:
        for k in range(crit.n_classes):
            total_l += left[k]
            total_r += right[k]
            heaviest = max(heaviest, parent[k])
            if left[k] > first_l:
                second_l = first_l
                first_l = left[k]
                where_l = k
            elif left[k] > second_l:
                second_l = left[k]
            if right[k] > first_r:
                second_r = first_r
                first_r = right[k]
                where_r = k
            elif right[k] > second_r:
                second_r = right[k]
    value = first_l + first_r
    if where_l == where_r and where_l >= 0:
        value = max(second_l + first_r, first_l + second_r)
    light = crit.least > 0.0 and (total_l < crit.least or total_r < crit.least)
    return -np.inf if light else value - heaviest


gain_inside = jit(forceinline=True)(gain)  # for kernels


def round_weights(weights: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return weights rounded to multiples of ``2^-52`` of a power of two above their sum.

    The change of a weight is at most ``2^-53`` of that power; all partial sums are then exact.
    """
    total = float(weights.sum())
    if not 0.0 < total < math.inf:
        return weights
    exponent = 52 - math.frexp(total)[1]
    if not -1000 < exponent < 1000:  # sums near the limits of float64 are not rounded
        return weights
    whole = weights * 2.0**exponent
    np.rint(whole, out=whole)
    whole *= 2.0**-exponent
    return whole


@jit
def _with_absent(crit, parent, left, right, absent, best):
    """Return (gain, missing left): (`best`, False) unless missing rows gain on the left."""
    for c in range(len(absent)):
        left[c] += absent[c]
        right[c] -= absent[c]
    value = gain_inside(crit, parent, left, right)
    for c in range(len(absent)):
        left[c] -= absent[c]
        right[c] += absent[c]
    return (value, True) if value > best else (best, False)


@jit
def scan_ordered(
    crit, order, columns, n_present, labels, weights, parent, sums, gains, cuts, missing_left
):
    """Find the best threshold of some sorted columns.

    Parameters
    ----------
    order : (p, n) uint32: rows sorted by a column's values; a threshold may follow an entry with
        `FLAG`
    columns : (c,) int64, rows of ``order``
    n_present : (c,) int64, number of rows that are not missing, which are first
    labels, weights : (n + 1,), the last being the padding row
    parent : (K,) totals per class
    sums : (3, K) scratch
    gains, cuts, missing_left : (c,) results. Cut k is after the k-th entry of the order; -1 if no
        cut is admissible.
    """
    n_classes = parent.shape[0]
    left, right, absent = sums[0], sums[1], sums[2]
    for w in range(columns.shape[0]):
        j, present = columns[w], n_present[w]
        missing = present < order.shape[1]
        for c in range(n_classes):
            left[c] = 0.0
            right[c] = parent[c]
            absent[c] = parent[c] if missing else 0.0
        if missing:
            for k in range(present):
                row = order[j, k] & ROW
                absent[labels[row]] -= weights[row]
        best = -np.inf
        cut = -1
        side = False
        for k in range(present):
            row = order[j, k] & ROW
            left[labels[row]] += weights[row]
            right[labels[row]] -= weights[row]
            if order[j, k] > ROW:
                value, to_left = gain_inside(crit, parent, left, right), False
                if missing and k < present - 1:
                    value, to_left = _with_absent(crit, parent, left, right, absent, value)
                if value > best:
                    best, cut, side = value, k, to_left
        gains[w] = best
        cuts[w] = cut
        missing_left[w] = side


@jit
def scan_sparse(
    crit, start, rows, edge, n_below, n_present, zeros, columns, labels, weights, parent,
    gains, cuts, missing_left,
):  # fmt: skip
    """Find the best threshold of each sparse column: sorted stored values, zeros as one tie group.

    ``start`` (p + 1,), ``rows`` and ``edge`` (whether a threshold may follow) describe the stored
    entries, missing last; ``n_below`` (p,) is the number of negative ones, ``n_present`` (p,) that
    of values, ``zeros`` (p,) whether a zero occurs. Cuts count the zero group as one entry.
    """
    n_classes = parent.shape[0]
    left = np.empty(n_classes)
    right = np.empty(n_classes)
    absent = np.empty(n_classes)
    zero = np.empty(n_classes)
    for w in range(columns.shape[0]):
        j = columns[w]
        first, end = start[j], start[j + 1]
        present, below = n_present[j], n_below[j]
        missing = first + present < end
        for c in range(n_classes):
            left[c] = 0.0
            right[c] = parent[c]
            absent[c] = 0.0
            zero[c] = parent[c]
        for s in range(first, end):
            c = labels[rows[s]]
            zero[c] -= weights[rows[s]]
            if s >= first + present:
                absent[c] += weights[rows[s]]
        best = -np.inf
        cut = -1
        side = False
        length = present + (1 if zeros[j] else 0)
        for k in range(length):
            if zeros[j] and k == below:
                for c in range(n_classes):
                    left[c] += zero[c]
                    right[c] -= zero[c]
                admissible = True
            else:
                s = first + k - (1 if zeros[j] and k > below else 0)
                left[labels[rows[s]]] += weights[rows[s]]
                right[labels[rows[s]]] -= weights[rows[s]]
                admissible = edge[s]
            if k == length - 1:
                admissible = missing
            if admissible:
                value, to_left = gain_inside(crit, parent, left, right), False
                if missing and k < length - 1:
                    value, to_left = _with_absent(crit, parent, left, right, absent, value)
                if value > best:
                    best, cut, side = value, k, to_left
        gains[w] = best
        cuts[w] = cut
        missing_left[w] = side


def quantise(
    weights: NDArray[np.float64], labels: NDArray[np.int64]
) -> tuple[NDArray[np.int32], int, int, float] | None:
    """Return (integer weights (n,), negative in the first class, their sum, sum of sizes, error).

    The error is the sum of the absolute rounding errors, in units of the rounded weights. None if
    the weights are nearly zero, or their sum is not finite.
    """
    total, n = float(weights.sum()), len(weights)
    if not 2.0**-900 < total < np.inf:  # no factor is possible
        return None
    # The greatest power of two that keeps the sum, rounding included, below 2^30.
    factor = 2.0 ** math.floor(math.log2((2.0**30 - n) / total))
    whole = np.floor(weights * factor + 0.5)
    signed = np.where(labels == 1, whole, -whole).astype(np.int32)
    return (
        signed,
        int(signed.sum()),
        int(whole.sum()),
        float(np.abs(weights * factor - whole).sum()),
    )


@jit
def screen_error(order, table, total, sums, values):
    """Write the greatest ``|2 S - D|`` over the splits of each column, S the signed sum left.

    ``order`` (c, n) uint32, ``table`` (n + 1,) int32 and ``total`` of `quantise`, ``sums`` (2, n)
    int32 scratch, ``values`` (c,) result. Missing rows are tried on both sides, including "all on
    one side": an upper bound.
    """
    running = sums[0]
    for j in range(len(values)):
        rows, s = order[j], np.int32(0)
        for k in range(len(rows)):
            s += table[rows[k] & ROW]
            running[k] = s
        top, bottom = _LOW, _HIGH
        for k in range(len(rows)):  # a separate loop, which is vectorised
            top = max(top, running[k] if rows[k] > ROW else _LOW)
            bottom = min(bottom, running[k] if rows[k] > ROW else _HIGH)
        absent, up, down = total - s, 2 * np.int64(top) - total, 2 * np.int64(bottom) - total
        value = max(abs(up), abs(down))
        if absent != 0:
            value = max(value, abs(up + 2 * absent), abs(down + 2 * absent))
        values[j] = value


@jit(fastmath={"nnan", "nsz"})
def screen_gini(order, table, total_d, total_w, sums, values):
    """Write the greatest ``d^2 / w`` of left plus right over the splits of each column, in float32.

    Parameters are as in `screen_error`; ``total_w`` is the sum of weights. Missing rows count as
    right, so that the value is valid only for columns without any.
    """
    running_d, running_w = sums[0], sums[1]
    all_d, all_w = np.int32(total_d), np.int32(total_w)
    for j in range(len(values)):
        rows, d, w = order[j], np.int32(0), np.int32(0)
        for k in range(len(rows)):
            step = table[rows[k] & ROW]
            d += step
            w += abs(step)
            running_d[k], running_w[k] = d, w
        best = _NONE
        for k in range(len(rows)):
            here_d, here_w = running_d[k], running_w[k]
            left, right = np.float32(here_d), np.float32(np.int32(all_d - here_d))
            w_l = np.float32(max(here_w, _ONE))
            w_r = np.float32(max(np.int32(all_w - here_w), _ONE))
            value = (left * left * w_r + right * right * w_l) / (w_l * w_r)
            value = value if rows[k] > ROW else _NONE
            best = value if value > best else best
        values[j] = best


@jit
def _take_if_better(crit, parent, table, chosen, left, right, best, out):
    """Return the greater of ``best`` and the gain of ``chosen``; copy a better one to ``out``."""
    n_classes = parent.shape[0]
    for c in range(n_classes):
        left[c] = 0.0
        right[c] = parent[c]
    for g in range(table.shape[0]):
        if chosen[g]:
            for c in range(n_classes):
                left[c] += table[g, c]
                right[c] -= table[g, c]
    value = gain_inside(crit, parent, left, right)
    if value > best:
        for g in range(table.shape[0]):
            out[g] = chosen[g]
        return value
    return best


@jit
def _best_by_error(crit, parent, table, groups, count, chosen, left, right, out):
    """Put every group on its better side, for each pair of labels: the exact optimum."""
    best = -np.inf
    for k in range(parent.shape[0]):
        for m in range(k + 1, parent.shape[0]):
            n_left = 0
            easy_left = easy_right = groups[0]
            for i in range(count):
                g = groups[i]
                lead = table[g, k] - table[g, m]
                chosen[g] = lead > 0.0
                n_left += 1 if chosen[g] else 0
                if lead > table[easy_left, k] - table[easy_left, m]:
                    easy_left = g
                if lead < table[easy_right, k] - table[easy_right, m]:
                    easy_right = g
            # Both sides need a group: the one that loses least is moved.
            if n_left == 0:
                chosen[easy_left] = True
            elif n_left == count:
                chosen[easy_right] = False
            best = _take_if_better(crit, parent, table, chosen, left, right, best, out)
    return best


@jit
def _best_by_share(crit, parent, table, groups, count, chosen, left, right, out, shares):
    """Sort the groups by the share of one class and cut: exact for two classes.

    Breiman et al. (1984), theorem 4.5. With more classes each class is tried in turn, which is a
    heuristic.
    """
    best = -np.inf
    n_classes = parent.shape[0]
    scratch = np.empty((2, count), np.int64)
    for k in range(1 if n_classes == 2 else 0, n_classes):
        for i in range(count):
            g = groups[i]
            total = 0.0
            for c in range(n_classes):
                total += table[g, c]
            shares[i] = table[g, k] / total
            chosen[g] = False
        order = scratch[order_of(shares, count, scratch)]
        for i in range(count - 1):
            chosen[groups[order[i]]] = True
            best = _take_if_better(crit, parent, table, chosen, left, right, best, out)
    return best


@jit
def scan_categories(crit, codes, n_codes, which, labels, weights, parent, gains, out):
    """Find the best grouping of each categorical column.

    Parameters
    ----------
    codes : (columns, n) int32; missing is ``n_codes[j]``, a separate group
    n_codes : (columns,) int64
    which : (c,) int64, rows of ``codes`` to search
    labels, weights : (n,) or longer
    parent : (K,)
    gains : (c,) result, -inf if fewer than two groups have weight
    out : (>= max(n_codes) + 1,) bool, groups that go left in the last column searched
    """
    n = codes.shape[1]
    n_classes = parent.shape[0]
    left = np.empty(n_classes)
    right = np.empty(n_classes)
    size = out.shape[0]
    chosen = np.zeros(size, np.bool_)
    shares = np.zeros(size)
    groups = np.zeros(size, np.int64)
    full = np.zeros((size, n_classes))
    for w in range(which.shape[0]):
        j = which[w]
        n_groups = n_codes[j] + 1
        table = full[:n_groups]
        table[:] = 0.0
        for g in range(size):
            chosen[g] = False
            out[g] = False
        for i in range(n):
            table[codes[j, i], labels[i]] += weights[i]
        count = 0
        for g in range(n_groups):
            total = 0.0
            for c in range(n_classes):
                total += table[g, c]
            if total > 0.0:
                groups[count] = g
                count += 1
        gains[w] = -np.inf
        if count < 2:
            continue
        if crit.by_error is not None:  # the exact optimum
            gains[w] = _best_by_error(crit, parent, table, groups, count, chosen, left, right, out)
        too_light = gains[w] == -np.inf and crit.least > 0.0
        if crit.by_error is None or too_light:
            gains[w] = _best_by_share(
                crit, parent, table, groups, count, chosen, left, right, out, shares
            )
