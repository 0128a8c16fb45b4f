"""What several commands ask for: a table, and which of its columns are what."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import click

from psephos.files.formats import files_words

IN_FILE = click.Path(exists=True, dir_okay=False, path_type=Path)
IN_FOLDER = click.Path(exists=True, file_okay=False, path_type=Path)
OUT_FILE = click.Path(dir_okay=False, path_type=Path)
OUT_FOLDER = click.Path(file_okay=False, path_type=Path)

safe_option = click.option(
    "--spreadsheet-safe",
    is_flag=True,
    help="Put an apostrophe before words that a spreadsheet would run (= + - @); numbers stay. "
    "Without it ids and labels are written as they are.",
)
_THRESHOLD = (
    click.option(
        "--threshold",
        type=click.FloatRange(0, 1, min_open=True, max_open=True),
        metavar="P",
        help="Of two classes: answer --positive where its probability is at least P.",
    ),
    click.option(
        "--positive",
        metavar="CLASS",
        help="The class of --threshold.  [default: the second of the model's classes]",
    ),
)
classes_option = click.option(
    "--classes",
    multiple=True,
    metavar="OLD=NEW",
    help="Rename the label OLD of TABLE to the class NEW; several: benign,borderline=negative. "
    "'unclear=' leaves its rows out, '=' those without a label, and '*=other' renames all labels "
    "that are neither OLD nor NEW of another --classes. Labels may hold = or a comma; repeatable. "
    "Models keep it for psephos validate.",
)
_ANSWERS = (
    click.argument("model", type=IN_FILE),
    click.argument("table", type=IN_FILE),
    click.option(
        "--id",
        "id_column",
        metavar="COLUMN",
        help="Names the cases.  [default: row N, its line in TABLE]",
    ),
    click.option("--out", type=OUT_FILE, help="[default: screen]"),
    safe_option,
)

_OPTIONS = (
    click.argument("table", type=IN_FILE),
    click.option(
        "--target",
        multiple=True,
        metavar="COLUMN",
        help="The column of classes or numbers (npz: the array y). Repeated: columns of 0 and 1, "
        "labels of which a case may have several (npz: the table Y).",
    ),
    click.option(
        "--labels",
        "n_labels",
        type=click.IntRange(min=1),
        metavar="N",
        help="Instead of --target: the last N columns, those of --id and --group apart, are such "
        "labels, as in Mulan's files. "
        "MEKA's ARFF files say so themselves.",
    ),
    click.option(
        "--task",
        type=click.Choice(["classes", "numbers"]),
        help="What the target holds.  [default: numbers where they clearly are a measurement; in "
        "doubt it is required; up to 20 whole numbers are classes]",
    ),
    classes_option,
    click.option("--id", metavar="COLUMN", help="The column that names the cases."),
    click.option(
        "--group",
        metavar="COLUMN[=PATTERN]",
        help="Cases of one group (a subject) stay on one side of a split. Of values such as "
        "P000_V1 and P000_V2 a pattern says which part is the group: the first * of 'COLUMN=*_V*'.",
    ),
    click.option("--drop", multiple=True, metavar="COLUMN", help="Leave a column out; repeatable."),
    click.option(
        "--categorical",
        multiple=True,
        metavar="COLUMN",
        help="A column of codes, or of bands such as 20-30, that are categories; repeatable. "
        "Text columns are always categorical. Name the target to accept its values as classes, "
        "whatever they look like.",
    ),
    click.option(
        "--views",
        type=IN_FILE,
        metavar="FILE",
        help="For multi-view: a table of two columns, the names of columns or patterns such as "
        "gene_*, and the view of each. Columns of no view are not read by that model.",
    ),
    click.option(
        "--interactions",
        is_flag=True,
        help="Add the products of all pairs of numeric columns, called 'a × b'; predict, validate, "
        "explain and scorers compute them.",
    ),
)
_FORM = (
    click.option(
        "--missing",
        multiple=True,
        metavar="[COLUMN=]WORD",
        help="A value that means missing, besides the empty cell, NA, N/A, n/a, #N/A, NaN, "
        "nan, NAN, null, NULL, None, ? and a point: in all columns, or in one, or those that a "
        "pattern such as q*=9 matches; repeatable.",
    ),
    click.option("--decimal", metavar="MARK", help="The decimal mark: . or a comma."),
    click.option(
        "--thousands", metavar="MARK", help="Between thousands: a comma, a point, ' or a space."
    ),
    click.option(
        "--limits", type=click.Choice(["half", "limit"]),
        help="Limits of detection (<0.5, >60) beside numbers: half of a lower one and an upper one "
        "itself, or both themselves.  [default: refused]",
    ),
    click.option(
        "--separator", metavar="MARK", help="Between cells, such as ; or tab.  [default: found]"
    ),
    click.option(
        "--keep-word", multiple=True, metavar="WORD",
        help="A value such as NA that is kept, not read as missing; repeatable.",
    ),
    click.option("--sheet", metavar="NAME|N", help="Of a workbook: its sheet, or its number."),
    click.option("--encoding", metavar="NAME", help="Such as cp1252.  [default: found]"),
    click.option(
        "--transpose/--no-transpose", default=None,
        help="Features are in rows, and cases in columns, which --id names.  [default: found]",
    ),
    click.option(
        "--labels-from", type=IN_FILE, metavar="FILE",
        help="Another table, joined where ids are the same: the column --id, or the first of each.",
    ),
    click.option(
        "--duplicates", type=click.Choice(["number", "mean", "first"]),
        help="Columns of one name: numbered, averaged, or the first; those without a name are"
        " numbered.  [default: refused]",
    ),
    click.option(
        "--skip-last", type=click.IntRange(min=1), metavar="N",
        help="Rows at the end that are not cases, such as totals: they are left out.",
    ),
)  # fmt: skip


_PARTIAL = (
    click.option(
        "--unlabeled",
        metavar="VALUE",
        help="What stands in the target where a case has no label, '' if the cell is empty: of two "
        "classes, of which records of one are right; of numbers (--task numbers) such cases are "
        "left out.",
    ),
    click.option(
        "--recorded-class",
        metavar="CLASS",
        help="The class whose records are right.  [default: the one recorded, or the second]",
    ),
    click.option(
        "--prior",
        type=click.FloatRange(0, 1, min_open=True, max_open=True),
        metavar="SHARE",
        help="The share of that class among the cases without a label, for the models that take "
        "one (pu, one-sided-noise, liois).  [default: each estimates it]",
    ),
)


def _adding(*options: Callable[..., Any]) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Return the decorator of commands that adds these options, in this order."""

    def add(command: Callable[..., Any]) -> Callable[..., Any]:
        for option in reversed(options):
            command = option(command)
        return command

    return add


def table_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """Add the argument TABLE, and what its columns are."""
    command.__doc__ = f"{command.__doc__}\n    TABLE is {files_words()}.\n"
    return _adding(*_OPTIONS, *_FORM)(command)


#: Of labels that are partly recorded.
partial_options = _adding(*_PARTIAL)
#: The arguments MODEL and TABLE, of commands that write an answer a row.
answer_options = _adding(*_ANSWERS, *_THRESHOLD, *_FORM)
threshold_options = _adding(*_THRESHOLD)
#: How cells are written.
form_options = _adding(*_FORM)
