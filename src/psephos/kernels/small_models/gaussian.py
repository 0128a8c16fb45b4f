"""Tiny Gaussian classifiers, many at once: linear and quadratic discriminants, naive Bayes.

A kernel `solve_*` turns the sums of B candidates on all splits (`moments.load`) into models,
`*_densities` give the scores of the classes on the test rows, and `deliver` what a learner
answers: the log-odds of the second of two classes, or log-posteriors up to a constant of the row.
A class without a training row scores `NEVER` below the lowest of the row, so that its probability
is 0. Columns are in the units of `FoldSums`, about their centres and scaled.
"""

import numpy as np

from psephos.kernels._jit import jit
from psephos.kernels.small_models.moments import NOUGHT, eliminate, read_rows

__all__ = [
    "NEVER",
    "bayes_densities",
    "deliver",
    "quadratic_densities",
    "solve_bayes",
    "solve_linear",
    "solve_quadratic",
]

NEVER = 700.0  # exp(-700) is as good as no chance, and its logarithm is still a number
_COLLINEAR = 1e-10  # of a column's own variance: what the columns before it leave unexplained
_SEPARATED = 1e-10  # of a column's variance: the least variance within classes
_FLAT = 1e-9  # of a column's variance: the least variance within one class
_FAR = 1e150  # between the units of two columns: its square is still a number
_LEAST = float(np.finfo(np.float64).tiny)
_ENDLESS = 1e60  # a variance added by the user beyond which a column says nothing


@jit
def _totals(count, mean, pairs, diagonal, centre, out):
    """Write to out (B, d, S) the variances over all classes, 0 where rounding explains them.

    `pairs` (B, G, m, S) hold the squares within classes; `centre` (B, d, S) receives the overall
    means.
    """
    n_classes, n_splits = count.shape
    for b in range(out.shape[0]):
        for j in range(out.shape[1]):
            place = j if diagonal else j * (j + 1) // 2 + j
            for s in range(n_splits):
                total, middle, around = 0.0, 0.0, 0.0
                for k in range(n_classes):
                    total += count[k, s]
                    middle += count[k, s] * mean[b, j, k, s]
                total = max(total, _LEAST)
                middle /= total
                for g in range(pairs.shape[1]):
                    around += pairs[b, g, place, s]
                for k in range(n_classes):
                    apart = mean[b, j, k, s] - middle
                    around += count[k, s] * apart * apart
                centre[b, j, s] = middle
                out[b, j, s] = around / total if around > NOUGHT * total else 0.0


# ---------------------------------------------------------------------- linear discriminants
@jit
def _shrink(scale, subsets, shrinkage, pairs, room):
    """Replace pooled covariances S by (1 - shrinkage) S + shrinkage (trace S / d) I."""
    d, n_splits = subsets.shape[1], pairs.shape[3]
    for b in range(subsets.shape[0]):
        columns, table = subsets[b], pairs[b, 0]
        for j in range(d):
            for s in range(n_splits):
                room[j, s] = 0.0
            for i in range(d):
                ratio = min(scale[columns[j]], _FAR * scale[columns[i]]) / scale[columns[i]]
                for s in range(n_splits):
                    room[j, s] += ratio * ratio * table[i * (i + 1) // 2 + i, s] / d
        for j in range(d):
            for i in range(j + 1):
                for s in range(n_splits):
                    table[j * (j + 1) // 2 + i, s] *= 1.0 - shrinkage
                    if i == j:
                        table[j * (j + 1) // 2 + i, s] += shrinkage * room[j, s]


def solve_linear(count, scale, log_prior, subsets, shrinkage, mean, pairs, coef, constant):
    """Write the coef (B, R, d, S) and constant (B, R, S) of linear discriminants; R is 1 or C.

    Parameters
    ----------
    count, log_prior : (C, S) float64
        Weight and logarithm of the share of each class, 0 without a row.
    scale : (p,) float64
    subsets : (B, d) intp
    shrinkage : float
    mean : (B, d, C, S) float64
    pairs : (B, 1, (d + R) * (d + R + 1) / 2, S) float64
        Pooled over the classes; overwritten.
    """
    shape = mean.shape[0], mean.shape[1], mean.shape[3]
    least, centre, n = np.empty(shape), np.empty(shape), np.add.accumulate(count)[-1]
    _totals(count, mean, pairs, False, centre, least)
    if shrinkage > 0.0:
        _shrink(scale, subsets, shrinkage, pairs, np.empty(shape[1:]))
    # From its first class to the second of two, or from the mean of all to each class.
    two = coef.shape[1] == 1
    if two:
        low, high = (np.ascontiguousarray(mean[:, :, k : k + 1]) for k in range(2))
        level, low = log_prior[1:] - log_prior[:1], low[:, :, 0]
    else:
        level, low, high = log_prior, centre, mean
    _solve_linear(n, level, low, high, least, np.empty(shape[1:]), pairs, coef, constant)
    if two:
        first, second = count > 0.0
        alone = ~(first & second)
        coef[..., alone] = 0.0
        constant[..., alone] = (NEVER * second - NEVER * first)[alone]


@jit
def _solve_linear(n, level, low, high, least, inverse, pairs, coef, constant):
    """Solve for the way from `low` (B, d, S) to each of `high` (B, d, R, S)."""
    n_candidates, n_rows, d, n_splits = coef.shape
    for b in range(n_candidates):
        table, bound = pairs[b, 0], least[b]
        for j in range(d):
            own = table[j * (j + 1) // 2 + j]
            for s in range(n_splits):
                floor = _SEPARATED * n[s] * bound[j, s]
                own[s] = max(own[s], floor) if floor > 0.0 else 0.0
                bound[j, s] = _COLLINEAR * own[s]
            for r in range(n_rows):
                target = table[(d + r) * (d + r + 1) // 2 + j]
                for s in range(n_splits):
                    target[s] = high[b, j, r, s] - low[b, j, s]
        eliminate(table, d, d + n_rows, bound, False, inverse)
        for r in range(n_rows):
            start, constants = (d + r) * (d + r + 1) // 2, constant[b, r]
            for k in range(d - 1, -1, -1):  # sums stand for means: times the weight of all rows
                target, right = coef[b, r, k], table[start + k]
                for s in range(n_splits):
                    target[s] = right[s] * n[s]
                for j in range(k + 1, d):
                    below = table[j * (j + 1) // 2 + k]
                    for s in range(n_splits):
                        target[s] -= below[s] * coef[b, r, j, s]
                for s in range(n_splits):
                    target[s] *= inverse[k, s]
            for s in range(n_splits):
                constants[s] = level[r, s]
            for j in range(d):
                for s in range(n_splits):
                    middle = low[b, j, s] + high[b, j, r, s]
                    constants[s] -= coef[b, r, j, s] * 0.5 * middle


def deliver(count, split, scores, out):
    """Write to out (B, L, K) scores (B, C or 1, L), those of classes never seen below all."""
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
def solve_bayes(count, scale, log_prior, subsets, smoothing, mean, pairs, constant):
    """Turn the squares in `pairs` (B, C, d, S) to halved precisions; write constant (B, C, S).

    A precision of 0 marks a column without variance, or a class that was never seen.
    """
    total = np.empty((mean.shape[0], mean.shape[1], mean.shape[3]))
    centre = np.empty_like(total)
    _totals(count, mean, pairs, True, centre, total)
    _solve_bayes(count, scale, log_prior, subsets, smoothing, total, centre, pairs, constant)


@jit
def _solve_bayes(count, scale, log_prior, subsets, smoothing, totals, room, pairs, constant):
    n_classes, n_splits = count.shape
    d = subsets.shape[1]
    for b in range(subsets.shape[0]):
        columns, total, centre = subsets[b], totals[b], room[b]
        for j in range(d):
            for s in range(n_splits):
                added = 0.0
                for i in range(d):
                    ratio = min(scale[columns[j]], _FAR * scale[columns[i]]) / scale[columns[i]]
                    added = max(added, smoothing * ratio * ratio * total[i, s])
                centre[j, s] = min(added, _ENDLESS)
        for k in range(n_classes):
            for s in range(n_splits):
                n, product, level = count[k, s], 1.0, log_prior[k, s]
                for j in range(d):
                    variance = pairs[b, k, j, s] / n + centre[j, s] if n > 0.0 else 0.0
                    variance = max(variance, _FLAT * total[j, s])
                    used = n > 0.0 and total[j, s] > 0.0
                    pairs[b, k, j, s] = 0.5 / variance if used else 0.0
                    product *= variance if used else 1.0
                    if j % 4 == 3:  # a logarithm for four: none of them is below 1e-35
                        level -= 0.5 * np.log(product)
                        product = 1.0
                constant[b, k, s] = level - 0.5 * np.log(product)


@jit(allocates=True)
def bayes_densities(sums, subsets, mean, half, constant, out):
    """Write to out (B, C, L) the log-densities, plus priors, of the test rows."""
    d, n_classes, n_tests = subsets.shape[1], out.shape[1], out.shape[2]
    rows, values = np.empty((d, n_tests)), np.empty(len(sums.order))
    for b in range(subsets.shape[0]):
        read_rows(sums, subsets[b], values, rows)
        for k in range(n_classes):
            score, level = out[b, k], constant[b, k]
            for row in range(n_tests):
                score[row] = level[sums.split[row]]
            for j in range(d):
                middle, precision, value = mean[b, j, k], half[b, k, j], rows[j]
                for row in range(n_tests):
                    s = sums.split[row]
                    gap = value[row] - middle[s]
                    score[row] -= gap * gap * precision[s]


# ---------------------------------------------------------------------- quadratic discriminants
def solve_quadratic(count, scale, log_prior, subsets, penalty, mean, pairs, inverse, constant):
    """Factorise the covariances in `pairs` (B, C, m, S); write inverse (B, C, d, S), constant.

    Column k of a factor, times the inverse of pivot k, is that of a unit lower triangle L; the
    covariance is L D L'. An inverse of 0 marks a column without variance, or an unseen class.
    """
    total = np.empty((mean.shape[0], mean.shape[1], mean.shape[3]))
    centre = np.empty_like(total)
    _totals(count, mean, pairs, False, centre, total)
    _solve_quadratic(
        count, scale, log_prior, subsets, penalty, total, centre, pairs, inverse, constant
    )


@jit
def _solve_quadratic(
    count, scale, log_prior, subsets, penalty, totals, room, pairs, inverse, constant
):
    n_classes, n_splits = count.shape
    d = subsets.shape[1]
    for b in range(subsets.shape[0]):
        least, centre = totals[b], room[b]
        for k in range(n_classes):
            table, turn, level = pairs[b, k], inverse[b, k], constant[b, k]
            for j in range(d):
                added = min(penalty * scale[subsets[b, j]] ** 2, _ENDLESS)
                for i in range(j + 1):
                    cell = table[j * (j + 1) // 2 + i]
                    for s in range(n_splits):
                        n = count[k, s]
                        cell[s] = (1.0 - penalty) * cell[s] / n if n > 0.0 else 0.0
                        if i == j:
                            floor = _FLAT * least[j, s]
                            cell[s] = max(cell[s] + added, floor) if floor > 0.0 else 0.0
            if k == 0:
                for j in range(d):
                    for s in range(n_splits):
                        centre[j, s] = _FLAT * least[j, s]
            eliminate(table, d, d, centre, True, turn)
            for s in range(n_splits):
                product, total = 1.0, log_prior[k, s]
                for j in range(d):
                    used = least[j, s] > 0.0 and count[k, s] > 0.0
                    product *= turn[j, s] if used else 1.0
                    if not used:
                        turn[j, s] = 0.0
                    if j % 4 == 3:  # a logarithm for four: none of them is above 1e35
                        total += 0.5 * np.log(product)
                        product = 1.0
                level[s] = total + 0.5 * np.log(product)


@jit(allocates=True)
def quadratic_densities(sums, subsets, mean, factors, inverse, constant, out):
    """Write to out (B, C, L) the log-densities, plus priors, of the test rows."""
    d, n_classes, n_tests = subsets.shape[1], out.shape[1], out.shape[2]
    rows, part = np.empty((d, n_tests)), np.empty((d, n_tests))
    values = np.empty(len(sums.order))
    for b in range(subsets.shape[0]):
        read_rows(sums, subsets[b], values, rows)
        for k in range(n_classes):
            score, level = out[b, k], constant[b, k]
            for row in range(n_tests):
                score[row] = level[sums.split[row]]
            for j in range(d):  # what the columns before leave of column j, about the class mean
                left, middle, value = part[j], mean[b, j, k], rows[j]
                for row in range(n_tests):
                    left[row] = value[row] - middle[sums.split[row]]
                for i in range(j):
                    below, pivot = factors[b, k, j * (j + 1) // 2 + i], inverse[b, k, i]
                    known = part[i]
                    for row in range(n_tests):
                        s = sums.split[row]
                        left[row] -= below[s] * pivot[s] * known[row]
                turn = inverse[b, k, j]
                for row in range(n_tests):
                    score[row] -= 0.5 * left[row] * left[row] * turn[sums.split[row]]
