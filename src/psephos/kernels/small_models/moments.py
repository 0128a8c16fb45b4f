"""Closed-form learners of a few columns: moments, ridge regressions, Gaussian classifiers.

Means and cross-products of a candidate's columns on every split are the start of each.

Everything is laid out with the splits last, so that the small systems of all splits are solved
side by side, one split a vector lane. A column is read as ``z = x * scale - centre`` with a scale
that is a power of two (no rounding, no overflow) and a centre that is its mean over all rows; its
cross-products are summed about the class's mean over all rows, so that a split's correction for
its own means is small and separated classes cost no digits.

Source of the formulas: Chan, Golub & LeVeque (1983), "Algorithms for computing the sample
variance", The American Statistician 37, equations (1.3) and (1.7).

Least-squares and ridge regressions are solved here as well (`solve_ridge`). Their targets are
columns after the p columns of the table, so that the sums of `FoldSums` include their
cross-products; a candidate's system is solved for all of them.

The functions `solve_*` turn the sums of B candidates on all splits (`sum_rows`) into
models, `densities` gives the scores of the classes on the test rows, and `deliver` the output of a
learner: the log-odds of the second of two classes, or log-posteriors up to a constant per row. A
class without a training row scores `NEVER` below the lowest of the row, so that its probability is
0. Columns are centred and scaled as in `FoldSums`.

Shapes: count and log_prior (C, S), the weight and the logarithm of the share of each class, 0
without a row; scale (p,); subsets (B, d); mean (B, d, C, S); pairs (B, G, m, S), overwritten.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from psephos.runtime.jit import jit

_ROUNDING = 1e-12  # of a sum of squares: a smaller remainder after the means is rounding
NOUGHT = 1e-26  # of the squared range of a column: a smaller variance is rounding of the means
_POWERS = 300  # of two: the most a column of tiny numbers is scaled up
_NUMBERS = 2**18  # most values, of all rows of some columns, that are processed together
_DIGITS = 64  # of two: the most that deviations from a mean are scaled up
_Floats = NDArray[np.float64]


class FoldSums(NamedTuple):
    """The data shared by the candidates of a problem; G is 1 if the classes are pooled, else C.

    `XT` (p, n) the columns and `order` (n,), their rows class by class; `class_ptr` (C + 1,) where
    each class begins; `weight` (n, S) of the rows, in that order, in each split's training part;
    `mass` (C, S) the sums of those weights; `centre` and `scale` (p,), `class_centre` (p, C);
    `test` and `split` (L,) the row and the split of each test row. Without `pooled` only squares
    are summed.
    """

    XT: _Floats
    order: NDArray[np.intp]
    class_ptr: NDArray[np.intp]
    weight: _Floats
    mass: _Floats
    centre: _Floats
    scale: _Floats
    class_centre: _Floats
    test: NDArray[np.uintp]
    split: NDArray[np.uintp]
    pooled: bool


def describe(XT, order, class_ptr):
    """Return each column's scale, and its scaled mean (p,) and class means (p, C) over all rows.

    The scale brings the greatest distance from the mean into [0.5, 1), unless a column of tiny
    numbers would need more than 2 ** 300. A class without a row has the mean of all.
    """
    (p, n), n_classes = XT.shape, len(class_ptr) - 1
    scale, centre, class_centre = np.empty(p), np.empty(p), np.empty((p, n_classes))
    step = max(1, _NUMBERS // max(n, 1))
    for first in range(0, p, step):
        here = slice(first, first + step)
        table = XT[here]
        most = np.abs(table).max(axis=1)
        unit = np.ldexp(1.0, np.where(most > 0, np.minimum(-np.frexp(most)[1], _POWERS), 0))
        scaled = table * unit[:, None]
        middle = _sum(scaled) / n
        apart = np.abs(scaled - middle[:, None]).max(axis=1)
        more = np.ldexp(1.0, np.where(apart > 0, np.minimum(-np.frexp(apart)[1], _DIGITS), 0))
        scale[here], centre[here] = unit * more, middle * more
        scaled = table[:, order] * scale[here, None]
        for k in range(n_classes):
            low, high = class_ptr[k], class_ptr[k + 1]
            mean = _sum(scaled[:, low:high]) / (high - low) if high > low else centre[here]
            class_centre[here, k] = mean
    return scale, centre, class_centre


def _sum(table):
    """Return the sum of each row, added in order, so that it does not depend on other rows."""
    return np.cumsum(table, axis=1)[:, -1]


@jit
def sum_rows(sums, subsets, values, mean, pairs):
    """Write candidates' means and cross-products about them.

    A sum of squares no greater than its rounding error is set to 0.

    Parameters
    ----------
    subsets : (B, d) intp; sorted columns
    values : (d, n) scratch
    mean : (B, d, C, S) float64; class means, about the columns' centres
    pairs : (B, G, at least d * (d + 1) / 2, or d, S) float64; the lower triangle row by row; only
        squares if the classes are not pooled
    """
    XT, order, class_ptr, weight, count = (
        sums.XT, sums.order, sums.class_ptr, sums.weight, sums.mass,
    )  # fmt: skip
    centre, scale, class_centre = sums.centre, sums.scale, sums.class_centre
    n_classes, n_splits = count.shape
    n_tables = pairs.shape[1]
    for b in range(subsets.shape[0]):
        place = 0
        for j in range(subsets.shape[1]):
            column, second = subsets[b, j], values[j]
            # Each class about its own centre, rows class by class, and the classes' means.
            for k in range(n_classes):
                total, n = mean[b, j, k], count[k]
                for s in range(n_splits):
                    total[s] = 0.0
                for i in range(class_ptr[k], class_ptr[k + 1]):
                    value = XT[column, order[i]] * scale[column] - class_centre[column, k]
                    weights, second[i] = weight[i], value
                    for s in range(n_splits):
                        total[s] += value * weights[s]
                for s in range(n_splits):
                    if n[s] > 0.0:
                        total[s] /= n[s]
            for i in range(0 if sums.pooled else j, j + 1):
                first = values[i]
                for g in range(n_tables):
                    row = pairs[b, g, place]
                    low, high = (g, g + 1) if n_tables > 1 else (0, n_classes)
                    for s in range(n_splits):
                        row[s] = 0.0
                    for at in range(class_ptr[low], class_ptr[high]):
                        value, weights = first[at] * second[at], weight[at]
                        for s in range(n_splits):
                            row[s] += value * weights[s]
                    for s in range(n_splits):
                        surplus = 0.0
                        for k in range(low, high):
                            surplus += count[k, s] * mean[b, i, k, s] * mean[b, j, k, s]
                        rest = row[s] - surplus
                        row[s] = 0.0 if i == j and rest <= _ROUNDING * row[s] else rest
                place += 1
        for j in range(subsets.shape[1]):  # means from about the class's centre to the column's
            column = subsets[b, j]
            for k in range(n_classes):
                apart, total = class_centre[column, k] - centre[column], mean[b, j, k]
                for s in range(n_splits):
                    total[s] += apart


@jit
def read_rows(sums, columns, values, out):
    """Write to out (d, L) the values of the test rows, about the columns' centres."""
    for j in range(out.shape[0]):
        source, scale, centre = sums.XT[columns[j]], sums.scale[columns[j]], sums.centre[columns[j]]
        for i in range(len(source)):
            values[i] = source[i] * scale - centre
        target = out[j]
        for row in range(len(sums.test)):
            target[row] = values[sums.test[row]]


@jit
def add_linear(sums, subsets, coef, constant, out):
    """Write to out (B, R, L) the linear scores of the test rows.

    `subsets` (B, d) intp; `coef` (B, R, d, S) float64: of scaled columns, about their centres.
    `constant` (B, R, S) float64.
    """
    d, n_tests, split = coef.shape[2], out.shape[2], sums.split
    rows, values = np.empty((d, n_tests)), np.empty(len(sums.order))
    for b in range(subsets.shape[0]):
        read_rows(sums, subsets[b], values, rows)
        for r in range(out.shape[1]):
            target, level = out[b, r], constant[b, r]
            for row in range(n_tests):
                target[row] = level[split[row]]
            for j in range(d):
                slope, value = coef[b, r, j], rows[j]
                for row in range(n_tests):
                    target[row] += slope[split[row]] * value[row]


@jit
def eliminate(table, least, factor, inverse, solution):
    """Factorise symmetric matrices of all splits in place, L D L', and solve for right-hand sides.

    Parameters
    ----------
    table : (N, (d + R) * (d + R + 1) / 2, S) float64; lower triangles, row by row; the rows after
        the d-th are R right-hand sides. Column k becomes that of L times its pivot.
    least : (N, d, S) float64; a pivot that is not above this is left out (its inverse is 0)
    factor : (S,) float64; what right-hand sides are multiplied by
    inverse : (N, d, S) float64; written: the inverses of the pivots, 0 for a column that is left
        out
    solution : (N, R, d, S) float64; written
    """
    (n_rows, d), n_splits = solution.shape[1:3], table.shape[2]
    for b in range(table.shape[0]):
        cells, turns = table[b], inverse[b]
        for k in range(d):
            pivot, turn, bound = cells[k * (k + 3) // 2], turns[k], least[b, k]
            for s in range(n_splits):
                used = pivot[s] > 0.0 and pivot[s] > bound[s]
                turn[s] = 1.0 / pivot[s] if used else 0.0
            for j in range(k + 1, d + n_rows):
                start = j * (j + 1) // 2
                lead = cells[start + k]
                for i in range(k + 1, min(j + 1, d)):
                    below, target = cells[i * (i + 1) // 2 + k], cells[start + i]
                    for s in range(n_splits):
                        target[s] -= lead[s] * turn[s] * below[s]
        for r in range(n_rows):
            start, found = (d + r) * (d + r + 1) // 2, solution[b, r]
            for k in range(d - 1, -1, -1):
                target, right = found[k], cells[start + k]
                for s in range(n_splits):
                    target[s] = right[s] * factor[s]
                for j in range(k + 1, d):
                    below, known = cells[j * (j + 1) // 2 + k], found[j]
                    for s in range(n_splits):
                        target[s] -= below[s] * known[s]
                for s in range(n_splits):
                    target[s] *= turns[k, s]


_COLLINEAR = 1e-10  # of a column's own sum of squares: what the columns before it leave


def solve_ridge(count, scale, centre, subsets, n_targets, alpha, standardise, mean, pairs):
    """Return coef (B, K, d, S) for scaled columns about their centres, and constant (B, K, S).

    Predictions are in the units of the targets. alpha penalises squared coefficients, with columns
    divided by the standard deviation of each training part if `standardise`. alpha = 0 is least
    squares, without the columns that depend linearly on those before.

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
    eliminate(table, least, np.ones(len(n)), np.empty_like(least), coef)
    size = scale[subsets[:, d:]][:, :, None]
    constant = mean[:, d:, 0] + centre[subsets[:, d:]][:, :, None]
    for j in range(d):
        constant -= coef[:, :, j] * mean[:, j : j + 1, 0]
    return coef / size[:, :, None], constant / size


NEVER = 700.0  # exp(-700) is negligible, but still positive
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
