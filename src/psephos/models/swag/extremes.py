"""Columns whose squares are beyond float64: a learner is given them times a power of two."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from psephos._errors import PsephosError
from psephos._input import Table

__all__ = ["divided", "powers_of"]

_Floats = NDArray[np.float64]
_PLAIN = {"free": 200, "own": 450}  # of two: fourth powers, and squares, are far within float64


def powers_of(table: Table, X: _Floats, learner: Any) -> NDArray[np.intp] | None:
    """Return the powers of two (p,) to divide columns by, 0 for most; None where all are plain.

    Learners say by ``units`` whether they compare values only ('any', the default), can be given
    a column in any unit ('free'), or mean the unit the column has ('own').

    Raises
    ------
    PsephosError
        If a column has to be divided, and the learner means its unit.
    """
    units = getattr(learner, "units", "any")
    if units == "any":
        return None
    with np.errstate(invalid="ignore"):
        most = np.fmax(np.fmax.reduce(X, axis=0), -np.fmin.reduce(X, axis=0))
    most = np.where(np.isnan(most), 0.0, most)
    most[list(table.n_codes)] = 0.0
    powers = np.frexp(most)[1].astype(np.intp)
    powers[np.abs(powers) <= _PLAIN[units]] = 0
    far = np.flatnonzero(powers)
    if len(far) and (units == "own" or table.n_codes):
        j = int(far[0])
        shift = int(np.clip(-np.log10(most[j]), -300, 300))
        raise PsephosError(
            f"the largest number of column {table.schema.words().columns[j]!r} is {most[j]:.3g}: "
            f"squares of such numbers are beyond float64. Multiply the column by 1e{shift:+d}."
        )
    return powers if len(far) else None


def divided(X: _Floats, powers: NDArray[np.intp] | None) -> _Floats:
    """Return the columns divided by powers of two, which rounds nothing."""
    return X if powers is None else np.ldexp(X, -powers)
