"""Which values decide: what each model reads, and on which side of which value."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from psephos._types import JsonObject
from psephos.report.numbers.column_values import FIRST, portrait
from psephos.report.numbers.measures import given
from psephos.report.panels.network import together
from psephos.report.panels.verdict import opened_words
from psephos.report.study.answers import Positive
from psephos.report.study.folder import FEWEST, Folder
from psephos.report.study.opened import Opened, Saved
from psephos.report.study.options import PageOptions, carried_rows, carried_values
from psephos.report.study.standings import Opening
from psephos.report.words import class_kinds, count, plural, series

_LINES = 12  # voters before the rest is folded
_COLUMNS = 30
_MOST = 1000  # columns that the page lists


def values_section(
    saved: Saved, choice: Opening | None, positive: Positive, options: PageOptions
) -> dict[str, Any]:
    """Return what the panel shows: entries of the page's dictionary.

    Parameters
    ----------
    saved : Saved
        The models that have a file.
    choice : Choice or None
        The models the page names; None if every fit failed.
    positive : Positive
        The class that answers are about.
    options : Options
        What the page may carry of cases.

    Returns
    -------
    entries : dict
        Joined with the dictionary of the page; ``"island"``, if there, with its embedded data.
    """
    shown = choice.opened if choice else None
    opened = saved.opened(shown.key) if shown else None
    entries: dict[str, Any] = {
        "card": card(choice, opened) if choice and opened else None,
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
    one = portrait(folder, opened, saved.asked(key), key, thresholds, saved.names, options.cases)
    if options.cases == "none":
        one["ringed"] = []
    return one | {
        "lead": _lead(folder, opened, key, one), "notes": _notes(one, opened),
        "painted": how_painted(one),
    }  # fmt: skip


def _lead(folder: Folder, opened: Opened, key: str, one: Mapping[str, Any]) -> str:
    """Return what the model is, in a sentence."""
    n, of = plural(folder.n_rows, "case"), plural(folder.n_columns, "column")
    voters = plural(opened.n_voters, "voter")
    if not one["n_read"]:
        return f"{key}, fitted to all {n}, reads no column: it says the same of every case."
    return f"{key}, fitted to all {n}, reads {count(one['n_read'])} of {of} through {voters}."


def _notes(one: Mapping[str, Any], opened: Opened) -> list[str]:
    """Return what else must be known of the columns that are shown."""
    notes = [opened.importance_words] if one["shared"] and one["n_read"] else []
    if one["backup"]:
        named = one["backup"][:FIRST]
        more = len(one["backup"]) - len(named)
        listed = series([*named, f"{more} more"] if more else named)
        notes.append(f"Where one of these is missing it also asks for {listed}.")
    if one["unlisted"]:
        notes.append(f"{plural(one['unlisted'], 'column')} of less importance are not listed.")
    if not one["shared"]:
        notes.append("The file of this model does not tell how important each column is.")
    return notes


def how_painted(one: Mapping[str, Any]) -> str:
    """Return what the colour of an axis is, in words."""
    return (
        "The bar beneath is painted with the class to which a value moves the answer, the deeper"
        " the more: the mean of the model's answers if"
        f" {plural(one['background'], 'case')} had this value and were otherwise as they are, less"
        " their mean as they are (partial dependence). Columns that rise together are then taken"
        " apart."
    )


def _first(one: Mapping[str, Any], folder: Folder, positive: int) -> dict[str, Any]:
    """Return what stands in the page without its script: words and tables."""
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
    """Return what the script redraws from."""
    folder, cases = saved.folder, saved.folder.cases
    assert cases is not None, "an island is of cases"
    y = np.asarray(cases.y, dtype=np.intp)
    rows = carried_rows(y) if options.cases != "none" else y[:0]
    drawn = {column["whole"] for one in portraits.values() for column in one["columns"]}
    cuts = {name: saved.cuts[name] for name in sorted(drawn)}
    classes: Sequence[str] = [str(one) for one in folder.about["classes"]]
    return {
        "classes": classes,
        "positive": positive,
        "order": _order(len(classes), positive),
        "sampled": _sampled(len(rows), len(y)),
        "sizes": given(np.bincount(y, minlength=len(classes)).tolist(), options.cases),
        "n": len(y),
        "rows": rows.tolist(),
        "y": y[rows].tolist(),
        "of": carried_values(cases, rows, cuts, options.cases == "full"),
        "models": {key: _lightened(one, len(classes), positive) for key, one in portraits.items()},
    }


def _lightened(one: dict[str, Any], n_classes: int, positive: int) -> dict[str, Any]:
    """Return a portrait whose moves are, of two classes, those of the positive one alone."""
    if n_classes != 2:
        return one

    def half(column: dict[str, Any]) -> dict[str, Any]:
        if "moves" not in column:
            return column
        return column | {"moves": [move[positive] for move in column["moves"]]}

    return one | {"columns": [half(column) for column in one["columns"]]}


def _sampled(drawn: int, n: int) -> str:
    """Return in words that not every case is drawn, '' if every one is."""
    if drawn == n:
        return ""
    if not drawn:
        return (
            "The page carries no cases: bars count them in eighths of the axis, to one height;"
            f" fewer than {FEWEST} are not drawn. "
        )
    return (
        f"Of {plural(n, 'case')} {drawn} are drawn, evenly spaced in the table; the bars count"
        " them all, to one height. "
    )


def card(choice: Opening, opened: Opened) -> JsonObject:
    """Return the card of the model that is opened."""
    assert choice.opened is not None
    lines = opened.sentences
    counted = sorted(opened.columns.items(), key=lambda one: (*opened.rank(one[0]), -one[1]))
    columns = [_column(name, k, opened) for name, k in counted]
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
        "importance": opened.importance_words if n and opened.importance else "",
        "columns": columns[:_COLUMNS],
        "more_columns": columns[_COLUMNS:_MOST],
        "more_columns_words": plural(n - _COLUMNS, "more column")
        + (f", of which {_MOST - _COLUMNS} are listed" if n > _MOST else ""),
        "whole": [c for c in columns[:_MOST] if c["whole"] != c["name"]],
    }


def _column(name: str, k: int, opened: Opened) -> dict[str, str]:
    words = f"in {plural(k, 'voter')}" if k else "only in the weights"
    more = opened.weight_words(name)
    whole = opened.whole.get(name, name)
    return {"name": name, "whole": whole, "words": f"{words}, {more}" if more else words}
