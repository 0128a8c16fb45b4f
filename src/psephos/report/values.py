"""Which values decide: what the chosen model reads, and on which side of which value."""

from typing import Any

from psephos.report.adapter import Opened
from psephos.report.card import card
from psephos.report.figures import Choice
from psephos.report.folder import Folder
from psephos.report.together import together

__all__ = ["values_section"]


def values_section(folder: Folder, choice: Choice | None, opened: Opened | None) -> dict[str, Any]:
    """Return what the panel shows: entries of the page's dictionary.

    Parameters
    ----------
    folder : Folder
    choice : Choice or None
        The models the page names; None if every fit failed.
    opened : Opened or None
        The model shown first, if a file of it was saved.

    Returns
    -------
    entries : dict
        Joined with the dictionary of the page; ``"island"``, if there, with its embedded data.
    """
    shown = choice.opened if choice else None
    return {
        "card": card(choice, opened) if choice and opened else None,
        "card_absent": "No model of psephos was fitted and saved in this comparison.",
        "together": together(shown, opened) if shown and opened else None,
    }
