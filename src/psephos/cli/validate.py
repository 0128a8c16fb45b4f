"""psephos validate: a fitted model on another cohort."""

from pathlib import Path
from typing import Any

import click

from psephos.cli.options import (
    IN_FILE,
    OUT_FILE,
    OUT_FOLDER,
    classes_option,
    form_options,
    safe_option,
)
from psephos.cli.words import say, show, show_json


@click.command(short_help="Judge a fitted model on another cohort.")
@click.argument("model", type=IN_FILE)
@click.argument("table", metavar="COHORT", type=IN_FILE)
@click.option(
    "--target", metavar="COLUMN", help="The true classes or numbers (npz: default the array y)."
)
@classes_option
@click.option(
    "--positive",
    metavar="CLASS",
    help="Of two classes the one that is looked for.  [default: the class that is not named "
    "healthy, control, alive, no or similar; otherwise the rarer of COHORT]",
)
@click.option(
    "--threshold",
    type=float,
    metavar="P",
    help="Call a case positive from this probability.  [default: the model's own answers]",
)
@click.option(
    "--group",
    metavar="COLUMN",
    help="Cases of one group (a subject, a clinic) belong together: intervals count groups. Of up "
    "to 12 groups accuracy is told one by one.",
)
@click.option(
    "--by",
    multiple=True,
    metavar="COLUMN",
    help="Tell the accuracy for each level of this column; under ten cases counts alone. "
    "Repeatable.",
)
@click.option(
    "--absent",
    type=click.Choice(["missing", "silent"]),
    default="missing",
    show_default=True,
    help="Columns of the model that COHORT lacks: missing, so that their voters answer by the "
    "model's rule for missing values, or silent: voters that lack a column are left out.",
)
@click.option("--id", "id_column", metavar="COLUMN", help="The column that names the cases.")
@click.option(
    "--calibrated",
    is_flag=True,
    help="Validate the model with the map that the held-out answers of its comparison justify.",
)
@click.option("--json", "as_json", is_flag=True, help="Print all figures as JSON.")
@click.option(
    "--out",
    type=OUT_FOLDER,
    help="Write a folder of csv files, the figures as JSON, and the model: psephos report makes a "
    "page of it.",
)
@click.option(
    "--recalibrate",
    type=OUT_FILE,
    metavar="FILE",
    help="Write the model with a sigmoid of its probabilities that is fitted to COHORT: another "
    "model, which COHORT cannot validate.",
)
@click.option("--seed", type=click.IntRange(min=0), default=0, help="Of the recalibration's folds.")
@safe_option
@form_options
def validate(
    model: Path,
    table: Path,
    *,
    as_json: bool,
    out: Path | None,
    recalibrate: Path | None,
    spreadsheet_safe: bool,
    **asked: Any,
) -> None:
    """Judge MODEL on COHORT, cases it was not fitted on and whose classes, or numbers, are known.

    Nothing is fitted again. It says which columns of the model COHORT has, and which voters can
    speak without the others (a model that cannot answer without them is refused, and the columns
    named); how columns and familiarity have shifted; how well the answers tell the classes apart
    and how right the probabilities are, with intervals; accuracy by subgroup; and apart, what a
    recalibration would change. Of a model of numbers: r2, mae, rmse, the mean error, the line from
    predictions to the truth, and the coverage of the intervals that it states. Cases that get no
    answer are named, and the subgroup 'answered yes' has the measures without them. Columns are
    found by name; all others are ignored.
    """
    from psephos.cli.answering import refuse_overwriting
    from psephos.cli.cohorts import validation_of
    from psephos.modelfile import save
    from psephos.validation import write_validation

    refuse_overwriting(recalibrate, model, table)
    found = validation_of(model, table, **asked)
    again = None if recalibrate is None else found.recalibrated()
    if as_json:
        show_json(found.data())
    else:
        show(str(found))
    if out is not None:
        write_validation(found, out, spreadsheet_safe=spreadsheet_safe)
        say(f"written to {out}: 'psephos report {out}' makes a page of it")
    if again is not None and recalibrate is not None:
        save(again, recalibrate)
        say(f"recalibrated model {recalibrate}")
