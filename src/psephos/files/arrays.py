"""Arrays of plain values: words unchanged, and numbers within bounds."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from psephos._errors import PsephosError
from psephos._types import Array, Cell, Floats, NDArray
from psephos.files.cells import FARTHEST


def beyond(values: NDArray[Any]) -> NDArray[np.bool_]:
    """Return a mask of numbers that are infinite, or larger in size than values may be."""
    most = min(FARTHEST, float(np.finfo(values.dtype).max))
    return (values > most) | (values < -most)


def known_numbers(values: NDArray[Any], gone: Sequence[float]) -> Floats:
    """Return numbers as float64, NaN where they equal one of `gone` in their own dtype."""
    if not len(gone):
        return values.astype(np.float64)
    with np.errstate(over="ignore"):
        marks = np.array(gone, dtype=values.dtype if values.dtype.kind == "f" else np.float64)
    marks = marks[np.isinf(marks) == np.isinf(gone)]  # without numbers that the dtype cannot hold
    return np.where(np.isin(values, marks), np.nan, values.astype(np.float64))


def check_text(array: Array) -> None:
    """Raise some exception if an array of words has invalid characters."""
    if array.dtype.kind == "U":
        "".join(array.ravel().tolist()).encode()


def check_values(array: Array, key: str, file: str, n_rows: int | None = None) -> None:
    """Raise PsephosError unless an array holds plain values, one for each of `n_rows`."""
    if array.dtype.kind not in "biufUmM" or array.shape != (n_rows or len(array),):
        rows = "" if n_rows is None else f", one for each of the {n_rows} rows of X"
        raise PsephosError(
            f"the array {key!r} of {file!r} has type {array.dtype} and shape {array.shape}: it "
            f"must hold numbers, booleans or words{rows}."
        )


def word_array(words: list[str]) -> Array:
    """Return words as an array that keeps each unchanged.

    numpy's string arrays drop NUL characters at the end of words: such words are kept as objects.
    """
    kept = any(word.endswith("\0") for word in words)
    return object_array(words) if kept else np.array(words, dtype=str)


def object_array(values: Sequence[Cell]) -> Array:
    """Return values of any types as a one-dimensional array of objects."""
    out = np.empty(len(values), dtype=object)
    out[:] = values
    return out
