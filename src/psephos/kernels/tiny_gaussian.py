"""Tiny Gaussian classifiers, many at once: linear and quadratic discriminants, naive Bayes.

A kernel `solve_*` turns the sums of B candidates on all splits (`tiny_moments.load`) into models,
`*_densities` give the scores of the classes on the test rows, and `deliver` what a learner
answers: the log-odds of the second of two classes, or log-posteriors up to a constant of the row.
A class without a training row scores `NEVER` below the lowest of the row, so that its probability
is 0. Columns are in the units of `FoldSums`, about their centres and scaled.
"""

import numpy as np

from psephos.kernels._jit import jit
from psephos.kernels.tiny_moments import NOUGHT, eliminate, read_rows

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
_ENDLESS = 1e60  # a variance added by the user beyond which a column says nothing


@jit
def _total(count, mean, pairs, diagonal, centre, out):
    """Write to out (d, S) the variances over all classes, 0 where rounding explains them.

    `pairs` (G, m, S) hold the squares within classes; `centre` (d, S) receives the overall means.
    """
    n_classes, n_splits = count.shape
    for j in range(out.shape[0]):
        place = j if diagonal else j * (j + 1) // 2 + j
        for s in range(n_splits):
            total, middle, around = 0.0, 0.0, 0.0
            for k in range(n_classes):
                total += count[k, s]
                middle += count[k, s] * mean[j, k, s]
            total = max(total, np.finfo(np.float64).tiny)
            middle /= total
            for g in range(pairs.shape[0]):
                around += pairs[g, place, s]
            for k in range(n_classes):
                apart = mean[j, k, s] - middle
                around += count[k, s] * apart * apart
            centre[j, s] = middle
            out[j, s] = around / total if around > NOUGHT * total else 0.0


# ---------------------------------------------------------------------- linear discriminants
@jit
def _shrink(scale, columns, shrinkage, table):
    """Replace the pooled covariance S by (1 - shrinkage) S + shrinkage (trace S / d) I."""
    d, n_splits = len(columns), table.shape[1]
    mean_variance = np.empty((d, n_splits))
    for j in range(d):
        for s in range(n_splits):
            mean_variance[j, s] = 0.0
        for i in range(d):
            ratio = min(scale[columns[j]], _FAR * scale[columns[i]]) / scale[columns[i]]
            for s in range(n_splits):
                mean_variance[j, s] += ratio * ratio * table[i * (i + 1) // 2 + i, s] / d
    for j in range(d):
        for i in range(j + 1):
            for s in range(n_splits):
                table[j * (j + 1) // 2 + i, s] *= 1.0 - shrinkage
                if i == j:
                    table[j * (j + 1) // 2 + i, s] += shrinkage * mean_variance[j, s]


@jit
def _back(table, d, inverse, r, n, coef):
    """Write to coef (d, S) the solution for the r-th right-hand side of an eliminated table.

    Sums stand for means: it is multiplied by the weight n (S) of all rows.
    """
    start = (d + r) * (d + r + 1) // 2
    for k in range(d - 1, -1, -1):
        target, right = coef[k], table[start + k]
        for s in range(len(target)):
            target[s] = right[s] * n[s]
        for j in range(k + 1, d):
            below, known = table[j * (j + 1) // 2 + k], coef[j]
            for s in range(len(target)):
                target[s] -= below[s] * known[s]
        for s in range(len(target)):
            target[s] *= inverse[k, s]


@jit
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
    n_classes, n_splits = count.shape
    n_rows, d = coef.shape[1], subsets.shape[1]
    two = n_rows == 1
    least, centre = np.empty((d, n_splits)), np.empty((d, n_splits))
    inverse = np.empty((d, n_splits))
    n = np.zeros(n_splits)
    for k in range(n_classes):
        for s in range(n_splits):
            n[s] += count[k, s]
    for b in range(subsets.shape[0]):
        table, middle = pairs[b, 0], mean[b]
        _total(count, middle, pairs[b], False, centre, least)
        if shrinkage > 0.0:
            _shrink(scale, subsets[b], shrinkage, table)
        for j in range(d):
            own = table[j * (j + 1) // 2 + j]
            for s in range(n_splits):
                floor = _SEPARATED * n[s] * least[j, s]
                own[s] = max(own[s], floor) if floor > 0.0 else 0.0
                least[j, s] = _COLLINEAR * own[s]
        for r in range(n_rows):
            start = (d + r) * (d + r + 1) // 2
            for j in range(d):
                low = middle[j, 0] if two else centre[j]
                high, target = middle[j, 1 if two else r], table[start + j]
                for s in range(n_splits):
                    target[s] = high[s] - low[s]
        eliminate(table, d, d + n_rows, least, False, inverse)
        for r in range(n_rows):
            _back(table, d, inverse, r, n, coef[b, r])
            for s in range(n_splits):
                score = log_prior[1, s] - log_prior[0, s] if two else log_prior[r, s]
                for j in range(d):
                    low = middle[j, 0, s] if two else centre[j, s]
                    score -= coef[b, r, j, s] * 0.5 * (low + middle[j, 1 if two else r, s])
                constant[b, r, s] = score
        for s in range(n_splits):
            first, second = count[0, s] > 0.0, count[n_classes - 1, s] > 0.0
            if two and not (first and second):
                for j in range(d):
                    coef[b, 0, j, s] = 0.0
                constant[b, 0, s] = NEVER * second - NEVER * first


@jit
def deliver(count, split, scores, out):
    """Write to out (B, L, K) scores (B, C or 1, L), those of classes never seen below all."""
    n_classes = scores.shape[1]
    for b in range(out.shape[0]):
        for row in range(out.shape[1]):
            s, lowest, seen = split[row], np.inf, 0
            if n_classes > 1:
                for k in range(n_classes):
                    if count[k, s] > 0.0:
                        lowest, seen = min(lowest, scores[b, k, row]), seen + 1
                if seen < n_classes:
                    base = lowest if seen > 1 else 0.0
                    for k in range(n_classes):
                        if count[k, s] <= 0.0:
                            scores[b, k, row] = base - NEVER if seen > 0 else 0.0
                        elif seen == 1:
                            scores[b, k, row] = 0.0
            if n_classes == 2:
                out[b, row, 0] = scores[b, 1, row] - scores[b, 0, row]
            else:
                for k in range(n_classes):
                    out[b, row, k] = scores[b, k, row]


# ---------------------------------------------------------------------- naive Bayes
@jit
def solve_bayes(count, scale, log_prior, subsets, smoothing, mean, pairs, constant):
    """Turn the squares in `pairs` (B, C, d, S) to halved precisions; write constant (B, C, S).

    A precision of 0 marks a column without variance, or a class that was never seen.
    """
    n_classes, n_splits = count.shape
    d = subsets.shape[1]
    total, centre = np.empty((d, n_splits)), np.empty((d, n_splits))
    for b in range(subsets.shape[0]):
        columns = subsets[b]
        _total(count, mean[b], pairs[b], True, centre, total)
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


@jit
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
@jit
def solve_quadratic(count, scale, log_prior, subsets, penalty, mean, pairs, inverse, constant):
    """Factorise the covariances in `pairs` (B, C, m, S); write inverse (B, C, d, S), constant.

    Column k of a factor, times the inverse of pivot k, is that of a unit lower triangle L; the
    covariance is L D L'. An inverse of 0 marks a column without variance, or an unseen class.
    """
    n_classes, n_splits = count.shape
    d = subsets.shape[1]
    least, centre = np.empty((d, n_splits)), np.empty((d, n_splits))
    for b in range(subsets.shape[0]):
        _total(count, mean[b], pairs[b], False, centre, least)
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


@jit
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
