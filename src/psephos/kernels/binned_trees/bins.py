"""Columns cut into bins: a code of one byte in place of a number."""

import numpy as np

from psephos.runtime.jit import jit


@jit
def between(low, high):
    """Return a number t with ``low <= t < high``: the midpoint where rounding allows it."""
    middle = low / 2.0 + high / 2.0  # their sum may be infinite
    return middle if low <= middle and middle < high else low


@jit
def _pack(ranked, mass, known, total, max_bins, low, high):
    """Close a bin where its weight is nearest to an equal share of what is left; return the number.

    Equal values stay together, so a frequent value fills a bin of its own and the rest is shared
    anew.
    """
    weighted = len(mass) > 0
    bins, held, rest, k = 0, 0.0, total, 0
    share = rest / max_bins
    while k < known:
        if held == 0.0:
            low[bins] = ranked[k]
            if not weighted:  # values that end within the share close no bin: go past them
                at = k + np.int64(share) - 1
                at = at if at < known else known - 1
                while at > k and ranked[at - 1] == ranked[at]:
                    at -= 1
                if at > k:
                    held, k, high[bins] = np.float64(at - k), at, ranked[at - 1]
        value = ranked[k]
        here, end = 0.0, k
        while end < known and ranked[end] == value:
            here += mass[end] if weighted else 1.0
            end += 1
        full = held > 0.0 and held + here / 2.0 > share
        if full and bins < max_bins - 1:
            rest -= held
            held = 0.0
            bins += 1
            share = rest / (max_bins - bins)
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
    order : (b, n) int64; the rows by value, NaN last
    mass : (n,) float64, weights of the rows; (0,) if all are 1
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
        for k in range(known):  # a bin for each value, while they suffice
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
            n_bins[j] = _pack(row, weights, known, total, max_bins, low[j], high[j])
            at = 0
            for k in range(known):
                at += row[k] > high[j, np.uintp(at)]
                codes[j, np.uintp(order[j, k])] = at
        for k in range(known, n):
            codes[j, order[j, k]] = n_bins[j]
    return lossless


@jit
def count_distinct(values, order, known, out):
    """Write to out (p,) how many distinct values each of the (p, n) sorted columns has."""
    for j in range(len(out)):
        out[j] = 0
        for k in range(known[j]):
            if k == 0 or values[j, order[j, k]] != values[j, order[j, k - 1]]:
                out[j] += 1


@jit
def bin_by_hessian(values, order, known, gh, kept, most, distinct, codes, n_bins, low, high):
    """Bin sorted columns: one bin a value where that is enough, else bins of equal hessian.

    A bin is closed where its sum of hessians is nearest to an equal share of what is left; equal
    values stay together, so a frequent value fills a bin of its own.

    Parameters
    ----------
    values, order, known : see `SortedTable`
    gh : (n, 2) gradients and hessians
    kept : (n,) rows of the tree; others are coded, but weigh nothing
    most : most bins
    distinct : (p,) distinct values of each column
    codes : (p, n) uint8, result; the missing get ``n_bins[j]``
    n_bins : (p,), result
    low, high : (p, BINS), result: the least and greatest value of each bin
    """
    n = values.shape[1]
    for j in range(len(distinct)):
        x, rows, lows, highs = values[j], order[j], low[j], high[j]
        few = distinct[j] <= most
        rest = 0.0
        if not few:
            for k in range(known[j]):
                if kept[rows[k]]:
                    rest += np.float64(gh[rows[k], 1])
        at, held, k = -1, 0.0, 0
        while k < known[j]:
            value, end, here = x[rows[k]], k, 0.0
            while end < known[j] and x[rows[end]] == value:
                if kept[rows[end]]:
                    here += np.float64(gh[rows[end], 1])
                end += 1
            full = at < 0 or few
            if not full and held > 0.0 and at < most - 1:
                full = held + here / 2.0 > rest / (most - at)
            if full:
                if at >= 0:
                    rest -= held
                at += 1
                held = 0.0
                lows[at] = value
            highs[at] = value
            held += here
            for i in range(k, end):
                codes[j, rows[i]] = at
            k = end
        n_bins[j] = at + 1
        for k in range(known[j], n):
            codes[j, rows[k]] = at + 1
