"""Weights that are the same on every case."""

from dataclasses import dataclass, replace
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray

from psephos.vote.codec import register
from psephos.vote.part import ReadsNothing, Weighting, check, check_part

_Floats = NDArray[np.float64]


@register
@dataclass(frozen=True)
class Constant(ReadsNothing, Weighting):
    """w_t(x) = alpha_t everywhere: boosting; uniform with equal alphas.

    Parameters
    ----------
    n_features : int
        Columns of the table; none is read.
    alpha : ndarray of shape (T,)
        Of either sign where the score is a sum; at least 0 with another read-out.
    """

    tag: ClassVar[str] = "constant"
    n_features: int
    alpha: _Floats

    def __post_init__(self) -> None:
        check_part(self)
        check(self.alpha.ndim == 1, "alpha is not (T,)")
        size = np.abs(self.alpha)
        with np.errstate(over="ignore"):
            total = size.sum()
        check(bool(np.isfinite(total) and (size > 0).any()), "alpha's sum is not finite, or zero")

    @property
    def n_voters(self) -> int:
        return len(self.alpha)

    def fits(self, target: Any, is_sum: bool) -> str:
        if is_sum or (self.alpha >= 0).all():
            return ""
        return "a weight is below 0, which only a sum of votes has a meaning for"

    def weights(self, X: _Floats) -> _Floats:
        return np.broadcast_to(self.alpha, (len(X), len(self.alpha)))

    def mean_share(self) -> _Floats:
        """Return each voter's share of the total weight."""
        size = np.abs(self.alpha)
        return size / size.sum()

    def words(self) -> str:
        return "constant weights"

    def take(self, voters: NDArray[np.intp]) -> Self:
        return replace(self, alpha=self.alpha[voters])
