"""Text files of tables: their lines, their separator, and their rows as cells."""

import csv
import gzip
import io
import re
import zlib
from collections.abc import Generator, Iterator
from contextlib import contextmanager, suppress
from itertools import chain
from pathlib import Path
from typing import Any

from psephos._errors import PsephosError, shortly

__all__ = ["checked_separator", "opened", "rows", "separator_of"]

_WORDS = {"tab": "\t", "\\t": "\t", "comma": ",", "semicolon": ";", "space": " "}


@contextmanager
def opened(file: Path) -> Generator[io.TextIOWrapper]:
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


def _odd_line(how: Any, file: Path) -> int:
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
    mark = _WORDS.get(given.lower(), given)
    if len(mark) != 1 or mark in '"\r\n\0':
        raise PsephosError(f"the separator is {given!r}: use one character, or the word tab.")
    return mark


def separator_of(file: Path, first: str) -> str:
    """Return what separates cells: a tab in .tsv, else the commonest mark of the first line."""
    if file.name.lower().removesuffix(".gz").endswith(".tsv"):
        return "\t"
    outside = re.sub('"[^"]*"', "", first)  # a quoted name may hold any mark
    return max(",;\t", key=outside.count)


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
