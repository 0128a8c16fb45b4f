"""Conjunctive hypotheses as voters: each says one thing where it holds, another where not."""

import math
from dataclasses import dataclass
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray

from psephos.trees.tree_leaves import Condition, condition_words
from psephos.vote.codec import register
from psephos.vote.marks import Marks
from psephos.vote.part import ReadsLike, Voters, check, check_part, usage_at
from psephos.vote.reasons import Always, Path, Reason, Test
from psephos.vote.voters.conjunctive_space import ConjunctiveSpace, Hypotheses

_Floats = NDArray[np.float64]
_CELLS = 1 << 22  # truth values at once


@register
@dataclass(frozen=True)
class HypothesisVoters(ReadsLike, Voters):
    """Conjunctions: each votes `yes` where all its tests hold, `no` elsewhere.

    A missing value meets no test.

    Parameters
    ----------
    space : ConjunctiveSpace
        Over the columns that any of them tests, no other.
    low, high : ndarray of shape (T, q), int32
        The codes that each takes; -1 and the size of the column where it is not tested.
    empty : ndarray of shape (T,), bool
        The hypothesis that holds for no case; it tests nothing.
    yes, no : ndarray of shape (K,)
    """

    tag: ClassVar[str] = "hypotheses"
    read_by: ClassVar[str] = "space"
    space: ConjunctiveSpace
    low: NDArray[np.int32]
    high: NDArray[np.int32]
    empty: NDArray[np.bool_]
    yes: _Floats
    no: _Floats

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
        check(bool((free | single).all()), "a hypothesis takes codes that there are not")
        read = (tested & ~self.empty[:, None]).any(axis=0)
        check(bool(read.all()), "a column is held that no hypothesis tests")

    @classmethod
    def of(cls, space: ConjunctiveSpace, found: Hypotheses, yes: _Floats, no: _Floats) -> Self:
        """Return hypotheses as voters that hold the columns they test."""
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

    def votes(self, X: _Floats) -> _Floats:
        held = self.hypotheses.holds(self.space.encode(X))
        return np.where(held[:, :, None], self.yes, self.no)

    def weighted_sum(self, weights: _Floats, X: _Floats) -> _Floats:
        """Return the (n, K) sums: of the weights of those that hold, and of the others."""
        code = self.space.encode(X)
        held = np.zeros(len(X))
        step = max(1, _CELLS // max(1, len(X)))
        for start in range(0, self.n_voters, step):
            some = slice(start, start + step)
            holds = Hypotheses(self.low[some], self.high[some], self.empty[some]).holds(code)
            held += np.where(holds, weights[:, some], 0.0).sum(axis=1)
        rest = weights.sum(axis=1) - held
        return held[:, None] * self.yes + rest[:, None] * self.no

    def usage(self) -> Any:
        voter, at = np.nonzero(self.low >= 0)
        return usage_at(self, voter, at)

    def marks(self) -> Marks:
        cuts = self.space.cuts
        return np.repeat(self.columns, [len(own) for own in cuts]), np.concatenate(
            [np.empty(0), *cuts]
        )

    def take(self, voters: NDArray[np.intp]) -> Self:
        return self.of(self.space, self.hypotheses.take(voters), self.yes, self.no)

    def rule(self, voter: int, names: list[str], levels: dict[int, list[str]]) -> str:
        """Return the hypothesis in words, such as ``Sky in {Sunny} and dose <= 1.5``."""
        if self.empty[voter]:
            return "no case (the empty hypothesis)"
        nowhere = [math.nan] * self.n_features
        tests = self.space.tests(self.low[voter].tolist(), self.high[voter].tolist(), nowhere)
        asked = [Condition(test.column, test.relation, test.bound, 0.0) for test in tests]
        words = [condition_words(condition, names, levels) for condition in asked]
        return " and ".join(words) if words else "any case (no test)"

    def reasons(self, X: _Floats) -> list[list[Reason]]:
        """Return, for each row, the tests of each if all hold, else the first that fails."""
        rows = list(zip(self.low.tolist(), self.high.tolist(), self.empty.tolist(), strict=True))
        yes, no = tuple(self.yes.tolist()), tuple(self.no.tolist())
        return [[self._reason(row, x, yes, no) for row in rows] for x in X.tolist()]

    def _reason(self, row: Any, x: list[float], yes: Any, no: Any) -> Reason:
        low, high, empty = row
        if empty:
            return Always(no, "the empty hypothesis, which holds for no case")
        tests = self.space.tests(low, high, x)
        for test in tests:
            if math.isnan(test.value):
                return Path(no, (Test(test.column, "missing", None, test.value),))
            if not test.holds():
                return Path(no, (test.opposite(),))
        return Path(yes, tuple(tests)) if tests else Always(yes, "no test: it holds for every case")

    def sides(self, voter: int) -> list[tuple[str, _Floats]]:
        """Return the vote where the hypothesis holds, and the other."""
        return [("if so", self.yes), ("if not", self.no)]
