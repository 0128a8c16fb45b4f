"""The evaluation of candidates: a learner, a table with missing values, folds and a measure."""

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
_NUMBERS = 2**20  # scores of a chunk (8 MB), independent of the number of workers
_MOST = 1024
_binding = threading.Lock()
_PLAIN = {"free": 200, "own": 450}  # powers of two whose fourth powers, or squares, do not overflow


def _with_prior(scores: Floats, problem: SearchProblem) -> Floats:
    """Return scores (B, L, K) with those of the prior for rows with a score that is not finite."""
    if np.isfinite(scores.sum()):
        return scores
    lost: Any = ~np.isfinite(scores).all(axis=2)
    return np.where(lost[:, :, None], prior_scores(problem), scores)


@dataclass(frozen=True)
class Evaluation:
    """How candidates are evaluated: a pure function of a candidate's columns.

    A candidate with missing values in its columns is trained on the complete rows. A test row with
    a missing value is scored by the prior of the split's training rows (log-odds or log-shares of
    the classes, or the mean), and so are all rows of a split that cannot be trained: the error thus
    includes the effect of missing values. A score that is not finite (some estimators on a constant
    column) is also replaced by the prior's.

    Two optional attributes of a learner are used: `draws` (default False; with True, candidates
    with missing values are evaluated one by one, so that each has its own seed) and `chunk`, the
    number of candidates evaluated at once (default: as many as give 2^20 scores, at most 1024).
    """

    learner: Learner
    problem: SearchProblem  # 0 where a value is missing
    missing: NDArray[np.bool_] | None  # (n, p); None if no value is missing
    measure: Measure
    powers: Indices | None = None  # (p,) powers of two by which columns, not voters, were divided

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
        """Return the evaluation of a table X (n, p); NaN is missing."""
        weights = np.ones(len(y)) if weight is None else np.asarray(weight, dtype=np.float64)
        measure = make_measure(scoring, y, n_classes, weights, folds, classes)
        missing = np.isnan(X)
        filled = np.asfortranarray(np.where(missing, 0.0, X) if missing.any() else X, np.float64)
        problem = SearchProblem(filled, y, n_classes, weights, folds, seed, n_codes)
        return cls(learner, problem, missing if missing.any() else None, measure, powers)

    @property
    def chunk(self) -> int:
        """Return the number of candidates evaluated at once."""
        each = max(1, self.problem.folds.n_tests * self.problem.n_outputs)
        return int(getattr(self.learner, "chunk", None) or max(1, min(_MOST, _NUMBERS // each)))

    @property
    def n_parts(self) -> float:
        """Return k, the number of splits that test every row once."""
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
        partial: Any = self._incomplete[subsets].any(axis=1)
        out = np.empty((len(subsets), problem.folds.n_tests, problem.n_outputs))
        if not partial.all():
            out[~partial] = self.bound().scores(subsets[~partial])
        if partial.any():
            prior = prior_scores(problem)
            for chosen, present in self._groups(subsets, np.flatnonzero(partial)):
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

        If the learner draws, each candidate is its own group.
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
    def _incomplete(self) -> NDArray[np.bool_]:
        """The mask of columns with missing values, (p,)."""
        assert self.missing is not None
        return np.logical_or.reduce(self.missing, axis=0)

    @property
    def _draws(self) -> bool:
        return bool(getattr(self.learner, "draws", False))

    def _bind(self, part: SearchProblem, columns: Indices) -> BoundLearner:
        """Bind the learner; if it draws, with a seed from the candidate's columns."""
        if self._draws:
            words = [self.problem.seed, *columns.tolist()]
            seed = int(np.random.SeedSequence(words).generate_state(1)[0])
            part = replace(part, seed=seed)
        return self.learner.bind(part)

    def fit(self, subsets: Sequence[Indices], says: Says, code: Floats) -> _Parts:
        """Return one voter per subset, trained on all rows that are complete in its columns.

        See `BoundLearner.fit`. If these rows cannot train it (a class is missing), the voter
        predicts their prior. Parts are (indices, voters) for `psephos.vote.join`: one for all
        subsets without missing values, and one for each set of complete rows.
        """
        parts = self._fitted(subsets, says, code)
        if self.powers is None:
            return parts
        units: list[tuple[Indices, Any]] = parts
        return [(which, voters.times(self.powers)) for which, voters in units]

    def _fitted(self, subsets: Sequence[Indices], says: Says, code: Floats) -> _Parts:
        """Return the voters on the scaled table."""
        if self.missing is None:
            return [(np.arange(len(subsets)), self.bound().fit(subsets, says, code))]
        partial = np.array([bool(self._incomplete[s].any()) for s in subsets])
        parts: _Parts = []
        if not partial.all():
            kept = np.flatnonzero(~partial)
            parts.append((kept, self.bound().fit([subsets[i] for i in kept.tolist()], says, code)))
        every, nothing = np.arange(self.problem.X.shape[1]), np.empty(0, dtype=np.intp)
        sizes = np.array([len(s) for s in subsets])
        for size in np.unique(sizes[partial]):
            which = np.flatnonzero(partial & (sizes == size))
            table = np.stack([subsets[i] for i in which.tolist()])
            for chosen, present in self._groups(table, np.arange(len(which))):
                part, _ = complete_problem(self.problem, every, present)
                bound = self._bind(part, table[chosen[0]])
                trainable = self.problem.n_classes in (0, len(np.unique(part.y)))
                read = [table[i] if trainable and len(part.y) > 1 else nothing for i in chosen]
                parts.append((which[chosen], bound.fit(read, says, code)))
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
    """Return the powers of two (p,) to divide columns by, 0 for most; None if all are 0.

    The attribute ``units`` of a learner is 'any' if it only compares values (the default), 'free'
    if it does not depend on the unit of a column, and 'own' if it does.
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
            f"squares of such numbers overflow. Multiply the column by 1e{shift:+d}."
        )
    return powers if len(far) else None


def divided(X: Floats, powers: Indices | None) -> Floats:
    """Return the columns divided by powers of two, which is exact."""
    return X if powers is None else np.ldexp(X, -powers)
