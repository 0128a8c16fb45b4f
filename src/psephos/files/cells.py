"""Cells of text files: numbers, words, or missing values."""

# pyright: reportUnknownVariableType=false, reportUnknownArgumentType=false

import fnmatch
import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

from psephos._errors import PsephosError, must_be

MISSING = (
    "", "NA", "N/A", "n/a", "#N/A", "NaN", "nan", "NAN", "null", "NULL", "None", "?", ".",
)  # fmt: skip

FARTHEST = 1e150  # the greatest size of a value, so that sums of squares are finite
_LIMIT = re.compile(r"(<=?|>=?|[≤≦≥≧])\s*(.*)")
_SPACES = " \u00a0\u202f"  # plain, no-break, narrow no-break
_MARKS = ",.'’ "


class Typed(str):
    """A cell whose type is known from its file: it is not parsed again.

    `value` is its number, NaN if that means missing; None for a word.
    """

    __slots__ = ("value",)
    value: float | None

    def __new__(cls, word: str, value: float | None = None) -> "Typed":
        """Return a cell with its text, and its number if it is one."""
        cell = super().__new__(cls, word)
        cell.value = value
        return cell

    def strip(self, chars: str | None = None, /) -> "Typed":
        """Return the cell itself."""
        return self


@dataclass(frozen=True)
class Cells:
    """The notation of numbers and missing values in a file.

    Parameters
    ----------
    missing : tuple of str
        The words for missing values; the empty cell is always missing. A number among them is
        missing in any notation (-9, -9.0). COLUMN=WORD applies to that column only, or to those
        whose names match the pattern COLUMN (``q*=9``).
    decimal : {'.', ','}, default='.'
        The decimal mark.
    thousands : str, default=''
        The mark between groups of three digits: one of , . ' or a space (which may be a no-break
        space); '' without such a mark.
    limits : {'', 'half', 'limit'}, default=''
        How limits of detection (<0.5, >=60) among numbers are read: 'half' as half of a lower limit
        and an upper limit itself, 'limit' as the limits themselves, '' as text.
    units : tuple of (str, str), default=()
        The names of columns whose numbers had a unit, and that unit.

    Raises
    ------
    PsephosError
        If a mark is not one of these, or both are the same.
    """

    missing: tuple[str, ...] = MISSING
    decimal: str = "."
    thousands: str = ""
    limits: str = ""
    units: tuple[tuple[str, str], ...] = ()

    def __post_init__(self) -> None:
        must_be("the decimal mark (--decimal)", self.decimal, (".", ","))
        must_be("the limits of detection (--limits)", self.limits, ("", "half", "limit"))
        if self.thousands and self.thousands not in tuple(_MARKS):
            raise PsephosError(
                "the thousands mark (--thousands) must be one of , . ' or a space; got "
                f"{self.thousands!r}."
            )
        if self.thousands == self.decimal:
            raise PsephosError(
                f"the decimal mark (--decimal) and the thousands mark (--thousands) must differ; "
                f"both are {self.decimal!r}."
            )

    @cached_property
    def gone(self) -> frozenset[str]:
        """Return the words for missing values, with the empty cell."""
        return frozenset(self.missing) | {""}

    @cached_property
    def gone_numbers(self) -> tuple[float, ...]:
        """Return the numbers that mean a missing value."""
        read = (self._value(word) for word in self.missing)
        return tuple(sorted({value for value in read if value is not None}))

    @property
    def plain(self) -> bool:
        """Return whether numbers are written as Python writes them."""
        return self.decimal == "." and not self.thousands

    def is_missing(self, word: str) -> bool:
        """Return whether a cell (without blanks around it) is a missing value."""
        if isinstance(word, Typed) and (word.value is not None or word in MISSING):
            return word.value != word.value
        if word in self.gone:
            return True
        return bool(self.gone_numbers) and self._value(word) in self.gone_numbers

    def number(self, cell: str) -> float | None:
        """Return the number of a cell (NaN if missing), or None if it is text."""
        if isinstance(cell, Typed):
            return cell.value
        word = cell.strip()
        if word in self.gone:
            return math.nan
        value = self._value(word)
        return math.nan if value is not None and value in self.gone_numbers else value

    def limit(self, word: str) -> float | None:
        """Return the number that replaces a limit of detection such as <0.5; None for other words.

        It is also None for half of a lower limit that is not above 0.
        """
        bound = _LIMIT.fullmatch(word) if self.limits else None
        value = self._value(bound[2]) if bound else None
        if bound is None or value is None or bound[1][0] in ">≥≧" or self.limits == "limit":
            return value
        return value / 2 if value > 0 else None

    def _value(self, word: str) -> float | None:
        word = word.strip("\u200b")  # from web pages
        if "_" in word:
            return None  # float("1_2") is 12, but in a table it is text
        if not self.plain:
            if self._pattern.fullmatch(word) is None:
                return None
            if self.thousands:
                word = re.sub(f"[{self._thousands}]", "", word)
            word = word.replace(",", ".")
        try:
            value = float(word)
        except ValueError:
            return None
        return None if math.isnan(value) else value  # a spelling of nan that is not in `missing`

    @property
    def _thousands(self) -> str:
        return _SPACES if self.thousands == " " else re.escape(self.thousands)

    @cached_property
    def _pattern(self) -> re.Pattern[str]:
        whole = r"\d*"
        if self.thousands:
            whole = rf"(?:\d{{1,3}}(?:[{self._thousands}]\d{{3}})+|\d*)"
        mark = re.escape(self.decimal)
        return re.compile(rf"[+-]?(?:{whole}(?:{mark}\d*)?(?:[eE][+-]?\d+)?|inf|infinity)", re.I)

    def of_columns(self, names: Sequence[str], *, known: bool = False) -> dict[int, "Cells"]:
        """Return, by position, the settings of columns that have their own words (COLUMN=WORD).

        With `known` a COLUMN that matches no name is an error.
        """
        found = dict[int, tuple[str, ...]]()
        for word in self.missing:
            parts = word.split("=")
            ways = [("=".join(parts[:k]), "=".join(parts[k:])) for k in range(1, len(parts))]
            ways = [(columns_called(name, names), own) for name, own in ways if name and own]
            at, own = next((way for way in ways if way[0]), ([], ""))
            if ways and not at and known:
                raise PsephosError(
                    f"--missing {word!r} is COLUMN=WORD, and the table has no such column: give "
                    f"the name of a column, or a pattern (*={parts[-1]} for this value in all "
                    f"columns, *={word} if = is part of the value)."
                )
            for j in at:
                found[j] = (*found.get(j, ()), own)
        return {j: replace(self, missing=words) for j, words in found.items()}

    def with_unit(self, name: str, unit: str) -> "Cells":
        """Return the settings with the unit beside the numbers of a column; '' if it has none."""
        return replace(self, units=(*self.units, (name, unit))) if unit else self

    # ------------------------------------------------------------------ in a model file
    def data(self) -> dict[str, Any]:
        """Return the settings as data."""
        return {
            "missing": list(self.missing), "decimal": self.decimal, "thousands": self.thousands,
            **{k: v for k, v in {"limits": self.limits, "units": dict(self.units)}.items() if v},
        }  # fmt: skip

    @classmethod
    def of(cls, data: Mapping[str, Any]) -> "Cells":
        """Return the settings from what `data` returned."""
        missing, limits, units = data.get("missing"), data.get("limits", ""), data.get("units", {})
        decimal, thousands = data.get("decimal"), data.get("thousands")
        words = isinstance(missing, list) and all(isinstance(word, str) for word in missing)
        texts = (decimal, thousands, limits, *units, *units.values())
        if not words or not all(isinstance(one, str) for one in texts):
            raise PsephosError("the words for missing values and the marks of numbers are damaged.")
        return cls(tuple(missing or ()), decimal or "", thousands or "", limits, (*units.items(),))

    def but(
        self,
        missing: Sequence[str] | None = None,
        decimal: str | None = None,
        thousands: str | None = None,
        keep: Sequence[str] = (),
        limits: str | None = None,
    ) -> "Cells":
        """Return these settings with other marks, and more words for missing values but `keep`."""
        given, kept = [word.strip() for word in missing or ()], [("=", word) for word in keep]
        if both := [one for one in given if one in keep or one.partition("=")[1:] in kept]:
            raise PsephosError(
                f"{both[0]!r} is given both as missing (--missing) and as a value (--keep-word): "
                "leave one of them out."
            )
        words = dict.fromkeys([*self.missing, *given])
        return Cells(
            tuple(word for word in words if word not in keep),
            self.decimal if decimal is None else decimal,
            self.thousands if thousands is None else thousands,
            self.limits if limits is None else limits,
            self.units,
        )


def columns_called(name: str, names: Sequence[str]) -> list[int]:
    """Return the positions of the columns with this name, or else that match it as a pattern."""
    alike = [j for j, one in enumerate(names) if one == name]
    return alike or [j for j, one in enumerate(names) if fnmatch.fnmatchcase(one, name)]


# ---------------------------------------------------------------------- numbers in other notations
BEHIND, FORTRAN, HEXADECIMAL = "a minus behind", "a Fortran exponent", "hexadecimal"
TYPESET = "a minus of typesetting"
_FIGURES = r"\d[\d.,'’ \u00a0\u202f]*"
_REWRITTEN = (
    (BEHIND, rf"({_FIGURES}(?:[eE][+-]?\d+)?)-", r"-\1"),
    (FORTRAN, r"([+-]?(?:\d+[.,]\d*|[.,]\d+|\d+(?=[dD][+-])))[dD]([+-]?\d{1,3})", r"\1E\2"),
    (TYPESET, rf"−({_FIGURES}(?:[eE][+-]?\d+)?)", r"-\1"),
)
_UNIT = re.compile(
    rf"([+-]?)([$€£¥₹]?)\s*([.,]?{_FIGURES}(?:[eE][+-]?\d+)?)(?:\s*([%‰$€£¥₹]|°[CFK]?)|"
    r"\s+(°?[^\W\d_][\w/^*.·%µμ-]{0,11}(?:\s?/\s?[\w.^]{1,8})?))?"
)
_BARE = re.compile(r"[+-]?\d{1,30}[dD]\d{1,3}", re.ASCII)
# more digits are not exact in float64, and probably a key
_HEX = re.compile(r"[+-]?0[xX][0-9a-fA-F]{1,13}", re.ASCII)


def number_and_unit(word: str) -> tuple[str, str]:
    """Return the number and the unit of 898.50 €, $12, 12 kg or 45 %; of other words two ''."""
    found = _UNIT.fullmatch(word) if len(word) <= _LONGEST else None
    sign, before, number, *behind = found.groups("") if found else ("", "", "")
    units = [unit for unit in (before, *behind) if unit]
    return (sign + number.strip(), units[0]) if len(units) == 1 else ("", "")


def plain_number(word: str) -> tuple[str, str]:
    """Return (form, word) of a number in the notation of other programs, rewritten for Python.

    The forms are a trailing minus (5.10-, SAP), a Fortran exponent (1.0D+00, also SAS), the minus
    of Unicode and hexadecimal (0x1F); for any other word it is ('', word).
    """
    for form, pattern, plain in _REWRITTEN:
        if len(word) <= _LONGEST and re.fullmatch(pattern, word, re.ASCII):
            return form, re.sub(pattern, plain, word, count=1)
    return (HEXADECIMAL, str(int(word, 16))) if _HEX.fullmatch(word) else ("", word)


def plain_numbers(words: Sequence[str], fitted: bool = False) -> dict[str, tuple[str, str]]:
    """Return `plain_number` of each word of a column.

    A word such as 1D3, which may be a code, is a Fortran exponent only if the column has other
    ones, or a model reads numbers there (`fitted`).
    """
    found = {word: plain_number(word) for word in words}
    if fitted or FORTRAN in (form for form, _ in found.values()):
        found |= {w: (FORTRAN, re.sub("[dD]", "E", w)) for w in found if _BARE.fullmatch(w)}
    return found


_LONGEST = 40  # characters of a number
_N = r"[+\-−]?(?:\d+(?:[.,]\d+)*(?:[eE][+-]?\d+)?|[.,]\d+)"
_FORMS = (
    ("decimal comma", r"[+-]?\d*,\d+(?:[eE][+-]?\d+)?"),
    ("decimal point", r"[+-]?(?:\d+\.\d*|\.\d+)(?:[eE][+-]?\d+)?"),
    ("other groups", r"[+-]?\d{1,2}(?:,\d\d)+,\d{3}(?:\.\d*)?|[+-]?\d{1,4}(?:,\d{4}){2,}"),
    ("thousands ,", r"[+-]?\d{1,3}(?:,\d{3})+(?:\.\d*)?"),
    ("thousands .", r"[+-]?\d{1,3}(?:\.\d{3}){2,}"),
    ("both", r"[+-]?\d{1,3}(?:\.\d{3})+,\d*"),
    ("thousands space", rf"[+-]?\d{{1,3}}(?:[{_SPACES}]\d{{3}})+(?:[.,]\d*)?"),
    ("thousands '", r"[+-]?\d{1,3}(?:'\d{3})+(?:[.,]\d*)?"),
    ("thousands ’", r"[+-]?\d{1,3}(?:’\d{3})+(?:[.,]\d*)?"),
    ("sign", r"[−–]\s*\d+(?:[.,]\d+)*|[+\-]\s+\d+(?:[.,]\d+)*"),
    ("share", rf"{_N}\s*[%‰]"),
    ("bound", rf"(?:<=?|>=?|[≤≥≦≧~≈]|=)\s*{_N}\s*[%‰]?"),
    ("tight unit", rf"{_N}[^\W\d_][\w/^*.·µμ-]{{0,11}}"),
    ("band", rf"{_N}\s*(?:-|–|—|\.\.\.?|…|to)\s*{_N}|{_N}\s*\+"),
    ("ratio", r"\d+(?:[.,]\d+)?\s*[:/]\s*\d+(?:[.,]\d+)?"),
    ("mark", rf"\(\s*{_N}\s*\)|{_N}\s*[*†‡#]+"),
)


def number_form(word: str) -> str:
    """Return the notation of a word that is a number in another notation; '' if it is a word.

    Notations are 'decimal comma', 'decimal point' (if it is not the mark), 'thousands m' with the
    mark m, 'grouped' (1,234: either of the two), 'both', and those that no setting reads: 'other
    groups' (1,23,456), 'sign', 'share', 'bound', 'unit', 'tight unit' (5mg), 'band'
    (20-30), 'ratio', 'mark', and those of `plain_number`.
    """
    if len(word) > _LONGEST or not any(map(str.isdigit, word)):
        return ""
    form, plain = plain_number(word)
    if form:
        return form if Cells().number(plain) is not None else number_form(plain) or form
    if re.fullmatch(r"[+-]?[1-9]\d{0,2},\d{3}", word):
        return "grouped"
    unit = "unit" if number_and_unit(word)[1] else ""
    return next((name for name, pattern in _FORMS if re.fullmatch(pattern, word)), unit)
