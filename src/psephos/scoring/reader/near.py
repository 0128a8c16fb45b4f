"""Training cases: those that vote, and weights by how near they are."""

import math
from typing import Any

from psephos.vote.reading.core import NAN, VOTERS, WEIGHTS, filled, of_kind
from psephos.vote.reasons import Always, CaseLike


@of_kind(VOTERS, "training cases")
class Cases:
    """Training cases that vote for their own answer."""

    def __init__(self, part: dict[str, Any]) -> None:
        self.columns, self.cases, self.rows = part["columns"], filled(part["cases"]), part["rows"]
        self.values, self.n_voters = part["values"], len(part["rows"])
        self.reads = [self.columns] * self.n_voters

    def votes(self, x: Any) -> Any:
        """Return the (T, K) votes."""
        return self.values

    def reasons(self, x: Any) -> Any:
        """Return why."""
        read = tuple(x[j] for j in self.columns)
        columns = tuple(self.columns)
        return [
            CaseLike(tuple(vote), row, columns, read, tuple(case))
            for vote, row, case in zip(self.values, self.rows, self.cases, strict=True)
        ]


@of_kind(VOTERS, "prototype voters")
class Prototypes:
    """Prototypes and the prior."""

    def __init__(self, part: dict[str, Any]) -> None:
        self.batches, self.cases, self.rows = part["batches"], filled(part["cases"]), part["rows"]
        self.values, self.name, self.n_voters = part["values"], part["name"], len(part["values"])
        columns, sharp = self.batches["columns"], self.batches["inverse_bandwidth"]
        self.sharpest = [
            [i for i in sorted(range(len(v)), key=lambda i: -v[i]) if v[i] > 0] for v in sharp
        ]
        self.reads = [
            [] if b < 0 else sorted(columns[i] for i in self.sharpest[b])
            for b in self.batches["batch"]
        ]

    def votes(self, x: Any) -> Any:
        """Return the (T, K) votes."""
        return self.values

    def reasons(self, x: Any) -> Any:
        """Return why."""
        return [self._reason(t, x) for t in range(self.n_voters)]

    def _reason(self, t: int, x: Any) -> Any:
        vote, batch, columns = (
            tuple(self.values[t]),
            self.batches["batch"][t],
            self.batches["columns"],
        )
        if batch < 0:
            return Always(vote, self.name)
        read = self.sharpest[batch]
        at = tuple(columns[i] for i in read)
        theirs = tuple(self.cases[t][i] for i in read)
        return CaseLike(vote, self.rows[t], at, tuple(x[j] for j in at), theirs)


class _Distance:
    """The distance of SamBA's similarity and of nearest neighbours."""

    def __init__(self, cases: Any, columns: Any, scale: Any, category: Any, absent: float) -> None:
        self.cases, self.columns = filled(cases), columns
        self.inverse, self.category, self.absent = [1.0 / s for s in scale], category, absent

    def squares(self, x: Any) -> list[float]:
        """Return the squared distance to every case."""
        q, row = len(self.columns), [x[j] for j in self.columns]
        found = []
        for case in self.cases:
            total, both = 0.0, 0
            for value, there, by, category in zip(
                row, case, self.inverse, self.category, strict=True
            ):
                if value != value or there != there:
                    continue
                both += 1
                gap = (by if value != there else 0.0) if category else (value - there) * by
                total += gap * gap
            if both < q:
                total = total * (q / both) if both else self.absent * self.absent
            found.append(total)
        return found


def _log_sum(a: float, b: float) -> float:
    """Return log(exp(a) + exp(b))."""
    top, low = max(a, b), min(a, b)
    return top if low == -math.inf else top + math.log1p(math.exp(low - top))


class _Similarity:
    """SamBA's similarity to the anchors, each times the weight of the anchor."""

    def __init__(self, part: dict[str, Any]) -> None:
        s = part["similarity"]
        self.a, self.b, self.scale, self.per_query = s["a"], s["b"], s["scale"], s["per_query"]
        self.anchor_weight = part["anchor_weight"]
        self.distance = _Distance(
            part["anchors"], part["columns"], s["column_scale"], s["is_category"], s["absent"]
        )

    def relative(self, x: Any) -> tuple[list[float], float]:
        """Return ((m,) similarities times anchor weights, log scale)."""
        squares, scale = self.distance.squares(x), self.scale
        if self.per_query:
            scale = 0.0
            for u, g in zip(squares, self.anchor_weight, strict=True):
                scale += g * math.sqrt(u)
        by = 1.0 / scale if scale > 0 else 1.0
        weights = self._plain([u * by * by for u in squares])
        log_scale = 0.0
        if weights is None:
            weights, log_scale = self._far([u * by * by for u in squares])
        return [w * g for w, g in zip(weights, self.anchor_weight, strict=True)], log_scale

    def _plain(self, squares: list[float]) -> list[float] | None:
        """Return 1 / (a^b + d^b); None where that leaves the range of numbers."""
        try:
            floor = self.a**self.b
            sizes = [floor + u ** (0.5 * self.b) for u in squares]
        except OverflowError:
            return None
        tame = all(1e-250 < size < 1e250 for size in sizes)
        return [1.0 / size for size in sizes] if tame else None

    def _far(self, squares: list[float]) -> tuple[list[float], float]:
        """Return the same, of the greatest, by logarithms."""
        if self.a == 0 and 0.0 in squares:
            return [float(u == 0.0) for u in squares], 0.0
        floor = self.b * math.log(self.a) if self.a > 0 else -math.inf
        logs = [
            -_log_sum(floor, 0.5 * self.b * math.log(u) if u > 0 else -math.inf) for u in squares
        ]
        top = max(logs)
        return [math.exp(log - top) for log in logs], top


@of_kind(WEIGHTS, "local")
class LocalWeights:
    """Weights by who was right about the anchors that are near."""

    def __init__(self, part: dict[str, Any]) -> None:
        self.similarity, self.low, self.high = _Similarity(part), part["low"], part["high"]
        self.right = [
            [bits[t >> 3] >> (7 - (t & 7)) & 1 for t in range(part["voters"])]
            for bits in part["right"]
        ]
        self.n_voters = part["voters"]

    def weights(self, x: Any) -> Any:
        """Return ((T,) weights, log scale)."""
        near, log_scale = self.similarity.relative(x)
        total, where_right = 0.0, [0.0] * self.n_voters
        for weight, right in zip(near, self.right, strict=True):
            total += weight
            for t, was_right in enumerate(right):
                if was_right:
                    where_right[t] += weight
        more = self.high - self.low
        return [self.low * total + more * one for one in where_right], log_scale


@of_kind(WEIGHTS, "local relevance")
class Relevance:
    """Weights by how relevant voters were at the anchors that are near."""

    def __init__(self, part: dict[str, Any]) -> None:
        self.similarity, self.relevance = _Similarity(part["local"]), part["relevance"]

    def weights(self, x: Any) -> Any:
        """Return ((T,) weights, log scale)."""
        near, log_scale = self.similarity.relative(x)
        out = [0.0] * len(self.relevance[0])
        for weight, row in zip(near, self.relevance, strict=True):
            out = [a + weight * e for a, e in zip(out, row, strict=True)]
        return out, log_scale


@of_kind(WEIGHTS, "prototype kernels")
class Kernels:
    """Gaussian kernels around prototypes."""

    def __init__(self, part: dict[str, Any]) -> None:
        self.batch, self.sharp = part["batches"]["batch"], part["batches"]["inverse_bandwidth"]
        self.columns, self.centre, self.inverse = (
            part["batches"]["columns"], part["centre"], part["inverse"]
        )  # fmt: skip
        self.levels, self.agree = part["n_levels"], part["agree"]
        self.prototypes, self.weight = filled(part["prototypes"]), part["weight"]

    def _scaled(self, x: Any) -> list[float]:
        found = []
        for j, centre, inverse, size in zip(
            self.columns, self.centre, self.inverse, self.levels, strict=True
        ):
            z = (x[j] - centre) * inverse
            known = not size or (z == z and 0 <= z < size and z == int(z))
            found.append(z if known else NAN)
        return found

    def _gap(self, v: float, i: int) -> float:
        if self.levels[i]:
            agree = self.agree[i]
            return -2.0 * math.log(agree + (1.0 - agree) * math.exp(-v * v / 2.0))
        return math.log1p(2.0 * v * v)

    def log_kernel(self, t: int, z: list[float]) -> float:
        """Return the log of the kernel of a scaled case and a prototype; 0 of a prior."""
        total = 0.0
        if self.batch[t] < 0:
            return total
        for i, v in enumerate(self.sharp[self.batch[t]]):
            if v > 0:
                apart = z[i] - self.prototypes[t][i]
                if apart != apart:
                    total += self._gap(v, i)
                else:
                    away = (float(apart != 0) if self.levels[i] else apart) * v
                    total += away * away
        return -0.5 * total

    def weights(self, x: Any) -> Any:
        """Return ((T,) weights, log scale): relative to the greatest where there is no prior."""
        z = self._scaled(x)
        logs = [math.log(w) + self.log_kernel(t, z) for t, w in enumerate(self.weight)]
        prior = any(b < 0 for b in self.batch)
        top = 0.0 if prior or max(logs) == -math.inf else max(logs)
        return [math.exp(log - top) for log in logs], top

    def similarities(self, x: Any) -> list[float]:
        """Return (T,): the kernel of the case and each prototype."""
        z = self._scaled(x)
        return [math.exp(self.log_kernel(t, z)) for t in range(len(self.weight))]


@of_kind(WEIGHTS, "neighbours")
class NearestCases:
    """Weight 1 for the k nearest training cases, or 1 / distance."""

    def __init__(self, part: dict[str, Any]) -> None:
        self.part, self.voter, self.k = part, part["voter"], part["k"]
        scale, self.absent = part["column_scale"], part["absent"]
        self.distance = _Distance(
            part["cases"], part["columns"], scale, part["is_category"], self.absent
        )
        cases = self.distance.cases
        self.mass = part["mass"] or [1.0] * len(cases)
        self.scale = scale
        sizes = [abs(v) / s for case in cases for v, s in zip(case, scale, strict=True) if v == v]
        self.farthest = max(1e100, max(sizes, default=0.0) * 1e10)

    def distances(self, x: Any) -> list[float]:
        """Return the distance to every case."""
        row = [x[j] for j in self.part["columns"]]
        if any(abs(v) / s > self.farthest for v, s in zip(row, self.scale, strict=True) if v == v):
            raise ValueError("a row is so far from the training cases that distances are endless.")
        if self.part["metric"] == "euclidean":
            return [math.sqrt(u) for u in self.distance.squares(x)]
        if any(v != v for v in row):
            raise ValueError("a row lacks a value that distances need: fill the gap.")
        z = [v / s for v, s in zip(row, self.scale, strict=True)]
        ask = _METRICS[self.part["metric"]]
        return [
            ask(z, [v / s for v, s in zip(case, self.scale, strict=True)])
            for case in self.distance.cases
        ]

    def counted(self, x: Any) -> list[tuple[int, float, float]]:
        """Return (case, distance, how far it counts) of the nearest, the first of equals first."""
        apart = self.distances(x)
        order = sorted(range(len(apart)), key=lambda i: apart[i])
        found, left = [], float(self.k)
        for i in order:
            if left <= self.k * 1e-12 or apart[i] == math.inf:
                break
            counts = min(left, self.mass[i])
            found.append((i, apart[i], counts))
            left -= counts
        return found

    def weights(self, x: Any) -> Any:
        """Return ((T,) weights, log scale)."""
        raw, near = [0.0] * len(self.distance.cases), self.counted(x)
        if not near and self.part["needed"]:
            raise ValueError("a row has a value in no column in which a training case has one.")
        same = any(apart == 0 for _, apart, _ in near)
        for i, apart, counts in near:
            weight = 1.0
            if self.part["by_distance"]:
                weight = float(apart == 0) if same else 1.0 / apart
            raw[i] = weight * counts
        return [raw[i] for i in self.voter], 0.0


# ---------------------------------------------------------------------- distances by name
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


_METRICS = {
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
