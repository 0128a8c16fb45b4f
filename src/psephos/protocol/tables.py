"""A table as the protocol wants it: numbers, codes for categories, labels, and what rows are."""

import hashlib
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import product
from typing import Any

import narwhals.stable.v2 as nw
import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from psephos._columns import is_missing
from psephos._errors import PsephosError, PsephosTypeError
from psephos._files.arrays import word_array
from psephos._files.cells import Cells
from psephos._files.columns import levels_of, refuse_mixed, refuse_numbers_in_words
from psephos._files.levels import LevelCodes, merged
from psephos._files.near import CELL, shown
from psephos._files.sheet import unnamed
from psephos._input import Schema
from psephos._labels import read_labels
from psephos._partial import known_rows
from psephos.protocol.label_tables import together
from psephos.protocol.partial import Partial, check_mark, read_partial
from psephos.protocol.table_checks import (
    check_rows,
    check_target,
    refuse_duplicates,
    refuse_infinite,
    row_words,
)

__all__ = ["DataTable", "table_from_arrays"]

_Floats = NDArray[np.float64]


@dataclass(frozen=True)
class DataTable:
    """A table of cases: one row per case, one column per measurement.

    Parameters
    ----------
    X : ndarray of shape (n, p), float64
        Values; NaN where missing; in categorical columns the codes 0, 1, ...
    y : ndarray of shape (n,) or (n, K)
        Class labels: integers, texts or truth values. Of K > 1 labels a row, 0 and 1: which of
        `labels` it has.
    names : tuple of str
        The p column names, all different.
    categories : dict of int to tuple of str
        The sorted levels of each categorical column, by column number.
    target_name : str, default="target"
    ids : ndarray of shape (n,) of str, or None
        A name for each case, all different.
    groups : ndarray of shape (n,), or None
        Rows of one group (a patient, a batch) are never split between training and test.
    group_name : str, default=""
    dataset : str, default="table"
        The name of the table in results.
    cells : Cells
        How the cells of its file are written; a model fitted on the table remembers it.
    lines : sequence of int, or None
        The line of its file where each row begins, as an editor counts; None: there are no lines.
    labels : tuple of str, default=()
        The names of the K labels where a row may have several (multi-label); else none.
    partial : Partial, default=None
        What is recorded of the labels, where that is not `y`: some rows have none, or a wrong one.

    Raises
    ------
    PsephosError
        If the parts do not fit together, a value is infinite, a name stands twice, the target has
        missing values or one class, no row differs from another in its labels, or the ids or
        groups cannot serve.
    """

    X: _Floats
    y: NDArray[Any]
    names: tuple[str, ...]
    categories: Mapping[int, tuple[str, ...]] = field(default_factory=dict[int, tuple[str, ...]])
    target_name: str = "target"
    ids: NDArray[Any] | None = None
    groups: NDArray[Any] | None = None
    group_name: str = ""
    dataset: str = "table"
    cells: Cells = field(default_factory=Cells)
    lines: Sequence[int] | None = None
    labels: tuple[str, ...] = ()
    partial: Partial | None = None

    def __post_init__(self) -> None:
        n, p = self.X.shape
        if not n or not p:
            raise PsephosError(
                f"the table {self.dataset!r} has {n} rows and {p} columns besides the target: it "
                "needs at least one of each."
            )
        if len(self.y) != n:
            raise PsephosError(f"y has {len(self.y)} labels for {n} rows: give one label per row.")
        if len(self.names) != p:
            raise PsephosError(f"{len(self.names)} names for {p} columns: give one per column.")
        refuse_duplicates(self.names)
        refuse_infinite(self)
        check_target(self)
        check_rows(self)
        if self.partial is not None:
            self.partial.check(self.y, self.classes)

    @property
    def n_rows(self) -> int:
        """Return n."""
        return self.X.shape[0]

    @property
    def n_columns(self) -> int:
        """Return p."""
        return self.X.shape[1]

    @property
    def multilabel(self) -> bool:
        """Return whether a row may have several labels."""
        return bool(self.labels)

    @property
    def classes(self) -> NDArray[Any]:
        """Return the sorted class labels; of several labels a row their names, as they stand."""
        return np.array(self.labels) if self.multilabel else np.unique(self.y)

    @property
    def codes(self) -> NDArray[np.intp]:
        """Return the place of each row's label in `classes`, or (n, K) of 0 and 1."""
        if self.multilabel:
            return self.y.astype(np.intp)
        return np.unique(self.y, return_inverse=True)[1].astype(np.intp)

    def row_names(self) -> list[str]:
        """Return the ids; without them 'row 101', by its line in the file (from 0 without one)."""
        if self.ids is not None:
            return [str(one) for one in self.ids]
        return [f"row {i}" for i in self.lines or range(self.n_rows)]

    def fingerprint(self) -> str:
        """Return a SHA-256 of everything that results depend on: values, labels, names, groups."""
        digest = hashlib.sha256(repr((self.X.shape, self.names)).encode())
        digest.update(repr(sorted(self.categories.items())).encode())
        digest.update(np.ascontiguousarray(self.X).tobytes())
        digest.update(repr(self.y.tolist()).encode())
        if self.groups is not None:
            digest.update(repr(self.groups.tolist()).encode())
        if self.multilabel:
            digest.update(repr(self.labels).encode())
        if self.partial is not None:
            digest.update(repr(self.partial.content()).encode())
        return digest.hexdigest()

    def named(self, model: Any) -> Any:
        """Return a model fitted on the table's numbers, knowing its columns, levels and rows.

        The table holds codes; a model that is used later meets the words they stand for. A model
        behind a pipeline, which no file can hold, gives None.
        """
        if not hasattr(model, "schema_"):
            return None
        levels = {
            j: tuple(self.categories[j][int(code)] for code in codes)
            for j, codes in model.schema_.levels.items()
        }
        model.schema_ = Schema(self.n_columns, self.names, levels, cells=self.cells)
        model.feature_names_in_ = np.asarray(self.names, dtype=object)
        model.vote_ = model.vote_.named_rows(np.array(self.row_names()))
        if self.multilabel:
            target = replace(model.vote_.target, classes=np.array(self.labels))
            model.vote_ = replace(model.vote_, target=target)
        told: Any = {"named": self.names, "named_rows": np.array(self.row_names())}
        for extra, (name, words) in product(model.extras, told.items()):
            tell: Any = getattr(getattr(model, extra), name, None)  # of columns or rows
            if tell is not None:
                setattr(model, extra, tell(words))
        return model

    def renamed(self, dataset: str) -> "DataTable":
        """Return the same table under another name."""
        return replace(self, dataset=dataset)


def table_from_arrays(
    X: Any,
    y: Any,
    *,
    groups: Any = None,
    ids: Any = None,
    column_names: Sequence[str] | None = None,
    categorical: Sequence[str | int] = (),
    target_name: str | None = None,
    dataset: str = "table",
    unlabeled: Any = None,
    truth: Any = None,
    positive: Any = None,
    prior: float | None = None,
) -> DataTable:
    """Return a table made of arrays or a frame.

    Parameters
    ----------
    X : array, pandas or polars frame, or scipy sparse table of shape (n, p)
        Text columns of a frame (or of an array of objects) become categorical.
    y : array-like of shape (n,), or table of shape (n, K)
        Class labels; or a table of 0 and 1, one column a label, of which a row may have several.
        Labels have the names of a frame's columns, else 'label 0', 'label 1', ...
    groups, ids : array-like of shape (n,), optional
    column_names : sequence of str, optional
        By default the frame's own names, else 'column 0', 'column 1', ...
    categorical : sequence of str or int, default=()
        Columns whose numbers are categories, by name or number.
    target_name : str, optional
        By default the name of the series y, else 'target'.
    dataset : str, default="table"
    unlabeled, truth, positive, prior : optional
        Of labels that are partly recorded: see `psephos.protocol.compare`.

    Returns
    -------
    table : DataTable

    Raises
    ------
    PsephosTypeError
        If X is not a table.
    PsephosError
        If the table cannot be used: see `DataTable`, and text in a numeric column.
    """
    columns, found, declared = _columns_of(X)
    given = found if column_names is None else [str(name) for name in column_names]
    if given is None:
        given = unnamed(len(columns))
    if len(given) != len(columns):
        raise PsephosError(f"{len(given)} names for {len(columns)} columns: give one per column.")
    refuse_duplicates(given)
    marked = _marked(categorical, given) | declared
    partial = None
    if all(one is None for one in (unlabeled, truth, positive, prior)):
        labels, answers, label = _answers(X, y, target_name)
    else:
        labels, label = (), str(target_name or getattr(y, "name", None) or "target")
        partial, answers = _partly(y, unlabeled, truth, positive, label, prior)
    values = np.empty((len(answers), len(columns)))
    categories: dict[int, tuple[str, ...]] = {}
    for j, column in enumerate(columns):
        if len(column) != len(values):
            raise PsephosError(f"y has {len(values)} labels for {len(column)} rows of X.")
        values[:, j], levels = encode_column(column, given[j], categorical=j in marked)
        if levels is not None:
            categories[j] = levels
    return DataTable(
        X=values,
        y=answers,
        names=tuple(given),
        categories=categories,
        target_name=label,
        labels=labels,
        ids=None if ids is None else word_array([str(i) for i in _row_values(ids, "ids")]),
        groups=None
        if groups is None
        else word_array([str(g) for g in _row_values(groups, "groups")]),
        group_name=str(getattr(groups, "name", None) or "groups") if groups is not None else "",
        dataset=dataset,
        partial=partial,
    )


def _partly(
    y: Any, unlabeled: Any, truth: Any, positive: Any, label: str, prior: float | None
) -> tuple[Partial, NDArray[Any]]:
    """Return what is recorded of labels, and the table's y."""
    given: list[Any] = _row_values(y, "y").tolist()
    check_mark(unlabeled, (v for v in given if not is_missing(v)), label)
    known: list[bool] = known_rows(np.array([*given, None], dtype=object), unlabeled).tolist()
    told = None if truth is None else tidy_labels(_row_values(truth, "truth").tolist(), "truth")
    recorded = recorded_labels(given, known[:-1], label)
    named = None if positive is None else str(positive)
    return read_partial(recorded, told, named, label, prior)


def recorded_labels(
    values: Sequence[Any], known: Sequence[bool], name: str, place: Callable[[int], str] = row_words
) -> list[Any]:
    """Return tidy labels of the rows that have one, None of the others."""
    held = [v for v, has in zip(values, known, strict=True) if has]
    at = [i for i, has in enumerate(known) if has]
    tidy = iter(tidy_labels(held, name, lambda i: place(at[i])).tolist())
    return [next(tidy) if has else None for has in known]


def _answers(X: Any, y: Any, target_name: str | None) -> tuple[tuple[str, ...], NDArray[Any], str]:
    """Return the names of several labels (or none), the labels, and what the target is called."""
    shape: Any = y.shape if hasattr(y, "shape") else np.shape(y)
    if len(shape) == 2 and shape[1] > 1:
        names, table = read_labels(X, y)
        words = [f"label {one}" if isinstance(one, int) else str(one) for one in names.tolist()]
        return tuple(words), table, target_name or together(words)
    label = str(target_name or getattr(y, "name", None) or "target")
    return (), tidy_labels(_row_values(y, "y").tolist(), label), label


def _columns_of(X: Any) -> tuple[list[NDArray[Any]], list[str] | None, set[int]]:
    """Return the columns of X, their names if it has any, and those of a categorical type."""
    frame = nw.from_native(X, eager_only=True, pass_through=True)
    if isinstance(frame, nw.DataFrame):
        kinds = (nw.Categorical, nw.Enum)
        types: list[Any] = frame.schema.dtypes()
        declared = {j for j, kind in enumerate(types) if kind in kinds}
        columns = [_series(frame[:, j]) for j in range(frame.shape[1])]
        return columns, [str(c) for c in frame.columns], declared
    sparse = bool(sp.issparse(X))  # a plain bool: the type guard would narrow X to no class
    values: NDArray[Any] = X.toarray() if sparse else np.asarray(X)
    if values.ndim != 2:
        raise PsephosTypeError(
            f"X has {values.ndim} dimensions, but a table has two: rows (cases) and columns."
        )
    if values.dtype.kind == "f":
        values = values.astype(np.float64)
    return list(values.T), None, set()


def _series(series: Any) -> NDArray[Any]:
    if series.dtype.is_numeric() or series.dtype == nw.Boolean:
        missing = series.is_null().to_numpy()
        if not missing.any():
            return np.asarray(series.to_numpy(), dtype=np.float64)
        return np.array([np.nan if v is None else float(v) for v in series.to_list()])
    values = np.empty(len(series), dtype=object)
    values[:] = series.to_list()
    return values


def _row_values(values: Any, what: str) -> NDArray[Any]:
    array = np.asarray(values)
    if array.ndim == 2 and array.shape[1] == 1:
        array = array[:, 0]
    if array.ndim != 1:
        raise PsephosTypeError(f"{what} has {array.ndim} dimensions: give one value per row.")
    return array


def _marked(categorical: Sequence[str | int], names: Sequence[str]) -> set[int]:
    where = {name: j for j, name in enumerate(names)}
    marked: set[int] = set()
    for one in categorical:
        j = where.get(one, -1) if isinstance(one, str) else int(one)
        if not 0 <= j < len(names):
            raise PsephosError(f"categorical names {one!r}, which is not a column of the table.")
        marked.add(j)
    return marked


# ------------------------------------------------------------------- columns and labels
def encode_column(
    column: NDArray[Any], name: str, *, categorical: bool = False
) -> tuple[_Floats, tuple[str, ...] | None]:
    """Return a column as numbers, and its levels if it is categorical.

    Parameters
    ----------
    column : ndarray of shape (n,)
        Numbers, or objects: numbers, texts, None where missing.
    name : str
    categorical : bool, default=False
        Whether numbers, too, are categories.

    Raises
    ------
    PsephosError
        If numbers and texts are mixed in a column not declared categorical, or the texts are
        numbers written another way (5,1; 5 %; <0.1; 20-30).
    """
    if column.dtype.kind in "biuf" and not categorical:
        return column.astype(np.float64), None
    values: list[Any] = [None if is_missing(v) else v for v in column.tolist()]
    if not categorical:
        words = [None if v is None or _is_number(v) else str(v) for v in values]
        n_words = sum(w is not None for w in words)
        if not n_words:
            numbers = [np.nan if v is None else float(v) for v in values]
            return np.array(numbers, dtype=np.float64), None
        n_numbers = sum(v is not None for v in values) - n_words
        if n_numbers:
            refuse_mixed(name, words, n_numbers, row_words)
        refuse_numbers_in_words(name, words, row_words)
    return coded(values, name)


def coded(values: Sequence[Any], name: str) -> tuple[_Floats, tuple[str, ...]]:
    """Return the codes of categories, None where missing, and their sorted levels in words.

    Values of one number (1, 1.0, "1") are one level.
    """
    own = {
        value: _word(level) for value, level in merged(v for v in values if v is not None).items()
    }
    levels = levels_of(name, [None if v is None else own[v] for v in values])
    codes = LevelCodes(levels)
    code = {value: codes.code(level) for value, level in own.items()}
    return np.array([np.nan if v is None else code[v] for v in values]), levels


def _word(level: Any) -> str:
    """Return a level in words: a whole number without its point."""
    if isinstance(level, float) and level.is_integer():
        return str(int(level))
    return str(level)


def _is_number(value: Any) -> bool:
    if isinstance(value, str) and "_" in value:
        return False  # Python reads 1_2 as twelve; a table means a text
    try:
        float(value)
    except (TypeError, ValueError):
        return False
    return True


_WHOLE = re.compile(r"0|-?[1-9]\d*", re.ASCII)  # as a whole number is written, and only so
_INT64 = range(-(2**63), 2**63)


def written_labels(values: Sequence[Any], name: str, place: Callable[[int], str]) -> NDArray[Any]:
    """Return labels written in a file: integers if every one is written as such, else words.

    01, 1.0, 1e3 and digits of other scripts are words: no two labels become one.
    """
    present = [v for v in values if v is not None]
    if all(_WHOLE.fullmatch(v) and int(v) in _INT64 for v in present):
        return tidy_labels([None if v is None else int(v) for v in values], name, place)
    if all(map(_is_number, present)):
        for i, value in enumerate(values):
            if value is not None and not float(value).is_integer():
                raise _measurements(name, place(i), value)
    return tidy_labels(values, name, place)


def tidy_labels(
    values: Sequence[Any], name: str, place: Callable[[int], str] = row_words
) -> NDArray[Any]:
    """Return labels as integers if they all are whole numbers, as words if they are words.

    Raises
    ------
    PsephosError
        If a label is missing, or the labels are measurements, or numbers and words are mixed.
    """
    missing = [i for i, v in enumerate(values) if is_missing(v)]
    if missing:
        rows = ", ".join(place(i) for i in missing[:5]) + (", ..." if len(missing) > 5 else "")
        raise PsephosError(
            f"the target {shown(name)} has no value in {len(missing)} row(s) ({rows}): fill the "
            "labels in, or remove those rows; of two classes, if no value means that the label is "
            "not known, say so: --unlabeled '' (in Python unlabeled='')."
        )
    items = [v.decode("utf-8", "replace") if isinstance(v, bytes) else v for v in values]
    kinds = {_kind(v): i for i, v in enumerate(items)}
    if len(kinds) > 1:
        i, j = sorted(kinds.values())[:2]
        raise PsephosError(
            f"the target {shown(name)} mixes kinds of labels ({shown(items[i], CELL)} in "
            f"{place(i)}, {shown(items[j], CELL)} "
            f"in {place(j)}): make all of them words, or all of them numbers."
        )
    if "number" not in kinds:
        return word_array([str(v) for v in items])
    for i, value in enumerate(items):
        if not float(value).is_integer():
            raise _measurements(name, place(i), value)
    whole = [int(v) for v in items]
    if all(v in _INT64 for v in whole):
        return np.array(whole, dtype=np.int64)
    return word_array([str(v) for v in whole])


def _kind(label: Any) -> str:
    if isinstance(label, bool):
        return "truth value"
    return "number" if isinstance(label, int | float) else "word"


def _measurements(name: str, place: str, value: Any) -> PsephosError:
    return PsephosError(
        f"the target {shown(name)} holds measurements ({place}: {str(value)[:CELL]}), but "
        "classes are wanted: cut it into classes first, or name another target."
    )
