"""Gaussian kernels of rows with prototypes, and their sums with fixed weights.

Prototypes are in a panel, one line per column; rows and panel are multiplied by v and
``sqrt(log2(e) / 2)``, so that ``-log2 G`` is a sum of squared differences. Four lines are processed
at a time, and the loop over prototypes is vectorised. Sums are made element by element in a fixed
order: a pair's kernel depends only on the pair, and equal rows have a distance of exactly 0.

``sums_il = sum_j G_v(x_i, c_j) weight_jl``, with the kernel G of ``sums``. Prototypes are ordered
by the first sum in which they have weight, so that each sum is over adjacent prototypes. The
result for a row does not depend on other rows; rows with missing values are computed column by
column.
"""

import math
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.polynomial import Chebyshev, Polynomial
from numpy.typing import NDArray

from psephos.runtime.jit import jit, run_blocks

_Floats = NDArray[np.float64]
HALF_LOG2E = 0.5 / math.log(2.0)  # exponents are in base 2
LEAST = 1e-30  # smaller v count as 0, as their square would underflow
ROWS = 4  # rows processed together, for which a line is read once
LINES, LANES = 4, 16  # lines of a panel read at once, and prototypes of a vector


def whole_lanes(m: int) -> int:
    """Return m rounded up to whole lanes; prototypes added as padding have weight 0."""
    return -(-m // LANES) * LANES


def whole_lines(n: int) -> int:
    """Return n rounded up to whole lines; lines added as padding are 0."""
    return -(-n // LINES) * LINES


def column_terms(v: _Floats, is_category: NDArray[np.bool_], agree: _Floats) -> _Floats:
    """Return (k, 3): the terms of a mismatch and a missing value, and the latter's ``v^2 delta'``.

    The mismatch is -1 for numeric columns.
    """
    squared = v * v
    factor = squared * HALF_LOG2E
    decay = np.exp(-0.5 * squared)
    mixed = np.where(is_category, agree + (1.0 - agree) * decay, 1.0)
    # If no two rows agree and v is large, the term of a missing value would be infinite.
    mixed = np.maximum(mixed, np.finfo(np.float64).tiny)
    gap = np.where(is_category, -np.log2(mixed), HALF_LOG2E * np.log1p(2.0 * squared))
    slope = np.where(is_category, (1.0 - agree) * decay / mixed, 2.0 / (1.0 + 2.0 * squared))
    return np.stack([np.where(is_category, factor, -1.0), gap, slope * factor], axis=1)


@jit(fastmath={"contract"})
def add_squares(rows, lines, e):
    """Add squares of differences in whole lines to the exponents of four rows.

    ``e[r, j] += sum over d of (rows[r, d] - lines[d, j])^2``.
    """
    e0, e1, e2, e3 = e[0], e[1], e[2], e[3]
    for d in range(0, lines.shape[0], LINES):
        w0, w1, w2, w3 = rows[0, d], rows[0, d + 1], rows[0, d + 2], rows[0, d + 3]
        x0, x1, x2, x3 = rows[1, d], rows[1, d + 1], rows[1, d + 2], rows[1, d + 3]
        y0, y1, y2, y3 = rows[2, d], rows[2, d + 1], rows[2, d + 2], rows[2, d + 3]
        z0, z1, z2, z3 = rows[3, d], rows[3, d + 1], rows[3, d + 2], rows[3, d + 3]
        c0, c1, c2, c3 = lines[d], lines[d + 1], lines[d + 2], lines[d + 3]
        for j in range(e.shape[1]):
            s0, s1, s2, s3 = e0[j], e1[j], e2[j], e3[j]
            c = c0[j]
            s0 += (w0 - c) * (w0 - c)
            s1 += (x0 - c) * (x0 - c)
            s2 += (y0 - c) * (y0 - c)
            s3 += (z0 - c) * (z0 - c)
            c = c1[j]
            s0 += (w1 - c) * (w1 - c)
            s1 += (x1 - c) * (x1 - c)
            s2 += (y1 - c) * (y1 - c)
            s3 += (z1 - c) * (z1 - c)
            c = c2[j]
            s0 += (w2 - c) * (w2 - c)
            s1 += (x2 - c) * (x2 - c)
            s2 += (y2 - c) * (y2 - c)
            s3 += (z2 - c) * (z2 - c)
            c = c3[j]
            s0 += (w3 - c) * (w3 - c)
            s1 += (x3 - c) * (x3 - c)
            s2 += (y3 - c) * (y3 - c)
            s3 += (z3 - c) * (z3 - c)
            e0[j], e1[j], e2[j], e3[j] = s0, s1, s2, s3


@jit
def add_special(one, line, mismatch, gap, e):
    """Add to -log2 G of one row the term of a column with missing values or categories."""
    if mismatch >= 0:
        for j in range(e.shape[0]):
            apart = one - line[j]
            term = mismatch if apart != 0 else apart
            e[j] += term if apart == apart else gap
    else:
        for j in range(e.shape[0]):
            apart = one - line[j]
            e[j] += apart * apart if apart == apart else gap


@lru_cache
def exp2_constants(dtype: Any) -> NDArray[Any]:
    """Return the constants of `exp2_minus`: two numbers and a polynomial near 2^r, 1 at 0."""
    single = dtype == np.float32
    least, bits, degree = (127, 23, 6) if single else (1023, 52, 12)
    series = [math.log(2.0) ** k / math.factorial(k) for k in range(1, 2 * degree)]
    rest = Polynomial(series).convert(kind=Chebyshev, domain=[-0.5, 0.5]).truncate(degree)
    return np.array([least, 1.5 * 2.0**bits, *rest.convert(kind=Polynomial).coef[::-1], 1.0], dtype)


@jit(fastmath={"contract"})
def exp2_minus(e, power, room, constants):
    """Replace e, at least 0, by ``2^-e``; 0 if that is below the least normal number.

    ``-e = r - k`` with k an integer: a number added to 1.5 * 2^52 (2^23) is rounded, and its last
    bits are -k. `power` and `room` are as long as e; the relative error is about 2e-16 (1e-7).
    """
    most, magic = constants[0], constants[1]
    for j in range(e.shape[0]):
        less = e[j] if e[j] < most else most
        room[j] = magic - less
        r = (magic - room[j]) - less
        power[j] = ((constants[2] * r + constants[3]) * r + constants[4]) * r + constants[5]
        e[j] = r
    last = constants.shape[0] - 3
    for k in range(6, last, 3):
        a, b, c = constants[k], constants[k + 1], constants[k + 2]
        for j in range(e.shape[0]):
            power[j] = ((power[j] * e[j] + a) * e[j] + b) * e[j] + c
    if e.itemsize == 4:
        bits = room.view(np.int32)
        for j in range(bits.shape[0]):
            bits[j] = (bits[j] + 127) << 23
    else:
        wide_bits = room.view(np.int64)
        for j in range(wide_bits.shape[0]):
            wide_bits[j] = (wide_bits[j] + 1023) << 52
    a, b, c = constants[last], constants[last + 1], constants[last + 2]
    for j in range(e.shape[0]):
        r = e[j]
        e[j] = (((power[j] * r + a) * r + b) * r + c) * room[j]


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
