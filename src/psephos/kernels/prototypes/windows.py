"""Sums over a kept table of kernels, for trials in which only the prototypes' weights move."""

import math

import numpy as np

from psephos.kernels._jit import jit
from psephos.kernels.numerics.powers import wide

__all__ = ["squared_distances", "weighted_windows"]


@jit(fastmath={"contract", "reassoc"}, _nrt=False)
def squared_distances(X, C, out):
    """Put ``|x_n - c_j|^2`` of rows (R, q) and (M, q) in ``out`` (R, M)."""
    wide()
    for n in range(X.shape[0]):
        x = X[n]
        for j in range(C.shape[0]):
            c = C[j]
            total = np.float32(0.0)
            for d in range(x.shape[0]):
                apart = x[d] - c[d]
                total += apart * apart
            out[n, j] = total


@jit(fastmath={"contract", "reassoc"}, _nrt=False)
def weighted_windows(kernel, match, w, base_own, base_total, omega, tiny, gradient, value):
    """Add minus the weighted log-likelihood ``omega log(q / s + tiny)`` to a value; return it.

    Its derivative by w is added to `gradient`, unless that is empty.
    ``s = base_total + kernel w``, ``q = base_own + (kernel match) w``; the tables are (R, M).
    """
    wide()
    for n in range(kernel.shape[0]):
        q, s = base_own[n], base_total[n]
        heard, own = kernel[n], match[n]
        for j in range(w.shape[0]):
            mass = heard[j] * w[j]
            q += own[j] * mass
            s += mass
        value -= omega[n] * math.log(q / s + tiny)
        by = omega[n] / (q + tiny * s)
        by_total = by * q / s
        for j in range(gradient.shape[0]):
            gradient[j] += heard[j] * (by_total - by * own[j])
    return value
