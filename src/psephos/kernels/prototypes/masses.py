"""Kernel sums of prototypes with fixed weights at new rows.

``sums_il = sum_j G_v(x_i, c_j) weight_jl``, with the kernel G of ``sums``. Prototypes are ordered
by the first sum in which they have weight, so that each sum is over adjacent prototypes. The
result for a row does not depend on other rows; rows with missing values are computed column by
column.
"""

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from psephos.kernels.prototypes.kernel import (
    HALF_LOG2E,
    LEAST,
    ROWS,
    add_special,
    add_squares,
    column_terms,
    exp2_constants,
    exp2_minus,
    whole_lanes,
    whole_lines,
)
from psephos.runtime.jit import jit, run_blocks

_Floats = NDArray[np.float64]
_CHUNK = 2**12  # rows of a thread's task
_CONSTANTS = exp2_constants(np.dtype(np.float64))


@jit
def _put_row(row, where, scale, plain, first, x):
    """Write the scaled columns of a row to x; return whether a plain one is missing."""
    missing = False
    for k in range(where.shape[0]):
        z = row[where[k]]
        x[k if k < plain else k + first - plain] = z * scale[k]
        missing |= k < plain and z != z
    return missing


@jit(fastmath={"contract", "reassoc"})
def _weighted(kernel, weight, first, last):
    total = 0.0
    kernel, weight = kernel[first:last], weight[first:last]
    for j in range(kernel.shape[0]):
        total += kernel[j] * weight[j]
    return total


@jit
def _add_sums(table, where, scale, plain, lines, terms, weight, inside, constants, x, room,
              gaps, out):  # fmt: skip
    n_special = where.shape[0] - plain
    first = lines.shape[0] - n_special
    for start in range(0, table.shape[0], ROWS):
        last = min(start + ROWS, table.shape[0]) - 1
        for r in range(ROWS):
            gaps[r] = _put_row(table[min(start + r, last)], where, scale, plain, first, x[r])
        room[:ROWS] = 0
        add_squares(x, lines[:first], room[:ROWS])
        for r in range(1 + last - start):
            kernel = room[r]
            if gaps[r]:
                kernel[:] = 0
            for k in range(0 if gaps[r] else plain, where.shape[0]):
                at = k if k < plain else k + first - plain
                add_special(x[r, at], lines[at], terms[k, 0], terms[k, 1], kernel)
            exp2_minus(kernel, room[ROWS], room[ROWS + 1], constants)
            for i in range(weight.shape[0]):
                out[start + r, i] += _weighted(kernel, weight[i], inside[i, 0], inside[i, 1])


def kernel_sums(
    rows: Any, prototypes: _Floats, v: _Floats, weight: _Floats, is_category: NDArray[np.bool_],
    agree: _Floats, n_jobs: int | None = None,
) -> _Floats:  # fmt: skip
    """Return (n, L) ``sum_j G_v(x_i, c_j) weight_jl``.

    The rows are (n, q), the prototypes (m, q) and the weights (m, L). Rows and prototypes must be
    scaled; rows are an array, or an object whose slices are arrays. Weights may be negative.
    """
    out = np.zeros((len(rows), weight.shape[1]))
    adds = weight != 0.0
    if not adds.any():
        return out
    some = np.flatnonzero(adds.any(axis=1))
    order = some[np.argsort(adds[some].argmax(axis=1), kind="stable")]
    adds, m = adds[order], len(order)
    special = is_category | np.isnan(prototypes[order]).any(axis=0)
    read = v > LEAST
    plain, others = np.flatnonzero(read & ~special), np.flatnonzero(read & special)
    kept = np.concatenate([plain, others])
    scale = np.where(is_category[kept], 1.0, v[kept] * math.sqrt(HALF_LOG2E))
    first = whole_lines(len(plain))
    lines = np.zeros((first + len(others), whole_lanes(m)))
    values = prototypes[order].T
    lines[: len(plain), :m] = values[plain] * scale[: len(plain), None]
    lines[first:, :m] = values[others] * scale[len(plain) :, None]
    ends = adds.argmax(axis=0), m - adds[::-1].argmax(axis=0)
    inside = np.where(adds.any(axis=0), ends, 0).astype(np.int64).T.copy()
    terms = column_terms(v[kept], is_category[kept], agree[kept])
    table = np.ascontiguousarray(weight[order].T)
    parts = kept, scale, len(plain), lines, terms, table, inside, _CONSTANTS

    def task(k: int) -> None:
        chunk = slice(k * _CHUNK, (k + 1) * _CHUNK)
        x, room = np.zeros((ROWS, len(lines))), np.empty((ROWS + 2, lines.shape[1]))
        own = np.ascontiguousarray(rows[chunk], dtype=np.float64)
        _add_sums(own, *parts, x, room, np.empty(ROWS, np.bool_), out[chunk])

    run_blocks(task, -(-len(rows) // _CHUNK), n_jobs)
    return out
