"""The table as prototypes read it: numbers of unit variance, categories as codes."""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from psephos._errors import PsephosError
from psephos.models.training import Training
from psephos.vote import KernelScaling

__all__ = ["Scaled", "read_scaled"]

_Floats = NDArray[np.float64]
_HELD = 1 << 18  # values looked at at once


class Scaled(NamedTuple):
    """Scaled training rows, and the scaling; columns in which all rows agree are left out."""

    Z: _Floats  # (n, q), NaN where missing
    scaling: KernelScaling

    @property
    def is_category(self) -> NDArray[np.bool_]:
        """Return which of the q columns are categories."""
        return self.scaling.n_levels > 0


def read_scaled(data: Training) -> Scaled:
    """Return the rows with each number less its mean, divided by its standard deviation.

    Both are weighted, over the rows that have a value. A category stays a code; with it goes the
    chance that two training rows agree in it.

    Raises
    ------
    PsephosError
        If a value is infinite, or too large for its square to be a number.
    """
    table = data.table
    values = table.dense()
    total, mean, variance = _moments(values, data.weight)
    n_levels = np.zeros(values.shape[1], dtype=np.intp)
    for column, n in table.n_codes.items():
        n_levels[column] = n
    bad = np.flatnonzero(~np.isfinite(variance))
    if len(bad):
        name = table.schema.words().columns[int(bad[0])]
        raise PsephosError(
            f"column {name} holds numbers too large to be compared: divide them by a power of ten."
        )
    agree = np.array([_agreement(values[:, j], data.weight) for j in np.flatnonzero(n_levels)])
    shares = np.zeros(values.shape[1])
    shares[n_levels > 0] = agree
    # Where all agree to rounding, the differences are noise.
    varies = variance > (1e-12 * np.abs(mean)) ** 2
    columns = np.flatnonzero(np.where(n_levels > 0, shares < 1.0, varies) & (total > 0))
    code = n_levels[columns] > 0
    centre = np.where(code, 0.0, mean[columns])
    inverse = np.where(code, 1.0, 1.0 / np.sqrt(np.where(code, 1.0, variance[columns])))
    scaling = KernelScaling(
        values.shape[1], columns.astype(np.intp), centre, inverse, n_levels[columns],
        shares[columns],
    )  # fmt: skip
    Z = values[:, columns]
    Z -= centre
    Z *= inverse
    return Scaled(Z, scaling)


def _moments(values: _Floats, weight: _Floats) -> tuple[_Floats, _Floats, _Floats]:
    """Return each column's weight of present values, their mean and variance, (p,) each."""
    found = np.empty((3, values.shape[1]))
    size = max(1, _HELD // len(values))
    for first in range(0, values.shape[1], size):
        part = values[:, first : first + size]
        present = ~np.isnan(part)
        w = present * weight[:, None]
        total = w.sum(axis=0)
        safe = np.where(total > 0, total, 1.0)
        with np.errstate(over="ignore", invalid="ignore"):
            mean = (w * np.where(present, part, 0.0)).sum(axis=0) / safe
            variance = (w * np.where(present, part - mean, 0.0) ** 2).sum(axis=0) / safe
        found[:, first : first + size] = total, mean, variance
    return found[0], found[1], found[2]


def _agreement(codes: _Floats, weight: _Floats) -> float:
    """Return the chance that two rows drawn by weight have the same code."""
    known = ~np.isnan(codes)
    if not known.any():
        return 1.0
    shares = np.bincount(codes[known].astype(np.intp), weight[known]) / weight[known].sum()
    return float((shares**2).sum())
