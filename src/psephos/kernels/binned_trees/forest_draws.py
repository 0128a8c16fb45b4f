"""Which rows a tree is grown on: copies made one row, and bootstrap draws by weight."""

import math

import numpy as np

from psephos.kernels.binned_trees.forest_cuts import uniform
from psephos.runtime.jit import jit

_FIRST, _SECOND = np.uint64(0x9E3779B97F4A7C15), np.uint64(0xFF51AFD7ED558CCD)
_S33 = np.uint64(33)


@jit
def row_marks(codes, marks):
    """Mix the codes (p, n) of every row into its mark (n,) uint64: equal rows keep equal marks."""
    for j in range(codes.shape[0]):
        column = codes[j]
        for i in range(len(marks)):
            mark = (marks[i] ^ np.uint64(column[i])) * _SECOND + _FIRST
            marks[i] = mark ^ (mark >> _S33)


@jit
def merge_rows(codes, y, weight, order, marks, first, mass, group):
    """Make rows of equal codes and answers one, in the order of their marks.

    Parameters
    ----------
    codes : (p, n) uint8
    y, weight : (n,)
    order : (n,) int64; rows sorted by `marks`
    first, mass, group : (n,) int64, float64, int64; results: the first row of each group, its
        weight, and the group of each row

    Returns the number of groups.
    """
    groups = 0
    for k in range(len(order)):
        row = order[k]
        same = k > 0 and marks[row] == marks[order[k - 1]]
        if same:  # equal marks of different rows are very rare, but possible
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


@jit
def make_alias(mass, share, other, open_):
    """Write the table by which `draw_counts` draws places by weight (all (m,)).

    A place is drawn uniformly and kept with probability ``share``; else ``other`` is taken: every
    place that is too light is filled up by one that is too heavy. Walker (1977), "An efficient
    method for generating discrete random variables with general distributions", ACM Transactions
    on Mathematical Software 3.

    `open_` is (m,) int64 scratch: the light places from the front, the heavy ones from the back.
    """
    m, total = len(mass), 0.0
    for i in range(m):
        total += mass[i]
    light, heavy = 0, m
    for i in range(m):
        share[i], other[i] = mass[i] / total * m, i
        if share[i] < 1.0:
            open_[light] = i
            light += 1
        else:
            heavy -= 1
            open_[heavy] = i
    while light > 0 and heavy < m:
        light -= 1
        small, large = open_[light], open_[heavy]
        other[small] = large
        share[large] -= 1.0 - share[small]
        if share[large] < 1.0:
            heavy += 1
            open_[light] = large
            light += 1
    # What is left would be 1 but for rounding.
    for i in range(light):
        share[open_[i]] = 1.0
    for i in range(heavy, m):
        share[open_[i]] = 1.0


@jit
def draw_counts(share, other, n_draws, state, count):
    """Write how often each of m rows is drawn, with replacement and by weight.

    `share` and `other` (m,) are of `make_alias`.
    """
    m = len(share)
    count[:] = 0
    for _ in range(n_draws):
        state, u = uniform(state)
        place = u * m
        at = np.int64(place)
        count[at if place - at < share[at] else other[at]] += 1


@jit
def _binomial(n, p, state):
    """Return the next state and a draw of the number of successes among n, each of probability p.

    p is at most 1/2. Where n p < 10, by the distribution function; else by rejection: Hoermann
    (1993), "The generation of binomial random variates", Journal of Statistical Computation and
    Simulation 46, algorithm BTRS.
    """
    odds = p / (1.0 - p)
    if n * p < 10.0:
        state, u = uniform(state)
        k, chance = 0, math.exp(n * math.log1p(-p))
        while u > chance and k < n:
            u -= chance
            k += 1
            chance *= odds * (n - k + 1) / k
        return state, k
    spread = math.sqrt(n * p * (1.0 - p))
    b = 1.15 + 2.53 * spread
    a = -0.0873 + 0.0248 * b + 0.01 * p
    centre, most = n * p + 0.5, math.floor((n + 1) * p)
    alpha, narrow = (2.83 + 5.1 / b) * spread, 0.92 - 4.2 / b
    height = math.lgamma(most + 1.0) + math.lgamma(n - most + 1.0)
    while True:
        state, u = uniform(state)
        state, v = uniform(state)
        u -= 0.5
        us = 0.5 - abs(u)
        if us <= 0.0:
            continue
        k = math.floor((2.0 * a / us + b) * u + centre)
        if us >= 0.07 and v <= narrow:
            return state, np.int64(k)
        if k < 0 or k > n or v <= 0.0:
            continue
        bound = height - math.lgamma(k + 1.0) - math.lgamma(n - k + 1.0)
        if math.log(v * alpha / (a / (us * us) + b)) <= bound + (k - most) * math.log(odds):
            return state, np.int64(k)


@jit
def split_counts(mass, n_draws, state, count):
    """Draw counts of the distribution of `draw_counts`, row by row.

    This is faster where there are many draws per row. The count of a row is binomial, given the
    counts of the rows before it.
    """
    rest = 0.0
    for i in range(len(mass)):
        rest += mass[i]
    left = n_draws
    for i in range(len(mass)):
        if i == len(mass) - 1:
            count[i] = left
            break
        p = min(mass[i] / rest, 1.0) if rest > 0.0 else 1.0
        if p <= 0.5:
            state, k = _binomial(left, p, state)
        else:
            state, missed = _binomial(left, 1.0 - p, state)
            k = left - missed
        count[i] = k
        left -= k
        rest -= mass[i]


@jit
def take_rows(first, weight, answers, row, y, w):
    """Write the rows of positive weight, their answers and weights; return their number.

    Row i of the forest is row ``first[i]`` of the table.
    """
    m = 0
    for i in range(len(weight)):
        row[m], y[m], w[m] = first[i], answers[i], weight[i]
        m += weight[i] > 0
    return m
