"""Labels and categories as they are written, and labels of which some are not recorded."""

import math
import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

from psephos._errors import PsephosError, must_be
from psephos._types import Array, Cell, Floats, Indices, Label
from psephos.estimator.columns import is_missing
from psephos.estimator.labels import many_values
from psephos.estimator.params import Interval
from psephos.files import columns
from psephos.files.arrays import word_array
from psephos.files.cells import MISSING, Cells, Typed, number_form
from psephos.files.levels import LevelCodes, merged
from psephos.files.names import plural
from psephos.files.near import CELL, shown
from psephos.files.sheet import Sheet, plain

_Tidy = Callable[[Sequence[Any], str, Callable[[int], str]], Array]
_LISTED = 3  # maximum labels whose names are the name of the target
TASKS = ("classes", "numbers")  # types of a target of one column
_FEW, _MANY = 20, 100  # distinct fractions, whole numbers above which a target is numeric


def together(labels: Sequence[str]) -> str:
    """Return the name of a target of several labels."""
    return ", ".join(labels) if len(labels) <= _LISTED else f"{len(labels)} labels"


def row_words(i: int) -> str:
    """Return the words for a row."""
    return f"row {i} (counted from 0)"


def encode_column(
    column: Array,
    name: str,
    notes: list[str],
    *,
    categorical: bool = False,
    ways: columns.Remedies = columns.COMMAND,
) -> tuple[Floats, tuple[str, ...] | None]:
    """Return a column as numbers, and its levels if it is categorical.

    A column holds numbers, or objects: numbers, texts, None where missing. With `categorical`,
    numbers are categories, too. A sentence is added to `notes` if numbers are in another form.
    """
    if column.dtype.kind in "biuf" and not categorical:
        return column.astype(np.float64), None
    values: list[Any] = [None if is_missing(v) else v for v in column.tolist()]
    if not categorical:
        words = columns.words_among(name, values, row_words)
        pairs = zip(values, words, strict=True)
        read = [np.nan if v is None else float(v) if w is None else None for v, w in pairs]
        found = columns.in_one_form(name, read, words, Cells(), notes) if None in read else read
        if found is not None:
            return np.array(found, dtype=np.float64), None
        n_numbers = sum(v is not None and v == v for v in read)
        columns.holds_words(name, words, n_numbers, row_words, ways)
    return coded(values)


def coded(values: Sequence[Cell]) -> tuple[Floats, tuple[str, ...]]:
    """Return the codes of categories (NaN for None), and their sorted levels as words.

    Values that are one number (1, 1.0, "1") are one level.
    """
    found = merged(v for v in values if v is not None)
    own = {value: _word(level) for value, level in found.items()}
    levels = columns.levels_of(own.values())
    codes = LevelCodes(levels)
    code = {value: codes.code(level) for value, level in own.items()}
    return np.array([np.nan if v is None else code[v] for v in values]), levels


def _word(level: Any) -> str:
    """Return a level as a word: 1.0 as 1."""
    if isinstance(level, float) and level.is_integer():
        return str(int(level))
    return str(level)


def read_target(
    values: Sequence[Cell],
    name: str,
    place: Callable[[int], str] = row_words,
    *,
    task: str | None = None,
    cells: Cells | None = None,
    tidy: _Tidy | None = None,
) -> Array:
    """Return a target of one column: numbers as float64, classes as integers or words.

    Parameters
    ----------
    values : sequence
        None (in arrays also NaN) where missing.
    name : str
    place : callable
        Returns the words for a row by its index.
    task : {'classes', 'numbers'}, default=None
        None: numbers if the values clearly are a measurement (`are_numbers`).
    cells : Cells, default=None
        How numbers are written in texts. By default texts are not numbers.
    tidy : callable, default=None
        Returns labels of (values, name, place); by default `tidy_labels`.
    """
    number: Any = cells.number if cells else _own_number
    read = [None if is_missing(v) else number(v) for v in values]
    odd = [i for i, v in enumerate(read) if v is None and not is_missing(values[i])]
    if task == "numbers" and odd:
        words = [str(v) if w is None else None for v, w in zip(values, read, strict=True)]
        try:
            columns.refuse_numbers_in_words(name, words, place, fitted=True, cells=cells)
        except PsephosError as error:
            if error.options:
                raise
        word = str(values[odd[0]])
        rest = (
            "write it as a plain number."
            if number_form(word)
            else ("correct it, or give --task classes. Turn dates into days since the earliest.")
        )
        raise PsephosError(
            f"the target {shown(name)} has {shown(word, CELL)} in {place(odd[0])}, "
            f"which is not a number: {rest}"
        )
    known = np.array([v for v in read if v is not None], dtype=np.float64)
    if odd or not len(known):
        return (tidy or tidy_labels)(values, name, place)
    if task == "numbers" or (task is None and are_numbers(known)):
        _refuse_missing(values, name, place, *(_LEFT_OUT if cells else ()))
        if not np.isfinite(known).all():
            i = int((~np.isfinite(known)).argmax())
            raise PsephosError(f"the target {shown(name)} is infinite in {place(i)}: correct it.")
        return known
    if task == "classes" and (known != np.round(known)).any():
        _refuse_missing(values, name, place)
        return word_array([str(v) for v in values])
    return (tidy or tidy_labels)(values, name, place)


def read_answers(
    values: Sequence[Cell], name: str, sheet: Sheet, place: Callable[[int], str], task: str | None,
    notes: list[str],
) -> Array:  # fmt: skip
    """Return `read_target` of the cells of a file; a categorical column holds classes."""
    task = task or ("classes" if name in sheet.header.declared else None)
    if task == "numbers" or (sheet.cells.limits and task != "classes"):
        words = [math.nan if v is None else v for v in values]
        read, odd, unit = columns.numbers_among(name, words, sheet.cells, place, notes)
        sheet.cells = sheet.cells.with_unit(name, unit)
        bare = zip(values, odd if unit else values, read, strict=True)
        values = [
            v if not isinstance(v, str) else w if r is None else Typed(v, r) for v, w, r in bare
        ]
    tidy = partial(written_labels, cells=sheet.cells)
    return read_target(values, name, place, task=task, cells=sheet.cells, tidy=tidy)


def task_given(task: str | None, *, insisted: bool) -> str | None:
    """Return the user's type of the target; `insisted`: it was listed as categorical."""
    must_be("task", task, (None, *TASKS))
    if insisted and task == "numbers":
        raise PsephosError(
            "--task numbers contradicts --categorical (categorical=), which names the target: give "
            "one of them."
        )
    return "classes" if insisted else task


def refuse_numbers(task: str | None, what: str) -> None:
    """Raise PsephosError if several numbers per row, or partly known ones, are the target."""
    if task == "numbers":
        raise PsephosError(
            f"{what}: a numeric target must be one column, known in every row. Name one target; "
            "some regressors, such as psephos.SoftTreeRegressor(), predict several numbers at "
            "once in Python. For time to event (a time, and whether the event happened) use "
            "scikit-survival."
        )


def are_numbers(values: Floats) -> bool:
    """Return whether numbers clearly are a measurement, not classes.

    Some must be fractions, or whole numbers must look like a measurement (`many_values`). They are
    clearly one if more than 20 values (100, if all are whole) are distinct, or more than half as
    many as rows; otherwise it is doubtful.
    """
    each, counts = np.unique(values, return_counts=True)
    fractions = bool((each != np.round(each)).any())
    if not (fractions or many_values(counts)):
        return False
    return len(each) > (_FEW if fractions else _MANY) or 2 * len(each) > len(values)


def _own_number(value: Cell) -> float | None:
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    return float(value)


_WHOLE = re.compile(r"0|-?[1-9]\d*", re.ASCII)  # the usual form of a whole number
_INT64, _POINTS = range(-(2**63), 2**63), Cells()


def written_labels(
    values: Sequence[Any], name: str, place: Callable[[int], str], cells: Cells = _POINTS
) -> Array:
    """Return the labels of a file: integers if every one is written as such, else words.

    01, 1.0, 1e3 and digits of other scripts are words, so that different labels stay different. It
    is an error if all are numbers (as `cells` reads them) and one is a fraction.
    """
    present = [v for v in values if v is not None]
    if all(_WHOLE.fullmatch(v) and int(v) in _INT64 for v in present):
        return tidy_labels([None if v is None else int(v) for v in values], name, place)
    if None not in map(cells.number, present):
        for i, value in enumerate(values):
            if value is not None and not (cells.number(value) or 0.0).is_integer():
                raise _measurements(name, place(i), value)
    return tidy_labels(values, name, place)


def tidy_labels(values: Sequence[Any], name: str, place: Callable[[int], str] = row_words) -> Array:
    """Return labels as integers if all are whole numbers; as words if all are words."""
    _refuse_missing(values, name, place)
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


_LEFT_OUT = (("--task", "numbers"), ("--unlabeled", ""))


def _refuse_missing(
    values: Sequence[Cell], name: str, place: Callable[[int], str], *options: tuple[str, str]
) -> None:
    """Raise PsephosError naming the first rows whose target is missing."""
    missing = [i for i, v in enumerate(values) if is_missing(v)]
    if missing:
        rows = ", ".join(place(i) for i in missing[:5]) + (", ..." if len(missing) > 5 else "")
        numbers = (
            " for a numeric target by --task numbers --unlabeled '' (in Python task=, unlabeled=)"
        )
        classes = (
            " by --classes =; if models of two classes are to learn from these rows without a "
            "label, give --unlabeled ''; a class named None, NA or similar needs --keep-word None"
        )
        raise PsephosError(
            f"the target {shown(name)} has no value in {plural(len(missing), 'row')} ({rows}): "
            f"fill the values in, or leave those rows out{numbers if options else classes}."
        ).settled_by(*(options or [("--classes", "=")]))


def recorded_labels(
    values: Sequence[Cell],
    known: Sequence[bool],
    name: str,
    place: Callable[[int], str] = row_words,
    tidy: _Tidy = tidy_labels,
) -> list[Any]:
    """Return the labels of rows that have one, made by `tidy`, and None for the others."""
    at = [i for i, has in enumerate(known) if has]
    if not at:
        return [None] * len(known)
    labels = iter(tidy([values[i] for i in at], name, lambda i: place(at[i])).tolist())
    return [next(labels) if has else None for has in known]


def _kind(label: Any) -> str:
    if isinstance(label, bool):
        return "truth value"
    return "number" if isinstance(label, int | float) else "word"


def _measurements(name: str, place: str, value: Any) -> PsephosError:
    return PsephosError(
        f"the target {shown(name)} holds measurements ({place}: {str(value)[:CELL]}), or classes "
        "that look like them: give --task numbers or --task classes (in Python task=)."
    ).settled_by(("--task", "numbers"))


# ---------------------------------------------------------------------- partly recorded


@dataclass(frozen=True)
class Partial:
    """Partly recorded labels of a table of two classes."""

    # (n,), the class index of each row's recorded label; -1 without a record
    recorded: Indices
    positive: int  # the class whose records are certain
    # Whether the table's `y` is the true class of every row. If not, it is the recorded class, or
    # the other class as a placeholder without a record, which is never used in measures.
    truth: bool
    # the given share of `positive` among the rows without a label
    prior: float | None = None

    @property
    def codes(self) -> Indices:
        """Return 1 for rows recorded positive, 0 for negative ones, -1 for unlabelled ones."""
        return np.where(self.recorded < 0, -1, (self.recorded == self.positive).astype(np.intp))

    @property
    def one_class(self) -> bool:
        """Return whether the recorded labels are all positive."""
        return bool((self.recorded[self.recorded >= 0] == self.positive).all())

    def content(self) -> tuple[Any, ...]:
        """Return everything that results depend on."""
        own = () if self.prior is None else (self.prior,)
        return self.recorded.tolist(), self.positive, self.truth, *own

    def check(self, y: Array, classes: Array) -> None:
        """Raise PsephosError if records do not match the table."""
        if len(classes) != 2:
            raise PsephosError(
                f"partly recorded labels must have two classes; got {len(classes)} "
                f"({', '.join(map(str, classes.tolist()[:5]))}): join some of them."
            )
        inside = Interval(0, 1, open_low=True, open_high=True)
        if self.prior is not None and not inside.allows(self.prior):
            raise PsephosError(
                "--prior (prior=) must be the share of positives among the cases without a label, "
                f"above 0 and below 1; got {self.prior!r}."
            )
        if len(self.recorded) != len(y):
            raise PsephosError(f"{len(self.recorded)} records for {len(y)} rows: one per row.")

    def strata(self, y: Array, n_folds: int) -> Indices:
        """Return the strata of folds: by record, and unlabelled rows by their true class."""
        codes = self.codes
        for code, words in ((1, "recorded positive"), (-1, "without a label")):
            n = int((codes == code).sum())
            if n < n_folds:
                raise PsephosError(
                    f"{plural(n, 'row')} {'is' if n == 1 else 'are'} {words}, fewer than the "
                    f"{n_folds} folds: use fewer folds (--folds), or add such rows."
                )
        own = codes + 1
        if self.truth:
            classes = np.unique(y)
            own = np.where((codes < 0) & (y == classes[1]), 3, own)
        counts = np.bincount(own, minlength=4)
        few = np.isin(own, np.flatnonzero(counts < n_folds))
        return np.where(few, 0, own).astype(np.intp)

    def training(self, rows: Indices, *, partial_labels: bool) -> tuple[Indices, Floats]:
        """Return the rows that a model is fitted on, and their class indices, NaN without a label.

        A model that does not take unlabelled rows is fitted on the labelled rows; if all of these
        are positive, on all rows, with the unlabelled ones in the other class.
        """
        codes = self.recorded[rows].astype(np.float64)
        if partial_labels:
            return rows, np.where(codes < 0, np.nan, codes)
        if self.one_class:
            return rows, np.where(codes < 0, 1.0 - self.positive, codes)
        return rows[codes >= 0], codes[codes >= 0]

    def contradicted(self, codes: Indices) -> int:
        """Return how many rows recorded positive are not; `codes` are the true class indices."""
        sure = self.recorded == self.positive
        return int((codes[sure] != self.positive).sum()) if self.truth else 0

    def words(self, classes: Sequence[str], codes: Indices) -> dict[str, Any]:
        """Return the entry in comparison.json."""
        counts = [int((self.recorded == k).sum()) for k in (-1, 0, 1)]
        return {
            "positive": classes[self.positive],
            "truth": self.truth,
            "unlabelled": counts[0],
            "recorded": counts[1:],
            "one_class": self.one_class,
            "prior": self.prior,
            "contradicted": self.contradicted(codes),
        }


def given_rows(*, one_class: bool) -> str:
    """Return in words which rows a model that does not take unlabelled rows is fitted on."""
    if one_class:
        return "all cases, those without a label as of the other class"
    return "the cases with a label"


def refuse_old_positive(positive: Label | None, recorded_class: Any, *others: Any) -> bool:
    """Return whether labels are partly recorded; raise if `positive` has its earlier meaning."""
    partly = any(one is not None for one in others)
    if positive is not None and recorded_class is None and partly:
        raise PsephosError(
            f"--positive {shown(positive)} (positive=) is the positive class of measures and page; "
            "the class whose records are certain is --recorded-class (recorded_class=): give that "
            "instead, or both."
        )
    return partly or recorded_class is not None


def check_mark(mark: Any, labels: Iterable[Any], target: str) -> None:
    """Raise PsephosError if the value of rows without a label does not occur in the target.

    '' (empty cells) and words that are read as missing, such as NA, are always accepted.
    """
    known = list(dict.fromkeys(labels))
    if mark is not None and mark not in MISSING and mark not in known:
        some = ", ".join(shown(str(label), CELL) for label in known[:5])
        some += ", ..." if len(known) > 5 else ""
        raise PsephosError(
            f"--unlabeled (unlabeled=) is {shown(str(mark), CELL)}, which does not occur in the "
            f"target {shown(target)}; it has {some}. '' is for empty cells."
        )


def read_partial(
    recorded: Sequence[Any],
    truth: Array | None,
    positive: str | None,
    target: str,
    prior: float | None = None,
) -> tuple[Partial, Array]:
    """Return the recorded labels, and `y` of the table.

    `recorded` are tidy labels, None without a record; `truth` those of all rows, if known.
    `positive` is the class whose records are certain; None: the only recorded class, or the second
    of two. `prior` is its share among the rows without a label. `target` is the name of the column,
    for messages.
    """
    held = [label for label in recorded if label is not None]
    if not held or len(held) == len(recorded):
        raise PsephosError(
            f"the target {shown(target)} has a label in {'every' if held else 'no'} row: "
            "--unlabeled must be its value in rows without a label"
            f"{'' if held else ', and --target the column of recorded labels'}."
        )
    classes = list(np.unique(np.array(held)).tolist())
    if truth is not None:
        every = np.unique(truth).tolist()
        strange = [label for label in classes if label not in every]
        if strange:
            raise PsephosError(
                f"the target {shown(target)} records {shown(str(strange[0]), CELL)}, which is not "
                f"a class of the truth ({', '.join(map(str, every[:5]))})."
            )
        classes = every
    elif len(classes) == 1:
        classes = sorted([*classes, _other(classes[0])])
    only = {held[0]} if len(set(held)) == 1 else set[Any]()
    named = [k for k, label in enumerate(classes) if str(label) == positive]
    if positive is not None and not named:
        raise PsephosError(
            f"--recorded-class is {shown(positive)}, not one of the classes "
            f"({', '.join(map(str, classes[:5]))})."
        )
    place = named[0] if named else classes.index(next(iter(only))) if only else len(classes) - 1
    codes = np.array([-1 if v is None else classes.index(v) for v in recorded], dtype=np.intp)
    if truth is not None:
        return Partial(codes, place, True, prior), truth
    other = classes[1 - place] if len(classes) == 2 else classes[0]
    y = np.array([other if v is None else v for v in recorded])
    return Partial(codes, place, False, prior), y


def _other(label: Label) -> Any:
    """Return a name for the class without records."""
    if isinstance(label, str):
        return f"not {label}"
    return 0 if label else 1


# ------------------------------------------------------------------- in files
def partly_written(
    cells: Sequence[list[Any]], roles: Any, target: str, sheet: Sheet
) -> tuple[Partial, Array]:
    """Return partly recorded labels, and the table's y.

    `cells` are the words of the target, and of the truth if it is given, None where missing;
    `roles` has `unlabeled`, `truth`, `recorded_class` and `prior`.
    """
    known = [word is not None and word != roles.unlabeled for word in cells[0]]
    tidy = partial(written_labels, cells=sheet.cells)
    recorded = recorded_labels(cells[0], known, target, sheet.place, tidy)
    truth = None
    if len(cells) > 1:
        truth = tidy(cells[1], roles.truth or "", sheet.place)
        held = np.array([label for label in recorded if label is not None])
        if len(held) and truth.dtype.kind != held.dtype.kind:
            truth = truth.astype(str)
            recorded = [w if has else None for w, has in zip(cells[0], known, strict=True)]
    return read_partial(recorded, truth, roles.recorded_class, target, roles.prior)


def label_word(label: Any) -> str | None:
    """Return a label as a word, 1.0 as 1; None stays None."""
    return None if label is None else str(plain(label))
