"""Distances on the columns a vote reads, and the sums of local weights made of them.

SamBA's weights (Bauvin et al., UAI 2023, equation 1) are ``k(d) = 1 / (a^b + d^b)``. A prediction
needs, for each query, the sum of ``s_i k_i`` over the anchors and, for each voter, the same sum
over the anchors where the voter was right. The sums are made in blocks of rows; no (n, m) table
of distances is kept. Where the rows are the anchors each pair is weighed once.
"""

import math
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from psephos.kernels._jit import jit, run_blocks
from psephos.kernels.numerics.powers import inverse_power, root, to_bits, to_float, wide
from psephos.kernels.numerics.subsets import (
    ANCHORS,
    LANES,
    add_looked_up,
    make_sums,
    make_sums_across,
    pack_subsets,
)

__all__ = [
    "InverseDistance",
    "Metric",
    "distances",
    "local_sums",
    "mean_distance",
    "pair_sums",
]

_Float = NDArray[np.float64]
_BLOCK_ROWS = 128  # of a task; their number does not depend on the threads
_NEAR = 2048  # anchors weighed at a time: a row of them stays in the nearest cache


class Metric(NamedTuple):
    """``d(x, z) = sqrt(q / |P| * sum over P of diff_f^2)``, P the columns present in both.

    ``diff = (x - z) / scale`` for numbers, ``1[x != z] / scale`` for categories; where P is empty
    the distance is ``absent``. Differences are taken before anything else, so identical rows are
    at distance exactly zero.
    """

    scale: NDArray[np.float64]  # (q,)
    is_category: NDArray[np.bool_]  # (q,)
    absent: float


class InverseDistance(NamedTuple):
    """``k(d) = 1 / (a^b + (d / scale)^b)``, a >= 0, b > 0, scale > 0."""

    a: float
    b: float
    scale: float


def _zeros(rows: int, columns: int) -> _Float:
    """Zeros (rows, columns) from a cache line's start on: vectors across two lines load slowly."""
    flat = np.zeros(rows * columns + 8)
    return flat[(-flat.ctypes.data % 64) // 8 :][: rows * columns].reshape(rows, columns)


@jit(fastmath={"contract"}, _nrt=False)
def _squared_row(X, r, columns, inverse, is_category, has_nan, far, first, out, counts):
    """Squared distances of row r to the anchors from ``first`` on, into ``out[first:]`` (m,).

    ``columns`` (q, m or more) are the anchors'. ``far`` stands where no column is in both rows.
    Scratch: counts (m,). Where ``has_nan`` is None all are numbers and known: less to compile.
    """
    wide()
    q = columns.shape[0]
    u = out[first:]
    m = u.shape[0]
    for i in range(m):
        u[i] = 0.0
    known = 0
    ragged = special = False
    f = g = -1  # columns that wait for a third: in one sweep their sum stays in a register
    for h in range(q):
        if has_nan is not None:
            here = not np.isnan(X[r, h])
            known += 1 if here and not has_nan[h] else 0
            ragged |= here and has_nan[h]
            special |= has_nan[h] or is_category[h]
            if has_nan[h] or is_category[h] or not here:
                continue
        if f < 0:
            f = h
            continue
        if g < 0:
            g = h
            continue
        x, y, z = X[r, f], X[r, g], X[r, h]
        by_x, by_y, by_z = inverse[f], inverse[g], inverse[h]
        at_x, at_y, at_z = columns[f, first:], columns[g, first:], columns[h, first:]
        for i in range(m):
            dx = (x - at_x[i]) * by_x
            dy = (y - at_y[i]) * by_y
            dz = (z - at_z[i]) * by_z
            u[i] = ((u[i] + dx * dx) + dy * dy) + dz * dz
        f = g = -1
    if f >= 0:  # one or two are left over
        h = g if g >= 0 else f
        x, y, by_x, by_y = X[r, f], X[r, h], inverse[f], inverse[h] if g >= 0 else 0.0
        at_x, at_y = columns[f, first:], columns[h, first:]
        for i in range(m):
            dx = (x - at_x[i]) * by_x
            dy = (y - at_y[i]) * by_y
            u[i] = (u[i] + dx * dx) + dy * dy
    if has_nan is not None and (special or known < q):
        for i in range(m):
            counts[i] = known
        for f in range(q):
            x = X[r, f]
            if np.isnan(x) or not (has_nan[f] or is_category[f]):
                continue
            by = inverse[f]
            z = columns[f, first:]
            for i in range(m):
                diff = (x - z[i]) * by
                if is_category[f]:
                    diff = by if x != z[i] else 0.0
                here = not np.isnan(z[i])
                u[i] += diff * diff if here else 0.0
                counts[i] += 1.0 if here and has_nan[f] else 0.0
        if ragged or known < q:
            for i in range(m):
                present = counts[i]
                if present < q:
                    u[i] = u[i] * (q / present) if present > 0.0 else far


@jit(_nrt=False)
def _squared_rows(X, columns, inverse, is_category, has_nan, far, out, counts):
    for r in range(X.shape[0]):
        _squared_row(X, r, columns, inverse, is_category, has_nan, far, 0, out[r], counts)


@jit(fastmath={"contract", "reassoc"}, _nrt=False)
def _root_sum(u, w):
    """``sum w_i sqrt(u_i)`` and the sum of ``w_i`` over the u that are not negative."""
    wide()
    total = pairs = 0.0
    for i in range(u.shape[0]):
        known = w[i] if u[i] >= 0.0 else 0.0
        total += known * root(abs(u[i]))
        pairs += known
    return total, pairs


@jit(_nrt=False)
def _mean_of_pairs(Z, w, columns, inverse, is_category, has_nan, far, u, counts):
    """Weighted mean distance over all ordered pairs of rows, those at ``far < 0`` left out."""
    m = Z.shape[0]
    total = pairs = 0.0
    for top in range(0, m, ANCHORS):  # pairs of rows in different blocks are met once, count twice
        start, times = top, 1.0
        end = behind = m if m < top + ANCHORS else top + ANCHORS
        while start < m:
            for r in range(top, behind):
                row = u[:end]
                _squared_row(Z, r, columns, inverse, is_category, has_nan, far, start, row, counts)
                roots, known = _root_sum(u[start:end], w[start:end])
                total += times * w[r] * roots
                pairs += times * w[r] * known
            start, end, times = end, m if m < end + _NEAR else end + _NEAR, 2.0
    return total / pairs if pairs > 0.0 else 0.0


@jit(_nrt=False)
def _range(u):
    """Least number that is not zero, greatest number, and whether one is zero; none negative."""
    wide()
    # Positive numbers sort like their bit patterns, and the extremes of integers vectorise.
    low = high = to_bits(u[0])
    for i in range(u.shape[0]):
        bits = to_bits(u[i])
        low = bits if bits < low else low
        high = bits if bits > high else high
    zeros = low == 0
    if zeros:
        low = to_bits(np.inf)
        for i in range(u.shape[0]):
            bits = to_bits(u[i])
            low = bits if 0 < bits < low else low
    return to_float(low), to_float(high), zeros


@jit(_nrt=False)
def _is_tame(low, high, zeros, base, b, by):
    """Whether no step of the weights ``1 / (base + (d by)^b)`` nears the limits of float64."""
    if not (base < 1e270 and by * by > 1e-290 and by * by < 1e290):
        return False
    if high == 0.0:
        return base > 1e-270
    least, most = low * by * by, high * by * by
    power = 1800.0 / b
    reach = 2.0 ** (power if power < 960.0 else 960.0)  # to the power b / 2 it is at most 2^900
    # Without a floor the least of the sums is that of the nearest anchor.
    near = base > 1e-270 or (not zeros and least > 1.0 / reach)
    return near and low > 1e-290 and least > 1e-290 and high < 1e290 and most < reach


@jit(_nrt=False)
def _weigh_far(u, a, b, by, low, high, zeros):
    """Weights of a row near the limits of float64, divided by ``2^c``; returns c."""
    if a == 0.0 and zeros:  # the exact branch: only identical anchors are heard
        for i in range(u.shape[0]):
            u[i] = 1.0 if u[i] == 0.0 else 0.0
        return 0.0
    floor = b * np.log2(a) if a > 0.0 else -np.inf
    nearest = -np.inf if zeros else 0.5 * b * np.log2(low * by * by)
    farthest = nearest if nearest > floor else floor
    if abs(farthest) == np.inf:  # all infinitely far, and equally so
        for i in range(u.shape[0]):
            u[i] = 1.0
        return farthest if farthest > 0.0 and high > 0.0 else 0.0
    shift = farthest if abs(farthest) > 900.0 else 0.0
    first = 2.0 ** (floor - shift)
    for i in range(u.shape[0]):
        x = u[i] * by * by
        exponent = 0.5 * b * np.log2(x) - shift if x > 0.0 else -np.inf
        u[i] = 1.0 / (first + 2.0**exponent) if exponent < 1023.0 else 0.0
    return shift


@jit(_nrt=False)
def _sum_rows(
    X, m, columns, inverse, is_category, has_nan, far, s, codes, own, a, b, scale, per_query,
    shift, tile, sums, weights, table, counts,
):  # fmt: skip
    """Sum the weights around the rows of X, 16 side by side, into ``sums`` (tiles, T', 16).

    Anchor ``own[r]`` (-1: none) is left out. Begins at a tile, returns the one after the last that
    is done. A row whose greatest weight would leave the range of float64 has its weights divided
    by ``2^shift[r]``; where ``shift`` is None, and the kernel holds no code for such rows, it ends
    before the row's tile. ``weights`` (16, m filled up to whole blocks with zeros), ``table`` and
    ``counts`` (m,) are room to work in.
    """
    n, n_voters, floor = X.shape[0], sums.shape[1], a**b
    while tile < sums.shape[0]:
        top = tile * LANES
        behind = n if n < top + LANES else top + LANES
        for r in range(top, behind):
            u = weights[r - top, :m]
            for start in range(0, m, _NEAR):
                part = u[: m if m < start + _NEAR else start + _NEAR]
                _squared_row(X, r, columns, inverse, is_category, has_nan, far, start, part, counts)
        for r in range(top, behind):
            u = weights[r - top, :m]
            left_out = own[r]
            if left_out >= 0:
                u[left_out] = 0.0
                if m == 1:
                    continue
            unit = _root_sum(u, s[:m])[0] if per_query else scale
            by = 1.0 / unit if unit > 0.0 else 1.0
            if left_out >= 0:  # a neighbour's distance changes no extreme
                u[left_out] = u[left_out - 1 if left_out > 0 else 1]
            low, high, zeros = _range(u)
            if _is_tame(low, high, zeros, floor, b, by):
                inverse_power(u, by * by, b, floor)
            elif shift is None:
                return tile
            else:
                shift[r] = _weigh_far(u, a, b, by, low, high, zeros)
            if left_out >= 0:
                u[left_out] = 0.0
        for start in range(0, s.shape[0], ANCHORS):
            make_sums(weights, start, s.shape[0], s, start, table)
            base = start // 4 * n_voters
            for t in range(0, n_voters, 4):
                at = (tile * n_voters + t) * LANES
                add_looked_up(codes, base + t * (ANCHORS // 4), table, sums, at)
        tile += 1
    return tile


@jit(_nrt=False)
def _sum_pairs(
    Z, columns, inverse, is_category, has_nan, far, s, codes, leave_out, a, b, scale, sums,
    weights, table, counts,
):  # fmt: skip
    """``_sum_rows`` of the anchors themselves, each pair weighed once; False if a row is far."""
    m, padded = Z.shape[0], s.shape[0]
    n_voters = sums.shape[1]
    by, floor = 1.0 / scale, a**b
    for top in range(0, padded, ANCHORS):
        for r in range(m - top if m > top else 0, ANCHORS):
            for i in range(padded):
                weights[r, i] = 0.0
        for start in range(top, m, _NEAR):
            end = m if m < start + _NEAR else start + _NEAR
            for r in range(top, m if m < top + ANCHORS else top + ANCHORS):
                row = weights[r - top, :end]
                _squared_row(Z, r, columns, inverse, is_category, has_nan, far, start, row, counts)
                u = row[start:]
                alone = leave_out and start == top
                if alone:  # a neighbour's distance changes no extreme
                    last = m - top - 1
                    u[r - top] = u[r - top - 1 if r > top else (last if last < 1 else 1)]
                low, high, zeros = _range(u)
                if not _is_tame(low, high, zeros, floor, b, by):
                    return False
                inverse_power(u, by * by, b, floor)
                if alone:
                    u[r - top] = 0.0
        for lane in range(0, ANCHORS, LANES):  # these rows hear the anchors from ``top`` on
            for start in range(top, padded, ANCHORS):
                make_sums(weights, lane * padded + start, padded, s, start, table)
                for t in range(0, n_voters, 4):
                    at = ((top + lane) // LANES * n_voters + t) * LANES
                    base = start // 4 * n_voters + t * (ANCHORS // 4)
                    add_looked_up(codes, base, table, sums, at)
        for start in range(top + ANCHORS, padded, LANES):  # and later rows hear these as anchors
            make_sums_across(weights, start, padded, s, top, table)
            for t in range(0, n_voters, 4):
                at = (start // LANES * n_voters + t) * LANES
                base = top // 4 * n_voters + t * (ANCHORS // 4)
                add_looked_up(codes, base, table, sums, at)
    return True


def _plain(array: ArrayLike, dtype: Any = np.float64) -> Any:
    """Read-only C-contiguous view: one compiled version serves every memory layout."""
    view = np.ascontiguousarray(array, dtype=dtype).view()
    view.flags.writeable = False
    return view


def _parts(
    Z: ArrayLike, metric: Metric, rows: _Float | None = None, far: float | None = None
) -> tuple[Any, ...]:
    """Anchors by column with what the kernels need to know of each column, for these rows."""
    Z = np.asarray(Z, dtype=np.float64)
    columns = _zeros(Z.shape[1], _filled(len(Z)))
    columns[:, : len(Z)] = Z.T
    has_nan = np.isnan(columns).any(axis=1)
    inverse = 1.0 / np.asarray(metric.scale, dtype=np.float64)
    is_category = np.asarray(metric.is_category, dtype=np.bool_)
    absent = float(metric.absent) ** 2 if far is None else far
    kinds = _plain(is_category, np.bool_), _plain(has_nan, np.bool_)
    if not (has_nan.any() or is_category.any() or (rows is not None and np.isnan(rows).any())):
        kinds = None, None
    return _plain(columns), _plain(inverse), *kinds, absent


def _filled(m: int) -> int:
    """Anchors in whole blocks."""
    return -(-m // ANCHORS) * ANCHORS


def _padded(s: _Float) -> _Float:
    """Weights of the anchors, filled up with zeros to whole blocks."""
    whole = np.zeros(_filled(len(s)))
    whole[: len(s)] = s
    return _plain(whole)


def _totals(sums: _Float, n: int, n_voters: int) -> tuple[_Float, _Float]:
    """Take tiles (tiles, T', 16) apart: (total (n,), heard (n, T))."""
    rows = sums.swapaxes(1, 2).reshape(-1, sums.shape[1])[:n]
    return rows[:, n_voters].copy(), rows[:, :n_voters].copy()


def distances(
    X: ArrayLike, Z: ArrayLike, metric: Metric, n_jobs: int | None = None
) -> NDArray[np.float64]:
    """Distances (n, m) of the rows of ``X`` (n, q) to the rows of ``Z`` (m, q)."""
    queries = _plain(X)
    parts = _parts(Z, metric, queries)
    n = len(queries)
    out = np.empty((n, len(np.asarray(Z))))

    def block(b: int) -> None:
        rows = slice(b * _BLOCK_ROWS, (b + 1) * _BLOCK_ROWS)
        _squared_rows(queries[rows], *parts, out[rows], np.empty(out.shape[1]))
        np.sqrt(out[rows], out=out[rows])

    run_blocks(block, -(-n // _BLOCK_ROWS), n_jobs)
    return out


def mean_distance(Z: ArrayLike, weight: ArrayLike, metric: Metric, max_rows: int = 10_000) -> float:
    """Weighted mean distance over all ordered pairs of rows: ``sum_ij w_i w_j d_ij / W^2``.

    Written so, weight 2 is the row repeated; a row and itself count as a pair at distance zero.
    Pairs without a common column are left out of both sums. Above ``max_rows`` every k-th row is
    used, k the least stride that leaves no more. Zero where there is no pair.
    """
    every = np.asarray(Z, dtype=np.float64)
    stride = max(1, -(-len(every) // max_rows))
    used = _plain(every[::stride])
    w = _plain(np.asarray(weight, dtype=np.float64)[::stride])
    room = _zeros(1, len(used))[0], np.empty(len(used))
    return float(_mean_of_pairs(used, w, *_parts(used, metric, far=-1.0), *room))


def local_sums(
    X: ArrayLike,
    Z: ArrayLike,
    metric: Metric,
    kernel: InverseDistance,
    anchor_weight: ArrayLike,
    right: NDArray[np.bool_],
    per_query: bool = False,
    n_jobs: int | None = None,
    own: NDArray[np.integer] | None = None,
) -> tuple[_Float, _Float, _Float]:
    """Total weight of the anchors around each query, and the part of it each voter was right on.

    Parameters
    ----------
    X : (n, q) queries
    Z : (m, q) anchors
    metric : Metric
    kernel : InverseDistance
    anchor_weight : (m,)
        ``s``, not negative.
    right : (m, T) bool
    per_query : bool, default=False
        Divide the distances of a query by ``sum_j s_j d_j`` instead of ``kernel.scale``.
    n_jobs : int, default=None
    own : (n,) int, default=None
        An anchor each query does not hear, -1 for none; None is none at all.

    Returns
    -------
    total : (n,)
        ``sum_i s_i k_i``. With a = 0 and an anchor at distance zero only such anchors count, each
        with k = 1.
    heard : (n, T)
        ``sum_i s_i k_i right[i, t]``.
    log_scale : (n,)
        The true sums are ``exp(log_scale)`` times those returned. Zero but for queries whose
        greatest weight would leave the range of float64; the ratios are right in any case.
    """
    queries, anchors = _plain(X), np.asarray(Z, dtype=np.float64)
    s, right = np.asarray(anchor_weight, dtype=np.float64), np.asarray(right, dtype=np.bool_)
    n, n_voters = len(queries), right.shape[1]
    left_out = np.full(n, -1) if own is None else np.asarray(own, dtype=np.int64)
    present = s > 0.0
    if not present.all():  # anchors without weight are not heard
        place = np.where(present, np.cumsum(present) - 1, -1)
        left_out = np.where(left_out >= 0, place[left_out], -1)
        anchors, s, right = anchors[present], s[present], right[present]
    if len(s) == 0:
        return np.zeros(n), np.zeros((n, n_voters)), np.zeros(n)
    parts = _parts(anchors, metric, queries)
    a, b, scale = (float(v) for v in kernel)
    codes, whole = pack_subsets(right), _padded(s)
    tiles = -(-n // LANES)
    sums, shift = np.zeros((tiles, codes.shape[1], LANES)), np.zeros(n)

    def block(k: int) -> None:
        rows = slice(k * _BLOCK_ROWS, (k + 1) * _BLOCK_ROWS)
        here = slice(k * _BLOCK_ROWS // LANES, (k + 1) * _BLOCK_ROWS // LANES)
        given = (queries[rows], len(s), *parts, whole, codes, left_out[rows], a, b, scale)
        room = _zeros(LANES, len(whole)), _zeros(ANCHORS * 4, LANES), np.empty(len(s))
        tile = _sum_rows(*given, per_query, None, 0, sums[here], *room)
        if tile < len(sums[here]):
            _sum_rows(*given, per_query, shift[rows], tile, sums[here], *room)

    run_blocks(block, -(-n // _BLOCK_ROWS), n_jobs)
    log_scale = np.where(shift != 0.0, -math.log(2.0) * shift, 0.0)
    return *_totals(sums, n, n_voters), log_scale


def pair_sums(
    Z: ArrayLike,
    metric: Metric,
    kernel: InverseDistance,
    anchor_weight: ArrayLike,
    right: NDArray[np.bool_],
    leave_out: bool,
) -> tuple[_Float, _Float]:
    """``local_sums`` (total, heard) of the anchors around each anchor, at half the cost.

    Every pair is weighed once, so distances are divided by ``kernel.scale``. With ``leave_out``
    no anchor hears itself. Where weights near the limits of float64, or the exact branch at
    a = 0, ask for more care, each row is weighed by itself; sums are then relative, row by row.
    """
    rows, right = _plain(Z), np.asarray(right, dtype=np.bool_)
    s = np.asarray(anchor_weight, dtype=np.float64)
    n, n_voters = right.shape
    a, b, scale = (float(v) for v in kernel)
    codes, whole = pack_subsets(right), _padded(s)
    sums = np.zeros((len(whole) // LANES, codes.shape[1], LANES))
    parts = _parts(rows, metric)
    room = _zeros(ANCHORS, len(whole)), _zeros(ANCHORS * 4, LANES), np.empty(n)
    if _sum_pairs(rows, *parts, whole, codes, leave_out, a, b, scale, sums, *room):
        return _totals(sums, n, n_voters)
    own = np.arange(n) if leave_out else None
    total, heard, _ = local_sums(rows, rows, metric, kernel, s, right, own=own)
    return total, heard
