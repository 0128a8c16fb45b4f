"""Sums over pairs of references and prototypes: mass, log-likelihood and its derivatives.

Prototype j of a batch weighs ``w_j G(x_n, c_j)`` at reference n,

    log G = - 1/2 sum over columns present in both of v_d^2 delta_d + sum over others of e_d(v_d),

``delta`` the squared difference of numbers, 1[x != c] of categories; ``e_d`` the log of the mean
kernel of two rows drawn at random, ``-1/2 log(1 + 2 v^2)`` for numbers and ``log(a + (1 - a)
exp(-v^2 / 2))`` for categories that agree with chance a. With m_nj = 1[y_n = y_j], or
``u / sqrt(2 pi) exp(-(u (t_n - t_j))^2 / 2)``, and q, s the masses with those of earlier batches,

    f = - sum_n omega_n log(q_n / s_n + 1e-10),   q = q0 + sum_j m w G,   s = s0 + sum_j w G
    B_nj = G_nj (p_n / (q_n + 1e-10 s_n) omega_n - m_nj omega_n / (q_n + 1e-10 s_n)),  p = q / s
    df/dw_j = sum_n B_nj,   df/dv_d = - v_d sum_nj w_j B_nj delta'_njd,

``v delta'`` the derivative of what a column takes off log G. References go by in tiles whose
pairs stay in the second-level cache; no (n, m) array is kept. Where columns are many, squares are
expanded, ``|x|^2 + |c|^2 - 2 x c``: half the work. That loses about eps (|x|^2 + |c|^2), x and c
multiplied by v, of the exponent and of a column's derivative, so a tile with rows longer than
``_LONGEST`` takes differences instead.
"""

import math
import threading
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from psephos.kernels._jit import jit, run_blocks
from psephos.kernels._power import wide
from psephos.kernels.prototype_code import COLUMNS, FEW, MANY, ROWS, lanes
from psephos.kernels.prototype_masses import LEAST, kernel_sums
from psephos.kernels.prototype_pack import (
    HALF_LOG2E,
    Pack,
    Pairs,
    aligned,
    expand_rows,
    fill_rows,
    pack_columns,
    stage,
)
from psephos.kernels.prototype_vectors import (
    add_products,
    add_special,
    add_squares,
    column_products,
    column_products_last,
    column_special,
    column_squares,
    column_squares_last,
    mass_classes,
    mass_targets,
    slope_classes,
    slope_targets,
)

__all__ = ["Pairs", "Sums", "batch_sums", "kernel_sums", "stage"]

_Float = NDArray[np.float64]
TINY = 1e-10  # in the logarithm
_CACHE = 2**19  # bytes of a tile of pairs, and of what else it needs
_TILE = 96
_DEPTH = 256
_TASKS = 16
_STEP = 16  # numbers from one reference to the next in a block of MANY columns
_EXPANDED = 12  # columns from which on squares are expanded
_LONGEST = {4: 512.0, 8: 4096.0}  # |x|^2 + |c|^2 in base 2, by bytes of a number
_SMALL = 1_000_000  # multiplications that are not worth a second thread
_ROOMS = 8  # kept by a thread
_SILENT = 1e4  # an exponent at which a kernel is 0
_NO_TWINS = np.empty(0, np.int64)
_rooms = threading.local()


class Sums(NamedTuple):
    """What ``batch_sums`` returns; derivatives are of the value, nothing penalised."""

    value: float
    v: _Float  # (q,), zero where v is; of v_d^2 at 0 for the columns asked for in `entering`
    w: _Float  # (M,)
    u: float
    own: _Float  # (R,) masses of this batch alone
    total: _Float  # (R,)


@jit(_nrt=False)
def _exponents(tile, up, stride, x, pack, panel, width, start, end, expanded):
    """Add to a panel's exponents what the columns from ``start`` to ``end`` say."""
    wide()
    depth = pack.column.shape[0] + 2
    at = (panel * depth + start) * width
    for r in range(0, up, ROWS):
        if expanded:
            add_products(tile, r * width, x, r * stride + start, stride, pack.panels, at,
                         end - start)  # fmt: skip
        else:
            add_squares(tile, r * width, x, r * stride + start, stride, pack.panels, at,
                        end - start)  # fmt: skip
    if start == 0:
        plain = pack.plain
        for k in range(pack.column.shape[0] - plain):
            here = (panel * depth + plain + 2 + k) * width
            add_special(tile, 0, up, x, plain + 2 + k, stride, pack.panels, here, pack.near, 2 * k)


@jit(_nrt=False)
def _silence(tile, twin, first, width):
    """Let no reference hear the candidate that is itself."""
    for r in range(len(twin)):
        lane = twin[r] - first
        if 0 <= lane < width:
            tile[r * width + lane] = _SILENT


@jit(_nrt=False)
def _slopes_of_columns(tile, size, up, stride, x, pack, width, w, expanded, block, out):
    """Add a tile's part of the derivative by each active column, by lane."""
    wide()
    depth = pack.column.shape[0] + 2
    plain, n_panels = pack.plain, w.shape[0] // width
    k = 0
    while k < plain:
        many = MANY if expanded else FEW
        many = many if k + many <= plain else COLUMNS
        for r in range(up):  # side by side: rows apart are pages apart
            for d in range(many):
                block[r * _STEP + d] = x[r * stride + k + d]
        for p in range(n_panels):
            c_at, w_at, at = (p * depth + k) * width, p * width, p * size * width
            if expanded and many == MANY:
                column_products(tile, at, up, block, 0, _STEP, pack.panels, c_at, w, w_at,
                                out, k * width)  # fmt: skip
            elif expanded:
                column_products_last(tile, at, up, block, 0, _STEP, pack.panels, c_at, w, w_at,
                                     out, k * width)  # fmt: skip
            elif many == FEW:
                column_squares(tile, at, up, block, 0, _STEP, pack.panels, c_at, w, w_at,
                               out, k * width)  # fmt: skip
            else:
                column_squares_last(tile, at, up, block, 0, _STEP, pack.panels, c_at, w, w_at,
                                    out, k * width)  # fmt: skip
        k += many
    for k in range(pack.column.shape[0] - plain):
        for p in range(n_panels):
            here = (p * depth + plain + 2 + k) * width
            column_special(tile, p * size * width, up, x, plain + 2 + k, stride, pack.panels, here,
                           w, p * width, out, (plain + k) * width, pack.steep, 2 * k)  # fmt: skip


@jit(_nrt=False)
def _coefficients(n, first, width, base_own, base_total, omega, own, total, masses,
                  by_total, by_own, rowsum):  # fmt: skip
    """Turn masses by lane into a tile's log-likelihood and the factors of its derivatives."""
    wide()
    value = 0.0
    for r in range(by_total.shape[0]):
        by_total[r] = by_own[r] = 0
        if r >= n:
            continue
        q = s = 0.0
        for lane in range(width):
            q += own[r * width + lane]
            s += total[r * width + lane]
        i = first + r
        masses[i, 0], masses[i, 1] = q, s
        mass, whole = base_own[i] + q, base_total[i] + s
        ratio, weight = mass / whole, omega[i]
        value -= weight * math.log(ratio + TINY) if weight != 0.0 else 0.0
        b = weight / (mass + TINY * whole) if weight != 0.0 else 0.0
        by_own[r], by_total[r] = b, b * ratio
        rowsum[r] = b * ratio * s - b * q
    return value


@jit(fastmath={"contract", "reassoc"}, _nrt=False)
def _add_up(by_lane, width, out):
    wide()
    for k in range(out.shape[0]):
        total = 0.0
        for lane in range(width):
            total += by_lane[k * width + lane]
        out[k] += total


@jit(fastmath={"contract"}, _nrt=False)
def _add_rows_squares(x, n, stride, plain, weight, out):
    """Add ``sum weight x^2``, by column; x were multiplied by -2."""
    wide()
    goal = out[:plain]
    for r in range(n):
        quarter = 0.25 * weight[r]
        source = x[r * stride : r * stride + plain]
        for k in range(plain):
            goal[k] += quarter * (source[k] * source[k])


@jit(fastmath={"contract", "reassoc"}, _nrt=False)
def _add_candidates_squares(pack, w, by_w, width, out):
    """Add ``sum w by_w c^2``, by column."""
    wide()
    depth = pack.column.shape[0] + 2
    for p in range(w.shape[0] // width):
        for lane in range(width):
            by_w[p * width + lane] *= w[p * width + lane]
        weight = by_w[p * width : (p + 1) * width]
        for k in range(pack.plain):
            c = pack.panels[(p * depth + k) * width : (p * depth + k + 1) * width]
            total = 0.0
            for lane in range(width):
                total += weight[lane] * (c[lane] * c[lane])
            out[k] += total


@jit(_nrt=False)
def _task(
    rows, label, column_label, near, far, both, w, of, regression, base_own, base_total, omega,
    twin, span, size, limit, crossing, gradient, masses, by_v, by_w, by_u, room,
):  # fmt: skip
    """One task's references, tile by tile; return its part of the value.

    ``near`` is the pack of the kernel, ``far`` of the columns whose derivatives are wanted, the
    same one if ``both``.
    """
    wide()
    first, last = span
    (tile, x_near, x_far, own, total, by_total, by_own, slopes, block, by_lane, rowsum,
     by_w_expanded) = room  # fmt: skip
    width = own.shape[0] // size
    n_panels = column_label.shape[0] // width
    stride_near, stride_far = x_near.shape[0] // size, x_far.shape[0] // size
    near_end, value = near.plain, 0.0
    for start in range(first, last, size):
        n = min(size, last - start)
        up = -(-n // ROWS) * ROWS
        longest = fill_rows(rows, start, n, up, near, x_near, stride_near) + near.longest
        expanded = near.plain >= crossing and longest <= limit
        if expanded:
            expand_rows(x_near, near.plain, up, stride_near)
        near_end = near.plain + 2 if expanded else near.plain
        own[: up * width] = 0
        total[: up * width] = 0
        begin = np.int64(0)  # a literal 0 would have its callee compiled twice
        while True:
            end = min(begin + _DEPTH, near_end)
            for p in range(n_panels):
                here = tile[p * size * width : (p + 1) * size * width]
                if begin == 0:
                    here[: up * width] = 0
                _exponents(here, up, stride_near, x_near, near, p, width, begin, end, expanded)
                if end < near_end:
                    continue
                at = p * width
                if len(twin):
                    _silence(here, twin[start : start + n], at, width)
                if regression:
                    mass_targets(here, 0, up, label, start, column_label, at, w, at, own, total,
                                 0, of)  # fmt: skip
                else:
                    mass_classes(here, 0, up, label, start, column_label, at, w, at, own, total,
                                 0, of)  # fmt: skip
            begin = end
            if end >= near_end:
                break
        value += _coefficients(n, start, width, base_own, base_total, omega, own, total, masses,
                               by_total, by_own, rowsum)  # fmt: skip
        if not gradient:
            continue
        if both:
            x, stride, products = x_near, stride_near, expanded
        else:
            x, stride = x_far, stride_far
            fill_rows(rows, start, n, up, far, x, stride)
            products = far.plain >= crossing
            if products:
                expand_rows(x, far.plain, up, stride)
        by_lane[:] = 0
        for p in range(n_panels):
            here, at = tile[p * size * width : (p + 1) * size * width], p * width
            if regression:
                slope_targets(here, 0, up, label, start, column_label, at, w, at, by_total, by_own,
                              slopes, 0, of)  # fmt: skip
                for lane in range(width, 2 * width):
                    by_u[0] += slopes[lane]
                    by_u[1] += slopes[lane + width]
            else:
                slope_classes(here, 0, up, label, start, column_label, at, w, at, by_total, by_own,
                              slopes, 0, of)  # fmt: skip
            for lane in range(width):
                by_w[at + lane] += slopes[lane]
                if products:
                    by_w_expanded[at + lane] += slopes[lane]
        _slopes_of_columns(tile, size, up, stride, x, far, width, w, products, block, by_lane)
        _add_up(by_lane, width, by_v)
        if products:
            _add_rows_squares(x, n, stride, far.plain, rowsum, by_v)
    if gradient:
        _add_candidates_squares(far, w, by_w_expanded, width, by_v)
    return value


def _room(size: int, width: int, m: int, near: int, far: int, dtype: Any) -> tuple[Any, ...]:
    """Scratch of one task, kept for the thread's next: to make it anew took a fifth of a fit.

    A row of columns takes an odd number of cache lines. All but the last part is overwritten by
    its user.
    """
    key = (size, width, m, near, far, np.dtype(dtype))
    kept: dict[Any, tuple[Any, ...]] = _rooms.__dict__
    if key in kept:
        kept[key][-1].fill(0.0)
        return kept[key]
    item = key[-1].itemsize

    def stride(columns: int) -> int:
        return (-(-(columns + 2) * item // 64) | 1) * 64 // item

    other = size * stride(far) if far >= 0 else 0
    sizes = (size * m, size * stride(near), other, size * width, size * width, size, size,
             3 * width, size * _STEP, (near if far < 0 else far) * width)  # fmt: skip
    line = 64 // item
    starts = np.cumsum([0, *(-(-s // line) * line for s in sizes)]).tolist()
    flat = aligned(starts[-1], dtype)
    given = [flat[start : start + s] for start, s in zip(starts, sizes, strict=False)]
    if len(kept) >= _ROOMS:
        kept.clear()
    kept[key] = (*given, np.zeros(size), np.zeros(m))
    return kept[key]


def batch_sums(
    pairs: Pairs,
    v: _Float,
    w: _Float,
    u: float,
    base_own: _Float,
    base_total: _Float,
    omega: _Float,
    n_jobs: int | None = None,
    gradient: bool = True,
    entering: NDArray[np.bool_] | None = None,
    twin: NDArray[np.int64] = _NO_TWINS,
) -> Sums:
    """Log-likelihood of a batch with its derivatives, and its masses.

    Parameters
    ----------
    pairs : Pairs
    v : (q,) feature weights, not negative; columns where v is 0 are not looked at
    w : (M,) prototype weights; those that are 0 get their derivative all the same
    u : float
        Inverse bandwidth of the target; 0 for classes.
    base_own, base_total : (R,) masses of earlier batches and the prior
    omega : (R,) weights of the references
    n_jobs : int, default=None
        Threads. The result does not depend on them.
    gradient : bool, default=True
        False: value and masses alone.
    entering : (q,) bool, default=None
        Columns with v = 0: derivatives by v^2 of these, instead of those by v.
    twin : (R,) int64, default=empty
        Where a reference is itself a candidate, which: it is not heard there. -1 elsewhere.

    Returns
    -------
    Sums
    """
    dtype = pairs.rows.dtype
    width, n_rows, whole = lanes(dtype), len(pairs.rows), pairs.columns.shape[1]
    near = pack_columns(pairs, v, v > LEAST, False)
    far = near if entering is None else pack_columns(pairs, v, entering, True)
    weight = np.zeros(whole, dtype)
    weight[: pairs.m] = w
    of = np.array([u * math.sqrt(HALF_LOG2E), u / math.sqrt(2.0 * math.pi)], dtype)
    size = min(_TILE, max(1, _CACHE // (whole * dtype.itemsize) // ROWS) * ROWS)
    size = min(size, -(-n_rows // ROWS) * ROWS)
    n_tiles = -(-n_rows // size)
    span = -(-n_tiles // _TASKS) * size
    n_tasks = -(-n_rows // span)
    q = len(far.column)
    by_v, by_w = np.zeros((n_tasks, q)), np.zeros((n_tasks, whole))
    by_u, values, masses = np.zeros((n_tasks, 2)), np.zeros(n_tasks), np.empty((n_rows, 2))

    def task(k: int) -> None:
        room = _room(size, width, whole, len(near.column), -1 if far is near else q, dtype)
        ends = (k * span, min(n_rows, (k + 1) * span))
        values[k] = _task(
            pairs.rows, pairs.label, pairs.column_label, near, far, far is near, weight, of,
            u > 0.0, base_own, base_total, omega, twin, ends, size, _LONGEST[dtype.itemsize],
            _EXPANDED, gradient, masses, by_v[k], by_w[k], by_u[k], room,
        )  # fmt: skip

    small = n_rows * whole * (len(near.column) + 10) < _SMALL
    run_blocks(task, n_tasks, 1 if small else n_jobs)
    share, spread = by_u.sum(axis=0)
    by_own_u = -(share - spread / HALF_LOG2E) / u if u > 0.0 else 0.0
    return Sums(
        float(values.sum()), _by_feature_weight(by_v.sum(axis=0), far, v, entering is None),
        by_w.sum(axis=0)[: pairs.m], by_own_u, masses[:, 0], masses[:, 1],
    )  # fmt: skip


def _by_feature_weight(sums: _Float, pack: Pack, v: _Float, by_v: bool) -> _Float:
    """Make derivatives by v, or by v^2 at 0, of sums whose columns were multiplied by v."""
    out, there = np.zeros(len(v)), pack.column >= 0
    columns = pack.column[there]
    by = -1.0 / (v[columns] * HALF_LOG2E) if by_v else -0.5
    out[columns] = by * sums[there]
    return out
