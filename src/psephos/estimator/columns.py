"""Columns of a table: their values, categories and codes, and their names in a later table."""

import warnings
from collections.abc import Callable, Sequence
from typing import Any, cast

import narwhals.stable.v2 as nw
import numpy as np
from narwhals.dependencies import is_pandas_like_dataframe
from narwhals.exceptions import DuplicateError

from psephos._errors import PsephosError, UnknownLevelWarning
from psephos._types import Array, Estimator, Floats, Indices, TableLike, Values, sparse
from psephos.estimator.schema import Schema
from psephos.files.arrays import object_array
from psephos.files.levels import LevelCodes, Unknown, merged
from psephos.files.near import quoted

_NUMBERS = (
    nw.Int8, nw.Int16, nw.Int32, nw.Int64, nw.UInt8, nw.UInt16, nw.UInt32, nw.UInt64, nw.Float32,
    nw.Float64,
)  # fmt: skip


def as_frame(X: TableLike) -> Any:
    """Return X as a narwhals frame, or None."""
    if isinstance(X, np.ndarray | nw.DataFrame):  # narwhals is slower: it tries all kinds of frames
        return X if isinstance(X, nw.DataFrame) else None
    try:
        frame = nw.from_native(X, eager_only=True, pass_through=True)
    except DuplicateError:
        refuse_repeated_names(X)
        raise
    return frame if isinstance(frame, nw.DataFrame) else None


def is_lazy(X: TableLike) -> bool:
    """Return whether X is a frame whose rows are not computed yet."""
    return hasattr(X, "collect") and isinstance(nw.from_native(X, pass_through=True), nw.LazyFrame)


def word_of_name(name: Any) -> str:
    """Return a column's name as a string: the parts of a tuple joined by _."""
    parts = name if isinstance(name, tuple) else (name,)
    return "_".join(word for word in map(str, parts) if word)


def refuse_repeated_names(X: TableLike) -> None:
    """Raise PsephosError if two columns of a frame have the same name."""
    named: Any = getattr(X, "column_names", getattr(X, "columns", ()))  # column_names of Arrow
    names = [word_of_name(name) for name in named]
    if len(set(names)) < len(names):
        twice = next(name for name in names if names.count(name) > 1)
        raise PsephosError(
            f"two columns are named {twice!r}: rename or drop one of them."
        ) from None


def column_of(X: TableLike, j: int) -> Array:
    """Return column j as objects or numbers, missing as None or NaN."""
    frame = as_frame(X)
    if frame is not None:
        return object_array(frame[:, j].to_list())
    if sparse.issparse(X):
        return sparse.csc_array(X)[:, [j]].toarray().ravel()
    return np.asarray(X)[:, j]


def dense_columns(X: Values, columns: Indices | slice = slice(None)) -> Floats:
    """Return some columns of a dense or sparse table (n, p) as a dense float64 array."""
    part: Any = X[:, columns]
    return np.asarray(part.toarray() if sparse.issparse(part) else part, dtype=np.float64)


def stored(X: Values) -> Floats:
    """Return the values of a table; of a sparse one those that are stored."""
    return X if isinstance(X, np.ndarray) else X.data


def plain_column(y: Any) -> Any:
    """Return a nullable column of integers or booleans without missing values as a plain array.

    scikit-learn would turn them into floats. Anything else is returned as it is.
    """
    if isinstance(y, np.ndarray):
        return cast("Any", y)
    if hasattr(y, "iloc") and y.ndim == 2 and y.shape[1] == 1:
        return np.asarray(plain_column(y.iloc[:, 0]))[:, None]
    kind = getattr(getattr(y, "dtype", None), "kind", "")
    plain = {"b": np.bool_, "i": np.int64, "u": np.uint64}.get(kind)
    if plain is None or not hasattr(y, "isna") or y.isna().any():
        return y
    return y.to_numpy(dtype=plain)


def numbers_of(X: TableLike, j: int) -> Floats | None:
    """Return column j of a frame if its type is numeric, missing as NaN; else None."""
    frame = as_frame(X)
    column = None if frame is None else frame[:, j]
    if column is None or column.dtype not in _NUMBERS:
        return None
    return np.asarray(column.to_numpy(), dtype=np.float64)


def declared_levels(X: TableLike, j: int) -> tuple[Any, ...] | None:
    """Return the categories that the type of a frame's column declares, in order, or None."""
    frame = as_frame(X)
    if frame is None:
        return None
    column = frame[:, j]
    pool = frame.implementation.is_polars() and column.dtype == nw.Categorical
    if pool or column.dtype not in (nw.Categorical, nw.Enum):
        return None
    try:
        words = column.cat.get_categories().to_list()
    except AttributeError:  # an Arrow dictionary in a pandas frame, perhaps in parts
        whole: Any = column.to_arrow()
        parts = getattr(whole, "chunks", [whole])
        words = [word for part in parts for word in part.dictionary.to_pylist()]
    return tuple(_plain(object_array(words)))


def found_levels(values: Array) -> tuple[Any, ...]:
    """Return the sorted categories; numbers before words if a column mixes them.

    A word that equals a number of the same column, as written, is that number.
    """
    found = _plain(values)
    if len({isinstance(v, str) for v in found}) > 1:
        found = dict.fromkeys(merged(found).values())
    return tuple(sorted(found, key=lambda v: (isinstance(v, str), v)))


def _plain(values: Array) -> dict[Any, None]:
    """Return the distinct values that are not missing, in order of first appearance."""
    kept = (v.item() if isinstance(v, np.generic) else v for v in values if not is_missing(v))
    return dict.fromkeys(kept)


def is_missing(value: Any) -> bool:
    """Return whether a value is None, NaN, NaT or pandas' NA."""
    if value is None:
        return True
    try:
        return bool(value != value)  # NaN and NaT are not equal to themselves
    except TypeError:  # pandas.NA has no truth value
        return True


def codes_of(values: Array, levels: tuple[Any, ...], name: str, *, reset: bool) -> Floats:
    """Return the codes of values; NaN if they are missing or, after the fit, not a level."""
    find = LevelCodes(levels)
    codes = _each(values.tolist(), lambda v: np.nan if is_missing(v) else find.code(v))
    if not reset and np.isnan(codes).any():
        present = [v for v, code in zip(values, codes, strict=True) if not is_missing(v)]
        strange = Unknown.among(name, present, find, levels)
        if strange is not None:
            strange.refuse()
            warnings.warn(strange.words(), UnknownLevelWarning, stacklevel=2)
    return codes


def codes_of_column(
    X: TableLike, j: int, levels: tuple[Any, ...], name: str, *, reset: bool
) -> Floats:
    """Return `codes_of` column j; each category of a pandas Categorical is looked up once."""
    frame = as_frame(X)
    if frame is None or not frame.implementation.is_pandas():
        return codes_of(column_of(X, j), levels, name, reset=reset)
    listed = frame[:, j].to_native()
    if hasattr(listed, "cat"):
        places = np.asarray(listed.cat.codes)
        find = LevelCodes(levels)
        found = [find.code(word) for word in listed.cat.categories.tolist()]
        codes = np.array([*found, np.nan])[places]  # a missing value has code -1
        if reset or not np.isnan(codes[places >= 0]).any():
            return codes
    return codes_of(column_of(X, j), levels, name, reset=reset)


def _each(values: list[Any], code: Callable[[Any], float]) -> Floats:
    """Return the code of each value, looked up once for equal values."""
    kinds = {type(v) for v in values} - {str, type(None)}
    if len(kinds) > 1:  # 1 and True are equal, and may be two levels
        return np.array([code(v) for v in values], dtype=np.float64)
    found = {v: code(v) for v in dict.fromkeys(values)}
    return np.fromiter(map(found.__getitem__, values), np.float64, len(values))


# ---------------------------------------------------------------------- names
_LISTED = 5  # names listed in an error, as scikit-learn does


def in_words(X: Any) -> Any:
    """Return a frame with strings as column names; unchanged if they are 0, 1, 2, ...

    Columns named 0, 1, ..., the default of pandas, count as unnamed: they are found by position,
    as those of an array.
    """
    if not is_pandas_like_dataframe(X):
        return X
    names = list(X.columns)
    if _is_counted(names) or all(isinstance(name, str) for name in names):
        return X
    refuse_repeated_names(X)
    X = X.copy(deep=False)
    X.columns = [word_of_name(name) for name in names]
    return X


def _is_counted(names: Sequence[Any]) -> bool:
    whole = not any(isinstance(name, str | bool | float | tuple) for name in names)
    return whole and list(names) == list(range(len(names)))


def names_in(frame: Any) -> tuple[str, ...] | None:
    """Return the names of a frame's columns; None if they are 0, 1, 2, ..."""
    names = list(frame.columns)
    return None if _is_counted(names) else tuple(map(str, names))


def arranged(model: Estimator, X: TableLike, schema: Schema) -> Any:
    """Return a frame given after the fit with the columns of the fit, or raise PsephosError.

    Names are compared as strings. If at most one of the two tables names its columns (a warning is
    given if one does), they are found by position. A reduced model finds them by name.
    """
    frame = as_frame(X)
    names, known = names_in(frame), schema.known
    given = tuple(str(name) for name in frame.columns)
    kind = type(model).__name__
    by_place = names is None and schema.names is None and len(given) == schema.n_features
    if by_place or (set(given).isdisjoint(known) and None in (names, schema.names)):
        _warn_of_one_side(kind, names, schema.names, hasattr(model, "feature_names_in_"))
    elif schema.by_name or (schema.names is None and schema.places):
        return _selected(frame, given, known)
    elif names is not None or schema.names is not None:
        _refuse_other_names(given, known)
    if len(given) != schema.n_features:
        raise PsephosError(
            f"X has {len(given)} features, but {kind} is expecting {schema.n_features} features as "
            "input: give the columns of the table that it was fitted on."
        )
    return X


def _warn_of_one_side(kind: str, names: Any, fitted: Any, known: bool) -> None:
    if names is not None and fitted is None:
        words = f"X has feature names, but {kind} was fitted without feature names"
    elif names is None and fitted is not None and known:
        words = f"X does not have valid feature names, but {kind} was fitted with feature names"
    else:
        return
    warnings.warn(words, UserWarning, stacklevel=4)


def _selected(frame: Any, given: Sequence[str], wanted: Sequence[str]) -> Any:
    """Return the wanted columns, by name and in their order."""
    lacking = [name for name in wanted if name not in given]
    if lacking:
        raise PsephosError(
            f"the table has no column {quoted(lacking)}, which the model reads: add it, with "
            "missing values where it was not measured."
        )
    where = {name: j for j, name in enumerate(given)}
    return frame[:, [where[name] for name in wanted]].to_native()


def _listed(names: Sequence[str]) -> list[str]:
    return [f"- {name}" for name in names[:_LISTED]] + ["- ..."] * (len(names) > _LISTED)


def _refuse_other_names(given: Sequence[str], known: Sequence[str]) -> None:
    """Raise PsephosError, in scikit-learn's words, if names differ."""
    if tuple(given) == tuple(known):
        return
    lines = ["The feature names should match those that were passed during fit."]
    strange, lacking = sorted(set(given) - set(known)), sorted(set(known) - set(given))
    if strange:
        lines += ["Feature names unseen at fit time:", *_listed(strange)]
    if lacking:
        lines += ["Feature names seen at fit time, yet now missing:", *_listed(lacking)]
        lines.append("Add the missing columns, with missing values where not measured.")
    if strange:
        lines.append("Drop or rename columns unseen in fit.")
    elif not lacking:
        j = next(j for j, name in enumerate(known) if given[j] != name)
        lines += [
            "Feature names must be in the same order as they were in fit.",
            f"Column {given[j]!r} is at the position of {known[j]!r}: give the columns in the "
            "order of the fit; model.reduce() finds those that it reads by name.",
        ]
    raise PsephosError("\n".join(lines))
