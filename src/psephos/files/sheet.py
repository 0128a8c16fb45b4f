"""What was read from a file of a table: which cells are numbers, words or missing."""

import datetime
import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from operator import itemgetter
from pathlib import Path
from typing import Any, NamedTuple, TypeAlias

import numpy as np

from psephos._errors import PsephosError
from psephos._types import Cell, Floats, NDArray
from psephos.files.arrays import beyond, check_values
from psephos.files.cases import Wanted, codes_in, numbers_in, places_in
from psephos.files.cells import Cells
from psephos.files.columns import refuse_far
from psephos.files.formats import Reading, read_sheet
from psephos.files.near import CELL, shown
from psephos.files.text import Header


class ColumnChoice(NamedTuple):
    """Which columns are wanted, by place in the header."""

    columns: Sequence[int]  # of the table, in the order wanted
    words: Sequence[int] = ()  # of the table or not, whose cells are kept as they are written


@dataclass
class Sheet:
    """A table read from a file."""

    header: Header
    choice: ColumnChoice
    X: Floats  # (n, q), the columns chosen: NaN where missing, and where a column holds words
    # By place in the header, the cells of columns asked for as words, and of those in which a cell
    # is no number: as they are written but for blanks around them. None stands for cells before the
    # first that is no number.
    words: dict[int, list[Any]]
    lines: list[int] | None  # where each row begins; None for an npz file
    cells: Cells
    notes: list[str] = field(default_factory=list[str])  # sentences on how it was read

    def place(self, i: int) -> str:
        """Return the words for row i: its line in the file, or its row counted from 0."""
        return f"row {i}" if self.lines is None else f"line {self.lines[i]}"


def with_words(numbers: Floats, words: Sequence[Cell]) -> list[Any]:
    """Return the cells of a column that is not all numbers: a number where there is no word."""
    return [v if w is None else w for v, w in zip(numbers.tolist(), words, strict=True)]


Chooser = Callable[[Header], ColumnChoice]


def unnamed(p: int) -> list[str]:
    """Return the names of columns that have none."""
    return [f"column {j}" for j in range(p)]


class SheetRows:
    """The rows read so far: numbers as they come, words in lists."""

    def __init__(self, header: Header, choice: ColumnChoice, cells: Cells) -> None:
        self._header, self._choice, self._cells = header, choice, cells
        self._rows: list[Floats] = []
        self._words: dict[int, list[Any]] = {j: [] for j in choice.words}
        self._place_numbers()

    def _place_numbers(self) -> None:
        columns, words = self._choice.columns, self._words
        slots = [k for k, j in enumerate(columns) if j not in words]
        self._slots = np.array(slots, dtype=np.intp)
        self._places = [columns[k] for k in slots]
        whole = self._places == list(range(len(self._header.names)))
        self._pick: Callable[[list[str]], Sequence[str]]
        if whole:
            self._pick = _all
        elif len(slots) > 1:
            self._pick = itemgetter(*self._places)
        else:
            self._pick = self._pick_few

    def _pick_few(self, row: list[str]) -> Sequence[str]:
        return [row[j] for j in self._places]

    def add(self, row: list[str], text: str = "") -> None:
        """Add a row; `text` is its line, if one look at it shows that no cell holds an _."""
        out = np.full(len(self._choice.columns), math.nan)
        picked = self._pick(row)
        numbers = self._quickly(picked, text) if self._cells.plain else None
        n_words = len(self._words)
        out[self._slots] = self._one_by_one(picked) if numbers is None else numbers
        if len(self._words) > n_words:
            self._place_numbers()
        self._rows.append(out)
        for j, kept in self._words.items():
            kept.append(row[j].strip())

    def _quickly(self, picked: Sequence[str], text: str) -> Floats | None:
        """Return the numbers of a row in which every cell is a number or missing, else None."""
        if (not text or "_" in text) and any("_" in cell for cell in picked):
            return None
        gone = self._cells.gone
        try:
            numbers = np.array(picked, dtype=np.float64)
        except ValueError:
            try:
                numbers = np.array(
                    ["nan" if cell in gone else cell for cell in picked], dtype=np.float64
                )
            except ValueError:
                return None
        for i in np.flatnonzero(np.isnan(numbers)).tolist():
            if picked[i].strip() not in gone:
                return None
        if self._cells.gone_numbers:
            numbers[np.isin(numbers, self._cells.gone_numbers)] = math.nan
        return numbers

    def _one_by_one(self, picked: Sequence[str]) -> Floats:
        """Return the numbers of a row; columns that turn out to hold words are kept as words."""
        numbers = np.full(len(picked), math.nan)
        for i, cell in enumerate(picked):
            number = self._cells.number(cell)
            if number is None:
                self._words[self._places[i]] = [None] * len(self._rows)
            else:
                numbers[i] = number
        return numbers

    def sheet(self, lines: list[int] | None, notes: Sequence[str] = ()) -> Sheet:
        """Return what was read."""
        X = np.empty((len(self._rows), len(self._choice.columns)))
        for i, row in enumerate(self._rows):
            X[i] = row
            self._rows[i] = row[:0]  # the row is copied: let its memory go
        return Sheet(self._header, self._choice, X, self._words, lines, self._cells, [*notes])


def _all(row: list[str]) -> Sequence[str]:
    return row


# ---------------------------------------------------------------------- columns with types
#: The values of a column: numbers, or any.
Column: TypeAlias = Floats | list[Any]
_MOST = 1 << 31  # cells, 16 GiB of numbers


def refuse_huge(file: str, n_rows: int, n_columns: int) -> None:
    """Raise PsephosError if a file claims more cells than can be read."""
    if n_rows * n_columns > _MOST:
        raise PsephosError(
            f"{file!r} claims {n_rows:,} rows and {n_columns:,} columns, more than the "
            f"{_MOST:,} cells that are read: write the part of it that is needed."
        )


def cell_word(value: object, name: str) -> str:
    """Return a value as a csv file shows it: empty if it is missing, dates as ISO 8601."""
    if value is None or value != value:  # NaN, and NaT
        return ""
    if isinstance(value, datetime.date | datetime.time):
        return value.isoformat().removesuffix("T00:00:00")
    kind = type(value).__name__
    if kind in ("list", "dict", "bytes", "ndarray"):
        raise PsephosError(
            f"column {shown(name)} holds a {kind} ({shown(value, CELL)}): each cell must be a "
            "number or a word; leave the column out of the file, or write it so."
        )
    return str(value).strip()


def columns_sheet(
    header: Header, n_rows: int, column: Callable[[int], Column], choose: Chooser, cells: Cells,
    notes: Sequence[str] = (), lines: list[int] | None = None,
) -> Sheet:  # fmt: skip
    """Return the columns that `choose` takes; `column` returns the values of one."""
    choice = choose(header)
    refuse_huge(header.file, n_rows, len(choice.columns))
    X, words = np.full((n_rows, len(choice.columns)), np.nan), dict[int, list[object]]()
    for j in choice.words:
        words[j] = _words(column(j), header.names[j])
    for k, j in enumerate(choice.columns):
        values, name = column(j) if j not in words else np.empty(0), header.names[j]
        read = [_number(v, name, cells) for v in values] if isinstance(values, list) else values
        if isinstance(read, list) and None in read:
            words[j] = _words(values, name)
        elif j not in words:
            numbers = np.asarray(read, dtype=np.float64)
            X[:, k] = np.where(np.isin(numbers, cells.gone_numbers), np.nan, numbers)
    return Sheet(header, choice, X, words, lines, cells, [*notes])


def _words(values: Column, name: str) -> list[object]:
    listed = values if isinstance(values, list) else values.tolist()
    return [cell_word(value, name) for value in listed]


def _number(value: object, name: str, cells: Cells) -> float | None:
    if isinstance(value, int | float) and not isinstance(value, bool):
        return float(value)
    return cells.number(cell_word(value, name))


# ---------------------------------------------------------------------- cases
@dataclass(frozen=True)
class CaseTable:
    """Cases to be answered: their names, and the columns asked for, in that order."""

    ids: list[str]  # the id column; without one the line in a csv file, or the row of an npz from 0
    # (n, q), NaN where missing; of categories the codes of the model's levels
    X: NDArray[np.float64]
    notes: list[str]  # sentences on how the table was read that its reader must know


def read_cases(
    path: Path,
    wanted: Wanted,
    id_column: str | None,
    *,
    cells: Cells | None = None,
    missing: Sequence[str] = (),
    how: Reading | None = None,
) -> CaseTable:
    """Read the columns of a model; all others are ignored, whatever they hold.

    A model that knows the names of its columns finds them by name (columns of an npz file without
    feature_names are called 'column 0', 'column 1', ...). A model that was fitted on a table
    without names reads columns by position: the table must have as many as that one, besides the
    id. The words of `missing` stand for no value even where the model has a category of that name.
    """
    places: list[int] = []
    notes: list[str] = []

    def choose(header: Header) -> ColumnChoice:
        notes.clear()  # of a header that was refused
        if wanted.names is not None and not header.named:
            _check_width(header, wanted)
        places[:] = places_in(header, wanted, id_column, notes)
        words = {places[k] for k, j in enumerate(wanted.columns) if j in wanted.levels}
        name = id_column or header.row_names
        if name in header.names and not header.arrays:
            words.add(header.names.index(name))
        return ColumnChoice(sorted({j for j in places if j >= 0}), sorted(words - {-1}))

    sheet = read_sheet(path, choose, cells, replace(how or Reading(), id=id_column, cases=True))
    notes[:0] = sheet.notes
    X = np.full((len(sheet.X), len(places)), np.nan)
    for k, (place, j) in enumerate(zip(places, wanted.columns, strict=True)):
        name, levels = wanted.word(j), wanted.levels.get(j)
        if place >= 0 and levels is not None:
            X[:, k] = codes_in(name, sheet.words[place], levels, sheet.cells, missing, notes)
        elif place >= 0:
            X[:, k] = _numbers(sheet, place, name, notes)
    return CaseTable(_ids(sheet, id_column), X, notes)


def _check_width(header: Header, wanted: Wanted) -> None:
    """Raise PsephosError if names that stand for positions are of a table of another width."""
    made = unnamed(wanted.n_columns)
    if list(map(wanted.word, range(wanted.n_columns))) == made and header.names != made:
        raise PsephosError(
            f"{header.file!r} has {len(header.names)} columns and no names, and the model was "
            f"fitted on {wanted.n_columns}, which it finds by position: give a table of those "
            "columns in that order, or fit the model on a table with names."
        )


def _numbers(sheet: Sheet, place: int, name: str, notes: list[str]) -> NDArray[np.float64]:
    values = sheet.X[:, list(sheet.choice.columns).index(place)]
    if place in sheet.words:  # words where numbers should be, or the column of the ids as well
        words = with_words(values, sheet.words[place])
        values = np.array(numbers_in(name, words, sheet.cells, sheet.place, notes))
    bad = np.flatnonzero(beyond(values))
    if len(bad):
        refuse_far(name, float(values[bad[0]]), sheet.place(int(bad[0])))
    return values


def _ids(sheet: Sheet, id_column: str | None) -> list[str]:
    header = sheet.header
    if id_column is not None and header.arrays:
        check_values(header.arrays[id_column], id_column, header.file, len(sheet.X))
        return [str(one) for one in header.arrays[id_column].tolist()]
    name = id_column or header.row_names
    if name is None:
        return [f"row {i}" for i in sheet.lines or range(len(sheet.X))]
    return list(sheet.words[header.names.index(name)])
