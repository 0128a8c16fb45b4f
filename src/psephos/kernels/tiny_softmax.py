"""Multinomial logistic models of a few columns, by the damped Newton steps of `tiny_newton`."""

import numpy as np

from psephos.kernels._jit import jit
from psephos.kernels._power import wide
from psephos.kernels.tiny_exp import exp
from psephos.kernels.tiny_newton import SAFE, advance, curvature, solve, weighted_sum

__all__ = ["multinomial"]


@jit(fastmath={"contract"})
def _shares(Z, known, P, top):
    """Put the probabilities of the known classes in P (K, n), 0 for the others."""
    wide()
    K, n = Z.shape
    top[:] = -1e300
    for k in range(K):
        z = Z[k]
        if known[k]:
            for i in range(n):
                top[i] = max(top[i], z[i])
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
                    H[k * m + a, c * m + b] = block[max(a, b), min(a, b)]
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
            safe = np.log1p(delta) / delta
            back = size - max(safe, 0.5 * size)
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
                    high[i] = max(high[i], g[i])
                    low[i] = min(low[i], g[i])
        delta = 0.0
        for i in range(n):
            delta = max(delta, high[i] - low[i] if w[i] > 0.0 else 0.0)
        for k in range(K):
            for j in range(m):
                beta[k, j] += step[k * m + j]
        if delta <= tol:
            break
