"""The cohort: its cases on the columns a model reads, and its labels in the model's own."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import narwhals.stable.v2 as nw
import numpy as np

from psephos._errors import PsephosError
from psephos._types import Array, Cell, Floats, Indices, Label, LabelsLike, NDArray, PerRow
from psephos.estimator.columns import as_frame, is_missing
from psephos.estimator.input import as_given
from psephos.estimator.vote_estimator import VoteEstimator
from psephos.files.levels import alike
from psephos.files.near import shown
from psephos.validation.numbers import numbers_of
from psephos.vote.names import listed, plural

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
        For each subgrouping a level a case, in words.
    notes : list of str
        Sentences on how the cohort was read.
    """

    X: Floats
    codes: NDArray[Any]
    ids: list[str]
    lacking: tuple[int, ...]
    groups: Array | None = None
    by: Mapping[str, list[str]] = field(default_factory=dict[str, list[str]])
    notes: list[str] = field(default_factory=list[str])

    def subgroupings(self, groups: list[str], answered: list[str]) -> dict[str, list[str]]:
        """Return those of `by`, groups if they are few, and answered if a case is not: yes or no.

        Parameters
        ----------
        groups : list of str
            The group of each case, in words; empty without groups.
        answered : list of str
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
        If it is not a fitted model of one class, or one number, a case.
    """
    target: Any = getattr(getattr(model, "vote_", None), "target", None)
    if target is None or target.kind == "multilabel" or hasattr(target, "names"):
        raise PsephosError(
            f"{type(model).__name__} is not a fitted model of one class, or one number, a case: "
            "validate judges those alone."
        )
    return model.reduce()


def cohort_of(
    model: Any,
    X: Any,
    y: LabelsLike,
    *,
    groups: PerRow = None,
    by: Mapping[str, Any] | None = None,
    classes: Mapping[Any, Any] | None = None,
    ids: Any = None,
) -> Cohort:
    """Return the cohort of a table in memory for a model on the columns it reads.

    `model` is a reduced one; the other parameters are those of `validate`.
    """
    X = as_given(X)
    frame, schema = as_frame(X), model.schema_
    if not isinstance(classes or {}, Mapping):
        raise PsephosError("classes must be a dict, from labels of the cohort to the model's.")
    labels = _column(y, "y")
    if not labels:
        raise PsephosError("the cohort has no case: nothing can be said of the model by it.")
    absent: list[int] = []
    if frame is not None and schema.names is not None:
        names = [str(name) for name in frame.columns]
        absent = [j for j, name in enumerate(schema.names) if name not in names]
        _refuse_empty(absent, model)
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
    told = {
        str(name): ["missing" if is_missing(v) else str(v) for v in _column(column, str(name))]
        for name, column in (by or {}).items()
    }
    own = None if groups is None else np.asarray(groups, dtype=object)
    whole = {"y": labels, "ids": names, **{f"by {name}": v for name, v in told.items()}}
    for name, column in (whole | ({} if own is None else {"groups": own})).items():
        if len(column) != n:
            raise PsephosError(f"{name!r} has {len(column)} values for {n} rows.")
    if model.vote_.target.n_classes:
        codes = labels_of(labels, model.classes_, classes or {}, names)
    else:
        codes = numbers_of(labels, names)
    return Cohort(values, codes, names, empty_columns(values, model), own, told)


def empty_columns(X: Floats, model: VoteEstimator) -> tuple[int, ...]:
    """Return the columns without any value; raise PsephosError if those are all that it reads."""
    if not len(model.vote_.columns):  # it answers without any
        return ()
    none = np.flatnonzero(np.isnan(X).all(axis=0)).tolist()
    _refuse_empty(none, model)
    return tuple(none)


def _refuse_empty(none: Sequence[int], model: VoteEstimator) -> None:
    names = model.schema_.words().columns
    if len(none) == len(names) and len(model.vote_.columns):
        raise PsephosError(
            f"the cohort has none of the {len(names)} columns that the model reads ("
            f"{_listed([shown(name) for name in names])}): there is nothing to answer by."
        )


def _listed(names: Sequence[str]) -> str:
    return listed(names, _LISTED)


def labels_of(
    y: LabelsLike,
    classes: Array,
    renamed: Mapping[Any, Any],
    names: Sequence[str] | None = None,
) -> Indices:
    """Return the class of each case as its place among the model's.

    A label is the class that it equals, a word the class that is written so; nothing else is: '1.0'
    is not 1, True is not 1, and ' ill' or 'Ill' is not 'ill'. A renaming may join labels.

    Parameters
    ----------
    y : array of labels
    classes : ndarray
        The model's.
    renamed : mapping
        From a label of the cohort to one of the model.
    names : sequence of str, default=None
        Of the cases, for messages.

    Raises
    ------
    PsephosError
        If a case has no label, a label is no class of the model, two labels are written alike
        (1 and '1'), or a renaming names a class that the model has not, or a label that no case
        has.
    """
    known = LabelMatches(classes.tolist())
    target = [known.place(new) for new in renamed.values()]
    for old, new, place in zip(renamed, renamed.values(), target, strict=True):
        if place is None:
            raise PsephosError(
                f"--classes names {_quoted(new)} (for {_quoted(old)}), which is no class of the "
                f"model: it has {_listed(known.words)}."
            )
    labels = _column(y, "y")
    gone = [i for i, label in enumerate(labels) if is_missing(label) or label == ""]
    if gone:
        where = f"{gone[0]}, counted from 0" if names is None else repr(str(names[gone[0]]))
        raise PsephosError(
            f"{len(gone)} of {len(labels)} cases have no label (the first is case {where}): leave "
            "them out, for nothing can be said of their answers."
        )
    given = LabelMatches(list(renamed))
    said = {_key(label): given.place(label) for label in labels}
    found = {key: known.place(key[1]) if old is None else target[old] for key, old in said.items()}
    for old, label in enumerate(renamed):
        if old not in said.values():
            raise PsephosError(
                f"--classes renames {_quoted(label)}, which no case of the cohort has: its labels "
                f"are {_listed(_distinct(labels))}."
            )
    strange = _distinct([label for label in labels if found[_key(label)] is None])
    if strange:
        raise PsephosError(
            f"the cohort has labels that are no class of the model: {_listed(strange)}. The model "
            f"has {_listed(known.words)}; --classes old=new (classes=) maps labels to classes"
            f"{_near(labels, classes.tolist())}, and cases of other classes are left out before."
        )
    for kind, value in found:
        word = ("word", str(value))
        if kind != "word" and word in found and said[kind, value] is said[word] is None:
            raise PsephosError(
                f"the cohort has the label {_quoted(value)} both as a {kind} and as a word: write "
                "it in one way, or as two if these are two classes."
            )
    return np.array([found[_key(label)] for label in labels], dtype=np.intp)


def _near(labels: Sequence[Cell], classes: Sequence[Cell]) -> str:
    """Return how to join a label to the class that it seems to be; '' where there is not one."""
    counts, known = Counter(map(str, labels)), [str(one) for one in classes]
    for same in alike({**counts, **dict.fromkeys(known)}):
        to = [word for word in same if word in known]
        of = [word for word in same if word not in known]
        if of and len(to) == 1:
            return f" ({shown(f'{of[0]}={to[0]}')} for {plural(counts[of[0]], 'case')})"
    return ""


def _key(label: Any) -> tuple[str, Any]:
    """Return what a label is: truth values, numbers and words are never one another."""
    value = label.item() if isinstance(label, np.generic) else label
    if isinstance(value, bool):
        return "truth value", value
    return ("number" if isinstance(value, int | float) else "word"), value


class LabelMatches:
    """Where a label stands among others: it is the one it equals, or that is written so."""

    def __init__(self, labels: Sequence[Any]) -> None:
        self._places = {_key(label): place for place, label in enumerate(labels)}
        self.words = [_quoted(label) for label in labels]
        self._written = {str(label): place for place, label in enumerate(labels)}

    def place(self, label: Label) -> int | None:
        """Return the place of a label; None if it is none of these."""
        kind, value = _key(label)
        found = self._places.get((kind, value))
        if found is None and (kind == "word" or ("word", str(value)) in self._places):
            return self._written.get(str(value))
        return found


def _quoted(label: Label) -> str:
    """Return a label as it is, so that spaces, and words that write numbers, are seen."""
    return shown(_key(label)[1])


def _distinct(labels: Sequence[Cell]) -> list[str]:
    return [_quoted(label) for _, label in dict.fromkeys(map(_key, labels))]


def _column(values: Any, what: str) -> list[Any]:
    """Return a column as a list, each value as it is."""
    column = np.asarray(values, dtype=object)
    if column.ndim == 2 and column.shape[1] == 1:
        column = column[:, 0]
    if column.ndim != 1:
        raise PsephosError(f"{what} has shape {column.shape}: give one value per row.")
    return column.tolist()
