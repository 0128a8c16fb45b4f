"""Class probabilities of a vote by shares of its weight, in one pass."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from psephos.kernels._jit import jit
from psephos.kernels.numerics.powers import wide

__all__ = ["shares_of"]


@jit
def _shares(score, k, out):
    """Put shares of k columns into ``out``, both flat; a row is added up in eight sums by turns."""
    wide()
    less, whole = k - 1.0, float(k)
    for i in range(score.shape[0]):
        share = (less * score[i] + 1.0) / whole
        out[i] = 0.0 if share < 0.0 else share  # sums round
    for start in range(0, score.shape[0], k):
        total, eights = 0.0, k - k % 8
        if eights:
            a, b, c, d = out[start], out[start + 1], out[start + 2], out[start + 3]
            e, f, g, h = out[start + 4], out[start + 5], out[start + 6], out[start + 7]
            for j in range(start + 8, start + eights, 8):
                a, b, c, d = a + out[j], b + out[j + 1], c + out[j + 2], d + out[j + 3]
                e, f, g, h = e + out[j + 4], f + out[j + 5], g + out[j + 6], h + out[j + 7]
            total = ((a + b) + (c + d)) + ((e + f) + (g + h))
        for j in range(start + eights, start + k):
            total += out[j]
        for j in range(start, start + k):
            out[j] = 1.0 / whole if total == 0.0 else out[j] / total


def shares_of(score: NDArray[Any]) -> NDArray[np.float64]:
    """Return the share of the weight that votes for each class, (n, K), K > 2; rows sum to 1.

    ``((K - 1) F_k + 1) / K`` of a score F (n, K), which is a mean of codes of classes: 1 in the
    column of the class, -1 / (K - 1) elsewhere. Where no voter votes for a class, 1 / K.
    """
    given = np.ascontiguousarray(score, dtype=np.float64)
    shares = np.empty(given.shape)
    _shares(given.reshape(-1), given.shape[1], shares.reshape(-1))
    return shares
