"""Two classes at a threshold: predictions, the measures of their confusion table, net benefit."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from psephos._errors import PsephosError
from psephos._types import ArrayLike, Floats, Indices, NDArray, PerRow
from psephos.figures.estimate import (
    Estimate,
    codes_of_groups,
    mean,
    mean_of,
    numbers,
    refuse_improbable,
    share,
    truths,
    undefined,
)

UNIT = 1_000_000  # probabilities are compared in millionths


def in_millionths(values: ArrayLike) -> NDArray[np.int64]:
    """Return probabilities or thresholds in whole millionths, rounded down.

    A value within 1e-9 of the next millionth is rounded up: 0.1 + 0.2 is 300,000 of them.
    """
    return np.floor(numbers(values, "p") * UNIT + 1e-3).astype(np.int64)


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
    p = numbers(p, "p")
    refuse_improbable(p)
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
    sensitivity: Estimate
    specificity: Estimate
    ppv: Estimate
    npv: Estimate
    accuracy: Estimate
    balanced_accuracy: Estimate

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
    truth, called = truths(truth), truths(called, "called")
    if truth.shape != called.shape:
        raise PsephosError(f"truth and called have shapes {truth.shape} and {called.shape}.")
    codes = codes_of_groups(groups, len(truth))

    def of(hits: Any, among: Any) -> Estimate:
        return share(hits[among], None if codes is None else codes[among], level)

    right, every = truth == called, np.ones(len(truth), dtype=bool)
    sensitivity, specificity = of(called, truth), of(~called, ~truth)
    return Confusion(
        found=int((truth & called).sum()),
        missed=int((truth & ~called).sum()),
        alarms=int((~truth & called).sum()),
        cleared=int((~truth & ~called).sum()),
        sensitivity=sensitivity,
        specificity=specificity,
        ppv=of(truth, called) if called.any() else undefined(0, "no case is called positive"),
        npv=of(~truth, ~called) if not called.all() else undefined(0, "none is called negative"),
        accuracy=of(right, every),
        balanced_accuracy=mean_of([sensitivity, specificity]),
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
    model: Estimate
    everyone: Estimate


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
    truth, p = truths(truth), numbers(p, "p")
    if truth.shape != p.shape:
        raise PsephosError(f"truth and p have shapes {truth.shape} and {p.shape}.")
    refuse_improbable(p)
    found: list[NetBenefit] = []
    for t in thresholds:
        if not 0.0 <= t < 1.0:
            raise PsephosError(f"a threshold must be at least 0 and below 1; got {t!r}.")
        worth = np.where(truth, 1.0, -t / (1.0 - t))
        model = mean(np.where(called(p, t), worth, 0.0), groups, level)
        found.append(NetBenefit(float(t), model, mean(worth, groups, level)))
    return found


def balanced_accuracy(codes: Indices, truth: Indices) -> float:
    """Return the mean, over the classes present, of the share of their rows predicted right."""
    rows = np.bincount(truth)
    right = np.bincount(truth[codes == truth], minlength=len(rows))
    present = rows > 0
    return float(np.mean(right[present] / rows[present]))
