"""Files of arrays (.npz): numbers and words, never Python objects."""

from pathlib import Path
from typing import Any

import numpy as np

from psephos._errors import PsephosError
from psephos._types import Array
from psephos.files.arrays import check_text, check_values, known_numbers
from psephos.files.cells import Cells
from psephos.files.formats import Reading, suffixes
from psephos.files.near import suggest
from psephos.files.packed import hostile
from psephos.files.sheet import Chooser, Sheet, columns_sheet, refuse_huge, unnamed
from psephos.files.text import Header


def read_arrays(path: Path) -> dict[str, Array]:
    """Return the arrays of an npz file; the table X among them; bytes are read as UTF-8 words."""
    with hostile(path, "is damaged, or holds bytes that are not UTF-8 text"):
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
    refuse_huge(path.name, *X.shape)
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
    if X.dtype.kind == "U":
        return columns_sheet(header, len(X), X.T.__getitem__, choose, cells)
    choice = choose(header)
    values = known_numbers(X[:, list(choice.columns)], cells.gone_numbers)
    words = dict[int, list[Any]]()
    for j in choice.words:  # as the numbers that they are, to match numeric labels
        known = known_numbers(X[:, j], cells.gone_numbers)
        pairs = zip(X[:, j].tolist(), known.tolist(), strict=True)
        words[j] = ["" if number != number else value for value, number in pairs]
    return Sheet(header, choice, values, words, None, cells)


def _array(archive: Any, key: str, path: Path) -> Array:
    try:
        array = np.asarray(archive[key])
    except ValueError as error:
        if "pickle" not in str(error) and "bject" not in str(error):
            raise
        raise PsephosError(
            f"the array {key!r} of {path.name!r} holds Python objects, which are never read: store "
            "numbers or texts of fixed length."
        ) from error
    if array.dtype.kind == "S":
        words = [word.decode("utf-8") for word in array.ravel().tolist()]
        return np.array(words).reshape(array.shape) if words else array.astype(str)
    check_text(array)
    return array.astype(np.float64) if array.dtype.char == "g" else array
