"""Tables of labels: what they are called, and whether they can be learnt."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from psephos._errors import PsephosError

__all__ = ["check_labels", "together"]

_LISTED = 3  # labels that name their target


def together(labels: Sequence[str]) -> str:
    """Return what a target of several labels is called."""
    return ", ".join(labels) if len(labels) <= _LISTED else f"{len(labels)} labels"


def check_labels(table: Any) -> None:
    """Raise PsephosError unless y is a table of 0 and 1 for its labels, with rows that differ."""
    if table.y.shape != (table.n_rows, len(table.labels)) or len(table.labels) < 2:
        raise PsephosError(
            f"y has shape {table.y.shape} for {table.n_rows} rows and {len(table.labels)} names of "
            "labels: give a table of 0 and 1, a row a case and a column for each of two labels or "
            "more."
        )
    if not np.isin(table.y, (0, 1)).all():
        raise PsephosError("y is a table of labels, and holds what is neither 0 nor 1.")
    if (table.y == table.y[0]).all():
        raise PsephosError(
            "all rows have the same labels, so that there is nothing to learn: give rows that "
            "differ in one at least."
        )
