"""Which rows a tree is grown on: copies made one row, and bootstrap draws by weight."""

import numpy as np

from psephos.kernels._jit import jit
from psephos.kernels.forest_random import uniform

__all__ = ["add_votes", "draw_counts", "make_guide", "merge_rows", "row_marks", "take_rows"]

_FIRST, _SECOND = np.uint64(0x9E3779B97F4A7C15), np.uint64(0xFF51AFD7ED558CCD)
_S33 = np.uint64(33)


@jit(_nrt=False)
def row_marks(codes, marks):
    """Mix the codes (p, n) of every row into its mark (n,) uint64: equal rows keep equal marks."""
    for j in range(codes.shape[0]):
        column = codes[j]
        for i in range(len(marks)):
            mark = (marks[i] ^ np.uint64(column[i])) * _SECOND + _FIRST
            marks[i] = mark ^ (mark >> _S33)


@jit(_nrt=False)
def merge_rows(codes, y, weight, order, marks, first, mass, group):
    """Make rows of equal codes and answers one, in the order of their marks.

    Parameters
    ----------
    codes : (p, n) uint8
    y, weight : (n,)
    order : (n,) int64
        Rows sorted by `marks`.
    first, mass, group : (n,) int64, float64, int64
        Results: the first row of each group, its weight, and the group of each row.

    Returns
    -------
    int
        The number of groups.
    """
    groups = 0
    for k in range(len(order)):
        row = order[k]
        same = k > 0 and marks[row] == marks[order[k - 1]]
        if same:  # marks of different rows agree once in a great many tables
            other = first[groups - 1]
            same = y[row] == y[other]
            for j in range(codes.shape[0]):
                if codes[j, row] != codes[j, other]:
                    same = False
                    break
        if not same:
            first[groups] = row
            mass[groups] = 0.0
            groups += 1
        mass[groups - 1] += weight[row]
        group[row] = groups - 1
    return groups


@jit(_nrt=False)
def make_guide(until, guide):
    """Write where a search among the running totals `until` (m,) may begin: see `draw_counts`.

    Chen & Asau (1974), "On generating random variates from an empirical distribution", AIIE
    Transactions 6: the method of the guide table.
    """
    m, at = len(until), 0
    for g in range(m):
        while until[at] < until[m - 1] * (g / m) and at < m - 1:
            at += 1
        guide[g] = max(at - 1, 0)


@jit(_nrt=False)
def draw_counts(until, guide, n_draws, state, count):
    """Write how often each of m rows is drawn, with replacement and by weight; return the state.

    `until` (m,) are running totals of the weights, `guide` (m,) is of `make_guide`.
    """
    m = len(until)
    count[:] = 0
    for _ in range(n_draws):
        state, u = uniform(state)
        at, wanted = guide[np.int64(u * m)], u * until[m - 1]
        while until[at] <= wanted and at < m - 1:
            at += 1
        count[at] += 1
    return state


@jit(_nrt=False)
def take_rows(weight, answers, row, y, w):
    """Write the rows of positive weight, their answers and weights; return their number."""
    m = 0
    for i in range(len(weight)):
        row[m], y[m], w[m] = i, answers[i], weight[i]
        m += weight[i] > 0
    return m


@jit(_nrt=False)
def add_votes(codes, n_bins, tree, value, count, start, end, total, heard):
    """Add a tree's answer to the totals of the rows it was not grown on.

    Parameters
    ----------
    codes, n_bins : (p, m) uint8, (p,) int64
    tree : Grown
    value : (nodes, C) float64
    count : (m,) int32
        How often each row was drawn.
    start, end : int
        The rows to go through.
    total, heard : (m, C) float64, (m,) int64
        Results: sums of answers, and how many there are.
    """
    link, sets, missing_left = tree.link, tree.sets, tree.missing_left
    for i in range(start, end):
        if count[i] == 0:
            node = 0
            while link[node, 0] >= 0:
                code = codes[link[node, 0], i]
                if link[node, 3] >= 0:
                    left = sets[link[node, 3], code] == 1
                else:
                    left = code <= link[node, 2]
                if code == n_bins[link[node, 0]]:
                    left = missing_left[node]
                node = link[node, 1] + (0 if left else 1)
            heard[i] += 1
            for c in range(value.shape[1]):
                total[i, c] += value[node, c]
