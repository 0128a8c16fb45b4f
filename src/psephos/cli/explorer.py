"""psephos explorer: a page on SamBA's a and b."""

from pathlib import Path

import click

from psephos.cli.options import OUT_FILE
from psephos.cli.words import show


@click.command(short_help="Write a page on how near SamBA listens (a and b).")
@click.option(
    "--out",
    type=OUT_FILE,
    default=Path("psephos-explorer.html"),
    show_default=True,
    help="Where to write it.",
)
def explorer(out: Path) -> None:
    """Write a page of its own in which SamBA's a and b are moved: one HTML file, offline.

    It shows the toy of the paper's Figure 1, pure and noisy.
    """
    from psephos.report.explorer import build_explorer

    show(str(build_explorer(out)))
