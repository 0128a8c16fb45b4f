"""Sorting a table once, so that every later search is one pass over row numbers."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from psephos.kernels._jit import effective_jobs, run_blocks
from psephos.kernels.stump_layout import (
    LANES,
    SortedColumns,
    flag_of,
    order_type,
    place,
    sort_columns,
)

__all__ = ["Ordered", "SparseOrdered", "presort_dense", "presort_sparse"]

_CHUNK_BYTES = 2**20  # a chunk of columns and its keys stay in the second-level cache


@dataclass(frozen=True)
class Ordered:
    """Dense columns in sorted order; see ``kernels.stump_layout`` for the form of ``order``.

    Columns without ties and without missing values fill the first ``n_pure`` blocks; the others
    follow. ``columns``, ``slots`` and ``n_present`` are parallel, sorted by column.
    """

    order: NDArray[Any]
    flag: int
    n_pure: int
    columns: NDArray[np.int64]
    slots: NDArray[np.int64]
    n_present: NDArray[np.int64]
    any_missing: bool


@dataclass(frozen=True)
class SparseOrdered:
    """Sparse columns with stored entries in sorted order; see ``kernels.stump_scan``."""

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
    order = np.empty((-(-len(columns) // LANES) + 1, n, LANES), order_type(n))
    flag = flag_of(order_type(n))
    # Columns without ties fill the blocks from the front, the others from the back.
    front, back = 0, order.shape[0] * LANES
    kept: list[NDArray[np.int64]] = []
    slots: list[NDArray[np.int64]] = []
    present: list[NDArray[np.int64]] = []
    wave = 4 * effective_jobs(n_jobs)
    for a in range(0, len(chunks), wave):
        part = chunks[a : a + wave]
        done: list[SortedColumns | None] = [None] * len(part)

        def sort(b: int, part: list[Any] = part, done: list[Any] = done) -> None:
            done[b] = _sort_chunk(X, part[b])

        run_blocks(sort, len(part), n_jobs)
        for chunk, result in zip(part, done, strict=True):
            assert result is not None
            front += len(result.pure)
            back -= len(result.tied)
            place(result.pure_rows, front - len(result.pure), order)
            place(result.tied_rows, back, order)
            both = np.concatenate([result.pure, result.tied])
            kept.append(chunk[both])
            slots.append(front - len(result.pure) + np.arange(len(result.pure)))
            slots.append(back + np.arange(len(result.tied)))
            present.append(result.n_present[both])
    return _close(order, flag, front, back, kept, slots, present)


def _close(
    order: NDArray[Any],
    flag: int,
    front: int,
    back: int,
    kept: list[NDArray[np.int64]],
    slots: list[NDArray[np.int64]],
    present: list[NDArray[np.int64]],
) -> Ordered:
    """Fill unused lanes with padding rows, cut out unused blocks, sort the lists by column."""
    n_pure = -(-front // LANES)
    first_tied = back // LANES
    if front % LANES:
        order[n_pure - 1, :, front % LANES :] = order.shape[1]
    if back % LANES:
        order[first_tied, :, : back % LANES] = order.shape[1]
    columns = np.concatenate(kept) if kept else np.empty(0, np.int64)
    slot = np.concatenate(slots) if slots else np.empty(0, np.int64)
    n_present = np.concatenate(present) if present else np.empty(0, np.int64)
    if first_tied > n_pure:
        if first_tied < order.shape[0]:
            order = np.concatenate([order[:n_pure], order[first_tied:]])
        else:
            order = order[:n_pure]
        slot = np.where(slot >= back, slot - LANES * (first_tied - n_pure), slot)
    by_column = np.argsort(columns, kind="stable")
    any_missing = bool((n_present < order.shape[1]).any())
    return Ordered(
        order, flag, n_pure, columns[by_column], slot[by_column], n_present[by_column], any_missing
    )


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
