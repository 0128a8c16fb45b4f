"""The sums behind mixtures of normal densities: functions from arrays to arrays.

All take `share` (b, T), whose rows sum to 1, and `spread` (T,), the standard deviations; `off`
(b, T) are places minus means. A row's sums run over its own T terms in one order, whatever the
other rows.
"""

from collections.abc import Iterator
from typing import Any

import numpy as np
import scipy.special
from numpy.typing import NDArray

_special: Any = scipy.special  # its types say less than they promise
_Floats = NDArray[np.float64]
_BLOCK = 1 << 17  # entries of a table of (case, component) held at once
_PAIRED = 128  # components whose distances to the others are held at once
_TOGETHER = 64  # cases in one matrix product, always: its shape must not depend on the cases
_ENOUGH = 1e-12  # of the smaller tail: where a quantile is found
_ROOT_2, _ROOT_2PI = np.sqrt(2.0), np.sqrt(2.0 * np.pi)


def parts(n: int, t: int, held: int | None = None) -> Iterator[slice]:
    """Yield slices of n rows of t entries, each of about `held` entries (default: 1 MiB)."""
    size = max(1, (held or _BLOCK) // t)
    for first in range(0, n, size):
        yield slice(first, min(first + size, n))


def moments(share: _Floats, mean: _Floats, spread: _Floats) -> tuple[_Floats, _Floats]:
    """Return the mean and the variance of each row's mixture, both (b,)."""
    middle = (share * mean).sum(axis=1)
    off = mean - middle[:, None]
    return middle, (share * (spread**2 + off * off)).sum(axis=1)


def chance_below(share: _Floats, off: _Floats, spread: _Floats) -> _Floats:
    """Return the CDF, ``sum_t share_t Phi(off_t / spread_t)``."""
    with np.errstate(over="ignore"):
        chance = _special.ndtr(off / spread)
    return np.minimum((share * chance).sum(axis=1), 1.0)


def chance_above(share: _Floats, off: _Floats, spread: _Floats) -> _Floats:
    """Return 1 - CDF, to its own relative precision."""
    return chance_below(share, -off, spread)


def log_density(share: _Floats, off: _Floats, spread: _Floats) -> _Floats:
    """Return the log of ``sum_t share_t phi(off_t / spread_t) / spread_t``."""
    with np.errstate(divide="ignore", over="ignore"):
        z = off / spread
        terms = np.log(share) - np.log(spread) - 0.5 * z * z
    greatest = terms.max(axis=1)
    greatest[np.isinf(greatest)] = 0.0  # nothing there: log 0 below
    with np.errstate(divide="ignore"):
        total = np.log(np.exp(terms - greatest[:, None]).sum(axis=1))
    return total + greatest - np.log(_ROOT_2PI)


# ---------------------------------------------------------------------- quantiles
def tail_places(
    share: _Floats, mean: _Floats, spread: _Floats, tail: _Floats, sign: _Floats
) -> _Floats:
    """Return where tails of each row's mixture begin, (n, k).

    `tail` (k,) are chances in (0, 1/2], of a value below where `sign` (k,) is 1, above where it is
    -1. By Newton steps on the probit scale, safeguarded; see `NormalMixture.quantile`.
    """
    shape = (len(share), len(tail))
    case = np.repeat(np.arange(shape[0]), shape[1])
    tail, sign = np.tile(tail, shape[0]), np.tile(sign, shape[0])
    out = np.empty(len(case))
    for part in parts(len(case), len(mean)):
        out[part] = _roots(share[case[part]], mean, spread, tail[part], sign[part])
    return out.reshape(shape)


def _roots(share: _Floats, mean: _Floats, spread: _Floats, tail: _Floats, sign: _Floats) -> _Floats:
    """Return ``sign x`` with x where the CDF of ``sign y`` is `tail`, for each row."""
    means, score = sign[:, None] * mean, _special.ndtri(tail)
    ends = means + score[:, None] * spread
    low = np.where(share > 0, ends, np.inf).min(axis=1)
    high = np.where(share > 0, ends, -np.inf).max(axis=1)
    middle, variance = moments(share, mean, spread)
    x = np.clip(sign * middle + score * np.sqrt(variance), low, high)
    last = high - low
    live = np.flatnonzero(last > 0)
    while len(live):
        here, goal = x[live], tail[live]
        below, density = _cdf_and_density(share[live], here[:, None] - means[live], spread)
        under = below < goal
        low[live] = np.where(under, here, low[live])
        high[live] = np.where(under, high[live], here)
        lo, hi = low[live], high[live]
        middle = lo + (hi - lo) / 2.0
        step = _probit_step(below, density, score[live])
        length = np.abs(step)
        # a step too short to be seen goes just far enough to close the bracket behind it
        onward = here + np.copysign(np.maximum(length, 2.0 * np.spacing(np.abs(here))), step)
        fine = (length <= last[live] / 2.0) & (onward > lo) & (onward < hi)
        found = np.abs(below - goal) <= _ENOUGH * goal
        closed = ~found & ((middle <= lo) | (middle >= hi))  # no float64 lies between
        last[live] = np.where(fine, length, (hi - lo) / 2.0)
        x[live] = np.where(found, here, np.where(closed, hi, np.where(fine, onward, middle)))
        live = live[~(found | closed)]
    return sign * x


def _cdf_and_density(share: _Floats, off: _Floats, spread: _Floats) -> tuple[_Floats, _Floats]:
    with np.errstate(over="ignore", invalid="ignore"):
        z = off / spread
        bell = np.exp(-0.5 * z * z) / (spread * _ROOT_2PI)
        density = (share * bell).sum(axis=1)
    return np.minimum((share * _special.ndtr(z)).sum(axis=1), 1.0), density


def _probit_step(below: _Floats, density: _Floats, score: _Floats) -> _Floats:
    """Return Newton's step to ``Phi^-1(F) = score``; infinite or NaN where F is 0, 1 or flat."""
    with np.errstate(over="ignore", invalid="ignore", divide="ignore"):
        z = _special.ndtri(below)
        return (score - z) * np.exp(-0.5 * z * z) / (density * _ROOT_2PI)


# ---------------------------------------------------------------------- distances
def distance_to(share: _Floats, off: _Floats, spread: _Floats) -> _Floats:
    """Return the mean distance of a draw from a place, ``sum_t share_t A(off_t, spread_t)``."""
    return (share * _distance(off, spread)).sum(axis=1)


def distance_of_draws(share: _Floats, mean: _Floats, spread: _Floats) -> _Floats:
    """Return the mean distance of two draws, (n,): a quadratic form in the shares.

    ``sum_st share_s share_t A(mean_s - mean_t, (spread_s^2 + spread_t^2)^(1/2))``. Cases are
    multiplied in blocks of one size, the last one filled up with zeros, because BLAS may add in
    another order for another shape.
    """
    n, t = share.shape
    total = np.zeros(n)
    for first in range(0, t, _PAIRED):
        own = slice(first, min(first + _PAIRED, t))
        table = _distance(
            mean[first:, None] - mean[own], np.hypot(spread[first:, None], spread[own])
        )
        table[own.stop - first :] *= 2.0  # pairs with later components, in both orders
        for rows in parts(n, 1, _TOGETHER):
            size = rows.stop - rows.start
            block = np.zeros((_TOGETHER, t - first))
            block[:size] = share[rows, first:]
            terms = (block @ table) * block[:, : own.stop - first]
            total[rows] += terms.sum(axis=1)[:size]
    return total


def _distance(m: _Floats, s: _Floats) -> _Floats:
    """Return A(m, s), the mean absolute value of a normal variable; far off it is |m|."""
    with np.errstate(over="ignore"):
        z = m / s
        bell = np.exp(-0.5 * z * z)
    bell *= 2.0 / _ROOT_2PI
    bell *= s
    z /= _ROOT_2
    _special.erf(z, out=z)
    z *= m
    z += bell
    return z
