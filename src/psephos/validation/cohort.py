"""The cohort: its cases on the columns a model reads, and its labels in the model's own."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import narwhals.stable.v2 as nw
import numpy as np
from numpy.typing import NDArray

from psephos._columns import as_frame, is_missing
from psephos._errors import PsephosError
from psephos._files.levels import LevelCodes
from psephos._files.near import shown
from psephos.base import VoteClassifier
from psephos.vote.names import listed

__all__ = ["Cohort", "cohort_of", "labels_of", "reading_model"]

_LISTED = 6


@dataclass(frozen=True)
class Cohort:
    """Cases with known classes, on the columns that a reduced model reads.

    Parameters
    ----------
    X : ndarray of shape (n, q), float64
        NaN where missing, categories as the model's codes.
    codes : ndarray of shape (n,), int
        The class of each case in the order of the model's classes.
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

    X: NDArray[np.float64]
    codes: NDArray[np.intp]
    ids: list[str]
    lacking: tuple[int, ...]
    groups: NDArray[Any] | None = None
    by: Mapping[str, list[str]] = field(default_factory=dict[str, list[str]])
    notes: list[str] = field(default_factory=list[str])


def reading_model(model: Any) -> Any:
    """Return the model on the columns it reads.

    Raises
    ------
    PsephosError
        If it is no fitted classifier of one class a case.
    """
    target: Any = getattr(getattr(model, "vote_", None), "target", None)
    if not isinstance(model, VoteClassifier) or target is None or target.kind == "multilabel":
        raise PsephosError(
            f"{type(model).__name__} is no fitted classifier of one class a case: validate judges "
            "those alone."
        )
    return model.reduce()


def cohort_of(
    model: Any,
    X: Any,
    y: Any,
    *,
    groups: Any = None,
    by: Mapping[str, Any] | None = None,
    classes: Mapping[Any, Any] | None = None,
    ids: Any = None,
) -> Cohort:
    """Return the cohort of a table in memory for a model on the columns it reads.

    `model` is a reduced one; the other parameters are those of `validate`.
    """
    frame, schema = as_frame(X), model.schema_
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
    codes = labels_of(y, model.classes_, classes or {})
    n = len(values)
    if len(codes) != n:
        raise PsephosError(f"y has {len(codes)} labels for {n} rows.")
    names = [str(one) for one in table.rows.tolist()] if ids is None else [str(i) for i in ids]
    told: dict[str, list[str]] = {}
    for name, column in (by or {}).items():
        told[str(name)] = ["missing" if is_missing(v) else str(v) for v in np.asarray(column)]
    whole = {"ids": names, **{f"by {name}": v for name, v in told.items()}}
    for name, column in whole.items():
        if len(column) != n:
            raise PsephosError(f"{name!r} has {len(column)} values for {n} rows.")
    if groups is not None and len(groups) != n:
        raise PsephosError(f"groups has {len(groups)} values for {n} rows.")
    own = None if groups is None else np.asarray(groups)
    return Cohort(values, codes, names, empty_columns(values, model), own, told)


def empty_columns(X: NDArray[np.float64], model: Any) -> tuple[int, ...]:
    """Return the columns without any value; raise PsephosError if those are all that it reads."""
    if not len(model.vote_.columns):  # it answers without any
        return ()
    none = np.flatnonzero(np.isnan(X).all(axis=0)).tolist()
    _refuse_empty(none, model)
    return tuple(none)


def _refuse_empty(none: Sequence[int], model: Any) -> None:
    names = model.schema_.words().columns
    if len(none) == len(names) and len(model.vote_.columns):
        raise PsephosError(
            f"the cohort has none of the {len(names)} columns that the model reads ("
            f"{_listed(names)}): there is nothing to answer by."
        )


def _listed(names: Sequence[str]) -> str:
    return listed([shown(name) for name in names], _LISTED)


def labels_of(y: Any, classes: NDArray[Any], renamed: Mapping[Any, Any]) -> NDArray[np.intp]:
    """Return the class of each case as its place among the model's.

    Parameters
    ----------
    y : array of labels
    classes : ndarray
        The model's.
    renamed : mapping
        From a label of the cohort to one of the model.

    Raises
    ------
    PsephosError
        If a case has no label, a label is no class of the model, or a renaming names one that the
        model has not, or that no case has.
    """
    find = LevelCodes(classes.tolist())
    known = [str(one) for one in classes.tolist()]
    given = LevelCodes(list(renamed))
    target = [find.code(new) for new in renamed.values()]
    for old, new, code in zip(renamed, renamed.values(), target, strict=True):
        if code != code:
            raise PsephosError(
                f"--classes names {new!r} (for {old!r}), which is no class of the model: it has "
                f"{_listed(known)}."
            )
    labels: list[Any] = list(np.asarray(y, dtype=object).ravel())
    gone = [i for i, label in enumerate(labels) if is_missing(label) or label == ""]
    if gone:
        raise PsephosError(
            f"{len(gone)} of {len(labels)} cases have no label (the first is case {gone[0]}, "
            "counted from 0): leave them out, for nothing can be said of their answers."
        )
    old = [given.code(label) for label in labels]
    unmet = sorted(set(range(len(target))) - {int(code) for code in old if code == code})
    if unmet:
        raise PsephosError(
            f"--classes renames {list(renamed)[unmet[0]]!r}, which no case of the cohort has: its "
            f"labels are {_listed(_counted(labels))}."
        )
    pairs = zip(labels, old, strict=True)
    codes = [target[int(code)] if code == code else find.code(label) for label, code in pairs]
    strange = [str(label) for label, code in zip(labels, codes, strict=True) if code != code]
    if strange:
        raise PsephosError(
            f"the cohort has labels that are no class of the model: {_listed(_counted(strange))}. "
            f"The model has {_listed(known)}; --classes old=new says which is which, and cases of "
            "other classes are left out before."
        )
    return np.array(codes, dtype=np.intp)


def _counted(labels: Sequence[Any]) -> list[str]:
    return list(Counter(str(label) for label in labels))
