"""Logistic regression as a learning mechanism of the search."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from psephos._errors import PsephosError
from psephos.kernels.small_models.logistic import logistic_model, logistic_scores
from psephos.kernels.small_models.newton import PAD
from psephos.models.swag.learners.separation import is_separable
from psephos.models.swag.problem import Problem, Says
from psephos.vote import LinearVoters

__all__ = ["BoundLogistic", "LogisticLearner", "Rows", "check_positive"]

_Floats = NDArray[np.float64]
_Columns = NDArray[np.intp]
FINAL = 1e-6  # voters' own fits end no later than at this step


@dataclass(frozen=True)
class LogisticLearner:
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
        of two columns that nearly agree tells the classes apart (products of signals), C = 100
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
        check_positive(self, "C", "tol", "max_iter")

    @property
    def units(self) -> str:
        """Return what the units of columns are to the learner."""
        return "free" if self.scale else "own"

    def bind(self, problem: Problem) -> "BoundLogistic":
        """Return the learner on a problem.

        Raises
        ------
        PsephosError
            If the problem is a regression.
        """
        return BoundLogistic(self, Rows.of(problem))


def check_positive(learner: Any, *names: str) -> None:
    """Raise a sentence unless these hyperparameters are positive numbers."""
    for name in names:
        value = getattr(learner, name)
        if isinstance(value, bool) or not np.isreal(value) or not 0 < value < np.inf:
            raise PsephosError(f"{name} must be a positive number, not {value!r}.")


@dataclass(frozen=True)
class Rows:
    """What the kernels read of a problem: padded rows, and a weight for every row and split."""

    problem: Problem
    X: _Floats
    y: _Floats  # (n',)
    masks: _Floats  # (S + 1, n')
    totals: _Floats

    @classmethod
    def of(cls, problem: Problem) -> "Rows":
        """Return the rows of a problem of classes."""
        if problem.n_classes == 0:
            raise PsephosError(
                "logistic regression tells classes apart: choose another learner for a number."
            )
        n, folds = len(problem.X), problem.folds
        masks = np.zeros((folds.n_splits + 1, -(-n // PAD) * PAD))
        for s in range(folds.n_splits):
            train = folds.train[folds.train_ptr[s] : folds.train_ptr[s + 1]]
            masks[s, :n] = np.bincount(train, minlength=n) * problem.weight
        masks[-1, :n] = problem.weight
        y = np.zeros(masks.shape[1])
        y[:n] = problem.y
        X = np.asfortranarray(problem.X, dtype=np.float64)
        return cls(problem, X, y, masks, masks.sum(axis=1))

    def one_against_rest(self) -> _Floats:
        """Return (K, n') 1 for the rows of a class (two classes: of the second)."""
        K = self.problem.n_outputs
        classes = np.arange(K)[:, None] if K > 1 else np.ones((1, 1))
        return (self.y == classes).astype(np.float64)

    def voters(
        self,
        subsets: Sequence[_Columns],
        says: Says,
        code: _Floats,
        model: Callable[[_Columns, _Floats], None],
    ) -> LinearVoters:
        """Return linear voters; `model` puts a subset's coefficients in (K, d + 1)."""
        K, p = self.problem.n_outputs, self.X.shape[1]
        sorted_subsets = [np.sort(np.asarray(s, dtype=np.intp)) for s in subsets]
        columns = np.unique(np.concatenate([np.empty(0, np.intp), *sorted_subsets]))
        coef = np.zeros((len(subsets), K, len(columns)))
        intercept = np.zeros((len(subsets), K))
        for t, subset in enumerate(sorted_subsets):
            out = np.zeros((K, len(subset) + 1))
            model(subset, out)
            coef[t][:, np.searchsorted(columns, subset)] = out[:, :-1]
            intercept[t] = out[:, -1]
        read = (coef != 0).any(axis=(0, 1))
        kept = np.ascontiguousarray(coef[:, :, read])
        value = np.asarray(code, dtype=np.float64)
        return LinearVoters(p, columns[read], kept, intercept, value, says=says, abstains=True)


@dataclass(frozen=True)
class BoundLogistic:
    """Logistic models on one problem."""

    learner: LogisticLearner
    rows: Rows

    def scores(self, subsets: NDArray[np.intp]) -> _Floats:
        """Return out-of-fold log-odds (two classes), or log-probabilities up to a constant."""
        rows, by = self.rows, self.learner
        subsets = np.ascontiguousarray(subsets, dtype=np.intp)
        folds = rows.problem.folds
        out = np.empty((len(subsets), folds.n_tests, rows.problem.n_outputs))
        splits = (rows.masks, rows.totals, folds.test, folds.test_ptr)
        end = (float(by.tol), int(by.max_iter))
        logistic_scores(rows.X, rows.y, *splits, subsets, 1.0 / by.C, bool(by.scale), *end, out)
        return out

    def fit(self, subsets: Sequence[_Columns], says: Says, code: _Floats) -> LinearVoters:
        """Return one voter per subset, trained on all rows."""
        penalty, tol = 1.0 / self.learner.C, min(self.learner.tol, FINAL)
        return self.rows.voters(
            subsets, says, code, lambda s, out: self.model(s, penalty, tol, out)
        )

    def model(self, subset: _Columns, penalty: float, tol: float, out: _Floats) -> None:
        """Put the coefficients of a model trained on all rows in out (K, d + 1)."""
        rows, by = self.rows, self.learner
        end = (tol, int(by.max_iter), out)
        logistic_model(rows.X, rows.y, rows.masks[-1], subset, penalty, bool(by.scale), *end)

    def remarks(self, subsets: NDArray[np.intp]) -> dict[str, NDArray[Any]]:
        """Return 'separable' (B,): whether plain logistic regression has no finite solution.

        See `psephos.models.swag.learners.separation` for the rule.
        """
        problem = self.rows.problem
        found = [is_separable(self.rows.X[:, s], problem.y, problem.n_classes) for s in subsets]
        return {"separable": np.array(found, dtype=bool)}
