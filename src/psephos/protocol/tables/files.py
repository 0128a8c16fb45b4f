"""Tables in files: which columns are what, for those who fit."""

import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, cast

import numpy as np
from scipy.sparse import csc_array, hstack

from psephos._errors import Complaints, PsephosError
from psephos._types import Array, Cell, Indices, NDArray
from psephos.files.arff import labels_declared
from psephos.files.arrays import check_values, word_array
from psephos.files.cells import Cells
from psephos.files.columns import holds_words, in_one_form
from psephos.files.formats import Reading, read_sheet
from psephos.files.near import CELL, shown, suggest
from psephos.files.sheet import ColumnChoice, Sheet, with_words
from psephos.files.text import Header
from psephos.protocol.tables.checking import without_total
from psephos.protocol.tables.labels import (
    array_words,
    check_mark,
    class_codes,
    coded,
    label_word,
    partly_written,
    plain_words,
    read_target,
    refuse_numbers,
    refuse_old_positive,
    task_given,
    together,
    written_labels,
)
from psephos.protocol.tables.requirements import refuse_duplicates, refuse_farthest
from psephos.protocol.tables.table import Cohorts, DataTable, cohorts_named


@dataclass(frozen=True)
class _Roles:
    """Which columns are not measurements."""

    target: tuple[str, ...]  # several: labels, of which a row may have some
    n_labels: int | None
    id: str | None
    group: str | None
    drop: tuple[str, ...]
    categorical: tuple[str, ...]
    truth: str | None = None
    unlabeled: str | None = None
    recorded_class: str | None = None
    prior: float | None = None
    positive: str | None = None
    task: str | None = None
    row_names: str | None = None  # the id, where no one named it
    leave_out: tuple[str | None, str | None] = (None, None)  # the column, the one cohort tested

    @property
    def partly(self) -> bool:
        """Return whether labels are partly recorded."""
        given = (self.truth, self.unlabeled, self.prior)
        return refuse_old_positive(self.positive, self.recorded_class, *given)

    @property
    def left_out(self) -> tuple[str, ...]:
        """Return the columns beside the measurements, each with its option."""
        kept = [(f" ({flag})", name) for flag, name in self.apart if flag != "--target"]
        kept += [(" (--drop)", name) for name in self.drop]
        return tuple(f"{name}{'' if name == self.row_names else flag}" for flag, name in kept)

    @property
    def apart(self) -> list[tuple[str, str]]:
        """Return the columns of one value a row that are no measurements, with their options."""
        named = [("--id", self.id), ("--group", self.group), ("--truth", self.truth)]
        named.append(("--leave-out", self.leave_out[0]))
        targets = [("--target", name) for name in self.target]
        return targets + [(flag, name) for flag, name in named if name is not None]


def read_table(
    path: str | Path,
    *,
    target: str | Sequence[str] | None = None,
    n_labels: int | None = None,
    id: str | None = None,  # the word of the command line
    group: str | None = None,
    drop: Sequence[str] = (),
    categorical: Sequence[str] = (),
    missing: Sequence[str] | None = None,
    decimal: str | None = None,
    thousands: str | None = None,
    separator: str | None = None,
    sheet: str | int | None = None,
    encoding: str | None = None,
    transpose: bool | None = None,
    labels_from: str | Path | None = None,
    duplicates: str | None = None,
    keep_word: Sequence[str] = (),
    dataset: str | None = None,
    unlabeled: Any = None,
    truth: str | None = None,
    recorded_class: Any = None,
    prior: float | None = None,
    positive: Any = None,
    task: str | None = None,
    leave_out: str | None = None,
) -> DataTable:
    r"""Read a table from a file.

    Parameters
    ----------
    path : str or Path
        A text file whose first line names the columns (.csv, .tsv, .txt, .tab, .data; also BIOM's
        tsv and a series matrix of GEO, with the phenotypes of its header); .arff (dense or sparse
        rows); .parquet, .feather; a sheet of .xlsx, .xls or .ods; .h5ad (X and the
        columns of obs); .mtx beside the files of its names; an array .npy; or .npz with the arrays
        X (n, p) of numbers or words and y (n,), and perhaps classes (the label of each code of y)
        and feature_names (p,; else the columns are called 'column 0', 'column 1', ...); or Y (n, K)
        of 0 and 1 instead of y, and perhaps label_names (K,). Text, .arff and .mtx may be followed
        by .gz, and each kind may be the one file of a .zip, .bz2 or .xz. No pickled object is ever
        read.
    target : str or sequence of str, optional
        The column of the labels. Needed for text files; for npz the default is the array y, else
        the table Y. Several names: columns of 0 and 1 (or false and true), one a label, of which a
        row may have several (multi-label).
    n_labels : int, optional
        Instead of `target`: the last so many columns, `id` and `group` apart, are such labels, as
        in Mulan's files. MEKA's
        ARFF files say it themselves (``-C 6`` in their @relation: the first 6; ``-C -6``: the last
        6).
    id, group : str, optional
        The column (or array of the npz file) that names each row (of a transposed table the name
        that its first line gets as a column); that says which rows belong
        together. A first column without a name (as R and pandas write row names) is the id.
    drop : sequence of str, default=()
        Columns to leave out.
    categorical : sequence of str, default=()
        Columns whose numbers are categories. Text columns are always categorical. Name the
        target to accept its values as classes without checks.
    missing : sequence of str, optional
        Words that stand for no value, besides those of `MISSING` and the empty cell.
    decimal : {'.', ','}, optional
        The decimal mark; by default a point.
    thousands : str, optional
        The mark between groups of three digits; by default there is none.
    separator : str, optional
        By default a tab for .tsv, else whichever of comma, semicolon and tab the first line has
        most of; blanks where it has none of them.
    sheet : str or int, optional
        Of a workbook: the name of a sheet, or its number from 1. By default the only one that is
        not empty.
    encoding : str, optional
        Of a text file; by default UTF-8, UTF-16 where the file says so, else Windows-1252.
    transpose : bool, optional
        Whether features stand in rows, and cases in columns. By default where the kind of file says
        so, or where the columns named here, or the ids of `labels_from`, stand there alone.
    labels_from : str or Path, optional
        Another table, whose columns are joined to this one where the ids are the same: the column
        `id`, or the first of either.
    duplicates : {'number', 'mean', 'first'}, optional
        What is done with columns of one name: numbered (name.2), averaged, or the first taken. By
        default they are refused.
    keep_word : sequence of str, default=()
        Words that stand for no value by default, and are a value here.
    dataset : str, optional
        The name of the table in results; by default that of the file.
    unlabeled, truth, recorded_class, prior : optional
        Of labels that are partly recorded; `truth` is the column of the true classes,
        which has no missing value. See `psephos.protocol.compare`.
    positive : label, optional
        The class that measures and page are about.
    task : {'classes', 'numbers'}, optional
        What the target holds. By default numbers where they clearly are a measurement: not whole,
        with more than 20 different values or more than half as many as rows; or whole, with more
        than 100 or so many, and too few rows of a value for a class. In doubt the table is refused
        with the question.

    leave_out : str, optional
        For `psephos.protocol.compare`: the column of cohorts (clinics, batches), each of which is
        the test part once; or COLUMN=VALUE, the one test part. It is not learnt from.

    Returns
    -------
    table : DataTable

    Raises
    ------
    PsephosError
        One sentence naming column and line: no such file or column, a name that stands twice, a
        row of another length, text in a numeric column, numbers written in another way (5,1; 5 %;
        <0.1; 20-30), an infinite value, an empty table, a target with missing values or one
        class, ids that repeat. Several of these, of columns and cells, are lines of one message.

    Notes
    -----
    Labels keep their identity: they are whole numbers if every one is written as such (no zeros
    before it, no point, within 64 bits), else the words as they are written: 01 and 1 are two
    classes. A nominal column of an ARFF file whose values are all numbers, such as {0,1}, is read
    as numbers, unless `categorical` names it. Categories match by value: 1 and 1.0 are one level,
    and for a model TRUE is the level True. A column of truth values is one of categories; in the
    one array X of an npz or h5ad file they are the numbers 1 and 0. Decimal and thousands marks are
    of text: numbers that a file holds as such are those numbers.
    Rows are converted as they are read, so that memory stays at about twice the table's size in
    float64.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> import psephos
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     genes = pathlib.Path(folder, "genes.csv")
    ...     _ = genes.write_text("gene,s1,s2,s3,s4\nBRCA1,1,2,3,4\nTP53,0,1,0,1\n")
    ...     cases = pathlib.Path(folder, "cases.csv")
    ...     _ = cases.write_text("sample,state\ns1,ill\ns2,ill\ns3,well\ns4,well\n")
    ...     table = psephos.read_table(genes, target="state", labels_from=cases, id="sample")
    >>> table.names, table.X.shape
    (('BRCA1', 'TP53'), (4, 2))
    """
    file = Path(path)
    bare = re.sub(r"\.(gz|zip|bz2|xz)$", "", file.name, flags=re.I)
    name = dataset or Path(bare).stem or file.name
    targets = (target,) if isinstance(target, str) else tuple(target or ())
    if n_labels is not None and targets:
        raise PsephosError("--labels and --target both say which columns are labels: give one.")
    if n_labels is not None and n_labels < 1:
        raise PsephosError(f"--labels is {n_labels}: it is a number of columns, at least 1.")
    roles = _Roles(
        targets, n_labels, id, group, tuple(drop), tuple(categorical), truth,
        label_word(unlabeled), label_word(recorded_class), prior, label_word(positive),
        task_given(task, insisted=any(one in categorical for one in targets or ("y",))),
        leave_out=cohorts_named(leave_out),
    )  # fmt: skip
    if roles.partly or n_labels is not None or len(targets) > 1:
        refuse_numbers(task, f"{together(targets) or 'the labels'} and --task numbers")
    if roles.partly and (n_labels is not None or len(targets) > 1):
        raise PsephosError(
            "--unlabeled, --truth, --recorded-class and --prior are of one target of two classes: "
            "name one."
        )
    labels = None if labels_from is None else Path(labels_from)
    part = None if sheet is None else str(sheet)
    how = Reading(separator, part, encoding, transpose, labels, duplicates, id)
    cells = Cells().but(missing, decimal, thousands, keep_word)
    found = read_sheet(file, lambda header: _choose(header, roles), cells, how)
    if found.header.of_arrays:
        return _from_arrays(found, roles, name)
    return _from_text(found, _with_labels(_with_row_names(roles, found.header), found.header), name)


# ------------------------------------------------------------------- text
def _with_row_names(roles: _Roles, header: Header) -> _Roles:
    """Return the roles where the first column has no name: it is the id, unless another is."""
    name = header.row_names
    if name is None:
        return roles
    if roles.id in (None, name):
        return replace(roles, id=name, row_names=None if roles.id else name)
    return replace(roles, drop=(*roles.drop, name))


def _with_labels(roles: _Roles, header: Header) -> _Roles:
    """Return the roles with the columns of labels that a number, or MEKA's relation, names."""
    n = roles.n_labels
    apart = {name for _, name in roles.apart}
    names = [name for name in header.names if name not in apart]
    if roles.target or header.arrays:
        return roles
    declared = -labels_declared(header.relation) if n is None else n
    if not declared:
        return roles
    if not abs(declared) < len(names):
        said = "--labels" if n is not None else "the @relation (-C)"
        raise PsephosError(
            f"{said} of {header.file!r} says that {abs(declared)} columns are labels, and it has "
            f"{len(names)} besides those of --id and --group: at least one must be "
            "left to learn from."
        )
    return replace(roles, target=tuple(names[-declared:] if declared > 0 else names[:-declared]))


def _choose(found: Header, roles: _Roles) -> ColumnChoice:
    if found.of_arrays:
        return _choose_arrays(found, roles)
    header, file = found.names, found.file
    wrong = Complaints()
    for j, name in enumerate(header):
        with wrong.gather():
            if not name:
                raise PsephosError(
                    f"column {j + 1} of {file!r} has no name: name it in the first line."
                )
    numbers = found.relation is None and len(header) > 1
    if numbers and all(Cells().number(name) is not None for name in header):
        raise PsephosError(
            f"the first line of {file!r} holds numbers only: it must name the columns."
        )
    with wrong.gather():
        refuse_duplicates(header)
    roles = _with_labels(_with_row_names(roles, found), found)
    if not roles.target:
        wrong.refuse()
        raise PsephosError(
            "no target is given: name the column of labels with --target (several: repeat it, or "
            f"say with --labels how many of the last columns they are); {suggest('', header)}"
        )
    twice = [name for k, name in enumerate(roles.target) if name in roles.target[:k]]
    if twice:
        raise PsephosError(f"--target names {shown(twice[0])} twice: name each label once.")
    apart = {name for _, name in roles.apart}
    wanted = [*roles.apart, *(("--drop", one) for one in roles.drop)]
    wanted += [("--categorical", one) for one in roles.categorical]
    for flag, one in wanted:
        with wrong.gather():
            _known(one, flag, header, file)
    wrong.refuse()
    both = [one for one in roles.target if len(roles.target) > 1 and one in roles.drop]
    if both:
        raise PsephosError(f"{shown(both[0])} is both a label and left out (--drop): choose one.")
    columns = [j for j, one in enumerate(header) if one not in apart and one not in roles.drop]
    if not columns:
        raise PsephosError(
            f"{file!r} has no column besides the target and those set apart: nothing is left to "
            "learn from."
        )
    words = (*apart, *(one for one in roles.categorical if one not in roles.drop))
    return ColumnChoice(columns, sorted({header.index(one) for one in words}))


def _known(name: str, flag: str, names: list[str], file: str) -> None:
    if name not in names:
        alone = (
            f" (its first line names one column only: {shown(names[0])}; if that is several, say "
        )
        alone += "what separates them with --separator)"
        raise PsephosError(
            f"{file!r} has no column {shown(name)} ({flag}); {suggest(name, names)}"
            f"{alone if len(names) == 1 and flag == '--target' else ''}"
        )


def _from_text(sheet: Sheet, roles: _Roles, dataset: str) -> DataTable:
    names = sheet.header.names
    if len(roles.target) == 1:
        sheet = without_total(sheet, roles.target[0])
    wrong = Complaints()
    common = _common(sheet, roles, dataset, wrong)
    apart = {flag: sheet.words[names.index(name)] for flag, name in roles.apart}
    labels: tuple[str, ...] = roles.target if len(roles.target) > 1 else ()
    target = together(roles.target)
    partial, y = None, np.empty(0)
    with wrong.gather():
        if labels:
            y = _label_table({name: sheet.words[names.index(name)] for name in labels}, sheet)
        elif roles.partly:
            cells = [_cells_or_none(apart[f], sheet) for f in ("--target", "--truth") if f in apart]
            check_mark(roles.unlabeled, [w for w in cells[0] if w is not None], target)
            partial, y = partly_written(cells, roles, target, sheet)
        else:
            y = read_target(
                _cells_or_none(apart["--target"], sheet), target, sheet.place, task=roles.task,
                number=lambda word: sheet.cells.number(cast("str", word)), tidy=written_labels,
            )  # fmt: skip
    ids = _per_row(apart, "--id", roles.id, sheet, wrong)
    groups = _per_row(apart, "--group", roles.group, sheet, wrong)
    cohorts = _per_row(apart, "--leave-out", roles.leave_out[0], sheet, wrong)
    wrong.refuse()
    parts = Cohorts.of(cohorts, *roles.leave_out)
    return DataTable(
        **common, y=y, labels=labels, target_name=target, ids=ids, groups=groups,
        lines=sheet.lines, partial=partial, cohorts=parts,
    )  # fmt: skip


def _common(sheet: Sheet, roles: _Roles, dataset: str, wrong: Complaints) -> dict[str, Any]:
    """Return what a table has of its file, whichever kind that is: all but its rows' own words."""
    notes = list(sheet.notes)
    return {
        "categories": _encode(sheet, roles, notes, wrong),
        "X": sheet.X if sheet.rest is None else hstack([csc_array(sheet.X), sheet.rest], "csc"),
        "names": tuple(sheet.header.names[j] for j in sheet.choice.columns),
        "group_name": roles.group or "",
        "dataset": dataset,
        "cells": sheet.cells,
        "notes": tuple(notes),
        "left_out": roles.left_out,
        "insisted": roles.task == "classes",
        "positive": roles.positive,
    }


_LABEL = {"0": 0, "0.0": 0, "false": 0, "1": 1, "1.0": 1, "true": 1}


def _label_table(columns: Mapping[str, Sequence[Any]], sheet: Sheet) -> Indices:
    """Return the (n, K) table of 0 and 1 that several columns of labels hold."""
    table = np.empty((len(sheet.X), len(columns)), dtype=np.intp)
    for k, (name, words) in enumerate(columns.items()):
        for i, word in enumerate(words):
            found = _LABEL.get(str(word).strip().lower())
            if word is None or not str(word).strip() or sheet.cells.is_missing(str(word)):
                raise PsephosError(
                    f"the label {shown(name)} is missing in {sheet.place(i)}: write 0 or 1, or "
                    "leave the row out."
                )
            if found is None:
                raise PsephosError(
                    f"the label {shown(name)} is {shown(str(word), CELL)} in {sheet.place(i)}: of "
                    "several targets each is a column of 0 and 1 (or false and true), whether the "
                    "case has the label. Name a column of classes or numbers alone. (Time to event "
                    "is not offered: scikit-survival does that.)"
                )
            table[i, k] = found
    return table


def _encode(
    sheet: Sheet, roles: _Roles, notes: list[str], wrong: Complaints
) -> dict[int, tuple[str, ...]]:
    """Write the codes of words into the table, and return the levels of each column of words."""
    names = sheet.header.names
    categories: dict[int, tuple[str, ...]] = {}
    for k, j in enumerate(sheet.choice.columns[: sheet.X.shape[1]]):
        if j not in sheet.words:
            continue
        words, numbers = _cells_or_none(sheet.words[j], sheet), None
        with wrong.gather():
            if names[j] not in roles.categorical:
                numbers = _numbers_written(names[j], words, sheet, k, notes)
            if numbers is not None:
                sheet.X[:, k] = numbers
            else:
                sheet.X[:, k], categories[k] = coded(words)
    with wrong.gather():
        refuse_farthest(sheet.X, [names[j] for j in sheet.choice.columns], sheet.place)
    return categories


def _numbers_written(
    name: str, words: Sequence[Any], sheet: Sheet, k: int, notes: list[str]
) -> list[float] | None:
    """Return a column's numbers if all are in one other form; refuse what cannot be categories."""
    given = with_words(sheet.X[:, k], words)
    read = [sheet.cells.number(w) if isinstance(w, str) else w for w in given]
    odd = [w if v is None else None for w, v in zip(words, read, strict=True)]
    if None not in read:
        return [math.nan if v is None else v for v in read]
    found = in_one_form(name, read, odd, sheet.cells, notes)
    if found is None:
        holds_words(name, odd, sum(v is not None and v == v for v in read), sheet.place)
    return found


def _cells_or_none(words: Sequence[Cell], sheet: Sheet) -> list[Any]:
    """Return cells as written, None where missing."""
    gone = sheet.cells.is_missing
    return [None if w is None or (isinstance(w, str) and gone(w)) else w for w in words]


def _per_row(
    apart: dict[str, list[Any]], flag: str, name: str | None, sheet: Sheet, wrong: Complaints
) -> Array | None:
    if name is None:
        return None
    words = _cells_or_none(apart[flag], sheet)
    empty = [i for i, word in enumerate(words) if word is None]
    with wrong.gather():
        if empty:
            more = f" and {len(empty) - 1} more" if len(empty) > 1 else ""
            raise PsephosError(
                f"the {flag.removeprefix('--')} column {shown(name)} is empty in "
                f"{sheet.place(empty[0])}{more}: fill it in, or remove the row."
            )
    return word_array(["" if word is None else word for word in words])


# ------------------------------------------------------------------- npz
def _choose_arrays(header: Header, roles: _Roles) -> ColumnChoice:
    names = header.names
    refuse_duplicates(names)
    for flag, wanted in (("--drop", roles.drop), ("--categorical", roles.categorical)):
        for one in wanted:
            if one not in (roles.target or ("y",)) or flag == "--drop":
                _known(one, flag, names, header.file)
    columns = [j for j, one in enumerate(names) if one not in roles.drop]
    if not columns:
        raise PsephosError(f"{header.file!r} has no column left: nothing is left to learn from.")
    return ColumnChoice(columns, [j for j in columns if names[j] in roles.categorical])


def _from_arrays(sheet: Sheet, roles: _Roles, dataset: str) -> DataTable:
    wrong = Complaints()
    common = _common(sheet, roles, dataset, wrong)
    wrong.refuse()
    partial = None
    if roles.partly:
        named = [(roles.target or ("y",))[0], *([roles.truth] if roles.truth else [])]
        flags = zip(named, ("--target", "--truth"), strict=False)
        found = [(one, _array(sheet, one, flag)) for one, flag in flags]
        cells = [array_words(*one, sheet.header, roles.unlabeled) for one in found]
        check_mark(roles.unlabeled, plain_words(found[0][1]), named[0])
        labels = ()
        partial, y = partly_written(cells, roles, named[0], sheet)
    else:
        labels, y = _npz_labels(sheet, roles)
    ids = None if roles.id is None else _array(sheet, roles.id, "--id")
    groups, cohorts = (
        None if one is None else _array(sheet, one, flag).astype(str)
        for one, flag in ((roles.group, "--group"), (roles.leave_out[0], "--leave-out"))
    )
    target = together(labels or roles.target or ("y",))
    return DataTable(
        **common, y=y, labels=labels, target_name=target, groups=groups, partial=partial,
        ids=None if ids is None else ids.astype(str),
        cohorts=Cohorts.of(cohorts, *roles.leave_out),
    )  # fmt: skip


def _npz_labels(sheet: Sheet, roles: _Roles) -> tuple[tuple[str, ...], Array]:
    """Return the names of several labels (or none) and the labels of an npz file."""
    arrays, file = sheet.header.arrays, sheet.header.file
    targets, n = roles.target, len(sheet.X)
    if roles.n_labels is not None:
        raise PsephosError(
            f"{file!r} is an npz file, whose labels are the array y or the table Y (n, K), and not "
            "among its columns: leave --labels out."
        )
    _refuse_label_names(arrays, targets, file)
    if len(targets) > 1:
        refuse_duplicates(targets)
        columns = {name: _array(sheet, name, "--target").tolist() for name in targets}
        return targets, _label_table(columns, sheet)
    name = targets[0] if targets else ("y" if "y" in arrays or "Y" not in arrays else "Y")
    table = arrays.get(name)
    if name == "y" and table is not None and table.shape == (n, 1):
        table = cast("Any", arrays)[name] = table[:, 0]  # one label a row, written as a column
    if table is None or table.ndim != 2:
        return (), _labels(sheet, name, roles)
    given = arrays.get("label_names")
    names = [f"label {k}" for k in range(table.shape[1])]
    if given is not None and given.shape == (table.shape[1],):
        names = [str(one) for one in given.tolist()]
    elif given is not None:
        raise PsephosError(
            f"'label_names' of {file!r} names {given.size} labels, and {name!r} has "
            f"{table.shape[1]} columns."
        )
    if len(table) != n or not table.shape[1]:
        raise PsephosError(f"{name!r} of {file!r} has shape {table.shape} for {n} rows of X.")
    refuse_duplicates(names)
    columns = {one: table[:, k].tolist() for k, one in enumerate(names)}
    Y = _label_table(columns, sheet)
    return (tuple(names), Y) if len(names) > 1 else ((), Y[:, 0])


def _refuse_label_names(arrays: Mapping[str, Array], targets: Sequence[str], file: str) -> None:
    """Raise PsephosError if a target is no array, and the labels are those of a table Y."""
    strange = [name for name in targets if name not in arrays]
    table = arrays.get("Y")
    if strange and table is not None and table.ndim == 2:
        raise PsephosError(
            f"{file!r} has no array {strange[0]!r} (--target): its table Y holds the labels, "
            f"{table.shape[1]} of them, as its columns. Leave --target out."
        )


def _array(sheet: Sheet, key: str, flag: str) -> Array:
    """Return an array of one value a row, or say what the option should name."""
    arrays, n, file = sheet.header.arrays, len(sheet.X), sheet.header.file
    rows = [str(name) for name, array in arrays.items() if array.shape == (n,)]
    if key in rows:
        check_values(arrays[key], key, file)
        return arrays[key]
    if key in arrays and arrays[key].ndim > 1:
        raise PsephosError(
            f"the array {key!r} of {file!r} has shape {arrays[key].shape}: {flag} is one value a "
            f"row, ({n},)."
        )
    raise PsephosError(
        f"{file!r} has no array {key!r} with one value per row ({flag}); {suggest(key, rows)}"
    )


def _labels(sheet: Sheet, target: str, roles: _Roles) -> NDArray[Any]:
    y = _array(sheet, target, "--target")
    classes = sheet.header.arrays.get("classes")
    if target == "y" and classes is not None and y.dtype.kind != "U":
        y = classes[class_codes(y, len(classes), sheet.header.file)]
    values: list[Any] = y.tolist()
    if y.dtype.kind == "U":
        values = _cells_or_none(values, sheet)
    return read_target(values, target, sheet.place, task=roles.task)
