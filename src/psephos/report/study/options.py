"""What the reader of a page asked for: title, positive class, names, and what it carries."""

import csv
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from psephos._errors import PsephosError

CASES = ("full", "rounded", "none")
_HEAD = ("column", "name", "unit")


@dataclass(frozen=True)
class Named:
    """What a column is called on the page."""

    name: str = ""  # empty: shortened by rule
    unit: str = ""


@dataclass(frozen=True)
class Options:
    """How a page is made.

    Parameters
    ----------
    title : str, optional
        Its heading; by default made of the name of the data set.
    positive : str, optional
        The class that answers are about; see `psephos.report.study.answers.positive_class`.
    names : dict of str to Named
        Shown names and units of columns.
    ids : bool, default=False
        Whether cases are called by their ids; otherwise by their place in the table.
    cases : {'rounded', 'full', 'none'}
        What the page carries of each case: values to three or four figures, to all, or counts
        alone.
    """

    title: str | None = None
    positive: str | None = None
    names: Mapping[str, Named] = field(default_factory=dict[str, Named])
    ids: bool = False
    cases: str = "rounded"

    def __post_init__(self) -> None:
        if self.cases not in CASES:
            raise PsephosError(f"cases is one of {', '.join(CASES)}: {self.cases!r} is none.")
        if self.ids and self.cases == "none":
            raise PsephosError("a page without cases has no ids: leave out 'ids', or give cases.")
        if self.title is not None and not self.title.strip():
            raise PsephosError("the title is empty: leave it out, or write one.")
        if self.title is not None and self.title.encode("utf-8", "ignore").decode() != self.title:
            raise PsephosError("the title has bytes that are no text here: set a UTF-8 locale.")


def read_names(path: str | Path, columns: Sequence[str]) -> dict[str, Named]:
    """Read shown names and units of columns from a csv file: column, name, unit.

    Parameters
    ----------
    path : str or Path
        Its first line is ``column,name,unit``; name or unit may be empty, and a unit left out.
    columns : sequence of str
        The columns of the table.

    Raises
    ------
    PsephosError
        If the file cannot be read, names a column that the table has not, or one twice.
    """
    try:
        with Path(path).open(encoding="utf-8-sig", newline="") as file:
            rows = list(csv.reader(file))
    except (OSError, UnicodeDecodeError, csv.Error) as error:
        raise PsephosError(f"the file of names {str(path)!r} cannot be read: {error}.") from error
    head = [cell.strip().lower() for cell in rows[0]] if rows else []
    if tuple(head) not in (_HEAD, _HEAD[:2]):
        raise PsephosError(f"the first line of {str(path)!r} must be {','.join(_HEAD)}.")
    found: dict[str, Named] = {}
    known = set(columns)
    for line, row in enumerate(rows[1:], 2):
        if not any(cell.strip() for cell in row):
            continue
        if len(row) != len(head):
            raise PsephosError(f"line {line} of {str(path)!r} has not {len(head)} cells.")
        if row[0] not in known:
            raise PsephosError(f"line {line} of {str(path)!r}: the table has no column {row[0]!r}.")
        if row[0] in found:
            raise PsephosError(f"line {line} of {str(path)!r} names the column {row[0]!r} again.")
        found[row[0]] = Named(*(cell.strip() for cell in row[1:]))
    return found
