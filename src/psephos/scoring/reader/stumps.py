"""Constants and stumps."""

import math
from typing import Any

from psephos.vote.reading.core import VOTERS, of_kind, spans
from psephos.vote.reasons import Always, Path, Test


@of_kind(VOTERS, "constant voters")
class Constants:
    """Voters that always say the same."""

    def __init__(self, part: dict[str, Any]) -> None:
        self.values, self.name = part["values"], part["name"]
        self.n_voters = len(self.values)
        self.reads: list[list[int]] = [[] for _ in self.values]

    def votes(self, x: Any) -> Any:
        """Return the (T, K) votes."""
        return self.values

    def reasons(self, x: Any) -> Any:
        """Return why."""
        return [Always(tuple(v), self.name) for v in self.values]


@of_kind(VOTERS, "stump voters")
class Stumps:
    """One rule on one column each."""

    def __init__(self, part: dict[str, Any]) -> None:
        ptr, codes = part["category_ptr"], part["category_left"]
        self.column = [part["columns"][f] for f in part["feature"]]
        self.threshold, self.missing = part["threshold"], part["missing_left"]
        self.codes = [codes[a:b] for a, b in spans(ptr)]
        self.left, self.right = part["left"], part["right"]
        self.n_voters = len(self.column)
        self.reads = [[j] for j in self.column]

    def holds(self, t: int, x: Any) -> bool:
        """Return whether a rule holds."""
        value, codes = x[self.column[t]], self.codes[t]
        if value != value:
            return bool(self.missing[t])
        if not codes:
            return value <= self.threshold[t]
        return bool(codes[int(value)] if 0 <= value < len(codes) else self.missing[t])

    def votes(self, x: Any) -> Any:
        """Return the (T, K) votes."""
        sides = (self.right, self.left)
        return [sides[self.holds(t, x)][t] for t in range(self.n_voters)]

    def reasons(self, x: Any) -> Any:
        """Return why."""
        votes = self.votes(x)
        return [Path(tuple(votes[t]), (self._test(t, x),)) for t in range(self.n_voters)]

    def _test(self, t: int, x: Any) -> Test:
        column, codes, met = self.column[t], self.codes[t], self.holds(t, x)
        value = x[column]
        if value != value:
            return Test(column, "missing", None, value)
        if codes and not 0 <= value < len(codes):
            return Test(column, "not in", tuple(range(len(codes))), value)
        if codes:
            side = tuple(k for k, inside in enumerate(codes) if inside)
            return Test(column, "in" if met else "not in", side, value)
        threshold = self.threshold[t]
        if threshold == math.inf:
            return Test(column, "present", None, value)
        return Test(column, "<=" if met else ">", threshold, value)
