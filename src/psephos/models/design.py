"""The numeric design of a table with categories: a 0/1 column per level."""

from dataclasses import dataclass

import numpy as np

from psephos._types import Floats, Indices, Values
from psephos.estimator.columns import dense_columns


@dataclass(frozen=True)
class Design:
    """The numeric columns that a table becomes."""

    source: Indices  # (P,); the column of the table behind each design column
    level: Floats  # (P,); the code that is 1 in it; NaN: the number itself
    ptr: Indices  # (p + 1,); the first design column of each column of the table

    @classmethod
    def of(cls, n_codes: Indices, X: Values) -> "Design":
        """Return the design of a table (n, p) with so many categories per column (0: numeric).

        A column in which two categories occur has one 0/1 column, that of the second; with one
        category it is a constant. Categories that do not occur have no column.
        """
        levels = {
            int(j): _encoded(dense_columns(X, np.array([j]))[:, 0]) for j in np.flatnonzero(n_codes)
        }
        width = np.ones(len(n_codes), dtype=np.intp)
        width[list(levels)] = [len(codes) for codes in levels.values()]
        ptr = np.concatenate([[0], np.cumsum(width)]).astype(np.intp)
        level = np.full(int(ptr[-1]), np.nan)
        for j, codes in levels.items():
            level[ptr[j] : ptr[j + 1]] = codes
        return cls(np.repeat(np.arange(len(n_codes)), width).astype(np.intp), level, ptr)

    def columns(self, subset: Indices) -> Indices:
        """Return the design columns of a subset of the table's columns."""
        spans = [np.arange(int(self.ptr[j]), int(self.ptr[j + 1])) for j in subset.tolist()]
        return np.concatenate([np.empty(0, dtype=np.intp), *spans]).astype(np.intp)


def _encoded(codes: Floats) -> Floats:
    """Return the codes of a column that have a design column; NaN is missing."""
    present = np.unique(codes[~np.isnan(codes)])
    if len(present) == 0:
        return np.zeros(1)
    return present[1:] if len(present) == 2 else present
