"""Linear support vector machines in few columns, thousands of tiny ones in one call.

With d columns and an intercept that is not penalised, minimise over w and b

    |w|^2 / 2 + sum_i C_i max(0, 1 - y_i (w'x_i + b)).

This is a quadratic programme whose Newton systems have d + 1 unknowns, however many rows there
are: an interior point method (Mehrotra's predictor and corrector, SIAM J. Optimization 2, 1992;
for support vector machines Ferris & Munson, SIAM J. Optimization 13, 2002) takes about ten steps
at any C, where pairwise methods slow down as C grows.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from psephos.kernels.small_models.svm_common import FAST, padded, pair_scores
from psephos.runtime.jit import jit

_STEPS = 100
_GAP = 1e-9  # relative duality gap at which the interior point method stops


@jit(fastmath=FAST)
def _system(A, v, d, wide, scaled, M):
    """Write the lower triangle of ``M = diag(1, ..., 1, 0) + sum_i v_i A_i A_i'``."""
    for a in range(d + 1):
        for t in range(wide):
            scaled[t] = v[t] * A[a, t]
        for b in range(a + 1):
            total = 0.0
            for t in range(wide):
                total += scaled[t] * A[b, t]
            M[a, b] = total
        M[a, a] += 1.0 if a < d else 0.0


@jit(fastmath={"contract"})
def _factor(M, q):
    """Turn the lower triangle of M into its Cholesky factor; the diagonal holds inverses."""
    for a in range(q):
        for b in range(a):
            total = M[a, b]
            for k in range(b):
                total -= M[a, k] * M[b, k]
            M[a, b] = total * M[b, b]
        pivot = M[a, a]
        least = 1e-15 * pivot
        for k in range(a):
            pivot -= M[a, k] * M[a, k]
        # The last pivot may vanish: rows far from the margin leave the intercept undetermined.
        M[a, a] = 1.0 / np.sqrt(max(pivot, least, 1e-280))


@jit(fastmath={"contract"})
def _solve(M, q, x):
    """Solve with `_factor`'s result, in place."""
    for a in range(q):
        for k in range(a):
            x[a] -= M[a, k] * x[k]
        x[a] *= M[a, a]
    for a in range(q - 1, -1, -1):
        for k in range(a + 1, q):
            x[a] -= M[k, a] * x[k]
        x[a] *= M[a, a]


@jit(fastmath=FAST)
def _times(A, w, q, wide, out):
    """Write ``out_t = sum_k w_k A_kt``."""
    for t in range(wide):
        out[t] = 0.0
    for k in range(q):
        by = w[k]
        for t in range(wide):
            out[t] += by * A[k, t]


@jit(fastmath=FAST)
def hinge(A, cap, d, wide, w, V, M):
    """Minimise the hinge loss by an interior point method, into `w`; return the steps taken.

    Rows have slacks s_i and x_i: ``y_i (w'x_i + b) - 1 = s_i - x_i``, both positive, with
    multipliers a_i and ``r_i = C_i - a_i``; the products a_i s_i and r_i x_i are driven to zero.
    Where an interval of intercepts is optimal, its middle is used, as in LIBSVM.

    Parameters
    ----------
    A : (d + 1, >= wide); ``y_i x_i``, one column per row of data; the last row is ``y_i``; zero for
        padding
    cap : (>= wide,); C_i; positive for padding. Both signs of y must occur.
    w : (d + 1,); coefficients and intercept
    V, M : scratch of at least (12, wide) and (2, d + 1) + (d + 1, d + 1) numbers
    """
    a, r, s, x, theta, scaled = V[0], V[1], V[2], V[3], V[4], V[5]
    margin, g, da, cs, cx, slope = V[6], V[7], V[8], V[9], V[10], V[11]
    q = d + 1
    dw = M[q]
    for k in range(q):
        w[k] = 0.0
    for t in range(wide):
        a[t] = 0.5 * cap[t]
    for t in range(wide):
        r[t] = 0.5 * cap[t]
    for t in range(wide):
        s[t] = 1.0
        margin[t] = 0.0
    for t in range(wide):
        x[t] = 2.0
    step = 0
    left = 1.0  # how much of the infeasibility of the start is left
    for step in range(_STEPS):
        gap = 0.0
        loss = 0.0
        for t in range(wide):
            gap += a[t] * s[t] + r[t] * x[t]
            loss += cap[t] * x[t]
        for k in range(d):
            loss += 0.5 * w[k] * w[k]
        if (gap <= _GAP * loss and left <= _GAP) or step == _STEPS - 1:
            break
        for t in range(wide):
            theta[t] = a[t] * r[t] / (s[t] * r[t] + x[t] * a[t])
        _system(A, theta, d, wide, scaled, M)
        _factor(M, q)
        # Predictor: the Newton direction without centring.
        for k in range(q):
            total = 0.0
            for t in range(wide):
                total += A[k, t] * (a[t] + theta[t] * (1.0 - margin[t]))
            dw[k] = total - w[k] if k < d else total
        _solve(M, q, dw)
        _times(A, dw, q, wide, slope)
        most = 1.0
        for t in range(wide):
            move = theta[t] * (1.0 - margin[t] - slope[t])
            da[t] = move
            u = move / a[t]
            v = move / r[t]
            most = max(most, -u, v)
            most = max(most, 1.0 + u, 1.0 - v)
        size = 1.0 / most
        after = 0.0
        for t in range(wide):
            u = size * da[t]
            ds = size * (-s[t] - s[t] * da[t] / a[t])
            dx = size * (-x[t] + x[t] * da[t] / r[t])
            after += (a[t] + u) * (s[t] + ds) + (r[t] - u) * (x[t] + dx)
        centring = after / gap
        target = centring * centring * centring * gap / (2.0 * wide)
        # Corrector: with the second-order terms, and towards the central path.
        for t in range(wide):
            ds = -s[t] - s[t] * da[t] / a[t]
            cs[t] = (target - da[t] * ds) / a[t] - s[t]
        for t in range(wide):
            dx = -x[t] + x[t] * da[t] / r[t]
            cx[t] = (target + da[t] * dx) / r[t] - x[t]
        for t in range(wide):
            g[t] = s[t] - x[t] + 1.0 - margin[t] + cs[t] - cx[t]
        for k in range(q):
            total = 0.0
            for t in range(wide):
                total += A[k, t] * (a[t] + theta[t] * g[t])
            dw[k] = total - w[k] if k < d else total
        _solve(M, q, dw)
        _times(A, dw, q, wide, slope)
        for t in range(wide):
            da[t] = theta[t] * (g[t] - slope[t])
        for t in range(wide):
            cs[t] -= s[t] * da[t] / a[t]
        for t in range(wide):
            cx[t] += x[t] * da[t] / r[t]
        most = 0.995
        for t in range(wide):
            most = max(most, -da[t] / a[t], da[t] / r[t])
            most = max(most, -cs[t] / s[t], -cx[t] / x[t])
        size = 0.995 / most
        for t in range(wide):
            a[t] += size * da[t]
        for t in range(wide):
            r[t] -= size * da[t]
        for t in range(wide):
            s[t] += size * cs[t]
        for t in range(wide):
            x[t] += size * cx[t]
        for t in range(wide):
            margin[t] += size * slope[t]
        for k in range(q):
            w[k] += size * dw[k]
        left *= 1.0 - size
    # Rows on their bounds allow an interval of intercepts if the loss is constant between them.
    level = total = 0.0
    highest, lowest = -1e300, 1e300
    for t in range(wide):
        y = A[d, t]
        total += cap[t]
        level += y * cap[t] if a[t] > r[t] else 0.0
        kink = y * (1.0 - margin[t]) + w[d]
        rising = (a[t] <= r[t]) == (y > 0.0)
        highest = max(highest, kink if rising and y != 0.0 else -1e300)
        lowest = min(lowest, kink if not rising and y != 0.0 else 1e300)
    if abs(level) <= 1e-9 * total and highest < lowest:
        w[d] = 0.5 * (highest + lowest)
    return step


class LinearMachines(NamedTuple):
    """The machines of the last split fitted, for P pairs of classes, and scratch of one call."""

    coef: NDArray[np.float64]  # (P, d + 1) of the scaled columns, and the intercept
    scaling: NDArray[np.float64]  # (2, d) centre and factor: scaled is (x - centre) factor
    Z: NDArray[np.float64]  # (d, w) scaled columns
    A: NDArray[np.float64]  # (d + 1, w) the same times y, with y
    cap: NDArray[np.float64]  # (w,)
    vectors: NDArray[np.float64]  # (12, w)
    square: NDArray[np.float64]  # (d + 2, d + 1)


def linear_machines(n: int, d: int, n_classes: int) -> LinearMachines:
    """Return scratch for splits of at most `n` training rows."""
    wide = int(padded(n))
    return LinearMachines(
        np.zeros((n_classes * (n_classes - 1) // 2, d + 1)), np.zeros((2, d)), np.zeros((d, wide)),
        np.zeros((d + 1, wide)), np.zeros(wide), np.empty((12, wide)), np.empty((d + 2, d + 1)),
    )  # fmt: skip


@jit(fastmath={"contract"})
def linear_scores(layout, splits, subsets, C, room, out):
    """Fit candidates on splits, and write their scores of the test rows.

    Parameters
    ----------
    layout, splits, subsets : as for `gaussian_svm.rbf_scores`
    out : (B, L, K)
    """
    d = subsets.shape[1]
    q = d + 1
    n_classes = layout.classes.shape[1] - 1
    XT, weight, test, test_ptr = layout.XT, layout.weight, layout.test, layout.test_ptr
    rows, ptr, classes, moments = layout.rows, layout.ptr, layout.classes, layout.moments
    coef, scaling, Z, A, cap = room.coef, room.scaling, room.Z, room.A, room.cap
    machines = coef.shape[0]
    margins = np.empty(machines)
    for candidate in range(subsets.shape[0]):
        for p in range(machines):
            for k in range(q):
                coef[p, k] = 0.0
        for s in range(splits[0], splits[1]):
            first = ptr[s]
            m = ptr[s + 1] - first
            for j in range(d):
                column = subsets[candidate, j]
                centre, factor = moments[column, s, 0], moments[column, s, 1]
                scaling[0, j] = centre
                scaling[1, j] = factor
                for t in range(m):
                    Z[j, t] = (XT[column, rows[first + t]] - centre) * factor
            # Machine p: the rows of class b, labelled +1, then those of class a, labelled -1.
            a, b = 0, 0
            for p in range(machines):
                b += 1
                if b == n_classes:
                    a += 1
                    b = a + 1
                n_one = classes[s, b + 1] - classes[s, b]
                n_other = classes[s, a + 1] - classes[s, a]
                if n_one == 0 or n_other == 0:
                    for k in range(d):
                        coef[p, k] = 0.0
                    coef[p, d] = (1.0 if n_one > 0 else 0.0) - (1.0 if n_other > 0 else 0.0)
                    continue
                wide = padded(n_one + n_other)
                for i in range(wide):
                    y = 0.0
                    t = 0
                    if i < n_one:
                        y = 1.0
                        t = classes[s, b] + i
                    elif i < n_one + n_other:
                        y = -1.0
                        t = classes[s, a] + i - n_one
                    for j in range(d):
                        A[j, i] = y * Z[j, t]
                    A[d, i] = y
                    cap[i] = C * weight[rows[first + t]] if y != 0.0 else C
                hinge(A, cap, d, wide, coef[p], room.vectors, room.square)
            for at in range(test_ptr[s], test_ptr[s + 1]):
                for p in range(machines):
                    margins[p] = coef[p, d]
                for j in range(d):
                    z = (XT[subsets[candidate, j], test[at]] - scaling[0, j]) * scaling[1, j]
                    for p in range(machines):
                        margins[p] += coef[p, j] * z
                pair_scores(margins, n_classes, out[candidate, at])
