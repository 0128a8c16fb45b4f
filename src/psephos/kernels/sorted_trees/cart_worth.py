"""Criteria of CART that the others do not share: information by class, and twoing.

Both are asked at every cut: their `rise` is nothing and their `side` infinite, which says that a
cheap figure to leave a cut out is not to be had (see ``kernels.numerics.criteria``).
"""

from typing import NamedTuple

import numpy as np

__all__ = ["GiniShares", "Information", "Twoing"]


def _nothing(crit, before, after):
    return 0.0


def _always(crit, terms, total):
    return np.inf


class Information(NamedTuple):
    """Decrease of the weighted entropy ``-sum_k w_k ln(w_k / W)``.

    Breiman, Friedman, Olshen and Stone, Classification and Regression Trees (1984), section 4.3.
    """

    n_classes: int

    def gain(crit, parent, left, right):  # noqa: D102  # pyright: ignore[reportSelfClsParameterName]
        total_p = total_l = total_r = 0.0
        for k in range(crit.n_classes):
            total_p += parent[k]
            total_l += left[k]
            total_r += right[k]
        fall = 0.0
        for k in range(crit.n_classes):
            if parent[k] > 0.0:
                fall -= parent[k] * np.log(parent[k] / total_p)
            if left[k] > 0.0:
                fall += left[k] * np.log(left[k] / total_l)
            if right[k] > 0.0:
                fall += right[k] * np.log(right[k] / total_r)
        return fall

    rise = _nothing
    side = _always


class Twoing(NamedTuple):
    """``W p_L p_R / 4 (sum_k |p(k|L) - p(k|R)|)^2``: how far apart two groups of classes come.

    Breiman et al. (1984), sections 4.3 and 11.8: half the largest decrease of W times Gini's
    impurity of two classes, over all ways to unite the classes into two.
    """

    n_classes: int

    def gain(crit, parent, left, right):  # noqa: D102  # pyright: ignore[reportSelfClsParameterName]
        total_l = total_r = 0.0
        for k in range(crit.n_classes):
            total_l += left[k]
            total_r += right[k]
        if total_l <= 0.0 or total_r <= 0.0:
            return 0.0
        apart = 0.0
        for k in range(crit.n_classes):
            apart += abs(left[k] / total_l - right[k] / total_r)
        return total_l * total_r / (total_l + total_r) * apart * apart / 4.0

    rise = _nothing
    side = _always


class GiniShares(NamedTuple):
    """Less the Gini impurity of both sides, ``-sum_k (W_L p_k (1 - p_k) + W_R q_k (1 - q_k))``.

    The same criterion in shares, and without the parent's impurity: it rounds as rpart's does,
    which decides between cuts that are worth the same.
    """

    n_classes: int

    def gain(crit, parent, left, right):  # noqa: D102  # pyright: ignore[reportSelfClsParameterName]
        total_l = total_r = 0.0
        for k in range(crit.n_classes):
            total_l += left[k]
            total_r += right[k]
        after = 0.0
        for k in range(crit.n_classes):
            p = left[k] / total_l if total_l > 0.0 else 0.0
            q = right[k] / total_r if total_r > 0.0 else 0.0
            after += total_l * (p * (1.0 - p))
            after += total_r * (q * (1.0 - q))
        return -after

    def rise(crit, before, after):  # noqa: D102  # pyright: ignore[reportSelfClsParameterName]
        return after * after - before * before

    def side(crit, terms, total):  # noqa: D102  # pyright: ignore[reportSelfClsParameterName]
        return terms / total
