"""Distances of rows and cases: sums of weights by distance, and the k nearest cases.

SamBA's weights (Bauvin et al., UAI 2023, equation 1) are ``k(d) = 1 / (a^b + d^b)``. A prediction
needs, for each query, the sum of ``s_i k_i`` over the anchors and, for each voter, the same sum
over the anchors where the voter was right. They are computed in blocks of rows, without an (n, m)
table of distances. If the rows are the anchors, each pair is computed once.

The k nearest of many cases are screened by matrix products and selected by exact differences.

``|x - z|^2 = |x|^2 + |z|^2 - 2 x z`` is a matrix product, but rounding would make the order of
equally near cases arbitrary. It is therefore only a screen for cases that may be among the k
nearest, within the rounding of single precision; their distances are then sums of squared
differences, and of equals the first is chosen. For small integers (word counts, 0 and 1) the
products are exact and give the distances. The plain equivalent is a stable sort of the distances of
`psephos.vote.operations.distance`.
"""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from psephos.kernels.numerics.logs import inverse_in_logs
from psephos.kernels.numerics.powers import inverse_power, root
from psephos.runtime.jit import frozen, jit, run_blocks
from psephos.runtime.threads import one_thread

_Float = NDArray[np.float64]
_ROWS, _ANCHORS = 64, 1024  # processed at a time, to fit the second-level cache


class Metric(NamedTuple):
    """``d(x, z) = sqrt(q / |P| * sum over P of diff_f^2)``, P the columns present in both.

    ``diff = (x - z) / scale`` for numbers, ``1[x != z] / scale`` for categories; if P is empty the
    distance is ``absent``. The distance of identical rows is exactly 0.
    """

    scale: NDArray[np.float64]  # (q,)
    is_category: NDArray[np.bool_]  # (q,)
    absent: float


class InverseKernel(NamedTuple):
    """Parameters of ``k(d) = 1 / (a^b + (d / scale)^b)``, a >= 0, b > 0, scale > 0."""

    a: float
    b: float
    scale: float


@jit(fastmath={"contract"})
def _squared_row(X, r, columns, inverse, is_category, has_nan, far, first, out, counts):
    """Write the squared distances of row r from the anchors, from ``first`` on, to ``out``.

    ``columns`` (q, m or more) are the anchors'. ``far`` is used if no column is in both rows.
    Scratch: counts (m,). ``has_nan`` None: all are known numbers, so that less is compiled.
    """
    q = columns.shape[0]
    u = out[first:]
    m = u.shape[0]
    for i in range(m):
        u[i] = 0.0
    known = 0
    ragged = special = False
    for f in range(q):
        if has_nan is not None:
            here = not np.isnan(X[r, f])
            known += 1 if here and not has_nan[f] else 0
            ragged |= here and has_nan[f]
            special |= has_nan[f] or is_category[f]
            if has_nan[f] or is_category[f] or not here:
                continue
        x, by, z = X[r, f], inverse[f], columns[f, first:]
        for i in range(m):
            diff = (x - z[i]) * by
            u[i] += diff * diff
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


@jit
def _squared_rows(X, columns, inverse, is_category, has_nan, far, out, counts):
    for r in range(X.shape[0]):
        _squared_row(X, r, columns, inverse, is_category, has_nan, far, 0, out[r], counts)


@jit(fastmath={"contract", "reassoc"})
def _root_sum(u, w):
    """Return ``sum w_i sqrt(u_i)`` and the sum of ``w_i``, over the u that are not negative."""
    total = pairs = 0.0
    for i in range(u.shape[0]):
        known = w[i] if u[i] >= 0.0 else 0.0
        total += known * root(abs(u[i]))
        pairs += known
    return total, pairs


@jit
def _mean_of_pairs(Z, w, columns, inverse, is_category, has_nan, far, u, counts):
    """Weighted mean distance over all ordered pairs of rows, those at ``far < 0`` left out."""
    total = pairs = 0.0
    for r in range(Z.shape[0]):  # a pair of two rows is met once, and counts twice
        _squared_row(Z, r, columns, inverse, is_category, has_nan, far, r, u, counts)
        roots, known = _root_sum(u[r:], w[r:])
        own = w[r] if u[r] >= 0.0 else 0.0
        total += w[r] * 2.0 * roots
        pairs += w[r] * (2.0 * known - own)
    return total / pairs if pairs > 0.0 else 0.0


@jit
def _weigh_rows(
    X, anchors, inverse, is_category, has_nan, far, s, own, first, a, b, scale, per_query, weights,
    counts,
):  # fmt: skip
    """Write the weights of the anchors from `first` on around the rows of X to ``weights`` (n, m).

    Anchor ``own[r]`` (-1: none) is left out. Scratch: ``counts`` (m,).
    """
    m, floor = weights.shape[1], a**b
    for r in range(X.shape[0]):
        row = weights[r]
        for start in range(first, m, _ANCHORS):
            part = row[: m if m < start + _ANCHORS else start + _ANCHORS]
            _squared_row(X, r, anchors, inverse, is_category, has_nan, far, start, part, counts)
        u, left_out = row[first:], own[r] - first
        if left_out >= 0:
            u[left_out] = 0.0
        unit = _root_sum(u, s[first:])[0] if per_query else scale
        by = 1.0 / unit if unit > 0.0 else 1.0
        inverse_power(u, by * by, b, floor)
        if left_out >= 0:
            u[left_out] = 0.0


def _parts(
    Z: ArrayLike, metric: Metric, rows: _Float | None = None, far: float | None = None
) -> tuple[Any, ...]:
    """Anchors by column with what the kernels need to know of each column, for these rows."""
    Z = np.asarray(Z, dtype=np.float64)
    columns = np.ascontiguousarray(Z.T)
    has_nan = np.isnan(columns).any(axis=1)
    inverse = 1.0 / np.asarray(metric.scale, dtype=np.float64)
    is_category = np.asarray(metric.is_category, dtype=np.bool_)
    absent = float(metric.absent) ** 2 if far is None else far
    kinds = frozen(is_category, np.bool_), frozen(has_nan, np.bool_)
    if not (has_nan.any() or is_category.any() or (rows is not None and np.isnan(rows).any())):
        kinds = None, None
    return frozen(columns, np.float64), frozen(inverse, np.float64), *kinds, absent


def _weighed(right: NDArray[Any], s: _Float) -> _Float:
    """Weights of the anchors where each voter was right (m, T + 1), the last being always right.

    Where `right` are numbers, the weights times these.
    """
    table = np.empty((len(s), right.shape[1] + 1))
    table[:, :-1], table[:, -1] = right, 1.0
    table *= s[:, None]
    return table


def _tiles(columns: _Float, *rest: Any) -> list[tuple[slice, tuple[Any, ...]]]:
    """Return (slice, arrays) of the anchors that are summed at a time."""
    m = columns.shape[1]
    lots = [slice(start, min(start + _ANCHORS, m)) for start in range(0, m, _ANCHORS)]
    return [(lot, (frozen(columns[:, lot]), *rest)) for lot in lots]


def mean_distance(Z: ArrayLike, weight: ArrayLike, metric: Metric, max_rows: int = 10_000) -> float:
    """Return the mean distance over all ordered pairs of rows: ``sum_ij w_i w_j d_ij / W^2``.

    A row with weight 2 counts as two rows, and a row and itself count as a pair at distance 0.
    Pairs without a common column are left out of both sums. Above ``max_rows`` every k-th row is
    used, with the least k that leaves at most so many. 0 if there is no pair.
    """
    every = np.asarray(Z, dtype=np.float64)
    stride = max(1, -(-len(every) // max_rows))
    used = frozen(every[::stride])
    w = np.asarray(weight, dtype=np.float64)[::stride]
    w = frozen(np.ldexp(w, -np.frexp(w.max(initial=0.0))[1]))  # else products may leave float64
    scratch = np.empty(len(used)), np.empty(len(used))
    return float(_mean_of_pairs(used, w, *_parts(used, metric, far=-1.0), *scratch))


def local_sums(
    X: ArrayLike,
    Z: ArrayLike,
    metric: Metric,
    kernel: InverseKernel,
    anchor_weight: ArrayLike,
    right: NDArray[np.bool_] | _Float,
    per_query: bool = False,
    n_jobs: int | None = None,
    own: NDArray[np.integer] | None = None,
) -> tuple[_Float, _Float, _Float]:
    """Return the weight of the anchors around each query, and the part where each voter was right.

    Parameters
    ----------
    X : (n, q) queries
    Z : (m, q) anchors
    anchor_weight : (m,); ``s``, at least 0
    right : (m, T) bool or float64; whether (or how far) each voter was right on each anchor
    per_query : whether to divide the distances of a query by ``sum_j s_j d_j``, not
        ``kernel.scale``
    own : (n,) int; the anchor left out of each query's sums, -1 for none; None: no anchor

    Returns
    -------
    total : (n,); ``sum_i s_i k_i``. If a = 0 and some anchors are at distance 0, only these count,
        each with k = 1.
    where_right : (n, T); ``sum_i s_i k_i right[i, t]``
    log_scale : (n,); the true sums are ``exp(log_scale)`` times those returned. It is 0 except for
        queries whose weights leave the range of float64, which are computed from logarithms.
    """
    queries, anchors = frozen(X, np.float64), np.asarray(Z, dtype=np.float64)
    s, was_right = frozen(anchor_weight, np.float64), np.asarray(right)
    n, n_voters = len(queries), was_right.shape[1]
    left_out = np.full(n, -1) if own is None else np.asarray(own, dtype=np.int64)
    present = s > 0.0
    if not present.all():  # anchors without weight add nothing
        place = np.where(present, np.cumsum(present) - 1, -1)
        left_out = np.where(left_out >= 0, place[left_out], -1)
        anchors, s, was_right = anchors[present], s[present], was_right[present]
    if len(s) == 0:
        return np.zeros(n), np.zeros((n, n_voters)), np.zeros(n)
    parts = _parts(anchors, metric, queries)
    kernel, weighed, s = InverseKernel(*map(float, kernel)), _weighed(was_right, s), frozen(s)
    sums, log_scale = np.zeros((n, n_voters + 1)), np.zeros(n)
    tiles = [(slice(0, len(s)), parts)] if per_query else _tiles(*parts)
    size = max(_ROWS, _ROWS * _ANCHORS // len(s))

    def block(b: int) -> None:
        rows = slice(b * size, (b + 1) * size)
        X, out, own = queries[rows], sums[rows], left_out[rows]
        for lot, its in tiles:
            k, scratch = np.empty((len(X), lot.stop - lot.start)), np.empty(lot.stop - lot.start)
            here = np.where(own < lot.stop, own - lot.start, -1)
            _weigh_rows(X, *its, s[lot], here, 0, *kernel, per_query, k, scratch)
            out += k @ weighed[lot]

    # one thread of BLAS: on busy cores its threads would wait for each other
    with one_thread(), np.errstate(invalid="ignore"):
        run_blocks(block, -(-n // size), n_jobs)
    for r in np.flatnonzero(_beyond(sums[:, -1])).tolist():
        row, u = slice(r, r + 1), np.empty((1, len(s)))
        _squared_rows(queries[row], *parts, u, np.empty(len(s)))
        u[0, left_out[row][left_out[row] >= 0]] = np.inf
        k, log_scale[row] = inverse_in_logs(u, *kernel, s * per_query)
        sums[row] = k @ weighed
    return sums[:, -1].copy(), sums[:, :-1].copy(), log_scale


def _beyond(total: _Float) -> NDArray[np.bool_]:
    """Return the mask of rows whose weights may have left the range of float64."""
    return ~((total > 1e-250) & (total < 1e250))


def pair_sums(
    Z: ArrayLike,
    metric: Metric,
    kernel: InverseKernel,
    anchor_weight: ArrayLike,
    right: NDArray[np.bool_],
    leave_out: bool,
) -> tuple[_Float, _Float]:
    """Return ``local_sums`` (total, right) of the anchors around each anchor, at half the cost.

    Every pair is computed once, with distances divided by ``kernel.scale``. With ``leave_out`` an
    anchor is left out of its own sums. If the weights of a row leave the range of float64, its sums
    are relative.
    """
    rows, right = frozen(Z, np.float64), np.asarray(right, dtype=np.bool_)
    s = frozen(anchor_weight, np.float64)
    n, n_voters = right.shape
    own = np.arange(n) if leave_out else np.full(n, -1)
    weighed, tiles = _weighed(right, s), _tiles(*_parts(rows, metric))
    sums = np.zeros((n, n_voters + 1))

    def block(top: int, lot: slice, its: tuple[Any, ...]) -> None:
        X, these = rows[top : top + _ROWS], slice(top, min(n, top + _ROWS))
        k, scratch = np.empty((len(X), lot.stop - lot.start)), np.empty(lot.stop - lot.start)
        first, here = max(top - lot.start, 0), own[these]
        here = np.where(here < lot.stop, here - lot.start, -1)
        _weigh_rows(X, *its, s[lot], here, first, *kernel, False, k, scratch)
        sums[these] += k[:, first:] @ weighed[lot.start + first : lot.stop]
        after = max(these.stop, lot.start)  # the anchors that are not rows of this block
        sums[after : lot.stop] += k[:, after - lot.start :].T @ weighed[these]

    with one_thread(), np.errstate(invalid="ignore"):
        for top in range(0, n, _ROWS):
            for lot, its in tiles[top // _ANCHORS :]:
                block(top, lot, its)
    far = _beyond(sums[:, -1])
    if far.any():
        found = local_sums(rows[far], rows, metric, kernel, s, right, own=own[far])
        sums[far] = np.column_stack([found[1], found[0]])
    return sums[:, -1].copy(), sums[:, :-1].copy()


_QUERIES, _CASES = 256, 4096  # of a tile of products


@jit
def _squared(x, z):
    """Return the sum of squared differences, in the order of the columns."""
    total = 0.0
    for f in range(x.shape[0]):
        diff = x[f] - z[f]
        total += diff * diff
    return total


@jit
def _take(products, first, X, Z, half, slack, own, exact, index, squared):
    """Keep the nearest cases of a tile: `index`, `squared` (B, k), nearest first.

    ``products`` (B, C) are ``x z`` of the cases from `first` on, ``half`` (C,) half of their
    squared lengths, and ``slack`` (B,) the greatest error of ``half - products`` less half of
    |x|^2. Case ``own[r]`` (-1: none) is left out. If products are `exact`, so are distances.
    """
    k = index.shape[1]
    for r in range(products.shape[0]):
        near, place = squared[r], index[r]
        limit = np.float32(0.5 * near[k - 1] + slack[r])
        for c in range(products.shape[1]):
            if not half[c] - products[r, c] <= limit:
                continue
            i = first + c
            if i == own[r]:
                continue
            u = 2.0 * (half[c] - products[r, c] - slack[r]) if exact else _squared(X[r], Z[i])
            if not u < near[k - 1]:
                continue
            j = k - 1
            while j > 0 and near[j - 1] > u:
                near[j], place[j] = near[j - 1], place[j - 1]
                j -= 1
            near[j], place[j] = u, i
            limit = np.float32(0.5 * near[k - 1] + slack[r])


def nearest_cases(
    X: _Float, Z: _Float, k: int, own: Any = None, n_jobs: int | None = None
) -> tuple[NDArray[np.intp], _Float]:
    """Return the positions and Euclidean distances of the k nearest cases of each row.

    `X` (n, q): finite, as are the cases. `Z` (m, q): at least k cases (one more if `own` leaves one
    out). `own` (n,): the case to leave out for each row, -1 for none.

    Returns
    -------
    index, distance : (n, k); nearest first; of equally near cases the first in the table
    """
    X, Z = np.ascontiguousarray(X, dtype=np.float64), np.ascontiguousarray(Z, dtype=np.float64)
    n, q = X.shape
    left = np.full(n, -1, dtype=np.int64) if own is None else np.asarray(own, dtype=np.int64)
    exact = _exact(X, Z)
    middle, unit = (np.zeros(q), 1.0) if exact else _middle(X, Z)
    low = Z.astype(np.float32) if exact else ((Z - middle) / unit).astype(np.float32)
    half = 0.5 * np.einsum("ij,ij->i", low, low, dtype=np.float64)
    index = np.full((n, k), -1, dtype=np.int64)
    squared = np.full((n, k), np.inf)
    error = 0.0 if exact else 8.0 * (q + 8) * float(np.finfo(np.float32).eps)
    most, scaled_cases = float(half.max(initial=0.0)), Z if unit == 1 else Z / unit

    def block(b: int) -> None:
        rows = slice(b * _QUERIES, min((b + 1) * _QUERIES, n))
        x = (X[rows] if exact else (X[rows] - middle) / unit).astype(np.float32)
        own_half = 0.5 * np.einsum("ij,ij->i", x, x, dtype=np.float64)
        slack = error * (own_half + most) - own_half
        scaled = X[rows] if unit == 1 else X[rows] / unit
        near = squared[rows]
        for first in range(0, len(Z), _CASES):
            part = slice(first, first + _CASES)
            _take(
                x @ low[part].T, first, scaled, scaled_cases, half[part].astype(np.float32), slack,
                left[rows], exact, index[rows], near,
            )  # fmt: skip

    with one_thread():  # of BLAS: where cores are busy its threads wait for each other
        run_blocks(block, -(-n // _QUERIES), n_jobs)
    return index.astype(np.intp), unit * np.sqrt(squared)


def _exact(X: _Float, Z: _Float) -> bool:
    """Return whether single precision holds all sums of products: of small whole numbers."""
    most = 0.0
    for table in (Z, X):
        most = max(most, float(table.max(initial=0.0)), -float(table.min(initial=0.0)))
    if not 4.0 * X.shape[1] * most * most < 2.0**23:  # most**2 raises where it overflows
        return False
    return all(bool((table == np.rint(table)).all()) for table in (Z, X))


def _middle(X: _Float, Z: _Float) -> tuple[_Float, float]:
    """Return what is taken off all rows, the mean of the cases, and the largest number then."""
    middle = Z.mean(axis=0)
    size = max(
        float(np.abs(Z - middle).max(initial=0.0)), float(np.abs(X - middle).max(initial=0.0))
    )
    return middle, size if 0 < size < np.inf else 1.0
