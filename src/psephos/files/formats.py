"""Which files hold a table: a line a format, beside the module that reads it.

Nothing but these lines is imported to start a command: a reader is when it is needed.
"""

from collections.abc import Callable
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from psephos.files.cells import Cells
from psephos.files.text import SUFFIXES as TEXT
from psephos.files.text import Header, checked_separator, kind_of

if TYPE_CHECKING:
    from psephos.files.sheet import ColumnChoice, Sheet


class Format(NamedTuple):
    """A kind of file that holds a table."""

    suffixes: dict[str, bool]  # and whether .gz may follow
    module: str
    reader: str  # a function in it of path, chooser, cells and separator, which returns a Sheet
    words: str  # of help texts


FORMATS = (
    Format(
        TEXT, "psephos.files.sheet", "read_text",
        "a csv or tsv file whose first line names the columns",
    ),
    Format({".arff": True}, "psephos.files.arff", "read_arff", "an arff file"),
    Format(
        {".npz": False}, "psephos.files.npz", "read_npz",
        "an npz file with X, y (or Y, a column a label) and perhaps classes and feature_names",
    ),
)  # fmt: skip


def suffixes() -> dict[str, bool]:
    """Return the suffixes of files that hold tables, and whether .gz may follow each."""
    return {suffix: packed for one in FORMATS for suffix, packed in one.suffixes.items()}


def files_words() -> str:
    """Return which files hold a table, for help texts."""
    *most, last = [one.words for one in FORMATS]
    return f"{', '.join(most)}, or {last}"


def read_sheet(
    path: Path,
    choose: "Callable[[Header], ColumnChoice]",
    cells: Cells | None = None,
    separator: str | None = None,
) -> "Sheet":
    """Read the columns that `choose` takes from the header of a file of one of FORMATS."""
    suffix = kind_of(path, suffixes())
    found = next(one for one in FORMATS if suffix in one.suffixes)
    read: Any = getattr(import_module(found.module), found.reader)
    return read(path, choose, cells or Cells(), checked_separator(separator))
