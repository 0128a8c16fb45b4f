"""One Newton step on the free rows of a support vector machine's dual.

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

from psephos.kernels.small_models.svm_common import FAST
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
