"""What soft trees say: the mean of their leaves by the chance of reaching each."""

import numpy as np
from numpy.typing import NDArray

from psephos.runtime.jit import frozen, jit


@jit
def _soft_rows(linear, leaf, reach, votes):
    n_trees, n_gates, n = linear.shape
    n_outputs = leaf.shape[2]
    for t in range(n_trees):
        for i in range(n):
            reach[0] = 1.0
            for g in range(n_gates):
                z = linear[t, g, i]
                odds = np.exp(-abs(z))
                left = (1.0 if z >= 0.0 else odds) / (1.0 + odds)
                reach[2 * g + 1] = reach[g] * left
                reach[2 * g + 2] = reach[g] * (1.0 - left)
            for k in range(n_outputs):
                total = 0.0
                for end in range(n_gates + 1):
                    total += reach[n_gates + end] * leaf[t, end, k]
                votes[i, t, k] = total


def soft_votes(linear: NDArray[np.float64], leaf: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return ``sum_l reach_l theta_l``, shape (n, T, K).

    Gate g sends the share ``1 / (1 + exp(-linear))`` of what arrives to 2 g + 1, the rest to
    2 g + 2; nodes 2^D - 1 ... 2^(D + 1) - 2 are the leaves. A row's votes depend on no other row.

    `linear` (T, 2^D - 1, n); `leaf` (T, 2^D, K).
    """
    votes = np.empty((linear.shape[2], len(leaf), leaf.shape[2]))
    reach = np.empty(2 * leaf.shape[1])
    _soft_rows(linear, frozen(leaf), reach, votes)
    return votes
