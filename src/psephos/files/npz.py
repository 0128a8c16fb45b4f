"""npz files: arrays of numbers and words, never Python objects."""

from pathlib import Path
from typing import Any

import numpy as np

from psephos._errors import PsephosError, must_be
from psephos._types import Array
from psephos.files import sheet
from psephos.files.arrays import check_text, check_values
from psephos.files.cells import Cells
from psephos.files.formats import Reading, suffixes
from psephos.files.near import numbered, suggest
from psephos.files.packed import hostile
from psephos.files.text import Header


def read_arrays(path: Path) -> dict[str, Array]:
    """Return the arrays of an npz file, which must have X; bytes are read as UTF-8 words."""
    with hostile(path, "is damaged, or holds bytes that are not UTF-8 text"):
        # opened here, since np.load does not close a file that is not an archive
        with path.open("rb") as raw:
            archive = raw.read(2) == b"PK"
        if not archive:
            raise PsephosError(
                f"{path.name!r} is not an npz archive: write it with numpy.savez, or give it the "
                f"suffix of its format ({', '.join(one for one in suffixes() if one != '.npz')})."
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
        raise PsephosError(
            f"'feature_names' of {path.name!r} has no name for column {empty[0] + 1}."
        )
    return arrays


def read_npz(path: Path, choose: sheet.Chooser, cells: Cells, how: Reading) -> sheet.Sheet:
    """Read an npz file with the array X (n, p) of numbers or words, and perhaps feature_names.

    Other arrays of one dimension are columns beside the table, and so are the columns of Y.
    """
    arrays = read_arrays(path)
    X = arrays.pop("X")
    (n, p), given = X.shape, arrays.pop("feature_names", None)
    sheet.refuse_huge(path.name, n, p)
    names = sheet.unnamed(p) if given is None else [str(one) for one in given.tolist()]
    if len(names) != p:
        raise PsephosError(
            f"'feature_names' of {path.name!r} has {len(names)} names for {p} columns."
        )
    must_be("--duplicates (of an npz file)", how.duplicates, (None, "number"))
    classes = tuple(map(str, arrays.pop("classes", np.array([])).tolist()))
    labels = _labels(arrays.pop("Y", None), arrays.pop("label_names", None), n, path.name)
    single = {name: one[:, 0] if one.shape == (n, 1) else one for name, one in arrays.items()}
    beside = {name: one for name, one in single.items() if one.ndim == 1} | labels
    names = numbered([*beside, *names])[len(beside) :] if how.duplicates else names
    named = given is not None
    header = Header(
        path.name, [*names, *beside], named, beside=frozenset(beside), labels=tuple(labels),
        classes=classes, of_arrays=True,
    )  # fmt: skip

    def column(j: int) -> Any:
        if j < p:
            return X[:, j]
        name = header.names[j]
        check_values(beside[name], name, path.name, n)
        held = beside[name].astype(int) if classes and beside[name].dtype == bool else beside[name]
        return [sheet.plain(value) for value in held.tolist()]

    return sheet.columns_sheet(header, n, column, choose, cells)


def _labels(table: Array | None, given: Array | None, n: int, file: str) -> dict[str, Array]:
    """Return the columns of the table Y by name; {} without it."""
    if table is None:
        return {}
    if table.ndim != 2 or len(table) != n or not table.shape[1]:
        raise PsephosError(
            f"'Y' of {file!r} must be a table of 0 and 1 for the {n} rows of X, one column per "
            f"label; got shape {table.shape}. One label per row is the array y."
        )
    names = [f"label {k}" for k in range(table.shape[1])]
    if given is not None:
        names = [str(one) for one in given.ravel().tolist()]
    if len(names) != table.shape[1]:
        raise PsephosError(
            f"'label_names' of {file!r} names {len(names)} labels, and 'Y' has {table.shape[1]} "
            "columns."
        )
    return dict(zip(names, table.T, strict=True))


def _array(archive: Any, key: str, path: Path) -> Array:
    try:
        array = np.asarray(archive[key])
    except ValueError as error:
        if "pickle" not in str(error) and "bject" not in str(error):
            raise
        raise PsephosError(
            f"the array {key!r} of {path.name!r} holds Python objects, which are never read: store "
            "numbers or strings of fixed length."
        ) from error
    if array.dtype.kind == "S":
        words = [word.decode("utf-8") for word in array.ravel().tolist()]
        return np.array(words).reshape(array.shape) if words else array.astype(str)
    check_text(array)
    return array.astype(np.float64) if array.dtype.char == "g" else array
