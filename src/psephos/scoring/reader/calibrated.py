"""Calibration maps of probabilities."""

# pyright: standard

import math
from typing import Any

from psephos.scoring.reader.vote import expit, interpolated
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

    def chances(self, chances: Any, apart: bool, has_weight: bool) -> list[float]:
        """Return the calibrated probabilities."""
        pairs = zip(self.maps, chances, strict=True)
        return _to_one([expit(a * _log_odds_of(p, self.least) + b) for (a, b), p in pairs], apart)


@of_kind(CALIBRATIONS, "temperature calibration")
class Tempered:
    """Probabilities to the power 1 / t."""

    def __init__(self, part: dict[str, Any]) -> None:
        self.t, self.least = part["t"], part.get("least", 0.0)

    def chances(self, chances: Any, apart: bool, has_weight: bool) -> list[float]:
        """Return the calibrated probabilities."""
        if apart:
            return [expit(_log_odds_of(p, self.least) / self.t) for p in chances]
        return exp_shares([math.log(_moved(p, self.least)) / self.t for p in chances])


@of_kind(CALIBRATIONS, "isotonic calibration")
class IsotonicReader:
    """A rising piecewise linear function for each class."""

    def __init__(self, part: dict[str, Any]) -> None:
        self.maps = list(zip(part["given"], part["told"], strict=True))

    def chances(self, chances: Any, apart: bool, has_weight: bool) -> list[float]:
        """Return the calibrated probabilities."""
        pairs = zip(self.maps, chances, strict=True)
        return _to_one([interpolated(p, x, y) for (x, y), p in pairs], apart)


@of_kind(CALIBRATIONS, "table of posteriors")
class Posteriors:
    """A table of posteriors by the share of voters for a class."""

    def __init__(self, part: dict[str, Any]) -> None:
        self.posterior, self.prior = part["posterior"], part["prior"]

    def chances(self, chances: Any, apart: bool, has_weight: bool) -> list[float]:
        """Return the posteriors; the prior where no voter has a weight."""
        if not has_weight and self.prior:
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

    def chances(self, chances: Any, apart: bool, has_weight: bool) -> list[float]:
        """Return the weighted probabilities."""
        if self.of is not None:
            chances = self.of.chances(chances, apart, has_weight)
        weighed = [p * w for p, w in zip(chances, self.weight, strict=True)]
        return _to_one(weighed if any(weighed) else [float(w > 0) for w in self.weight], apart)
