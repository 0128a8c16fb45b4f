"""Distinct subsets of columns, each a smaller subset and one more column.

Subsets are sorted positions in a pool of columns. A table (its length a power of two, -1 where
empty) says at which row of `rows` a subset stands.
"""

import numpy as np

from psephos.kernels._jit import jit

__all__ = ["all_unions", "draw_unions", "enter", "new_table"]

_BELOW = 0x7FFFFFFF  # keeps products of a hash within 64 bits


def new_table(n_rows: int):
    """Return an empty table for up to `n_rows` subsets, at most half full."""
    return np.full(1 << max(4, int(2 * n_rows).bit_length()), -1, dtype=np.int64)


@jit
def _find(row, rows, table):
    """Return the place of `row` in the table, or the empty place where it would stand."""
    mask = len(table) - 1
    code = 0
    for column in row:
        code = (code * 1000003 + column + 1) & _BELOW
        code ^= code >> 15
    place = code & mask
    while table[place] >= 0:
        other = rows[table[place]]
        same = True
        for j in range(len(row)):
            if other[j] != row[j]:
                same = False
                break
        if same:
            break
        place = (place + 1) & mask
    return place


@jit
def _claim(row, rows, n, table):
    """Enter `row` as the n-th unless it is known; return how many are known then."""
    place = _find(row, rows, table)
    if table[place] >= 0:
        return n
    table[place] = n
    rows[n] = row
    return n + 1


@jit
def enter(rows, table):
    """Enter distinct `rows` (M, d) in an empty table."""
    for i in range(len(rows)):
        table[_find(rows[i], rows, table)] = i


@jit
def _unite(parent, column, row):
    """Write to `row` the parent with one more: the column-th of those that it lacks."""
    at = 0
    for x in parent:
        if column >= x:
            row[at] = x
            column += 1
            at += 1
    row[at] = column
    for j in range(at, len(parent)):
        row[j + 1] = parent[j]


@jit
def all_unions(strong, n_pool, rows, table):
    """Write the distinct unions of `strong` (M, d - 1) with one more column; return how many.

    `rows` holds M (n_pool - d + 1) of d columns.
    """
    n = 0
    row = np.empty(rows.shape[1], dtype=rows.dtype)
    for i in range(len(strong)):
        for column in range(n_pool - strong.shape[1]):
            _unite(strong[i], column, row)
            n = _claim(row, rows, n, table)
    return n


@jit
def draw_unions(numbers, strong, strong_table, n_pool, even, rows, n, table):
    """Draw unions until `rows` (m, d) is full or the numbers are used up; return how many.

    Each line of `numbers` in [0, 1) is a draw: which of `strong`, which of the columns that it
    lacks, and, if `even`, whether it stands. A union of c strong subsets stands with probability
    1 / c, so that all unions are equally likely.
    """
    size = rows.shape[1]
    row = np.empty(size, dtype=rows.dtype)
    part = np.empty(size - 1, dtype=rows.dtype)
    for line in numbers:
        if n == len(rows):
            break
        parent = strong[int(line[0] * len(strong))]
        _unite(parent, int(line[1] * (n_pool - len(parent))), row)
        if even:
            parents = 0
            for left in range(size):
                part[:left] = row[:left]
                part[left:] = row[left + 1 :]
                if strong_table[_find(part, strong, strong_table)] >= 0:
                    parents += 1
            if line[2] * parents >= 1.0:
                continue
        n = _claim(row, rows, n, table)
    return n
