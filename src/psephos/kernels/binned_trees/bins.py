"""Columns cut into bins: a code of one byte in place of a number."""

import numpy as np

from psephos.runtime.jit import jit


@jit
def between(low, high):
    """Return a number t with ``low <= t < high``: the midpoint where rounding allows it."""
    middle = low / 2.0 + high / 2.0  # their sum may be infinite
    return middle if low <= middle and middle < high else low


@jit
def even_bins(ranked, mass, known, total, max_bins, low, high):
    """Cut sorted values into bins of nearly equal weight; return the number of bins.

    A bin is closed where its weight is nearest to an equal share of the remaining weight. Equal
    values stay together, so a frequent value fills a bin of its own, and the remaining weight is
    shared among the remaining bins. `mass` is empty if every value weighs 1; the least and greatest
    value of each bin are written to `low` and `high`.
    """
    bins, held, rest, k, begun = 0, 0.0, total, 0, False
    while k < known:
        value = ranked[k]
        if not begun:
            low[bins], begun = value, True
        here, end = 0.0, k
        while end < known and ranked[end] == value:
            here += mass[end] if len(mass) > 0 else 1.0
            end += 1
        full = held > 0.0 and held + here / 2.0 > rest / (max_bins - bins)
        if full and bins < max_bins - 1:
            rest -= held
            held, begun = 0.0, False
            bins += 1
            continue
        high[bins] = value
        held += here
        k = end
    return bins + 1


@jit
def code_values(values, padded, n_bins, out):
    """Write the bin of every value: the number of cuts below it; NaN gets ``n_bins``.

    `padded` (256,): the ``n_bins - 1`` cuts in order, then infinities.
    """
    half = 1
    while 2 * half < n_bins:
        half *= 2
    for i in range(len(values)):
        value = np.float64(values[i])
        at, step = 0, half
        while step > 0:  # steps without a branch that depends on the value
            at += step if padded[np.uintp(at + step - 1)] < value else 0
            step >>= 1
        out[i] = n_bins if np.isnan(value) else at


@jit
def bin_columns(values, order, mass, max_bins, ranked, codes, n_bins, low, high):
    """Bin the columns of a block; return whether every value kept a bin of its own.

    Parameters
    ----------
    values : (b, n) float64 or float32
    order : (b, n); the rows by value, NaN last
    mass : (n,) float64; weights of the rows, 0 for rows that are coded but do not affect the bins;
        (0,) if all are 1
    max_bins : int, at most 255
    ranked : (2, n) float64, scratch: values in their order, and their weights
    codes : (b, n) uint8, result; NaN gets the number of bins
    n_bins : (b,) int64, result
    low, high : (b, max_bins) float64, results: the least and greatest value of each bin
    """
    n, lossless = values.shape[1], True
    row, weights = ranked[0], ranked[1][: len(mass)]
    for j in range(values.shape[0]):
        known, last, at = n, np.nan, np.int64(-1)
        while known > 0 and np.isnan(values[j, order[j, known - 1]]):
            known -= 1
        for k in range(known):  # one bin for each value, as long as there are enough bins
            i = np.uintp(order[j, k])
            row[k] = values[j, i]
            if row[k] != last:
                last = row[k]
                at += 1
                if at < max_bins:
                    low[j, np.uintp(at)] = high[j, np.uintp(at)] = last
            codes[j, i] = at
        n_bins[j] = at + 1
        if at >= max_bins:
            lossless, total = False, np.float64(known)
            if len(mass) > 0:
                total = 0.0
                for k in range(known):
                    weights[k] = mass[order[j, k]]
                    total += weights[k]
            n_bins[j] = even_bins(row, weights, known, total, max_bins, low[j], high[j])
            at = 0
            for k in range(known):
                at += row[k] > high[j, np.uintp(at)]
                codes[j, np.uintp(order[j, k])] = at
        for k in range(known, n):
            codes[j, order[j, k]] = n_bins[j]
    return lossless
