"""Sums over pairs of references and prototypes: mass, log-likelihood and its derivatives.

Prototype j of a batch has the weight ``w_j G(x_n, c_j)`` at reference n,

    log G = - 1/2 sum over columns present in both of v_d^2 delta_d + sum over others of e_d(v_d),

where ``delta`` is the squared difference of numbers, 1[x != c] of categories; ``e_d`` is the log of
the mean kernel of two rows drawn at random, ``-1/2 log(1 + 2 v^2)`` for numbers and ``log(a + (1 -
a) exp(-v^2 / 2))`` for categories that agree with probability a. With m_nj = 1[y_n = y_j], or
``u / sqrt(2 pi) exp(-(u (t_n - t_j))^2 / 2)``, and q, s the masses with those of earlier batches,

    f = - sum_n omega_n log(q_n / s_n + 1e-10),   q = q0 + sum_j m w G,   s = s0 + sum_j w G
    B_nj = G_nj (p_n / (q_n + 1e-10 s_n) omega_n - m_nj omega_n / (q_n + 1e-10 s_n)),  p = q / s
    df/dw_j = sum_n B_nj,   df/dv_d = - v_d sum_nj w_j B_nj delta'_njd,

where ``v delta'`` is the derivative of a column's term of -log G. References are processed in
tiles, and columns in blocks, so that both stay in the second-level cache; no (n, m) array is kept.
Tiles are divided among tasks, whose sums are added in their order: results do not depend on the
number of threads.
"""

import math
from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from psephos.kernels.prototypes import kernel as gaussian
from psephos.runtime.jit import jit, run_blocks

_Float = NDArray[np.float64]
_CHUNK = 2**14  # numbers scaled at once
_NO_TERMS = np.empty((0, 3))


class Pairs(NamedTuple):
    """References and prototypes, with numeric columns centred at the mean of the prototypes."""

    references: NDArray[Any]  # (q, R'), column by column, padded to whole lanes
    label: NDArray[Any]  # (R,) class codes or targets
    columns: NDArray[Any]  # (q, M') of the prototypes; the same array if they are the same rows
    column_label: NDArray[Any]  # (M',)
    n_prototypes: int  # M
    is_special: NDArray[np.bool_]  # (q,) categories and columns with a missing value
    is_category: NDArray[np.bool_]  # (q,)
    agree: _Float  # (q,)
    is_plain: bool  # whether there are no missing values and no categories

    def among(self, some: NDArray[np.intp]) -> "Pairs":
        """Return the pairs with some of the prototypes."""
        n = len(some)
        columns = np.zeros((len(self.columns), gaussian.whole_lanes(n)), self.columns.dtype)
        np.take(self.columns, some, axis=1, out=columns[:, :n], mode="clip")
        label = filled_up(self.column_label[some], columns.dtype)
        return self._replace(columns=columns, column_label=label, n_prototypes=n)


class Panel(NamedTuple):
    """Columns of the prototypes, multiplied by v and ``sqrt(log2(e) / 2)``; plain ones first."""

    column: NDArray[np.intp]  # (k,) their indices
    scale: NDArray[Any]  # (k,)
    plain: int  # of these
    lines: NDArray[Any]  # (whole lines of plain ones + special, M)
    terms: NDArray[Any]  # (special, 3): see `column_terms`


def stage(
    references: Any,
    candidates: Any,
    label: NDArray[Any],
    candidate_label: NDArray[Any],
    is_category: NDArray[np.bool_],
    agree: _Float,
    dtype: Any = np.float32,
) -> Pairs:
    """Arrange references (R, q) and prototypes (M, q), NaN where missing, for `batch_sums`.

    Tables are arrays, or objects whose slices are arrays of rows. Labels are class codes or
    targets. Centring does not change differences, and improves their precision.
    """
    q = references.shape[1]
    total, known = np.zeros(q), np.zeros(q, np.intp)
    for _, part in _parts(candidates):
        there = ~np.isnan(part)
        total += np.where(there, part, 0.0).sum(axis=0)
        known += there.sum(axis=0)
    centre = np.where(is_category, 0.0, total / np.maximum(known, 1))
    special = is_category | (known < len(candidates))
    columns = theirs = _by_column(candidates, centre, dtype)
    if references is not candidates:
        theirs = _by_column(references, centre, dtype)
    special |= np.isnan(theirs).any(axis=1)
    labels = label.astype(dtype), filled_up(candidate_label, dtype)
    kinds = len(candidates), special, is_category, agree, not special.any()
    return Pairs(theirs, labels[0], columns, labels[1], *kinds)


def _by_column(table: Any, centre: _Float, dtype: Any) -> NDArray[Any]:
    """Return the columns of a table less their centres, padded to whole lanes by 0."""
    out = np.zeros((len(centre), gaussian.whole_lanes(len(table))), dtype)
    for some, part in _parts(table):
        np.subtract(part.T, centre[:, None], out=out[:, some], casting="same_kind")
    return out


def filled_up(values: NDArray[Any], dtype: Any) -> NDArray[Any]:
    """Return values of prototypes, padded to whole lanes by 0."""
    out = np.zeros(gaussian.whole_lanes(len(values)), dtype)
    out[: len(values)] = values
    return out


def _parts(table: Any) -> Iterator[tuple[slice, _Float]]:
    """Yield (slice, rows) of a table, a few rows at a time."""
    size = max(8, _CHUNK // max(1, table.shape[1]))
    for first in range(0, len(table), size):
        some = slice(first, min(first + size, len(table)))
        yield some, table[some]


def panel_of(pairs: Pairs, v: _Float, active: NDArray[np.bool_]) -> Panel:
    """Return the active columns of the prototypes, scaled."""
    columns, column, terms = pairs.columns, active.nonzero()[0], _NO_TERMS
    plain = len(column)
    if not pairs.is_plain:
        special = pairs.is_special[column]
        column = np.concatenate([column[~special], column[special]])
        plain -= int(special.sum())
        last = column[plain:]
        terms = gaussian.column_terms(v[last], pairs.is_category[last], pairs.agree[last])
    scale = v[column] * math.sqrt(gaussian.HALF_LOG2E)
    if len(terms):
        scale[plain:][terms[:, 0] >= 0.0] = 1.0
    scale, first = scale.astype(columns.dtype), gaussian.whole_lines(plain)
    lines = np.zeros((first + len(terms), columns.shape[1]), columns.dtype)
    columns.take(column[:plain], axis=0, out=lines[:plain], mode="clip")
    lines[:plain] *= scale[:plain, None]
    if len(terms):
        columns.take(column[plain:], axis=0, out=lines[first:], mode="clip")
        lines[first:] *= scale[plain:, None]
    return Panel(column, scale, plain, lines, terms)


TINY = 1e-10  # added in the logarithm
_TILE, _BLOCK = 16, 128  # references, and columns, at a time
_LARGE_TILE, _MANY = 64, 1024  # tile if there are more columns, which then do not fit the cache
_TASKS = 16  # greatest number of tasks
_WORK = 4_000_000  # least number of pairs times columns of a task
_PER_PAIR = 10  # the other work for a pair, in columns
ZERO_AT = 1e4  # an exponent whose kernel is 0
NO_TWINS = np.empty(0, np.int64)


class Sums(NamedTuple):
    """The result of ``batch_sums``; derivatives are those of the value, without penalties."""

    value: float
    v: _Float  # (q,), 0 where v is 0
    w: _Float  # (M,)
    u: float
    own: _Float  # (R,) masses of this batch alone
    total: _Float  # (R,)


class _Evaluated(NamedTuple):
    """Data of the references, (R,) each; `twin` and `apart` may be empty."""

    label: NDArray[Any]
    own: _Float
    total: _Float
    omega: _Float
    twin: NDArray[np.int64]
    apart: _Float


@jit
def _put_product(a, factor, out):
    for j in range(a.shape[0]):
        out[j] = factor * a[j]


@jit
def _fill_rows(references, start, n, panel, first, x):
    """Copy the columns of a panel from `first` on for some references, repeating the last one."""
    for k in range(x.shape[1]):
        at = first + k
        if at >= panel.plain:
            x[:, k] = 0
            continue
        line, scale = references[panel.column[at]], panel.scale[at]
        for r in range(x.shape[0]):
            x[r, k] = line[start + min(r, n - 1)] * scale


@jit(fastmath={"contract", "reassoc"})
def _row_masses(kernel, match, w):
    """Return ``sum_j m_j w_j G_j`` and ``sum_j w_j G_j``."""
    q = s = np.float32(0.0)
    for j in range(w.shape[0]):
        mass = kernel[j] * w[j]
        s += mass
        q += mass * match[j]
    return q, s


@jit(fastmath={"contract", "reassoc"})
def _row_spread(kernel, match, w, label, y):
    """Return ``sum_j m_j w_j G_j (y - t_j)^2``."""
    total = np.float32(0.0)
    for j in range(w.shape[0]):
        apart = y - label[j]
        total += kernel[j] * w[j] * match[j] * (apart * apart)
    return total


@jit(fastmath={"contract"})
def _row_slopes(kernel, match, w, by_total, by_own, by_w):
    """Add a reference's B to the derivatives by w, and replace its kernels by ``w B``."""
    for j in range(w.shape[0]):
        slope = kernel[j] * (by_total - by_own * match[j])
        by_w[j] += slope
        kernel[j] = slope * w[j]


@jit
def _add_to(total, part):
    for j in range(part.shape[0]):
        total[j] += part[j]


@jit(fastmath={"contract"})
def _put_match(label, y, u, constants, match, room):
    """Write to `match` whether prototypes are of class y (u = 0), or their densities at y."""
    if u == 0.0:
        for j in range(label.shape[0]):
            match[j] = 1.0 if label[j] == y else 0.0
        return
    for j in range(label.shape[0]):
        apart = (label[j] - y) * match.dtype.type(u * math.sqrt(gaussian.HALF_LOG2E))
        match[j] = apart * apart
    gaussian.exp2_minus(match, room[0], room[1], constants)
    height = match.dtype.type(u / math.sqrt(2.0 * math.pi))
    for j in range(label.shape[0]):
        match[j] *= height


@jit(fastmath={"contract", "reassoc"})
def _add_column_sums(a, rows, lines, out):
    """Add ``sum over r, j of a[r, j] (rows[r, d] - lines[d, j])^2`` of four rows to ``out``."""
    a0, a1, a2, a3 = a[0], a[1], a[2], a[3]
    for d in range(lines.shape[0]):
        w, x, y, z, line = rows[0, d], rows[1, d], rows[2, d], rows[3, d], lines[d]
        total = np.float32(0.0)
        for j in range(a.shape[1]):
            c = line[j]
            total += a0[j] * (w - c) * (w - c) + a1[j] * (x - c) * (x - c)
            total += a2[j] * (y - c) * (y - c) + a3[j] * (z - c) * (z - c)
        out[d] += total


@jit(fastmath={"contract", "reassoc"})
def _special_sum(factor, one, line, mismatch, gap):
    """Return the same for one reference and a column with missing values or categories."""
    total = np.float32(0.0)
    for j in range(factor.shape[0]):
        apart = one - line[j]
        term = apart * apart
        if mismatch >= 0:
            term = mismatch if apart != 0 else apart
        total += factor[j] * (term if apart == apart else gap)
    return total


@jit
def _exponents(references, start, n, panel, distances, factor, room, kernel):
    """Write minus the log2 of the kernels of a tile's references to `kernel`."""
    special, kind = panel.terms.shape[0], kernel.dtype.type
    whole = panel.lines.shape[0] - special
    kernel[:] = 0
    for r in range(n if distances.shape[0] else 0):
        _put_product(distances[start + r], factor, kernel[r])
    for first in range(0, whole, _BLOCK):
        lines = panel.lines[first : min(first + _BLOCK, whole)]
        x = room[: kernel.shape[0], : lines.shape[0]]
        _fill_rows(references, start, n, panel, first, x)
        for r in range(0, kernel.shape[0], gaussian.ROWS):
            gaussian.add_squares(x[r : r + gaussian.ROWS], lines, kernel[r : r + gaussian.ROWS])
    for k in range(special):
        mismatch, gap = kind(panel.terms[k, 0]), kind(panel.terms[k, 1])
        source, scale = references[panel.column[panel.plain + k]], panel.scale[panel.plain + k]
        for r in range(n):
            one = source[start + r] * scale
            gaussian.add_special(one, panel.lines[whole + k], mismatch, gap, kernel[r])


@jit
def _weigh(start, n, refs, label, w, u, gradient, constants, kernel, room, masses):
    """Replace a tile's exponents by ``w B``, and write the sums of B to ``room[3]``.

    Returns the tile's part of the value, and of the derivative by u.
    """
    value, by_u, match, kind = 0.0, 0.0, room[2], kernel.dtype.type
    room[3] = 0
    for r in range(n):
        i, here = start + r, kernel[r]
        if len(refs.twin) and refs.twin[i] >= 0:  # a reference is left out of its own sums
            here[refs.twin[i]] += refs.apart[i]
        gaussian.exp2_minus(here, room[0], room[1], constants)
        _put_match(label, refs.label[i], u, constants, match, room)
        q, s = _row_masses(here, match, w)
        masses[i, 0], masses[i, 1] = q, s
        mass, total, b = refs.own[i] + q, refs.total[i] + s, 0.0
        if refs.omega[i] != 0.0:
            value -= refs.omega[i] * math.log(mass / total + TINY)
            b = refs.omega[i] / (mass + TINY * total)
        if not gradient:
            continue
        if u > 0.0:
            by_u += b * (u * _row_spread(here, match, w, label, refs.label[i]) - q / u)
        _row_slopes(here, match, w, kind(b * mass / total), kind(b), room[3])
    kernel[n:] = 0
    return value, by_u


@jit
def _differentiate(references, start, n, panel, room, kernel, by_v):
    """Add a tile's part of the derivatives by the columns of a panel."""
    special, kind = panel.terms.shape[0], kernel.dtype.type
    whole = panel.lines.shape[0] - special
    for first in range(0, whole, _BLOCK):
        lines = panel.lines[first : min(first + _BLOCK, whole)]
        out, x = by_v[first : first + lines.shape[0]], room[: kernel.shape[0], : lines.shape[0]]
        _fill_rows(references, start, n, panel, first, x)
        for r in range(0, kernel.shape[0], gaussian.ROWS):
            _add_column_sums(kernel[r : r + gaussian.ROWS], x[r : r + gaussian.ROWS], lines, out)
    for k in range(special):
        mismatch, slope, line = panel.terms[k, 0], panel.terms[k, 2], panel.lines[whole + k]
        source, scale = references[panel.column[panel.plain + k]], panel.scale[panel.plain + k]
        for r in range(n):
            one = source[start + r] * scale
            by_v[whole + k] += _special_sum(kernel[r], one, line, kind(mismatch), kind(slope))


@jit
def _task(
    references, refs, label, w, u, near, far, distances, factor, first, last, gradient,
    constants, x, kernel, room, masses, by_v, by_w,
):  # fmt: skip
    """Process a task's references in tiles; return its part of the value and the slope by u."""
    size, value, by_u = kernel.shape[0], 0.0, 0.0
    for start in range(first, last, size):
        n = min(size, last - start)
        here = kernel[: -(-n // gaussian.ROWS) * gaussian.ROWS]
        _exponents(references, start, n, near, distances, factor, x, here)
        more, slope = _weigh(start, n, refs, label, w, u, gradient, constants, here, room, masses)
        value += more
        by_u += slope
        if gradient:
            _add_to(by_w, room[3])
            _differentiate(references, start, n, far, x, here, by_v)
    return value, by_u


def batch_sums(
    pairs: Pairs, v: _Float, w: _Float, u: float, base_own: _Float, base_total: _Float,
    omega: _Float, n_jobs: int | None = None, gradient: bool = True,
    columns: bool = True, twin: NDArray[np.int64] = NO_TWINS,
    apart: _Float | None = None, alike: tuple[NDArray[Any], float] | None = None,
) -> Sums:  # fmt: skip
    """Return the log-likelihood of a batch with its derivatives, and its masses.

    Parameters
    ----------
    v : (q,) feature weights, at least 0; columns where v is 0 are not read
    w : (M,) prototype weights; derivatives include those of weights that are 0
    u : inverse bandwidth of the target; 0 for classes
    base_own, base_total : (R,) masses of earlier batches and the prior
    omega : (R,) weights of the references
    n_jobs : threads. The result does not depend on them.
    gradient : False: value and masses only
    columns : False: no derivatives by v
    twin : (R,) int64; the candidate that each reference itself is; -1 for none
    apart : (R,) float64; number added to its exponent, in base 2: `ZERO_AT`, the default, leaves it
        out
    alike : (distances, v); the `squared_distances` of all pairs and one weight of all columns, in
        place of `v`
    """
    dtype, n_rows, m = pairs.columns.dtype, len(pairs.label), pairs.columns.shape[1]
    apart = np.full(len(twin), ZERO_AT) if apart is None else apart
    refs = _Evaluated(pairs.label, base_own, base_total, omega, twin, apart)
    distances, alike_v = (np.empty((0, m), dtype), 0.0) if alike is None else alike
    none = np.zeros(len(v), np.bool_)
    near = panel_of(pairs, v, v > gaussian.LEAST if alike is None else none)
    far = near if columns else panel_of(pairs, v, none)
    span = _span(n_rows, n_rows * m * (len(near.column) + len(far.column) + _PER_PAIR))
    n_tasks = -(-n_rows // span)
    by_v, by_w = np.zeros((n_tasks, len(far.lines))), np.zeros((n_tasks, m))
    parts, masses = np.zeros((n_tasks, 2)), np.empty((n_rows, 2))
    weight, constants = filled_up(w, dtype), gaussian.exp2_constants(dtype)
    factor = dtype.type(alike_v**2 * gaussian.HALF_LOG2E)
    size = min(
        _LARGE_TILE if len(near.column) > _MANY else _TILE,
        -(-n_rows // gaussian.ROWS) * gaussian.ROWS,
    )

    def task(k: int) -> None:
        parts[k] = _task(
            pairs.references, refs, pairs.column_label, weight, u, near, far, distances, factor,
            k * span, min(n_rows, (k + 1) * span), gradient, constants,
            np.empty((size, _BLOCK), dtype), np.empty((size, m), dtype), np.empty((4, m), dtype),
            masses, by_v[k], by_w[k],
        )  # fmt: skip

    run_blocks(task, n_tasks, n_jobs)
    all_v, all_w, (value, by_u) = _total(by_v), _total(by_w), _total(parts)
    whole, n_read = len(far.lines) - len(far.terms), len(far.column)
    if len(far.terms):
        all_v[far.plain : n_read] = all_v[whole:].copy()
    found = np.zeros(len(v))
    found[far.column] = all_v[:n_read] / (v[far.column] * -gaussian.HALF_LOG2E)
    w_slopes = all_w[: pairs.n_prototypes]
    return Sums(float(value), found, w_slopes, float(by_u), masses[:, 0], masses[:, 1])


def _span(n_rows: int, work: int) -> int:
    """Return the number of references of a task, whole tiles, whatever the number of threads."""
    n_tiles = -(-n_rows // _TILE)
    return -(-n_tiles // min(_TASKS, 1 + work // _WORK)) * _TILE


def _total(parts: _Float) -> Any:
    """Return the sum over tasks."""
    return np.add.reduce(parts) if len(parts) > 1 else parts[0]


def squared_distances(pairs: Pairs, n_jobs: int | None = None) -> NDArray[Any]:
    """Return the squared distances (R, M) of references and prototypes without missing values."""
    q, n, m = len(pairs.columns), len(pairs.label), pairs.columns.shape[1]
    out = np.zeros((n, m), pairs.columns.dtype)
    panel = panel_of(pairs, np.full(q, gaussian.HALF_LOG2E**-0.5), np.ones(q, np.bool_))

    def task(k: int) -> None:
        first = k * _LARGE_TILE
        size = min(_LARGE_TILE, n - first)
        here = np.empty((-(-size // gaussian.ROWS) * gaussian.ROWS, m), out.dtype)
        room = np.empty((len(here), _BLOCK), out.dtype)
        _exponents(pairs.references, first, size, panel, out[:0], out.dtype.type(0), room, here)
        out[first : first + size] = here[:size]

    run_blocks(task, -(-n // _LARGE_TILE), n_jobs)
    return out
