"""Columns of a table as values, and their categories: which there are, and the code of each."""

import warnings
from collections.abc import Callable
from typing import Any, cast

import narwhals.stable.v2 as nw
import numpy as np
from narwhals.exceptions import DuplicateError
from numpy.typing import NDArray

from psephos._errors import PsephosError, UnknownLevelWarning
from psephos.files.arrays import object_array
from psephos.files.levels import LevelCodes, Unknown, merged
from psephos.vote.part import sparse

_NUMBERS = (
    nw.Int8, nw.Int16, nw.Int32, nw.Int64, nw.UInt8, nw.UInt16, nw.UInt32, nw.UInt64, nw.Float32,
    nw.Float64,
)  # fmt: skip


def as_frame(X: Any) -> Any:
    """Return X as a narwhals frame, or None."""
    if isinstance(X, np.ndarray | nw.DataFrame):  # narwhals asks every kind of frame it knows
        return X if isinstance(X, nw.DataFrame) else None
    try:
        frame = nw.from_native(X, eager_only=True, pass_through=True)
    except DuplicateError:
        refuse_repeated_names(X)
        raise
    return frame if isinstance(frame, nw.DataFrame) else None


def is_lazy(X: Any) -> bool:
    """Return whether X is a frame whose rows are not computed yet."""
    return hasattr(X, "collect") and isinstance(nw.from_native(X, pass_through=True), nw.LazyFrame)


def word_of_name(name: Any) -> str:
    """Return a column's name in words: the parts of a tuple, in their order, joined by _."""
    parts = name if isinstance(name, tuple) else (name,)
    return "_".join(word for word in map(str, parts) if word)


def refuse_repeated_names(X: Any) -> None:
    """Raise PsephosError if two columns of a frame have one name."""
    named: Any = getattr(X, "column_names", getattr(X, "columns", ()))  # the first of Arrow
    names = [word_of_name(name) for name in named]
    if len(set(names)) < len(names):
        twice = next(name for name in names if names.count(name) > 1)
        raise PsephosError(
            f"two columns are named {twice!r}: rename or drop one of them."
        ) from None


def column_of(X: Any, j: int) -> NDArray[Any]:
    """Return column j as objects or numbers, missing as None or NaN."""
    frame = as_frame(X)
    if frame is not None:
        return object_array(frame[:, j].to_list())
    if sparse.issparse(X):
        return sparse.csc_array(X)[:, [j]].toarray().ravel()
    return np.asarray(X)[:, j]


def plain_column(y: Any) -> Any:
    """Return a nullable column of whole numbers or truth values, of which none is missing, as such.

    scikit-learn makes floats of them. Anything else is returned as it is.
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


def numbers_of(X: Any, j: int) -> NDArray[np.float64] | None:
    """Return column j of a frame whose type says that it holds numbers, missing as NaN, or None."""
    frame = as_frame(X)
    column = None if frame is None else frame[:, j]
    if column is None or column.dtype not in _NUMBERS:
        return None
    return np.asarray(column.to_numpy(), dtype=np.float64)


def declared_levels(X: Any, j: int) -> tuple[Any, ...] | None:
    """Return the categories that the type of a frame's column declares, in its order, or None."""
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


def found_levels(values: NDArray[Any]) -> tuple[Any, ...]:
    """Return the sorted categories; numbers before words if a column mixes them.

    A word that writes a number of the same column is that number.
    """
    found = _plain(values)
    if len({isinstance(v, str) for v in found}) > 1:
        found = dict.fromkeys(merged(found).values())
    return tuple(sorted(found, key=lambda v: (isinstance(v, str), v)))


def _plain(values: NDArray[Any]) -> dict[Any, None]:
    """Return the distinct values that are not missing, as they come."""
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


def codes_of(
    values: NDArray[Any], levels: tuple[Any, ...], name: str, *, reset: bool
) -> NDArray[np.float64]:
    """Return the codes of values; NaN where they are missing or, in a later table, not a level."""
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
    X: Any, j: int, levels: tuple[Any, ...], name: str, *, reset: bool
) -> NDArray[np.float64]:
    """Return `codes_of` column j; of a pandas Categorical a category is looked up once."""
    frame = as_frame(X)
    if frame is None or not frame.implementation.is_pandas():
        return codes_of(column_of(X, j), levels, name, reset=reset)
    listed = frame[:, j].to_native()
    if hasattr(listed, "cat"):
        places = np.asarray(listed.cat.codes)
        find = LevelCodes(levels)
        found = [find.code(word) for word in listed.cat.categories.tolist()]
        codes = np.array([*found, np.nan])[places]  # a missing value is at place -1
        if reset or not np.isnan(codes[places >= 0]).any():
            return codes
    return codes_of(column_of(X, j), levels, name, reset=reset)


def _each(values: list[Any], code: Callable[[Any], float]) -> NDArray[np.float64]:
    """Return the code of each value, asked once for equal ones."""
    kinds = {type(v) for v in values} - {str, type(None)}
    if len(kinds) > 1:  # 1 and True are equal, and may be two levels
        return np.array([code(v) for v in values], dtype=np.float64)
    found = {v: code(v) for v in dict.fromkeys(values)}
    return np.fromiter(map(found.__getitem__, values), np.float64, len(values))
