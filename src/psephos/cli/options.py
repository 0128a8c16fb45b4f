"""What several commands ask for: a table, and which of its columns are what."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import click

__all__ = ["table_options"]

_OPTIONS = (
    click.argument("table", type=click.Path(exists=True, dir_okay=False, path_type=Path)),
    click.option("--target", metavar="COLUMN", help="The column of classes (npz: the array y)."),
    click.option("--id", metavar="COLUMN", help="The column that names the cases."),
    click.option(
        "--group",
        metavar="COLUMN",
        help="Cases of one group (a subject) stay on one side of a split.",
    ),
    click.option("--drop", multiple=True, metavar="COLUMN", help="Leave a column out; repeatable."),
    click.option(
        "--categorical",
        multiple=True,
        metavar="COLUMN",
        help="A column of codes that are categories; repeatable. Columns of text are so anyway.",
    ),
)


def table_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """Add the argument TABLE and the options that say what its columns are."""
    for option in reversed(_OPTIONS):
        command = option(command)
    return command
