"""Text files of tables: their lines, their separator, and their rows as cells."""

import csv
import gzip
import io
import pathlib
import re
import zlib
from collections.abc import Generator, Iterator, Mapping
from contextlib import contextmanager, suppress
from itertools import chain
from typing import Any, NamedTuple

from psephos._errors import PsephosError, shortly


class Header(NamedTuple):
    """What a file says before its rows."""

    file: str  # its name without the folder
    # of its columns, 'column 0', 'column 1', ... where the file has none
    names: list[str]
    named: bool = True  # whether the names are the file's own
    arrays: Mapping[str, Any] = {}  # those of an npz file besides its table
    # the name given to a first column that has none, as R and pandas write the names of rows
    row_names: str | None = None
    relation: str | None = None  # the name that an ARFF file gives its table
    of_arrays: bool = False  # whether labels and ids are arrays, and not columns


#: Suffixes of text files, and whether .gz may follow.
SUFFIXES = {".csv": True, ".tsv": True, ".txt": True}
_MARKS_NAMED = {"tab": "\t", "\\t": "\t", "comma": ",", "semicolon": ";", "space": " "}


def kind_of(file: pathlib.Path, known: Mapping[str, bool] = SUFFIXES) -> str:
    """Return the known suffix of a file; some may be followed by that of a compression."""
    if not file.is_file():
        raise PsephosError(f"there is no file {str(file)!r}: check the name and the folder.")
    ends = [suffix.lower() for suffix in file.suffixes[:-3:-1]]
    for place, suffix in enumerate(ends):
        if known.get(suffix, False) or (place == 0 and suffix in known):
            return suffix
    *most, last = [suffix for suffix in known if known[suffix]]
    others = "".join(f", or {suffix}" for suffix in known if not known[suffix])
    raise PsephosError(
        f"{file.name!r} is of an unknown kind: give a {', '.join(most)} or {last} file (perhaps "
        f"with .gz){others}."
    )


@contextmanager
def opened(file: pathlib.Path) -> Generator[io.TextIOWrapper]:
    """Open a table as UTF-8 text; .gz is unpacked."""
    how: Any = gzip.open if file.suffix.lower() == ".gz" else open
    raw: Any = how(file, "rb")  # closed with the text stream around it
    try:
        with io.TextIOWrapper(raw, encoding="utf-8-sig", newline="") as stream:
            yield stream
    except UnicodeDecodeError as error:
        raise PsephosError(
            f"{file.name!r} is not UTF-8 text (line {_odd_line(how, file)}): save it as UTF-8."
        ) from error
    except (gzip.BadGzipFile, zlib.error, EOFError, csv.Error) as error:
        raise PsephosError(
            f"{file.name!r} is damaged ({shortly(error)}): write it again."
        ) from error


def _odd_line(how: Any, file: pathlib.Path) -> int:
    """Return the first line of a file that is not UTF-8."""
    line = 0
    with suppress(gzip.BadGzipFile, zlib.error, EOFError), how(file, "rb") as raw:
        for text in raw:
            line += 1
            try:
                text.decode("utf-8")
            except UnicodeDecodeError:
                break
    return max(line, 1)


def checked_separator(given: str | None) -> str | None:
    """Return the mark between cells that was asked for: one character, or the word tab."""
    if given is None:
        return None
    mark = _MARKS_NAMED.get(given.lower(), given)
    if len(mark) != 1 or mark in '"\r\n\0':
        raise PsephosError(f"the separator is {given!r}: use one character, or the word tab.")
    return mark


def separator_of(file: pathlib.Path, first: str) -> str:
    """Return what separates cells: a tab in .tsv, else the commonest mark of the first line."""
    if file.name.lower().removesuffix(".gz").endswith(".tsv"):
        return "\t"
    outside = re.sub('"[^"]*"', "", first)  # a quoted name may hold any mark
    return max(",;\t", key=outside.count)


def table_rows(
    path: pathlib.Path, stream: Any, separator: str | None = None
) -> tuple[Header, Iterator[tuple[int, str, list[str]]]]:
    """Return what the first line of a text file says, and its rows as `rows` yields them."""
    first = stream.readline()
    if not first.strip():
        what = "begins with a blank line" if first else "is empty"
        raise PsephosError(f"{path.name!r} {what}: its first line must name the columns.")
    separator = separator or separator_of(path, first)
    lines = rows(chain([first], stream), separator)
    end, _, names = next(lines)
    words = [name.strip() for name in names]
    row_names = None if words[0] else "row names"
    header = Header(path.name, [words[0] or "row names", *words[1:]], row_names=row_names)
    return header, _below(path.name, lines, len(names), end, separator)


def _below(
    file: str, lines: Iterator[tuple[int, str, list[str]]], n_names: int, last: int, separator: str
) -> Iterator[tuple[int, str, list[str]]]:
    empty = True
    for line, text, row in lines:
        if len(row) != n_names:
            raise PsephosError(
                f"line {line} of {file!r} has {len(row)} cells where the first line names "
                f"{n_names} columns: check its quotes, and what separates its cells "
                f"(--separator; now {separator!r})."
            )
        if n_names == 1 and 0 < last < line - 1:
            raise PsephosError(
                f"line {last + 1} of {file!r} is blank, and the table has one column: write "
                "NA where its value is missing, or remove the line."
            )
        last = line if text else 0  # a quoted row may have many lines
        empty = False
        yield line, text, row
    if empty:
        raise PsephosError(f"{file!r} has no rows below the line of column names.")


def rows(
    stream: Iterator[str], separator: str, start: int = 1
) -> Iterator[tuple[int, str, list[str]]]:
    """Yield (line, text, cells) of every row that is not blank; a quoted empty cell is a cell.

    The line is the one the row begins in, counted from `start` as an editor counts: quoted cells
    may hold separators and line ends. A quote opens a quoted cell only where a cell begins; inside
    a cell (5" pipe) it is a quote. Of quoted rows the text is ''.
    """
    csv.field_size_limit(2**31 - 1)
    blank = " " if separator == "\t" else " \t"
    line = start
    for text in stream:
        if text[0] != '"' and separator + '"' not in text:  # almost every row of a numeric table
            bare = text.rstrip("\r\n")
            if bare.strip(blank):
                yield line, text, bare.split(separator)
            line += 1
            continue
        reader = csv.reader(chain([text], stream), delimiter=separator, strict=True)
        try:
            cells = next(reader)
        except csv.Error as error:
            if "unexpected end" in str(error):
                raise PsephosError(f"the quote opened in line {line} is never closed.") from error
            raise PsephosError(
                f"line {line} cannot be divided into cells: a quoted cell goes on after its "
                'closing quote; inside quotes a quote is written twice ("").'
            ) from error
        yield line, "", cells
        line += reader.line_num
