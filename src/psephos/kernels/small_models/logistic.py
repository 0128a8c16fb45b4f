"""Logistic models of a few columns, by damped Newton steps.

Two classes, rows i with weights w_i and signs s_i, columns standardised:
``min over (b, beta) of sum_i w_i log(1 + exp(-s_i (b + beta x_i))) + sum_j r_j beta_j^2 / 2``.
More classes: ``sum_i w_i (log sum_k exp z_ik - z_iy) + sum_kj r_j beta_kj^2 / 2``.

A split keeps the columns standardised by all rows and has its own ridge instead, ``sd_j^2 / C``
with the standard deviation sd_j of its training rows: the same model as on columns standardised by
these. It starts from the fit of all rows.

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
from numpy.typing import NDArray

from psephos.kernels.numerics.powers import exp, to_bits, to_float
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


@jit(inline="always")
def prior_of_classes(y, w, total, beta, Z, known):
    """Start from the shares of the classes alone; return whether more than one class has rows.

    A class without a row is held below the others by log(1 + 2 W), W the weight of all rows.
    """
    K = beta.shape[0]
    first = mean = 0.0
    count = 0
    for k in range(K):
        for j in range(beta.shape[1]):
            beta[k, j] = 0.0
        own = 0.0
        for i in range(w.shape[0]):
            own += w[i] if y[i] == k else 0.0
        known[k] = own > 0.0
        if known[k]:
            last = math.log(own)
            beta[k, -1] = last
            mean += last
            first = last if count == 0 or last < first else first
            count += 1
    most = math.log1p(2.0 * total)
    for k in range(K):
        beta[k, -1] = beta[k, -1] - mean / count if known[k] else first - mean / count - most
        for i in range(Z.shape[1]):
            Z[k, i] = beta[k, -1]
    return count > 1


@jit(inline="always")
def lower_unknown(known, total, Z):
    """Put the scores of classes without a row below those of the others."""
    K, n = Z.shape
    for k in range(K):
        if not known[k]:
            for i in range(n):
                low = np.inf
                for c in range(K):
                    low = Z[c, i] if known[c] and Z[c, i] < low else low
                Z[k, i] = low - math.log1p(2.0 * total)


@jit(fastmath={"contract"})
def _shares(Z, known, P, top):
    """Put the probabilities of the known classes in P (K, n), 0 for the others."""
    K, n = Z.shape
    top[:] = -1e300
    for k in range(K):
        z = Z[k]
        if known[k]:
            for i in range(n):
                top[i] = z[i] if z[i] > top[i] else top[i]
    for k in range(K):
        z, p = Z[k], P[k]
        for i in range(n):
            p[i] = exp(z[i] - top[i]) if known[k] else 0.0
    top[:] = 0.0
    for k in range(K):
        p = P[k]
        for i in range(n):
            top[i] += p[i]
    for k in range(K):
        p = P[k]
        for i in range(n):
            p[i] /= top[i]


@jit(fastmath={"contract"})
def _blocks(X, P, w, known, ridge, H, block, work):
    """Put the second derivatives of the multinomial loss in H (K m, K m), lower triangle."""
    K, n = P.shape
    m = X.shape[0]
    h, v = work[1], work[2]
    count = 0.0
    total = 0.0
    for k in range(K):
        count += 1.0 if known[k] else 0.0
    for i in range(n):
        total += w[i]
    for k in range(K):
        for c in range(k + 1):
            own = 1.0 if c == k else 0.0
            for i in range(n):
                h[i] = w[i] * (P[k, i] * (own - P[c, i]))
            curvature(X, h, block, v)
            for a in range(m):
                for b in range(m):
                    H[k * m + a, c * m + b] = block[a, b] if a > b else block[b, a]
            # Adding a number to all intercepts changes nothing: this term keeps their sum fixed.
            if known[k] and known[c]:
                H[k * m + m - 1, c * m + m - 1] += total / (count * count)
        for j in range(m):
            H[k * m + j, k * m + j] += ridge[j]


@jit(fastmath={"contract"})
def multinomial(X, y, w, known, ridge, beta, Z, P, work, H, block, steps, tol, max_iter):
    """Move beta (K, m) and its scores Z (K, n) to the minimum over the known classes."""
    K, n = Z.shape
    m = X.shape[0]
    g, high, low = work[0], work[1], work[2]
    step, slope = steps[0], steps[1]
    delta, size = 0.0, 1.0
    for _ in range(max_iter):
        _shares(Z, known, P, work[3])
        along = 0.0
        for k in range(K):
            for i in range(n):
                g[i] = w[i] * (P[k, i] - (1.0 if y[i] == k else 0.0))
            for j in range(m):
                s = weighted_sum(X[j], g) + ridge[j] * beta[k, j]
                slope[k * m + j] = s
                along += s * step[k * m + j]
        if delta > SAFE and along > 0.0:
            safe = math.log1p(delta) / delta
            back = size - (safe if safe > 0.5 * size else 0.5 * size)
            size -= back
            for k in range(K):
                for j in range(m):
                    beta[k, j] -= back * step[k * m + j]
                    slope[k * m + j] = -back * step[k * m + j]
                advance(X, slope[k * m : (k + 1) * m], w, Z[k], g)
            delta = 0.0 if size <= safe else delta
            continue
        size = 1.0
        _blocks(X, P, w, known, ridge, H, block, work)
        for a in range(K * m):
            step[a] = -slope[a]
        solve(H, step)
        high[:] = 0.0
        low[:] = 0.0
        for k in range(K):
            if known[k]:
                advance(X, step[k * m : (k + 1) * m], w, Z[k], g)
                for i in range(n):
                    high[i] = g[i] if g[i] > high[i] else high[i]
                    low[i] = g[i] if g[i] < low[i] else low[i]
        delta = 0.0
        for i in range(n):
            width = high[i] - low[i] if w[i] > 0.0 else 0.0
            delta = width if width > delta else delta
        for k in range(K):
            for j in range(m):
                beta[k, j] += step[k * m + j]
        if delta <= tol:
            break


NARROW = 1e-3  # a split with a smaller share of a column's variance standardises it anew
_Floats = NDArray[np.float64]


@jit(inline="always")
def prior(y, w, total, beta, z):
    """Start from the shares of two classes alone; return whether both have rows.

    A class without a row is held below the other by log(1 + 2 W), W the weight of all rows.
    """
    ones = weighted_sum(y, w)
    zeros = 0.0
    for i in range(y.shape[0]):
        z[i] = 1.0 - y[i]
    zeros = weighted_sum(z, w)
    several = ones > 0.0 and zeros > 0.0
    most = math.log1p(2.0 * total)
    for j in range(beta.shape[0]):
        beta[j] = 0.0
    if several:
        beta[-1] = math.log(ones / zeros)
    else:
        beta[-1] = most if ones > 0.0 else -most
    for i in range(z.shape[0]):
        z[i] = beta[-1]
    return several


@jit(fastmath={"contract"})
def _fit(
    table, y, masks, totals, test, test_ptr, subsets, penalty, scaled, tol, max_iter,
    raw, place, standard, own, ridge, every, beta, Z_every, Z, work, H, steps,
    known, P, block, out,
):  # fmt: skip
    """Write scores to out as `logistic_scores`, the last subset's coefficients to every (K, d + 1).

    These are on standardised columns, with their means and 1 / sd in place (2, d). For two classes
    P and block are None, and the kernel is compiled without the code for more classes.
    """
    n_splits, d = masks.shape[0] - 1, subsets.shape[1]
    for b in range(subsets.shape[0]):
        for turn in range(n_splits + 1):  # all rows first, then the splits
            s = turn - 1 if turn > 0 else n_splits
            w, total = masks[s], totals[s]
            if turn == 0:
                gather(table, subsets[b], w, total, raw, standard, place)
            if known is None:
                several = prior(y, w, total, beta[0], Z[0])
            else:
                several = prior_of_classes(y, w, total, beta, Z, known)
            narrow = False
            for j in range(d):
                by = place[1, j]
                if turn == 0:
                    ridge[j] = penalty if scaled or by == 0.0 else penalty * by * by
                elif several and scaled and by > 0.0:
                    _, variance = spread(standard[j], w, total)
                    ridge[j] = penalty * variance
                    narrow |= variance < NARROW
            columns = standard
            if narrow:
                columns = own
                for j in range(d):
                    standardise(raw[j], w, total, own[j])
                    ridge[j] = penalty
            elif turn > 0 and several:  # from the fit of all rows, unless a class has no row
                same = True
                if known is not None:
                    for k in range(known.shape[0]):
                        same &= known[k]
                for k in range(Z.shape[0] if same else 0):
                    for j in range(d + 1):
                        beta[k, j] = every[k, j]
                    for i in range(Z.shape[1]):
                        Z[k, i] = Z_every[k, i]
            if several:
                if known is None:
                    binary(columns, y, w, ridge, beta[0], Z[0], work, H, steps, tol, max_iter)
                else:
                    multinomial(
                        columns, y, w, known, ridge, beta, Z, P, work, H, block, steps, tol,
                        max_iter,
                    )  # fmt: skip
            if turn == 0:
                for k in range(Z.shape[0]):
                    for j in range(d + 1):
                        every[k, j] = beta[k, j]
                    for i in range(Z.shape[1]):
                        Z_every[k, i] = Z[k, i]
                continue
            if known is not None:
                lower_unknown(known, total, Z)
            for r in range(test_ptr[s], test_ptr[s + 1]):
                for k in range(Z.shape[0]):
                    out[b, r, k] = Z[k, test[r]]


def logistic_scores(
    XT: _Floats, y: _Floats, masks: _Floats, totals: _Floats, test: NDArray[np.int32],
    test_ptr: NDArray[np.int64], subsets: NDArray[np.intp], penalty: float, scaled: bool,
    tol: float, max_iter: int, out: _Floats,
) -> tuple[_Floats, _Floats]:  # fmt: skip
    """Write out-of-fold scores of candidates on all splits.

    Returns the last candidate's coefficients (K, d + 1) on the columns standardised by all rows,
    and the means and 1 / sd of these columns (2, d).

    Parameters
    ----------
    XT : (p, n)
    y : (n',) float64; class codes, n' = n padded
    masks : (S + 1, n'); weights of the training rows of each split, then of all rows
    totals : (S + 1,); their sums
    test, test_ptr : (L,), (S + 1,)
    subsets : (B, d)
    penalty : 1 / C
    scaled : standardise the columns by each split's training rows
    tol, max_iter : float, int; stop when a step changed no training row's score by more than tol
    out : (B, L, K)
    """
    (d, K), n = (subsets.shape[1], out.shape[2]), len(y)
    place, every = np.empty((2, d)), np.empty((K, d + 1))
    sizes = (d + 1, d + 1, d, K, K, 4)
    flat = np.ones(sum(sizes) * n + 8)
    skip = (-flat.ctypes.data % 64) // 8  # vectors across two cache lines load slowly
    room = np.split(flat[skip : len(flat) - 8 + skip].reshape(-1, n), np.cumsum(sizes)[:-1])
    standard, own, raw, Z_every, Z, work = room
    more = (np.ones(K, np.bool_), np.empty((K, n)), np.empty((d + 1, d + 1)))
    raw[:] = 0.0
    _fit(
        XT, y, masks, totals, test, test_ptr, subsets, penalty, scaled, tol, max_iter,
        raw, place, standard, own, np.zeros(d + 1), every, np.empty((K, d + 1)), Z_every, Z, work,
        np.empty((K * (d + 1),) * 2), np.zeros((2, K * (d + 1))),
        *(more if K > 1 else (None,) * 3), out,
    )  # fmt: skip
    return every, place


def logistic_model(
    XT: _Floats, y: _Floats, w: _Floats, columns: NDArray[np.intp], penalty: float, scaled: bool,
    tol: float, max_iter: int, out: _Floats,
) -> None:  # fmt: skip
    """Fit one candidate on rows of weight w (n',): out (K, d + 1), the intercept last."""
    total = np.array([weighted_sum(w, np.ones(len(w)))])
    splits = (w[None], total, np.empty(0, np.int32), np.zeros(1, np.int64))
    none = np.empty((1, 0, len(out)))
    subset = np.ascontiguousarray(columns, dtype=np.intp)[None]
    every, place = logistic_scores(XT, y, *splits, subset, penalty, scaled, tol, max_iter, none)
    d = len(columns)
    out[:, :d] = every[:, :d] * place[1]
    out[:, d] = every[:, d]
    for j in range(d):
        out[:, d] -= out[:, j] * place[0, j]
