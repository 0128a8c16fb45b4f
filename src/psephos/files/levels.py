"""Categories match by value: 1, 1.0, "1" and "1.0" are the same level.

A value that is not a level is named in a warning, or is an error.
"""

import math
import re
from collections.abc import Generator, Hashable, Iterable, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from typing import Any

from psephos._errors import PsephosError
from psephos.files.near import shown

_NUMBER = re.compile(r"[+-]?(?:\d+(?:\.\d*)?|\.\d+)(?:[eE][+-]?\d{1,3})?", re.ASCII)
_WHOLE = re.compile(r"[+-]?\d+", re.ASCII)
# or an exponent without a sign or a point, 0E1: programs write numbers as 1e+05 and 1.0E5
_LED = re.compile(r"[+-]?(?:0\d|\d+[eE]\d+\s*\Z)", re.ASCII)


def value_of(value: Any) -> int | float | None:
    """Return the exact number of a level, also of a word such as "1.0"; else None."""
    if isinstance(value, str):
        word = value.strip()
        if _WHOLE.fullmatch(word) and len(word) < 400:
            return int(word)
        return float(word) if _NUMBER.fullmatch(word) else None
    try:
        number = value.item() if hasattr(value, "item") else value
    except (TypeError, ValueError):
        return None
    return number if isinstance(number, int | float) and number == number else None


def is_led(value: Any) -> bool:
    """Return whether a word is a number with leading zeros, or like 0E1, as in identifiers."""
    return isinstance(value, str) and _LED.match(value) is not None


def merged(levels: Iterable[Any]) -> dict[Any, Any]:
    """Return the level of each value: values that are the same number share a level.

    The level is the number itself if it occurs, else its shortest notation. A word with leading
    zeros (007) is not the level 7, and 0E1 is not 0.
    """
    values = list(dict.fromkeys(levels))
    names: dict[Any, Any] = {}
    for value in sorted(values, key=lambda v: (isinstance(v, str), len(str(v)))):
        number = value_of(value)
        if number is not None and not is_led(value):
            names.setdefault(number, value)
    return {v: v if is_led(v) or (n := value_of(v)) is None else names[n] for v in values}


class LevelCodes:
    """The codes of a column's levels, looked up by value.

    A value matches first a level that is written the same; then true and false in any case; then a
    level of the same number, also with leading zeros if only one level has that number: 01 is level
    1 if there is no level 01. The code of a level is its index.
    """

    def __init__(self, levels: Sequence[Any]) -> None:
        self._known: dict[Hashable, float] = {}
        self._numbers: dict[int | float, float] = {}
        for code, level in enumerate(levels):
            self._known.setdefault(_exact(level), float(code))
        for led in (False, True):  # 1 matches level "1" rather than level "01"
            for code, level in enumerate(levels):
                number = value_of(level)
                if number is not None and is_led(level) == led:
                    self._numbers.setdefault(number, float(code))
        self._shared = _shared(levels)
        words = {_truth(level): float(code) for code, level in enumerate(levels)}
        self._words = words if len(words) == len(levels) else {}

    def code(self, value: Any) -> float:
        """Return the code of a value that is not missing; NaN if it is not a level."""
        key = _exact(value)
        found = self._known.get(key)
        if found is None:
            found = self._known[key] = self._by_value(value)
        return found

    def _by_value(self, value: Any) -> float:
        number = value_of(value)
        word = self._words.get(_truth(value)) if number is None or number in (0, 1) else None
        if word is not None or number is None:  # True and the word True are the same
            return math.nan if word is None else word
        if is_led(value) and number in self._shared:
            return math.nan  # 001 is neither 01 nor 1 if both are levels
        return self._numbers.get(number, math.nan)


def _truth(value: Any) -> str:
    """Return a level as a word, with TRUE and true as True."""
    word = str(value)
    return word.capitalize() if word.lower() in ("true", "false") else word


def _exact(value: Any) -> Hashable:
    """Return a key that distinguishes words from numbers and truth values from 0 and 1."""
    return (isinstance(value, str), isinstance(value, bool), value)


def _shared(levels: Sequence[Any]) -> set[int | float]:
    """Return the numbers that several levels have."""
    seen: set[int | float] = set()
    shared: set[int | float] = set()
    for level in levels:
        number = value_of(level)
        if number is not None:
            (shared if number in seen else seen).add(number)
    return shared


# ---------------------------------------------------------------------- unknown values
_quiet: ContextVar[bool] = ContextVar("quiet levels", default=False)


@contextmanager
def quiet_levels() -> Generator[None]:
    """Within the block read unknown categories as missing without warnings (for folds)."""
    token = _quiet.set(True)
    try:
        yield
    finally:
        _quiet.reset(token)


@dataclass(frozen=True)
class Unknown:
    """Values of a column that are not among its levels."""

    column: str
    n_present: int  # values that are not missing
    values: tuple[Any, ...]  # different unknown values, in order of first appearance
    n: int  # rows with an unknown value
    levels: tuple[Any, ...]  # of the model

    @classmethod
    def among(
        cls, column: str, present: Iterable[Any], find: LevelCodes, levels: Sequence[Any]
    ) -> "Unknown | None":
        """Return the unknown values among those that are not missing; None if there are none."""
        if _quiet.get():
            return None
        values = list(present)
        strange = [value for value in values if math.isnan(find.code(value))]
        if not strange:
            return None
        once = {str(value): value for value in strange}
        return cls(column, len(values), tuple(once.values()), len(strange), tuple(levels))

    def refuse(self) -> None:
        """Raise PsephosError if all values, and at least two different ones, are unknown.

        A single unknown value, in one row or in all, is read as missing: it may be new.
        """
        if self.n < self.n_present or len(self.values) < 2:
            return
        raise PsephosError(
            f"column {shown(self.column)} has only unknown categories: it has "
            f"{_listed(self.values)}; the model knows {_listed(self.levels)}. Write them as in the "
            "training table, or leave the cells empty if they are missing."
        )

    def words(self) -> str:
        """Return a sentence with the share."""
        return (
            f"column {shown(self.column)}: {self.n} of {self.n_present} values "
            f"({self.n / self.n_present:.0%}) are not categories of the model "
            f"({_listed(self.values)}); they are read as missing."
        )


def _listed(values: Sequence[Any]) -> str:
    words = [repr(value.item() if hasattr(value, "item") else value) for value in values[:4]]
    more = f" and {len(values) - 4} more" if len(values) > 4 else ""
    return ", ".join(words) + more
