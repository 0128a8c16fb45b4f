"""Distances of a case from points, weights by distance, and training cases that vote."""

import math
from collections.abc import Callable
from typing import Any

from psephos.vote.reading.core import NAN, VOTERS, WEIGHTS, filled, of_kind
from psephos.vote.reasons import Always, CaseLike


@of_kind(VOTERS, "prototype voters")
class CaseReader:
    """Training cases that vote for their own class or value, and the prior."""

    def __init__(self, part: dict[str, Any]) -> None:
        self.batches: dict[str, Any] = part["batches"]
        self.cases, self.rows = filled(part["cases"]), part["rows"]
        self.values, self.name, self.n_voters = part["values"], part["name"], len(part["values"])
        self.spread: list[float] = part["spread"]  # of the densities around these values
        columns: list[int] = self.batches["columns"]
        sharp: list[list[float]] = self.batches["inverse_bandwidth"]
        self.sharpest: list[list[int]] = [
            sorted([i for i in range(len(v)) if v[i] > 0], key=v.__getitem__, reverse=True)
            for v in sharp
        ]
        self.batch: list[int] = self.batches["batch"]
        self.reads: list[list[int]] = [
            [] if b < 0 else sorted(columns[i] for i in self.sharpest[b]) for b in self.batch
        ]

    def votes(self, x: Any) -> Any:
        """Return the (T, K) votes."""
        return self.values

    def reasons(self, x: Any, votes: Any = None) -> Any:
        """Return the reasons of the votes."""
        return [self._reason(t, x) for t in range(self.n_voters)]

    def _reason(self, t: int, x: Any) -> Any:
        vote, batch, columns = tuple(self.values[t]), self.batch[t], self.batches["columns"]
        if batch < 0:
            return Always(vote, self.name)
        read = self.sharpest[batch]
        at = tuple(columns[i] for i in read)
        theirs = tuple(self.cases[t][i] for i in read)
        return CaseLike(vote, self.rows[t], at, tuple(x[j] for j in at), theirs)


class SquaredDistances:
    """The squared distances of a case from points."""

    def __init__(self, part: dict[str, Any]) -> None:
        self.part, batches = part, part["batches"]
        self.columns, self.batch = batches["columns"], batches["batch"]
        self.sharp, self.points = batches["inverse_bandwidth"], filled(part["points"])

    def __call__(self, x: Any) -> list[float]:
        """Return (m,) of a case."""
        part = self.part
        scaling = zip(self.columns, part["centre"], part["inverse"], strict=True)
        z = [(x[j] - centre) * inverse for j, centre, inverse in scaling]
        if part["farthest"] < math.inf:
            sizes = [abs(a * v) for a, v in zip(z, self.sharp[0], strict=True) if a == a]
            if max(sizes, default=0.0) > part["farthest"]:
                raise ValueError("a row is so far from the training cases that distances are lost.")
        if part["metric"] == "euclidean":
            pairs = zip(self.points, self.batch, strict=True)
            return [self._square(z, point, b) for point, b in pairs]
        if any(a != a for a in z):
            raise ValueError("a row lacks a value that distances need: give it one.")
        metric, row = _METRICS[part["metric"]], _times(z, self.sharp[0])
        found = [metric(row, _times(point, self.sharp[0])) for point in self.points]
        return _times(found, found)

    def _square(self, z: list[float], point: list[float], b: int) -> float:
        if b < 0:
            return 0.0
        total, known, gaps = 0.0, 0, self.part["gaps"]
        for j, v in enumerate(self.sharp[b]):
            gap = z[j] - point[j]
            if gap != gap:
                total += gaps[b][j] if gaps and v > 0 else 0.0
                continue
            known += 1
            gap = (float(gap != 0) if self.part["is_category"][j] else gap) * v
            total += gap * gap
        if gaps or known == len(z):
            return total
        absent: float = self.part["absent"]
        return total * (len(z) / known) if known else absent * absent


def _of_greatest(logs: list[float]) -> tuple[list[float], float]:
    """Return exp(logs) divided by the greatest, and its logarithm (0 if it is infinite)."""
    top = max(logs)
    if top == math.inf:
        return [float(log == top) for log in logs], 0.0
    scale = top if top > -math.inf else 0.0
    return [math.exp(log - scale) for log in logs], scale


def _log(value: float) -> float:
    return math.log(value) if value > 0 else -math.inf


def _inverse_power(profile: dict[str, Any], u: list[float], mass: list[float]) -> Any:
    """Return (1 / (a^b + d^b) times mass, log scale)."""
    apart, unit = [math.sqrt(one) for one in u], profile["scale"]
    if profile["per_query"]:
        total = 0.0
        for d, g in zip(apart, mass, strict=True):
            total += g * d
        unit = total if total > 0 else unit
    floor, logs = profile["b"] * _log(profile["a"]), list[float]()
    for d in apart:
        power = profile["b"] * (_log(d) - math.log(unit))
        top, low = max(floor, power), min(floor, power)
        more = math.log1p(math.exp(low - top)) if low > -math.inf else 0.0
        logs.append(-(top + more))
    near, scale = _of_greatest(logs)
    return _times(near, mass), scale


def _gaussian(profile: dict[str, Any], u: list[float], mass: list[float]) -> Any:
    """Return (exp(-u / 2) times mass, log scale)."""
    near, scale = _of_greatest([-0.5 * one for one in u])
    return _times(near, mass), scale


def _k_nearest(profile: dict[str, Any], u: list[float], mass: list[float]) -> Any:
    """Return (counted mass of the nearest, divided by their distance if `by_distance`; 0)."""
    k, near, out = profile["k"], list[tuple[int, float]](), [0.0] * len(u)
    apart, left = [math.sqrt(one) for one in u], float(profile["k"])
    for i in sorted(range(len(u)), key=lambda i: apart[i]):
        if left <= k * 1e-12 or apart[i] == math.inf:
            break
        near.append((i, min(left, mass[i])))
        left -= mass[i]
    if not near and profile["needed"]:
        raise ValueError("a row has a value in no column in which a training case has one.")
    same = any(apart[i] == 0 for i, _ in near)
    for i, counted in near:
        out[i] = counted
        if profile["by_distance"]:
            out[i] *= float(apart[i] == 0) if same else 1.0 / apart[i]
    return out, 0.0


_PROFILES: dict[str, Callable[[dict[str, Any], list[float], list[float]], Any]] = {
    "inverse power": _inverse_power, "gaussian profile": _gaussian, "k nearest": _k_nearest,
}  # fmt: skip


@of_kind(WEIGHTS, "distance weights")
class DistanceWeightsOf:
    """Weights by the distance from points."""

    def __init__(self, part: dict[str, Any]) -> None:
        self.squares, self.mass = SquaredDistances(part["distance"]), part["mass"]
        self.profile, table = part["profile"], part["table"]
        self.voter, self.table = table.get("voter"), table.get("degrees")
        self.reads_all: list[int] = [] if self.voter is not None else self.squares.columns
        if table["kind"] == "right or wrong":
            values = table["low"], table["high"]
            self.table = [
                [values[bits[t >> 3] >> (7 - (t & 7)) & 1] for t in range(table["voters"])]
                for bits in table["right"]
            ]

    def weights(self, x: Any) -> Any:
        """Return ((T,) weights, log scale)."""
        near, scale = _PROFILES[self.profile["kind"]](self.profile, self.squares(x), self.mass)
        return self._summed(near), scale

    def _summed(self, near: list[float]) -> list[float]:
        if self.voter is not None:
            return [near[i] for i in self.voter]
        out = [0.0] * len(self.table[0])
        for one, row in zip(near, self.table, strict=True):
            out = [a + one * e for a, e in zip(out, row, strict=True)]
        return out

    def similarities(self, x: Any) -> Any:
        """Return (T,): the Gaussian kernel of the case and each point; None of other profiles."""
        if self.profile["kind"] != "gaussian profile":
            return None
        return self._summed([math.exp(-0.5 * u) for u in self.squares(x)])


# ---------------------------------------------------------------------- distances by name
def _times(x: list[float], by: list[float]) -> list[float]:
    return [a * b for a, b in zip(x, by, strict=True)]


def _ratio(over: float, under: float) -> float:
    return over / under if under else (0.0 if not over else math.inf)


def _cosine(x: list[float], z: list[float]) -> float:
    both = sum(a * b for a, b in zip(x, z, strict=True))
    size = math.sqrt(sum(a * a for a in x)) * math.sqrt(sum(b * b for b in z))
    return 1.0 - both / size if size else NAN


def _correlation(x: list[float], z: list[float]) -> float:
    first, second = sum(x) / len(x), sum(z) / len(z)
    return _cosine([a - first for a in x], [b - second for b in z])


def _pairs(x: list[float], z: list[float]) -> Any:
    return zip(x, z, strict=True)


def _jaccard(x: list[float], z: list[float]) -> float:
    some = [(a, b) for a, b in _pairs(x, z) if a or b]
    return sum(a != b for a, b in some) / len(some) if some else 0.0


_METRICS: dict[str, Callable[[list[float], list[float]], float]] = {
    "manhattan": lambda x, z: sum(abs(a - b) for a, b in _pairs(x, z)),
    "chebyshev": lambda x, z: max((abs(a - b) for a, b in _pairs(x, z)), default=0.0),
    "cosine": _cosine,
    "correlation": _correlation,
    "braycurtis": lambda x, z: _ratio(
        sum(abs(a - b) for a, b in _pairs(x, z)), sum(abs(a + b) for a, b in _pairs(x, z))
    ),
    "canberra": lambda x, z: sum(abs(a - b) / (abs(a) + abs(b)) for a, b in _pairs(x, z) if a or b),
    "hamming": lambda x, z: sum(a != b for a, b in _pairs(x, z)) / max(len(x), 1),
    "jaccard": _jaccard,
}
