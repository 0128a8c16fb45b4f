"""Reading only the columns a model needs from a table that may hold anything else."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from psephos._errors import PsephosError
from psephos._files.cells import Cells
from psephos._files.columns import refuse_numbers_in_words
from psephos._files.levels import LevelCodes
from psephos._files.near import CELL, shown, suggest
from psephos._files.sheet import Choice, Header, Sheet, read_sheet, unnamed
from psephos._files.unknown import Unknown

__all__ = ["CaseTable", "Wanted", "read_cases"]


@dataclass(frozen=True)
class Wanted:
    """The columns a model reads, and how its own table named them.

    Parameters
    ----------
    n_columns : int
        Of the table the model was fitted on.
    columns : sequence of int
        Those it reads.
    names : sequence of str or None
        Of all columns; None if that table had none.
    levels : mapping of int to sequence
        The categories of categorical columns.
    absent : bool, default=False
        Whether columns may be absent: they are then missing throughout.
    backup : sequence of int, default=()
        Those read only where another is missing: they may be absent, which is reported.
    """

    n_columns: int
    columns: Sequence[int]
    names: Sequence[str] | None
    levels: Mapping[int, Sequence[Any]] = field(default_factory=dict[int, Sequence[Any]])
    absent: bool = False
    backup: Sequence[int] = ()

    def word(self, j: int) -> str:
        """Return the name of column j."""
        return f"column {j}" if self.names is None else self.names[j]


@dataclass(frozen=True)
class CaseTable:
    """Cases to be answered: their names, and the columns asked for, in that order.

    Parameters
    ----------
    ids : list of str
        The id column; without one the line in a csv file, or the row of an npz from 0.
    X : ndarray of shape (n, q), float64
        NaN where missing; in categorical columns the codes of the model's levels.
    notes : list of str
        Sentences on how the table was read that its reader must know.
    """

    ids: list[str]
    X: NDArray[np.float64]
    notes: list[str]


def read_cases(
    path: Path,
    wanted: Wanted,
    id_column: str | None,
    *,
    cells: Cells | None = None,
    missing: Sequence[str] = (),
    separator: str | None = None,
) -> CaseTable:
    """Read the columns of a model; all others are ignored, whatever they hold.

    A model that knows the names of its columns finds them by name (columns of an npz file without
    feature_names are called 'column 0', 'column 1', ...). A model that was fitted on a table
    without names reads columns by position: the table must have as many as that one, besides the
    id.

    Parameters
    ----------
    path : Path
        A csv, tsv or txt file (perhaps with .gz), or npz with X and perhaps feature_names.
    wanted : Wanted
    id_column : str or None
    cells, separator : optional
        As in `read_sheet`.
    missing : sequence of str, default=()
        Words that stand for no value even where the model has a category of that name.

    Raises
    ------
    PsephosError
        If a column is missing, a cell of a numeric column is not a number, or a categorical
        column holds none of the categories the model knows.
    """
    places: list[int] = []
    notes: list[str] = []
    gone = Cells(tuple(missing)) if missing else None

    def choose(header: Header) -> Choice:
        places[:] = _places(header, wanted, id_column, notes)
        words = {places[k] for k, j in enumerate(wanted.columns) if j in wanted.levels}
        name = id_column or header.row_names
        if name in header.names and not header.arrays:
            words.add(header.names.index(name))
        return Choice(sorted({j for j in places if j >= 0}), sorted(words - {-1}))

    sheet = read_sheet(path, choose, cells, separator)
    X = np.full((len(sheet.X), len(places)), np.nan)
    for k, (place, j) in enumerate(zip(places, wanted.columns, strict=True)):
        if place >= 0:
            levels = wanted.levels.get(j)
            X[:, k] = (
                _numbers(sheet, place, wanted.word(j))
                if levels is None
                else _codes(sheet, place, wanted.word(j), levels, gone, notes)
            )
    return CaseTable(_ids(sheet, id_column), X, notes)


def _places(header: Header, wanted: Wanted, id_column: str | None, notes: list[str]) -> list[int]:
    """Return where the columns stand; -1 for those that are absent, if they may be."""
    _check_id(header, id_column)
    if wanted.names is None:
        return _by_position(header, wanted, id_column, notes)
    if not header.named:
        _check_width(header, wanted)
    where = {name: j for j, name in enumerate(header.names)}
    names = [wanted.word(j) for j in wanted.columns]
    gone = [j for j in wanted.columns if wanted.word(j) not in where]
    lacking = [wanted.word(j) for j in gone if j not in wanted.backup]
    spare = [wanted.word(j) for j in gone if j in wanted.backup]
    if spare and not wanted.absent:
        more = f" and {len(spare) - 1} more" if len(spare) > 1 else ""
        count = "1 column" if len(spare) == 1 else f"{len(spare)} columns"
        notes.append(
            f"{header.file!r} lacks {count} that the model reads only where another is missing "
            f"({spare[0]!r}{more}): taken as missing."
        )
    if lacking and not wanted.absent:
        more = f" (and {len(lacking) - 1} more)" if len(lacking) > 1 else ""
        alone = ""
        if len(header.names) == 1:
            alone = "; its first line names one column only: --separator says what divides cells"
        raise PsephosError(
            f"{header.file!r} has no column {shown(lacking[0])}{more}: the model reads it; add "
            f"it, left empty where it was not measured{alone}."
        )
    for name in names:
        if header.names.count(name) > 1:
            raise PsephosError(
                f"the column name {shown(name)} stands twice in {header.file!r}: rename one."
            )
    return [where.get(name, -1) for name in names]


def _check_width(header: Header, wanted: Wanted) -> None:
    """Raise PsephosError if names that stand for positions are of a table of another width."""
    made = unnamed(wanted.n_columns)
    if list(wanted.names or ()) == made and header.names != made:
        raise PsephosError(
            f"{header.file!r} has {len(header.names)} columns and no names, and the model was "
            f"fitted on {wanted.n_columns}, which it finds by position: give a table of those "
            "columns in that order, or fit the model on a table with names."
        )


def _check_id(header: Header, id_column: str | None) -> None:
    arrays = [name for name, array in header.arrays.items() if array.ndim == 1]
    known = arrays or header.names
    if id_column is not None and id_column not in known:
        what = "array" if arrays else "column"
        raise PsephosError(
            f"{header.file!r} has no {what} {id_column!r} (--id); {suggest(id_column, known)}"
        )


def _by_position(
    header: Header, wanted: Wanted, id_column: str | None, notes: list[str]
) -> list[int]:
    apart = {id_column, header.row_names}
    places = [j for j, name in enumerate(header.names) if name not in apart]
    if len(places) != wanted.n_columns:
        besides = " besides the id" if len(places) < len(header.names) else ""
        raise PsephosError(
            f"{header.file!r} has {len(places)} columns{besides}, but the model was fitted on a "
            f"table of {wanted.n_columns} columns without names, which it finds by position: give "
            "a table of those columns in that order, or fit the model on a table with names."
        )
    if header.named:
        notes.append(
            f"the model was fitted on a table without column names: the {len(places)} columns of "
            f"{header.file!r} are read in their order."
        )
    return [places[j] for j in wanted.columns]


def _numbers(sheet: Sheet, place: int, name: str) -> NDArray[np.float64]:
    values = sheet.X[:, list(sheet.choice.columns).index(place)]
    if place in sheet.words:  # words where numbers should be, or the column of the ids as well
        words = sheet.words[place]
        read = [np.nan if word is None else sheet.cells.number(word) for word in words]
        odd = [w if number is None else None for w, number in zip(words, read, strict=True)]
        refuse_numbers_in_words(name, odd, sheet.place)
        for i, word in enumerate(odd):
            if word is not None:
                raise PsephosError(
                    f"column {shown(name)} has text in {sheet.place(i)} ({shown(word, CELL)}), "
                    f"but the model reads "
                    "numbers there: write NA if it is missing (--missing lists other words)."
                )
        values = np.array(read, dtype=np.float64)
    bad = np.flatnonzero(np.isinf(values))
    if len(bad):
        raise PsephosError(
            f"column {shown(name)} has an infinite value in {sheet.place(int(bad[0]))}, but the "
            "model reads finite numbers: write NA if it is missing."
        )
    return values


def _codes(
    sheet: Sheet,
    place: int,
    name: str,
    levels: Sequence[Any],
    gone: Cells | None,
    notes: list[str],
) -> NDArray[np.float64]:
    find, cells = LevelCodes(levels), sheet.words[place]
    if gone is not None:
        cells = ["" if isinstance(c, str) and gone.is_missing(c) else c for c in cells]
    codes = np.array([find.code(cell) for cell in cells])
    # the usual words for missing values are categories where the model was fitted on them as such
    present = [
        cell
        for cell, code in zip(cells, codes, strict=True)
        if code == code or not (isinstance(cell, str) and sheet.cells.is_missing(cell))
    ]
    strange = Unknown.among(name, present, find, levels)
    if strange is not None:
        strange.refuse()
        notes.append(strange.words())
    return codes


def _ids(sheet: Sheet, id_column: str | None) -> list[str]:
    header = sheet.header
    if id_column is not None and header.arrays:
        ids: list[Any] = header.arrays[id_column].tolist()
        if len(ids) != len(sheet.X):
            raise PsephosError(
                f"the array {id_column!r} of {header.file!r} has {len(ids)} values for "
                f"{len(sheet.X)} rows (--id)."
            )
        return [str(one) for one in ids]
    name = id_column or header.row_names
    if name is None:
        return [f"row {i}" for i in sheet.lines or range(len(sheet.X))]
    return list(sheet.words[header.names.index(name)])
