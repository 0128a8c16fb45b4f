"""Words that another program would obey: cells in a spreadsheet, controls in a terminal."""

import csv
import io
import re
from collections.abc import Iterable
from typing import Any

# a formula begins so, in a spreadsheet that reads ASCII or the full-width forms of it
_STARTS = ("=", "+", "-", "@", "\t", "\r", "＝", "＋", "－", "＠")
_NUMBER = re.compile(r"[+-]?(\d+\.?\d*([eE][+-]?\d+)?|\.\d+([eE][+-]?\d+)?|inf)", re.ASCII)

# control characters but tab and line feed, line separators, marks of the direction, and what has no
# width
_CONTROLS = re.compile("[\0-\b\v-\x1f\x7f-\x9f\u061c\u200b-\u200f\u2028-\u202e\u2060-\u2069\ufeff]")


def printable(text: str) -> str:
    r"""Return text with control characters as escapes, such as \x1b: a terminal would obey them.

    Examples
    --------
    >>> print(printable("red \x1b[31m"))
    red \x1b[31m
    """
    return _CONTROLS.sub(lambda found: ascii(found.group())[1:-1], text)


def disarmed(cell: str) -> str:
    """Return a cell that a spreadsheet shows and does not run.

    A cell whose first character that is no blank is one of ``= + - @``, or that begins with a tab
    or a carriage return, gets an apostrophe before it. Numbers stay as they are, as do all other
    cells. The apostrophe becomes part of the cell for every other program, which is why a plain
    csv file does without.
    """
    armed = cell.startswith(_STARTS) or cell.lstrip().startswith(_STARTS)
    return f"'{cell}" if armed and not _NUMBER.fullmatch(cell) else cell


def disarmed_row(cells: Iterable[Any]) -> list[Any]:
    """Return the cells of a row, words disarmed and numbers as they are."""
    return [disarmed(cell) if isinstance(cell, str) else cell for cell in cells]


def csv_bytes(rows: Iterable[Iterable[Any]], *, safe: bool = False) -> bytes:
    """Return rows as a csv file: None is empty, floats read back exactly; `safe`: disarmed."""
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
