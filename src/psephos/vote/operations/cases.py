"""Training cases as voters: each votes for its own class, labels or numbers."""

from dataclasses import replace
from functools import cached_property
from typing import ClassVar, Self

import numpy as np

from psephos._types import Array, Floats, Indices, Usage
from psephos.files.field_types import Nullable
from psephos.files.names import Names, plural
from psephos.vote.codec import register
from psephos.vote.lowered import ReadAsLowered
from psephos.vote.operations.distance import PRIOR, Batches
from psephos.vote.part import Columns, ReadsColumns, ReadsLike, Voters, check, check_part, named_of
from psephos.vote.plain import to_plain
from psephos.vote.reading.core import unpacked
from psephos.vote.reading.near import CaseReader
from psephos.vote.reasons import Reason

_NAMED = 6  # a rule names no more columns than this


@register
class PrototypeVoters(ReadsLike, Voters):
    """Training cases that vote for their own class or value, and the prior.

    Parameters
    ----------
    batches : Batches
        The batches of the T voters, prototypes and priors.
    cases : ndarray of shape (T, q)
        The prototypes in the units of the table, NaN where missing (and for a prior).
    values : ndarray of shape (T, K)
        The vote of each.
    spread : ndarray of shape (T,)
        Standard deviation of the normal density around its vote; 0 for classes.
    rows : ndarray of shape (T,)
        Identifiers of the prototypes: positions in the training table, or its own row names; -1
        or an empty name where unknown.
    name : str
        Name of the prior in descriptions.
    """

    tag: ClassVar[str] = "prototype voters"
    read_by: ClassVar[str] = "batches"
    batches: Batches
    cases: Nullable
    values: Floats
    spread: Floats
    rows: Array
    name: str

    def __post_init__(self) -> None:
        check_part(self)
        t = self.n_voters
        check(self.cases.shape == (t, len(self.columns)), "prototypes have another shape")
        check(self.values.ndim == 2 and len(self.values) == t, "prototypes and votes differ")
        check(self.spread.shape == self.rows.shape == (t,), "prototypes lack names or spreads")
        check(np.isfinite(self.values), "a vote is not finite")
        check((self.spread >= 0) & (self.spread < np.inf), "a spread is below 0")

    def row_names(self) -> Array:
        return self.rows

    def votes(self, X: Floats) -> Floats:
        return np.broadcast_to(self.values, (len(X), *self.values.shape))

    def components(self) -> tuple[Floats, Floats] | None:
        """Return (means, standard deviations), (T,), of the density of each vote."""
        return (self.values[:, 0], self.spread) if self.values.shape[1] == 1 else None

    def usage(self) -> Usage:
        """Return the (T, p) table of the columns in which each prototype is described."""
        return self.batches.usage()

    def named_rows(self, names: Array) -> Self:
        return replace(self, rows=named_of(self.rows, names))

    def training_rows(self) -> int:
        return int((self.batches.batch != PRIOR).sum())

    def take(self, voters: Indices) -> Self:
        batches, read = self.batches.take(voters)
        return replace(
            self,
            batches=batches,
            cases=np.ascontiguousarray(self.cases[voters][:, read]),
            values=self.values[voters],
            spread=self.spread[voters],
            rows=self.rows[voters],
        )

    def rule(self, voter: int, names: list[str], levels: dict[int, list[str]]) -> str:
        """Return the prototype in words: its row and its values, narrowest bandwidth first.

        For example ``near row 17: dose = 0.5, site = lung and 3 more columns``.
        """
        batch = int(self.batches.batch[voter])
        if batch == PRIOR:
            return self.name
        v = self.batches.inverse_bandwidth[batch]
        sharpest = [d for d in np.argsort(-v, kind="stable").tolist() if v[d] > 0]
        words, values, row = Names(names, levels), list[str](), self.rows.tolist()[voter]
        for d in sharpest:
            column, value = int(self.columns[d]), float(self.cases[voter, d])
            shown = " missing" if np.isnan(value) else f" = {words.value(column, value)}"
            values.append(f"{names[column]}{shown}")
        known = row if isinstance(row, str) else f"row {row}"
        named = "a training case" if row in (-1, "") else known
        if not values:
            return f"near {named}, by no column: the same weight everywhere"
        more = len(values) - _NAMED
        rest = f" and {plural(more, 'more column')}" if more > 0 else ""
        return f"near {named}: {', '.join(values[:_NAMED])}{rest}"

    def reasons(self, X: Floats) -> list[list[Reason]]:
        """Return the reason of each vote, for each row: the training case, or the prior."""
        reader = CaseReader({**unpacked(to_plain(self)), "rows": self.rows.tolist()})
        return [reader.reasons(x) for x in X.tolist()]

    def sides(self, voter: int) -> list[tuple[str, Floats]]:
        return [("always", self.values[voter])]


@register
class CaseVoters(ReadsColumns, ReadAsLowered):
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
    values: Floats
    rows: Array

    def __post_init__(self) -> None:
        check_part(self)
        t = len(self.rows)
        check(self.cases.shape == (t, len(self.columns)), "cases have another shape")
        check(self.values.ndim == 2 and len(self.values) == t, "cases and votes differ in number")

    @property
    def n_voters(self) -> int:
        return len(self.rows)

    def row_names(self) -> Array:
        return self.rows

    def are_cases(self) -> bool:
        return True

    def named_rows(self, names: Array) -> Self:
        return replace(self, rows=named_of(self.rows, names))

    def training_rows(self) -> int:
        return len(self.cases)

    def take(self, voters: Indices) -> Self:
        cases, values, rows = self.cases[voters], self.values[voters], self.rows[voters]
        return replace(self, cases=cases, values=values, rows=rows)

    @cached_property
    def _operation(self) -> PrototypeVoters:
        t, q = len(self.rows), len(self.columns)
        batches = Batches(self.n_features, self.columns, np.ones((1, q)), np.zeros(t, np.intp))
        return PrototypeVoters(batches, self.cases, self.values, np.zeros(t), self.rows, "")
