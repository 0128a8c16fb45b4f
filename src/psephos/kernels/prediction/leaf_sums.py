"""Sums of weighted leaves that never hold the (rows, voters, outputs) block."""

import numpy as np

from psephos.runtime.jit import jit


@jit
def sum_leaves(leaf, weights, value, out):
    """Add to out (n, K) the sum over t of ``weights[i, t] * value[leaf[i, t]]``."""
    voters, outputs = leaf.shape[1], out.shape[1]
    for i in range(leaf.shape[0]):
        if outputs == 1:
            total = 0.0
            for t in range(voters):
                total += weights[i, t] * value[leaf[i, t], 0]
            out[i, 0] += total
        else:
            for t in range(voters):
                weight, row = weights[i, t], np.uintp(leaf[i, t])
                for k in range(outputs):
                    out[i, k] += weight * value[row, k]
