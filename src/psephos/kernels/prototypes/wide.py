"""Sums over pairs where columns are many times as many as prototypes: no copy of the table.

Then a table of pairs is small and the table of rows is not. References and prototypes are made a
block of columns at a time, once for the exponents of all pairs and once, the pairs being known,
for the derivatives by the columns; the formulas are those of ``sums``. Once few columns
are heard those alone are laid out, and ``sums`` takes over.
"""

import math
from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from psephos.kernels._jit import jit, run_blocks
from psephos.kernels.numerics.powers import wide
from psephos.kernels.prototypes.masses import LEAST
from psephos.kernels.prototypes.packed import Pairs, parts, stage
from psephos.kernels.prototypes.scratch import Desk
from psephos.kernels.prototypes.sums import NO_TWINS, SILENT, TINY, Sums, batch_sums

__all__ = ["WidePairs", "pairs_of", "suits_wide", "sums_of", "wide_distances", "wide_sums"]

_Float = NDArray[np.float64]
_COLUMNS = 256  # of a block: rows of some hundred prototypes stay in the second-level cache
_LEAST_SIZE = 2**18  # numbers of a table that it is worth doing without
_TIMES = 4  # as many columns as prototypes, and more
_MANY = 1024  # columns: below, a block would be the whole table
_ROWS_EACH = 8  # rows a prototype, at most: making rows must not take longer than comparing them
_FEW = 16  # of so many columns one is heard: they are laid out
_ROWS = 64  # references of a task
_HELD = 2**14  # numbers made at once
_LN2 = math.log(2.0)


def suits_wide(n_references: int, n_prototypes: int, n_columns: int) -> bool:
    """Return whether the pairs are far fewer than the numbers of the table, and those are many."""
    large = n_references * n_columns >= _LEAST_SIZE and n_references <= _ROWS_EACH * n_prototypes
    return large and n_columns >= max(_TIMES * n_prototypes, _MANY)


@jit(fastmath={"contract", "reassoc"}, _nrt=False)
def _add_distances(X, C, first, out):
    """Add ``|x_n - c_j|^2`` of rows (R, q) and (M, q) to ``out`` (R, M).

    Of rows n and n + 1, n even, with the prototypes from n + first on. Two rows and four prototypes
    at a time: what is read once serves more than one pair.
    """
    wide()
    q, m = X.shape[1], C.shape[0]
    n = 0
    while n < X.shape[0]:
        two = n + 1 < X.shape[0]
        j = max(0, n + first)
        x, y = X[n], X[n + two]
        while j < m:
            if two and j + 4 <= m:
                c0, c1, c2, c3 = C[j], C[j + 1], C[j + 2], C[j + 3]
                s0, s1, s2, s3 = out[n, j], out[n, j + 1], out[n, j + 2], out[n, j + 3]
                t0, t1, t2, t3 = (
                    out[n + 1, j], out[n + 1, j + 1], out[n + 1, j + 2], out[n + 1, j + 3]
                )  # fmt: skip
                for d in range(q):
                    a0, a1, a2, a3 = x[d] - c0[d], x[d] - c1[d], x[d] - c2[d], x[d] - c3[d]
                    b0, b1, b2, b3 = y[d] - c0[d], y[d] - c1[d], y[d] - c2[d], y[d] - c3[d]
                    s0 += a0 * a0
                    s1 += a1 * a1
                    s2 += a2 * a2
                    s3 += a3 * a3
                    t0 += b0 * b0
                    t1 += b1 * b1
                    t2 += b2 * b2
                    t3 += b3 * b3
                out[n, j], out[n, j + 1], out[n, j + 2], out[n, j + 3] = s0, s1, s2, s3
                out[n + 1, j], out[n + 1, j + 1] = t0, t1
                out[n + 1, j + 2], out[n + 1, j + 3] = t2, t3
                j += 4
                continue
            c0, s0, t0 = C[j], out[n, j], out[n + two, j]
            for d in range(q):
                a0, b0 = x[d] - c0[d], y[d] - c0[d]
                s0 += a0 * a0
                t0 += b0 * b0
            out[n, j] = s0
            if two:
                out[n + 1, j] = t0
            j += 1
        n += 2


@jit(fastmath={"contract", "reassoc"}, _nrt=False)
def _add_column_sums(factor, X, C, first, row, out):
    """Add ``sum over n, j of factor_nj (x_nd - c_jd)^2`` to ``out`` (q,); `row` (q,) is room.

    Over the same pairs in the same way.
    """
    wide()
    q, m = X.shape[1], C.shape[0]
    n = 0
    while n < X.shape[0]:
        two = n + 1 < X.shape[0]
        j = max(0, n + first)
        x, y, by, of = X[n], X[n + two], factor[n], factor[n + two]
        row[:] = 0
        while j < m:
            if two and j + 4 <= m:
                f0, f1, f2, f3 = by[j], by[j + 1], by[j + 2], by[j + 3]
                g0, g1, g2, g3 = of[j], of[j + 1], of[j + 2], of[j + 3]
                c0, c1, c2, c3 = C[j], C[j + 1], C[j + 2], C[j + 3]
                for d in range(q):
                    a0, a1, a2, a3 = x[d] - c0[d], x[d] - c1[d], x[d] - c2[d], x[d] - c3[d]
                    b0, b1, b2, b3 = y[d] - c0[d], y[d] - c1[d], y[d] - c2[d], y[d] - c3[d]
                    row[d] += (
                        f0 * a0 * a0 + f1 * a1 * a1 + f2 * a2 * a2 + f3 * a3 * a3
                        + g0 * b0 * b0 + g1 * b1 * b1 + g2 * b2 * b2 + g3 * b3 * b3
                    )  # fmt: skip
                j += 4
                continue
            f0, c0 = by[j], C[j]
            for d in range(q):
                a0 = x[d] - c0[d]
                row[d] += f0 * a0 * a0
            if two:
                g0 = of[j]
                for d in range(q):
                    b0 = y[d] - c0[d]
                    row[d] += g0 * b0 * b0
            j += 1
        for d in range(q):
            out[d] += row[d]
        n += 2


class WidePairs(NamedTuple):
    """References and prototypes, not laid out: tables that give some columns when asked for them.

    ``table.reading(columns)`` is the table of some columns, ``table[slice]`` some of its rows.
    Nothing is missing and nothing a category.
    """

    references: Any  # (R, q)
    prototypes: Any  # (M, q), the references themselves where they are the same rows
    label: NDArray[Any]  # (R,) class codes or targets
    column_label: NDArray[Any]  # (M,)
    dtype: Any
    kept: dict[str, Any]  # what was laid out last
    whole: Any = None  # those with all prototypes, if these are some of them
    some: Any = None  # which
    is_plain = True

    @property
    def tables(self) -> tuple[Any, Any]:
        """Return references and prototypes."""
        return self.references, self.prototypes

    def among(self, some: NDArray[np.intp]) -> "WidePairs":
        """Return the pairs with some of the prototypes."""
        given = self.prototypes.only(some), self.label, self.column_label[some]
        return WidePairs(self.references, *given, self.dtype, {}, self, some)

    def laid_out(self, wanted: NDArray[np.bool_]) -> tuple[NDArray[np.intp], Pairs]:
        """Return columns that hold all wanted ones, and the pairs laid out for these alone."""
        columns = self.kept.get("columns")
        if columns is not None and np.count_nonzero(wanted[columns]) == np.count_nonzero(wanted):
            return columns, self.kept["pairs"]
        self.kept.clear()
        if self.whole is not None:
            columns, pairs = self.whole.laid_out(wanted)
            pairs = pairs.among(self.some)
        else:
            columns = np.flatnonzero(wanted)
            mine = self.references.reading(columns)
            same = self.prototypes is self.references
            place = None if same else self.prototypes.among(self.references)
            pairs = stage(
                mine, mine if same else self.prototypes.reading(columns), self.label,
                self.column_label, np.zeros(len(columns), np.bool_), np.zeros(len(columns)),
                self.dtype, place,
            )  # fmt: skip
        self.kept.update(columns=columns, pairs=pairs)
        return columns, pairs


def pairs_of(
    references: Any, prototypes: Any, label: NDArray[Any], column_label: NDArray[Any],
    is_category: NDArray[np.bool_], agree: _Float, dtype: Any,
    place: NDArray[np.intp] | None = None,
) -> Pairs | WidePairs:  # fmt: skip
    """Lay pairs out, as ``stage`` does, unless columns are many and tables made when asked for.

    Such tables say by ``is_plain`` that nothing is missing in them and nothing a category.
    """
    tables = (references,) if prototypes is references else (references, prototypes)
    if suits_wide(len(references), *prototypes.shape) and all(
        getattr(table, "is_plain", False) for table in tables
    ):
        return WidePairs(references, prototypes, label, column_label, dtype, {})
    return stage(references, prototypes, label, column_label, is_category, agree, dtype, place)


def sums_of(pairs: Pairs | WidePairs, *given: Any, **options: Any) -> Sums:
    """Return what ``batch_sums`` does, of either kind of pairs."""
    sums: Any = wide_sums if isinstance(pairs, WidePairs) else batch_sums
    return sums(pairs, *given, **options)


def _blocks(references: Any, prototypes: Any, columns: Any, dtype: Any) -> Iterator[Any]:
    """Yield (columns, references, prototypes) of a block of columns after another."""
    for first in range(0, len(columns), _COLUMNS):
        some = columns[first : first + _COLUMNS]
        theirs = prototypes.reading(some)
        centre = theirs[:1]  # changes no difference, and keeps digits where rows lie far off
        mine = _singles(references.reading(some), centre, dtype)
        same = prototypes is references
        yield some, mine, mine if same else _singles(theirs, centre, dtype)


def _singles(table: Any, centre: _Float, dtype: Any) -> NDArray[Any]:
    """Return a table of few columns less a row, in the precision of the sums."""
    out = np.empty(table.shape, dtype)
    for some, part in parts(table, _HELD):
        np.subtract(part, centre, out=out[some], casting="same_kind")
    return out


def wide_sums(
    pairs: WidePairs,
    v: _Float,
    w: _Float,
    u: float,
    base_own: _Float,
    base_total: _Float,
    omega: _Float,
    n_jobs: int | None = None,
    gradient: bool = True,
    entering: NDArray[np.bool_] | None = None,
    twin: NDArray[np.int64] = NO_TWINS,
    apart: _Float | None = None,
    desk: Desk | None = None,
) -> Sums:
    """Log-likelihood of a batch with its derivatives, and its masses: see ``batch_sums``."""
    heard = v > LEAST
    wanted = heard if entering is None else heard | entering
    given = w, u, base_own, base_total, omega, n_jobs, gradient
    if np.count_nonzero(wanted) * _FEW <= len(v):
        columns, few = pairs.laid_out(wanted)
        asked = None if entering is None else entering[columns]
        sums = batch_sums(few, v[columns], *given, asked, twin, apart, desk)
        by_v = np.zeros(len(v))
        by_v[columns] = sums.v
        return sums._replace(v=by_v)
    read = np.flatnonzero(heard)
    rows = pairs.references, pairs.prototypes
    factor = wide_distances(*rows, read, pairs.dtype, v * math.sqrt(0.5), n_jobs)
    _put_kernels(factor, twin, apart)
    found = _weigh(pairs, factor, *given[:5])
    by_v = np.zeros(len(v))
    if gradient:
        of = heard if entering is None else entering
        by_v[of] = _by_columns(pairs, factor, of, n_jobs)
        by_v *= -v if entering is None else -0.5
    return found._replace(v=by_v)


def _tasks(n: int) -> list[slice]:
    return [slice(first, min(first + _ROWS, n)) for first in range(0, n, _ROWS)]


def _first(rows: slice, same: bool) -> int:
    """Return what a row of a task adds to its own place to find its first prototype.

    Where references are the prototypes, each pair is looked at once.
    """
    return rows.start + 1 if same else -rows.stop


def wide_distances(
    references: Any, prototypes: Any, columns: NDArray[np.intp], dtype: Any,
    by: _Float | None = None, n_jobs: int | None = None,
) -> NDArray[Any]:  # fmt: skip
    """Return ``sum over columns of (by_d (x_nd - c_jd))^2``, (R, M)."""
    table = np.zeros((len(references), len(prototypes)), dtype)
    tasks, same = _tasks(len(table)), prototypes is references
    for some, mine, theirs in _blocks(references, prototypes, columns, dtype):
        if by is not None:
            scale = by[some].astype(dtype)
            mine *= scale
            if theirs is not mine:
                theirs *= scale

        def add(k: int, mine: Any = mine, theirs: Any = theirs) -> None:
            _add_distances(mine[tasks[k]], theirs, _first(tasks[k], same), table[tasks[k]])

        run_blocks(add, len(tasks), n_jobs)
    if same:
        table += table.T
    return table


def _put_kernels(table: NDArray[Any], twin: NDArray[np.int64], apart: _Float | None) -> None:
    """Put G_nj in the place of minus its logarithm."""
    rows = np.flatnonzero(twin >= 0)
    table[rows, twin[rows]] += SILENT if apart is None else apart[rows] * _LN2
    np.negative(table, out=table)
    np.exp(table, out=table)


def _weigh(
    pairs: WidePairs, kernel: NDArray[Any], w: _Float, u: float, base_own: _Float,
    base_total: _Float, omega: _Float,
) -> Sums:  # fmt: skip
    """Return value, masses and derivatives by w and u; put ``w_j B_nj`` in the place of G."""
    n, m = kernel.shape
    value, by_u, by_w, masses = 0.0, 0.0, np.zeros(m), np.empty((n, 2))
    for some in _tasks(n):
        G = kernel[some].astype(np.float64)
        off = pairs.label[some, None] - pairs.column_label
        density = u / math.sqrt(2.0 * math.pi) * np.exp(-0.5 * (u * off) ** 2) if u else off == 0.0
        G_w = G * w
        q, s = (G_w * density).sum(axis=1), G_w.sum(axis=1)
        masses[some, 0], masses[some, 1] = q, s
        mass, whole = base_own[some] + q, base_total[some] + s
        value -= float((omega[some] * np.log(mass / whole + TINY)).sum())
        by_own = omega[some] / (mass + TINY * whole)
        B = (by_own * mass / whole)[:, None] - by_own[:, None] * density
        by_w += (G * B).sum(axis=0)
        if u:
            by_u -= float((by_own[:, None] * G_w * density * (1.0 / u - u * off**2)).sum())
        kernel[some] = G_w * B
    return Sums(value, by_w, by_w, by_u, masses[:, 0], masses[:, 1])


def _by_columns(
    pairs: WidePairs, factor: NDArray[Any], wanted: NDArray[np.bool_], n_jobs: int | None
) -> _Float:
    """Return ``sum over n, j of factor_nj (x_nd - c_jd)^2`` for the wanted columns."""
    found = []
    tasks, rows = _tasks(len(factor)), (pairs.references, pairs.prototypes)
    same = rows[0] is rows[1]
    if same and wanted.any():
        factor = factor + factor.T
    for columns, mine, theirs in _blocks(*rows, np.flatnonzero(wanted), pairs.dtype):
        part = np.zeros((len(tasks), len(columns)))

        def add(k: int, mine: Any = mine, theirs: Any = theirs, part: Any = part) -> None:
            room = np.empty(mine.shape[1], mine.dtype)
            first = _first(tasks[k], same)
            _add_column_sums(factor[tasks[k]], mine[tasks[k]], theirs, first, room, part[k])

        run_blocks(add, len(tasks), n_jobs)
        found.append(part.sum(axis=0))
    return np.concatenate([*found, np.empty(0)])
