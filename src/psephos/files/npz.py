"""Files of arrays (.npz): numbers and words, never Python objects."""

import math
import struct
import zipfile
import zlib
from pathlib import Path
from typing import Any

import numpy as np

from psephos._errors import PsephosError, shortly
from psephos._types import Array
from psephos.files.arrays import check_values, known_numbers
from psephos.files.cells import Cells
from psephos.files.formats import Reading, suffixes
from psephos.files.near import suggest
from psephos.files.sheet import Chooser, Sheet, SheetRows, unnamed
from psephos.files.text import Header

_DAMAGED = (
    zipfile.BadZipFile, zlib.error, struct.error, OSError, EOFError, ValueError, KeyError,
    NotImplementedError, RuntimeError, OverflowError, SyntaxError,
)  # fmt: skip

_WIDEST = 1 << 24  # columns of a table without rows


def read_arrays(path: Path) -> dict[str, Array]:
    """Return the arrays of an npz file; the table X among them; bytes are read as UTF-8 words."""
    try:
        # opened here: np.load does not close a file that is no archive
        with path.open("rb") as raw:
            archive = raw.read(2) == b"PK"
        if not archive:
            raise PsephosError(
                f"{path.name!r} is no npz archive: write it by numpy.savez, or name it as what it "
                f"is ({', '.join(one for one in suffixes() if one != '.npz')})."
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


def read_npz(path: Path, choose: Chooser, cells: Cells, how: Reading) -> Sheet:
    """Read an npz file with the array X (n, p) of numbers or words, and perhaps feature_names."""
    arrays = read_arrays(path)
    X = arrays.pop("X")
    names = arrays.get("feature_names")
    header = Header(
        path.name,
        unnamed(X.shape[1]) if names is None else [str(one) for one in names.tolist()],
        names is not None,
        arrays,
        of_arrays=True,
    )
    if len(header.names) != X.shape[1]:
        raise PsephosError(
            f"'feature_names' of {path.name!r} has {len(header.names)} names for {X.shape[1]} "
            "columns."
        )
    choice = choose(header)
    if X.dtype.kind == "U":
        reading = SheetRows(header, choice, cells)
        for row in X.tolist():
            reading.add(row)
        return reading.sheet(None)
    values = known_numbers(X[:, list(choice.columns)], cells.gone_numbers)
    words = dict[int, list[Any]]()
    for j in choice.words:  # as the numbers that they are, to match numeric labels
        known = known_numbers(X[:, j], cells.gone_numbers)
        pairs = zip(X[:, j].tolist(), known.tolist(), strict=True)
        words[j] = ["" if number != number else value for value, number in pairs]
    return Sheet(header, choice, values, words, None, cells)


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


def _array(archive: Any, key: str, path: Path) -> Array:
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
