"""`read_table`: tables in files, with the roles of their columns."""

import math
import re
from collections.abc import Iterable, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any, cast

import numpy as np

from psephos._errors import Complaints, PsephosError, PsephosTypeError
from psephos.datasets.demo import first_order_products
from psephos.estimator.columns import dense_columns
from psephos.files.arff import labels_declared
from psephos.files.cases import TIMES
from psephos.files.cells import Cells, columns_called
from psephos.files.formats import Reading, read_sheet
from psephos.files.layout import across_hint
from psephos.files.names import plural
from psephos.files.near import quoted, shown, suggest
from psephos.files.sheet import ColumnChoice, Sheet
from psephos.files.text import Header
from psephos.protocol.tables.joining import with_classes
from psephos.protocol.tables.labels import (
    check_mark,
    label_word,
    partly_written,
    read_answers,
    refuse_numbers,
    task_given,
    together,
)
from psephos.protocol.tables.requirements import refuse_duplicates
from psephos.protocol.tables.roles import (
    Classes,
    Cohorts,
    Roles,
    cohorts_named,
    common_parts,
    group_named,
    label_table,
    labels_in,
    per_row,
    with_answers,
    with_row_names,
    without_empty,
    without_total,
)
from psephos.protocol.tables.table import DataTable

_MOST, _NAME = 2_000_000_000, 100  # maximum bytes of products; bytes of the name of each


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
    limits: str | None = None,
    separator: str | None = None,
    sheet: str | int | None = None,
    encoding: str | None = None,
    transpose: bool | None = None,
    labels_from: str | Path | None = None,
    duplicates: str | None = None,
    skip_last: int | None = None,
    keep_word: Sequence[str] = (),
    dataset: str | None = None,
    unlabeled: Any = None,
    truth: str | None = None,
    recorded_class: Any = None,
    prior: float | None = None,
    positive: Any = None,
    task: str | None = None,
    leave_out: str | None = None,
    views: str | Path | None = None,
    interactions: bool = False,
    classes: Classes = (),
) -> DataTable:
    r"""Read a table from a file.

    Parameters
    ----------
    path : str or Path
        A text file whose first line names the columns (.csv, .tsv, .txt, .tab, .data; also BIOM's
        tsv, and a series matrix of GEO with the phenotypes of its header; its titles, sources and
        descriptions can only be targets); .arff (dense or sparse rows); .parquet, .feather; a sheet
        of .xlsx, .xls (each merged cell has the value) or .ods; .h5ad (X and the columns of obs);
        .mtx with the files of its names beside it; an array .npy; or .npz with the arrays X (n, p)
        of numbers or words and y (n,), optionally classes (the label of each code of y) and
        feature_names (p,; by default 'column 0', 'column 1', ...); or Y (n, K) of 0 and 1 instead
        of y, optionally with label_names (K,). Text, .arff and .mtx may be compressed as .gz, and
        any format may be the only file of a .zip, .bz2 or .xz. Pickled objects are never read.
    target : str or sequence of str, optional
        The column of the labels. Needed for text files; for npz the default is the array y, else
        the table Y. Several names: columns of 0 and 1 (or false and true), one per label, if rows
        may have several (multi-label).
    n_labels : int, optional
        Instead of `target`: the number of last columns, not counting `id` and `group`, that are
        such labels, as in Mulan's files. MEKA's ARFF files declare them (``-C 6`` in their
        @relation: the first 6; ``-C -6``: the last 6).
    id : str, optional
        The column (or array of the npz file) that names each row; of a transposed table, the name
        to give to its first line. By default a first column without a name, as R and pandas write
        row names.
    group : str, optional
        The column (or array) of groups: rows that belong together. For words such as P000_V1,
        ``person=*_V*`` makes a part the group: the text that the first ``*`` matches.
    drop : sequence of str, default=()
        Columns to leave out, by name or by a pattern such as ``Q10*``, which matches columns
        without another role.
    categorical : sequence of str, default=()
        Columns (or patterns) whose numbers are categories. Text columns are always categorical.
        Name the target to accept its values as classes.
    missing : sequence of str, optional
        Words that mean missing, besides those of `MISSING` and the empty cell. COLUMN=WORD applies
        to one column, or to those whose names match a pattern: ``'q*=9'``.
    decimal : {'.', ','}, optional
        The decimal mark; by default a point. In the file of `labels_from` the other is recognised.
    thousands : str, optional
        The mark between groups of three digits; by default no mark is expected.
    limits : {'half', 'limit'}, optional
        How limits of detection (<0.5, >60) among numbers are read: half of a lower limit and an
        upper limit itself, or the limits themselves. By default they are errors.
    separator : str, optional
        By default a tab for .tsv, else the most frequent of comma, semicolon and tab in the first
        line; blanks if it has none of them.
    sheet : str or int, optional
        The name of a sheet of a workbook, or its number from 1. By default the only one that is not
        empty, or whose line of names has the columns named here.
    encoding : str, optional
        Encoding of a text file; by default UTF-8, UTF-16 with a byte order mark, else Windows-1252.
    transpose : bool, optional
        Whether features are in rows, and cases in columns. By default if the format implies it, or
        if the columns named here, or the ids of `labels_from`, are found only there.
    labels_from : str or Path, optional
        Another table, whose columns are joined to this one by ids: the column `id`, or the first
        column of each.
    duplicates : {'number', 'mean', 'first'}, optional
        How columns of the same name are treated: numbered (name.2), averaged, or the first kept;
        columns without a name become 'column 3' or the like. By default both are errors.
    skip_last : int, optional
        Number of rows at the end of a text file or sheet that are not cases, such as totals.
    keep_word : sequence of str, default=()
        Words that mean missing by default, but are values here.
    dataset : str, optional
        The name of the table in results; by default that of the file.
    unlabeled, truth, recorded_class, prior : optional
        For partly recorded labels; `truth` is the column of the true classes, without missing
        values. See `psephos.protocol.compare`. With task='numbers', `unlabeled` leaves out the rows
        of a text file or workbook in which the target has this value or is missing.
    positive : label, optional
        The positive class of measures and page.
    task : {'classes', 'numbers'}, optional
        The type of the target. By default numbers if they clearly are a measurement: not whole,
        with more than 20 different values or more than half as many as rows; or whole, with more
        than 100 or half as many as rows, and too few rows per value for classes. In doubt it is an
        error that requests `task`.
    leave_out : str, optional
        For `psephos.protocol.compare`: the column of cohorts (clinics, batches), each of which is
        the test part once; or COLUMN=VALUE for a single test part. Models do not read it.
    views : str or Path, optional
        For `MultiViewClassifier` in `compare`: a table of two columns, the names of columns, or
        patterns such as ``gene_*``, and their views. That model does not read columns without a
        view.
    interactions : bool, default=False
        Whether the products of all pairs of numeric columns, named ``a × b``, are added.
    classes : dict, or sequence of str 'OLD=NEW', default=()
        Classes that are joined or renamed. NEW None ('OLD=') leaves out their rows, and OLD None
        ('=') those without a label. OLD may be several ('benign,borderline=negative'), or * for all
        classes that are neither OLD nor NEW of another entry.

    Returns
    -------
    table : DataTable

    Raises
    ------
    PsephosError
        One sentence naming column and line: a missing file or column, a repeated column name, a
        row of another length, text in a numeric column, numbers in another form (5,1; <0.1; 20-30)
        or with several units, an infinite value, an empty table, a target with missing values or
        one class, repeated ids. Several errors of columns and cells are lines of one message.

    Notes
    -----
    Labels are whole numbers if every one is written as such (without leading zeros or a point,
    within 64 bits), else the words as written: 01 and 1 are two classes. A nominal column of an
    ARFF file whose declared values are all numbers, such as {0,1}, is read as numbers, unless
    `categorical` names it; with one that is not a number ({2,3,5more}) it is categorical. So is a
    column that a parquet, feather or h5ad file declares categorical (a pandas Categorical, a factor
    of R), even if all values are numbers (a note reports this); as a target it holds classes,
    unless `task` is numbers. Categories match by value: 1 and 1.0 are one level, and TRUE is the
    level True. Columns of truth values are categorical; in the single array X of an npz or h5ad
    file they are the numbers 1 and 0. Decimal and thousands marks apply to text only, not to cells
    that hold numbers. Rows are converted as they are read, so that memory stays at about twice the
    table's size in float64.

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
    lists = {"missing": missing, "keep_word": keep_word, "drop": drop, "categorical": categorical}
    missing, keep_word, drop, categorical = (_words(name, v) for name, v in lists.items())
    for name, word in {"id": id, "group": group, "encoding": encoding}.items():
        _words(name, word, one=True)
    if not path or not isinstance(cast("object", path), str | Path):
        raise PsephosTypeError(f"path must be the path of a file; got {path!r}.")
    file = Path(path)
    bare = re.sub(r"\.(gz|zip|bz2|xz)$", "", file.name, flags=re.I)
    name = dataset or Path(bare).stem or file.name
    targets = tuple(_words("target", target))
    if n_labels is not None and targets:
        raise PsephosError("--labels and --target both name the columns of labels: give one.")
    if n_labels is not None and n_labels < 1:
        raise PsephosError(f"--labels must be a number of columns, at least 1; got {n_labels}.")
    roles = Roles(
        targets, n_labels, id, group, tuple(drop), tuple(categorical), truth,
        label_word(unlabeled), label_word(recorded_class), prior, label_word(positive),
        task_given(task, insisted=any(one in categorical for one in targets or ("y",))),
        leave_out=cohorts_named(leave_out), classes=classes,
    )  # fmt: skip
    if roles.leave_out[0] in targets:
        raise PsephosError(
            f"{shown(str(roles.leave_out[0]))} is the target (--target), and each test part needs "
            "several of its values: --leave-out must be a cohort, such as a clinic or a batch."
        )
    if roles.partly or n_labels is not None or len(targets) > 1:
        refuse_numbers(task, f"{together(targets) or 'the labels'} and --task numbers")
    if roles.partly and (n_labels is not None or len(targets) > 1):
        raise PsephosError(
            "--unlabeled, --truth, --recorded-class and --prior need a single target of two "
            "classes: name one."
        )
    labels = None if labels_from is None else Path(labels_from)
    part = None if sheet is None else str(sheet)
    how = Reading(separator, part, encoding, transpose, labels, duplicates, skip_last, id)
    cells = Cells().but(missing, decimal, thousands, keep_word, limits)
    how = replace(how, columns=frozenset(name for _, name in roles.apart))
    found = read_sheet(file, partial(_choose, roles=roles), cells, how)
    table = _read(found, _with_labels(without_empty(roles, found), found.header), name)
    table = table if views is None else with_views(table, Path(views))
    return with_interactions(table) if interactions else table


def _words(name: str, value: Any, *, one: bool = False) -> list[str]:
    """Return an argument as a list of words; raise PsephosTypeError if it is not."""
    found: Any = [value] if isinstance(value, str) else [] if value is None else value
    listed: list[Any] | None = None
    if isinstance(found, Iterable) and not (one and found is value):
        listed = list(cast("Iterable[Any]", found))
    if listed is None or not all(isinstance(word, str) for word in listed):
        raise PsephosTypeError(
            f"{name} must be {'a word' if one else 'a word, or a list of words'}; got {value!r}."
        )
    return listed


def with_interactions(table: DataTable) -> DataTable:
    """Return a table with the products of all pairs of its numeric columns, as its last columns."""
    n, p = table.X.shape
    numeric = [j for j in range(p) if j not in table.categories]
    q = len(numeric)
    m, size = q * (q - 1) // 2, 8 * n + _NAME
    if not m:
        raise PsephosError(f"--interactions multiplies numeric columns, and {table.dataset!r} has "
                           f"{q}: leave it out.")  # fmt: skip
    if odd := [name for name in table.names if TIMES.strip() in name.split()]:
        raise PsephosError(
            f"the name of column {shown(odd[0])} has the word ×, which separates the two names of "
            "a product (--interactions): rename it, or leave it out with --drop."
        )
    if m * size > _MOST:
        most = (1 + math.isqrt(1 + 8 * (_MOST // size))) // 2
        raise PsephosError(
            f"the {q:,} numeric columns of {table.dataset!r} have {m:,} products of two "
            f"(--interactions), {m * size / 1e6:,.0f} MB for {plural(n, 'row')}; the limit is "
            f"{_MOST / 1e6:,.0f} MB: leave columns out with --drop until {most:,} numeric ones "
            "are left."
        )
    single = dense_columns(table.X)
    both, made = first_order_products(single[:, numeric], [table.names[j] for j in numeric])
    X = both if q == p else np.hstack([single, both[:, q:]])
    note = f"{plural(m, 'column')} of products of two ({made[q]}) added to {p}."
    names = (*table.names, *made[q:])
    return replace(table, X=X, names=names, n_products=m, notes=(*table.notes, note))


def with_views(table: DataTable, path: Path) -> DataTable:
    """Return a table with the views of a file of columns (or patterns) and their views."""

    def both(header: Header) -> ColumnChoice:
        if len(header.names) != 2 or header.names[0] in {*table.names} - {"column"}:
            raise PsephosError(
                f"{path.name!r} (--views) must be a table of two columns below a line of names: a "
                "column or a pattern such as gene_*, and its view."
            )
        return ColumnChoice((), (0, 1))

    sheet = read_sheet(path, both, None, Reading(transpose=False))
    wrong = sheet.wrong
    view_of: dict[str, str] = {}
    for i, (one, view) in enumerate(zip(sheet.words[0], sheet.words[1], strict=True)):
        found = [table.names[j] for j in columns_called(one, table.names)]
        with wrong.gather():
            if not (found and view):
                raise PsephosError(
                    f"{sheet.place(i)} of {path.name!r} (--views) names {shown(one)}, which is not "
                    f"a feature column; {suggest(one, table.names)}"
                    if view else f"{sheet.place(i)} of {path.name!r} (--views) names no view."
                )  # fmt: skip
            twice = [name for name in found if view_of.setdefault(name, view) != view]
            if twice:
                raise PsephosError(
                    f"{sheet.place(i)} of {path.name!r} (--views): the column {shown(twice[0])} is "
                    f"in the views {shown(view_of[twice[0]])} and {shown(view)}: name one."
                )
    wrong.refuse()
    views = tuple((one, tuple(name for name in table.names if view_of.get(name) == one))
                  for one in dict.fromkeys(view_of.values()))  # fmt: skip
    note = "views: " + ", ".join(f"{one} ({plural(len(own), 'column')})" for one, own in views)
    rest = [name for name in table.names if name not in view_of]
    note += f"; without a view, and not read by multi-view: {quoted(rest)}." if rest else "."
    return replace(table, views=views, notes=(*table.notes, note))


def look_at(
    path: Path, cells: Cells, how: Reading, *, group: str | None, drop: Sequence[str],
    categorical: Sequence[str], most: int,
) -> tuple[DataTable, list[str], Complaints]:  # fmt: skip
    """Return a table without a target, the columns that may be the target, and the errors.

    Such columns have at most `most` different values, and at most half as many as rows.
    """
    roles = Roles((), None, how.id, group, tuple(drop), tuple(categorical), known=False)
    named, first = [how.id, group, *drop, *categorical], list[PsephosError]()

    def choose(header: Header) -> ColumnChoice:
        for error in first:  # it does not depend on whether the table is transposed
            raise error
        try:
            return _choose(header, roles)
        except PsephosError as error:
            first.extend(() if any(named) else (error,))
            raise

    how = replace(how, columns=frozenset(name for _, name in roles.apart))
    sheet = read_sheet(path, choose, cells, how)
    roles, names = without_empty(roles, sheet), sheet.header.names
    wrong, n = sheet.wrong, len(sheet.X)
    common = common_parts(sheet, roles, path.stem, wrong)
    counts = [len(np.unique(x[~np.isnan(x)])) for x in sheet.X.T]
    few = [names[j] for j, k in zip(sheet.choice.columns, counts, strict=False)
           if 1 < k <= min(most, n // 2)]  # fmt: skip
    few += [one for one in sorted(sheet.header.beside)
            if 1 < len({*sheet.words.get(names.index(one), ())} - {""}) <= most]  # fmt: skip
    apart = dict(roles.apart)
    words = {flag: sheet.words[names.index(name)] for flag, name in apart.items()}
    ids, groups = (per_row(words, f, apart.get(f), sheet, wrong) for f in ("--id", "--group"))
    column = sheet.words.get(0, [None])
    if not few and how.transpose is None and None not in column and sheet.lines is not None:
        for hint in across_hint(column, len(names), cells):
            wrong.add(PsephosError(hint))
    y, lines = np.arange(n, dtype=np.float64), sheet.lines
    return DataTable(**common, y=y, target_name="", ids=ids, groups=groups, lines=lines), few, wrong


# ------------------------------------------------------------------- text
def _with_labels(roles: Roles, header: Header) -> Roles:
    """Return the roles with the columns of labels that --labels or MEKA's @relation declares."""
    n = roles.n_labels
    if header.of_arrays and n is None and roles.known and len(roles.target) < 2:
        usual = "Y" if header.labels and "y" not in header.beside and not roles.partly else "y"
        target = (*roles.target, usual)[0]
        table = header.labels if target == "Y" else ()
        return replace(roles, target=table or (target,))
    apart = {name for _, name in roles.apart} | header.beside
    names = [name for name in header.names if name not in apart]
    if roles.target:
        return roles
    declared = -labels_declared(header.relation) if n is None else n
    if not declared:
        return roles
    if not abs(declared) < len(names):
        source = "--labels" if n is not None else "the @relation (-C)"
        raise PsephosError(
            f"{source} of {header.file!r} declares {abs(declared)} columns as labels, and it has "
            f"{len(names)} besides those of --id and --group: at least one must be left as a "
            "feature."
        )
    return replace(roles, target=tuple(names[-declared:] if declared > 0 else names[:-declared]))


def _choose(found: Header, roles: Roles) -> ColumnChoice:
    header, file = found.names, found.file
    wrong = Complaints()
    for j in [j for j, name in enumerate(header) if not name]:
        with wrong.gather():
            raise PsephosError(
                f"column {j + 1} of {file!r} has no name: name it in the first line, or have it "
                f"called 'column {j + 1}' (--duplicates number)."
            ).settled_by(("--duplicates", "number"))
    numbers = found.relation is None and not found.of_arrays and len(header) > 1
    if numbers and all(Cells().number(name) is not None for name in header):
        raise PsephosError(
            f"the first line of {file!r} holds numbers only: it must name the columns."
        )
    with wrong.gather():
        refuse_duplicates([name or f"column {j}" for j, name in enumerate(header, 1)])
    roles = _with_labels(with_row_names(roles, found), found)
    if not roles.target and roles.known:
        wrong.refuse()
        raise PsephosError(
            "no target is given: name the column of labels with --target (several: repeat it, or "
            f"give their number with --labels if they are the last); {suggest('', header)}"
        )
    twice = [name for k, name in enumerate(roles.target) if name in roles.target[:k]]
    if twice:
        raise PsephosError(f"--target names {shown(twice[0])} twice: name each label once.")
    apart = {name for _, name in roles.apart}
    wanted = [*roles.apart, *(("--drop", one) for one in roles.drop)]
    wanted += [("--categorical", one) for one in roles.categorical]
    for flag, one in wanted:
        with wrong.gather():
            _known(one, flag, found)
    wrong.refuse()
    _refuse_conflicts(roles)
    out = {*apart, *found.beside, *roles.drop}
    columns = [j for j, one in enumerate(header) if one not in out]
    if not columns:
        raise PsephosError(
            f"{file!r} has no column besides the target and those with another role: nothing is "
            "left to learn from."
        )
    beside = () if roles.known or found.of_arrays else found.beside
    words = (*apart, *roles.drop, *roles.categorical, *found.declared, *beside)
    left_out = {header.index(one) for one in roles.drop if one not in apart}
    return ColumnChoice(columns, sorted({header.index(one) for one in words}), sorted(left_out))


def _refuse_conflicts(roles: Roles) -> None:
    """Raise PsephosError if a column has two roles that exclude each other."""
    group, label = group_named(roles.group)[0], "a label" if len(roles.target) > 1 else "the target"
    kinds = dict.fromkeys(roles.categorical, "categorical") | {group: "the group"}
    kinds |= dict.fromkeys(roles.target, label)
    if both := [one for one in roles.drop if one in kinds]:
        raise PsephosError(
            f"{shown(both[0])} is both {kinds[both[0]]} and left out (--drop): choose one."
        )
    if group in roles.target:
        raise PsephosError(f"the group {shown(group)} is the target: name another (--group), or "
                           "none.")  # fmt: skip


def _known(name: str, flag: str, found: Header) -> None:
    names, file = found.names, found.file
    if found.of_arrays and flag not in ("--drop", "--categorical") and name not in names:
        raise PsephosError(
            f"{file!r} has no array {name!r} with one value per row ({flag}); "
            f"{suggest(name, sorted(found.beside))}"
        )
    if name not in names and set(name) & {*"*?["} and flag in ("--drop", "--categorical"):
        raise PsephosError(
            f"no column of {file!r} without another role matches {shown(name)} ({flag}); "
            f"{suggest('', names)}"
        ).of_column(name, flag)
    if name not in names:
        alone = f" (its first line names one column only: {shown(names[0])}; if that is several, "
        alone += "give the mark that separates them with --separator)"
        raise PsephosError(
            f"{file!r} has no column {shown(name)} ({flag}); {suggest(name, names)}"
            f"{alone if len(names) == 1 and flag == '--target' else ''}"
            f"{' If another file has it: --labels-from FILE.' if flag == '--target' else ''}"
        )


def _read(sheet: Sheet, roles: Roles, dataset: str) -> DataTable:
    names, wrong = sheet.header.names, sheet.wrong
    broken = bool(wrong.found)  # rows are absent, so that later errors may be consequences
    if len(roles.target) == 1:
        sheet = without_total(sheet, roles.target[0])
        if roles.task == "numbers" and roles.unlabeled is not None:
            sheet = with_answers(sheet, roles.target[0], roles.unlabeled)
    if broken and roles.classes:
        wrong.refuse()
    sheet, joined = with_classes(sheet, roles)
    common = common_parts(sheet, roles, dataset, wrong)
    apart = {flag: sheet.words[names.index(name)] for flag, name in roles.apart}
    labels: tuple[str, ...] = roles.target if len(roles.target) > 1 else ()
    target = together(roles.target)
    partial, y = None, np.empty(0)
    with wrong.gather():
        if labels:
            y = label_table({name: sheet.words[names.index(name)] for name in labels}, sheet)
        elif roles.partly:
            given = filter(None, (target, roles.truth))
            cells = [labels_in(one, sheet, roles.unlabeled) for one in given]
            check_mark(roles.unlabeled, [w for w in cells[0] if w is not None], target)
            partial, y = partly_written(cells, roles, target, sheet)
        else:
            values, notes = labels_in(target, sheet), list[str]()
            y = read_answers(values, target, sheet, sheet.place, roles.task, notes)
            common |= {"notes": (*common["notes"], *notes), "cells": sheet.cells}
    ids = per_row(apart, "--id", roles.id, sheet, wrong)
    groups = per_row(apart, "--group", roles.group, sheet, wrong)
    cohorts = per_row(apart, "--leave-out", roles.leave_out[0], sheet, wrong)
    parts = Cohorts.of(cohorts, *roles.leave_out)
    if broken or not len(y):
        wrong.refuse()
    rows: dict[str, Any] = {"ids": ids, "groups": groups, "lines": sheet.lines, "cohorts": parts}
    rows |= {"joined": joined, "labels": labels, "target_name": target, "partial": partial}
    return wrong.settled(lambda: DataTable(**common, y=y, **rows))
