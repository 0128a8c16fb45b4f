"""Options that several commands share: the table, and the roles of its columns."""

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
    help="Put an apostrophe before text that a spreadsheet would run as a formula (= + - @), not "
    "before numbers. By default ids and labels are written unchanged.",
)
_THRESHOLD = (
    click.option(
        "--threshold",
        type=click.FloatRange(0, 1, min_open=True, max_open=True),
        metavar="P",
        help="For two classes: predict --positive if its probability is at least P.",
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
    "that are neither OLD nor NEW of another --classes. Labels may contain = or a comma; "
    "repeatable. Models keep the renaming for psephos validate.",
)
_ANSWERS = (
    click.argument("model", type=IN_FILE),
    click.argument("table", type=IN_FILE),
    click.option(
        "--id",
        "id_column",
        metavar="COLUMN",
        help="The column that names the cases.  [default: row N, the line in TABLE]",
    ),
    click.option("--out", type=OUT_FILE, help="[default: screen]"),
    safe_option,
)

_OPTIONS = (
    click.argument("table", type=click.Path(exists=True, path_type=Path)),
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
        help="Use the last N columns (not counting --id and --group) as 0/1 labels instead of "
        "--target, as in Mulan's files; MEKA's ARFF files declare them.",
    ),
    click.option(
        "--task",
        type=click.Choice(["classes", "numbers"]),
        help="The type of the target.  [default: numbers if they clearly are a measurement, "
        "classes if they are up to 20 whole numbers; required in doubt]",
    ),
    classes_option,
    click.option("--id", metavar="COLUMN", help="The column that names the cases."),
    click.option(
        "--group",
        metavar="COLUMN[=PATTERN]",
        help="Cases of one group (a subject) are never divided by a split. For values such as "
        "P000_V1 and P000_V2 a pattern selects the group: the first * of 'COLUMN=*_V*'; ? is any "
        "one character, so that 'COLUMN=plate?_*_V*' selects P000 of plate1_P000_V2.",
    ),
    click.option(
        "--drop",
        multiple=True,
        metavar="COLUMN",
        help="Leave a column out, or those that match a pattern such as 'Q10*'; repeatable.",
    ),
    click.option(
        "--categorical",
        multiple=True,
        metavar="COLUMN",
        help="A column of codes, or of bands such as 20-30 (or a pattern, as for --drop), to read "
        "as categories; repeatable. "
        "Text columns are always categorical. Name the target to accept its values as classes.",
    ),
    click.option(
        "--views",
        type=IN_FILE,
        metavar="FILE",
        help="For multi-view: a table with two columns, names of columns or patterns such as "
        "gene_*, and their views. That model does not read columns without a view.",
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
        help="A word that means missing, in addition to the empty cell, NA, N/A, n/a, #N/A, NaN, "
        "nan, NAN, null, NULL, None, ? and a point: in all columns, in one column, or in those "
        "that match a pattern, such as q*=9; repeatable.",
    ),
    click.option("--decimal", metavar="MARK", help="The decimal mark: . or a comma."),
    click.option(
        "--thousands", metavar="MARK", help="The thousands mark: a comma, a point, ' or a space."
    ),
    click.option(
        "--limits", type=click.Choice(["half", "limit"]),
        help="How to read limits of detection (<0.5, >60) among numbers: half of a lower limit and "
        "an upper limit itself, or the limits themselves.  [default: an error]",
    ),
    click.option(
        "--separator", metavar="MARK",
        help="The separator of cells, such as ; or tab.  [default: detected]",
    ),
    click.option(
        "--keep-word", multiple=True, metavar="WORD",
        help="A word such as NA that is not read as missing; repeatable.",
    ),
    click.option("--sheet", metavar="NAME|N", help="The sheet of a workbook, or its number.  "
        "[default: the only one with the columns named here]"),
    click.option("--encoding", metavar="NAME", help="Such as cp1252.  [default: detected]"),
    click.option(
        "--transpose/--no-transpose", default=None,
        help="Features are in rows, and cases in columns, named by --id.  [default: detected]",
    ),
    click.option(
        "--labels-from", type=IN_FILE, metavar="FILE",
        help="Another table, joined by ids: the column --id, or the first column of each table.",
    ),
    click.option(
        "--duplicates", type=click.Choice(["number", "mean", "first"]),
        help="Columns with the same name: number them, average them, or keep the first; columns "
        "without a name are numbered.  [default: an error]",
    ),
    click.option(
        "--skip-last", type=click.IntRange(min=1), metavar="N",
        help="Leave out N rows at the end that are not cases, such as totals.",
    ),
)  # fmt: skip


_PARTIAL = (
    click.option(
        "--unlabeled",
        metavar="VALUE",
        help="The value of the target in cases without a label, '' if the cell is empty: for two "
        "classes, of which the records of one are certain; for numbers (--task numbers) such cases "
        "are left out.",
    ),
    click.option(
        "--recorded-class",
        metavar="CLASS",
        help="The class whose records are certain.  [default: the one recorded, or the second]",
    ),
    click.option(
        "--prior",
        type=click.FloatRange(0, 1, min_open=True, max_open=True),
        metavar="SHARE",
        help="The share of that class among the cases without a label, for models that use it (pu, "
        "one-sided-noise, liois).  [default: each estimates it]",
    ),
)


def _adding(*options: Callable[..., Any]) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Return a decorator of commands that adds these options, in this order."""

    def add(command: Callable[..., Any]) -> Callable[..., Any]:
        for option in reversed(options):
            command = option(command)
        return command

    return add


def table_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """Add the argument TABLE, and the options on its columns."""
    command.__doc__ = f"{command.__doc__}\n    TABLE is {files_words()}.\n"
    return _adding(*_OPTIONS, *_FORM)(command)


#: Options for partly recorded labels.
partial_options = _adding(*_PARTIAL)
#: The arguments MODEL and TABLE, and options, of commands that predict each row.
answer_options = _adding(*_ANSWERS, *_THRESHOLD, *_FORM)
threshold_options = _adding(*_THRESHOLD)
#: How cells are written.
form_options = _adding(*_FORM)
