"""Mean losses of many small models, split by split, from their out-of-fold scores.

`scores` is (B, L, K): B models, L test rows of all splits one after the other (split s holds the
rows from ``ptr[s]`` up to ``ptr[s + 1]``), K outputs. `share` (L,) says how much of its split's
mean each row is: it sums to 1 in every split. Every kernel writes to `out` (B, S).
"""

import math

import numpy as np
from numpy.typing import NDArray

from psephos.kernels.numerics.exponential import exp
from psephos.runtime.jit import jit

_PRODUCT = 1000  # factors of at most 2 in a product below the greatest number


@jit
def cost_losses(scores, y, cost, share, ptr, out):
    """Mean of ``cost[truth, answer]``: the share of errors, if it is 1 off the diagonal.

    The answer is the class of the greatest score; of equals, the first.
    """
    K = scores.shape[2]
    for b in range(out.shape[0]):
        for s in range(out.shape[1]):
            total = 0.0
            for row in range(ptr[s], ptr[s + 1]):
                best = 1 if K == 1 and scores[b, row, 0] > 0.0 else 0
                for k in range(1, K):
                    best = k if scores[b, row, k] > scores[b, row, best] else best
                total += share[row] * cost[y[row], best]
            out[b, s] = total


@jit
def _odds_losses(scores, y, share, ptr, room, out):
    """Mean of log(1 + exp(-z)), z the score towards the truth, from scores (B, L).

    log(1 + exp(-z)) is max(-z, 0) + log(1 + exp(-|z|)). Rows of one share have one logarithm: that
    of the product of these sums, each at most 2. Scratch: room (L,).
    """
    for b in range(out.shape[0]):
        for s in range(out.shape[1]):
            row, last = ptr[s], ptr[s + 1]
            for i in range(row, last):
                room[i] = 1.0 + exp(-abs(scores[b, i]))
            total = 0.0
            while row < last:
                held = share[row]
                end = row + _PRODUCT if row + _PRODUCT < last else last
                product, straight = 1.0, 0.0
                while row < end and share[row] == held:
                    wrong = (1.0 - 2.0 * y[row]) * scores[b, row]
                    straight += wrong if wrong > 0.0 else 0.0
                    product *= room[row]
                    row += 1
                total += held * (straight + math.log(product))
            out[b, s] = total


@jit
def _softmax_losses(scores, y, share, ptr, out):
    """Mean of -log p(truth), p = softmax(scores)."""
    K = scores.shape[2]
    for b in range(out.shape[0]):
        for s in range(out.shape[1]):
            total = 0.0
            for row in range(ptr[s], ptr[s + 1]):
                top = scores[b, row, 0]
                for k in range(1, K):
                    top = scores[b, row, k] if scores[b, row, k] > top else top
                mass = 0.0
                for k in range(K):
                    mass += exp(scores[b, row, k] - top)
                total += share[row] * (math.log(mass) + top - scores[b, row, y[row]])
            out[b, s] = total


def log_losses(
    scores: NDArray[np.float64],
    y: NDArray[np.intp],
    share: NDArray[np.float64],
    ptr: NDArray[np.int64],
    out: NDArray[np.float64],
) -> None:
    """Mean of -log p(truth): p = 1 / (1 + exp(-score)) for two classes, else softmax(scores)."""
    if scores.shape[2] == 1:
        _odds_losses(scores[:, :, 0], y, share, ptr, np.empty(scores.shape[1]), out)
    else:
        _softmax_losses(scores, y, share, ptr, out)


@jit
def squared_losses(scores, y, share, ptr, out):
    """Mean of (prediction - truth)^2."""
    for b in range(out.shape[0]):
        for s in range(out.shape[1]):
            total = 0.0
            for row in range(ptr[s], ptr[s + 1]):
                gap = scores[b, row, 0] - y[row]
                total += share[row] * gap * gap
            out[b, s] = total


@jit
def absolute_losses(scores, y, share, ptr, out):
    """Mean of |prediction - truth|."""
    for b in range(out.shape[0]):
        for s in range(out.shape[1]):
            total = 0.0
            for row in range(ptr[s], ptr[s + 1]):
                total += share[row] * abs(scores[b, row, 0] - y[row])
            out[b, s] = total


@jit
def area_losses(scores, y, share, ptr, out):
    """One minus the area under the ROC curve: pairs of a row of each class in the wrong order.

    Pairs count by the product of their rows' shares, equal scores as half wrong. Both classes
    must be present in every split.
    """
    for b in range(out.shape[0]):
        for s in range(out.shape[1]):
            first, last = ptr[s], ptr[s + 1]
            order = np.argsort(scores[b, first:last, 0])
            above = 0.0  # share of the second class with a smaller score so far
            wrong, second, rest = 0.0, 0.0, 0.0
            start = 0
            while start < len(order):
                value = scores[b, first + order[start], 0]
                here = np.zeros(2)
                end = start
                while end < len(order) and scores[b, first + order[end], 0] == value:
                    row = first + order[end]
                    here[y[row]] += share[row]
                    end += 1
                wrong += here[0] * (above + 0.5 * here[1])
                above += here[1]
                second += here[1]
                rest += here[0]
                start = end
            out[b, s] = wrong / (second * rest)
