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
    sheet = Table(box=None, pad_edge=False)
    sheet.add_column("model", no_wrap=True)
    for head in ("balanced accuracy", "ROC-AUC", "columns", "voters", "failed"):
        sheet.add_column(head, justify="right", no_wrap=True)
    sheet.add_column("", no_wrap=True)
    rows = sorted(found.summary(), key=lambda s: -s.score if math.isfinite(s.score) else math.inf)
    for one in rows:
        marks = ["optimal"] if one.model in optimal else []
        if chosen is not None and chosen.model == one.model:
            marks.append("card")
        sheet.add_row(
            one.model,
            _spread(one.measures["balanced_accuracy"], 3),
            _spread(one.measures["roc_auc"], 3),
            _spread(one.columns_used, 1),
            f"{one.n_voters.mean:.1f}" if one.n_voters.n else "-",
            str(one.n_failed or ""),
            ", ".join(marks),
        )
    Console(highlight=False, markup=False).print(sheet)


def _spread(spread: Any, digits: int) -> str:
    return f"{spread.mean:.{digits}f}±{spread.sd:.{digits}f}" if spread.n else "-"
