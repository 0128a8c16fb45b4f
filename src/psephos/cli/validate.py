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


@click.command(short_help="Evaluate a fitted model on another cohort.")
@click.argument("model", type=IN_FILE)
@click.argument("table", metavar="COHORT", type=IN_FILE)
@click.option(
    "--target", metavar="COLUMN", help="The true classes or numbers (npz: default the array y)."
)
@classes_option
@click.option(
    "--positive",
    metavar="CLASS",
    help="The positive one of two classes.  [default: the class that is not named healthy, "
    "control, alive, no or similar; otherwise the rarer of COHORT]",
)
@click.option(
    "--threshold",
    type=float,
    metavar="P",
    help="Predict a case as positive from this probability.  [default: the model's predictions]",
)
@click.option(
    "--group",
    metavar="COLUMN",
    help="Cases of one group (a subject, a clinic) belong together: intervals treat groups as "
    "independent. Up to 12 groups have their own figures.",
)
@click.option(
    "--by",
    multiple=True,
    metavar="COLUMN",
    help="Report figures for each level of this column, only counts under ten cases; repeatable.",
)
@click.option(
    "--absent",
    type=click.Choice(["missing", "silent"]),
    default="missing",
    show_default=True,
    help="Columns of the model that COHORT lacks: 'missing' treats them as missing values, "
    "'silent' leaves out the voters that read them.",
)
@click.option("--id", "id_column", metavar="COLUMN", help="The column that names the cases.")
@click.option(
    "--calibrated",
    is_flag=True,
    help="Validate the model with the recalibration by the held-out predictions of its comparison.",
)
@click.option("--json", "as_json", is_flag=True, help="Print all figures as JSON.")
@click.option(
    "--out",
    type=OUT_FOLDER,
    help="Write a folder of csv files, the figures as JSON, and the model, for psephos report.",
)
@click.option(
    "--recalibrate",
    type=OUT_FILE,
    metavar="FILE",
    help="Write the model with a sigmoid of its probabilities fitted to COHORT: a new model, which "
    "COHORT cannot validate.",
)
@click.option(
    "--seed", type=click.IntRange(min=0), default=0, help="For the recalibration's folds."
)
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
    **options: Any,
) -> None:
    """Evaluate MODEL on COHORT: cases with known classes, or numbers, that it was not fitted on.

    Nothing is fitted again. The output has: which columns of the model COHORT has, and which voters
    are usable without the others (it is an error, which names the columns, if the model cannot
    predict without them); shifts of columns and familiarity; discrimination and calibration with
    intervals; figures by subgroup; and the effect of a recalibration. For a model of numbers: r2,
    mae, rmse, the mean error, the line from predictions to the truth, and the coverage of predicted
    intervals. Cases without an answer are named; the subgroup 'answered yes' leaves them out.
    Columns are found by name; all others are ignored.
    """
    from psephos.cli.answering import refuse_overwriting
    from psephos.cli.cohorts import validation_of
    from psephos.modelfile import save
    from psephos.validation import write_validation

    refuse_overwriting(recalibrate, model, table)
    found = validation_of(model, table, **options)
    again = None if recalibrate is None else found.recalibrated()
    if as_json:
        show_json(found.data())
    else:
        show(str(found))
    if out is not None:
        write_validation(found, out, spreadsheet_safe=spreadsheet_safe)
        say(f"written to {out}: 'psephos report {out}' writes its page")
    if again is not None and recalibrate is not None:
        save(again, recalibrate)
        say(f"recalibrated model {recalibrate}")
