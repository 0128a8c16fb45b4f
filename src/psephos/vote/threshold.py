"""Thresholds of the probability from which one of two classes is predicted."""

import math
from dataclasses import replace
from typing import Any

from psephos._errors import PsephosError
from psephos.vote.reading.core import LEVEL
from psephos.vote.target import Target, ThresholdTarget
from psephos.vote.vote import Vote


def at_threshold(vote: Vote, threshold: Any, positive: int = 1) -> Vote:
    """Return the vote that predicts a class where its probability is at least `threshold`.

    Parameters
    ----------
    vote : Vote
        A vote of two classes; a threshold that it has is replaced.
    threshold : float
        Above 0 and below 1.
    positive : int, default=1
        The index of the class.

    Raises
    ------
    PsephosError
        If there are not two classes, losses decide already, or the threshold is not above 0 and
        below 1.
    """
    target: Any = vote.target
    if type(target) not in (Target, ThresholdTarget) or target.n_classes != 2:
        what = "labels" if target.kind == "multilabel" else f"{target.n_classes} classes"
        what = "losses of answers" if target.n_classes == 2 and what != "labels" else what
        what = what if target.n_classes else "numbers"
        raise PsephosError(f"a threshold is for a model of two classes, and this one has {what}.")
    whole = isinstance(threshold, bool) or not isinstance(threshold, int | float)
    if whole or not 0.0 < threshold < 1.0:
        raise PsephosError(f"threshold must be a number above 0 and below 1; got {threshold!r}.")
    second = threshold if positive == 1 else 1.0 - threshold
    readout = vote.readout
    if readout.calibration is None and readout.link == "logistic":
        cut = math.log(second / (1.0 - second)) / readout.slope
    else:
        cut = 2.0 * second - 1.0
    bound = cut - LEVEL if positive == 1 else cut + LEVEL
    return replace(vote, target=ThresholdTarget(target.classes, positive, float(threshold), bound))


def with_calibration(vote: Vote, calibration: Any) -> Vote:
    """Return the vote with this calibration; a threshold is kept, for calibrated probabilities."""
    mapped = replace(vote, readout=replace(vote.readout, calibration=calibration))
    target = vote.target
    if not isinstance(target, ThresholdTarget):
        return mapped
    return at_threshold(mapped, target.threshold, target.positive)
