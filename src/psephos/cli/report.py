"""psephos report: write the page of a comparison or of a validation."""

from pathlib import Path
from typing import Any

import click

from psephos.cli.options import IN_FILE, IN_FOLDER, OUT_FILE
from psephos.cli.words import show


@click.command(short_help="Write the page of a comparison or validation.")
@click.argument("folder", type=IN_FOLDER)
@click.option(
    "--out",
    type=OUT_FILE,
    help="Where to write it.  [default: FOLDER/report.html]",
)
@click.option(
    "--model",
    metavar="MODEL",
    help="The model to show first (of a comparison).  [default: the fewest columns within one "
    "standard error of the best, if significantly better than a constant]",
)
@click.option("--title", metavar="TEXT", help="The heading of the page.")
@click.option(
    "--positive",
    metavar="CLASS",
    help="The class that answers are about.  [default: of healthy, control, no and the like the "
    "other one, else the rarest; of several classes the one that the model shown finds least; of a "
    "validation of two the one it was about]",
)
@click.option("--id", "ids", is_flag=True, help="Call cases by their ids; else they are numbered.")
@click.option(
    "--cases",
    type=click.Choice(["rounded", "full", "none"]),
    default="rounded",
    show_default=True,
    help="What the page carries of each case: values rounded, values in full, or counts alone.",
)
@click.option(
    "--notes",
    type=IN_FILE,
    help="A text file of what only you know, under the headings # Intended use, # Out of scope, "
    "# Source of data, # Ethics, # Funding, # Contact, or numbers of items of TRIPOD+AI (# 5b).",
)
def report(folder: Path, out: Path | None, **how: Any) -> None:
    """Write the page of what is in FOLDER: one HTML file that works offline.

    FOLDER is one that psephos compare wrote, or psephos validate --out; of the latter the page is
    that of one model on another cohort.
    """
    from psephos.report import build_report

    show(str(build_report(folder, out, **how)))
