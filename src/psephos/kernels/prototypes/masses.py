"""What prototypes of fixed weights add up to at new rows.

``sums_il = sum_j G_v(x_i, c_j) weight_jl``, the kernel G of ``sums``. Prototypes are ordered by the
first sum they have a weight in, so that each sum is one over prototypes that stand side by side. A
row is computed alike whatever rows come with it; one that lacks a value goes column by column.
"""

import math
from typing import Any, NamedTuple

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


class Reading(NamedTuple):
    """How columns of a table become scaled ones: ``z = (x - centre) inverse``, by column."""

    where: NDArray[np.int64]  # (q,) columns of the table
    centre: _Floats
    inverse: _Floats
    n_levels: NDArray[np.int64]  # codes of a category, others are missing; 0: a number


class FixedPrototypes:
    """The prototypes of one batch, laid out for their sums at the rows of tables.

    Parameters
    ----------
    reading : how the table's columns become the q that the prototypes have
    prototypes : (m, q) scaled values, NaN where missing
    v : (q,) feature weights; columns where v is 0 are not looked at
    weight : (m, L) weights in each sum
    agree : (q,)
    """

    def __init__(
        self, reading: Reading, prototypes: _Floats, v: _Floats, weight: _Floats, agree: _Floats
    ) -> None:
        adds = weight != 0.0
        self._parts: tuple[Any, ...] | None = None
        if not adds.any():
            return
        some = np.flatnonzero(adds.any(axis=1))
        order = some[np.argsort(adds[some].argmax(axis=1), kind="stable")]
        adds = adds[order]
        category = reading.n_levels > 0
        special = category | np.isnan(prototypes[order]).any(axis=0)
        read = v > LEAST
        plain, others = np.flatnonzero(read & ~special), np.flatnonzero(read & special)
        kept = np.concatenate([plain, others])
        scale = np.where(category[kept], 1.0, v[kept] * math.sqrt(HALF_LOG2E))
        first = whole_lines(len(plain))
        m = len(order)
        lines = np.zeros((first + len(others), whole_lanes(m)))
        values = prototypes[order].T
        lines[: len(plain), :m] = values[plain] * scale[: len(plain), None]
        lines[first:, :m] = values[others] * scale[len(plain) :, None]
        scaling = [reading.centre[kept], reading.inverse[kept], scale, reading.n_levels[kept]]
        ends = adds.argmax(axis=0), m - adds[::-1].argmax(axis=0)
        inside = np.where(adds.any(axis=0), ends, 0)
        self._parts = (
            reading.where[kept], np.stack(scaling), len(plain), lines,
            column_terms(v[kept], category[kept], agree[kept]),
            np.ascontiguousarray(weight[order].T), inside.astype(np.int64).T.copy(),
        )  # fmt: skip

    def add(self, table: _Floats, out: _Floats) -> None:
        """Add the sums at the rows of a table (n, p) to ``out`` (n, L)."""
        if self._parts is None:
            return
        lines = self._parts[3]
        rows = np.ascontiguousarray(table, dtype=np.float64)
        x, room = np.zeros((ROWS, len(lines))), np.empty((ROWS + 2, lines.shape[1]))
        _add_sums(rows, *self._parts, _CONSTANTS, x, room, np.empty(ROWS, np.bool_), out)


@jit
def _put_row(row, where, scaling, plain, first, x):
    """Put the scaled columns of a row in x; return whether a plain one is missing."""
    missing = False
    for k in range(where.shape[0]):
        z = (row[where[k]] - scaling[0, k]) * scaling[1, k]
        levels = scaling[3, k]
        if levels > 0.0 and not (0.0 <= z < levels and math.floor(z) == z):
            z = math.nan
        x[k if k < plain else k + first - plain] = z * scaling[2, k]
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
def _add_sums(table, where, scaling, plain, lines, terms, weight, inside, constants, x, room,
              gaps, out):  # fmt: skip
    n_special = where.shape[0] - plain
    first = lines.shape[0] - n_special
    for start in range(0, table.shape[0], ROWS):
        last = min(start + ROWS, table.shape[0]) - 1
        for r in range(ROWS):
            gaps[r] = _put_row(table[min(start + r, last)], where, scaling, plain, first, x[r])
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


@jit(fastmath={"contract"})
def combine(sums, answers, out):
    """Put ``sums @ answers`` (n, K) and each row's sum, the last column, in ``out`` (n, K + 1).

    No row is computed otherwise because of those that come with it, as BLAS may.
    """
    last = answers.shape[1]
    for i in range(sums.shape[0]):
        out[i] = 0
        for part in range(sums.shape[1]):
            for k in range(last):
                out[i, k] += sums[i, part] * answers[part, k]
            out[i, last] += sums[i, part]


def kernel_sums(
    rows: Any, prototypes: _Floats, v: _Floats, weight: _Floats, is_category: NDArray[np.bool_],
    agree: _Floats, n_jobs: int | None = None,
) -> _Floats:  # fmt: skip
    """``sum_j G_v(x_i, c_j) weight_jl``: (n, L) of rows (n, q), prototypes (m, q), weight (m, L).

    Rows and prototypes are scaled already; rows are an array, or give some when asked for a slice.
    Any weights may be negative.
    """
    q = len(v)
    levels = np.where(is_category, np.iinfo(np.int32).max, 0)
    reading = Reading(np.arange(q), np.zeros(q), np.ones(q), levels)
    fixed = FixedPrototypes(reading, prototypes, v, weight, agree)
    out = np.zeros((len(rows), weight.shape[1]))

    def task(k: int) -> None:
        some = slice(k * _CHUNK, (k + 1) * _CHUNK)
        fixed.add(np.ascontiguousarray(rows[some]), out[some])

    run_blocks(task, -(-len(rows) // _CHUNK), n_jobs)
    return out
