"""Mean losses of many small models, split by split, from their out-of-fold scores.

`scores` is (B, L, K): B models, L test rows of all splits one after the other (split s holds the
rows from ``ptr[s]`` up to ``ptr[s + 1]``), K outputs. `share` (L,) says how much of its split's
mean each row is: it sums to 1 in every split. Every kernel writes to `out` (B, S).
"""

import numpy as np

from psephos.kernels._jit import jit
from psephos.kernels.tiny_exp import exp

__all__ = ["absolute_losses", "area_losses", "cost_losses", "log_losses", "squared_losses"]

_PRODUCT = 1000  # factors of at most 2 in a product below the greatest number


@jit
def _winner(line):
    """Return the class of the greatest score; of equals, the first."""
    best = 0
    for k in range(1, len(line)):
        if line[k] > line[best]:
            best = k
    return best


@jit
def cost_losses(scores, y, cost, share, ptr, out):
    """Mean of ``cost[truth, answer]``: the share of errors, if it is 1 off the diagonal."""
    for b in range(out.shape[0]):
        for s in range(out.shape[1]):
            total = 0.0
            if scores.shape[2] == 1:
                for row in range(ptr[s], ptr[s + 1]):
                    total += share[row] * cost[y[row], int(scores[b, row, 0] > 0.0)]
            else:
                for row in range(ptr[s], ptr[s + 1]):
                    total += share[row] * cost[y[row], _winner(scores[b, row])]
            out[b, s] = total


@jit
def _odds_loss(scores, y, share, first, last, room):
    """Return the sum of share times log(1 + exp(-z)), z the score towards the truth.

    log(1 + exp(-z)) is max(-z, 0) + log(1 + exp(-|z|)). Rows of one share have one logarithm: that
    of the product of these sums, each at most 2.
    """
    for row in range(first, last):
        room[row - first] = 1.0 + exp(-abs(scores[row, 0]))
    total = 0.0
    row = first
    while row < last:
        held, end = share[row], min(last, row + _PRODUCT)
        product, straight = 1.0, 0.0
        while row < end and share[row] == held:
            straight += max((1.0 - 2.0 * y[row]) * scores[row, 0], 0.0)
            product *= room[row - first]
            row += 1
        total += held * (straight + np.log(product))
    return total


@jit
def log_losses(scores, y, share, ptr, out):
    """Mean of -log p(truth): p = 1 / (1 + exp(-score)) for two classes, else softmax(scores)."""
    room = np.empty(scores.shape[1])
    for b in range(out.shape[0]):
        for s in range(out.shape[1]):
            if scores.shape[2] == 1:
                out[b, s] = _odds_loss(scores[b], y, share, ptr[s], ptr[s + 1], room)
                continue
            total = 0.0
            for row in range(ptr[s], ptr[s + 1]):
                line = scores[b, row]
                top = line[0]
                for k in range(1, len(line)):
                    top = max(top, line[k])
                mass = 0.0
                for k in range(len(line)):
                    mass += exp(line[k] - top)
                total += share[row] * (np.log(mass) + top - line[y[row]])
            out[b, s] = total


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
