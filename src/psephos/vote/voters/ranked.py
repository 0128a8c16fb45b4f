"""Voters that read the normal score of a value's rank in place of the value."""

from dataclasses import dataclass, replace
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray

from psephos.files.field_types import AnySize
from psephos.trees.tree import spans_of
from psephos.vote.codec import register
from psephos.vote.marks import Marks, outer_marks
from psephos.vote.part import (
    Columns,
    ReadsColumns,
    Voters,
    check,
    check_part,
    check_ptr,
    sparse,
    usage_at,
)
from psephos.vote.reasons import Reason

_Floats = NDArray[np.float64]


def normal_scores(X: _Floats, knots: _Floats, scores: _Floats, start: NDArray[np.intp]) -> _Floats:
    """Return the normal scores of the values of a table.

    Between two knots a score is interpolated, beyond the ends it is that of the end. A missing
    value has 0, the score of the median.

    Parameters
    ----------
    X : ndarray of shape (n, q)
    knots : ndarray of shape (m,)
        Values of the columns, one column after the other, each column's rising.
    scores : ndarray of shape (m,)
        Their normal scores.
    start : ndarray of shape (q + 1,)
        Where each column's knots begin; a column may have none: all its scores are 0.
    """
    out = np.zeros(X.shape)
    ends = start.tolist()
    for j in range(X.shape[1]):
        own = slice(ends[j], ends[j + 1])
        if ends[j] < ends[j + 1]:
            out[:, j] = np.interp(X[:, j], knots[own], scores[own])
    out[np.isnan(out)] = 0.0
    return out


@register
@dataclass(frozen=True)
class RankedVoters(ReadsColumns, Voters):
    """Voters on normal scores: ``z = Phi^-1(share of the training rows below x)``.

    Parameters
    ----------
    n_features : int
        Columns of the table.
    columns : ndarray of shape (q,)
        Sorted columns that are read.
    inner : Voters
        Voters on the table of the q columns' normal scores.
    knots : ndarray of shape (m,)
        Training values of the columns that are read, one column after the other, each column's
        rising.
    scores : ndarray of shape (m,)
        Their normal scores, rising as well.
    start : ndarray of shape (q + 1,), intp
        Where the knots of each of the q columns begin.
    """

    tag: ClassVar[str] = "ranked voters"
    n_features: int
    columns: Columns
    inner: Voters
    knots: AnySize
    scores: _Floats
    start: NDArray[np.intp]

    def __post_init__(self) -> None:
        check_part(self)
        check(self.inner.n_features == len(self.columns), "the scores are of other columns")
        check(self.knots.ndim == 1, "knots are not a row of numbers")
        check(self.knots.shape == self.scores.shape, "knots and scores differ in number")
        check_ptr(self.start, len(self.columns), len(self.knots), "knots")
        same = np.ones(max(len(self.knots) - 1, 0), dtype=bool)  # both knots of one column
        inside = self.start[(self.start > 0) & (self.start < len(self.knots))]
        same[inside - 1] = False
        rising = (np.diff(self.knots) > 0)[same].all() and (np.diff(self.scores) >= 0)[same].all()
        check(bool(rising), "knots are not in rising order")

    @property
    def n_voters(self) -> int:
        return self.inner.n_voters

    def _scores(self, X: _Floats) -> _Floats:
        return normal_scores(X[:, self.columns], self.knots, self.scores, self.start)

    def votes(self, X: _Floats) -> _Floats:
        return self.inner.votes(self._scores(X))

    def usage(self) -> Any:
        inner: Any = sparse.coo_array(self.inner.usage())
        voter, place = inner.coords
        return usage_at(self, voter, place)

    def divided(self, X: _Floats, size: _Floats, centre: _Floats) -> _Floats:
        """Return (n, p): sizes (n, T) divided as on the normal scores."""
        out = np.zeros((len(X), self.n_features))
        middle = self._scores(centre[None])[0]
        out[:, self.columns] = self.inner.divided(self._scores(X), size, middle)
        return out

    def marks(self) -> Marks:
        """Return (columns, values) about the range of each column."""
        known = np.flatnonzero(np.diff(self.start))
        low, high = self.knots[self.start[known]], self.knots[self.start[known + 1] - 1]
        return outer_marks(self.columns[known], low, high)

    def how_said(self) -> str | None:
        return self.inner.how_said()

    def training_rows(self) -> int:
        return self.inner.training_rows()

    def take(self, voters: NDArray[np.intp]) -> Self:
        """Return these voters only; knots of columns no longer read are dropped."""
        inner = self.inner.take(voters)
        kept = inner.columns
        start, rows = spans_of(self.start, kept)
        return replace(
            self,
            columns=self.columns[kept],
            inner=inner.select(kept),
            knots=self.knots[rows],
            scores=self.scores[rows],
            start=start,
        )

    def rule(self, voter: int, names: list[str], levels: dict[int, list[str]]) -> str:
        """Return the voter in words, on 'normal score of <column>'."""
        return self.inner.rule(voter, [_scored(names[int(j)]) for j in self.columns], {})

    def reasons(self, X: _Floats) -> list[list[Reason]]:
        """Return, for each row, why each voter votes as it does: values and their scores."""
        columns = self.columns.tolist()
        return [
            [reason.ranked(columns, x) for reason in row]
            for row, x in zip(self.inner.reasons(self._scores(X)), X.tolist(), strict=True)
        ]

    def sides(self, voter: int) -> list[tuple[str, _Floats]]:
        return self.inner.sides(voter)


def _scored(name: str) -> str:
    """Return the name of a column of normal scores; a 0/1 column's is in brackets."""
    coded = name.startswith("(") and name.endswith(")")
    return f"(normal score of {name[1:-1]})" if coded else f"normal score of {name}"
