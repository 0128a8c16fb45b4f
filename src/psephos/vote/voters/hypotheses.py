"""Conjunctive hypotheses as voters: listed, each as a voter; or too many to list, as one voter."""

import math
from collections.abc import Iterator
from functools import cached_property
from typing import ClassVar, Self

import numpy as np

from psephos._types import Floats, Indices, NDArray, Usage
from psephos.files.names import percent
from psephos.vote.codec import register
from psephos.vote.lowered import ReadAsLowered
from psephos.vote.operations.nodes import chains
from psephos.vote.operations.trees import Trees
from psephos.vote.part import ReadsLike, Voters, check, check_part, usage_of_all
from psephos.vote.reasons import FittedEstimator, Reason
from psephos.vote.voters.conjunctive_space import ConjunctiveSpace, Hypotheses
from psephos.vote.voters.counting import Problem

_CELLS = 1 << 22  # truth values at once


@register
class HypothesisVoters(ReadsLike, ReadAsLowered):
    """Conjunctions: each votes `yes` where all its tests hold, `no` elsewhere.

    No test holds for a missing value.

    Parameters
    ----------
    space : ConjunctiveSpace
        Over the columns that any of them tests, and no others.
    low, high : ndarray of shape (T, q), int32
        The codes that each accepts; -1 and the size of the column if it is not tested.
    empty : ndarray of shape (T,), bool
        Whether it is the hypothesis that holds for no case; it tests no column.
    yes, no : ndarray of shape (K,)
    """

    tag: ClassVar[str] = "hypotheses"
    read_by: ClassVar[str] = "space"
    space: ConjunctiveSpace
    low: NDArray[np.int32]
    high: NDArray[np.int32]
    empty: NDArray[np.bool_]
    yes: Floats
    no: Floats

    def __post_init__(self) -> None:
        check_part(self)
        shape = (len(self.empty), self.space.n_columns)
        check(self.low.shape == self.high.shape == shape, "hypotheses and columns differ")
        check(self.empty.ndim == 1, "hypotheses differ in number")
        check(self.yes.ndim == 1 and self.yes.shape == self.no.shape, "votes differ in shape")
        size, tested = self.space.size, self.low >= 0
        free = (self.low == -1) & (self.high == size)
        inside = tested & (self.low <= self.high) & (self.high < size)
        single = inside & ((self.low == self.high) | ~self.space.is_category)
        check(free | single, "a hypothesis has codes that do not exist")
        check((tested & ~self.empty[:, None]).any(axis=0), "no hypothesis tests a column")

    @classmethod
    def of(cls, space: ConjunctiveSpace, found: Hypotheses, yes: Floats, no: Floats) -> Self:
        """Return hypotheses as voters, on the columns that they test."""
        low, high = found.low.copy(), found.high.copy()
        low[found.empty], high[found.empty] = -1, space.size
        kept = np.flatnonzero((low >= 0).any(axis=0))
        low, high = (np.ascontiguousarray(a[:, kept]) for a in (low, high))
        return cls(space.take(kept), low, high, found.empty, yes, no)

    @property
    def n_voters(self) -> int:
        return len(self.empty)

    @property
    def hypotheses(self) -> Hypotheses:
        """Return the hypotheses, on the columns of the space."""
        return Hypotheses(self.low, self.high, self.empty)

    def weighted_sum(self, weights: Floats, X: Floats) -> Floats:
        """Return the (n, K) weighted sums of the votes.

        Where all hypotheses hold, or none does, it is exactly the sum of the weights times the
        vote: ties stay ties.
        """
        code = self.space.encode(X)
        held = np.zeros(len(X))
        step = max(1, _CELLS // max(1, len(X)))
        for start in range(0, self.n_voters, step):
            some = slice(start, start + step)
            holds = Hypotheses(self.low[some], self.high[some], self.empty[some]).holds(code)
            held += np.where(holds, weights[:, some], 0.0).sum(axis=1)
        rest = weights.sum(axis=1) - held
        return held[:, None] * self.yes + rest[:, None] * self.no

    def take(self, voters: Indices) -> Self:
        return self.of(self.space, self.hypotheses.take(voters), self.yes, self.no)

    @cached_property
    def _operation(self) -> Trees:
        """Return the hypotheses as chains of tests; of two on a column, the lower bound first."""
        tests: list[tuple[int, int, float]] = []
        sizes: list[int] = []
        each = (codes.tolist() for codes in (self.low, self.high, self.empty))
        for low, high, empty in zip(*each, strict=True):
            own = [] if empty else list(self._tests(low, high))
            tests += own
            sizes.append(len(own))
        column, op, bound = np.array(tests, dtype=np.float64).reshape(-1, 3).T
        lengths = np.array(sizes, np.intp)
        root, last, nodes = chains(lengths, column.astype(np.intp), op.astype(np.intp), bound)
        row = np.where(nodes.n_children > 0, -1, 1)
        row[last] = np.where(self.empty, 1, 0)
        value = np.stack([self.yes, self.no])
        return Trees(self.n_features, self.columns, root, nodes, value, row, each="hypothesis")

    def _tests(self, low: list[int], high: list[int]) -> Iterator[tuple[int, int, float]]:
        """Yield (position of the column, operation, bound) of each test; see `chains`."""
        space = self.space
        for i, (a, b) in enumerate(zip(low, high, strict=True)):
            if a >= 0 and space.is_category[i]:
                yield i, 2, float(a)
                continue
            if a > 0:
                yield i, 1, float(space.cuts[i][a - 1])
            if a >= 0 and b < space.size[i] - 1:
                yield i, 0, float(space.cuts[i][b])


@register
class CountedHypotheses(ReadsLike, Voters):
    """All hypotheses that are at least as general as S and exclude the negatives, counted.

    The vote is ``share * yes + (1 - share) * no``, where share is that of the hypotheses that hold
    for the case, weighted by the prior: the number at least as general as the join of S and the
    case, divided by the number at least as general as S. Both are counted exactly.

    Parameters
    ----------
    space : ConjunctiveSpace
        Over the columns that S tests only; for an empty S over all that can be tested.
    low, high : ndarray of shape (q,), int32
        S; ignored if it is empty.
    empty : bool
        Whether S is the empty hypothesis, which is then counted.
    negatives : ndarray of shape (m, q), int32
        Codes of cases for which no hypothesis holds.
    prior : {'uniform', 'short'}
    yes, no : ndarray of shape (K,)
    """

    tag: ClassVar[str] = "counted hypotheses"
    read_by: ClassVar[str] = "space"
    space: ConjunctiveSpace
    low: NDArray[np.int32]
    high: NDArray[np.int32]
    empty: bool
    negatives: NDArray[np.int32]
    prior: str
    yes: Floats
    no: Floats

    def __post_init__(self) -> None:
        check_part(self)
        q = self.space.n_columns
        check(self.low.shape == self.high.shape == (q,), "S and the columns differ")
        check(self.negatives.ndim == 2 and self.negatives.shape[1] == q, "negatives and columns")
        size = self.space.size
        inside = (self.low >= 0) & (self.low <= self.high) & (self.high < size)
        check(self.empty or inside.all(), "S has codes that do not exist")
        known = (self.negatives >= -1) & (self.negatives < size)
        check(known, "a negative has a code that does not exist")
        check(self.prior in ("uniform", "short"), f"unknown prior {self.prior!r}")
        check(self.yes.ndim == 1 and self.yes.shape == self.no.shape, "votes differ in shape")

    @property
    def n_voters(self) -> int:
        return 1

    @property
    def specific(self) -> Hypotheses:
        """Return S."""
        return Hypotheses(self.low[None], self.high[None], np.array([self.empty]))

    @cached_property
    def total(self) -> int:
        """Return the number of hypotheses, weighted by the prior."""
        return Problem(self.space, self.specific, self.negatives, self.prior).count() + self.empty

    def counts(self, X: Floats) -> list[int]:
        """Return, for each row, the number of hypotheses that hold, weighted by the prior."""
        joined = self.space.joined(self.specific, self.space.encode(X))
        both, where = np.unique(np.hstack([joined.low, joined.high]), axis=0, return_inverse=True)
        low, high = np.split(both, 2, axis=1)
        known = [self._count(a, b) for a, b in zip(low, high, strict=True)]
        return [known[k] for k in where.ravel().tolist()]

    def _count(self, low: NDArray[np.int32], high: NDArray[np.int32]) -> int:
        one = Hypotheses(low[None], high[None], np.zeros(1, dtype=np.bool_))
        return Problem(self.space, one, self.negatives, self.prior).count()

    def votes(self, X: Floats) -> Floats:
        check(self.total > 0, "no hypothesis is consistent")
        share = np.array([count / self.total for count in self.counts(X)])[:, None]
        return (share * self.yes + (1.0 - share) * self.no)[:, None, :]

    def usage(self) -> Usage:
        return usage_of_all(self)

    def training_rows(self) -> int:
        return len(self.negatives)

    def take(self, voters: Indices) -> Self:
        check(len(voters) == 1, "counted hypotheses are one voter")
        return self

    def rule(self, voter: int, names: list[str], levels: dict[int, list[str]]) -> str:
        """Return a sentence with the number of hypotheses."""
        if self.prior == "uniform":
            number = in_words(self.total)
            return f"if all of {number} consistent hypotheses hold (if some, in proportion)"
        return "if all consistent hypotheses hold (if some, in proportion to the prior)"

    def reasons(self, X: Floats) -> list[list[Reason]]:
        """Return the reason for each row: the number of hypotheses that hold, and the columns."""
        rows = zip(X[:, self.columns].tolist(), self.counts(X), self.votes(X)[:, 0], strict=True)
        read = tuple(self.columns.tolist())
        return [
            [FittedEstimator(tuple(vote.tolist()), read, tuple(x), self._held(count))]
            for x, count, vote in rows
        ]

    def _held(self, count: int) -> str:
        if self.prior == "uniform":
            return f"{in_words(count)} of {in_words(self.total)} consistent hypotheses hold"
        return f"{percent(count / self.total)} of the consistent hypotheses, by the prior, hold"

    def sides(self, voter: int) -> list[tuple[str, Floats]]:
        """Return the vote where all hypotheses hold."""
        return [("if all hold", self.yes)]


def in_words(number: int) -> str:
    """Return an integer in words; a long one as a power of ten, such as ``10^24.02``."""
    if number.bit_length() <= 50:
        return f"{number:,}"
    shift = max(0, number.bit_length() - 60)
    return f"10^{math.log10(number >> shift) + shift * math.log10(2.0):.2f}"
