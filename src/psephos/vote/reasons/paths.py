"""Reasons of trees, stumps and rules: the tests on the path of a case."""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple, Self

from psephos.files.names import Names, compared, listed, number, percent
from psephos.vote.reasons.base import NAMED, Always, Codes, Reason, outer_code, plain_value

_EVERY = 15  # digits of a value that is on the other side of a threshold after rounding
_IN_SET = 6  # categories of a set that are named
_THRESHOLDS = ("<=", "<", ">", ">=")
_OPPOSITE = {"<=": ">", ">": "<=", "<": ">=", ">=": "<", "in": "not in", "not in": "in"}


class Test(NamedTuple):
    """A condition on one column that the case meets.

    Parameters
    ----------
    column : int
    relation : {'<=', '<', '>', '>=', 'in', 'not in', 'within', 'missing', 'present'}
    bound : float, tuple or None
        The threshold; the codes of a set; (lower, upper) of 'within', between which a soft
        threshold divides a case; None for 'missing' and 'present'.
    value : float
        The value of the case, NaN if missing.
    instead_of : int, default=-1
        The column whose missing value the surrogate of this test replaces.
    sent : tuple of (relation, bound), default=None
        The branch to which this part of a case with a missing value is sent, if it is divided.
    rounded : float, default=None
        The value in single precision, for trees that compare it; None if it is the same.
    """

    __test__ = False  # nothing for pytest to collect
    column: int
    relation: str
    bound: Any
    value: float
    instead_of: int = -1
    sent: tuple[str, Any] | None = None
    rounded: float | None = None

    @property
    def by_rounding(self) -> bool:
        """Return whether only the rounded value meets the condition."""
        return self.rounded is not None and not self._replace(rounded=None).holds()

    def holds(self) -> bool:
        """Return whether the value meets the condition; True for every test of a reason."""
        value, bound = self.value if self.rounded is None else self.rounded, self.bound
        if self.relation in ("missing", "present"):
            return math.isnan(value) == (self.relation == "missing")
        if self.relation in ("in", "not in"):
            return not math.isnan(value) and (int(value) in bound) == (self.relation == "in")
        if self.relation == "within":
            return bound[0] < value <= bound[1]
        way = {"<=": value <= bound, "<": value < bound, ">": value > bound, ">=": value >= bound}
        return way[self.relation]

    def words(self, names: Names) -> str:
        """Return the condition with the case's value: ``g1 = 1.877 > 0.779``."""
        return _sentence([self], names)

    def bounds(self) -> list[tuple[str, float]]:
        """Return (relation, bound) for each threshold of the condition."""
        if self.relation == "within":
            return [(">", self.bound[0]), ("<=", self.bound[1])]
        finite = self.relation in _THRESHOLDS and math.isfinite(self.bound)
        return [(self.relation, self.bound)] if finite else []

    def asks(self, names: Names, bounds: Sequence[str]) -> str:
        """Return the condition on the value in words, with thresholds written as in `bounds`."""
        written = ""
        if self.relation == "within":
            written = f"between {bounds[0]} and {bounds[1]}"
        elif bounds:
            written = f"{self.relation} {bounds[0]}"
        elif self.relation in ("in", "not in"):
            written = f"{self.relation} {self._set(names)}"
        elif self.relation == "present":
            written = "not missing"
        elif self.sent is not None:
            written = f"taken as {self._sent(names)}"
        gap = f"(instead of {names.columns[self.instead_of]}, missing)"
        return f"{written} {gap}".strip() if self.instead_of >= 0 else written

    def _sent(self, names: Names) -> str:
        relation, bound = self.sent or ("", ())
        if relation == "in":
            return f"in {self._set(names, bound)}"
        return f"{relation} {number(float(bound))}"

    def _set(self, names: Names, bound: Any = None) -> str:
        codes = self.bound if bound is None else bound
        return f"{{{listed([names.level(self.column, code) for code in codes], _IN_SET)}}}"

    def data(self, names: Names) -> dict[str, Any]:
        """Return the condition as plain values, categories in words."""
        bound, value = self.bound, self.value
        if self.relation in ("in", "not in"):
            bound = [names.level(self.column, code) for code in bound]
        data: dict[str, Any] = {
            "column": names.columns[self.column],
            "relation": self.relation,
            "bound": [*self.bound] if self.relation == "within" else bound,
            "value": plain_value(names, self.column, value),
        }
        if self.instead_of >= 0:
            data["instead_of"] = names.columns[self.instead_of]
        if self.by_rounding:
            data["rounded_to"] = self.rounded
        if self.sent is not None:
            relation, bound = self.sent
            if relation == "in":
                bound = [names.level(self.column, code) for code in bound]
            data["sent_to"] = {"relation": relation, "bound": bound}
        return data

    def decoded(
        self, columns: Sequence[int], levels: Sequence[float], x: Sequence[float]
    ) -> "Test":
        """Return the test on the table from which a design of 0/1 columns was made."""
        level, column = levels[self.column], int(columns[self.column])
        instead = int(columns[self.instead_of]) if self.instead_of >= 0 else -1
        if math.isnan(level) or math.isnan(self.value):
            return self._replace(column=column, instead_of=instead)
        relation = "in" if self.value == 1.0 else "not in"
        return Test(column, relation, (int(level),), x[column], instead)

    def opposite(self) -> "Test":
        """Return the opposite condition."""
        return self._replace(relation=_OPPOSITE[self.relation])

    def mapped(self, columns: Sequence[int], codes: Codes) -> "Test":
        """Return the test with other numbers of columns and codes."""
        written = self._replace(column=int(columns[self.column]))
        if self.instead_of >= 0:
            written = written._replace(instead_of=int(columns[self.instead_of]))
        known = codes.get(self.column)
        if known is None:
            return written
        if self.sent is not None and self.sent[0] == "in":
            outer = (outer_code(known, c) for c in self.sent[1])
            kept = tuple(int(c) for c in outer if not math.isnan(c))
            written = written._replace(sent=("in", kept))
        if self.relation in ("in", "not in"):
            outer = (outer_code(known, c) for c in self.bound)
            written = written._replace(bound=tuple(int(c) for c in outer if not math.isnan(c)))
        return written._replace(value=outer_code(known, self.value))


@dataclass(frozen=True)
class Path(Reason):
    """The path of a case: the tests that it meets, in order.

    A rule that does not hold abstains, and has the opposite of the test that fails. `rule` is the
    number of a rule, from 1; 0 for other voters.
    """

    tests: tuple[Test, ...] = ()
    rule: int = 0
    kind = "path"

    def cells(self) -> list[tuple[int, float]]:
        return list({test.column: test.value for test in self.tests}.items())

    def words(self, names: Names) -> str:
        """Return one clause per column, with the tightest thresholds."""
        words = " and ".join(_merged(self.tests, names))
        fails = self.rule and not any(self.answer)
        return f"rule {self.rule} does not apply ({words})" if fails else words

    def data(self, names: Names) -> dict[str, Any]:
        return {**super().data(names), "tests": [test.data(names) for test in self.tests]}

    def _each(self, change: Callable[[Any], Any]) -> Self:
        return replace(self, tests=tuple(map(change, self.tests)))


_NOWHERE, _NOTHING = Path(()), Always(())  # defaults, as earlier fields have some


@dataclass(frozen=True)
class InLeaf(Reason):
    """Reason of a voter that is the model of a leaf: the path there, and the model's own reason.

    Parameters
    ----------
    way : Path
        The tests that lead to the leaf; for a case in another leaf, the test that fails.
    because : Reason
        The reason of the model.
    """

    way: Path = _NOWHERE
    because: Reason = _NOTHING
    kind = "leaf"

    @property
    def reached(self) -> bool:
        """Return whether the case is in the leaf."""
        return any(self.way.answer)

    @property
    def rule(self) -> int:
        """Return the number of the leaf, from 1."""
        return self.way.rule

    def cells(self) -> list[tuple[int, float]]:
        own = self.because.cells() if self.reached else []
        return list({**dict(self.way.cells()), **dict(own)}.items())

    def words(self, names: Names) -> str:
        """Return the path to the leaf and the model's reason, or why the case is in another one."""
        way = replace(self.way, rule=0).words(names)
        if not self.reached:
            return f"another leaf ({way})"
        return f"in this leaf ({way}): {self.because.words(names)}"

    def data(self, names: Names) -> dict[str, Any]:
        own = {"reached": self.reached, "way": self.way.data(names)}
        return {**super().data(names), **own, "because": self.because.data(names)}

    def mapped(self, columns: Sequence[int], codes: Codes) -> Self:
        own = self.because.mapped(columns, codes)
        return replace(self, way=self.way.mapped(columns, codes), because=own)

    def decoded(self, columns: Sequence[int], levels: Sequence[float], x: Sequence[float]) -> Self:
        own = self.because.decoded(columns, levels, x)
        return replace(self, way=self.way.decoded(columns, levels, x), because=own)


@dataclass(frozen=True)
class Spread(Reason):
    """Reason for a case divided among branches by a missing value or a soft threshold.

    The vote is the mean of the paths' votes, weighted by their shares.
    """

    shares: tuple[float, ...] = ()
    paths: tuple[Path, ...] = ()
    kind = "paths"

    def cells(self) -> list[tuple[int, float]]:
        return list({j: value for path in self.paths for j, value in path.cells()}.items())

    def words(self, names: Names) -> str:
        """Return the largest parts."""
        order = sorted(range(len(self.paths)), key=lambda i: -self.shares[i])
        parts = [f"{percent(self.shares[i])}: {self._part(i, names)}" for i in order[:NAMED]]
        more = len(order) - len(parts)
        return "; ".join(parts) + (f"; and {more} smaller parts" if more else "")

    def _part(self, i: int, names: Names) -> str:
        words = self.paths[i].words(names)
        return words if names.say is None else f"{words} → {names.say(self.paths[i].answer)}"

    def data(self, names: Names) -> dict[str, Any]:
        parts = zip(self.shares, self.paths, strict=True)
        paths = [{"share": share, **path.data(names)} for share, path in parts]
        return {**super().data(names), "paths": paths}

    def _each(self, change: Callable[[Any], Any]) -> Self:
        return replace(self, paths=tuple(map(change, self.paths)))


def _merged(tests: Sequence[Test], names: Names) -> list[str]:
    """Return tests in words, one clause per column: ``0.5 < dose = 1.2 <= 2``."""
    found: list[str] = []
    for column in dict.fromkeys(test.column for test in tests):
        own = [test for test in tests if test.column == column]
        upper = [t for t in own if t.relation in ("<=", "<")]
        lower = [t for t in own if t.relation in (">", ">=")]
        rest = [t for t in own if t not in upper and t not in lower]
        sets = [t for t in rest if t.relation in ("in", "not in")]
        kept = [min(upper, key=lambda t: t.bound)] if upper else []
        kept = ([max(lower, key=lambda t: t.bound)] if lower else []) + kept
        kept += sets[-1:] + [t for t in dict.fromkeys(rest) if t not in sets]
        found.append(_sentence(kept, names))
    return found


def _sentence(tests: Sequence[Test], names: Names) -> str:
    """Return tests of one column in words; the value once, with enough digits for all tests."""
    first = tests[0]
    name, missing = names.columns[first.column], first.relation == "missing"
    bounds = [test.bounds() for test in tests]
    flat = [pair for pairs in bounds for pair in pairs]
    rounded = next((test.rounded for test in tests if test.by_rounding), None)
    read = first.value if rounded is None else rounded
    value, written = compared(read, flat) if flat else ("", [])
    if rounded is not None:
        value = f"{number(first.value, 0.0, _EVERY)} (rounded to {value})"
    clauses: list[str] = []
    for test, pairs in zip(tests, bounds, strict=True):
        own, written = written[: len(pairs)], written[len(pairs) :]
        clauses.append(test.asks(names, own))
    relations = " and ".join(one for one in clauses if one)
    if missing:
        between = ", " if relations.startswith("taken as") else " "
        return f"{name} missing{between}{relations}".rstrip()
    value = value or names.value(first.column, first.value)
    between = ", " if relations.startswith("not missing") else " " if relations else ""
    return f"{name} = {value}{between}{relations}"
