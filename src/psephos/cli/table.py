"""psephos table: what is understood of a table, before anything is learnt from it."""

import shlex
from itertools import chain
from pathlib import Path

import click

from psephos.cli.cautions import options_of, read_whole
from psephos.cli.options import table_options
from psephos.cli.words import show
from psephos.files.cells import Cells
from psephos.files.formats import Reading, read_sheet

_CLASSES, _SHOWN = 12, 8  # values of a column that may be a target, and such columns
_ADVISED = ("FD001", "FD007")  # cautions that end no command, and say what to leave out


@click.command(short_help="Print what is understood of a table, and the next command.")
@table_options
@click.pass_context
def table(context: click.Context, **_: object) -> None:
    """Print what is understood of TABLE, and the next command; nothing is fitted.

    Rows, columns by kind, missing values, what names the rows, and how the file was read. With
    --target its cautions (docs/cautions.md); without, which columns may be one.
    """
    import numpy as np

    from psephos.cautions import Cautions
    from psephos.estimator.columns import stored
    from psephos.protocol.tables.copies import copies_of

    roles = dict(context.params)
    path: Path = roles.pop("table")
    found = Cautions()
    if roles["target"] or roles["n_labels"]:
        data = read_whole(path, roles, "compare")
        show(data.contents())
        missing, named, notes, last = int(np.isnan(stored(data.X)).sum()), data.ids, data.notes, []
        copies = copies_of(data)  # are kept together by compare
        found = (copies.together(data) if copies else data).cautions()
    else:
        how = Reading(**{name: roles[name] for name in Reading.__annotations__ if name in roles})
        form = [roles[name] for name in ("missing", "decimal", "thousands", "keep_word")]
        missing, named, notes = _untargeted(path, Cells().but(*form), how)
        last = ["--target", "COLUMN"]
    show(f"missing  {missing} cells")
    if named is None:
        show("id       none: rows are named by their lines (--id names a column)")
    for note in notes:
        show(f"note     {note}")
    for one in found:
        by = " and ".join(one.rule.refused)
        show(f"caution  {one}{f' Refused by {by}.' if by else ''}")
    settled = [one for one in found if one.rule.refused or one.code in _ADVISED]
    options = chain.from_iterable(options_of(settled, ids=named is not None))
    words: list[str] = context.find_root().meta["words"]
    at = words.index("table")
    given = [*words[at + 1 :], *options, *last]
    left = [one.code for one in found.refused("compare") if not one.remedy]
    first = f"when {', '.join(left)} is settled: " if left else ""
    show(f"next     {first}{shlex.join(['psephos', *words[:at], 'compare', *given])}")


def _untargeted(path: Path, cells: Cells, how: Reading) -> tuple[int, str | None, list[str]]:
    """Print a table without a target: return its missing cells, its id, and notes."""
    from psephos.files.sheet import ColumnChoice, with_words
    from psephos.vote.names import listed, plural

    sheet = read_sheet(path, lambda header: ColumnChoice(range(len(header.names))), cells, how)
    names, n = sheet.header.names, len(sheet.X)
    gone, few = 0, list[str]()
    for j, name in enumerate(names):
        known = [v for v in sheet.X[:, j].tolist() if v == v]
        if j in sheet.words:
            values = with_words(sheet.X[:, j], sheet.words[j])
            known = [
                v for v in values if v == v and not (isinstance(v, str) and cells.is_missing(v))
            ]
        gone += n - len(known)
        if 1 < len(set(known)) <= min(_CLASSES, n // 2):
            few.append(name)
    kinds = f"{len(names) - len(sheet.words)} of numbers, {len(sheet.words)} with words"
    show(f"{plural(n, 'row')}. {plural(len(names), 'column')}: {kinds}.")
    show(f"target   2 to {_CLASSES} different values are in {listed(few, _SHOWN) or 'no column'}")
    return gone, how.id or sheet.header.row_names, sheet.notes
