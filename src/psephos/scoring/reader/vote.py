"""A whole vote of one case: voters, weights, readout and target."""

# pyright: standard

import bisect
import hashlib
import math
import struct
from functools import cached_property
from statistics import NormalDist
from typing import Any

from psephos.scoring.reader.target import target_of
from psephos.vote.reading.answered import needing_all, tied, unanswered
from psephos.vote.reading.core import (
    CALIBRATIONS,
    VOTERS,
    WEIGHTS,
    best,
    exp_shares,
    part_of,
    summed,
)  # fmt: skip

_TIE_OF_SHARES = 1e-12


class ScoredCase:
    """The vote on a case.

    It has the (T, K) votes that enter the score, the (T,) or (T, K) weights, the (T, K) shares that
    multiply the votes, the (K,) score, and the mass.
    """

    def __init__(self, votes: Any, weights: Any, shares: Any, score: Any, mass: float) -> None:
        self.votes, self.weights, self.shares = votes, weights, shares
        self.score, self.mass = score, mass


class WholeVote:
    """The vote of a plain model, which predicts one case at a time."""

    def __init__(self, data: dict[str, Any]) -> None:
        self.data = data
        self.voters = part_of(VOTERS, data["voters"])
        self.weights = part_of(WEIGHTS, data["weighting"])
        self.readout, self.target = data["readout"], target_of(data["target"])
        kept = self.readout["calibration"]
        self.calibration = part_of(CALIBRATIONS, kept) if kept else None
        self.quantiles: list[float] = []  # to write of a predicted distribution

    def scored(self, x: Any) -> ScoredCase:
        """Return the vote on a case of values x: categories as codes, NaN where missing."""
        votes = self.voters.votes(x)
        if hasattr(self.weights, "of_votes"):
            weights, log_scale = self.weights.of_votes(votes, self.target), 0.0
        else:
            weights, log_scale = self.weights.weights(x)
        shares, terms = self._terms(votes, weights, log_scale, x)
        mass = summed(map(_size, weights))
        plain = self.readout["score"] == "normalised" and not isinstance(weights[0], list)
        by = [[w] * len(votes[0]) for w in weights] if plain else shares
        score = [0.0] * len(votes[0])
        for share, vote in zip(by, terms, strict=True):
            score = [s + a * v for s, a, v in zip(score, share, vote, strict=True)]
        if plain:  # dividing last keeps equal votes equal to their mean, to the last bit
            score = [s / (mass if mass > 0 else 1.0) for s in score]
        mass *= math.exp(min(log_scale, 700.0)) if log_scale else 1.0
        return ScoredCase(terms, weights, shares, self.target.level(score), mass)

    def _terms(self, votes: Any, weights: Any, log_scale: float, x: Any) -> tuple[Any, Any]:
        """Return the (T, K) shares and the votes that they multiply."""
        how, k = self.readout["score"], len(votes[0])
        if how in ("sum", "normalised"):
            each = [w if isinstance(w, list) else [w] * k for w in weights]
            if how == "sum":
                scale = math.exp(min(log_scale, 700.0)) if log_scale else 1.0
                return [[w * scale for w in row] for row in each], votes
            size = [0.0] * k
            for row in each:
                size = [s + abs(w) for s, w in zip(size, row, strict=True)]
            size = [s if s > 0 else 1.0 for s in size]
            return [[w / s for w, s in zip(row, size, strict=True)] for row in each], votes
        plain = [w[0] if isinstance(w, list) else w for w in weights]
        return _CHOICES[how](votes, plain, x, self)

    def linked(self, score: Any) -> list[float]:
        """Return the probabilities by the link, before calibration."""
        slope, link, k = self.readout["slope"], self.readout["link"], self.target.n_classes
        if self.target.kind == "multilabel":
            if link == "share":
                return [min(max((1.0 + s) / 2.0, 0.0), 1.0) for s in score]
            return [expit(slope * s) for s in score]
        if k == 2:
            half = min(max((1.0 + score[0]) / 2.0, 0.0), 1.0)
            up = half if link == "share" else expit(slope * score[0])
            return [1.0 - up, up]
        if link != "share":
            return exp_shares([slope * s for s in score])
        shares = [max(((k - 1.0) * s + 1.0) / k, 0.0) for s in score]
        total = summed(shares)
        return [share / total for share in shares] if total else [1.0 / k] * k

    def chances(self, case: ScoredCase) -> list[float]:
        """Return the probabilities of a case; empty for regression."""
        if not self.target.n_classes:
            return []
        linked, apart = self.linked(case.score), self.target.kind == "multilabel"
        if self.calibration is None:
            return linked
        return self.calibration.chances(linked, apart, case.mass > 0)

    def decided(self, case: ScoredCase) -> Any:
        """Return the score that decides: that of the calibrated probabilities, if any."""
        if self.calibration is None:
            return case.score
        chances, k = self.chances(case), self.target.n_classes
        if self.target.kind == "multilabel":
            return [2.0 * p - 1.0 for p in chances]
        if k == 2:
            return [2.0 * chances[1] - 1.0]
        return [(k * p - 1.0) / (k - 1) for p in chances]

    @cached_property
    def column_needs(self) -> tuple[list[list[int]], list[bool]]:
        """Return the columns of each voter and of its distances, and whether it needs them all."""
        near = getattr(self.weights, "reads_all", [])
        reads = [sorted({*own, *near}) for own in self.voters.reads]
        return reads, needing_all(self.voters, self.weights)

    def unanswered(self, x: Any, case: ScoredCase) -> str:
        """Return why a case has no prediction; '' if it has one."""
        tie = tied(self.target, self.decided(case))
        return unanswered(x, case.weights, *self.column_needs, tie)

    @property
    def spread(self) -> list[float]:
        """Return the standard deviation of each vote if votes are densities, else []."""
        found = [] if self.target.n_classes else getattr(self.voters, "spread", [])
        return found if all(found) else []

    def around(self, case: ScoredCase) -> list[float]:
        """Return the standard deviation and the `quantiles` of the predicted distribution."""
        if not self.quantiles:
            return []
        each = zip(case.shares, case.votes, self.spread, strict=True)
        found = [(w[0], NormalDist(vote[0], s)) for w, vote, s in each if w[0] > 0]
        middle = sum(w * one.mean for w, one in found)
        variance = sum(w * (one.variance + (one.mean - middle) ** 2) for w, one in found)
        return [math.sqrt(variance), *(_quantile(found, q) for q in self.quantiles)]

    def answer(self, case: ScoredCase) -> Any:
        """Return the label, the list of 0 or 1 for each label, or the number."""
        return self.target.decoded(self.decided(case))


def _quantile(mixture: list[tuple[float, NormalDist]], q: float) -> float:
    """Return the q quantile of a mixture of normal densities, by bisection."""
    low, high = (end(one.inv_cdf(q) for _, one in mixture) for end in (min, max))
    while low < (middle := (low + high) / 2.0) < high:
        below = sum(share * one.cdf(middle) for share, one in mixture)
        low, high = (middle, high) if below < q else (low, middle)
    return middle


def expit(value: float) -> float:
    """Return 1 / (1 + exp(-value))."""
    if value >= 0:
        return 1.0 / (1.0 + math.exp(-value))
    odds = math.exp(value)
    return odds / (1.0 + odds)


def interpolated(value: float, x: list[float], y: list[float]) -> float:
    """Return the line through points (x, y) at a value, constant beyond the ends."""
    i = bisect.bisect_right(x, value) - 1
    if i < 0 or i == len(x) - 1:
        return y[max(i, 0)]
    return (y[i + 1] - y[i]) / (x[i + 1] - x[i]) * (value - x[i]) + y[i]


def label_of(voters: Any, t: int) -> str:
    """Return the name of a voter; '' if it has none."""
    return voters.label(t) if hasattr(voters, "label") else ""


def _size(weight: Any) -> float:
    if not isinstance(weight, list):
        return abs(weight)
    return sum(map(abs, weight)) / len(weight)


# ---------------------------------------------------------------------- readouts other than sums
def _shares_of(weights: Any) -> list[float]:
    total = summed(map(abs, weights))
    return [abs(w) / (total if total > 0 else 1.0) for w in weights]


def _each(shares: list[float], k: int) -> Any:
    return [[share] * k for share in shares]


def _majority(votes: Any, weights: Any, x: Any, vote: Any) -> tuple[Any, Any]:
    voting = [w if any(v) else 0.0 for w, v in zip(weights, votes, strict=True)]
    return _each(_shares_of(voting), len(votes[0])), [vote.target.plainly(v) for v in votes]


def _alone(votes: Any, voter: int) -> tuple[Any, Any]:
    return [[float(t == voter)] * len(votes[0]) for t in range(len(votes))], votes


def _loudest(votes: Any, weights: Any, x: Any, vote: Any) -> tuple[Any, Any]:
    return _alone(votes, best([abs(w) for w in weights]))


def _drawn(votes: Any, weights: Any, x: Any, vote: Any) -> tuple[Any, Any]:
    ends, total = [], 0.0
    for share in _shares_of(weights):
        total += share
        ends.append(total)
    plain = [math.nan if v != v else v + 0.0 for v in x]
    key = vote.readout["seed"].to_bytes(8, "little")
    data = struct.pack(f"<{len(plain)}d", *plain)
    hashed = int.from_bytes(hashlib.blake2b(data, digest_size=8, key=key).digest(), "little") >> 11
    at = hashed / 2.0**53 * total
    return _alone(votes, min(sum(end <= at for end in ends), len(votes) - 1))


def _borda(votes: Any, weights: Any, x: Any, vote: Any) -> tuple[Any, Any]:
    k = len(votes[0])
    if k == 1:
        return _majority(votes, weights, x, vote)
    pairs = zip(weights, votes, strict=True)
    voting = [w if any(one != v[0] for one in v) else 0.0 for w, v in pairs]
    points = [
        [sum(o < one for o in v) + (sum(o == one for o in v) - 1) / 2.0 for one in v] for v in votes
    ]
    terms = [[(k * (p / (k * (k - 1) / 2.0)) - 1.0) / (k - 1) for p in row] for row in points]
    return _each(_shares_of(voting), k), terms


def _by_output(votes: Any, weights: Any, kept_of: Any) -> tuple[Any, Any]:
    """Return shares for each output: `kept_of` of the cumulated shares of the sorted votes."""
    shares, t = _shares_of(weights), len(votes)
    out = [[0.0] * len(votes[0]) for _ in votes]
    for k in range(len(votes[0])):
        order = sorted(range(t), key=lambda i: votes[i][k])
        ends, total = [], 0.0
        for i in order:
            total += shares[i]
            ends.append(total)
        for i, kept in zip(order, kept_of(ends, [shares[i] for i in order]), strict=True):
            out[i][k] = kept
    return out, votes


def _median(votes: Any, weights: Any, x: Any, vote: Any) -> tuple[Any, Any]:
    def kept(ends: list[float], shares: list[float]) -> list[float]:
        low = sum(end < 0.5 - _TIE_OF_SHARES for end in ends)
        high = min(sum(end <= 0.5 + _TIE_OF_SHARES for end in ends), len(ends) - 1)
        out = [0.0] * len(ends)
        out[low] = 0.5
        out[high] = 1.0 if low == high else 0.5
        return out

    return _by_output(votes, weights, kept)


def _trimmed(votes: Any, weights: Any, x: Any, vote: Any) -> tuple[Any, Any]:
    cut = vote.readout["cut"]

    def kept(ends: list[float], shares: list[float]) -> list[float]:
        pairs = zip(ends, shares, strict=True)
        inside = [max(min(end, 1.0 - cut) - max(end - share, cut), 0.0) for end, share in pairs]
        total = summed(inside)
        return [one / total for one in inside]

    return _by_output(votes, weights, kept)


_CHOICES = {
    "majority": _majority, "loudest": _loudest, "drawn": _drawn, "borda": _borda,
    "median": _median, "trimmed mean": _trimmed,
}  # fmt: skip
