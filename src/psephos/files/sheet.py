"""One reader of tables in files: which cells are numbers, words or missing, for every command."""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from operator import itemgetter
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from psephos._errors import PsephosError
from psephos.files.arff import arff_head, arff_rows
from psephos.files.arrays import read_arrays
from psephos.files.cells import MISSING, Cells
from psephos.files.text import Header, checked_separator, opened, table_rows

_Floats = NDArray[np.float64]


class Choice(NamedTuple):
    """Which columns are wanted, by place in the header."""

    columns: Sequence[int]  # of the table, in the order wanted
    words: Sequence[int] = ()  # of the table or not, whose cells are kept as they are written


@dataclass
class Sheet:
    """A table read from a file."""

    header: Header
    choice: Choice
    X: _Floats  # (n, q), the columns chosen: NaN where missing, and where a column holds words
    # By place in the header, the cells of columns asked for as words, and of those in which a cell
    # is no number: as they are written but for blanks around them. None stands for cells before the
    # first that is no number.
    words: dict[int, list[Any]]
    lines: list[int] | None  # where each row begins; None for an npz file
    cells: Cells

    def place(self, i: int) -> str:
        """Return the words for row i: its line in the file, or its row counted from 0."""
        return f"row {i}" if self.lines is None else f"line {self.lines[i]}"


def with_words(numbers: _Floats, words: Sequence[Any]) -> list[Any]:
    """Return the cells of a column that is not all numbers: a number where there is no word."""
    return [v if w is None else w for v, w in zip(numbers.tolist(), words, strict=True)]


Chooser = Callable[[Header], Choice]


def unnamed(p: int) -> list[str]:
    """Return the names of columns that have none."""
    return [f"column {j}" for j in range(p)]


def read_sheet(
    path: Path, choose: Chooser, cells: Cells | None = None, separator: str | None = None
) -> Sheet:
    """Read the columns that `choose` takes from the header.

    A file is a .csv, .tsv or .txt (or any of them with .gz) whose first line names the columns, an
    .arff (perhaps with .gz), or an .npz with the array X (n, p) of numbers or words, and perhaps
    feature_names (p,). The separator is by default a tab for .tsv, else whichever of comma,
    semicolon and tab the first line has most of.
    """
    if not path.is_file():
        raise PsephosError(f"there is no file {str(path)!r}: check the name and the folder.")
    cells, separator = cells or Cells(), checked_separator(separator)
    kinds = [suffix.lower() for suffix in path.suffixes]
    if kinds[-1:] == [".npz"]:
        return _read_npz(path, choose, cells)
    if not {".csv", ".tsv", ".txt", ".arff"} & set(kinds[-2:]):
        raise PsephosError(
            f"{path.name!r} is of an unknown kind: give a .csv, .tsv, .txt or .arff file (perhaps "
            "with .gz), or .npz."
        )
    with opened(path) as stream:
        if ".arff" in kinds[-2:]:
            return _read_arff(path, stream, choose, cells, separator)
        return _read_text(path, stream, choose, cells, separator)


# ---------------------------------------------------------------------- text
def _read_text(
    path: Path, stream: Any, choose: Chooser, cells: Cells, separator: str | None
) -> Sheet:
    header, lines = table_rows(path, stream, separator)
    reading = _Reading(header, choose(header), cells)
    numbers: list[int] = []
    for line, text, row in lines:
        reading.add(row, text)
        numbers.append(line)
    return reading.sheet(numbers)


class _Reading:
    """The rows read so far: numbers as they come, words in lists."""

    def __init__(self, header: Header, choice: Choice, cells: Cells) -> None:
        self._header, self._choice, self._cells = header, choice, cells
        self._rows: list[_Floats] = []
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

    def _quickly(self, picked: Sequence[str], text: str) -> _Floats | None:
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

    def _one_by_one(self, picked: Sequence[str]) -> _Floats:
        """Return the numbers of a row; columns that turn out to hold words are kept as words."""
        numbers = np.full(len(picked), math.nan)
        for i, cell in enumerate(picked):
            number = self._cells.number(cell)
            if number is None:
                self._words[self._places[i]] = [None] * len(self._rows)
            else:
                numbers[i] = number
        return numbers

    def sheet(self, lines: list[int] | None) -> Sheet:
        """Return what was read."""
        X = np.empty((len(self._rows), len(self._choice.columns)))
        for i, row in enumerate(self._rows):
            X[i] = row
            self._rows[i] = row[:0]  # the row is copied: let its memory go
        return Sheet(self._header, self._choice, X, self._words, lines, self._cells)


def _all(row: list[str]) -> Sequence[str]:
    return row


# ---------------------------------------------------------------------- ARFF
def _read_arff(
    path: Path, stream: Any, choose: Chooser, cells: Cells, separator: str | None
) -> Sheet:
    """Read an ARFF file: its words for missing values are ? and those that are no nominal value."""
    if separator is not None or not cells.plain:
        raise PsephosError(
            f"{path.name!r} is an ARFF file, whose cells are divided by commas and whose numbers "
            "have a point: leave --separator, --decimal and --thousands out."
        )
    head = arff_head(path.name, stream)
    levels = {word for known in head.levels for word in known or ()}
    if cells.missing == MISSING:
        cells = Cells(tuple(word for word in MISSING if word not in levels))
    header = Header(path.name, head.names, relation=head.relation)
    reading = _Reading(header, choose(header), cells)
    lines: list[int] = []
    for line, row in arff_rows(path.name, head, stream):
        reading.add(row)
        lines.append(line)
    if not lines:
        raise PsephosError(f"{path.name!r} has no rows below @data.")
    return reading.sheet(lines)


# ---------------------------------------------------------------------- npz
def _read_npz(path: Path, choose: Chooser, cells: Cells) -> Sheet:
    arrays = read_arrays(path)
    X = arrays.pop("X")
    names = arrays.get("feature_names")
    header = Header(
        path.name,
        unnamed(X.shape[1]) if names is None else [str(one) for one in names.tolist()],
        names is not None,
        arrays,
    )
    if len(header.names) != X.shape[1]:
        raise PsephosError(
            f"'feature_names' of {path.name!r} has {len(header.names)} names for {X.shape[1]} "
            "columns."
        )
    choice = choose(header)
    if X.dtype.kind == "U":
        reading = _Reading(header, choice, cells)
        for row in X.tolist():
            reading.add(row)
        return reading.sheet(None)
    values = np.array(X[:, list(choice.columns)], dtype=np.float64)
    values[np.isin(values, cells.gone_numbers)] = math.nan
    words = {j: [_word(value, cells) for value in X[:, j].tolist()] for j in choice.words}
    return Sheet(header, choice, values, words, None, cells)


def _word(value: Any, cells: Cells) -> Any:
    """Return a value of an array of numbers, to be matched as one; '' if it is missing."""
    gone = value != value or value in cells.gone_numbers
    return "" if gone else value
