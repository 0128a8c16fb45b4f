"""Voters that read the answers of other voters: stacking, cascades."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray

from psephos.vote.codec import register
from psephos.vote.marks import Marks, joined_marks
from psephos.vote.names import Names
from psephos.vote.part import Columns, Voters, check, sparse
from psephos.vote.reasons import OfAnswers, Reason

_Floats = NDArray[np.float64]


@register
@dataclass(frozen=True)
class ComposedVoters(Voters):
    """Voters on a table of the columns and, behind them, of the answers of other voters.

    Parameters
    ----------
    members : Voters
        B voters on the p columns, whose (B, K') votes are read.
    readers : Voters
        T voters on p + B K' columns: those of the table, then the votes of the members, all
        outputs of the first before those of the second.
    answers : tuple of str
        The names of these B K' columns.
    shares : bool, default=False
        Whether votes are read as the probabilities p that they are the coding of: see `as_read`.
    """

    tag: ClassVar[str] = "composed voters"
    members: Voters
    readers: Voters
    answers: tuple[str, ...]
    shares: bool = False

    def __post_init__(self) -> None:
        whole = len(self.answers) > 0 and len(self.answers) % self.members.n_voters == 0
        check(whole, "answers and voters differ in number")
        wide = self.n_features + len(self.answers)
        check(self.readers.n_features == wide, "answers and the columns of their readers differ")

    @property
    def n_features(self) -> int:
        return self.members.n_features

    @property
    def n_voters(self) -> int:
        return self.readers.n_voters

    @property
    def columns(self) -> Columns:
        own = self.readers.columns
        return np.union1d(self.members.columns, own[own < self.n_features]).astype(np.intp)

    @property
    def _outputs(self) -> int:
        return len(self.answers) // self.members.n_voters

    def table(self, X: _Floats) -> _Floats:
        """Return the (n, p + B K') table that the readers read."""
        votes = self.members.votes(X)
        whole = votes.shape[1] * votes.shape[2] == len(self.answers)
        check(whole, "answers and their names differ in number")
        answers = votes.reshape(len(X), len(self.answers))
        if self.shares:
            answers = as_read(answers, self._outputs)
        return np.ascontiguousarray(np.hstack([X, answers]))

    def votes(self, X: _Floats) -> _Floats:
        return self.readers.votes(self.table(X))

    def kinds(self) -> tuple[str, ...]:
        """Return ``linear voters on answers of tree voters`` and the like."""
        heads, members = self.readers.kinds(), " and ".join(self.members.kinds())
        return tuple(f"{head} on answers of {members}" for head in heads)

    def usage(self) -> Any:
        """Return the (T, p) table: what a reader reads, or the members whose answers it reads."""
        p = self.n_features
        reads: Any = self.readers.usage().astype(np.int64)
        member = np.repeat(np.arange(self.members.n_voters), self._outputs)
        theirs: Any = self.members.usage().astype(np.int64)[member]
        return sparse.csr_array((reads[:, :p] + reads[:, p:] @ theirs) > 0)

    def primary(self) -> Self:
        return replace(self, members=self.members.primary(), readers=self.readers.primary())._kept()

    def divided(self, X: _Floats, size: _Floats, centre: _Floats) -> _Floats:
        """Return (n, p): sizes (n, T) divided among what readers read; answers among columns."""
        p = self.n_features
        middle = self.table(centre[None])[0]
        inner = self.readers.divided(self.table(X), size, middle)
        theirs = inner[:, p:].reshape(len(X), self.members.n_voters, self._outputs).sum(axis=2)
        return inner[:, :p] + self.members.divided(X, theirs, centre)

    def select(self, columns: Columns) -> Self:
        wide = np.append(columns, self.n_features + np.arange(len(self.answers)))
        readers = self.readers.select(wide.astype(np.intp))
        return replace(self, members=self.members.select(columns), readers=readers)

    def named_rows(self, names: NDArray[Any]) -> Self:
        members, readers = (part.named_rows(names) for part in (self.members, self.readers))
        return replace(self, members=members, readers=readers)

    def marks(self) -> Marks:
        """Return (columns, values) of the members, and of the readers on the table."""
        read, values = self.readers.marks()
        own = read < self.n_features
        return joined_marks([self.members.marks(), (read[own], values[own])])

    def training_rows(self) -> int:
        return max(self.members.training_rows(), self.readers.training_rows())

    def take(self, voters: NDArray[np.intp]) -> Self:
        """Return these readers only; members whose answers none reads are dropped."""
        return replace(self, readers=self.readers.take(voters))._kept()

    def _kept(self) -> Self:
        p, k = self.n_features, self._outputs
        read = self.readers.columns
        kept = np.unique((read[read >= p] - p) // k).astype(np.intp)
        kept = kept if len(kept) else np.zeros(1, dtype=np.intp)
        if len(kept) == self.members.n_voters:
            return self
        answers = (kept[:, None] * k + np.arange(k)).ravel()
        return replace(
            self,
            members=self.members.take(kept),
            readers=self.readers.select(np.append(np.arange(p), p + answers).astype(np.intp)),
            answers=tuple(self.answers[a] for a in answers.tolist()),
        )

    def rule(self, voter: int, names: list[str], levels: dict[int, list[str]]) -> str:
        """Return the reader's rule; an answer has its name."""
        return self.readers.rule(voter, [*names, *self.answers], levels)

    def voter_names(self) -> tuple[str, ...]:
        return self.readers.voter_names()

    def read_members(self) -> Voters:
        return self.members

    def reasons(self, X: _Floats) -> list[list[Reason]]:
        """Return, for each row, why each reader votes as it does, in columns and answers."""
        p, reasons = self.n_features, self.readers.reasons(self.table(X))
        usage: Any = self.usage()
        read = [tuple(usage[[t]].indices.tolist()) for t in range(self.n_voters)]
        places = [*range(p), *range(-len(self.answers), 0)]  # the last answer is column -1
        return [
            [
                OfAnswers(
                    one.answer,
                    read[t],
                    tuple(x[j] for j in read[t]),
                    one.mapped(places, {}),
                    self.answers,
                )
                for t, one in enumerate(row)
            ]
            for row, x in zip(reasons, X.tolist(), strict=True)
        ]

    def open(self, voter: int, X: _Floats, names: Names) -> tuple[Any, _Floats, Names] | None:
        """Return the vote that a reader is, with its rows and words; None if it is not one."""
        wide = replace(names, columns=[*names.columns, *self.answers])
        return self.readers.open(voter, self.table(X), wide)

    def sides(self, voter: int) -> list[tuple[str, _Floats]]:
        return self.readers.sides(voter)


def as_read(answers: _Floats, n_outputs: int) -> _Floats:
    """Return the probabilities that coded answers v, (n, B K), are the means of codes by.

    They are ((K - 1) v + 1) / K; of two classes (K = 1) that of the second, (1 + v) / 2.
    """
    k = max(n_outputs, 2)
    return np.clip(((k - 1) * answers + 1.0) / k, 0.0, 1.0)


def answer_names(members: Sequence[str], outputs: Sequence[str]) -> tuple[str, ...]:
    """Return ``kNN's answer``, or ``kNN for ill`` and so on where there are several outputs."""
    if len(outputs) == 1:
        return tuple(f"{name}'s answer" for name in members)
    return tuple(f"{name} for {output}" for name in members for output in outputs)
