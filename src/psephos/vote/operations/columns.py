"""Operations on columns: categories as 0/1 columns, and normal scores of ranks."""

from dataclasses import replace
from typing import Any, ClassVar, Self

import numpy as np

from psephos._types import Floats, Indices, Usage
from psephos.files.field_types import AnySize, Nullable
from psephos.trees.tree import spans_of
from psephos.vote import part
from psephos.vote.codec import register
from psephos.vote.reasons import Reason


def design_matrix(X: Floats, source: part.Columns, level: Floats) -> Floats:
    """Return the (n, P) design matrix of a table: numbers unchanged, categories as 0/1 columns.

    Parameters
    ----------
    X : ndarray of shape (n, p)
        Codes in categorical columns; NaN is missing, also in every column made from it.
    source : ndarray of shape (P,)
        The column from which each design column is made.
    level : ndarray of shape (P,)
        The code for which it is 1; NaN: the number itself.
    """
    design = np.asfortranarray(X[:, source], dtype=np.float64)
    for j in np.flatnonzero(~np.isnan(level)):
        column = design[:, j]
        column[:] = np.where(np.isnan(column), np.nan, column == level[j])
    return design


class _OnColumns(part.ReadsColumns, part.Voters):
    """Base class of voters on a table derived from columns.

    A subclass has `inner`, the voters on that table, and defines `_table`, which makes the table,
    and `_of`: the position in `columns` of the source of each of the table's columns.
    """

    inner: part.Voters

    @property
    def _of(self) -> Indices:
        raise NotImplementedError

    def _table(self, X: Floats) -> Floats:
        raise NotImplementedError

    @property
    def n_voters(self) -> int:
        return self.inner.n_voters

    def votes(self, X: Floats) -> Floats:
        return self.inner.votes(self._table(X))

    def usage(self) -> Usage:
        """Return the (T, p) table; the levels of a category count as one column."""
        inner: Any = part.sparse.coo_array(self.inner.usage())
        voter, made = inner.coords
        return part.usage_at(self, voter, self._of[made])

    def divided(self, X: Floats, size: Floats, centre: Floats) -> Floats:
        """Return (n, p): sizes (n, T) divided as on the derived table, summed by source column."""
        found = self.inner.divided(self._table(X), size, self._table(centre[None])[0])
        out = np.zeros((self.n_features, len(X)))
        np.add.at(out, self.columns[self._of], found.T)
        return out.T

    def how_said(self) -> str | None:
        return self.inner.how_said()

    def lowered(self) -> Self:
        own: Any = self
        return replace(own, inner=self.inner.lowered())

    def training_rows(self) -> int:
        return self.inner.training_rows()

    def sides(self, voter: int) -> list[tuple[str, Floats]]:
        return self.inner.sides(voter)


@register
class CodedVoters(_OnColumns):
    """Voters on a design matrix with 0/1 columns, evaluated on the table it is made from.

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
        The category for which it is 1; NaN: the number itself.
    """

    tag: ClassVar[str] = "coded voters"
    n_features: int
    columns: part.Columns
    inner: part.Voters
    source: Indices
    level: Nullable

    def __post_init__(self) -> None:
        part.check_part(self)
        p, q = self.inner.n_features, len(self.columns)
        part.check(self.source.shape == self.level.shape == (p,), "the design has another width")
        part.check_within(self.source, q, "the design reads a column outside the list")

    @property
    def _of(self) -> Indices:
        return self.source

    def _table(self, X: Floats) -> Floats:
        return design_matrix(X[:, self.columns], self.source, self.level)

    def primary(self) -> Self:
        return replace(self, inner=self.inner.primary()).take(np.arange(self.n_voters))

    def marks(self) -> part.Breakpoints:
        """Return (columns, values) of the design columns that are numbers of the table."""
        design, values = self.inner.marks()
        whole = np.isnan(self.level[design])
        return self.columns[self.source[design[whole]]], values[whole]

    def take(self, voters: Indices) -> Self:
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
        """Return the voter in words; a 0/1 column is '(<column> is <category>)'."""
        return self.inner.rule(voter, self._names(names, levels), {})

    def reasons(self, X: Floats) -> list[list[Reason]]:
        """Return the reason of each vote, for each row, in the columns of the table."""
        columns, levels = self.columns[self.source].tolist(), self.level.tolist()
        rows = zip(self.inner.reasons(self._table(X)), X.tolist(), strict=True)
        return [[reason.decoded(columns, levels, x) for reason in row] for row, x in rows]

    def _names(self, names: list[str], levels: dict[int, list[str]]) -> list[str]:
        words: list[str] = []
        for position, code in zip(self.source.tolist(), self.level.tolist(), strict=True):
            column = int(self.columns[position])
            known = levels.get(column, [])
            whole = np.isnan(code)
            word = "" if whole else known[int(code)] if 0 <= code < len(known) else f"code {code:g}"
            words.append(names[column] if whole else f"({names[column]} is {word})")
        return words


def normal_scores(X: Floats, knots: Floats, scores: Floats, start: Indices) -> Floats:
    """Return the normal scores of the values of a table.

    Scores are interpolated between knots, and constant beyond the first and last knot. A missing
    value has 0, the score of the median.

    Parameters
    ----------
    X : ndarray of shape (n, q)
    knots : ndarray of shape (m,)
        Values of the columns, one column after the other, rising within a column.
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
class RankedVoters(_OnColumns):
    """Voters on normal scores: ``z = Phi^-1((W_below + W_equal / 2) / W)``.

    W are sums of the weights of the training rows, class weights included.

    Parameters
    ----------
    n_features : int
        Columns of the table.
    columns : ndarray of shape (q,)
        Sorted columns that are read.
    inner : Voters
        Voters on the table of the q columns' normal scores.
    knots : ndarray of shape (m,)
        Training values of the columns that are read, one column after the other, rising within a
        column.
    scores : ndarray of shape (m,)
        Their normal scores, not falling within a column.
    start : ndarray of shape (q + 1,), intp
        Where the knots of each of the q columns begin.
    """

    tag: ClassVar[str] = "ranked voters"
    n_features: int
    columns: part.Columns
    inner: part.Voters
    knots: AnySize
    scores: Floats
    start: Indices

    def __post_init__(self) -> None:
        part.check_part(self)
        part.check(self.inner.n_features == len(self.columns), "the scores are of other columns")
        part.check(self.knots.ndim == 1, "knots are not a row of numbers")
        part.check(self.knots.shape == self.scores.shape, "knots and scores differ in number")
        part.check_ptr(self.start, len(self.columns), len(self.knots), "knots")
        same = np.ones(max(len(self.knots) - 1, 0), dtype=bool)  # both knots of one column
        inside = self.start[(self.start > 0) & (self.start < len(self.knots))]
        same[inside - 1] = False
        rising = (np.diff(self.knots) > 0)[same].all() and (np.diff(self.scores) >= 0)[same].all()
        part.check(rising, "knots are not in rising order")

    @property
    def _of(self) -> Indices:
        return np.arange(len(self.columns))

    def _table(self, X: Floats) -> Floats:
        return normal_scores(X[:, self.columns], self.knots, self.scores, self.start)

    def derived(self, X: Floats) -> tuple[part.Voters, Floats]:
        """Return the voters on normal scores, and the scores of X, if all columns are read."""
        every = len(self.columns) == self.n_features
        return (self.inner, self._table(X)) if every else (self, X)

    def marks(self) -> part.Breakpoints:
        """Return (columns, values) around the range of each column."""
        known = np.flatnonzero(np.diff(self.start))
        low, high = self.knots[self.start[known]], self.knots[self.start[known + 1] - 1]
        return part.outer_marks(self.columns[known], low, high)

    def take(self, voters: Indices) -> Self:
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

    def reasons(self, X: Floats) -> list[list[Reason]]:
        """Return the reason of each vote, for each row, with values and their normal scores."""
        columns = self.columns.tolist()
        rows = zip(self.inner.reasons(self._table(X)), X.tolist(), strict=True)
        return [[reason.ranked(columns, x) for reason in row] for row, x in rows]


def _scored(name: str) -> str:
    """Return the name of a column of normal scores; in brackets for a 0/1 column."""
    coded = name.startswith("(") and name.endswith(")")
    return f"(normal score of {name[1:-1]})" if coded else f"normal score of {name}"
