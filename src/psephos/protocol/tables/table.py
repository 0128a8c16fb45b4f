"""`DataTable`: a table with its target, ids and groups, checked; and its description."""

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import product
from typing import Any, cast

import narwhals.stable.v2 as nw
import numpy as np
import scipy.sparse as sp

from psephos._errors import Complaints, PsephosError, PsephosTypeError
from psephos._types import (
    Array,
    Floats,
    Indices,
    LabelsLike,
    NDArray,
    PerRow,
    Sparse,
    TableLike,
    Values,
)
from psephos.cautions import OF_COLUMNS, Cautions, Given, cautions_on
from psephos.estimator.columns import as_frame, dense_columns, is_missing
from psephos.estimator.input import Schema, as_given
from psephos.estimator.labels import read_labels
from psephos.estimator.partial import known_rows
from psephos.files.arrays import object_array
from psephos.files.cells import Cells
from psephos.files.columns import COMPARED
from psephos.files.names import ends, listed, plural, sentence_name
from psephos.files.near import some
from psephos.files.sheet import DENSE, unnamed
from psephos.protocol.tables import labels as targets
from psephos.protocol.tables import requirements
from psephos.protocol.tables.roles import Cohorts, row_values, words_of_rows

_CLASSES, _NAMES = 12, 8
_CELLS = 1 << 24  # cells of a sparse table that are dense at once: 128 MiB


def contents_words(
    n_rows: int,
    counts: Mapping[str, int],
    kinds: tuple[int, int],
    left_out: Sequence[str] = (),
    *,
    groups: tuple[int, str] | None = None,
    unlabelled: int = 0,
    labels: bool = False,
    numbers: Floats | None = None,
) -> str:
    """Return the numbers of cases, classes and columns of a table, in sentences.

    Parameters
    ----------
    n_rows : int
    counts : mapping of str to int
        Cases of each class; with `labels` those that have each of several labels.
    kinds : tuple of int
        Number of numeric and of categorical columns.
    left_out : sequence of str, default=()
        Columns that are not measurements, with the options that name them.
    groups : tuple (int, str), default=None
        Number of groups, and the name of their column.
    unlabelled : int, default=0
        Cases without a label.
    labels : bool, default=False
    numbers : ndarray, default=None
        The target of each case, if it is numeric.
    """
    named = ((sentence_name(name), n) for name, n in counts.items())
    each = [f"{name} ({n})" if name[-1:].isdigit() else f"{name} {n}" for name, n in named]
    shown = some(each, _CLASSES)
    shown += f", without a label {unlabelled}" if unlabelled else ""
    if numbers is not None:
        low, middle, high = ends(np.quantile(numbers, (0, 0.5, 1)).tolist())
        shown = f"numbers from {low} to {high}, median {middle}"
    cases = plural(n_rows, "case") + (f", {len(counts)} labels" if labels else "")
    divided = "" if groups is None else f" in {plural(groups[0], 'group')} ({groups[1]})"
    if groups is not None and groups[0] == n_rows:
        divided = f", each a group of its own ({groups[1]})"
    each = zip(kinds, ("numeric", "categorical"), strict=True)
    words = [f"{n} {word}" for n, word in each if n]
    cases += divided + (f": {shown}" if shown else "")
    whole = f"{cases}. {plural(sum(kinds), 'column')}: {', '.join(words)}."
    return whole + (f" Left out: {listed(list(left_out), _NAMES)}." if left_out else "")


@dataclass(frozen=True)
class DataTable:
    """A table of cases: one row per case, one column per measurement.

    Parameters
    ----------
    X : ndarray of shape (n, p), float64, or CSC array
        Values; NaN where missing; in categorical columns the codes 0, 1, ...
    y : ndarray of shape (n,) or (n, K)
        Class labels: integers, texts or truth values; or numbers to predict: float64. If rows may
        have several of K > 1 labels, 0 and 1: which of `labels` each row has.
    names : tuple of str
        The p column names, all different.
    categories : dict of int to tuple of str
        The sorted levels of each categorical column, by column number.
    target_name : str, default="target"
        '' if the target is not known (`psephos table` without one): y then numbers the rows.
    ids : ndarray of shape (n,) of str, or None
        A name for each case, all different.
    groups : ndarray of shape (n,), or None
        Rows of one group (a patient, a batch) are never split between training and test.
    group_name : str, default=""
    dataset : str, default="table"
        The name of the table in results.
    cells : Cells
        How the cells of its file are written; a model fitted on the table keeps it.
    lines : sequence of int, or None
        The first line of each row in its file, counted from 1; None if the file has no lines.
    labels : tuple of str, default=()
        The names of the K labels if a row may have several (multi-label); else empty.
    partial : Partial, default=None
        The recorded labels if they are not `y`: some rows have none, or a wrong one.
    notes : tuple of str, default=()
        Sentences on how its columns were read.
    left_out : tuple of str, default=()
        Columns of its file that are not measurements, each with the option that names it.
    aside : mapping of str to sequence of str, default={}
        The cells of those that were left out or name the cases, as written, for cautions.
    positive : str, default=None
        The positive class of measures and page; None: the page chooses a usual one.
    insisted : bool, default=False
        Whether the user declared labels to be classes that look like a measurement.
    cohorts : Cohorts, default=None
        The test parts, in place of random folds.
    views : sequence of (str, tuple of str), default=()
        Names and columns of the views that `MultiViewClassifier` learns from.
    n_products : int, default=0
        Number of columns, the last ones, that are products of two others, without cautions.
    categorical : set of str, default={}
        Columns that the user listed as categories.
    joined : mapping of str to (str or None, int), default={}
        For each class that was renamed or joined the new class, or None if it was left out, and
        its number of rows.

    Raises
    ------
    PsephosError
        If the lengths do not match, a value is infinite, two columns have one name, the target has
        one class or value, all rows have the same labels, ids repeat, or there is one group only.
    """

    X: Values
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
    partial: targets.Partial | None = None
    notes: tuple[str, ...] = ()
    left_out: tuple[str, ...] = ()
    aside: Mapping[str, Sequence[str]] = field(default_factory=dict[str, Sequence[str]])
    positive: str | None = None
    insisted: bool = False
    cohorts: Cohorts | None = None
    views: Sequence[tuple[str, tuple[str, ...]]] = ()
    n_products: int = 0
    categorical: frozenset[str] = frozenset()
    joined: Mapping[str, tuple[str | None, int]] = field(default_factory=dict[str, Any])

    def __post_init__(self) -> None:
        n, p = self.X.shape
        if not n or not p:
            raise PsephosError(
                f"the table {self.dataset!r} has {plural(n, 'row')} and {plural(p, 'column')} "
                "besides the target: it needs at least one of each."
            )
        if len(self.y) != n:
            raise PsephosError(f"y has {len(self.y)} labels for {n} rows: give one label per row.")
        if len(self.names) != p:
            raise PsephosError(f"{len(self.names)} names for {p} columns: give one per column.")
        requirements.refuse_duplicates(self.names)
        wrong = Complaints()
        with wrong.gather():
            requirements.refuse_farthest(self.X, self.names, self._place)
        with wrong.gather():
            requirements.check_target(self)
        with wrong.gather():
            requirements.check_ids(self.ids, n)
        with wrong.gather():
            requirements.check_groups(self.groups, n)
        if self.cohorts is not None:
            with wrong.gather():
                self.cohorts.check(n)
        wrong.refuse()
        if self.partial is not None:
            self.partial.check(self.y, self.classes)

    def _place(self, i: int) -> str:
        return targets.row_words(i) if self.lines is None else f"line {self.lines[i]}"

    @property
    def n_rows(self) -> int:
        """Return n."""
        return self.X.shape[0]

    @property
    def n_columns(self) -> int:
        """Return p."""
        return self.X.shape[1]

    @property
    def kind(self) -> str:
        """Return the type of the target: 'classes', 'labels' (several per row) or 'numbers'."""
        if self.labels:
            return "labels"
        return "numbers" if self.y.dtype.kind == "f" else "classes"

    @property
    def _csc(self) -> Sparse | None:
        return None if isinstance(self.X, np.ndarray) else self.X

    @property
    def multilabel(self) -> bool:
        """Return whether a row may have several labels."""
        return self.kind == "labels"

    @property
    def classes(self) -> Array:
        """Return the sorted class labels; the names of several labels; nothing for numbers."""
        if self.kind == "numbers":
            return np.empty(0, dtype=str)
        return np.array(self.labels) if self.multilabel else np.unique(self.y)

    @property
    def codes(self) -> NDArray[Any]:
        """Return the index of each row's label in `classes`, (n, K) of 0 and 1, or numbers."""
        if self.kind == "numbers":
            return self.y
        if self.multilabel:
            return self.y.astype(np.intp)
        return np.unique(self.y, return_inverse=True)[1].astype(np.intp)

    @property
    def n_independent(self) -> float:
        """Return the effective number of independent rows: n^2 / sum of squared group sizes."""
        if self.groups is None:
            return float(self.n_rows)
        sizes = np.unique(self.groups, return_counts=True)[1]
        return float(self.n_rows**2 / (sizes**2).sum())

    def contents(self) -> str:
        """Return cases, classes, columns by kind and what was left out, in sentences."""
        classes, partial = self.classes.tolist(), self.partial
        numbers = self.kind == "numbers" and self.target_name != ""
        counts = self.class_counts
        if partial is not None:
            counts = np.bincount(partial.recorded + 1, minlength=len(classes) + 1)[1:]
        named = dict(zip(map(str, classes), counts.tolist(), strict=True))
        categories, groups, group = len(self.categories), self.groups, self.group_name
        if groups is not None and "=" in group:  # by a pattern
            group += f", such as {sentence_name(str(groups[0]))}"
        return contents_words(
            self.n_rows,
            {name: n for name, n in named.items() if n or partial is None},
            (self.n_columns - categories, categories),
            self.left_out,
            groups=None if groups is None else (len(np.unique(groups)), group),
            unlabelled=0 if partial is None else int((partial.recorded < 0).sum()),
            labels=self.multilabel,
            numbers=self.y if numbers else None,
        )

    @property
    def class_counts(self) -> Indices:
        """Return the number of rows of each class, or with each label; empty for numbers."""
        if self.kind == "numbers":
            return np.empty(0, dtype=np.intp)
        return self.y.sum(axis=0) if self.multilabel else np.bincount(self.codes)

    def cautions(self, n_folds: int = 5) -> Cautions:
        """Return the cautions on the table: what may be wrong, before a model learns from it.

        Cautions about the target are not tested if labels are partly recorded or rows may have
        several. Those on rows of a sparse table use the columns with the fewest zeros.
        """
        if self.n_products:
            return self.part(np.arange(self.n_columns - self.n_products)).cautions(n_folds)
        X = self._csc
        if X is None:
            return cautions_on(self._given(n_folds))
        most = max(1, _CELLS // self.n_rows)
        order = np.argsort(-np.diff(X.indptr), kind="stable")
        kept, place = set(order[:most].tolist()), {name: j for j, name in enumerate(self.names)}
        for start in range(0, self.n_columns, most):
            part = self.part(np.arange(start, min(start + most, self.n_columns)))
            found = cautions_on(part._given(n_folds), OF_COLUMNS)
            kept |= {place[name] for one in found for name in one.columns}
        return self.part(np.array(sorted(kept))).cautions(n_folds)

    def part(self, columns: Indices) -> "DataTable":
        """Return the table of some columns, dense; views keep their columns among these."""
        held: list[int] = columns.tolist()
        names = tuple(self.names[j] for j in held)
        levels = {k: self.categories[j] for k, j in enumerate(held) if j in self.categories}
        cut = [(one, tuple(name for name in own if name in names)) for one, own in self.views]
        views, X = tuple(one for one in cut if one[1]), dense_columns(self.X, columns)
        return replace(self, X=X, names=names, categories=levels, n_products=0, views=views)

    def _given(self, n_folds: int) -> Given:
        """Return a dense table as the tests of cautions need it."""
        plain = not self.multilabel and self.partial is None and self.target_name != ""
        codes = np.unique(self.y, return_inverse=True)[1] if plain else None
        declared = {word.rpartition("=")[2] for word in self.cells.missing if "=" in word}
        return Given(
            dense_columns(self.X), self.names, self.categories,
            answers=codes,
            classes=tuple(map(str, self.classes.tolist())) if plain else (),
            target=self.target_name, groups=self.groups, rows=tuple(self.row_names()),
            n_folds=n_folds, categorical=self.categorical,
            declared=frozenset(word for word in declared if Cells().number(word) is None),
            numbers=self.y if plain and self.kind == "numbers" else None,
            aside={} if self.cohorts else self.aside,
        )  # fmt: skip

    def row_names(self) -> list[str]:
        """Return the ids; without them 'row 101', by the line in the file, or counted from 0."""
        if self.ids is not None:
            return [str(one) for one in self.ids]
        return [f"row {i}" for i in self.lines or range(self.n_rows)]

    def fingerprint(self) -> str:
        """Return a SHA-256 of everything that results depend on: values, labels, names, groups."""
        digest = hashlib.sha256(repr((self.X.shape, self.names)).encode())
        digest.update(repr(sorted(self.categories.items())).encode())
        X = self._csc
        for values in [self.X] if X is None else [X.data, X.indices, X.indptr]:
            digest.update(np.ascontiguousarray(values).tobytes())
        digest.update(repr(self.y.tolist()).encode())
        if self.groups is not None:
            digest.update(repr(self.groups.tolist()).encode())
        if self.cohorts is not None:
            digest.update(repr((self.cohorts.only, self.cohorts.of_row.tolist())).encode())
        if self.views:
            digest.update(repr(self.views).encode())
        if self.multilabel:
            digest.update(repr(self.labels).encode())
        if self.partial is not None:
            digest.update(repr(self.partial.content()).encode())
        return digest.hexdigest()

    def named(self, model: Any, *, rows: bool = True) -> Any:
        """Return a model that was fitted on `X`, with the names of columns, levels and rows.

        The table holds codes, but new tables hold words. Without `rows`, the training rows that the
        model keeps are not named. A model inside a pipeline cannot be saved: None is returned.
        """
        if not hasattr(model, "schema_"):
            return None
        named = model.schema_.levels.items()
        levels = {j: tuple(self.categories[j][int(code)] for code in codes) for j, codes in named}
        model.schema_ = Schema(self.n_columns, self.names, levels, cells=self.cells)
        model.feature_names_in_ = np.asarray(self.names, dtype=object)
        model.joined_ = self.joined
        names: Any = {"named": self.names}
        if rows:
            names["named_rows"] = np.array(self.row_names())
            model.vote_ = model.vote_.named_rows(names["named_rows"])
        if self.multilabel:
            target = replace(model.vote_.target, classes=np.array(self.labels))
            model.vote_ = replace(model.vote_, target=target)
        for extra, (name, words) in product(model.extras, names.items()):
            naming: Any = getattr(getattr(model, extra, None), name, None)  # of columns or rows
            if naming is not None:
                setattr(model, extra, naming(words))
        return model


def table_from_arrays(
    X: TableLike,
    y: Any,
    *,
    groups: PerRow = None,
    ids: LabelsLike | None = None,
    column_names: Sequence[str] | None = None,
    categorical: Sequence[str | int] = (),
    target_name: str | None = None,
    dataset: str = "table",
    unlabeled: Any = None,
    truth: Any = None,
    recorded_class: Any = None,
    prior: float | None = None,
    positive: Any = None,
    task: str | None = None,
    leave_out: PerRow = None,
) -> DataTable:
    """Return a table made of arrays or a frame.

    Parameters
    ----------
    X : array, pandas or polars frame, or scipy sparse table of shape (n, p)
        Text columns of a frame (or of an array of objects) become categorical.
    y : array-like of shape (n,), or table of shape (n, K)
        Class labels, or numbers to predict; or a table of 0 and 1, one column per label, if rows
        may have several. Labels are named by a frame's columns, else 'label 0', 'label 1', ...
    groups, ids : array-like of shape (n,), optional
    column_names : sequence of str, optional
        By default the frame's own names, else 'column 0', 'column 1', ...
    categorical : sequence of str or int, default=()
        Columns whose numbers are categories, by name or index. Name the target to accept its
        values as classes even if they look like a measurement.
    target_name : str, optional
        By default the name of the series y, else 'target'.
    dataset : str, default="table"
    unlabeled, truth, recorded_class, prior : optional
        For partly recorded labels: see `psephos.protocol.compare`.
    positive : label, optional
        The positive class of measures and page.
    task : {'classes', 'numbers'}, optional
        The type of y. By default numbers if they clearly are a measurement (see `read_table`).
    leave_out : array-like of shape (n,), optional
        For `psephos.protocol.compare`: the cohort of each row, or a mask of the test part.

    Returns
    -------
    table : DataTable

    Raises
    ------
    PsephosTypeError
        If X is not a table.
    PsephosError
        If the table cannot be used: see `DataTable`; or if a numeric column has text.
    """
    categorical = [categorical] if isinstance(categorical, str) else categorical
    wide = _wide_sparse(X, categorical)
    columns, found, declared = columns_of(X) if wide is None else ([], None, set[int]())
    p = len(columns) if wide is None else wide.shape[1]
    given = found if column_names is None else [str(name) for name in column_names]
    if given is None:
        given = unnamed(p)
    if len(given) != p:
        raise PsephosError(f"{len(given)} names for {p} columns: give one per column.")
    requirements.refuse_duplicates(given)
    label = str(target_name or getattr(y, "name", None) or "target")
    insisted = label not in given and label in list(categorical)
    task = targets.task_given(task, insisted=insisted)
    marked = _marked([one for one in categorical if not insisted or one != label], given)
    partial = None
    if targets.refuse_old_positive(positive, recorded_class, unlabeled, truth, prior):
        labels = ()
        targets.refuse_numbers(task, "labels that are partly recorded")
        partial, answers = _partly(y, unlabeled, truth, recorded_class, label, prior)
    else:
        labels, answers, label = _answers(X, y, target_name, task)
    values = np.empty((len(answers), len(columns)))
    categories: dict[int, tuple[str, ...]] = {}
    notes: list[str] = []
    for j, column in enumerate(columns):
        if len(column) != len(values):
            raise PsephosError(f"y has {len(values)} labels for {len(column)} rows of X.")
        values[:, j], levels = targets.encode_column(
            column, given[j], notes, categorical=j in marked | declared, ways=COMPARED
        )
        if levels is not None:
            categories[j] = levels
    return DataTable(
        X=values if wide is None else wide,
        y=answers,
        names=tuple(given),
        categories=categories,
        target_name=label,
        labels=labels,
        ids=None if ids is None else words_of_rows(ids, "ids"),
        groups=None if groups is None else words_of_rows(groups, "groups"),
        group_name=str(getattr(groups, "name", None) or "groups") if groups is not None else "",
        dataset=dataset,
        partial=partial,
        notes=tuple(notes),
        positive=targets.label_word(positive),
        insisted=task == "classes",
        categorical=frozenset(given[j] for j in marked),
        cohorts=Cohorts.of(leave_out, getattr(leave_out, "name", None)),
    )


def _wide_sparse(X: TableLike, categorical: Sequence[str | int]) -> Sparse | None:
    """Return a large sparse table without categories as CSC, as read from a file; else None."""
    given = cast("Any", X)
    if categorical or not sp.issparse(X) or given.shape[0] * given.shape[1] <= DENSE:
        return None
    held: Any = sp.csc_array(given, dtype=np.float64, copy=True)
    held.sum_duplicates()
    held.eliminate_zeros()
    return held


def _partly(
    y: LabelsLike, unlabeled: Any, truth: Any, sure: Any, label: str, prior: float | None
) -> tuple[targets.Partial, Array]:
    """Return partly recorded labels, and the table's y."""
    given: list[Any] = row_values(y, "y").tolist()
    targets.check_mark(unlabeled, (v for v in given if not is_missing(v)), label)
    known: list[bool] = known_rows(np.array([*given, None], dtype=object), unlabeled).tolist()
    true = None if truth is None else row_values(truth, "truth").tolist()
    tidy = None if true is None else targets.tidy_labels(true, "truth")
    recorded = targets.recorded_labels(given, known[:-1], label)
    return targets.read_partial(recorded, tidy, targets.label_word(sure), label, prior)


def _answers(
    X: TableLike, y: Any, target_name: str | None, task: str | None
) -> tuple[tuple[str, ...], NDArray[Any], str]:
    """Return the names of several labels (or none), the labels, and the name of the target."""
    shape: Any = y.shape if hasattr(y, "shape") else np.shape(y)
    if len(shape) == 2 and shape[1] > 1:
        plain = not sp.issparse(y) and np.asarray(y).dtype.kind in "iuf"
        several = plain and not np.isin(np.asarray(y), (0, 1)).all()
        targets.refuse_numbers("numbers" if several else task, f"y of shape {shape}")
        names, table = read_labels(X, y)
        words = [f"label {one}" if isinstance(one, int) else str(one) for one in names.tolist()]
        return tuple(words), table, target_name or targets.together(words)
    label = str(target_name or getattr(y, "name", None) or "target")
    return (), targets.read_target(row_values(y, "y").tolist(), label, task=task), label


def columns_of(X: TableLike) -> tuple[list[Array], list[str] | None, set[int]]:
    """Return the columns of X, their names if any, and the indices of those of categorical type."""
    given = as_given(X)
    frame = as_frame(given)
    if frame is not None:
        kinds = (nw.Categorical, nw.Enum)
        types: list[Any] = frame.schema.dtypes()
        declared = {j for j, kind in enumerate(types) if kind in kinds}
        names = [str(c) for c in frame.columns]
        if types and all(kind.is_numeric() for kind in types):  # at once where that is exact
            whole: Array = frame.to_numpy()
            if whole.dtype.kind == "f":
                return list(whole.astype(np.float64).T), names, set()
        return [_series(frame[:, j]) for j in range(frame.shape[1])], names, declared
    sparse = bool(sp.issparse(given))  # a plain bool: the type guard would narrow it to no class
    values: Array = given.toarray() if sparse else np.asarray(given)
    if values.ndim != 2:
        raise PsephosTypeError(
            f"X has {values.ndim} dimensions, but a table has two: rows (cases) and columns."
        )
    if values.dtype.kind == "f":
        values = values.astype(np.float64)
    return list(values.T), None, set()


def _series(series: Any) -> Array:
    if series.dtype.is_numeric() or series.dtype == nw.Boolean:
        missing = series.is_null().to_numpy()
        if not missing.any():
            return np.asarray(series.to_numpy(), dtype=np.float64)
        held = zip(series.to_list(), missing, strict=True)  # pandas has its own NA in place of None
        return np.array([np.nan if gap else float(v) for v, gap in held])
    return object_array(series.to_list())


def _marked(categorical: Sequence[str | int], names: Sequence[str]) -> set[int]:
    where = {name: j for j, name in enumerate(names)}
    marked: set[int] = set()
    for one in categorical:
        j = where.get(one, -1) if isinstance(one, str) else int(one)
        if not 0 <= j < len(names):
            raise PsephosError(f"categorical names {one!r}, which is not a column of the table.")
        marked.add(j)
    return marked
