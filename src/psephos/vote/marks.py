"""Breakpoints of parts, near which conformance vectors are drawn.

They contain no value of a training row: ranges are rounded outwards.
"""

from collections.abc import Sequence

import numpy as np

from psephos._types import Floats, Indices, NDArray
from psephos.vote.part import Breakpoints

Marks = Breakpoints


def joined_marks(marks: Sequence[Marks]) -> Marks:
    """Return the breakpoints of several parts, concatenated."""
    columns = np.concatenate([np.empty(0, dtype=np.intp), *(j for j, _ in marks)])
    return columns, np.concatenate([np.empty(0), *(values for _, values in marks)])


def outer_marks(columns: Indices, low: Floats, high: Floats) -> Marks:
    """Return the ends of ranges as breakpoints, rounded outwards to the range's power of ten."""
    unit = 10.0 ** np.floor(np.log10(np.maximum(high - low, 1e-300)))
    unit = np.where(high > low, unit, np.maximum(np.abs(low), 1.0))
    ends = np.floor(low / unit) * unit, np.ceil(high / unit) * unit
    return np.tile(columns, 2), np.concatenate(ends)


def range_marks(columns: Indices, cases: Floats, is_category: NDArray[np.bool_]) -> Marks:
    """Return breakpoints around the ranges of cases (m, q), of numeric columns with any value."""
    known = np.flatnonzero(~np.isnan(cases).all(axis=0) & ~is_category)
    own = cases[:, known]
    return outer_marks(columns[known], np.nanmin(own, axis=0), np.nanmax(own, axis=0))
