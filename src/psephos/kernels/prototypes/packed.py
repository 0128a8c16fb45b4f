"""References and prototypes laid out for ``sums``: panels, packs of active columns."""

import math
from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from psephos.kernels._jit import jit
from psephos.kernels.numerics.powers import wide
from psephos.kernels.prototypes.vector_code import COLUMNS, ROWS, lanes

__all__ = [
    "HALF_LOG2E",
    "Order",
    "Pack",
    "Pairs",
    "aligned",
    "fill_rows",
    "order_of",
    "pack_columns",
    "parts",
    "stage",
]

_Float = NDArray[np.float64]
_HELD, _LEAST = 2**12, 8  # numbers looked at at once, and rows
HALF_LOG2E = 0.5 / math.log(2.0)  # exponents are kept in base 2


class Pairs(NamedTuple):
    """References and prototypes in the form the sums are made from."""

    rows: NDArray[Any]  # (R, q), columns of numbers less their mean
    label: NDArray[Any]  # (R + some,) class codes or targets
    prototypes: NDArray[Any]  # rows too, the references themselves where they are the same
    place: NDArray[np.intp]  # (M,) which of these is each
    place_label: NDArray[Any]  # (M',) of each, M' whole panels
    is_special: NDArray[np.bool_]  # (q,) categories and columns with a missing value
    is_category: NDArray[np.bool_]  # (q,)
    agree: _Float  # (q,)

    @property
    def is_plain(self) -> bool:
        """Return whether nothing is missing and nothing a category."""
        return not self.is_special.any()

    @property
    def tables(self) -> tuple[NDArray[Any], NDArray[Any]]:
        """Return references and prototypes, row by row; one table where they are the same."""
        every = np.array_equal(self.place, np.arange(len(self.prototypes)))
        return self.rows, self.prototypes if every else self.prototypes[self.place]

    def among(self, some: NDArray[np.intp]) -> "Pairs":
        """Return the pairs with some of the prototypes."""
        label = _whole_panels(self.place_label[some], self.rows.dtype)
        return self._replace(place=self.place[some], place_label=label)


class Order(NamedTuple):
    """Which active columns lie where: plain ones first."""

    column: NDArray[np.int64]  # which each is, -1 where filled up
    plain: int  # of these, filled up to a multiple of COLUMNS
    there: NDArray[np.bool_]  # whether it is a column
    read: NDArray[np.int64]  # those that are


class Pack(NamedTuple):
    """Active columns, multiplied by their feature weights; plain ones first."""

    column: NDArray[np.int64]  # which each is, -1 where filled up
    scale: NDArray[Any]
    plain: int  # of these, filled up to a multiple of COLUMNS
    panels: NDArray[Any]  # panel by panel: plain columns, 1 and |c|^2, special columns
    longest: float  # greatest |c|^2
    near: NDArray[Any]  # (2 special,) what a special column adds to the exponent
    steep: NDArray[Any]  # (2 special,) and its delta'


def aligned(size: int, dtype: Any) -> NDArray[Any]:
    """Zeros from a cache line's start on."""
    item = np.dtype(dtype).itemsize
    flat = np.zeros(size + 64 // item, dtype)
    skip = (-flat.__array_interface__["data"][0] % 64) // item  # .ctypes takes as long as all else
    return flat[skip : skip + size]


def stage(
    references: Any,
    candidates: Any,
    label: NDArray[Any],
    candidate_label: NDArray[Any],
    is_category: NDArray[np.bool_],
    agree: _Float,
    dtype: Any = np.float32,
    place: NDArray[np.intp] | None = None,
) -> Pairs:
    """Lay out references (R, q) and prototypes (M, q), NaN where missing, once for many sums.

    Tables are arrays, or give rows when asked for a slice of them. Labels are class codes, whole
    numbers, or targets. Numbers are taken less their mean over the prototypes, which changes no
    difference and keeps squares short. Where all prototypes are references too, ``place`` (M,)
    may say which, and they are not kept twice.
    """
    dtype = np.dtype(dtype)
    q = references.shape[1]
    total, known = np.zeros(q), np.zeros(q, np.intp)
    for some, part in parts(candidates):
        there = ~np.isnan(part)
        given = np.where(there, part, 0.0)
        if some.start:  # row after row from the sum so far: it does not depend on the parts
            given = np.concatenate([total[None], given])
        total = given.sum(axis=0)
        known += there.sum(axis=0)
    centre = np.where(is_category, 0.0, total / np.maximum(known, 1))
    special = is_category | (known < len(candidates))
    own = np.zeros(len(references) + ROWS, dtype)
    own[: len(references)] = label
    rows = np.empty(references.shape, dtype)
    if candidates is references:
        place = np.arange(len(rows))
    prototypes = rows if place is not None else np.empty(candidates.shape, dtype)
    for some, part in parts(references):
        special |= np.isnan(part).any(axis=0)
        np.subtract(part, centre, out=rows[some], casting="same_kind")
    if place is None:
        place = np.arange(len(candidates))
        for some, part in parts(candidates):
            np.subtract(part, centre, out=prototypes[some], casting="same_kind")
    theirs = _whole_panels(candidate_label, dtype)
    return Pairs(rows, own, prototypes, place, theirs, special, is_category, agree)


def parts(table: Any, most: int = _HELD) -> Iterator[tuple[slice, _Float]]:
    """Yield rows of a table a few at a time, with their places."""
    size = max(_LEAST, most // max(1, table.shape[1]))
    for first in range(0, len(table), size):
        some = slice(first, min(first + size, len(table)))
        yield some, table[some]


def _whole_panels(label: NDArray[Any], dtype: Any) -> NDArray[Any]:
    """Return labels filled up to whole panels by -1."""
    whole = max(1, -(-len(label) // lanes(dtype))) * lanes(dtype)
    filled = np.full(whole, -1, dtype)
    filled[: len(label)] = label
    return filled


@jit(_nrt=False)
def _fill_panels(prototypes, place, n_panels, column, scale, plain, width, panels):
    """Lay active columns of some prototypes out by panel; return the greatest squared length."""
    wide()
    depth = column.shape[0] + 2
    longest = 0.0
    for p in range(n_panels):
        base = p * depth * width
        for lane in range(width):
            j = min(p * width + lane, place.shape[0] - 1)  # copies fill up: their weight is 0
            source = prototypes[place[j]]
            for k in range(column.shape[0]):
                at = base + (k if k < plain else k + 2) * width + lane
                if column[k] >= 0:  # what fills up was 0 before
                    panels[at] = source[column[k]] * scale[k]
        norm = panels[base + (plain + 1) * width : base + (plain + 2) * width]
        norm[:] = 0
        panels[base + plain * width : base + (plain + 1) * width] = 1
        for k in range(plain):
            of = panels[base + k * width : base + (k + 1) * width]
            for lane in range(width):
                norm[lane] += of[lane] * of[lane]
        for lane in range(width):
            longest = max(longest, norm[lane])
    return longest


def _terms(
    pairs: Pairs, v: _Float, chosen: NDArray[np.int64], unit: bool
) -> tuple[NDArray[Any], NDArray[Any]]:
    """For special columns: what a mismatch (-1: numbers) and a gap add to e, and their delta'."""
    if len(chosen) == 0:
        return np.zeros(0, pairs.rows.dtype), np.zeros(0, pairs.rows.dtype)
    category, agree = pairs.is_category[chosen], pairs.agree[chosen]
    squared = np.zeros(len(chosen)) if unit else v[chosen] ** 2
    decay = np.exp(-0.5 * squared)
    mixed = np.where(category, agree + (1.0 - agree) * decay, 1.0)
    # Where no two rows agree and the column is listened to sharply, a gap is infinitely far.
    mixed = np.maximum(mixed, np.finfo(np.float64).tiny)
    gap = np.where(category, -np.log(mixed), 0.5 * np.log1p(2.0 * squared)) * 2 * HALF_LOG2E
    slope = np.where(category, (1.0 - agree) * decay / mixed, 2.0 / (1.0 + 2.0 * squared))
    factor = np.ones(len(chosen)) if unit else squared * HALF_LOG2E
    near = np.stack([np.where(category, factor, -1.0), gap], axis=1)
    steep = np.stack([np.where(category, factor, -1.0), slope * factor], axis=1)
    return near.ravel().astype(pairs.rows.dtype), steep.ravel().astype(pairs.rows.dtype)


def order_of(pairs: Pairs, active: NDArray[np.bool_]) -> Order:
    """Return where the active columns will lie."""
    read = active.nonzero()[0]
    asked = pairs.is_special[read]
    plain, special = (read[~asked], read[asked]) if asked.any() else (read, read[:0])
    n_plain = len(plain) + -len(plain) % COLUMNS
    column = np.full(n_plain + len(special), -1, np.int64)
    column[: len(plain)], column[n_plain:] = plain, special
    there = column >= 0
    return Order(column, n_plain, there, column[there])


def pack_columns(
    pairs: Pairs, v: _Float, order: Order, unit: bool, panels: NDArray[Any] | None = None
) -> Pack:
    """Lay out the active columns, multiplied by v and ``sqrt(log2(e) / 2)``; by 1 if ``unit``.

    ``panels`` that were laid out in the same order before, or hold zeros, are overwritten.
    """
    column, plain = order.column, order.plain
    special = column[plain:]
    dtype = pairs.rows.dtype
    if panels is None:
        panels = aligned((len(column) + 2) * len(pairs.place_label), dtype)
    scale = np.ones(len(column)) if unit else v[column] * math.sqrt(HALF_LOG2E)
    if len(special):
        scale[plain:][pairs.is_category[special]] = 1.0
    scale = scale.astype(dtype)
    width = lanes(dtype)
    laid = pairs.prototypes, pairs.place, len(pairs.place_label) // width
    longest = _fill_panels(*laid, column, scale, plain, width, panels)
    return Pack(column, scale, plain, panels, longest, *_terms(pairs, v, special, unit))


@jit(fastmath={"contract", "reassoc"}, _nrt=False)
def fill_rows(rows, first, n, up, pack, out, stride, crossing, limit):
    """Copy active columns of some references, |x|^2 beside 1; say whether squares are expanded.

    They are where plain columns are at least ``crossing`` and no ``|x|^2 + |c|^2`` exceeds
    ``limit``: then plain columns are multiplied by the -2 of an expanded square.
    """
    wide()
    plain, longest = pack.plain, 0.0
    real = plain
    while real > 0 and pack.column[real - 1] < 0:
        real -= 1
    for r in range(up):
        source = rows[first + min(r, n - 1)]  # what the last rows hold is multiplied by 0
        goal = out[r * stride : (r + 1) * stride]
        for k in range(real):
            goal[k] = source[pack.column[k]] * pack.scale[k]
        goal[real:plain] = 0
        norm = 0.0
        for k in range(real):
            norm += goal[k] * goal[k]
        goal[plain] = norm
        goal[plain + 1] = 1
        for k in range(plain, pack.column.shape[0]):
            goal[k + 2] = source[pack.column[k]] * pack.scale[k]
        longest = max(longest, norm)
    expanded = plain >= crossing and longest + pack.longest <= limit
    for r in range(up if expanded else 0):
        for k in range(r * stride, r * stride + plain):
            out[k] *= -2
    return expanded
