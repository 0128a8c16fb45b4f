"""Quadratic discriminants for the search, from the sums that Gaussian classifiers share."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from psephos.estimator.params import Interval, check_params
from psephos.kernels.small_models.gaussian import quadratic_densities, solve_quadratic
from psephos.kernels.small_models.moments import FoldSums
from psephos.models.swag.learners.common import NONE, refuse_value
from psephos.models.swag.learners.fold_sums import SharedSums
from psephos.models.swag.learners.gaussian import UNSEEN, BoundGaussian
from psephos.models.swag.problem import Problem, Says, Subsets
from psephos.vote.voters.gaussian import QuadraticVoters

_Floats = NDArray[np.float64]
_Subsets = Sequence[NDArray[np.intp]]


@dataclass(frozen=True)
class QuadraticDiscriminantLearner:
    """Quadratic discriminant analysis: normal classes, each with its own covariance.

    Class k scores ``log pi_k - log det S_k / 2 - (x - m_k)' S_k^-1 (x - m_k) / 2``; two classes:
    the difference, which is the log-odds.

    Parameters
    ----------
    reg_param : float between 0 and 1, default=0.0
        S_k, divided by the weight of the class, becomes ``(1 - reg_param) S_k + reg_param I``.

    Notes
    -----
    The peer is ``QuadraticDiscriminantAnalysis(reg_param)`` of scikit-learn 1.9, which takes no
    sample weights (here a weight of 2 is a row given twice) and refuses a class with a singular
    covariance. Here a column's variance within a class, given the columns before it, is at
    least 1e-9 of its variance in the training rows.

    Source: Hastie, Tibshirani & Friedman (2009), section 4.3, equation (4.12); Friedman (1989),
    "Regularized Discriminant Analysis", JASA 84.
    """

    reg_param: float = 0.0

    @property
    def units(self) -> str:
        """Return what the units of columns are to the learner."""
        return "own" if self.reg_param else "free"

    def bind(self, problem: Problem) -> "_Quadratic":
        """Return the learner on a problem."""
        check_params(self, {"reg_param": Interval(0, 1)})
        return _Quadratic(self, problem, float(self.reg_param))


class _Quadratic(BoundGaussian):
    """Quadratic discriminants on one problem."""

    def _solved(
        self, shared: SharedSums, sums: FoldSums, log_prior: _Floats, subsets: Subsets
    ) -> tuple[_Floats, ...]:
        mean, pairs = shared.load(sums, subsets)
        given = (sums.mass, sums.scale, log_prior, subsets, self._parameter)
        return mean, pairs, *solve_quadratic(*given, mean, pairs)

    def _write(self, sums: FoldSums, subsets: Subsets, model: Any, out: _Floats) -> None:
        quadratic_densities(sums, subsets, *model, out)

    def fit(self, subsets: _Subsets, says: Says, code: _Floats) -> QuadraticVoters:
        """Return one voter per subset; a column without variance is not read."""
        refuse_value(says)
        shared, models = self._whole(subsets)
        n_classes, unseen = self._problem.n_classes, shared.count[:, 0] <= 0
        empty = np.empty((n_classes, 0))
        parts, means, matrices, constants = [NONE], [empty], [empty], []
        for columns, mean, factors, inverse, constant in models:
            used, scale = (inverse > 0).any(axis=0), shared.scale(columns)
            pairs = zip(factors, inverse, strict=True)
            whole = np.stack([_whitening(f, i) * scale for f, i in pairs])[:, used][:, :, used]
            middle = shared.unscaled(columns, mean.T)[:, used]
            parts.append(columns[used])
            means.append(np.where(unseen[:, None], 0.0, middle))
            matrices.append(whole.reshape(len(whole), -1))
            constants.append(np.where(unseen, UNSEEN, constant))
        union, position = np.unique(np.concatenate(parts), return_inverse=True)
        return QuadraticVoters(
            self._problem.X.shape[1],
            union,
            np.cumsum([len(part) for part in parts]).astype(np.intp),
            position.astype(np.intp),
            np.concatenate(means, axis=1),
            np.concatenate(matrices, axis=1),
            np.array(constants).reshape(-1, n_classes),
            code,
            says=says,
            abstains=True,
        )


def _whitening(factor: _Floats, inverse: _Floats) -> _Floats:
    """Return (d, d): D^-1/2 L^-1 of a covariance L D L', given as columns of L D and 1 / D."""
    d = len(inverse)
    lower = np.zeros((d, d))
    lower[np.tril_indices(d)] = factor
    lower *= inverse
    np.fill_diagonal(lower, 1.0)
    whitening = np.sqrt(inverse)[:, None] * np.tril(np.linalg.inv(lower))
    return whitening.astype(np.float64)
