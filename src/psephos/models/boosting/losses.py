"""Objectives of second-order boosting: a start, gradients and hessians, and a loss to watch.

Each is a loss of margins (n, K), row by row: `n_outputs` is K, `unit` the unit of margins;
``start(y, weight, score)`` returns the (K,) margins that boosting starts from, `score` the user's
or None; ``gradients(margin, y, out)`` writes gradient and hessian of every row to out (K, n, 2);
``loss(margin, y, weight)`` is the weighted mean.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from psephos._errors import PsephosError
from psephos._types import Array, Floats, NDArray
from psephos.kernels.sorted_trees.newton_gain import logistic_gradients, softmax_gradients
from psephos.models.units import refuse_huge

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
