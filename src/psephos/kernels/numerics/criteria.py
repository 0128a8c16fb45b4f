"""Split criteria: one interface, ``gain(crit, parent, left, right)``, on totals per class.

The type of the named tuple selects the code when a kernel is compiled; its fields carry the
hyper-parameters: `least` is the least weight of a side, below which a split is worth -inf. With
the JIT off the same bodies run as plain Python.

Kernels that move one row at a time from the right side to the left ask for the same worth in
pieces: ``rise(crit, before, after)`` is what the terms of a side gain when one class's total
changes, ``side(crit, terms, total)`` the worth of a side, ``most(crit, total)`` the worth of a
split into pure sides (`total` is the weight; of numbers 0 and 1, that of the ones). The decrease
of the weighted impurity is the worth of both sides less the parent's.
"""

from typing import Any, NamedTuple

import numpy as np
from numba import types
from numba.extending import overload
from numpy.typing import NDArray

__all__ = [
    "BinaryEntropy",
    "Entropy",
    "Gini",
    "Poisson",
    "Variance",
    "WeightedError",
    "gain",
    "most",
    "opposite_labels",
    "rise",
    "side",
]


class Gini(NamedTuple):
    """Decrease of the weighted Gini impurity ``W (1 - sum_k (w_k / W)^2)``.

    Breiman, Friedman, Olshen and Stone, Classification and Regression Trees (1984), section 4.3.
    """

    n_classes: int
    least: float = 0.0

    def gain(crit, parent, left, right):  # noqa: D102  # pyright: ignore[reportSelfClsParameterName]
        squares_p = squares_l = squares_r = 0.0
        total_p = total_l = total_r = 0.0
        for k in range(crit.n_classes):
            squares_p += parent[k] * parent[k]
            squares_l += left[k] * left[k]
            squares_r += right[k] * right[k]
            total_p += parent[k]
            total_l += left[k]
            total_r += right[k]
        # A side without weight is pure: it takes nothing away and must not divide by zero.
        pure_l = squares_l / total_l if total_l > 0.0 else 0.0
        pure_r = squares_r / total_r if total_r > 0.0 else 0.0
        pure_p = squares_p / total_p if total_p > 0.0 else 0.0
        light = total_l < crit.least or total_r < crit.least
        return -np.inf if light else (pure_l + pure_r) - pure_p

    def rise(crit, before, after):  # noqa: D102  # pyright: ignore[reportSelfClsParameterName]
        return after * after - before * before

    def side(crit, terms, total):  # noqa: D102  # pyright: ignore[reportSelfClsParameterName]
        return terms / total

    def most(crit, total):  # noqa: D102  # pyright: ignore[reportSelfClsParameterName]
        return total


class Entropy(NamedTuple):
    """Decrease of the weighted entropy ``-sum_k w_k ln(w_k / W)``, in nats times weight.

    Its terms are ``w_k ln w_k``, of which a side is worth the sum less ``W ln W``. Quinlan,
    Induction of Decision Trees, Machine Learning 1 (1986), section 4.
    """

    n_classes: int
    least: float = 0.0

    def rise(crit, before, after):  # noqa: D102  # pyright: ignore[reportSelfClsParameterName]
        if before == after:
            return 0.0
        old = before * np.log(before) if before > 0.0 else 0.0
        new = after * np.log(after) if after > 0.0 else 0.0
        return new - old

    def side(crit, terms, total):  # noqa: D102  # pyright: ignore[reportSelfClsParameterName]
        return terms - total * np.log(total)

    def most(crit, total):  # noqa: D102  # pyright: ignore[reportSelfClsParameterName]
        return 0.0


class Variance(NamedTuple):
    """Decrease of the weighted sum of squares around the mean; `terms` is the sum of w y.

    Of numbers 0 and 1 (`binary`) it is half the decrease of the Gini impurity. Breiman, Friedman,
    Olshen and Stone (1984), section 8.3.
    """

    binary: bool
    least: float = 0.0

    def side(crit, terms, total):  # noqa: D102  # pyright: ignore[reportSelfClsParameterName]
        return terms * terms / total

    def most(crit, total):  # noqa: D102  # pyright: ignore[reportSelfClsParameterName]
        return total if crit.binary else np.inf


class BinaryEntropy(NamedTuple):
    """`Entropy` of numbers 0 and 1; `terms` is the weight of the second class."""

    least: float = 0.0

    def side(crit, terms, total):  # noqa: D102  # pyright: ignore[reportSelfClsParameterName]
        rest = total - terms
        ones = terms * np.log(terms / total) if terms > 0.0 else 0.0
        return ones + (rest * np.log(rest / total) if rest > 0.0 else 0.0)

    def most(crit, total):  # noqa: D102  # pyright: ignore[reportSelfClsParameterName]
        return 0.0


class Poisson(NamedTuple):
    """Decrease of half the Poisson deviance ``sum w (y ln(y / mean) - y + mean)``.

    `terms` is the sum of w y, which must be positive on both sides: a leaf that answers 0 is
    infinitely wrong about any other number. A side's sum may be the difference of two others, so
    what is not above `nothing` counts as 0.
    """

    least: float = 0.0
    nothing: float = 0.0

    def side(crit, terms, total):  # noqa: D102  # pyright: ignore[reportSelfClsParameterName]
        return terms * np.log(terms / total) if terms > crit.nothing else -np.inf

    def most(crit, total):  # noqa: D102  # pyright: ignore[reportSelfClsParameterName]
        return np.inf


class WeightedError(NamedTuple):
    """Weight named rightly by the best pair of different labels, less the heaviest class.

    ``max over k != l of (left[k] + right[l]) - max_k parent[k]``. The two sides always get
    different labels, so the rule is never a constant, and its gain can be negative.
    """

    n_classes: int
    least: float = 0.0

    def gain(crit, parent, left, right):  # noqa: D102  # pyright: ignore[reportSelfClsParameterName]
        total_l = total_r = 0.0
        first_l = first_r = second_l = second_r = heaviest = -np.inf
        where_l = where_r = -1
        if crit.n_classes == 2:  # the same, without branches that the processor cannot predict
            total_l = left[0] + left[1]
            total_r = right[0] + right[1]
            heaviest = max(parent[0], parent[1])
            first_l = max(left[0] + right[1], left[1] + right[0])
            first_r = 0.0
        else:
            for k in range(crit.n_classes):
                total_l += left[k]
                total_r += right[k]
                heaviest = max(heaviest, parent[k])
                if left[k] > first_l:
                    second_l = first_l
                    first_l = left[k]
                    where_l = k
                elif left[k] > second_l:
                    second_l = left[k]
                if right[k] > first_r:
                    second_r = first_r
                    first_r = right[k]
                    where_r = k
                elif right[k] > second_r:
                    second_r = right[k]
        value = first_l + first_r
        if where_l == where_r and where_l >= 0:
            value = max(second_l + first_r, first_l + second_r)
        light = crit.least > 0.0 and (total_l < crit.least or total_r < crit.least)
        return -np.inf if light else value - heaviest


def gain(crit: Any, parent: NDArray[Any], left: NDArray[Any], right: NDArray[Any]) -> float:
    """Worth of splitting ``parent`` into ``left`` and ``right`` (totals per class, each (K,))."""
    return crit.gain(parent, left, right)


def rise(crit: Any, before: float, after: float) -> float:
    """Return what the terms of a side gain when the total of one class changes."""
    return crit.rise(before, after)


def side(crit: Any, terms: float, total: float) -> float:
    """Return the worth of a side of positive weight `total`, from the sum of its terms."""
    return crit.side(terms, total)


def most(crit: Any, total: float) -> float:
    """Return the worth of a split of weight `total` that no other split exceeds."""
    return crit.most(total)


# Without this a call counts references to three arrays, at five times the cost of the sums.
_INLINE: Any = {"forceinline": True, "error_model": "numpy", "_nrt": False}


@overload(gain, jit_options=_INLINE)
def _gain(crit, parent, left, right):  # numba compares signatures: no annotations here
    if isinstance(crit, types.BaseNamedTuple):
        return crit.instance_class.gain  # type: ignore[attr-defined]
    return None


@overload(rise, jit_options=_INLINE)
def _rise(crit, before, after):
    if isinstance(crit, types.BaseNamedTuple):
        return crit.instance_class.rise  # type: ignore[attr-defined]
    return None


@overload(side, jit_options=_INLINE)
def _side(crit, terms, total):
    if isinstance(crit, types.BaseNamedTuple):
        return crit.instance_class.side  # type: ignore[attr-defined]
    return None


@overload(most, jit_options=_INLINE)
def _most(crit, total):
    if isinstance(crit, types.BaseNamedTuple):
        return crit.instance_class.most  # type: ignore[attr-defined]
    return None


def opposite_labels(left: NDArray[np.float64], right: NDArray[np.float64]) -> tuple[int, int]:
    """Labels ``(k, l)``, k != l, with the greatest ``left[k] + right[l]``.

    Ties go to the lowest k, then to the lowest l.
    """
    worth = left[:, None] + right[None, :]
    np.fill_diagonal(worth, -np.inf)
    k, l_ = np.unravel_index(int(np.argmax(worth)), worth.shape)
    return int(k), int(l_)
