"""psephos report: write the report of a comparison again."""

from pathlib import Path

import click

__all__ = ["report"]


@click.command(short_help="Write the report of a comparison again.")
@click.argument("folder", type=click.Path(exists=True, file_okay=False, path_type=Path))
@click.option(
    "--out",
    type=click.Path(dir_okay=False, path_type=Path),
    help="Where to write it.  [default: FOLDER/report.html]",
)
@click.option(
    "--model",
    metavar="MODEL",
    help="The model to show in detail.  [default: of the saved ones the smallest near the best]",
)
def report(folder: Path, out: Path | None, model: str | None) -> None:
    """Write the report of the comparison in FOLDER: one HTML file that works offline."""
    from psephos.report import build_report

    click.echo(str(build_report(folder, out, model=model)))
