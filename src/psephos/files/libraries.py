"""Files read by other libraries: parquet, feather, spreadsheets, h5ad, mtx and npy.

If an optional library is missing, the error has the command that installs it.
"""

# pyright: standard

import gzip
import re
import zipfile
from collections.abc import Callable, Collection, Generator, Sequence
from contextlib import contextmanager, suppress
from functools import reduce
from importlib import import_module
from io import BytesIO
from itertools import chain
from math import prod
from pathlib import Path
from typing import Any, TypeAlias
from xml.etree import ElementTree

import numpy as np

from psephos._errors import MissingExtraError, PsephosError
from psephos._types import Sparse
from psephos.files.arrays import check_text
from psephos.files.cells import Cells
from psephos.files.dialects import AHEAD, names_below, skipped_words, units_words
from psephos.files.formats import Reading
from psephos.files.near import quoted, shown, some, suggest, used
from psephos.files.packed import MOST, hostile, refuse_bomb
from psephos.files.sheet import Chooser, Column, Sheet, columns_sheet, plain, refuse_huge, unnamed
from psephos.files.text import Header, opened, rows, titles, titles_words

#: An object of an optional library.
_Foreign: TypeAlias = Any
_Cells: TypeAlias = list[list[object]]
_Merged: TypeAlias = list[tuple[int, ...]]
_Head: TypeAlias = tuple[Header, int, list[int], list[str]]
_ROW_NAMES, _INDEX = "row names", "__index_level_0__"
_UNNAMED = "its columns have no names, and are called 'column 0', 'column 1', ..."
_HEAD = re.compile(rb"(?:[ \t\r]*(?:%[^\n]*)?\n)*[^\n]*")  # of a matrix: sizes in the last line
_PLACE = re.compile(rb"""\sr=["']([A-Z]*)(\d{1,7})["']""")
_FAR = re.compile(rb"""["'](?:[A-Z]{3}\d|[A-Z]+\d{6})""")
_FIRST = 40  # rows in which the names of columns of a sheet are searched
_CELLS = ("c", "table-cell")  # of xlsx and ods
_FORMULA = re.compile(rb"<(?:\w+:)?f[\s/>]|formula=")


@contextmanager
def _library(path: Path, name: str, package: str, extra: str = "") -> Generator[_Foreign]:
    """Yield a library; its errors become PsephosErrors."""
    try:
        library = import_module(name)
    except ImportError as error:
        raise MissingExtraError(package, f"reading {path.name!r}", extra) from error
    with hostile(path):
        yield library


def _header(path: Path, names: list[str], declared: Collection[int] = ()) -> Header:
    """Return the header of columns; a first column without a name has the names of rows.

    `declared` are the positions of columns that are categories by their type.
    """
    words = [name.strip() for name in names]
    row_names = None if not words or words[0] not in ("", _INDEX) else _ROW_NAMES
    words[:1] = [row_names or words[0]]
    of_type = frozenset(words[j] for j in declared)
    return Header(path.name, words, row_names=row_names, declared=of_type)


# ---------------------------------------------------------------------- Arrow
def read_arrow(path: Path, choose: Chooser, cells: Cells, how: Reading) -> Sheet:
    """Read a parquet file, or a feather file (Arrow IPC)."""
    with _library(path, "pyarrow.parquet", "pyarrow", "parquet") as parquet:
        if path.suffix.lower() == ".parquet":
            found = parquet.read_metadata(path)
            refuse_huge(path.name, found.num_rows, found.num_columns)
            table = parquet.ParquetFile(path).read()
        else:
            with path.open("rb") as raw:
                is_stream = raw.read(4) == b"\xff" * 4
            with path.open("rb") as raw:
                ipc, feather = map(import_module, ("pyarrow.ipc", "pyarrow.feather"))
                table = ipc.open_stream(raw).read_all() if is_stream else feather.read_table(raw)
        table.validate(full=True)  # C code trusts the content
        of_pandas = (table.schema.pandas_metadata or {}).get("columns", ())
        named = {one["field_name"] for one in of_pandas if one["pandas_type"] == "categorical"}
    names: list[str] = table.column_names
    # names of rows, as pandas stores them, come first, as in its csv files
    order = sorted(range(len(names)), key=lambda j: names[j] != _INDEX)

    def column(k: int) -> Column:
        with hostile(path):
            values = table.column(order[k])
            if kinds[k].startswith("dictionary") and "string_view" not in kinds[k]:  # has no cast
                values = values.cast(values.type.value_type)
            kind = re.match("u?int|float|double|half", str(values.type))
            numeric = kind and not ("int" in kind.group() and values.null_count)
            return values.to_numpy() if numeric else values.to_pylist()

    kinds = [str(table.schema.field(j).type) for j in order]
    # parquet stores numeric categories as numbers; the metadata of pandas tell that they are not
    levels = [k for k, kind in enumerate(kinds)
              if kind.startswith("dictionary") or names[order[k]] in named]  # fmt: skip
    header = _header(path, [names[j] for j in order], levels)
    return columns_sheet(header, table.num_rows, column, choose, cells)


# ---------------------------------------------------------------------- spreadsheets
def read_workbook(path: Path, choose: Chooser, cells: Cells, how: Reading) -> Sheet:
    """Read a sheet of a workbook; by default the only sheet that is not empty."""
    with _library(path, "python_calamine", "python-calamine", "excel") as calamine:
        parts = _parts_of(path)
        with calamine.CalamineWorkbook.from_path(str(path)) as book:
            name, sheet, notes = _sheet_of(path, book, how)
            formula = _without_result(parts, name)
            if formula is not None:
                raise PsephosError(
                    f"{path.name!r} has a formula without a result ({formula}): open it in a "
                    "spreadsheet program, and save it there."
                )
            rows, (header, above, heads, more) = _headed(path, sheet)
    filled = _filled(rows)
    top, *below = filled[above + len(heads) - 1 :]
    width = len(header.names)
    if how.cases:  # a row of empty cells between others is a case, as in csv files
        below = list(range(below[0], below[-1] + 1))
    ahead = [[str(v) for v in rows[i][:width]] for i in below[: 1 + AHEAD]]
    units = units_words(below[0] + 1, ahead)
    empty = below[-1] - top - len(below)
    below = below[bool(units) :]
    stop = len(below) - (how.skip_last or 0)
    below, last = below[:stop], below[stop:]
    if above:
        words = [" ".join(str(v) for v in rows[i] if v != "") for i in filled[:above]]
        notes.append(titles_words([i + 1 for i in filled[:above]], words))
    notes += more + [units] * bool(units) + [f"empty rows are left out: {empty}."] * bool(empty)
    notes += [skipped_words([i + 1 for i in last])] * bool(last)
    lines = [i + 1 for i in below]
    return columns_sheet(
        header, len(below), lambda j: [rows[i][j] for i in below], choose, cells, notes, lines
    )


def _headed(path: Path, sheet: _Foreign, n: int | None = None) -> tuple[_Cells, _Head]:
    """Return the first n rows of a sheet (all without n), with merged cells filled, and its header.

    Beside the header are the number of filled rows above it, its rows, and notes on it.
    """
    rows = [[plain(v) for v in row] for row in sheet.to_python(skip_empty_area=False, nrows=n)]
    merged = _merged(path, rows, getattr(sheet, "merged_cell_ranges", None) or [])
    above, heads = _heads(rows, merged)
    held, notes = _filled(rows)[above : above + 2 + AHEAD], list[str]()
    if len(heads) == 1 and held[1:]:
        first, *lines = [list(map(str, rows[i])) for i in held]
        names, rest = names_below(first, lines, notes)
        if notes:
            rows[held[0]], rows[held[1]] = [*names], [*rest]
            merged = [one for one in merged if one[0] != held[0]]
    notes += _fill(rows, merged, heads)
    below = _filled(rows)[above + len(heads) :]
    if not below:
        raise PsephosError(f"the sheet of {path.name!r} has no rows below that of column names.")
    width = max(j + 1 for i in (*heads, *below) for j, value in enumerate(rows[i]) if value != "")
    named = [dict.fromkeys(filter(None, (str(rows[i][j]).strip() for i in heads)))
             for j in range(width)]  # fmt: skip
    return rows, (_header(path, list(map(" / ".join, named))), above, heads, notes)


def _filled(rows: _Cells) -> list[int]:
    return [i for i, row in enumerate(rows) if any(value != "" for value in row)]


def _merged(path: Path, rows: _Cells, ranges: Sequence[Sequence[Sequence[int]]]) -> _Merged:
    """Return merged cells with a value as (first row, first column, last row, last column)."""
    n, p = len(rows), max(map(len, rows), default=0)
    ends = sorted((*first, min(last[0], n - 1), min(last[1], p - 1)) for first, last in ranges)
    if sum(max(0, k - i + 1) * max(0, m - j + 1) for i, j, k, m in ends) > n * p:
        raise PsephosError(f"{path.name!r} has merged cells that overlap: write it again.")
    return [end for end in ends if end[0] < n and end[1] < p and rows[end[0]][end[1]] != ""]


def _heads(rows: _Cells, merged: _Merged) -> tuple[int, list[int]]:
    """Return how many filled rows are above the column names, and the rows of the names.

    There are two rows of names if cells above other names are merged. A single merged cell that
    spans the first column is a title.
    """
    filled = _filled(rows)
    above = titles([sum(v != "" for v in rows[i]) for i in filled[:10]])
    across = [(i, range(j, m + 1)) for i, j, _, m in merged if j < m]
    if above and any(i == filled[above - 1] and at[0] for i, at in across):
        return above - 1, filled[above - 1 : above + 1]
    top, *below = filled[above:] or [0]
    under = [j for i, at in across if i == top for j in at]
    if below and 0 in under and sum(v != "" for v in rows[top]) == 1:
        return above + 1, below[:1]
    ahead = [rows[i] for i in below[: 1 + AHEAD]]
    named = ahead and all(isinstance(v, str) for v in ahead[0]) and all(ahead[0][j] for j in under)
    numbers = any(not isinstance(row[j], str) for row in ahead[1:] for j in under)
    lines, parts = [list(map(str, row)) for row in ((rows or [[]])[top], *ahead)], list[str]()
    names_below(lines[0], lines[1:], parts)  # a line of units, with names of parts
    two = named and numbers and not parts and not units_words(0, lines[1:])
    return above, filled[above : above + 1 + bool(two)]


def _fill(rows: _Cells, merged: _Merged, heads: list[int]) -> list[str]:
    """Fill merged cells with their value, as the sheet shows it; return notes on them.

    Titles, and merged columns that are alone in their row, are not filled.
    """
    names, held = list[object](), list[object]()
    for i, j, k, m in merged:
        value, head = rows[i][j], i in heads
        alone = not head and j < m and all(v == "" for v in (*rows[i][:j], *rows[i][m + 1 :]))
        if alone or i < heads[0]:
            continue
        for row in rows[i : min(k, heads[-1]) + 1 if head else k + 1]:
            row[j : m + 1] = [value] * (m - j + 1)
        if len(heads) == 1 and head:
            rows[i][j + 1 : m + 1] = [f"{value}.{at}" for at in range(2, m - j + 2)]
        (names if head else held).extend([value] * (j < m or not head))
    by = "with a number" if len(heads) == 1 else "with the name below"
    notes = [f"merged cells name each column under them, {by}: {quoted(names)}."] * bool(names)
    words = f"{len(held)} ({quoted(dict.fromkeys(held))})"
    return notes + [f"merged cells have their value in each of their rows: {words}."] * bool(held)


def _parts_of(path: Path) -> dict[str, bytes]:
    """Return the XML files in a workbook ({} for xls); raise if it has too many bytes or cells."""
    if not zipfile.is_zipfile(path):
        return {}
    with zipfile.ZipFile(path) as archive:
        refuse_bomb(path, sum(entry.file_size for entry in archive.infolist()))
        names = [one for one in archive.namelist() if one.endswith((".xml", ".rels"))]
        parts = {name: archive.read(name) for name in names}
    for text in filter(_FAR.search, parts.values()):
        found = {(b"", b"1"), *_PLACE.findall(text)}
        n = max(int(row) for _, row in found)
        p = max(reduce(lambda k, c: 26 * k + c - 64, letters, 0) for letters, _ in found)
        refuse_huge(path.name, n, p, 1 << 27)  # empty cells take memory as well
    return parts


def _without_result(parts: dict[str, bytes], sheet: str) -> str | None:
    """Return the cell, or text, of the first formula of a sheet (xlsx, ods) without a result."""
    files = ["content.xml"]
    if "xl/workbook.xml" in parts:
        sheets = _elements(parts["xl/workbook.xml"])
        ids = {held["id"] for _, held in sheets if held.get("name") == sheet and "id" in held}
        related = _elements(parts["xl/_rels/workbook.xml.rels"])
        files = [held["Target"].lstrip("/") for _, held in related if held.get("Id") in ids]
    texts = [text for name, text in parts.items() if name.endswith(tuple(files))]
    found: str | None = None
    for kind, held in chain.from_iterable(map(_elements, filter(_FORMULA.search, texts))):
        if kind == "table":  # of ods, which holds every sheet in one file
            if held.get("name") == sheet:
                break
            found = None
        formula = held.get("f", held.get("formula")) if kind in _CELLS else None
        result = held.get("v") or held.get("is") or held.get("value-type")
        empty_word = held.get("t") == "str" and "v" in held
        if found is None and formula is not None and not result and not empty_word:
            found = held.get("r", formula)
    return found


def _elements(text: bytes) -> Generator[tuple[str, dict[str, str]]]:
    """Yield the name of each XML element, and its attributes and child texts by name."""
    for _, node in ElementTree.iterparse(BytesIO(text)):
        kind = node.tag.rpartition("}")[2]
        inside = ((one.tag, "".join(one.itertext()).strip()) for one in node)
        yield kind, {key.rpartition("}")[2]: word for key, word in (*node.items(), *inside)}
        if kind in _CELLS:
            node.clear()


def _sheet_of(path: Path, book: _Foreign, how: Reading) -> tuple[str, _Foreign, list[str]]:
    """Return the name of the sheet to read, the sheet, and a note if others are not empty.

    Of several sheets it is the only one with the columns that `how` names.
    """
    names, wanted = book.sheet_names, how.sheet
    if wanted is not None:
        if wanted.isdecimal() and wanted not in names and 0 < int(wanted) <= len(names):
            wanted = names[int(wanted) - 1]
        if wanted not in names:
            raise PsephosError(
                f"{path.name!r} has no sheet {wanted!r} (--sheet); {suggest(wanted, names)}"
            )
        return wanted, book.get_sheet_by_name(wanted), []
    sheets = {name: book.get_sheet_by_name(name) for name in names}
    filled = [name for name in names if sheets[name].total_height]
    fit = filled if len(filled) < 2 else list[str]()
    for name in filled if how.columns and not (fit or how.labels_from) else ():
        with suppress(PsephosError):
            header = _headed(path, sheets[name], _FIRST)[1][0]
            fit += [name] * how.columns.issubset(header.names)
    if len(fit) != 1 and filled:
        sizes = {name: [last + 1 for last in sheets[name].end] for name in filled}
        each = [f"{shown(name)} ({n} x {p})" for name, (n, p) in sizes.items()]
        largest = max(filled, key=lambda name: prod(sizes[name]))
        raise PsephosError(
            f"{path.name!r} has {len(filled)} sheets (rows x columns), {some(each, 6)}: choose one "
            f"by name or number from 1, such as the largest, with --sheet {shown(largest)}."
        ).settled_by(("--sheet", largest))
    name = (fit or names)[0]
    others = [one for one in names if one != name and sheets[one].to_python(nrows=1)]
    which = "the columns" if len(how.columns) > 1 else "a column"
    only = f"the only one of {len(filled)} with {which} {quoted(sorted(how.columns))}"
    only = only if len(filled) > 1 else f"not {quoted(others)}"
    return name, sheets[name], [f"the sheet {shown(name)} is read, {only}."] * bool(others)


# ---------------------------------------------------------------------- AnnData
def read_h5ad(path: Path, choose: Chooser, cells: Cells, how: Reading) -> Sheet:
    """Read an AnnData file: the columns of obs, and X, with the column names of var."""
    with _library(path, "h5py", "h5py", "h5ad") as h5py, h5py.File(path, "r") as file:
        obs, var = file["obs"], file["var"]
        if not hasattr(obs, "keys") or "X" not in file:
            raise PsephosError(
                f"{path.name!r} has no matrix X, or was written by anndata 0.6 or older: write it "
                "with X, by a later version."
            )
        labels = [str(_decoded(name)) for name in obs.attrs.get("column-order", ())]
        ids, features = (_h5_column(one[_decoded(one.attrs["_index"])]) for one in (obs, var))
        first = [ids, *(_h5_column(obs[name]) for name in labels)]
        levels = [j for j, name in enumerate(labels, 1) if _h5_levels(obs[name]) is not None]
        refuse_huge(path.name, len(ids), len(features))
        if any(len(one) != len(ids) for one in first):
            raise ValueError("columns of obs of several lengths")
        of_X, matrix = _h5_matrix(file["X"], (len(ids), len(features)))
    header = _header(path, ["", *labels, *map(str, features)], levels)
    choice = choose(header)
    read = [name for j, name in enumerate(labels, 1) if j in choice.columns]
    notes = [used("obs", read)] if read else []

    def column(j: int) -> Column:
        return first[j] if j < len(first) else of_X(j - len(first))

    return columns_sheet(header, len(ids), column, lambda _: choice, cells, notes, matrix=matrix)


def _decoded(value: object) -> object:
    return value.decode("utf-8") if isinstance(value, bytes) else value


def _h5_column(found: _Foreign) -> list[object]:
    """Return the values of a column stored as an array, codes of categories, or with a mask."""
    group, levels = hasattr(found, "keys"), _h5_levels(found)
    if levels is not None:
        words, codes = _h5_column(levels), _h5_array(found["codes"] if group else found)
        return [words[code] if code >= 0 else None for code in codes.tolist()]
    if group:
        pairs = zip(_h5_array(found["values"]), _h5_array(found["mask"]).tolist(), strict=True)
        return [None if gone else _decoded(value) for value, gone in pairs]
    return [_decoded(value) for value in _h5_array(found)]  # numbers in their stored type


def _h5_levels(found: _Foreign) -> _Foreign | None:
    """Return the categories of a column; None if it is not categorical.

    In files of anndata 0.7 an attribute of the codes refers to them.
    """
    if hasattr(found, "keys"):
        return found["categories"] if "codes" in found else None
    old = found.attrs.get("categories")
    return None if old is None else found.file[old]


def _h5_array(found: _Foreign) -> _Foreign:
    refuse_huge(Path(found.file.filename).name, found.size, 1)
    if found.dtype.kind == "c":
        raise ValueError("complex numbers")
    return found[:]


def _h5_matrix(
    found: _Foreign, shape: tuple[int, int]
) -> tuple[Callable[[int], Column], Sparse | None]:
    """Return a function of the columns of X, dense or sparse, and X if it is sparse."""
    if not hasattr(found, "keys"):
        if found.shape != shape:
            raise ValueError(f"X is {found.shape}, and obs and var name {shape}")
        dense = np.asarray(_h5_array(found))
        return lambda j: dense[:, j], None
    sparse = import_module("scipy.sparse")
    form = _decoded(found.attrs.get("encoding-type", found.attrs.get("h5sparse_format")))
    forms = {"csr": sparse.csr_array, "csc": sparse.csc_array}
    kind = forms[str(form).removesuffix("_matrix")]
    parts = [_h5_array(found[part]) for part in ("data", "indices", "indptr")]
    steps = np.diff(parts[2].astype(np.int64), prepend=0, append=len(parts[1]))
    if steps[[0, -1]].any() or (steps < 0).any() or {one.dtype.kind for one in parts[1:]} - {*"iu"}:
        raise ValueError("indptr of X does not divide its entries into rows or columns")
    matrix = kind(tuple(parts), shape=shape)
    matrix.check_format(full_check=True)
    columns, entries = matrix.tocsc(), matrix.nnz
    columns.sum_duplicates()
    if columns.nnz < entries:
        raise ValueError("X has two entries of one cell")
    return lambda j: columns[:, [j]].toarray()[:, 0], columns


# ---------------------------------------------------------------------- matrices
def read_npy(path: Path, choose: Chooser, cells: Cells, how: Reading) -> Sheet:
    """Read an array of numbers or words with cases in rows; Python objects are never read."""
    with _library(path, "numpy", "numpy") as numpy:
        array = numpy.load(path, mmap_mode="r", allow_pickle=False)
        if array.ndim != 2 or array.dtype.kind not in "biufU":
            raise PsephosError(f"{path.name!r} must be a table (n, p) of numbers, or of words.")
        refuse_huge(path.name, *array.shape)
        check_text(array)

    def column(j: int) -> Column:
        return array[:, j].tolist() if array.dtype.kind in "bU" else np.array(array[:, j])

    header = Header(path.name, unnamed(array.shape[1]), named=False)
    return columns_sheet(header, len(array), column, choose, cells, [_UNNAMED])


def read_mtx(path: Path, choose: Chooser, cells: Cells, how: Reading) -> Sheet:
    """Read a sparse matrix: rows are cases, or features if files of names are beside it.

    These are barcodes.tsv and features.tsv (or genes.tsv) of 10x Genomics, with the same prefix as
    the file has before "matrix".
    """
    with _library(path, "scipy.io", "scipy") as io:
        text = _checked_matrix(path, io)
        matrix = import_module("scipy.sparse").csc_array(io.mmread(BytesIO(text)))
    ids, features = _beside(path, "barcodes"), _beside(path, "features", "genes")
    header, notes, first = Header(path.name, unnamed(matrix.shape[1]), named=False), [_UNNAMED], []
    if ids and features:
        if matrix.shape != (len(features), len(ids)):
            raise PsephosError(
                f"{path.name!r} has {matrix.shape[0]} rows and {matrix.shape[1]} columns, and the "
                f"files beside it name {len(features)} features and {len(ids)} cases."
            )
        matrix, first = matrix.T.tocsc(), [[row[0] for row in ids]]
        names = [row[min(1, len(row) - 1)] for row in features]
        if len(set(names)) < len(names):  # symbols may be repeated, identifiers are not
            names = [row[0] for row in features]
        header = _header(path, ["", *names])
        notes = ["features are in its rows, as in every such file: read as columns."]

    def column(j: int) -> Column:
        return first[j] if j < len(first) else matrix[:, [j - len(first)]].toarray()[:, 0]

    return columns_sheet(header, matrix.shape[0], column, choose, cells, notes, matrix=matrix)


def _checked_matrix(path: Path, io: _Foreign) -> bytes:
    """Return the text of a matrix, with a final line end, after checks that the C reader lacks."""
    with (gzip.open if path.suffix.lower() == ".gz" else open)(path, "rb") as file:
        text = file.read(MOST + 1)
    refuse_bomb(path, len(text))
    n, p, entries, layout, field, symmetry = io.mminfo(BytesIO(text))
    if field == "complex":
        raise PsephosError(f"{path.name!r} holds complex numbers: write real numbers.")
    refuse_huge(path.name, n, p)
    general = symmetry == "general"
    least = entries if layout == "coordinate" else n * p if general else n * (p - 1) // 2
    if min(n, p) < 1 or not (general or n == p) or 2 * least > len(text):
        raise ValueError(f"{n} rows, {p} columns and {entries} entries are not there")
    entries = _HEAD.sub(b"", text, 1)
    odd = entries.translate(None, b"0123456789+-.eE \t\r\nNnAaIiFfTtYy")
    if odd:
        raise ValueError(f"{odd[:1]!r} is not part of a number")
    return text.rstrip() + b"\n"


def _beside(path: Path, *kinds: str) -> list[list[str]]:
    """Return the rows of a file of names beside a matrix; empty without such a file."""
    stem = path.name.removesuffix(".gz").removesuffix(".mtx")
    start = stem.removesuffix("matrix") if stem.endswith("matrix") else f"{stem}_"
    files = [path.with_name(f"{start}{kind}.tsv{gz}") for kind in kinds for gz in ("", ".gz")]
    for file in filter(Path.is_file, files):
        with opened(file) as stream:
            return [list(row) for _, _, row in rows(stream, "\t")]
    return []
