"""Sorting a table once, so that every later search is one pass over row numbers."""

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from psephos._types import Array, NDArray
from psephos.kernels.numerics.ordering import sort_rows
from psephos.kernels.stump.scan import FLAG
from psephos.runtime.jit import effective_jobs, run_blocks

_CHUNK_BYTES = 2**20  # a chunk of columns and its keys stay in the second-level cache


class SortedColumns(NamedTuple):
    """Orders of some columns.

    ``kept`` (a,) are the positions of the columns in which a threshold is admissible, ``rows``
    (a, n) their orders: row numbers, with `FLAG` where a threshold may lie after the row.
    ``n_present`` (c,) counts the numbers of every column.
    """

    kept: NDArray[np.int64]
    rows: NDArray[np.uint32]
    n_present: NDArray[np.int64]


def sort_columns(values: NDArray[np.float64]) -> SortedColumns:
    """Sort columns given as rows of ``values`` (c, n), NaN being missing.

    Missing rows are replaced by the padding row n, which carries no weight.
    """
    c, n = values.shape
    order, ranked, n_present = sort_rows(values)
    cut = np.zeros((c, n), np.bool_)
    np.greater(ranked[:, 1:], ranked[:, :-1], out=cut[:, :-1])
    parted = np.flatnonzero((n_present < n) & (n_present > 0))
    cut[parted, n_present[parted] - 1] = True  # "present or missing"
    rows = order.astype(np.uint32)
    rows[np.arange(n) >= n_present[:, None]] = n
    np.bitwise_or(rows, FLAG, out=rows, where=cut)
    kept = np.flatnonzero(cut.any(axis=1))
    return SortedColumns(kept, rows if len(kept) == c else rows[kept], n_present)


@dataclass(frozen=True)
class Ordered:
    """Dense columns of n rows in sorted order, as `SortedColumns` has them.

    ``order`` (c, n), ``columns`` and ``n_present`` are parallel, sorted by column.
    """

    order: NDArray[np.uint32]
    columns: NDArray[np.int64]
    n_present: NDArray[np.int64]
    any_missing: bool

    @property
    def n(self) -> int:
        """Return the number of rows."""
        return self.order.shape[1]


@dataclass(frozen=True)
class SparseOrdered:
    """Sparse columns with stored entries in sorted order; see ``kernels.stump.scan``."""

    start: NDArray[np.int64]
    rows: NDArray[np.int64]
    values: NDArray[np.float64]
    edge: NDArray[np.bool_]
    n_below: NDArray[np.int64]
    n_present: NDArray[np.int64]
    zeros: NDArray[np.bool_]
    columns: NDArray[np.int64]


def _sort_chunk(X: Array, columns: NDArray[np.int64]) -> SortedColumns:
    contiguous = len(columns) and columns[-1] - columns[0] == len(columns) - 1
    part = X[:, columns[0] : columns[-1] + 1] if contiguous else X[:, columns]
    return sort_columns(np.ascontiguousarray(part.T, dtype=np.float64))


def presort_dense(X: Array, columns: NDArray[np.int64], n_jobs: int | None) -> Ordered:
    """Sort the given columns of a dense table; columns with nothing to cut are dropped."""
    n = X.shape[0]
    width = max(8, min(1024, _CHUNK_BYTES // (8 * n)))
    chunks = [columns[a : a + width] for a in range(0, len(columns), width)]
    order = np.empty((len(columns), n), np.uint32)
    kept, present = [columns[:0]], [np.empty(0, np.int64)]
    filled, wave = 0, 4 * effective_jobs(n_jobs)
    for a in range(0, len(chunks), wave):
        part = chunks[a : a + wave]
        done: list[SortedColumns | None] = [None] * len(part)

        def sort(b: int, part: list[Any] = part, done: list[Any] = done) -> None:
            done[b] = _sort_chunk(X, part[b])

        run_blocks(sort, len(part), n_jobs)
        for chunk, result in zip(part, done, strict=True):
            assert result is not None
            order[filled : filled + len(result.kept)] = result.rows
            filled += len(result.kept)
            kept.append(chunk[result.kept])
            present.append(result.n_present[result.kept])
    n_present = np.concatenate(present)
    any_missing = bool((n_present < n).any())
    return Ordered(order[:filled], np.concatenate(kept), n_present, any_missing)


def presort_sparse(X: Any, columns: NDArray[np.int64]) -> SparseOrdered:
    """Sort the stored entries of the given columns of a CSC matrix; zeros are one group."""
    n, p = X.shape
    column = np.repeat(np.arange(p), np.diff(X.indptr))
    data = X.data.astype(np.float64)
    keep = data != 0.0  # NaN stays
    column, data, rows = column[keep], data[keep], X.indices[keep].astype(np.int64)
    by = np.lexsort((data, column))  # NaN last within its column
    column, data, rows = column[by], data[by], rows[by]
    start = np.searchsorted(column, np.arange(p + 1)).astype(np.int64)
    stored = np.diff(start)
    n_missing = np.bincount(column[np.isnan(data)], minlength=p)
    n_below = np.bincount(column[data < 0], minlength=p)
    zeros = stored < n
    edge = np.ones(len(data), np.bool_)
    edge[:-1][(column[1:] == column[:-1]) & (data[1:] == data[:-1])] = False
    groups = np.bincount(column[edge & ~np.isnan(data)], minlength=p)
    alive = (groups + zeros + (n_missing > 0)) > 1
    wanted = np.zeros(p, np.bool_)
    wanted[columns] = True
    return SparseOrdered(
        start,
        rows,
        data,
        edge,
        n_below.astype(np.int64),
        (stored - n_missing).astype(np.int64),
        zeros,
        np.flatnonzero(alive & wanted).astype(np.int64),
    )
