"""What gates of soft trees may cost: sending all rows one way, and reading a column."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from psephos.optimise.arrays import like, namespace, on_host

_LEAST = 1e-7  # of a gate's share on either side: below, the logarithm is taken there


class GateBalance:
    """A cost of gates that send all rows one way (Frosst & Hinton 2017, section 3).

    With a_i the share of the rows that arrive at gate i which it sends left, by weight::

        C = -strength  sum_i w_i  sum_gates 2^-level (log a + log (1 - a)) / 2

    over the rows of a batch; the source smooths a over batches, this does not.

    `weight` (n,).

    `value`: C of the levels asked so far.
    """

    def __init__(self, weight: Any, strength: float) -> None:
        self.weight = weight
        self.strength = strength * float(namespace(weight).sum(weight))
        self.value = 0.0

    def __call__(self, level: int, reach: Any, left: Any) -> tuple[Any, Any]:
        """Return the derivatives of C by a level's `reach` and `left`, both (2^level, M, n)."""
        xp = namespace(reach)
        arriving = reach * self.weight
        total = xp.sum(arriving, axis=2, keepdims=True)
        total = xp.where(total > 0, total, xp.ones_like(total))
        share = xp.sum(arriving * left, axis=2, keepdims=True) / total
        inside = xp.clip(share, _LEAST, 1.0 - _LEAST)
        strength = self.strength * 2.0**-level / 2.0
        self.value -= strength * float(xp.sum(xp.log(inside) + xp.log(1.0 - inside)))
        slope = -strength * (1.0 / inside - 1.0 / (1.0 - inside)) / total
        slope = xp.where(inside == share, slope, xp.zeros_like(slope))
        return slope * self.weight * (left - share), slope * arriving


def column_norms(gate: Any, group: NDArray[np.intp]) -> NDArray[np.float64]:
    """Return the norm of each column's weights over all gates of all trees.

    `gate` (I, M, q); `group` (q,): the column that each input of a gate is made of: levels of a
    category share one.
    """
    squares = on_host(namespace(gate).sum(gate * gate, axis=(0, 1)))
    return np.sqrt(np.bincount(group, squares.astype(np.float64)))


def leaf_spread(leaf: Any, relative: bool, each: Any = None) -> tuple[float, Any]:
    """Return how far leaves are from the mean of their tree, and its derivative by each leaf.

    ``S = sqrt(sum_m each_m^2 sum_l |theta_ml - mean_l theta_ml|^2)``

    `leaf` (M, K, L); `relative`: whether what all K outputs share counts for nothing, as in a
    softmax. `each` (M,): what a tree's leaves are times; None: 1.
    """
    xp = namespace(leaf)
    away = leaf - xp.mean(leaf, axis=2, keepdims=True)
    if relative:
        away = away - xp.mean(away, axis=1, keepdims=True)
    by = xp.ones_like(leaf[:, :1, :1]) if each is None else like(each, leaf)[:, None, None]
    scaled = by * away
    spread = float(xp.sum(scaled * scaled)) ** 0.5
    return spread, by * scaled / (spread or 1.0)


def shrink_columns(gate: Any, group: NDArray[np.intp], by: float) -> None:
    """Take the proximal step of ``by sum_j sqrt(d_j) |w_j|``: columns shrink, some to exactly 0.

    w_j are the weights of column j over all gates and trees (its group), d_j how many inputs it
    is: ``w_j <- w_j max(0, 1 - by sqrt(d_j) / |w_j|)`` (Yuan & Lin 2006).
    """
    norms = column_norms(gate, group)
    limit = by * np.sqrt(np.bincount(group))
    kept = np.where(norms > limit, 1.0 - limit / np.where(norms > 0, norms, 1.0), 0.0)
    gate *= like(kept[group], gate)
