"""Lasso-penalised logistic regression as a learning mechanism of the search."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Literal

import numpy as np
from numpy.typing import NDArray

from psephos._errors import PsephosError
from psephos.estimator.params import Options, check_params
from psephos.kernels.small_models.lasso import lasso_model, lasso_scores
from psephos.models.swag.learners.logistic import (
    FINAL,
    POSITIVE,
    BoundLogistic,
    LogisticLearner,
    Rows,
)
from psephos.models.swag.problem import Problem, Says
from psephos.vote import LinearVoters

_Floats = NDArray[np.float64]
_Columns = NDArray[np.intp]


@dataclass(frozen=True)
class LassoLogisticLearner:
    """Logistic regression with an L1 penalty chosen by cross-validation, candidate by candidate.

    ``min over (b, beta) of (1 / W) sum_i w_i log(1 + exp(-s_i (b + beta x_i)))
    + lambda sum_j |beta_j|`` on columns standardised by each split's training rows, W the sum of
    their weights: glmnet's objective (Friedman, Hastie and Tibshirani, J. Statistical Software
    33, 2010). One model a class against the rest where there are more than two, all at one
    lambda.

    Parameters
    ----------
    lambdas : sequence of float, default=100 values from 0.30 down to 0
        Penalties, evenly spaced in the paper (Appendix 5.1). One that is below 1e-4 times the
        penalty at which a split's first column enters counts as that: there glmnet's path ends.
    select : {'cv', 'fixed'}, default='cv'
        cv: a candidate's scores, errors and final model are those at the lambda with the least
        weight of wrong out-of-fold rows, the largest of equals. The error is the least of many,
        hence optimistic, as in the paper (caret reports the best of its grid). fixed: `lambdas`
        holds one value.
    tol : float, default=1e-3
        As for `LogisticLearner`.
    max_iter : int, default=100
        Most steps at one lambda.

    Notes
    -----
    Candidates of one column are plain logistic models (`LogisticLearner`), as in the paper: glmnet
    refuses a single column.
    """

    units: ClassVar[str] = "free"
    lambdas: Sequence[float] = tuple(np.linspace(0.30, 0.0, 100).tolist())
    select: Literal["cv", "fixed"] = "cv"
    tol: float = 1e-3
    max_iter: int = 100

    def __post_init__(self) -> None:
        check_params(self, {"tol": POSITIVE, "max_iter": POSITIVE})
        values = np.asarray(self.lambdas, dtype=np.float64)
        if values.ndim != 1 or len(values) == 0 or not (np.isfinite(values) & (values >= 0)).all():
            raise PsephosError("lambdas must be a row of finite numbers, none below 0.")
        check_params(self, {"select": Options(("cv", "fixed"))})
        if self.select == "fixed" and len(values) > 1:
            raise PsephosError(
                f"select='fixed' needs one value in lambdas, not {len(values)}: name the one."
            )

    def bind(self, problem: Problem) -> "_BoundLasso":
        """Return the learner on a problem."""
        rows = Rows.of(problem, "LassoLogisticLearner")
        return _BoundLasso(self, rows, BoundLogistic(LogisticLearner(), rows))


@dataclass(frozen=True)
class _BoundLasso:
    learner: LassoLogisticLearner
    rows: Rows
    plain: BoundLogistic

    def scores(self, subsets: NDArray[np.intp]) -> _Floats:
        """Return out-of-fold log-odds at the chosen penalty."""
        if subsets.shape[1] < 2:
            return self.plain.scores(subsets)
        return self.paths(subsets)[0]

    def paths(self, subsets: NDArray[np.intp]) -> tuple[_Floats, NDArray[np.intp]]:
        """Return (B, L, K) scores at each candidate's lambda, and (B,) which of the path it is."""
        rows, folds = self.rows, self.rows.problem.folds
        subsets = np.ascontiguousarray(subsets, dtype=np.intp)
        out = np.empty((len(subsets), folds.n_tests, rows.problem.n_outputs))
        chosen = np.empty(len(subsets), dtype=np.intp)
        y = np.asarray(rows.problem.y, dtype=np.intp)
        splits = (rows.masks, rows.totals, folds.test, folds.test_ptr)
        end = (float(self.learner.tol), int(self.learner.max_iter))
        lambdas = self.path
        ys = rows.one_against_rest()
        lasso_scores(rows.XT, ys, y, *splits, subsets, lambdas, *end, out, chosen)
        return out, chosen

    @property
    def path(self) -> _Floats:
        """Return the penalties, the largest first."""
        return np.sort(np.asarray(self.learner.lambdas, dtype=np.float64))[::-1].copy()

    def fit(self, subsets: Sequence[_Columns], says: Says, code: _Floats) -> LinearVoters:
        """Return one voter per subset, trained on all rows at the penalty its scores chose."""
        ys, path = self.rows.one_against_rest(), self.path
        end = (min(self.learner.tol, FINAL), int(self.learner.max_iter))

        def model(subset: _Columns, out: _Floats) -> None:
            if len(subset) < 2:
                self.plain.model(subset, 1.0 / self.plain.learner.C, FINAL, out)
                return
            last = int(self.paths(subset[None])[1][0]) if len(path) > 1 else 0
            upto = np.ascontiguousarray(path[: last + 1])
            lasso_model(self.rows.XT, ys, self.rows.masks[-1], subset, upto, *end, out)

        return self.rows.voters(subsets, says, code, model)

    def remarks(self, subsets: NDArray[np.intp]) -> dict[str, NDArray[Any]]:
        """Return 'separable' as `LogisticLearner` does, and 'lambda' (B,) where it is chosen."""
        remarks = self.plain.remarks(subsets)
        if subsets.shape[1] > 1:
            remarks["lambda"] = self.path[self.paths(subsets)[1]]
        return remarks
