"""Classes that are joined, renamed or left out before anything is learnt or measured: OLD=NEW."""

from collections import Counter
from collections.abc import Mapping, Sequence
from numbers import Number
from typing import Any, TypeAlias, cast

import numpy as np

from psephos._errors import PsephosError, PsephosTypeError
from psephos._types import Cell, Label
from psephos.estimator.columns import is_missing
from psephos.files.names import joined_words, plural
from psephos.files.near import quoted, shown
from psephos.files.sheet import Sheet
from psephos.protocol.tables.labels import label_word, read_answers, together, written_labels
from psephos.protocol.tables.roles import Classes, Roles, labels_in, rows_of

#: For each class that was named the new class (None: left out), and its number of rows.
Joined: TypeAlias = dict[str, tuple[str | None, int]]

REST = "*"


def key_of_label(label: Any) -> tuple[str, Any]:
    """Return the kind and value of a label: labels of different kinds are never equal."""
    value: Any = cast("Any", label).item() if isinstance(label, np.generic) else label
    if isinstance(value, bool):
        return "truth value", value
    return ("number" if isinstance(value, int | float) else "word"), value


class LabelMatches:
    """The indices of labels: a label is found if it is equal, or written in the same way."""

    def __init__(self, labels: Sequence[Label]) -> None:
        self._places = {key_of_label(label): place for place, label in enumerate(labels)}
        self.words = [shown(key_of_label(label)[1]) for label in labels]
        self._written = {str(label): place for place, label in enumerate(labels)}

    def place(self, label: Label) -> int | None:
        """Return the index of a label, or None."""
        kind, value = key_of_label(label)
        found = self._places.get((kind, value))
        if found is None and (kind == "word" or ("word", str(value)) in self._places):
            return self._written.get(str(value))
        return found


def renaming(
    given: Classes | None, labels: Sequence[Label], classes: Sequence[Label], whose: str
) -> dict[int, Label | None]:
    """Return the new class of each renamed label, by index; None for those left out.

    Parameters
    ----------
    given : mapping of labels to classes, or sequence of str, 'OLD=NEW'
        OLD is a label, several separated by commas, or ``*``: all labels that are on neither side
        of another. Labels may contain = and commas: OLD is matched to the labels there are. NEW is
        empty (None in a mapping) for labels that are left out.
    labels : sequence
        All different.
    classes : sequence
        Allowed values of NEW; empty: any.
    whose : str
        The owner of the labels, for messages.

    Raises
    ------
    PsephosError
        If a text is not OLD=NEW or is ambiguous, or a label does not occur or is named twice.
    """
    known, new_ones = LabelMatches(labels), LabelMatches(classes)
    if isinstance(given, Mapping):
        pairs = list(given.items())
    elif not isinstance(given, str) and all(
        isinstance(one, str) for one in cast("Sequence[object]", given or ())
    ):
        pairs = [pair for text in given or () for pair in _pairs(text, known, new_ones)]
    else:
        raise PsephosError("classes must be a dict from labels to classes, or a list of 'OLD=NEW'.")
    for old, new in pairs:
        if not isinstance(new, str | Number | np.generic | None):
            raise PsephosTypeError(
                "classes must be a dict from each label to one class, such as {'B': 'A'} to take B "
                f"as A; got {old!r}: {new!r}."
            )
    olds = [old for old, _ in pairs]
    if twice := [old for k, old in enumerate(olds) if old in olds[:k]]:
        raise PsephosError(f"--classes names {shown(twice[0])} twice.")
    of, stays = LabelMatches(olds), LabelMatches([new for _, new in pairs if new is not None])
    own = [of.place(label) for label in labels]
    for place, old in enumerate(olds):
        if place not in own and old != REST:
            raise PsephosError(
                f"--classes renames {shown(old)}, which no case of {whose} has: its labels are "
                f"{quoted(labels)}."
            )
    found = {k: pairs[place][1] for k, place in enumerate(own) if place is not None}
    if REST in olds:
        rest = [k for k, one in enumerate(labels) if k not in found and stays.place(one) is None]
        found |= dict.fromkeys(rest, pairs[olds.index(REST)][1])
    return found


def _pairs(
    text: str, known: LabelMatches, classes: LabelMatches
) -> list[tuple[Label, Label | None]]:
    """Return pairs of label and class of OLD=NEW, split at the = that fits labels and classes."""
    parts = text.split("=")
    ends = [
        ("=".join(parts[:k]).strip(), "=".join(parts[k:]).strip()) for k in range(1, len(parts))
    ]
    ways = [(_labels_in(old, known), new) for old, new in ends if old]
    if not ways:
        raise PsephosError(f"--classes {text!r} must be OLD=NEW, such as --classes CRC=cancer.")
    fits = [
        (olds, new)
        for olds, new in ways
        if all(old == REST or known.place(old) is not None for old in olds)
        and (not (new and classes.words) or classes.place(new) is not None)
    ]
    if len(fits) > 1:
        each = " or ".join(f"{quoted(olds)} is {new!r}" for olds, new in fits)
        raise PsephosError(
            f"--classes {text!r} may mean that {each}: rename that label in the table, or give "
            "classes= in Python."
        )
    olds, new = (fits or ways)[0]
    return [(old, new or None) for old in olds]


def _labels_in(text: str, known: LabelMatches) -> list[str]:
    """Split at commas into labels, taking the longest that exists: a label may hold a comma."""
    parts, found = text.split(","), list[str]()
    while parts:
        words = [",".join(parts[:k]).strip() for k in range(len(parts), 0, -1)]
        fits = [k for k, word in enumerate(words) if known.place(word) is not None]
        found.append(words[fits[0] if fits else -1])
        parts = parts[len(parts) - (fits[0] if fits else len(parts) - 1) :]
    return found


# ------------------------------------------------------------------- before anything is learnt
def join_classes(
    columns: Sequence[Sequence[Cell]], given: Classes, target: str
) -> tuple[list[list[Label | None]], list[int], Joined, list[str]]:
    """Return columns of labels with joined classes, the rows kept, `Joined`, and notes.

    `columns` are the words of the target, and of the truth if it is given, None without a label.
    A class cannot be renamed to one that is itself renamed.
    """
    words = [[None if is_missing(v) else str(v) for v in column] for column in columns]
    labels = sorted({v for column in words for v in column if v is not None})
    named = but_blank(given)
    left = [v is None and len(named) < len(given) for v in words[0]]
    found = renaming(named, labels, (), f"the target {shown(target)}")
    new = {labels[k]: label_word(one) for k, one in found.items()}
    for old, one in new.items():
        if one in new and new[one] != one:
            raise PsephosError(
                f"--classes renames {shown(old)} to {shown(one)}, and {shown(one)} as well: choose "
                "another name, so that a label has one meaning."
            )
    gone = {old for old, one in new.items() if one is None}
    rows = zip(*words, strict=True)
    kept = [i for i, row in enumerate(rows) if not left[i] and gone.isdisjoint(row)]
    if not kept:
        raise PsephosError("--classes leaves out every row: name a class that stays.")
    rest = [[None if (v := column[i]) is None else new.get(v, v) for i in kept] for column in words]
    typed = written_labels(sorted({v for c in rest for v in c if v is not None}), target, str)
    label = {str(v): v for v in typed.tolist()}
    counts = Counter(words[0])
    became = {old: (one, counts[old]) for old, one in new.items()}
    notes = [f"{target} has no class in {plural(sum(left), 'row')}: left out (--classes =)."]
    notes = notes * (len(named) < len(given)) + [joined_words(became)] * bool(became)
    return [[v if v is None else label[v] for v in c] for c in rest], kept, became, notes


def refuse_joining(target: str, holds: str) -> PsephosError:
    """Return the error on a target that does not have one class per row."""
    return PsephosError(
        f"--classes (classes=) joins classes, and the target {shown(target)} holds {holds}: leave "
        "it out" + (", or give --task classes." if holds == "numbers" else ".")
    )


def but_blank(given: Classes) -> Classes:
    """Return classes without the entry that leaves out rows without a label: ``=``, '' or None."""
    if isinstance(given, Mapping):
        return {old: new for old, new in given.items() if old not in ("", None)}
    return given if isinstance(given, str) else [one for one in given if str(one).strip() != "="]


def with_classes(sheet: Sheet, roles: Roles) -> tuple[Sheet, Joined]:
    """Return a sheet with joined classes, without the rows of classes that are left out."""
    if not roles.classes:
        return sheet, {}
    names, target = sheet.header.names, roles.target[0]
    named = [target, *([roles.truth] if roles.truth else [])]
    if len(roles.target) > 1:
        raise refuse_joining(together(roles.target), "labels of which a case may have several")
    columns = [labels_in(one, sheet, roles.unlabeled) for one in named]
    if not roles.partly:
        every = len(but_blank(roles.classes)) == len(roles.classes)
        at = [i for i, label in enumerate(columns[0]) if every or not is_missing(label)]
        given = [columns[0][i] for i in at]
        read = read_answers(given, target, sheet, lambda i: sheet.place(at[i]), roles.task, [])
        if read.dtype.kind == "f":
            raise refuse_joining(target, "numbers")
    known = [[None if v == roles.unlabeled else v for v in column] for column in columns]
    labels, kept, joined, notes = join_classes(known, roles.classes, target)
    sheet = rows_of(sheet, kept, *notes)
    for one, column in zip(named, labels, strict=True):
        before = sheet.words[names.index(one)]
        new = [w if v is None else str(v) for w, v in zip(before, column, strict=True)]
        sheet.words[names.index(one)] = new
    return sheet, joined
