"""A learner, a table that may have gaps, folds and a measure: the errors of any candidate."""

import threading
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, Self

import numpy as np

from psephos._errors import PsephosError
from psephos._types import Array, Floats, Indices, NDArray
from psephos.estimator.input import Table
from psephos.models.swag.measures import Errors, Measure, make_measure
from psephos.models.swag.problem import (
    BoundLearner,
    Folds,
    Learner,
    Says,
    SearchProblem,
    Subsets,
    complete_problem,
    prior_scores,
)
from psephos.vote import Voters

_Parts = list[tuple[Indices, Voters]]
_NUMBERS = 2**20  # scores held at once (8 MB), whatever the number of workers
_MOST = 1024
_binding = threading.Lock()
_PLAIN = {"free": 200, "own": 450}  # of two: fourth powers, and squares, are far within float64


def _with_prior(scores: Floats, problem: SearchProblem) -> Floats:
    """Return scores (B, L, K) with the prior's where one of a row is not finite."""
    if np.isfinite(scores.sum()):
        return scores
    lost: Any = ~np.isfinite(scores).all(axis=2)
    return np.where(lost[:, :, None], prior_scores(problem), scores)


@dataclass(frozen=True)
class Evaluation:
    """How candidates are evaluated: a pure function of a candidate's columns.

    A candidate with gaps in its columns is trained on the rows where all of them are present. A
    test row that it cannot read is scored by the prior of the split's training rows (log-odds or
    log-shares of the classes, the mean), and so is all of a split that cannot be trained: gaps
    cost a candidate what they cost its user. A score that is not finite (some estimators on a
    constant column) is the prior's too.

    Two optional attributes of a learner are read: `draws` (default False; True keeps candidates
    with gaps apart, so that a candidate's seed is its own) and `chunk`, candidates judged at once
    (default: as many as give 2^20 scores, at most 1024).
    """

    learner: Learner
    problem: SearchProblem  # 0 where a value is missing
    missing: NDArray[np.bool_] | None  # (n, p); None if the table has no gaps
    measure: Measure
    powers: Indices | None = None  # (p,) of two: columns were divided by them, voters are not

    @classmethod
    def of(
        cls,
        learner: Learner,
        X: Floats,
        y: Array,
        n_classes: int,
        *,
        folds: Folds,
        weight: Floats | None = None,
        seed: int = 0,
        scoring: Any = None,
        classes: Array | None = None,
        n_codes: Indices | None = None,
        powers: Indices | None = None,
    ) -> Self:
        """Return the evaluation of a table X (n, p) with NaN where a value is missing."""
        weights = np.ones(len(y)) if weight is None else np.asarray(weight, dtype=np.float64)
        measure = make_measure(scoring, y, n_classes, weights, folds, classes)
        missing = np.isnan(X)
        filled = np.asfortranarray(np.where(missing, 0.0, X) if missing.any() else X, np.float64)
        problem = SearchProblem(filled, y, n_classes, weights, folds, seed, n_codes)
        return cls(learner, problem, missing if missing.any() else None, measure, powers)

    @property
    def chunk(self) -> int:
        """Return how many candidates are evaluated at once."""
        each = max(1, self.problem.folds.n_tests * self.problem.n_outputs)
        return int(getattr(self.learner, "chunk", None) or max(1, min(_MOST, _NUMBERS // each)))

    @property
    def n_parts(self) -> float:
        """Return k: how many splits it takes to test every row once."""
        folds = self.problem.folds
        return folds.n_splits * len(self.problem.y) / folds.n_tests

    def errors(self, subsets: Indices) -> Errors:
        """Return the errors of candidates (B, d)."""
        return self.measure.errors(self.scores(subsets))

    def scores(self, subsets: Subsets) -> Floats:
        """Return the out-of-fold scores of candidates, shape (B, L, K)."""
        problem = self.problem
        if self.missing is None:
            return _with_prior(self.bound().scores(subsets), problem)
        gappy: Any = self._holes[subsets].any(axis=1)
        out = np.empty((len(subsets), problem.folds.n_tests, problem.n_outputs))
        if not gappy.all():
            out[~gappy] = self.bound().scores(subsets[~gappy])
        if gappy.any():
            prior = prior_scores(problem)
            for chosen, present in self._groups(subsets, np.flatnonzero(gappy)):
                out[chosen] = prior
                columns = np.unique(subsets[chosen])
                part, tested = complete_problem(problem, columns, present)
                if part.folds.n_splits:
                    local = np.searchsorted(columns, subsets[chosen])
                    bound = self._bind(part, subsets[chosen[0]])
                    out[np.ix_(chosen, tested)] = bound.scores(local)
        return _with_prior(out, problem)

    def _groups(
        self, subsets: Subsets, which: Indices
    ) -> Iterator[tuple[Indices, NDArray[np.bool_]]]:
        """Yield candidates of `which` that are complete on the same rows, and these rows.

        Where the learner draws, every candidate is a group of its own.
        """
        assert self.missing is not None
        absent = np.zeros((len(which), len(self.missing)), dtype=bool)
        for column in subsets[which].T:
            absent |= self.missing[:, column].T
        packed = np.packbits(absent, axis=1)
        _, first, group = np.unique(packed, axis=0, return_index=True, return_inverse=True)
        group = group.ravel()
        if self._draws:
            first = group = np.arange(len(which))
        for g, i in enumerate(first):
            yield which[group == g], ~absent[i]

    @cached_property
    def _holes(self) -> NDArray[np.bool_]:
        """Which columns have gaps, (p,)."""
        assert self.missing is not None
        return np.logical_or.reduce(self.missing, axis=0)

    @property
    def _draws(self) -> bool:
        return bool(getattr(self.learner, "draws", False))

    def _bind(self, part: SearchProblem, columns: Indices) -> BoundLearner:
        """Bind the learner, with a seed of the candidate's true columns, if it matters."""
        if self._draws:
            words = [self.problem.seed, *columns.tolist()]
            seed = int(np.random.SeedSequence(words).generate_state(1)[0])
            part = replace(part, seed=seed)
        return self.learner.bind(part)

    def fit(self, subsets: Sequence[Indices], says: Says, code: Floats) -> _Parts:
        """Return one voter per subset, trained on all rows where its columns are present.

        See `BoundLearner.fit`. Where these rows cannot train it (they lack a class), the voter
        says the prior of the rows that there are. Parts are (positions, voters), as
        `psephos.vote.join` takes them: one for all subsets without gaps, and one for each set of
        complete rows.
        """
        parts = self._fitted(subsets, says, code)
        if self.powers is None:
            return parts
        units: list[tuple[Indices, Any]] = parts
        return [(which, voters.times(self.powers)) for which, voters in units]

    def _fitted(self, subsets: Sequence[Indices], says: Says, code: Floats) -> _Parts:
        """Return the voters of the table that learners see."""
        if self.missing is None:
            return [(np.arange(len(subsets)), self.bound().fit(subsets, says, code))]
        gappy = np.array([bool(self._holes[s].any()) for s in subsets])
        parts: _Parts = []
        if not gappy.all():
            kept = np.flatnonzero(~gappy)
            parts.append((kept, self.bound().fit([subsets[i] for i in kept.tolist()], says, code)))
        every, nothing = np.arange(self.problem.X.shape[1]), np.empty(0, dtype=np.intp)
        sizes = np.array([len(s) for s in subsets])
        for size in np.unique(sizes[gappy]):
            which = np.flatnonzero(gappy & (sizes == size))
            table = np.stack([subsets[i] for i in which.tolist()])
            for chosen, present in self._groups(table, np.arange(len(which))):
                part, _ = complete_problem(self.problem, every, present)
                bound = self._bind(part, table[chosen[0]])
                trainable = self.problem.n_classes in (0, len(np.unique(part.y)))
                asked = [table[i] if trainable and len(part.y) > 1 else nothing for i in chosen]
                parts.append((which[chosen], bound.fit(asked, says, code)))
        return parts

    def bound(self) -> BoundLearner:
        """Return the learner on the whole problem, bound once in each process."""
        with _binding:
            if "_bound" not in self.__dict__:
                self.__dict__["_bound"] = self.learner.bind(self.problem)
            return self.__dict__["_bound"]

    def __getstate__(self) -> dict[str, Any]:
        return {name: value for name, value in self.__dict__.items() if name != "_bound"}


def powers_of(table: Table, X: Floats, learner: Any) -> Indices | None:
    """Return the powers of two (p,) to divide columns by, 0 for most; None where all are plain.

    Learners say by ``units`` whether they compare values only ('any', the default), can be given
    a column in any unit ('free'), or mean the unit the column has ('own').
    """
    units = getattr(learner, "units", "any")
    if units == "any":
        return None
    with np.errstate(invalid="ignore"):
        most = np.fmax(np.fmax.reduce(X, axis=0), -np.fmin.reduce(X, axis=0))
    most = np.where(np.isnan(most), 0.0, most)
    most[list(table.n_codes)] = 0.0
    powers = np.frexp(most)[1].astype(np.intp)
    powers[np.abs(powers) <= _PLAIN[units]] = 0
    far = np.flatnonzero(powers)
    if len(far) and (units == "own" or table.n_codes):
        j = int(far[0])
        shift = int(np.clip(-np.log10(most[j]), -300, 300))
        raise PsephosError(
            f"the largest number of column {table.schema.words().columns[j]!r} is {most[j]:.3g}: "
            f"squares of such numbers are beyond float64. Multiply the column by 1e{shift:+d}."
        )
    return powers if len(far) else None


def divided(X: Floats, powers: Indices | None) -> Floats:
    """Return the columns divided by powers of two, which rounds nothing."""
    return X if powers is None else np.ldexp(X, -powers)
