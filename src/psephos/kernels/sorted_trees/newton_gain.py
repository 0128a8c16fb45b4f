"""Gradients, gains of leaves and splits in second-order boosting, rounded as in the reference.

Gradients and hessians are float32, bit for bit those of the reference on this C library: a compiled
``math.exp`` of a float32 is the C library's ``expf``, and NumPy's differs in the last bit.

With T(G) the soft threshold of the sum of gradients G by alpha, and H the sum of hessians::

    weight(G, H) = -T(G) / (H + lambda)
    gain(G, H)   =  T(G)^2 / (H + lambda)

If a weight is bounded (by `step`, or by a column's direction), its gain is the decrease of the
quadratic, -(2 G w + (H + lambda) w^2), without alpha, as in the reference.
Sums are float64; weights, gains and losses are float32, and every rounding below is deliberate:
Chen & Guestrin (2016), "XGBoost", equations 4 to 7, in the arithmetic of its exact algorithm.
"""

import math
from typing import NamedTuple

import numpy as np

from psephos.kernels.small_models.tree import GAMMA, mix
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


class Penalty(NamedTuple):
    """Penalties of leaves, and options of the gain.

    `constrained`: whether any column has a direction, so that leaves have bounds. `share`: the
    least share of a node's hessians between two evaluated cuts. `gamma`: the least gain of a split,
    for growers that do not prune. `centred`: gains do not depend on a node's mean, for leaves
    without penalty and bounds: see `centre_of`. `ties`: the seed of draws among columns of equal
    gain; 0: the lowest column.
    """

    lam: float = 1.0
    alpha: float = 0.0
    step: float = 0.0
    least: float = 1.0
    constrained: bool = False
    share: float = 0.0
    gamma: float = 0.0
    centred: bool = False
    ties: int = 0


@jit(inline="always")
def _threshold(G, alpha):
    size = abs(G) - alpha
    if size <= 0.0:
        return 0.0
    return size if G > 0.0 else -size


@jit
def weight_of(pen, G, H, low, high):
    """Return the float32 weight of a leaf, within `low` and `high` if constrained."""
    if H <= 0.0:
        return _F(0.0)
    w = -_threshold(G, pen.alpha) / (H + pen.lam)
    if pen.step != 0.0 and abs(w) > pen.step:
        w = pen.step if w > 0.0 else -pen.step
    w = _F(w)
    if pen.constrained:
        w = high if w > high else w
        w = low if w < low else w
    return w


@jit
def weigh(pen, sums, low, high, out):
    """Write to out (m,) the weights of leaves from their sums (m, 2)."""
    for i in range(len(out)):
        out[i] = weight_of(pen, sums[i, 0], sums[i, 1], low[i], high[i])


@jit(inline="always")
def _gain_of_weight(pen, G, H, w):
    if H <= 0.0:
        return _F(0.0)
    G, H = _F(G), _F(H)
    return -(_F(2.0) * G * w + (H + _F(pen.lam)) * (w * w))


@jit(inline="always")
def _gain_of_best(pen, G, H):
    """Return the gain of the best weight without bounds."""
    if H <= 0.0:
        return _F(0.0)
    t = _threshold(G, pen.alpha)
    return _F(t * t) / _F(H + pen.lam)


@jit
def loss_of(pen, left_G, left_H, right_G, right_H, root, low, high, direction):
    """Return the gain of a split; -inf if it violates its column's direction."""
    if pen.step == 0.0 and not pen.constrained:
        left = _gain_of_best(pen, left_G, left_H)
        return (left + _gain_of_best(pen, right_G, right_H)) - root
    left_w = weight_of(pen, left_G, left_H, low, high)
    right_w = weight_of(pen, right_G, right_H, low, high)
    against = (direction > 0 and left_w > right_w) or (direction < 0 and left_w < right_w)
    if pen.constrained and against:
        return _F(-np.inf)
    left = _gain_of_weight(pen, left_G, left_H, left_w)
    return (left + _gain_of_weight(pen, right_G, right_H, right_w)) - root


@jit(inline="always")
def gain_of(pen, G, H, low, high):
    """Return the float32 gain of a leaf."""
    return loss_of(pen, G, H, 0.0, 0.0, _F(0.0), low, high, np.int64(0))


@jit(inline="always")
def centre_of(pen, G, H, root):
    """Return (c, the gain of the node for gradients g - c h); c is 0 unless `centred`.

    Without penalties the gain of a split is the same for gradients g - c h. With c = G / H the gain
    of the node is 0, so that no digits of float32 are lost in a difference of large numbers.
    """
    if pen.centred and H > 0.0:
        return G / H, _F(0.0)
    return 0.0, root


@jit(inline="always")
def least_of(root, best):
    """Return a bound for the sum of the gains of two sides, less the rounding of float32."""
    floor = best if best > _F(1e-6) else _F(1e-6)
    return (np.float64(root) + np.float64(floor)) * (1.0 - 1e-5)


@jit
def comes_first(seed, one, other):
    """Return whether column `one` is chosen before `other` if their gains are equal.

    The order is random by the seed, whichever is evaluated first; for seed 0 the lower column is
    chosen. `other` -1 means no column.
    """
    if seed == 0 or other < 0:
        return one < other
    first, second = np.uint64(one + 1), np.uint64(other + 1)
    return mix(np.uint64(seed) + first * GAMMA) < mix(np.uint64(seed) + second * GAMMA)


@jit
def weigh_gains(pen, sums, low, high, out):
    """Write to out (m,) the gains of leaves from their sums (m, 2)."""
    for i in range(len(out)):
        out[i] = gain_of(pen, sums[i, 0], sums[i, 1], low[i], high[i])
