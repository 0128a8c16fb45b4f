"""Sorting a table once, so that every later search is one pass over row numbers."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from psephos.kernels.stump.layout import (
    LANES,
    SortedColumns,
    flag_of,
    no_orders,
    place,
    sort_columns,
)
from psephos.runtime.jit import effective_jobs, run_blocks

_CHUNK_BYTES = 2**20  # a chunk of columns and its keys stay in the second-level cache


@dataclass(frozen=True)
class Ordered:
    """Dense columns of n rows in sorted order (``kernels.stump.layout``), one after another.

    ``columns`` and ``n_present`` are parallel, sorted by column.
    """

    order: NDArray[Any]
    columns: NDArray[np.int64]
    n_present: NDArray[np.int64]
    any_missing: bool

    @property
    def n(self) -> int:
        """Return the number of rows."""
        return self.order.shape[1]

    @property
    def flag(self) -> int:
        """Return the bit of an entry after which a threshold may lie."""
        return flag_of(self.order)

    def entries(self, at: int) -> NDArray[Any]:
        """Return the order of one column."""
        return self.order[at // LANES, :, at % LANES]


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


def _sort_chunk(X: NDArray[Any], columns: NDArray[np.int64]) -> SortedColumns:
    contiguous = len(columns) and columns[-1] - columns[0] == len(columns) - 1
    part = X[:, columns[0] : columns[-1] + 1] if contiguous else X[:, columns]
    return sort_columns(np.ascontiguousarray(part.T, dtype=np.float64))


def presort_dense(X: NDArray[Any], columns: NDArray[np.int64], n_jobs: int | None) -> Ordered:
    """Sort the given columns of a dense table; columns with nothing to cut are dropped."""
    n = X.shape[0]
    width = max(LANES, min(1024, _CHUNK_BYTES // (8 * n)) // LANES * LANES)
    chunks = [columns[a : a + width] for a in range(0, len(columns), width)]
    order = no_orders(len(columns), n)
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
            place(result.rows, filled, order)
            filled += len(result.kept)
            kept.append(chunk[result.kept])
            present.append(result.n_present[result.kept])
    order = order[: -(-filled // LANES)]
    order[filled // LANES :, :, filled % LANES :] = n  # unused lanes hold the padding row
    n_present = np.concatenate(present)
    return Ordered(order, np.concatenate(kept), n_present, bool((n_present < n).any()))


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
