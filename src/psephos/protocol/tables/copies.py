"""Rows that are copies of each other, and folds that do not tear them apart."""

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
_CELLS = 1 << 24  # that are compared together: 128 MiB


@dataclass(frozen=True)
class Copies:
    """Rows that stand more than once in a table."""

    labels: Indices  # (n,), rows of equal labels are copies of each other
    rows: Indices  # those that have a copy
    names: tuple[str, ...]  # the first five of them, as `row_names` of the table says
    numbered: bool  # whether these are numbers

    @property
    def n_different(self) -> int:
        """Return how many rows would be left of them without their copies."""
        return len(np.unique(self.labels[self.rows]))

    def words(self, treated: str) -> str:
        """Return what was found, what was done, and what a user may do."""
        more = ", ..." if len(self.rows) > len(self.names) else ""
        kind = "rows, counted from 0, " if self.numbered else ""
        found = (
            f"{len(self.rows)} rows are copies of each other ({self.n_different} different ones): "
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
        """Return the table with groups that hold all copies of their rows."""
        groups, name = self.labels, "copies"
        if table.groups is not None:
            own = np.unique(table.groups, return_inverse=True)[1].ravel()
            groups, name = _joined(own, self.labels), table.group_name
        if len(np.unique(groups)) < 2:
            raise PsephosError(
                "copies of rows tie all rows of the table together, so that none can be held out: "
                "remove the copies, or give --copies apart if they are independent repeats."
            )
        return replace(table, groups=groups, group_name=name)


def copies_of(table: DataTable) -> Copies | None:
    """Return the rows of a table that are copies of each other; None without copies.

    Copies have the same values in all columns; ten or more of these must vary in the table and have
    a value here, at least one of them a fraction: measurements do not agree so by chance. A column
    of whole numbers that differ in every row, as row numbers do, does not count; the label does
    not, either.
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
    """Return which columns number the rows: whole numbers, all different."""
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
    """Return which columns do not have the same value in all rows."""
    return ~((X[0] == X) | (np.isnan(X) & np.isnan(X[0]))).all(axis=0)


def _telling(row: NDArray[Any]) -> bool:
    values = row[~np.isnan(row)]
    return len(values) >= _MIN_COLUMNS and bool((values != np.round(values)).any())


def _joined(first: Indices, second: Indices) -> Indices:
    """Return labels that are equal where rows are tied by labels of either kind."""
    n = len(first)
    starts = np.concatenate([np.arange(n), np.arange(n)])
    ends = np.concatenate([n + first, n + int(first.max()) + 1 + second])
    size = int(ends.max()) + 1
    ties = coo_array((np.ones(2 * n, dtype=np.int8), (starts, ends)), shape=(size, size))
    return np.asarray(connected_components(ties, directed=False)[1][:n], dtype=np.intp)
