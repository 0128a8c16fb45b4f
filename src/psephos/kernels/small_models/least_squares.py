"""Tiny least-squares and ridge regressions, many at once.

The targets are columns after the p of the table, so that the sums of `FoldSums` hold their
cross-products too; a candidate's system is solved for all of them. Splits last, as there.
"""

import numpy as np

from psephos.kernels.small_models.moments import NOUGHT, eliminate

_COLLINEAR = 1e-10  # of a column's own sum of squares: what the columns before it leave


def solve_ridge(count, scale, centre, subsets, n_targets, alpha, standardise, mean, pairs):
    """Return coef (B, K, d, S) for scaled columns about their centres, and constant (B, K, S).

    Predictions are in the targets' own units. alpha penalises squared coefficients, of columns
    divided by each training part's deviation if `standardise`; with alpha = 0 it is least
    squares, where a column that those before explain is left out.

    Parameters
    ----------
    count : (1, S) float64
    scale, centre : (p + K,) float64
    subsets : (B, d + K) intp; the last K are the targets
    mean : (B, d + K, 1, S) float64
    pairs : (B, 1, (d + K) * (d + K + 1) / 2, S) float64; overwritten
    """
    table, n, d = pairs[:, 0], count[0], subsets.shape[1] - n_targets
    least = np.empty((len(subsets), d, len(n)))
    for j in range(d):
        own, unit = table[:, j * (j + 3) // 2], scale[subsets[:, j]][:, None]
        added = alpha * own / np.where(n > 0.0, n, 1.0) if standardise else alpha * unit * unit
        own[...] = np.where(own <= NOUGHT * n, 0.0, own + added)
        least[:, j] = _COLLINEAR * own
    coef = np.empty((len(subsets), n_targets, d, len(n)))
    eliminate(table, least, False, np.ones(len(n)), np.empty_like(least), coef)
    size = scale[subsets[:, d:]][:, :, None]
    constant = mean[:, d:, 0] + centre[subsets[:, d:]][:, :, None]
    for j in range(d):
        constant -= coef[:, :, j] * mean[:, j : j + 1, 0]
    return coef / size[:, :, None], constant / size
