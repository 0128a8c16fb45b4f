"""The card: the opened model in words, and the columns it reads."""

from collections.abc import Mapping
from typing import Any

from psephos.report.study.opened import Opened
from psephos.report.study.standings import Choice
from psephos.report.panels.verdict import opened_words
from psephos.report.words import plural
from psephos.vote.names import percent

__all__ = ["card"]

_LINES = 12  # voters before the rest is folded
_COLUMNS = 30
_MOST = 1000  # columns that the page lists


def card(choice: Choice, opened: Opened) -> dict[str, Any]:
    """Return the card of the model that is opened.

    Parameters
    ----------
    choice : Choice
    opened : Opened
    """
    assert choice.opened is not None
    lines = opened.sentences
    importance = opened.importance
    counted = sorted(opened.columns.items(), key=lambda one: (-one[1], -importance.get(one[0], 0)))
    columns = [_column(name, k, opened.whole, importance.get(name)) for name, k in counted]
    n = len(columns)
    return {
        "label": choice.opened.label,
        "choice": f"{opened_words(choice)} Shown is its refit on all cases, as saved in"
        f" models/{choice.opened.key}.psephos.",
        "warning": "It was selected on these folds, so its figure is optimistic."
        if not (choice.asked or choice.alone)
        else "",
        "file_words": opened.head,
        "sentences": lines[:_LINES],
        "more": lines[_LINES:],
        "more_words": plural(len(lines) - _LINES, "more line"),
        "columns_words": f"It reads {plural(n, 'column')}" if n else "It reads no column",
        "columns": columns[:_COLUMNS],
        "more_columns": columns[_COLUMNS:_MOST],
        "more_columns_words": plural(n - _COLUMNS, "more column")
        + (f", of which {_MOST - _COLUMNS} are listed" if n > _MOST else ""),
        "whole": [c for c in columns[:_MOST] if c["whole"] != c["name"]],
    }


def _column(
    name: str, k: int, whole: Mapping[str, str], importance: float | None
) -> dict[str, str]:
    words = f"in {plural(k, 'voter')}" if k else "only in the weights"
    if importance is not None:
        words += f", {percent(importance)} of the importance"
    return {"name": name, "whole": whole.get(name, name), "words": words}
