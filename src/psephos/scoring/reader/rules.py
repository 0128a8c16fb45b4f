"""Rules in order, and conjunctive hypotheses."""

import bisect
from typing import Any

from psephos.vote.reading.core import VOTERS, WEIGHTS, of_kind, spans
from psephos.vote.reasons import Always, Path, Test

_RULE_OPS = ("<=", ">", "in")


def _failing(tests: list[Test]) -> Test | None:
    """Return the first test that does not hold, as what holds instead; None if all hold."""
    for test in tests:
        if test.value != test.value:
            return Test(test.column, "missing", None, test.value)
        if not test.holds():
            return test.opposite()
    return None


@of_kind(VOTERS, "rule voters")
class Rules:
    """Each votes where all its tests hold, and abstains elsewhere."""

    def __init__(self, part: dict[str, Any]) -> None:
        self.value, self.n_voters = part["value"], len(part["value"])
        column = [part["columns"][f] for f in part["feature"]]
        tests = list(zip(column, part["op"], part["bound"], strict=True))
        self.tests = [sorted(tests[a:b], key=lambda test: test[0]) for a, b in spans(part["ptr"])]

        rest = sorted(set(column))
        self.reads = [sorted({j for j, _, _ in own}) or rest for own in self.tests]

    def _tests(self, t: int, x: Any) -> list[Test]:
        return [
            Test(j, _RULE_OPS[op], (int(bound),) if op == 2 else bound, x[j])
            for j, op, bound in self.tests[t]
        ]

    def holds(self, t: int, x: Any) -> bool:
        """Return whether a rule holds."""
        return all(
            x[j] <= bound if op == 0 else x[j] > bound if op == 1 else x[j] == bound
            for j, op, bound in self.tests[t]
        )

    def votes(self, x: Any) -> Any:
        """Return the (T, K) votes."""
        none = [0.0] * len(self.value[0])
        return [self.value[t] if self.holds(t, x) else none for t in range(self.n_voters)]

    def reasons(self, x: Any) -> Any:
        """Return why."""
        found = []
        for t, vote in enumerate(self.votes(x)):
            tests = self._tests(t, x)
            failing = _failing(tests)
            if not tests:
                found.append(Always(tuple(vote), "no test: what the other rules leave"))
            else:
                found.append(Path(tuple(vote), (failing,) if failing else tuple(tests)))
        return found


@of_kind(WEIGHTS, "first match")
class FirstRule:
    """Weight 1 for the first rule that holds."""

    def __init__(self, part: dict[str, Any]) -> None:
        self.rules = Rules(part["rules"])
        self.order = sorted(range(self.rules.n_voters), key=lambda t: part["rank"][t])

    def weights(self, x: Any) -> Any:
        """Return ((T,) weights, log scale)."""
        out = [0.0] * self.rules.n_voters
        first = next((t for t in self.order if self.rules.holds(t, x)), None)
        if first is not None:
            out[first] = 1.0
        return out, 0.0


@of_kind(VOTERS, "hypotheses")
class HeldHypotheses:
    """Conjunctions of one constraint a column."""

    def __init__(self, part: dict[str, Any]) -> None:
        self.space, self.low, self.high = part["space"], part["low"], part["high"]
        self.empty, self.yes, self.no = part["empty"], part["yes"], part["no"]
        self.n_voters, columns = len(self.empty), part["space"]["columns"]
        self.reads = [
            [] if none else [j for j, low in zip(columns, row, strict=True) if low >= 0]
            for none, row in zip(self.empty, self.low, strict=True)
        ]

    def _codes(self, x: Any) -> list[int]:
        space, codes = self.space, []
        for i, j in enumerate(space["columns"]):
            if x[j] != x[j]:
                codes.append(-1)
            elif space["is_category"][i]:
                codes.append(int(x[j]))
            else:
                codes.append(bisect.bisect_left(space["cuts"][i], x[j]))
        return codes

    def votes(self, x: Any) -> Any:
        """Return the (T, K) votes."""
        codes = self._codes(x)
        return [self.yes if self._held(t, codes) else self.no for t in range(self.n_voters)]

    def _held(self, t: int, codes: list[int]) -> bool:
        if self.empty[t]:
            return False
        bounds = zip(codes, self.low[t], self.high[t], strict=True)
        return all(low < 0 or low <= code <= high for code, low, high in bounds)

    def reasons(self, x: Any) -> Any:
        """Return why."""
        return [self._reason(t, x) for t in range(self.n_voters)]

    def _reason(self, t: int, x: Any) -> Any:
        yes, no = tuple(self.yes), tuple(self.no)
        if self.empty[t]:
            return Always(no, "the empty hypothesis, which holds for no case")
        tests = self._tests(t, x)
        failing = _failing(tests)
        if failing:
            return Path(no, (failing,))
        return Path(yes, tuple(tests)) if tests else Always(yes, "no test: it holds for every case")

    def _tests(self, t: int, x: Any) -> list[Test]:
        space, found = self.space, []
        for i, j in enumerate(space["columns"]):
            low, high, size = self.low[t][i], self.high[t][i], space["size"][i]
            if low < 0:
                continue
            if space["is_category"][i]:
                found.append(Test(j, "in", (low,), x[j]))
                continue
            if low > 0:
                found.append(Test(j, ">", space["cuts"][i][low - 1], x[j]))
            if high < size - 1:
                found.append(Test(j, "<=", space["cuts"][i][high], x[j]))
        return found
