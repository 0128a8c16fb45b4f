"""Monotone maps from the probabilities of a link to others."""

# pyright: standard

import bisect
import math
from typing import Any

from psephos.scoring.reader.vote import expit
from psephos.vote.reading.core import CALIBRATIONS, exp_shares, of_kind, part_of, summed

_LEAST_CHANCE = 1e-12


def _moved(p: float, least: float, most: float = 1.0) -> float:
    return min(max(least + (1.0 - 2.0 * least) * p, _LEAST_CHANCE), most)


def _log_odds_of(p: float, least: float) -> float:
    p = _moved(p, least, 1.0 - _LEAST_CHANCE)
    return math.log(p / (1.0 - p))


def _to_one(chances: list[float], apart: bool) -> list[float]:
    if apart:
        return chances
    total = summed(chances)
    return [c / total for c in chances] if total > 0 else [1.0 / len(chances)] * len(chances)


@of_kind(CALIBRATIONS, "sigmoid calibration")
class Platt:
    """Platt's map."""

    def __init__(self, part: dict[str, Any]) -> None:
        self.maps = list(zip(part["slope"], part["offset"], strict=True))
        self.least = part.get("least", 0.0)

    def chances(self, chances: Any, apart: bool, heard: bool) -> list[float]:
        """Return the calibrated probabilities."""
        pairs = zip(self.maps, chances, strict=True)
        return _to_one([expit(a * _log_odds_of(p, self.least) + b) for (a, b), p in pairs], apart)


@of_kind(CALIBRATIONS, "temperature calibration")
class Tempered:
    """Probabilities to the power 1 / t."""

    def __init__(self, part: dict[str, Any]) -> None:
        self.t, self.least = part["t"], part.get("least", 0.0)

    def chances(self, chances: Any, apart: bool, heard: bool) -> list[float]:
        """Return the calibrated probabilities."""
        if apart:
            return [expit(_log_odds_of(p, self.least) / self.t) for p in chances]
        return exp_shares([math.log(_moved(p, self.least)) / self.t for p in chances])


@of_kind(CALIBRATIONS, "isotonic calibration")
class IsotonicReader:
    """A rising line through points, class by class."""

    def __init__(self, part: dict[str, Any]) -> None:
        self.maps = list(zip(part["given"], part["told"], strict=True))

    def chances(self, chances: Any, apart: bool, heard: bool) -> list[float]:
        """Return the calibrated probabilities."""
        pairs = zip(self.maps, chances, strict=True)
        return _to_one([interpolated(p, x, y) for (x, y), p in pairs], apart)


def interpolated(value: float, x: list[float], y: list[float]) -> float:
    """Return the line through points (x, y) at a value, level beyond the ends."""
    i = bisect.bisect_right(x, value) - 1
    if i < 0 or i == len(x) - 1:
        return y[max(i, 0)]
    return (y[i + 1] - y[i]) / (x[i + 1] - x[i]) * (value - x[i]) + y[i]


@of_kind(CALIBRATIONS, "table of posteriors")
class Posteriors:
    """The posterior of so many that say yes."""

    def __init__(self, part: dict[str, Any]) -> None:
        self.posterior, self.prior = part["posterior"], part["prior"]

    def chances(self, chances: Any, apart: bool, heard: bool) -> list[float]:
        """Return the posteriors; the prior where no voter has a weight."""
        if not heard and self.prior:
            return _to_one(self.prior, apart)
        found = []
        for p, row in zip(chances, self.posterior, strict=True):
            found.append(row[min(max(round(p * (len(row) - 1)), 0), len(row) - 1)])
        return _to_one(found, apart)


@of_kind(CALIBRATIONS, "class votes")
class Weighed:
    """Probabilities times the weights of their classes."""

    def __init__(self, part: dict[str, Any]) -> None:
        self.weight = part["weight"]
        self.of = part_of(CALIBRATIONS, part["of"]) if part["of"] else None

    def chances(self, chances: Any, apart: bool, heard: bool) -> list[float]:
        """Return the weighed probabilities."""
        if self.of is not None:
            chances = self.of.chances(chances, apart, heard)
        weighed = [p * w for p, w in zip(chances, self.weight, strict=True)]
        return _to_one(weighed if any(weighed) else [float(w > 0) for w in self.weight], apart)
