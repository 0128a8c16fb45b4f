"""Text files of tables: their lines, their separator, and their rows as cells."""

import codecs
import csv
import gzip
import io
import pathlib
import re
import zlib
from collections.abc import Generator, Iterator, Mapping, Sequence
from contextlib import contextmanager
from itertools import chain, islice
from typing import NamedTuple, TypeAlias, overload

from psephos._errors import Complaints, PsephosError, shortly
from psephos.files.names import plural
from psephos.files.near import quoted


class Header(NamedTuple):
    """The header of a file: the names and properties of its columns."""

    file: str  # its name without the folder
    # of the columns; 'column 0', 'column 1', ... if the file has no names
    names: list[str]
    named: bool = True  # whether the names are from the file
    # of an npz file: the columns from arrays of one value per row, which are not part of X; those
    # that are columns of the table Y of labels; and the class names of numeric labels
    beside: frozenset[str] = frozenset()
    labels: tuple[str, ...] = ()
    classes: tuple[str, ...] = ()
    # the name given to a first column without a name, as R and pandas write names of rows
    row_names: str | None = None
    relation: str | None = None  # the name of the table in an ARFF file
    of_arrays: bool = False  # whether labels and ids are arrays, and not columns
    declared: frozenset[str] = frozenset()  # columns that are declared as categories
    features: bool = False  # whether the format has features in rows, and cases in columns


class Split(Sequence[str]):
    """The cells of a line without quotes, which is split at each access.

    So wide tables of numbers are parsed from their lines, and never held as strings.
    """

    def __init__(self, text: str, separator: str) -> None:
        self.text, self.separator = text, separator
        self._width = text.count(separator) + 1

    def __len__(self) -> int:
        return self._width

    def __iter__(self) -> Iterator[str]:
        return iter(self.text.split(self.separator))

    @overload
    def __getitem__(self, index: int) -> str: ...
    @overload
    def __getitem__(self, index: slice) -> list[str]: ...
    def __getitem__(self, index: int | slice) -> str | list[str]:
        if isinstance(index, slice) or index < 0:
            return self.text.split(self.separator)[index]
        behind = len(self) - index
        if behind < index:  # one of the last
            return self.text.rsplit(self.separator, behind)[-behind]
        return self.text.split(self.separator, index + 1)[index]


#: The number of a row's first line, its text ('' for rows with quotes), and its cells.
Line: TypeAlias = tuple[int, str, Sequence[str]]
Rows: TypeAlias = Iterator[Line]

#: Suffixes of text files, and whether .gz may follow.
SUFFIXES = {".csv": True, ".tsv": True, ".txt": True}
_BYTES = {
    b"PK\3\4": "a workbook (.xlsx, .ods) or another zip archive",
    b"\xd0\xcf\x11\xe0": "a workbook (.xls)",
    b"%PDF": "a pdf document",
    b"\x1f\x8b": "packed by gzip (.gz)",
    b"PAR1": "a parquet file",
    b"\x89HDF": "an HDF5 file (.h5ad)",
}
_BLOCK = 1 << 20  # bytes decoded at once
_WIDE = {
    "UTF-32": (codecs.BOM_UTF32_LE, codecs.BOM_UTF32_BE),  # first: it begins like UTF-16
    "UTF-16": (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE),
}
_MARKS_NAMED = {"tab": "\t", "\\t": "\t", "comma": ",", "semicolon": ";", "space": " "}


def kind_of(file: pathlib.Path, known: Mapping[str, bool] = SUFFIXES) -> str:
    """Return the known suffix of a file, which .gz may follow for some formats."""
    if file.is_dir():
        raise PsephosError(f"{str(file)!r} is a folder: give a file in it that holds the table.")
    if not file.is_file():
        raise PsephosError(f"the file {str(file)!r} does not exist: check the name and the folder.")
    ends = [suffix.lower() for suffix in file.suffixes[:-3:-1]]
    for place, suffix in enumerate(ends):
        if known.get(suffix, False) or (place == 0 and suffix in known):
            return suffix
    *most, last = [suffix for suffix in known if known[suffix]]
    *rest, end = ["", *(suffix for suffix in known if not known[suffix])]
    others = f"{', '.join(rest)} or {end}" if rest else ""
    raise PsephosError(
        f"the format of {file.name!r} is unknown: give a {', '.join(most)} or {last} file (perhaps "
        f"with .gz){others}."
    )


@contextmanager
def opened(
    file: pathlib.Path, encoding: str | None = None, notes: list[str] | None = None
) -> Generator[io.TextIOWrapper]:
    """Open a table as text; .gz is decompressed.

    The default encoding is UTF-8, UTF-16 or UTF-32 if the file begins with a byte order mark, and
    Windows-1252, with a note, if it is not valid UTF-8.
    """
    try:
        found = encoding or _encoding(file, [] if notes is None else notes)
        codecs.lookup(found)
        # closed with the text stream around it
        with io.TextIOWrapper(_bytes_of(file), encoding=found, newline="") as stream:
            yield stream
    except (UnicodeError, LookupError) as error:
        if isinstance(error, IndexError | KeyError):  # raised within the block
            raise
        raise PsephosError(
            f"{file.name!r} is not text in the encoding {encoding or 'UTF-8 or Windows-1252'}: "
            "save it as UTF-8, or give its encoding, such as cp1252 (--encoding)."
        ) from error
    except (gzip.BadGzipFile, zlib.error, EOFError, csv.Error) as error:
        raise PsephosError(
            f"{file.name!r} is damaged ({shortly(error)}): write it again."
        ) from error


def _bytes_of(file: pathlib.Path) -> gzip.GzipFile | io.BufferedReader:
    return gzip.GzipFile(file, "rb") if file.suffix.lower() == ".gz" else file.open("rb")


def _encoding(file: pathlib.Path, notes: list[str]) -> str:
    """Return the encoding of a file, which is decoded as a whole to detect it."""
    decoder, line = codecs.getincrementaldecoder("utf-8")(), 1
    with _bytes_of(file) as raw:
        block = raw.read(_BLOCK)
        for name, marks in _WIDE.items():
            if block.startswith(marks):
                notes.append(f"{file.name!r} is read as {name} text.")
                return name.lower()
        kind = next((words for mark, words in _BYTES.items() if block.startswith(mark)), None)
        if kind is not None:
            raise PsephosError(
                f"{file.name!r} is {kind} by its first bytes, and not text as its name says: "
                "give it the suffix of its format, or write the table as csv."
            )
        if b"\0" in block.partition(b"\n")[0]:
            raise PsephosError(
                f"{file.name!r} is not text (its first line has NUL bytes): save it as UTF-8, or "
                "give its encoding (--encoding, such as utf-16-le)."
            )
        try:
            while block:
                decoder.decode(block)
                line += block.count(b"\n")
                block = raw.read(_BLOCK)
            decoder.decode(b"", True)
        except UnicodeDecodeError as error:
            line += error.object.count(b"\n", 0, error.start)
            notes.append(
                f"{file.name!r} is not UTF-8 text (line {line}): read as Windows-1252 (--encoding "
                "sets another)."
            )
            return "cp1252"
    return "utf-8-sig"


def checked_separator(given: str | None) -> str | None:
    """Return the given separator of cells as one character; None if none is given."""
    if given is None:
        return None
    mark = _MARKS_NAMED.get(given.lower(), given)
    if len(mark) != 1 or mark in '"\r\n\0':
        raise PsephosError(
            f"the separator (--separator) must be one character, or the word tab; got {given!r}."
        )
    return mark


def titles(filled: Sequence[int]) -> int:
    """Return how many first rows are titles above the names, from the filled cells of each row.

    A title has at most a third as many filled cells as the row of names, which has at least three.
    """
    most = max(filled, default=0)
    head = next((i for i, n in enumerate(filled) if 2 < n > most / 3), 0)
    return head if all(3 * n <= filled[head] for n in filled[:head]) else 0


def titles_words(lines: Sequence[int], words: Sequence[str]) -> str:
    """Return the note on titles that are left out, with their lines and texts."""
    where = f"line {lines[0]}" if len(lines) == 1 else f"lines {lines[0]} to {lines[-1]}"
    return f"{where} above the column names ({quoted(words)}): left out as a title."


def separator_of(file: pathlib.Path, first: str) -> str:
    """Return the separator: a tab in .tsv, else the most frequent mark of the first line."""
    if file.name.lower().removesuffix(".gz").endswith(".tsv"):
        return "\t"
    outside = re.sub('"[^"]*"', "", first)  # a quoted name may have any mark
    return max(",;\t", key=outside.count)


def table_rows(
    path: pathlib.Path, stream: Iterator[str], separator: str | None, notes: list[str],
    wrong: Complaints, start: int = 1,
) -> tuple[Header, Rows]:  # fmt: skip
    """Return the header in the first line of a text file, and its rows as `rows` yields them.

    Empty lines and empty last columns are left out. If rows have one cell more than the first line
    has names, the first cells are names of rows, as R writes them. A note is added for each, and an
    error to `wrong` for rows of another length, which are left out. `start` is the line number of
    `stream`.
    """
    first, above = next(stream, ""), start
    while first and not first.strip():
        first, start = next(stream, ""), start + 1
    if not first:
        raise PsephosError(f"{path.name!r} is empty: its first line must name the columns.")
    if start > above:
        notes.append(f"the table begins in line {start}: the lines above it are empty.")
    separator = separator or separator_of(path, first)
    lines = rows(chain([first], stream), separator, start)
    end, text, names = next(lines)
    words = [name.strip() for name in names]
    while len(words) > 1 and not words[-1]:
        words.pop()
    if len(words) < len(names):
        notes.append(f"empty last columns are left out: {len(names) - len(words)}.")
    below = list(islice(lines, 1))
    if len(names) > 1 and below and len(below[0][2]) == len(names) + 1 and below[0][2][-1].strip():
        cells = list(map(str.strip, below[0][2]))
        halves = [cell for cell in cells if cell.startswith("'") != cell.endswith("'")]
        if len(halves) > 1 and halves[0].startswith("'"):
            raise PsephosError(
                f"line {below[0][0]} of {path.name!r} has a cell in single quotes ({halves[0]}): "
                "put cells that hold a separator in double quotes."
            )
        words.insert(0, "")
        notes.append("rows have one cell more than there are names: the first is the row's name.")
    row_names = None if words[0] else "row names"
    header = Header(path.name, [words[0] or "row names", *words[1:]], row_names=row_names)
    lines = chain(below, lines)
    return header, _below(path.name, lines, len(words), end if text else 0, separator, notes, wrong)


def _below(
    file: str, lines: Rows, n_names: int, last: int, separator: str,
    notes: list[str], wrong: Complaints,
) -> Rows:  # fmt: skip
    marks, blank, gone, empty = f"{separator} \t\r\n", list[Line](), 0, True
    odd: list[tuple[int, int]] = []  # lines of another number of cells
    for line, text, row in lines:
        if n_names > 1 and text and not text.strip(marks):
            blank.append((line, text, [*row, *[""] * n_names][:n_names]))
            continue
        gone += line - last - 1 - len(blank) if last else 0
        yield from blank  # rows of empty cells are rows, unless they are the last
        blank.clear()
        if len(row) != n_names and (len(row) < n_names or any(map(str.strip, row[n_names:]))):
            odd.append((line, len(row)))
            last = line if text else 0
            continue
        if n_names == 1 and 0 < last < line - 1:
            raise PsephosError(
                f"line {last + 1} of {file!r} is blank, and the table has one column: write "
                "NA where its value is missing, or remove the line."
            )
        last = line if text else 0  # a row with quotes may have several lines
        empty = False
        yield line, text, row if len(row) == n_names else row[:n_names]
    if odd:
        others = ", ".join(str(line) for line, _ in odd[1:6]) + (", ..." if len(odd) > 6 else "")
        lines_differ = "line differs" if len(odd) == 2 else "lines differ"
        more = f" ({len(odd) - 1} more {lines_differ}, too: {others})" if len(odd) > 1 else ""
        wrong.add(
            PsephosError(
                f"line {odd[0][0]} of {file!r} has {plural(odd[0][1], 'cell')} where the first "
                f"line names {plural(n_names, 'column')}{more}: check its quotes and the "
                f"separator (--separator; now {separator!r})."
            )
        )
    if odd and empty:
        wrong.refuse()
    if empty and not blank:
        raise PsephosError(f"{file!r} has no rows below the line of column names.")
    if empty:
        yield from blank
        blank.clear()
    if gone + len(blank):
        notes.append(f"empty lines are left out: {gone + len(blank)}.")


def rows(stream: Iterator[str], separator: str, start: int = 1) -> Rows:
    """Yield (line, text, cells) of every row that is not blank; a quoted empty cell is a cell.

    The line is the first of the row, counted from `start`, since quoted cells may have separators
    and line ends. A quote opens a quoted cell only at the beginning of a cell, after blanks; within
    a cell (5" pipe) it is a character. In a quoted cell it is doubled, or escaped by a backslash,
    as in R. The text of rows with quotes is ''.
    """
    csv.field_size_limit(2**31 - 1)
    blank = " " if separator == "\t" else " \t"
    line, mark = start, re.escape(separator)
    opening, escaped = re.compile(f'(?:^|{mark}) *"'), re.compile(rf'\\"(?! *(?:{mark}|[\r\n]|$))')
    for text in stream:
        # almost every row of a numeric table
        if '"' not in text or not opening.search(text):
            bare = text.rstrip("\r\n")
            if bare.strip(blank):
                yield line, text, Split(bare, separator)
            line += 1
            continue
        text = escaped.sub('""', text)
        reader = csv.reader(
            chain([text], stream), delimiter=separator, strict=True,
            skipinitialspace=separator != " ",
        )  # fmt: skip
        try:
            cells = next(reader)
        except csv.Error as error:
            if "unexpected end" in str(error):
                raise PsephosError(f"the quote opened in line {line} is never closed.") from error
            raise PsephosError(
                f"line {line} cannot be split into cells: a quoted cell continues after its "
                'closing quote; inside quotes a quote must be doubled ("").'
            ) from error
        yield line, "", cells
        line += reader.line_num
