"""Net benefit: what a threshold is worth, in cases found for each case seen."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from psephos._errors import PsephosError
from psephos.figures.calling import called
from psephos.figures.estimate import Estimate, mean, numbers, refuse_improbable, truths


@dataclass(frozen=True)
class NetBenefit:
    """The net benefit of a model at a threshold, beside that of treating all; of none it is 0."""

    threshold: float
    model: Estimate
    everyone: Estimate


def net_benefit(
    truth: Any, p: Any, thresholds: Sequence[float], groups: Any = None, level: float = 0.95
) -> list[NetBenefit]:
    """Return TP / n - FP / n * t / (1 - t) at each threshold t (Vickers & Elkin 2006).

    It is a mean over cases (1 for a case found, -t / (1 - t) for a false alarm, else 0), and its
    interval is that mean's. Who is called at t, `called` tells.

    Parameters
    ----------
    truth : array of shape (n,), bool
    p : array of shape (n,)
        Probabilities of the positive class; only calibrated ones have the thresholds' meaning.
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
            raise PsephosError(f"a threshold is {t!r}; it must be at least 0 and below 1.")
        worth = np.where(truth, 1.0, -t / (1.0 - t))
        model = mean(np.where(called(p, t), worth, 0.0), groups, level)
        found.append(NetBenefit(float(t), model, mean(worth, groups, level)))
    return found
