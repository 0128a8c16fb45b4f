"""Calibration of probabilities: intercept and slope, Brier score, log-loss, a table of bins."""

import math
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import scipy.special

from psephos._errors import PsephosError
from psephos._types import ArrayLike, Floats, Indices, PerRow
from psephos.figures import estimate
from psephos.figures.confusion import levelled
from psephos.figures.estimate import Estimate

_special: Any = scipy.special
_STEPS = 100


def likeliest(
    y: Floats,
    design: Floats,
    offset: Floats | float = 0.0,
    weight: Floats | float = 1.0,
    start: Floats | None = None,
) -> Floats:
    """Return the coefficients of a logistic regression by Newton's method with step halving.

    Parameters
    ----------
    y : ndarray of shape (n,)
        From 0 to 1.
    design : ndarray of shape (n, q)
        Where its columns are not independent, the coefficients nearest to `start` are found.
    offset, weight : ndarray of shape (n,), or a number
    start : ndarray of shape (q,), default=None
        None: zeros.
    """
    at = np.zeros(design.shape[1]) if start is None else np.array(start, dtype=np.float64)

    def loss(b: Floats) -> float:
        score = design @ b + offset
        return float((weight * (np.logaddexp(0.0, score) - y * score)).sum())

    for _ in range(_STEPS):
        chance = _special.expit(design @ at + offset)
        slope = design.T @ (weight * (y - chance))
        bend = (design.T * (weight * chance * (1 - chance))) @ design
        step = np.linalg.lstsq(bend, slope, rcond=None)[0]
        now = loss(at)
        while loss(at + step) > now + 1e-12 * abs(now) and np.abs(step).max() > 1e-12:
            step = step / 2
        at = at + step
        if np.abs(step).max() <= 1e-10 * max(1.0, float(np.abs(at).max())):
            break
    return at


_LEAST = 1e-6  # probabilities are clipped here: that of 0 has no log-odds
_SUM = 1e-3  # tolerance of sums: some models predict in float32
_STEEP = 1e4  # with a greater slope the classes are separated


@dataclass(frozen=True)
class CalibrationLine:
    """The regression of the truth on the log-odds of the predicted probabilities.

    Parameters
    ----------
    large : Estimate
        The intercept with the slope fixed at 1 (calibration in the large): 0 is ideal, below 0 the
        probabilities are too high on average.
    slope : Estimate
        1 is ideal, below 1 the probabilities are too extreme.
    intercept : Estimate
        The intercept fitted with the slope.
    n_clipped : int
        Probabilities nearer to 0 or 1 than 1e-6, which were clipped to 1e-6 or 1 - 1e-6.
    """

    large: Estimate
    slope: Estimate
    intercept: Estimate
    n_clipped: int


@dataclass(frozen=True)
class CalibrationBin:
    """A bin of similar probabilities: their range, their mean, and the observed share."""

    low: float
    high: float
    predicted: float
    seen: Estimate


def calibration_line(
    truth: ArrayLike, p: ArrayLike, groups: PerRow = None, level: float = 0.95
) -> CalibrationLine:
    """Return intercept and slope of calibration with Wald's intervals (Cox 1958; Steyerberg 2009).

    logit P(truth) = a + b logit(p) by maximum likelihood. The calibration in the large has the
    sandwich variance, since its slope of 1 need not be the true one. With groups all variances are
    sandwiches of the scores summed over groups, with t of G - 1 degrees of freedom, and under ten
    groups no interval is narrower than the one by cases. If p separates the classes, slope and
    intercept are not defined, and their `method` says why.

    Parameters
    ----------
    truth : array of shape (n,), bool
    p : array of shape (n,)
        Probabilities of the positive class.
    groups : array of shape (n,), default=None
    level : float, default=0.95

    Examples
    --------
    >>> from psephos.figures import calibration_line
    >>> line = calibration_line([0, 0, 1, 0, 1, 1], [0.1, 0.2, 0.3, 0.6, 0.8, 0.9])
    >>> round(line.slope.value, 2)
    1.11
    """
    y, p = _checked(truth, p)
    n = len(y)
    clipped = int(((p < _LEAST) | (p > 1 - _LEAST)).sum())
    if n == 0 or y.min() == y.max():
        none = estimate.undefined(n, "there are cases of one class only")
        return CalibrationLine(none, none, none, clipped)
    odds = _special.logit(np.clip(p, _LEAST, 1 - _LEAST))
    codes, one = estimate.codes_of_groups(groups, n), np.ones((n, 1))
    (large,) = _estimates(y, one, odds, codes, level, robust=True)
    if np.ptp(odds) <= 1e-9:
        none = estimate.undefined(n, "all probabilities are alike")
        return CalibrationLine(large, none, none, clipped)
    yes, no = odds[y > 0], odds[y == 0]
    if yes.min() >= no.max() or yes.max() <= no.min():
        why = "the probabilities separate the classes: the slope has no bound"
        none = estimate.undefined(n, why)
        return CalibrationLine(large, none, none, clipped)
    intercept, slope = _estimates(y, np.column_stack([one, odds]), np.zeros(n), codes, level)
    return CalibrationLine(large, slope, intercept, clipped)


def _estimates(
    y: Floats,
    design: Floats,
    offset: Floats,
    codes: Indices | None,
    level: float,
    robust: bool = False,
) -> list[Estimate]:
    """Return coefficients of a logistic regression; `robust`: sandwich variances without groups."""
    at, n = likeliest(y, design, offset), len(y)
    chance = _special.expit(design @ at + offset)
    spread = np.linalg.pinv((design.T * (chance * (1 - chance))) @ design)
    parts = design * (y - chance)[:, None]
    words = "Wald, sandwich" if robust else "Wald"
    errors = _errors(spread @ _summed(parts, np.arange(n)) @ spread if robust else spread)
    halves = [(estimate.quantile(level) * one, words) for one in errors]
    if codes is not None:
        m = int(codes.max()) + 1
        if m < 2:
            return [Estimate(b, math.nan, math.nan, n, _ONE_GROUP) for b in at.tolist()]
        grouped = _errors(spread @ _summed(parts, codes) @ spread)
        found = [estimate.half_width(g, c, m, level) for g, c in zip(grouped, errors, strict=True)]
        heads = (words, "t, sandwich")
        halves = [(half, estimate.of_groups(heads[not cases], m, cases)) for half, cases in found]
    if np.abs(at).max() > _STEEP:
        halves = [(math.nan, words) for _, words in halves]
    pairs = zip(at.tolist(), halves, strict=True)
    return [Estimate(b, b - half, b + half, n, words) for b, (half, words) in pairs]


_ONE_GROUP = "one group alone has no interval"


def _summed(parts: Floats, codes: Indices) -> Floats:
    """Return the covariance of scores summed over at least two groups."""
    sums = np.stack([np.bincount(codes, weights=part) for part in parts.T])
    m = sums.shape[1]
    return m / (m - 1) * (sums @ sums.T)


def _errors(covariance: Floats) -> list[float]:
    """Return standard errors; NaN where rounding made a variance negative."""
    return [math.sqrt(one) if one >= 0 else math.nan for one in np.diag(covariance).tolist()]


def brier(truth: ArrayLike, p: Any, groups: PerRow = None, level: float = 0.95) -> Estimate:
    """Return the Brier score: the mean of (p - y)^2, summed over the classes if p is (n, K).

    Parameters
    ----------
    truth : array of shape (n,)
        Bool for two classes, or class numbers from 0 with p of shape (n, K).
    p : array of shape (n,) or (n, K)
    groups : array of shape (n,), default=None
    level : float, default=0.95
    """
    p = estimate.numbers(p, "p")
    if p.ndim == 1:
        y, p = _checked(truth, p)
        return _not_negative(estimate.mean((p - y) ** 2, groups, level))
    codes, p = _checked_rows(truth, p)
    y = np.eye(p.shape[1])[codes]
    return _not_negative(estimate.mean(((p - y) ** 2).sum(axis=1), groups, level))


def log_loss(truth: ArrayLike, p: Any, groups: PerRow = None, level: float = 0.95) -> Estimate:
    """Return the mean of -log p of the true class; p is clipped at 1e-15.

    Parameters are those of `brier`.
    """
    p = estimate.numbers(p, "p")
    if p.ndim == 1:
        y, p = _checked(truth, p)
        own = np.where(y > 0, p, 1.0 - p)
    else:
        codes, p = _checked_rows(truth, p)
        own = p[np.arange(len(p)), codes]
    return _not_negative(estimate.mean(-np.log(np.clip(own, 1e-15, 1.0)), groups, level))


def _not_negative(loss: Estimate) -> Estimate:
    """Return the mean of losses with the lower end of its interval clipped at 0."""
    return replace(loss, low=np.maximum(loss.low, 0.0).item())


def calibration_table(
    truth: ArrayLike, p: Any, n_bins: int = 10, groups: PerRow = None, level: float = 0.95
) -> list[CalibrationBin]:
    """Return bins of about equally many cases in the order of p; equal p share a bin.

    Probabilities that differ only by rounding are equal (`levelled`).

    Parameters
    ----------
    truth : array of shape (n,), bool
    p : array of shape (n,)
    n_bins : int, default=10
        The most bins.
    groups : array of shape (n,), default=None
    level : float, default=0.95
    """
    y, p = _checked(truth, p)
    n = len(p)
    if n_bins < 1:
        raise PsephosError(f"n_bins must be a whole number of at least 1; got {n_bins!r}.")
    level_p = levelled(p)
    order = np.argsort(level_p, kind="stable")
    values, starts, counts = np.unique(level_p[order], return_index=True, return_counts=True)
    middle = starts + (counts - 1) / 2  # equal cases all go to the bin of their middle one
    bins = np.minimum((middle * n_bins / max(n, 1)).astype(np.intp), n_bins - 1)
    where = np.empty(n, dtype=np.intp)
    where[order] = np.repeat(bins, counts)
    codes = estimate.codes_of_groups(groups, n)
    found: list[CalibrationBin] = []
    for k in np.unique(where).tolist() if len(values) else []:
        own = where == k
        seen = estimate.share(y[own] > 0, None if codes is None else codes[own], level)
        low, high, middle = (float(f(p[own])) for f in (np.min, np.max, np.mean))
        found.append(CalibrationBin(low, high, middle, seen))
    return found


def _checked(truth: ArrayLike, p: Any) -> tuple[Floats, Floats]:
    y, p = estimate.truths(truth).astype(np.float64), estimate.numbers(p, "p")
    if y.shape != p.shape:
        raise PsephosError(f"truth and p have shapes {y.shape} and {p.shape}.")
    estimate.refuse_improbable(p)
    return y, p


def _checked_rows(truth: ArrayLike, p: Floats) -> tuple[Indices, Floats]:
    codes, p = estimate.places(truth, p)
    estimate.refuse_improbable(p)
    if (np.abs(p.sum(axis=1) - 1) > _SUM).any():
        raise PsephosError("p has rows that do not sum to 1: give the probabilities of all classes")
    return codes, p
