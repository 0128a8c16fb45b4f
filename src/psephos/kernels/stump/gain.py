"""What a split of classes is worth to a stump: by Gini's impurity or by error."""

from typing import NamedTuple

import numpy as np

from psephos.runtime.jit import jit


class Worth(NamedTuple):
    """What splits are compared by; a side of less weight than `least` makes one worth -inf.

    `by_error` is None for Gini: it is known while compiling, and the other is left out.
    """

    by_error: bool | None
    n_classes: int
    least: float = 0.0


def gain(crit, parent, left, right):
    """Return the gain of dividing ``parent`` into ``left`` and ``right``, totals per class (K,).

    By Gini it is the decrease of the weighted impurity ``W (1 - sum_k (w_k / W)^2)``. By error it
    is the weight named rightly by the best pair of different labels, less the heaviest class:
    ``max over k != l of (left[k] + right[l]) - max_k parent[k]``. The two sides always get
    different labels, so the rule is never a constant, and its gain can be negative.
    """
    total_p = total_l = total_r = 0.0
    if crit.by_error is None:
        squares_p = squares_l = squares_r = 0.0
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


gain_inside = jit(inner=True, forceinline=True)(gain)  # for kernels
