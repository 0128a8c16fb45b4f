"""What a command says while it works: to standard error, so that results can be piped."""

import click

__all__ = ["say"]


def say(sentence: str) -> None:
    """Print a sentence to standard error."""
    click.echo(sentence, err=True)
