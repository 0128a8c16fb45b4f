"""Support vector machines with a Gaussian kernel, thousands of tiny ones in one call.

The dual problem is solved by sequential minimal optimisation on the pair of rows that violates
optimality most (Fan, Chen & Lin, "Working set selection using second order information for
training support vector machines", JMLR 6, 2005, WSS 1), with Newton steps on the free rows in
between. Pairs find which rows are free, with one sweep each; Newton steps replace the slow end of
the descent, which WSS 2 speeds up by a second sweep. WSS 2 is used where hundreds of rows are free,
so that a Newton step is expensive. In the variables ``beta_i = y_i alpha_i``: maximise ``y' beta -
beta' K beta / 2`` with ``sum beta = 0`` and beta_i between ``min(0, y_i C_i)`` and ``max(0, y_i
C_i)``; its gradient is ``f = y - K beta``.

Moving pairs of rows finds quickly which rows end at a bound. On the others (the free ones) the dual
is a quadratic with one equality, ``K_FF d + b 1 = f_F`` and ``sum d = 0``. Pairs converge to its
solution slowly if C is large and the kernel reads few columns, because nearly equal rows give
directions of almost no curvature; one factorisation solves it. The idea of solving the free part
exactly is old (Scheinberg, "An efficient implementation of an active set method for SVMs", JMLR 7,
2006).
"""

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from psephos.kernels.numerics.powers import exp, to_bits
from psephos.kernels.small_models.svm_common import FAST, padded, pair_scores
from psephos.runtime.jit import jit

MOST_FREE = 512  # most rows in one factorisation; with more free rows, only pairs are moved
_RIDGE = 1e-8  # added to the kernel's diagonal of ones: it is singular if rows are equal
_LEAST = 1e-9


class Free(NamedTuple):
    """Scratch of `newton_step`, for k free rows at most."""

    factor: NDArray[np.float64]  # (k, k) rows of the Cholesky factor, diagonal elements inverted
    step: NDArray[np.float64]  # (k,) the solution for the gradient
    ones: NDArray[np.float64]  # (k,) and for a vector of ones
    rows: NDArray[np.int64]  # (k,) which rows are free
    moved: NDArray[np.float64]  # (w,) the kernel times the step


def free_room(wide: int) -> Free:
    """Return scratch for machines of `wide` rows with padding."""
    k = min(wide, MOST_FREE)
    return Free(np.empty((k, k)), np.empty(k), np.empty(k), np.empty(k, np.int64), np.empty(wide))


@jit
def newton_cost(lo, hi, beta, wide):
    """Return the cost of a step, in rows of a pair's sweep of the same time; 0 if not possible."""
    k = 0.0
    for t in range(wide):
        if lo[t] < beta[t] < hi[t]:
            k += 1.0
    return 0.0 if k < 2.0 or k > MOST_FREE else k * (k * k / 24.0 + 0.5 * wide)


@jit(fastmath=FAST)
def _eliminate(H, u, v, first, last):
    """Factorise rows `first` to `last` - 1 after those before them, and solve for `u` and `v`."""
    start = 0
    if last - first == 4:  # four rows together, so that each earlier row is read only once
        for b in range(first):
            s0 = s1 = s2 = s3 = 0.0
            for c in range(b):
                x = H[b, c]
                s0 += H[first, c] * x
                s1 += H[first + 1, c] * x
                s2 += H[first + 2, c] * x
                s3 += H[first + 3, c] * x
            inverse = H[b, b]
            H[first, b] = (H[first, b] - s0) * inverse
            H[first + 1, b] = (H[first + 1, b] - s1) * inverse
            H[first + 2, b] = (H[first + 2, b] - s2) * inverse
            H[first + 3, b] = (H[first + 3, b] - s3) * inverse
        start = first
    for a in range(first, last):
        for b in range(start, a):
            s = 0.0
            for c in range(b):
                s += H[a, c] * H[b, c]
            H[a, b] = (H[a, b] - s) * H[b, b]
        s = s_u = s_v = 0.0
        for c in range(a):
            x = H[a, c]
            s += x * x
            s_u += x * u[c]
            s_v += x * v[c]
        inverse = 1.0 / math.sqrt(max(H[a, a] - s, _LEAST))
        H[a, a] = inverse
        u[a] = (u[a] - s_u) * inverse
        v[a] = (v[a] - s_v) * inverse


@jit(fastmath=FAST)
def _direction(K, lo, hi, wide, beta, f, free):
    """Write the Newton direction of the free rows to ``free.step``; return the number of rows."""
    H, u, v, rows = free.factor, free.step, free.ones, free.rows
    k = 0
    for t in range(wide):
        if lo[t] < beta[t] < hi[t]:
            rows[k] = t
            k += 1
    for a in range(k):
        i = rows[a]
        for b in range(a):
            H[a, b] = K[i, rows[b]]
        H[a, a] = 1.0 + _RIDGE
        u[a] = f[i]
        v[a] = 1.0
    for first in range(0, k, 4):
        _eliminate(H, u, v, first, min(first + 4, k))
    sum_u = sum_v = 0.0
    for a in range(k - 1, -1, -1):
        x = u[a] * H[a, a]
        z = v[a] * H[a, a]
        u[a] = x
        v[a] = z
        sum_u += x
        sum_v += z
        for c in range(a):
            u[c] -= H[a, c] * x
            v[c] -= H[a, c] * z
    level = sum_u / sum_v
    rest = 0.0
    for a in range(k):
        u[a] -= level * v[a]
        rest += u[a]
    for a in range(k):  # the sum is 0 but for rounding
        u[a] -= rest / k
    return k


@jit(fastmath=FAST)
def newton_step(K, lo, hi, wide, beta, f, free):
    """Move towards the optimum of the free rows as far as their bounds allow, in place.

    At least two and at most `MOST_FREE` rows must be free; the arguments are as in
    `gaussian_svm.smo`. Returns whether a row reached its bound before the optimum, in which case
    another step may follow.
    """
    k = _direction(K, lo, hi, wide, beta, f, free)
    u, rows, moved = free.step, free.rows, free.moved
    for t in range(wide):
        moved[t] = 0.0
    for a in range(k):
        i = rows[a]
        x = u[a]
        for t in range(wide):
            moved[t] += x * K[i, t]
    rise = bend = 0.0
    for a in range(k):
        rise += u[a] * f[rows[a]]
        bend += u[a] * moved[rows[a]]
    if not rise > 0.0:
        return False
    step = rise / bend if bend > 0.0 else 1e300
    met = -1
    for a in range(k):
        i = rows[a]
        if u[a] != 0.0:
            room = (hi[i] - beta[i] if u[a] > 0.0 else lo[i] - beta[i]) / u[a]
            if room < step:
                step = room
                met = a
    for a in range(k):
        i = rows[a]
        beta[i] = min(max(beta[i] + step * u[a], lo[i]), hi[i])
    if met >= 0:
        beta[rows[met]] = hi[rows[met]] if u[met] > 0.0 else lo[rows[met]]
    for t in range(wide):
        f[t] -= step * moved[t]
    return met >= 0


_LIMIT = 100_000  # most pairs moved; a thousand suffices for a few hundred rows
_FAR = 1e300  # added to the gradient of a row that cannot move in that direction
_SIGN = 2**63 - 1
_PAIRS = 4  # least number of pairs moved between Newton steps
_DEAR = 64.0  # most sweeps that a Newton step may cost; above, pairs are chosen by their gain
_STEPS = 3  # most Newton steps in a row; all but the last are stopped by a bound


@jit(fastmath={"contract"})
def _kernel_row(Z, point, wide, out):
    """Write ``out_t = exp(-sum_j (Z_jt - point_j)^2)``."""
    d = point.shape[0]
    for t in range(wide):
        out[t] = 0.0
    for j in range(0, d - 1, 2):  # two columns in one sweep, with the sum in a register
        x, y = point[j], point[j + 1]
        for t in range(wide):
            dx = Z[j, t] - x
            dy = Z[j + 1, t] - y
            out[t] += dx * dx + dy * dy
    if d % 2 == 1:
        x = point[d - 1]
        for t in range(wide):
            dx = Z[d - 1, t] - x
            out[t] += dx * dx
    for t in range(wide):
        out[t] = exp(-out[t])


@jit(fastmath=FAST)
def smo(K, lo, hi, wide, tol, beta, f, up, low, free):
    """Solve the dual from a feasible `beta` with its gradient `f`, both in place.

    Returns the intercept: the mean gradient of the free rows, or if none is free, the middle of the
    interval that the bounds allow.

    Parameters
    ----------
    K : (m, >= wide); kernel with ones on its diagonal
    lo, hi, beta, f, up, low : (wide,); bounds; variables; gradient; scratch. Padding rows have lo =
        hi = 0.
    wide : rows with padding, at most 2^16
    tol : stop when the gradients of the best pair differ by less: LIBSVM's rule
    free : scratch of Newton steps, which take about as long in total as the sweeps of the pairs
    """
    places = np.int64(2**16 - 1)
    for t in range(wide):
        up[t] = 0.0 if beta[t] < hi[t] else -_FAR
        low[t] = 0.0 if beta[t] > lo[t] else -_FAR
    i = j = np.int64(0)
    step = 0.0
    highest = lowest = 0.0
    swept = cost = 0.0
    pairs = 0
    by_gain = False
    for count in range(_LIMIT):
        # The index of a row is kept in the lowest bits of its gradient: the greatest integer
        # gives both, and finding extremes of integers vectorises.
        most = np.int64(-_SIGN)
        least = np.int64(-_SIGN)
        for t in range(wide):
            g = f[t] - step * (K[i, t] - K[j, t])
            f[t] = g
            bits = to_bits(up[t] + g)
            bits ^= (bits >> 63) & _SIGN
            most = max(most, (bits & ~places) | t)
            bits = to_bits(low[t] - g)
            bits ^= (bits >> 63) & _SIGN
            least = max(least, (bits & ~places) | t)
        i = most & places
        j = least & places
        highest = f[i]
        lowest = f[j]
        if highest - lowest < tol or count == _LIMIT - 1:
            break
        swept += wide
        pairs += 1
        if swept >= cost and pairs >= _PAIRS:
            cost = newton_cost(lo, hi, beta, wide)
            by_gain = cost == 0.0 or cost > _DEAR * wide
            if cost == 0.0:  # not possible: try again later
                swept = 0.0
                cost = _DEAR * wide
            if 0.0 < cost <= swept:
                again = True
                tries = 0
                while again and tries < _STEPS and newton_cost(lo, hi, beta, wide) > 0.0:
                    again = newton_step(K, lo, hi, wide, beta, f, free)
                    tries += 1
                for t in range(wide):
                    up[t] = 0.0 if beta[t] < hi[t] else -_FAR
                    low[t] = 0.0 if beta[t] > lo[t] else -_FAR
                swept = step = 0.0
                pairs = 0
                continue
        if by_gain:
            most = np.int64(0)
            for t in range(wide):
                b = max(highest - (f[t] - low[t]), 0.0)
                bits = to_bits(b * b / max(2.0 - 2.0 * K[i, t], 1e-12))
                most = max(most, (bits & ~places) | t)
            j = most & places
            lowest = f[j]
        step = (highest - lowest) / max(2.0 - 2.0 * K[i, j], 1e-12)
        room_i = hi[i] - beta[i]
        room_j = beta[j] - lo[j]
        step = min(step, room_i, room_j)
        beta[i] = hi[i] if step >= room_i else beta[i] + step
        beta[j] = lo[j] if step >= room_j else beta[j] - step
        up[i] = 0.0 if beta[i] < hi[i] else -_FAR
        up[j] = 0.0
        low[i] = 0.0
        low[j] = 0.0 if beta[j] > lo[j] else -_FAR
    total = 0.0
    inside = 0
    for t in range(wide):
        if lo[t] < beta[t] < hi[t]:
            total += f[t]
            inside += 1
    return total / inside if inside > 0 else 0.5 * (highest + lowest)


class Machines(NamedTuple):
    """The machines of the last split fitted, and scratch; each running call needs its own.

    The shapes are for G values of C, P pairs of classes, and w rows with padding.
    """

    beta: NDArray[np.float64]  # (G, P, w) signed dual coefficients of the split's rows
    intercept: NDArray[np.float64]  # (G, P)
    scaling: NDArray[np.float64]  # (2, d) centre, factor: the kernel is exp(-|(x - z) factor|^2)
    Z: NDArray[np.float64]  # (d, w) scaled columns
    K: NDArray[np.float64]  # (w, w)
    pair: NDArray[np.float64]  # (w, w) of two classes of more; K itself if there are only two
    vectors: NDArray[np.float64]  # (7, w)
    point: NDArray[np.float64]  # (d,)
    margins: NDArray[np.float64]  # (P,)
    free: Free


def machines(n: int, d: int, n_classes: int, grid: int) -> Machines:
    """Return scratch for splits of at most `n` training rows."""
    wide = int(padded(n))
    pairs = n_classes * (n_classes - 1) // 2
    K = np.empty((wide, wide))
    return Machines(
        np.zeros((grid, pairs, wide)), np.zeros((grid, pairs)), np.zeros((2, d)),
        np.zeros((d, wide)), K, np.empty_like(K) if n_classes > 2 else K, np.empty((7, wide)),
        np.empty(d), np.empty(pairs), free_room(wide),
    )  # fmt: skip


@jit(fastmath=FAST)
def rbf_scores(layout, splits, subsets, gamma, C, tol, room, pair, out):
    """Fit candidates on splits for all C, and write their scores of the test rows.

    Parameters
    ----------
    splits : tuple of two ints; the first split and the one after the last
    subsets : (B, d)
    gamma : (B,); kernel ``exp(-gamma |x - z|^2)`` of scaled columns; 0 for 1 / (d Var)
    C : (G,); ascending: each solution, scaled up, is the start of the next
    tol : of `smo`
    pair : ``room.pair``, or None for two classes (known at compile time, unlike a number)
    out : (G, B, L, K)
    """
    d = subsets.shape[1]
    n_classes = layout.classes.shape[1] - 1
    pairs = room.intercept.shape[1]
    XT, weight, test, test_ptr = layout.XT, layout.weight, layout.test, layout.test_ptr
    rows, ptr, classes, moments = layout.rows, layout.ptr, layout.classes, layout.moments
    beta_of, intercept, scaling, Z = room.beta, room.intercept, room.scaling, room.Z
    K, point, margins = room.K, room.point, room.margins
    # Taken one by one: rows unpacked from an array are not known to be contiguous, and loops over
    # them would not be vectorised.
    y, lo, hi, beta = room.vectors[0], room.vectors[1], room.vectors[2], room.vectors[3]
    f, up, low = room.vectors[4], room.vectors[5], room.vectors[6]
    for candidate in range(subsets.shape[0]):
        for s in range(splits[0], splits[1]):
            first = ptr[s]
            m = ptr[s + 1] - first
            wide = padded(m)
            # The kernel of the split's rows. Var is of all entries of the columns together.
            mean = 0.0
            spread = 0.0
            for j in range(d):
                mean += moments[subsets[candidate, j], s, 2] / d
            for j in range(d):
                column = subsets[candidate, j]
                spread += moments[column, s, 3] + (moments[column, s, 2] - mean) ** 2
            width = gamma[candidate]
            if width == 0.0:
                width = 1.0 / spread if spread > 0.0 else 1.0
            root = np.sqrt(width)
            for j in range(d):
                column = subsets[candidate, j]
                centre = moments[column, s, 0]
                factor = moments[column, s, 1] * root
                scaling[0, j] = centre
                scaling[1, j] = factor
                for t in range(m):
                    Z[j, t] = (XT[column, rows[first + t]] - centre) * factor
                for t in range(m, wide):
                    Z[j, t] = 0.0
            for t in range(m):
                for j in range(d):
                    point[j] = Z[j, t]
                _kernel_row(Z, point, wide, K[t])
            # One machine for each pair of classes and each C.
            for c in range(C.shape[0]):
                for p in range(pairs):
                    for t in range(wide):
                        beta_of[c, p, t] = 0.0
            p = -1
            for a in range(n_classes):
                for b in range(a + 1, n_classes):
                    p += 1
                    start_a, start_b = classes[s, a], classes[s, b]
                    n_a = classes[s, a + 1] - start_a
                    n_b = classes[s, b + 1] - start_b
                    if n_a == 0 or n_b == 0:
                        for c in range(C.shape[0]):
                            intercept[c, p] = (1.0 if n_b > 0 else 0.0) - (1.0 if n_a > 0 else 0.0)
                        continue
                    wide_p = padded(n_a + n_b)
                    table = K
                    if pair is not None:
                        table = pair
                        for i in range(n_a + n_b):
                            row = start_a + i if i < n_a else start_b + i - n_a
                            for t in range(n_a):
                                pair[i, t] = K[row, start_a + t]
                            for t in range(n_b):
                                pair[i, n_a + t] = K[row, start_b + t]
                            for t in range(n_a + n_b, wide_p):
                                pair[i, t] = 0.0
                    for t in range(wide_p):
                        y[t] = -1.0 if t < n_a else 1.0 if t < n_a + n_b else 0.0
                        beta[t] = 0.0
                        f[t] = y[t]
                    for c in range(C.shape[0]):
                        if c > 0:  # the factor in [1, C_c / C_(c - 1)] that is best for the dual
                            linear = 0.0
                            square = 0.0
                            for t in range(wide_p):
                                linear += y[t] * beta[t]
                                square += beta[t] * (y[t] - f[t])
                            most = C[c] / C[c - 1]
                            by = min(max(linear / square, 1.0), most) if square > 0.0 else most
                            for t in range(wide_p):
                                beta[t] *= by
                                f[t] = y[t] - by * (y[t] - f[t])
                        for t in range(wide_p):
                            lo[t] = 0.0
                            hi[t] = 0.0
                        for t in range(n_a):
                            lo[t] = -C[c] * weight[rows[first + start_a + t]]
                            beta[t] = max(beta[t], lo[t])
                        for t in range(n_b):
                            hi[n_a + t] = C[c] * weight[rows[first + start_b + t]]
                            beta[n_a + t] = min(beta[n_a + t], hi[n_a + t])
                        intercept[c, p] = smo(
                            table, lo, hi, wide_p, tol, beta, f, up, low, room.free
                        )
                        for t in range(n_a):
                            beta_of[c, p, start_a + t] = beta[t]
                        for t in range(n_b):
                            beta_of[c, p, start_b + t] = beta[n_a + t]
            for at in range(test_ptr[s], test_ptr[s + 1]):
                for j in range(d):
                    point[j] = (XT[subsets[candidate, j], test[at]] - scaling[0, j]) * scaling[1, j]
                _kernel_row(Z, point, wide, up)
                for c in range(C.shape[0]):
                    for p in range(pairs):
                        total = 0.0
                        for t in range(wide):
                            total += beta_of[c, p, t] * up[t]
                        margins[p] = total + intercept[c, p]
                    if pair is None:
                        out[c, candidate, at, 0] = margins[0]
                    else:
                        pair_scores(margins, n_classes, out[c, candidate, at])
