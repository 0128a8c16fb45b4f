"""Weights and numbers whose squares are beyond float64, and the spread of columns."""

import numpy as np

from psephos._errors import PsephosError
from psephos._types import Array, Floats, Indices

_LARGEST = 1e140  # whose squares can be summed
_PLAIN = (1e-60, 1e60)  # numbers whose fourth powers, and sums of those, are numbers


def refuse_huge(y: Array) -> None:
    """Raise PsephosError if squares of the numbers to be learned overflow."""
    most = float(np.abs(y).max(initial=0.0))
    if most >= _LARGEST:
        raise PsephosError(f"y holds {most:.3g}: its square is too large; divide y.")


def power_of(most: float, total: float) -> int:
    """Return the power of two to divide by, so that products are numbers and not lost; 0: none."""
    return 0 if most > _PLAIN[0] and total < _PLAIN[1] else int(np.frexp(most)[1])


def power_of_columns(values: Floats) -> Indices:
    """Return the powers of two to divide the columns of a table by; 0: none. NaN is missing."""
    most = np.fmax(np.fmax.reduce(values, axis=0), -np.fmin.reduce(values, axis=0))
    plain = ~((most > 0) & ((most < _PLAIN[0]) | (most > _PLAIN[1])))
    return np.where(plain, 0, np.frexp(np.where(plain, 0.0, most))[1]).astype(np.intp)


def power_of_weights(weight: Floats) -> int:
    """Return the same for weights."""
    return power_of(float(weight.max()), float(weight.sum()))


def spread_of_columns(rows: Floats, weight: Floats) -> Floats:
    """Return each column's weighted standard deviation over the rows that have it, 1 if none."""
    present = ~np.isnan(rows)
    power = power_of_columns(rows)
    rows = np.ldexp(rows, -power)
    w = present * weight[:, None]
    total = np.maximum(w.sum(axis=0), np.finfo(float).tiny)
    filled = np.where(present, rows, 0.0)
    mean = (w * filled).sum(axis=0) / total
    variance = (w * np.where(present, rows - mean, 0.0) ** 2).sum(axis=0) / total
    return np.where(variance > 0, np.ldexp(np.sqrt(variance), power), 1.0)
