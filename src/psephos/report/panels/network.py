"""The section on columns that are read together: whose voters, their network, their errors."""

from typing import Any

from psephos.report.drawings.network import drawing, histograms
from psephos.report.study.opened import Opened
from psephos.report.study.standings import Standing
from psephos.report.words import number, plural


def together(standing: Standing, opened: Opened) -> dict[str, Any] | None:
    """Return the network of the opened model's columns, or None if its voters join none.

    Parameters
    ----------
    opened : Opened
        The model of the card: the section never shows another.
    """
    network = opened.network()
    if network is None:
        return None
    alike = bool(network.joint.min() == 1)  # every pair in every voter
    numbers = opened.errors()
    return {
        "label": standing.label,
        "stability": _stability(standing),
        "network": None if alike else drawing(network, opened.whole),
        "alike": (
            f"The {plural(network.n_models, 'voter')} that read columns all read the same"
            f" {len(network.names)}: which of these stand together, their votes do not say."
        )
        if alike
        else "",
        "errors": histograms(*numbers) if numbers else None,
    }


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
