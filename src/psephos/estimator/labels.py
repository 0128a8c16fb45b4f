"""Labels and weights: class indices, row weights, and names of rows in messages."""

import warnings
from collections.abc import Hashable, Sequence
from contextlib import AbstractContextManager
from contextvars import ContextVar
from typing import Any, NamedTuple, Self

import numpy as np
from scipy.sparse import issparse

from psephos._errors import PsephosError
from psephos._types import Array, Floats, Indices, LabelsLike, NDArray, PerRow, TableLike
from psephos.estimator import checks
from psephos.estimator.columns import as_frame, is_missing, plain_column
from psephos.estimator.schema import setting
from psephos.files.arrays import object_array
from psephos.files.columns import is_number
from psephos.files.near import shown
from psephos.files.spelling import alike

_names: ContextVar[Sequence[str]] = ContextVar("names of rows", default=())
_depth: ContextVar[int] = ContextVar("fits within fits", default=0)


def naming_rows(names: Sequence[str]) -> AbstractContextManager[None]:
    """Use these names for the rows of a fit within the block, one per row."""
    return setting(_names, names)


def one_fit() -> AbstractContextManager[None]:
    """Enter a fit; the rows of a fit within another have no names."""
    return setting(_depth, _depth.get() + 1)


def is_outermost() -> bool:
    """Return whether this fit is not within another one, such as that of a committee."""
    return _depth.get() <= 1


def row_word(row: int) -> str:
    """Return the name of a row of the fitted table; 'row 2', counted from 0, if it has none."""
    names = _names.get() if is_outermost() else ()
    return names[row] if row < len(names) else f"row {row}"


_MANY, _FOLDS = 20, 5
_MOST_WEIGHT = 1e15
_ONE_LABEL = (
    "give one label per row, or, for several labels per row, a table of 0 and 1 "
    "(sklearn.preprocessing.MultiLabelBinarizer makes one)."
)


class Labels(NamedTuple):
    """The labels of a training table.

    Parameters
    ----------
    target : Target, LabelsTarget, RegressionTarget or NumbersTarget
    y : ndarray of shape (n,) or (n, K)
        Each row's class index or number; (n, K) for several. -1 for a row without a label; for soft
        labels the most probable class, the first of equals.
    soft : ndarray of shape (n, n_classes), default=None
        The probabilities of the classes, 0 for a row without a label; None if all labels are hard.
    """

    target: Any
    y: NDArray[Any]
    soft: Floats | None = None

    @property
    def known(self) -> NDArray[np.bool_]:
        """Return a mask of the rows that have a label."""
        classes = self.target.kind in ("binary", "multiclass")
        return self.y >= 0 if classes else np.ones(len(self.y), dtype=bool)

    @property
    def certain(self) -> Array | None:
        """Return y if each row has one known, hard label, else None."""
        return self.y if self.y.ndim == 1 and self.soft is None and self.known.all() else None

    def take(self, rows: Indices) -> Self:
        """Return the labels of these rows."""
        soft = None if self.soft is None else self.soft[rows]
        return self._replace(y=self.y[rows], soft=soft)


def is_table(y: Any) -> bool:
    """Return whether y has several columns."""
    shape = y.shape if hasattr(y, "shape") else _as_array(y).shape
    return len(shape) == 2 and shape[1] != 1


def _as_array(y: LabelsLike) -> Array:
    try:
        return np.asarray(y)
    except ValueError:  # lists of different lengths
        raise PsephosError(f"y holds lists in place of labels: {_ONE_LABEL}") from None


def many_values(counts: Indices) -> bool:
    """Return whether whole numbers with these counts of rows look like a measurement.

    That is, if there are more than 20 values, and one has a single row, or a value has fewer than
    five rows on average (one for each of the usual five folds).
    """
    many = len(counts) > _MANY
    return many and bool(counts.min() == 1 or _FOLDS * len(counts) > counts.sum())


def _warn_of_classes(classes: Array, codes: Indices) -> None:
    """Warn of labels that may not be classes, or of a class that is written in several ways."""
    words: list[str] = []
    if classes.dtype.kind in "iuf" and many_values(np.bincount(codes)):
        words.append(
            f"y has {len(classes)} values in {len(codes)} rows: is it a measurement? A regressor "
            "predicts numbers."
        )
    if classes.dtype.kind in "OU":
        words += [
            f"the classes {' and '.join(map(shown, same))} of y differ only in case, blanks, "
            "hyphens or the form of a number: write them alike if they are one class."
            for same in alike(classes.tolist())
        ]
    for sentence in words if is_outermost() else []:  # the labels of members are codes
        warnings.warn(sentence, UserWarning, stacklevel=2)


def require_answers(y: LabelsLike) -> None:
    """Raise PsephosError if y, or a label of it, is missing for `score`."""
    if y is None:
        raise PsephosError("score needs y, the true labels of the rows.")
    given = np.asarray(y)
    if given.ndim == 1 and given.dtype.kind in "fO":
        missing = [i for i, label in enumerate(given.tolist()) if is_missing(label)]
        if missing:
            raise PsephosError(f"score: row {missing[0]} of y has no label; leave such rows out.")


def class_target(
    estimator: Any, X: TableLike, y: Any, sample_weight: PerRow
) -> tuple[Any, Indices, Floats]:
    """Return (target, codes, weight) of a classifier's labels.

    If the estimator takes several labels per row and y is a table, codes are (n, K) of 0 and 1.
    """
    from psephos.vote import LabelsTarget, Target  # here: reading a table needs no models

    if estimator.multilabel and (issparse(y) or is_table(y)):
        names, table = read_labels(X, y)
        return LabelsTarget(names), table, _some_weight(sample_weight, len(table))
    sparse = bool(issparse(y))  # a plain bool, since the type guard would narrow y
    if sparse or is_table(y):
        kind, shape = type(estimator).__name__, getattr(y, "shape", None) or np.shape(y)
        raise PsephosError(
            f"y is a table of shape {shape}, and {kind} predicts one class per row: give one label "
            f"per row. For several labels per row use MLKNeighborsClassifier, or one {kind} per "
            "label (sklearn.multioutput.MultiOutputClassifier)."
        )
    classes, codes = read_target(X, y)
    _warn_of_classes(classes, codes)
    class_weight = getattr(estimator, "class_weight", None)
    declared = getattr(estimator, "classes", None)
    weight = read_weight(sample_weight, class_weight, classes[codes], codes, declared=declared)
    if declared is not None:
        classes, codes = declared_classes(declared, classes, codes)
    return Target(classes), codes, weight


def codes_among(classes: Array, X: TableLike, y: LabelsLike) -> Indices:
    """Return the class index of each label."""
    labels = _as_array(y)
    if labels.ndim != 1:
        raise PsephosError(f"y has shape {labels.shape}: give one label per row.")
    checks.check_consistent_length(X, labels)
    unknown = ~np.isin(labels, classes)
    if unknown.any():
        label = labels[unknown].tolist()[0]
        raise PsephosError(f"label {label!r} is not one of the model's classes.")
    order = np.argsort(classes)  # declared classes need not be sorted
    return order[np.searchsorted(classes, labels, sorter=order)]


def number_target(
    estimator: Any, X: Any, y: LabelsLike, sample_weight: PerRow
) -> tuple[Any, Floats, Floats]:
    """Return (target, numbers, weight) of a regressor; several numbers per row are (n, K)."""
    from psephos.vote import NumbersTarget, RegressionTarget  # here: as above

    weight = read_sample_weight(sample_weight, X.shape[0])
    if estimator.multioutput and is_table(y):
        names, numbers = read_several_numbers(X, y)
        target: Any = NumbersTarget(names)
    else:
        target, numbers = RegressionTarget(), read_numbers(X, y)
    return target, numbers, _some_weight(weight, len(numbers))


def read_groups(groups: PerRow, n: int) -> Array | None:
    """Return the group of each row, or None."""
    if groups is None:
        return None
    named = np.asarray(groups)
    if named.shape != (n,):
        raise PsephosError(f"groups has shape {named.shape}: give one group per row ({n}).")
    if named.dtype.kind in "fO":
        missing = [i for i, group in enumerate(named.tolist()) if is_missing(group)]
        if missing:
            raise PsephosError(f"groups has no group for row {missing[0]}: name one, or drop it.")
    if named.dtype.kind == "O" and len({type(group) for group in named.tolist()}) > 1:
        return np.array([f"{type(group).__name__} {group}" for group in named.tolist()])
    return named


def _some_weight(sample_weight: PerRow, n: int) -> Floats:
    weight = read_sample_weight(sample_weight, n)
    if not (weight > 0).any():
        raise PsephosError("sample_weight is zero on every row: a row needs weight.")
    return weight


def read_target(X: TableLike, y: Any, least: int = 2) -> tuple[Array, Indices]:
    """Return (classes, codes) of the labels y, which must have at least `least` classes.

    The classes are those present, sorted, as in scikit-learn: further categories that a Categorical
    declares are ignored.
    """
    if type(y) is not np.ndarray or y.ndim != 1:  # scikit-learn's check of plain arrays is slow
        y = checks.column_or_1d(_as_given(plain_column(y)), warn=True)
    checks.check_consistent_length(X, y)
    if y.dtype.kind == "f" and not np.isfinite(y).all():
        row = int(np.flatnonzero(~np.isfinite(y))[0])
        raise PsephosError(f"Input y contains NaN or infinity in row {row}; drop the row.")
    if y.dtype.kind == "O":
        y = _plain_labels(y)
    if y.dtype.kind == "f" and (np.abs(y) >= 2.0**63).any():
        row = int(np.flatnonzero(np.abs(y) >= 2.0**63)[0])
        raise PsephosError(
            f"Input y has a label beyond 64-bit integers in row {row} ({y[row]}): give the labels "
            "as words."
        )
    if y.dtype.kind not in "biuU":
        _refuse_measurements(y)
        with warnings.catch_warnings():  # `_warn_of_classes` warns of many classes
            warnings.simplefilter("ignore", UserWarning)
            checks.check_classification_targets(y)
    classes, codes = np.unique(y, return_inverse=True)
    if len(classes) < least:
        only = classes.tolist()[0]
        raise PsephosError(
            f"y has only one class ({only!r}): a classifier needs rows of at least two classes."
        )
    return classes, codes.astype(np.intp)


def _refuse_measurements(y: Array) -> None:
    odd = np.flatnonzero(y != np.floor(y)) if y.dtype.kind == "f" else []
    if len(odd):
        raise PsephosError(
            f"Unknown label type: row {odd[0]} of y holds {y[odd[0]]}, a measurement, not a class "
            "label: cut y into classes, give labels as words, or use a regressor."
        )


def declared_classes(declared: Any, classes: Array, codes: Indices) -> tuple[Array, Indices]:
    """Return (classes, codes) in the order of the declared classes, which may have no rows."""
    labels = np.asarray(declared).tolist()
    refuse_repeated(labels)
    place = {label: k for k, label in enumerate(labels)}
    unknown = [label for label in classes.tolist() if label not in place]
    if unknown:
        raise PsephosError(
            f"y has the label {unknown[0]!r}, which is not one of the declared classes "
            f"{labels}: add it to `classes`, or correct the label."
        )
    found = np.array(labels, dtype=object if classes.dtype.kind == "O" else None)
    order = np.array([place[label] for label in classes.tolist()], dtype=np.intp)
    return found, order[codes]


def refuse_repeated(labels: list[Any]) -> None:
    """Raise PsephosError if a class is declared twice."""
    twice = [label for i, label in enumerate(labels) if label in labels[:i]]
    if twice:
        raise PsephosError(f"classes must name each class once; got {twice[0]!r} twice.")


def _as_given(y: Any) -> Any:
    """Return a list of labels as objects if an array would merge two of them.

    numpy turns integers into floats if other numbers are present, which merges those beyond 2^53,
    and drops NUL characters from the end of words.
    """
    if not isinstance(y, list | tuple) or any(isinstance(label, list | tuple) for label in y):
        return y
    array = np.asarray(y)
    if array.ndim != 1 or array.dtype.kind not in "fU" or len(set(array.tolist())) == len(set(y)):
        return y
    return object_array(y)


def read_labels(X: TableLike, y: Any) -> tuple[Array, Indices]:
    """Return (labels, Y) of a multilabel target: Y (n, K) of 0 and 1, dense.

    y is a table with 1 (or True) if a row has a label, else 0. Labels are the columns of a data
    frame, else 0, 1, ....
    """
    names = names_of(y)
    given: Any = y
    whole: Any = given.toarray() if issparse(y) else given
    table = np.asarray(whole)
    checks.check_consistent_length(X, table)
    yes = (table == 1) & np.ones(table.shape, dtype=bool)
    bad = ~(yes | (table == 0))
    if table.ndim != 2 or not table.shape[1] or bad.any():
        where = "" if table.ndim != 2 or not bad.any() else f" (row {int(bad.any(1).argmax())})"
        raise PsephosError(
            "y with several labels per row must be a table of 0 and 1, one column per label; this "
            f"one is not{where}."
        )
    return np.arange(table.shape[1]) if names is None else names, yes.astype(np.intp)


def read_several_numbers(X: TableLike, y: LabelsLike) -> tuple[tuple[str, ...], Floats]:
    """Return (names, Y) of several numbers per row, Y of shape (n, K)."""
    names = names_of(y)
    table = np.asarray(y)
    checks.check_consistent_length(X, table)
    columns = [read_numbers(X, table[:, k]) for k in range(table.shape[1])]
    outputs = [f"y{k}" for k in range(len(columns))] if names is None else [str(n) for n in names]
    return tuple(outputs), np.column_stack(columns)


def names_of(y: Any) -> Array | None:
    """Return the column names of a data frame; None if y is not one."""
    frame = as_frame(y)
    return None if frame is None else np.array(frame.columns, dtype=object)


def read_numbers(X: TableLike, y: Any) -> Floats:
    """Return the numbers y of a regression."""
    y = np.ma.filled(y.astype(np.float64), np.nan) if isinstance(y, np.ma.MaskedArray) else y
    y = checks.column_or_1d(y, warn=True)
    checks.check_consistent_length(X, y)
    try:
        if y.dtype.kind in "mMc":  # numpy would convert them to numbers
            raise TypeError
        numbers = np.asarray(y, dtype=np.float64)
    except (TypeError, ValueError):
        odd = next((value for value in y.tolist() if not is_number(value)), y.tolist()[0])
        raise PsephosError(f"y holds {odd!r}: a regressor needs numbers.") from None
    if not np.isfinite(numbers).all():
        row = int(np.flatnonzero(~np.isfinite(numbers))[0])
        raise PsephosError(f"Input y contains NaN or infinity in row {row}; drop the row.")
    return numbers


def _plain_labels(y: Array) -> Array:
    """Return labels of dtype object as numbers if they all are; raise if they mix types."""
    missing = [i for i, label in enumerate(y) if is_missing(label)]
    if missing:
        raise PsephosError(f"Input y contains NaN: row {missing[0]} has no label; drop the row.")
    sets = [i for i, label in enumerate(y) if not isinstance(label, Hashable)]
    if sets:
        kind = type(y[sets[0]]).__name__
        raise PsephosError(f"y holds a {kind} in row {sets[0]}: {_ONE_LABEL}")
    words = np.array([isinstance(label, str) for label in y])
    if words.any() and not words.all():
        odd = y[int(words.argmin())]
        raise PsephosError(f"y mixes words and other labels ({odd!r}): make them all words.")
    plain = np.asarray(y.tolist())
    same = plain.shape == y.shape and len(set(plain.tolist())) == len(set(y.tolist()))
    return plain if plain.dtype.kind in "biuf" and same else y


def read_weight(
    sample_weight: PerRow,
    class_weight: Any,
    y: Array,
    codes: Indices,
    least: int = 2,
    declared: Any = None,
) -> Floats:
    """Return each row's weight: sample weight times class weight.

    Class weights may name a declared class without rows.
    """
    weight = read_sample_weight(sample_weight, len(y))
    if class_weight is not None:
        known = np.unique(y).tolist()
        totals = np.bincount(codes, weight).astype(np.float64)
        if not isinstance(class_weight, str) and declared is not None:
            rare = [k for k in np.asarray(declared).tolist() if k not in known]
            class_weight = {k: v for k, v in class_weight.items() if k not in rare}
        factor = class_factors(class_weight, known, totals)[codes]
        with np.errstate(over="ignore"):
            weight = _checked(weight * factor)
    if not (weight > 0).any():
        raise PsephosError("sample_weight is zero on every row: at least two rows need weight.")
    if len(np.unique(codes[weight > 0])) < least:
        lost = np.unique(y[~np.isin(codes, codes[weight > 0])]).tolist()
        raise PsephosError(
            "rows of positive sample_weight must have at least two classes: it is zero on every "
            f"row of {', '.join(map(repr, lost[:5]))}."
        )
    return weight


def read_sample_weight(sample_weight: PerRow, n: int) -> Floats:
    """Return one finite weight of at least 0 per row."""
    try:
        plain = np.asarray(1.0 if sample_weight is None else sample_weight)
        if plain.dtype.kind in "cmMSUV":  # numpy would convert some to numbers
            raise TypeError
        given = plain.astype(np.float64)
    except (TypeError, ValueError):
        raise PsephosError("sample_weight has an entry that is not a number.") from None
    weight = np.full(n, float(given)) if given.ndim == 0 else given.copy()
    if weight.ndim != 1:
        raise PsephosError("Sample weights must be 1D array or scalar: give one number per row.")
    if weight.shape != (n,):
        raise PsephosError(f"sample_weight.shape == {weight.shape}, expected {(n,)}!")
    bad = ~np.isfinite(weight) | (weight < 0)
    if bad.any():
        row = int(np.flatnonzero(bad)[0])
        raise PsephosError(
            f"sample_weight must be finite and at least 0; row {row} has {weight[row]}."
        )
    return _checked(weight)


def refuse_large_weights(weight: Floats) -> None:
    """Raise PsephosError if weights are so large that smaller ones are lost in rounding."""
    most = float(weight.max(initial=0.0))
    if most > _MOST_WEIGHT:
        raise PsephosError(
            f"weights must be at most {_MOST_WEIGHT:g}; got {most:.3g}. Beyond that, differences "
            "between splits are lost in rounding: divide all weights by the same number."
        )


def _checked(weight: Floats) -> Floats:
    """Return the weights; raise PsephosError if their sum is too large to be a number."""
    with np.errstate(over="ignore"):
        total = weight.sum()
    if not np.isfinite(total):
        raise PsephosError(
            "sample_weight sums to more than the largest number: divide all weights by one number."
        )
    return weight


def class_factors(
    class_weight: Any, classes: list[Any], totals: Floats, name: str = "class_weight"
) -> Floats:
    """Return one weight per class.

    'balanced' is total / (K * total of the class), with totals of sample weights, so that weight 2
    equals the row twice and weight 0 no row; a class of total 0 gets 0. 'balanced_subsample' is 1
    here, since a forest balances the rows of each tree.

    Raises
    ------
    PsephosError
        If a dict names a label that is not a class, and not all classes.

    Warns
    -----
    UserWarning
        If a dict names a label that is not a class, besides all classes.
    """
    if class_weight == "balanced_subsample":
        return np.ones(len(classes))
    if isinstance(class_weight, str):
        held = totals > 0
        shares = totals.sum() / (held.sum() * np.where(held, totals, 1.0))
        return np.where(held, shares, 0.0)
    unknown = [label for label in class_weight if label not in classes]
    if unknown:
        labels = ", ".join(map(repr, classes))
        words = f"{name} names {unknown[0]!r}, which is not a label of y: its labels are {labels}."
        if any(label not in class_weight for label in classes):
            raise PsephosError(words)
        if is_outermost():  # a fold or a bootstrap sample may lack a rare class
            warnings.warn(words, UserWarning, stacklevel=2)
    return np.array([float(class_weight.get(label, 1.0)) for label in classes])
