"""The errors of candidates: a mean over splits, its spread, and what tells equals apart."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Protocol, Self

import numpy as np
from numpy.typing import NDArray

from psephos.kernels.small_models.losses import log_losses, squared_losses

__all__ = ["Errors", "Measure", "summarise", "tie_losses"]

_Floats = NDArray[np.float64]
_BITS = 40  # of a mean error that count: means that are equal on paper differ by rounding


@dataclass(frozen=True)
class Errors:
    """How B candidates did.

    Parameters
    ----------
    error : ndarray of shape (B,)
        Mean over splits of the (weighted) mean loss in the split; smaller is better.
    spread : ndarray of shape (B,)
        Standard deviation of the splits' losses (divisor S - 1; NaN for one split), as caret
        reports it: over splits, not over repeats, so that it is there without repeats too.
    tie : ndarray of shape (B,)
        Mean log-loss (numbers: squared error) of the scores, which tells equals apart.
    """

    error: _Floats
    spread: _Floats
    tie: _Floats

    @classmethod
    def joined(cls, parts: Sequence["Errors"]) -> Self:
        """Return the errors of all candidates, part after part."""
        names = ("error", "spread", "tie")
        return cls(*(np.concatenate([getattr(part, name) for part in parts]) for name in names))


class Measure(Protocol):
    """A measure of error on fixed folds."""

    def errors(self, scores: _Floats) -> Errors:
        """Return the errors of candidates from their out-of-fold scores (B, L, K)."""
        ...


def summarise(losses: _Floats, tie: _Floats) -> Errors:
    """Return the errors of candidates from their splits' losses (B, S) and log-losses (B, S).

    The mean is rounded to 40 binary digits: errors that are equal on paper (the same rows wrong
    in another split) would otherwise differ in the last bit, and break ties that are real.
    """
    mantissa, exponent = np.frexp(losses.mean(axis=1))
    error = np.ldexp(np.round(np.ldexp(mantissa, _BITS)), exponent - _BITS)
    one = losses.shape[1] == 1
    spread = np.full(len(losses), np.nan) if one else losses.std(axis=1, ddof=1)
    return Errors(error, spread, tie.mean(axis=1))


def tie_losses(scores: _Floats, y: NDArray[Any], share: _Floats, ptr: NDArray[np.int64]) -> _Floats:
    """Return what breaks ties, split by split (B, S): log-loss, or squared error of numbers."""
    out = np.empty((len(scores), len(ptr) - 1))
    (squared_losses if y.dtype.kind == "f" else log_losses)(scores, y, share, ptr, out)
    return out
