"""Figures with their intervals: Wilson's for shares, by the standard error for means.

With groups, variances are of sums over G groups, times G / (G - 1), and the quantile is that of t
with G - 1 degrees of freedom. Under ten groups this is still uncertain (three groups that happen to
be similar have almost no variance), so no interval is narrower than the one by cases.

Figures of predicted numbers that are ratios of means (R^2, the regression line of the truth on
predictions) have the interval of their linearisation: the influence of each case is averaged, so
that groups count as in `mean`.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from scipy.special import ndtri, stdtrit

from psephos._errors import PsephosError, must_be_inside
from psephos._types import ArrayLike, Floats, Indices, NDArray, PerRow

FEW_GROUPS = 10  # with fewer, intervals are noted as uncertain and never narrower than by cases


def quantile(level: float) -> float:
    """Return z, such that a standard normal number is between -z and z with this probability."""
    must_be_inside("level", level)
    return float(ndtri(0.5 + level / 2.0))


def t_quantile(level: float, n_groups: int) -> float:
    """Return the quantile of t with `n_groups` - 1 degrees of freedom, as `quantile` of z."""
    must_be_inside("level", level)
    return float(stdtrit(n_groups - 1, 0.5 + level / 2.0))


def half_width(by_groups: float, by_cases: float, m: int, level: float) -> tuple[float, bool]:
    """Return half the width of an interval, and whether it is the one by cases.

    Parameters
    ----------
    by_groups, by_cases : float
        Standard errors.
    m : int
        Number of groups.
    level : float
    """
    grouped, alone = t_quantile(level, m) * by_groups, quantile(level) * by_cases
    wider = m < FEW_GROUPS and alone > grouped
    return (alone if wider else grouped), wider


def of_groups(
    words: str, n_groups: int, by_cases: bool, after: str = "", fewest: int | None = None
) -> str:
    """Return the method of an interval with groups, in words.

    Parameters
    ----------
    words : str
    n_groups : int
    by_cases : bool
        Whether it is the interval by cases, because that is wider.
    after : str, default=""
        More about the groups.
    fewest : int, default=None
        Groups that have the rarer of two classes; None: all.
    """
    found = f"{words}, of {n_groups} groups{after}"
    if by_cases:
        found = f"{words}, of cases: wider than of {n_groups} groups{after}"
    few = (n_groups if fewest is None else fewest) < FEW_GROUPS
    return found + ("; so few groups make it uncertain" if few else "")


@dataclass(frozen=True)
class Estimate:
    """A figure with its interval.

    Parameters
    ----------
    value : float
        NaN if it is not defined.
    low, high : float
        NaN if the interval is not defined.
    n : int
        Number of cases.
    method : str
        The method of the interval, or why the figure is not defined.
    hits : int, default=-1
        The count, if the figure is a share; else -1.
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
        found: dict[str, Any] = {k: None if v != v else v for k, v in numbers.items()}
        found |= {"n": self.n, "method": self.method}
        return found if self.hits < 0 else {**found, "hits": self.hits}


def undefined(n: int, why: str) -> Estimate:
    """Return an estimate that is not defined, with the reason."""
    return Estimate(math.nan, math.nan, math.nan, n, why)


def truths(values: Any, what: str = "truth") -> NDArray[np.bool_]:
    """Return a mask of the cases that are True; other labels (1 and 2, words) are errors.

    Parameters
    ----------
    values : array of shape (n,)
        Booleans, or 1 and 0.
    what : str, default="truth"
        The name of the array in messages.

    Raises
    ------
    PsephosError
        If it holds anything else, or is not one-dimensional.
    """
    found = _column(values, what)
    if found.dtype.kind == "b":
        return found
    known = found.dtype.kind in "iuf" or all(_is_number(one) for one in found.tolist())
    if not known or not np.isin(found, (0, 1)).all():
        wrong = next(v for v in found.tolist() if not _is_number(v) or v not in (0, 1))
        raise PsephosError(
            f"{what} must be True or False (or 1 and 0) for each case: whether it is of the class; "
            f"got {wrong!r}. Compare labels with the class, such as y == 'ill'."
        )
    return found.astype(bool)


def numbers(values: ArrayLike, what: str) -> Floats:
    """Return an array of numbers.

    Raises
    ------
    PsephosError
        If it is not numeric.
    """
    try:
        return np.asarray(values, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise PsephosError(f"{what} must be numeric: {error}.") from error


def _column(values: ArrayLike, what: str) -> NDArray[Any]:
    """Return a one-dimensional array; in a list of words and numbers each keeps its type."""
    found = values if isinstance(values, np.ndarray) else np.asarray(values)
    if found.dtype.kind in "US" and not isinstance(values, np.ndarray):
        found = np.asarray(values, dtype=object)
    if found.ndim != 1:
        raise PsephosError(f"{what} has shape {found.shape}: give one value per case.")
    return found


def _is_number(value: Any) -> bool:
    return isinstance(value, bool | int | float | np.bool_ | np.number)


def _is_gone(value: Any) -> bool:
    """Return whether a value is None, NaN, NaT or pandas' NA."""
    try:
        return value is None or bool(value != value)
    except TypeError:  # pandas.NA has no truth value
        return True


def refuse_improbable(p: Floats) -> None:
    """Raise PsephosError unless all values are probabilities."""
    if not ((p >= 0) & (p <= 1)).all():
        raise PsephosError("p must be probabilities in [0, 1] without missing values.")


def places(codes: Any, p: Any) -> tuple[Indices, Floats]:
    """Return the class index of each case, and p as an array of shape (n, K), both validated.

    Raises
    ------
    PsephosError
        If a class is not a whole number from 0 to K - 1, or p is not numeric or not of that shape.
    """
    found, p = _column(codes, "truth"), numbers(p, "p")
    if p.ndim != 2 or len(p) != len(found):
        raise PsephosError(f"truth has {len(found)} cases, and p has shape {p.shape}.")
    known = found.dtype.kind in "iu" or (found.dtype.kind == "f" and not (found % 1).any())
    if not known or not np.isin(found, np.arange(p.shape[1])).all():
        raise PsephosError(
            f"truth must be the class index of each case, a whole number from 0 to "
            f"{p.shape[1] - 1}: its column of p."
        )
    if np.isnan(p).any():
        raise PsephosError(f"p is missing in {int(np.isnan(p).any(axis=1).sum())} of {len(p)} rows")
    return found.astype(np.intp), p


def codes_of_groups(groups: Any, n: int) -> Indices | None:
    """Return the group of each case as a number from 0; None if no two cases share a group.

    They are numbered in the order of first appearance, so that sums do not depend on their names.

    Raises
    ------
    PsephosError
        If there is not one group per case, or a group is missing.
    """
    if groups is None:
        return None
    groups = _column(groups, "groups")
    if groups.shape != (n,):
        raise PsephosError(f"groups has shape {groups.shape} for {n} cases.")
    if groups.dtype.kind == "O":  # perhaps of several types: 1 is not '1'
        each = groups.tolist()
        missing = sum(map(_is_gone, each))
        keys = [("" if _is_number(one) else type(one).__name__, one) for one in each]
        known = {key: code for code, key in enumerate(dict.fromkeys(keys))}
        codes = np.array([known[key] for key in keys], dtype=np.intp)
    else:
        missing = int((groups != groups).sum())
        _, first, codes = np.unique(groups, return_index=True, return_inverse=True)
        codes = np.argsort(np.argsort(first))[codes]
    if missing:
        raise PsephosError(f"groups is missing in {missing} of {n} cases: name the group of each.")
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
    if not all(isinstance(one, int | np.integer) for one in (hits, n)):
        raise PsephosError(f"hits and n must be whole numbers; got {hits!r} and {n!r}.")
    if not 0 <= hits <= n:
        raise PsephosError(f"hits must be at least 0 and at most n; got {hits} of {n}.")
    if n == 0:
        return undefined(0, _NO_CASE)
    low, high = score_interval(hits / n, n, quantile(level))
    return Estimate(hits / n, low, high, n, "Wilson", hits)


def score_interval(p: float, n: float, z: float) -> tuple[float, float]:
    """Return the ends of Wilson's interval of the share p of n cases."""
    middle = p + z * z / (2 * n)
    half = z * math.sqrt(p * (1 - p) / n + z * z / (4 * n * n))
    low, high = (middle - half) / (1 + z * z / n), (middle + half) / (1 + z * z / n)
    return (0.0 if p == 0 else max(low, 0.0)), (1.0 if p == 1 else min(high, 1.0))


def share(hits: Any, groups: PerRow = None, level: float = 0.95) -> Estimate:
    """Return the share of True with its interval.

    Without groups it is Wilson's interval. With groups the variance is that of a ratio of sums over
    groups (Rao & Scott 1992), and Wilson's interval uses the effective number of cases of this
    variance, times (z / t)^2 with the quantile t of G - 1 degrees of freedom, and at most n. If all
    or none are True, it is the number of groups.

    Parameters
    ----------
    hits : array of shape (n,), bool
    groups : array of shape (n,), default=None
    level : float, default=0.95
    """
    hits = truths(hits, "hits")
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
    z, alone = quantile(level), float(m)
    if 0 < p < 1 and variance > 0:
        alone = p * (1 - p) / variance * (z / t_quantile(level, m)) ** 2
    low, high = score_interval(p, min(alone, float(n)), z)
    return Estimate(p, low, high, n, of_groups("Wilson", m, alone >= n, " (Rao and Scott)"), count)


def mean(values: Any, groups: PerRow = None, level: float = 0.95) -> Estimate:
    """Return the mean with the normal interval of its standard error.

    With groups the standard error is that of their sums, and the interval uses t with G - 1 degrees
    of freedom; under ten groups it is never narrower than the one by cases.

    Parameters
    ----------
    values : array of shape (n,)
    groups : array of shape (n,), default=None
    level : float, default=0.95
    """
    values = numbers(values, "values")
    n = len(values)
    if not np.isfinite(values).all():
        raise PsephosError(
            f"{int((~np.isfinite(values)).sum())} of {n} values are missing or infinite."
        )
    if n == 0:
        return undefined(0, _NO_CASE)
    centre = float(values.mean())
    codes = codes_of_groups(groups, n)
    rest = values - centre
    if n < 2 or (codes is not None and codes.max() == 0):
        return Estimate(centre, math.nan, math.nan, n, "one alone has no interval")
    error = _error_of_sums(rest)
    half, words = quantile(level) * error, "normal"
    if codes is not None:
        m = int(codes.max()) + 1
        grouped = _error_of_sums(np.bincount(codes, weights=rest)) * m / n
        half, by_cases = half_width(grouped, error, m, level)
        words = of_groups("normal" if by_cases else "t", m, by_cases)
    return Estimate(centre, centre - half, centre + half, n, words)


def _error_of_sums(rest: NDArray[Any]) -> float:
    """Return the standard error of a mean from the m deviations from it."""
    m = len(rest)
    return math.sqrt(m / (m - 1) * float(rest @ rest)) / m


def mean_of(shares: Sequence[Estimate]) -> Estimate:
    """Return the mean of independent shares, such as balanced accuracy of the sensitivities.

    The interval combines theirs by the squares of their half-widths on either side (Zou & Donner
    2008: MOVER), so that it is valid if a share is 0 or 1.

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
    methods = list(dict.fromkeys(one.method for one in shares))
    each = methods[0] if len(methods) == 1 else "each class's own: " + " | ".join(methods)
    return Estimate(centre, low, high, n, f"MOVER of {each}")


_ENDS = ("value", "low", "high")
_NO_CASE = "there is no such case"


def r2(
    truth: ArrayLike, predicted: ArrayLike, groups: PerRow = None, level: float = 0.95
) -> Estimate:
    """Return the coefficient of determination, ``1 - sum (y - f)^2 / sum (y - m)^2``.

    m is the mean of these cases: at 0 predictions are as good as this mean, below 0 worse.

    Parameters
    ----------
    truth, predicted : array of shape (n,)
    groups : array of shape (n,), default=None
    level : float, default=0.95

    Examples
    --------
    >>> from psephos.figures import r2
    >>> round(r2([1.0, 2.0, 3.0, 4.0], [1.5, 2.0, 3.0, 3.5]).value, 3)
    0.9
    """
    truth, predicted = numbers(truth, "truth"), numbers(predicted, "predicted")
    if len(truth) < 2 or np.ptp(truth) == 0:
        return undefined(len(truth), "all cases have the same number")
    missed, all_of = (truth - predicted) ** 2, (truth - truth.mean()) ** 2
    ratio = missed.mean() / all_of.mean()
    found = _linear(1 - ratio - (missed - ratio * all_of) / all_of.mean(), groups, level)
    return replace(found, high=min(found.high, 1.0))


def rmse(
    truth: ArrayLike, predicted: ArrayLike, groups: PerRow = None, level: float = 0.95
) -> Estimate:
    """Return the root mean squared error; its interval is the root of that of the mean square."""
    found = mean((numbers(truth, "truth") - numbers(predicted, "predicted")) ** 2, groups, level)
    value, low, high = (math.sqrt(max(v, 0.0)) for v in (found.value, found.low, found.high))
    return Estimate(value, low, high, found.n, f"{found.method}, of the squares")


def number_line(
    truth: ArrayLike, predicted: ArrayLike, groups: PerRow = None, level: float = 0.95
) -> tuple[Estimate, Estimate]:
    """Return intercept and slope of the least-squares line of the truth on the predictions.

    They are 0 and 1 if predictions are right on average at every value; a slope below 1 means that
    predictions are too extreme.
    """
    truth, predicted = numbers(truth, "truth"), numbers(predicted, "predicted")
    if len(truth) < 3 or np.ptp(predicted) == 0:
        none = undefined(len(truth), "all cases have the same prediction")
        return none, none
    apart, power = predicted - predicted.mean(), float(np.var(predicted))
    slope = float((apart * truth).mean()) / power
    start = float(truth.mean()) - slope * float(predicted.mean())
    rest = truth - start - slope * predicted
    of_start = start + rest * (1 - predicted.mean() * apart / power)
    of_slope = slope + rest * apart / power
    return _linear(of_start, groups, level), _linear(of_slope, groups, level)


def _linear(influence: Floats, groups: PerRow, level: float) -> Estimate:
    found = mean(influence, groups, level)
    return replace(found, method=f"{found.method}, linearised")
