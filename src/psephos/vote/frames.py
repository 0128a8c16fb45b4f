"""Tables of lists as data frames of pandas or polars, whichever is installed."""

from typing import Any

from psephos._errors import MissingExtraError, must_be
from psephos._types import ColumnLists


def _structs(table: Any) -> Any:
    """Return the table with nearest cases as dictionaries: polars has no mixed tuples."""
    if "nearest" not in table:
        return table
    keys = ("row", "distance", "share", "class")
    cases = [[dict(zip(keys, case, strict=True)) for case in cases] for cases in table["nearest"]]
    return {**table, "nearest": cases}


class Framed:
    """Mixin: `frame` of objects with a `table` of lists."""

    table: Any

    def frame(self, backend: str | None = None) -> Any:
        """Return `table` as a data frame of pandas or polars; None: pandas if it is installed.

        Raises
        ------
        MissingExtraError
            If no data frame library is installed.
        """
        return frame_of(self.table(), backend)


def frame_of(table: ColumnLists, backend: str | None = None) -> Any:
    """Return a table of lists as a data frame of `backend`, or of the first library installed."""
    must_be("backend", backend, (None, "pandas", "polars"))
    for name in (backend,) if backend else ("pandas", "polars"):
        try:
            library: Any = __import__(name)
        except ImportError:
            continue
        return library.DataFrame(_structs(table) if name == "polars" else table)
    raise MissingExtraError(backend or "pandas", "a data frame", "frames")
