"""Requirements of a table before anything is learnt from it."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from psephos._errors import PsephosError
from psephos._types import Array, Indices, Values
from psephos.cautions.dates import are_dates
from psephos.estimator.columns import dense_columns, stored
from psephos.estimator.labels import many_values
from psephos.files.arrays import beyond
from psephos.files.cells import number_form, plain_number
from psephos.files.columns import refuse_far
from psephos.files.near import CELL, quoted, shown, suggest

if TYPE_CHECKING:
    from psephos.protocol.tables.table import DataTable

_MOSTLY = 0.8  # minimum share of a target's values that are numbers in some form


def refuse_duplicates(names: Sequence[str]) -> None:
    """Raise PsephosError naming the columns that share a name."""
    seen: dict[str, int] = {}
    again = [(name, j) for j, name in enumerate(names) if seen.setdefault(name, j) != j]
    if again:
        name, j = again[0]
        others = sorted({other for other, _ in again} - {name})
        more = f"; so do {quoted(others)}" if others else ""
        raise PsephosError(
            f"the column name {shown(name)} occurs twice (columns {seen[name] + 1} and "
            f"{j + 1}{more}): rename one of them, so that rules can name their column "
            "(for a file: --duplicates number, mean or first)."
        ).settled_by(("--duplicates", "number"))


def refuse_farthest(X: Values, names: Sequence[str], place: Callable[[int], str]) -> None:
    """Raise PsephosError naming the first value that is infinite or too large."""
    values = stored(X)
    ends = np.array([end.reduce(values, axis=None, initial=0.0) for end in (np.fmin, np.fmax)])
    if beyond(ends).any():
        far = (beyond(dense_columns(X, slice(j, j + 1)))[:, 0] for j in range(X.shape[1]))
        row, column = min((int(bad.argmax()), j) for j, bad in enumerate(far) if bad.any())
        refuse_far(str(names[column]), float(X[row, column]), place(row))


def check_target(table: "DataTable") -> None:
    """Raise PsephosError if the target has one class or value, or the same labels in all rows.

    Also if its classes look like a measurement, or `positive` is not one of them.
    """
    one_class = table.kind == "classes"
    known = [str(one) for one in table.classes.tolist()] if one_class else []
    if table.positive is not None and table.positive not in known:
        other = f"not a class of the target {shown(table.target_name)}: "
        why = other if one_class else "the target does not have one class per case: leave it out"
        near = suggest(table.positive, known) if one_class else "."
        raise PsephosError(f"--positive (positive=) is {shown(table.positive)}: {why}{near}")
    if table.y.ndim == 2 or table.labels:
        _check_labels(table)
        refuse_duplicates(table.labels)
        return
    if table.kind == "numbers":
        if (far := np.flatnonzero(beyond(table.y))).size:
            at = int(far[0])
            refuse_far(table.target_name, float(table.y[at]), f"row {at} (counted from 0)")
        if table.y.min() == table.y.max():
            raise PsephosError(
                f"the target {shown(table.target_name)} has one value only ({table.y[0]:.15g}): a "
                "comparison needs numbers that differ."
            )
        return
    if not table.insisted:
        _check_classes(table)
    classes = table.classes
    if len(classes) < 2:
        raise PsephosError(
            f"the target {shown(table.target_name)} has one class only "
            f"({shown(str(classes[0]), CELL)}): a comparison needs rows of at least two classes."
        )


def _check_classes(table: "DataTable") -> None:
    """Raise PsephosError if labels look like a measurement."""
    values, sizes = np.unique(table.y, return_counts=True)
    counts = dict(zip(map(str, values.tolist()), sizes.tolist(), strict=True))
    name = shown(table.target_name)
    odd = [word for word in counts if table.cells.number(plain_number(word)[1]) is None]
    like = len(counts) - sum(not number_form(word) for word in odd)
    days = " Turn dates into days since the earliest; for time to event use scikit-survival."
    days = days if are_dates(list(counts)) else ""
    if many_values(sizes) and (days or like >= _MOSTLY * len(counts)):
        first = f" (not plain numbers: {quoted(odd)})" if odd else ""
        gone = [f"{table.target_name}={word}" for word in odd if not number_form(word)]
        fix = "Then write these as plain numbers. " if odd and not days else ""
        half = replace(table.cells, limits="half")
        limits = bool(odd) and None not in map(half.limit, odd)
        if limits:
            fix = "Then --limits half reads limits of detection as half of a lower one. "
        if gone and fix:
            fix += f"If they mean missing: --missing {gone[0]!r} --task numbers --unlabeled ''. "
        raise PsephosError(
            f"the target {name} has {len(values)} values in {table.n_rows} rows{first}: is it a "
            f"measurement? {fix}Give --task numbers (in Python task='numbers') if it is to be "
            f"predicted as a number, or --task classes if its values are classes.{days}"
        ).settled_by(*[("--limits", "half"), ("--task", "numbers")] * limits)


def check_ids(ids: Array | None, n: int, column: str = "") -> None:
    """Raise PsephosError unless each of n rows has its own id; `column` is that of the ids."""
    values, counts = counted(ids, "ids", n)
    if len(counts) and counts.max() > 1:
        twice = [str(v) for v in values[counts > 1]]
        raise PsephosError(
            f"the id {shown(twice[0], CELL)} occurs in {int(counts.max())} rows, but each row "
            f"must have its own (repeated: {quoted(twice)}): if it names a patient or batch, make "
            "it the group (--group)."
        ).settled_by(*[("--group", column)] * bool(column))


def check_groups(groups: Array | None, n: int) -> None:
    """Raise PsephosError if n rows are of one group."""
    values, _ = counted(groups, "groups", n)
    if len(values) == 1:
        raise PsephosError(
            f"all rows are of one group ({shown(str(values[0]), CELL)}): give a column of at "
            "least two groups, or no group."
        )


def counted(values: Array | None, what: str, n: int) -> tuple[Array, Indices]:
    """Return the distinct values of a column, and the number of rows with each."""
    if values is not None and len(values) != n:
        raise PsephosError(f"{len(values)} {what} for {n} rows: give one per row.")
    return np.unique([] if values is None else values, return_counts=True)


def _check_labels(table: "DataTable") -> None:
    """Raise PsephosError unless y is a table of 0 and 1 for its labels, with rows that differ."""
    if table.y.shape != (table.n_rows, len(table.labels)) or len(table.labels) < 2:
        raise PsephosError(
            f"y has shape {table.y.shape} for {table.n_rows} rows and {len(table.labels)} names of "
            "labels: give a table of 0 and 1 with a row per case and a column per label, at least "
            "two."
        )
    if not np.isin(table.y, (0, 1)).all():
        raise PsephosError("y is a table of labels, and must hold only 0 and 1.")
    if (table.y == table.y[0]).all():
        raise PsephosError(
            "all rows have the same labels, so that there is nothing to learn: give rows that "
            "differ in at least one label."
        )
