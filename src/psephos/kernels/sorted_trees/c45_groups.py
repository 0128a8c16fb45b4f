"""Categories of a column put into groups, one branch for each: C4.5's value groups.

Quinlan (1993), chapter 7, "Grouping attribute values". One group for each category there is, those
of a single class with the others of that class; then, again and again, the two groups are united
whose union gives the best gain ratio, until two are left or no union is better than none. A union
keeps at least half the gain of the first groups, and two groups of weight M where there are two.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from psephos.kernels.sorted_trees.c45_worth import at_least, gain_ratio, spread, x_log2_x
from psephos.runtime.jit import jit


class Groups(NamedTuple):
    """Scratch of one column: the groups so far, and what the union of any two costs."""

    of: NDArray[np.int64]  # (codes,) the group of a code, -1 if no row has it
    bag: NDArray[np.float64]  # (codes, K)
    weight: NDArray[np.float64]  # (codes,) 0 for a group that was united with one before it
    mixed: NDArray[np.float64]  # (codes, codes) rise of N times the entropy
    merged: NDArray[np.float64]  # (codes, codes) fall of W times the split information
    name: NDArray[np.int64]  # (max(codes, K),) first the pure group of a class, then new numbers


def groups_for(codes, k):
    """Return scratch for columns of up to so many codes, and k classes."""
    return Groups(
        np.empty(codes, np.int64), np.empty((codes, k)), np.empty(codes), np.empty((codes, codes)),
        np.empty((codes, codes)), np.empty(max(codes, k), np.int64),
    )  # fmt: skip


@jit
def _sort(seen, met):
    for i in range(1, met):
        code, at = seen[i], i
        while at > 0 and seen[at - 1] > code:
            seen[at] = seen[at - 1]
            at -= 1
        seen[at] = code


@jit
def _begin(met, rule, c, g):
    """Write the first groups and return their number."""
    number = np.int64(0)
    for a in range(rule.n_classes):
        g.name[a] = -1
    for i in range(met):
        code = c.seen[i]
        own = np.int64(-1)
        for a in range(rule.n_classes):
            if c.bag[code, a] >= c.weight[code] - rule.tolerance:
                own = a
        at = g.name[own] if own >= 0 else -1
        if at < 0:
            at = number
            number += 1
            g.weight[at] = 0.0
            for a in range(rule.n_classes):
                g.bag[at, a] = 0.0
            if own >= 0:
                g.name[own] = at
        g.of[code] = at
        _unite(g, at, c.bag[code], c.weight[code])
    return number


@jit
def _unite(g, at, bag, weight):
    for a in range(len(bag)):
        g.bag[at, a] += bag[a]
    g.weight[at] += weight


@jit
def _compare(i, j, rule, table, c, g):
    """Write what the union of groups i < j changes; ``c.left`` is scratch."""
    for a in range(rule.n_classes):
        c.left[a] = g.bag[i, a] + g.bag[j, a]
    k = rule.n_classes
    g.mixed[i, j] = (
        spread(c.left, k, table) - spread(g.bag[i], k, table) - spread(g.bag[j], k, table)
    )
    g.merged[i, j] = (
        x_log2_x(g.weight[i] + g.weight[j], table)
        - x_log2_x(g.weight[i], table)
        - x_log2_x(g.weight[j], table)
    )


@jit
def group_codes(met, weight, rule, table, c, g):
    """Return (valid, gain, ratio, number) of the best groups of the codes in ``c.seen``.

    ``g.of`` holds the group of every code; groups are numbered by their first code.

    `met`: how many codes there are, at least 1. `weight`: W, of the node. `rule`, `table`, `c`, `g`
    C45Growth, (r,) float64, Counts, Groups.
    """
    tie = rule.tolerance
    _sort(c.seen, met)
    for code in range(len(g.of)):
        g.of[code] = -1
    number = left = _begin(met, rule, c, g)
    known = won = parts = 0.0
    n_enough = 0
    for i in range(number):
        known += g.weight[i]
        won -= spread(g.bag[i], rule.n_classes, table)
        parts += x_log2_x(g.weight[i], table)
        n_enough += at_least(g.weight[i], rule.least, tie)
        for j in range(i + 1, number):
            _compare(i, j, rule, table, c, g)
    won += spread(c.total, rule.n_classes, table)
    lost = x_log2_x(weight, table) - parts - x_log2_x(weight - known, table)
    enough = won / 2.0
    while left > 2:
        best = gain_ratio(won / weight, lost, weight, rule) if n_enough >= 2 else -np.inf
        first = second = -1
        for i in range(number):
            if g.weight[i] == 0.0:
                continue
            one = at_least(g.weight[i], rule.least, tie)
            for j in range(i + 1, number):
                if g.weight[j] == 0.0 or not at_least(won - g.mixed[i, j], enough, tie):
                    continue
                if n_enough == 2 and one and at_least(g.weight[j], rule.least, tie):
                    continue
                ratio = gain_ratio(
                    (won - g.mixed[i, j]) / weight, lost - g.merged[i, j], weight, rule
                )
                if ratio > best + tie:
                    best, first, second = ratio, i, j
        if first < 0:
            break
        won -= g.mixed[first, second]
        lost -= g.merged[first, second]
        n_enough -= at_least(g.weight[first], rule.least, tie)
        n_enough -= at_least(g.weight[second], rule.least, tie)
        _unite(g, first, g.bag[second], g.weight[second])
        n_enough += at_least(g.weight[first], rule.least, tie)
        g.weight[second] = 0.0
        left -= 1
        for i in range(met):
            if g.of[c.seen[i]] == second:
                g.of[c.seen[i]] = first
        for i in range(number):
            if i != first and g.weight[i] > 0.0:
                _compare(min(i, first), max(i, first), rule, table, c, g)
    left = 0
    for i in range(number):
        g.name[i] = left
        left += g.weight[i] > 0.0
    for i in range(met):
        g.of[c.seen[i]] = g.name[g.of[c.seen[i]]]
    gain = won / weight if abs(won) >= tie else 0.0
    return n_enough >= 2, gain, gain_ratio(gain, lost, weight, rule), left
