"""What commands say: results to standard output, everything else to standard error."""

from typing import Any

import click

__all__ = ["say", "show_summary"]


def say(sentence: str) -> None:
    """Print a sentence to standard error."""
    click.echo(sentence, err=True)


def show_summary(found: Any) -> None:
    """Print the figures of a comparison as a table, the most accurate model first."""
    import math

    from rich.console import Console
    from rich.table import Table

    optimal = {one.model for one in found.pareto()}
    chosen = found.selected()
    summaries = sorted(
        found.summary(), key=lambda s: -s.score if math.isfinite(s.score) else math.inf
    )
    failed = any(one.n_failed for one in summaries)
    sheet = Table(box=None, pad_edge=False)
    sheet.add_column("model", no_wrap=True)
    heads = ["bal. accuracy", "ROC-AUC", "columns", "stability", "voters"]
    heads += ["failed"] if failed else []
    for head in heads:
        sheet.add_column(head, justify="right", no_wrap=True)
    sheet.add_column("", no_wrap=True)
    for one in summaries:
        card = chosen is not None and chosen.model == one.model
        cells = [
            one.model,
            _spread(one.measures["balanced_accuracy"], 3),
            _spread(one.measures["roc_auc"], 3),
            _spread(one.columns_used, 1),
            f"{one.stability.value:.2f}" if math.isfinite(one.stability.value) else "-",
            f"{one.n_voters.mean:.1f}" if one.n_voters.n else "-",
            *([str(one.n_failed or "")] if failed else []),
            ("*" if one.model in optimal else " ") + (" card" if card else ""),
        ]
        sheet.add_row(*cells)
    console = Console(highlight=False, markup=False)
    if not console.is_terminal:
        console.width = 120  # a file or a pipe has no width: cut nothing
    console.print(sheet)
    console.print("* no model is both more accurate and smaller", style="dim")
    console.print(
        "stability: 1 if the same columns are used in every fold, 0 if they are no more alike than"
        " by lot",
        style="dim",
    )


def _spread(spread: Any, digits: int) -> str:
    return f"{spread.mean:.{digits}f}±{spread.sd:.{digits}f}" if spread.n else "-"
