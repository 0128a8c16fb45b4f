"""The file formats of tables, and the modules that read them.

A reader is imported when it is needed, so that commands start quickly.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace
from importlib import import_module
from numbers import Integral
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple, TypeAlias

from psephos._errors import PsephosError, must_be
from psephos.files.cells import Cells
from psephos.files.packed import unpacked
from psephos.files.text import SUFFIXES as TEXT
from psephos.files.text import checked_separator, kind_of

if TYPE_CHECKING:
    from psephos.files.sheet import Chooser, Sheet

    Reader: TypeAlias = Callable[[Path, Chooser, Cells, "Reading"], Sheet]


class Format(NamedTuple):
    """A file format of tables."""

    suffixes: dict[str, bool]  # and whether .gz may follow
    module: str
    reader: str  # a function in it of path, chooser, cells and Reading, which returns a Sheet
    words: str  # for help texts
    takes: tuple[str, ...] = ()  # options of Reading that only some formats take


FORMATS = (
    Format(
        {**TEXT, ".data": True, ".tab": True}, "psephos.files.dialects", "read_text",
        "a csv or tsv file whose first line names the columns",
        ("separator", "encoding", "skip_last"),
    ),
    Format({".arff": True}, "psephos.files.arff", "read_arff", "an arff file",
           ("separator", "encoding")),
    Format({".parquet": False, ".feather": False, ".arrow": False}, "psephos.files.libraries",
           "read_arrow", "a parquet or feather file"),
    Format({".xlsx": False, ".xlsm": False, ".xls": False, ".ods": False},
           "psephos.files.libraries", "read_workbook", "a sheet of an xlsx, xls or ods file",
           ("sheet", "skip_last")),
    Format({".h5ad": False}, "psephos.files.libraries", "read_h5ad", "an h5ad file"),
    Format({".mtx": True}, "psephos.files.libraries", "read_mtx", "an mtx file beside its names"),
    Format({".npy": False}, "psephos.files.libraries", "read_npy", "an npy file"),
    Format(
        {".npz": False}, "psephos.files.npz", "read_npz",
        "an npz file with X, y (or Y, a column a label) and perhaps classes and feature_names",
        ("duplicates",),
    ),
)  # fmt: skip


def suffixes() -> dict[str, bool]:
    """Return the suffixes of all formats, and whether .gz may follow each."""
    return {suffix: packed for one in FORMATS for suffix, packed in one.suffixes.items()}


def files_words() -> str:
    """Return the list of formats for help texts."""
    *most, last = [one.words for one in FORMATS]
    return f"{', '.join(most)}, or {last}"


@dataclass(frozen=True)
class Reading:
    """How a table is stored in its file, where that is not detected: the options of these names.

    `id` is the column that names the rows, on which tables are joined; in a transposed table it is
    the new name of this column. With `cases` (tables to be predicted) empty rows between others are
    kept in workbooks as well; those at the end are left out, as in spreadsheets. `columns` are
    names by which one of several sheets is found.
    """

    separator: str | None = None
    sheet: str | None = None
    encoding: str | None = None
    transpose: bool | None = None
    labels_from: Path | None = None
    duplicates: str | None = None
    skip_last: int | None = None
    id: str | None = None
    cases: bool = False
    columns: frozenset[str] = frozenset()


def read_sheet(
    path: Path,
    choose: "Chooser",
    cells: Cells | None = None,
    how: Reading | None = None,
) -> "Sheet":
    """Read the columns of a file that `choose` selects by its header."""
    from psephos.files.layout import arranged

    how = how or Reading()
    must_be("transpose (--transpose, --no-transpose)", how.transpose, (None, True, False))
    last = 0 if how.skip_last is None else how.skip_last
    if isinstance(last, bool) or not isinstance(last, Integral) or last < 0:
        raise PsephosError(
            f"skip_last (--skip-last) must be a whole number of at least 0; got {last!r}."
        )
    how = replace(how, separator=checked_separator(how.separator))
    with unpacked(path) as file:
        suffix = kind_of(file, suffixes())
        found = next(one for one in FORMATS if suffix in one.suffixes)
        for name in ("separator", "sheet", "encoding", "skip_last"):
            if getattr(how, name) is not None and name not in found.takes:
                raise PsephosError(
                    f"--{name.replace('_', '-')} does not apply to {found.words}: leave it out."
                )
        read: Reader = getattr(import_module(found.module), found.reader)
        cells, own = cells or Cells(), "duplicates" in found.takes  # else any table's are arranged
        rest = replace(how, duplicates=None) if own else how
        return arranged(lambda chooser: read(file, chooser, cells, how), choose, cells, rest)
