"""psephos compare: the main job, from a table to a report."""

from pathlib import Path
from typing import Any

import click

from psephos.cli.options import safe_option, table_options

__all__ = ["compare", "conclude"]


@click.command(short_help="Compare models on a table, and write one report.")
@table_options
@click.option(
    "--models",
    metavar="A,B,...",
    help="Models to compare, of psephos list, or 'all'.  [default: those marked + there: samba, "
    "adaboost, swag, proset, majority, the six of sklearn, and xgboost if it is installed]",
)
@click.option(
    "--protocol", default="quick", show_default=True, help="quick (minutes) or samba (the paper's)."
)
@click.option(
    "--out",
    type=click.Path(file_okay=False, path_type=Path),
    default=Path("psephos-out"),
    show_default=True,
    help="Folder for results, models and report; an interrupted run goes on where it stopped.",
)
@click.option("--seed", type=click.IntRange(min=0), default=0, show_default=True)
@click.option(
    "--n-jobs",
    type=int,
    default=1,
    show_default=True,
    help="Fits at the same time (-1: one a core); the results do not depend on it.",
)
@click.option("--no-report", is_flag=True, help="Leave the report out.")
@safe_option
def compare(
    table: Path,
    models: str | None,
    protocol: str,
    out: Path,
    seed: int,
    n_jobs: int,
    no_report: bool,
    spreadsheet_safe: bool,
    **roles: Any,
) -> None:
    """Compare models on TABLE under a nested protocol, and write one report.

    TABLE is a csv or tsv file whose first line names the columns, or an npz file with X, y and
    perhaps classes and feature_names. Leaves results.csv, model files and report.html.
    """
    from psephos.protocol import compare as run
    from psephos.protocol import read_table

    data = read_table(table, **roles)
    named = None if models is None else [name.strip() for name in models.split(",")]
    found = run(
        data,
        None,
        named,
        protocol,
        random_state=seed,
        n_jobs=n_jobs,
        out=out,
        progress=True,
        spreadsheet_safe=spreadsheet_safe,
    )
    conclude(found, out, report=not no_report)


def conclude(found: Any, out: Path, *, report: bool) -> None:
    """Print the table of a comparison and where everything is; write the report."""
    from psephos.cli.words import say, show_summary
    from psephos.report import build_report

    show_summary(found)
    if found.failures:
        say(found.words())
    click.echo(f"results  {out / 'results.csv'}")
    for file in sorted((out / "models").glob("*.psephos")):
        click.echo(f"model    {file}")
    if report:
        click.echo(f"report   {build_report(out)}")
