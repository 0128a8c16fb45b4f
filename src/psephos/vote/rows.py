"""Groups of equal rows."""

from typing import Any

import numpy as np

from psephos._types import Floats, Indices


def columns_of(values: Any, columns: Any) -> Floats:
    """Return some columns of a dense or sparse table as a dense array."""
    part: Any = values[:, columns]
    return np.asarray(part.toarray() if hasattr(part, "toarray") else part, dtype=np.float64)


def row_groups(rows: Floats) -> Indices:
    """Return a group number per row; equal rows share it (NaN equals NaN, -0 equals 0)."""
    plain = np.ascontiguousarray(np.where(np.isnan(rows), np.nan, rows) + 0.0)
    keys = plain.view(np.dtype((np.void, plain.dtype.itemsize * plain.shape[1]))).ravel()
    return np.unique(keys, return_inverse=True)[1].astype(np.intp)


def first_of(groups: Indices) -> Indices:
    """Return the position of the first row of each row's group."""
    first = np.full(groups.max(initial=-1) + 1, len(groups))
    np.minimum.at(first, groups, np.arange(len(groups)))
    return first[groups]
