"""What gates of soft trees read of a table: numbers in standard deviations, 0/1 levels, gaps."""

from dataclasses import dataclass, replace
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray

from psephos.estimator.input import Table
from psephos.files.field_types import AnySize, Nullable
from psephos.models.design import Design
from psephos.models.units import power_of_columns
from psephos.vote import CodedVoters, SoftTreeVoters, design_matrix
from psephos.vote.codec import register
from psephos.vote.part import Columns, check

_Floats = NDArray[np.float64]
_FARTHEST = 1e6  # deviations: float32 squares them


@register
@dataclass(frozen=True)
class SoftInputs:
    """The inputs of gates: P columns of numbers or levels, then one for each that had gaps.

    A number enters as ``(x - centre) / scale``, mean and standard deviation of the training rows;
    a level as 1 or 0, less its share. A missing value enters as 0, and where the column had any in
    training, as 1 in an input of its own. Columns of one value are left out.
    """

    tag: ClassVar[str] = "soft inputs"
    n_features: int  # columns of the table
    source: NDArray[np.intp]  # (P,); the table's column that each is made of, in order
    level: Nullable  # (P,); the category it stands for; NaN: the number itself
    centre: AnySize  # (P,)
    scale: AnySize  # (P,)
    gaps: NDArray[np.intp]  # (a,); the first input of each column that had missing values

    def __post_init__(self) -> None:
        P = len(self.source)
        same = self.level.shape == self.centre.shape == self.scale.shape == self.source.shape
        check(same and self.source.dtype == np.intp, "inputs lack a source, centre or scale")
        check(bool((np.diff(self.source) >= 0).all()), "inputs are not in the order of the table")
        inside = P == 0 or (self.source[0] >= 0 and self.source[-1] < self.n_features)
        check(bool(inside), "an input is of no column")
        check(bool((self.scale > 0).all()), "a scale is not above 0")
        known = (self.gaps >= 0) & (self.gaps < P)
        check(bool(known.all()) and self.gaps.dtype == np.intp, "a gap is of no input")
        check(bool((np.diff(self.gaps) > 0).all()), "gaps are not in order")

    @classmethod
    def of(cls, table: Table, weight: _Floats) -> Self:
        """Return the inputs that a training table gives."""
        X = table.dense()
        n_codes = np.array([table.n_codes.get(j, 0) for j in range(X.shape[1])], dtype=np.intp)
        design = Design.of(n_codes, X)
        D = design_matrix(X, design.source, design.level) if n_codes.any() else X
        missing = np.isnan(D)
        low, high = (f.reduce(D, axis=0) for f in (np.fmin, np.fmax))
        told = (low < high) | (missing.any(axis=0) & ~missing.all(axis=0))
        source, level, D = design.source[told], design.level[told], D[:, told]
        centre, scale = centre_and_scale(D, weight)
        scale[~np.isnan(level)] = 1.0
        first = np.ones(len(source), dtype=bool)
        first[1:] = source[1:] != source[:-1]
        gaps = np.flatnonzero(first & missing[:, told].any(axis=0))
        return cls(X.shape[1], source, level, centre, scale, gaps)

    @property
    def group(self) -> NDArray[np.intp]:
        """Return the number of the column that each of the P + a inputs is made of."""
        both = np.concatenate([self.source, self.source[self.gaps]])
        return np.unique(both, return_inverse=True)[1].astype(np.intp)

    def rows(self, X: _Floats) -> NDArray[np.float32]:
        """Return (n, P + a) inputs of rows of the table, (n, p)."""
        D = design_matrix(X, self.source, self.level)
        absent = np.isnan(D)
        with np.errstate(over="ignore"):
            D = (D - self.centre) / self.scale
        D[absent] = 0.0
        both = [np.clip(D, -_FARTHEST, _FARTHEST), absent[:, self.gaps]]
        return np.ascontiguousarray(np.concatenate(both, axis=1), dtype=np.float32)

    def voters(self, coef: _Floats, bias: _Floats, leaf: _Floats) -> Any:
        """Return soft trees as voters on the table.

        `coef` (T, gates, P + a); `bias` (T, gates); `leaf` (T, leaves, K).
        """
        P, coded = len(self.source), bool((~np.isnan(self.level)).any())
        columns = np.arange(P) if coded else self.source
        width = P if coded else self.n_features
        inner = SoftTreeVoters(
            width, columns, self.centre, self.scale, np.ascontiguousarray(coef[:, :, :P]), bias,
            self.gaps, np.ascontiguousarray(coef[:, :, P:]), leaf,
        )  # fmt: skip
        if coded:
            read, place = np.unique(self.source, return_inverse=True)
            inner = CodedVoters(self.n_features, read, inner, place.astype(np.intp), self.level)
        return inner.take(np.arange(len(leaf)))

    def read(self, used: NDArray[np.bool_]) -> tuple[Self, NDArray[np.intp]]:
        """Return the inputs of columns of which any of the P + a is used, and which these are."""
        group = self.group
        both = np.bincount(group, used) > 0
        kept = np.flatnonzero(both[group])
        P = len(self.source)
        own = kept[kept < P]
        gaps = np.searchsorted(own, self.gaps[kept[kept >= P] - P]).astype(np.intp)
        reduced = replace(
            self, source=self.source[own], level=self.level[own], centre=self.centre[own],
            scale=self.scale[own], gaps=gaps,
        )  # fmt: skip
        return reduced, kept

    def select(self, columns: Columns) -> tuple[Self, NDArray[np.intp]]:
        """Return the inputs on the table reduced to `columns`, and which of the P + a they are."""
        kept = np.flatnonzero(np.isin(self.source, columns))
        gaps = np.flatnonzero(np.isin(self.gaps, kept))
        reduced = replace(
            self,
            n_features=len(columns),
            source=np.searchsorted(columns, self.source[kept]).astype(np.intp),
            level=self.level[kept],
            centre=self.centre[kept],
            scale=self.scale[kept],
            gaps=np.searchsorted(kept, self.gaps[gaps]).astype(np.intp),
        )
        return reduced, np.concatenate([kept, len(self.source) + gaps])


def centre_and_scale(values: _Floats, weight: _Floats) -> tuple[_Floats, _Floats]:
    """Return the mean and standard deviation of each column, by weight; NaN is missing.

    A column of one value has the scale 1. Columns beyond the range of squares are measured in a
    unit of their own.
    """
    power = power_of_columns(values)
    D = np.ldexp(values, -power) if power.any() else values
    known = ~np.isnan(D)
    share = weight / weight.max()
    mass = share @ known
    mass = np.where(mass > 0, mass, 1.0)
    centre = share @ np.where(known, D, 0.0) / mass
    apart = np.where(known, D - centre, 0.0)
    scale = np.sqrt(share @ (apart * apart) / mass)
    low, high = (f.reduce(D, axis=0) for f in (np.fmin, np.fmax))
    one = ~(low < high)
    centre[one] = np.nan_to_num(low[one])
    scale[one | (scale == 0)] = 1.0
    unit = np.where(one, 0, power)
    return np.ldexp(centre, power), np.ldexp(scale, unit)
