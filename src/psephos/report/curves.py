"""Curves of held-out answers over all thresholds: ROC, precision, calibration, net benefit."""

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit, logit
from scipy.stats import rankdata

from psephos.report.measures import wilson

__all__ = ["Area", "Steps", "area", "calibration", "net_benefit", "steps", "worth"]

_Z = 1.959963984540054
_LEAST = 0.05  # a stretch of thresholds that is named is at least as long

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class Steps:
    """What is found, and at how many false alarms, from each answer that occurs downwards.

    The first step calls nobody; its threshold is infinite.
    """

    threshold: Floats  # (s,) falling
    found: NDArray[np.int64]  # (s,) positive cases called
    alarms: NDArray[np.int64]  # (s,) other cases called


def steps(answers: Floats, positive: NDArray[np.bool_]) -> Steps:
    """Return the steps of a model's answers; of equal answers all are called at once."""
    order = np.argsort(-answers, kind="stable")
    ranked, hit = answers[order], positive[order]
    last = np.append(np.flatnonzero(np.diff(ranked)), len(ranked) - 1)
    return Steps(
        threshold=np.append(np.inf, ranked[last]),
        found=np.append(0, np.cumsum(hit)[last]),
        alarms=np.append(0, np.cumsum(~hit)[last]),
    )


@dataclass(frozen=True)
class Area:
    """The area under the ROC curve with its 95 % interval; NaN of a single class."""

    value: float
    low: float
    high: float


def area(answers: Floats, positive: NDArray[np.bool_]) -> Area:
    """Return the area under the ROC curve of pooled answers, and DeLong's interval.

    Notes
    -----
    DeLong, DeLong & Clarke-Pearson (Biometrics 44, 1988), by midranks as Sun & Xu (IEEE Signal
    Processing Letters 21, 2014); the interval is made on the logit scale, so that it stays within
    0 and 1. It takes cases as independent and the model as given. Of an area of 1, or of 0, the
    variance is zero and says nothing: there is no interval.
    """
    m, n = int(positive.sum()), int((~positive).sum())
    if not m or not n:
        return Area(math.nan, math.nan, math.nan)
    every = rankdata(answers)
    above = (every[positive] - rankdata(answers[positive])) / n  # share of the others below each
    below = 1 - (every[~positive] - rankdata(answers[~positive])) / m
    value = float(above.mean())
    if m < 2 or n < 2 or not 0 < value < 1:
        return Area(value, math.nan, math.nan)
    error = math.sqrt(float(above.var(ddof=1)) / m + float(below.var(ddof=1)) / n)
    half = _Z * error / (value * (1 - value))
    low, high = expit(logit(value) - half), expit(logit(value) + half)
    return Area(value, float(low), float(high))


def calibration(
    answers: Floats, positive: NDArray[np.bool_], bins: int = 5
) -> list[tuple[float, int, int, float, float, float]]:
    """Return how many were positive among those of like answers: fifths of the cases.

    Returns
    -------
    rows : list of (mean answer, cases, positive, share, low, high)
        Groups between quantiles of the answers, as scikit-learn's ``calibration_curve`` with
        ``strategy='quantile'`` makes them; equal answers stay together, so that there may be
        fewer. The interval is Wilson's.
    """
    edges = np.percentile(answers, np.linspace(0, 100, bins + 1))
    which = np.searchsorted(edges[1:-1], answers)
    rows: list[tuple[float, int, int, float, float, float]] = []
    for b in np.unique(which).tolist():
        mine = which == b
        n, k = int(mine.sum()), int(positive[mine].sum())
        rows.append((float(answers[mine].mean()), n, k, *wilson(k, n)))
    return rows


def net_benefit(found: Any, alarms: Any, n: int, threshold: Floats) -> Floats:
    """Return (found - alarms * t / (1 - t)) / n: Vickers & Elkin (Medical Decision Making 2006)."""
    return (found - alarms * threshold / (1 - threshold)) / n


def worth(grid: Floats, model: Floats, everyone: Floats) -> tuple[float, float] | None:
    """Return the longest stretch of thresholds where a model is worth more than no model.

    That is: more than calling everyone positive and than calling nobody. None where no stretch
    is at least 0.05 long.
    """
    better = model > np.maximum(everyone, 0.0) + 1e-9
    edges = np.flatnonzero(np.diff(np.concatenate([[0], better.astype(np.int8), [0]])))
    runs = [(int(a), int(b) - 1) for a, b in zip(edges[::2], edges[1::2], strict=True)]
    if not runs:
        return None
    a, b = max(runs, key=lambda run: run[1] - run[0])
    low, high = float(grid[a]), float(grid[b])
    return (low, high) if high - low >= _LEAST - 1e-9 else None
