"""Columns of words: when they are categories, and when they are numbers written another way."""

import math
from collections import Counter
from collections.abc import Callable, Sequence
from typing import Any

from psephos._errors import PsephosError
from psephos._files.cells import BEHIND, FARTHEST, HEXADECIMAL, Cells, number_form, plain_number
from psephos._files.near import CELL, shown

_STRONG = frozenset({
    "decimal comma", "grouped", "both", "thousands ,", "thousands .", "thousands space",
    "thousands '", "thousands ’", "share", "bound", "sign",
})  # fmt: skip
Place = Callable[[int], str]


def refuse_numbers_in_words(
    name: str, words: Sequence[str | None], place: Place, fitted: bool = False
) -> None:
    """Raise PsephosError if words are numbers in a form that no one asked to be read.

    One decimal comma, thousands mark, share (5 %) or bound (<0.1) is enough; bands (20-30), numbers
    with units and the like are refused where they are at least half of what is there. `words` are
    the cells that are no plain numbers, None for the others; where a model reads numbers there
    (`fitted`), words are no remedy.
    """
    forms = {word: number_form(word) for word in set(words) if word is not None}
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
    raise PsephosError(
        f"column {shown(name)} holds numbers written another way ({found_in}): "
        f"{_remedy(name, kinds, fitted)}"
    )


def in_one_form(
    name: str,
    read: Sequence[float | None],
    odd: Sequence[str | None],
    cells: Cells,
    notes: list[str],
    *,
    fitted: bool = False,
) -> list[float] | None:
    """Return the numbers of a column whose other cells are all of one form of `plain_number`.

    `read` are the numbers, NaN where missing, and None where `odd` has another cell. Numbers beside
    a minus behind are those above 0, and a Fortran program may write some without exponent; beside
    hexadecimal ones they are unclear, and so are a minus before others, and, unless a model reads
    numbers there (`fitted`), marks such as 1- and 2. None where anything is unclear; else `notes`
    gets a sentence.
    """
    plain = {word: plain_number(word) for word in odd if word is not None}
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
    """Raise PsephosError that a value of a column is infinite, or so large that squares are."""
    if math.isinf(value):
        raise PsephosError(
            f"column {shown(name)} is infinite in {at}: replace it by a number, or by a missing "
            "value."
        )
    raise PsephosError(
        f"column {shown(name)} is {value!r} in {at}, and values must be at most {FARTHEST:g} in "
        "size: give the column in another unit, or a missing value there."
    )


def _one_unit_only(forms: dict[str, str]) -> None:
    """Take units without a blank (5mg) for words unless all are the same: 1a, 1b are grades."""
    tight = [word for word, form in forms.items() if form == "tight unit"]
    units = {word.lstrip("+-0123456789.,eE") for word in tight}
    if len(units) != 1 or len(tight) < 2:
        forms.update(dict.fromkeys(tight, ""))


def _remedy(name: str, kinds: Counter[str], fitted: bool) -> str:
    marks = [kind for kind in kinds if kind.startswith("thousands")]
    if set(kinds) <= {"decimal comma", "grouped", "both"} | set(marks):
        if "both" in kinds:
            return "read the table with --decimal , --thousands ."
        if marks:
            mark = marks[0].removeprefix("thousands ").replace("space", '" "').replace("'", '"\'"')
            comma = " --decimal ," if "decimal comma" in kinds else ""
            return f"read the table with --thousands {mark}{comma}"
        if set(kinds) == {"grouped"}:
            return (
                "read the table with --thousands , if the comma is between thousands, with "
                "--decimal , if it is the decimal mark."
            )
        return "read the table with --decimal ,"
    if fitted:
        return "write the bare numbers the model reads, NA where there is none."
    return (
        "write the bare numbers (NA where there is none), or, if they are meant as words (bands, "
        f"grades), name the column with --categorical {shown(name)}, or leave it out with "
        f"--drop {shown(name)}."
    )


def refuse_mixed(name: str, words: Sequence[str | None], n_numbers: int, place: Place) -> None:
    """Raise PsephosError that names the first text in a column of numbers."""
    refuse_numbers_in_words(name, words, place)
    i = next(i for i, word in enumerate(words) if word is not None)
    raise PsephosError(
        f"column {shown(name)} has text in {place(i)} ({shown(words[i], CELL)}), but {n_numbers} "
        f"of its values are "
        f"numbers: write NA there if it is missing (--missing lists other words), or declare the "
        f"column categorical (--categorical {shown(name)}), or leave it out (--drop {shown(name)})."
    )


def levels_of(name: str, words: Sequence[Any]) -> tuple[str, ...]:
    """Return the sorted levels of words, None where missing: numbers by size, then by letters."""
    levels = tuple(sorted({word for word in words if word is not None}, key=_level_order))
    present = sum(word is not None for word in words)
    if present >= 10 and len(levels) == present:  # a name for each row is no predictor of its class
        raise PsephosError(
            f"column {shown(name)} holds a different text in every row, as an identifier does: "
            f"name it with --id {shown(name)}, or leave it out with --drop {shown(name)}."
        )
    return levels


def _level_order(word: str) -> tuple[bool, float, str]:
    try:
        number = None if "_" in word else float(word)
    except ValueError:
        number = None
    return (True, 0.0, word) if number is None or number != number else (False, number, word)
