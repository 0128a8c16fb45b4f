"""Columns cut into bins: a code of one byte in place of a number."""

import numpy as np

from psephos.kernels._jit import jit

__all__ = ["between", "bin_columns", "code_values"]

_PLACES = 256


@jit(_nrt=False)
def between(low, high):
    """Return a number t with ``low <= t < high``: the midpoint where rounding allows it."""
    middle = low / 2.0 + high / 2.0  # their sum may be infinite
    return middle if low <= middle and middle < high else low


@jit(_nrt=False, no_cpython_wrapper=True)
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


@jit(_nrt=False)
def code_values(values, padded, n_bins, out):
    """Write the bin of every value: the number of cuts below it; NaN gets ``n_bins``.

    `padded` (256,): the ``n_bins - 1`` cuts in order, then infinities.
    """
    for i in range(len(values)):
        value = np.float64(values[i])
        at, step = 0, 128
        while step > 0:  # eight steps without a branch that depends on the value
            at += step if padded[at + step - 1] < value else 0
            step >>= 1
        out[i] = n_bins if np.isnan(value) else at


@jit(_nrt=False, no_cpython_wrapper=True)
def _code_column(values, scale, shift, cuts, padded, guide, n_bins, out):
    """Write the bins of a column: where a search begins is looked up, and so it is short.

    Places are numbered from 0 to 255 between the least value and the greatest, by a function that
    does not fall: the cuts of lower places are below a value, those of higher places above it.
    """
    for g in range(_PLACES):
        guide[g] = 0
    for b in range(cuts):
        guide[np.uintp(_place(padded[b], scale, shift))] += 1
    at = width = 0
    for g in range(_PLACES):  # guide[g] cuts are in places before g
        here = guide[g]
        guide[g] = at
        at += here
        width = here if here > width else width
    first = 1
    while first <= width:
        first *= 2
    for i in range(len(values)):
        value = np.float64(values[i])
        at = guide[np.uintp(_place(value, scale, shift))]
        if first > 4:  # else it is two steps
            step = first >> 1
            while step > 2:  # without a branch that depends on the value
                at += step if padded[np.uintp(at + step - 1)] < value else 0
                step >>= 1
        at += 2 if padded[np.uintp(at + 1)] < value else 0
        at += 1 if padded[np.uintp(at)] < value else 0
        out[i] = n_bins if np.isnan(value) else at


@jit(_nrt=False, no_cpython_wrapper=True)
def _place(value, scale, shift):
    place = value * scale - shift
    place = place if place > 0.0 else 0.0  # also where it is no number
    return np.int64(place if place < _PLACES - 1.0 else _PLACES - 1.0)


@jit(_nrt=False)
def bin_columns(values, ranked, mass, max_bins, padded, guide, codes, n_bins, low, high):
    """Bin the columns of a block.

    Parameters
    ----------
    values : (b, n) float64 or float32
    ranked : (b, n), each column sorted, NaN last
    mass : (b, n) float64, weights in the order of `ranked`; (b, 0) if all are 1
    max_bins : int, at most 255
    padded, guide : (512,) float64, (256,) int64, scratch
    codes : (b, n) uint8, result; NaN gets the number of bins
    n_bins : (b,) int64, result
    low, high : (b, max_bins) float64, results: the least and greatest value of each bin
    """
    n = values.shape[1]
    for j in range(values.shape[0]):
        row, known, distinct = ranked[j], n, 0
        while known > 0 and np.isnan(row[known - 1]):
            known -= 1
        for k in range(known):
            if k == 0 or row[k] != row[k - 1]:
                if distinct == max_bins:
                    distinct += 1
                    break
                low[j, distinct] = high[j, distinct] = row[k]
                distinct += 1
        if distinct > max_bins:
            total = np.float64(known)
            if mass.shape[1] > 0:
                total = 0.0
                for k in range(known):
                    total += mass[j, k]
            distinct = _pack(row, mass[j], known, total, max_bins, low[j], high[j])
        n_bins[j] = distinct
        for b in range(len(padded)):
            padded[b] = np.inf
        for b in range(distinct - 1):
            padded[b] = between(high[j, b], low[j, b + 1])
        scale = shift = 0.0  # all in one place
        if n >= 4 * _PLACES and distinct > 1:
            half = high[j, distinct - 1] / 2.0 - low[j, 0] / 2.0  # the difference may be infinite
            if 1e-300 < half < 1e300:
                scale = _PLACES / 2.0 / half
                shift = low[j, 0] * scale
        cuts = distinct - 1 if distinct > 0 else 0
        _code_column(values[j], scale, shift, cuts, padded, guide, distinct, codes[j])
