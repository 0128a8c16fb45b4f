"""Training cases as voters: each votes for its own class or value."""

from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray

from psephos.files.field_types import Nullable
from psephos.vote.codec import register
from psephos.vote.names import number
from psephos.vote.part import Columns, ReadsLike, Voters, check, check_part, named_of
from psephos.vote.reasons import Always, CaseLike, Reason
from psephos.vote.voters.cases import near_words
from psephos.vote.weights.gaussian_kernels import PRIOR, Answers, Batches

_Floats = NDArray[np.float64]


@register
@dataclass(frozen=True)
class PrototypeVoters(ReadsLike, Voters):
    """Training cases, each of which votes for its own class or value, and the prior.

    Parameters
    ----------
    batches : Batches
        T voters, prototypes and priors.
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
        What a prior is, in words.
    """

    tag: ClassVar[str] = "prototype voters"
    read_by: ClassVar[str] = "batches"
    batches: Batches
    cases: Nullable
    values: _Floats
    spread: _Floats
    rows: NDArray[Any]
    name: str

    def __post_init__(self) -> None:
        check_part(self)
        t = self.n_voters
        check(self.cases.shape == (t, len(self.columns)), "prototypes have another shape")
        check(self.values.ndim == 2 and len(self.values) == t, "prototypes and votes differ")
        check(self.spread.shape == self.rows.shape == (t,), "prototypes lack names or spreads")
        check(bool(np.isfinite(self.values).all()), "a vote is not finite")
        check(bool(((self.spread >= 0) & (self.spread < np.inf)).all()), "a spread is below 0")

    @property
    def n_voters(self) -> int:
        return self.batches.n_voters

    def fixed_answers(self) -> Answers:
        """Return the votes, as sums of weights need them."""
        return self._answers

    @cached_property
    def _answers(self) -> Answers:
        return Answers.of(self.values)

    def row_names(self) -> NDArray[Any]:
        return self.rows

    def votes(self, X: _Floats) -> _Floats:
        return np.broadcast_to(self.values, (len(X), *self.values.shape))

    def components(self) -> tuple[_Floats, _Floats] | None:
        """Return (means, standard deviations), (T,), of the density of each vote."""
        return (self.values[:, 0], self.spread) if self.values.shape[1] == 1 else None

    def usage(self) -> Any:
        """Return the (T, p) table: the columns in which a prototype is described."""
        return self.batches.usage()

    def named_rows(self, names: NDArray[Any]) -> Self:
        return replace(self, rows=named_of(self.rows, names))

    def training_rows(self) -> int:
        return int((self.batches.batch != PRIOR).sum())

    def take(self, voters: NDArray[np.intp]) -> Self:
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
        """Return the prototype in words: its row, and its values where its batch looks sharpest.

        Such as ``near row 17: dose = 0.5, site = lung and 3 more columns``.
        """
        batch = int(self.batches.batch[voter])
        if batch == PRIOR:
            return self.name
        v = self.batches.inverse_bandwidth[batch]
        sharpest = [d for d in np.argsort(-v, kind="stable").tolist() if v[d] > 0]
        values = [self._value(voter, d, names, levels) for d in sharpest]
        return near_words(self.rows.tolist()[voter], values)

    def reasons(self, X: _Floats) -> list[list[Reason]]:
        """Return, for each row, the training case beside it, or what the prior is."""
        sharpness = self.batches.inverse_bandwidth
        sharpest: list[Columns] = [
            np.argsort(-v, kind="stable")[: int((v > 0).sum())] for v in sharpness
        ]
        votes, rows = [tuple(v) for v in self.values.tolist()], self.rows.tolist()
        table = X[:, self.columns]
        batch: list[int] = self.batches.batch.tolist()

        def reason(x: _Floats, t: int) -> Reason:
            if batch[t] == PRIOR:
                return Always(votes[t], self.name)
            read = sharpest[batch[t]]
            columns = tuple(self.columns[read].tolist())
            theirs = tuple(self.cases[t, read].tolist())
            return CaseLike(votes[t], rows[t], columns, tuple(x[read].tolist()), theirs)

        return [[reason(x, t) for t in range(self.n_voters)] for x in table]

    def _value(
        self, voter: int, position: int, names: list[str], levels: dict[int, list[str]]
    ) -> str:
        column, value = int(self.columns[position]), float(self.cases[voter, position])
        if np.isnan(value):
            return f"{names[column]} missing"
        known = levels.get(column, [])
        word = known[int(value)] if 0 <= value < len(known) else number(value)
        return f"{names[column]} = {word}"

    def sides(self, voter: int) -> list[tuple[str, _Floats]]:
        return [("always", self.values[voter])]
