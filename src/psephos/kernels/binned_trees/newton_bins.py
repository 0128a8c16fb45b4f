"""Bins of equal hessian, made anew for each tree from columns sorted once."""

import numpy as np

from psephos.runtime.jit import jit


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
