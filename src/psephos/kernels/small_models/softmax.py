"""Multinomial logistic models of a few columns, by the damped Newton steps of `newton`."""

import math

import numpy as np

from psephos.kernels.numerics.exponential import exp
from psephos.kernels.small_models.newton import SAFE, advance, curvature, solve, weighted_sum
from psephos.runtime.jit import jit


@jit(inline="always")
def prior_of_classes(y, w, total, beta, Z, known):
    """Start from the shares of the classes alone; return whether there is more than one.

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
    """Hold the scores of classes without a row below those of the others."""
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
            # Equal intercepts change nothing: this holds their sum where it is.
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
