"""Scaling of weights and numbers whose squares overflow float64, and the spread of columns."""

import numpy as np

from psephos._errors import PsephosError
from psephos._types import Array, Floats, Indices

_LARGEST = 1e140  # its square can be summed
_PLAIN = (1e-60, 1e60)  # range in which fourth powers and their sums neither over- nor underflow


def refuse_huge(y: Array) -> None:
    """Raise PsephosError if squares of the target overflow."""
    most = float(np.abs(y).max(initial=0.0))
    if most >= _LARGEST:
        raise PsephosError(f"|y| must be below {_LARGEST:g}; got {most:.3g}. Divide y.")


def power_of(most: float, total: float) -> int:
    """Return the power of two to divide by so that products do not over- or underflow; 0: none."""
    return 0 if most > _PLAIN[0] and total < _PLAIN[1] else int(np.frexp(most)[1])


def power_of_columns(values: Floats) -> Indices:
    """Return the powers of two to divide the columns of a table by; 0: none. NaN is missing."""
    most = np.fmax(np.fmax.reduce(values, axis=0), -np.fmin.reduce(values, axis=0))
    plain = ~((most > 0) & ((most < _PLAIN[0]) | (most > _PLAIN[1])))
    return np.where(plain, 0, np.frexp(np.where(plain, 0.0, most))[1]).astype(np.intp)


def power_of_weights(weight: Floats) -> int:
    """Return the power of two to divide weights by; 0: none."""
    return power_of(float(weight.max()), float(weight.sum()))


def moments_of_columns(rows: Floats, weight: Floats) -> tuple[Floats, Floats, Floats]:
    """Return each column's weight of present values, their mean and standard deviation, (p,) each.

    Columns whose squares would over- or underflow are scaled first.
    """
    power = power_of_columns(rows)
    rows, present = np.ldexp(rows, -power), ~np.isnan(rows)
    w = present * weight[:, None]
    total = w.sum(axis=0)
    safe = np.where(total > 0, total, 1.0)
    mean = (w * np.where(present, rows, 0.0)).sum(axis=0) / safe
    variance = (w * np.where(present, rows - mean, 0.0) ** 2).sum(axis=0) / safe
    with np.errstate(over="ignore"):
        return total, np.ldexp(mean, power), np.ldexp(np.sqrt(variance), power)


def spread_of_columns(rows: Floats, weight: Floats) -> Floats:
    """Return each column's weighted standard deviation of present values, 1 if it is 0."""
    deviation = moments_of_columns(rows, weight)[2]
    return np.where(deviation > 0, deviation, 1.0)
