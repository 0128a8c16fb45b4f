"""Reading only the columns a model needs from a table that may hold anything else."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from psephos._errors import PsephosError
from psephos.files.arrays import beyond, check_values
from psephos.files.cells import Cells
from psephos.files.columns import refuse_far
from psephos.files.sheet import Choice, Sheet, read_sheet, unnamed, with_words
from psephos.files.text import Header
from psephos.scoring.reader.table import Wanted, codes_in, numbers_in, places_in


@dataclass(frozen=True)
class CaseTable:
    """Cases to be answered: their names, and the columns asked for, in that order."""

    ids: list[str]  # the id column; without one the line in a csv file, or the row of an npz from 0
    # (n, q), NaN where missing; of categories the codes of the model's levels
    X: NDArray[np.float64]
    notes: list[str]  # sentences on how the table was read that its reader must know


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
    id. The words of `missing` stand for no value even where the model has a category of that name.
    """
    places: list[int] = []
    notes: list[str] = []

    def choose(header: Header) -> Choice:
        if wanted.names is not None and not header.named:
            _check_width(header, wanted)
        places[:] = places_in(header, wanted, id_column, notes)
        words = {places[k] for k, j in enumerate(wanted.columns) if j in wanted.levels}
        name = id_column or header.row_names
        if name in header.names and not header.arrays:
            words.add(header.names.index(name))
        return Choice(sorted({j for j in places if j >= 0}), sorted(words - {-1}))

    sheet = read_sheet(path, choose, cells, separator)
    X = np.full((len(sheet.X), len(places)), np.nan)
    for k, (place, j) in enumerate(zip(places, wanted.columns, strict=True)):
        name, levels = wanted.word(j), wanted.levels.get(j)
        if place >= 0 and levels is not None:
            X[:, k] = codes_in(name, sheet.words[place], levels, sheet.cells, missing, notes)
        elif place >= 0:
            X[:, k] = _numbers(sheet, place, name, notes)
    return CaseTable(_ids(sheet, id_column), X, notes)


def _check_width(header: Header, wanted: Wanted) -> None:
    """Raise PsephosError if names that stand for positions are of a table of another width."""
    made = unnamed(wanted.n_columns)
    if list(map(wanted.word, range(wanted.n_columns))) == made and header.names != made:
        raise PsephosError(
            f"{header.file!r} has {len(header.names)} columns and no names, and the model was "
            f"fitted on {wanted.n_columns}, which it finds by position: give a table of those "
            "columns in that order, or fit the model on a table with names."
        )


def _numbers(sheet: Sheet, place: int, name: str, notes: list[str]) -> NDArray[np.float64]:
    values = sheet.X[:, list(sheet.choice.columns).index(place)]
    if place in sheet.words:  # words where numbers should be, or the column of the ids as well
        words = with_words(values, sheet.words[place])
        values = np.array(numbers_in(name, words, sheet.cells, sheet.place, notes))
    bad = np.flatnonzero(beyond(values))
    if len(bad):
        refuse_far(name, float(values[bad[0]]), sheet.place(int(bad[0])))
    return values


def _ids(sheet: Sheet, id_column: str | None) -> list[str]:
    header = sheet.header
    if id_column is not None and header.arrays:
        check_values(header.arrays[id_column], id_column, header.file, len(sheet.X))
        return [str(one) for one in header.arrays[id_column].tolist()]
    name = id_column or header.row_names
    if name is None:
        return [f"row {i}" for i in sheet.lines or range(len(sheet.X))]
    return list(sheet.words[header.names.index(name)])
