"""Distinct rows of a table in an order of their own, as batches are fitted to them."""

from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from psephos.estimator.input import Table
from psephos.models.training import Training, distinct_rows, ordered_rows

_Floats = NDArray[np.float64]
_ORDERED_BY = 64  # first columns, all that `ordered_rows` looks at


class Rows(NamedTuple):
    """Distinct rows in an order of their own, as positions in the table given."""

    table: Table
    rows: NDArray[np.intp]  # (n,)
    y: NDArray[Any]
    weight: _Floats
    copies: _Floats  # how many rows each stands for

    @property
    def names(self) -> NDArray[Any]:
        """Return the rows' identifiers."""
        return self.table.rows[self.rows]

    def alone(self) -> "Rows":
        """Return the same with a table of these rows only, dense."""
        values = self.table.values
        some = values[self.rows] if isinstance(values, np.ndarray) else values[self.rows].toarray()
        table = Table(some, self.table.schema, self.names)
        return self._replace(table=table, rows=np.arange(len(self.rows)))

    def after(self, earlier: "Rows") -> "Rows":
        """Return the earlier rows and then these; equal ones are not made one."""
        values = np.concatenate([earlier.table.values, self.table.values])
        names = np.concatenate([earlier.table.rows, self.table.rows])
        of_rows = (np.append(a, b) for a, b in zip(earlier[2:], self[2:], strict=True))
        return Rows(Table(values, self.table.schema, names), np.arange(len(names)), *of_rows)


def merged_rows(data: Training, *, whole: bool = True) -> Rows:
    """Return distinct rows in an order of their own; the table is not copied for it.

    How many rows each stands for is said by weights if all are whole (and `whole`), else by copies.
    """
    found = _ordered(data)
    copies = found.weight
    if not (whole and (data.weight == np.floor(data.weight)).all()):
        copies = _ordered(data._replace(weight=np.ones(len(data.weight)))).weight
    return Rows(data.table, found.table.rows, found.y, found.weight, copies)


def _ordered(data: Training) -> Training:
    """Return the rows so ordered, identified by their positions, without most of their columns."""
    numbered = replace(data.table, rows=np.arange(len(data.y)))
    found = distinct_rows(data._replace(table=numbered))
    few = replace(found.table, values=found.table.values[:, :_ORDERED_BY])
    return ordered_rows(found._replace(table=few))
