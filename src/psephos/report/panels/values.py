"""Which values decide: the columns that each model reads, and the effect of their values."""

from collections.abc import Mapping
from typing import Any

import numpy as np

from psephos._types import JsonObject
from psephos.report.numbers.column_values import FIRST, portrait
from psephos.report.numbers.measures import given
from psephos.report.panels.network import together
from psephos.report.panels.verdict import opened_words
from psephos.report.study.answers import Positive, group_codes
from psephos.report.study.folder import FEWEST, Folder
from psephos.report.study.opened import Opened, Saved
from psephos.report.study.options import PageOptions, carried_rows, carried_values
from psephos.report.study.standings import Opening
from psephos.report.words import class_kinds, count, plural, series

_LINES = 12  # voters that are shown unfolded
_COLUMNS = 30  # columns of the card that are shown unfolded
_DIRECTIONS = (
    " Directions are of the mean prediction, in units of {}, over the cases the model was fitted to"
    " (at most 100) if all are given a value and keep their others (partial dependence)."
)
_MOST = 1000  # the most columns that the page lists


def values_section(
    saved: Saved, choice: Opening | None, positive: Positive, options: PageOptions
) -> dict[str, Any]:
    """Return the panel's entries of the page's dictionary.

    Parameters
    ----------
    saved : Saved
        The models that have a file.
    choice : Opening or None
        The models that the page shows; None if every fit failed.
    positive : Positive
        The class that answers are about.
    options : PageOptions
        What the page may contain of cases.

    Returns
    -------
    entries : dict
        To be merged with the dictionary of the page; ``island``, if present, with its embedded
        data.
    """
    shown = choice.opened if choice else None
    opened = saved.opened(shown.key) if shown else None
    directions = saved.directions(shown.key) if shown else {}
    entries: dict[str, Any] = {
        "card": card(choice, opened, directions, saved.folder.target)
        if choice and opened
        else None,
        "card_absent": "No model of psephos was fitted and saved in this comparison.",
        "together": together(shown.label, opened) if shown and opened else None,
        "values": None,
        "island": {},
    }
    if shown is None or not saved.keys:
        return entries
    found = {key: _portrait(saved, key, options) for key in saved.keys}
    joined = entries["together"]
    network = joined and joined["network"]
    return entries | {
        "values": _first(found[shown.key], saved.folder, positive.code),
        "island": {
            "values": _island(saved, found, positive.code, options),
            "network": None if not network or network["few"] else network,
        },
    }


def _portrait(saved: Saved, key: str, options: PageOptions) -> dict[str, Any]:
    opened, folder = saved.opened(key), saved.folder
    thresholds = saved.voter_thresholds(key)
    one = portrait(folder, opened, saved.reduced(key), key, thresholds, saved.names, options.cases)
    if options.cases == "none":
        one["ringed"] = []
    return one | {
        "lead": _lead(folder, opened, key, one), "notes": _notes(one, opened),
        "painted": "The colour of the bar shows the class that a value favours, stronger for a"
        " larger change: how far the mean answer moves if all of"
        f" {plural(one['background'], 'case')} are given this value and keep their other values"
        " (partial dependence). Where columns rise together, this makes combinations that do not"
        " occur.",
    }  # fmt: skip


def _lead(folder: Folder, opened: Opened, key: str, one: Mapping[str, Any]) -> str:
    """Return a sentence on the size of the model."""
    n, of = plural(folder.n_rows, "case"), plural(folder.n_columns, "column")
    voters = plural(opened.model.vote_.n_voters, "voter")
    if not one["n_read"]:
        return f"{key}, fitted to all {n}, reads no column: it predicts the same for every case."
    return f"{key}, fitted to all {n}, reads {count(one['n_read'])} of {of} through {voters}."


def _notes(one: Mapping[str, Any], opened: Opened) -> list[str]:
    """Return notes on the columns that are shown."""
    notes = [opened.importance_words] if one["shared"] and one["n_read"] else []
    if one["backup"]:
        named = one["backup"][:FIRST]
        more = len(one["backup"]) - len(named)
        listed = series([*named, f"{more} more"] if more else named)
        notes.append(f"Where one of these is missing it also reads {listed}.")
    if one["unlisted"]:
        notes.append(f"{plural(one['unlisted'], 'column')} of less importance are not listed.")
    if not one["shared"]:
        notes.append("The file of this model has no importances of columns.")
    return notes


def _first(one: Mapping[str, Any], folder: Folder, positive: int) -> dict[str, Any]:
    """Return the texts and tables of a page without script."""
    n_classes = len(folder.about["classes"])
    return {
        "lead": one["lead"],
        "notes": one["notes"],
        "base": one["base"],
        "columns": one["columns"][:FIRST],
        "more": one["table"] or one["columns"][FIRST:],
        "rest_words": one["rest_words"],
        "hues": class_kinds(n_classes, positive),
        "order": _order(n_classes, positive),
    }


def _order(n_classes: int, positive: int) -> list[int]:
    """Return the classes, the positive one first."""
    return [positive, *(k for k in range(n_classes) if k != positive)]


def _island(
    saved: Saved, portraits: Mapping[str, dict[str, Any]], positive: int, options: PageOptions
) -> dict[str, Any]:
    """Return the data of the page's script."""
    folder, cases = saved.folder, saved.folder.cases
    assert cases is not None, "an island is of cases"
    y = np.asarray(cases.y, dtype=np.intp)
    rows = carried_rows(y) if options.cases != "none" else y[:0]
    drawn = {column["whole"] for one in portraits.values() for column in one["columns"]}
    cuts = {name: saved.cuts[name] for name in sorted(drawn)}
    classes = folder.classes
    groups = group_codes(folder, rows)
    return {
        "classes": classes,
        "positive": positive,
        "order": _order(len(classes), positive),
        "groups": None if groups is None else groups.tolist(),
        "sampled": _sampled(len(rows), len(y)),
        "sizes": given(np.bincount(y, minlength=len(classes)).tolist(), options.cases),
        "n": len(y),
        "rows": rows.tolist(),
        "y": y[rows].tolist(),
        "of": carried_values(cases, rows, cuts, options.cases == "full"),
        "models": {key: _lightened(one, len(classes), positive) for key, one in portraits.items()},
    }


def _lightened(one: dict[str, Any], n_classes: int, positive: int) -> dict[str, Any]:
    """Return a portrait with the moves of only the positive class, if there are two classes."""
    if n_classes != 2:
        return one

    def half(column: dict[str, Any]) -> dict[str, Any]:
        if "moves" not in column:
            return column
        return column | {"moves": [move[positive] for move in column["moves"]]}

    return one | {"columns": [half(column) for column in one["columns"]]}


def _sampled(drawn: int, n: int) -> str:
    """Return a sentence if not every case is drawn, else ''."""
    if drawn == n:
        return ""
    if not drawn:
        return (
            "The page has no cases: bars count them in eighths of the axis, on one scale;"
            f" fewer than {FEWEST} are not drawn. "
        )
    return (
        f"Of {plural(n, 'case')} {drawn} are drawn, evenly spaced in the table; the bars count"
        " all of them, on one scale. "
    )


def card(choice: Opening, opened: Opened, directions: Mapping[str, str], target: str) -> JsonObject:
    """Return the card of the model that is opened."""
    assert choice.opened is not None
    lines = opened.sentences
    counted = sorted(opened.columns.items(), key=lambda one: (*opened.rank(one[0]), -one[1]))
    columns = [_column(name, k, opened, directions.get(name, "")) for name, k in counted]
    n = len(columns)
    return {
        "label": choice.opened.label,
        "choice": f"{opened_words(choice)} It is shown as refitted on all cases and saved in"
        f" models/{choice.opened.key}.psephos.",
        "file_words": opened.head,
        "sentences": lines[:_LINES],
        "more": lines[_LINES:],
        "more_words": plural(len(lines) - _LINES, "more line"),
        "columns_words": f"It reads {plural(n, 'column')}" if n else "It reads no column",
        "importance": (opened.importance_words if n and opened.importance else "")
        + _DIRECTIONS.format(target) * bool(directions),
        "columns": columns[:_COLUMNS],
        "more_columns": columns[_COLUMNS:_MOST],
        "more_columns_words": plural(n - _COLUMNS, "more column")
        + (f", of which {_MOST - _COLUMNS} are listed" if n > _MOST else ""),
        "whole": [c for c in columns[:_MOST] if c["whole"] != c["name"]],
    }


def _column(name: str, k: int, opened: Opened, direction: str) -> dict[str, str]:
    words = f"in {plural(k, 'voter')}" if k else "only in the weights"
    more = opened.weight_words(name)
    whole = opened.whole.get(name, name)
    words = f"{words}, {more}" if more else words
    return {"name": name, "whole": whole, "words": f"{words}. {direction}" if direction else words}
