"""Voters that read categories as 0/1 columns, one a level."""

from dataclasses import dataclass, replace
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray

from psephos.files.field_types import Nullable
from psephos.vote.codec import register
from psephos.vote.marks import Marks
from psephos.vote.part import (
    Columns,
    ReadsColumns,
    Voters,
    check,
    check_part,
    check_within,
    sparse,
    usage_at,
)
from psephos.vote.reasons import Reason

_Floats = NDArray[np.float64]


def design_matrix(X: _Floats, source: Columns, level: _Floats) -> _Floats:
    """Return the (n, P) design of a table: its numbers as they are, its categories as 0 and 1.

    Parameters
    ----------
    X : ndarray of shape (n, p)
        Codes in categorical columns; NaN is missing, and missing in every column made of it.
    source : ndarray of shape (P,)
        The column each design column is made of.
    level : ndarray of shape (P,)
        The code it stands for; NaN: the number itself.
    """
    design = np.asfortranarray(X[:, source], dtype=np.float64)
    for j in np.flatnonzero(~np.isnan(level)):
        column = design[:, j]
        column[:] = np.where(np.isnan(column), np.nan, column == level[j])
    return design


@register
@dataclass(frozen=True)
class CodedVoters(ReadsColumns, Voters):
    """Voters on a design matrix, asked through the table it is made of.

    Parameters
    ----------
    n_features : int
        Columns of the table.
    columns : ndarray of shape (q,)
        Sorted columns that are read.
    inner : Voters
        Voters on the design.
    source : ndarray of shape (P,), intp
        Position in `columns` of each design column.
    level : ndarray of shape (P,), float64
        The category it stands for; NaN: the number itself.
    """

    tag: ClassVar[str] = "coded voters"
    n_features: int
    columns: Columns
    inner: Voters
    source: NDArray[np.intp]
    level: Nullable

    def __post_init__(self) -> None:
        check_part(self)
        p = self.inner.n_features
        check(self.source.shape == self.level.shape == (p,), "the design has another width")
        check_within(self.source, len(self.columns), "the design reads a column that is not there")

    @property
    def n_voters(self) -> int:
        return self.inner.n_voters

    def votes(self, X: _Floats) -> _Floats:
        return self.inner.votes(design_matrix(X[:, self.columns], self.source, self.level))

    def usage(self) -> Any:
        """Return the (T, p) table: a category is one column, whatever its levels."""
        inner: Any = sparse.coo_array(self.inner.usage())
        voter, design = inner.coords
        return usage_at(self, voter, self.source[design])

    def primary(self) -> Self:
        return replace(self, inner=self.inner.primary()).take(np.arange(self.n_voters))

    def divided(self, X: _Floats, size: _Floats, centre: _Floats) -> _Floats:
        """Return (n, p): sizes (n, T) divided as on the design, added up for each column."""
        design = design_matrix(X[:, self.columns], self.source, self.level)
        middle = design_matrix(centre[None, self.columns], self.source, self.level)[0]
        found = self.inner.divided(design, size, middle)
        out = np.zeros((self.n_features, len(X)))
        np.add.at(out, self.columns[self.source], found.T)
        return out.T

    def marks(self) -> Marks:
        """Return (columns, values) of those of the design that are columns of the table."""
        design, values = self.inner.marks()
        whole = np.isnan(self.level[design])
        return self.columns[self.source[design[whole]]], values[whole]

    def how_said(self) -> str | None:
        return self.inner.how_said()

    def training_rows(self) -> int:
        return self.inner.training_rows()

    def take(self, voters: NDArray[np.intp]) -> Self:
        """Return these voters only; design columns no longer read are dropped."""
        inner = self.inner.take(voters)
        kept = inner.columns
        inner = inner.select(kept)
        read, source = np.unique(self.source[kept], return_inverse=True)
        return replace(
            self,
            columns=self.columns[read],
            inner=inner,
            source=source.astype(np.intp),
            level=self.level[kept],
        )

    def rule(self, voter: int, names: list[str], levels: dict[int, list[str]]) -> str:
        """Return the voter in words; a 0/1 column is '<column> is <category>'."""
        return self.inner.rule(voter, self._names(names, levels), {})

    def reasons(self, X: _Floats) -> list[list[Reason]]:
        """Return, for each row, why each voter votes as it does, in the table's own columns."""
        design = design_matrix(X[:, self.columns], self.source, self.level)
        columns, levels = self.columns[self.source].tolist(), self.level.tolist()
        return [
            [reason.decoded(columns, levels, x) for reason in row]
            for row, x in zip(self.inner.reasons(design), X.tolist(), strict=True)
        ]

    def _names(self, names: list[str], levels: dict[int, list[str]]) -> list[str]:
        words: list[str] = []
        for position, code in zip(self.source.tolist(), self.level.tolist(), strict=True):
            column = int(self.columns[position])
            known = levels.get(column, [])
            whole = np.isnan(code)
            word = "" if whole else known[int(code)] if 0 <= code < len(known) else f"code {code:g}"
            words.append(names[column] if whole else f"({names[column]} is {word})")
        return words

    def sides(self, voter: int) -> list[tuple[str, _Floats]]:
        return self.inner.sides(voter)
