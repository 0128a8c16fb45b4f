"""Splits of the training rows within a fit: drawn once, or given by `cv`."""

import warnings
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
from sklearn.model_selection import GroupKFold, KFold, StratifiedGroupKFold, StratifiedKFold

from psephos._errors import PsephosError
from psephos._types import Array, NDArray
from psephos.files.names import plural

_TRIES = 20  # draws of grouped folds before an error
_Split = tuple[NDArray[Any], NDArray[Any]]


def make_splits(
    y: Array,
    n_classes: int,
    *,
    groups: Any = None,
    n_folds: int = 10,
    n_repeats: int = 1,
    cv: Any = None,
    seed: int = 0,
    classes: Any = None,
) -> list[_Split]:
    """Return (training rows, test rows) of each split.

    Without `cv`: k-fold cross-validation repeated r times, each repeat shuffled by its own seed
    (seed paper, section 2: "r-repeated k-fold"); stratified by class for classification, and with
    groups kept together if they are given. An integer `cv` is `n_folds`; a scikit-learn splitter
    is called once; pairs of row indices are used as given. `y` holds class codes, or numbers if
    `n_classes` is 0; `classes` are labels for messages (default: the codes).

    Warns
    -----
    UserWarning
        If a class has fewer rows than folds, so that it is missing from some test parts.
    """
    if groups is not None:
        groups = np.asarray(groups)
        if groups.shape != y.shape:
            raise PsephosError(f"groups must have shape {y.shape}; got {groups.shape}.")
    names = [str(c) for c in (range(n_classes) if classes is None else classes)]
    parameter = "n_folds"
    if isinstance(cv, int | np.integer):
        n_folds, cv, parameter = int(cv), None, "cv"
    if cv is not None:
        splits = _given(cv, y, groups)
        fault = _fault(splits, y, names)
        if fault:
            raise PsephosError(f"cv: {fault}")
        return splits
    _check_counts(y, names, groups, n_folds, n_repeats, parameter)
    splits: list[_Split] = []
    for repeat in range(n_repeats):
        splits += _drawn(y, names, groups, n_folds, [seed, repeat], parameter)
    return splits


def _given(cv: Any, y: Array, groups: Array | None) -> list[_Split]:
    pairs: Any = cv
    if hasattr(cv, "split") and not isinstance(cv, str):
        pairs = cv.split(np.zeros((len(y), 1)), y, groups)
    elif isinstance(cv, str) or not isinstance(cv, Iterable):
        raise PsephosError(
            "cv must be a number of folds, a scikit-learn splitter, or a list of (training rows, "
            f"test rows); got {cv!r}."
        )
    try:
        splits = [(np.asarray(train), np.asarray(test)) for train, test in pairs]
    except (TypeError, ValueError) as error:
        raise PsephosError(f"cv cannot split the rows: {error}") from error
    return [(_positions(train), _positions(test)) for train, test in splits]


def _positions(rows: Array) -> Array:
    return np.flatnonzero(rows) if rows.dtype == bool else rows


def _drawn(
    y: Array,
    names: list[str],
    groups: Array | None,
    n_folds: int,
    entropy: Sequence[int],
    parameter: str,
) -> list[_Split]:
    """Return one repeat; grouped folds are drawn again while one of them is unusable."""
    if groups is None:
        kind: Any = StratifiedKFold if names else KFold
    else:
        kind = StratifiedGroupKFold if names else GroupKFold
    fault = ""
    for attempt in range(1 if groups is None else _TRIES):
        words = [*entropy, attempt] if attempt else entropy
        state = int(np.random.SeedSequence(words).generate_state(1)[0])
        splitter = kind(n_folds, shuffle=True, random_state=state)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", UserWarning)  # of small classes: _check_counts warns
            splits = list(splitter.split(np.zeros((len(y), 1)), y, groups))
        fault = _fault(splits, y, names)
        if not fault:
            return splits
    raise PsephosError(f"{parameter}={n_folds}: {fault}")


def _check_counts(
    y: Array, names: list[str], groups: Array | None, n_folds: int, n_repeats: int, parameter: str
) -> None:
    if n_folds < 2 or n_repeats < 1:
        raise PsephosError(
            f"{parameter} must be at least 2 and n_repeats at least 1; got {n_folds} and "
            f"{n_repeats}."
        )
    units, what = (len(y), "rows") if groups is None else (len(np.unique(groups)), "groups")
    if units < n_folds:
        raise PsephosError(
            f"{parameter} must be at most the number of {what}, {units}; got {n_folds}."
        )
    if not names:
        return
    counts = np.bincount(y, minlength=len(names))
    least = int(counts.argmin())
    if counts[least] < 2:
        raise PsephosError(
            f"each class must have at least 2 rows for training and test; class {names[least]!r} "
            f"has {plural(int(counts[least]), 'row')}. Merge it with another class, or remove it."
        )
    if counts[least] < n_folds:
        warnings.warn(
            f"class {names[least]!r} has {int(counts[least])} rows, fewer than "
            f"{parameter}={n_folds}, so some test parts do not contain it; use fewer folds.",
            UserWarning,
            stacklevel=4,
        )


def _fault(splits: Sequence[_Split], y: Array, names: list[str]) -> str:
    """Return the fault of the splits and its remedy; '' if there is none."""
    if not splits:
        return "there is no split: give at least one."
    for s, (train, test) in enumerate(splits):
        for rows, part in ((train, "training"), (test, "test")):
            if not len(rows):
                return f"split {s} has no {part} row: use fewer folds."
            whole = rows.ndim == 1 and rows.dtype.kind in "iu"
            if not whole or rows.min() < 0 or rows.max() >= len(y):
                return f"the {part} rows of split {s} must be indices from 0 to {len(y) - 1}."
        if len(np.intersect1d(train, test)):
            return f"training and test rows of split {s} must be disjoint."
        missing = np.setdiff1d(np.arange(len(names)), y[train]) if names else []
        if len(missing):
            return (
                f"the training rows of split {s} do not contain class {names[int(missing[0])]!r}: "
                "use fewer folds, or merge the class with another."
            )
    return ""
