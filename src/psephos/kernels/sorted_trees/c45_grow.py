"""C4.5: the worth of splits, and the growth of a tree.

Weights are fractional: a row with a missing value is part of every branch. The gain is per unit of
the node's weight W, of which T has known values: ``gain = (T H - sum_b T_b H_b) / W``, with
entropies in bits. Comparisons have a tolerance, as in J48 (nearly none for release 8).

A node has a list of its rows, and for every numeric column a list of the rows with a value, sorted.
The lists of the open nodes form a stack in an arena, the next node to split on top. A split
replaces the lists of its node by those of its children; rows with a missing value go to every
child with a part of their weight. A child that will not be split gets no list. The heaviest child
is lowest in the stack, so that the arena stays short.
"""

import math
from typing import Any, NamedTuple

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


_EPSILON = 1e-3
_NODES, _WAITING, _ARENA = 1, 2, 3  # arrays that are too short


class Nodes(NamedTuple):
    """The nodes of a tree; a leaf has no child and column -1.

    The threshold is NaN in a node with a branch for each code.
    """

    child: NDArray[np.int64]
    n_children: NDArray[np.int64]
    column: NDArray[np.int64]
    threshold: NDArray[np.float64]
    share: NDArray[np.float64]
    gain: NDArray[np.float64]
    n_rows: NDArray[np.int64]
    counts: NDArray[np.float64]


class Workspace(NamedTuple):
    """Workspace, allocated and extended outside the kernel.

    The lists are in `arena`: row 0 those of all rows, row 1 + f those of numeric column f; the
    first entry of a list is its length. `weights` holds the weights of the rows in row 0. By row:
    weight in this node, branch, a copy. By column: gain, ratio, validity, position of the cut,
    whether the column was tested above. Then the waiting nodes with the start of their lists, the
    parents (release 8 only), and two arrays by branch.
    """

    arena: NDArray[np.int32]
    weights: NDArray[np.float64]
    w: NDArray[np.float64]
    branch: NDArray[np.int32]
    scratch: NDArray[np.int32]
    gain: NDArray[np.float64]
    ratio: NDArray[np.float64]
    valid: NDArray[np.bool_]
    where: NDArray[np.int64]
    tested: NDArray[np.bool_]
    waiting: NDArray[np.int64]
    start: NDArray[np.int64]
    up: NDArray[np.int64]
    slot: NDArray[np.int64]
    place: NDArray[np.int64]


def longer(a: NDArray[Any], size: int, rest: float = 0) -> NDArray[Any]:
    """Return an array extended to `size` or at least twice its length, filled with `rest`."""
    size = max(size, 2 * len(a))
    out = np.full((size, *a.shape[1:]), rest, a.dtype)
    out[: len(a)] = a
    return out


def _begin(y, weight, order, known, p, rule, widest):
    """Return (nodes, room) with the root and its lists."""
    n, q, size = len(y), len(known), 256
    nodes = Nodes(
        np.zeros(size, np.int64), np.zeros(size, np.int64), np.full(size, -1, np.int64),
        np.full(size, np.nan), np.ones(size), np.zeros(size), np.zeros(size, np.int64),
        np.zeros((size, rule.n_classes)),
    )  # fmt: skip
    room = Workspace(
        np.empty((q + 1, 2 * n + 8), np.int32), np.empty(2 * n + 8), np.zeros(n),
        np.empty(n, np.int32), np.empty(n, np.int32), np.zeros(p), np.zeros(p),
        np.zeros(p, np.bool_), np.zeros(p, np.int64), np.zeros(p, np.bool_),
        np.zeros(64, np.int64), np.zeros(64, np.int64), np.zeros(size, np.int64),
        np.empty(widest, np.int64), np.empty(widest, np.int64),
    )  # fmt: skip
    nodes.counts[0] = np.bincount(y, weight, rule.n_classes)
    nodes.n_rows[0] = n
    room.arena[0, 0], room.arena[1:, 0] = n, known
    room.arena[0, 1 : n + 1], room.arena[1:, 1 : n + 1] = np.arange(n), order
    room.weights[1 : n + 1] = weight
    return nodes, room


def _more(nodes, room, short, need):
    """Return (nodes, room) with the array that was too short extended."""
    if short == _NODES:
        rests = (0, 0, -1, np.nan, 1.0, 0.0, 0, 0.0)
        more: Any = [longer(a, need, rest) for a, rest in zip(nodes, rests, strict=True)]
        nodes = Nodes(*more)
    if short == _ARENA:
        size = max(2 * room.arena.shape[1], need)
        arena = np.empty((len(room.arena), size), np.int32)
        arena[:, : room.arena.shape[1]] = room.arena
        return nodes, room._replace(arena=arena, weights=longer(room.weights, size))
    names = {_NODES: ("up",), _WAITING: ("waiting", "start")}[short]
    return nodes, room._replace(**{name: longer(getattr(room, name), need) for name in names})


@jit
def total_of(counts):
    """Return the sum of class weights."""
    total = 0.0
    for a in range(len(counts)):
        total += counts[a]
    return total


def _may_split(counts, rule):
    """Return whether a node with these class weights may be split."""
    total = top = 0.0
    for a in range(len(counts)):
        total += counts[a]
        top = counts[a] if counts[a] > top else top
    lacks = 2.0 * rule.least - total
    return (lacks <= 0.0 or lacks < rule.tolerance) and total - top > rule.tolerance


_open = jit(_may_split)


@jit
def _clear(a):
    for i in range(len(a)):
        a[i] = 0.0


@jit
def _count_codes(rows, m, column, y, w, c):
    """Sum ``c.bag``, ``c.weight`` and ``c.total`` by code; return the number of codes."""
    met = 0
    _clear(c.total)
    for i in range(m):
        row = rows[i]
        value = column[row]
        if value == value and w[row] > 0.0:  # repeated shares may underflow to 0
            code = np.int64(value)
            if c.weight[code] == 0.0:
                c.seen[met] = code
                met += 1
            c.bag[code, y[row]] += w[row]
            c.weight[code] += w[row]
            c.total[y[row]] += w[row]
    return met


@jit
def _forget_codes(met, c):
    for i in range(met):
        code = c.seen[i]
        c.weight[code] = 0.0
        _clear(c.bag[code])


@jit
def _choose(gain, ratio, valid, listed, rule):
    """Return the column to split on, -1 for none.

    Its gain must be at least the average gain of the `listed` columns, less 0.001.
    """
    total, number = 0.0, 0
    for j in range(len(gain)):
        if valid[j] and listed[j]:
            total += gain[j]
            number += 1
    if number == 0:
        return -1
    average = total / number
    best, chosen = (-_EPSILON if rule.old else 0.0), -1
    for j in range(len(gain)):
        enough = valid[j] and at_least(gain[j], average - _EPSILON, rule.tolerance)
        if enough and ratio[j] > best + rule.tolerance:
            best, chosen = ratio[j], j
    return chosen


def grow(X, y, weight, n_codes, at, order, known, listed, rule, table, c):
    """Return the nodes of the grown tree.

    Parameters
    ----------
    X : (p, n) float64; the table, column by column; NaN is missing; codes in columns of categories
    y, weight : (n,) int64, (n,) float64
    n_codes, at : (p,) int64; number of codes of a column of categories, 0 for numbers; index of a
        numeric column in `order`
    order, known : (q, n) int32, (q,) int64; rows of every numeric column by value, and the number
        with a value
    listed : (p,) bool; columns whose gain counts in the average
    rule, table : C45Growth, (r,) float64
    c : Counts; scratch for the largest number of codes
    """
    widest = max(2, int(n_codes.max(initial=0)))
    nodes, room = _begin(y, weight, order, known, len(X), rule, widest)
    state = np.array([_may_split(nodes.counts[0], rule), 1, 0])
    parts = (X, y, weight, n_codes, at, listed, rule, table, c)
    while short := _grow(*parts, nodes, room, state):
        nodes, room = _more(nodes, room, short, int(state[2]))
    whole: Any = [a[: state[1]].copy() for a in nodes]
    return Nodes(*whole)


@jit
def _grow(X, y, weight, n_codes, at, listed, rule, table, c, nodes, room, state):
    """Grow until the tree is complete (0), or return the array that is too short.

    ``state[:2]`` are the numbers of waiting nodes and of nodes in use; ``state[2]`` is the required
    length. The node for which an array is too short is left unchanged.
    """
    p, k = len(X), rule.n_classes
    arena, weights, w, branch, scratch, gain, ratio, valid, where, tested = room[:10]
    waiting, start, up, slot, place = room[10:]
    n_waiting, used = state[0], state[1]
    short = np.int64(0)
    while n_waiting > 0:
        node, s = waiting[n_waiting - 1], start[n_waiting - 1]
        m = np.int64(arena[0, s])
        rows = arena[0, s + 1 : s + 1 + m]
        total = n_all = 0.0
        for i in range(m):
            w[rows[i]] = weights[s + 1 + i]
            total += weights[s + 1 + i]
            n_all += weight[rows[i]]
        if rule.old:
            for j in range(p):
                tested[j] = False
            above = node
            while above > 0:
                above = up[above]
                tested[nodes.column[above]] = n_codes[nodes.column[above]] > 0
        # ------------------------------------------------------------ gain of each column
        for j in range(p):
            valid[j], gain[j], ratio[j] = False, 0.0, 0.0
            if tested[j]:
                continue
            if n_codes[j] > 0:
                met = _count_codes(rows, m, X[j], y, w, c)
                valid[j], gain[j], ratio[j] = code_worth(met, total, rule, table, c)
                _forget_codes(met, c)
            else:
                f = at[j]
                number = np.int64(arena[1 + f, s])
                line = arena[1 + f, s + 1 : s + 1 + number]
                n_known = n_all
                if number == m:
                    for a in range(k):
                        c.total[a] = nodes.counts[node, a]
                else:
                    _clear(c.total)
                    n_known = 0.0
                    for i in range(number):
                        c.total[y[line[i]]] += w[line[i]]
                        n_known += weight[line[i]]
                gain[j], ratio[j], where[j] = best_cut(
                    line, number, n_known, X[j], y, w, total, rule, table, c
                )
                valid[j] = where[j] >= 0
        chosen = _choose(gain, ratio, valid, listed, rule)
        if chosen < 0:
            n_waiting -= 1
            continue
        # ------------------------------------------------------------ the rule
        column, cut, children = X[chosen], np.nan, np.int64(2)
        if n_codes[chosen] > 0:
            children = n_codes[chosen]
        else:
            f, i = at[chosen], where[chosen]
            below = column[arena[1 + f, s + 1 + i]]
            above_it = column[arena[1 + f, s + 2 + i]]
            cut = (below + above_it) / 2.0
            if not below <= cut < above_it:  # the sum may overflow
                cut = below
        if used + children > len(nodes.child):
            short, state[2] = _NODES, used + children
            break
        begun = n_waiting - 1
        if begun + children > len(waiting):
            short, state[2] = _WAITING, begun + children
            break
        first = used
        nodes.child[node], nodes.n_children[node] = first, children
        nodes.column[node], nodes.threshold[node] = chosen, cut
        nodes.gain[node] = gain[chosen]
        # ------------------------------------------------------------ branches of rows
        _clear(c.total)  # weights with missing values
        n_missing = 0
        for i in range(m):
            row = rows[i]
            value = column[row]
            b = -1
            if value == value:
                b = 0 if value <= cut else 1
                if cut != cut:
                    b = np.int64(value)
            branch[row] = b
            if b < 0:
                c.total[y[row]] += w[row]
                n_missing += 1
            else:
                nodes.counts[first + b, y[row]] += w[row]
                nodes.n_rows[first + b] += 1
        known_weight = 0.0
        for b in range(children):
            known_weight += total_of(nodes.counts[first + b])
        for b in range(children):
            child = first + b
            share = total_of(nodes.counts[child]) / known_weight
            nodes.share[child] = share
            if share > 0.0 and n_missing > 0:
                for a in range(k):
                    nodes.counts[child, a] += share * c.total[a]
            if share > TIE:
                nodes.n_rows[child] += n_missing
            if rule.old:
                up[child] = node
        # ------------------------------------------------------------ the lists of the children
        n_waiting, heaviest, most, need = begun, begun, -1.0, np.int64(0)
        for b in range(children):
            child = first + b
            if nodes.n_rows[child] > 1 and _open(nodes.counts[child], rule):
                waiting[n_waiting] = child
                own = total_of(nodes.counts[child])
                if own > most:
                    heaviest, most = n_waiting, own
                n_waiting += 1
                need += 1 + nodes.n_rows[child]
        if s + need > arena.shape[1]:
            short, state[2] = _ARENA, s + need
            n_waiting, waiting[begun] = begun + 1, node
            for child in range(first, first + children):
                nodes.n_rows[child] = 0
                _clear(nodes.counts[child])
            break
        used += children
        if n_waiting == begun:
            continue
        waiting[begun], waiting[heaviest] = waiting[heaviest], waiting[begun]
        top = s
        for t in range(begun, n_waiting):
            start[t] = top
            top += 1 + nodes.n_rows[waiting[t]]
        _hand_on(arena, weights, s, w, branch, scratch, nodes, first, waiting, start, begun,
                 n_waiting, slot, place)  # fmt: skip
    state[0], state[1] = n_waiting, used
    return short


@jit
def _hand_on(
    arena, weights, s, w, branch, scratch, nodes, first, waiting, start, begun, end, slot, place
):
    """Replace the lists at position s by those of the waiting children."""
    n_children = end - begun
    widest = np.int64(0)
    for t in range(begun, end):
        if waiting[t] - first >= widest:
            widest = waiting[t] - first + 1
    for b in range(widest):  # the index of each branch among the waiting children
        slot[b] = -1
    for t in range(begun, end):
        slot[waiting[t] - first] = t - begun
    for f in range(arena.shape[0]):
        line = arena[f]
        number = np.int64(line[s])
        for i in range(number):
            scratch[i] = line[s + 1 + i]
        for t in range(n_children):
            place[t] = start[begun + t] + 1
        for i in range(number):
            row = scratch[i]
            b = branch[row]
            if b < 0:
                for t in range(n_children):
                    if nodes.share[waiting[begun + t]] > TIE:
                        line[place[t]] = row
                        place[t] += 1
            elif b < widest and slot[b] >= 0:
                t = slot[b]
                line[place[t]] = row
                place[t] += 1
        for t in range(n_children):
            line[start[begun + t]] = place[t] - start[begun + t] - 1
    for t in range(begun, end):
        share, a = nodes.share[waiting[t]], start[t]
        for i in range(a + 1, a + 1 + arena[0, a]):
            row = arena[0, i]
            weights[i] = w[row] * share if branch[row] < 0 else w[row]
