"""The cohort: its cases on the columns a model reads, and its labels as the model's classes."""

import warnings
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import compress
from typing import Any, Self

import narwhals.stable.v2 as nw
import numpy as np

from psephos._errors import PsephosError
from psephos._types import Array, Cell, Floats, Indices, LabelsLike, NDArray, PerRow
from psephos.estimator.columns import as_frame, is_missing
from psephos.estimator.input import as_given
from psephos.estimator.vote_estimator import VoteEstimator
from psephos.files.names import listed, plural
from psephos.files.near import quoted, shown
from psephos.files.spelling import alike, nearly, renaming_words
from psephos.protocol.tables.joining import LabelMatches, but_blank, key_of_label, renaming
from psephos.protocol.tables.roles import Classes
from psephos.validation.numbers import numbers_of

_LISTED = 6


_SHARED = 12  # groups whose measures are listed one by one, at most


@dataclass(frozen=True)
class Cohort:
    """Cases with known classes or numbers, on the columns that a reduced model reads.

    Parameters
    ----------
    X : ndarray of shape (n, q), float64
        NaN where missing, categories as the model's codes.
    codes : ndarray of shape (n,)
        The class of each case in the order of the model's classes; or its number.
    ids : list of str
    lacking : tuple of int
        Positions of columns that are not in the cohort, or have no value in any case.
    groups : ndarray of shape (n,), default=None
        Cases that belong together.
    by : mapping of str to list
        For each subgrouping the level of each case, in words.
    notes : list of str
        Sentences on how the cohort was read.
    renamed : mapping of str to (str or None)
        What labels were taken as; None: left out.
    """

    X: Floats
    codes: NDArray[Any]
    ids: list[str]
    lacking: tuple[int, ...]
    groups: Array | None = None
    by: Mapping[str, list[str]] = field(default_factory=dict[str, list[str]])
    notes: list[str] = field(default_factory=list[str])
    renamed: Mapping[str, str | None] = field(default_factory=dict[str, str | None])

    def of_known_classes(self) -> Self:
        """Return the cohort without the cases of classes that are left out (a code of -1)."""
        kept = self.codes != -1
        n = int((~kept).sum())
        if not n:
            return self
        if not kept.any():
            raise PsephosError("--classes leaves out every case: name a class that stays.")
        note = f"{plural(n, 'case')} of classes that are left out (--classes)."
        parts = {name: getattr(self, name) for name in ("X", "ids", "groups", "by")}
        notes = [*self.notes, note]
        return replace(self, codes=self.codes[kept], **_of_cases(parts, kept) | {"notes": notes})

    def subgroupings(self, groups: list[str], answered: list[str]) -> dict[str, list[str]]:
        """Return `by` with "group", if groups are few, and "answered", if a case has no answer.

        Parameters
        ----------
        groups : list of str
            The group of each case, in words; empty without groups.
        answered : list of str
            yes or no for each case.
        """
        by = dict(self.by)
        if len(set(groups)) in range(1, _SHARED + 1):
            by.setdefault("group", groups)
        if "no" in answered:
            by.setdefault("answered", answered)
        return by


def reading_model(model: VoteEstimator) -> Any:
    """Return the model on the columns it reads.

    Raises
    ------
    PsephosError
        If it is not a fitted model that predicts one class, or one number, for each case.
    """
    target: Any = getattr(getattr(model, "vote_", None), "target", None)
    if target is None or target.kind == "multilabel" or hasattr(target, "names"):
        raise PsephosError(
            f"model must be a fitted model that predicts one class, or one number, for each case; "
            f"got {type(model).__name__}."
        )
    return model.reduce()


def cohort_of(
    model: Any,
    X: Any,
    y: LabelsLike,
    *,
    groups: PerRow = None,
    by: Mapping[str, Any] | None = None,
    classes: Classes | None = None,
    ids: Any = None,
) -> Cohort:
    """Return the cohort of a table in memory for a model on the columns it reads.

    `model` is a reduced one; the other parameters are those of `validate`.
    """
    X = as_given(X)
    frame, schema = as_frame(X), model.schema_
    labels = _column(y, "y")
    if not labels:
        raise PsephosError("the cohort must have at least one case; got none.")
    absent, notes = list[int](), list[str]()
    if frame is not None and schema.names is not None:
        names = [str(name) for name in frame.columns]
        absent = [j for j, name in enumerate(schema.names) if name not in names]
        near = nearly((schema.names[j] for j in absent), {*names} - {*schema.names})
        _refuse_empty(absent, model, renaming_words(near))
        if near:
            notes = [f"X has no column {quoted(near)}: taken as missing.{renaming_words(near)}"]
            warnings.warn(notes[0], stacklevel=3)
        gaps = [nw.lit(None, dtype=nw.Float64).alias(schema.names[j]) for j in absent]
        X = frame.with_columns(*gaps).to_native() if gaps else X
    elif frame is None and np.ndim(X) == 2 and np.shape(X)[1] != schema.n_features:
        raise PsephosError(
            f"X has {np.shape(X)[1]} columns without names, and the model reads "
            f"{schema.n_features}: give a frame with names, or the columns of "
            "model.reduce() in that order."
        )
    table = model._table(X)
    values: Any = table.dense()
    n = len(values)
    names = [str(one) for one in (table.rows.tolist() if ids is None else ids)]
    levels = {
        str(name): ["missing" if is_missing(v) else str(v) for v in _column(column, str(name))]
        for name, column in (by or {}).items()
    }
    own = None if groups is None else np.asarray(groups, dtype=object)
    whole = {"y": labels, "ids": names, **{f"by {name}": v for name, v in levels.items()}}
    for name, column in (whole | ({} if own is None else {"groups": own})).items():
        if len(column) != n:
            raise PsephosError(f"{name!r} has {len(column)} values for {n} rows.")
    parts = {"ids": names, "groups": own, "by": levels, "notes": notes}
    return known_cohort(model, labels, classes, X=values, **parts)


def known_cohort(model: Any, labels: list[Any], classes: Classes | None, **parts: Any) -> Cohort:
    """Return the cohort of cases with these labels, or with numbers."""
    known = np.array([not is_missing(label) and label != "" for label in labels])
    if len(given := but_blank(classes or ())) < len(classes or ()) and known.any():
        n = int((~known).sum())
        notes = [f"{plural(n, 'case')} without a label: left out (--classes =)."] * bool(n)
        parts = _of_cases(parts, known) | {"notes": [*parts.get("notes", ()), *notes]}
        labels, classes = list(compress(labels, known.tolist())), given
    ids = parts["ids"]
    if model.vote_.target.n_classes:
        codes, renamed = labels_of(labels, model, classes, ids)
    elif classes:
        raise PsephosError(
            f"classes (--classes) needs a classifier, and {type(model).__name__} predicts numbers: "
            "leave it out."
        )
    else:
        codes, renamed = numbers_of(labels, ids), {}
    cohort = Cohort(codes=codes, renamed=renamed, lacking=(), **parts)
    cohort = cohort.of_known_classes() if model.vote_.target.n_classes else cohort
    return replace(cohort, lacking=empty_columns(cohort.X, model))


def _of_cases(parts: Mapping[str, Any], kept: NDArray[np.bool_]) -> dict[str, Any]:
    """Return the parts of a cohort, by name, with only the cases that are kept."""
    by = {name: list(compress(own, kept)) for name, own in (parts.get("by") or {}).items()}
    groups = parts.get("groups")
    cases = {"X": parts["X"][kept], "ids": list(compress(parts["ids"], kept)), "by": by}
    return {**parts, **cases, "groups": None if groups is None else groups[kept]}


def empty_columns(X: Floats, model: VoteEstimator) -> tuple[int, ...]:
    """Return the columns without any value; raise PsephosError if the model reads no others."""
    if not len(model.vote_.columns):  # it predicts without any
        return ()
    none = np.flatnonzero(np.isnan(X).all(axis=0)).tolist()
    _refuse_empty(none, model)
    return tuple(none)


def _refuse_empty(none: Sequence[int], model: VoteEstimator, hint: str = "") -> None:
    names = model.schema_.words().columns
    if len(none) == len(names) and len(model.vote_.columns):
        raise PsephosError(
            f"the cohort has none of the {len(names)} columns that the model reads ("
            f"{_listed([shown(name) for name in names])}): it cannot predict.{hint}"
        )


def _listed(names: Sequence[str]) -> str:
    return listed(names, _LISTED)


def labels_of(
    y: LabelsLike, model: Any, given: Classes | None, names: Sequence[str] | None = None
) -> tuple[Indices, dict[str, str | None]]:
    """Return the class index of each case, and the labels that were renamed.

    A label is the class that it equals, and a word the class that is written the same; there is no
    other match: '1.0' is not 1, True is not 1, and ' ill' or 'Ill' is not 'ill'. A renaming may
    merge labels. Labels that were merged into another class in the fit (`joined_`) become that
    class here, unless `given` renames them. The index of cases that are left out is -1.

    Parameters
    ----------
    y : array of labels
    model : estimator
    given : mapping, or sequence of str 'OLD=NEW'
        From labels of the cohort to classes of the model (see `renaming`).
    names : sequence of str, default=None
        Of the cases, for messages.

    Raises
    ------
    PsephosError
        If a case has no label, a label is not a class of the model, two labels are written alike
        (1 and '1'), or a renaming names a class that the model does not have, or a label that no
        case has.
    """
    classes = model.classes_.tolist()
    known = LabelMatches(classes)
    labels = _column(y, "y")
    gone = [i for i, label in enumerate(labels) if is_missing(label) or label == ""]
    if gone:
        where = f"{gone[0]}, counted from 0" if names is None else repr(str(names[gone[0]]))
        raise PsephosError(
            f"{len(gone)} of {len(labels)} cases have no label (the first is case {where}): label "
            "them, or leave them out (--classes =)."
        )
    keys = list(dict.fromkeys(map(key_of_label, labels)))
    each: list[Any] = [label for _, label in keys]
    renamed = renaming(given, each, classes, "the cohort")
    for k, new in renamed.items():
        if new is not None and known.place(new) is None:
            raise PsephosError(
                f"--classes names {shown(new)} (for {shown(each[k])}), which is not a class of the "
                f"model: it has {_listed(known.words)}."
            )
    for k, label in enumerate(each):
        if k not in renamed and known.place(label) is None and str(label) in model.joined_:
            renamed[k] = model.joined_[str(label)][0]
    taken = dict(enumerate(each)) | renamed
    places = [-1 if one is None else known.place(one) for one in taken.values()]
    strange = [shown(label) for label, place in zip(each, places, strict=True) if place is None]
    if strange:
        raise PsephosError(
            f"the cohort has labels that are not classes of the model: {_listed(strange)}. The "
            f"model has {_listed(known.words)}; --classes old=new (classes=) maps labels to classes"
            f"{_near(labels, classes)}, and 'old=' leaves their cases out."
        )
    for k, (kind, value) in enumerate(keys):
        word = ("word", str(value))
        if kind != "word" and word in keys and not {k, keys.index(word)} & renamed.keys():
            raise PsephosError(
                f"the cohort has the label {shown(value)} both as a {kind} and as a word: write "
                "it one way, or in two different ways if these are two classes."
            )
    code = dict(zip(keys, places, strict=True))
    took = {str(each[k]): None if new is None else str(new) for k, new in renamed.items()}
    return np.array([code[key_of_label(label)] for label in labels], dtype=np.intp), took


def _near(labels: Sequence[Cell], classes: Sequence[Cell]) -> str:
    """Return an example that renames a label to the class it resembles; '' without such a class."""
    counts, known = Counter(map(str, labels)), [str(one) for one in classes]
    for same in alike({**counts, **dict.fromkeys(known)}):
        to = [word for word in same if word in known]
        of = [word for word in same if word not in known]
        if of and len(to) == 1:
            return f" ({shown(f'{of[0]}={to[0]}')} for {plural(counts[of[0]], 'case')})"
    return ""


def _column(values: Any, what: str) -> list[Any]:
    """Return a column as a list, each value as it is."""
    column = np.asarray(values, dtype=object)
    if column.ndim == 2 and column.shape[1] == 1:
        column = column[:, 0]
    if column.ndim != 1:
        raise PsephosError(f"{what} has shape {column.shape}: give one value per row.")
    return column.tolist()
