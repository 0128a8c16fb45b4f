"""Categories for learners that read numbers: a category becomes 0/1 columns, one a level."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from psephos.models.design import Design
from psephos.models.swag.problem import BoundLearner, Learner, Problem, Says
from psephos.vote import CodedVoters, Voters, design_matrix

_Floats = NDArray[np.float64]


@dataclass(frozen=True)
class CodedLearner:
    """A learner of numbers, `inner`, on a table with categories."""

    inner: Learner

    @property
    def draws(self) -> bool:
        """Return whether the learner draws, so that its columns seed it."""
        return bool(getattr(self.inner, "draws", False))

    @property
    def batched(self) -> bool:
        """Return whether many candidates are one call, so that threads serve."""
        return bool(getattr(self.inner, "batched", True))

    @property
    def chunk(self) -> int | None:
        """Return how many candidates the learner wants at once, if it says."""
        return getattr(self.inner, "chunk", None)

    def bind(self, problem: Problem) -> BoundLearner:
        """Return the learner on a problem; without categories it is the inner learner's own."""
        if problem.n_codes is None or not problem.n_codes.any():
            return self.inner.bind(problem)
        design = Design.of(problem.n_codes, problem.X)
        X = design_matrix(problem.X, design.source, design.level)
        return _Bound(self.inner.bind(replace(problem, X=X, n_codes=None)), design)


@dataclass(frozen=True)
class _Bound:
    inner: BoundLearner
    design: Design

    def _by_width(self, subsets: NDArray[np.intp]) -> list[tuple[NDArray[np.intp], Any]]:
        """Return (candidates, their design columns) for each width of design."""
        each = [self.design.columns(subset) for subset in subsets]
        width = np.array([len(columns) for columns in each])
        parts = [np.flatnonzero(width == w) for w in np.unique(width)]
        return [(which, np.stack([each[i] for i in which])) for which in parts]

    def scores(self, subsets: NDArray[np.intp]) -> _Floats:
        """Return out-of-fold scores, (B, L, K)."""
        parts = [(which, self.inner.scores(table)) for which, table in self._by_width(subsets)]
        return _gathered(parts, len(subsets))

    def fit(self, subsets: Sequence[NDArray[np.intp]], says: Says, code: _Floats) -> Voters:
        """Return one voter per subset, asked through the table."""
        inner = self.inner.fit([self.design.columns(s) for s in subsets], says, code)
        p = len(self.design.ptr) - 1
        every = np.arange(p)
        whole = CodedVoters(p, every, inner, self.design.source, self.design.level)
        return whole.take(np.arange(len(subsets)))

    def remarks(self, subsets: NDArray[np.intp]) -> dict[str, NDArray[Any]]:
        """Return the remarks of the inner learner."""
        parts = [(which, self.inner.remarks(table)) for which, table in self._by_width(subsets)]
        names = parts[0][1] if parts else {}
        return {
            name: _gathered([(which, said[name]) for which, said in parts], len(subsets))
            for name in names
        }


def _gathered(parts: list[tuple[NDArray[np.intp], NDArray[Any]]], size: int) -> NDArray[Any]:
    """Return the rows of several parts, each at its place."""
    first = parts[0][1]
    out = np.empty((size, *first.shape[1:]), dtype=first.dtype)
    for which, rows in parts:
        out[which] = rows
    return out
