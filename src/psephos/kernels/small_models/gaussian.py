"""Tiny Gaussian classifiers, many at once: linear discriminants, naive Bayes.

The functions `solve_*` turn the sums of B candidates on all splits (`moments.sum_rows`) into
models, `densities` gives the scores of the classes on the test rows, and `deliver` the output of a
learner: the log-odds of the second of two classes, or log-posteriors up to a constant per row. A
class without a training row scores `NEVER` below the lowest of the row, so that its probability is
0. Columns are centred and scaled as in `FoldSums`.

Shapes: count and log_prior (C, S), the weight and the logarithm of the share of each class, 0
without a row; scale (p,); subsets (B, d); mean (B, d, C, S); pairs (B, G, m, S), overwritten.
"""

import numpy as np

from psephos.kernels.small_models.moments import NOUGHT, eliminate, read_rows
from psephos.runtime.jit import jit

NEVER = 700.0  # exp(-700) is negligible, but still positive
_COLLINEAR = 1e-10  # of a column's own variance: what the columns before it leave unexplained
_SEPARATED = 1e-10  # of a column's variance: the least variance within classes
_FLAT = 1e-9  # of a column's variance: the least variance within one class
_FAR = 1e150  # greatest ratio of the units of two columns: its square is still finite
_LEAST = float(np.finfo(np.float64).tiny)
_ENDLESS = 1e60  # most variance that smoothing adds: a column has no effect at this one


def _totals(count, mean, pairs, diagonal):
    """Return means (B, d, S) and variances over all classes, 0 if no more than rounding errors."""
    d = mean.shape[1]
    squares = np.arange(d) if diagonal else np.arange(d) * (np.arange(d) + 3) // 2
    total = np.maximum(sum(count), _LEAST)
    centre = sum(count[k] * mean[:, :, k] for k in range(len(count))) / total
    around = sum(pairs[:, g, squares] for g in range(pairs.shape[1]))
    for k in range(len(count)):
        apart = mean[:, :, k] - centre
        around = around + count[k] * apart * apart
    return centre, np.where(around > NOUGHT * total, around / total, 0.0)


# ---------------------------------------------------------------------- linear discriminants
def solve_linear(count, log_prior, subsets, mean, pairs):
    """Return the coef (B, R, d, S) and constant (B, R, S) of linear discriminants; R is 1 or C.

    `pairs` are pooled over the classes and have room for R rows more.
    """
    (n_classes, d), n = (len(count), subsets.shape[1]), np.add.accumulate(count)[-1]
    centre, least = _totals(count, mean, pairs, False)
    table = pairs[:, 0]
    # Differences from the first class to the second of two, or from the overall mean to each class.
    two = n_classes == 2
    low = mean[:, :, 0] if two else centre
    level = log_prior[1:] - log_prior[:1] if two else log_prior
    high = mean[:, :, 1:] if two else mean
    n_rows = high.shape[2]
    for j in range(d):
        own, floor = table[:, j * (j + 3) // 2], _SEPARATED * n * least[:, j]
        own[...] = np.where(floor > 0.0, np.maximum(own, floor), 0.0)
        least[:, j] = _COLLINEAR * own
        for r in range(n_rows):
            table[:, (d + r) * (d + r + 1) // 2 + j] = high[:, j, r] - low[:, j]
    coef = np.empty((len(subsets), n_rows, d, len(n)))
    eliminate(table, least, n, np.empty_like(least), coef)
    constant = np.empty((len(subsets), *level.shape))
    middle = [0.5 * (low[:, j] + high[:, j].swapaxes(0, 1)) for j in range(d)]
    for r in range(n_rows):
        constant[:, r] = level[r]
        for j in range(d):
            constant[:, r] -= coef[:, r, j] * middle[j][r]
    if two:
        first, second = count > 0.0
        alone = ~(first & second)
        coef[..., alone] = 0.0
        constant[..., alone] = (NEVER * second - NEVER * first)[alone]
    return coef, constant


def deliver(count, split, scores, out):
    """Write scores (B, C or 1, L) to out (B, L, K); classes without training rows score lowest."""
    n_classes = scores.shape[1]
    if n_classes > 1 and not (count > 0).all():
        seen = (count > 0)[:, split]
        many = seen.sum(axis=0)
        lowest = np.where(seen, scores, np.inf).min(axis=1)
        lowest[:, many < 2] = 0.0
        known = np.where(many > 1, scores, 0.0)
        scores = np.where(seen, known, np.where(many > 0, lowest - NEVER, 0.0)[:, None])
    if n_classes == 2:
        np.subtract(scores[:, 1], scores[:, 0], out=out[:, :, 0])
    else:
        out[...] = scores.transpose(0, 2, 1)


# ---------------------------------------------------------------------- naive Bayes
def solve_bayes(count, scale, log_prior, subsets, smoothing, mean, pairs):
    """Turn the squares in `pairs` (B, C, d, S) into precisions; return constant (B, C, S).

    A precision of 0 marks a column without variance, or a class without training rows.
    """
    d, (_, total) = subsets.shape[1], _totals(count, mean, pairs, True)
    variances = np.ones(pairs.shape)
    seen, weight = count > 0.0, np.where(count > 0.0, count, 1.0)
    units = scale[subsets]
    for j in range(d):
        ratio = (np.minimum(units[:, j : j + 1], _FAR * units) / units)[:, :, None]
        added = np.minimum((smoothing * ratio * ratio * total).max(axis=1), _ENDLESS)[:, None]
        least = _FLAT * total[:, j][:, None]
        variance = np.maximum(np.where(seen, pairs[:, :, j] / weight + added, 0.0), least)
        variance = np.where(seen & (least > 0.0), variance, np.inf)
        pairs[:, :, j] = 1.0 / variance
        variances[:, :, j] = np.where(variance < np.inf, variance, 1.0)
    constant = np.tile(log_prior, (len(variances), 1, 1))
    for first in range(0, d, 4):  # one logarithm for a product of four
        constant -= 0.5 * np.log(np.multiply.reduce(variances[:, :, first : first + 4], axis=2))
    return constant


@jit
def densities(sums, subsets, mean, precision, constant, out):
    """Write to out (B, C, L) the log-densities of the test rows, plus the log-priors."""
    d, n_classes, n_tests = subsets.shape[1], out.shape[1], out.shape[2]
    rows = np.empty((d, n_tests))
    values = np.empty(len(sums.order))
    for b in range(subsets.shape[0]):
        read_rows(sums, subsets[b], values, rows)
        for k in range(n_classes):
            score, level = out[b, k], constant[b, k]
            for row in range(n_tests):
                score[row] = level[sums.split[row]]
            for j in range(d):
                middle, value, turn = mean[b, j, k], rows[j], precision[b, k, j]
                for row in range(n_tests):
                    s = sums.split[row]
                    left = value[row] - middle[s]
                    score[row] -= 0.5 * left * left * turn[s]
