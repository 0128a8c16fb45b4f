"""Reasons that list values: those of the case, of a training case, and votes of other voters."""

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, Self

from psephos.files.names import Names, listed, plural, sentence_name
from psephos.vote.reasons.base import NAMED, Always, Codes, Reason, outer_code, plain_value

_NONE = Always(())  # a default, as earlier fields have some


@dataclass(frozen=True)
class ReadReason(Reason):
    """A reason that only lists the values that were read."""

    columns: tuple[int, ...] = ()
    values: tuple[float, ...] = ()

    def cells(self) -> list[tuple[int, float]]:
        return list(zip(self.columns, self.values, strict=True))

    def _values(self, names: Names) -> str:
        read = [f"{names.columns[j]} = {names.value(j, v)}" for j, v in self.cells()[:NAMED]]
        more = len(self.columns) - len(read)
        return ", ".join(read) + (f" and {more} more" if more else "")

    def data(self, names: Names) -> dict[str, Any]:
        cells = self.cells()
        read = [{"column": names.columns[j], "value": plain_value(names, j, v)} for j, v in cells]
        return {**super().data(names), "columns": read}

    def mapped(self, columns: Sequence[int], codes: Codes) -> Self:
        pairs = zip(self.columns, self.values, strict=True)
        values = [v if codes.get(j) is None else outer_code(codes[j], v) for j, v in pairs]
        moved = tuple(int(columns[j]) for j in self.columns)
        return replace(self, columns=moved, values=tuple(values))

    def decoded(self, columns: Sequence[int], levels: Sequence[float], x: Sequence[float]) -> Self:
        read = tuple(dict.fromkeys(int(columns[j]) for j in self.columns))
        return replace(self, columns=read, values=tuple(x[j] for j in read))


@dataclass(frozen=True)
class Inner(ReadReason):
    """Reason of a voter that is itself a vote, whose ballots `Ballots.open` returns.

    Parameters
    ----------
    n_voters : int
    of : str
        Name of its voters: 'voter', 'tree', 'training case'.
    """

    n_voters: int = 0
    of: str = "voter"
    kind = "vote"

    def words(self, names: Names) -> str:
        """Return the number of voters, and the values they read."""
        return f"{plural(self.n_voters, self.of)} on {self._values(names) or 'no column'}"

    def data(self, names: Names) -> dict[str, Any]:
        return {**super().data(names), "n_voters": self.n_voters, "of": self.of}


@dataclass(frozen=True)
class FittedEstimator(ReadReason):
    """Reason of a fitted estimator: its name and the values it reads."""

    name: str = ""
    kind = "estimator"

    def words(self, names: Names) -> str:
        """Return the estimator's name and the values it read."""
        return f"{self.name} on {self._values(names) or 'no column'}"

    def data(self, names: Names) -> dict[str, Any]:
        return {**super().data(names), "name": self.name}


@dataclass(frozen=True)
class Abstention(ReadReason):
    """Reason of a voter that abstains: the columns whose values are missing."""

    kind = "abstained"

    def words(self, names: Names) -> str:
        """Return the columns whose values are missing."""
        return f"{listed([names.columns[j] for j in self.columns], NAMED)} missing"


@dataclass(frozen=True)
class OfAnswers(ReadReason):
    """Reason of a voter that reads answers of others: its own reason, and the columns read.

    Parameters
    ----------
    columns, values : tuple
        The columns of the table that the voter, or the members whose answers it reads, depend on,
        and the values of the case.
    told : Reason
        The voter's own reason, on the columns followed by the answers: the last answer is column
        -1.
    answers : tuple of str
        The names of the answers.
    """

    told: Reason = _NONE
    answers: tuple[str, ...] = ()
    kind = "answers"

    def _wide(self, names: Names, answers: Sequence[str]) -> Names:
        return replace(names, columns=[*names.columns, *answers])

    def words(self, names: Names) -> str:
        """Return the reader's reason, such as ``kNN's answer = 0.4 > 0.1``."""
        return self.told.words(self._wide(names, list(map(sentence_name, self.answers))))

    def data(self, names: Names) -> dict[str, Any]:
        return {**super().data(names), "told": self.told.data(self._wide(names, self.answers))}

    def mapped(self, columns: Sequence[int], codes: Codes) -> Self:
        wide = [*columns, *range(-len(self.answers), 0)]
        return replace(super().mapped(columns, codes), told=self.told.mapped(wide, codes))

    def decoded(self, columns: Sequence[int], levels: Sequence[float], x: Sequence[float]) -> Self:
        return self.mapped(columns, {})


@dataclass(frozen=True)
class CaseLike(Reason):
    """Reason of a training case that votes: its row, its values and the case's, the similarity.

    Parameters
    ----------
    row : int or str
        The training case; -1 or '' if unknown.
    columns, values, theirs : tuple
        The columns compared, narrowest bandwidth first; values of the case, and of the training
        case.
    similarity : float
        1 for an equal case, 0 for one far away; NaN if the weights have none.
    """

    row: Any = -1
    columns: tuple[int, ...] = ()
    values: tuple[float, ...] = ()
    theirs: tuple[float, ...] = ()
    similarity: float = math.nan
    kind = "case"

    def cells(self) -> list[tuple[int, float]]:
        return list(zip(self.columns, self.values, strict=True))

    def words(self, names: Names) -> str:
        """Return ``like row 17 (similarity 0.83): dose = 0.5 (there 0.4)``."""
        row = "a training case" if self.row in (-1, "") else str(self.row)
        named = f"row {row}" if isinstance(self.row, int) and self.row >= 0 else row
        near = "" if math.isnan(self.similarity) else f" (similarity {_near(self.similarity)})"
        if not self.columns:
            return f"like {named}, by no column: the same weight everywhere"
        values: list[str] = []
        for column, value, their in list(self.cells_with_theirs())[:NAMED]:
            here, there = names.value(column, value), names.value(column, their)
            values.append(f"{names.columns[column]} = {here} (there {there})")
        more = len(self.columns) - len(values)
        return f"like {named}{near}: {', '.join(values)}" + (f" and {more} more" if more else "")

    def cells_with_theirs(self) -> Sequence[tuple[int, float, float]]:
        """Return (column, value of the case, value of the training case) of columns compared."""
        return list(zip(self.columns, self.values, self.theirs, strict=True))

    def data(self, names: Names) -> dict[str, Any]:
        cells = [
            {
                "column": names.columns[column],
                "value": plain_value(names, column, value),
                "there": plain_value(names, column, their),
            }
            for column, value, their in self.cells_with_theirs()
        ]
        near = None if math.isnan(self.similarity) else self.similarity
        return {**super().data(names), "row": self.row, "similarity": near, "columns": cells}

    def mapped(self, columns: Sequence[int], codes: Codes) -> Self:
        known = [codes.get(j) for j in self.columns]

        def outer(values: tuple[float, ...]) -> tuple[float, ...]:
            pairs = zip(known, values, strict=True)
            return tuple(v if k is None else outer_code(k, v) for k, v in pairs)

        moved = tuple(int(columns[j]) for j in self.columns)
        return replace(self, columns=moved, values=outer(self.values), theirs=outer(self.theirs))

    def decoded(self, columns: Sequence[int], levels: Sequence[float], x: Sequence[float]) -> Self:
        return self.mapped(columns, {})


def _near(similarity: float) -> str:
    return "< 0.001" if similarity < 0.001 else f"{similarity:.3f}"
