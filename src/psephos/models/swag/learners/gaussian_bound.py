"""What the Gaussian learners share once they are bound to a problem."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from psephos._errors import PsephosError
from psephos.kernels.small_models.gaussian import deliver
from psephos.kernels.small_models.moments import FoldSums
from psephos.models.swag.learners.fold_sums import SharedSums
from psephos.models.swag.problem import BoundLearner, Folds, Problem, Says
from psephos.vote.voters.linear import LinearVoters

__all__ = ["NONE", "UNSEEN", "GaussianBound", "check_says", "linear_voters"]

_Floats = NDArray[np.float64]
_Subsets = Sequence[NDArray[np.intp]]
NONE = np.empty(0, dtype=np.intp)
UNSEEN = -1e100  # the log-share of a class without a row: no score is below


class GaussianBound(BoundLearner):
    """A Gaussian learner on a problem: sums over the folds, and over all rows for the final fit."""

    def __init__(
        self,
        learner: Any,
        problem: Problem,
        parameter: float,
        pooled: bool = False,
        diagonal: bool = False,
    ) -> None:
        if problem.n_classes < 2:
            raise PsephosError(
                f"{type(learner).__name__} tells classes apart, and this target is not two or "
                "more classes: use LeastSquaresLearner or RidgeLearner for numbers."
            )
        self._problem, self._parameter = problem, parameter
        self._kind = (pooled, diagonal)
        self._shared, self._log_prior = self._sums(problem.folds)

    def _sums(self, folds: Folds) -> tuple[SharedSums, _Floats]:
        at = self._problem
        shared = SharedSums(at.X, at.y, at.n_classes, at.weight, folds, *self._kind)
        share = shared.count / np.maximum(shared.count.sum(axis=0), np.finfo(float).tiny)
        return shared, np.log(np.where(share > 0, share, 1.0))

    def scores(self, subsets: NDArray[np.intp]) -> _Floats:
        """Return out-of-fold scores (B, L, K)."""
        (n_candidates, d), n_tests = subsets.shape, self._problem.folds.n_tests
        out = np.empty((n_candidates, n_tests, self._problem.n_outputs))
        sums = self._shared.of(n_candidates, d)
        chosen = np.ascontiguousarray(subsets, dtype=np.intp)
        for block in self._shared.blocks(n_candidates, d):
            some = chosen[block]
            model = self._solved(self._shared, sums, self._log_prior, some)
            scores = np.empty((len(some), model[-1].shape[1], n_tests))
            self._write(sums, some, model, scores)
            deliver(sums.mass, sums.split, scores, out[block])
        return out

    def _solved(
        self, shared: SharedSums, sums: FoldSums, log_prior: _Floats, subsets: NDArray[np.intp]
    ) -> tuple[_Floats, ...]:
        """Return the models' arrays, their constants (B, C or 1, S) last."""
        raise NotImplementedError(f"{type(self).__name__} does not say how it is solved")

    def _write(
        self,
        sums: FoldSums,
        subsets: NDArray[np.intp],
        model: tuple[_Floats, ...],
        out: _Floats,
    ) -> None:
        """Write the models' scores (B, C or 1, L)."""
        raise NotImplementedError(f"{type(self).__name__} does not say how it scores")

    def _whole(self, subsets: _Subsets) -> tuple[SharedSums, list[tuple[Any, ...]]]:
        """Return the sums of all rows and, for each subset, its columns and its model there."""
        shared, log_prior = self._sums(Folds.whole(len(self._problem.X)))
        models: list[tuple[Any, ...]] = []
        for subset in subsets:
            columns = np.ascontiguousarray(subset, dtype=np.intp)
            sums = shared.of(0, len(columns))
            model = self._solved(shared, sums, log_prior, columns[None])
            models.append((columns, *(part[0, ..., 0] for part in model)))
        return shared, models


def check_says(says: str) -> None:
    """Raise a sentence if a classifier is asked for a number."""
    if says == "value":
        raise PsephosError(
            "a classifier has no number to say: ask for says='answer' or says='probability'."
        )


def linear_voters(
    n_features: int,
    n_scores: int,
    models: Sequence[tuple[NDArray[np.intp], _Floats, _Floats]],
    code: _Floats,
    says: Says,
) -> LinearVoters:
    """Return linear models (columns, coef (R, d), intercept (R,)) as voters; R is `n_scores`."""
    parts = [columns[(coef != 0).any(axis=0)] for columns, coef, _ in models]
    union = np.unique(np.concatenate([NONE, *parts]))
    table = np.zeros((len(models), n_scores, len(union)))
    for t, (columns, coef, _) in enumerate(models):
        read = (coef != 0).any(axis=0)
        table[t][:, np.searchsorted(union, columns[read])] = coef[:, read]
    intercept = np.array([level for _, _, level in models]).reshape(len(models), n_scores)
    return LinearVoters(n_features, union, table, intercept, code, says=says, abstains=True)
