"""Closed-form learners of the search: least squares, ridge, Gaussian classifiers.

Gaussian classifiers are closed forms from sums over the folds that all candidates share
(`SharedSums`). A constant column changes no score; nothing here is ever infinite or missing.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from psephos._errors import PsephosError
from psephos._types import Floats, Indices
from psephos.estimator.params import Flag, Interval, check_params
from psephos.kernels.small_models import moments
from psephos.models.swag.learners import common
from psephos.models.swag.problem import BoundLearner, Folds, Says, SearchProblem, Subsets
from psephos.runtime.jit import frozen
from psephos.vote.operations.scores import Scores, naive_bayes_models


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
class RidgeLearner(common.Scaling):
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

    def _sums(self, folds: Folds) -> common.SharedSums:
        groups = np.zeros(self._table.shape[1], dtype=np.intp)
        return common.SharedSums(self._table, groups, 1, self._problem.weight, folds, pooled=True)

    def _solved(self, shared: common.SharedSums, subsets: Subsets) -> tuple[Floats, Floats]:
        """Return coef (B, K, d, S) and constant (B, K, S)."""
        targets = np.arange(self._problem.X.shape[1], len(self._table))
        columns = np.hstack([subsets, np.tile(targets, (len(subsets), 1))]).astype(np.intp)
        sums, loaded = shared.sums, shared.load(columns)
        return moments.solve_ridge(sums.mass, sums.scale, sums.centre, columns, *self._how, *loaded)

    def scores(self, subsets: Indices) -> Floats:
        """Return out-of-fold predictions or margins (B, L, K)."""
        n_candidates, d = subsets.shape
        n_targets, n_tests = self._problem.n_outputs, self._problem.folds.n_tests
        out = np.empty((n_candidates, n_tests, n_targets))
        chosen = np.ascontiguousarray(subsets, dtype=np.intp)
        for block in self._shared.blocks(n_candidates, d + n_targets):
            some = chosen[block]
            scores = np.empty((len(some), n_targets, n_tests))
            moments.add_linear(self._shared.sums, some, *self._solved(self._shared, some), scores)
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
        for _, which, table in common.by_size(subsets):
            coef, constant = self._solved(shared, table)
            for b, t in enumerate(which):
                plain = shared.original(table[b], coef[b, :, :, 0], constant[b, :, 0])
                models[t] = (table[b], *plain)
        code = np.zeros((0, 1)) if numbers else code
        return common.linear_voters(self._problem, models, code, says)


def _targets(problem: SearchProblem) -> Floats:
    """Return (K, n): the numbers, or 1 for a class and -1 for the rest."""
    if problem.n_classes == 0:
        return np.asarray(problem.y, dtype=np.float64)[None]
    classes = np.arange(problem.n_classes) if problem.n_classes > 2 else np.ones(1)
    return np.where(problem.y == classes[:, None], 1.0, -1.0)


_Subsets = Sequence[Indices]
UNSEEN = -1e100  # the log-share of a class without a row: no score is below


class BoundGaussian(BoundLearner):
    """A Gaussian learner on a problem: sums over the folds, and over all rows for the final fit."""

    pooled: ClassVar[bool] = False

    def __init__(self, learner: Any, problem: SearchProblem) -> None:
        common.refuse_numbers(type(learner).__name__, problem)
        self._problem, self._learner = problem, learner
        self._shared, self._log_prior = self._sums(problem.folds)

    def _sums(self, folds: Folds) -> tuple[common.SharedSums, Floats]:
        at = self._problem
        shared = common.SharedSums(at.XT, at.y, at.n_classes, at.weight, folds, self.pooled)
        share = shared.count / np.maximum(shared.count.sum(axis=0), np.finfo(float).tiny)
        return shared, np.log(np.where(share > 0, share, 1.0))

    def _solved(
        self, shared: common.SharedSums, log_prior: Floats, subsets: Subsets
    ) -> tuple[Floats, ...]:
        """Return the models' arrays, their constants (B, C or 1, S) last."""
        raise NotImplementedError(f"{type(self).__name__} does not say how it is solved")

    def _write(self, sums: moments.FoldSums, subsets: Subsets, model: Any, out: Floats) -> None:
        """Write the models' scores (B, C or 1, L)."""
        raise NotImplementedError(f"{type(self).__name__} does not say how it scores")

    def scores(self, subsets: Subsets) -> Floats:
        """Return out-of-fold scores (B, L, K)."""
        (n_candidates, d), n_tests = subsets.shape, self._problem.folds.n_tests
        out = np.empty((n_candidates, n_tests, self._problem.n_outputs))
        sums = self._shared.sums
        chosen = np.ascontiguousarray(subsets, dtype=np.intp)
        for block in self._shared.blocks(n_candidates, d):
            some = chosen[block]
            model = self._solved(self._shared, self._log_prior, some)
            scores = np.empty((len(some), model[-1].shape[1], n_tests))
            self._write(sums, some, model, scores)
            moments.deliver(sums.mass, sums.split, scores, out[block])
        return out

    def _whole(self, subsets: _Subsets) -> tuple[common.SharedSums, list[tuple[Any, ...]]]:
        """Return the sums of all rows and, for each subset, its columns and its model there."""
        shared, log_prior = self._sums(Folds.whole(len(self._problem.X)))
        models: list[Any] = [None] * len(subsets)
        for _, which, table in common.by_size(subsets):
            model = self._solved(shared, log_prior, table)
            for b, t in enumerate(which):
                models[t] = (table[b], *(part[b, ..., 0] for part in model))
        return shared, models


@dataclass(frozen=True)
class LinearDiscriminantLearner:
    """Linear discriminant analysis: normal classes with one covariance.

    With class shares pi_k, means m_k and the covariance S within classes (divided by the weight
    of all rows), class k scores ``(x - m)' S^-1 (m_k - m) - (m_k - m)' S^-1 (m_k - m) / 2 +
    log pi_k``, m the mean of all; two classes: the difference, which is the log-odds.

    Notes
    -----
    The peer is ``LinearDiscriminantAnalysis(solver="lsqr")``; its default solver gives the same
    classes and probabilities. It takes no sample weights; here a weight of 2 is a row given twice.
    Where S is singular: a column that varies in the training rows but barely within classes is
    given 1e-10 of its variance (a column that separates the classes without error is used;
    scikit-learn's default solver drops it), and a column of whose variance within classes the
    columns before it explain all but 1e-10 is left out
    (scikit-learn: a pseudo-inverse; the same scores wherever the dependence holds).

    Source: Hastie, Tibshirani & Friedman (2009), "The Elements of Statistical Learning", section
    4.3, equations (4.9) and (4.10).
    """

    units: ClassVar[str] = "free"

    def bind(self, problem: SearchProblem) -> "_Linear":
        """Return the learner on a problem."""
        return _Linear(self, problem)


@dataclass(frozen=True)
class NaiveBayesLearner:
    """Gaussian naive Bayes: normal columns, independent within each class.

    Class k scores ``log pi_k - sum_j (log v_kj + (x_j - m_kj)^2 / v_kj) / 2`` with variances
    ``v_kj`` to which var_smoothing times the greatest variance of the candidate's columns is
    added; two classes: the difference, which is the log-odds.

    Parameters
    ----------
    var_smoothing : float of at least 0, default=1e-9

    Notes
    -----
    The peer is ``GaussianNB(var_smoothing)``, sample weights included, but that the greatest
    variance is weighted too (there it is not), so that a weight of 2 is a row given twice. A
    variance is at least 1e-9 of the column's over all classes, which the default smoothing
    always adds; with less, scikit-learn divides by 0. As the smoothing is of the greatest variance,
    the unit of one column among several matters.

    Source: Hastie, Tibshirani & Friedman (2009), section 6.6.3.
    """

    units: ClassVar[str] = "own"
    var_smoothing: float = 1e-9

    def bind(self, problem: SearchProblem) -> "_Bayes":
        """Return the learner on a problem."""
        check_params(self, {"var_smoothing": Interval(0)})
        return _Bayes(self, problem)


class _Linear(BoundGaussian):
    """Linear discriminants on one problem."""

    pooled = True

    def _solved(
        self, shared: common.SharedSums, log_prior: Floats, subsets: Subsets
    ) -> tuple[Floats, ...]:
        mean, pairs = shared.load(subsets, self._problem.n_outputs)
        return moments.solve_linear(shared.sums.mass, log_prior, subsets, mean, pairs)

    def _write(self, sums: moments.FoldSums, subsets: Subsets, model: Any, out: Floats) -> None:
        moments.add_linear(sums, subsets, *model, out)

    def fit(self, subsets: _Subsets, says: Says, code: Floats) -> Scores:
        """Return one linear voter per subset; a column without use is not read."""
        common.refuse_value(says)
        shared, models = self._whole(subsets)
        seen = shared.count[:, 0] > 0
        plain = []
        for columns, coef, constant in models:
            slope, intercept = shared.original(columns, coef, constant)
            if len(intercept) > 1:
                intercept = np.where(seen, intercept, UNSEEN)
            plain.append((columns, slope, intercept))
        return common.linear_voters(self._problem, plain, code, says)


class _Bayes(BoundGaussian):
    """Naive Bayes on one problem."""

    def _solved(
        self, shared: common.SharedSums, log_prior: Floats, subsets: Subsets
    ) -> tuple[Floats, ...]:
        mean, precision = shared.load(subsets)
        smoothing = float(self._learner.var_smoothing)
        given = (shared.sums.mass, shared.sums.scale, log_prior, subsets, smoothing)
        return mean, precision, moments.solve_bayes(*given, mean, precision)

    def _write(self, sums: moments.FoldSums, subsets: Subsets, model: Any, out: Floats) -> None:
        mean, precision, constant = model
        moments.densities(sums, subsets, mean, precision, constant, out)

    def fit(self, subsets: _Subsets, says: Says, code: Floats) -> Scores:
        """Return one voter per subset; a column without variance is not read."""
        common.refuse_value(says)
        shared, models = self._whole(subsets)
        union = np.unique(np.concatenate([common.NONE, *(model[0] for model in models)]))
        shape = (len(models), self._problem.n_classes, len(union))
        mean, variance, reads = np.zeros(shape), np.ones(shape), np.zeros(shape[::2], dtype=bool)
        for t, (columns, centre, precision, _) in enumerate(models):
            used, where = precision > 0, np.searchsorted(union, columns)  # used: (C, d)
            width = 1.0 / np.where(used, precision, 1.0) / shared.scale(columns) ** 2
            mean[t][:, where] = np.where(used, shared.unscaled(columns, centre.T), 0.0)
            variance[t][:, where] = np.where(used, width, 1.0)
            reads[t, where] = used.any(axis=0)
        kept, count = reads.any(axis=0), shared.count[:, 0]
        share = count / count.sum()
        prior = np.log(share, out=np.full(len(share), UNSEEN), where=share > 0)
        return naive_bayes_models(
            self._problem.X.shape[1],
            union[kept],
            np.ascontiguousarray(mean[:, :, kept]),
            np.ascontiguousarray(variance[:, :, kept]),
            np.tile(prior, (len(models), 1)),
            code,
            reads=np.ascontiguousarray(reads[:, kept]),
            says=says,
            abstains=True,
        )
