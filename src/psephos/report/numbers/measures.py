"""What a threshold on held-out answers costs: counts, four measures, and their intervals."""

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit

from psephos.explain.dodging import UNIT
from psephos.figures import Estimate, confusion, predictive_values, wilson
from psephos.figures.groups import quantile

__all__ = ["TENTHS", "UNIT", "Counts", "counts_at", "four", "in_units", "lowered", "predictive"]

TENTHS = tuple(k / 10 for k in range(1, 10))
_Z = quantile(0.95)


@dataclass(frozen=True)
class Counts:
    """The confusion table of two classes, the positive one first."""

    found: int  # positive and called so
    missed: int
    alarms: int  # negative and called positive
    cleared: int

    @property
    def positive(self) -> int:
        """Return the number of positive cases."""
        return self.found + self.missed

    @property
    def negative(self) -> int:
        """Return the number of the other cases."""
        return self.alarms + self.cleared


def in_units(answers: NDArray[np.float64]) -> NDArray[np.int64]:
    """Return answers in millionths, rounded down; what lies within 1e-9 of the next, to it.

    A case is called positive from a threshold t on if its answer in millionths is at least that
    of t: answers that equal the threshold up to rounding errors are called.
    """
    return np.floor(answers * UNIT + 1e-3).astype(np.int64)


def counts_at(units: NDArray[np.int64], positive: NDArray[np.bool_], threshold: float) -> Counts:
    """Return the confusion table of a threshold.

    Parameters
    ----------
    units : ndarray of shape (n,)
        Answers in millionths (`in_units`).
    threshold : float
        A case is called positive if its answer is at least this.
    """
    called = units >= round(threshold * UNIT)
    return Counts(
        found=int((called & positive).sum()),
        missed=int((~called & positive).sum()),
        alarms=int((called & ~positive).sum()),
        cleared=int((~called & ~positive).sum()),
    )


def lowered(answers: NDArray[np.float64], edges: Sequence[float]) -> NDArray[np.float64]:
    """Return answers lowered to the edge at or below each: called alike from every edge on."""
    places = np.searchsorted([round(e * UNIT) for e in edges], in_units(answers), "right") - 1
    return np.asarray(edges)[places]


def four(
    units: NDArray[np.int64],
    positive: NDArray[np.bool_],
    threshold: float,
    groups: NDArray[np.intp] | None = None,
) -> list[Estimate]:
    """Return sensitivity, specificity, PPV and NPV; with groups these are independent, not cases.

    The intervals are Wilson's, with groups at the number of independent cases (Rao & Scott).
    """
    found = confusion(positive, units >= round(threshold * UNIT), groups)
    return [found.sensitivity, found.specificity, found.ppv, found.npv]


def predictive(counts: Counts, prevalence: float) -> list[Estimate]:
    """Return PPV and NPV where the share of positive cases is another, in (0, 1).

    Notes
    -----
    The intervals are those on the logit scale of Mercaldo, Lau & Zhou (Statistics in Medicine 26,
    2007): with sensitivity s and specificity c of m and n cases, the variance of logit PPV is
    (1 - s) / (s m) + c / ((1 - c) n), that of logit NPV s / ((1 - s) m) + (1 - c) / (c n). They
    take the prevalence as known and cases as independent. Where a count is zero, half a case is
    added to each of the four, for the interval only.
    """
    m, n = counts.positive, counts.negative
    if not m or not n:
        return [wilson(0, 0), wilson(0, 0)]
    ppv, npv = predictive_values(counts.found / m, counts.cleared / n, prevalence)
    odds = math.log(prevalence / (1 - prevalence))
    return [
        _at(ppv, counts.found, counts.alarms, m, n, odds),
        _at(npv, counts.cleared, counts.missed, n, m, -odds),
    ]


def _at(value: float, right: int, wrong: int, of: int, other: int, odds: float) -> Estimate:
    """Return a predictive value with Mercaldo's interval: `right` of `of`, `wrong` of `other`."""
    if math.isnan(value):
        return wilson(0, 0)
    add = 0.5 if min(right, wrong, of - right, other - wrong) == 0 else 0.0
    a, b = (right + add) / (of + 2 * add), (wrong + add) / (other + 2 * add)
    middle = odds + math.log(a) - math.log(b)
    half = _Z * math.sqrt((1 - a) / (a * (of + 2 * add)) + (1 - b) / (b * (other + 2 * add)))
    low, high = min(float(expit(middle - half)), value), max(float(expit(middle + half)), value)
    return Estimate(value, low, high, of + other, "Mercaldo, Lau and Zhou")
