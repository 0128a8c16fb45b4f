"""Predictive distributions of a regression by prototypes: mixtures of normal densities.

The components are the same for all cases, one per voter (the prior, then the prototypes); each case
has its own shares. Results of a case depend on its shares only, bit for bit.

The functions take `share` (b, T), whose rows sum to 1, and `spread` (T,), the standard deviations;
`off` (b, T) is y minus the means.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.special

from psephos._errors import PsephosError
from psephos._types import ArrayLike, Floats
from psephos.vote import Vote

_Sums = Callable[[Floats, Floats, Floats], Floats]


@dataclass(frozen=True, eq=False)
class NormalMixture:
    """Mixtures of the same T normal densities, one for each of n cases.

    The density of case i is ``p_i(y) = sum_t share_it phi((y - mean_t) / spread_t) / spread_t``
    with phi the standard normal density.

    Parameters
    ----------
    share : ndarray of shape (n, T)
        At least 0; each row sums to 1.
    mean, spread : ndarray of shape (T,)
        Means and standard deviations of the components, in the unit of the target; spreads are
        above 0.

    Raises
    ------
    PsephosError
        If an array has a wrong type, shape or value.

    Notes
    -----
    Source: the development branch of proset (N. Ruf), where a regression predicts p(y | x) in this
    form. All methods except `sample` take O(n T) time per value of y, and a few MiB besides the
    shares; `crps` takes O(n T^2).
    """

    share: Floats
    mean: Floats
    spread: Floats

    def __post_init__(self) -> None:
        for name, array in zip(("share", "mean", "spread"), self._arrays, strict=True):
            if array.dtype != np.float64 or array.ndim != (2 if name == "share" else 1):
                raise PsephosError(
                    f"{name} must be float64, with two dimensions for share and one for the others."
                )
        t = len(self.mean)
        if t == 0 or self.share.shape[1] != t or len(self.spread) != t:
            raise PsephosError(
                "share, mean and spread must have the same number of components, at least 1; got "
                f"{self.share.shape[1]}, {t} and {len(self.spread)}."
            )
        _refuse(~np.isfinite(self.mean), "mean must be finite; that of component {} is not.")
        positive = (self.spread > 0) & np.isfinite(self.spread)
        _refuse(~positive, "spread must be finite and above 0; that of component {} is not.")
        wrong = ~((self.share >= 0) & (self.share <= 1 + 1e-9)).all(axis=1)
        wrong |= ~(np.abs(self.share.sum(axis=1) - 1.0) <= 1e-9)
        _refuse(wrong, "shares must be at least 0 and sum to 1; those of case {} do not.")

    @property
    def n_cases(self) -> int:
        """Return n."""
        return len(self.share)

    @property
    def n_components(self) -> int:
        """Return T."""
        return len(self.mean)

    @property
    def _arrays(self) -> tuple[Floats, Floats, Floats]:
        return self.share, self.mean, self.spread

    # ------------------------------------------------------------------ moments
    def moments(self) -> tuple[Floats, Floats]:
        """Return the mean and the variance of each case, both (n,).

        ``mean_i = sum_t share_it mean_t`` and ``variance_i = sum_t share_it (spread_t^2 + (mean_t
        - mean_i)^2)``, the law of total variance.
        """
        mean, variance = np.empty((2, self.n_cases))
        for part in parts(self.n_cases, self.n_components):
            share = np.ascontiguousarray(self.share[part])
            mean[part], variance[part] = moments(share, self.mean, self.spread)
        return mean, variance

    # ------------------------------------------------------------------ at given places
    def log_density(self, at: ArrayLike) -> Floats:
        """Return the natural logarithm of the density.

        ``log p(y) = log sum_t exp(log share_t - log spread_t - z_t^2 / 2) - log(2 pi) / 2`` with
        ``z_t = (y - mean_t) / spread_t``. The greatest exponent is factored out, so far tails are
        finite as long as z_t^2 is.

        Parameters
        ----------
        at : float or array of shape (n,), (n, g) or (1, g)
            Values of y: one for all cases, one for each, a grid for each, or one grid for all. In
            the unit of the target; may be infinite.

        Returns
        -------
        log_density : ndarray of shape (n,), or (n, g) for a grid
        """
        return self._evaluate(at, log_density)

    def density(self, at: ArrayLike) -> Floats:
        """Return the density, exp of `log_density`, per unit of the target; `at` as there."""
        return np.exp(self.log_density(at))

    def cdf(self, at: ArrayLike) -> Floats:
        """Return the probability of a value up to y: ``F(y) = sum_t share_t Phi(z_t)``.

        `at` and the result's shape are those of `log_density`. Small probabilities keep their
        relative precision; for small upper tails use `survival`.
        """
        return self._evaluate(at, chance_below)

    def survival(self, at: ArrayLike) -> Floats:
        """Return the probability of a value above y, ``1 - F(y) = sum_t share_t Phi(-z_t)``.

        `at` and the result's shape are those of `log_density`.
        """
        return self._evaluate(at, chance_above)

    def _evaluate(self, at: ArrayLike, sums: _Sums) -> Floats:
        """Return `sums` of shares and of y minus means, both (b, T), for each value of y."""
        places = self._places(at)
        grid = places if places.ndim == 2 else places[:, None]
        flat, out = grid.ravel(), np.empty(grid.size)
        case = np.repeat(np.arange(self.n_cases), grid.shape[1])
        for part in parts(len(flat), self.n_components):
            off = flat[part, None] - self.mean
            out[part] = sums(self.share[case[part]], off, self.spread)
        return out.reshape(places.shape)

    def _places(self, at: ArrayLike) -> Floats:
        places, n = np.asarray(at, dtype=np.float64), self.n_cases
        if places.ndim == 2 and len(places) in (1, n):
            places = np.broadcast_to(places, (n, places.shape[1]))
        elif places.shape in ((), (n,)):
            places = np.broadcast_to(places, (n,))
        else:
            raise PsephosError(
                f"values must be one number, or have shape ({n},), ({n}, g), or (1, g) for one "
                f"grid for all {n} cases; got shape {places.shape}."
            )
        absent = np.isnan(places if places.ndim == 2 else places[:, None]).any(axis=1)
        _refuse(absent, "values must not be NaN; that of case {} is. Leave the case out.")
        return places

    # ------------------------------------------------------------------ quantiles
    def quantile(self, q: ArrayLike) -> Floats:
        """Return the q-quantiles.

        They are found by Newton steps on the probit scale, ``Phi^-1(F(y)) = Phi^-1(q)``, which is
        linear for one component, with bisection if a step leaves the bracket or does not halve the
        step before; for q above 1/2 on the survival function. The bracket is between the smallest
        and the greatest q-quantile of the components with a share above 0. The relative error of
        the tail probability is at most 1e-12, or the result is the nearest float64. Where F is
        flat, to rounding, between two components, any value there may be returned.

        Parameters
        ----------
        q : float or array of shape (k,)
            In (0, 1).

        Returns
        -------
        quantile : ndarray of shape (n, k), k = 1 for one q
            Not decreasing in q.
        """
        chance = np.atleast_1d(np.asarray(q, dtype=np.float64))
        if chance.ndim != 1:
            raise PsephosError(f"q must be a number or a vector; got shape {chance.shape}.")
        inside = (chance > 0) & (chance < 1)
        _refuse(~inside, f"q must be above 0 and below 1; entry {{}} of {q} is not.")
        upper = chance > 0.5
        found = tail_places(
            *self._arrays, np.where(upper, 1.0 - chance, chance), np.where(upper, -1.0, 1.0)
        )
        order = np.argsort(chance, kind="stable")
        found[:, order] = np.maximum.accumulate(found[:, order], axis=1)  # against rounding
        return found

    def interval(self, coverage: float) -> Floats:
        """Return the central interval with this probability.

        Parameters
        ----------
        coverage : float
            In (0, 1).

        Returns
        -------
        interval : ndarray of shape (n, 2)
            The quantiles of ``(1 - coverage) / 2`` and ``(1 + coverage) / 2``.
        """
        if not 0 < coverage < 1:
            raise PsephosError(f"coverage must be above 0 and below 1; got {coverage}.")
        found = tail_places(
            *self._arrays, np.full(2, (1.0 - coverage) / 2.0), np.array([1.0, -1.0])
        )
        return np.maximum.accumulate(found, axis=1)

    # ------------------------------------------------------------------ score and draws
    def crps(self, y: ArrayLike) -> Floats:
        """Return the continuous ranked probability score, ``integral of (F(z) - 1{y <= z})^2 dz``.

        ``sum_s share_s A(y - mean_s, spread_s) - 1/2 sum_st share_s share_t A(mean_s - mean_t,
        (spread_s^2 + spread_t^2)^(1/2))`` with ``A(m, s) = 2 s phi(m / s) + m (2 Phi(m / s) - 1)``,
        the mean absolute value of a normal variable. Smaller is better; for a point forecast it is
        the absolute error.

        Parameters
        ----------
        y : float or array of shape (n,)
            The observed values, finite.

        Returns
        -------
        crps : ndarray of shape (n,), in the unit of the target

        Notes
        -----
        Source: Grimit, Gneiting, Berrocal & Johnson 2006, Q. J. R. Meteorol. Soc. 132, equation
        (5). The table of A over pairs, T^2 / 2 entries of some 40 ns, is computed once per call in
        blocks of 128 components; the double sum is n T^2 / 2 products by BLAS. Working memory is
        some 6.5 KiB per component, for any n: 63 MiB for T = 10,000.
        """
        observed = np.asarray(y, dtype=np.float64)
        if observed.shape not in ((), (self.n_cases,)):
            raise PsephosError(
                f"y must have one value for each of {self.n_cases} cases; got shape "
                f"{observed.shape}."
            )
        absent = ~np.isfinite(np.broadcast_to(observed, (self.n_cases,)))
        _refuse(absent, "y must be finite; the value of case {} is not. Leave the case out.")
        return self._evaluate(observed, distance_to) - 0.5 * distance_of_draws(*self._arrays)

    def sample(self, n_draws: int, generator: np.random.Generator) -> Floats:
        """Draw from each case's mixture: a component by its share, then a normal number.

        Parameters
        ----------
        n_draws : int
            Draws for each case, at least 1.
        generator : numpy.random.Generator
            One stream for all cases: the draws of a case depend on the number of cases before it.

        Returns
        -------
        draws : ndarray of shape (n, n_draws), in the unit of the target
        """
        if n_draws < 1:
            raise PsephosError(f"n_draws must be at least 1; got {n_draws}.")
        draws = np.empty((self.n_cases, n_draws))
        for share, row in zip(self.share, draws, strict=True):
            reached = np.cumsum(share)
            chance = generator.random(n_draws) * reached[-1]
            drawn = np.searchsorted(reached, chance, side="right")  # never one of share 0
            row[:] = self.mean[drawn] + self.spread[drawn] * generator.standard_normal(n_draws)
        return draws


def mixture_of(vote: Vote, X: Any) -> NormalMixture:
    """Return the predicted distribution of each row: a mixture of the voters' normal densities.

    Component t has the mean and standard deviation of voter t (for the prior: those of the target);
    its share is the voter's share of the weight, ``w_t(x) / sum_s w_s(x)``.

    The vote must be of prototypes, with a regression target that is not constant. The mixture has
    n T shares.
    """
    mean, spread = _components(vote)
    share = np.empty((X.shape[0], vote.n_voters))
    for rows in parts(len(share), vote.n_voters):
        share[rows] = vote.shares(X[rows])
    return NormalMixture(share, mean, spread)


def _components(vote: Vote) -> tuple[Floats, Floats]:
    numbers = vote.target.kind == "regression"
    found: Any = vote.voters.components() if numbers else None
    if found is None:
        raise PsephosError("voters must predict densities, as prototypes of a regression do.")
    mean, spread = found
    if not spread.all():
        raise PsephosError(
            "a voter's spread is 0, as the target of the fit is constant: the prediction has no "
            "density. Use predict."
        )
    return np.ascontiguousarray(mean), spread


def _refuse(wrong: Any, message: str) -> None:
    if wrong.any():
        raise PsephosError(message.format(int(np.flatnonzero(wrong)[0])))


_special: Any = scipy.special  # its type stubs are incomplete
_BLOCK = 1 << 17  # entries of a block of (case, component)
_PAIRED = 128  # components of a block of distances
_TOGETHER = 64  # cases in one matrix product, always: its shape must not depend on the cases
_ENOUGH = 1e-12  # relative tolerance of the tail probability of a quantile
_ROOT_2, _ROOT_2PI = np.sqrt(2.0), np.sqrt(2.0 * np.pi)


def parts(n: int, t: int, held: int | None = None) -> Iterator[slice]:
    """Yield slices of n rows of t entries, with about `held` entries each (default: 1 MiB)."""
    size = max(1, (held or _BLOCK) // t)
    for first in range(0, n, size):
        yield slice(first, min(first + size, n))


def moments(share: Floats, mean: Floats, spread: Floats) -> tuple[Floats, Floats]:
    """Return the mean and the variance of each row's mixture, both (b,)."""
    middle = (share * mean).sum(axis=1)
    off = mean - middle[:, None]
    return middle, (share * (spread**2 + off * off)).sum(axis=1)


def chance_below(share: Floats, off: Floats, spread: Floats) -> Floats:
    """Return the CDF, ``sum_t share_t Phi(off_t / spread_t)``."""
    with np.errstate(over="ignore"):
        chance = _special.ndtr(off / spread)
    return np.minimum((share * chance).sum(axis=1), 1.0)


def chance_above(share: Floats, off: Floats, spread: Floats) -> Floats:
    """Return 1 - CDF, to its own relative precision."""
    return chance_below(share, -off, spread)


def log_density(share: Floats, off: Floats, spread: Floats) -> Floats:
    """Return the log of ``sum_t share_t phi(off_t / spread_t) / spread_t``."""
    with np.errstate(divide="ignore", over="ignore"):
        z = off / spread
        terms = np.log(share) - np.log(spread) - 0.5 * z * z
    greatest = terms.max(axis=1)
    greatest[np.isinf(greatest)] = 0.0  # all terms are log 0
    with np.errstate(divide="ignore"):
        total = np.log(np.exp(terms - greatest[:, None]).sum(axis=1))
    return total + greatest - np.log(_ROOT_2PI)


# ---------------------------------------------------------------------- quantiles
def tail_places(share: Floats, mean: Floats, spread: Floats, tail: Floats, sign: Floats) -> Floats:
    """Return the start of tails of each row's mixture, (n, k).

    `tail` (k,) are tail probabilities in (0, 1/2], lower ones where `sign` (k,) is 1, upper ones
    where it is -1. By safeguarded Newton steps; see `NormalMixture.quantile`.
    """
    shape = (len(share), len(tail))
    case = np.repeat(np.arange(shape[0]), shape[1])
    tail, sign = np.tile(tail, shape[0]), np.tile(sign, shape[0])
    out = np.empty(len(case))
    for part in parts(len(case), len(mean)):
        out[part] = _roots(share[case[part]], mean, spread, tail[part], sign[part])
    return out.reshape(shape)


def _roots(share: Floats, mean: Floats, spread: Floats, tail: Floats, sign: Floats) -> Floats:
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
        # a step below rounding is made just long enough to close the bracket behind it
        onward = here + np.copysign(np.maximum(length, 2.0 * np.spacing(np.abs(here))), step)
        fine = (length <= last[live] / 2.0) & (onward > lo) & (onward < hi)
        found = np.abs(below - goal) <= _ENOUGH * goal
        closed = ~found & ((middle <= lo) | (middle >= hi))  # no float64 lies between
        last[live] = np.where(fine, length, (hi - lo) / 2.0)
        x[live] = np.where(found, here, np.where(closed, hi, np.where(fine, onward, middle)))
        live = live[~(found | closed)]
    return sign * x


def _cdf_and_density(share: Floats, off: Floats, spread: Floats) -> tuple[Floats, Floats]:
    with np.errstate(over="ignore", invalid="ignore"):
        z = off / spread
        bell = np.exp(-0.5 * z * z) / (spread * _ROOT_2PI)
        density = (share * bell).sum(axis=1)
    return np.minimum((share * _special.ndtr(z)).sum(axis=1), 1.0), density


def _probit_step(below: Floats, density: Floats, score: Floats) -> Floats:
    """Return Newton's step to ``Phi^-1(F) = score``; infinite or NaN where F is 0, 1 or flat."""
    with np.errstate(over="ignore", invalid="ignore", divide="ignore"):
        z = _special.ndtri(below)
        return (score - z) * np.exp(-0.5 * z * z) / (density * _ROOT_2PI)


# ---------------------------------------------------------------------- distances
def distance_to(share: Floats, off: Floats, spread: Floats) -> Floats:
    """Return the mean distance of a draw from y, ``sum_t share_t A(off_t, spread_t)``."""
    return (share * _distance(off, spread)).sum(axis=1)


def distance_of_draws(share: Floats, mean: Floats, spread: Floats) -> Floats:
    """Return the mean distance of two draws, (n,): a quadratic form in the shares.

    ``sum_st share_s share_t A(mean_s - mean_t, (spread_s^2 + spread_t^2)^(1/2))``. Cases are
    multiplied in blocks of one size, the last padded with zeros, because the order of BLAS sums may
    depend on the shape.
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


def _distance(m: Floats, s: Floats) -> Floats:
    """Return A(m, s), the mean absolute value of a normal variable; |m| for m far above s."""
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
