"""Distances on the columns a vote reads, and the sums of local weights made of them.

SamBA's weights (Bauvin et al., UAI 2023, equation 1) are ``k(d) = 1 / (a^b + d^b)``. A prediction
needs, for each query, the sum of ``s_i k_i`` over the anchors and, for each voter, the same sum
over the anchors where the voter was right. The sums are made in blocks of rows; no (n, m) table
of distances is kept.
"""

import math
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from psephos.kernels._jit import jit, run_blocks
from psephos.kernels._power import power, to_bits, to_float
from psephos.kernels._subsets import pack_subsets, subset_sums

__all__ = [
    "InverseDistance",
    "Metric",
    "add_squared",
    "distances",
    "local_sums",
    "mean_distance",
    "sums_from_squared",
]

_Float = NDArray[np.float64]
_BLOCK_BYTES = 2**19  # the weights of one block of queries stay in the second-level cache


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


@jit(fastmath={"contract"})
def _squared_rows(X, columns, inverse, is_category, has_nan, absent, out):
    """Squared distances (n, m) of rows to anchors; ``columns`` (q, m) are the anchors turned."""
    q, m = columns.shape
    counts = np.empty(m)
    plain = np.empty(q, np.int64)
    for r in range(X.shape[0]):
        u = out[r]
        known = n_plain = 0
        ragged = False
        for f in range(q):
            here = not np.isnan(X[r, f])
            known += 1 if here and not has_nan[f] else 0
            ragged |= here and has_nan[f]
            if here and not has_nan[f] and not is_category[f]:
                plain[n_plain] = f
                n_plain += 1
        u[:] = 0.0
        counts[:] = 0.0
        # Three columns in one sweep: their sum stays in a register.
        for p in range(0, n_plain - n_plain % 3, 3):
            f, g, h = plain[p], plain[p + 1], plain[p + 2]
            x, y, z = X[r, f], X[r, g], X[r, h]
            by_x, by_y, by_z = inverse[f], inverse[g], inverse[h]
            for i in range(m):
                dx = (x - columns[f, i]) * by_x
                dy = (y - columns[g, i]) * by_y
                dz = (z - columns[h, i]) * by_z
                u[i] += dx * dx + dy * dy + dz * dz
        for p in range(n_plain - n_plain % 3, n_plain):
            f = plain[p]
            x, by_x = X[r, f], inverse[f]
            for i in range(m):
                dx = (x - columns[f, i]) * by_x
                u[i] += dx * dx
        for f in range(q):
            x = X[r, f]
            if np.isnan(x) or not (has_nan[f] or is_category[f]):
                continue
            by = inverse[f]
            z = columns[f]
            for i in range(m):
                diff = (x - z[i]) * by
                if is_category[f]:
                    diff = by if x != z[i] else 0.0
                here = not np.isnan(z[i])
                u[i] += diff * diff if here else 0.0
                counts[i] += 1.0 if here and has_nan[f] else 0.0
        if ragged or known < q:
            for i in range(m):
                present = counts[i] + known
                if present < q:
                    u[i] = u[i] * (q / present) if present > 0.0 else absent * absent


@jit
def _weigh_rows(u, s, skip, own, a, b, scale, per_query, shift):
    """Turn squared distances (n, m) into ``s_i k_i / 2^c`` in place; ``shift`` (n,) receives c.

    Anchors with ``skip[i] == own[r]`` are left out of row r. The shift, in powers of two, is zero
    unless the greatest weight would leave the range of float64.
    """
    n, m = u.shape
    powers = np.empty(m)
    weight = np.empty(m)
    top = to_bits(np.inf)
    for r in range(n):
        v = u[r]
        unit = scale
        for i in range(m):
            weight[i] = s[i] if skip[i] != own[r] else 0.0
        if per_query:
            unit = 0.0
            for i in range(m):
                unit += weight[i] * np.sqrt(v[i]) if weight[i] > 0.0 else 0.0
            unit = unit if unit > 0.0 else 1.0
        # Positive numbers sort like their bit patterns, and the extremes of integers vectorise.
        by = 1.0 / unit
        low_bits, high_bits, zeros = top, np.int64(0), np.int64(0)
        for i in range(m):
            v[i] = v[i] * by * by
            bits = to_bits(v[i]) if weight[i] > 0.0 else np.int64(-1)
            zeros += np.int64(bits == 0)
            low_bits = min(low_bits, bits if bits > 0 else top)
            high_bits = max(high_bits, bits)
        low, high = to_float(low_bits), to_float(high_bits)
        shift[r] = 0.0
        if a == 0.0 and zeros > 0:  # the exact branch: only identical anchors are heard
            for i in range(m):
                v[i] = weight[i] if v[i] == 0.0 else 0.0
            continue
        floor = b * np.log2(a) if a > 0.0 else -np.inf
        nearest = -np.inf if zeros > 0 else 0.5 * b * np.log2(low)
        farthest = max(floor, nearest)
        if abs(farthest) <= 900.0 and low > 1e-290 and high < 1e290:
            # Anchors not heard may be at distance zero, where 0 / (0 + 0) must be 0.
            base = max(a**b, 1e-300)
            power(v, 0.5 * b, powers)
            for i in range(m):
                v[i] = weight[i] / (base + powers[i])
        elif abs(farthest) == np.inf:  # all infinitely far, and equally so; or nobody is heard
            shift[r] = farthest if farthest > 0.0 and high > 0.0 else 0.0
            for i in range(m):
                v[i] = weight[i]
        else:
            shift[r] = farthest if abs(farthest) > 900.0 else 0.0
            first = 2.0 ** (floor - shift[r])
            for i in range(m):
                exponent = 0.5 * b * np.log2(v[i]) - shift[r] if v[i] > 0.0 else -np.inf
                heard = weight[i] > 0.0 and exponent < 1023.0
                v[i] = weight[i] / (first + 2.0**exponent) if heard else 0.0


@jit
def _add_squared(D2, counts, x, z, by, is_category):
    m = z.shape[0]
    for r in range(x.shape[0]):
        if np.isnan(x[r]):
            continue
        for i in range(m):
            diff = (x[r] - z[i]) * by
            if is_category:
                diff = by if x[r] != z[i] else 0.0
            D2[r, i] += 0.0 if np.isnan(z[i]) else diff * diff
        if counts.shape[0] > 0:
            for i in range(m):
                counts[r, i] += 0.0 if np.isnan(z[i]) else 1.0


def _plain(array: ArrayLike, dtype: Any = np.float64) -> Any:
    """Read-only C-contiguous view: one compiled version serves every memory layout."""
    view = np.ascontiguousarray(array, dtype=dtype).view()
    view.flags.writeable = False
    return view


def _parts(Z: ArrayLike, metric: Metric) -> tuple[Any, ...]:
    """Anchors by column with what the kernels need to know of each column."""
    columns = np.ascontiguousarray(np.asarray(Z, dtype=np.float64).T)
    has_nan = np.isnan(columns).any(axis=1)
    inverse = 1.0 / np.asarray(metric.scale, dtype=np.float64)
    is_category = np.asarray(metric.is_category, dtype=np.bool_)
    return (
        _plain(columns), _plain(inverse), _plain(is_category, np.bool_),
        _plain(has_nan, np.bool_), float(metric.absent),
    )  # fmt: skip


def _block_rows(m: int) -> int:
    return max(8, min(256, _BLOCK_BYTES // (8 * max(m, 1))))


def distances(
    X: ArrayLike, Z: ArrayLike, metric: Metric, n_jobs: int | None = None
) -> NDArray[np.float64]:
    """Distances (n, m) of the rows of ``X`` (n, q) to the rows of ``Z`` (m, q)."""
    queries = _plain(X)
    parts = _parts(Z, metric)
    n, m = len(queries), parts[0].shape[1]
    out = np.empty((n, m))
    size = _block_rows(m)

    def block(b: int) -> None:
        rows = slice(b * size, (b + 1) * size)
        _squared_rows(queries[rows], *parts, out[rows])
        np.sqrt(out[rows], out=out[rows])

    run_blocks(block, -(-n // size), n_jobs)
    return out


def mean_distance(Z: ArrayLike, weight: ArrayLike, metric: Metric, max_rows: int = 10_000) -> float:
    """Weighted mean distance over all ordered pairs of rows: ``sum_ij w_i w_j d_ij / W^2``.

    Written so, weight 2 is the row repeated; a row and itself count as a pair at distance zero.
    Pairs without a common column are left out of both sums. Above ``max_rows`` every k-th row is
    used, k the least stride that leaves no more. Zero where there is no pair.
    """
    every = np.asarray(Z, dtype=np.float64)
    stride = max(1, -(-len(every) // max_rows))
    rows_used = _plain(every[::stride])
    w = np.asarray(weight, dtype=np.float64)[::stride]
    m = len(rows_used)
    parts = _parts(
        rows_used, metric._replace(absent=np.nan)
    )  # NaN marks a pair without common column
    size = _block_rows(m)
    total = pairs = 0.0
    for first in range(0, m, size):
        rows = slice(first, first + size)
        block = np.empty((len(rows_used[rows]), m))
        _squared_rows(rows_used[rows], *parts, block)
        known = ~np.isnan(block)
        np.sqrt(block, out=block)
        block[~known] = 0.0
        total += float(w[rows] @ (block @ w))
        pairs += float(w[rows] @ (known @ w))
    return total / pairs if pairs > 0.0 else 0.0


def local_sums(
    X: ArrayLike,
    Z: ArrayLike,
    metric: Metric,
    kernel: InverseDistance,
    anchor_weight: ArrayLike,
    right: NDArray[np.bool_],
    per_query: bool = False,
    n_jobs: int | None = None,
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
    queries = _plain(X)
    parts = _parts(Z, metric)
    n, m = len(queries), parts[0].shape[1]
    keep = np.zeros(m, np.int64)

    def squared(rows: slice, out: _Float) -> None:
        _squared_rows(queries[rows], *parts, out)

    return _blocked_sums(
        squared, n, kernel, anchor_weight, right, per_query, keep, np.full(n, -1), n_jobs
    )


def sums_from_squared(
    D2: _Float,
    present: _Float | None,
    kernel: InverseDistance,
    anchor_weight: ArrayLike,
    right: NDArray[np.bool_],
    per_query: bool = False,
    leave_out: bool | NDArray[np.integer] = False,
    *,
    row_groups: NDArray[np.integer] | None = None,
    absent: float = np.inf,
    n_jobs: int | None = None,
) -> tuple[_Float, _Float, _Float]:
    """``local_sums`` of the training rows against the anchors, from a table grown by column.

    Parameters
    ----------
    D2 : (n, m)
        Sums of squared differences (``add_squared``).
    present : (n, m) or None
        Share of the columns present in both rows, ``counts / q``; None where nothing is missing.
    leave_out : bool or (m,) int, default=False
        True leaves a row's own anchor out, the anchors being the rows; groups (not negative)
        leave out all anchors of the row's group.
    row_groups : (n,) int, default=None
        Groups of the rows; those of the anchors if None.
    absent : float, default=inf
        Distance of rows without a common column.

    Other parameters and returns as ``local_sums``.
    """
    n, m = D2.shape
    if isinstance(leave_out, bool):
        groups = np.arange(m)
        own = groups if leave_out else np.full(n, -1)
    else:
        groups = np.asarray(leave_out, np.int64)
        own = groups if row_groups is None else np.asarray(row_groups, np.int64)

    def squared(rows: slice, out: _Float) -> None:
        if present is None:
            out[:] = D2[rows]
        else:
            share = present[rows]
            out[:] = absent * absent
            np.divide(D2[rows], share, out=out, where=share > 0.0)

    return _blocked_sums(squared, n, kernel, anchor_weight, right, per_query, groups, own, n_jobs)


def _blocked_sums(
    squared: Callable[[slice, _Float], None],
    n: int,
    kernel: InverseDistance,
    anchor_weight: ArrayLike,
    right: NDArray[np.bool_],
    per_query: bool,
    groups: NDArray[np.int64],
    own: NDArray[np.int64],
    n_jobs: int | None,
) -> tuple[_Float, _Float, _Float]:
    """Sum over the anchors in blocks of queries; ``squared`` fills in their distances."""
    m, n_voters = right.shape
    s = _plain(anchor_weight)
    a, b, scale = (float(v) for v in kernel)
    codes = pack_subsets(np.asarray(right, dtype=np.bool_))
    sums, shift = np.empty((n, n_voters + 1)), np.empty(n)
    size = _block_rows(m)

    def block(k: int) -> None:
        rows = slice(k * size, min(n, (k + 1) * size))
        weights = np.empty((rows.stop - rows.start, m))
        squared(rows, weights)
        _weigh_rows(weights, s, groups, own[rows], a, b, scale, per_query, shift[rows])
        subset_sums(weights, codes, sums[rows])

    run_blocks(block, -(-n // size), n_jobs)
    log_scale = np.zeros(n)
    moved = shift != 0.0
    log_scale[moved] = -math.log(2.0) * shift[moved]
    return sums[:, -1].copy(), sums[:, :-1].copy(), log_scale


def add_squared(
    D2: _Float,
    counts: _Float | None,
    x: ArrayLike,
    scale: float,
    is_category: bool,
    anchors: ArrayLike | None = None,
) -> None:
    """Add one column's squared differences ``(n, m)`` to ``D2`` in place; count present pairs.

    ``x`` (n,) is the column, ``anchors`` (m,) its values at the anchors (default ``x`` itself).
    Pairs in which a value is missing add nothing; the others add 1 to ``counts`` if given.
    """
    known = np.empty((0, 0)) if counts is None else counts
    x = _plain(x)
    z = x if anchors is None else _plain(anchors)
    _add_squared(D2, known, x, z, 1.0 / float(scale), bool(is_category))
