"""Distinct subsets of columns, each a smaller subset and one more column.

Subsets are sorted positions in a pool of columns, each with a unique integer code. Sorting these
codes is as fast as a compiled hash table.
"""

import numpy as np
from numpy.typing import NDArray

_Subsets = NDArray[np.intp]


def _unite(parents: _Subsets, columns: _Subsets) -> _Subsets:
    """Return each of parents (M, d - 1) with one more column: the `columns`-th that it lacks."""
    rows = np.empty((len(parents), parents.shape[1] + 1), dtype=np.intp)
    more = columns.copy()
    for j in range(parents.shape[1]):
        more += parents[:, j] <= more
    rows[:, :-1], rows[:, -1] = parents, more
    rows.sort(axis=1)
    return rows


def _codes(rows: _Subsets, n_pool: int) -> NDArray:
    """Return a unique code of each of the subsets (M, d)."""
    if n_pool ** rows.shape[1] < 2**63:
        return rows @ (n_pool ** np.arange(rows.shape[1], dtype=np.int64)[::-1])
    wide = np.ascontiguousarray(rows, dtype=">u4")
    return wide.view(f"V{4 * rows.shape[1]}").ravel()


def _distinct(rows: _Subsets, n_pool: int) -> _Subsets:
    """Return the distinct subsets, in the order of their first occurrence."""
    first = np.unique(_codes(rows, n_pool), return_index=True)[1]
    return rows[np.sort(first)]


def all_unions(strong: _Subsets, n_pool: int) -> _Subsets:
    """Return the distinct unions of `strong` (M, d - 1) with one more column, (M', d)."""
    each = n_pool - strong.shape[1]
    rows = _unite(np.repeat(strong, each, axis=0), np.tile(np.arange(each), len(strong)))
    return _distinct(rows, n_pool)


def draw_unions(
    numbers: NDArray[np.float64], strong: _Subsets, n_pool: int, even: bool, known: _Subsets
) -> _Subsets:
    """Return `known` (N, d) followed by the drawn unions that are not among them, in their order.

    Each line of `numbers` in [0, 1) is a draw: of one of `strong`, of a column that it lacks and,
    if `even`, of whether it is accepted. A union of c strong subsets is accepted with probability
    1 / c, so that all unions are equally probable.
    """
    parents = strong[(numbers[:, 0] * len(strong)).astype(np.intp)]
    each = n_pool - strong.shape[1]
    rows = _unite(parents, (numbers[:, 1] * each).astype(np.intp))
    if even:
        codes = _codes(strong, n_pool)
        count = np.zeros(len(rows))
        for left in range(rows.shape[1]):
            count += np.isin(_codes(np.delete(rows, left, axis=1), n_pool), codes)
        rows = rows[numbers[:, 2] * count < 1.0]
    return _distinct(np.concatenate([known, rows]), n_pool)
