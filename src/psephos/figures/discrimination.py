"""Discrimination: the area under the ROC curve and its interval."""

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
from scipy.optimize import brentq
from scipy.stats import rankdata

from psephos._errors import PsephosError
from psephos._types import ArrayLike, Floats, Indices, NDArray, PerRow
from psephos.figures.confusion import levelled
from psephos.figures.estimate import (
    Estimate,
    codes_of_groups,
    half_width,
    mean,
    numbers,
    of_groups,
    places,
    quantile,
    score_interval,
    truths,
    undefined,
)


def area(truth: Any, score: ArrayLike, groups: PerRow = None, level: float = 0.95) -> Estimate:
    """Return the area under the ROC curve with the interval of DeLong et al. (1988).

    The interval is computed on the log-odds of the area, so that it stays within 0 and 1 (Pepe
    2003, 5.2.5). If the score separates the classes, DeLong's variance is 0, and the interval is
    that of Newcombe (2006, method 5). With groups the components are summed over each (Obuchowski
    1997), with t of G - 1 degrees of freedom, where G groups have the class that fewest groups
    have; under ten such groups the interval is never narrower than the one by cases. There is no
    interval if groups are given and the classes are separated.

    Parameters
    ----------
    truth : array of shape (n,), bool
    score : array of shape (n,)
        Greater for the positive class; ties count one half, and scores that differ only by rounding
        are ties (`levelled`).
    groups : array of shape (n,), default=None
    level : float, default=0.95

    Examples
    --------
    >>> from psephos.figures import area
    >>> one = area([0, 0, 0, 1, 1, 1], [0.1, 0.3, 0.6, 0.4, 0.8, 0.9])
    >>> round(one.value, 3), round(one.low, 3), round(one.high, 3)
    (0.889, 0.261, 0.995)
    """
    truth, score = _checked(truth, score)
    n, m = len(truth), int(truth.sum())
    if m in (0, n):
        return undefined(n, "there are cases of one class only")
    value, above, below = _components(truth, score)
    codes = codes_of_groups(groups, n)
    if min(m, n - m) < 2:
        return Estimate(value, math.nan, math.nan, n, "one case of a class has no interval")
    if value in (0.0, 1.0):
        if codes is not None:
            why = "no interval: the classes are separated, and cases are in groups"
            return Estimate(value, math.nan, math.nan, n, why)
        return Estimate(
            value, *_newcombe(value, m, n - m, quantile(level)), n, "Newcombe (2006), method 5"
        )
    words, half = "DeLong, on the log-odds", math.nan
    error = _error(_variance(above, below, truth, None))
    if codes is None:
        half = quantile(level) * error
    else:
        grouped = _error(_variance(above, below, truth, codes))
        half, words = _grouped_half(grouped, error, truth, codes, level, words)
        if not half > 0:
            return Estimate(value, math.nan, math.nan, n, "no interval: too few groups")
    half /= value * (1 - value)
    middle = math.log(value / (1 - value))
    low, high = (1 / (1 + math.exp(-min(max(middle + s * half, -700), 700))) for s in (-1, 1))
    return Estimate(value, low, high, n, words)


def _error(variance: float) -> float:
    return math.sqrt(max(variance, 0.0)) if math.isfinite(variance) else math.nan


def _grouped_half(
    grouped: float,
    alone: float,
    truth: NDArray[np.bool_],
    codes: Indices,
    level: float,
    words: str,
) -> tuple[float, str]:
    """Return half the interval (NaN if there is none), and its method in words."""
    fewest = min(len(np.unique(codes[kept])) for kept in (truth, ~truth))
    if fewest < 2 or math.isnan(grouped):
        return math.nan, words
    half, by_cases = half_width(grouped, alone, fewest, level)
    m = int(codes.max()) + 1
    each = "" if fewest == m else f", {fewest} with the rarer class"
    return half, of_groups(words, m, by_cases, f" (Obuchowski){each}", fewest)


def areas(codes: ArrayLike, p: Any, groups: PerRow = None, level: float = 0.95) -> list[Estimate]:
    """Return the area of each class against the rest, by its own column of probabilities.

    Parameters
    ----------
    codes : array of shape (n,), int
        The class of each case, from 0.
    p : array of shape (n, K)
    groups : array of shape (n,), default=None
    level : float, default=0.95
    """
    codes, p = places(codes, p)
    return [area(codes == k, p[:, k], groups, level) for k in range(p.shape[1])]


def hand_till(codes: Any, p: Any) -> float:
    """Return the M measure of Hand & Till (2001): the mean area over all pairs of classes.

    For a pair (j, k) it is the mean of the area of column j for j and that of column k for k, among
    the cases of these two; NaN if a class has no case. It does not depend on the class frequencies.

    Parameters
    ----------
    codes : array of shape (n,), int
    p : array of shape (n, K)
    """
    codes, p = places(codes, p)
    found: list[float] = []
    for j in range(p.shape[1]):
        for k in range(p.shape[1]):
            if j != k:
                pair = (codes == j) | (codes == k)
                truth = codes[pair] == j
                if truth.all() or not truth.any():
                    return math.nan
                found.append(_components(truth, levelled(p[pair, j]))[0])
    return mean(found).value


def _checked(truth: Any, score: Any) -> tuple[NDArray[np.bool_], Floats]:
    truth, score = truths(truth), numbers(score, "score")
    if truth.shape != score.shape:
        raise PsephosError(f"truth and score have shapes {truth.shape} and {score.shape}.")
    if np.isnan(score).any():
        raise PsephosError(f"score is missing in {int(np.isnan(score).sum())} of {len(score)} rows")
    return truth, levelled(score)


def _components(truth: NDArray[np.bool_], score: Floats) -> tuple[float, Floats, Floats]:
    """Return the area, and DeLong's components of the positive and of the negative cases.

    A component is the share of the other class that a case outranks, by mid-ranks (Sun & Xu 2014):
    its rank among all cases minus its rank in its own class counts these.
    """
    m, n = int(truth.sum()), int((~truth).sum())
    ranks = rankdata(score)
    above = (ranks[truth] - rankdata(score[truth])) / n
    below = 1.0 - (ranks[~truth] - rankdata(score[~truth])) / m
    return float(above.mean()), above, below


def _variance(
    above: Floats, below: Floats, truth: NDArray[np.bool_], codes: Indices | None
) -> float:
    """Return the variance of an area from its `_components`; with groups by Obuchowski (1997)."""
    m, n = int(truth.sum()), int((~truth).sum())
    above, below = above - above.mean(), below - below.mean()
    if codes is None:
        return float(above @ above / (m * (m - 1)) + below @ below / (n * (n - 1)))
    size = int(codes.max()) + 1
    of = np.bincount(codes[truth], weights=above, minlength=size)
    no = np.bincount(codes[~truth], weights=below, minlength=size)
    some, none = len(np.unique(codes[truth])), len(np.unique(codes[~truth]))
    with np.errstate(divide="ignore", invalid="ignore"):
        ten = np.divide(some, some - 1) * (of @ of) / m**2
        one = np.divide(none, none - 1) * (no @ no) / n**2
    both = size / (size - 1) if size > 1 else math.nan
    return float(ten + one + 2 * both * (of @ no) / (m * n))


def of_counts(
    measure: str, value: float, sizes: Sequence[float], level: float = 0.95
) -> tuple[float, float]:
    """Return the interval of a measure from its value and the number of cases of each class.

    Accuracy has Wilson's interval. Balanced accuracy has it with ``K^2 / sum(1 / n_k)`` cases, as
    if each class were recognised equally well. The area of two classes has that of Newcombe (2006,
    method 5). Other measures have none: NaN.

    Examples
    --------
    >>> from psephos.figures.discrimination import of_counts
    >>> [round(end, 3) for end in of_counts("balanced_accuracy", 0.8, [40, 60])]
    [0.709, 0.868]
    """
    z = quantile(level)
    if min(sizes, default=0) <= 0:
        return math.nan, math.nan
    if measure == "accuracy":
        return score_interval(value, sum(sizes), z)
    if measure == "balanced_accuracy":
        return score_interval(value, len(sizes) ** 2 / sum(1 / n for n in sizes), z)
    if measure == "roc_auc" and len(sizes) == 2:
        return _newcombe(value, sizes[0], sizes[1], z)
    return math.nan, math.nan


def _newcombe(value: float, m: float, n: float, z: float) -> tuple[float, float]:
    """Return the areas that differ from the observed one by z of their standard errors."""
    half = (m + n) / 2

    def gap(at: float) -> float:
        spread = 1 + (half - 1) * ((1 - at) / (2 - at) + at / (1 + at))
        return abs(value - at) - z * math.sqrt(at * (1 - at) * spread / (m * n))

    low, high = value <= 1e-12, value >= 1 - 1e-12
    return (
        0.0 if low else float(brentq(gap, 1e-12, min(value, 1 - 1e-12))),  # type: ignore[arg-type]
        1.0 if high else float(brentq(gap, max(value, 1e-12), 1 - 1e-12)),  # type: ignore[arg-type]
    )
