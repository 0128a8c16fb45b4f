"""Cells of a csv file that a spreadsheet would run as formulas."""

import re
from collections.abc import Iterable
from typing import Any

__all__ = ["disarmed", "disarmed_row"]

# a formula begins so, in a spreadsheet that reads ASCII or the full-width forms of it
_STARTS = ("=", "+", "-", "@", "\t", "\r", "＝", "＋", "－", "＠")
_NUMBER = re.compile(r"[+-]?(\d+\.?\d*([eE][+-]?\d+)?|\.\d+([eE][+-]?\d+)?|inf)", re.ASCII)


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
