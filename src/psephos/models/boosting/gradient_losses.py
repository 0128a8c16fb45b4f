"""Losses of gradient boosting for classes: a best constant, pseudo-residuals, values of leaves.

Friedman (2001), "Greedy function approximation: a gradient boosting machine", Annals of
Statistics 29, sections 4.5 and 4.6, with scikit-learn's names. Margins are (n, K), weights (n,).
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.special
from numpy.typing import NDArray

from psephos._errors import PsephosError
from psephos.models.boosting.gradient_leaves import GradientLoss, Leaves

_special: Any = scipy.special  # its types say less than they promise
_Floats = NDArray[np.float64]
_FAR = 300.0  # a margin beyond which exp is not asked: of its square, float64 still holds sums


@dataclass(frozen=True)
class LogLoss:
    """Two classes, p = 1 / (1 + exp(-F)): residuals r = y - p, sum r / sum p (1 - p) in a leaf."""

    n_outputs: int = 1

    def start(self, y: NDArray[Any], weight: _Floats) -> _Floats:
        """Return the log-odds of the share of class 1."""
        share = np.bincount(y, weight, minlength=2)
        return np.array([np.log(share[1]) - np.log(share[0])])

    def residuals(self, margin: _Floats, y: NDArray[Any], weight: _Floats) -> _Floats:
        """Return y - p; what is near 0 keeps its digits."""
        sign = (2.0 * y - 1.0)[:, None]
        return sign * _special.expit(-sign * margin)

    def answers(
        self, residual: _Floats, margin: _Floats, y: NDArray[Any], leaves: Leaves
    ) -> _Floats:
        """Return one Newton step for each leaf."""
        size = np.abs(residual)
        return leaves.ratios(residual, size * (1.0 - size))

    def loss(self, margin: _Floats, y: NDArray[Any], weight: _Floats) -> float:
        """Return the mean deviance: twice the log-loss."""
        signed = (2.0 * y - 1.0) * margin[:, 0]
        each = np.maximum(-signed, 0.0) + np.log1p(np.exp(-np.abs(signed)))
        return float(2.0 * np.average(each, weights=weight))


@dataclass(frozen=True)
class MultiLogLoss:
    """K classes, p the softmax of F: residuals 1[y = k] - p_k.

    A leaf says (K - 1) / K sum r / sum |r| (1 - |r|).
    """

    n_outputs: int

    def start(self, y: NDArray[Any], weight: _Floats) -> _Floats:
        """Return the logarithms of the classes' shares, less their mean."""
        shares = np.bincount(y, weight, minlength=self.n_outputs) / weight.sum()
        logs = np.log(np.maximum(shares, np.finfo(np.float64).eps))  # a class may have no weight
        return logs - logs.mean()

    def residuals(self, margin: _Floats, y: NDArray[Any], weight: _Floats) -> _Floats:
        """Return 1[y = k] - p_k."""
        out = -_special.softmax(margin, axis=1)
        out[np.arange(len(y)), y] += 1.0
        return out

    def answers(
        self, residual: _Floats, margin: _Floats, y: NDArray[Any], leaves: Leaves
    ) -> _Floats:
        """Return one step for each leaf."""
        k, size = self.n_outputs, np.abs(residual)
        return (k - 1) / k * leaves.ratios(residual, size * (1.0 - size))

    def loss(self, margin: _Floats, y: NDArray[Any], weight: _Floats) -> float:
        """Return the mean log-loss."""
        logs = _special.log_softmax(margin, axis=1)
        return float(-np.average(logs[np.arange(len(y)), y], weights=weight))


@dataclass(frozen=True)
class Exponential:
    """Two classes, exp(-(2 y - 1) F), p = 1 / (1 + exp(-2 F)): AdaBoost's loss."""

    n_outputs: int = 1

    def start(self, y: NDArray[Any], weight: _Floats) -> _Floats:
        """Return half the log-odds of the share of class 1."""
        return LogLoss().start(y, weight) / 2.0

    def residuals(self, margin: _Floats, y: NDArray[Any], weight: _Floats) -> _Floats:
        """Return the loss, signed."""
        sign = (2.0 * y - 1.0)[:, None]
        return sign * np.exp(np.minimum(-sign * margin, _FAR))

    def answers(
        self, residual: _Floats, margin: _Floats, y: NDArray[Any], leaves: Leaves
    ) -> _Floats:
        """Return one Newton step for each leaf: sum r / sum |r|."""
        return leaves.ratios(residual, np.abs(residual))

    def loss(self, margin: _Floats, y: NDArray[Any], weight: _Floats) -> float:
        """Return the mean loss."""
        return float(np.average(np.abs(self.residuals(margin, y, weight)[:, 0]), weights=weight))


def classification_loss(name: str, n_classes: int) -> GradientLoss:
    """Return the loss of that name."""
    if name == "exponential":
        if n_classes > 2:
            raise PsephosError(
                f"loss='exponential' is for two classes and y has {n_classes}: use 'log_loss'."
            )
        return Exponential()
    return LogLoss() if n_classes == 2 else MultiLogLoss(n_classes)
