"""What `compare` takes as a table: arrays or a frame, a DataTable, or the path of a file."""

from pathlib import Path
from typing import Any, cast

import numpy as np

from psephos._errors import PsephosError
from psephos.protocol.tables.files import read_table
from psephos.protocol.tables.table import DataTable, table_from_arrays


def table_given(
    X: Any, y: object, dataset: str | None, given: dict[str, Any], reading: dict[str, Any]
) -> DataTable:
    """Return the table that `compare` was called with: arrays, a DataTable or a file."""
    if isinstance(X, str | Path):
        return _from_file(X, y, dataset, given, reading)
    if reading:
        raise PsephosError(
            f"X is a table, and {', '.join(reading)} say how a file is read: leave them out, or "
            "give the path of a file."
        )
    if not isinstance(X, DataTable):
        if y is None:
            raise PsephosError("y is missing: give one class label per row of X.")
        return table_from_arrays(X, y, dataset=dataset or "table", **given)
    for name, value in {"y": y, **given, "categorical": given["categorical"] or None}.items():
        if value is not None:
            raise PsephosError(f"X is a DataTable, which has its own {name}: leave {name} out.")
    return X if dataset is None else X.renamed(dataset)


def _from_file(
    path: str | Path, target: object, dataset: str | None, given: dict[str, Any],
    reading: dict[str, Any],
) -> DataTable:  # fmt: skip
    """Return the table in a file, whose columns are given by name."""
    columns = {"y": target, "groups": given["groups"], "truth": given["truth"]}
    columns["leave_out"] = given["leave_out"]
    for name, values in columns.items():
        words: list[Any] = np.ravel(np.asarray(values, dtype=object)).tolist()
        if not all(one is None or isinstance(one, str) for one in words):
            raise PsephosError(
                f"X is the path of a file, so {name} is the name of a column in it. For arrays "
                "give the values of the table as X, or a DataTable (psephos.read_table)."
            )
    if given["column_names"] is not None:
        raise PsephosError("a file names its columns: leave column_names out.")
    roles = {name: one for name, one in given.items() if name not in ("groups", "column_names")}
    return read_table(
        path, target=cast("str", target), group=given["groups"], dataset=dataset, **roles, **reading
    )
