"""Labels and categories as they are written: which are one, which are numbers, which are none."""

import re
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from psephos._errors import PsephosError
from psephos.estimator.columns import is_missing
from psephos.files.arrays import word_array
from psephos.files.cells import Cells
from psephos.files.columns import (
    COMMAND,
    Ways,
    holds_words,
    in_one_form,
    is_number,
    levels_of,
    words_among,
)
from psephos.files.levels import LevelCodes, merged
from psephos.files.near import CELL, shown

_Floats = NDArray[np.float64]
_LISTED = 3  # labels that name their target


def together(labels: Sequence[str]) -> str:
    """Return what a target of several labels is called."""
    return ", ".join(labels) if len(labels) <= _LISTED else f"{len(labels)} labels"


def row_words(i: int) -> str:
    """Return which row that is, in words."""
    return f"row {i} (counted from 0)"


def encode_column(
    column: NDArray[Any],
    name: str,
    notes: list[str],
    *,
    categorical: bool = False,
    ways: Ways = COMMAND,
) -> tuple[_Floats, tuple[str, ...] | None]:
    """Return a column as numbers, and its levels if it is categorical.

    A column holds numbers, or objects: numbers, texts, None where missing. With `categorical`
    numbers, too, are categories. `notes` gets a sentence if numbers are in another form.
    """
    if column.dtype.kind in "biuf" and not categorical:
        return column.astype(np.float64), None
    values: list[Any] = [None if is_missing(v) else v for v in column.tolist()]
    if not categorical:
        words = words_among(name, values, row_words)
        pairs = zip(values, words, strict=True)
        read = [np.nan if v is None else float(v) if w is None else None for v, w in pairs]
        found = in_one_form(name, read, words, Cells(), notes) if None in read else read
        if found is not None:
            return np.array(found, dtype=np.float64), None
        holds_words(name, words, sum(v is not None and v == v for v in read), row_words, ways)
    return coded(values, name, ways)


def coded(
    values: Sequence[Any], name: str, ways: Ways = COMMAND
) -> tuple[_Floats, tuple[str, ...]]:
    """Return the codes of categories, None where missing, and their sorted levels in words.

    Values of one number (1, 1.0, "1") are one level.
    """
    own = {
        value: _word(level) for value, level in merged(v for v in values if v is not None).items()
    }
    levels = levels_of(name, [None if v is None else own[v] for v in values], ways)
    codes = LevelCodes(levels)
    code = {value: codes.code(level) for value, level in own.items()}
    return np.array([np.nan if v is None else code[v] for v in values]), levels


def _word(level: Any) -> str:
    """Return a level in words: a whole number without its point."""
    if isinstance(level, float) and level.is_integer():
        return str(int(level))
    return str(level)


def class_codes(y: NDArray[Any], n_classes: int, file: str) -> NDArray[np.intp]:
    """Return the array y of an npz file as places in its array 'classes'."""
    plain = y.dtype.kind in "biu" or (y.dtype.kind == "f" and bool((np.abs(y) < 2**53).all()))
    codes: NDArray[np.intp] = y.astype(np.intp) if plain else np.full(len(y), -1, dtype=np.intp)
    if (codes != y).any():
        raise PsephosError(
            f"'y' of {file!r} holds numbers that are not valid codes of its 'classes': give codes "
            f"0 to {n_classes - 1}, or leave 'classes' out."
        )
    wrong = [code for code in codes.tolist() if not 0 <= code < n_classes]
    if wrong:
        raise PsephosError(
            f"'y' of {file!r} holds the code {wrong[0]}, but 'classes' names {n_classes} "
            f"classes (codes 0 to {n_classes - 1})."
        )
    return codes


_WHOLE = re.compile(r"0|-?[1-9]\d*", re.ASCII)  # as a whole number is written, and only so
_INT64 = range(-(2**63), 2**63)


def written_labels(values: Sequence[Any], name: str, place: Callable[[int], str]) -> NDArray[Any]:
    """Return labels written in a file: integers if every one is written as such, else words.

    01, 1.0, 1e3 and digits of other scripts are words: no two labels become one.
    """
    present = [v for v in values if v is not None]
    if all(_WHOLE.fullmatch(v) and int(v) in _INT64 for v in present):
        return tidy_labels([None if v is None else int(v) for v in values], name, place)
    if all(map(is_number, present)):
        for i, value in enumerate(values):
            if value is not None and not float(value).is_integer():
                raise _measurements(name, place(i), value)
    return tidy_labels(values, name, place)


def tidy_labels(
    values: Sequence[Any], name: str, place: Callable[[int], str] = row_words
) -> NDArray[Any]:
    """Return labels as integers if they all are whole numbers, as words if they are words."""
    missing = [i for i, v in enumerate(values) if is_missing(v)]
    if missing:
        rows = ", ".join(place(i) for i in missing[:5]) + (", ..." if len(missing) > 5 else "")
        raise PsephosError(
            f"the target {shown(name)} has no value in {len(missing)} row(s) ({rows}): fill the "
            "labels in, or remove those rows; of two classes, if no value means that the label is "
            "not known, say so: --unlabeled '' (in Python unlabeled='')."
        )
    items = [v.decode("utf-8", "replace") if isinstance(v, bytes) else v for v in values]
    kinds = {_kind(v): i for i, v in enumerate(items)}
    if len(kinds) > 1:
        i, j = sorted(kinds.values())[:2]
        raise PsephosError(
            f"the target {shown(name)} mixes kinds of labels ({shown(items[i], CELL)} in "
            f"{place(i)}, {shown(items[j], CELL)} "
            f"in {place(j)}): make all of them words, or all of them numbers."
        )
    if "number" not in kinds:
        return word_array([str(v) for v in items])
    for i, value in enumerate(items):
        if not float(value).is_integer():
            raise _measurements(name, place(i), value)
    whole = [int(v) for v in items]
    if all(v in _INT64 for v in whole):
        return np.array(whole, dtype=np.int64)
    return word_array([str(v) for v in whole])


def recorded_labels(
    values: Sequence[Any],
    known: Sequence[bool],
    name: str,
    place: Callable[[int], str] = row_words,
    tidy: Callable[[Sequence[Any], str, Callable[[int], str]], NDArray[Any]] = tidy_labels,
) -> list[Any]:
    """Return the labels of the rows that have one, by `tidy`, None of the others."""
    at = [i for i, has in enumerate(known) if has]
    if not at:
        return [None] * len(known)
    held = [values[i] for i in at]
    labels = iter(tidy(held, name, lambda i: place(at[i])).tolist())
    return [next(labels) if has else None for has in known]


def _kind(label: Any) -> str:
    if isinstance(label, bool):
        return "truth value"
    return "number" if isinstance(label, int | float) else "word"


def _measurements(name: str, place: str, value: Any) -> PsephosError:
    return PsephosError(
        f"the target {shown(name)} holds measurements ({place}: {str(value)[:CELL]}), but "
        "classes are wanted: cut it into classes first, or name another target."
    )
