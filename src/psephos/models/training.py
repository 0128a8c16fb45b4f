"""Training rows, with copies of a row merged into one of summed weight."""

from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np

from psephos._types import Floats, Indices, NDArray, sparse
from psephos.estimator.input import Table
from psephos.vote.rows import first_of, row_groups

Hashes = NDArray[np.uint64]
_CELLS = 1 << 16  # of a block: they fit into the cache
_KEY_COLUMNS = 64  # all columns are compared only of rows that agree in these


class Training(NamedTuple):
    """Training rows: their table, target, class indices (or numbers) and weights."""

    table: Table
    target: Any
    y: NDArray[Any]
    weight: Floats

    def take(self, rows: Indices) -> "Training":
        """Return these rows only."""
        return Training(self.table.take(rows), self.target, self.y[rows], self.weight[rows])


def distinct_rows(data: Training) -> Training:
    """Return the training rows with copies (same row, same label) merged, weights summed.

    So a row of weight 2 equals the row given twice in every part of the algorithm, and leaving a
    row out leaves out its copies. The first copy's identifier is kept.
    """
    # Sorting hashes takes a third of the memory and time of sorting the rows.
    hashes = row_hashes(np.column_stack([data.table.dense(slice(_KEY_COLUMNS)), data.y]))
    ranked = np.sort(hashes)
    suspects = np.flatnonzero(np.isin(hashes, ranked[1:][ranked[1:] == ranked[:-1]], kind="sort"))
    first = np.arange(len(hashes))
    first[suspects] = suspects[first_of(_equal_rows(data.take(suspects)))]
    kept = np.unique(first)
    if len(kept) == len(hashes):
        return data
    weight = np.bincount(first, data.weight, minlength=len(first))[kept]
    return data.take(kept)._replace(weight=weight)


def _equal_rows(data: Training) -> Indices:
    """Return a number per row, the same for equal rows of one label."""
    if not sparse.issparse(data.table.values):
        return row_groups(np.column_stack([data.table.dense(), data.y]).astype(np.float64))
    rows = sparse.csr_array(data.table.values, dtype=np.float64)
    rows.sum_duplicates()
    rows.eliminate_zeros()
    rows.data[np.isnan(rows.data)] = np.nan
    number: dict[tuple[bytes, bytes, float], int] = {}
    spans = zip(pairwise(rows.indptr), data.y.tolist(), strict=True)
    keys = [(rows.indices[a:b].tobytes(), rows.data[a:b].tobytes(), y) for (a, b), y in spans]
    return np.array([number.setdefault(key, len(number)) for key in keys], dtype=np.intp)


def row_hashes(X: Any) -> Hashes:
    """Return a 64-bit hash of each row, the same for sparse and dense tables."""
    factor = multipliers(X.shape[1])
    if sparse.issparse(X):
        by_column: Any = sparse.csc_array(X)
        parts = (folded(by_column.data), by_column.indices, by_column.indptr)
        return sparse.csc_array(parts, shape=X.shape) @ factor
    step = max(1, _CELLS // max(X.shape[1], 1))
    parts = [folded(X[i : i + step]) @ factor for i in range(0, len(X), step)]
    return np.concatenate(parts)


def folded(values: Any) -> Hashes:
    """Return the bits of numbers, the high half XORed into the low; all NaN alike, -0 as 0."""
    plain = np.ascontiguousarray(values, dtype=np.float64) + 0.0
    missing = np.isnan(plain)
    if missing.any():
        plain[missing] = np.nan
    bits = plain.view(np.uint64)
    bits ^= bits >> np.uint64(32)
    return bits


def multipliers(n: int) -> Hashes:
    """Return n odd pseudo-random multipliers of a hash."""
    out = np.arange(1, n + 1, dtype=np.uint64) * np.uint64(0x9E3779B97F4A7C15)
    out ^= out >> np.uint64(30)
    out *= np.uint64(0xBF58476D1CE4E5B9)
    return out | np.uint64(1)


def ordered_rows(data: Training) -> Training:
    """Return distinct rows sorted by label and values, so that random draws depend on content.

    The order does not depend on the columns' units. Rows that differ only beyond the first 64
    columns keep their order.
    """
    for width in (4, _KEY_COLUMNS):  # a few columns usually suffice
        head = data.table.dense(slice(width))
        order = np.lexsort((*head.T[::-1], data.y)).astype(np.intp)
        ranked, y = head[order], data.y[order]
        same = (ranked[1:] == ranked[:-1]) | (np.isnan(ranked[1:]) & np.isnan(ranked[:-1]))
        if not (same.all(axis=1) & (y[1:] == y[:-1])).any():
            break
    return data.take(order)


def ordered_groups(rows: Floats) -> Indices:
    """Return a number per row, the same for equal rows and ascending with the rows' values."""
    groups = row_groups(rows)
    distinct = rows[np.unique(groups, return_index=True)[1]]
    for width in (4, _KEY_COLUMNS, rows.shape[1]):  # a few columns usually suffice
        head = distinct[:, :width] + 0.0
        order = np.lexsort(head.T[::-1])
        if len(np.unique(row_groups(head))) == len(distinct):
            break
    return np.argsort(order)[groups]
