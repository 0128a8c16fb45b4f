"""Gradients and hessians in float32, bit for bit those of the reference on this C library.

A compiled ``math.exp`` of a float32 is the C library's ``expf``; NumPy's differs in the last bit.
"""

import math

import numpy as np

from psephos.runtime.jit import jit

_F = np.float32
_LEAST = _F(1e-16)
_TINY = np.finfo(np.float32).tiny


@jit
def logistic_gradients(margin, y, out):
    """Write (p - y, p (1 - p)) to out (n, 2), p = 1 / (1 + exp(-margin)), y 0 or 1."""
    for i in range(len(margin)):
        e = _F(math.exp(min(-margin[i], _F(88.7))))
        p = _F(1.0) / (e + _F(1.0))
        out[i, 0] = p - y[i]
        out[i, 1] = max(p * (_F(1.0) - p), _LEAST)


@jit
def softmax_gradients(margin, y, share, out):
    """Write (p_k - 1[y = k], 2 p_k (1 - p_k)) to out (K, n, 2) from margins (n, K).

    `share` is scratch for K numbers.
    """
    n, classes = margin.shape
    for i in range(n):
        top = _TINY
        for k in range(classes):
            top = max(top, margin[i, k])
        total = 0.0
        for k in range(classes):
            share[k] = _F(math.exp(margin[i, k] - top))
            total += np.float64(share[k])
        for k in range(classes):
            p = share[k] / _F(total)
            g = p
            if y[i] == k:
                g = p - _F(1.0)
            out[k, i, 0] = g
            out[k, i, 1] = max(_F(2.0) * p * (_F(1.0) - p), _LEAST)
