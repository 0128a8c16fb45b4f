"""Operations on voters: several kinds in one order, and voters that read the votes of others."""

from collections.abc import Sequence
from dataclasses import replace
from functools import cached_property
from typing import Any, ClassVar, Self

import numpy as np

from psephos._types import Array, Floats, Indices, Usage, sparse
from psephos.files.names import Names, sentence_name
from psephos.vote.codec import register
from psephos.vote.part import (
    Breakpoints,
    Columns,
    ShownTree,
    Voters,
    check,
    check_part,
    check_within,
    joined_marks,
)
from psephos.vote.reasons import OfAnswers, Reason


@register
class JoinedVoters(Voters):
    """Voters of several parts, in one order.

    Parameters
    ----------
    parts : tuple of Voters
        All on the same table.
    part : ndarray of shape (T,), intp
        The part of each voter.
    place : ndarray of shape (T,), intp
        Its index in the part.
    names : tuple of str, default=()
        A name for each voter, if they have names.
    """

    tag: ClassVar[str] = "joined voters"
    parts: tuple[Voters, ...]
    part: Indices
    place: Indices
    names: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        check_part(self)
        check(len(self.parts) > 0, "no voter is joined")
        widths = {part.n_features for part in self.parts}
        check(len(widths) == 1, "joined voters have different tables")
        check(self.part.shape == self.place.shape and self.part.ndim == 1, "voters lack a part")
        check_within(self.part, len(self.parts), "a part does not exist")
        check(len(self.names) in (0, len(self.part)), "voters and their names differ in number")
        sizes = np.array([part.n_voters for part in self.parts])[self.part]
        check_within(self.place, sizes, "a voter does not exist")

    @property
    def n_features(self) -> int:
        return self.parts[0].n_features

    @property
    def n_voters(self) -> int:
        return len(self.part)

    @property
    def columns(self) -> Columns:
        return np.unique(np.concatenate([part.columns for part in self.parts])).astype(np.intp)

    def _at(self, voter: int) -> tuple[Voters, int]:
        """Return the part of a voter, and its index in it."""
        return self.parts[int(self.part[voter])], int(self.place[voter])

    def votes(self, X: Floats) -> Floats:
        votes: list[Floats] = []
        for k, part in enumerate(self.parts):
            votes.append(part.votes(X)[:, self.place[self.part == k]])
        order = np.argsort(np.argsort(self.part, kind="stable"), kind="stable")
        return np.concatenate(votes, axis=1)[:, order]

    def weighted_sum(self, weights: Floats, X: Floats) -> Floats:
        """Return the (n, K) weighted sums, part by part if every voter of a part occurs once."""
        if self._own is None:
            return super().weighted_sum(weights, X)
        total = np.zeros(())
        for part, mine in zip(self.parts, self._own, strict=True):
            total = total + part.weighted_sum(weights[:, mine], X)
        return total

    @cached_property
    def _own(self) -> list[Indices] | None:
        """Return the voters of each part in its order; None if one does not occur exactly once."""
        own = [np.flatnonzero(self.part == k) for k in range(len(self.parts))]
        own = [mine[np.argsort(self.place[mine])] for mine in own]
        pairs = zip(own, self.parts, strict=True)
        whole = all(np.array_equal(self.place[a], np.arange(b.n_voters)) for a, b in pairs)
        return own if whole else None

    def kinds(self) -> tuple[str, ...]:
        return tuple(dict.fromkeys(kind for part in self.parts for kind in part.kinds()))

    def n_trees(self, voter: int) -> int:
        part, place = self._at(voter)
        return part.n_trees(place)

    def shown_tree(self, voter: int, tree: int) -> ShownTree:
        part, place = self._at(voter)
        return part.shown_tree(place, tree)

    def voter_names(self) -> tuple[str, ...]:
        return self.names

    def joined_parts(self) -> tuple[Voters, ...]:
        return self.parts

    def usage(self) -> Usage:
        stacked: Any = sparse.vstack([part.usage() for part in self.parts], format="csr")
        first = np.cumsum([0, *(part.n_voters for part in self.parts)])[:-1]
        return stacked[first[self.part] + self.place].astype(bool)

    def primary(self) -> Self:
        return replace(self, parts=tuple(part.primary() for part in self.parts))

    def divided(self, X: Floats, size: Floats, centre: Floats) -> Floats:
        """Return (n, p): sizes (n, T) divided by the method of each part."""
        out = np.zeros((len(X), self.n_features))
        for k, part in enumerate(self.parts):
            own = np.zeros((part.n_voters, len(X)))
            mine = self.part == k
            np.add.at(own, self.place[mine], size[:, mine].T)
            out += part.divided(X, own.T, centre)
        return out

    def lowered(self) -> Self:
        return replace(self, parts=tuple(part.lowered() for part in self.parts))

    def select(self, columns: Columns) -> Self:
        return replace(self, parts=tuple(part.select(columns) for part in self.parts))

    def named_rows(self, names: Array) -> Self:
        return replace(self, parts=tuple(part.named_rows(names) for part in self.parts))

    def marks(self) -> Breakpoints:
        return joined_marks([part.marks() for part in self.parts])

    def training_rows(self) -> int:
        return max(part.training_rows() for part in self.parts)

    def take(self, voters: Indices) -> Self:
        """Return these voters only, in this order, without parts that have none of them."""
        order: list[int] = voters.tolist()
        part, place = self.part[voters], self.place[voters]
        kept = np.unique(part)
        parts: list[Voters] = []
        new = np.empty(len(part), dtype=np.intp)
        for k in map(int, kept):
            mine, where = np.unique(place[part == k], return_inverse=True)
            parts.append(self.parts[k].take(mine))
            new[part == k] = where
        return replace(
            self,
            parts=tuple(parts),
            part=np.searchsorted(kept, part).astype(np.intp),
            place=new,
            names=tuple(self.names[t] for t in order) if self.names else (),
        )

    def rule(self, voter: int, names: list[str], levels: dict[int, list[str]]) -> str:
        part, place = self._at(voter)
        return part.rule(place, names, levels)

    def reasons(self, X: Floats) -> list[list[Reason]]:
        reasons = [part.reasons(X) for part in self.parts]
        order = list(zip(self.part.tolist(), self.place.tolist(), strict=True))
        return [[reasons[k][i][t] for k, t in order] for i in range(len(X))]

    def open(self, voter: int, X: Floats, names: Names) -> Any:
        part, place = self._at(voter)
        return part.open(place, X, names)

    def sides(self, voter: int) -> list[tuple[str, Floats]]:
        part, place = self._at(voter)
        return part.sides(place)


def join(parts: list[tuple[Indices, Voters]], names: Sequence[str] = ()) -> Voters:
    """Return voters of several parts in the order of their positions.

    Parameters
    ----------
    parts : list of (positions, voters)
        Voter i of `voters` comes at ``positions[i]``; the positions of all parts are 0 ... T - 1.
    names : sequence of str, default=()
        Names of the voters, or none.
    """
    if len(parts) == 1 and not names and bool((np.diff(parts[0][0]) > 0).all()):
        return parts[0][1]
    size = sum(len(positions) for positions, _ in parts)
    part, place = np.empty(size, dtype=np.intp), np.empty(size, dtype=np.intp)
    for k, (positions, _) in enumerate(parts):
        part[positions], place[positions] = k, np.arange(len(positions))
    return JoinedVoters(tuple(voters for _, voters in parts), part, place, tuple(names))


@register
class ComposedVoters(Voters):
    """Voters on the columns of the table followed by the votes of other voters, the members.

    Parameters
    ----------
    members : Voters
        B voters on the p columns, whose (B, K') votes are read.
    readers : Voters
        T voters on p + B K' columns: those of the table, then the votes of the members, all
        outputs of the first before those of the second.
    answers : tuple of str
        The names of the B K' columns of votes.
    shares : bool, default=False
        Whether votes are converted to probabilities: see `as_read`.
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

    def table(self, X: Floats) -> Floats:
        """Return the (n, p + B K') table that the readers read."""
        votes = self.members.votes(X)
        whole = votes.shape[1] * votes.shape[2] == len(self.answers)
        check(whole, "answers and their names differ in number")
        answers = votes.reshape(len(X), len(self.answers))
        if self.shares:
            answers = as_read(answers, self._outputs)
        return np.ascontiguousarray(np.hstack([X, answers]))

    def votes(self, X: Floats) -> Floats:
        return self.readers.votes(self.table(X))

    def kinds(self) -> tuple[str, ...]:
        """Return ``linear voters on answers of tree voters`` and the like."""
        heads, members = self.readers.kinds(), " and ".join(self.members.kinds())
        return tuple(f"{head} on answers of {members}" for head in heads)

    def usage(self) -> Usage:
        """Return the (T, p) table of columns that a reader, or a member that it reads, reads."""
        p = self.n_features
        reads: Any = self.readers.usage().astype(np.int64)
        member = np.repeat(np.arange(self.members.n_voters), self._outputs)
        theirs: Any = self.members.usage().astype(np.int64)[member]
        return sparse.csr_array((reads[:, :p] + reads[:, p:] @ theirs) > 0)

    def primary(self) -> Self:
        return replace(self, members=self.members.primary(), readers=self.readers.primary())._kept()

    def divided(self, X: Floats, size: Floats, centre: Floats) -> Floats:
        """Return (n, p): sizes (n, T) divided by the readers, and parts of votes by the members."""
        p = self.n_features
        middle = self.table(centre[None])[0]
        inner = self.readers.divided(self.table(X), size, middle)
        theirs = inner[:, p:].reshape(len(X), self.members.n_voters, self._outputs).sum(axis=2)
        return inner[:, :p] + self.members.divided(X, theirs, centre)

    def lowered(self) -> Self:
        return replace(self, members=self.members.lowered(), readers=self.readers.lowered())

    def select(self, columns: Columns) -> Self:
        wide = np.append(columns, self.n_features + np.arange(len(self.answers)))
        readers = self.readers.select(wide.astype(np.intp))
        return replace(self, members=self.members.select(columns), readers=readers)

    def named_rows(self, names: Array) -> Self:
        members, readers = (part.named_rows(names) for part in (self.members, self.readers))
        return replace(self, members=members, readers=readers)

    def marks(self) -> Breakpoints:
        """Return (columns, values) of the members, and of the readers in columns of the table."""
        read, values = self.readers.marks()
        own = read < self.n_features
        return joined_marks([self.members.marks(), (read[own], values[own])])

    def training_rows(self) -> int:
        return max(self.members.training_rows(), self.readers.training_rows())

    def take(self, voters: Indices) -> Self:
        """Return these readers only, without members that none of them reads."""
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
        """Return the reader's rule, in names of columns and of answers."""
        return self.readers.rule(voter, [*names, *map(sentence_name, self.answers)], levels)

    def label(self, voter: int) -> str:
        return self.readers.label(voter)

    def read_members(self) -> Voters:
        return self.members

    def reasons(self, X: Floats) -> list[list[Reason]]:
        """Return the reason of each vote, for each row, in columns and answers."""
        p, reasons = self.n_features, self.readers.reasons(self.table(X))
        usage: Usage = self.usage()
        read = [tuple(usage[[t]].indices.tolist()) for t in range(self.n_voters)]
        places = [*range(p), *range(-len(self.answers), 0)]  # the last answer is column -1

        def of_answers(one: Reason, own: tuple[int, ...], x: list[float]) -> Reason:
            values, inner = tuple(x[j] for j in own), one.mapped(places, {})
            return OfAnswers(one.answer, own, values, inner, self.answers)

        rows = zip(reasons, X.tolist(), strict=True)
        return [[of_answers(*each, x) for each in zip(row, read, strict=True)] for row, x in rows]

    def open(self, voter: int, X: Floats, names: Names) -> tuple[Any, Floats, Names] | None:
        """Return (vote, rows, names) of a reader that is itself a vote; None if it is not one."""
        wide = replace(names, columns=[*names.columns, *self.answers])
        return self.readers.open(voter, self.table(X), wide)

    def sides(self, voter: int) -> list[tuple[str, Floats]]:
        return self.readers.sides(voter)


def as_read(answers: Floats, n_outputs: int) -> Floats:
    """Return the probabilities under which votes v, (n, B K), are the mean codes of classes.

    They are ((K - 1) v + 1) / K; for two classes (K = 1) that of the second, (1 + v) / 2.
    """
    k = max(n_outputs, 2)
    return np.clip(((k - 1) * answers + 1.0) / k, 0.0, 1.0)


def answer_names(members: Sequence[str], outputs: Sequence[str]) -> tuple[str, ...]:
    """Return names such as ``kNN's answer``, or ``kNN for ill`` if there are several outputs."""
    if len(outputs) == 1:
        return tuple(f"{name}'s answer" for name in members)
    return tuple(f"{name} for {output}" for name in members for output in outputs)
