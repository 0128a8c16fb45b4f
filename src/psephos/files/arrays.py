"""Files of arrays (.npz): numbers and words, never Python objects."""

import math
import struct
import zipfile
import zlib
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from psephos._errors import PsephosError, shortly
from psephos.files.cells import FARTHEST
from psephos.files.near import suggest

_DAMAGED = (
    zipfile.BadZipFile, zlib.error, struct.error, OSError, EOFError, ValueError, KeyError,
    NotImplementedError, RuntimeError, OverflowError, SyntaxError,
)  # fmt: skip

_WIDEST = 1 << 24  # columns of a table without rows


def read_arrays(path: Path) -> dict[str, NDArray[Any]]:
    """Return the arrays of an npz file; the table X among them; bytes are read as UTF-8 words."""
    try:
        # opened here: np.load does not close a file that is no archive
        with path.open("rb") as raw:
            archive = raw.read(2) == b"PK"
        if not archive:
            raise PsephosError(
                f"{path.name!r} is no npz archive: write it by numpy.savez, or name it as what it "
                "is (.csv, .tsv, .txt, .arff)."
            )
        with path.open("rb") as raw, np.load(raw, allow_pickle=False) as archive:
            arrays = {key: _array(archive, key, path) for key in archive.files}
    except PsephosError:
        raise
    except _DAMAGED as error:
        raise PsephosError(
            f"{path.name!r} is damaged ({shortly(error)}): write it again."
        ) from error
    if "X" not in arrays:
        raise PsephosError(f"{path.name!r} has no array 'X'; {suggest('X', arrays)}")
    X = arrays["X"]
    if X.ndim != 2 or X.dtype.kind not in "biufU":
        raise PsephosError(
            f"the array 'X' of {path.name!r} must be a table (n, p) of numbers, or of words."
        )
    for key in ("feature_names", "classes"):
        if key in arrays and arrays[key].ndim != 1:
            raise PsephosError(f"{key!r} of {path.name!r} must be a list of names.")
        if key in arrays:
            check_values(arrays[key], key, path.name)
    empty = [j for j, name in enumerate(arrays.get("feature_names", ())) if not str(name).strip()]
    if empty:
        raise PsephosError(f"'feature_names' of {path.name!r} names no column {empty[0] + 1}.")
    return arrays


def _check_size(archive: Any, key: str, path: Path) -> None:
    """Raise PsephosError if the shape that an array claims is not that of the bytes there are."""
    name = f"{key}.npy"
    if name not in archive.zip.namelist():
        return
    held = archive.zip.getinfo(name).file_size
    with archive.zip.open(name) as file:
        major = np.lib.format.read_magic(file)[0]
        read = {1: np.lib.format.read_array_header_1_0, 2: np.lib.format.read_array_header_2_0}
        if major not in read:
            return
        shape, _, kind = read[major](file)
    if kind.hasobject:
        raise _objects(path, key)
    size = math.prod(shape) * kind.itemsize
    if size > held or (not size and max(shape, default=0) > _WIDEST):
        raise PsephosError(
            f"{path.name!r} is damaged (the array {key!r} claims the shape {shape}, and there are "
            f"{held} bytes): write it again."
        )


def _objects(path: Path, key: str) -> PsephosError:
    return PsephosError(
        f"the array {key!r} of {path.name!r} holds Python objects, which are never read: store "
        "numbers or texts of fixed length."
    )


def _array(archive: Any, key: str, path: Path) -> NDArray[Any]:
    _check_size(archive, key, path)
    try:
        array = np.asarray(archive[key])
    except ValueError as error:
        if "pickle" not in str(error) and "bject" not in str(error):
            raise
        raise _objects(path, key) from error
    if array.dtype.kind == "S":
        try:
            words = [word.decode("utf-8") for word in array.ravel().tolist()]
        except UnicodeDecodeError as error:
            raise PsephosError(
                f"the array {key!r} of {path.name!r} holds bytes that are not UTF-8 text."
            ) from error
        return np.array(words).reshape(array.shape) if words else array.astype(str)
    return array.astype(np.float64) if array.dtype.char == "g" else array


def beyond(values: NDArray[Any]) -> NDArray[np.bool_]:
    """Return where numbers are infinite, or larger in size than any value may be."""
    most = min(FARTHEST, float(np.finfo(values.dtype).max))
    return (values > most) | (values < -most)


def check_values(array: NDArray[Any], key: str, file: str, n_rows: int | None = None) -> None:
    """Raise PsephosError unless an array holds plain values, one for each of `n_rows`."""
    if array.dtype.kind not in "biufUmM" or array.shape != (n_rows or len(array),):
        rows = "" if n_rows is None else f", one for each of the {n_rows} rows of X"
        raise PsephosError(
            f"the array {key!r} of {file!r} has type {array.dtype} and shape {array.shape}: it "
            f"must hold numbers, booleans or words{rows}."
        )


def word_array(words: list[str]) -> NDArray[Any]:
    """Return words as an array that keeps each as it is.

    numpy's own arrays of words drop NUL characters from their ends: such words are kept as objects.
    """
    kept = any(word.endswith("\0") for word in words)
    return object_array(words) if kept else np.array(words, dtype=str)


def object_array(values: Sequence[Any]) -> NDArray[Any]:
    """Return values of any kind as a row of objects, each as it is."""
    out = np.empty(len(values), dtype=object)
    out[:] = values
    return out
