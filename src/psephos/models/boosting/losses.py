"""Objectives of second-order boosting: a start, gradients and hessians, and a loss to watch."""

import warnings
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np

from psephos._errors import PsephosError
from psephos._types import Array, Floats, NDArray
from psephos.kernels.numerics.boosting_losses import logistic_gradients, softmax_gradients

_Singles = NDArray[np.float32]
_F = np.float32
_LOST = 1e-3  # of the deviation: more than this is not rounding any more
_LARGEST = 1e15  # of a sum of 10^4 such, the square is still a number in float32


class Objective(Protocol):
    """A loss of margins (n, K), row by row."""

    @property
    def n_outputs(self) -> int:
        """Return K."""
        ...

    def start(self, y: Array, weight: Floats, score: float | None) -> _Singles:
        """Return the (K,) margins that boosting starts from; `score` is the user's, or None."""
        ...

    def gradients(self, margin: _Singles, y: Array, out: _Singles) -> None:
        """Write gradient and hessian of every row to out (K, n, 2)."""
        ...

    def loss(self, margin: _Singles, y: Array, weight: Floats) -> float:
        """Return the weighted mean loss."""
        ...


@dataclass(frozen=True)
class Logistic:
    """Two classes: ln(1 + exp(-(2 y - 1) margin)), y 0 or 1."""

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


def check_sizes(numbers: Any) -> None:
    """Refuse numbers whose squares, with others, float32 cannot hold."""
    if not (np.abs(numbers) < _LARGEST).all():
        raise PsephosError(
            f"y or base_score has a number of {_LARGEST:.0e} or more in size: gains are squares of "
            "sums in float32; divide y by a constant."
        )


def _warn_of_lost_digits(y: Any) -> None:
    """Warn if float32 holds too few digits of numbers to tell them apart."""
    lost, spread = float(np.abs(y - y.astype(_F)).max()), float(np.std(y - y[0]))
    if lost > _LOST * spread > 0.0:
        warnings.warn(
            f"y is held in float32, as XGBoost holds it: that changes it by up to {lost:.2g}, and "
            f"it deviates by {spread:.2g}. Subtract a constant near its mean from y.",
            UserWarning,
            stacklevel=2,
        )


@dataclass(frozen=True)
class Squared:
    """Numbers: (margin - y)^2 / 2."""

    n_outputs: int = 1

    def start(self, y: Array, weight: Floats, score: float | None) -> _Singles:
        """Return the mean, or `score`; `check_sizes` says what is refused."""
        check_sizes(y)
        check_sizes(score or 0.0)
        _warn_of_lost_digits(y)
        mean = np.dot(weight, y.astype(_F)) / weight.sum() if score is None else score
        return np.array([mean], _F)

    def gradients(self, margin: _Singles, y: Array, out: _Singles) -> None:
        """Write margin - y and 1."""
        out[0, :, 0], out[0, :, 1] = margin[:, 0] - y.astype(_F), 1.0

    def loss(self, margin: _Singles, y: NDArray[Any], weight: Floats) -> float:
        """Return the mean squared error."""
        return float(np.average((margin[:, 0] - y) ** 2, weights=weight))


@dataclass(frozen=True)
class Custom:
    """An objective of the user's: ``function(y, margin)`` returns gradient and hessian."""

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


def classification(objective: Any, n_classes: int) -> Objective:
    """Return the objective of a classifier."""
    watched = Logistic() if n_classes == 2 else Softmax(n_classes)
    return watched if objective is None else Custom(objective, watched)


def regression(objective: Any) -> Objective:
    """Return the objective of a regressor."""
    return Custom(objective, Squared()) if callable(objective) else Squared()


def _logf(value: Any) -> Any:
    """Return the natural logarithm rounded to float32 once."""
    return _F(np.log(np.float64(value)))
