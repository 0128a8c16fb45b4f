"""Cases of a table for prediction: positions of the columns of a model, and their values.

The command and exported scorers read tables by these rules, so their errors are the same.
"""

import math
import pathlib
from collections.abc import Callable, Mapping, Sequence, Set
from dataclasses import dataclass, field, replace
from typing import Any

from psephos._errors import Complaints, PsephosError
from psephos.files.cells import FARTHEST, Cells
from psephos.files.columns import (
    in_one_form,
    notes_together,
    numbers_among,
    refuse_far,
    refuse_numbers_in_words,
)
from psephos.files.levels import LevelCodes, Unknown
from psephos.files.names import plural
from psephos.files.near import CELL, quoted, shown, some, suggest
from psephos.files.spelling import nearly, renaming_words
from psephos.files.text import Header, checked_separator, kind_of, opened, table_rows

_NAMED = 40  # columns that a message names
TIMES = " × "  # between the names of two columns in the name of their product


def factors(name: str, known: Set[str]) -> tuple[str, ...]:
    """Return the two columns of a product; () if the product is known, or a factor is not."""
    parts = tuple(name.split(TIMES))
    return parts if len(parts) == 2 and name not in known and known >= {*parts} else ()


def product_of(
    name: str, one: Sequence[float], other: Sequence[float], place: Callable[[int], str]
) -> list[float]:
    """Return the products of two columns, or raise PsephosError where one is too large."""
    return _within(name, [a * b for a, b in zip(one, other, strict=True)], place)


@dataclass(frozen=True)
class Wanted:
    """The columns a model reads, with their names in its training table.

    Parameters
    ----------
    n_columns : int
        Number of columns of the training table.
    columns : sequence of int
        Positions of the columns that the model reads.
    names : sequence of str, mapping of int to str, or None
        Names of all columns, or of those that are read; None if the table had none.
    levels : mapping of int to sequence
        The categories of categorical columns.
    absent : bool, default=False
        Whether columns may be absent: all their values are then missing.
    backup : sequence of int, default=()
        Columns that are read only if another is missing: they may be absent, with a note.
    """

    n_columns: int
    columns: Sequence[int]
    names: Sequence[str] | Mapping[int, str] | None
    levels: Mapping[int, Sequence[Any]] = field(default_factory=dict[int, Sequence[Any]])
    absent: bool = False
    backup: Sequence[int] = ()

    @classmethod
    def of_plain(cls, plain: dict[str, Any], levels: Mapping[str, Any]) -> "Wanted":
        """Return the columns of a plain model; `levels` has categories that are not all words."""
        columns, table = plain["columns"], plain["table"]
        reads = [c["place"] for c in columns]
        spare = [c["place"] for c in columns if c.get("may be absent")]
        known = {c["place"]: c["levels"] for c in columns if "levels" in c}
        known.update({int(j): values for j, values in levels.items()})
        names = {c["place"]: c["name"] for c in columns} if table["named"] else None
        return cls(table["width"], reads, names, known, len(spare) == len(reads), spare)

    def word(self, j: int) -> str:
        """Return the name of column j."""
        return f"column {j}" if self.names is None else self.names[j]

    def in_factors(self, header: Header, notes: list[str]) -> tuple["Wanted", list[list[int]]]:
        """Return the columns to read if a file has the factors of products, and not the products.

        The second list has, for each column of the model, its index among the columns to read, or
        the indices of its two factors.
        """
        known, names = set(header.names), {j: self.word(j) for j in self.columns}
        found = {j: factors(name, known) for j, name in names.items() if j not in self.levels}
        products = {j: pair for j, pair in found.items() if pair}
        if not products:
            return self, [[k] for k in range(len(self.columns))]
        ends = dict.fromkeys(name for pair in products.values() for name in pair)
        own = {name: self.n_columns + i for i, name in enumerate(ends)}
        columns = [*(j for j in self.columns if j not in products), *own.values()]
        at = {j: k for k, j in enumerate(columns)}
        named = quoted([names[j] for j in products])
        notes.append(f"{header.file!r} has no column {named}: computed from its two columns.")
        both = {**names, **{j: name for name, j in own.items()}}
        places = [[at[own[one]] for one in products.get(j, ())] or [at[j]] for j in self.columns]
        return replace(self, columns=columns, names=both), places


def places_in(header: Header, wanted: Wanted, id_column: str | None, notes: list[str]) -> list[int]:
    """Return the positions of the columns in a file; -1 for those that may be and are absent.

    Raises
    ------
    PsephosError
        If the id, or a column that the model needs, is missing, or a name is repeated.
    """
    _check_id(header, id_column)
    if wanted.names is None:
        return _by_position(header, wanted, id_column, notes)
    where = {name: j for j, name in enumerate(header.names)}
    bare = [wanted.word(j).strip() for j in wanted.columns]  # names of text files are stripped
    names = [
        word if (word := wanted.word(j)) in where or bare.count(name) > 1 else name
        for j, name in zip(wanted.columns, bare, strict=True)
    ]
    gone = [j for j, name in zip(wanted.columns, names, strict=True) if name not in where]
    lacking = [wanted.word(j) for j in gone if j not in wanted.backup]
    spare = [wanted.word(j) for j in gone if j in wanted.backup]
    if spare and not wanted.absent:
        notes.append(
            f"{header.file!r} lacks {plural(len(spare), 'column')} that the model reads only if "
            f"another is missing ({some(list(map(repr, spare)), 1)}): taken as missing."
        )
    alike = nearly(lacking, {*where} - {*names})
    hint = renaming_words(alike, _NAMED)
    without = f"{header.file!r} has no column {quoted(lacking, _NAMED)}"
    none = bool(alike) and len(gone) == len(names)  # no column of the model is there
    if alike and wanted.absent and not none:
        notes.append(f"{without}: taken as missing.{hint}")
    if lacking and (none or not wanted.absent):
        what = "it" if len(lacking) == 1 else "them"
        alone = "; its first line names only one column: give the --separator of cells"
        alone *= len(header.names) == 1
        if len(gone) == len(names) > 1 < len(header.names):
            alone = "; or transpose the file if its rows are columns of the model"
        add = f" Add {'the others' if alike else what}, left empty where nothing was measured"
        raise PsephosError(
            f"{without}: the model reads {what}.{hint}"
            + f"{add}{alone}." * (len(alike) < len(lacking))
            + " (a × b is computed if the columns a and b are there.)" * (TIMES in "".join(lacking))
        )
    for name in names:
        _check_once(header, name)
    return [where.get(name, -1) for name in names]


def _check_once(header: Header, name: str) -> None:
    if header.names.count(name) > 1:
        raise PsephosError(f"{header.file!r} has two columns named {shown(name)}: rename one.")


def _check_id(header: Header, id_column: str | None) -> None:
    if id_column is not None and id_column not in header.names:
        raise PsephosError(
            f"{header.file!r} has no column {id_column!r} (--id); "
            f"{suggest(id_column, header.names)}"
        )
    if id_column is not None:
        _check_once(header, id_column)


def _by_position(
    header: Header, wanted: Wanted, id_column: str | None, notes: list[str]
) -> list[int]:
    apart = {id_column, header.row_names, *header.beside}
    places = [j for j, name in enumerate(header.names) if name not in apart]
    if len(places) != wanted.n_columns:
        besides = " besides the id" if id_column or header.row_names else ""
        raise PsephosError(
            f"{header.file!r} has {len(places)} columns{besides}, but the model was fitted on a "
            f"table of {wanted.n_columns} columns without names, which it finds by position: give "
            "those columns in that order, or fit the model on a table with names."
        )
    if header.named:
        notes.append(
            f"the model was fitted on a table without column names: the {len(places)} columns of "
            f"{header.file!r} are read in their order."
        )
    return [places[j] for j in wanted.columns]


def numbers_in(
    name: str,
    words: Sequence[str | float],
    cells: Cells,
    place: Callable[[int], str],
    notes: list[str],
) -> list[float]:
    """Return the numbers in the cells of a column, NaN for missing values.

    Numbers among `words` are already parsed. A note is added if all are written in another form.

    Raises
    ------
    PsephosError
        If a cell holds text, or a number in another notation.
    """
    read, odd, _ = numbers_among(name, words, cells, place, notes, fitted=True)
    other = in_one_form(name, read, odd, cells, notes, fitted=True)
    if other is not None:
        return other
    refuse_numbers_in_words(name, odd, place, fitted=True, cells=cells)
    for i, word in enumerate(odd):
        if word is not None:
            raise PsephosError(
                f"column {shown(name)} has text in {place(i)} ({shown(word, CELL)}), but the model "
                "reads numbers there: write NA if it is missing (--missing adds other words)."
            )
    return [math.nan if number is None else number for number in read]


def codes_in(
    name: str,
    words: Sequence[Any],
    levels: Sequence[Any],
    cells: Cells,
    missing: Sequence[str],
    notes: list[str],
) -> list[float]:
    """Return the codes of the categories in the cells of a column, NaN for missing values.

    Parameters
    ----------
    name : str
    words, levels : sequence
    cells : Cells
    missing : sequence of str
        Words that mean a missing value even if the model has a category of that name.
    notes : list of str
        A note on unknown categories is added.

    Raises
    ------
    PsephosError
        If the column has only unknown categories.
    """
    find = LevelCodes(levels)
    if missing:
        gone = Cells(tuple(missing))
        words = ["" if isinstance(c, str) and gone.is_missing(c) else c for c in words]
    codes = [find.code(word) for word in words]
    # the usual words for missing values are categories if the model was fitted with them
    present = [
        word
        for word, code in zip(words, codes, strict=True)
        if code == code or not (isinstance(word, str) and cells.is_missing(word))
    ]
    strange = Unknown.among(name, present, find, levels)
    if strange is not None:
        strange.refuse()
        notes.append(strange.words())
    return codes


class CaseFile:
    """A csv, tsv or txt file (perhaps with .gz) whose first line names the columns.

    Parameters
    ----------
    path : str
    wanted : Wanted
    cells : Cells
    id_column : str or None
        The column that names the cases; None: ``row N``, with the line N.
    separator : str or None
        None: detected in the first line.
    missing : sequence of str, default=()
        See `codes_in`.

    Attributes
    ----------
    ids : list of str
    rows : list of list of float
        The values of each case in the order of the columns: NaN if missing, codes of categories.
    notes : list of str
        Notes for users on how the table was read.
    """

    def __init__(
        self,
        path: str,
        wanted: Wanted,
        cells: Cells,
        id_column: str | None = None,
        separator: str | None = None,
        missing: Sequence[str] = (),
    ) -> None:
        self.notes: list[str] = []
        file, mark = pathlib.Path(path), checked_separator(separator)
        kind_of(file)
        wrong = Complaints()
        with opened(file, notes=self.notes) as stream:
            header, below = table_rows(file, stream, mark, self.notes, wrong)
            read, parts = wanted.in_factors(header, self.notes)
            places = places_in(header, read, id_column, self.notes)
            named = id_column or header.row_names
            kept = sorted({*places, header.names.index(named) if named else -1} - {-1})
            words: dict[int, list[str]] = {j: [] for j in kept}
            lines, own = list[int](), cells.of_columns(header.names)
            for line, _, row in below:
                lines.append(line)
                divided = list(row)
                for j in kept:
                    word = divided[j].strip()
                    words[j].append("" if j in own and own[j].is_missing(word) else word)
        called = words[header.names.index(named)] if named else [""] * len(lines)
        self.ids = [word or f"row {i}" for word, i in zip(called, lines, strict=True)]
        columns = list[list[float]]()

        def line_of(i: int) -> str:
            return f"line {lines[i]}"

        for place, j in zip(places, read.columns, strict=True):
            name, levels = read.word(j), read.levels.get(j)
            with wrong.gather():
                if place < 0:
                    columns.append([math.nan] * len(lines))
                elif levels is not None:
                    columns.append(codes_in(name, words[place], levels, cells, missing, self.notes))
                else:
                    numbers = numbers_in(name, words[place], cells, line_of, self.notes)
                    columns.append(_within(name, numbers, line_of))
        wrong.refuse()
        self.notes = notes_together(self.notes)
        made = [
            product_of(wanted.word(j), columns[part[0]], columns[part[1]], line_of)
            if len(part) > 1 else columns[part[0]]
            for j, part in zip(wanted.columns, parts, strict=True)
        ]  # fmt: skip
        self.rows = [[column[i] for column in made] for i in range(len(lines))]


def _within(name: str, values: list[float], place: Callable[[int], str]) -> list[float]:
    for i, value in enumerate(values):
        if abs(value) > FARTHEST:
            refuse_far(name, value, place(i))
    return values
