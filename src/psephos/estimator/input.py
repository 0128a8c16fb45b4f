"""Input tables: arrays, frames and sparse tables are encoded as one `Table`."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from os import PathLike
from typing import TYPE_CHECKING, Any, TypeAlias

import narwhals.stable.v2 as nw
import numpy as np
from numpy.typing import NDArray

from psephos._errors import PsephosError
from psephos._types import (
    Array,
    Cell,
    Estimator,
    Floats,
    Indices,
    Label,
    LabelsLike,
    Record,
    SeedLike,
    TableLike,
    Values,
    sparse,
)
from psephos.estimator import columns as frames
from psephos.estimator.checks import check_array, validate_data
from psephos.estimator.schema import Schema
from psephos.files.arrays import beyond
from psephos.files.cases import TIMES, factors
from psephos.files.cells import FARTHEST
from psephos.files.columns import (
    FIT,
    holds_words,
    is_number,
    refuse_far,
    refuse_identifier,
    refuse_objects,
    words_among,
)
from psephos.files.near import CELL, shown

if TYPE_CHECKING:
    from psephos.vote import Vote

__all__ = ["Context", "Schema", "Table", "read_schema", "read_table", "seed_sequence"]

_KEPT = (np.dtype(np.float64), np.dtype(np.float32))  # dtypes that are not converted
_CATEGORIES = (nw.Categorical, nw.Enum)
_WORDS = (nw.String, nw.Object)  # types of columns that may hold strings
CategoricalFeatures = Sequence[Label] | Array | str | None


@dataclass(frozen=True)
class Table:
    """An encoded table: float values, NaN where missing, codes in categorical columns."""

    values: Any  # ndarray or CSC array of shape (n, p), float32 or float64
    schema: Schema
    # (n,), the index of a pandas frame unless it is a RangeIndex, else positions
    rows: NDArray[Any]

    @property
    def n_codes(self) -> dict[int, int]:
        """Return the number of codes of each categorical column."""
        return {j: len(levels) for j, levels in self.schema.levels.items()}

    @property
    def code_counts(self) -> Indices:
        """Return the number of codes of every column, (p,): 0 if it is numeric."""
        n_codes = self.n_codes
        return np.array([n_codes.get(j, 0) for j in range(self.schema.n_features)], dtype=np.intp)

    @property
    def found(self) -> list[int]:
        """Return the categorical columns whose dtype does not declare their categories."""
        return [j for j in self.schema.levels if j not in self.schema.declared]

    def dense(self, columns: Any = slice(None)) -> Floats:
        """Return some columns (default all) as a dense float64 array."""
        return frames.dense_columns(self.values, columns)

    def as_held(self) -> Values:
        """Return all columns as a CSC array if the table is one, else as a dense float64 array."""
        return self.values if sparse.issparse(self.values) else self.dense()

    def take(self, rows: Indices) -> "Table":
        """Return these rows only."""
        return Table(self.values[rows], self.schema, self.rows[rows])


@dataclass(frozen=True)
class Context:
    """The context of a fit: seed, groups, and the state of a warm start or `partial_fit`."""

    seed: np.random.SeedSequence  # of the fit
    groups: NDArray[Any] | None = None  # (n,), groups of rows
    # positions of the rows in the user's table, if rows of weight 0 were left out
    kept: Indices | None = None
    # the fitted vote that a warm start or `partial_fit` continues
    previous: Any = None
    further: bool = False  # whether this is a call of `partial_fit`
    n_rows: int = 0  # rows of this call of `partial_fit`, including those of weight 0

    def generator(self, *task: int) -> np.random.Generator:
        """Return the random generator of a task, derived from the seed and the task's id."""
        entropy = np.random.SeedSequence(self.seed.entropy, spawn_key=(*self.seed.spawn_key, *task))
        return np.random.default_rng(entropy)

    def integer(self, *task: int) -> int:
        """Return an integer seed for a task (for libraries that want one)."""
        return int(self.generator(*task).integers(2**31 - 1))


#: The result of a recipe: the vote, and the fitted attributes named in `extras`.
Extra: TypeAlias = Cell | Array | Record | Estimator | Sequence["Extra"] | Mapping[str, "Extra"]
VoteFit: TypeAlias = "tuple[Vote, Mapping[str, Extra]]"


# ---------------------------------------------------------------------- tables
def as_given(X: Any) -> Any:
    """Return a table with masked values as missing and column names as strings.

    Any other table is returned as it is.
    """
    if isinstance(X, np.ma.MaskedArray):
        plain = np.array(X.data, dtype=None if X.dtype.kind == "O" else np.float64)
        plain[np.ma.getmaskarray(X)] = None if X.dtype.kind == "O" else np.nan
        return plain
    if sparse.issparse(X) and X.format == "dok":
        return X.tocsr()
    if isinstance(X, str | bytes | PathLike | Mapping):
        raise PsephosError(
            f"X is a {type(X).__name__}: give an array, a data frame or a sparse table of shape "
            "(n_samples, n_features). psephos.read_table reads a file."
        )
    if frames.is_lazy(X):
        raise PsephosError(
            f"X is a {type(X).__name__}, whose rows are not computed yet: give X.collect()."
        )
    if isinstance(X, np.ndarray) and X.dtype.kind in "mMV":
        held = "dates or times" if X.dtype.kind in "mM" else "records"
        raise PsephosError(
            f"X holds {held} ({X.dtype}): give numbers, such as days since a date, or a data frame."
        )
    if isinstance(X, np.ndarray) and X.dtype.kind == "c":
        raise PsephosError(
            f"Complex data not supported: X holds complex numbers ({X.dtype}): give their real "
            "and imaginary parts as separate columns."
        )
    return frames.in_words(X)


def read_schema(
    estimator: Any, X: Any, y: LabelsLike, categorical_features: CategoricalFeatures
) -> Schema:
    """Set n_features_in_ and feature_names_in_ on the estimator and return the schema of X.

    A pandas Categorical, a polars Enum and an Arrow dictionary declare their categories: all are
    kept in their order, even without rows. The categories of other columns are their sorted values;
    so are those of a polars Categorical, whose list is shared by all columns of the process.
    Columns of strings in a frame are categorical, too, unless `categorical_features` lists others.
    """
    given, X = X, as_given(X)
    frames.refuse_repeated_names(X)
    frame = frames.as_frame(X)
    nameless = X if frame is None else np.broadcast_to(0.0, frame.shape)  # names are set below
    validate_data(estimator, nameless, y, skip_check_array=True)
    if not hasattr(estimator, "n_features_in_"):
        _check_numeric(estimator, X)  # raises a suitable error for X without columns
    n_features = int(estimator.n_features_in_)
    names = None if frame is None else frames.names_in(frame)
    schema = Schema(n_features, names, spelt=frame is not None and X is not given).name_columns(
        estimator
    )
    X = X if frame is None else frame
    marked = _marked_columns(X, schema, categorical_features)
    declared = {j: words for j in marked if (words := frames.declared_levels(X, j)) is not None}
    levels = {
        j: declared[j] if j in declared else frames.found_levels(frames.column_of(X, j))
        for j in marked
    }
    return replace(schema, levels=levels, declared=frozenset(declared))


def _marked_columns(X: TableLike, schema: Schema, categorical: CategoricalFeatures) -> list[int]:
    if categorical is None:
        return []
    if isinstance(categorical, str) and categorical == "from_dtype":
        return _categories_of(X, schema)
    given = np.asarray(categorical)
    if isinstance(categorical, str) or given.ndim != 1:
        raise PsephosError(
            f"categorical_features is {categorical!r}: use 'from_dtype', a list of columns, a "
            "boolean mask or None."
        )
    return schema.columns_of(given, "categorical_features") if given.size else []


def _categories_of(X: TableLike, schema: Schema) -> list[int]:
    """Return the categorical columns of a frame: by their dtype, and those of strings.

    The errors are those of the command for files: words among numbers, numbers in another notation,
    and a column that identifies each row.
    """
    frame, found = frames.as_frame(X), list[int]()
    if frame is None:
        return found
    for j, kind in enumerate(frame.schema.dtypes()):
        if kind not in _WORDS and kind not in _CATEGORIES:
            continue
        name = schema.words().columns[j]
        values = [None if frames.is_missing(v) else v for v in frame[:, j].to_list()]
        if kind in _CATEGORIES or _are_words(name, values):
            refuse_identifier(name, [v for v in values if v is not None], FIT)
            found.append(j)
    return found


def _are_words(name: str, values: list[Any]) -> bool:
    if not any(isinstance(v, str) for v in values):
        return False
    words = words_among(name, values, lambda i: f"row {i}")
    n_numbers = words.count(None) - values.count(None)
    return holds_words(name, words, n_numbers, lambda i: f"row {i}", FIT)


def read_table(
    estimator: Estimator, X: Any, schema: Schema, *, reset: bool, absent: bool = False
) -> Table:
    """Return X encoded by the schema.

    Parameters
    ----------
    estimator : estimator
        Its n_features_in_ and feature_names_in_ are compared unless `reset`.
    X : array, frame or sparse table of shape (n, p)
    schema : Schema
    reset : bool
        Whether this is the table of fit.
    absent : bool, default=False
        Whether a frame may lack columns of the schema (they are read as missing everywhere) and
        hold them in any order.

    Raises
    ------
    PsephosError
        If a value is infinite or too large, or a numeric column has text (the message names column
        and row).
    """
    if not reset and _is_plain(X, schema):
        _refuse_farthest(X, schema)
        return Table(X, schema, np.arange(len(X)))
    X = as_given(X)
    if not reset:
        frames.refuse_repeated_names(X)
        X = _with_products(X, schema)
    if absent and schema.names is not None and frames.as_frame(X) is not None:
        return _incomplete(estimator, X, schema)
    if not reset:
        if frames.as_frame(X) is not None:
            X = frames.arranged(estimator, X, schema)
        elif not sparse.issparse(X) and np.asarray(X).ndim != 2:
            _check_numeric(estimator, X)  # raises a suitable error for X that is not a table
        else:
            validate_data(estimator, X, skip_check_array=True, reset=False)
    rows = _row_names(X)
    if schema.levels or frames.as_frame(X) is not None:
        X = _encode(X, schema, reset=reset)
    if _has_underscore(X):
        _refuse_text(X, schema)
    try:
        values = _check_numeric(estimator, X)
    except ValueError:
        _refuse_text(X, schema)
        raise
    _refuse_farthest(values, schema)
    return Table(values, schema, np.arange(values.shape[0]) if rows is None else rows)


def _is_plain(X: Any, schema: Schema) -> bool:
    """Return whether X is an array that needs no checks but for values that are too large."""
    return (
        type(X) is np.ndarray
        and X.dtype in _KEPT
        and X.ndim == 2
        and len(X) > 0
        and X.shape[1] == schema.n_features
        and schema.names is None
        and not schema.levels
    )


def _with_products(X: TableLike, schema: Schema) -> Any:
    """Return a frame with the products of numeric columns that the schema has added."""
    frame = frames.as_frame(X)
    if frame is None or not any(TIMES in name for name in schema.names or ()):
        return X
    given = {name for name in frame.columns if isinstance(name, str)}
    kinds = frame.schema.items()
    numeric = {name for name, kind in kinds if kind.is_numeric() or kind == nw.Boolean} & given
    pairs = {name: () if name in given else factors(name, numeric) for name in schema.known}
    if not any(pairs.values()):
        return X
    number = {one: nw.col(one).cast(nw.Float64()) for pair in pairs.values() for one in pair}
    kept = [
        (number[pair[0]] * number[pair[1]]).alias(name) if pair else nw.col(name)
        for name, pair in pairs.items() if pair or name in given
    ]  # fmt: skip
    return frame.select(kept).to_native()


def _incomplete(estimator: Estimator, X: TableLike, schema: Schema) -> Table:
    """Return the table of a frame that may lack columns, which are NaN."""
    frame: Any = frames.as_frame(X)
    given = {str(name): i for i, name in enumerate(frame.columns)}
    names = schema.names or ()
    known = set(names)
    strange = [name for name in given if name not in known]
    if strange and not known <= given.keys():  # a renamed column would count as absent
        raise PsephosError(
            f"column {strange[0]!r} ({len(strange)} of this kind) is not one the model was fitted "
            "on: drop it, or rename it to its name in the fit."
        )
    if not given:
        raise PsephosError("the table has no columns: give at least one column of the fit.")
    out = np.full((len(frame), schema.n_features), np.nan)
    for j, name in enumerate(names):
        if name in given:
            out[:, j] = _coded(frame, given[name], name, schema.levels.get(j), reset=False)
    _refuse_farthest(_check_numeric(estimator, out), schema)
    rows = _row_names(X)
    return Table(out, schema, np.arange(len(out)) if rows is None else rows)


def _row_names(X: TableLike) -> Array | None:
    index = getattr(X, "index", None)
    if index is None or callable(index) or type(index).__name__ == "RangeIndex":
        return None
    return np.asarray([str(name) for name in index])


def _encode(X: Any, schema: Schema, *, reset: bool) -> Any:
    frame = frames.as_frame(X)
    if frame is None and sparse.issparse(X):
        return _encode_sparse(sparse.csc_array(X), schema, reset=reset)
    if frame is not None and not schema.levels and _all_numeric(frame):
        return X
    n_rows = len(frame) if frame is not None else len(X)
    out = np.empty((n_rows, schema.n_features))
    words = schema.words().columns
    table = X if frame is None else frame
    for j in range(schema.n_features):
        out[:, j] = _coded(table, j, words[j], schema.levels.get(j), reset=reset)
    return out


def _coded(
    X: TableLike, j: int, name: str, levels: tuple[Any, ...] | None, *, reset: bool
) -> Floats:
    """Return column j as numbers: the codes of its levels, if it has any."""
    if levels is not None:
        return frames.codes_of_column(X, j, levels, name, reset=reset)
    numbers = frames.numbers_of(X, j)
    return _numbers(frames.column_of(X, j), name) if numbers is None else numbers


def _encode_sparse(X: Any, schema: Schema, *, reset: bool) -> Any:
    """Encode the categorical columns of a sparse table as stored codes."""
    columns = [X[:, [j]] for j in range(X.shape[1])]
    words = schema.words().columns
    for j, levels in schema.levels.items():
        codes = frames.codes_of(X[:, [j]].toarray().ravel(), levels, words[j], reset=reset)
        columns[j] = sparse.csc_array(codes[:, None])
    return sparse.hstack(columns, format="csc")


def _all_numeric(frame: Any) -> bool:
    kinds = frame.schema.dtypes()
    return bool(kinds) and all(kind.is_numeric() or kind == nw.Boolean for kind in kinds)


def _numbers(column: Array, name: str) -> Floats:
    values = np.full(len(column), np.nan)
    for i, value in enumerate(column):
        if is_number(value):
            values[i] = float(value)
        elif not frames.is_missing(value):
            others = [None if frames.is_missing(v) else v for v in column]
            refuse_objects(name, others, lambda i: f"row {i}")
            kind = "text" if isinstance(value, str) else f"a {type(value).__name__}"
            raise PsephosError(
                f"column {name!r} has {kind} in row {i} ({shown(value, CELL)}): make it numeric, "
                "drop it, or name it in categorical_features."
            )
    return values


def _has_underscore(X: TableLike) -> bool:
    """Return whether a cell is text such as 1_2, which NumPy reads as 12."""
    if (
        not isinstance(X, np.ndarray | Sequence)
        or getattr(X, "dtype", np.dtype("O")).kind not in "OUS"
    ):
        return False
    return any(isinstance(v, str) and "_" in v for v in np.asarray(X, dtype=object).ravel())


def _refuse_text(X: TableLike, schema: Schema) -> None:
    """Raise PsephosError that names the first text in a table of objects, if any."""
    if isinstance(X, np.ndarray | Sequence) and not isinstance(X, str):
        table = np.asarray(X)
        if table.dtype.kind in "OUS" and table.ndim == 2 and table.shape[1] == schema.n_features:
            words = schema.words().columns
            for j in range(table.shape[1]):
                _numbers(table[:, j], words[j])


def _check_numeric(estimator: Estimator, X: TableLike) -> Any:
    check: Any = check_array  # its type hints are too narrow
    return check(
        X,
        accept_sparse="csc",
        accept_large_sparse=True,
        dtype=list(_KEPT),
        ensure_all_finite=False,
        estimator=estimator,
        input_name="X",
    )


def _refuse_farthest(values: Any, schema: Schema) -> None:
    """Raise PsephosError naming the first value that is infinite or too large."""
    flat = values.data if sparse.issparse(values) else values
    high, low = (ends.reduce(flat, axis=None, initial=0.0) for ends in (np.fmax, np.fmin))
    if max(float(high), -float(low)) <= FARTHEST:
        return
    stored = sparse.coo_array(values)  # values that are not stored are 0
    places = np.column_stack(stored.coords)[beyond(stored.data)].tolist()
    row, column = min(places)
    refuse_far(schema.words().columns[column], float(values[row, column]), f"row {row}")


def seed_sequence(random_state: SeedLike) -> np.random.SeedSequence:
    """Return the seed sequence of a fit from scikit-learn's `random_state`."""
    if random_state is None:
        return np.random.SeedSequence()
    if isinstance(random_state, np.random.RandomState | np.random.Generator):
        name = "integers" if isinstance(random_state, np.random.Generator) else "randint"
        return np.random.SeedSequence(int(getattr(random_state, name)(2**31 - 1)))
    return np.random.SeedSequence(int(random_state))
