"""Damped Newton steps for logistic losses of a few columns, and the sums they are made of.

Along a direction d the third derivative of these losses is at most ``delta`` times the second,
``delta`` the greatest change that d makes to a row's score (to a difference of two of its scores).
Hence (generalised self-concordance: Bach, Electronic J. Statistics 4, 2010; Sun and Tran-Dinh,
Math. Programming 178, 2019) the Newton step times ``log(1 + delta) / delta`` always decreases the
loss. A longer step decreases it at least as much if it does not pass the minimum, which the next
gradient shows. A step is therefore halved until one of the two holds; no loss is ever evaluated,
and separable rows need no special treatment. After a step of small ``delta`` the next is about
``delta^2 / 2``: steps end when ``delta <= tol``.

The rows of data are the columns of the arrays, padded by rows of weight zero. Test rows have weight
zero, too, so that their scores are computed with the others.
"""

import math

import numpy as np

from psephos.kernels.numerics.exponential import exp
from psephos.kernels.numerics.powers import to_bits, to_float
from psephos.runtime.jit import jit

PAD = 8  # rows are padded to a multiple of this
SAFE = 1.79  # a full Newton step that changes no score by more decreases the loss
_CONSTANT = 1e-28  # variance over squared mean of a column that is constant to rounding
_FAST = {"contract", "reassoc", "nsz"}


@jit(fastmath=_FAST)
def weighted_sum(a, b):
    """Return the sum of a_i b_i."""
    total = 0.0
    for i in range(a.shape[0]):
        total += a[i] * b[i]
    return total


@jit(fastmath=_FAST)
def curvature(X, h, H, v):
    """Write ``sum_i h_i x_ij x_ik`` to the lower triangle of H; v (n,) is scratch."""
    m, n = X.shape
    for j in range(m):
        x = X[j]
        for i in range(n):
            v[i] = h[i] * x[i]
        k = j
        while k + 1 < m:  # two sums in one sweep
            first, second = X[k], X[k + 1]
            s = t = 0.0
            for i in range(n):
                s += v[i] * first[i]
                t += v[i] * second[i]
            H[k, j] = s
            H[k + 1, j] = t
            k += 2
        if k < m:
            H[k, j] = weighted_sum(v, X[k])


@jit(fastmath={"contract"})
def solve(H, g):
    """Write the solution of ``H x = g`` to g, from the lower triangle of H, which is overwritten.

    A column that depends on those before it, up to rounding, gets 0.
    """
    m = H.shape[0]
    for j in range(m):
        pivot = H[j, j]
        least = 1e-13 * pivot
        for k in range(j):
            pivot -= H[j, k] * H[j, k]
        by = 1.0 / math.sqrt(pivot) if pivot > least else 0.0
        H[j, j] = by
        for i in range(j + 1, m):
            s = H[i, j]
            for k in range(j):
                s -= H[i, k] * H[j, k]
            H[i, j] = s * by
    for j in range(m):
        s = g[j]
        for k in range(j):
            s -= H[j, k] * g[k]
        g[j] = s * H[j, j]
    for j in range(m - 1, -1, -1):
        s = g[j]
        for k in range(j + 1, m):
            s -= H[k, j] * g[k]
        g[j] = s * H[j, j]


@jit(fastmath={"contract"})
def slopes(z, y, w, g, h):
    """Write the first and second derivative of each row's loss by its score to g and h."""
    for i in range(z.shape[0]):
        e = exp(-abs(z[i]))
        q = 1.0 / (1.0 + e)
        p = q if z[i] > 0.0 else e * q
        g[i] = w[i] * (p - y[i])
        h[i] = w[i] * (e * q * q)


@jit(fastmath=_FAST)
def advance(X, step, w, z, dz):
    """Add the changes of a step to the scores z, write them to dz; return the greatest (w > 0)."""
    m, n = X.shape
    first, by = X[0], step[0]
    for i in range(n):
        dz[i] = by * first[i]
    for j in range(1, m):
        x, by = X[j], step[j]
        for i in range(n):
            dz[i] += by * x[i]
    top = np.int64(0)  # positive numbers sort as their bit patterns, whose maximum vectorises
    for i in range(n):
        z[i] += dz[i]
        bits = to_bits(abs(dz[i])) if w[i] > 0.0 else np.int64(0)
        top = bits if bits > top else top
    return to_float(top)


@jit(inline="always")
def binary(X, y, w, ridge, beta, z, work, H, steps, tol, max_iter):
    """Move beta (m,) and its scores z (n,) to the minimum.

    X is (m, n), its last row ones (the intercept). Scratch: work (4, n), H (m, m), steps (2, m).
    It is inlined in its one caller, so as to be compiled once instead of twice.
    """
    m = X.shape[0]
    g, h, v, dz = work[0], work[1], work[2], work[3]
    step, slope = steps[0], steps[1]
    delta, size = 0.0, 1.0
    for _ in range(max_iter):
        slopes(z, y, w, g, h)
        along = 0.0
        for j in range(m):
            slope[j] = weighted_sum(X[j], g) + ridge[j] * beta[j]
            along += slope[j] * step[j]
        if delta > SAFE and along > 0.0:  # the step went past the minimum: shorten it
            safe = math.log1p(delta) / delta
            back = size - (safe if safe > 0.5 * size else 0.5 * size)
            size -= back
            for j in range(m):
                beta[j] -= back * step[j]
            for i in range(z.shape[0]):
                z[i] -= back * dz[i]
            delta = 0.0 if size <= safe else delta
            continue
        size = 1.0
        curvature(X, h, H, v)
        for j in range(m):
            H[j, j] += ridge[j]
            step[j] = -slope[j]
        solve(H, step)
        for j in range(m):
            beta[j] += step[j]
        delta = advance(X, step, w, z, dz)
        if delta <= tol:
            break


@jit(fastmath=_FAST)
def spread(x, w, total):
    """Return the weighted mean and variance of x; variance 0 where x is constant to rounding."""
    n = x.shape[0]
    s = 0.0
    for i in range(n):
        s += w[i] * x[i]
    mean = s / total
    s = 0.0
    for i in range(n):
        s += w[i] * ((x[i] - mean) * (x[i] - mean))
    variance = s / total
    return mean, variance if variance > _CONSTANT * mean * mean else 0.0


@jit(fastmath={"contract"})
def standardise(x, w, total, out):
    """Write (x - mean) / sd to out, zeros if x is constant where w > 0; return mean, 1 / sd."""
    mean, variance = spread(x, w, total)
    by = 1.0 / math.sqrt(variance) if variance > 0.0 else 0.0
    for i in range(x.shape[0]):
        out[i] = (x[i] - mean) * by
    return mean, by


@jit(inline="always")
def gather(table, columns, w, total, raw, standard, place):
    """Copy columns (rows of table (p, n)) to raw (d, n') and standardise them.

    The means and 1 / sd are written to place (2, d).
    """
    for j in range(columns.shape[0]):
        source, column = table[columns[j]], raw[j]
        for i in range(source.shape[0]):
            column[i] = source[i]
        place[0, j], place[1, j] = standardise(column, w, total, standard[j])
