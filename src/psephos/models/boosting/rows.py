"""Copies of a row are one row of added weight."""

import numpy as np
from numpy.typing import NDArray

from psephos.models.boosting.learners import Training

__all__ = ["distinct_rows"]

_Floats = NDArray[np.float64]
_KEY_COLUMNS = 64  # rows that differ in these columns are different: compare the rest only if not


def distinct_rows(data: Training) -> Training:
    """Return the training rows with copies (same row, same label) made one of added weight.

    A row of weight 2 is then the row given twice, in every part of the algorithm; so leaving a
    row out leaves out its copies. The first copy's identifier is kept.
    """
    head = data.table.dense(slice(_KEY_COLUMNS))
    groups = _groups(np.column_stack([head, data.y]).astype(np.float64))
    if groups.max() + 1 == len(groups):
        return data
    suspects = np.flatnonzero(np.bincount(groups)[groups] > 1)
    rest = data.table.take(suspects).dense()
    same = _groups(np.column_stack([rest, data.y[suspects]]).astype(np.float64))
    first = np.arange(len(groups))
    first[suspects] = suspects[_first_of(same)]
    kept = np.unique(first)
    weight = np.bincount(first, data.weight, minlength=len(first))[kept]
    return data.take(kept)._replace(weight=weight)


def _groups(rows: _Floats) -> NDArray[np.intp]:
    """Return a group number per row; equal rows share it (missing equals missing, -0 equals 0)."""
    plain = np.ascontiguousarray(np.where(np.isnan(rows), np.nan, rows) + 0.0)
    keys = plain.view(np.dtype((np.void, plain.dtype.itemsize * plain.shape[1]))).ravel()
    return np.unique(keys, return_inverse=True)[1].astype(np.intp)


def _first_of(groups: NDArray[np.intp]) -> NDArray[np.intp]:
    """Return for each row the position of the first row of its group."""
    first = np.full(groups.max() + 1, len(groups))
    np.minimum.at(first, groups, np.arange(len(groups)))
    return first[groups]
