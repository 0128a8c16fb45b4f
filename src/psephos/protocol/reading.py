"""Tables in files: csv and tsv read row by row (10^5 columns are common), and npz."""

import csv
import gzip
import io
import zipfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from psephos._errors import PsephosError
from psephos.protocol._near import suggest
from psephos.protocol.tables import DataTable, encode_column, refuse_duplicates, tidy_labels

__all__ = ["MISSING", "read_table"]

MISSING = frozenset({"", "NA", "NaN", "nan", "?", "null", "None"})

_Floats = NDArray[np.float64]


@dataclass(frozen=True)
class _Roles:
    """Which columns are not measurements."""

    target: str | None
    id: str | None
    group: str | None
    drop: tuple[str, ...]
    categorical: tuple[str, ...]


def read_table(
    path: str | Path,
    *,
    target: str | None = None,
    id: str | None = None,  # the word of the command line
    group: str | None = None,
    drop: Sequence[str] = (),
    categorical: Sequence[str] = (),
    delimiter: str | None = None,
    dataset: str | None = None,
) -> DataTable:
    """Read a table from a file.

    Parameters
    ----------
    path : str or Path
        A .csv, .tsv or .txt file (or any of them with .gz) whose first line names the columns, or
        an .npz file with the arrays X (n, p) and y (n,), and perhaps classes (the label of each
        code of y) and feature_names (p,). No pickled object is ever read.
    target : str, optional
        The column of the labels. Needed for text files; for npz the default is the array y.
    id, group : str, optional
        The column (or array of the npz file) that names each row; that tells which rows belong
        together. A first column without a name (as R and pandas write row names) is the id.
    drop : sequence of str, default=()
        Columns to leave out.
    categorical : sequence of str, default=()
        Columns whose numbers are categories. A column without any number is categorical anyway.
    delimiter : str, optional
        By default a tab for .tsv, else whichever of comma, semicolon and tab the first line has
        most of.
    dataset : str, optional
        The name of the table in results; by default that of the file.

    Returns
    -------
    table : DataTable

    Raises
    ------
    PsephosError
        One sentence naming column and row: no such file or column, a name that stands twice, a
        row of another length, text in a numeric column, an infinite value, an empty table, a
        target with missing values or one class, ids that repeat.

    Notes
    -----
    Missing are empty cells and the words NA, NaN, nan, ?, null and None. Rows are converted as
    they are read, so that memory stays at about twice the table's size in float64.
    """
    file = Path(path)
    if not file.is_file():
        raise PsephosError(f"there is no file {str(path)!r}: check the name and the folder.")
    name = dataset or _stem(file)
    roles = _Roles(target, id, group, tuple(drop), tuple(categorical))
    kinds = [suffix.lower() for suffix in file.suffixes]
    if kinds[-1:] == [".npz"]:
        return _read_npz(file, roles, name)
    if not {".csv", ".tsv", ".txt"} & set(kinds[-2:]):
        raise PsephosError(
            f"{file.name!r} is of an unknown kind: give a .csv, .tsv or .txt file (perhaps with "
            ".gz), or .npz."
        )
    return _read_text(file, roles, name, delimiter)


def _stem(file: Path) -> str:
    name = file.name.removesuffix(".gz")
    return Path(name).stem or name


# ------------------------------------------------------------------- text
@dataclass
class _Columns:
    """Where each column of the file goes, and the words kept so far."""

    header: list[str]
    numeric: NDArray[np.intp]  # places in the file
    kept: list[int]  # places of all measurements, in file order
    texts: dict[int, list[str]] = field(default_factory=dict[int, list[str]])


def _read_text(file: Path, roles: _Roles, dataset: str, delimiter: str | None) -> DataTable:
    try:
        with open_text(file) as stream:
            return _parse(stream, file, roles, dataset, delimiter)
    except UnicodeDecodeError as error:
        raise PsephosError(
            f"{file.name!r} is not UTF-8 text (byte {error.start}): save it as UTF-8."
        ) from error
    except (gzip.BadGzipFile, EOFError, csv.Error) as error:
        raise PsephosError(f"{file.name!r} is damaged ({error}): write it again.") from error


def delimiter_of(file: Path, first: str) -> str:
    """Return what separates cells: a tab in .tsv, else the commonest mark of the first line."""
    if file.name.lower().removesuffix(".gz").endswith(".tsv"):
        return "\t"
    return max(",;\t", key=first.count)


def open_text(file: Path) -> io.TextIOWrapper:
    """Open a table as UTF-8 text; .gz is unpacked."""
    opened: Any = gzip.open if file.suffix.lower() == ".gz" else open
    raw: Any = opened(file, "rb")  # closed with the text stream around it
    return io.TextIOWrapper(raw, encoding="utf-8-sig", newline="")


def _parse(
    stream: io.TextIOWrapper, file: Path, roles: _Roles, dataset: str, delimiter: str | None
) -> DataTable:
    first = stream.readline()
    if not first.strip():
        raise PsephosError(f"{file.name!r} is empty: its first line must name the columns.")
    delimiter = delimiter or delimiter_of(file, first)
    header, roles = _header(next(csv.reader([first], delimiter=delimiter)), roles, file)
    columns = _assign(header, roles, file)
    rows: list[_Floats] = []
    lines: list[int] = []
    for line, cells in _cells(stream, delimiter):
        if len(cells) != len(header):
            raise PsephosError(
                f"line {line} of {file.name!r} has {len(cells)} cells where the first line names "
                f"{len(header)} columns: check its delimiters and quotes."
            )
        rows.append(_row(cells, columns, len(rows)))
        lines.append(line)
        for j, kept in columns.texts.items():
            kept.append(cells[j])
    if not rows:
        raise PsephosError(f"{file.name!r} has no rows below the line of column names.")
    return _assemble(rows, lines, columns, roles, dataset)


def _cells(stream: io.TextIOWrapper, delimiter: str) -> Iterator[tuple[int, list[str]]]:
    """Yield (line number, cells); quoted cells may hold delimiters and line ends."""
    csv.field_size_limit(2**31 - 1)
    number = 1
    for text in stream:
        number += 1
        if '"' not in text:  # almost every row of a numeric table
            bare = text.rstrip("\r\n")
            if bare.strip(" \t" if delimiter != "\t" else " "):
                yield number, bare.split(delimiter)
            continue
        start = number
        while text.count('"') % 2:  # an open quote goes on in the next line
            more = stream.readline()
            if not more:
                raise PsephosError(f"the quote opened in line {start} is never closed.")
            text += more
            number += 1
        yield start, next(csv.reader([text], delimiter=delimiter))


def _header(header: list[str], roles: _Roles, file: Path) -> tuple[list[str], _Roles]:
    names = [name.strip() for name in header]
    if not names[0] and roles.id is None:
        names[0] = "row names"
        roles = _Roles(roles.target, "row names", roles.group, roles.drop, roles.categorical)
    for j, name in enumerate(names):
        if not name:
            raise PsephosError(
                f"column {j + 1} of {file.name!r} has no name: name it in the first line."
            )
    if len(names) > 1 and all(_number(name) is not None for name in names):
        raise PsephosError(
            f"the first line of {file.name!r} holds numbers only: it must name the columns."
        )
    refuse_duplicates(names)
    return names, roles


def _assign(header: list[str], roles: _Roles, file: Path) -> _Columns:
    if roles.target is None:
        raise PsephosError(
            f"no target is given: name the column of labels with --target; {suggest('', header)}"
        )
    special = {"--target": roles.target, "--id": roles.id, "--group": roles.group}
    wanted = [(flag, one) for flag, one in special.items() if one is not None]
    wanted += [("--drop", one) for one in roles.drop]
    wanted += [("--categorical", one) for one in roles.categorical]
    for flag, one in wanted:
        if one not in header:
            raise PsephosError(
                f"{file.name!r} has no column {one!r} ({flag}); {suggest(one, header)}"
            )
    apart = {one for one in special.values() if one is not None}
    kept = [j for j, one in enumerate(header) if one not in apart and one not in roles.drop]
    if not kept:
        raise PsephosError(
            f"{file.name!r} has no column besides the target and those set apart: nothing is left "
            "to learn from."
        )
    columns = _Columns(header, np.array(kept, dtype=np.intp), kept)
    for one in (*apart, *roles.categorical):
        columns.texts[header.index(one)] = []
    _leave_out_texts(columns)
    return columns


def _leave_out_texts(columns: _Columns) -> None:
    texts = columns.texts
    columns.numeric = np.array([j for j in columns.kept if j not in texts], dtype=np.intp)


def _row(cells: list[str], columns: _Columns, n_before: int) -> _Floats:
    """Return the numbers of a row; columns that turn out to be text move to the texts."""
    out = np.full(len(cells), np.nan)
    wanted: list[int] = columns.numeric.tolist()
    try:
        picked = cells if len(wanted) == len(cells) else [cells[j] for j in wanted]
        out[columns.numeric] = np.array(picked, dtype=np.float64)
        plain = not any("_" in cell for cell in picked)
    except ValueError:
        plain = False
    if plain:
        return out
    moved = False
    for j in wanted:
        number = _number(cells[j])
        if number is None:
            columns.texts[j] = [_NUMBER] * n_before  # _assemble puts the numbers back
            moved = True
        out[j] = np.nan if number is None else number
    if moved:
        _leave_out_texts(columns)
    return out


_NUMBER = "\0"  # stands for a cell that was read as a number before its column met a text


def _number(cell: str) -> float | None:
    """Return the number a cell holds (NaN if missing), or None if it holds text."""
    cell = cell.strip()
    if cell in MISSING:
        return np.nan
    if "_" in cell:
        return None  # Python reads 1_2 as twelve; a table means a text
    try:
        return float(cell)
    except ValueError:
        return None


def _assemble(
    rows: list[_Floats], lines: list[int], columns: _Columns, roles: _Roles, dataset: str
) -> DataTable:
    header, n = columns.header, len(rows)
    places = [f"row {i + 1} (line {line})" for i, line in enumerate(lines)]
    apart: dict[str, NDArray[Any]] = {}
    coded: dict[int, tuple[_Floats, tuple[str, ...] | None]] = {}
    for j, cells in columns.texts.items():
        objects = _objects(cells, [row[j] for row in rows])
        if j in columns.kept:
            named = header[j] in roles.categorical
            coded[j] = encode_column(objects, header[j], categorical=named, places=places)
        else:
            apart[header[j]] = objects
    X = np.empty((n, len(columns.kept)))
    whole = len(columns.kept) == len(header)
    for i in range(n):
        X[i] = rows[i] if whole else rows[i][columns.kept]
        rows[i] = rows[i][:0]  # the row is copied: let its memory go
    categories: dict[int, tuple[str, ...]] = {}
    for k, j in enumerate(columns.kept):
        if j in coded:
            X[:, k], levels = coded[j]
            if levels is not None:
                categories[k] = levels
    target = str(roles.target)
    return DataTable(
        X=X,
        y=tidy_labels(apart[target], target),
        names=tuple(header[j] for j in columns.kept),
        categories=categories,
        target_name=target,
        ids=_words(apart, roles.id, "id", places),
        groups=_words(apart, roles.group, "group", places),
        group_name=roles.group or "",
        dataset=dataset,
    )


def _objects(cells: list[str], numbers: list[float]) -> NDArray[Any]:
    values: list[Any] = []
    for cell, number in zip(cells, numbers, strict=True):
        word = cell.strip()
        if cell == _NUMBER:
            values.append(None if number != number else number)
        else:
            values.append(None if word in MISSING else word)
    return np.array(values, dtype=object)


def _words(
    apart: dict[str, NDArray[Any]], name: str | None, what: str, places: list[str]
) -> NDArray[Any] | None:
    if name is None:
        return None
    values: list[Any] = apart[name].tolist()
    for i, value in enumerate(values):
        if value is None:
            raise PsephosError(
                f"the {what} column {name!r} is empty in {places[i]}: fill it in, or remove the "
                "row."
            )
    return np.array([str(value) for value in values])


# ------------------------------------------------------------------- npz
def _read_npz(file: Path, roles: _Roles, dataset: str) -> DataTable:
    try:
        # opened here: np.load does not close a file that is no archive
        with file.open("rb") as raw, np.load(raw, allow_pickle=False) as archive:
            return _from_arrays(dict(_arrays(archive, file)), roles, dataset, file)
    except (zipfile.BadZipFile, OSError, EOFError) as error:
        raise PsephosError(f"{file.name!r} is damaged ({error}): write it again.") from error


def _arrays(archive: Any, file: Path) -> Iterator[tuple[str, NDArray[Any]]]:
    for key in archive.files:
        try:
            yield key, archive[key]
        except ValueError as error:
            raise PsephosError(
                f"the array {key!r} of {file.name!r} holds Python objects, which are never read: "
                "store numbers or texts of fixed length."
            ) from error


def _from_arrays(
    arrays: dict[str, NDArray[Any]], roles: _Roles, dataset: str, file: Path
) -> DataTable:
    if "X" not in arrays:
        raise PsephosError(f"{file.name!r} has no array 'X'; {suggest('X', arrays)}")
    X = arrays["X"]
    if X.ndim != 2 or X.dtype.kind not in "biuf":
        raise PsephosError(f"the array 'X' of {file.name!r} must be a table of numbers (n, p).")
    names = [
        str(one) for one in arrays.get("feature_names", [f"column {j}" for j in range(X.shape[1])])
    ]
    refuse_duplicates(names)
    if len(names) != X.shape[1]:
        raise PsephosError(
            f"'feature_names' of {file.name!r} has {len(names)} names for {X.shape[1]} columns."
        )
    for flag, wanted in (("--drop", roles.drop), ("--categorical", roles.categorical)):
        for one in wanted:
            if one not in names:
                raise PsephosError(
                    f"{file.name!r} has no column {one!r} ({flag}); {suggest(one, names)}"
                )
    kept = [j for j, one in enumerate(names) if one not in roles.drop]
    values = np.array(X[:, kept], dtype=np.float64)
    categories: dict[int, tuple[str, ...]] = {}
    for k, j in enumerate(kept):
        if names[j] in roles.categorical:
            values[:, k], levels = encode_column(values[:, k], names[j], categorical=True)
            categories[k] = levels or ()
    target = roles.target or "y"
    ids = _per_row(arrays, roles.id, "--id", len(X), file)
    groups = _per_row(arrays, roles.group, "--group", len(X), file)
    return DataTable(
        X=values,
        y=_labels(arrays, target, len(X), file),
        names=tuple(names[j] for j in kept),
        categories=categories,
        target_name=target,
        ids=None if ids is None else ids.astype(str),
        groups=None if groups is None else groups.astype(str),
        group_name=roles.group or "",
        dataset=dataset,
    )


def _per_row(
    arrays: dict[str, NDArray[Any]], key: str | None, flag: str, n: int, file: Path
) -> NDArray[Any] | None:
    if key is None:
        return None
    rows = [name for name, array in arrays.items() if array.shape == (n,)]
    if key not in rows:
        raise PsephosError(
            f"{file.name!r} has no array {key!r} with one value per row ({flag}); "
            f"{suggest(key, rows)}"
        )
    return arrays[key]


def _labels(arrays: dict[str, NDArray[Any]], target: str, n: int, file: Path) -> NDArray[Any]:
    y = _per_row(arrays, target, "--target", n, file)
    assert y is not None
    classes = arrays.get("classes")
    if target != "y" or classes is None or y.dtype.kind not in "iu":
        return tidy_labels(y, target)
    if y.min() < 0 or y.max() >= len(classes):
        raise PsephosError(
            f"'y' of {file.name!r} holds the code {int(y.max())}, but 'classes' names "
            f"{len(classes)} classes (codes 0 to {len(classes) - 1})."
        )
    return tidy_labels(classes[y], target)
