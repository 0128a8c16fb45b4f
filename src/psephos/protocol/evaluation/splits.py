"""Outer and inner splits, and the seeds of everything that is drawn."""

# pyright: reportMissingTypeStubs=false

import hashlib
import warnings
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.model_selection import (
    StratifiedGroupKFold,
    StratifiedKFold,
    StratifiedShuffleSplit,
)

from psephos._errors import PsephosError
from psephos.protocol.evaluation.label_splits import MultilabelStratifiedKFold
from psephos.protocol.evaluation.presets import Protocol
from psephos.protocol.tables.table import DataTable

Rows = NDArray[np.intp]
Split = tuple[Rows, Rows]


def seed_of(random_state: int, *task: str | int) -> int:
    """Return the seed of a task, derived from the comparison's seed by the task's own words.

    It depends on nothing else: neither on the other tasks nor on the order they run in.
    """
    digest = hashlib.sha256("\x1f".join(map(str, task)).encode()).digest()
    entropy = [random_state, *np.frombuffer(digest, dtype=np.uint32).tolist()]
    return int(np.random.SeedSequence(entropy).generate_state(1)[0]) % (2**31 - 1)


def outer_splits(table: DataTable, protocol: Protocol, random_state: int) -> list[Split]:
    """Return the training and test rows of each outer split, in the order of `protocol.splits`."""
    whole = table.multilabel or table.groups is not None
    _check_counts(table, protocol)
    codes = table.codes
    if table.partial is not None:
        codes = table.partial.strata(table.y, protocol.folds)
    splits: list[Split] = []
    for repeat in range(protocol.repeats):
        seed = seed_of(random_state, "outer", repeat)
        if protocol.outer == "kfold" or whole:
            parts = _folds(codes, table.groups, protocol.folds, seed)
            splits += parts if protocol.outer == "kfold" else parts[:1]
        else:
            cut: Any = StratifiedShuffleSplit(1, test_size=1 / protocol.folds, random_state=seed)
            splits += [_sorted(part) for part in cut.split(codes[:, None], codes)]
    for train, _ in splits:
        _check_training(table, train, protocol)
    return splits


def inner_splits(
    codes: NDArray[np.intp], groups: NDArray[Any] | None, n_folds: int, seed: int
) -> list[Split]:
    """Return the folds on which draws are compared, as positions in the training part.

    With groups there may be fewer groups than folds, or a fold whose training rows lack a class:
    such folds are made fewer, or left out.
    """
    if groups is not None:
        n_folds = min(n_folds, len(np.unique(groups)))
    if n_folds < 2:
        raise PsephosError(
            "a training part holds one group only, so that nothing can be tuned inside it: use "
            "fewer folds, or more groups."
        )
    parts = _folds(codes, groups, n_folds, seed)
    if codes.ndim == 2:  # rare labels are in few folds, whatever is done
        return parts
    whole = len(np.unique(codes))
    usable = [part for part in parts if len(part[1]) and len(np.unique(codes[part[0]])) == whole]
    if not usable:
        raise PsephosError(
            "inside a training part every division by groups leaves a class out of training: use "
            "fewer folds, or groups that hold several classes."
        )
    return usable


def _folds(
    codes: NDArray[np.intp], groups: NDArray[Any] | None, n_folds: int, seed: int
) -> list[Split]:
    if codes.ndim == 2:
        labelled = MultilabelStratifiedKFold(n_folds, shuffle=True, random_state=seed)
        return [_sorted(part) for part in labelled.split(codes, codes, groups)]
    rows = codes[:, None]  # the splitters look at labels and groups only
    if groups is None:
        cut: Any = StratifiedKFold(n_folds, shuffle=True, random_state=seed)
        return [_sorted(part) for part in cut.split(rows, codes)]
    grouped: Any = StratifiedGroupKFold(n_folds, shuffle=True, random_state=seed)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # classes in few groups: checked by callers
        return [_sorted(part) for part in grouped.split(rows, codes, groups)]


def _sorted(part: Any) -> Split:
    train, test = part
    return np.sort(train).astype(np.intp), np.sort(test).astype(np.intp)


# ------------------------------------------------------------------- checks
def _check_counts(table: DataTable, protocol: Protocol) -> None:
    if table.groups is not None:
        n_groups = len(np.unique(table.groups))
        if n_groups < protocol.folds:
            raise PsephosError(
                f"{table.group_name or 'groups'!r} names {n_groups} groups, fewer than the "
                f"{protocol.folds} folds of protocol {protocol.name!r}: use fewer folds "
                "(--folds), or a finer grouping."
            )
    if table.partial is not None:
        return  # the records count, not the classes: see `Partial.strata`
    if table.multilabel:
        fewest = -(-protocol.inner_folds * protocol.folds // (protocol.folds - 1))
        if table.n_rows < max(protocol.folds, fewest):
            raise PsephosError(
                f"the table has {table.n_rows} rows, too few for the {protocol.folds} folds of "
                f"protocol {protocol.name!r} and {protocol.inner_folds} inside each training part: "
                "use fewer folds (--folds)."
            )
        return
    classes, counts = np.unique(table.y, return_counts=True)
    if table.groups is not None:
        for label in classes:
            if len(np.unique(table.groups[table.y == label])) < 2:
                raise PsephosError(
                    f"all rows of class {str(label)!r} are in one group, so that it cannot be both "
                    "trained and tested: leave the class out, or use a finer grouping."
                )
    smallest = int(np.argmin(counts))
    if counts[smallest] < protocol.folds:
        raise PsephosError(
            f"class {str(classes[smallest])!r} has {int(counts[smallest])} row(s), fewer than the "
            f"{protocol.folds} folds of protocol {protocol.name!r}: join it with another class, "
            f"remove its rows{_fitting_folds(int(counts[smallest]), protocol)}."
        )


def _check_training(table: DataTable, train: Rows, protocol: Protocol) -> None:
    if table.groups is not None or table.multilabel or table.partial is not None:
        return  # inner folds adapt to the groups that are left, and labels may be rare
    classes, counts = np.unique(table.y[train], return_counts=True)
    smallest = int(np.argmin(counts))
    if counts[smallest] < protocol.inner_folds:
        raise PsephosError(
            f"class {str(classes[smallest])!r} has {int(counts[smallest])} row(s) in a training "
            f"part, fewer than the {protocol.inner_folds} inner folds of protocol "
            f"{protocol.name!r}: join it with another class, remove its rows"
            f"{_fitting_folds(int((table.y == classes[smallest]).sum()), protocol)}."
        )


def _fitting_folds(count: int, protocol: Protocol) -> str:
    """Return the advice to use so many folds that a class of so many rows is in every part."""
    fits = [f for f in range(2, count + 1) if count - -(-count // f) >= protocol.inner_folds]
    if protocol.outer != "kfold" or not fits:
        return ""
    return f", or use folds={fits[-1]} (--folds {fits[-1]} on the command line)"
