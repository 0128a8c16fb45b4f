"""Escaping of text: formulas in spreadsheets, control characters in terminals."""

import csv
import io
import re
from collections.abc import Iterable
from typing import Any

# formulas in spreadsheets begin with these, also in full-width forms
_STARTS = ("=", "+", "-", "@", "\t", "\r", "＝", "＋", "－", "＠")
_NUMBER = re.compile(r"[+-]?(\d+\.?\d*([eE][+-]?\d+)?|\.\d+([eE][+-]?\d+)?|inf)", re.ASCII)

# control characters except tab and line feed, line separators, direction marks, and characters
# without width
_CONTROLS = re.compile("[\0-\b\v-\x1f\x7f-\x9f\u061c\u200b-\u200f\u2028-\u202e\u2060-\u2069\ufeff]")


def printable(text: str) -> str:
    r"""Return text with control characters as escapes, such as \x1b, for terminals.

    Examples
    --------
    >>> print(printable("red \x1b[31m"))
    red \x1b[31m
    """
    return _CONTROLS.sub(lambda found: ascii(found.group())[1:-1], text)


def disarmed(cell: str) -> str:
    """Return a cell that a spreadsheet shows instead of running it as a formula.

    A cell gets an apostrophe before it if its first character besides blanks is one of ``= + - @``,
    or if it begins with a tab or a carriage return. Numbers and other cells are not changed. For
    other programs the apostrophe is part of the cell, so plain csv files do not have it.
    """
    armed = cell.startswith(_STARTS) or cell.lstrip().startswith(_STARTS)
    return f"'{cell}" if armed and not _NUMBER.fullmatch(cell) else cell


def disarmed_row(cells: Iterable[Any]) -> list[Any]:
    """Return the cells of a row, with words `disarmed`."""
    return [disarmed(cell) if isinstance(cell, str) else cell for cell in cells]


def csv_bytes(rows: Iterable[Iterable[Any]], *, safe: bool = False) -> bytes:
    """Return rows as a csv file: None as empty, floats exactly; `safe`: with `disarmed` words."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    for row in rows:
        cells = [_cell(value) for value in row]
        writer.writerow(disarmed_row(cells) if safe else cells)
    return text.getvalue().encode()


def _cell(value: Any) -> str:
    if value is None:
        return ""
    return repr(value) if isinstance(value, float) else str(value)
