"""Growing a CART depth first; the complexity of a node is known when its children are complete.

Cost-complexity: Breiman, Friedman, Olshen and Stone (1984), chapter 3. A node that does not lower
the risk by `alpha` per split becomes a leaf again as soon as its subtree is complete, as in rpart,
and an upper bound of the complexity is passed down, so that branches that would be cut are not
grown.
"""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from psephos.kernels.sorted_trees import cart_node
from psephos.kernels.sorted_trees.cart_search import Levels, Scratch, Slots
from psephos.runtime.jit import jit

# Columns of `whole` and of `real`, the tables of nodes.
NUMBER, ROWS, CLASS, CHILD, FIRST, N_RULES, N_SURROGATES, HEAVIER, DEPTH = range(9)
WEIGHT, RISK, COMPLEXITY, MEAN = range(4)


class CartNodes(NamedTuple):
    """A grown tree: `n_nodes` nodes, and their rules, those of a node from ``whole[:, FIRST]`` on.

    A node has N_RULES rules, the chosen one first, then N_SURROGATES surrogates. ``rule_whole`` is
    column, rows counted, side of the low values (-1 left, 1 right), first level, number of levels;
    ``rule_real`` worth (or agreement), threshold, adjusted agreement. The left child is CHILD, the
    right one CHILD + 1; 0 at a leaf. NUMBER is 1 at the root, and 2 i, 2 i + 1 below node i.
    """

    n_nodes: int
    whole: NDArray[np.int64]
    real: NDArray[np.float64]
    counts: NDArray[np.float64]
    rule_whole: NDArray[np.int64]
    rule_real: NDArray[np.float64]
    code: NDArray[np.int64]
    branch: NDArray[np.int64]


class Tables(NamedTuple):
    """Room for the arrays of `CartNodes`, and the number of rules; `level` is code and branch."""

    whole: NDArray[np.int64]
    real: NDArray[np.float64]
    counts: NDArray[np.float64]
    rule_whole: NDArray[np.int64]
    rule_real: NDArray[np.float64]
    level: NDArray[np.int64]


class Way(NamedTuple):
    """Data of the nodes on the path from the root to the current node, by depth."""

    # node, start, entries, phase, left entries, right entries or left splits, whether the node and
    # its right child may be split
    at: NDArray[np.int64]
    cap: NDArray[np.float64]  # of the complexity; risk on the left
    held: NDArray[np.int64]  # known entries of each column
    held_right: NDArray[np.int64]  # and of the right child
    whole: NDArray[np.int64]  # depth, nodes, rules, levels, splits below the last node, all once
    real: NDArray[np.float64]  # the largest worth so far, risk below the last node


def root_of(data, rows, counts):
    """Return the result of `describe` for some rows."""
    target = None if data.n_classes else data.target
    return cart_node.describe(target, data, rows, np.int64(0), np.int64(len(rows)), counts)


def _grown_of(held, n_nodes, n_rules, n_levels):
    """Return the tree of tables with these numbers of nodes, rules and levels."""
    whole, real, counts, rule_whole, rule_real, level = held
    return CartNodes(
        n_nodes, whole[:n_nodes].copy(), real[:n_nodes].copy(), counts[:n_nodes].copy(),
        rule_whole[:n_rules].copy(), rule_real[:n_rules].copy(), level[:n_levels, 0].copy(),
        level[:n_levels, 1].copy(),
    )  # fmt: skip


def _room(data, rules, n, n_levels):
    """Return (chosen rules, surrogates, scratch) with room for n rows and `n_levels` levels."""
    k, c = max(data.n_classes, 1), n_levels

    def slots(number):
        whole = np.zeros((number, 6), np.int64)
        whole[:, 5] = np.arange(number)
        level = np.zeros((2, number, c), np.int32) if n_levels else None
        return Slots(whole, np.zeros((number, 3)), level)

    level = None
    if n_levels:
        level = Levels(np.zeros((7, c), np.int64), np.zeros((2, c)), np.zeros((c, k)))
    work = Scratch(
        np.zeros((6, k)), np.zeros(len(data.weight), np.int8), np.zeros(n, np.int64),
        np.zeros(n, np.int32), level,
    )  # fmt: skip
    return slots(rules.max_competitors + 1), slots(rules.max_surrogates), work


@jit
def _store(slots, held, n_codes, at, level, rule_whole, rule_real, levels):
    """Copy the held rules of `slots` to the tables from row `at`; return the next free level."""
    for i in range(held):
        slot = slots.whole[i, 5]
        n_levels = slots.whole[slot, 3]
        rule_whole[at + i, 0] = slots.whole[slot, 0]
        rule_whole[at + i, 1] = slots.whole[slot, 1]
        rule_whole[at + i, 2] = slots.whole[slot, 2]
        rule_whole[at + i, 3] = level
        rule_whole[at + i, 4] = n_levels
        for c in range(3):
            rule_real[at + i, c] = slots.real[slot, c]
        if n_codes is not None:
            for a in range(n_levels):
                levels[level + a, 0] = slots.level[0, slot, a]
                levels[level + a, 1] = slots.level[1, slot, a]
            level += n_levels
    return level


@jit
def _enter(target, data, rules, whole, real, counts, node, number, depth, rows, s, n, alpha):
    """Write a new node, a leaf so far; return whether it may be split."""
    size, answer, weight, risk, mean = cart_node.describe(target, data, rows, s, n, counts[node])
    for c in range(whole.shape[1]):
        whole[node, c] = 0
    whole[node, NUMBER] = number
    whole[node, ROWS] = size
    whole[node, CLASS] = answer
    whole[node, DEPTH] = depth
    real[node, WEIGHT] = weight
    real[node, RISK] = risk
    real[node, COMPLEXITY] = alpha
    real[node, MEAN] = mean
    return _may_split(rules, size, weight, risk, depth, alpha)


def may_split(rules, size, weight, risk, depth, alpha):
    """Return whether a node may be split, by its rows, weight, risk and depth."""
    return (
        size >= rules.min_split
        and risk > alpha
        and risk > rules.floor * weight
        and depth < rules.max_depth
    )


_may_split = jit(may_split)


@jit
def _own_complexity(real, node, child, risk_l, splits_l, risk_r, splits_r):
    """Return (complexity, risk below, splits below); weaker children count as leaves."""
    risk = real[node, RISK]
    own = (risk - (risk_l + risk_r)) / (splits_l + splits_r + 1)
    left, right = real[child, COMPLEXITY], real[child + 1, COMPLEXITY]
    for turn in range(2):  # the weaker first
        if (turn == 0) == (left <= right):
            if own > left:
                risk_l, splits_l = real[child, RISK], 0
                own = (risk - (risk_l + risk_r)) / (splits_l + splits_r + 1)
        elif own > right:
            risk_r, splits_r = real[child + 1, RISK], 0
            own = (risk - (risk_l + risk_r)) / (splits_l + splits_r + 1)
    return own, risk_l + risk_r, splits_l + splits_r + 1


def _begin(data, rules, alpha, rows, known):
    """Return (tables, way) with the root and initial room."""
    n, p, k = len(rows), len(known), max(data.n_classes, 1)
    deep = min(rules.max_depth, n) + 2
    held = Tables(
        np.zeros((64, 9), np.int64), np.zeros((64, 4)), np.zeros((64, k)),
        np.zeros((64, 5), np.int64), np.zeros((64, 3)), np.zeros((64, 2), np.int64),
    )  # fmt: skip
    at, columns = np.zeros((deep, 8), np.int64), np.zeros((2, deep, p), np.int64)
    way = Way(
        at, np.zeros((deep, 2)), columns[0], columns[1], np.array([0, 1, 0, 0, 0, 0]), np.zeros(2)
    )
    size, answer, weight, risk, mean = root_of(data, rows, held.counts[0])
    held.whole[0, [NUMBER, ROWS, CLASS]] = 1, size, answer
    held.real[0] = weight, risk, alpha, mean
    at[0, 2], at[0, 6] = n, may_split(rules, size, weight, risk, 0, alpha)
    way.cap[0, 0], way.held[0] = risk, known
    return held, way


def grow(crit, target, data, n_codes, rules, alpha, keys, known, rows, n_levels):
    """Grow one tree on `rows`, whose sorted entries are ``keys[j, :known[j]]``; both are changed.

    alpha is the least risk that a split must save; `crit` is a criterion of ``cart_search``, None
    for numbers; `target` holds these, None for classes. `n_codes` is 0 for a column of numbers,
    None if all columns are: numba does not compile code for None. A column has at most `n_levels`
    categories.
    """
    slots, surrogates, work = _room(data, rules, len(rows), n_levels)
    held, way = _begin(data, rules, alpha, rows, known)
    n_rules = rules.max_competitors + 1 + rules.max_surrogates
    parts = (crit, target, data, n_codes, rules, alpha, keys, rows, slots, surrogates, work)
    while _grow(*parts, held, way, n_rules, n_rules * n_levels):
        needs = way.whole[[1, 1, 1, 2, 2, 3]] + (2, 2, 2, n_rules, n_rules, n_rules * n_levels)
        longer: Any = map(_longer, held, needs.tolist())
        held = Tables(*longer)
    return _grown_of(held, *way.whole[1:4].tolist())


def _longer(table, needed):
    if needed <= len(table):
        return table
    longer = np.zeros((max(needed, 2 * len(table)), table.shape[1]), table.dtype)
    longer[: len(table)] = table
    return longer


@jit
def _grow(
    crit, target, data, n_codes, rules, alpha, keys, rows, slots, surrogates, work, held,
    way, most, most_levels,
):  # fmt: skip
    """Continue to grow the tree of `grow`; return whether a table is too short for the next node.

    A node has up to `most` rules, of `most_levels` levels.
    """
    p = keys.shape[0]
    whole, real, counts, rule_whole, rule_real, levels = held
    at, cap, held_at, held_right, state, past = way
    d, n_nodes, n_rules, level, done_splits = state[0], state[1], state[2], state[3], state[4]
    largest, done_risk = past[0], past[1]
    short = False
    while d >= 0:
        node, s, n, phase = at[d, 0], at[d, 1], at[d, 2], at[d, 3]
        risk = real[node, RISK]
        capped = cap[d, 0]
        if risk < capped:
            capped = risk
        if phase == 0:
            found = np.int64(0)
            if capped > alpha and at[d, 6] > 0:
                short = n_nodes + 2 > whole.shape[0] or n_rules + most > rule_whole.shape[0]
                if short or level + most_levels > levels.shape[0]:
                    short = True
                    break
                found, largest = cart_node.find_rules(
                    crit, target, data, n_codes, rules, keys, s, n, held_at[d], risk, largest,
                    slots, work,
                )  # fmt: skip
            if found == 0:
                real[node, COMPLEXITY] = alpha
                done_risk, done_splits = risk, np.int64(0)
                d -= 1
                continue
            n_surrogates, left, right, lost = cart_node.find_surrogates(
                data, n_codes, rules, keys, s, n, held_at[d], rows, slots.whole[0, 5], slots,
                surrogates, work,
            )  # fmt: skip
            heavier = cart_node.send(
                data, n_codes, rules, keys, s, n, held_at[d], rows, surrogates, n_surrogates,
                left, right, lost, work.go,
            )  # fmt: skip
            level = _store(slots, found, n_codes, n_rules, level, rule_whole, rule_real, levels)
            level = _store(
                surrogates,
                n_surrogates,
                n_codes,
                n_rules + found,
                level,
                rule_whole,
                rule_real,
                levels,
            )
            whole[node, CHILD] = n_nodes
            whole[node, FIRST] = n_rules
            whole[node, N_RULES] = found
            whole[node, N_SURROGATES] = n_surrogates
            whole[node, HEAVIER] = heavier
            n_rules += found + n_surrogates
            n_left, n_right = cart_node.divide_rows(rows, s, n, work.go, work.rows)
            for side in range(2):
                n_side, start = (n_right, s + n_left) if side else (n_left, s)
                may = _enter(
                    target, data, rules, whole, real, counts, n_nodes + side,
                    2 * whole[node, NUMBER] + side, d + 1, rows, start, n_side, alpha,
                )  # fmt: skip
                if side:
                    at[d, 7] = may
                else:
                    at[d + 1, 6] = may
            lives_l = capped - alpha > alpha and at[d + 1, 6] > 0
            lives_r = at[d, 7] > 0
            if lives_l or lives_r:
                cart_node.divide(
                    keys, held_at[d], s, work.go, n_left, lives_r, held_at[d + 1],
                    held_right[d], work.key,
                )  # fmt: skip
            at[d, 3], at[d, 4] = 1, n_left
            at[d + 1, 0], at[d + 1, 1], at[d + 1, 2], at[d + 1, 3] = n_nodes, s, n_left, 0
            cap[d + 1, 0] = capped - alpha
            at[d, 5] = n_right
            n_nodes += 2
            d += 1
        elif phase == 1:
            n_left, n_right = at[d, 4], at[d, 5]
            child = whole[node, CHILD]
            cap[d, 1] = done_risk
            at[d, 3], at[d, 5] = 2, done_splits
            save = (risk - done_risk) / (done_splits + 1)
            if save < risk - real[child, RISK]:
                save = risk - real[child, RISK]
            for j in range(p):
                held_at[d + 1, j] = held_right[d, j]
            at[d + 1, 0], at[d + 1, 1] = child + 1, s + n_left
            at[d + 1, 2], at[d + 1, 3], at[d + 1, 6] = n_right, 0, at[d, 7]
            cap[d + 1, 0] = (save if save < capped else capped) - alpha
            d += 1
        else:
            child = whole[node, CHILD]
            own, below, splits = _own_complexity(
                real, node, child, cap[d, 1], at[d, 5], done_risk, done_splits
            )
            real[node, COMPLEXITY] = own
            if own <= alpha:
                n_nodes, n_rules = child, whole[node, FIRST]
                level = rule_whole[n_rules, 3]
                for c in range(CHILD, HEAVIER + 1):
                    whole[node, c] = 0
                done_risk, done_splits = risk, np.int64(0)
            else:
                done_risk, done_splits = below, splits
            d -= 1
    if not short:
        _settle(whole, real, n_nodes)
    state[0], state[1], state[2], state[3], state[4] = d, n_nodes, n_rules, level, done_splits
    past[0], past[1] = largest, done_risk
    return short


@jit
def _settle(whole, real, n):
    """Limit each node's complexity to its parent's."""
    for i in range(n):
        child = whole[i, CHILD]
        if child > 0:
            for c in range(child, child + 2):
                if real[i, COMPLEXITY] < real[c, COMPLEXITY]:
                    real[c, COMPLEXITY] = real[i, COMPLEXITY]
