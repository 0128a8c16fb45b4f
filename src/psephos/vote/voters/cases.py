"""Training cases as voters: each votes for what it is itself."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray

from psephos.files.field_types import Nullable
from psephos.vote.codec import register
from psephos.vote.names import Names, plural
from psephos.vote.part import (
    Columns,
    ReadsColumns,
    Voters,
    check,
    check_part,
    named_of,
    usage_of_all,
)
from psephos.vote.reasons import CaseLike, Reason

_Floats = NDArray[np.float64]
_NAMED = 6  # a rule names no more columns than this


def near_words(row: Any, values: Sequence[str]) -> str:
    """Return ``near row 17: dose = 0.5, site = lung and 3 more columns``."""
    named = "a training case" if row in (-1, "") else row if isinstance(row, str) else f"row {row}"
    if not values:
        return f"near {named}, by no column: the same weight everywhere"
    more = len(values) - _NAMED
    rest = f" and {plural(more, 'more column')}" if more > 0 else ""
    return f"near {named}: {', '.join(values[:_NAMED])}{rest}"


@register
@dataclass(frozen=True)
class CaseVoters(ReadsColumns, Voters):
    """Training cases as voters: each votes for its own class, labels or numbers.

    Parameters
    ----------
    n_features : int
        Columns of the table.
    columns : ndarray of shape (q,)
        Sorted columns in which the cases are described.
    cases : ndarray of shape (T, q)
        Their values, NaN where missing.
    values : ndarray of shape (T, K)
        The vote of each.
    rows : ndarray of shape (T,)
        Identifiers: positions in the training table, or its own row names.
    """

    tag: ClassVar[str] = "training cases"
    n_features: int
    columns: Columns
    cases: Nullable
    values: _Floats
    rows: NDArray[Any]

    def __post_init__(self) -> None:
        check_part(self)
        t = len(self.rows)
        check(self.cases.shape == (t, len(self.columns)), "cases have another shape")
        check(self.values.ndim == 2 and len(self.values) == t, "cases and votes differ in number")

    @property
    def n_voters(self) -> int:
        return len(self.rows)

    def row_names(self) -> NDArray[Any]:
        return self.rows

    def are_cases(self) -> bool:
        return True

    def votes(self, X: _Floats) -> _Floats:
        return np.broadcast_to(self.values, (len(X), *self.values.shape))

    def usage(self) -> Any:
        """Return the (T, p) table: a case is described in all columns."""
        return usage_of_all(self)

    def named_rows(self, names: NDArray[Any]) -> Self:
        return replace(self, rows=named_of(self.rows, names))

    def training_rows(self) -> int:
        return len(self.cases)

    def take(self, voters: NDArray[np.intp]) -> Self:
        taken = (self.cases[voters], self.values[voters], self.rows[voters])
        return replace(self, cases=taken[0], values=taken[1], rows=taken[2])

    def rule(self, voter: int, names: list[str], levels: dict[int, list[str]]) -> str:
        """Return ``near row 17: dose = 0.5, site = lung and 3 more columns``."""
        words = Names(names, levels)
        cells = zip(self.columns.tolist(), self.cases[voter].tolist(), strict=True)
        values = [f"{names[j]} = {words.value(j, value)}" for j, value in cells]
        return near_words(self.rows.tolist()[voter], values)

    def reasons(self, X: _Floats) -> list[list[Reason]]:
        """Return, for each row, the training case beside it."""
        columns, rows = tuple(self.columns.tolist()), self.rows.tolist()
        votes = [tuple(v) for v in self.values.tolist()]
        theirs = [tuple(v) for v in self.cases.tolist()]
        read = [tuple(x) for x in X[:, self.columns].tolist()]
        known = list(zip(votes, rows, theirs, strict=True))
        return [[CaseLike(v, row, columns, x, case) for v, row, case in known] for x in read]

    def sides(self, voter: int) -> list[tuple[str, _Floats]]:
        return [("always", self.values[voter])]
