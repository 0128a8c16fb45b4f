"""Categories match by value: 1, 1.0, "1" and "1.0" are one level; words stay words.

A value that is no level is named in a warning, or refused.
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
# or an exponent without a sign behind whole figures, 0E1: programs write 1e+05 and 1.0E5
_LED = re.compile(r"[+-]?(?:0\d|\d+[eE]\d+\s*\Z)", re.ASCII)


def value_of(value: Any) -> int | float | None:
    """Return the number that a level is or writes, exactly; None if it is a word or no number."""
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
    """Return whether a word is a number as identifiers look like one: 007, 0E1."""
    return isinstance(value, str) and _LED.match(value) is not None


def merged(levels: Iterable[Any]) -> dict[Any, Any]:
    """Return the level that each value belongs to: values of one number are one level.

    Of several ways to write a number the level is the number itself, else the shortest way. A word
    with zeros before its digits (007) is a level of its own beside 7, and so is 0E1 beside 0.
    """
    values = list(dict.fromkeys(levels))
    names: dict[Any, Any] = {}
    for value in sorted(values, key=lambda v: (isinstance(v, str), len(str(v)))):
        number = value_of(value)
        if number is not None and not is_led(value):
            names.setdefault(number, value)
    return {v: v if is_led(v) or (n := value_of(v)) is None else names[n] for v in values}


class LevelCodes:
    """The codes of a column's levels, found by value.

    A word as it is written comes first; then true and false in any case; then the number it writes,
    zeros before it or not, as long as one level alone writes that number: 01 is level 1 where there
    is not the level 01. The code of a level is its place.
    """

    def __init__(self, levels: Sequence[Any]) -> None:
        self._known: dict[Hashable, float] = {}
        self._numbers: dict[int | float, float] = {}
        for code, level in enumerate(levels):
            self._known.setdefault(_exact(level), float(code))
        for led in (False, True):  # 1 is level "1" rather than level "01"
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
        if word is not None or number is None:  # True and the word True are one
            return math.nan if word is None else word
        if is_led(value) and number in self._shared:
            return math.nan  # 001 is neither 01 nor 1 where both are levels
        return self._numbers.get(number, math.nan)


def _truth(value: Any) -> str:
    """Return a level as a word, true and false as Python writes them; other programs write TRUE."""
    word = str(value)
    return word.capitalize() if word.lower() in ("true", "false") else word


def _exact(value: Any) -> Hashable:
    """Return a key that distinguishes words from numbers and truth values from 0 and 1."""
    return (isinstance(value, str), isinstance(value, bool), value)


def _shared(levels: Sequence[Any]) -> set[int | float]:
    """Return the numbers that several levels write."""
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
    """Read unknown categories as missing without a word, in folds of one table."""
    token = _quiet.set(True)
    try:
        yield
    finally:
        _quiet.reset(token)


@dataclass(frozen=True)
class Unknown:
    """Values of a column that are none of its levels."""

    column: str
    n_present: int  # values that are not missing
    values: tuple[Any, ...]  # those that are no level, each once, as they come
    n: int  # rows that hold one of them
    levels: tuple[Any, ...]  # what the model knows

    @classmethod
    def among(
        cls, column: str, present: Iterable[Any], find: LevelCodes, levels: Sequence[Any]
    ) -> "Unknown | None":
        """Return what is unknown among the values that are not missing; None if nothing is."""
        if _quiet.get():
            return None
        values = list(present)
        strange = [value for value in values if math.isnan(find.code(value))]
        if not strange:
            return None
        once = {str(value): value for value in strange}
        return cls(column, len(values), tuple(once.values()), len(strange), tuple(levels))

    def refuse(self) -> None:
        """Raise PsephosError if several values are there and none is a level.

        One unknown value alone, in one row or in all, is read as missing: it may be new.
        """
        if self.n < self.n_present or len(self.values) < 2:
            return
        raise PsephosError(
            f"column {shown(self.column)} holds none of the categories that the model knows: it "
            f"holds "
            f"{_listed(self.values)}; the model knows {_listed(self.levels)}. Write them as they "
            "were written for the fit, or leave the cells empty if they are missing."
        )

    def words(self) -> str:
        """Return a sentence with the share."""
        return (
            f"column {shown(self.column)}: {self.n} of {self.n_present} values "
            f"({self.n / self.n_present:.0%}) are none of the categories that the model knows "
            f"({_listed(self.values)}); they are read as missing."
        )


def _listed(values: Sequence[Any]) -> str:
    words = [repr(value.item() if hasattr(value, "item") else value) for value in values[:4]]
    more = f" and {len(values) - 4} more" if len(values) > 4 else ""
    return ", ".join(words) + more
