"""The table scaled for prototypes: numbers of unit variance, categories as codes."""

from typing import NamedTuple

import numpy as np

from psephos._errors import PsephosError
from psephos._types import Array, Floats, Indices, NDArray
from psephos.estimator.input import Table
from psephos.models.units import moments_of_columns, power_of_columns
from psephos.vote import KernelScaling

_HELD = 1 << 13  # values of a block
_FEW = 2  # columns are indexed first if the table has so many times more
_LONG = 1 << 17  # with more rows a block is one column
_MOST = 1023  # greatest power of two whose differences do not overflow


class ScaledRows:
    """The scaled training rows, shape (n, q), NaN where missing; computed on access."""

    def __init__(self, values: Array, rows: Indices, scaling: KernelScaling):
        self._values, self._rows, self._scaling = values, rows, scaling
        self.shape = len(rows), len(scaling.columns)

    def __len__(self) -> int:
        return self.shape[0]

    def only(self, some: Indices) -> "ScaledRows":
        """Return some of the rows, without computing them."""
        return ScaledRows(self._values, self._rows[some], self._scaling)

    def reading(self, columns: Indices) -> "ScaledRows":
        """Return the same rows with some of the q columns, without computing them."""
        whole = self._scaling
        some = KernelScaling(
            whole.n_features, whole.columns[columns], whole.centre[columns],
            whole.inverse[columns], whole.n_levels[columns], whole.agree[columns],
        )  # fmt: skip
        return ScaledRows(self._values, self._rows, some)

    def __getitem__(self, some: slice | Indices) -> Floats:
        """Return some of the rows, contiguous float64."""
        scaling, rows = self._scaling, self._rows[some]
        if self.shape[1] < self._values.shape[1] // _FEW:
            part = self._values[rows[:, None], scaling.columns]
        else:
            part = self._values[rows]
            if self.shape[1] < part.shape[1]:
                part = np.take(part, scaling.columns, axis=1)
        Z = np.ascontiguousarray(part, dtype=np.float64)  # `part` is a copy already
        Z -= scaling.centre
        Z *= scaling.inverse
        return Z


class Scaled(NamedTuple):
    """Scaled training rows, and the scaling; constant columns are left out."""

    Z: ScaledRows
    scaling: KernelScaling

    @property
    def is_category(self) -> NDArray[np.bool_]:
        """Return the mask of categories among the q columns."""
        return self.scaling.n_levels > 0


def read_scaled(table: Table, rows: Indices, weight: Floats) -> Scaled:
    """Return some rows with standardised numeric columns.

    Means and standard deviations are weighted, over present values. A category stays a code; the
    scaling also has the probability that two rows agree in it.
    """
    values = _array(table)
    total, mean, deviation = _moments(values, rows, weight)
    n_levels = np.zeros(values.shape[1], dtype=np.intp)
    for column, n in table.n_codes.items():
        n_levels[column] = n
    with np.errstate(over="ignore", divide="ignore"):
        small = (deviation > 0) & np.isinf(1.0 / deviation)
    for wrong, size, remedy in ((~np.isfinite(deviation), "large", "divide"),
                                (small, "small", "multiply")):  # fmt: skip
        if wrong.any():
            name = table.schema.words().columns[int(wrong.argmax())]
            raise PsephosError(
                f"numbers of column {name!r} are too {size} to be compared: {remedy} them by a "
                "power of ten."
            )
    agree = [_agreement(values[rows, j], weight) for j in np.flatnonzero(n_levels)]
    shares = np.zeros(values.shape[1])
    shares[n_levels > 0] = agree
    # A column that is constant to rounding is left out.
    varies = deviation > 1e-12 * np.abs(mean)
    columns = np.flatnonzero(np.where(n_levels > 0, shares < 1.0, varies) & (total > 0))
    code = n_levels[columns] > 0
    centre = np.where(code, 0.0, mean[columns])
    inverse = np.where(code, 1.0, 1.0 / np.where(code, 1.0, deviation[columns]))
    scaling = KernelScaling(
        values.shape[1], columns.astype(np.intp), centre, inverse, n_levels[columns],
        shares[columns],
    )  # fmt: skip
    return Scaled(ScaledRows(values, rows, scaling), scaling)


def scaled_by(scaling: KernelScaling, table: Table, rows: Indices) -> Scaled:
    """Return some rows with a given scaling."""
    return Scaled(ScaledRows(_array(table), rows, scaling), scaling)


def _array(table: Table) -> Array:
    return table.values if isinstance(table.values, np.ndarray) else table.dense()


def _moments(values: Array, rows: Indices, weight: Floats) -> tuple[Floats, Floats, Floats]:
    """Return each column's weight of present values, their mean and deviation, (p,) each.

    The deviation is infinite if differences of values overflow.
    """
    p = values.shape[1]
    found = np.empty((3, p))
    size = 1 if len(rows) > _LONG else max(2, _HELD // len(rows))
    for start in range(0, p, size):
        first = max(0, min(start, p - size))  # a single column would be summed in another order
        part = np.take(values[:, first : first + size], rows, axis=0).astype(np.float64, copy=False)
        total, mean, deviation = moments_of_columns(part, weight)
        deviation[power_of_columns(part) > _MOST] = np.inf
        found[:, first : first + size] = total, mean, deviation
    return found[0], found[1], found[2]


def _agreement(codes: Floats, weight: Floats) -> float:
    """Return the probability that two rows drawn by weight have the same code."""
    known = ~np.isnan(codes)
    if not known.any():
        return 1.0
    shares = np.bincount(codes[known].astype(np.intp), weight[known]) / weight[known].sum()
    return float((shares**2).sum())
