"""A new case: what the chosen model would say of it, and who votes."""

from typing import Any

from psephos.report.adapter import Opened
from psephos.report.casebook import casebook
from psephos.report.figures import Choice
from psephos.report.folder import Folder

__all__ = ["case_section"]


def case_section(folder: Folder, choice: Choice | None, opened: Opened | None) -> dict[str, Any]:
    """Return what the panel shows; parameters and result as of `values_section`."""
    shown = choice.opened if choice else None
    book = casebook(folder, opened, shown.key) if shown and opened else None
    return {
        "ballots": book,
        "ballots_absent": "" if shown is None else "The training cases were not kept.",
        "island": {"ballots": book["embedded"] if book else None},
    }
