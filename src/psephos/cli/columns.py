"""Reading only the columns a model needs, by name, from a table that may hold anything else."""

import csv
import gzip
import io
import zipfile
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from psephos._errors import PsephosError
from psephos.protocol import MISSING
from psephos.protocol.reading import delimiter_of, open_text

__all__ = ["CaseTable", "read_cases"]


@dataclass(frozen=True)
class CaseTable:
    """Cases to be answered: their names, and the columns asked for, in that order.

    Parameters
    ----------
    ids : list of str
        The id column, or row numbers from 0.
    X : ndarray of shape (n, q)
        float64, or objects where a column is categorical (texts and None).
    """

    ids: list[str]
    X: NDArray[Any]


def read_cases(
    path: Path,
    wanted: Sequence[str],
    categories: Mapping[str, Sequence[Any]],
    id_column: str | None,
    *,
    absent: bool = False,
) -> CaseTable:
    """Read columns by name; all others are ignored, whatever they hold.

    Parameters
    ----------
    path : Path
        csv, tsv or txt (perhaps with .gz), or npz with X and feature_names.
    wanted : sequence of str
        Columns to read.
    categories : mapping of str to sequence
        The levels of those that are categorical.
    id_column : str or None
    absent : bool, default=False
        Whether columns may be absent: they are then missing throughout.

    Raises
    ------
    PsephosError
        If a column is missing, or a cell of a numeric column is not a number.
    """
    if path.suffix.lower() == ".npz":
        return _from_npz(path, wanted, id_column, absent)
    try:
        with open_text(path) as stream:
            return _from_text(stream, path, wanted, categories, id_column, absent)
    except UnicodeDecodeError as error:
        raise PsephosError(f"{path.name!r} is not UTF-8 text: save it as UTF-8.") from error
    except (gzip.BadGzipFile, EOFError, csv.Error) as error:
        raise PsephosError(f"{path.name!r} is damaged ({error}): write it again.") from error


def _from_text(
    stream: io.TextIOWrapper,
    path: Path,
    wanted: Sequence[str],
    categories: Mapping[str, Sequence[Any]],
    id_column: str | None,
    absent: bool,
) -> CaseTable:
    csv.field_size_limit(2**31 - 1)
    first = stream.readline()
    delimiter = delimiter_of(path, first)
    header = [name.strip() for name in next(csv.reader([first], delimiter=delimiter), [])]
    if header and not header[0] and id_column is None:
        header[0] = id_column = "row names"  # as R and pandas write them
    places = _places(header, wanted, path, absent)
    named = _places(header, [id_column], path)[0] if id_column is not None else None
    ids: list[str] = []
    rows: list[list[Any]] = []
    for line, cells in _lines(stream, delimiter):
        if len(cells) != len(header):
            raise PsephosError(
                f"line {line} of {path.name!r} has {len(cells)} cells where the first line names"
                f" {len(header)} columns: check its delimiters and quotes."
            )
        rows.append(
            [
                _cell(cells[j] if j >= 0 else "", name, line, name in categories)
                for j, name in zip(places, wanted, strict=True)
            ]
        )
        ids.append(str(len(ids)) if named is None else cells[named].strip())
    if not rows:
        raise PsephosError(f"{path.name!r} has no rows below the line of column names.")
    return CaseTable(ids, np.array(rows, dtype=object if categories else np.float64))


def _lines(stream: io.TextIOWrapper, delimiter: str) -> Iterator[tuple[int, list[str]]]:
    """Yield (line number, cells) of the rows that are not empty."""
    reader = csv.reader(stream, delimiter=delimiter)
    for cells in reader:
        if any(cell.strip() for cell in cells):
            yield reader.line_num + 1, cells


def _places(
    header: Sequence[str], wanted: Sequence[str], path: Path, absent: bool = False
) -> list[int]:
    """Return where the columns stand; -1 for those that are absent, if they may be."""
    where = {name: j for j, name in enumerate(header)}
    lacking = [name for name in wanted if name not in where]
    if lacking and not absent:
        more = f" (and {len(lacking) - 1} more)" if len(lacking) > 1 else ""
        raise PsephosError(
            f"{path.name!r} has no column {lacking[0]!r}{more}: the model reads it; add it, left"
            " empty where it was not measured."
        )
    for name in wanted:
        if sum(one == name for one in header) > 1:
            raise PsephosError(
                f"the column name {name!r} stands twice in {path.name!r}: rename one."
            )
    return [where.get(name, -1) for name in wanted]


def _cell(cell: str, name: str, line: int, categorical: bool) -> Any:
    """Return a number (NaN if missing), or for a category its text (None if missing)."""
    word = cell.strip()
    if word in MISSING:
        return None if categorical else np.nan
    if categorical:
        return word
    try:
        number = np.nan if "_" in word else float(word)  # Python reads 1_2 as twelve
    except ValueError:
        number = np.nan
    if not np.isfinite(number):
        what = "an infinite value" if np.isinf(number) else "text"
        raise PsephosError(
            f"column {name!r} has {what} in line {line} ({word!r}), but the model reads numbers"
            " there: write NA if it is missing."
        )
    return number


def _from_npz(path: Path, wanted: Sequence[str], id_column: str | None, absent: bool) -> CaseTable:
    try:
        with np.load(path, allow_pickle=False) as archive:
            wanted_arrays = ["X", "feature_names", *([id_column] if id_column else [])]
            arrays: dict[str, NDArray[Any]] = {
                key: archive[key] for key in wanted_arrays if key in archive
            }
    except (zipfile.BadZipFile, ValueError, EOFError) as error:
        raise PsephosError(f"{path.name!r} is damaged ({error}): write it again.") from error
    if "X" not in arrays or arrays["X"].ndim != 2:
        raise PsephosError(f"{path.name!r} has no table 'X': give the arrays X and feature_names.")
    X = arrays["X"]
    names = arrays.get("feature_names")
    header = [str(n) for n in names] if names is not None else _numbered(X.shape[1])
    if id_column is not None and id_column not in arrays:
        raise PsephosError(f"{path.name!r} has no array {id_column!r} (--id).")
    ids = arrays[id_column].tolist() if id_column is not None else range(len(X))
    places = np.array(_places(header, wanted, path, absent), dtype=np.intp)
    values = np.asarray(X[:, places], dtype=np.float64)
    values[:, places < 0] = np.nan
    return CaseTable([str(one) for one in ids], values)


def _numbered(p: int) -> list[str]:
    return [f"column {j}" for j in range(p)]
