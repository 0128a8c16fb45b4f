"""Weights that are constant, or depend on missing values or on the confidence of voters."""

# pyright: standard

from typing import Any

from psephos.vote.reading.core import WEIGHTS, Row, of_kind
from psephos.vote.reading.trees import TreeReader
from psephos.vote.reasons import InLeaf, Reason


@of_kind(WEIGHTS, "constant")
class ConstantWeights:
    """Weights that are the same for all cases."""

    def __init__(self, part: dict[str, Any]) -> None:
        self.alpha = part["alpha"]

    def weights(self, x: Any) -> Any:
        """Return ((T,) weights, log scale)."""
        return self.alpha, 0.0


@of_kind(WEIGHTS, "by output")
class WeightsByOutput:
    """Weights for each voter and output."""

    def __init__(self, part: dict[str, Any]) -> None:
        self.alpha = part["alpha"]

    def of_votes(self, votes: Any, target: Any) -> Any:
        """Return the (T, K) weights."""
        return self.alpha


@of_kind(WEIGHTS, "first match")
class FirstRule:
    """Weight 1 for the first rule that holds."""

    def __init__(self, part: dict[str, Any]) -> None:
        self.rules = TreeReader(part["rules"])
        self.order = sorted(range(self.rules.n_voters), key=lambda t: part["rank"][t])
        self.leaves = bool(part.get("leaves"))

    def weights(self, x: Any) -> Any:
        """Return ((T,) weights, log scale)."""
        out = [0.0] * self.rules.n_voters
        first = next((t for t in self.order if self.rules.holds(t, x)), None)
        if first is not None:
            out[first] = 1.0
        return out, 0.0

    def because(self, x: Row, reasons: list[Reason]) -> list[Reason]:
        """Return the reasons; of models in leaves, with the tests that lead to the leaf."""
        if not self.leaves:
            return reasons
        each = zip(self.rules.reasons(x), reasons, strict=True)
        return [InLeaf(reason.answer, path, reason) for path, reason in each]


@of_kind(WEIGHTS, "available")
class Measured:
    """Weights of voters whose columns have values, in the lowest tier that has any."""

    def __init__(self, part: dict[str, Any]) -> None:
        columns = part["columns"]
        self.reads = [
            [j for j, reads in zip(columns, row, strict=True) if reads] for row in part["reads"]
        ] or [[] for _ in part["alpha"]]
        self.alpha, self.tier, self.loudest = part["alpha"], part["tier"], part["loudest"]
        self.partly = part["partly"] or [0] * len(self.alpha)

    def weights(self, x: Any) -> Any:
        """Return ((T,) weights, log scale)."""
        can = []
        for read, partly in zip(self.reads, self.partly, strict=True):
            gaps = sum(x[j] != x[j] for j in read)
            can.append(gaps == 0 or bool(partly and gaps < len(read)))
        first = min((tier for tier, one in zip(self.tier, can, strict=True) if one), default=-1)
        each = zip(self.alpha, can, self.tier, strict=True)
        weights = [a if one and tier == first else 0.0 for a, one, tier in each]
        if self.loudest:
            top = weights.index(max(weights))
            weights = [w if t == top else 0.0 for t, w in enumerate(weights)]
        return weights, 0.0


@of_kind(WEIGHTS, "confidence")
class Confident:
    """Weights of voters that are confident enough: all of them or, in a cascade, the first."""

    def __init__(self, part: dict[str, Any]) -> None:
        self.alpha, self.threshold, self.first = part["alpha"], part["threshold"], part["first"]
        self.order = sorted(range(len(self.alpha)), key=lambda t: part["rank"][t])

    def _sure(self, vote: Any, target: Any) -> float:
        k = target.n_classes
        if not any(vote):
            return 0.0
        if target.kind == "multilabel":
            sure = (1.0 + min(map(abs, vote))) / 2.0
        elif k == 2:
            sure = (1.0 + abs(vote[0])) / 2.0
        else:
            sure = ((k - 1) * max(vote) + 1.0) / k
        return min(max(sure, 0.0), 1.0)

    def of_votes(self, votes: Any, target: Any) -> Any:
        """Return the (T,) weights."""
        sure = [self._sure(vote, target) for vote in votes]
        pairs = zip(sure, self.threshold, strict=True)
        counts = [s >= least - 1e-12 and s > 0 for s, least in pairs]
        if not self.first:
            every = not any(counts)
            return [a if every or c else 0.0 for a, c in zip(self.alpha, counts, strict=True)]
        confident = [t for t in self.order if counts[t]]
        last = [t for t in self.order if sure[t] > 0] or [self.order[-1]]
        chosen = confident[0] if confident else last[-1]
        return [a if t == chosen else 0.0 for t, a in enumerate(self.alpha)]
