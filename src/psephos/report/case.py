"""A new case: what the chosen model would say of it, and who votes."""

from collections.abc import Mapping
from typing import Any

from psephos.report.adapter import Opened
from psephos.report.answers import Positive
from psephos.report.casebook import casebook
from psephos.report.figures import Choice
from psephos.report.folder import Folder
from psephos.report.names import Shown
from psephos.report.options import Options

__all__ = ["case_section"]


def case_section(
    folder: Folder,
    choice: Choice | None,
    opened: Opened | None,
    names: Mapping[str, Shown],
    positive: Positive,
    options: Options,
) -> dict[str, Any]:
    """Return what the panel shows; parameters and result as of `values_section`."""
    shown = choice.opened if choice else None
    kept = options.cases != "none"
    book = casebook(folder, opened, shown.key) if shown and opened and kept else None
    return {
        "ballots": book,
        "ballots_absent": _absent(shown is None, kept),
        "island": {"ballots": book["embedded"] if book else None},
    }


def _absent(nothing: bool, kept: bool) -> str:
    if nothing:
        return ""
    return "The training cases were not kept." if kept else "This page carries no cases."
