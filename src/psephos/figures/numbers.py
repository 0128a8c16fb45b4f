"""Figures of predicted numbers: R^2, errors, the regression line of the truth on predictions.

Figures that are ratios of means have the interval of their linearisation: the influence of each
case is averaged, so that groups count as in `mean`.
"""

import math
from dataclasses import replace

import numpy as np

from psephos._types import ArrayLike, Floats, PerRow
from psephos.figures.estimate import Estimate, mean, numbers, undefined

__all__ = ["number_line", "r2", "rmse"]


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
    return (
        _linear(start + rest * (1 - predicted.mean() * apart / power), groups, level),
        _linear(slope + rest * apart / power, groups, level),
    )


def _linear(influence: Floats, groups: PerRow, level: float) -> Estimate:
    found = mean(influence, groups, level)
    return replace(found, method=f"{found.method}, linearised")
