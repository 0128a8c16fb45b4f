"""psephos reduce: a model file over only the columns it reads."""

from pathlib import Path
from typing import Any

import click

from psephos.cli.options import IN_FILE, OUT_FILE
from psephos.cli.words import say, show


@click.command()
@click.argument("model", type=IN_FILE)
@click.option("--out", type=OUT_FILE, required=True, help="The model file to write.")
@click.option(
    "--backup/--no-backup",
    default=True,
    show_default=True,
    help="Keep the columns that are read only if another is missing.",
)
def reduce(model: Path, out: Path, backup: bool) -> None:
    """Write the model with only the columns that it reads.

    Predictions are the same; with --no-backup for cases without missing values.
    """
    from psephos.models import load, save
    from psephos.vote.describing import products_words

    whole: Any = load(model)
    small = whole.reduce(backup=backup)
    save(small, out)
    say(f"{whole.n_features_in_} columns before, {small.n_features_in_} now")
    if made := products_words(small.vote_, small.schema_.words()):
        say(made)
    show(str(out))
