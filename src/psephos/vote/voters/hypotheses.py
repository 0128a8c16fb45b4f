"""Conjunctive hypotheses as voters: each has one vote where it holds, and one elsewhere."""

from collections.abc import Iterator
from functools import cached_property
from typing import ClassVar, Self

import numpy as np

from psephos._types import Floats, Indices, NDArray
from psephos.vote.codec import register
from psephos.vote.lowered import ReadAsLowered
from psephos.vote.operations.nodes import chains
from psephos.vote.operations.trees import Trees
from psephos.vote.part import ReadsLike, check, check_part
from psephos.vote.voters.conjunctive_space import ConjunctiveSpace, Hypotheses

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
        for low, high, empty in zip(
            self.low.tolist(), self.high.tolist(), self.empty.tolist(), strict=True
        ):
            own = [] if empty else list(self._tests(low, high))
            tests += own
            sizes.append(len(own))
        column, op, bound = np.array(tests, dtype=np.float64).reshape(-1, 3).T
        root, last, nodes = chains(
            np.array(sizes, np.intp), column.astype(np.intp), op.astype(np.intp), bound
        )
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
