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
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from psephos.kernels._jit import jit, run_blocks
from psephos.kernels.numerics.powers import wide
from psephos.kernels.prototypes.masses import LEAST, kernel_sums
from psephos.kernels.prototypes.packed import (
    HALF_LOG2E,
    Order,
    Pairs,
    fill_rows,
    order_of,
    pack_columns,
    stage,
)
from psephos.kernels.prototypes.scratch import STEP, Desk
from psephos.kernels.prototypes.vector_code import COLUMNS, FEW, MANY, ROWS, lanes
from psephos.kernels.prototypes.vectors import (
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

__all__ = ["SILENT", "Desk", "Pairs", "Sums", "batch_sums", "kernel_sums", "stage"]

_Float = NDArray[np.float64]
TINY = 1e-10  # in the logarithm
_CACHE = 2**19  # bytes of a tile of pairs, and of what else it needs
_TILE, _SMALL_TILE = 96, 24  # references; the latter of tables of few pairs, to hold less
_FEW_PAIRS, _NARROW = 2**18, 64  # and columns: of more, a small tile took a tenth longer
_WORK = 4_000_000  # multiplications of a task of such a table
_DEPTH = 256
_TASKS = 16
_EXPANDED = 12  # columns from which on squares are expanded
_LONGEST = {4: 512.0, 8: 4096.0}  # |x|^2 + |c|^2 in base 2, by bytes of a number
_SMALL = 1_000_000  # multiplications that are not worth a second thread
SILENT = 1e4  # an exponent at which a kernel is 0
NO_TWINS = np.empty(0, np.int64)


class Sums(NamedTuple):
    """What ``batch_sums`` returns; derivatives are of the value, nothing penalised."""

    value: float
    v: _Float  # (q,), zero where v is; of v_d^2 at 0 for the columns asked for in `entering`
    w: _Float  # (M,)
    u: float
    own: _Float  # (R,) masses of this batch alone
    total: _Float  # (R,)


# One kernel, not one for each step: a kernel called from another is compiled with that one again.
@jit(fastmath={"contract", "reassoc"}, _nrt=False)
def _task(
    rows, label, column_label, near, far, both, w, of, base_own, base_total, omega, twin, apart,
    span, size, limit, crossing, gradient, masses, by_v, by_w, by_u, room,
):  # fmt: skip
    """One task's references, tile by tile; return its part of the value.

    ``near`` is the pack of the kernel, ``far`` of the columns whose derivatives are wanted, the
    same one if ``both``. ``of`` is None for classes, whose kernel leaves out what targets need.
    """
    wide()
    first, last = span
    (tile, x_near, x_far, own, total, by_total, by_own, slopes, block, by_lane, rowsum,
     by_w_expanded) = room  # fmt: skip
    width = own.shape[0] // size
    n_panels = column_label.shape[0] // width
    stride_near, stride_far = x_near.shape[0] // size, x_far.shape[0] // size
    value = 0.0
    for start in range(first, last, size):
        n = min(size, last - start)
        up = -(-n // ROWS) * ROWS
        expanded = fill_rows(rows, start, n, up, near, x_near, stride_near, crossing, limit)
        depth, plain = near.column.shape[0] + 2, near.plain
        near_end = plain + 2 if expanded else plain
        own[: up * width] = 0
        total[: up * width] = 0
        begin = 0
        while begin == 0 or begin < near_end:
            end = min(begin + _DEPTH, near_end)
            for p in range(n_panels):
                at, pairs, c_at = p * width, p * size * width, (p * depth + begin) * width
                if begin == 0:
                    tile[pairs : pairs + up * width] = 0
                for r in range(0, up, ROWS):
                    if expanded:
                        add_products(tile, pairs + r * width, x_near, r * stride_near + begin,
                                     stride_near, near.panels, c_at, end - begin)  # fmt: skip
                    else:
                        add_squares(tile, pairs + r * width, x_near, r * stride_near + begin,
                                    stride_near, near.panels, c_at, end - begin)  # fmt: skip
                if end < near_end:
                    continue
                for k in range(plain + 2, depth):
                    c_at = (p * depth + k) * width
                    add_special(tile, pairs, up, x_near, k, stride_near, near.panels, c_at,
                                near.near, 2 * (k - plain - 2))  # fmt: skip
                for r in range(n if len(twin) else 0):  # no reference hears itself
                    lane = twin[start + r] - at
                    if 0 <= lane < width:
                        tile[pairs + r * width + lane] += apart[start + r]
                if of is None:
                    mass_classes(tile, pairs, up, label, start, column_label, at, w, at, own, total,
                                 0)  # fmt: skip
                else:
                    mass_targets(tile, pairs, up, label, start, column_label, at, w, at, own, total,
                                 0, of)  # fmt: skip
            begin = max(end, 1)
        by_total[:] = 0
        by_own[:] = 0
        for r in range(n):  # the log-likelihood, and the factors of its derivatives
            q = s = 0.0
            for lane in range(r * width, (r + 1) * width):
                q += own[lane]
                s += total[lane]
            i = start + r
            masses[i, 0], masses[i, 1] = q, s
            mass, whole, weight = base_own[i] + q, base_total[i] + s, omega[i]
            ratio, b = mass / whole, 0.0
            if weight != 0.0:
                value -= weight * math.log(ratio + TINY)
                b = weight / (mass + TINY * whole)
            by_own[r], by_total[r] = b, b * ratio
            rowsum[r] = b * ratio * s - b * q
        if not gradient:
            continue
        x, stride, products = x_near, stride_near, expanded
        if not both:
            x, stride = x_far, stride_far
            products = fill_rows(rows, start, n, up, far, x, stride, crossing, math.inf)
        for p in range(n_panels):
            at, pairs = p * width, p * size * width
            if of is None:
                slope_classes(tile, pairs, up, label, start, column_label, at, by_total, by_own,
                              slopes, 0)  # fmt: skip
            else:
                slope_targets(tile, pairs, up, label, start, column_label, at, w, at, by_total,
                              by_own, slopes, 0, of)  # fmt: skip
                for lane in range(width, 2 * width):
                    by_u[0] += slopes[lane]
                    by_u[1] += slopes[lane + width]
            for lane in range(width):
                by_w[at + lane] += slopes[lane]
                if products:
                    by_w_expanded[at + lane] += slopes[lane]
        by_lane[:] = 0
        depth, plain, k = far.column.shape[0] + 2, far.plain, 0
        while k < plain:
            many = MANY if products else FEW
            many = many if k + many <= plain else COLUMNS
            for r in range(up):  # side by side: rows apart are pages apart
                for d in range(many):
                    block[r * STEP + d] = x[r * stride + k + d]
            for p in range(n_panels):
                at, pairs, c_at = p * width, p * size * width, (p * depth + k) * width
                if products and many == MANY:
                    column_products(tile, pairs, up, block, 0, STEP, far.panels, c_at, w, at,
                                    by_lane, k * width)  # fmt: skip
                elif products:
                    column_products_last(tile, pairs, up, block, 0, STEP, far.panels, c_at, w, at,
                                         by_lane, k * width)  # fmt: skip
                elif many == FEW:
                    column_squares(tile, pairs, up, block, 0, STEP, far.panels, c_at, w, at,
                                   by_lane, k * width)  # fmt: skip
                else:
                    column_squares_last(tile, pairs, up, block, 0, STEP, far.panels, c_at, w, at,
                                        by_lane, k * width)  # fmt: skip
            k += many
        for k in range(plain + 2, depth):
            for p in range(n_panels):
                at, pairs, c_at = p * width, p * size * width, (p * depth + k) * width
                column_special(tile, pairs, up, x, k, stride, far.panels, c_at, w, at, by_lane,
                               (k - 2) * width, far.steep, 2 * (k - plain - 2))  # fmt: skip
        for k in range(depth - 2):
            whole = 0.0
            for lane in range(k * width, (k + 1) * width):
                whole += by_lane[lane]
            by_v[k] += whole
        for r in range(n if products else 0):  # x were multiplied by -2
            quarter, source = 0.25 * rowsum[r], x[r * stride : r * stride + plain]
            for k in range(plain):
                by_v[k] += quarter * (source[k] * source[k])
    for p in range(n_panels if gradient else 0):
        at = p * width
        for lane in range(at, at + width):
            by_w_expanded[lane] *= w[lane]
        heard = by_w_expanded[at : at + width]
        for k in range(far.plain):
            c_at, whole = (p * (far.column.shape[0] + 2) + k) * width, 0.0
            c = far.panels[c_at : c_at + width]
            for lane in range(width):
                whole += heard[lane] * (c[lane] * c[lane])
            by_v[k] += whole
    return value


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
    twin: NDArray[np.int64] = NO_TWINS,
    apart: _Float | None = None,
    desk: Desk | None = None,
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
        Where a reference is itself a candidate, which; -1 elsewhere.
    apart : (R,) float64, default=None
        What is added there to the exponent, in base 2: `SILENT`, the default, and it is not heard.
    desk : Desk, default=None
        What earlier calls left, and afterwards this one.

    Returns
    -------
    Sums
    """
    dtype = pairs.rows.dtype
    apart = np.full(len(twin), SILENT) if apart is None else apart
    width, n_rows, whole = lanes(dtype), len(pairs.rows), len(pairs.place_label)
    desk = Desk() if desk is None else desk
    laid = desk.take(pairs, v > LEAST)
    order = laid.order
    near = far = pack_columns(pairs, v, order, False, laid.panels)
    if entering is not None:
        order = order_of(pairs, entering)
        far = pack_columns(pairs, v, order, True)
    m, weight = len(pairs.place), np.zeros(whole, dtype)
    weight[:m] = w
    of = None
    if u > 0.0:
        of = np.array([u * math.sqrt(HALF_LOG2E), u / math.sqrt(2.0 * math.pi)], dtype)
    work = n_rows * whole * (len(near.column) + 10)
    size, span = _division(pairs, len(near.column), work)
    n_tasks = -(-n_rows // span)
    q = len(far.column)
    by_v, by_w = np.zeros((n_tasks, q)), np.zeros((n_tasks, whole))
    by_u, values, masses = np.zeros((n_tasks, 2)), np.zeros(n_tasks), np.empty((n_rows, 2))

    shape = (size, width, whole, len(near.column), -1 if far is near else q, dtype)

    def task(k: int) -> None:
        room, ends = desk.room(), (k * span, min(n_rows, (k + 1) * span))
        values[k] = _task(
            pairs.rows, pairs.label, pairs.place_label, near, far, far is near, weight, of,
            base_own, base_total, omega, twin, apart, ends, size, _LONGEST[dtype.itemsize],
            _EXPANDED, gradient, masses, by_v[k], by_w[k], by_u[k],
            room.parts(*shape),
        )  # fmt: skip
        desk.rooms.append(room)

    run_blocks(task, n_tasks, 1 if work < _SMALL else n_jobs)
    desk.leave(laid)
    by_own_u = 0.0
    if u > 0.0:
        share, spread = by_u.sum(axis=0)
        by_own_u = -(share - spread / HALF_LOG2E) / u
    return Sums(
        float(_total(values)), _by_feature_weight(_total(by_v), order, v, entering is None),
        _total(by_w)[:m], by_own_u, masses[:, 0], masses[:, 1],
    )  # fmt: skip


def _division(pairs: Pairs, n_columns: int, work: int) -> tuple[int, int]:
    """Return the references of a tile and of a task; neither depends on the threads."""
    n_rows, whole, item = len(pairs.rows), len(pairs.place_label), pairs.rows.itemsize
    few = n_rows * len(pairs.prototypes) <= _FEW_PAIRS
    tile = _SMALL_TILE if few and n_columns <= _NARROW else _TILE
    size = min(tile, max(1, _CACHE // (whole * item) // ROWS) * ROWS, -(-n_rows // ROWS) * ROWS)
    most = min(_TASKS, 1 + work // _WORK) if few else _TASKS
    n_tiles = -(-n_rows // size)
    return size, -(-n_tiles // most) * size


def _total(parts: _Float) -> Any:
    """Add up what the tasks found."""
    return np.add.reduce(parts) if len(parts) > 1 else parts[0]


def _by_feature_weight(sums: _Float, order: Order, v: _Float, by_v: bool) -> _Float:
    """Make derivatives by v, or by v^2 at 0, of sums whose columns were multiplied by v."""
    out = np.zeros(len(v))
    by = -1.0 / (v[order.read] * HALF_LOG2E) if by_v else -0.5
    out[order.read] = by * sums[order.there]
    return out
