"""Information gain and gain ratio of the splits of C4.5, and the best split of one column.

Weights are fractional: a row with a missing value is part of every branch. The gain is per unit of
the node's weight W, of which T has known values: ``gain = (T H - sum_b T_b H_b) / W``, with
entropies in bits. Comparisons have a tolerance, as in J48 (nearly none for release 8).
"""

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from psephos.runtime.jit import jit

TIE = 1e-6  # J48's tolerance of equality


class C45Growth(NamedTuple):
    """Settings of growing."""

    n_classes: int  # K, including classes without rows
    least: float  # M, the least weight of two branches
    tolerance: float  # 1e-6 for J48, nearly 0 for release 8
    old: bool  # whether to follow release 8
    n_rows: float  # rows of the training table
    by_gain: bool = False  # whether splits are compared by gain, not by the gain ratio
    gap: float = 0.0  # values that differ by at most this are not separated


class Counts(NamedTuple):
    """Scratch of one column: class weights by code, and left of a cut."""

    bag: NDArray[np.float64]  # (codes, K)
    weight: NDArray[np.float64]  # (codes,)
    seen: NDArray[np.int64]  # (codes,) the codes that occur
    left: NDArray[np.float64]  # (K,)
    total: NDArray[np.float64]  # (K,) weights with known values
    part: NDArray[np.float64]  # (2, K) x log2 x of left and right
    moved: NDArray[np.int64]  # (K,) classes that occurred since the last cut
    flag: NDArray[np.bool_]  # (K,)


def counts_for(codes, k):
    """Return scratch for columns of up to `codes` codes, and k classes."""
    return Counts(
        np.zeros((codes, k)), np.zeros(codes), np.empty(codes, np.int64), np.empty(k),
        np.empty(k), np.empty((2, k)), np.empty(k, np.int64), np.empty(k, np.bool_),
    )  # fmt: skip


@jit
def x_log2_x(x, table):
    """Return x log2 x, 0 for x < 1e-6; `table` holds it for 0, 1, 2, ..."""
    whole = np.int64(x)
    if whole < len(table) and whole == x:
        return table[whole]
    if x < TIE:
        return 0.0
    return x * math.log2(x)


@jit
def at_least(a, b, tie):
    """Return whether a >= b, or nearly so."""
    return a >= b or b - a < tie


@jit
def gain_ratio(gain, lost, weight, rule):
    """Return gain / (lost / weight), or the gain; `lost` is W times the split information.

    Without split information it is 0 for J48, and -1 for release 8, which rejects the split.
    """
    if rule.old and lost <= 1e-3 * weight:
        return -1.0
    if not rule.old and abs(lost) < TIE:
        return 0.0
    return gain if rule.by_gain else gain * weight / lost


@jit
def best_cut(line, known, n_known, column, y, w, weight, rule, table, c):
    """Return (gain, ratio, i): the best cut is between positions i and i + 1; i is -1 for none.

    Parameters
    ----------
    line, known : (m,) int32, int; rows of the node by value, and the number that have a value
    n_known : weight of these rows in the training table
    column, y, w : (n,); values, classes, weights of rows in this node
    weight : W
    table, c : (r,) float64, Counts; ``c.total`` holds the class weights of rows with a value
    """
    k, tie = rule.n_classes, rule.tolerance
    in_all = right = 0.0
    for a in range(k):
        c.left[a], c.part[0, a], c.flag[a] = 0.0, 0.0, False
        in_all += c.total[a]
        c.part[1, a] = x_log2_x(c.total[a], table)
        right += c.part[1, a]
    whole = x_log2_x(in_all, table) - right
    least = 0.1 * in_all / k
    least = rule.least if at_least(rule.least, least, tie) else least if least < 25.0 else 25.0
    none = (0.0, 0.0, -1)
    if rule.old:
        if in_all < 2.0 * rule.least:
            return none
    elif not at_least(n_known, 2.0 * least, tie):
        return none
    best, best_at, tries, lower, left, moved = 0.0, -1, 0, 0.0, 0.0, 0
    upto = 0.0
    value = column[line[0]] if known > 0 else 0.0
    for i in range(known - 1):
        row = line[i]
        a = y[row]
        c.left[a] += w[row]
        lower += w[row]
        if not c.flag[a]:
            c.flag[a] = True
            c.moved[moved] = a
            moved += 1
        above = column[line[i + 1]]
        if value + rule.gap < above:
            upper = in_all - lower
            if rule.old and not at_least(upper, least, tie):
                break
            if at_least(lower, least, tie) and at_least(upper, least, tie):
                for b in range(moved):
                    a = c.moved[b]
                    c.flag[a] = False
                    now = x_log2_x(c.left[a], table)
                    left += now - c.part[0, a]
                    c.part[0, a] = now
                    now = x_log2_x(c.total[a] - c.left[a], table)
                    right += now - c.part[1, a]
                    c.part[1, a] = now
                moved = 0
                tries += 1
                won = whole - (x_log2_x(lower, table) - left) - (x_log2_x(upper, table) - right)
                gain = won / weight if abs(won) >= tie else 0.0
                if gain > best + tie:
                    best, best_at, upto = gain, i, lower
        value = above
    if tries == 0:
        return none
    best -= math.log2(tries) / weight
    if best_at < 0 or at_least(0.0, best, tie):
        return none
    lost = x_log2_x(weight, table) - x_log2_x(upto, table) - x_log2_x(in_all - upto, table)
    lost -= x_log2_x(weight - in_all, table)
    return best, gain_ratio(best, lost, weight, rule), best_at


@jit
def spread(bag, k, table):
    """Return N times the entropy of class weights."""
    n = inner = 0.0
    for a in range(k):
        n += bag[a]
        inner += x_log2_x(bag[a], table)
    return x_log2_x(n, table) - inner


@jit
def code_worth(met, weight, rule, table, c):
    """Return (valid, gain, ratio) of a split into the `met` codes in ``c.seen``."""
    k, tie = rule.n_classes, rule.tolerance
    known = inside = parts = 0.0
    n_enough = 0
    for i in range(met):
        code = c.seen[i]
        known += c.weight[code]
        n_enough += at_least(c.weight[code], rule.least, tie)
        inside += spread(c.bag[code], k, table)
        parts += x_log2_x(c.weight[code], table)
    if n_enough < 2:
        return False, 0.0, 0.0
    won = spread(c.total, k, table) - inside
    gain = won / weight if abs(won) >= tie else 0.0
    lost = x_log2_x(weight, table) - parts - x_log2_x(weight - known, table)
    return True, gain, gain_ratio(gain, lost, weight, rule)
