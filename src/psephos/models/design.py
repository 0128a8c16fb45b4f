"""The columns of numbers that a table with categories becomes: 0/1 columns, one a level."""

from dataclasses import dataclass

import numpy as np

from psephos._types import Floats, Indices, Values
from psephos.estimator.columns import dense_columns


@dataclass(frozen=True)
class Design:
    """The columns of numbers that a table becomes."""

    source: Indices  # (P,); the table's column each design column is made of
    level: Floats  # (P,); the code it stands for; NaN: the number itself
    ptr: Indices  # (p + 1,); where the design columns of each column of the table begin

    @classmethod
    def of(cls, n_codes: Indices, X: Values) -> "Design":
        """Return the design of columns with so many categories (0: numbers) in a table (n, p).

        Two categories that occur are one 0/1 column, that of the second; one is a constant. A
        category that is declared but does not occur has no column.
        """
        held = {
            int(j): _shown(dense_columns(X, np.array([j]))[:, 0]) for j in np.flatnonzero(n_codes)
        }
        width = np.ones(len(n_codes), dtype=np.intp)
        width[list(held)] = [len(codes) for codes in held.values()]
        ptr = np.concatenate([[0], np.cumsum(width)]).astype(np.intp)
        level = np.full(int(ptr[-1]), np.nan)
        for j, codes in held.items():
            level[ptr[j] : ptr[j + 1]] = codes
        return cls(np.repeat(np.arange(len(n_codes)), width).astype(np.intp), level, ptr)

    def columns(self, subset: Indices) -> Indices:
        """Return the design columns of a subset of the table's columns."""
        spans = [np.arange(int(self.ptr[j]), int(self.ptr[j + 1])) for j in subset.tolist()]
        return np.concatenate([np.empty(0, dtype=np.intp), *spans]).astype(np.intp)


def _shown(codes: Floats) -> Floats:
    """Return the codes of a column that get a design column; NaN is missing."""
    held = np.unique(codes[~np.isnan(codes)])
    if len(held) == 0:
        return np.zeros(1)
    return held[1:] if len(held) == 2 else held
