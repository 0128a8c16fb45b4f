"""The likeliest coefficients of a logistic regression on a few columns."""

from typing import Any

import numpy as np
import scipy.special
from numpy.typing import NDArray

_Floats = NDArray[np.float64]
_special: Any = scipy.special
_STEPS = 100


def likeliest(
    y: _Floats,
    design: _Floats,
    offset: _Floats | float = 0.0,
    weight: _Floats | float = 1.0,
    start: _Floats | None = None,
) -> _Floats:
    """Return the coefficients by Newton's method, halving bad steps.

    Parameters
    ----------
    y : ndarray of shape (n,)
        From 0 to 1.
    design : ndarray of shape (n, q)
        Where its columns are not independent, the coefficients nearest to `start` are found.
    offset, weight : ndarray of shape (n,), or a number
    start : ndarray of shape (q,), default=None
        None: zeros.
    """
    at = np.zeros(design.shape[1]) if start is None else np.array(start, dtype=np.float64)

    def loss(b: _Floats) -> float:
        score = design @ b + offset
        return float((weight * (np.logaddexp(0.0, score) - y * score)).sum())

    for _ in range(_STEPS):
        chance = _special.expit(design @ at + offset)
        slope = design.T @ (weight * (y - chance))
        bend = (design.T * (weight * chance * (1 - chance))) @ design
        step = np.linalg.lstsq(bend, slope, rcond=None)[0]
        now = loss(at)
        while loss(at + step) > now + 1e-12 * abs(now) and np.abs(step).max() > 1e-12:
            step = step / 2
        at = at + step
        if np.abs(step).max() <= 1e-10 * max(1.0, float(np.abs(at).max())):
            break
    return at
