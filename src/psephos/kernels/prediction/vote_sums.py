"""Sums of weighted votes that never hold the (rows, voters, outputs) block."""

from psephos.runtime.jit import jit


@jit
def sum_sides(holds, weights, left, right, out):
    """Add to out (n, K) the weighted votes: left[t] where holds[i, t], else right[t]."""
    n, voters = holds.shape
    for i in range(n):
        for t in range(voters):
            weight = weights[i, t]
            side = left if holds[i, t] else right
            for k in range(out.shape[1]):
                out[i, k] += weight * side[t, k]
