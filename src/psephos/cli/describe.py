"""psephos describe: a model file in words."""

from pathlib import Path
from typing import Any

import click

from psephos.cli.options import IN_FILE
from psephos.cli.words import show


@click.command()
@click.argument("model", type=IN_FILE)
def describe(model: Path) -> None:
    """Print a model file in words.

    Its voters, their weights, and the columns they read. A single tree is printed as a tree. Voters
    of equal content share a line; percentages are shares of the total weight. Their votes for a
    case: psephos explain.
    """
    from psephos.models import load
    from psephos.vote.describing import kept_words, products_words

    fitted: Any = load(model)
    for sentence in fitted.describe():
        show(sentence)
    kept = kept_words(fitted.vote_)
    for words in filter(None, (kept, products_words(fitted.vote_, fitted.schema_.words()))):
        show(words)
