"""A figure with its interval: shares by Wilson's, means by the standard error."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtri

from psephos._errors import PsephosError

__all__ = ["Estimate", "codes_of_groups", "mean", "mean_of", "quantile", "share", "wilson"]

_Floats = NDArray[np.float64]


@dataclass(frozen=True)
class Estimate:
    """A figure, its interval, and how that was found.

    Parameters
    ----------
    value : float
        NaN where it is not defined.
    low, high : float
        NaN where there is no interval.
    n : int
        Of how many cases.
    method : str
        Of the interval, in words; of what is not defined, why.
    hits : int, default=-1
        Of a share, how many; -1 of what is no share.
    """

    value: float
    low: float
    high: float
    n: int
    method: str
    hits: int = -1

    def data(self) -> dict[str, Any]:
        """Return it as plain values, None for NaN."""
        numbers = {"value": self.value, "low": self.low, "high": self.high}
        told: dict[str, Any] = {k: None if v != v else v for k, v in numbers.items()}
        told |= {"n": self.n, "method": self.method}
        return told if self.hits < 0 else {**told, "hits": self.hits}


def undefined(n: int, why: str) -> Estimate:
    """Return what cannot be said, and why."""
    return Estimate(math.nan, math.nan, math.nan, n, why)


def quantile(level: float) -> float:
    """Return z, so that a standard normal number is within -z and z with this probability."""
    if not 0.0 < level < 1.0:
        raise PsephosError(f"level is {level!r}; it must be above 0 and below 1.")
    return float(ndtri(0.5 + level / 2.0))


def codes_of_groups(groups: Any, n: int) -> NDArray[np.intp] | None:
    """Return the group of each case as a number from 0; None if each is one of its own."""
    if groups is None:
        return None
    groups = np.asarray(groups)
    if groups.shape != (n,):
        raise PsephosError(f"groups has shape {groups.shape} for {n} cases.")
    codes = np.unique(groups, return_inverse=True)[1]
    return None if len(codes) == 0 or codes.max() + 1 == n else codes


def wilson(hits: int, n: int, level: float = 0.95) -> Estimate:
    """Return the share hits / n with the score interval of Wilson (1927).

    Examples
    --------
    >>> from psephos.figures import wilson
    >>> one = wilson(25, 38)
    >>> round(one.low, 3), round(one.value, 3), round(one.high, 3)
    (0.499, 0.658, 0.788)
    """
    if not 0 <= hits <= n:
        raise PsephosError(f"{hits} of {n} cases is no share.")
    if n == 0:
        return undefined(0, "there is no such case")
    low, high = _score_interval(hits / n, n, quantile(level))
    return Estimate(hits / n, low, high, n, "Wilson", hits)


def _score_interval(p: float, n: float, z: float) -> tuple[float, float]:
    middle = p + z * z / (2 * n)
    half = z * math.sqrt(p * (1 - p) / n + z * z / (4 * n * n))
    low, high = (middle - half) / (1 + z * z / n), (middle + half) / (1 + z * z / n)
    return (0.0 if p == 0 else max(low, 0.0)), (1.0 if p == 1 else min(high, 1.0))


def share(hits: Any, groups: Any = None, level: float = 0.95) -> Estimate:
    """Return the share of True with its interval.

    Without groups it is Wilson's. With groups the variance is that of a ratio of sums over groups
    (Rao & Scott 1992), and Wilson's interval is taken at the number of independent cases of that
    variance (at most n); where all or none are True, at the number of groups.

    Parameters
    ----------
    hits : array of shape (n,), bool
    groups : array of shape (n,), default=None
    level : float, default=0.95
    """
    hits = np.asarray(hits, dtype=bool)
    n, count = len(hits), int(hits.sum())
    codes = codes_of_groups(groups, n)
    if codes is None or n == 0:
        return wilson(count, n, level)
    p, sizes = count / n, np.bincount(codes)
    m = len(sizes)
    if m < 2:
        return Estimate(p, math.nan, math.nan, n, "one group alone has no interval", count)
    rest = np.bincount(codes, weights=hits - p)
    variance = m / (m - 1) * float(rest @ rest) / n**2
    alone = p * (1 - p) / variance if 0 < p < 1 and variance > 0 else float(m)
    low, high = _score_interval(p, min(alone, float(n)), quantile(level))
    return Estimate(p, low, high, n, f"Wilson, of {m} groups (Rao and Scott)", count)


def mean(values: Any, groups: Any = None, level: float = 0.95) -> Estimate:
    """Return the mean with the normal interval of its standard error (over groups: of their sums).

    Parameters
    ----------
    values : array of shape (n,)
    groups : array of shape (n,), default=None
    level : float, default=0.95
    """
    values = np.asarray(values, dtype=np.float64)
    n = len(values)
    if n == 0:
        return undefined(0, "there is no such case")
    centre = float(values.mean())
    codes = codes_of_groups(groups, n)
    rest = values - centre
    if codes is not None:
        rest = np.bincount(codes, weights=rest)
    m = len(rest)
    if m < 2:
        return Estimate(centre, math.nan, math.nan, n, "one alone has no interval")
    half = quantile(level) * math.sqrt(m / (m - 1) * float(rest @ rest)) / n
    words = "normal" if codes is None else f"normal, of {m} groups"
    return Estimate(centre, centre - half, centre + half, n, words)


def mean_of(shares: Sequence[Estimate]) -> Estimate:
    """Return the mean of independent shares: of the sensitivity of each class, balanced accuracy.

    The interval is put together of theirs by the squares of their half-widths on either side
    (Zou & Donner 2008: MOVER), so that it is right where a share is 0 or 1.

    Examples
    --------
    >>> from psephos.figures import mean_of, wilson
    >>> one = mean_of([wilson(25, 38), wilson(55, 62)])
    >>> round(one.low, 3), round(one.value, 3), round(one.high, 3)
    (0.678, 0.772, 0.843)
    """
    n = sum(one.n for one in shares)
    if not shares or any(math.isnan(one.value) for one in shares):
        return undefined(n, "a class has no case")
    values, low, high = (np.array([getattr(s, k) for s in shares]) for k in _ENDS)
    centre, k = float(values.mean()), len(shares)
    below = math.sqrt(float(((values - low) ** 2).sum())) / k
    above = math.sqrt(float(((high - values) ** 2).sum())) / k
    low, high = max(centre - below, 0.0), min(centre + above, 1.0)
    return Estimate(centre, low, high, n, f"MOVER of {shares[0].method}")


_ENDS = ("value", "low", "high")
