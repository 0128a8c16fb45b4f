"""Cases from a csv file: the columns of a plain model, found by name."""

import csv
import math
from typing import Any

from psephos._errors import PsephosError
from psephos._files.cells import Cells
from psephos._files.levels import LevelCodes
from psephos.scoring.reader.core import NAN

__all__ = ["CaseFile"]

_SEPARATORS = (",", ";", "\t", "|")


class CaseFile:
    """A csv, tsv or txt file whose first line names the columns.

    Parameters
    ----------
    path : str
    columns : list of dict
        Those of the plain model.
    table : dict
        ``width`` and ``named``: of a table without names columns are found by their place.
    cells : dict
        How cells are written: words for missing values, marks of numbers.
    id_column : str or None
        The column that names the cases; None: ``row N``, N its line.
    separator : str or None
        None: found in the first line.
    """

    def __init__(
        self,
        path: str,
        columns: Any,
        table: Any,
        cells: Any,
        id_column: Any = None,
        separator: Any = None,
    ) -> None:
        self.path, self.columns, self.cells, self.table = path, columns, Cells.of(cells), table
        self.levels = [LevelCodes(c["levels"]) if "levels" in c else None for c in columns]
        self.id_column, self.separator = id_column, separator
        self.notes: list[str] = []

    def __iter__(self) -> Any:
        """Yield (id, values) of each case."""
        with open(self.path, encoding="utf-8-sig", newline="") as file:
            first = file.readline()
            file.seek(0)
            counts = {mark: first.count(mark) for mark in _SEPARATORS}
            mark = self.separator or max(_SEPARATORS, key=lambda one: counts[one])
            lines = csv.reader(file, delimiter="\t" if mark == "tab" else mark)
            header = [name.strip() for name in next(lines, [])]
            places, named = self._places(header)
            for row in lines:
                if not any(cell.strip() for cell in row):
                    continue
                if len(row) != len(header):
                    raise PsephosError(
                        f"line {lines.line_num} of {self.path!r} has {len(row)} cells, and its "
                        f"first line {len(header)}: --separator says what divides cells."
                    )
                number = lines.line_num
                name = f"row {number}" if named is None else row[named]
                values = [
                    NAN if place is None else self._value(j, row[place], number)
                    for j, place in enumerate(places)
                ]
                yield name, values

    def _places(self, header: list[str]) -> tuple[list[Any], Any]:
        """Return where the columns stand, None for what is absent and may be; and the ids."""
        if self.id_column is not None and self.id_column not in header:
            raise PsephosError(f"{self.path!r} has no column {self.id_column!r} (--id).")
        named = None if self.id_column is None else header.index(self.id_column)
        return (
            self._by_name(header) if self.table["named"] else self._in_order(header, named)
        ), named

    def _in_order(self, header: list[str], named: Any) -> list[Any]:
        """Return where the columns stand in a table of the width that the model was fitted on."""
        places, width = [j for j in range(len(header)) if j != named], self.table["width"]
        if len(places) != width:
            raise PsephosError(
                f"{self.path!r} has {len(places)} columns besides the id, but the model was fitted "
                f"on a table of {width} columns without names, which it finds by position."
            )
        return [places[column["place"]] for column in self.columns]

    def _by_name(self, header: list[str]) -> list[Any]:
        places: list[Any] = []
        gone: list[str] = []
        for column in self.columns:
            name = column["name"]
            if header.count(name) > 1:
                raise PsephosError(f"the column name {name!r} stands twice in {self.path!r}.")
            places.append(header.index(name) if name in header else None)
            if name not in header and not column.get("may be absent"):
                more = "it, left empty where it was not measured"
                raise PsephosError(
                    f"{self.path!r} has no column {name!r}: the model reads it; add {more}."
                )
            gone += [] if name in header else [name]
        if gone:
            self.notes.append(f"{self.path!r} lacks {', '.join(gone)}: taken as missing.")
        return places

    def _value(self, j: int, cell: str, line: int) -> float:
        """Return a cell as a number, or the code of its level."""
        levels = self.levels[j]
        if levels is not None:
            code = levels.code(cell)
            if code != code and not self.cells.is_missing(cell):
                name = self.columns[j]["name"]
                self.notes.append(f"{cell!r} is new in column {name!r}: taken as missing.")
            return code
        value = self.cells.number(cell)
        if value is None or math.isinf(value):
            name = self.columns[j]["name"]
            raise PsephosError(
                f"column {name!r} has {cell!r} in line {line}, but the model reads finite numbers "
                "there: write NA if it is missing."
            )
        return value
