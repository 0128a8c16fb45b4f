"""Losses of gradient boosting for classes: a best constant, pseudo-residuals, values of leaves.

Friedman (2001), "Greedy function approximation: a gradient boosting machine", Annals of
Statistics 29, sections 4.5 and 4.6, with scikit-learn's names. Margins are (n, K), weights (n,).

What gradient boosting asks of a loss: `n_outputs`, K; ``start(y, weight)``, the (K,) constant of
least loss; ``residuals(margin, y, weight)``, the negative gradient of each row (n, K);
``answers(residual, margin, y, leaves)``, the value of each leaf, from one output of the drawn rows;
``loss(margin, y, weight)``, the mean loss. And the sums of a tree's leaves it is given.

Losses of gradient boosting for numbers: a best constant, pseudo-residuals, values of leaves.

Friedman (2001), "Greedy function approximation: a gradient boosting machine", Annals of
Statistics 29, sections 4.1 to 4.4, with scikit-learn's names. Margins are (n, K), weights (n,).
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.special

from psephos._errors import PsephosError
from psephos._types import Array, Floats, Indices, NDArray

_SLACK = 1e-12  # of a leaf's weight: a share that is reached but for rounding is reached


class LeafRows:
    """The rows of a tree's leaves.

    `leaf` (m,): the leaf of each row. `number`: leaves are numbered below it. `weight` (m,).
    """

    def __init__(self, leaf: Indices, number: int, weight: Floats) -> None:
        self.leaf, self.number, self.weight = leaf, number, weight

    def sums(self, values: Floats) -> Floats:
        """Return the weighted sum of each leaf's values, (number,)."""
        sums: Any = np.bincount(self.leaf, self.weight * values, minlength=self.number)
        return sums  # of floats: weights are

    def ratios(self, above: Floats, below: Floats) -> Floats:
        """Return the ratios of two weighted sums, 0 where the second is 0."""
        over, under = self.sums(above), self.sums(below)
        return np.divide(over, under, out=np.zeros(self.number), where=under > 0)

    def means(self, values: Floats) -> Floats:
        """Return the weighted mean of each leaf's values, 0 in a leaf without rows."""
        return self.ratios(values, np.ones(len(values)))

    def quantiles(self, values: Floats, share: float) -> Floats:
        """Return each leaf's least value that `share` of its weight does not exceed."""
        order = np.lexsort((values, self.leaf))
        leaf = self.leaf[order]
        held = np.bincount(leaf, self.weight[order], minlength=self.number)
        ends = np.cumsum(np.bincount(leaf, minlength=self.number))
        # Weights cumulated within the leaf, from 0 at its first row.
        total = np.cumsum(np.append(0.0, self.weight[order]))
        begin = np.append(0, ends[:-1])
        within = total[1:] - total[begin][leaf]
        reached = within >= (share - _SLACK) * held[leaf]
        first = np.full(self.number, len(order))
        np.minimum.at(first, leaf[reached], np.flatnonzero(reached))
        first = np.minimum(first, np.maximum(ends - 1, 0))
        return np.where(ends > begin, values[order][first], 0.0)


_special: Any = scipy.special  # its type stubs are incomplete
_FAR = 300.0  # margins are clipped here for exp: sums of its square do not overflow float64


@dataclass(frozen=True)
class LogLoss:
    """Two classes, p = 1 / (1 + exp(-F)): residuals r = y - p, sum r / sum p (1 - p) in a leaf."""

    n_outputs: int = 1

    def start(self, y: Array, weight: Floats) -> Floats:
        """Return the log-odds of the share of class 1."""
        share = np.bincount(y, weight, minlength=2)
        return np.array([np.log(share[1]) - np.log(share[0])])

    def residuals(self, margin: Floats, y: NDArray[Any], weight: Floats) -> Floats:
        """Return y - p; what is near 0 keeps its digits."""
        sign = (2.0 * y - 1.0)[:, None]
        return sign * _special.expit(-sign * margin)

    def answers(self, residual: Floats, margin: Floats, y: Array, leaves: LeafRows) -> Floats:
        """Return one Newton step for each leaf."""
        size = np.abs(residual)
        return leaves.ratios(residual, size * (1.0 - size))

    def loss(self, margin: Floats, y: NDArray[Any], weight: Floats) -> float:
        """Return the mean deviance: twice the log-loss."""
        signed = (2.0 * y - 1.0) * margin[:, 0]
        each = np.maximum(-signed, 0.0) + np.log1p(np.exp(-np.abs(signed)))
        return float(2.0 * np.average(each, weights=weight))


@dataclass(frozen=True)
class MultiLogLoss:
    """K classes, p the softmax of F: residuals 1[y = k] - p_k.

    The value of a leaf is (K - 1) / K sum r / sum |r| (1 - |r|).
    """

    n_outputs: int

    def start(self, y: Array, weight: Floats) -> Floats:
        """Return the logarithms of the classes' shares, less their mean."""
        shares = np.bincount(y, weight, minlength=self.n_outputs) / weight.sum()
        logs = np.log(np.maximum(shares, np.finfo(np.float64).eps))  # a class may have no weight
        return logs - logs.mean()

    def residuals(self, margin: Floats, y: Array, weight: Floats) -> Floats:
        """Return 1[y = k] - p_k."""
        out = -_special.softmax(margin, axis=1)
        out[np.arange(len(y)), y] += 1.0
        return out

    def answers(self, residual: Floats, margin: Floats, y: Array, leaves: LeafRows) -> Floats:
        """Return one step for each leaf."""
        k, size = self.n_outputs, np.abs(residual)
        return (k - 1) / k * leaves.ratios(residual, size * (1.0 - size))

    def loss(self, margin: Floats, y: Array, weight: Floats) -> float:
        """Return the mean log-loss."""
        logs = _special.log_softmax(margin, axis=1)
        return float(-np.average(logs[np.arange(len(y)), y], weights=weight))


@dataclass(frozen=True)
class Exponential:
    """Two classes, exp(-(2 y - 1) F), p = 1 / (1 + exp(-2 F)): AdaBoost's loss."""

    n_outputs: int = 1

    def start(self, y: Array, weight: Floats) -> Floats:
        """Return half the log-odds of the share of class 1."""
        return LogLoss().start(y, weight) / 2.0

    def residuals(self, margin: Floats, y: NDArray[Any], weight: Floats) -> Floats:
        """Return the loss, signed."""
        sign = (2.0 * y - 1.0)[:, None]
        return sign * np.exp(np.minimum(-sign * margin, _FAR))

    def answers(self, residual: Floats, margin: Floats, y: Array, leaves: LeafRows) -> Floats:
        """Return one Newton step for each leaf: sum r / sum |r|."""
        return leaves.ratios(residual, np.abs(residual))

    def loss(self, margin: Floats, y: Array, weight: Floats) -> float:
        """Return the mean loss."""
        return float(np.average(np.abs(self.residuals(margin, y, weight)[:, 0]), weights=weight))


def classification_loss(name: str, n_classes: int) -> LogLoss | MultiLogLoss | Exponential:
    """Return the loss of that name."""
    if name == "exponential":
        if n_classes > 2:
            raise PsephosError(
                f"loss='exponential' is for two classes and y has {n_classes}: use 'log_loss'."
            )
        return Exponential()
    return LogLoss() if n_classes == 2 else MultiLogLoss(n_classes)


_LARGEST = 1e150  # of y: squares are numbers in float64


def _constant(values: Floats, weight: Floats, share: float) -> Floats:
    one = LeafRows(np.zeros(len(values), np.intp), 1, weight)
    return one.quantiles(values, share)


@dataclass(frozen=True)
class SquaredNumbers:
    """(y - F)^2: the mean, residuals y - F, and their mean in a leaf."""

    n_outputs: int = 1

    def start(self, y: NDArray[Any], weight: Floats) -> Floats:
        """Return the mean."""
        return np.array([np.average(y, weights=weight)])

    def residuals(self, margin: Floats, y: NDArray[Any], weight: Floats) -> Floats:
        """Return y - F."""
        return y[:, None] - margin

    def answers(self, residual: Floats, margin: Floats, y: Array, leaves: LeafRows) -> Floats:
        """Return the means."""
        return leaves.means(residual)

    def loss(self, margin: Floats, y: NDArray[Any], weight: Floats) -> float:
        """Return the mean square."""
        return float(np.average((y - margin[:, 0]) ** 2, weights=weight))


@dataclass(frozen=True)
class Quantile:
    """The pinball loss: size alpha (y - F) above F, size (1 - alpha) (F - y) below.

    Of alpha = 1/2 and size 2 it is |y - F|.
    """

    alpha: float
    size: float = 1.0
    n_outputs: int = 1

    def start(self, y: NDArray[Any], weight: Floats) -> Floats:
        """Return the alpha-quantile."""
        return _constant(y, weight, self.alpha)

    def residuals(self, margin: Floats, y: NDArray[Any], weight: Floats) -> Floats:
        """Return size alpha at or above F, size (alpha - 1) below."""
        return np.where(y[:, None] >= margin, self.size * self.alpha, self.size * (self.alpha - 1))

    def answers(
        self, residual: Floats, margin: Floats, y: NDArray[Any], leaves: LeafRows
    ) -> Floats:
        """Return the alpha-quantile of y - F in each leaf."""
        return leaves.quantiles(y - margin, self.alpha)

    def loss(self, margin: Floats, y: NDArray[Any], weight: Floats) -> float:
        """Return the mean pinball loss."""
        far = self.size * (y - margin[:, 0])
        return float(
            np.average(np.maximum(self.alpha * far, (self.alpha - 1) * far), weights=weight)
        )


GradientLoss = LogLoss | MultiLogLoss | Exponential | SquaredNumbers | Quantile


def regression_loss(name: str, alpha: float, y: Floats) -> GradientLoss:
    """Return the loss of that name."""
    if not (np.abs(y) < _LARGEST).all():
        raise PsephosError(
            f"y has a number of {_LARGEST:.0e} or more in size, too large to be squared: divide y "
            "by a constant."
        )
    if name == "squared_error":
        return SquaredNumbers()
    if name == "absolute_error":
        return Quantile(0.5, size=2.0)
    return Quantile(alpha)
