"""What may come in: arrays, frames and sparse tables become one encoded table."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import narwhals.stable.v2 as nw
import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from sklearn.utils import check_array
from sklearn.utils.class_weight import compute_sample_weight
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_consistent_length, column_or_1d, validate_data

from psephos._errors import PsephosError
from psephos.vote.ballots import Names

__all__ = ["Context", "Schema", "Table", "read_schema", "read_table", "read_target", "read_weight"]

CategoricalFeatures = Sequence[Any] | NDArray[Any] | str | None


@dataclass(frozen=True)
class Schema:
    """What the columns of the training table were.

    Parameters
    ----------
    n_features : int
    names : tuple of str or None
        Column names, if the table had them.
    levels : dict of int to tuple
        The categories of each categorical column; the code of a value is its place in the tuple.
        A value that is not among them is read as missing.
    """

    n_features: int
    names: tuple[str, ...] | None = None
    levels: Mapping[int, tuple[Any, ...]] = field(default_factory=dict[int, tuple[Any, ...]])

    def words(self) -> Names:
        """Return the words for ballots; unnamed columns are called 'column j'."""
        names = self.names or tuple(f"column {j}" for j in range(self.n_features))
        return Names(list(names), {j: [str(v) for v in vs] for j, vs in self.levels.items()})

    def select(self, columns: NDArray[np.intp]) -> "Schema":
        """Return the schema of the table reduced to `columns`."""
        kept = [int(j) for j in columns]
        names = tuple(self.names[j] for j in kept) if self.names else None
        levels = {i: self.levels[j] for i, j in enumerate(kept) if j in self.levels}
        return Schema(len(kept), names, levels)


@dataclass(frozen=True)
class Table:
    """An encoded table: float values, NaN where missing, codes in categorical columns.

    Parameters
    ----------
    values : ndarray or CSC array of shape (n, p), float32 or float64
    schema : Schema
    rows : ndarray of shape (n,)
        Row identifiers: the index of a pandas frame unless it is plain counting, else positions.
    """

    values: Any
    schema: Schema
    rows: NDArray[Any]

    @property
    def n_codes(self) -> dict[int, int]:
        """Return the number of codes of each categorical column."""
        return {j: len(levels) for j, levels in self.schema.levels.items()}

    def take(self, rows: NDArray[np.intp]) -> "Table":
        """Return these rows only."""
        return Table(self.values[rows], self.schema, self.rows[rows])


@dataclass(frozen=True)
class Context:
    """What a recipe is given besides data: the seed sequence of the fit, and groups of rows."""

    seed: np.random.SeedSequence
    groups: NDArray[Any] | None = None

    def generator(self, *task: int) -> np.random.Generator:
        """Return the generator of a task, derived from the seed by the task's id."""
        entropy = np.random.SeedSequence(self.seed.entropy, spawn_key=(*self.seed.spawn_key, *task))
        return np.random.default_rng(entropy)

    def integer(self, *task: int) -> int:
        """Return an integer seed for a task (for libraries that want one)."""
        return int(self.generator(*task).integers(2**31 - 1))


# ---------------------------------------------------------------------- tables
def read_schema(
    estimator: Any, X: Any, y: Any, categorical_features: CategoricalFeatures
) -> Schema:
    """Set n_features_in_ and feature_names_in_ on the estimator and return the schema of X.

    Raises
    ------
    PsephosError
        If `categorical_features` names a column the table does not have.
    """
    validate_data(estimator, X, y, skip_check_array=True)
    if not hasattr(estimator, "n_features_in_"):
        _check_numeric(estimator, X)  # says what is wrong with a thing that has no columns
    names = getattr(estimator, "feature_names_in_", None)
    n_features = int(estimator.n_features_in_)
    schema = Schema(n_features, None if names is None else tuple(map(str, names)))
    marked = _marked_columns(X, schema, categorical_features)
    levels = {j: _levels(_column(X, j)) for j in marked}
    return Schema(n_features, schema.names, levels)


def _marked_columns(X: Any, schema: Schema, categorical: CategoricalFeatures) -> list[int]:
    if categorical is None:
        return []
    if isinstance(categorical, str):
        if categorical != "from_dtype":
            raise PsephosError(
                f"categorical_features is {categorical!r}: use 'from_dtype', a list of columns, "
                "a boolean mask or None."
            )
        return _categorical_dtypes(X)
    given = np.asarray(categorical)
    if given.size == 0:
        return []
    if given.dtype.kind == "b":
        if given.shape != (schema.n_features,):
            raise PsephosError(
                f"categorical_features is a mask of {given.size} values for "
                f"{schema.n_features} columns: give one value per column."
            )
        return [int(j) for j in np.flatnonzero(given)]
    if given.dtype.kind in "iu":
        outside = [int(j) for j in given if not 0 <= j < schema.n_features]
        if outside:
            raise PsephosError(
                f"categorical_features names column {outside[0]}, but the table has "
                f"{schema.n_features} columns."
            )
        return sorted({int(j) for j in given})
    where = {name: j for j, name in enumerate(schema.names or ())}
    unknown = [name for name in given if str(name) not in where]
    if unknown:
        raise PsephosError(
            f"categorical_features names {str(unknown[0])!r}, which is not a column of the table."
        )
    return sorted({where[str(name)] for name in given})


def _as_frame(X: Any) -> Any:
    """Return X as a narwhals frame, or None."""
    frame = nw.from_native(X, eager_only=True, pass_through=True)
    return frame if isinstance(frame, nw.DataFrame) else None


def _categorical_dtypes(X: Any) -> list[int]:
    frame = _as_frame(X)
    if frame is None:
        return []
    kinds = (nw.Categorical, nw.Enum)
    return [j for j, kind in enumerate(frame.schema.dtypes()) if kind in kinds]


def _column(X: Any, j: int) -> NDArray[Any]:
    """Return column j as objects or numbers, missing as None or NaN."""
    frame = _as_frame(X)
    if frame is not None:
        series: Any = frame[:, j]
        if series.dtype in (nw.Categorical, nw.Enum):
            series = series.cast(nw.String)
        return np.asarray(series.to_list(), dtype=object)
    if sp.issparse(X):
        return sp.csc_array(X)[:, [j]].toarray().ravel()
    return np.asarray(X)[:, j]


def _is_missing(value: Any) -> bool:
    return value is None or value != value  # NaN and pandas' NA are not equal to themselves


def _levels(values: NDArray[Any]) -> tuple[Any, ...]:
    """Return the sorted categories; numbers before words if a column mixes them."""
    distinct = {v.item() if isinstance(v, np.generic) else v for v in values if not _missing(v)}
    return tuple(sorted(distinct, key=lambda v: (isinstance(v, str), v)))


def _missing(value: Any) -> bool:
    try:
        return bool(_is_missing(value))
    except TypeError:  # pandas.NA has no truth value
        return True


def _codes(values: NDArray[Any], levels: tuple[Any, ...]) -> NDArray[np.float64]:
    code = {level: float(i) for i, level in enumerate(levels)}
    return np.array([np.nan if _missing(v) else code.get(v, np.nan) for v in values])


def read_table(estimator: Any, X: Any, schema: Schema, *, reset: bool) -> Table:
    """Return X encoded by the schema.

    Parameters
    ----------
    estimator : estimator
        Its n_features_in_ and feature_names_in_ are checked unless `reset`.
    X : array, frame or sparse table of shape (n, p)
    schema : Schema
    reset : bool
        Whether this is the table of fit.

    Raises
    ------
    PsephosError
        If a value is infinite or text stands in a numeric column (column and row are named).
    """
    if not reset:
        if _as_frame(X) is None and not sp.issparse(X) and np.asarray(X).ndim != 2:
            _check_numeric(estimator, X)  # says what is wrong with a thing that is not a table
        validate_data(estimator, X, skip_check_array=True, reset=False)
    rows = _row_names(X)
    if schema.levels or _as_frame(X) is not None:
        X = _encode(X, schema)
    values = _check_numeric(estimator, X)
    _refuse_infinite(values, schema)
    return Table(values, schema, np.arange(values.shape[0]) if rows is None else rows)


def _row_names(X: Any) -> NDArray[Any] | None:
    index = getattr(X, "index", None)
    if index is None or callable(index) or type(index).__name__ == "RangeIndex":
        return None
    return np.asarray([str(name) for name in index])


def _encode(X: Any, schema: Schema) -> Any:
    frame = _as_frame(X)
    if frame is None and sp.issparse(X):
        dense = sp.csc_array(X, copy=True)
        return _encode_sparse(dense, schema)
    if frame is not None and not schema.levels and _all_numeric(frame):
        return X
    n_rows = len(frame) if frame is not None else len(X)
    out = np.empty((n_rows, schema.n_features))
    words = schema.words().columns
    for j in range(schema.n_features):
        column = _column(X, j)
        levels = schema.levels.get(j)
        out[:, j] = _numbers(column, words[j]) if levels is None else _codes(column, levels)
    return out


def _encode_sparse(X: Any, schema: Schema) -> Any:
    """Encode categorical columns of a sparse table; they are kept as stored codes."""
    columns = [X[:, [j]] for j in range(X.shape[1])]
    for j, levels in schema.levels.items():
        columns[j] = sp.csc_array(_codes(X[:, [j]].toarray().ravel(), levels)[:, None])
    return sp.hstack(columns, format="csc")


def _all_numeric(frame: Any) -> bool:
    return all(kind.is_numeric() or kind == nw.Boolean for kind in frame.schema.dtypes())


def _numbers(column: NDArray[Any], name: str) -> NDArray[np.float64]:
    values = np.empty(len(column))
    for i, value in enumerate(column):
        try:
            values[i] = np.nan if _missing(value) else float(value)
        except (TypeError, ValueError):
            raise PsephosError(
                f"column {name!r} has text in row {i} ({value!r}): make it numeric, drop it, or "
                "name it in categorical_features."
            ) from None
    return values


def _check_numeric(estimator: Any, X: Any) -> Any:
    return check_array(
        X,
        accept_sparse="csc",
        accept_large_sparse=True,
        dtype=[np.float64, np.float32],
        ensure_all_finite=False,
        estimator=estimator,
        input_name="X",
    )


def _refuse_infinite(values: Any, schema: Schema) -> None:
    flat = values.data if sp.issparse(values) else values
    with np.errstate(over="ignore", invalid="ignore"):
        total = float(np.sum(flat, dtype=np.float64))
    if np.isfinite(total) or not np.isinf(flat).any():
        return
    row, column = np.argwhere(np.isinf(values.toarray() if sp.issparse(values) else values))[0]
    raise PsephosError(
        f"Input X contains infinity: column {schema.words().columns[column]!r}, row {row}; "
        "replace it by a number, or by NaN if it is missing."
    )


# ---------------------------------------------------------------------- labels and weights
def read_target(estimator: Any, X: Any, y: Any) -> tuple[NDArray[Any], NDArray[np.intp]]:
    """Return (classes, codes) of the labels y.

    Raises
    ------
    PsephosError
        If y has one class only.
    ValueError
        scikit-learn's own, if y is not a row of class labels as long as X.
    """
    y = column_or_1d(y, warn=True)
    check_consistent_length(X, y)
    if y.dtype.kind == "f" and not np.isfinite(y).all():
        row = int(np.flatnonzero(~np.isfinite(y))[0])
        raise PsephosError(f"Input y contains NaN or infinity in row {row}; drop the row.")
    check_classification_targets(y)
    classes, codes = np.unique(y, return_inverse=True)
    if len(classes) < 2:
        raise PsephosError(
            f"y has one class only ({classes[0]!r}): a classifier needs rows of at least two "
            "classes."
        )
    return classes, codes.astype(np.intp)


def read_weight(
    sample_weight: Any, class_weight: Any, y: NDArray[Any], codes: NDArray[np.intp]
) -> NDArray[np.float64]:
    """Return each row's weight: sample weight times class weight.

    Raises
    ------
    PsephosError
        If a weight is not a finite number of at least 0, or rows of positive weight have only
        one class.
    """
    n = len(y)
    if sample_weight is None:
        weight = np.ones(n)
    elif np.isscalar(sample_weight):
        weight = np.full(n, float(np.asarray(sample_weight)))
    else:
        weight = np.asarray(sample_weight, dtype=np.float64).copy()
    if weight.ndim != 1:
        raise PsephosError("Sample weights must be 1D array or scalar: give one number per row.")
    if weight.shape != (n,):
        raise PsephosError(f"sample_weight.shape == {weight.shape}, expected {(n,)}!")
    bad = ~np.isfinite(weight) | (weight < 0)
    if bad.any():
        row = int(np.flatnonzero(bad)[0])
        raise PsephosError(f"sample_weight of row {row} is {weight[row]}: weights are at least 0.")
    if class_weight is not None:
        weight = weight * compute_sample_weight(class_weight, y)
    if not (weight > 0).any():
        raise PsephosError("sample_weight is zero on every row: at least two rows need weight.")
    if len(np.unique(codes[weight > 0])) < 2:
        raise PsephosError("rows of positive sample_weight have fewer than two classes.")
    return weight
