"""Logistic regression as a learning mechanism of the search.

Lasso-penalised logistic regression as a learning mechanism of the search.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from scipy.optimize import linprog
from scipy.special import expit

from psephos._errors import PsephosError
from psephos._types import Array, Floats, Indices, NDArray
from psephos.estimator.params import Interval, check_params
from psephos.kernels.small_models.lasso import lasso_model, lasso_scores
from psephos.kernels.small_models.logistic import PAD, logistic_model, logistic_scores
from psephos.models.swag.learners.common import Scaling, linear_voters, refuse_numbers
from psephos.models.swag.problem import Says, SearchProblem
from psephos.runtime.jit import frozen
from psephos.vote.operations.scores import Scores

POSITIVE = Interval(0, open_low=True)
FINAL = 1e-6  # voters' own fits end no later than at this step
_RIDGE = 1e-9
_CERTAIN = 11.0  # log-odds; below, the gradient of a row exceeds that of the ridge penalty


@dataclass(frozen=True)
class LogisticLearner(Scaling):
    """Logistic regression by Newton's method, with a slight ridge that keeps it finite.

    Two classes: ``min over (b, beta) of C sum_i w_i log(1 + exp(-s_i (b + beta x_i)))
    + |beta|^2 / 2``, s_i = -1 or 1. More: the multinomial loss
    ``C sum_i w_i (log sum_k exp z_ik - z_iy) + sum_k |beta_k|^2 / 2``. As scikit-learn's
    ``make_pipeline(StandardScaler(), LogisticRegression(C=C))``, solved to convergence.

    Parameters
    ----------
    C : float, default=1e6
        Inverse of the ridge on the coefficients of standard columns (the intercept is free). The
        models of the paper are plain (R's glm). The default is as plain as stays determined:
        where the greatest likelihood is reached at finite coefficients it is theirs to about a
        millionth of the curvature; where the classes are separable, and no finite ones are best,
        the scores stop at about ten log-odds. Less C is not harmless here: where the difference
        of two nearly equal columns separates the classes (products of signals), C = 100
        already hides it.
    scale : bool, default=True
        Centre and scale columns by the weighted mean and standard deviation of each split's
        training rows. False: the ridge is on the columns as they are.
    tol : float, default=1e-4
        Newton's steps end when one changed no training row's score by more; what is left is of
        the order ``tol^2 / 2``.
    max_iter : int, default=100
        Most steps.

    Notes
    -----
    A training split with one class scores every row ``log(1 + 2 W)`` for that class, W the weight
    of its rows; with some of several classes, the others that far below the least of these. A
    column constant on the training rows has coefficient 0.

    References
    ----------
    Molinari, Guerrier et al., "SWAG", arXiv 2006.12837 (the mechanism of the first step).
    """

    C: float = 1e6
    scale: bool = True
    tol: float = 1e-4
    max_iter: int = 100

    def __post_init__(self) -> None:
        check_params(self, dict.fromkeys(("C", "tol", "max_iter"), POSITIVE))

    def bind(self, problem: SearchProblem) -> "BoundLogistic":
        """Return the learner on a problem."""
        return BoundLogistic(self, SplitRows.of(problem, "LogisticLearner"))


@dataclass(frozen=True)
class SplitRows:
    """What the kernels read of a problem: a weight for every row (padded) and split."""

    problem: SearchProblem
    XT: Floats  # (p, n)
    y: Floats  # (n',)
    masks: Floats  # (S + 1, n'), all rows last
    totals: Floats

    @classmethod
    def of(cls, problem: SearchProblem, learner: str) -> "SplitRows":
        """Return the rows of a problem of classes."""
        refuse_numbers(learner, problem)
        n, folds = len(problem.X), problem.folds
        masks = np.zeros((folds.n_splits + 1, -(-n // PAD) * PAD))
        for s in range(folds.n_splits):
            masks[s, :n] = np.bincount(folds.of_split(s)[0], minlength=n) * problem.weight
        masks[-1, :n] = problem.weight
        y = np.zeros(masks.shape[1])
        y[:n] = problem.y
        return cls(problem, problem.XT, y, masks, masks.sum(axis=1))

    def one_against_rest(self) -> Floats:
        """Return (K, n') 1 for the rows of a class (two classes: of the second)."""
        K = self.problem.n_outputs
        classes = np.arange(K)[:, None] if K > 1 else np.ones((1, 1))
        return (self.y == classes).astype(np.float64)

    def voters(
        self,
        subsets: Sequence[Indices],
        says: Says,
        code: Floats,
        model: Callable[[Indices, Floats], None],
    ) -> Scores:
        """Return linear voters; `model` puts a subset's coefficients in (K, d + 1)."""
        models = []
        for columns in subsets:
            out = np.zeros((self.problem.n_outputs, len(columns) + 1))
            model(columns, out)
            models.append((columns, out[:, :-1], out[:, -1]))
        return linear_voters(self.problem, models, code, says)


@dataclass(frozen=True)
class BoundLogistic:
    """Logistic models on one problem."""

    learner: LogisticLearner
    rows: SplitRows

    def scores(self, subsets: Indices) -> Floats:
        """Return out-of-fold log-odds (two classes), or log-probabilities up to a constant."""
        rows, by, folds = self.rows, self.learner, self.rows.problem.folds
        subsets = np.ascontiguousarray(subsets, dtype=np.intp)
        out = np.empty((len(subsets), folds.n_tests, rows.problem.n_outputs))
        splits = (rows.masks, rows.totals, folds.test, folds.test_ptr)
        end = (float(by.tol), int(by.max_iter))
        logistic_scores(rows.XT, rows.y, *splits, subsets, 1.0 / by.C, bool(by.scale), *end, out)
        return out

    def fit(self, subsets: Sequence[Indices], says: Says, code: Floats) -> Scores:
        """Return one voter per subset, trained on all rows."""
        penalty, tol = 1.0 / self.learner.C, min(self.learner.tol, FINAL)
        return self.rows.voters(
            subsets, says, code, lambda s, out: self.model(s, penalty, tol, out)
        )

    def model(self, subset: Indices, penalty: float, tol: float, out: Floats) -> None:
        """Put the coefficients of a model trained on all rows in out (K, d + 1)."""
        rows, by = self.rows, self.learner
        end = (tol, int(by.max_iter), out)
        logistic_model(rows.XT, rows.y, rows.masks[-1], subset, penalty, bool(by.scale), *end)

    def remarks(self, subsets: Indices) -> dict[str, Array]:
        """Return 'separable' (B,): whether plain logistic regression has no finite solution."""
        problem = self.rows.problem
        found = [is_separable(problem.X[:, s], problem.y, problem.n_classes) for s in subsets]
        return {"separable": np.array(found, dtype=bool)}


def is_separable(X: Floats, y: Array, n_classes: int) -> bool:
    """Return whether plain logistic models of X (n, d), class codes y, have no finite solution.

    Rows are separable if some score ``b + beta x``, not 0 on all of them, is on the right side of
    0, or at 0, for every row: complete or quasi-complete separation (Albert and Anderson,
    Biometrika 71, 1984). More classes: if scores of theirs, not all equal, exist where no row's own
    class is below another. Else the likelihood has its greatest value at finite coefficients.

    Decided by a fit with next to no ridge: separable if it has every row right; not separable if
    no row's own class is 11 log-odds or more above any other, or, of two classes, if weights above
    0 are found with which the rows balance, since then no score is right on all (Stiemke's lemma);
    else by a linear programme.
    """
    n, d = X.shape
    spread = X.std(axis=0)
    standard = (X - X.mean(axis=0)) / np.where(spread > 0, spread, 1.0)
    ones = np.column_stack([standard, np.ones(n)])
    weight, codes = np.zeros((2, -(-n // PAD) * PAD))
    weight[:n], codes[:n] = 1.0, y
    coef = np.zeros((n_classes if n_classes > 2 else 1, d + 1))
    table = frozen(standard.T)
    logistic_model(table, codes, weight, np.arange(d), _RIDGE, True, 1e-4, 200, coef)
    least, most = _margins(ones @ coef.T, y)
    if (least > 1e-9).all():
        return True
    if most.max() < _CERTAIN or (len(coef) == 1 and _balanced(ones, y, least)):
        return False
    return _programme(ones, y, len(coef))


def _margins(scores: Floats, y: NDArray[Any]) -> tuple[Floats, Floats]:
    """Return how far each row's own class is above the best and the worst other; scores (n, K)."""
    if scores.shape[1] == 1:
        margins = np.where(y == 1, scores[:, 0], -scores[:, 0])
        return margins, margins
    own = np.take_along_axis(scores, y[:, None], axis=1)[:, 0]
    others = np.where(np.arange(scores.shape[1]) == y[:, None], np.nan, scores)
    return own - np.nanmax(others, axis=1), own - np.nanmin(others, axis=1)


def _balanced(A: Floats, y: NDArray[Any], margins: Floats) -> bool:
    """Return whether the gradients of a fit, with slightly changed weights, add up to 0."""
    sides = np.where(y == 1, 1.0, -1.0)[:, None] * A
    weight = expit(-margins)
    change = np.linalg.lstsq(sides.T, sides.T @ weight)[0]
    return bool((weight > 1e-10).all() and (np.abs(change) < weight / 2).all())


def _programme(A: Floats, y: NDArray[Any], K: int) -> bool:
    """Return whether a score with coefficients within 1 is right or 0 on all rows, not all 0."""
    if K == 1:
        sides = np.where(y == 1, 1.0, -1.0)[:, None] * A
    else:
        blocks: list[Floats] = []
        for k in range(K):
            other = np.flatnonzero(y != k)
            block = np.zeros((len(other), K, A.shape[1]))
            block[np.arange(len(other)), y[other]] = A[other]
            block[:, k] = -A[other]
            blocks.append(block.reshape(len(other), -1))
        sides = np.concatenate(blocks)
    found: Any = linprog(
        -sides.mean(axis=0), A_ub=-sides, b_ub=np.zeros(len(sides)), bounds=(-1, 1)
    )
    return found.status == 0 and bool(-found.fun > 1e-6)


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
        penalty at which a split's first column enters counts as that: there glmnet's path ends. A
        candidate's scores, errors and final model are those at the lambda with the least weight of
        wrong out-of-fold rows, the largest of equals. The error is the least of many, hence
        optimistic, as in the paper (caret reports the best of its grid).
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
    tol: float = 1e-3
    max_iter: int = 100

    def __post_init__(self) -> None:
        check_params(self, {"tol": POSITIVE, "max_iter": POSITIVE})
        values = np.asarray(self.lambdas, dtype=np.float64)
        if values.ndim != 1 or len(values) == 0 or not (np.isfinite(values) & (values >= 0)).all():
            raise PsephosError("lambdas must be a row of finite numbers, none below 0.")

    def bind(self, problem: SearchProblem) -> "_BoundLasso":
        """Return the learner on a problem."""
        rows = SplitRows.of(problem, "LassoLogisticLearner")
        return _BoundLasso(self, rows, BoundLogistic(LogisticLearner(), rows))


@dataclass(frozen=True)
class _BoundLasso:
    learner: LassoLogisticLearner
    rows: SplitRows
    plain: BoundLogistic

    def scores(self, subsets: Indices) -> Floats:
        """Return out-of-fold log-odds at the chosen penalty."""
        if subsets.shape[1] < 2:
            return self.plain.scores(subsets)
        return self.paths(subsets)[0]

    def paths(self, subsets: Indices) -> tuple[Floats, Indices]:
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
    def path(self) -> Floats:
        """Return the penalties, the largest first."""
        return np.sort(np.asarray(self.learner.lambdas, dtype=np.float64))[::-1].copy()

    def fit(self, subsets: Sequence[Indices], says: Says, code: Floats) -> Scores:
        """Return one voter per subset, trained on all rows at the penalty its scores chose."""
        ys, path = self.rows.one_against_rest(), self.path
        end = (min(self.learner.tol, FINAL), int(self.learner.max_iter))

        def model(subset: Indices, out: Floats) -> None:
            if len(subset) < 2:
                self.plain.model(subset, 1.0 / self.plain.learner.C, FINAL, out)
                return
            last = int(self.paths(subset[None])[1][0]) if len(path) > 1 else 0
            upto = np.ascontiguousarray(path[: last + 1])
            lasso_model(self.rows.XT, ys, self.rows.masks[-1], subset, upto, *end, out)

        return self.rows.voters(subsets, says, code, model)

    def remarks(self, subsets: Indices) -> dict[str, Array]:
        """Return 'separable' as `LogisticLearner` does, and 'lambda' (B,) where it is chosen."""
        remarks = self.plain.remarks(subsets)
        if subsets.shape[1] > 1:
            remarks["lambda"] = self.path[self.paths(subsets)[1]]
        return remarks
