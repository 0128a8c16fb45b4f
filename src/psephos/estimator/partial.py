"""Partial labels: rows without a label, soft labels, and classes in calls of `partial_fit`."""

import warnings
from typing import Any

import numpy as np
from numpy.typing import NDArray

from psephos._errors import PsephosError
from psephos._types import Array, Estimator, Floats, Indices, Label, LabelsLike, PerRow, TableLike
from psephos.estimator import labels
from psephos.estimator.checks import check_consistent_length, column_or_1d
from psephos.estimator.columns import is_missing, plain_column

#: The message for a model that needs rows without a label and has none.
NO_UNLABELED = (
    "every row has a label; if 0 (or another label) means 'not known', give unlabeled=0 "
    "(--unlabeled 0)"
)
_ROUNDING = 1e-6
_Coded = tuple[Array, Indices, Floats]


class SoftLabels(np.ndarray):
    """Soft labels: probabilities (n, n_classes) with their classes."""

    classes: Array | None = None

    @classmethod
    def of(cls, chances: Any, classes: Any) -> "SoftLabels":
        """Return probabilities as soft labels of these classes."""
        labels = np.array(chances, dtype=np.float64).view(cls)
        labels.classes = np.asarray(classes)
        return labels


def known_rows(y: Any, unlabeled: Any = None) -> NDArray[np.bool_]:
    """Return a mask of the rows with a label: not None, NaN, or the value of `unlabeled`."""
    if isinstance(y, list | tuple):  # in an array of words NaN would be the label 'nan'
        y = np.array(y, dtype=object)
    if np.ma.isMaskedArray(y):
        masked, y = np.ma.getmaskarray(y), np.ma.getdata(y).astype(object)
        y[masked] = None
    labels = column_or_1d(plain_column(y))
    if unlabeled is not None and not isinstance(unlabeled, str | int | float | np.generic):
        raise PsephosError(f"unlabeled must be one label, such as -1 or '?'; got {unlabeled!r}.")

    def lacks(label: Label) -> bool:
        if is_missing(label):
            return True
        same = type(label) is type(unlabeled) or not isinstance(label, str | bool)
        return unlabeled is not None and same and label == unlabeled

    return np.array([not lacks(label) for label in labels.tolist()], dtype=bool)


def partial_target(
    estimator: Any, X: TableLike, y: LabelsLike, sample_weight: PerRow
) -> _Coded | None:
    """Return (classes, codes, weight) of partly missing labels; None if no label is missing.

    The code of a row without a label is -1, and its weight is its sample weight alone, since class
    weights are for labels. If the estimator learns from one labelled class (`one_class`), the other
    class is that of `classes`, or 0 for the class 1, False for True.
    """
    mark = getattr(estimator, "unlabeled", None)
    known = known_rows(y, mark)
    check_consistent_length(X, known)
    if known.all():
        if mark is not None:
            warnings.warn(
                f"no label is {mark!r} (unlabeled): every row counts as labelled.",
                UserWarning,
                stacklevel=2,
            )
        return None
    least = 1 if estimator.one_class else 2
    if not known.any():
        count = "one class needs" if least == 1 else "at least two classes need"
        raise PsephosError(f"no row of y has a label: {count} a labelled row.")
    given = np.asarray(y).ravel()[known]
    classes, found = labels.read_target(given, given, least)
    weight = labels.read_sample_weight(sample_weight, len(known))
    if not (weight[known] > 0).any():
        raise PsephosError("sample_weight is zero on every row with a label: give some weight.")
    class_weight = getattr(estimator, "class_weight", None)
    declared = getattr(estimator, "classes", None)
    if declared is None and len(classes) == 1:
        declared = _with_other(classes)
    weight[known] = labels.read_weight(
        weight[known], class_weight, classes[found], found, least, declared
    )
    if declared is not None:
        classes, found = labels.declared_classes(declared, classes, found)
    codes = np.full(len(known), -1, dtype=np.intp)
    codes[known] = found
    return classes, codes, weight


def _with_other(classes: Array) -> list[Any]:
    """Return 0 and 1, or False and True, where the second is the only class with labels."""
    only = classes.tolist()[0]
    if isinstance(only, str) or only != 1:
        raise PsephosError(
            f"all rows with a label are {only!r}: name the two classes, "
            f"classes=[<the other>, {only!r}]."
        )
    return [False, True] if isinstance(only, bool) else [type(only)(0), only]


def soft_target(
    estimator: Any, X: TableLike, y: LabelsLike, sample_weight: PerRow
) -> tuple[Array, Floats, Floats]:
    """Return (classes, soft, weight) of labels that are probabilities, one column per class.

    Classes are the columns of a data frame or those of `SoftLabels`, else the parameter `classes`,
    else 0, 1, .... A row whose probabilities are all missing has no label (all 0) if the estimator
    takes such rows. Class weights apply as if each row were one row per class, with its probability
    as a share of the weight.
    """
    soft, empty = _distributions(X, y, estimator.partial_labels)
    classes = _classes(estimator, y, soft.shape[1])
    weight = labels.read_sample_weight(sample_weight, len(soft))
    class_weight = getattr(estimator, "class_weight", None)
    if class_weight is not None:
        soft *= labels.class_factors(class_weight, classes.tolist(), weight @ soft)
        total = soft.sum(axis=1)
        weight[~empty] *= total[~empty]
        soft /= np.where(total > 0, total, 1.0)[:, None]
    if (weight @ soft > 0).sum() < 2:
        raise PsephosError("y must have at least two classes of positive probability and weight.")
    return classes, soft, weight


def _distributions(X: TableLike, y: LabelsLike, partial: bool) -> tuple[Floats, NDArray[np.bool_]]:
    """Return y with rows that sum to 1, and a mask of the rows without numbers, which are 0."""
    given: Any = y
    soft = np.array(given.toarray() if hasattr(given, "toarray") else given, dtype=np.float64)
    check_consistent_length(X, soft)
    empty: NDArray[np.bool_] = np.asarray(np.isnan(soft).all(axis=1) & partial)
    soft[empty] = 0.0
    bad = ~((soft >= 0).all(axis=1) & (np.abs(soft.sum(axis=1) - ~empty) <= _ROUNDING))
    if bad.any():
        row = int(bad.argmax())
        raise PsephosError(
            f"soft labels must be probabilities, one column per class, that sum to 1 in each row; "
            f"row {row} of y is {soft[row].tolist()}."
        )
    soft[~empty] /= soft[~empty].sum(axis=1, keepdims=True)
    return soft, empty


def _classes(estimator: Estimator, y: Any, n_classes: int) -> Array:
    names = y.classes if isinstance(y, SoftLabels) else labels.names_of(y)
    declared = getattr(estimator, "classes", None)
    found = names if names is not None else declared
    classes = np.arange(n_classes) if found is None else np.asarray(found)
    if len(classes) != n_classes:
        raise PsephosError(
            f"y has {n_classes} columns, `classes` {len(classes)}: give one column per class."
        )
    labels.refuse_repeated(classes.tolist())
    return classes


def later_labels(
    estimator: Estimator, X: TableLike, y: Any, classes: LabelsLike | None, known: Array | None
) -> tuple[Array, Indices]:
    """Return (classes, codes) of labels that need not name every class."""
    if classes is None and known is None:
        return labels.read_target(X, y)
    given: Any = known if classes is None else np.unique(column_or_1d(np.asarray(classes)))
    if known is not None and not np.array_equal(given, known):
        raise PsephosError(
            f"classes must be those of the first call, {known.tolist()}, or None; got "
            f"{given.tolist()}."
        )
    y = column_or_1d(plain_column(y), warn=True)
    check_consistent_length(X, y)
    labels.read_target(given, given)  # the checks of any labels
    code = {label: k for k, label in enumerate(given.tolist())}
    codes = np.array([code.get(label, -1) for label in y.tolist()], dtype=np.intp)
    if (codes < 0).any():
        raise PsephosError(
            f"label {y[codes < 0].tolist()[0]!r} is not one of the classes {given.tolist()}: the "
            "first call of partial_fit must name all classes."
        )
    return given, codes


def later_soft(
    estimator: Estimator, X: Any, y: Any, sample_weight: PerRow, classes: Any, known: Array | None
) -> tuple[Array, Floats, Floats]:
    """Return (classes, soft, weight) of probabilities in a call of partial_fit.

    Columns are the classes that y names (a data frame, `SoftLabels`), else `classes` in the given
    order, else those of the first call, else 0, 1, ....
    """
    soft, _ = _distributions(X, y, partial=False)
    own = y.classes if isinstance(y, SoftLabels) else labels.names_of(y)
    named = next((c for c in (own, classes, known) if c is not None), np.arange(soft.shape[1]))
    named = column_or_1d(np.asarray(named))
    if len(named) != soft.shape[1]:
        raise PsephosError(
            f"y has {soft.shape[1]} columns, and there are {len(named)} classes: give one column "
            "per class."
        )
    labels.refuse_repeated(named.tolist())
    found, _ = later_labels(
        estimator, X[:0], named[:0], named if classes is None else classes, known
    )
    strange = [label for label in named.tolist() if label not in found.tolist()]
    if strange:
        raise PsephosError(
            f"y has a column {strange[0]!r}, which is not one of the classes {found.tolist()}."
        )
    order = [named.tolist().index(label) for label in found.tolist()]
    soft = soft[:, order]
    class_weight = getattr(estimator, "class_weight", None)
    soft = soft * later_weight(None, class_weight, found, np.arange(len(found)))
    total = soft.sum(axis=1)
    weight = labels.read_sample_weight(sample_weight, len(soft)) * total
    return found, soft / np.where(total > 0, total, 1.0)[:, None], weight


def later_weight(
    sample_weight: PerRow, class_weight: Any, classes: Array, codes: Indices
) -> Floats:
    """Return each row's weight; some classes may have no rows."""
    weight = labels.read_sample_weight(sample_weight, len(codes))
    if isinstance(class_weight, str):
        raise PsephosError(
            "class_weight must be a dictionary in partial_fit, which does not know the later rows; "
            f"got {class_weight!r}. Or give sample_weight."
        )
    if class_weight is not None:
        weight = weight * labels.class_factors(class_weight, classes.tolist(), np.empty(0))[codes]
    return weight
