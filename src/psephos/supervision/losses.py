"""Losses of a margin m = y g(x), y = -1 or 1, with their derivatives."""

from dataclasses import dataclass

import numpy as np
import scipy.special
from numpy.typing import NDArray

from psephos._errors import PsephosError

_Floats = NDArray[np.float64]
LOSSES = ("sigmoid", "logistic", "ramp")
_SYMMETRIC = ("sigmoid", "ramp")


@dataclass(frozen=True)
class MarginLoss:
    """A loss l of the margin m = y g(x).

    Parameters
    ----------
    name : {'sigmoid', 'logistic', 'ramp'}
        sigmoid: 1 / (1 + exp(m)). logistic: log(1 + exp(-m)). ramp: (1 - m) / 2, not below 0 and
        not above 1.

    Raises
    ------
    PsephosError
        If the name is another.

    Examples
    --------
    >>> from psephos.supervision import MarginLoss
    >>> float(MarginLoss("sigmoid").value(0.0))
    0.5
    """

    name: str

    def __post_init__(self) -> None:
        if self.name not in LOSSES:
            raise PsephosError(f"loss is {self.name!r}: one of {', '.join(map(repr, LOSSES))}.")

    @property
    def symmetric(self) -> bool:
        """Return whether l(m) + l(-m) = 1 for every m."""
        return self.name in _SYMMETRIC

    def value(self, margin: _Floats) -> _Floats:
        """Return the loss of each margin."""
        if self.name == "sigmoid":
            return scipy.special.expit(-np.asarray(margin))
        if self.name == "logistic":
            return np.logaddexp(0.0, -np.asarray(margin))
        return np.clip((1.0 - np.asarray(margin)) / 2.0, 0.0, 1.0)

    def slope(self, margin: _Floats) -> _Floats:
        """Return the derivative at each margin; of the ramp, 0 at its two corners."""
        if self.name == "ramp":
            return np.where(np.abs(margin) < 1.0, -0.5, 0.0)
        wrong = scipy.special.expit(-np.asarray(margin))
        return -wrong if self.name == "logistic" else -wrong * (1.0 - wrong)
