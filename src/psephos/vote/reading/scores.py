"""Readers of `Scores`, support vector machines and soft trees."""

import math
from collections.abc import Sequence
from typing import Any

from psephos.vote.reading.core import NAN, VOTERS, best, exp_shares, of_kind, spans, summed
from psephos.vote.reasons import Abstention, Gate, Route, Score, Term


class _Scoring:
    """Base class of voters by scores; `reads` are T lists of columns, `code` is (classes, K)."""

    kind = ""
    reads: list[list[int]]
    abstains: Any
    says: str
    code: Any
    fill: Sequence[float] | None = None

    def scores(self, t: int, x: Any) -> list[float]:
        """Return the scores of a voter on a case without missing values."""
        raise NotImplementedError

    def vote(self, scores: list[float]) -> list[float]:
        """Return the vote of the scores, one a class."""
        if self.says == "answer":
            return self.code[best(scores)]
        out = [0.0] * len(self.code[0])
        for share, row in zip(exp_shares(scores), self.code, strict=True):
            out = [a + share * b for a, b in zip(out, row, strict=True)]
        return out

    def gaps(self, t: int, x: Any) -> tuple[int, ...]:
        """Return the columns of a voter that lack a value; raise if it needs them."""
        gaps = tuple(j for j in self.reads[t] if x[j] != x[j])
        if self.fill:
            return ()
        if gaps and not self.abstains:
            raise ValueError(f"a row lacks a value that {self.kind} need: give it one.")
        return gaps

    def votes(self, x: Any) -> Any:
        """Return the (T, K) votes."""
        none = [0.0] * (1 if self.says == "value" else len(self.code[0]))
        every = range(len(self.reads))
        return [none if self.gaps(t, x) else self.vote(self.scores(t, x)) for t in every]

    def reasons(self, x: Any, votes: Any = None) -> Any:
        """Return the reasons of the votes, which are computed unless they are given."""
        found: list[Any] = []
        for t, vote in enumerate(self.votes(x) if votes is None else votes):
            gaps = self.gaps(t, x)
            absent = Abstention(tuple(vote), gaps, (NAN,) * len(gaps))
            found.append(absent if gaps else self.reason(t, x, tuple(vote)))
        return found

    def reason(self, t: int, x: Any, vote: Any) -> Any:
        """Return the reason of a voter's vote on a case without missing values."""
        raise NotImplementedError


@of_kind(VOTERS, "scores")
class ScoreReader(_Scoring):
    """Linear models, and densities of classes."""

    def __init__(self, part: dict[str, Any]) -> None:
        self.part, self.code, self.says = part, part["value"], part["says"]
        self.abstains, self.slope = part["abstains"], part["slope"]
        self.fill = part.get("fill")
        self.kind = f"voters by {part['called']}"
        self.spans, self.starts = spans(part["ptr"]), [0]
        self.reads = [[part["columns"][i] for i in part["position"][a:b]] for a, b in self.spans]
        for a, b in self.spans:
            self.starts.append(self.starts[-1] + (b - a) ** 2)
        self.n_voters = len(self.spans)

    def added(self, t: int, x: Any) -> list[tuple[float, ...]]:
        """Return the contribution of each column of a voter to its R scores."""
        part, first = self.part, self.spans[t][0]
        each = (x[j] for j in self.reads[t])
        if self.fill:
            each = (own if v != v else v for v, own in zip(each, self.fill[first:], strict=False))
        values = enumerate(each, first)
        if part["coef"] is not None:
            return [tuple(row[i] * value for row in part["coef"]) for i, value in values]
        pairs = list(zip(part["centre"], part["variance"], strict=True))
        return [tuple(_density(value, m[i], v[i]) for m, v in pairs) for i, value in values]

    def scores(self, t: int, x: Any) -> list[float]:
        """Return the R scores."""
        if self.part["whitening"] is not None:
            return self._quadratic(t, x)
        total = [0.0] * len(self.part["constant"][t])
        for terms in self.added(t, x):
            total = [a + b for a, b in zip(total, terms, strict=True)]
        return [a + b for a, b in zip(total, self.part["constant"][t], strict=True)]

    def _quadratic(self, t: int, x: Any) -> list[float]:
        (a, b), read, start = self.spans[t], self.reads[t], self.starts[t]
        scores: list[float] = []
        for centre, matrix in zip(self.part["centre"], self.part["whitening"], strict=True):
            gap = [x[j] - mean for j, mean in zip(read, centre[a:b], strict=True)]
            total = 0.0
            for i in range(b - a):
                row = matrix[start + i * (b - a) :]
                length = summed(row[j] * gap[j] for j in range(i + 1))
                total -= 0.5 * length * length
            scores.append(total)
        return [s + c for s, c in zip(scores, self.part["constant"][t], strict=True)]

    def vote(self, scores: list[float]) -> list[float]:
        """Return the vote: a number itself; two classes have one score, above 0 for the second."""
        if self.says == "value":
            return scores
        if self.says == "answer" and len(scores) == 1:
            return self.code[1 if scores[0] > 0 else 0]
        if self.says == "probability":  # an infinite value: no class is likelier
            scores = [max(self.slope * z, -1e300) for z in scores]
        return super().vote([0.0, *scores] if len(scores) == 1 else scores)

    def reason(self, t: int, x: Any, vote: Any) -> Any:
        """Return the terms, the one that distinguishes the classes most first."""
        part, read, scores = self.part, self.reads[t], tuple(self.scores(t, x))
        if part["whitening"] is not None:
            return _unsplit(part["called"], read, x, scores, vote, self.says)
        added, first = self.added(t, x), self.spans[t][0]
        coef: list[list[float]] = part["coef"] or []
        base = (0.0,) if len(scores) == 1 else ()
        spread = [max(base + one) - min(base + one) for one in added]
        terms = tuple(
            Term(read[i], x[read[i]], added[i], tuple(row[first + i] for row in coef),
                 fill=self.fill[first + i] if self.fill else NAN)
            for i in sorted(range(len(read)), key=lambda i: -spread[i])
        )  # fmt: skip
        sums = tuple(part["constant"][t]), scores
        return Score(vote, part["called"], terms, *sums, self.says, float(self.slope))


def _density(value: float, mean: float, variance: float) -> float:
    """Return the logarithm of a normal density."""
    gap = value - mean
    return -0.5 * (gap * gap / variance + math.log(2 * math.pi * variance))


def _unsplit(model: str, read: list[int], x: Any, scores: Any, vote: Any, says: str) -> Any:
    """Return the reason of a model whose score is not a sum over columns."""
    return Score(vote, model, tuple(Term(j, x[j], ()) for j in read), (), tuple(scores), says)


@of_kind(VOTERS, "kernel voters")
class KernelMachines(_Scoring):
    """Support vector machines."""

    kind = "support vector machines"

    def __init__(self, part: dict[str, Any]) -> None:
        self.part, self.code, self.says = part, part["value"], part["says"]
        self.abstains, self.kind = part["abstains"], f"{part['called']}s"
        self.spans, self.rows = spans(part["ptr"]), spans(part["rows"])
        self.reads = [[part["columns"][i] for i in part["position"][a:b]] for a, b in self.spans]
        self.starts = [0]
        for (a, b), (first, last) in zip(self.spans, self.rows, strict=True):
            self.starts.append(self.starts[-1] + (b - a) * (last - first))
        self.n_voters = len(self.spans)

    def _kernel(self, t: int, z: list[float], first: int) -> float:
        support, total = self.part["support"], 0.0
        if self.part["kernel"] == "linear":
            for i, value in enumerate(z):
                total += value * support[first + i]
            return total
        for i, value in enumerate(z):
            gap = value - support[first + i]
            total += gap * gap
        return math.exp(-self.part["gamma"][t] * total)

    def margins(self, t: int, x: Any) -> list[float]:
        """Return the margin of each pair of classes."""
        part, (a, b), (first, last) = self.part, self.spans[t], self.rows[t]
        scaling = zip(self.reads[t], part["centre"][a:b], part["inverse"][a:b], strict=True)
        z = [(x[j] - centre) * inverse for j, centre, inverse in scaling]
        kernels = [self._kernel(t, z, self.starts[t] + i * (b - a)) for i in range(last - first)]
        return [
            summed(k * d for k, d in zip(kernels, dual[first:last], strict=True)) + constant
            for dual, constant in zip(part["dual"], part["intercept"][t], strict=True)
        ]

    def scores(self, t: int, x: Any) -> list[float]:
        """Return the score of each class."""
        margins, k = self.margins(t, x), len(self.code)
        if k == 2:
            return [0.0, margins[0]]
        votes, total = [0.0] * k, [0.0] * k
        pairs = [(a, b) for a in range(k) for b in range(a + 1, k)]
        for margin, (a, b) in zip(margins, pairs, strict=True):
            votes[b if margin > 0 else a] += 1.0
            total[a] -= margin
            total[b] += margin
        return [v + s / (3 * (abs(s) + 1)) for v, s in zip(votes, total, strict=True)]

    def reason(self, t: int, x: Any, vote: Any) -> Any:
        """Return the values read, and the scores."""
        scores = self.margins(t, x) if len(self.code) == 2 else self.scores(t, x)
        return _unsplit(self.kind[:-1], self.reads[t], x, scores, vote, self.says)


@of_kind(VOTERS, "soft trees")
class SoftTreeReader:
    """Soft trees: complete trees whose gates divide every case."""

    def __init__(self, part: dict[str, Any]) -> None:
        self.part, self.leaf = part, part["leaf"]
        self.n_voters = len(self.leaf)
        self.columns, self.absent = part["columns"], [part["columns"][g] for g in part["gaps"]]
        self.reads = [self._read(t) for t in range(self.n_voters)]

    def _read(self, t: int) -> list[int]:
        coef, absent = self.part["coef"][t], self.part["absent"][t]
        own = {j for i, j in enumerate(self.columns) if any(row[i] for row in coef)}
        return sorted(own | {j for i, j in enumerate(self.absent) if any(row[i] for row in absent)})

    def _inputs(self, x: Any) -> list[float]:
        scaling = zip(self.columns, self.part["centre"], self.part["scale"], strict=True)
        z = [0.0 if x[j] != x[j] else (x[j] - centre) / scale for j, centre, scale in scaling]
        z = [min(max(one, -1e30), 1e30) for one in z]
        return z + [float(x[j] != x[j]) for j in self.absent]

    def _linear(self, t: int, z: list[float]) -> list[float]:
        found: list[Any] = []
        gates = zip(self.part["coef"][t], self.part["absent"][t], self.part["bias"][t], strict=True)
        for coef, absent, bias in gates:
            terms = (by * value for by, value in zip([*coef, *absent], z, strict=True))
            found.append(summed(terms) + bias)
        return found

    def _reach(self, linear: list[float]) -> list[float]:
        reach = [1.0] + [0.0] * (2 * len(linear))
        for g, z in enumerate(linear):
            odds = math.exp(-abs(z))
            left = (1.0 if z >= 0.0 else odds) / (1.0 + odds)
            reach[2 * g + 1], reach[2 * g + 2] = reach[g] * left, reach[g] * (1.0 - left)
        return reach

    def votes(self, x: Any) -> Any:
        """Return the (T, K) votes."""
        z, found = self._inputs(x), list[list[float]]()
        for t, leaves in enumerate(self.leaf):
            ends = self._reach(self._linear(t, z))[len(leaves) - 1 :]
            pairs = list(zip(ends, leaves, strict=True))
            found.append([summed(r * leaf[k] for r, leaf in pairs) for k in range(len(leaves[0]))])
        return found

    def reasons(self, x: Any, votes: Any = None) -> Any:
        """Return the most probable path of each tree; votes are computed unless given."""
        z, votes = self._inputs(x), self.votes(x) if votes is None else votes
        return [self._route(t, x, z, tuple(vote)) for t, vote in enumerate(votes)]

    def _route(self, t: int, x: Any, z: list[float], vote: Any) -> Any:
        linear = self._linear(t, z)
        inner, reach = len(linear), self._reach(linear)
        node = inner + best(reach[inner:])
        last, gates, share = self.leaf[t][node - inner], list[Gate](), 1.0
        while node:
            left, node = node % 2 == 1, (node - 1) // 2
            gates.append(self._gate(t, node, left, x, z, linear[node]))
        for gate in gates:
            share *= gate.chance
        return Route(vote, share, tuple(gates[::-1]), tuple(last))

    def _gate(self, t: int, node: int, left: bool, x: Any, z: list[float], linear: float) -> Gate:
        sign, q, part = 1.0 if left else -1.0, len(self.columns), self.part
        added = [sign * by * value for by, value in zip(part["coef"][t][node], z, strict=False)]
        for g, by, value in zip(part["gaps"], part["absent"][t][node], z[q:], strict=True):
            added[g] += sign * by * value
        order = sorted(range(q), key=lambda i: -abs(added[i]))[:6]
        order = [i for i in order if added[i] != 0]
        terms = tuple(Term(self.columns[i], x[self.columns[i]], (added[i],)) for i in order)
        rest = [one for i, one in enumerate(added) if i not in order]
        chance = 0.5 + 0.5 * math.tanh(0.5 * sign * linear)
        more = len([one for one in rest if one != 0])
        side = "left" if left else "right"
        constant = sign * float(part["bias"][t][node])
        return Gate(node + 1, side, chance, terms, summed(rest), more, constant)
