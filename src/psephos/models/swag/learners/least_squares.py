"""Least squares and ridge for the search: regressions, and the ridge classifier."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from psephos._errors import PsephosError
from psephos._types import Floats, Indices
from psephos.estimator.params import Flag, Interval, check_params
from psephos.kernels.small_models.moments import add_linear, solve_ridge
from psephos.models.swag.learners.common import Scaling, SharedSums, by_size, linear_voters
from psephos.models.swag.problem import BoundLearner, Folds, Says, SearchProblem, Subsets
from psephos.runtime.jit import frozen
from psephos.vote.operations.scores import Scores


@dataclass(frozen=True)
class LeastSquaresLearner:
    """Linear regression by weighted least squares, with an intercept.

    Minimises ``sum_i w_i (y_i - b_0 - x_i' b)^2``.

    Notes
    -----
    The peer is ``LinearRegression``. A column of whose weighted sum of squares the columns before
    it explain all but 1e-10 is left out (scikit-learn: the shortest coefficients; the same
    predictions wherever the dependence holds). Classes are refused: least squares on their
    codes ranks rows as linear discriminants do, which give log-odds as well.

    Source: Hastie, Tibshirani & Friedman (2009), "The Elements of Statistical Learning", section
    3.2, equation (3.6).
    """

    units: ClassVar[str] = "free"

    def bind(self, problem: SearchProblem) -> "_BoundLeastSquares":
        """Return the learner on a problem."""
        if problem.n_classes:
            raise PsephosError(
                "LeastSquaresLearner predicts numbers, and this target is classes: use "
                "LinearDiscriminantLearner or RidgeLearner."
            )
        return _BoundLeastSquares(problem, 0.0, False)


@dataclass(frozen=True)
class RidgeLearner(Scaling):
    """Ridge regression, and its use as a classifier.

    Minimises ``sum_i w_i (y_i - b_0 - x_i' b)^2 + alpha |b|^2``. Classes: y is 1 for the second
    of two classes and -1 for the first, and the score is the prediction; more classes: one such
    regression of each class against the rest. A class without a training row scores -1, which
    never is the greatest.

    Parameters
    ----------
    alpha : float of at least 0, default=1.0
        The penalty of a squared coefficient, not divided by the number of rows.
    scale : bool, default=True
        Penalise the coefficients of columns divided by their weighted deviation (of the training
        rows of each split; a constant column is not used either way).

    Notes
    -----
    The peers are ``Ridge(alpha)`` and ``RidgeClassifier(alpha)``, after ``StandardScaler()`` if
    `scale`. A column that the others explain is left out as in `LeastSquaresLearner`, which a
    penalty above 1e-10 of its sum of squares rules out. The classifier has margins but no
    probabilities, as scikit-learn's.

    Source: Hoerl & Kennard (1970), "Ridge Regression", Technometrics 12, equation (2.1).
    """

    alpha: float = 1.0
    scale: bool = True

    def bind(self, problem: SearchProblem) -> "_BoundLeastSquares":
        """Return the learner on a problem."""
        check_params(self, {"alpha": Interval(0), "scale": Flag()})
        if problem.n_classes == 1:
            raise PsephosError("RidgeLearner tells classes apart, and this target has only one.")
        return _BoundLeastSquares(problem, float(self.alpha), bool(self.scale))


class _BoundLeastSquares(BoundLearner):
    """Ridge regressions on one problem; the targets stand after the p columns of the table."""

    def __init__(self, problem: SearchProblem, alpha: float, standardise: bool) -> None:
        self._problem, self._how = problem, (problem.n_outputs, alpha, standardise)
        self._table = frozen(np.vstack([problem.XT, _targets(problem)]))
        self._shared = self._sums(problem.folds)

    def _sums(self, folds: Folds) -> SharedSums:
        groups = np.zeros(self._table.shape[1], dtype=np.intp)
        return SharedSums(self._table, groups, 1, self._problem.weight, folds, pooled=True)

    def _solved(self, shared: SharedSums, subsets: Subsets) -> tuple[Floats, Floats]:
        """Return coef (B, K, d, S) and constant (B, K, S)."""
        targets = np.arange(self._problem.X.shape[1], len(self._table))
        columns = np.hstack([subsets, np.tile(targets, (len(subsets), 1))]).astype(np.intp)
        sums, loaded = shared.sums, shared.load(columns)
        return solve_ridge(sums.mass, sums.scale, sums.centre, columns, *self._how, *loaded)

    def scores(self, subsets: Indices) -> Floats:
        """Return out-of-fold predictions or margins (B, L, K)."""
        n_candidates, d = subsets.shape
        n_targets, n_tests = self._problem.n_outputs, self._problem.folds.n_tests
        out = np.empty((n_candidates, n_tests, n_targets))
        chosen = np.ascontiguousarray(subsets, dtype=np.intp)
        for block in self._shared.blocks(n_candidates, d + n_targets):
            some = chosen[block]
            scores = np.empty((len(some), n_targets, n_tests))
            add_linear(self._shared.sums, some, *self._solved(self._shared, some), scores)
            out[block] = scores.transpose(0, 2, 1)
        return out

    def fit(self, subsets: Sequence[Indices], says: Says, code: Floats) -> Scores:
        """Return one linear voter per subset."""
        numbers = self._problem.n_classes == 0
        if numbers != (says == "value"):
            raise PsephosError(
                "a regression says its 'value', nothing else."
                if numbers
                else "a ridge classifier says its 'answer': it has no number to say."
            )
        if says == "probability":
            raise PsephosError(
                "a ridge classifier has no probabilities: ask for says='answer', or use "
                "LinearDiscriminantLearner."
            )
        shared = self._sums(Folds.whole(len(self._problem.X)))
        models: list[Any] = [None] * len(subsets)
        for _, which, table in by_size(subsets):
            coef, constant = self._solved(shared, table)
            for b, t in enumerate(which):
                plain = shared.original(table[b], coef[b, :, :, 0], constant[b, :, 0])
                models[t] = (table[b], *plain)
        code = np.zeros((0, 1)) if numbers else code
        return linear_voters(self._problem, models, code, says)


def _targets(problem: SearchProblem) -> Floats:
    """Return (K, n): the numbers, or 1 for a class and -1 for the rest."""
    if problem.n_classes == 0:
        return np.asarray(problem.y, dtype=np.float64)[None]
    classes = np.arange(problem.n_classes) if problem.n_classes > 2 else np.ones(1)
    return np.where(problem.y == classes[:, None], 1.0, -1.0)
