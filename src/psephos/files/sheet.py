"""Tables read from files: cells as numbers, words or missing values."""

import datetime
import math
import re
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from decimal import Decimal
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple, TypeAlias, cast

import numpy as np

from psephos._errors import Complaints, PsephosError
from psephos._types import Cell, Floats, NDArray, Sparse
from psephos.files.arrays import beyond, known_numbers
from psephos.files.cases import Wanted, codes_in, numbers_in, places_in, product_of
from psephos.files.cells import MISSING, Cells, Typed
from psephos.files.columns import notes_together, refuse_far
from psephos.files.formats import Reading, read_sheet
from psephos.files.near import CELL, shown, some
from psephos.files.text import Header, Split


class ColumnChoice(NamedTuple):
    """The columns to read, by position in the header."""

    columns: Sequence[int]  # of the table, in the requested order
    words: Sequence[int] = ()  # columns, also others, whose cells are kept as they are written
    left_out: Sequence[int] = ()  # those of `words` that only cautions use


@dataclass
class Sheet:
    """A table read from a file."""

    header: Header
    choice: ColumnChoice
    X: Floats  # (n, q), the chosen columns: NaN if missing, or if a column has words
    # By position in the header, the stripped cells of columns requested as words, and of those with
    # a cell that is not a number. None replaces numbers before the first such cell.
    words: dict[int, list[Any]]
    lines: list[int] | None  # the first line of each row; None for an npz file
    cells: Cells
    notes: list[str] = field(default_factory=list[str])  # sentences on how it was read
    rest: Sparse | None = None  # (n, q'), the chosen columns after those of X that stay sparse
    wrong: Complaints = field(default_factory=Complaints)  # errors of rows that were not read
    # number of cells that are missing by a word of their column (COLUMN=WORD); None: not counted
    hits: int | None = None
    # by position in the header, a cell such as 007 of text columns that were read as numbers
    codes: dict[int, str] = field(default_factory=dict[int, str])

    def dense(self) -> Floats:
        """Return all chosen columns, (n, q + q')."""
        return self.X if self.rest is None else np.hstack([self.X, self.rest.toarray()])

    def place(self, i: int) -> str:
        """Return the name of row i in messages: its line, or its number from 0 and its name."""
        if self.lines is not None and not self.header.of_arrays:
            return f"line {self.lines[i]}"
        name = self.header.row_names
        named = self.words.get(self.header.names.index(name)) if name else None
        at = i if self.lines is None else self.lines[i]
        return f"row {at} ({shown(named[i], CELL)})" if named else f"row {at}"


def with_words(numbers: Floats, words: Sequence[Cell]) -> list[Any]:
    """Return the cells of a column with words: the number where a word is None."""
    return [v if w is None else w for v, w in zip(numbers.tolist(), words, strict=True)]


Chooser = Callable[[Header], ColumnChoice]


_BLOCK, _CELL = 1 << 22, 50  # characters of rows that are parsed together; of a cell on average
_UNIT = "\x1f"
_KEY = re.compile(r"\d+[eE]\d+", re.ASCII)  # a number that few programs write so
_CODE = re.compile(r"0\d+", re.ASCII)  # 00204
_CODE_WITHIN = re.compile(r"0(?<![\w.+:/-]0)\d", re.ASCII)


def unnamed(p: int) -> list[str]:
    """Return names for p columns that have none."""
    return [f"column {j}" for j in range(p)]


class SheetRows:
    """The rows read so far: numbers in a growing array, words in lists; rows are read in blocks."""

    def __init__(
        self, header: Header, choice: ColumnChoice, cells: Cells, *, cases: bool = False
    ) -> None:
        self._header, self._choice, self._cells = header, choice, cells
        self._X, self._n = np.empty((0, len(choice.columns))), 0
        self._waiting, self._size = list[Sequence[str]](), 0
        self._words: dict[int, list[Any]] = {j: [] for j in choice.words}
        self._place_numbers()
        # columns whose cells so far are like 0E1; not for prediction, where the model decides
        self._keys: dict[int, str] | None = {} if cases else None
        self._codes: dict[int, str] | None = None if cases else {}  # columns of codes like 00204
        self._own, self._gone = cells.of_columns(header.names), Counter[int]()
        self._hits = 0  # cells that are missing by a word of their column

    def _place_numbers(self) -> None:
        columns, words = self._choice.columns, self._words
        slots = [k for k, j in enumerate(columns) if j not in words]
        self._slots = np.array(slots, dtype=np.intp)
        self._places = [columns[k] for k in slots]
        whole = self._places == list(range(len(self._header.names)))
        self._used = None if whole else self._places

    def add(self, row: Sequence[str]) -> None:
        """Add a row."""
        if self._own:
            row = list(row)
            for j, own in self._own.items():
                gone = own.is_missing(word := row[j].strip())
                self._hits += gone and word != ""
                self._gone[j] += gone and word not in MISSING and j not in self._choice.left_out
                row[j] = "" if gone else row[j]
        self._waiting.append(row)
        self._size += len(row.text) if isinstance(row, Split) else _CELL * len(row)
        if self._size > _BLOCK or not self._n:  # the first row shows which columns have words
            self._read()

    def _read(self) -> None:
        """Read the waiting rows, as a block if every cell is a number or missing."""
        rows, self._waiting, self._size = self._waiting, [], 0
        start, self._n = self._n, self._n + len(rows)
        if self._n > len(self._X):  # in place, if the system can
            self._X.resize((self._n + start // 32, len(self._choice.columns)), refcheck=False)
        self._X[start : self._n] = math.nan
        self._find_keys(rows)
        self._find_codes(rows)
        numbers = self._at_once(rows)
        if numbers is None:
            for i, row in enumerate(rows, start):
                self._one_by_one(i, list(row))
        else:
            self._X[start : self._n, self._slots] = numbers
            for row in rows:
                self._keep(row)

    def _find_keys(self, rows: list[Sequence[str]]) -> None:
        for row in rows:
            if self._keys == {}:
                return
            cells, among = list(row), self._places if self._keys is None else self._keys
            self._keys = {j: cells[j].strip() for j in among if _KEY.fullmatch(cells[j].strip())}

    def _find_codes(self, rows: list[Sequence[str]]) -> None:
        if self._codes is None:
            return
        for row in rows:
            if not isinstance(row, Split) or _CODE_WITHIN.search(row.text):
                cells = list(row)
                for j in self._places:
                    if cells[j].lstrip()[:1] == "0" and _CODE.fullmatch(cells[j].strip()):
                        self._codes.setdefault(j, cells[j].strip())

    def _keep(self, row: Sequence[str]) -> None:
        cells = list(row) if len(self._words) > 2 else row  # for a few the line is not split
        for j, kept in self._words.items():
            kept.append(cells[j].strip())

    def _at_once(self, rows: list[Sequence[str]]) -> Floats | None:
        """Return the rows as numbers, or None if a cell is neither a number nor missing."""
        width, first = len(self._header.names), rows[0]
        mark = first.separator if isinstance(first, Split) else _UNIT
        lines = [row.text if isinstance(row, Split) else mark.join(row) for row in rows]
        whole = all(
            isinstance(row, Split) or line.count(mark) == width - 1
            for row, line in zip(rows, lines, strict=True)
        )
        if not (whole and self._places and self._cells.plain):
            return None
        for marked in (False, True) if width > 1 else (True,):
            given = [self._marked(line, mark) for line in lines] if marked else lines
            with suppress(ValueError):
                X = np.loadtxt(given, comments=None, delimiter=mark, usecols=self._used, ndmin=2)
                return X if self._are_missing(X, rows) else None
        return None

    def _marked(self, line: str, mark: str) -> str:
        """Return a line with nan in place of the words for missing values."""
        line = f"{mark}{line}{mark}"
        for word in self._cells.gone:
            found = f"{mark}{word}{mark}"
            if found in line:  # neighbours share a mark
                line = line.replace(found, f"{mark}nan{mark}").replace(found, f"{mark}nan{mark}")
        return line[1:-1]

    def _are_missing(self, X: Floats, rows: list[Sequence[str]]) -> bool:
        """Return whether all rows were read, and all NaN in them are words for missing values."""
        if self._cells.gone_numbers:
            X[np.isin(X, self._cells.gone_numbers)] = math.nan
        gone, found = np.isnan(X), Counter[int]()
        for i in np.flatnonzero(gone.any(axis=1)).tolist():
            row = list(rows[i])
            at = [self._places[k] for k in np.flatnonzero(gone[i]).tolist()]
            if not all(self._cells.is_missing(row[j].strip()) for j in at):
                return False
            found.update(j for j in at if row[j].strip() not in MISSING)
        if len(X) == len(rows):
            self._gone += found
        return len(X) == len(rows)

    def _one_by_one(self, i: int, row: list[str]) -> None:
        """Read a row; a column with a cell that is not a number is kept as words from then on."""
        n_words = len(self._words)
        for k, j in zip(self._slots.tolist(), self._places, strict=True):
            number = self._cells.number(row[j])
            if number is None:
                self._words[j] = [None] * i
            else:
                self._X[i, k] = number
                self._gone[j] += number != number and row[j].strip() not in MISSING
        if len(self._words) > n_words:
            self._place_numbers()
        self._keep(row)

    def sheet(
        self, lines: list[int] | None, notes: Sequence[str] = (), wrong: Complaints | None = None
    ) -> Sheet:
        """Return the table that was read."""
        if self._waiting:
            self._read()
        self._X.resize((self._n, self._X.shape[1]), refcheck=False)
        given = (self._header, self._choice, self._X, self._words, lines, self._cells)
        keys = [
            f"column {shown(self._header.names[j])} is written as {word}, read as "
            f"{float(word):.12g}: if it holds names, it is an id (--id) or categorical."
            for j, word in (self._keys or {}).items()
            if j not in self._words
        ]
        codes = {j: one for j, one in (self._codes or {}).items() if j not in self._words}
        for j, words in () if self._codes is None else self._words.items():
            if j in self._choice.left_out:
                continue
            self._gone[j] += sum(word is not None and _is_gone(word, self._cells) for word in words)
        names = self._header.names
        counted = self._codes is not None and self._choice.columns  # else counted in a later read
        keys += _gone_words(self._gone, names) if counted else []
        notes, wrong = [*notes, *keys], wrong or Complaints()
        return Sheet(*given, notes, wrong=wrong, hits=self._hits, codes=codes)


def _is_gone(word: object, cells: Cells) -> bool:
    """Return whether a cell is missing by a word that is not one of the usual ones."""
    return isinstance(word, str) and word not in MISSING and cells.is_missing(word)


def _gone_words(counts: Mapping[int, int], names: Sequence[str]) -> list[str]:
    """Return the note on cells that are missing by a word of the user, if any."""
    found = [f"{counts[j]} in {shown(names[j])}" for j in sorted(counts) if counts[j]]
    return [f"cells that --missing makes missing: {some(found)}."] if found else []


# ---------------------------------------------------------------------- columns with types
_USUAL, _EMPTY = Cells(), Cells(())
#: The values of a column: numbers, or any.
Column: TypeAlias = Floats | list[Any]
_NUMBERS = (int, float, Decimal, np.integer, np.floating)
_MOST, _WIDEST = 1 << 31, 1 << 24  # cells, 16 GiB of numbers; and columns, each with a name
DENSE = 1 << 25  # cells, 256 MiB: smaller choices of a sparse file are made dense


def refuse_huge(file: str, n_rows: int, n_columns: int, most: int = _MOST) -> None:
    """Raise PsephosError if a file declares more cells than can be read."""
    if n_rows * n_columns > most or n_columns > _WIDEST:
        raise PsephosError(
            f"{file!r} declares {n_rows:,} rows and {n_columns:,} columns, more than the {most:,} "
            f"cells and {_WIDEST:,} columns that are read: write the part of it that is needed."
        )


def plain(value: object) -> object:
    """Return a value as spreadsheets show it: whole numbers without a point."""
    if isinstance(value, float) and value.is_integer() and abs(value) < 2**53:
        return int(value)
    return value


def cell_word(value: object, name: str, cells: Cells) -> str:
    """Return a value as in a csv file: empty if it is missing, dates as ISO 8601."""
    if isinstance(value, Typed):
        return value
    if value is None or value != value:  # NaN, and NaT
        return ""
    if isinstance(value, datetime.date | datetime.time):
        return value.isoformat().removesuffix("T00:00:00")
    kind = type(value).__name__
    if kind in ("list", "dict", "bytes", "ndarray"):
        raise PsephosError(
            f"column {shown(name)} holds a {kind} ({shown(value, CELL)}): each cell must be a "
            "number or a word; convert the column, or leave it out of the file."
        )
    word = str(value).strip()
    if isinstance(value, bool) or not isinstance(value, _NUMBERS):
        return word
    shown_as = float(word)  # for 32 bits the shortest notation, as in other files
    number = shown_as if isinstance(value, int) else float(cast("float", value))
    return Typed(word, math.nan if shown_as in cells.gone_numbers else number)


def columns_sheet(
    header: Header, n_rows: int, column: Callable[[int], Column], choose: Chooser, cells: Cells,
    notes: Sequence[str] = (), lines: list[int] | None = None, matrix: Sparse | None = None,
) -> Sheet:  # fmt: skip
    """Return the columns that `choose` takes; `column` returns the values of one.

    `matrix` (n, p) holds the last p columns of a sparse file. They stay sparse if many are taken.
    """
    choice = choose(header)
    refuse_huge(header.file, n_rows, len(choice.columns))
    columns, rest = choice.columns, None
    first = len(header.names) - (0 if matrix is None else matrix.shape[1])
    sparse = [j - first for j in columns if j >= first]
    own, gone, hits = cells.of_columns(header.names), Counter[int](), Counter[int]()
    fit = 0.0 not in cells.gone_numbers
    fit = fit and not {first + j for j in sparse} & {*choice.words, *own}
    if matrix is not None and fit and sparse:
        columns = [j for j in columns if j < first]
        rest = _numbers_of(matrix, sparse, cells)
    X, words = np.full((n_rows, len(columns)), np.nan), dict[int, list[object]]()
    codes = dict[int, str]()

    def values_of(j: int) -> Column:
        values, name = column(j), header.names[j]
        if cells.missing == MISSING:
            return values
        gone_by = partial(_gone_in, values, name)
        mine = gone_by(own.get(j, _EMPTY))
        hits[j] = int((mine & ~gone_by(_EMPTY)).sum()) if j in own else 0
        if j not in choice.left_out:
            gone[j] = int(((mine | gone_by(cells)) & ~gone_by(_USUAL)).sum())
        if j not in own:
            return values
        return [None if no else value for no, value in zip(mine, values, strict=True)]

    for j in choice.words:
        words[j] = [cell_word(value, header.names[j], cells) for value in values_of(j)]
    for k, j in enumerate(columns):
        if j in words:
            continue
        values, name = values_of(j), header.names[j]
        if isinstance(values, np.ndarray) and values.dtype.kind in "biuf":
            X[:, k] = known_numbers(values, cells.gone_numbers)
            continue
        read = [_number(value, name, cells) for value in values]
        if None in read:
            words[j] = [cell_word(value, name, cells) for value in values]
        else:
            X[:, k] = read
            texts = (v.strip() for v in values if isinstance(v, str) and v.lstrip()[:1] == "0")
            codes |= {j: word} if (word := next(filter(_CODE.fullmatch, texts), "")) else {}
    whole = X
    if rest is not None and n_rows * len(sparse) <= DENSE:
        whole, rest = np.hstack([X, rest.toarray()]), None
    notes = [*notes, *(_gone_words(gone, header.names) if choice.columns else ())]
    given = (header, choice, whole, words, lines, cells, notes, rest)
    return Sheet(*given, hits=hits.total(), codes=codes)


def _gone_in(values: Column, name: str, by: Cells) -> NDArray[np.bool_]:
    """Return a mask of the values of a column that are missing by the words of `by`."""
    if isinstance(values, np.ndarray) and values.dtype.kind in "biuf":
        return np.isnan(known_numbers(values, by.gone_numbers))
    return np.array([by.is_missing(cell_word(value, name, by)) for value in values], bool)


def _numbers_of(matrix: Sparse, columns: list[int], cells: Cells) -> Sparse:
    """Return columns of a sparse matrix as numbers, NaN where the cell's number means missing."""
    held = matrix[:, columns]
    held.data = known_numbers(held.data, cells.gone_numbers)
    held.eliminate_zeros()
    return held


def _number(value: object, name: str, cells: Cells) -> float | None:
    if type(value) in (int, float) and not cells.gone_numbers:
        return float(cast("float", value))
    return cells.number(cell_word(value, name, cells))


# ---------------------------------------------------------------------- cases
@dataclass(frozen=True)
class CaseTable:
    """Cases to be predicted: their names, and the requested columns in order."""

    ids: list[str]  # the id column, else 'row N' with the line of a text file, or the row from 0
    # (n, q), NaN if missing; for categories the codes of the model's levels
    X: NDArray[np.float64]
    notes: list[str]  # notes for users on how the table was read
    sheet: Sheet  # the table that was read


def read_cases(
    path: Path,
    wanted: Wanted,
    id_column: str | None,
    *,
    cells: Cells | None = None,
    missing: Sequence[str] = (),
    how: Reading | None = None,
    also: Callable[[Header], Sequence[str]] | None = None,
) -> CaseTable:
    """Read the columns of a model; all others are ignored.

    A model with column names finds them by name (columns of an npz file without feature_names are
    called 'column 0', 'column 1', ...). A model that was fitted on a table without names reads
    columns by position: the table must have as many as that one, besides the id. The words of
    `missing` mean a missing value even if the model has a category of that name. `also` returns
    further columns, which the sheet keeps as words. Of several sheets of a workbook, the only one
    that has the model's columns is read.
    """
    places: list[int] = []
    notes: list[str] = []
    given, parts = wanted, list[list[int]]()

    def choose(header: Header) -> ColumnChoice:
        nonlocal wanted, parts
        notes.clear()  # those of an earlier header that was rejected
        if given.names is not None and not header.named:
            _check_width(header, given)
        wanted, parts = given.in_factors(header, notes)
        places[:] = places_in(header, wanted, id_column, notes)
        words = {places[k] for k, j in enumerate(wanted.columns) if j in wanted.levels}
        words |= {header.names.index(one) for one in (also(header) if also else ())}
        name = id_column or header.row_names
        if name in header.names:
            words.add(header.names.index(name))
        return ColumnChoice(sorted({j for j in places if j >= 0}), sorted(words - {-1}))

    own = set(wanted.columns) - set(wanted.backup) if wanted.names is not None else set[int]()
    named = frozenset(map(wanted.word, own))
    how = replace(how or Reading(), id=id_column, cases=True, columns=named)
    sheet = read_sheet(path, choose, cells, how)
    notes[:0] = sheet.notes
    X, wrong = np.full((len(sheet.X), len(places)), np.nan), sheet.wrong
    at = {j: k for k, j in enumerate(sheet.choice.columns)}
    values = sheet.dense()
    for k, (place, j) in enumerate(zip(places, wanted.columns, strict=True)):
        name, levels = wanted.word(j), wanted.levels.get(j)
        with wrong.gather():
            if place >= 0 and levels is not None:
                X[:, k] = codes_in(name, sheet.words[place], levels, sheet.cells, missing, notes)
            elif place >= 0:
                X[:, k] = _numbers(values[:, at[place]], sheet, place, name, notes)
    wrong.refuse()
    notes = notes_together(notes)
    if wanted is not given:
        made = X[:, [part[0] for part in parts]]
        for k, (part, j) in enumerate(zip(parts, given.columns, strict=True)):
            if len(part) > 1:
                one, other = X[:, part].T.tolist()
                made[:, k] = product_of(given.word(j), one, other, sheet.place)
        return CaseTable(_ids(sheet, id_column), made, notes, sheet)
    return CaseTable(_ids(sheet, id_column), X, notes, sheet)


def _check_width(header: Header, wanted: Wanted) -> None:
    """Raise PsephosError if the model's names are positions in a table of another width."""
    made = unnamed(wanted.n_columns)
    own = [name for name in header.names if name not in header.beside]
    if list(map(wanted.word, range(wanted.n_columns))) == made and own != made:
        raise PsephosError(
            f"{header.file!r} has {len(own)} columns and no names, and the model was "
            f"fitted on {wanted.n_columns}, which it finds by position: give those columns "
            "in that order, or fit the model on a table with names."
        )


def _numbers(
    values: Floats, sheet: Sheet, place: int, name: str, notes: list[str]
) -> NDArray[np.float64]:
    if place in sheet.words:  # words in place of numbers, or the column is also that of the ids
        words = with_words(values, sheet.words[place])
        values = np.array(numbers_in(name, words, sheet.cells, sheet.place, notes))
    bad = np.flatnonzero(beyond(values))
    if len(bad):
        refuse_far(name, float(values[bad[0]]), sheet.place(int(bad[0])))
    return values


def _ids(sheet: Sheet, id_column: str | None) -> list[str]:
    name = id_column or sheet.header.row_names
    if name is None:
        return [f"row {i}" for i in sheet.lines or range(len(sheet.X))]
    words, lines = sheet.words[sheet.header.names.index(name)], sheet.lines
    numbered = zip(words, lines or range(len(words)), strict=True)
    return [f"row {i}" if word in (None, "") else str(word) for word, i in numbered]
