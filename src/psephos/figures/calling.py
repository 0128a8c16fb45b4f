"""Which answers are equal: beside a threshold, and beside each other."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from psephos._errors import PsephosError
from psephos.figures.estimate import numbers, refuse_improbable

UNIT = 1_000_000  # answers are counted in millionths


def in_millionths(values: Any) -> NDArray[np.int64]:
    """Return answers or thresholds in whole millionths, rounded down.

    What lies within 1e-9 of the next millionth is taken to it: 0.1 + 0.2 is 300,000 of them.
    """
    return np.floor(numbers(values, "p") * UNIT + 1e-3).astype(np.int64)


def called(p: Any, threshold: float) -> NDArray[np.bool_]:
    """Return which cases are called positive: in millionths, their answer is at least `threshold`.

    Answers that differ from the threshold by rounding alone are at it, however they were summed;
    so are those of the threshold's own millionth.

    Parameters
    ----------
    p : array of shape (n,)
        Probabilities of the positive class. Of answers kept in millionths the same is
        ``units >= in_millionths(threshold)``.
    threshold : float
        From 0 to 1.

    Examples
    --------
    >>> from psephos.figures import called
    >>> called([0.1 + 0.2, 0.3, 0.299], 0.3).tolist()
    [True, True, False]
    >>> called([0.3, 0.299], 0.1 + 0.2).tolist()
    [True, False]
    """
    if not 0.0 <= threshold <= 1.0:
        raise PsephosError(f"a threshold is {threshold!r}; it must be at least 0 and at most 1.")
    p = numbers(p, "p")
    refuse_improbable(p)
    return in_millionths(p) >= in_millionths(threshold)


def levelled(scores: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return scores to twelve digits: those that differ by rounding are equal, as ranks need."""
    digits, power = np.frexp(scores)
    return np.ldexp(np.round(digits, 12), power)
