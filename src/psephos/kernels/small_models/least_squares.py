"""Tiny least-squares and ridge regressions, many at once.

The targets are columns after the p of the table, so that the sums of `FoldSums` hold their
cross-products too; a candidate's system is solved for all of them. Splits last, as there.
"""

import numpy as np

from psephos.kernels._jit import jit
from psephos.kernels.small_models.moments import NOUGHT, eliminate

__all__ = ["solve_ridge"]

_COLLINEAR = 1e-10  # of a column's own sum of squares: what the columns before it leave


@jit(allocates=True)
def solve_ridge(count, scale, centre, subsets, alpha, standardise, mean, pairs, coef, constant):
    """Write coef (B, K, d, S) for scaled columns about their centres, and constant (B, K, S).

    Predictions are in the targets' own units. alpha penalises squared coefficients, of columns
    divided by each training part's deviation if `standardise`; with alpha = 0 it is least
    squares, where a column that those before explain is left out.

    Parameters
    ----------
    count : (1, S) float64
    scale, centre : (p + K,) float64
    subsets : (B, d + K) intp
        The last K are the targets.
    mean : (B, d + K, 1, S) float64
    pairs : (B, 1, (d + K) * (d + K + 1) / 2, S) float64
        Overwritten.
    """
    n_targets, d, n_splits = coef.shape[1:]
    least, inverse = np.empty((d, n_splits)), np.empty((d, n_splits))
    for b in range(subsets.shape[0]):
        table, columns = pairs[b, 0], subsets[b]
        for j in range(d):
            own, unit = table[j * (j + 1) // 2 + j], scale[columns[j]]
            for s in range(n_splits):
                n = count[0, s]
                if own[s] <= NOUGHT * n:
                    own[s] = 0.0
                elif standardise:
                    own[s] += alpha * own[s] / n
                else:
                    own[s] += alpha * unit * unit
                least[j, s] = _COLLINEAR * own[s]
        eliminate(table, d, d + n_targets, least, False, inverse)
        for t in range(n_targets):
            start = (d + t) * (d + t + 1) // 2
            slopes, level = coef[b, t], constant[b, t]
            for k in range(d - 1, -1, -1):
                slope, right = slopes[k], table[start + k]
                for s in range(n_splits):
                    slope[s] = right[s]
                for j in range(k + 1, d):
                    below, known = table[j * (j + 1) // 2 + k], slopes[j]
                    for s in range(n_splits):
                        slope[s] -= below[s] * known[s]
                for s in range(n_splits):
                    slope[s] *= inverse[k, s]
            middle, size = centre[columns[d + t]], scale[columns[d + t]]
            for s in range(n_splits):
                answer = mean[b, d + t, 0, s] + middle
                for j in range(d):
                    answer -= slopes[j, s] * mean[b, j, 0, s]
                    slopes[j, s] /= size
                level[s] = answer / size
