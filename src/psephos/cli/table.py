"""psephos table: how a table is read, before a model is fitted."""

import shlex
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from psephos._errors import Complaints, PsephosError, sentences
from psephos.cli.cautions import ADVISED, options_of, read_whole, with_remedies
from psephos.cli.options import partial_options, table_options
from psephos.cli.words import repeated, show
from psephos.files.cells import Cells
from psephos.files.formats import Reading

if TYPE_CHECKING:
    from psephos.cautions import Caution
    from psephos.protocol import DataTable

# the most values of a column that may be a target, such columns shown, and errors shown
_CLASSES, _SHOWN, _WRONG = 12, 8, 20
_CODED = 40  # more columns of few whole numbers are counts, or genotypes
_FOLDS = 5  # the default of compare


@click.command(short_help="Print how a table is read, and the next command.")
@table_options
@partial_options
@click.pass_context
def table(context: click.Context, **_: object) -> None:
    """Print how TABLE is read, and the next command; nothing is fitted.

    Rows, columns by type, missing values, the names of rows, and notes on the file. With --target
    its cautions (docs/cautions.md); without, which columns may be targets. The next command has
    options that resolve the errors and cautions.
    """
    roles = dict(context.params)
    path: Path = roles.pop("table")
    wrong, known, whole = Complaints(), dict[tuple[str, str], None](), True
    last = list[str]()
    if roles["target"] or roles["n_labels"]:
        data = read_whole(path, roles, "compare")
        show(data.contents())
        found = _cautions(data)
    else:
        if roles["classes"]:
            raise PsephosError("--classes names classes of the target: name it with --target.")
        data, few, whole = _looked_at(path, roles, wrong, known)
        found = _cautions(data)
        total = [one for one in found if one.code == "FD033"]
        if total and roles["skip_last"] is None:
            with suppress(PsephosError):  # not every format takes it
                more = {**roles, "skip_last": 1}
                data, few, whole = _looked_at(path, more, wrong, known)
                found = [*total, *_cautions(data)]
        proposed = {f"{name} ({flag})": f"{name} (as proposed below)" for flag, name in known}
        data = replace(data, left_out=tuple(proposed.get(one, one) for one in data.left_out))
        show(data.contents())
        show(f"target   columns of 2 to {_CLASSES} different values: {_shown_first(few, data)}")
        elsewhere = not few and data.ids is not None and roles["labels_from"] is None
        last = ["--labels-from", "FILE"] * elsewhere
        last += ["--target", few[0] if few == [*data.names[-1:]] else "COLUMN"]
    for line in _columns(data) if whole else ():  # else a column was not read
        show(line)
    if data.ids is None:
        show("id       none: rows are named by their lines (--id names a column)")
    for note in data.notes:
        show(f"note     {note}")
    for line in _shown_wrong(wrong.found):
        show(f"wrong    {line}")
    for one in found:
        by = " and ".join(one.rule.refused)
        show(f"caution  {one}{f' Stops {by}.' if by else ''}")
    settled = [one for one in found if one.rule.refused or one.code in ADVISED]
    pairs = [*known, *options_of(settled, ids=data.ids is not None)]
    if (n_folds := _fewest_units(data, pairs, last)) < _FOLDS:
        pairs.append(("--folds", str(n_folds)))
    words: list[str] = context.find_root().meta["words"]
    at = words.index("table")
    given = ["compare", *repeated(words[at + 1 :], pairs), *last]
    grouped = data.groups is not None or "--group" in dict(pairs)
    left, group = _left(settled, grouped=grouped)
    first = f"after correcting {', '.join(left)}: " if left else ""
    show(f"next     {first}{shlex.join(['psephos', *words[:at], *given, *group])}")


def _columns(data: "DataTable") -> list[str]:
    """Return a line on missing cells, and one on columns of 3 to 9 whole numbers up to 99."""
    import numpy as np
    from scipy.sparse import issparse

    from psephos.estimator.columns import stored
    from psephos.files.names import listed

    lines = [f"missing  {int(np.isnan(stored(data.X)).sum())} cells"]
    if issparse(data.X):  # counts, mostly 0
        return lines
    X = np.asarray(data.X)
    least, most = (end.reduce(X, axis=0) for end in (np.fmin, np.fmax))
    inside = np.setdiff1d(np.flatnonzero((least >= 0) & (most <= 99)), list(data.categories))
    values = [(int(j), np.unique(X[~np.isnan(X[:, j]), j])) for j in inside]
    few = [j for j, own in values if 3 <= len(own) <= 9 and (np.trunc(own) == own).all()]
    words = "whole numbers of few values; if they stand for names, not amounts or ranks, list them"
    names = listed([data.names[j] for j in few], _SHOWN)
    return [*lines, *[f"codes    {names}: {words} with --categorical"] * (0 < len(few) <= _CODED)]


def _left(settled: "list[Caution]", *, grouped: bool) -> tuple[list[str], list[str]]:
    """Return the cautions to correct first, and the option to complete if rows are replicates."""
    left = [one.code for one in settled if "compare" in one.rule.refused and not one.remedy]
    if grouped or "FD020" not in left:
        return left, []
    return [code for code in left if code != "FD020"], ["--group", "COLUMN"]


def _fewest_units(data: "DataTable", pairs: list[tuple[str, str]], last: list[str]) -> int:
    """Return the most folds that groups, and classes unless `last` names them, allow; 2 to 5."""
    import numpy as np

    from psephos.estimator.columns import column_of

    group = dict(pairs).get("--group", "")
    of_rows = data.groups
    if group in data.names:
        of_rows = column_of(data.X, data.names.index(group))
    counts = [] if of_rows is None else [len(np.unique(of_rows))]
    counts += [] if last else data.class_counts.tolist()
    return max(2, min([_FOLDS, *counts]))


def _cautions(data: "DataTable") -> "list[Caution]":
    """Return the cautions on a table with copies of rows kept together, as in compare."""
    from psephos.protocol.tables.copies import copies_of

    copies = copies_of(data)
    return list((copies.together(data) if copies else data).cautions())


def _looked_at(
    path: Path, roles: dict[str, Any], wrong: Complaints, known: dict[tuple[str, str], None]
) -> "tuple[DataTable, list[str], bool]":
    """Return a table, the columns that may be its target, and whether no errors are left.

    The table is read again with the remedies of errors, as long as these resolve any.
    """
    from psephos.protocol.tables.files import look_at

    while True:
        how = Reading(**{name: roles[name] for name in Reading.__annotations__ if name in roles})
        form = [roles[name] for name in ("missing", "decimal", "thousands", "keep_word", "limits")]
        of_columns = {name: roles[name] for name in ("group", "drop", "categorical")}
        try:
            data, few, found = look_at(path, Cells().but(*form), how, most=_CLASSES, **of_columns)
        except PsephosError as error:
            if not with_remedies(roles, error.parts or (error,), known, wrong):
                wrong.refuse()
        else:
            if not with_remedies(roles, found.found, known, wrong):
                return data, few, not found.found


def _shown_wrong(errors: list[PsephosError]) -> list[str]:
    """Return the messages of the first errors."""
    lines = sentences(errors)
    rest = len(lines) - _WRONG
    return lines[:_WRONG] + [f"{rest} more of the kind"] * (rest > 0)


def _shown_first(few: list[str], data: "DataTable") -> str:
    """Return the columns that may be a target; of many only those of words, and a count."""
    from psephos.files.names import listed

    known = {data.names[j] for j in data.categories}
    words = [name for name in few if name in known]
    if not words or len(few) <= _SHOWN:
        return (
            listed(few, _SHOWN) or "no column (labels elsewhere: --labels-from FILE; a number: any)"
        )
    return f"{listed(words, _SHOWN)}, and {len(few) - len(words)} of numbers"
