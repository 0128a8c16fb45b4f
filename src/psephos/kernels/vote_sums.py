"""Sums of weighted votes that never hold the (rows, voters, outputs) block."""

import numpy as np

from psephos.kernels._jit import jit

__all__ = ["leaf_of_rows", "sum_sides"]


@jit(_nrt=False)
def sum_sides(holds, weights, left, right, out):
    """Add to out (n, K) the weighted votes: left[t] where holds[i, t], else right[t]."""
    n, voters = holds.shape
    for i in range(n):
        for t in range(voters):
            weight = weights[i, t]
            side = left if holds[i, t] else right
            for k in range(out.shape[1]):
                out[i, k] += weight * side[t, k]


@jit
def leaf_of_rows(X, root, feature, threshold, missing_left, first, second, single, out):
    """Write to out (n, T) the leaf each row of X reaches in each tree of flat arrays.

    A node with ``feature < 0`` is a leaf; ``first`` is the child where ``value <= threshold``.
    `single` compares the value rounded to float32, as trees that were grown on float32 do.
    """
    for i in range(X.shape[0]):
        for t in range(len(root)):
            node = root[t]
            while feature[node] >= 0:
                value = X[i, feature[node]]
                if single:
                    value = np.float64(np.float32(value))
                left = missing_left[node] if np.isnan(value) else value <= threshold[node]
                node = first[node] if left else second[node]
            out[i, t] = node
