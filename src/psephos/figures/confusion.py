"""Two classes at a threshold: counts first, then the four measures of them."""

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from psephos._errors import PsephosError
from psephos.figures.estimate import Estimate, codes_of_groups, mean_of, share, truths, undefined


@dataclass(frozen=True)
class Confusion:
    """Counts of answers against the truth, and what is made of them.

    Parameters
    ----------
    found, missed : int
        Of the positive class: true positives, false negatives.
    alarms, cleared : int
        Of the other: false positives, true negatives.
    sensitivity, specificity, ppv, npv, accuracy, balanced_accuracy : Estimate
        The predictive values are those at the share of positive cases among these.
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


def confusion(truth: Any, called: Any, groups: Any = None, level: float = 0.95) -> Confusion:
    """Return counts and measures of answers of two classes.

    Parameters
    ----------
    truth, called : array of shape (n,), bool
        Which cases are of the positive class, and which are called so (`called`).
    groups : array of shape (n,), default=None
        Cases of a group are not independent: see `share`. The interval of balanced accuracy takes
        the two classes as independent even so, though a group may have cases of both.
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
    """Return PPV and NPV where `prevalence` is the share of positive cases among those tested.

    By Bayes' rule; NaN where nobody is called so.

    Examples
    --------
    >>> from psephos.figures import predictive_values
    >>> [round(one, 3) for one in predictive_values(0.8, 0.9, 0.01)]
    [0.075, 0.998]
    """
    if not 0.0 <= prevalence <= 1.0:
        raise PsephosError(f"prevalence is {prevalence!r}; it must be at least 0 and at most 1.")
    found, alarms = sensitivity * prevalence, (1 - specificity) * (1 - prevalence)
    cleared, missed = specificity * (1 - prevalence), (1 - sensitivity) * prevalence
    ppv = found / (found + alarms) if found + alarms > 0 else math.nan
    npv = cleared / (cleared + missed) if cleared + missed > 0 else math.nan
    return ppv, npv
