"""Rows that are copies of each other, and groups that keep copies in one fold."""

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from scipy.sparse import coo_array
from scipy.sparse.csgraph import connected_components

from psephos._errors import PsephosError
from psephos._types import Array, Indices, NDArray
from psephos.estimator.columns import dense_columns
from psephos.protocol.tables.table import DataTable

COPIES = ("together", "apart")

_MIN_COLUMNS = 10
_NAMED = 5
_CELLS = 1 << 24  # cells that are compared at once: 128 MiB


@dataclass(frozen=True)
class Copies:
    """Rows that occur more than once in a table."""

    labels: Indices  # (n,), rows of equal labels are copies of each other
    rows: Indices  # the rows that have a copy
    names: tuple[str, ...]  # of the first five of them, as in `row_names` of the table
    numbered: bool  # whether the table has no ids

    @property
    def n_different(self) -> int:
        """Return the number of distinct rows among them."""
        return len(np.unique(self.labels[self.rows]))

    def words(self, treated: str) -> str:
        """Return sentences on what was found, what was done, and what a user may do."""
        more = ", ..." if len(self.rows) > len(self.names) else ""
        kind = "rows, counted from 0, " if self.numbered else ""
        found = (
            f"{len(self.rows)} rows are copies of each other ({self.n_different} distinct rows): "
            f"{kind}{', '.join(self.names)}{more}."
        )
        if treated == "apart":
            return (
                f"{found} They are treated as independent repeats (copies='apart'): a model may "
                "be tested on a row that it was trained on."
            )
        return (
            f"{found} Copies stay in one fold, so that no model is tested on a row that it was "
            "trained on. If they are independent repeats, give --copies apart (in Python "
            "copies='apart')."
        )

    def together(self, table: DataTable) -> DataTable:
        """Return the table with groups that also hold the copies of their rows."""
        groups, name = self.labels, "copies"
        if table.groups is not None:
            own = np.unique(table.groups, return_inverse=True)[1].ravel()
            groups, name = _joined(own, self.labels), table.group_name
        if len(np.unique(groups)) < 2:
            raise PsephosError(
                "copies connect all rows of the table to one group, so that none can be held out: "
                "remove the copies, or give --copies apart if they are independent repeats."
            )
        return replace(table, groups=groups, group_name=name)


def copies_of(table: DataTable) -> Copies | None:
    """Return the rows of a table that are copies of each other; None without copies.

    Copies have the same values in all columns. Ten or more of these must vary in the table and not
    be missing in the row, and at least one must hold a fraction: measurements do not agree so by
    chance. Columns of whole numbers that differ in every row, such as row numbers, are ignored, and
    so is the label.
    """
    n, p = table.X.shape
    numbering, varying, labels = np.zeros(p, bool), np.zeros(p, bool), np.zeros(n, np.intp)
    for start in range(0, p, max(1, _CELLS // n)):
        part = slice(start, start + max(1, _CELLS // n))
        values = dense_columns(table.X, part)
        numbering[part], varying[part] = _numbering(values), _varying(values)
        values = np.where(np.isnan(values), np.nan, values + 0.0)  # one NaN, one zero
        values[:, numbering[part]] = 0.0
        places: dict[tuple[int, bytes], int] = {}
        each = enumerate(zip(labels.tolist(), values, strict=True))
        labels = np.array([places.setdefault((k, row.tobytes()), i) for i, (k, row) in each])
    if p - int(numbering.sum()) < _MIN_COLUMNS:
        return None
    counts = np.bincount(labels, minlength=n)
    counted = ~numbering & varying
    twice = np.flatnonzero(counts > 1)
    values = dense_columns(table.X[twice], np.flatnonzero(counted))
    repeated = [i for i, row in zip(twice.tolist(), values, strict=True) if _telling(row)]
    if not repeated:
        return None
    kept = np.isin(labels, repeated)
    labels = np.where(kept, labels, np.arange(n))
    rows = np.flatnonzero(kept)
    words = table.row_names()
    first: list[int] = rows[:_NAMED].tolist()
    names = tuple(words[i] for i in first)
    return Copies(labels, rows, names, numbered=table.ids is None)


def _numbering(X: NDArray[Any]) -> NDArray[np.bool_]:
    """Return a mask of columns that number the rows: whole numbers, all different."""
    found = np.zeros(X.shape[1], dtype=bool)
    first = X[: min(len(X), 50)]
    with np.errstate(invalid="ignore"):
        maybe = (first == np.round(first)).all(axis=0)
    for j in np.flatnonzero(maybe).tolist():
        column = X[:, j]
        whole = bool((column == np.round(column)).all())
        found[j] = whole and len(np.unique(column)) == len(column)
    return found


def _varying(X: Array) -> NDArray[np.bool_]:
    """Return a mask of columns that do not have the same value in all rows."""
    return ~((X[0] == X) | (np.isnan(X) & np.isnan(X[0]))).all(axis=0)


def _telling(row: NDArray[Any]) -> bool:
    values = row[~np.isnan(row)]
    return len(values) >= _MIN_COLUMNS and bool((values != np.round(values)).any())


def _joined(first: Indices, second: Indices) -> Indices:
    """Return labels that are equal if rows are connected by equal labels of either kind."""
    n = len(first)
    starts = np.concatenate([np.arange(n), np.arange(n)])
    ends = np.concatenate([n + first, n + int(first.max()) + 1 + second])
    size = int(ends.max()) + 1
    ties = coo_array((np.ones(2 * n, dtype=np.int8), (starts, ends)), shape=(size, size))
    return np.asarray(connected_components(ties, directed=False)[1][:n], dtype=np.intp)
