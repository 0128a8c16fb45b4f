"""Layout of tables: cases in rows or columns, labels in another file, repeated names."""

import re
from collections import Counter
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import partial
from typing import TypeAlias

from psephos._errors import Complaints, PsephosError, must_be
from psephos.files.cells import Cells, Typed
from psephos.files.formats import Reading, read_sheet
from psephos.files.near import numbered, quoted, shown, some, used
from psephos.files.sheet import Chooser, ColumnChoice, Sheet, columns_sheet
from psephos.files.spelling import near_key, nearly
from psephos.files.text import Header

Read: TypeAlias = Callable[[Chooser], Sheet]

_ROW_NAMES = "row names"
_THREE = re.compile(r"\s*[+-]?[1-9]\d{0,2}[.,]\d{3}\s*")


class _TurnedError(Exception):
    """Features are in rows; or, with an argument, a column has no name, and perhaps no value."""


def arranged(read: Read, choose: Chooser, cells: Cells, how: Reading) -> Sheet:
    """Read a file with cases in rows, joined with the labels of another, and unique names.

    `read` takes a chooser. Features are in rows if the format implies it, or if the requested
    names, or the ids of the labels, are found only there.
    """
    must_be("--duplicates", how.duplicates, (None, "number", "mean", "first"))
    if choose is not _all_words and not how.cases:
        choose = partial(_chosen, choose, cells)
    turn = how.transpose
    if how.labels_from is None and how.duplicates is None and not turn:
        try:
            chooser = choose if turn is False else _in_rows_too(read, choose, cells, how)
            return _with_hits(read(chooser if how.cases else partial(_all_named, chooser)), how)
        except _TurnedError as error:
            turn = not error.args
    grid, labels, joined = _Grid.of(read(_all_words)), None, list[str]()
    if how.labels_from is not None:
        labels = _Grid.of(read_sheet(how.labels_from, _all_words, cells, Reading(transpose=False)))
        _refuse_other_ids(grid, labels, how.id)
        grid.notes += labels.in_one_mark(how.id, cells)
        grid.wrong.found += labels.wrong.found
        grid.hits = (grid.hits or 0) + (labels.hits or 0)
    if turn is None:
        turn = grid.header.features or (labels is not None and _across(grid, labels, how.id))
    if turn:
        grid.turn(how.id)
    if labels is not None:
        joined, grid.empty = grid.join(labels, how.id), grid.empty | labels.empty
    if how.duplicates is not None:
        grid.name_once(how.duplicates, cells)
    header, column = grid.header._replace(names=grid.names), grid.columns.__getitem__
    choose = choose if how.cases else partial(_all_but, grid.empty, choose)
    sheet = columns_sheet(header, len(column(0)), column, choose, cells, grid.notes, grid.lines)
    if beside := [header.names[j] for j in sheet.choice.columns if header.names[j] in joined]:
        sheet.notes.append(used(str(how.labels_from), beside))
    sheet.wrong = grid.wrong
    return _with_hits(sheet, how, grid.hits)


def _with_hits(sheet: Sheet, how: Reading, before: int | None = 0) -> Sheet:
    """Return a sheet, with a note if the --missing words of columns are not found."""
    own = sheet.cells.of_columns(sheet.header.names)
    if own and sheet.hits == 0 and not (before or how.cases):
        vain = some([shown(sheet.header.names[j]) for j in own])
        note = f"{vain}: no cell equals the --missing word of the column (case matters)."
        sheet.notes.append(note)
    return sheet


def _chosen(choose: Chooser, cells: Cells, header: Header) -> ColumnChoice:
    """Return the choice; raise PsephosError if --missing names a column that does not exist."""
    choice = choose(header)
    cells.of_columns(header.names, known=True)
    return choice


def _all_words(header: Header) -> ColumnChoice:
    return ColumnChoice((), range(len(header.names)))


def _all_named(choose: Chooser, header: Header) -> ColumnChoice:
    if "" in header.names and choose is not _all_words:
        raise _TurnedError("nameless")
    return choose(header)


def _all_but(empty: frozenset[str], choose: Chooser, header: Header) -> ColumnChoice:
    """Return the choice without the columns named in `empty`."""
    choice = choose(header)
    return choice._replace(columns=[j for j in choice.columns if header.names[j] not in empty])


def _in_rows_too(read: Read, choose: Chooser, cells: Cells, how: Reading) -> Chooser:
    """Return a chooser that raises _TurnedError if requested names are in the first column."""

    def checked(header: Header) -> ColumnChoice:
        if header.features:
            raise _TurnedError
        try:
            return choose(header)
        except PsephosError as error:
            width = len(header.names)
            fixed = header.of_arrays or header.file.lower().endswith(".h5ad")
            if fixed or not header.named or width < 3 or error.options:
                raise
            names = [str(w) for w in read(lambda _: ColumnChoice((), [0])).words[0]]
            name = how.id or _ROW_NAMES
            with suppress(PsephosError):
                choose(header._replace(names=[name, *names], row_names=name))
                raise _TurnedError from error
            for hint in () if error.column else across_hint(names, width, cells):
                raise PsephosError(f"{error} {hint}") from error
            raise

    return checked


def across_hint(names: Sequence[str], width: int, cells: Cells) -> list[str]:
    """Return a hint if the first column may name features rather than cases; else []."""
    words = {one for one in names if cells.number(one) is None}
    if not width < len(names) <= 1.1 * len(words):  # names of genes may be repeated
        return []
    return [
        f"Its first column holds {len(words)} different words beside {width - 1} other columns: if "
        "its features are in rows, give --transpose (and --labels-from FILE if labels are in "
        "another file); if they are not, --no-transpose."
    ]


def _refuse_other_ids(grid: "_Grid", labels: "_Grid", id_name: str | None) -> None:
    """Raise PsephosError if the ids are in another column of the labels than the one joined on."""
    mine = set(map(near_key, [*grid.names, *grid.columns[grid.id_column(id_name)]]))

    def shared(j: int) -> int:
        unique = len(set(labels.columns[j])) == len(labels.columns[j])
        return len(mine.intersection(map(near_key, labels.columns[j]))) if unique else 0

    key = labels.id_column(id_name)
    best = key if shared(key) else max(range(len(labels.names)), key=shared)
    if best != key and 2 * shared(best) >= len(labels.columns[best]):
        name, of = shown(labels.names[best]), labels.header.file
        raise PsephosError(f"the column {name} of {of!r} has the ids, and not "
                           f"{shown(labels.names[key])}: name it with --id {name}."
                           ).settled_by(("--id", labels.names[best]))  # fmt: skip


def _across(grid: "_Grid", labels: "_Grid", id_name: str | None) -> bool:
    """Return whether the ids of the labels are in the first line, and not in a column."""
    at, theirs = grid.id_column(id_name), labels.columns[labels.id_column(id_name)]
    mine = grid.names[1:], grid.columns[at]
    alike = [[len({*map(key, theirs)} & {*map(key, w)}) for w in mine] for key in (str, near_key)]
    across, down = alike[0] if any(alike[0]) else alike[1]  # by spelling if none is equal
    if across and down:
        raise PsephosError(
            f"ids of {labels.header.file!r} are in the first line of {grid.header.file!r} "
            f"({across}) and in its column {shown(grid.names[at])} ({down}): give --transpose if "
            "cases are in columns, --no-transpose if they are in rows."
        )
    return across > 0


def _called(names: Sequence[str]) -> list[str]:
    """Return names of columns; those without one get a unique name such as 'column 3'."""
    made = [f"column {j}" for j, name in enumerate(names, 1) if not name]
    free = iter(numbered([*names, *made])[len(names) :])
    return [name or next(free) for name in names]


@dataclass
class _Grid:
    """A table of words: one list per column."""

    header: Header
    names: list[str]
    columns: list[list[str]]
    lines: list[int] | None
    notes: list[str]
    wrong: Complaints  # rows that were not read
    hits: int | None  # as in Sheet
    empty: frozenset[str] = frozenset()  # columns that had no name, and have no values

    @classmethod
    def of(cls, sheet: Sheet) -> "_Grid":
        """Return the table of a sheet whose columns were all read as words."""
        header, names = sheet.header, list(sheet.header.names)
        if header.of_arrays:
            raise PsephosError(
                f"{header.file!r} has labels of its own, with cases in rows: leave --transpose, "
                "--labels-from and --duplicates out, or give the table in another format."
            )
        columns = [sheet.words[j] for j in range(len(names))]
        gone = sheet.cells.is_missing
        called = _called(names)
        void = {j: called[j] for j, name in enumerate(names)
                if not name and all(map(gone, columns[j]))}  # fmt: skip
        names, notes = [void.get(j, name) for j, name in enumerate(names)], list(sheet.notes)
        if void:
            notes.append(
                f"columns without a name and without values are left out: {quoted(void.values())}."
            )
        empty = frozenset(void.values())
        return cls(header, names, columns, sheet.lines, notes, sheet.wrong, sheet.hits, empty)

    def id_column(self, name: str | None) -> int:
        """Return the index of the column with this name, else of the first, which names rows."""
        return self.names.index(name) if name in self.names else 0

    def in_one_mark(self, id_name: str | None, cells: Cells) -> list[str]:
        """Convert columns with the other decimal mark to that of `cells`; return a note."""
        mark = "," if cells.decimal == "." else "."
        other, key = replace(cells, decimal=mark, thousands=""), self.id_column(id_name)
        found = dict[int, list[str]]()
        for j, words in enumerate(self.columns):
            read = [(cells.number(word), other.number(word)) for word in words]
            odd = (word for word, (mine, _) in zip(words, read, strict=True) if mine is None)
            if any(theirs is None for mine, theirs in read if mine is not None):
                return []  # numbers with both marks
            either = all(map(_THREE.fullmatch, odd))  # 1,234 is ambiguous
            if j != key and not either and all(theirs is not None for _, theirs in read):
                found[j] = [Typed(word.replace(mark, cells.decimal), v) if v == v else word
                            for word, (_, v) in zip(words, read, strict=True)]  # fmt: skip
        self.columns = [found.get(j, words) for j, words in enumerate(self.columns)]
        named = quoted([self.names[j] for j in found])
        return [f"{self.header.file!r} has the decimal mark {mark!r}: {named}."] * bool(found)

    def turn(self, id_name: str | None) -> None:
        """Transpose the table; the first column has the new names of columns."""
        cases = self._ids(self.names[1:], "the first line")
        features = list(map(str, self.columns[0]))
        self.columns = [cases, *(list(row) for row in zip(*self.columns[1:], strict=True))]
        self.names, self.lines, self.empty = [id_name or _ROW_NAMES, *features], None, frozenset()
        none = frozenset[str]()
        self.header = self.header._replace(row_names=self.names[0], named=True, declared=none)
        self.notes.append(
            f"features are in rows: read as {len(cases)} cases of {len(features)} columns "
            "(--no-transpose reads cases in rows)."
        )

    def join(self, labels: "_Grid", id_name: str | None) -> list[str]:
        """Join the columns of another table by ids; return their names."""
        at, key = self.id_column(id_name), labels.id_column(id_name)
        file, other, column = self.header.file, labels.header.file, shown(labels.names[key])
        mine = self._ids(self.columns[at], f"the column {shown(self.names[at])}")
        theirs = labels._ids(labels.columns[key], f"the column {column}")
        where, here = {word: i for i, word in enumerate(theirs)}, set(mine)
        kept = [i for i, word in enumerate(mine) if word in where]
        if not kept:
            for one, alike in nearly(mine, theirs).items():
                raise PsephosError(
                    f"ids of {file!r} and {other!r} differ in spelling ({shown(one)} and "
                    f"{shown(alike)}): write them the same in both files."
                )
            raise PsephosError(
                f"{file!r} has the cases {quoted(mine)}, and the column {column} of {other!r} has "
                f"others ({quoted(theirs)}): name the column of ids with --id."
            )
        lone, spare = ([w for w in mine if w not in where], [w for w in theirs if w not in here])
        for words, there, end in ((lone, file, " and are left out"), (spare, other, "")):
            if words:
                one = len(words) == 1
                ids, end = ("id", end.replace("are", "is")) if one else ("ids", end)
                found = f"{len(words)} {ids} of {there!r} {'is' if one else 'are'} only there{end}"
                self.notes.append(f"{found}: {quoted(words)}.")
        if pairs := [f"{shown(a)} and {shown(b)}" for a, b in nearly(lone, spare).items()]:
            self.notes.append(f"ids that differ in spelling are not joined: {some(pairs)}.")
        order = [where[mine[i]] for i in kept]
        rest = [j for j in range(len(labels.names)) if j != key]
        self.columns = [[column[i] for i in kept] for column in self.columns]
        self.columns += [[labels.columns[j][i] for i in order] for j in rest]
        self.names[at] = id_name or self.names[at]
        both = self.header.declared | labels.header.declared
        self.header = self.header._replace(row_names=self.names[at], declared=both)
        self.names += (added := [labels.names[j] for j in rest])
        self.lines = self.lines and [self.lines[i] for i in kept]
        return added

    def _ids(self, words: list[str], where: str) -> list[str]:
        """Return the names of cases; raise PsephosError if one is repeated."""
        word, times = Counter(words).most_common(1)[0]
        if times > 1:
            raise PsephosError(
                f"{where} of {self.header.file!r} names {shown(word)} {times} times: name each "
                "case once, so that rows can be matched."
            )
        return words

    def name_once(self, how: str, cells: Cells) -> None:
        """Make names unique: 'number' the columns, keep their 'mean', or the 'first'."""
        self.names = _called(self.names)
        where: dict[str, list[int]] = {}
        for j, name in enumerate(self.names):
            where.setdefault(name, []).append(j)
        twice = {name: places for name, places in where.items() if len(places) > 1}
        after = [j for places in twice.values() for j in places[1:]]
        for name, places in twice.items() if how == "mean" else ():
            self.columns[places[0]] = _means(name, [self.columns[j] for j in places], cells)
        if how == "number":
            self.names = numbered(self.names)
        for j in sorted(after, reverse=True) if how != "number" else ():
            del self.names[j], self.columns[j]
        if twice:
            self.notes.append(f"repeated names, --duplicates {how}: {quoted(twice)}.")


def _means(name: str, columns: list[list[str]], cells: Cells) -> list[str]:
    rows = [[cells.number(word) for word in row] for row in zip(*columns, strict=True)]
    if any(None in row for row in rows):
        raise PsephosError(
            f"the columns {shown(name)} hold words, which have no mean: give --duplicates number "
            "or first."
        )
    known = [[v for v in row if v is not None and v == v] for row in rows]
    means = [sum(row) / len(row) if row else None for row in known]
    return ["" if mean is None else Typed(repr(mean), mean) for mean in means]
