"""Mean losses of many small models, split by split, from their out-of-fold scores.

`scores` is (B, L, K): B models, L test rows of all splits one after the other (split s holds the
rows from ``ptr[s]`` up to ``ptr[s + 1]``, one at least), K outputs. `share` (L,) says how much of
its split's mean each row is: it sums to 1 in every split. Every function writes to `out` (B, S).
"""

from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

_Floats = NDArray[np.float64]
_Whole = NDArray[np.integer]


def _means(loss: _Floats, share: _Floats, ptr: _Whole, out: _Floats) -> None:
    """Write the mean losses of the splits from those of the rows, (B, L)."""
    np.add.reduceat(loss * share, ptr[:-1], axis=1, out=out)


def cost_losses(
    scores: _Floats, y: _Whole, cost: _Floats, share: _Floats, ptr: _Whole, out: _Floats
) -> None:
    """Mean of ``cost[truth, answer]``: the share of errors, if the cost is 1 off the diagonal.

    The answer is the class of the greatest score, the first if several have it.
    """
    one = scores.shape[2] == 1
    answer = (scores[:, :, 0] > 0.0).astype(np.intp) if one else scores.argmax(axis=2)
    _means(cost[y, answer], share, ptr, out)


def log_losses(scores: _Floats, y: _Whole, share: _Floats, ptr: _Whole, out: _Floats) -> None:
    """Mean of -log p(truth): p = 1 / (1 + exp(-score)) for two classes, else softmax(scores)."""
    if scores.shape[2] == 1:
        loss = np.logaddexp(0.0, (1.0 - 2.0 * y) * scores[:, :, 0])
    else:
        top = scores.max(axis=2, keepdims=True)
        loss = np.log(np.exp(scores - top).sum(axis=2)) + top[:, :, 0]
        loss -= scores[:, np.arange(len(y)), y]
    _means(loss, share, ptr, out)


def squared_losses(scores: _Floats, y: _Floats, share: _Floats, ptr: _Whole, out: _Floats) -> None:
    """Mean of (prediction - truth)^2."""
    _means((scores[:, :, 0] - y) ** 2, share, ptr, out)


def absolute_losses(scores: _Floats, y: _Floats, share: _Floats, ptr: _Whole, out: _Floats) -> None:
    """Mean of |prediction - truth|."""
    _means(np.abs(scores[:, :, 0] - y), share, ptr, out)


def area_losses(scores: _Floats, y: _Whole, share: _Floats, ptr: _Whole, out: _Floats) -> None:
    """One minus the area under the ROC curve: the share of pairs ranked in the wrong order.

    A pair has a row of each class; it counts by the product of their shares, with equal scores as
    half wrong. Both classes must be present in every split.
    """
    for s, (first, last) in enumerate(pairwise(ptr.tolist())):
        part, place = scores[:, first:last, 0], np.arange(last - first)
        order = np.argsort(part, axis=1)
        ranked = np.take_along_axis(part, order, axis=1)
        mass, second = share[first:last][order], y[first:last][order] == 1
        # Cumulative shares of the second class, and where the scores equal to each begin and end.
        below = np.cumsum(np.pad(mass * second, ((0, 0), (1, 0))), axis=1)
        new = np.ones((len(part), len(place) + 1), np.bool_)
        new[:, 1:-1] = ranked[:, 1:] > ranked[:, :-1]
        begin = np.maximum.accumulate(np.where(new[:, :-1], place, 0), axis=1)
        end = np.minimum.accumulate(np.where(new[:, 1:], place, len(place))[:, ::-1], axis=1)
        less = np.take_along_axis(below, begin, axis=1)
        upto = np.take_along_axis(below, end[:, ::-1] + 1, axis=1)
        wrong = (mass * ~second * (0.5 * less + 0.5 * upto)).sum(axis=1)
        out[:, s] = wrong / (below[:, -1] * (mass * ~second).sum(axis=1))
