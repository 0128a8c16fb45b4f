"""Where the values of a column stand, and the pieces on which a model says one thing."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

_STEPS = 48  # pieces of an axis on which an answer changes gradually
_SPAN = 20.0  # a logarithmic axis is for values that span more than so many fold
_MOST = 48  # thresholds that divide an axis; of more, evenly spaced ones
_NEAR = 1e-6  # of the axis, or of a value on a logarithmic one: beyond single precision
_PAD = 0.02  # of the axis, beyond the values
_Floats = NDArray[np.float64]


@dataclass(frozen=True)
class Axis:
    """The axis of a column of numbers."""

    log: bool  # only where no value is negative and the positive ones span more than twenty-fold
    low: float  # a little beyond the values; of the positive ones where it is logarithmic
    high: float
    zero: bool  # whether zero has a place of its own, before a logarithmic axis
    missing: bool  # whether a value is missing

    def middle(self, low: float, high: float) -> float:
        """Return the value halfway between two on the axis."""
        if self.log:
            return math.sqrt(low) * math.sqrt(high)
        return low + (high - low) / 2

    def spaced(self, pieces: int) -> list[float]:
        """Return the ends of so many pieces of equal length."""
        if self.log:
            ends = np.exp(np.linspace(math.log(self.low), math.log(self.high), pieces + 1))
        else:
            ends = np.linspace(self.low, self.high, pieces + 1)
        return [self.low, *ends[1:-1].tolist(), self.high]

    def data(self) -> dict[str, Any]:
        """Return the axis as plain values."""
        return {
            "log": self.log, "low": self.low, "high": self.high, "zero": self.zero,
            "missing": self.missing,
        }  # fmt: skip


@dataclass(frozen=True)
class Pieces:
    """The pieces of an axis."""

    ends: list[float]  # one more than there are pieces, sorted
    inside: list[float]  # a value within each piece
    steps: list[float]  # the thresholds among the ends
    beside: list[tuple[float, float]]  # for each of these a value just below it and one just above


def axis_of(values: _Floats, thresholds: Sequence[float] = ()) -> Axis:
    """Return the axis of the values of a column, NaN where missing.

    Thresholds that a model asks for lie on it as well.
    """
    known = values[np.isfinite(values)]
    missing = bool(np.isnan(values).any())
    positive = known[known > 0]
    log = bool(len(positive) and known.min() >= 0 and positive.max() / _SPAN > positive.min())
    drawn = positive if log else known
    asked = [t for t in thresholds if math.isfinite(t) and (t > 0 or not log)]
    every = [*drawn.tolist(), *asked] or [0.0]
    low, high = min(every), max(every)
    if low == high:
        size = abs(low) / 2 or 0.5
        low, high = low - size, high + size
    elif log:
        pad = (high / low) ** _PAD
        low, high = low / pad, high * pad
    else:
        pad = _PAD * high - _PAD * low
        low, high = low - pad, high + pad
    return Axis(log, low, high, log and bool((known == 0).any()), missing)


def pieces_of(axis: Axis, thresholds: Sequence[float], gradual: bool, even: int = _STEPS) -> Pieces:
    """Return the pieces of an axis: between thresholds and, where the answer is gradual, even ones.

    Of more than 48 thresholds, as many evenly spaced ones divide it.
    """
    steps = sorted({t for t in thresholds if axis.low < t < axis.high})
    if len(steps) > _MOST:
        at: list[int] = np.linspace(0, len(steps) - 1, _MOST).round().astype(int).tolist()
        steps = [steps[i] for i in at]
    spaced = axis.spaced(even) if gradual or not steps else [axis.low, axis.high]
    ends = sorted({*spaced, *steps})
    inside = [axis.middle(a, b) for a, b in pairwise(ends)]
    beside = [_beside(axis, ends, t) for t in steps]
    return Pieces(ends, inside, steps, beside)


def _beside(axis: Axis, ends: Sequence[float], at: float) -> tuple[float, float]:
    """Return a value just below a threshold and one just above, with none other between."""
    i = ends.index(at)
    near = _NEAR * at if axis.log else _NEAR * (axis.high - axis.low)
    return max(at - near, (ends[i - 1] + at) / 2), min(at + near, (at + ends[i + 1]) / 2)
