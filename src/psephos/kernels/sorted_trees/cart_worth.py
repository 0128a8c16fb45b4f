"""Improvement of a division of classes for CART, by a criterion given as a number at run time.

Breiman, Friedman, Olshen and Stone, Classification and Regression Trees (1984), sections 4.3 and
11.8.
"""

import numpy as np

from psephos.runtime.jit import jit

__all__ = ["ENTROPY", "GINI", "TWOING", "worth", "worth_inside"]

#: The decrease of the weighted Gini impurity; of the weighted entropy; and
#: ``W p_L p_R / 4 (sum_k |p(k|L) - p(k|R)|)^2``, half the largest decrease of Gini's impurity over
#: all ways to unite the classes into two.
GINI, ENTROPY, TWOING = range(3)


def worth(kind, parent, left, right):
    """Return the improvement by dividing the class weights `parent` (K,) into two sides."""
    total_p = total_l = total_r = squares_p = squares_l = squares_r = result = 0.0
    for k in range(len(parent)):
        squares_p += parent[k] * parent[k]
        squares_l += left[k] * left[k]
        squares_r += right[k] * right[k]
        total_p += parent[k]
        total_l += left[k]
        total_r += right[k]
    if kind == GINI:
        if total_l < 0.0 or total_r < 0.0:  # by rounding
            return -np.inf
        # A side without weight is pure, and must not divide by zero.
        pure_l = squares_l / total_l if total_l > 0.0 else 0.0
        pure_r = squares_r / total_r if total_r > 0.0 else 0.0
        return (pure_l + pure_r) - (squares_p / total_p if total_p > 0.0 else 0.0)
    if kind == TWOING and (total_l <= 0.0 or total_r <= 0.0):
        return 0.0
    for k in range(len(parent)):
        if kind == TWOING:
            result += abs(left[k] / total_l - right[k] / total_r)
        else:
            if parent[k] > 0.0:
                result -= parent[k] * np.log(parent[k] / total_p)
            if left[k] > 0.0:
                result += left[k] * np.log(left[k] / total_l)
            if right[k] > 0.0:
                result += right[k] * np.log(right[k] / total_r)
    if kind == TWOING:
        return total_l * total_r / (total_l + total_r) * result * result / 4.0
    return result


worth_inside = jit(worth)  # for kernels
