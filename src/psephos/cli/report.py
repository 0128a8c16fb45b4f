"""psephos report: write the page of a comparison or of a validation."""

from pathlib import Path
from typing import Any

import click

from psephos.cli.options import IN_FILE, IN_FOLDER, OUT_FILE
from psephos.cli.words import show


@click.command(short_help="Write the page of a comparison or validation.")
@click.argument("folder", type=IN_FOLDER)
@click.option("--out", type=OUT_FILE, help="The file to write.  [default: FOLDER/report.html]")
@click.option(
    "--model",
    metavar="MODEL",
    help="The model to show first (of a comparison).  [default: of the saved models (those of "
    "psephos) the one of fewest columns within one standard error of the best of all, if "
    "significantly better than a constant; otherwise the best saved one]",
)
@click.option("--title", metavar="TEXT", help="The heading of the page.")
@click.option(
    "--positive",
    metavar="CLASS",
    help="The positive class.  [default: the class that is not named healthy, control, no or "
    "similar; otherwise the rarest; of several classes the one with the lowest sensitivity of the "
    "model shown; of a validation of two classes its positive class]",
)
@click.option("--id", "ids", is_flag=True, help="Show the ids of cases; else they are numbered.")
@click.option(
    "--cases",
    type=click.Choice(["rounded", "full", "none"]),
    default="rounded",
    show_default=True,
    help="The data of each case in the page: rounded values, exact values, or only counts.",
)
@click.option(
    "--notes",
    type=IN_FILE,
    help="A text file with your notes under the headings # Intended use, # Out of scope, # Source "
    "of data, # Ethics, # Funding, # Contact, or numbers of items of TRIPOD+AI (# 5b).",
)
def report(folder: Path, out: Path | None, **how: Any) -> None:
    """Write the page of FOLDER: one HTML file that works offline.

    FOLDER was written by psephos compare, or by psephos validate --out, whose page is on one model
    on another cohort.
    """
    from psephos.report import build_report

    show(str(build_report(folder, out, **how)))
