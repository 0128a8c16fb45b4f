"""What prototypes of fixed weights say at new rows: every sum over them in one pass.

Row i hears ``sums_il = sum_j G_v(x_i, c_j) weight_jl``, the kernel G of ``sums``. A fit
asks for one sum, its logarithm and its derivatives at ever new v and weights; here v and weights
stay, so prototypes are laid out once: ordered by the sums they speak in, in whole vectors, each of
which names its sums. A class's prototypes speak in one sum, so a kernel is made once and added
once; the few of a class that fill no vector share one with those of others.

Where columns are many and rows short, squares are expanded, ``|x|^2 + |c|^2 - 2 x c``: half the
work, and an error of about ``1e-16 sqrt(q) (|x|^2 + |c|^2)`` in the exponent, x and c multiplied by
v. Rows for which that is not small, and rows with gaps, are looked at apart, column by column.
"""

import math
import threading
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from psephos.kernels._jit import jit, run_blocks
from psephos.kernels.numerics.powers import wide
from psephos.kernels.prototypes.packed import HALF_LOG2E, aligned
from psephos.kernels.prototypes.vector_code import ROWS, lanes
from psephos.kernels.prototypes.vectors import (
    add_heard,
    add_special,
    hear,
    put_products,
    put_rows,
    put_squares,
    say,
    sum_lanes,
)

__all__ = ["Crowds", "Reading", "filled_up", "kernel_sums", "said"]

_Floats = NDArray[np.float64]
LEAST = 1e-30  # feature weights below are 0: their squares would leave the range of numbers
_TILE = 2 * ROWS  # rows at a time
_CHUNK = 2**12  # rows of a thread's task
_EXPANDED = 8  # columns from which on squares are expanded
_LONGEST = 64.0  # |x|^2 + |c|^2 in base 2 up to which they are
_NO_LIST, _NO_PRIOR = np.empty(0, np.int64), np.empty(0)
_kept = threading.local()


class Reading(NamedTuple):
    """How columns of a table become scaled ones: ``z = (x - centre) inverse``, by column."""

    where: NDArray[np.int64]  # (q,) columns of the table
    centre: _Floats
    inverse: _Floats
    n_levels: NDArray[np.int64]  # codes of a category, others are missing; 0: a number


class Crowd(NamedTuple):
    """Prototypes laid out for sums, each vector of them with the sums it speaks in."""

    where: NDArray[np.int64]  # (k,) columns of the table, plain ones first
    scaling: _Floats  # (5, k): centre, inverse, mean of the prototypes, bandwidth, levels
    plain: int
    longest: float  # greatest |x|^2 of a row whose squares are expanded; below 0: none is
    panels: NDArray[Any]  # panel by panel: plain columns, 1 and |c|^2, special columns
    near: NDArray[Any]  # (2 special,) what a special column adds to the exponent
    first: NDArray[np.int64]  # (vectors + 1,) where each vector's sums begin in `sum`
    sum: NDArray[np.int64]  # (e,)
    weight: NDArray[Any]  # (e lanes of a vector,)


def _terms(v: _Floats, is_category: NDArray[np.bool_], agree: _Floats, dtype: Any) -> NDArray[Any]:
    """Return what a mismatch (-1: numbers) and a gap add to the exponent."""
    squared = v * v
    mixed = np.where(is_category, agree + (1.0 - agree) * np.exp(-0.5 * squared), 1.0)
    # Where no two rows agree and the column is listened to sharply, a gap is infinitely far.
    mixed = np.maximum(mixed, np.finfo(np.float64).tiny)
    gap = np.where(is_category, -np.log(mixed), 0.5 * np.log1p(2.0 * squared)) * 2.0 * HALF_LOG2E
    mismatch = np.where(is_category, squared * HALF_LOG2E, -1.0)
    return np.stack([mismatch, gap], axis=1).ravel().astype(dtype)


def _vectors(weight: _Floats, length: int) -> tuple[NDArray[np.intp], list[NDArray[np.intp]]]:
    """Order prototypes by the sums they speak in; return (lanes of vectors, sums of each vector).

    A lane is a prototype's place, -1 where a vector is filled up. Those that speak nowhere are
    left out. What is left of those of one sum when whole vectors are taken shares vectors with
    what is left of other sums.
    """
    speaks = weight != 0.0
    n_sums = speaks.sum(axis=1)
    alone = n_sums == 1
    said = np.where(alone, speaks.argmax(axis=1), -1)
    own = [np.flatnonzero(said == k) for k in range(weight.shape[1])]
    turns, shared = _shared([len(some) % length for some in own], length)
    order, sums = [], []
    for k, some in enumerate(own):
        whole = some[: len(some) - len(some) % length].reshape(-1, length)
        order.append(whole[:, np.arange(length) ^ turns[k]])
        sums += [np.array([k])] * len(whole)
    some = np.flatnonzero(n_sums > 1)
    some = np.concatenate([some, np.full(-len(some) % length, -1)]).reshape(-1, length)
    order.append(some)
    sums += [np.flatnonzero(s) for s in (speaks[some] & (some >= 0)[:, :, None]).any(axis=1)]
    for kinds in shared:
        lanes = np.full(length, -1)
        for k in kinds:
            rest = own[k][len(own[k]) - len(own[k]) % length :]
            lanes[np.arange(len(rest)) ^ turns[k]] = rest
        order.append(lanes[None])
        sums.append(np.array(kinds))
    if len(sums) % 2:
        order.append(np.full((1, length), -1))
        sums.append(np.zeros(1, np.intp))
    return np.concatenate(order), sums


def _shared(left: list[int], length: int) -> tuple[list[int], list[list[int]]]:
    """Return how each sum's lanes are turned, and which sums share each further vector.

    ``left`` lanes of each sum fill no vector. Lanes are added half to half (`sum_lanes`), so a sum
    stays the same to the bit when it takes lane ``i ^ turn`` for lane i throughout, whatever the
    turn: with whom it shares a vector is not seen in it.
    """
    turns, vectors, taken = [0] * len(left), [], []
    for k in sorted(range(len(left)), key=lambda k: -left[k]):
        if left[k] == 0:
            continue
        lanes = [sum(1 << (i ^ turn) for i in range(left[k])) for turn in range(length)]
        fits = ((v, turn) for v, held in enumerate([*taken, 0])
                for turn in range(length) if not held & lanes[turn])  # fmt: skip
        v, turns[k] = next(fits)
        if v == len(vectors):
            vectors.append([])
            taken.append(0)
        vectors[v].append(k)
        taken[v] |= lanes[turns[k]]
    return turns, vectors


def _lay_out(
    reading: Reading,
    prototypes: _Floats,
    v: _Floats,
    weight: _Floats,
    agree: _Floats,
    dtype: Any = np.float64,
    by_column: bool = False,
) -> Crowd:
    """Lay out prototypes (m, q), scaled, NaN where missing, with their weights (m, L) in the sums.

    Only columns with v > 0 are kept. Plain ones are numbers that no prototype lacks; none is if
    ``by_column``.
    """
    dtype = np.dtype(dtype)
    width = lanes(dtype)
    order, sums = _vectors(weight, width // 2)
    category = reading.n_levels > 0
    special = category | np.isnan(prototypes).any(axis=0) | by_column
    read = v > LEAST
    plain, others = np.flatnonzero(read & ~special), np.flatnonzero(read & special)
    kept = np.concatenate([plain, others])
    known = ~np.isnan(prototypes[:, kept])
    mean = np.where(known, prototypes[:, kept], 0.0).sum(axis=0) / np.maximum(known.sum(axis=0), 1)
    mean[category[kept]] = 0.0
    scale = np.where(category[kept], 1.0, v[kept] * math.sqrt(HALF_LOG2E))
    places = np.zeros((order.size, len(kept)))
    there = order.ravel() >= 0
    places[there] = (prototypes[order.ravel()[there]][:, kept] - mean) * scale
    norm = (places[:, : len(plain)] ** 2).sum(axis=1, keepdims=True)
    longest = _LONGEST - norm.max(initial=0.0) if len(plain) >= _EXPANDED else -1.0
    places = np.hstack([places[:, : len(plain)], np.ones_like(norm), norm, places[:, len(plain) :]])
    panels = aligned(places.size, dtype)
    panels[:] = places.reshape(len(order) // 2, width, places.shape[1]).transpose(0, 2, 1).ravel()
    n_sums = list(map(len, sums))
    part = np.concatenate([np.empty(0, np.intp), *sums])
    own = np.repeat(order, n_sums, axis=0)
    spoken = np.where(own >= 0, weight[own, part[:, None]], 0.0).ravel().astype(dtype)
    levels = reading.n_levels[kept].astype(np.float64)
    return Crowd(
        reading.where[kept],
        np.stack([reading.centre[kept], reading.inverse[kept], mean, scale, levels]),
        len(plain), longest, panels, _terms(v[others], category[others], agree[others], dtype),
        np.cumsum([0, *n_sums]).astype(np.int64), part.astype(np.int64), spoken,
    )  # fmt: skip


@jit(_nrt=False)
def _hear(
    table, listed, late, prior, where, scaling, plain, longest, panels, near, begins, sum_of,
    weight, x, tile, by_lane, sums, who, out,
):  # fmt: skip
    """Add to ``out`` (n, L) what rows hear; return how many were put off into ``late``.

    Those are rows with a gap in a plain column, or too long to be expanded. ``listed`` are the
    rows asked for, if any are named. A ``prior`` (L,), unless it is empty, takes the place of what
    ``out`` held. (A crowd and scratch come part by part: to look into a tuple takes longer than
    all else that a call costs.)
    """
    wide()
    depth, expanded = where.shape[0] + 2, longest >= 0.0
    factor = -2.0 if expanded else 1.0
    size, parts = who.shape[0], out.shape[1]
    width = tile.shape[0] // size
    half = width // 2
    n_rows = listed.shape[0] if listed.shape[0] else table.shape[0]
    n_late = 0
    for first in range(0, n_rows, size):
        here = min(size, n_rows - first)
        up = -(-here // ROWS) * ROWS
        for r in range(up):  # what is filled up is the last row once more
            place = first + min(r, here - 1)
            who[r] = listed[place] if listed.shape[0] else place
        # Scaled rows stand side by side; NaN in a plain column makes their squares NaN.
        for begin in range(0, up, ROWS):
            at = begin * depth
            put_rows(who, begin, where, table, table.shape[1], scaling, depth - 2, x, at, plain,
                     factor)  # fmt: skip
            for k in range(plain, depth - 2):
                levels, to = scaling[4, k], at + (k + 2) * ROWS
                for r in range(ROWS):
                    z = (table[who[begin + r], where[k]] - scaling[0, k]) * scaling[1, k]
                    if levels > 0.0 and not (0.0 <= z < levels and math.floor(z) == z):
                        z = math.nan
                    x[to + r] = (z - scaling[2, k]) * scaling[3, k]
        n_off = 0
        for r in range(here):
            row, norm = who[r], x[(r // ROWS * depth + plain) * ROWS + r % ROWS]
            if norm != norm or (expanded and norm > longest):
                late[n_late + n_off], who[r] = row, -1
                n_off += 1
                for part in range(prior.shape[0]):
                    out[row, part] = prior[part]
        n_late += n_off
        if n_off == here:
            continue
        by_lane[: parts * size * half] = 0
        for p in range((begins.shape[0] - 1) // 2):
            at = p * depth * width
            for r in range(0, up, ROWS):
                mine = r * depth
                if expanded:
                    put_products(tile, r * width, x, mine, panels, at, plain + 2)
                else:
                    put_squares(tile, r * width, x, mine, panels, at, plain)
                for k in range(plain + 2, depth):
                    add_special(tile, r * width, ROWS, x, mine + k * ROWS, 1, panels,
                                at + k * width, near, 2 * (k - plain - 2))  # fmt: skip
            one, too = begins[2 * p], begins[2 * p + 1]
            hear(tile, 0, up, weight, one * half, too * half, by_lane,
                 sum_of[one] * size * half, sum_of[too] * size * half)  # fmt: skip
            for h in range(2):
                for e in range(begins[2 * p + h] + 1, begins[2 * p + h + 1]):
                    add_heard(tile, h * half, up, weight, e * half, by_lane,
                              sum_of[e] * size * half)  # fmt: skip
        sum_lanes(by_lane, parts * size, sums)
        for r in range(here):
            if who[r] >= 0:
                for part in range(parts):
                    before = prior[part] if prior.shape[0] else out[who[r], part]
                    out[who[r], part] = before + sums[part * size + r]
    return n_late


def _room(rows: int, columns: int, parts: int, dtype: Any) -> tuple[NDArray[Any], ...]:
    """Scratch, the thread's last if it fits: to make it anew takes a third of a short answer.

    Scaled rows, a tile of pairs, sums by lane and their totals, and which rows.
    """
    size = min(_TILE, -(-rows // ROWS) * ROWS)
    key = size, columns, parts, dtype
    if getattr(_kept, "key", None) == key:
        return _kept.room
    width, line = lanes(dtype), 64 // dtype.itemsize
    n_sums = -(-parts * size // (width // 2)) * (width // 2)  # lanes of as many are added at once
    sizes = (size * (columns + 2), size * width, n_sums * width // 2, n_sums)
    starts = [0]
    for s in sizes:
        starts.append(starts[-1] + -(-s // line) * line)
    flat = aligned(starts[-1], dtype)
    x, tile, by_lane, sums = (flat[a : a + s] for a, s in zip(starts, sizes, strict=False))
    _kept.key, _kept.room = key, (x, tile, by_lane, sums, np.empty(size, np.int64))
    return _kept.room


class Crowds:
    """The prototypes of one batch, laid out for rows without gaps and, when one comes, with them.

    Parameters
    ----------
    reading : Reading
        How the table's columns become the q that the prototypes have.
    prototypes : (m, q) scaled values, NaN where missing
    v : (q,) feature weights; columns where v is 0 are not looked at
    weight : (m, L) weights in each sum; a prototype is added to those where it has any
    agree : (q,)
    dtype : dtype, default=float64
    """

    def __init__(self, reading: Reading, prototypes: _Floats, v: _Floats, weight: _Floats,
                 agree: _Floats, dtype: Any = np.float64) -> None:  # fmt: skip
        self._given = reading, prototypes, v, weight, agree, dtype

    @cached_property
    def _plain(self) -> Crowd:
        return _lay_out(*self._given)

    @cached_property
    def _by_column(self) -> Crowd:
        return _lay_out(*self._given, by_column=True)

    def add(self, table: _Floats, out: _Floats, prior: _Floats = _NO_PRIOR) -> None:
        """Add to ``out`` (n, L) what the rows of a table (n, p) hear.

        What a row hears does not depend on the other rows, to the bit. A prior (L,) takes the place
        of what ``out`` held.
        """
        crowd, table = self._plain, np.ascontiguousarray(table, dtype=np.float64)
        room = _room(len(table), len(crowd.where), out.shape[1], crowd.panels.dtype)
        late = np.empty(len(table), np.int64)
        n_late = _hear(table, _NO_LIST, late, prior, *crowd, *room, out)
        if n_late:
            _hear(table, late[:n_late], _NO_LIST, _NO_PRIOR, *self._by_column, *room, out)


@jit(_nrt=False)
def _say(sums, kinds, out):
    wide()
    say(sums, sums.shape[0], sums.shape[1], kinds, kinds.shape[1], out)


def filled_up(kinds: _Floats) -> _Floats:
    """Return kinds of answers (L, K) and a column of ones, filled up for `said`."""
    length = lanes(np.dtype(np.float64)) // 2
    n_sums, n = kinds.shape
    whole = np.zeros((n_sums, -(-(n + 1) // length) * length))
    whole[:, :n], whole[:, n] = kinds, 1.0
    return whole


def said(sums: _Floats, kinds: _Floats, n_answers: int) -> tuple[_Floats, _Floats]:
    """Return ``sums @ kinds`` (n, K) and each row's sum (n,), a row alike in any company.

    Kinds are `filled_up`, sums (n, L) contiguous.
    """
    out = np.empty((len(sums), kinds.shape[1]))
    _say(sums, kinds, out)
    return out[:, :n_answers], out[:, n_answers]


def kernel_sums(
    rows: Any,
    prototypes: _Floats,
    v: _Floats,
    weight: _Floats,
    is_category: NDArray[np.bool_],
    agree: _Floats,
    dtype: Any = np.float64,
    n_jobs: int | None = None,
) -> _Floats:
    """``sum_j G_v(x_i, c_j) weight_jl``: (n, L) of rows (n, q), prototypes (m, q), weight (m, L).

    Rows and prototypes are scaled already; rows are an array, or give some when asked for a slice.
    Any weights may be negative.
    """
    q = len(v)
    levels = np.where(is_category, np.iinfo(np.int32).max, 0)
    reading = Reading(np.arange(q), np.zeros(q), np.ones(q), levels)
    crowds = Crowds(reading, prototypes, v, weight, agree, dtype)
    out = np.zeros((len(rows), weight.shape[1]))

    def task(k: int) -> None:
        some = slice(k * _CHUNK, (k + 1) * _CHUNK)
        crowds.add(np.ascontiguousarray(rows[some]), out[some])

    run_blocks(task, -(-len(rows) // _CHUNK), n_jobs)
    return out
