"""The section on columns that are read together: whose voters, their network, their errors."""

from collections.abc import Sequence
from typing import Any

from psephos.report.adapter import Opened, open_model
from psephos.report.figures import Choice, Standing
from psephos.report.folder import Folder
from psephos.report.library import histograms
from psephos.report.network import drawing
from psephos.report.words import number

__all__ = ["together"]


def together(
    folder: Folder, rows: Sequence[Standing], choice: Choice | None, opened: Opened | None
) -> dict[str, Any] | None:
    """Return the network of one model's columns, or None if no saved model joins columns.

    The model of the card is shown if several of its voters read several columns; else the most
    accurate saved model of which that is true.

    Parameters
    ----------
    folder : Folder
    rows : sequence of Standing
        The most accurate first.
    choice : Choice or None
    opened : Opened or None
        The model of the card.
    """
    if choice is None or opened is None:
        return None
    others = [s for s in rows if s.ours and s.key in folder.models and s is not choice.model]
    for standing in (choice.model, *others):
        card = standing is choice.model
        model = opened if card else open_model(folder.models[standing.key])
        network = model.network()
        if network is None:
            continue
        numbers = model.errors()
        return {
            "label": standing.label,
            "choice": _why(choice, standing, card),
            "stability": _stability(standing),
            "network": drawing(network),
            "errors": histograms(*numbers) if numbers else None,
        }
    return None


def _why(choice: Choice, standing: Standing, card: bool) -> str:
    if card:
        return f"These are the voters of {standing.label}, the model above."
    return (
        f"Voters of {choice.model.label}, the model above, read too few columns together to draw."
        f" These are those of {standing.label}, in its refit on all cases (models/{standing.key}"
        ".psephos)."
    )


def _stability(standing: Standing) -> str:
    found = standing.summary.stability
    words = (
        "A column that many voters read is not thereby a cause, and voters found by one search on"
        " noise share columns, too."
    )
    if found.value != found.value:
        return words
    return (
        f"{words} Over the {found.n} held-out folds the stability of the columns"
        f" {standing.label} reads is {number(found.value, 2)} (95 % interval {number(found.low, 2)}"
        f" to {number(found.high, 2)}; 1: always the same, 0: as by lot)."
    )
