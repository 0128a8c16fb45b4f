"""Presorted columns, so that every stump search is one pass over row numbers."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from psephos._types import Array, NDArray
from psephos.kernels.numerics.ordering import sort_rows
from psephos.kernels.stump import FLAG
from psephos.runtime.jit import run_blocks

_CHUNK_BYTES = 2**20  # a chunk of columns and its keys fit the second-level cache


def sort_columns(
    values: NDArray[np.float64],
) -> tuple[NDArray[np.uint32], NDArray[np.int64], NDArray[np.bool_]]:
    """Sort columns given as rows of ``values`` (c, n), NaN being missing.

    Returns (c, n) entries ``row | FLAG``, flagged if a threshold may follow; the number of values
    present in each column (c,); and whether it has any threshold (c,). Missing rows are replaced by
    the padding row n, which has no weight.
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
    return rows, n_present, np.logical_or.reduce(cut, axis=1)


@dataclass(frozen=True)
class Ordered:
    """Dense columns of n rows in sorted order, as `sort_columns` returns them.

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


def presort_dense(X: Array, columns: NDArray[np.int64], n_jobs: int | None) -> Ordered:
    """Sort the given columns of a dense table; columns without any threshold are dropped."""
    n, p = len(X), len(columns)
    width = max(8, min(1024, _CHUNK_BYTES // (8 * n)))
    order, present, kept = np.empty((p, n), np.uint32), np.empty(p, np.int64), np.ones(p, np.bool_)

    def sort(b: int) -> None:
        part = slice(b * width, (b + 1) * width)
        own = columns[part]
        whole = own[-1] - own[0] == len(own) - 1
        values = X[:, own[0] : own[-1] + 1] if whole else X[:, own]
        found = sort_columns(np.ascontiguousarray(values.T, dtype=np.float64))
        order[part], present[part], kept[part] = found

    run_blocks(sort, -(-p // width), n_jobs)
    if not kept.all():
        order, columns, present = order[kept], columns[kept], present[kept]
    return Ordered(order, columns, present, bool((present < n).any()))


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
