"""Split criteria: which one is a number at run time, so that a kernel is compiled once for all.

The worth of a split is the decrease of the weighted impurity. Kernels that move one row at a time
from the right side to the left compute it in pieces: ``rise(crit, before, after)`` is the change of
the terms of a side when one class's total changes, ``side(crit, terms, total)`` the worth of a side
of positive weight `total`, ``most(crit, total)`` that of a split into pure sides (`total` is the
weight; for numbers 0 and 1, that of the ones). The worth of a split is that of both sides less the
parent's. For numbers, including two classes as 0 and 1, ``side_of_sum`` uses the sum of w y in
place of terms.

Breiman, Friedman, Olshen and Stone, Classification and Regression Trees (1984), sections 4.3 and
8.3; Quinlan, Induction of Decision Trees, Machine Learning 1 (1986), section 4.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from psephos.runtime.jit import jit

#: Gini's impurity ``W (1 - sum_k (w_k / W)^2)`` (of numbers 0 and 1 half of it), the entropy
#: ``-sum_k w_k ln(w_k / W)``, and the sum of squares around the mean.
GINI, ENTROPY, SQUARED_ERROR = range(3)


class Criterion(NamedTuple):
    """A criterion, and the least weight of a side, below which the worth of a split is -inf."""

    kind: int
    n_classes: int
    least: float = 0.0


@jit(forceinline=True)
def rise(crit, before, after):
    """Return the change of the terms of a side when the total of one class changes."""
    if crit.kind == GINI:
        return after * after - before * before
    if before == after:
        return 0.0
    old = before * np.log(before) if before > 0.0 else 0.0
    new = after * np.log(after) if after > 0.0 else 0.0
    return new - old


@jit(forceinline=True)
def side(crit, terms, total):
    """Return the worth of a side: its terms are ``w_k^2``, or ``w_k ln w_k`` of the entropy."""
    return terms / total if crit.kind == GINI else terms - total * np.log(total)


@jit(forceinline=True)
def side_of_sum(crit, sums, total):
    """Return the worth of a side of numbers, from its sum of w y."""
    if crit.kind == GINI or crit.kind == SQUARED_ERROR:
        return sums * sums / total
    rest = total - sums
    ones = sums * np.log(sums / total) if sums > 0.0 else 0.0
    return ones + (rest * np.log(rest / total) if rest > 0.0 else 0.0)


@jit
def most(crit, total):
    """Return an upper bound of the worth of a split."""
    if crit.kind == GINI:
        return total
    return 0.0 if crit.kind == ENTROPY else np.inf


def opposite_labels(left: NDArray[np.float64], right: NDArray[np.float64]) -> tuple[int, int]:
    """Return the labels ``(k, l)``, k != l, with the greatest ``left[k] + right[l]``.

    Ties go to the lowest k, then to the lowest l.
    """
    worth = left[:, None] + right[None, :]
    np.fill_diagonal(worth, -np.inf)
    k, l_ = np.unravel_index(int(np.argmax(worth)), worth.shape)
    return int(k), int(l_)
