"""Cautions on a table as a user has it: an array, a frame, or what `read_table` returned."""

from collections.abc import Callable
from dataclasses import replace

import numpy as np

from psephos._errors import PsephosError
from psephos._types import Array, Floats, Indices, LabelsLike, PerRow, TableLike
from psephos.cautions import Cautions, Given, cautions_on
from psephos.cautions.layout import total_row
from psephos.estimator.columns import is_missing
from psephos.estimator.labels import many_values
from psephos.files.columns import is_number, is_time
from psephos.files.sheet import Sheet, unnamed
from psephos.protocol.tables.table import columns_of


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
        Rows of one group (a subject) stay together, so that replicates within one do no harm.
    n_folds : int, default=5
        How many folds a class should have rows for.

    Returns
    -------
    cautions : Cautions
        A tuple of `Caution`, each with `code`, `name`, `sentence`, `columns` and `rows`; printed,
        it is a line each. docs/cautions.md has a paragraph on each code.

    Raises
    ------
    PsephosError
        If y or groups do not have one value a row.

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
    own: Callable[[int], Cautions] | None = getattr(X, "cautions", None)
    if callable(own):
        return own(n_folds)
    columns, names, _ = columns_of(X)
    X_read = np.empty((len(columns[0]) if columns else 0, len(columns)))
    levels: dict[int, list[str]] = {}
    for j, column in enumerate(columns):
        X_read[:, j], words = _codes(column)
        levels |= {j: words} if words else {}
    kinds: dict[int, set[type[object]]] = {j: set(map(type, columns[j].tolist())) for j in levels}
    times = {j for j, kind in kinds.items() if any(map(is_time, kind))}
    for values, what in ((y, "y"), (groups, "groups")):
        if values is not None and len(np.asarray(values)) != len(X_read):
            raise PsephosError(f"{what} does not have {len(X_read)} values: give one per row of X.")
    answers, classes = _answers(y)
    index = getattr(X, "index", None)
    named = index is not None and type(index).__name__ != "RangeIndex"
    return cautions_on(
        Given(
            X_read, names or unnamed(len(columns)), levels, frozenset(times), answers, classes,
            str(getattr(y, "name", None) or "target"),
            None if groups is None else np.asarray(groups).ravel(),
            list(map(str, index)) if named and index is not None else (), n_folds,
        )
    )  # fmt: skip


def without_total(sheet: Sheet, target: str) -> Sheet:
    """Return a sheet without a last row that has no label, and sums or means of the others."""
    n, words = sheet.X.shape[0] - 1, sheet.words
    label = str(words[sheet.header.names.index(target)][n])
    if n < 1 or sheet.rest is not None or not sheet.cells.is_missing(label):
        return sheet
    known = np.flatnonzero((~np.isnan(sheet.X)).any(axis=0))
    once = [str(kept[n]) for kept in words.values() if kept[n] and kept.count(kept[n]) == 1]
    for word in once or [""]:
        if total_row(Given(sheet.X[:, known], unnamed(len(known)), rows=[*[""] * n, word])).rows:
            note = f"{sheet.place(n)} has no {target}, and sums or means ({word}): left out."
            kept = {j: column[:n] for j, column in words.items()}
            lines = sheet.lines and sheet.lines[:n]
            notes = [*sheet.notes, note]
            return replace(sheet, X=sheet.X[:n], words=kept, lines=lines, notes=notes)
    return sheet


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
    """Return which class or number is each row's, and the classes; none where y has numbers."""
    given = np.asarray(y)
    labels = given[:, 0] if given.ndim == 2 and given.shape[1] == 1 else given
    if labels.ndim != 1:
        return None, []
    plain = labels.dtype.kind in "biuf"
    values, codes = np.unique(labels if plain else labels.astype(str), return_inverse=True)
    numbers = plain and (
        many_values(np.bincount(codes)) or bool((values != np.round(values)).any())
    )
    return codes.astype(np.intp), [] if numbers else list(map(str, values.tolist()))
