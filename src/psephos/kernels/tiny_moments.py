"""Means and cross-products of a candidate's columns on every split: closed-form learners' start.

Everything is laid out with the splits last, so that the small systems of all splits are solved
side by side, one split a vector lane. A column is read as ``z = x * scale - centre`` with a scale
that is a power of two (no rounding, no overflow) and a centre that is its mean over all rows; its
cross-products are summed about the class's mean over all rows, so that a split's correction for
its own means is small and separated classes cost no digits.

Source of the formulas: Chan, Golub & LeVeque (1983), "Algorithms for computing the sample
variance", The American Statistician 37, equations (1.3) and (1.7).
"""

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from psephos.kernels._jit import jit

__all__ = [
    "NOUGHT",
    "FoldSums",
    "describe",
    "eliminate",
    "fill_tables",
    "load",
    "read_rows",
]

_ROUNDING = 1e-12  # of a sum of squares: what is left after the means is nothing but rounding
NOUGHT = 1e-26  # of the squared range of a column: a variance that is rounding of the means
_POWERS = 300  # of two: the most a column of tiny numbers is scaled up
_DIGITS = 64  # of two: the most that what varies about a mean is scaled up
_Floats = NDArray[np.float64]


class FoldSums(NamedTuple):
    """What the candidates of a problem share. G is 1 if the classes are pooled, else C.

    `XT` (p, n) the columns and `order` (n,), their rows class by class; `class_ptr` (C + 1,) where
    each class begins; `weight` (n, S) of the rows, in that order, in each split's training part;
    `mass` (C, S) the sums of those weights; `centre` and `scale` (p,), `class_centre` (p, C);
    `test` and `split` (L,) the row and the split of each test row. `diagonal`: only squares are
    summed. The tables `means` (p, C, S) and `pairs` (G, pairs or p, S) are empty until they are
    filled.
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
    diagonal: bool
    means: _Floats
    pairs: _Floats


@jit
def describe(XT, order, class_ptr, scale, centre, class_centre):
    """Write each column's scale, its mean and class means (p, C) over all rows, so scaled.

    The scale brings the greatest distance from the mean into [0.5, 1), unless a column of tiny
    numbers would need more than 2 ** 300. A class without a row has the mean of all.
    """
    p, n = XT.shape
    for j in range(p):
        most = 0.0
        for i in range(n):
            most = max(most, abs(XT[j, i]))
        unit = math.ldexp(1.0, min(-math.frexp(most)[1], _POWERS) if most > 0.0 else 0)
        middle, apart = 0.0, 0.0
        for i in range(n):
            middle += XT[j, i] * unit
        middle /= n
        for i in range(n):
            apart = max(apart, abs(XT[j, i] * unit - middle))
        more = math.ldexp(1.0, min(-math.frexp(apart)[1], _DIGITS)) if apart > 0.0 else 1.0
        scale[j], centre[j] = unit * more, middle * more
        for k in range(len(class_ptr) - 1):
            total = 0.0
            for i in range(class_ptr[k], class_ptr[k + 1]):
                total += XT[j, order[i]] * scale[j]
            size = class_ptr[k + 1] - class_ptr[k]
            class_centre[j, k] = total / size if size > 0 else centre[j]


@jit
def _column(sums, column, out):
    """Write one column, each class about its own centre, rows class by class."""
    for k in range(len(sums.class_ptr) - 1):
        middle = sums.class_centre[column, k]
        for i in range(sums.class_ptr[k], sums.class_ptr[k + 1]):
            out[i] = sums.XT[column, sums.order[i]] * sums.scale[column] - middle


@jit
def _shift(class_ptr, weight, count, values, out):
    """Write to out (C, S) the means of a column about its class centres; 0 without a row."""
    for k in range(out.shape[0]):
        row = out[k]
        for s in range(row.shape[0]):
            row[s] = 0.0
        for i in range(class_ptr[k], class_ptr[k + 1]):
            value, weights = values[i], weight[i]
            for s in range(row.shape[0]):
                row[s] += value * weights[s]
        for s in range(row.shape[0]):
            if count[k, s] > 0.0:
                row[s] /= count[k, s]


@jit
def _pair(class_ptr, weight, count, first, second, shift, other, same, place, out):
    """Write to out[:, place] (G, S) cross-products of two columns about their training means.

    What is left of a sum of squares (`same`) that its own rounding explains is 0.
    """
    n_tables, n_splits = out.shape[0], out.shape[2]
    n_classes = count.shape[0]
    for g in range(n_tables):
        row = out[g, place]
        low, high = (g, g + 1) if n_tables > 1 else (0, n_classes)
        for s in range(n_splits):
            row[s] = 0.0
        for i in range(class_ptr[low], class_ptr[high]):
            value, weights = first[i] * second[i], weight[i]
            for s in range(n_splits):
                row[s] += value * weights[s]
        for s in range(n_splits):
            surplus = 0.0
            for k in range(low, high):
                surplus += count[k, s] * shift[k, s] * other[k, s]
            left = row[s] - surplus
            row[s] = 0.0 if same and left <= _ROUNDING * row[s] else left


@jit
def fill_tables(sums):
    """Fill `means` and `pairs` with every column and every pair of columns."""
    ptr, weight, count, pairs = sums.class_ptr, sums.weight, sums.mass, sums.pairs
    p, n, place = sums.means.shape[0], len(sums.order), 0
    values = np.empty((p, n))
    for a in range(p):
        _column(sums, a, values[a])
        _shift(ptr, weight, count, values[a], sums.means[a])
    for a in range(p):
        for b in range(a, a + 1 if sums.diagonal else p):
            left, right = sums.means[a], sums.means[b]
            _pair(ptr, weight, count, values[a], values[b], left, right, a == b, place, pairs)
            place += 1
    for a in range(p):
        _centre(sums, a, sums.means[a])


@jit
def _centre(sums, column, mean):
    """Move class means (C, S) from about the class's centre to about the column's."""
    for k in range(mean.shape[0]):
        apart = sums.class_centre[column, k] - sums.centre[column]
        for s in range(mean.shape[1]):
            mean[k, s] += apart


@jit
def _from_tables(sums, columns, mean, pairs):
    """Look a candidate's means (d, C, S) and cross-products (G, m, S) up."""
    p, place = sums.means.shape[0], 0
    for j in range(len(columns)):
        b = columns[j]
        for k in range(mean.shape[1]):
            for s in range(mean.shape[2]):
                mean[j, k, s] = sums.means[b, k, s]
        for i in range(j if sums.diagonal else 0, j + 1):
            a = columns[i]
            entry = b if sums.diagonal else a * (2 * p - a - 1) // 2 + b
            for g in range(pairs.shape[0]):
                source, target = sums.pairs[g, entry], pairs[g, place]
                for s in range(len(target)):
                    target[s] = source[s]
            place += 1


@jit
def load(sums, subsets, mean, pairs):
    """Write candidates' means and cross-products about them, from the tables or the rows.

    Parameters
    ----------
    subsets : (B, d) intp
        Sorted columns.
    mean : (B, d, C, S) float64
        Class means, about the columns' centres.
    pairs : (B, G, at least d * (d + 1) / 2, or d, S) float64
        Row by row of the lower triangle; squares alone if the sums are diagonal. The same
        bytes from the tables and from the rows.
    """
    n_candidates, d = subsets.shape
    ptr, weight, count = sums.class_ptr, sums.weight, sums.mass
    values = np.empty((d, len(sums.order)))
    for b in range(n_candidates):
        columns, middle = subsets[b], mean[b]
        if sums.means.shape[0] > 0:
            _from_tables(sums, columns, middle, pairs[b])
            continue
        place = 0
        for j in range(d):
            _column(sums, columns[j], values[j])
            _shift(ptr, weight, count, values[j], middle[j])
            for i in range(j if sums.diagonal else 0, j + 1):
                left, right = middle[i], middle[j]
                first, second = values[i], values[j]
                _pair(ptr, weight, count, first, second, left, right, i == j, place, pairs[b])
                place += 1
        for j in range(d):
            _centre(sums, columns[j], middle[j])


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

    Parameters
    ----------
    subsets : (B, d or more) intp
        Columns; the first d are read.
    coef : (B, R, d, S) float64
        Of scaled columns, about their centres.
    constant : (B, R, S) float64
    """
    d, n_tests = coef.shape[2], out.shape[2]
    rows, values = np.empty((d, n_tests)), np.empty(len(sums.order))
    for b in range(subsets.shape[0]):
        read_rows(sums, subsets[b], values, rows)
        for r in range(out.shape[1]):
            target, level = out[b, r], constant[b, r]
            for row in range(n_tests):
                target[row] = level[sums.split[row]]
            for j in range(d):
                slope, value = coef[b, r, j], rows[j]
                for row in range(n_tests):
                    target[row] += slope[sums.split[row]] * value[row]


@jit
def eliminate(table, d, n_rows, least, lift, inverse):
    """Factorise symmetric matrices of all splits in place, L D L', rows by columns.

    Parameters
    ----------
    table : (n_rows * (n_rows + 1) / 2, S) float64
        Lower triangles, row by row; the rows after the d-th are right-hand sides. Column k
        becomes that of L times its pivot; a right-hand side r becomes the solution of L u = r.
    least : (d, S) float64
        A pivot that is not above this is left out (its inverse is 0), or raised to it.
    lift : bool
        Raise.
    inverse : (d, S) float64
        Written: the inverses of the pivots, 0 for a column that is left out.
    """
    n_splits = table.shape[1]
    factor = np.empty(n_splits)
    for k in range(d):
        pivot, turn, bound = table[k * (k + 1) // 2 + k], inverse[k], least[k]
        for s in range(n_splits):
            value = max(pivot[s], bound[s]) if lift else pivot[s]
            used = value > 0.0 and (lift or value > bound[s])
            turn[s] = 1.0 / value if used else 0.0
        for j in range(k + 1, n_rows):
            start = j * (j + 1) // 2
            lead = table[start + k]
            for s in range(n_splits):
                factor[s] = lead[s] * turn[s]
            for i in range(k + 1, min(j + 1, d)):
                below, target = table[i * (i + 1) // 2 + k], table[start + i]
                for s in range(n_splits):
                    target[s] -= factor[s] * below[s]
