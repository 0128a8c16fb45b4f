"""Figures of predicted classes: of counts at a threshold, and of the ranking by scores."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.optimize import brentq
from scipy.stats import rankdata

from psephos._errors import PsephosError
from psephos._types import ArrayLike, Floats, Indices, NDArray, PerRow
from psephos.figures import estimate

UNIT = 1_000_000  # probabilities are compared in millionths


def in_millionths(values: ArrayLike) -> NDArray[np.int64]:
    """Return probabilities or thresholds in whole millionths, rounded down.

    A value within 1e-9 of the next millionth is rounded up: 0.1 + 0.2 is 300,000 of them.
    """
    return np.floor(estimate.numbers(values, "p") * UNIT + 1e-3).astype(np.int64)


def called(p: Any, threshold: float) -> NDArray[np.bool_]:
    """Return which cases are predicted positive: their p is at least `threshold`, in millionths.

    A probability that differs from the threshold only by rounding, or lies in the same millionth,
    reaches it.

    Parameters
    ----------
    p : array of shape (n,)
        Probabilities of the positive class. For probabilities stored in millionths the same is
        ``units >= in_millionths(threshold)``.
    threshold : float
        From 0 to 1.

    Examples
    --------
    >>> from psephos.figures import called
    >>> called([0.1 + 0.2, 0.3, 0.299], 0.3).tolist()
    [True, True, False]
    >>> called([0.3, 0.299], 0.1 + 0.2).tolist()
    [True, False]
    """
    if not 0.0 <= threshold <= 1.0:
        raise PsephosError(f"a threshold must be at least 0 and at most 1; got {threshold!r}.")
    p = estimate.numbers(p, "p")
    estimate.refuse_improbable(p)
    return in_millionths(p) >= in_millionths(threshold)


def levelled(scores: Floats) -> Floats:
    """Return scores rounded to twelve digits, so that those that differ by rounding are ties."""
    digits, power = np.frexp(scores)
    return np.ldexp(np.round(digits, 12), power)


@dataclass(frozen=True)
class Confusion:
    """The confusion table of two classes, and the measures computed from it.

    Parameters
    ----------
    found, missed : int
        True positives and false negatives.
    alarms, cleared : int
        False positives and true negatives.
    sensitivity, specificity, ppv, npv, accuracy, balanced_accuracy : Estimate
        The predictive values hold at the share of positive cases among these cases.
    """

    found: int
    missed: int
    alarms: int
    cleared: int
    sensitivity: estimate.Estimate
    specificity: estimate.Estimate
    ppv: estimate.Estimate
    npv: estimate.Estimate
    accuracy: estimate.Estimate
    balanced_accuracy: estimate.Estimate

    @property
    def positive(self) -> int:
        """Return the number of cases of the positive class."""
        return self.found + self.missed

    @property
    def negative(self) -> int:
        """Return the number of the other cases."""
        return self.alarms + self.cleared


def confusion(truth: Any, called: Any, groups: PerRow = None, level: float = 0.95) -> Confusion:
    """Return the confusion table of two classes with its measures.

    Parameters
    ----------
    truth, called : array of shape (n,), bool
        Which cases are positive, and which are predicted positive (see `called`).
    groups : array of shape (n,), default=None
        Cases of a group are not independent: see `share`. The interval of balanced accuracy still
        treats the two classes as independent, although a group may have cases of both.
    level : float, default=0.95

    Examples
    --------
    >>> from psephos.figures import confusion
    >>> table = confusion([1, 1, 1, 0, 0], [1, 1, 0, 0, 1])
    >>> table.found, table.missed, table.alarms, table.cleared
    (2, 1, 1, 1)
    """
    truth, called = estimate.truths(truth), estimate.truths(called, "called")
    if truth.shape != called.shape:
        raise PsephosError(f"truth and called have shapes {truth.shape} and {called.shape}.")
    codes = estimate.codes_of_groups(groups, len(truth))

    def of(hits: Any, among: Any) -> estimate.Estimate:
        return estimate.share(hits[among], None if codes is None else codes[among], level)

    right, every = truth == called, np.ones(len(truth), dtype=bool)
    sensitivity, specificity = of(called, truth), of(~called, ~truth)
    return Confusion(
        found=int((truth & called).sum()),
        missed=int((truth & ~called).sum()),
        alarms=int((~truth & called).sum()),
        cleared=int((~truth & ~called).sum()),
        sensitivity=sensitivity,
        specificity=specificity,
        ppv=of(truth, called)
        if called.any()
        else estimate.undefined(0, "no case is called positive"),
        npv=of(~truth, ~called)
        if not called.all()
        else estimate.undefined(0, "none is called negative"),
        accuracy=of(right, every),
        balanced_accuracy=estimate.mean_of([sensitivity, specificity]),
    )


def predictive_values(
    sensitivity: float, specificity: float, prevalence: float
) -> tuple[float, float]:
    """Return PPV and NPV if `prevalence` is the share of positive cases among those tested.

    By Bayes' rule; NaN if no case is predicted so.

    Examples
    --------
    >>> from psephos.figures import predictive_values
    >>> [round(one, 3) for one in predictive_values(0.8, 0.9, 0.01)]
    [0.075, 0.998]
    """
    if not 0.0 <= prevalence <= 1.0:
        raise PsephosError(f"prevalence must be at least 0 and at most 1; got {prevalence!r}.")
    found, alarms = sensitivity * prevalence, (1 - specificity) * (1 - prevalence)
    cleared, missed = specificity * (1 - prevalence), (1 - sensitivity) * prevalence
    ppv = found / (found + alarms) if found + alarms > 0 else math.nan
    npv = cleared / (cleared + missed) if cleared + missed > 0 else math.nan
    return ppv, npv


@dataclass(frozen=True)
class NetBenefit:
    """The net benefit of a model at a threshold, and of treating everyone (of no one it is 0)."""

    threshold: float
    model: estimate.Estimate
    everyone: estimate.Estimate


def net_benefit(
    truth: Any, p: Any, thresholds: Sequence[float], groups: PerRow = None, level: float = 0.95
) -> list[NetBenefit]:
    """Return TP / n - FP / n * t / (1 - t) at each threshold t (Vickers & Elkin 2006).

    It is a mean over cases (1 for a true positive, -t / (1 - t) for a false positive, else 0), and
    its interval is that of the mean. `called` decides which cases are positive at t.

    Parameters
    ----------
    truth : array of shape (n,), bool
    p : array of shape (n,)
        Probabilities of the positive class, which should be calibrated.
    thresholds : sequence of float
        At least 0 and below 1.
    groups : array of shape (n,), default=None
    level : float, default=0.95

    Examples
    --------
    >>> from psephos.figures import net_benefit
    >>> one = net_benefit([1, 0, 0, 1], [0.9, 0.6, 0.2, 0.4], [0.5])[0]
    >>> one.model.value, one.everyone.value
    (0.0, 0.0)
    """
    truth, p = estimate.truths(truth), estimate.numbers(p, "p")
    if truth.shape != p.shape:
        raise PsephosError(f"truth and p have shapes {truth.shape} and {p.shape}.")
    estimate.refuse_improbable(p)
    found: list[NetBenefit] = []
    for t in thresholds:
        if not 0.0 <= t < 1.0:
            raise PsephosError(f"a threshold must be at least 0 and below 1; got {t!r}.")
        worth = np.where(truth, 1.0, -t / (1.0 - t))
        model = estimate.mean(np.where(called(p, t), worth, 0.0), groups, level)
        found.append(NetBenefit(float(t), model, estimate.mean(worth, groups, level)))
    return found


def balanced_accuracy(codes: Indices, truth: Indices) -> float:
    """Return the mean, over the classes present, of the share of their rows predicted right."""
    rows = np.bincount(truth)
    right = np.bincount(truth[codes == truth], minlength=len(rows))
    present = rows > 0
    return float(np.mean(right[present] / rows[present]))


def area(
    truth: Any, score: ArrayLike, groups: PerRow = None, level: float = 0.95
) -> estimate.Estimate:
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
        return estimate.undefined(n, "there are cases of one class only")
    value, above, below = _components(truth, score)
    codes = estimate.codes_of_groups(groups, n)
    if min(m, n - m) < 2:
        return estimate.Estimate(
            value, math.nan, math.nan, n, "one case of a class has no interval"
        )
    if value in (0.0, 1.0):
        if codes is not None:
            why = "no interval: the classes are separated, and cases are in groups"
            return estimate.Estimate(value, math.nan, math.nan, n, why)
        low, high = _newcombe(value, m, n - m, estimate.quantile(level))
        return estimate.Estimate(value, low, high, n, "Newcombe (2006), method 5")
    words, half = "DeLong, on the log-odds", math.nan
    error = _error(_variance(above, below, truth, None))
    if codes is None:
        half = estimate.quantile(level) * error
    else:
        grouped = _error(_variance(above, below, truth, codes))
        half, words = _grouped_half(grouped, error, truth, codes, level, words)
        if not half > 0:
            return estimate.Estimate(value, math.nan, math.nan, n, "no interval: too few groups")
    half /= value * (1 - value)
    middle = math.log(value / (1 - value))
    low, high = (1 / (1 + math.exp(-min(max(middle + s * half, -700), 700))) for s in (-1, 1))
    return estimate.Estimate(value, low, high, n, words)


def _error(variance: float) -> float:
    return math.sqrt(max(variance, 0.0)) if math.isfinite(variance) else math.nan


def _grouped_half(
    grouped: float, alone: float, truth: NDArray[np.bool_], codes: Indices, level: float, words: str
) -> tuple[float, str]:
    """Return half the interval (NaN if there is none), and its method in words."""
    fewest = min(len(np.unique(codes[kept])) for kept in (truth, ~truth))
    if fewest < 2 or math.isnan(grouped):
        return math.nan, words
    half, by_cases = estimate.half_width(grouped, alone, fewest, level)
    m = int(codes.max()) + 1
    each = "" if fewest == m else f", {fewest} with the rarer class"
    return half, estimate.of_groups(words, m, by_cases, f" (Obuchowski){each}", fewest)


def areas(
    codes: ArrayLike, p: Any, groups: PerRow = None, level: float = 0.95
) -> list[estimate.Estimate]:
    """Return the area of each class against the rest, by its own column of probabilities.

    Parameters
    ----------
    codes : array of shape (n,), int
        The class of each case, from 0.
    p : array of shape (n, K)
    groups : array of shape (n,), default=None
    level : float, default=0.95
    """
    codes, p = estimate.places(codes, p)
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
    codes, p = estimate.places(codes, p)
    found: list[float] = []
    for j in range(p.shape[1]):
        for k in range(p.shape[1]):
            if j != k:
                pair = (codes == j) | (codes == k)
                truth = codes[pair] == j
                if truth.all() or not truth.any():
                    return math.nan
                found.append(_components(truth, levelled(p[pair, j]))[0])
    return estimate.mean(found).value


def _checked(truth: Any, score: Any) -> tuple[NDArray[np.bool_], Floats]:
    truth, score = estimate.truths(truth), estimate.numbers(score, "score")
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


def _variance(above: Floats, below: Floats, yes: NDArray[np.bool_], codes: Indices | None) -> float:
    """Return the variance of an area from its `_components`; with groups by Obuchowski (1997)."""
    m, n = int(yes.sum()), int((~yes).sum())
    above, below = above - above.mean(), below - below.mean()
    if codes is None:
        return float(above @ above / (m * (m - 1)) + below @ below / (n * (n - 1)))
    size = int(codes.max()) + 1
    of = np.bincount(codes[yes], weights=above, minlength=size)
    no = np.bincount(codes[~yes], weights=below, minlength=size)
    some, none = len(np.unique(codes[yes])), len(np.unique(codes[~yes]))
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
    >>> from psephos.figures.confusion import of_counts
    >>> [round(end, 3) for end in of_counts("balanced_accuracy", 0.8, [40, 60])]
    [0.709, 0.868]
    """
    z = estimate.quantile(level)
    if min(sizes, default=0) <= 0:
        return math.nan, math.nan
    if measure == "accuracy":
        return estimate.score_interval(value, sum(sizes), z)
    if measure == "balanced_accuracy":
        return estimate.score_interval(value, len(sizes) ** 2 / sum(1 / n for n in sizes), z)
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
