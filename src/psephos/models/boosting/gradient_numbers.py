"""Losses of gradient boosting for numbers: a best constant, pseudo-residuals, values of leaves.

Friedman (2001), "Greedy function approximation: a gradient boosting machine", Annals of
Statistics 29, sections 4.1 to 4.4, with scikit-learn's names. Margins are (n, K), weights (n,).
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from psephos._errors import PsephosError
from psephos.models.boosting.gradient_leaves import GradientLoss, Leaves

_Floats = NDArray[np.float64]
_LARGEST = 1e150  # of y: squares are numbers in float64


def _constant(values: _Floats, weight: _Floats, share: float) -> _Floats:
    one = Leaves(np.zeros(len(values), np.intp), 1, weight)
    return one.quantiles(values, share)


@dataclass(frozen=True)
class Squared:
    """(y - F)^2: the mean, residuals y - F, and their mean in a leaf."""

    n_outputs: int = 1

    def start(self, y: NDArray[Any], weight: _Floats) -> _Floats:
        """Return the mean."""
        return np.array([np.average(y, weights=weight)])

    def residuals(self, margin: _Floats, y: NDArray[Any], weight: _Floats) -> _Floats:
        """Return y - F."""
        return y[:, None] - margin

    def answers(
        self, residual: _Floats, margin: _Floats, y: NDArray[Any], leaves: Leaves
    ) -> _Floats:
        """Return the means."""
        return leaves.means(residual)

    def loss(self, margin: _Floats, y: NDArray[Any], weight: _Floats) -> float:
        """Return the mean square."""
        return float(np.average((y - margin[:, 0]) ** 2, weights=weight))


@dataclass(frozen=True)
class Absolute:
    """|y - F|: the median, the signs of y - F (1 where it is 0), and the median in a leaf."""

    n_outputs: int = 1

    def start(self, y: NDArray[Any], weight: _Floats) -> _Floats:
        """Return the median."""
        return _constant(y, weight, 0.5)

    def residuals(self, margin: _Floats, y: NDArray[Any], weight: _Floats) -> _Floats:
        """Return the signs."""
        return np.where(y[:, None] >= margin, 1.0, -1.0)

    def answers(
        self, residual: _Floats, margin: _Floats, y: NDArray[Any], leaves: Leaves
    ) -> _Floats:
        """Return the medians of y - F."""
        return leaves.quantiles(y - margin, 0.5)

    def loss(self, margin: _Floats, y: NDArray[Any], weight: _Floats) -> float:
        """Return the mean absolute error."""
        return float(np.average(np.abs(y - margin[:, 0]), weights=weight))


@dataclass(frozen=True)
class Quantile:
    """alpha (y - F) above F and (1 - alpha) (F - y) below: the alpha-quantile."""

    alpha: float
    n_outputs: int = 1

    def start(self, y: NDArray[Any], weight: _Floats) -> _Floats:
        """Return the quantile."""
        return _constant(y, weight, self.alpha)

    def residuals(self, margin: _Floats, y: NDArray[Any], weight: _Floats) -> _Floats:
        """Return alpha at and above F, alpha - 1 below."""
        return np.where(y[:, None] >= margin, self.alpha, self.alpha - 1.0)

    def answers(
        self, residual: _Floats, margin: _Floats, y: NDArray[Any], leaves: Leaves
    ) -> _Floats:
        """Return the quantiles of y - F."""
        return leaves.quantiles(y - margin, self.alpha)

    def loss(self, margin: _Floats, y: NDArray[Any], weight: _Floats) -> float:
        """Return the mean pinball loss."""
        far = y - margin[:, 0]
        return float(
            np.average(np.maximum(self.alpha * far, (self.alpha - 1) * far), weights=weight)
        )


@dataclass
class Huber:
    """Half the square up to delta, delta (|y - F| - delta / 2) beyond.

    Each round, delta is the alpha-quantile of |y - F|. A leaf says the median m of y - F, and the
    mean of (y - F) - m cut off at delta on either side.
    """

    alpha: float
    n_outputs: int = 1
    delta: float = 1.0

    def start(self, y: NDArray[Any], weight: _Floats) -> _Floats:
        """Return the median."""
        return _constant(y, weight, 0.5)

    def residuals(self, margin: _Floats, y: NDArray[Any], weight: _Floats) -> _Floats:
        """Choose delta; return y - F, cut off."""
        far = y[:, None] - margin
        self.delta = float(_constant(np.abs(far[:, 0]), weight, self.alpha)[0])
        return np.clip(far, -self.delta, self.delta)

    def answers(
        self, residual: _Floats, margin: _Floats, y: NDArray[Any], leaves: Leaves
    ) -> _Floats:
        """Return the medians and the mean of what is left."""
        far = y - margin
        middle = leaves.quantiles(far, 0.5)
        rest = np.clip(far - middle[leaves.leaf], -self.delta, self.delta)
        return middle + leaves.means(rest)

    def loss(self, margin: _Floats, y: NDArray[Any], weight: _Floats) -> float:
        """Return the mean loss with the latest delta."""
        far, delta = np.abs(y - margin[:, 0]), self.delta
        each = np.where(far <= delta, 0.5 * far**2, delta * (far - 0.5 * delta))
        return float(np.average(each, weights=weight))


def regression_loss(name: str, alpha: float, y: _Floats) -> GradientLoss:
    """Return the loss of that name."""
    if not (np.abs(y) < _LARGEST).all():
        raise PsephosError(
            f"y has a number of {_LARGEST:.0e} or more in size, too large to be squared: divide y "
            "by a constant."
        )
    if name == "squared_error":
        return Squared()
    if name == "absolute_error":
        return Absolute()
    return Huber(alpha) if name == "huber" else Quantile(alpha)
