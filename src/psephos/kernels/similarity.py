"""Distances on the columns a vote reads, and the sums of local weights made of them.

SamBA's weights (Bauvin et al., UAI 2023, equation 1) are ``k(d) = 1 / (a^b + d^b)``. A prediction
needs, for each query, the sum of ``s_i k_i`` over the anchors and, for each voter, the same sum
over the anchors where the voter was right. The sums are made in blocks of rows; no (n, m) table
of distances is kept.
"""

import math
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from psephos.kernels._jit import jit, run_blocks
from psephos.kernels._power import power

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


@jit
def _squared_row(x, columns, inverse, is_category, has_nan, absent, out, counts):
    """Squared distances of one row to all anchors; ``columns`` is (q, m), anchors transposed."""
    q, m = columns.shape
    known = 0
    ragged = False
    for i in range(m):
        out[i] = 0.0
    for f in range(q):
        xf = x[f]
        by = inverse[f]
        if np.isnan(xf):
            continue
        z = columns[f]
        if has_nan[f]:
            if not ragged:
                counts[:] = 0.0
                ragged = True
            for i in range(m):
                if not np.isnan(z[i]):
                    counts[i] += 1.0
                    diff = (xf - z[i]) * by
                    if is_category[f]:
                        diff = by if xf != z[i] else 0.0
                    out[i] += diff * diff
        else:
            known += 1
            if is_category[f]:
                for i in range(m):
                    out[i] += by * by if xf != z[i] else 0.0
            else:
                for i in range(m):
                    diff = (xf - z[i]) * by
                    out[i] += diff * diff
    if ragged:
        for i in range(m):
            present = counts[i] + known
            if present == 0.0:
                out[i] = absent * absent
            elif present < q:
                out[i] *= q / present
    elif known == 0:
        for i in range(m):
            out[i] = absent * absent
    elif known < q:
        for i in range(m):
            out[i] *= q / known


@jit
def _distance_rows(X, columns, inverse, is_category, has_nan, absent, out):
    counts = np.empty(columns.shape[1])
    for r in range(X.shape[0]):
        _squared_row(X[r], columns, inverse, is_category, has_nan, absent, out[r], counts)
        for i in range(out.shape[1]):
            out[r, i] = np.sqrt(out[r, i])


@jit
def _weigh_row(u, s, skip, own, a, b, scale, per_query, powers, out):
    """Write ``s_i k_i / 2^c`` and return c, the shift in powers of two (mostly zero).

    ``u`` are squared distances and are overwritten; ``powers`` is room to work. Anchors with ``skip[i] == own`` are left out.
    """
    m = u.shape[0]
    low, high = np.inf, 0.0
    zeros = 0.0
    if per_query:
        scale = 0.0
        for i in range(m):
            if s[i] > 0.0 and skip[i] != own:
                scale += s[i] * np.sqrt(u[i])
        if scale == 0.0:
            scale = 1.0
    by = 1.0 / (scale * scale)
    for i in range(m):
        heard = s[i] > 0.0 and skip[i] != own
        out[i] = s[i] if heard else 0.0
        u[i] *= by
        zeros += 1.0 if heard and u[i] == 0.0 else 0.0
        low = min(low, u[i] if heard and u[i] > 0.0 else np.inf)
        high = max(high, u[i] if heard else 0.0)
    if a == 0.0 and zeros > 0.0:  # the exact branch: only identical anchors are heard
        for i in range(m):
            out[i] = out[i] if u[i] == 0.0 else 0.0
        return 0.0
    floor = b * np.log2(a) if a > 0.0 else -np.inf
    nearest = -np.inf if zeros > 0.0 else 0.5 * b * np.log2(low)
    shift = max(floor, nearest)
    if abs(shift) <= 900.0 and low > 1e-290 and high < 1e290:
        base = a**b
        power(u, 0.5 * b, powers)
        for i in range(m):
            out[i] = out[i] / (base + powers[i]) if out[i] > 0.0 else 0.0
        return 0.0
    if shift == np.inf:  # everything is infinitely far, and equally so
        return shift
    if shift == -np.inf:  # nobody is heard
        for i in range(m):
            out[i] = 0.0
        return 0.0
    if abs(shift) <= 900.0:
        shift = 0.0
    first = 2.0 ** (floor - shift)
    for i in range(m):
        if out[i] > 0.0:
            exponent = 0.5 * b * np.log2(u[i]) - shift if u[i] > 0.0 else -np.inf
            out[i] = out[i] / (first + 2.0**exponent) if exponent < 1024.0 else 0.0
    return shift


@jit
def _weigh_rows(
    X, columns, inverse, is_category, has_nan, absent, s, a, b, scale, per_query, out, shift
):
    m = columns.shape[1]
    counts = np.empty(m)
    u = np.empty(m)
    powers = np.empty(m)
    skip = np.zeros(m, np.int64)
    for r in range(X.shape[0]):
        _squared_row(X[r], columns, inverse, is_category, has_nan, absent, u, counts)
        shift[r] = _weigh_row(u, s, skip, -1, a, b, scale, per_query, powers, out[r])


@jit
def _weigh_squared_rows(
    D2, present, absent, first, s, skip, leave_out, a, b, scale, per_query, out, shift
):
    m = D2.shape[1]
    u = np.empty(m)
    powers = np.empty(m)
    for r in range(out.shape[0]):
        row = first + r
        for i in range(m):
            u[i] = D2[row, i]
        if present.shape[0] > 0:
            for i in range(m):
                share = present[row, i]
                u[i] = u[i] / share if share > 0.0 else absent * absent
        own = skip[row] if leave_out else -1
        shift[r] = _weigh_row(u, s, skip, own, a, b, scale, per_query, powers, out[r])


@jit
def _mean_distance(columns, weight, inverse, is_category, has_nan):
    q, m = columns.shape
    u = np.empty(m)
    counts = np.empty(m)
    x = np.empty(q)
    total = 0.0
    pairs = 0.0
    for r in range(m):
        for f in range(q):
            x[f] = columns[f, r]
        _squared_row(x, columns, inverse, is_category, has_nan, np.nan, u, counts)
        for i in range(m):
            if not np.isnan(u[i]):  # NaN marks a pair without a common column
                total += weight[r] * weight[i] * np.sqrt(u[i])
                pairs += weight[r] * weight[i]
    return total / pairs if pairs > 0.0 else 0.0


@jit
def _add_squared(D2, counts, x, by, is_category):
    m = x.shape[0]
    for r in range(m):
        if np.isnan(x[r]):
            continue
        for i in range(m):
            diff = (x[r] - x[i]) * by
            if is_category:
                diff = by if x[r] != x[i] else 0.0
            D2[r, i] += 0.0 if np.isnan(x[i]) else diff * diff
        if counts.shape[0] > 0:
            for i in range(m):
                counts[r, i] += 0.0 if np.isnan(x[i]) else 1.0


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
    X = _plain(X)
    parts = _parts(Z, metric)
    n, m = X.shape[0], parts[0].shape[1]
    out = np.empty((n, m))
    size = _block_rows(m)

    def block(b: int) -> None:
        rows = slice(b * size, (b + 1) * size)
        _distance_rows(X[rows], *parts, out[rows])

    run_blocks(block, -(-n // size), n_jobs)
    return out


def mean_distance(
    Z: ArrayLike, weight: ArrayLike, metric: Metric, max_rows: int = 10_000
) -> float:
    """Weighted mean distance over all ordered pairs of rows: ``sum_ij w_i w_j d_ij / W^2``.

    Written so, weight 2 is the row repeated; a row and itself count as a pair at distance zero.
    Pairs without a common column are left out of both sums. Above ``max_rows`` every k-th row is
    used, k the least stride that leaves no more. Zero where there is no pair.
    """
    Z = np.asarray(Z, dtype=np.float64)
    weight = np.asarray(weight, dtype=np.float64)
    stride = -(-len(Z) // max_rows)
    columns, *rest, _ = _parts(Z[::stride], metric)
    return float(_mean_distance(columns, _plain(weight[::stride]), *rest))


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
    X = _plain(X)
    parts = _parts(Z, metric)
    s = _plain(anchor_weight)
    a, b, scale = (float(v) for v in kernel)

    def weigh(rows: slice, out: _Float, shift: _Float) -> None:
        _weigh_rows(X[rows], *parts, s, a, b, scale, per_query, out, shift)

    return _blocked_sums(weigh, X.shape[0], right, n_jobs)


def sums_from_squared(
    D2: _Float,
    present: _Float | None,
    kernel: InverseDistance,
    anchor_weight: ArrayLike,
    right: NDArray[np.bool_],
    per_query: bool = False,
    leave_out: bool | NDArray[np.integer] = False,
    *,
    absent: float = np.inf,
    n_jobs: int | None = None,
) -> tuple[_Float, _Float, _Float]:
    """``local_sums`` of the training rows against themselves, from a table grown by column.

    Parameters
    ----------
    D2 : (m, m)
        Sums of squared differences (``add_squared``).
    present : (m, m) or None
        Share of the columns present in both rows, ``counts / q``; None where nothing is missing.
    leave_out : bool or (m,) int, default=False
        True leaves a row's own anchor out; groups (not negative) leave out all of its group.
    absent : float, default=inf
        Distance of rows without a common column.

    Other parameters and returns as ``local_sums``.
    """
    m = D2.shape[0]
    groups = np.arange(m) if isinstance(leave_out, bool) else np.asarray(leave_out, np.int64)
    skip = _plain(groups, np.int64)
    leave = not isinstance(leave_out, bool) or leave_out
    D2, s = _plain(D2), _plain(anchor_weight)
    share = _plain(np.empty((0, 0)) if present is None else present)
    a, b, scale = (float(v) for v in kernel)

    def weigh(rows: slice, out: _Float, shift: _Float) -> None:
        _weigh_squared_rows(
            D2, share, absent, rows.start, s, skip, leave, a, b, scale, per_query, out, shift
        )

    return _blocked_sums(weigh, m, right, n_jobs)


def _blocked_sums(
    weigh: Any, n: int, right: NDArray[np.bool_], n_jobs: int | None
) -> tuple[_Float, _Float, _Float]:
    m, n_voters = right.shape
    table = np.asarray(right, dtype=np.float64)
    total, heard, shift = np.empty(n), np.empty((n, n_voters)), np.empty(n)
    size = _block_rows(m)

    def block(b: int) -> None:
        rows = slice(b * size, min(n, (b + 1) * size))
        weights = np.empty((rows.stop - rows.start, m))
        weigh(rows, weights, shift[rows])
        weights.sum(axis=1, out=total[rows])
        np.matmul(weights, table, out=heard[rows])

    run_blocks(block, -(-n // size), n_jobs)
    log_scale = -math.log(2.0) * shift
    log_scale[shift == 0.0] = 0.0
    return total, heard, log_scale


def add_squared(
    D2: _Float,
    counts: _Float | None,
    x: ArrayLike,
    scale: float,
    is_category: bool,
) -> None:
    """Add one column's squared differences ``(m, m)`` to ``D2`` in place; count present pairs.

    Pairs in which ``x`` (m,) is missing add nothing; the others add 1 to ``counts`` if given.
    """
    known = np.empty((0, 0)) if counts is None else counts
    _add_squared(D2, known, _plain(x), 1.0 / float(scale), bool(is_category))
