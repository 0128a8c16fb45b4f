"""`check_table`, and the table that `compare` is called with."""

from collections.abc import Callable
from dataclasses import replace
from numbers import Integral
from pathlib import Path
from typing import Any, cast

import numpy as np

from psephos._errors import PsephosError, PsephosTypeError
from psephos._types import Array, ArrayLike, Floats, Indices, Label, LabelsLike, PerRow, TableLike
from psephos.cautions import Cautions, Given, cautions_on
from psephos.estimator.columns import as_frame, is_missing
from psephos.estimator.labels import many_values
from psephos.files.columns import is_number, is_time
from psephos.files.names import plural
from psephos.files.near import suggest
from psephos.files.sheet import unnamed
from psephos.protocol.tables.files import read_table
from psephos.protocol.tables.joining import join_classes, refuse_joining
from psephos.protocol.tables.labels import read_target, row_words
from psephos.protocol.tables.requirements import refuse_farthest
from psephos.protocol.tables.roles import Classes, words_of_rows
from psephos.protocol.tables.table import DataTable, columns_of, table_from_arrays


def check_table(
    X: TableLike, y: LabelsLike | None = None, *, groups: PerRow = None, n_folds: int = 5
) -> Cautions:
    """Return what may be wrong with a table, before a model learns from it.

    Parameters
    ----------
    X : array, pandas or polars frame, sparse table of shape (n, p), or DataTable
        A DataTable (`psephos.read_table`) has its own `y` and `groups`.
    y : array-like of shape (n,), optional
        Class labels or numbers; without them cautions about the target are not tested.
    groups : array-like of shape (n,), optional
        Rows of one group (a subject) stay together, so that replicates within a group do no harm.
    n_folds : int, default=5
        Number of folds that each class should have rows for.

    Returns
    -------
    cautions : Cautions
        A tuple of `Caution`, each with `code`, `name`, `sentence`, `columns` and `rows`; printed,
        it is a line each. docs/cautions.md has a paragraph on each code.

    Raises
    ------
    PsephosError
        If y or groups do not have one value per row, X has no row or column, two columns have one
        name, or a value is infinite.

    Examples
    --------
    >>> import numpy as np
    >>> from psephos import check_table
    >>> rng = np.random.default_rng(0)
    >>> X = np.column_stack([np.arange(30), rng.normal(size=(30, 2))])
    >>> found = check_table(X, rng.integers(2, size=30))
    >>> [(one.code, one.name, one.columns) for one in found]
    [('FD004', 'saved-index', ('column 0',))]
    """
    if isinstance(n_folds, bool) or not isinstance(n_folds, Integral) or n_folds < 2:
        raise PsephosError(f"n_folds must be a whole number, at least 2; got {n_folds!r}.")
    own: Callable[[int], Cautions] | None = getattr(X, "cautions", None)
    if callable(own):
        return own(n_folds)
    columns, names, _ = columns_of(X)
    n, p = len(columns[0]) if columns else 0, len(columns)
    if not n or not p:
        raise PsephosError(
            f"X has {plural(n, 'row')} and {plural(p, 'column')}: it needs at least one of each."
        )
    X_read = np.empty((n, p))
    levels: dict[int, list[str]] = {}
    for j, column in enumerate(columns):
        X_read[:, j], words = _codes(column)
        levels |= {j: words} if words else {}
    kinds: dict[int, set[type[object]]] = {j: set(map(type, columns[j].tolist())) for j in levels}
    times = {j for j, kind in kinds.items() if any(map(is_time, kind))}
    for values, what in ((y, "y"), (groups, "groups")):
        if values is not None and np.shape(np.asarray(values))[:1] != (len(X_read),):
            raise PsephosError(f"{what} does not have {len(X_read)} values: give one per row of X.")
    refuse_farthest(X_read, names or unnamed(p), row_words)
    groups = None if groups is None else words_of_rows(groups, "groups")
    answers, classes = _answers(y)
    index = None if callable(getattr(X, "index", None)) else getattr(X, "index", None)
    named = index is not None and type(index).__name__ != "RangeIndex"
    rows = list(map(str, index)) if named and index is not None else []
    return cautions_on(
        Given(
            X_read, names or unnamed(p), levels, frozenset(times), answers, classes,
            str(getattr(y, "name", None) or "target"),
            groups, rows, n_folds,
            numbers=None if classes or answers is None else np.asarray(y, np.float64).ravel(),
            aside={str(getattr(index, "name", None) or "index"): rows} if rows else {},
        )
    )  # fmt: skip


def _codes(column: Array) -> tuple[Floats, list[str]]:
    """Return a column as numbers, and its sorted words if it holds any."""
    if column.dtype.kind in "biuf":
        return column.astype(np.float64), []
    cells = [None if is_missing(v) else v for v in column.tolist()]
    if all(v is None or is_number(v) for v in cells):
        return np.array([np.nan if v is None else float(v) for v in cells]), []
    levels = sorted({str(v) for v in cells if v is not None})
    code = {word: float(k) for k, word in enumerate(levels)}
    return np.array([np.nan if v is None else code[str(v)] for v in cells]), levels


def _answers(y: LabelsLike | None) -> tuple[Indices | None, list[str]]:
    """Return the index of each row's class (or number), and the classes; empty for numbers."""
    given = np.asarray(y)
    labels = given[:, 0] if given.ndim == 2 and given.shape[1] == 1 else given
    if labels.ndim != 1:
        return None, []
    words_of_rows(labels, "y")
    plain = labels.dtype.kind in "biuf"
    values, codes = np.unique(labels if plain else labels.astype(str), return_inverse=True)
    number = plain and (many_values(np.bincount(codes)) or bool((values != np.round(values)).any()))
    return codes.astype(np.intp), [] if number else list(map(str, values.tolist()))


# ------------------------------------------------------------------- what compare takes
def table_given(
    X: Any, y: object, dataset: str | None, given: dict[str, Any], reading: dict[str, Any]
) -> DataTable:
    """Return the table that `compare` was called with: arrays, a DataTable or a file."""
    known = read_table.__kwdefaults__ or {}
    if strange := [name for name in reading if name not in known]:
        raise PsephosTypeError(
            f"compare has no parameter {strange[0]!r}: {suggest(strange[0], [*given, *known])} "
            "Folds, repeats and draws are those of protocol=Protocol(...)."
        )
    if isinstance(X, str | Path):
        return _from_file(X, y, dataset, given, reading)
    if reading:
        raise PsephosError(
            f"how a file is read ({', '.join(reading)}) can be given only if X is the path of a "
            "file: leave it out."
        )
    if not isinstance(X, DataTable):
        if y is None:
            raise PsephosError("y is missing: give one class label per row of X.")
        return _from_arrays(X, y, dataset=dataset or "table", **given)
    for name, value in {"y": y, **given}.items():
        if value is not None and (name not in ("categorical", "classes") or value):
            raise PsephosError(f"X is a DataTable, which has its own {name}: leave {name} out.")
    return X if dataset is None else replace(X, dataset=dataset)


def _recorded(y: ArrayLike, name: str, blank: Label | None, task: str | None) -> list[Label | None]:
    """Return classes as they are written, None for rows without one."""
    found: list[Label | None] = [None if one == blank else one for one in np.asarray(y).tolist()]
    read = read_target([one for one in found if not is_missing(one)], name, task=task)
    if read.dtype.kind == "f":
        raise refuse_joining(name, "numbers")
    known = iter(read.tolist())
    return [None if is_missing(one) else next(known) for one in found]


def _from_arrays(X: Any, y: Any, *, classes: Classes, **given: Any) -> DataTable:
    """Return the table made from arrays, with joined classes."""
    if not classes:
        return table_from_arrays(X, y, **given)
    name = str(getattr(y, "name", None) or "target")
    if np.ndim(y) != 1:
        raise refuse_joining(name, "labels of which a case may have several")
    each = [one for one in (y, given["truth"]) if one is not None]
    columns = [_recorded(one, name, given["unlabeled"], given["task"]) for one in each]
    (labels, *truth), kept, joined, notes = join_classes(columns, classes, name)
    labels = [given["unlabeled"] if one is None else one for one in labels]
    rows = {n: given[n] for n in ("groups", "leave_out") if given[n] is not None}
    given |= {n: _rows_of(one, kept) for n, one in rows.items()}
    given["truth"] = truth[0] if truth else None
    table = table_from_arrays(_rows_of(X, kept), labels, target_name=name, **given)
    return replace(table, lines=kept, joined=joined, notes=(*notes, *table.notes))


def _rows_of(values: Any, kept: list[int]) -> Any:
    """Return some rows of an array, frame, series or sparse table, as the same type."""
    if hasattr(values, "iloc"):
        return values.iloc[kept]
    frame = as_frame(values)
    if frame is not None:
        return frame[kept].to_native()
    return values.tocsr()[kept] if hasattr(values, "tocsr") else np.asarray(values)[kept]


def _from_file(
    path: str | Path, target: object, dataset: str | None, given: dict[str, Any],
    reading: dict[str, Any],
) -> DataTable:  # fmt: skip
    """Return the table in a file; its columns must be given by name."""
    columns = {"y": target, "groups": given["groups"], "truth": given["truth"]}
    columns["leave_out"] = given["leave_out"]
    for name, values in columns.items():
        words: list[Any] = np.ravel(np.asarray(values, dtype=object)).tolist()
        if not all(one is None or isinstance(one, str) for one in words):
            raise PsephosError(
                f"X is the path of a file, so {name} is the name of a column in it. For arrays "
                "give the values of the table as X, or a DataTable (psephos.read_table)."
            )
    if given["column_names"] is not None:
        raise PsephosError("a file names its columns: leave column_names out.")
    roles = {name: one for name, one in given.items() if name not in ("groups", "column_names")}
    return read_table(
        path, target=cast("str", target), group=given["groups"], dataset=dataset, **roles, **reading
    )
