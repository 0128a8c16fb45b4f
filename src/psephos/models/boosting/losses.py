"""Losses of gradient boosting, and objectives of second-order boosting.

Of gradient boosting, for classes and numbers: a best constant, pseudo-residuals, values of leaves.
Friedman (2001), "Greedy function approximation: a gradient boosting machine", Annals of Statistics
29, sections 4.1 to 4.6, with scikit-learn's names. Margins are (n, K), weights (n,).

What gradient boosting asks of a loss: `n_outputs`, K; ``start(y, weight)``, the (K,) constant of
least loss; ``residuals(margin, y, weight)``, the negative gradient of each row (n, K);
``answers(residual, margin, y, leaves)``, the value of each leaf, from one output of the drawn rows;
``loss(margin, y, weight)``, the mean loss. And the sums of a tree's leaves it is given.

Of second-order boosting: a start, gradients and hessians, and a loss to watch.

Each is a loss of margins (n, K), row by row: `n_outputs` is K, `unit` the unit of margins;
``start(y, weight, score)`` returns the (K,) margins that boosting starts from, `score` the user's
or None; ``gradients(margin, y, out)`` writes gradient and hessian of every row to out (K, n, 2);
``loss(margin, y, weight)`` is the weighted mean.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import scipy.special

from psephos._errors import PsephosError
from psephos._types import Array, Floats, Indices, NDArray
from psephos.kernels.sorted_trees.newton_gain import logistic_gradients, softmax_gradients
from psephos.models.training import refuse_huge

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


_SQUARED = 1e150  # of y: squares are numbers in float64


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
    if not (np.abs(y) < _SQUARED).all():
        raise PsephosError(
            f"y has a number of {_SQUARED:.0e} or more in size, too large to be squared: divide y "
            "by a constant."
        )
    if name == "squared_error":
        return SquaredNumbers()
    if name == "absolute_error":
        return Quantile(0.5, size=2.0)
    return Quantile(alpha)


_Singles = NDArray[np.float32]
_F = np.float32
_STEP = 512.0  # units from an origin of numbers to the next
_LARGEST = 1e15  # of a sum of 10^4 such, the square is still a number in float32


class Unit(NamedTuple):
    """The unit of margins: a target is ``y = origin + size * margin``."""

    origin: float = 0.0
    size: float = 1.0

    @classmethod
    def of(cls, low: float, high: float) -> "Unit":
        """Return the unit of numbers from `low` to `high`: growers refuse gains below 1e-6.

        The range is 8 to 16 units, and a unit is a power of two, so that nothing is rounded. The
        origin is 0, or a multiple of 512 units where the middle of the numbers is so far from 0
        that float32 would keep few digits of what differs.
        """
        refuse_huge(np.array([low, high]))
        if not high > low:
            return cls(float(low))
        size = 2.0 ** max(int(np.frexp(high - low)[1]) - 4, -1000)
        step = _STEP * size
        return cls(step * float(np.rint((low / 2 + high / 2) / step)), size)

    def margins(self, y: Any) -> _Singles:
        """Return numbers as margins."""
        return ((np.asarray(y, np.float64) - self.origin) / self.size).astype(_F)


PLAIN = Unit()


@dataclass(frozen=True)
class Logistic:
    """Two classes: ln(1 + exp(-(2 y - 1) margin)), y 0 or 1."""

    unit = PLAIN
    n_outputs: int = 1

    def start(self, y: Array, weight: Floats, score: float | None) -> _Singles:
        """Return the log-odds of the share of class 1, or of `score`, a probability."""
        share = np.dot(weight, y) / weight.sum() if score is None else score
        if score is not None and not 0 < score < 1:
            raise PsephosError(
                f"base_score={score!r} is not a probability: give one between 0 and 1, or None."
            )
        share = min(max(_F(share), _F(1e-6)), _F(1) - _F(1e-6))
        odds = _F(1) / share - _F(1)
        return np.array([_F(0) - _logf(odds)], _F)

    def gradients(self, margin: _Singles, y: Array, out: _Singles) -> None:
        """Write p - y and p (1 - p)."""
        logistic_gradients(margin[:, 0], y.astype(_F), out[0])

    def loss(self, margin: _Singles, y: Array, weight: Floats) -> float:
        """Return the mean log-loss."""
        signed = np.where(y == 1, margin[:, 0], -margin[:, 0]).astype(np.float64)
        return float(np.average(np.logaddexp(0.0, -signed), weights=weight))


@dataclass(frozen=True)
class Softmax:
    """K > 2 classes: -ln of the softmax of the margins at the class."""

    unit = PLAIN
    n_outputs: int

    def start(self, y: Array, weight: Floats, score: float | None) -> _Singles:
        """Return the centred logarithms of the class shares, or `score` for each class."""
        k = self.n_outputs
        if score is not None:
            return np.full(k, score, _F)
        share = (np.bincount(y, weight, minlength=k) / weight.sum()).astype(_F)
        logs = np.array([_logf(p + _F(1e-6)) for p in share], _F)
        middle = _F(0)
        for value in logs:  # in float32 and one by one, as the reference does
            middle += value / _F(k)
        return logs - middle

    def gradients(self, margin: _Singles, y: Array, out: _Singles) -> None:
        """Write p_k - 1[y = k] and 2 p_k (1 - p_k)."""
        softmax_gradients(margin, y.astype(np.int64), np.empty(self.n_outputs, _F), out)

    def loss(self, margin: _Singles, y: NDArray[Any], weight: Floats) -> float:
        """Return the mean log-loss."""
        wide = margin.astype(np.float64)
        top = wide.max(axis=1)
        total = np.log(np.exp(wide - top[:, None]).sum(axis=1)) + top
        return float(np.average(total - wide[np.arange(len(y)), y], weights=weight))


@dataclass(frozen=True)
class Squared:
    """Numbers: (margin - y)^2 / 2, both in `unit`."""

    unit: Unit = PLAIN
    n_outputs: int = 1

    def start(self, y: Array, weight: Floats, score: float | None) -> _Singles:
        """Return the mean, or `score`."""
        if score is not None:
            far = abs(score - self.unit.origin)
            if far >= _LARGEST * self.unit.size:
                raise PsephosError(
                    f"base_score={score!r} is {_LARGEST:.0e} times the range of y away, or more: "
                    "give a number near those of y, or None."
                )
            return self.unit.margins([score])
        return np.array([np.dot(weight, self.unit.margins(y)) / weight.sum()], _F)

    def gradients(self, margin: _Singles, y: Array, out: _Singles) -> None:
        """Write margin - y and 1."""
        out[0, :, 0], out[0, :, 1] = margin[:, 0] - self.unit.margins(y), 1.0

    def loss(self, margin: _Singles, y: NDArray[Any], weight: Floats) -> float:
        """Return the mean squared error, of y as it is."""
        off = margin[:, 0] - (y - self.unit.origin) / self.unit.size
        return float(np.average(off**2, weights=weight)) * self.unit.size**2


@dataclass(frozen=True)
class Custom:
    """An objective of the user's: ``function(y, margin)`` returns gradient and hessian."""

    unit = PLAIN
    # y (n,) are numbers or class indices; margin is (n,), or (n, K) for K > 2 classes; so are the
    # gradient and the hessian
    function: Callable[[NDArray[Any], Floats], Any]
    watched: Any  # whose loss is watched for early stopping

    @property
    def n_outputs(self) -> int:
        """Return K."""
        return self.watched.n_outputs

    def start(self, y: Array, weight: Floats, score: float | None) -> _Singles:
        """Return `score`, or 0: what a margin means is the user's."""
        return np.full(self.n_outputs, score or 0.0, _F)

    def gradients(self, margin: _Singles, y: Array, out: _Singles) -> None:
        """Write what the function says."""
        flat = margin[:, 0] if self.n_outputs == 1 else margin
        result = self.function(y, flat.astype(np.float64))
        if not isinstance(result, tuple | list) or len(result) != 2:
            raise PsephosError("objective must return two arrays, gradient and hessian.")
        for i, name in enumerate(("gradient", "hessian")):
            part = np.asarray(result[i], dtype=np.float64)
            if part.shape != flat.shape:
                raise PsephosError(
                    f"objective returned a {name} of shape {part.shape}: it must be {flat.shape}."
                )
            if not np.isfinite(part).all() or (i == 1 and (part < 0).any()):
                raise PsephosError(
                    f"objective returned a {name} that is not finite"
                    f"{', or is negative' if i else ''}: boosting cannot go on from it."
                )
            out[:, :, i] = part.reshape(margin.shape).T

    def loss(self, margin: _Singles, y: Array, weight: Floats) -> float:
        """Return the watched loss."""
        return self.watched.loss(margin, y, weight)


Objective = Logistic | Softmax | Squared | Custom


def classification(objective: Any, n_classes: int) -> Objective:
    """Return the objective of a classifier."""
    watched = Logistic() if n_classes == 2 else Softmax(n_classes)
    return watched if objective is None else Custom(objective, watched)


def regression(objective: Any, unit: Unit = PLAIN) -> Objective:
    """Return the objective of a regressor; a user's own has margins in the unit of y."""
    return Custom(objective, Squared()) if callable(objective) else Squared(unit)


def _logf(value: Any) -> Any:
    """Return the natural logarithm rounded to float32 once."""
    return _F(np.log(np.float64(value)))
