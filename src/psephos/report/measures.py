"""What a threshold on held-out answers costs: counts, four measures, and their intervals."""

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit

from psephos.explain.dodging import UNIT

__all__ = ["UNIT", "Counts", "counts_at", "in_units", "predictive", "wilson"]

_Z = 1.959963984540054  # of 95 %


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
    positive : ndarray of shape (n,)
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


def wilson(k: int, n: int) -> tuple[float, float, float]:
    """Return k / n and its 95 % interval by Wilson (1927): NaN of no case.

    The interval takes the n cases as independent draws. It holds what their number leaves open,
    and nothing of how the model would differ had it been fitted to other cases.
    """
    if n == 0:
        return math.nan, math.nan, math.nan
    share, z2 = k / n, _Z * _Z
    middle = (share + z2 / (2 * n)) / (1 + z2 / n)
    half = _Z / (1 + z2 / n) * math.sqrt(share * (1 - share) / n + z2 / (4 * n * n))
    # at either end the exact limit is the end itself
    low, high = middle - half if k else 0.0, middle + half if k < n else 1.0
    return share, low, high


def predictive(counts: Counts, prevalence: float | None = None) -> tuple[Any, Any]:
    """Return PPV and NPV, each with its 95 % interval.

    Parameters
    ----------
    counts : Counts
    prevalence : float, optional
        The share of positive cases where the test is to be used, in (0, 1). By default that of
        the counts, and then the values are shares of counts with Wilson's interval.

    Returns
    -------
    ppv, npv : tuple of (value, low, high)
        NaN where nobody is called so.

    Notes
    -----
    At another prevalence the intervals are those on the logit scale of Mercaldo, Lau & Zhou
    (Statistics in Medicine 26, 2007): with sensitivity s and specificity c of m and n cases, the
    variance of logit PPV is (1 - s) / (s m) + c / ((1 - c) n), that of logit NPV
    s / ((1 - s) m) + (1 - c) / (c n). They take the prevalence as known. Where a count is zero,
    half a case is added to each of the four, for the interval only.
    """
    if prevalence is None:
        called, passed = counts.found + counts.alarms, counts.missed + counts.cleared
        return wilson(counts.found, called), wilson(counts.cleared, passed)
    odds = math.log(prevalence / (1 - prevalence))
    return _at(counts, odds, 1), _at(counts, odds, -1)


def _at(counts: Counts, odds: float, side: int) -> tuple[float, float, float]:
    """Return the predictive value of one side (1: PPV) at these log-odds of being positive."""
    m, n = counts.positive, counts.negative
    right, wrong = (counts.found, counts.alarms) if side > 0 else (counts.cleared, counts.missed)
    of, other = (m, n) if side > 0 else (n, m)
    if right + wrong == 0 or not of or not other:
        return math.nan, math.nan, math.nan
    said = right / of * math.exp(side * odds)
    value = said / (said + wrong / other)
    add = 0.5 if min(right, wrong, of - right, other - wrong) == 0 else 0.0
    a, b = (right + add) / (of + 2 * add), (wrong + add) / (other + 2 * add)
    middle = side * odds + math.log(a) - math.log(b)
    half = _Z * math.sqrt((1 - a) / (a * (of + 2 * add)) + (1 - b) / (b * (other + 2 * add)))
    low, high = float(expit(middle - half)), float(expit(middle + half))
    return value, min(low, value), max(high, value)
