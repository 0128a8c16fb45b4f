"""The roles of the columns of a file, and their values: numbers, categories, ids, labels."""

import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import chain
from typing import Any, Self, TypeAlias

import numpy as np
from scipy.sparse import csc_array, hstack

from psephos._errors import Complaints, PsephosError, PsephosTypeError
from psephos._types import Array, Cell, Indices, Label, NDArray, PerRow
from psephos.cautions import Given
from psephos.cautions.layout import total_row
from psephos.cautions.stems import stem_of
from psephos.estimator.columns import is_missing
from psephos.estimator.labels import many_values
from psephos.files.arrays import word_array
from psephos.files.cells import MISSING, Typed, columns_called, number_form
from psephos.files.columns import COMMAND, holds_words, in_one_form, notes_together, numbers_among
from psephos.files.levels import value_of
from psephos.files.names import plural
from psephos.files.near import CELL, quoted, shown, some, suggest
from psephos.files.sheet import Sheet, unnamed, with_words
from psephos.files.text import Header
from psephos.protocol.tables.labels import coded, refuse_old_positive, row_words
from psephos.protocol.tables.requirements import check_ids, counted, refuse_farthest

#: Renamed, joined or left-out classes, as users write them: 'OLD=NEW' each, or a mapping.
Classes: TypeAlias = Mapping[Label, Label | None] | Sequence[str]


def row_values(values: Any, what: str) -> Array:
    """Return one value per row; raise PsephosTypeError if there are several columns."""
    array = np.asarray(values)
    if array.ndim == 2 and array.shape[1] == 1:
        array = array[:, 0]
    if array.ndim != 1:
        raise PsephosTypeError(
            f"{what} must have one value per row; got {array.ndim} dimensions (columns can be "
            "given by name only if X is a file)."
        )
    return array


def words_of_rows(values: Any, what: str) -> Array:
    """Return one word per row; raise PsephosError naming the rows without a value."""
    given: list[Any] = list(row_values(values, what))
    if gone := [row_words(i) for i, one in enumerate(given) if is_missing(one)]:
        raise PsephosError(f"{what} has no value in {some(gone)}: fill it in, or remove the row.")
    return word_array([str(one) for one in given])


@dataclass(frozen=True)
class Cohorts:
    """The cohort (a clinic, a batch) of each row: cohorts are the test parts.

    Parameters
    ----------
    of_row : ndarray of shape (n,) of str
    name : str
        The name of the column.
    only : str, default=None
        The only cohort that is a test part; None: each cohort is, once.
    """

    of_row: NDArray[Any]
    name: str
    only: str | None = None

    @classmethod
    def of(cls, of_row: PerRow, name: str | None, only: str | None = None) -> Self | None:
        """Return the cohorts of the rows, or None if `of_row` is None."""
        if of_row is None:
            return None
        only = "True" if np.asarray(of_row).dtype.kind == "b" else only
        return cls(words_of_rows(of_row, "leave_out"), name or "leave_out", only)

    def check(self, n: int) -> None:
        """Raise PsephosError if the cohorts of n rows cannot be test parts."""
        values, sizes = counted(self.of_row, "cohorts", n)
        known: list[str] = values.tolist()
        if len(known) < 2:
            raise PsephosError(
                f"{self.name!r} has the value {shown(known[0], CELL)} in every row: --leave-out "
                "(leave_out=) must be a column of at least two cohorts."
            )
        parts = sum(bool(re.fullmatch(r"-?\d*\.0*[1-9]\d*", one)) for one in known)
        measured = many_values(sizes) and 2 * parts > len(known)
        if self.only is None and (measured or 2 * len(known) > n):
            raise PsephosError(
                f"{self.name!r} has {len(known)} values in {n} rows, as measurements and ids "
                "do: --leave-out (leave_out=) must be a column of cohorts, such as clinics or "
                "batches, with many rows each."
            )
        if self.only not in (None, *known):
            raise PsephosError(
                f"{self.name!r} has no value {shown(self.only, CELL)} to leave out (--leave-out): "
                f"{suggest(str(self.only), known)}"
            )

    @property
    def tested(self) -> list[str]:
        """Return the cohorts that are a test part, in order."""
        return [self.only] if self.only is not None else np.unique(self.of_row).tolist()


def cohorts_named(text: str | None) -> tuple[str | None, str | None]:
    """Return the column and the cohort of COLUMN or COLUMN=VALUE (NAME= if NAME has a =)."""
    column, equals, value = (text or "").rpartition("=")
    return (column, value or None) if equals else (text, None)


def group_named(text: str | None) -> tuple[str | None, str | None]:
    """Return the column and the pattern of COLUMN=PATTERN; a pattern holds a *."""
    column, equals, form = (text or "").rpartition("=")
    return (column, form) if equals and "*" in form else (text, None)


@dataclass(frozen=True)
class Roles:
    """The roles of the columns that are not measurements."""

    target: tuple[str, ...]  # several: labels, several of which a row may have
    n_labels: int | None
    id: str | None
    group: str | None  # the column, perhaps with a pattern of its stems
    drop: tuple[str, ...]
    categorical: tuple[str, ...]
    truth: str | None = None
    unlabeled: str | None = None
    recorded_class: str | None = None
    prior: float | None = None
    positive: str | None = None
    task: str | None = None
    row_names: str | None = None  # a column without a name that became the id
    leave_out: tuple[str | None, str | None] = (None, None)  # the column, the one cohort tested
    known: bool = True  # whether the target is known; `psephos table` may run without one
    classes: Classes = ()  # that are joined, renamed or left out

    @property
    def partly(self) -> bool:
        """Return whether labels are partly recorded."""
        given = (self.truth, None if self.task == "numbers" else self.unlabeled, self.prior)
        return refuse_old_positive(self.positive, self.recorded_class, *given)

    def of_header(self, names: Sequence[str]) -> "Roles":
        """Return the roles with the columns that patterns of drop and categorical match.

        A pattern does not match columns with another role; one that matches none is kept.
        """
        other, kept = {name for _, name in self.apart}, list[list[str]]()
        for given in (self.drop, self.categorical):
            each = [(one, [names[j] for j in columns_called(one, names)]) for one in given]
            found = ([w for w in own if w == one or w not in other] or [one] for one, own in each)
            kept.append([*dict.fromkeys(chain(*found))])
            other |= {*kept[0]}
        return replace(self, drop=tuple(kept[0]), categorical=tuple(kept[1]))

    @property
    def left_out(self) -> tuple[str, ...]:
        """Return the columns that are neither measurements nor target, each with its option."""
        kept = [(f" ({flag})", name) for flag, name in self.apart if flag != "--target"]
        kept += [(" (--drop)", name) for name in self.drop]
        return tuple(f"{name}{'' if name == self.row_names else flag}" for flag, name in kept)

    @property
    def apart(self) -> list[tuple[str, str]]:
        """Return the single columns that are not features, with their options."""
        named = [("--id", self.id), ("--group", group_named(self.group)[0])]
        named += [("--truth", self.truth), ("--leave-out", self.leave_out[0])]
        targets = [("--target", name) for name in self.target]
        return targets + [(flag, name) for flag, name in named if name is not None]


def with_answers(sheet: Sheet, target: str, mark: str | None) -> Sheet:
    """Return a sheet without the rows whose target is missing, or is `mark`."""
    words = sheet.words[sheet.header.names.index(target)]
    gone = sheet.cells.but(() if mark is None else [mark]).is_missing
    at = [i for i, w in enumerate(words) if not gone(str(w))]
    gone = plural(len(words) - len(at), "row")
    return rows_of(sheet, at, f"{target} has no number in {gone}: left out (--unlabeled).")


def rows_of(sheet: Sheet, at: Sequence[int], *notes: str) -> Sheet:
    """Return a sheet of some rows, with further notes."""
    kept = {j: [column[i] for i in at] for j, column in sheet.words.items()}
    lines = [i if sheet.lines is None else sheet.lines[i] for i in at]
    rest = None if sheet.rest is None else sheet.rest[at]
    parts = {"words": kept, "lines": lines, "notes": [*sheet.notes, *notes], "rest": rest}
    return replace(sheet, X=sheet.X[at], **parts)


def without_total(sheet: Sheet, target: str) -> Sheet:
    """Return a sheet without a last row of sums or means whose label is missing.

    Also without one whose label is a number below labels that are not numbers.
    """
    labels, n, number = sheet.words[sheet.header.names.index(target)], len(sheet.X) - 1, None
    if n >= 1 and not sheet.cells.is_missing(str(labels[n])):
        number = sheet.cells.number(str(labels[n]))
        above = [sheet.cells.number(str(label)) for label in labels[:n]]
        if number is None or any(v is not None and v == v for v in above):
            return sheet
    for word in total_words(sheet):
        what = f"no {target}" if number is None else f"{labels[n]} as {target}"
        note = f"{sheet.place(n)} has {what}, and sums or means ({word}): left out."
        return rows_of(sheet, range(n), note)
    return sheet


def total_words(sheet: Sheet) -> list[str]:
    """Return the name of the last row if it holds sums or means of the others, else nothing."""
    n, words = len(sheet.X) - 1, sheet.words.values()
    if n < 1 or sheet.rest is not None:
        return []
    known = np.flatnonzero((~np.isnan(sheet.X)).any(axis=0))
    X, names = sheet.X[:, known], unnamed(len(known))
    once = [str(kept[n]) for kept in words if kept[n] and kept.count(kept[n]) == 1] or [""]
    return [w for w in once if total_row(Given(X, names, rows=[*[""] * n, w])).rows][:1]


def common_parts(sheet: Sheet, roles: Roles, dataset: str, wrong: Complaints) -> dict[str, Any]:
    """Return the fields of a DataTable that do not depend on the target, ids and groups."""
    notes, names = list(sheet.notes), sheet.header.names
    if codes := [f"{shown(names[j])} ({word})" for j, word in sheet.codes.items()]:
        notes.append(
            f"columns with cells that begin with 0, as codes do: {some(codes)}: read as numbers; "
            "declare codes with --categorical, or with --id."
        )
    categories = _encode(sheet, roles, notes, wrong)
    at, n = sheet.choice.columns, len(sheet.X)
    same_value = sheet.X.min(axis=0) == sheet.X.max(axis=0) if n > 1 else np.zeros(len(at), bool)
    held = np.flatnonzero(same_value)
    alone = sheet.rest is not None or len(at) < 2
    void = np.flatnonzero(np.isnan(sheet.X).all(axis=1) & (not alone)).tolist()
    if void:
        where = some([sheet.place(i) for i in void], 3)
        notes.append(
            f"{plural(len(void), 'case')} without a value in any column, which contribute only "
            f"the frequencies of classes or numbers: {where}."
        )
    if same := [shown(names[at[k]]) for k in held.tolist()]:
        one_value = plural(len(same), "column")
        notes.append(f"{one_value} of one value, without information: {some(same)}.")
    return {
        "categories": categories,
        "X": sheet.X if sheet.rest is None else hstack([csc_array(sheet.X), sheet.rest], "csc"),
        "names": tuple(names[j] for j in sheet.choice.columns),
        "group_name": roles.group or "",
        "dataset": dataset,
        "cells": sheet.cells,
        "notes": tuple(notes_together(notes)),
        "left_out": roles.left_out,
        "aside": written_aside(roles, sheet),
        "insisted": roles.task == "classes",
        "categorical": frozenset(roles.categorical),
        "positive": roles.positive,
    }


_LABEL = {"0": 0, "0.0": 0, "false": 0, "1": 1, "1.0": 1, "true": 1}


def label_table(columns: Mapping[str, Sequence[Any]], sheet: Sheet) -> Indices:
    """Return the (n, K) table of 0 and 1 in several columns of labels."""
    table = np.empty((len(sheet.X), len(columns)), dtype=np.intp)
    for k, (name, words) in enumerate(columns.items()):
        for i, word in enumerate(words):
            found = _LABEL.get(str(word).strip().lower())
            if word is None or not str(word).strip() or sheet.cells.is_missing(str(word)):
                raise PsephosError(
                    f"the label {shown(name)} is missing in {sheet.place(i)}: write 0 or 1, or "
                    "leave the row out."
                )
            if found is None:
                raise PsephosError(
                    f"the label {shown(name)} is {shown(str(word), CELL)} in {sheet.place(i)}: "
                    "each of several targets must be a column of 0 and 1 (or false and true), "
                    "whether the case has the label. A column of classes or numbers must be the "
                    "only target. (For time to event use scikit-survival.)"
                )
            table[i, k] = found
    return table


def _encode(
    sheet: Sheet, roles: Roles, notes: list[str], wrong: Complaints
) -> dict[int, tuple[str, ...]]:
    """Write the codes of words into the table, and return the levels of categorical columns."""
    names = sheet.header.names
    categories: dict[int, tuple[str, ...]] = {}
    gone, kept = dict[str, None](), ""  # words read as missing in columns of categories
    digits = list[str]()  # columns of numbers that the file declares categorical
    for k, j in enumerate(sheet.choice.columns[: sheet.X.shape[1]]):
        if j not in sheet.words:
            continue
        words, numbers = cells_or_none(sheet.words[j], sheet), None
        with wrong.gather():
            if names[j] not in sheet.header.declared.union(roles.categorical):
                numbers = _numbers_written(names[j], words, sheet, k, notes)
            if numbers is not None:
                sheet.X[:, k] = numbers
            else:
                sheet.X[:, k], categories[k] = coded(words)
                if names[j] not in roles.categorical and None not in map(value_of, categories[k]):
                    digits.append(names[j])
                held = zip(sheet.words[j], words, strict=True)
                usual = {cell for cell, word in held if word is None and type(cell) is str}
                found = usual & {*MISSING} - {""}
                kept = kept or min(found, default="")
                gone |= {f"{word!r} in {shown(names[j])}": None for word in sorted(found)}
    if gone:
        notes.append(
            f"values that are read as missing in columns of categories: {some(list(gone))}; "
            f"--keep-word makes one a category (--keep-word {kept})."
        )
    if digits:
        notes.append(
            "read as categories because of their type, though all values are numbers: "
            f"{quoted(digits)}; to learn from them as numbers, store numbers in the file."
        )
    with wrong.gather():
        place = row_words if sheet.lines is None else sheet.place
        refuse_farthest(sheet.X, [names[j] for j in sheet.choice.columns], place)
    return categories


def _numbers_written(
    name: str, words: Sequence[Any], sheet: Sheet, k: int, notes: list[str]
) -> list[float] | None:
    """Return the numbers of a column that are all written in one other form, else None.

    Raise PsephosError if the cells cannot be categories either.
    """
    given = with_words(sheet.X[:, k], words)
    read, odd, unit = numbers_among(name, given, sheet.cells, sheet.place, notes)
    sheet.cells = sheet.cells.with_unit(name, unit)
    if None not in read:
        return [math.nan if v is None else v for v in read]
    found = in_one_form(name, read, odd, sheet.cells, notes)
    other = "decimal comma" if sheet.cells.decimal == "." else "decimal point"
    stray = [i for i, w in enumerate(odd) if w is not None and number_form(w) == other]
    if stray and any(v is not None and math.isfinite(v) and v % 1 for v in read):
        numbers = [w for w, v in zip(words, read, strict=True) if v is not None and v == v]
        typed = all(isinstance(w, Typed) for w in numbers)  # cells of a workbook have no mark
        mark = "," if other == "decimal comma" else "."
        where = some([f"{shown(odd[i], CELL)} in {sheet.place(i)}" for i in stray], 3)
        raise PsephosError(
            f"column {shown(name)} has texts with the decimal mark {mark} ({where}) besides "
            + (f"numbers: read the texts with --decimal {mark}" if typed else
               f"numbers with the decimal mark {sheet.cells.decimal}: correct the texts")
            + f", or {COMMAND.drop.format(shown(name))}."
        ).settled_by(*[("--decimal", mark)] * typed)  # fmt: skip
    above = [one is not None for one in odd[:-1]]
    if found is None and any(above) and all(w or v != v for w, v in zip(above, read, strict=False)):
        for word in () if read[-1] is None or read[-1] != read[-1] else total_words(sheet):
            raise PsephosError(
                f"column {shown(name)} has words, and {read[-1]:.12g} in "
                f"{sheet.place(len(above))}, a row of sums or means ({word}): leave that last row "
                "out (--skip-last 1)."
            ).settled_by(("--skip-last", "1"))
    if found is None:
        n_numbers = sum(v is not None and v == v for v in read)
        holds_words(name, odd, n_numbers, sheet.place, cells=sheet.cells)
    return found


def cells_or_none(words: Sequence[Cell], sheet: Sheet) -> list[Any]:
    """Return cells as they are written, None where missing."""
    gone = sheet.cells.is_missing
    return [None if w is None or (isinstance(w, str) and gone(w)) else w for w in words]


def labels_in(name: str, sheet: Sheet, mark: str | None = None) -> list[Any]:
    """Return a column of labels, None where missing; codes become the classes the file names.

    `mark` is the value of rows without a label.
    """
    classes = sheet.header.classes
    found = cells_or_none(sheet.words[sheet.header.names.index(name)], sheet)
    if not classes:
        return found
    known = dict(zip(map(str, range(len(classes))), classes, strict=True))
    for i, word in enumerate(found):
        if isinstance(word, Typed) and word != mark:
            if word not in known:
                raise PsephosError(
                    f"{name!r} of {sheet.header.file!r} holds the code {word}, but 'classes' names "
                    f"{len(classes)} classes (codes 0 to {len(classes) - 1}): give these codes, or "
                    "leave 'classes' out. (--unlabeled is the value of rows without a label.)"
                )
            found[i] = known[word]
    return found


def per_row(
    apart: dict[str, list[Any]], flag: str, named: str | None, sheet: Sheet, wrong: Complaints
) -> Array | None:
    """Return the values of a column of ids or groups; None without one, or with missing values."""
    name, form = group_named(named) if flag == "--group" else (named, None)
    if name is None:
        return None
    words = cells_or_none(apart[flag], sheet)
    if form is not None:
        stems = [None if word is None else stem_of(str(word), form) for word in words]
        odd = [i for i in range(len(words)) if words[i] is not None and stems[i] is None]
        with wrong.gather():
            if odd:
                raise PsephosError(
                    f"column {shown(name)} has {shown(words[odd[0]], CELL)} in "
                    f"{sheet.place(odd[0])}, which does not match {form} (--group): give a "
                    "pattern that all values match, or a column that names the groups."
                )
        words = words if odd else stems
    empty = [i for i, word in enumerate(words) if word is None]
    known = word_array([word for word in words if word is not None])
    with wrong.gather():
        if empty:
            more = f" and {len(empty) - 1} more" if len(empty) > 1 else ""
            cell = apart[flag][empty[0]] or ""
            which = "is empty"
            advice = "fill it in, or remove the row."
            if cell in MISSING and cell:
                which = f"holds {cell!r}, which is read as missing,"
                advice = f"fill it in, or keep it as a value (--keep-word {cell})."
            elif cell:
                which = f"holds {shown(str(cell), CELL)}, which --missing names,"
                advice = f"name the columns in which it means missing: --missing COLUMN={cell}."
            raise PsephosError(
                f"the {flag.removeprefix('--')} column {shown(name)} {which} in "
                f"{sheet.place(empty[0])}{more}: {advice}"
            )
    with wrong.gather():
        if flag == "--id":
            groupable = "--group" not in apart and name != sheet.header.row_names
            check_ids(known, len(known), name if groupable else "")
    return None if empty else known


def written_aside(roles: Roles, sheet: Sheet) -> dict[str, list[str]]:
    """Return the cells of columns that are left out or name the cases: they may name subjects."""
    at = {name: sheet.header.names.index(name) for name in (*roles.drop, roles.id) if name}
    cells = {n: cells_or_none(sheet.words[j], sheet) for n, j in at.items() if j in sheet.words}
    return {name: ["" if w is None else str(w) for w in column] for name, column in cells.items()}


def with_row_names(roles: Roles, header: Header) -> Roles:
    """Return the roles with a first column without a name as the id, or left out."""
    name, roles = header.row_names, roles.of_header(header.names)
    if name is None:
        return roles
    if roles.id in (None, name):
        return replace(roles, id=name, row_names=None if roles.id else name)
    return replace(roles, drop=(*roles.drop, name))


def without_empty(roles: Roles, sheet: Sheet) -> Roles:
    """Return the roles of `with_row_names`; a first column that is empty is left out."""
    name = sheet.header.row_names
    if name is None or roles.id is not None:
        return with_row_names(roles, sheet.header)
    cells = cells_or_none(sheet.words[sheet.header.names.index(name)], sheet)
    if any(one is not None for one in cells):
        return with_row_names(roles, sheet.header)
    sheet.notes.append("the first column is left out: it has no name, and its cells are empty.")
    roles = roles.of_header(sheet.header.names)
    return replace(roles, drop=(*roles.drop, name))
