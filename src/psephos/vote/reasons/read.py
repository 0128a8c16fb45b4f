"""Reasons that name what was read and no more."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, Self

from psephos.vote.names import Names, plural
from psephos.vote.reasons.base import NAMED, Codes, Reason, outer_code, plain_value

__all__ = ["Abstention", "FittedEstimator", "Inner", "ReadReason"]


@dataclass(frozen=True)
class ReadReason(Reason):
    """A reason that names what was read and no more."""

    columns: tuple[int, ...] = ()
    values: tuple[float, ...] = ()

    def cells(self) -> list[tuple[int, float]]:
        return list(zip(self.columns, self.values, strict=True))

    def _values(self, names: Names) -> str:
        read = [f"{names.columns[j]} = {names.value(j, v)}" for j, v in self.cells()[:NAMED]]
        more = len(self.columns) - len(read)
        return ", ".join(read) + (f" and {more} more" if more else "")

    def clauses(self, names: Names) -> list[str]:
        return [self.words(names)]

    def data(self, names: Names) -> dict[str, Any]:
        read = [
            {"column": names.columns[j], "value": plain_value(names, j, v)} for j, v in self.cells()
        ]
        return {**super().data(names), "columns": read}

    def mapped(self, columns: Sequence[int], codes: Codes) -> Self:
        values = [
            v if codes.get(j) is None else outer_code(codes[j], v)
            for j, v in zip(self.columns, self.values, strict=True)
        ]
        return replace(
            self, columns=tuple(int(columns[j]) for j in self.columns), values=tuple(values)
        )

    def decoded(self, columns: Sequence[int], levels: Sequence[float], x: Sequence[float]) -> Self:
        read = tuple(dict.fromkeys(int(columns[j]) for j in self.columns))
        return replace(self, columns=read, values=tuple(x[j] for j in read))


@dataclass(frozen=True)
class Inner(ReadReason):
    """The answer of a vote within the vote: `Ballots.open` shows who voted there.

    Parameters
    ----------
    n_voters : int
    of : str
        What the voters are: 'voter', 'tree'.
    """

    n_voters: int = 0
    of: str = "voter"
    kind = "vote"

    def words(self, names: Names) -> str:
        """Return how many voted, and what they read."""
        return f"{plural(self.n_voters, self.of)} on {self._values(names) or 'no column'}"

    def data(self, names: Names) -> dict[str, Any]:
        return {**super().data(names), "n_voters": self.n_voters, "of": self.of}


@dataclass(frozen=True)
class FittedEstimator(ReadReason):
    """The answer of a fitted estimator of another library: its name and what it reads."""

    name: str = ""
    kind = "estimator"

    def words(self, names: Names) -> str:
        """Return the estimator's name and what it read."""
        return f"{self.name} on {self._values(names) or 'no column'}"

    def data(self, names: Names) -> dict[str, Any]:
        return {**super().data(names), "name": self.name}


@dataclass(frozen=True)
class Abstention(ReadReason):
    """A voter that abstains because values it needs are missing: those columns."""

    kind = "abstained"

    def words(self, names: Names) -> str:
        """Return what is missing."""
        named = [names.columns[j] for j in self.columns[:NAMED]]
        more = len(self.columns) - len(named)
        return f"{', '.join(named)}{f' and {more} more' if more else ''} missing"
