"""psephos table: what is understood of a table, before anything is learnt from it."""

import shlex
from pathlib import Path
from typing import TYPE_CHECKING

import click

from psephos._errors import Complaints, PsephosError
from psephos.cli.cautions import options_of, read_whole
from psephos.cli.options import partial_options, table_options
from psephos.cli.words import repeated, show
from psephos.files.cells import Cells
from psephos.files.formats import Reading

if TYPE_CHECKING:
    from psephos.protocol import DataTable

_CLASSES, _SHOWN = 12, 8  # values of a column that may be a target, and such columns
# Cautions that end no command, and say what to leave out.
_ADVISED = ("FD001", "FD007", "FD009", "FD010")


@click.command(short_help="Print what is understood of a table, and the next command.")
@table_options
@partial_options
@click.pass_context
def table(context: click.Context, **_: object) -> None:
    """Print what is understood of TABLE, and the next command; nothing is fitted.

    Rows, columns by kind, missing values, what names the rows, and how the file was read. With
    --target its cautions (docs/cautions.md); without, which columns may be one.
    """
    import numpy as np

    from psephos.estimator.columns import stored
    from psephos.protocol.tables.copies import copies_of
    from psephos.protocol.tables.files import look_at

    roles = dict(context.params)
    path: Path = roles.pop("table")
    wrong, last = Complaints(), list[str]()
    if roles["target"] or roles["n_labels"]:
        data = read_whole(path, roles, "compare")
        show(data.contents())
    else:
        if roles["classes"]:
            raise PsephosError("--classes names classes of the target: name it with --target.")
        how = Reading(**{name: roles[name] for name in Reading.__annotations__ if name in roles})
        form = [roles[name] for name in ("missing", "decimal", "thousands", "keep_word")]
        of_columns = {name: roles[name] for name in ("group", "drop", "categorical")}
        data, few, wrong = look_at(path, Cells().but(*form), how, most=_CLASSES, **of_columns)
        show(data.contents())
        show(f"target   columns of 2 to {_CLASSES} different values: {_shown_first(few, data)}")
        last = ["--target", "COLUMN"]
    copies = copies_of(data)  # are kept together by compare
    found = (copies.together(data) if copies else data).cautions()
    if not wrong.found:  # a column that was not read has no values yet
        show(f"missing  {int(np.isnan(stored(data.X)).sum())} cells")
    if data.ids is None:
        show("id       none: rows are named by their lines (--id names a column)")
    for note in data.notes:
        show(f"note     {note}")
    for error in wrong.found[:_SHOWN]:
        show(f"wrong    {error}")
    if len(wrong.found) > _SHOWN:
        show(f"wrong    {len(wrong.found) - _SHOWN} more of the kind")
    for one in found:
        by = " and ".join(one.rule.refused)
        show(f"caution  {one}{f' Refused by {by}.' if by else ''}")
    settled = [one for one in found if one.rule.refused or one.code in _ADVISED]
    pairs = [pair for error in wrong.found for pair in error.options]
    pairs += options_of(settled, ids=data.ids is not None)
    words: list[str] = context.find_root().meta["words"]
    at = words.index("table")
    given = [*repeated(words[at + 1 :], pairs), *last]
    left = [one.code for one in found.refused("compare") if not one.remedy]
    first = f"when {', '.join(left)} is settled: " if left else ""
    show(f"next     {first}{shlex.join(['psephos', *words[:at], 'compare', *given])}")


def _shown_first(few: list[str], data: "DataTable") -> str:
    """Return the columns that may be a target; of many those of words, and how many of numbers."""
    from psephos.vote.names import listed

    known = {data.names[j] for j in data.categories}
    words = [name for name in few if name in known]
    if not words or len(few) <= _SHOWN:
        return listed(few, _SHOWN) or "no column"
    return f"{listed(words, _SHOWN)}, and {len(few) - len(words)} of numbers"
