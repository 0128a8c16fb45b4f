"""Sorting a table once, so that every later search is one pass over row numbers."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from psephos.kernels._jit import effective_jobs, run_blocks
from psephos.kernels.stump.lanes import Packing
from psephos.kernels.stump.layout import (
    LANES,
    SortedColumns,
    no_orders,
    order_type,
    packing_of,
    place,
    sort_columns,
)

__all__ = ["Ordered", "SparseOrdered", "presort_dense", "presort_sparse"]

_CHUNK_BYTES = 2**20  # a chunk of columns and its keys stay in the second-level cache


@dataclass(frozen=True)
class Ordered:
    """Dense columns of n rows in sorted order; ``kernels.stump.layout`` tells how they are packed.

    Columns without ties and without missing values fill the first ``n_pure`` blocks; the others
    follow. ``columns``, ``slots`` and ``n_present`` are parallel, sorted by column.
    """

    order: NDArray[np.uint8]
    n: int
    packing: Packing
    n_blocks: int
    n_pure: int
    columns: NDArray[np.int64]
    slots: NDArray[np.int64]
    n_present: NDArray[np.int64]
    any_missing: bool


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
    n_blocks, packing = -(-len(columns) // LANES) + 1, packing_of(n)
    order = no_orders(n_blocks, n)
    # Columns without ties fill the blocks from the front, the others from the back.
    front, back = 0, n_blocks * LANES
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
            place(result.pure_rows, front - len(result.pure), packing.bits, order)
            place(result.tied_rows, back, packing.bits, order)
            both = np.concatenate([result.pure, result.tied])
            kept.append(chunk[both])
            slots.append(front - len(result.pure) + np.arange(len(result.pure)))
            slots.append(back + np.arange(len(result.tied)))
            present.append(result.n_present[both])
    return _close(order, n, n_blocks, (front, back), kept, slots, present)


def _close(
    order: NDArray[np.uint8],
    n: int,
    n_all: int,
    ends: tuple[int, int],
    kept: list[NDArray[np.int64]],
    slots: list[NDArray[np.int64]],
    present: list[NDArray[np.int64]],
) -> Ordered:
    """Fill unused lanes with padding rows, cut out unused blocks, sort the lists by column."""
    (front, back), packing = ends, packing_of(n)
    n_pure, first_tied = -(-front // LANES), back // LANES
    for first, lanes in ((front, -front % LANES), (first_tied * LANES, back % LANES)):
        place(np.full((lanes, n), n, order_type(n)), first, packing.bits, order)
    columns = np.concatenate(kept) if kept else np.empty(0, np.int64)
    slot = np.concatenate(slots) if slots else np.empty(0, np.int64)
    n_present = np.concatenate(present) if present else np.empty(0, np.int64)
    if first_tied > n_pure:
        block = n * packing.bits
        order = np.concatenate([order[: n_pure * block], order[first_tied * block :]])
        slot = np.where(slot >= back, slot - LANES * (first_tied - n_pure), slot)
    n_blocks = n_pure + n_all - first_tied
    by_column = np.argsort(columns, kind="stable")
    columns, slot, n_present = columns[by_column], slot[by_column], n_present[by_column]
    any_missing = bool((n_present < n).any())
    return Ordered(order, n, packing, n_blocks, n_pure, columns, slot, n_present, any_missing)


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
