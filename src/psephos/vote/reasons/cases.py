"""A training case that is resembled."""

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, Self

from psephos.vote.names import Names
from psephos.vote.reasons.base import NAMED, Codes, Reason, outer_code, plain_value

__all__ = ["CaseLike"]


@dataclass(frozen=True)
class CaseLike(Reason):
    """A training case that is resembled: its row, its values beside the case's, how near it is.

    Parameters
    ----------
    row : int or str
        The training case; -1 or '' where it is not known.
    columns, values, theirs : tuple
        The columns compared, the sharpest first; the case's values, and the training case's.
    similarity : float
        1 for an equal case, 0 for one far away; NaN where the weights have none.
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
        """Return (column, the case's value, the training case's) of every column compared."""
        return list(zip(self.columns, self.values, self.theirs, strict=True))

    def clauses(self, names: Names) -> list[str]:
        return [self.words(names)]

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

        return replace(
            self,
            columns=tuple(int(columns[j]) for j in self.columns),
            values=outer(self.values),
            theirs=outer(self.theirs),
        )


def _near(similarity: float) -> str:
    return "< 0.001" if similarity < 0.001 else f"{similarity:.3f}"
