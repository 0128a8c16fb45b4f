"""Worth of leaves and splits in second-order boosting, rounded as the float32 reference does.

With T(G) the soft threshold of the sum of gradients G by alpha, and H the sum of hessians::

    weight(G, H) = -T(G) / (H + lambda)
    gain(G, H)   =  T(G)^2 / (H + lambda)

Where a weight is bounded (by `step`, or by a column's direction) its gain is the decrease of the
quadratic itself, -(2 G w + (H + lambda) w^2); the reference leaves alpha out of it, and so do we.
Sums are float64; weights, gains and losses are float32, and every rounding below is deliberate:
Chen & Guestrin (2016), "XGBoost", equations 4 to 7, in the arithmetic of its exact algorithm.
"""

from typing import NamedTuple

import numpy as np

from psephos.kernels.small_models.tree import GAMMA, mix
from psephos.runtime.jit import jit

_F = np.float32


class Penalty(NamedTuple):
    """What leaves cost, as float32 holds the numbers.

    `constrained` says whether any column has a direction: leaves then have bounds. `share` is the
    least share of a node's hessians between two cuts that are looked at. `gamma` is the least
    gain of a split, for growers that do not prune. `centred`, for leaves that cost nothing and have
    no bounds, is for gains that do not depend on a node's mean: see `centre_of`. `ties` is the seed
    by which columns of equal gain are drawn; 0: the lowest is taken.
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
    """Return the gain of the weight that is best where none is bounded."""
    if H <= 0.0:
        return _F(0.0)
    t = _threshold(G, pen.alpha)
    return _F(t * t) / _F(H + pen.lam)


@jit
def loss_of(pen, left_G, left_H, right_G, right_H, root, low, high, direction):
    """Return what a split gains over no split; -inf where it breaks its column's direction."""
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
    """Return the float32 gain of a leaf: of a split, over nothing, that has it on one side."""
    return loss_of(pen, G, H, 0.0, 0.0, _F(0.0), low, high, np.int64(0))


@jit(inline="always")
def centre_of(pen, G, H, root):
    """Return (what to take from a gradient for each unit of hessian, the node's gain after that).

    Where leaves are free, the gain of a split is the same for gradients g - c h. With c = G / H
    the node itself gains nothing, and float32 has all its digits for the split; otherwise it
    holds the difference of numbers that may be much larger.
    """
    if pen.centred and H > 0.0:
        return G / H, _F(0.0)
    return 0.0, root


@jit(inline="always")
def least_of(root, best):
    """Return what the gains of two sides must exceed together, less what float32 rounds away."""
    floor = best if best > _F(1e-6) else _F(1e-6)
    return (np.float64(root) + np.float64(floor)) * (1.0 - 1e-5)


@jit
def comes_first(seed, one, other):
    """Return whether column `one` is taken before `other` where they gain the same.

    By their ranks in an order that the seed draws, whoever is looked at first; the lower if it is
    0. No column (-1) comes before none.
    """
    if seed == 0 or other < 0:
        return one < other
    first, second = np.uint64(one + 1), np.uint64(other + 1)
    return mix(np.uint64(seed) + first * GAMMA) < mix(np.uint64(seed) + second * GAMMA)


@jit
def weigh_gains(pen, sums, low, high, out):
    """Write to out (m,) their gains."""
    for i in range(len(out)):
        out[i] = gain_of(pen, sums[i, 0], sums[i, 1], low[i], high[i])
