"""Columns of words: when they are categories, and when they are numbers written another way."""

from collections import Counter
from collections.abc import Callable, Sequence
from typing import Any

from psephos._errors import PsephosError
from psephos._files.cells import number_form
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
