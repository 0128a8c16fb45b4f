"""Columns of words: categories, or numbers in other notations, which are errors."""

# pyright: reportUnknownArgumentType=false

import datetime
import math
import re
import shlex
from collections import Counter
from collections.abc import Callable, Collection, Hashable, Iterable, Sequence
from dataclasses import replace
from numbers import Number
from typing import Any, NamedTuple

from psephos._errors import PsephosError, PsephosTypeError
from psephos.files.cells import (
    BEHIND,
    FARTHEST,
    HEXADECIMAL,
    Cells,
    number_and_unit,
    number_form,
    plain_numbers,
)
from psephos.files.near import CELL, quoted, shown, some

_STRONG = frozenset({
    "decimal comma", "decimal point", "grouped", "both", "thousands ,", "thousands .",
    "thousands space", "thousands '", "thousands ’", "other groups", "share", "bound", "sign",
})  # fmt: skip
_BANDS = frozenset({"band", "bound"})
_TIMES = (datetime.date, datetime.time, datetime.timedelta)
_TIMES_OF_NUMPY = ("datetime64", "timedelta64")  # an exported scorer runs without NumPy
_PLAIN = (str, Number, type(None))
_FEW = 10  # fewer different words, one in each row, may be categories
_WORDS = 3  # the most different words among numbers that may mean a missing value
_OF_COLUMN = re.compile(r"column (.+?): ((?:limits of|the unit) .*)")
_COUNT = re.compile(r" \(in \d+\)")
_GROUPED = re.compile(r"[+-]?[1-9]\d{0,2}\.\d{3}")
_LEFT_OUT = "leave out this last row, a total (--skip-last 1), or "
Place = Callable[[int], str]


class Remedies(NamedTuple):
    """Remedies for a column, for users of the command or of Python, as parts of messages.

    ``{}`` is the column's name; in `reading` it is a list of options, joined by `between`.
    """

    nothing: str
    missing: str
    categorical: str
    drop: str
    identifier: str
    reading: str
    option: str
    between: str

    def either(self, name: str) -> str:
        """Return how to keep a column as categories, or leave it out."""
        return f"{self.categorical.format(shown(name))}, or {self.drop.format(shown(name))}"

    def read(self, **marks: str) -> str:
        """Return how to read numbers with these marks."""
        options = [self.option.format(name, mark) for name, mark in marks.items()]
        return self.reading.format(self.between.join(options))


COMMAND = Remedies(
    "NA", "write NA there if it is missing (--missing adds other words)",
    "declare the column categorical (--categorical {})", "leave it out (--drop {})",
    "name it with --id {0}, or leave it out with --drop {0}",
    "read the table with {}", "--{} {}", " ",
)  # fmt: skip
_LIMITS = "values beyond a limit of detection are the lowest or highest there are, not missing: "
_ANSWERS = re.compile(r"\d{1,2}(?:, ?\d{1,2})+")
_MANY_ANSWERS = 6
_BEYOND = "if they mean values below a limit of detection, which are the lowest and not missing"
_WRITE = "write a number for each, such as half of a lower one"
_HALF = (
    "--limits half reads half of a lower one, and an upper one itself; --limits limit reads both "
    "themselves"
)
#: Words of laboratories for a value below a limit.
_BELOW = re.compile(
    r"[<≤]\s*(?:m?[dq]l|l[dq][dm]?|nwg|bg|rl)|[<≤]?\s*l*lo[dq]|b\W?(?:lo?)?\W?[dq]\W?l?\W?|"
    r"n\W?[dn]\W?|u\W?n\W?g\W?|(?:not |non |un)detect\w*|(?:nicht |n\W?\s*)nachw\w*\W?|"
    r"(?:below|under|unter) .*(?:limit|lo[dq]|detect|nwg|nachweis).*|traces?|spuren",
    re.IGNORECASE,
)
TOTAL = re.compile(
    r"\W*(?:grand |column |genel |overall )?(?:totale?|sum|(?:gesamt)?summe|suma|soma|somme?|"
    r"(?:ins)?gesamt|mean|average|mediana?|(?:gesamt)?mittelwert|mittel|durchschnitt|moyenne|m[eé]dia|"
    r"promedio|celkem|razem|ukupno|totaal|gemiddelde|summa|medel(?:värde)?|gennemsnit|toplam|"
    r"ortalama|og[oó][lł]em|łącznie|[sś]rednia|pr[uů]měr|összesen|átlag|yhteensä|keskiarvo|итого|"
    r"всего|среднее|合计|总计|合計|平均|Σ|∑)s?(?:\W.*)?",
    re.IGNORECASE,
)


def _in_python(parameter: str, identifier: str) -> Remedies:
    return Remedies(
        "None", "put None there if it is missing", f"list the column in {parameter}", "drop it",
        identifier, "convert them to numbers (pandas.read_csv reads them with {})", "{}={!r}",
        " and ",
    )  # fmt: skip


FIT = _in_python(
    "categorical_features",
    "drop it, or list the column in categorical_features if it does hold categories",
)
COMPARED = _in_python("categorical", "drop it")


def is_time(kind: type[Any]) -> bool:
    """Return whether values of a type are dates, times or durations."""
    return issubclass(kind, _TIMES) or kind.__name__ in _TIMES_OF_NUMPY


def is_number(value: Any) -> bool:
    """Return whether a value is a number, or text that `float` converts."""
    if is_time(type(value)) or (isinstance(value, str) and "_" in value):
        return False  # float("1_2") is 12, but in a table it is text
    try:
        float(value)
    except (TypeError, ValueError):
        return False
    return True


def holds_words(
    name: str, words: Sequence[str | None], n_numbers: int, place: Place, ways: Remedies = COMMAND,
    cells: Cells | None = None,
) -> bool:  # fmt: skip
    """Return whether a column is categorical: it holds words, and no numbers.

    `words` are the cells that are not numbers, None for the others.

    Raises
    ------
    PsephosError
        If the column has words and numbers, or numbers in another notation. Bands (20-30, <20, >=7)
        with three rows each, on average, are categories.
    """
    if all(word is None for word in words):
        return False
    if n_numbers or not _are_bands(words):
        refuse_numbers_in_words(name, words, place, ways=ways, cells=cells)
    if n_numbers:
        i = next(i for i, word in enumerate(words) if word is not None)
        known = Counter(sorted(word for word in words if word is not None))
        few = known.total() > n_numbers and 3 * len(known) <= known.total()  # words are categories
        total = TOTAL.fullmatch(str(words[-1])) is not None and known[words[-1] or ""] == 1
        gone = [word for word in known if not (total and word == words[-1])]
        own, missing = f"{name}=" if len(gone) > 1 or total or "=" in gone[0] else "", ways.missing
        by = [("--skip-last", "1")] * total + [("--missing", f"{own}{word}") for word in gone]
        below = [i for i, word in enumerate(words) if word and _BELOW.fullmatch(word)]
        many = known.total() >= n_numbers and not below
        if len(known) > 1 and (len(gone) > _WORDS or many):
            by = [("--categorical" if few and not below else "--drop", name)]
        elif (len(gone) > 1 or below) and ways is COMMAND:
            each = " ".join(f"--missing {shown(f'{own}{word}')}" for word in gone)
            missing = f"take {quoted(gone)} as missing ({each})"
        numbers = "is a number" if n_numbers == 1 else "are numbers"
        where = f"{place(i)} ({shown(words[i], CELL)})"
        if below:
            where = some([f"{place(i)} ({shown(words[i], CELL)})" for i in below], 3)
            by, missing = [], f"{_BEYOND}, {_WRITE}; if they mean no value, {missing}"
        else:
            missing += f", or {ways.categorical.format(shown(name))}"
        raise PsephosError(
            f"column {shown(name)} has text in {where}, but {n_numbers} of its values {numbers}: "
            f"{_LEFT_OUT * total}{missing}, or {ways.drop.format(shown(name))}."
        ).settled_by(*by).of_column(name)  # fmt: skip
    return True


def _are_bands(words: Sequence[str | None]) -> bool:
    """Return whether words are two or more bands of a measurement, with three rows each or more."""
    counts = Counter(word for word in words if word is not None)
    forms = [form for form in map(number_form, counts) if form]
    return len(forms) > 1 and set(forms) <= _BANDS and 3 * len(counts) <= counts.total()


def words_among(name: str, values: Sequence[Any], place: Place) -> list[str | None]:
    """Return the values of a column that are not numbers as words, None for the others.

    A value that is None is missing.

    Raises
    ------
    PsephosError
        If the column holds anything but text and numbers: see `refuse_objects`.
    """
    refuse_objects(name, values, place)
    return [None if v is None or is_number(v) else str(v) for v in values]


def refuse_objects(name: str, values: Sequence[Any], place: Place) -> None:
    """Raise PsephosError if a column holds dates, times, lists or the like.

    A column with text may have only numbers and None besides, no booleans.
    """
    kinds = set(map(type, values))
    odd = {kind for kind in kinds if is_time(kind) or not issubclass(kind, Hashable)}
    if any(isinstance(value, str) for value in values):
        odd |= {kind for kind in map(type, values) if kind is bool or not issubclass(kind, _PLAIN)}
    if not odd:
        return
    i, value = next((i, value) for i, value in enumerate(values) if type(value) in odd)
    where = f"({shown(value, CELL)} in {place(i)})"
    if is_time(type(value)):
        raise PsephosError(
            f"column {shown(name)} holds dates or times {where}: convert it to numbers, such as "
            "days since a date, or drop it."
        )
    raise PsephosTypeError(
        f"column {shown(name)} holds a {type(value).__name__} {where}: each value of the argument "
        "must be a string or a number; convert it, or drop the column."
    )


def refuse_identifier(name: str, present: Iterable[Hashable], ways: Remedies = COMMAND) -> None:
    """Raise PsephosError if the categories of all rows differ, as those of an identifier do.

    `present` are the categories of the rows, without missing ones.
    """
    seen: set[Hashable] = set()
    for value in present:
        if value in seen:
            return
        seen.add(value)
    if len(seen) >= _FEW:
        raise PsephosError(
            f"column {shown(name)} has a different text in every row, as an identifier does: "
            f"{ways.identifier.format(shown(name))}."
        )


def refuse_numbers_in_words(
    name: str,
    words: Sequence[str | None],
    place: Place,
    fitted: bool = False,
    ways: Remedies = COMMAND,
    cells: Cells | None = None,
) -> None:
    """Raise PsephosError if words are numbers in a notation that the settings do not read.

    One decimal comma, thousands mark, share (5 %) or bound (<0.1) suffices; bands (20-30), numbers
    with units and the like are errors if they are at least half of the words. `words` are the cells
    that are not plain numbers, None for the others. If a model reads numbers there (`fitted`), the
    message does not offer categories. `cells` are the settings that numbers were read by.
    """
    forms = {word: number_form(word) for word in set(words) if word is not None}
    if not fitted and _are_answers(forms):
        some_words = some([shown(word, CELL) for word in sorted(forms)], 3)
        raise PsephosError(
            f"column {shown(name)} seems to hold several answers in a cell ({some_words}): make a "
            "column of yes and no for each answer; if combinations are meant, "
            f"{ways.categorical.format(shown(name))}; or {ways.drop.format(shown(name))}."
        ).settled_by(("--categorical", name)).of_column(name)  # fmt: skip
    _one_unit_only(forms)
    found = [i for i, word in enumerate(words) if word is not None and forms[word]]
    strong = any(form in _STRONG for form in forms.values())
    if not found or not (strong or 2 * len(found) >= sum(word is not None for word in words)):
        return
    first: dict[str | None, int] = {}
    for i in found:
        first.setdefault(words[i], i)
    found_in = ", ".join(
        f"{shown(word, CELL)} in {place(i)}" for word, i in list(first.items())[:3]
    )
    kinds = Counter(forms[word] for word in first if word is not None)
    if not fitted and all(_GROUPED.fullmatch(word or "") for word in first):
        kinds = Counter({"thousands .": 1})  # 110.000 with a decimal comma
    if len(kinds) > 1:
        del kinds["bound"]  # the marks of all numbers come first
    remedy = _remedy(name, kinds, fitted, ways)
    given = cells.thousands if cells else ""
    mark = {",": "comma", ".": "point"}.get(given)
    if mark and f"decimal {mark}" in kinds:
        remedy = (
            f"a {mark} between thousands (--thousands) must be followed by three digits. Correct "
            f"them, or, if the {mark} is the decimal mark, use --decimal {given} and leave "
            "--thousands out."
        )
    start = ways.read()
    words_of = shlex.split(remedy.removeprefix(start)) if remedy.startswith(start) else []
    by = [(a, b) for a, b in zip(words_of[::2], words_of[1::2], strict=False) if len(words_of) < 5]
    by = by or ([("--drop", name)] if ways.drop.format(shown(name)) in remedy else [])
    half = replace(cells or Cells(), limits="half")
    if (
        set(kinds) == {"bound"}
        and ways is COMMAND
        and None not in map(half.limit, filter(None, first))
    ):
        by, remedy = [("--limits", "half")], remedy.replace(_WRITE, _HALF)
    raise PsephosError(
        f"column {shown(name)} has numbers in another notation ({found_in}): {remedy}"
    ).settled_by(*by).of_column(name, remedy)  # fmt: skip


def _are_answers(words: Collection[str]) -> bool:
    """Return whether words are answers to one question: 1,2 and 2,5, whole numbers that rise.

    One has three numbers, or there are six words or more, which decimal commas would not be.
    """
    each = [[int(k) for k in word.split(",")] for word in words if _ANSWERS.fullmatch(word)]
    if not each or len(each) < len(words) or any(sorted(set(own)) != own for own in each):
        return False
    return len(each) >= _MANY_ANSWERS or any(len(own) > 2 for own in each)


def without_limits(
    name: str, read: Sequence[float | None], odd: Sequence[str | None], cells: Cells,
    notes: list[str], *, fitted: bool = False,
) -> tuple[Sequence[float | None], Sequence[str | None]]:  # fmt: skip
    """Return the numbers of a column, with limits of detection, and its other cells.

    The parameters are those of `in_one_form`. If no cell is a number, and no model reads numbers
    (`fitted`), <5 and >=5 are words.
    """
    if not cells.limits or not (fitted or any(v is not None and v == v for v in read)):
        return read, odd
    bounds = {word: cells.limit(word) for word in set(odd) if word is not None}
    bounds = {word: value for word, value in bounds.items() if value is not None}
    if bounds:
        counts, each = Counter(odd), sorted(bounds.items())
        listed = some([f"{word} as {value:.12g} (in {counts[word]})" for word, value in each])
        notes.append(f"column {shown(name)}: limits of detection are read (--limits): {listed}.")
    read = [bounds.get(w or "") if v is None else v for v, w in zip(read, odd, strict=True)]
    return read, [None if word in bounds else word for word in odd]


def numbers_among(
    name: str, words: Sequence[str | float | None], cells: Cells, place: Place, notes: list[str], *,
    fitted: bool = False,
) -> tuple[Sequence[float | None], Sequence[str | None], str]:  # fmt: skip
    """Return the numbers among the cells of a column, its other cells, and the unit of all, or ''.

    A unit is left out if all cells have the same; for a model that reads numbers (`fitted`), if it
    is the one of its training table. Limits of detection are read, see `without_limits`.

    Raises
    ------
    PsephosError
        If cells have different units.
    """
    read = [cells.number(w) if isinstance(w, str) else w for w in words]
    odd = [str(w) if v is None else None for w, v in zip(words, read, strict=True)]
    parts = {w: number_and_unit(w) for w in odd if w is not None}
    at = {parts[w][1]: i for i, w in [*enumerate(odd)][::-1] if w is not None}
    bare = "" in at or any(v is not None and v == v for v in read)
    if fitted:
        unit = dict(cells.units).get(name, "")
    else:
        unit = "" if bare else min(at, key=at.__getitem__, default="")
    if unit and {*at} - {""}:
        if others := [f"{shown(u)} in {place(i)}" for u, i in at.items() if u not in ("", unit)]:
            own = f"{shown(unit)} {'of the model' if fitted else f'in {place(at[unit])}'}: convert"
            raise PsephosError(
                f"column {shown(name)} has {some(others, 3)} besides the unit {own} its numbers to "
                f"one unit{'' if fitted else f', {COMMAND.either(name)}'}."
            ).settled_by(*[("--drop", name)] * (not fitted))
        notes.append(f"column {shown(name)}: the unit {shown(unit)} beside numbers is left out.")
        odd = [word and (parts[word][0] or word) for word in odd]
        read = [v if w is None else cells.number(w) for v, w in zip(read, odd, strict=True)]
        odd = [w if v is None else None for v, w in zip(read, odd, strict=True)]
    return *without_limits(name, read, odd, cells, notes, fitted=fitted), unit


def notes_together(notes: Sequence[str]) -> list[str]:
    """Return notes of columns, one for all columns whose notes differ in counts alone."""
    kinds = dict[str, list[tuple[str, str]]]()
    for note in notes:
        name, rest = found.groups() if (found := _OF_COLUMN.fullmatch(note)) else ("", "")
        own = kinds.setdefault(_COUNT.sub("", rest) or note, [])
        own.append((note, name + "".join(_COUNT.findall(rest))))
    return [
        own[0][0] if len(own) == 1 else f"columns {some([label for _, label in own])}: {rest}"
        for rest, own in kinds.items()
    ]


def in_one_form(
    name: str,
    read: Sequence[float | None],
    odd: Sequence[str | None],
    cells: Cells,
    notes: list[str],
    *,
    fitted: bool = False,
) -> list[float] | None:
    """Return the numbers of a column whose other cells all have one form of `plain_number`.

    `read` are the numbers, NaN if missing, and None where `odd` has another cell. The result is
    None if the notation is ambiguous: plain and hexadecimal numbers in a column, a minus both
    before and after numbers, or, unless a model reads numbers there (`fitted`), marks such as 1-
    and 2. Else a sentence is added to `notes`.
    """
    plain = plain_numbers([word for word in odd if word is not None], fitted)
    found = {word: cells.number(other) for word, (_, other) in plain.items()}
    values = {word: value for word, value in found.items() if value is not None}
    forms = {form for form, _ in plain.values()}
    others = [value for value in read if value is not None and value == value]
    if len(forms) != 1 or "" in forms or len(values) < len(plain):
        return None
    marks = all(-10 < value < 10 and value == int(value) for value in [*values.values(), *others])
    minus = BEHIND in forms and (min(others, default=0) < 0 or (marks and not fitted))
    if minus or (HEXADECIMAL in forms and others):
        return None
    word, value = next(iter(values.items()))
    notes.append(f"column {shown(name)} is written as {word}, read as {value:.12g}.")
    return [
        value if value is not None else values[word or ""]
        for word, value in zip(odd, read, strict=True)
    ]


def refuse_far(name: str, value: float, at: str) -> None:
    """Raise PsephosError: a value of a column is infinite, or too large."""
    if math.isinf(value):
        raise PsephosError(
            f"column {shown(name)} is infinite in {at}: replace the value by a number, or by a "
            "missing value."
        )
    raise PsephosError(
        f"column {shown(name)} is {value!r} in {at}, and values must be at most {FARTHEST:g} in "
        "size: use another unit, or a missing value there."
    )


def _one_unit_only(forms: dict[str, str]) -> None:
    """Treat numbers with tight units (5mg) as words unless all units are the same: 1a, 1b."""
    tight = [word for word, form in forms.items() if form == "tight unit"]
    units = {word.lstrip("+-0123456789.,eE") for word in tight}
    if len(units) != 1 or len(tight) < 2:
        forms.update(dict.fromkeys(tight, ""))


def _remedy(name: str, kinds: Counter[str], fitted: bool, ways: Remedies) -> str:
    marks = [kind for kind in kinds if kind.startswith("thousands")]
    if set(kinds) <= {"decimal comma", "grouped", "both"} | set(marks):
        if "both" in kinds:
            return ways.read(decimal=",", thousands=".")
        if marks:
            mark = marks[0].removeprefix("thousands ").replace("space", " ")
            if ways is COMMAND:
                mark = mark.replace(" ", '" "').replace("'", '"\'"')
            comma = {"decimal": ","} if "decimal comma" in kinds else {}
            return ways.read(thousands=mark, **comma)
        if set(kinds) == {"grouped"}:
            return (
                f"{ways.read(thousands=',')} if the comma separates thousands, with "
                f"{ways.option.format('decimal', ',')} if it is the decimal mark."
            )
        return ways.read(decimal=",")
    if "decimal point" in kinds:
        return (
            f"{ways.read(decimal='.')} if all columns are written so, with "
            f"{ways.option.format('thousands', '.')} if the point separates thousands; else "
            "write all columns with one decimal mark."
        )
    limits = f"{_LIMITS}{_WRITE}" if set(kinds) == {"bound"} else ""
    if fitted:
        return f"{limits or 'write the bare numbers that the model reads, NA if missing'}."
    bare = f"write the bare numbers ({ways.nothing} if missing)"
    return f"{limits or bare}, or, if they are categories (bands, grades), {ways.either(name)}."


def levels_of(words: Iterable[str]) -> tuple[str, ...]:
    """Return the sorted levels: numbers by size, then words."""
    return tuple(sorted(set(words), key=_level_order))


def _level_order(word: str) -> tuple[bool, float, str]:
    try:
        number = None if "_" in word else float(word)
    except ValueError:
        number = None
    return (True, 0.0, word) if number is None or number != number else (False, number, word)
