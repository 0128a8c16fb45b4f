"""Which values decide: what each model reads, and on which side of which value."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from psephos.report.adapter import Opened
from psephos.report.card import card
from psephos.report.carried import carried_rows, carried_values
from psephos.report.figures import Choice
from psephos.report.folder import Folder
from psephos.report.portraits import FIRST, portrait
from psephos.report.saved import Saved
from psephos.report.together import together
from psephos.report.words import plural, series

__all__ = ["values_section"]


def values_section(folder: Folder, choice: Choice | None, saved: Saved) -> dict[str, Any]:
    """Return what the panel shows: entries of the page's dictionary.

    Parameters
    ----------
    folder : Folder
    choice : Choice or None
        The models the page names; None if every fit failed.
    saved : Saved
        The models that have a file.

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
        "together": together(shown, opened) if shown and opened else None,
        "values": None,
    }
    if shown is None or not saved.keys:
        return entries
    found = {key: _portrait(folder, saved, key) for key in saved.keys}
    return entries | {
        "values": _first(found[shown.key], shown.key),
        "island": {"values": _island(folder, found)},
    }


def _portrait(folder: Folder, saved: Saved, key: str) -> dict[str, Any]:
    opened = saved.opened(key)
    one = portrait(folder, opened, saved.asked(key), key)
    return one | {
        "lead": _lead(folder, opened, key, one), "notes": _notes(one), "painted": how_painted(one),
    }  # fmt: skip


def _lead(folder: Folder, opened: Opened, key: str, one: Mapping[str, Any]) -> str:
    """Return what the model is, in a sentence."""
    cases = folder.cases
    n = plural(len(cases.ids) if cases else 0, "case")
    voters = plural(opened.n_voters, "voter")
    read = plural(one["n_read"], "column")
    of = plural(int(folder.about.get("n_columns") or len(folder.about["columns"])), "column")
    if not one["n_read"]:
        return f"{key}, fitted to all {n}, reads no column: it says the same of every case."
    return f"{key}, fitted to all {n}, reads {read} of {of} through {voters}."


def _notes(one: Mapping[str, Any]) -> list[str]:
    """Return what else must be known of the columns that are shown."""
    notes: list[str] = []
    if one["backup"]:
        named = one["backup"][:FIRST]
        more = len(one["backup"]) - len(named)
        listed = series([*named, f"{more} more"] if more else named)
        notes.append(f"Where one of these is missing it also asks for {listed}.")
    if one["unlisted"]:
        notes.append(f"{plural(one['unlisted'], 'column')} of still less say are not listed.")
    if not one["shared"]:
        notes.append("The file of this model does not tell how the say is shared among columns.")
    return notes


def how_painted(one: Mapping[str, Any]) -> str:
    """Return what the colour of an axis is, in words."""
    return (
        "The bar beneath is painted with the class to which a value moves the answer, the deeper"
        " the more: the mean of the model's probabilities if"
        f" {plural(one['background'], 'case')} had this value and were otherwise as they are, less"
        " their mean as they are (partial dependence). Columns that rise together are then taken"
        " apart."
    )


def _first(one: Mapping[str, Any], key: str) -> dict[str, Any]:
    """Return what stands in the page before its script runs."""
    return {
        "key": key,
        "lead": one["lead"],
        "notes": one["notes"],
        "painted": one["painted"],
        "columns": one["columns"][:FIRST],
        "more": one["table"] or one["columns"][FIRST:],
        "rest_words": one["rest_words"],
    }


def _island(folder: Folder, portraits: Mapping[str, dict[str, Any]]) -> dict[str, Any]:
    """Return what the script redraws from."""
    cases = folder.cases
    assert cases is not None, "an island is of cases"
    y = np.asarray(cases.y, dtype=np.intp)
    rows = carried_rows(y)
    drawn: dict[str, list[float]] = {}  # the thresholds of each column that is drawn
    for one in portraits.values():
        for column in one["columns"]:
            drawn.setdefault(column["whole"], []).extend(column.get("steps", ()))
    classes: Sequence[str] = [str(one) for one in folder.about["classes"]]
    sizes = np.bincount(y, minlength=len(classes)).tolist()
    positive = _positive(classes)
    return {
        "classes": classes,
        "positive": positive,
        "order": [positive, *(k for k in range(len(classes)) if k != positive)],
        "sampled": _sampled(len(rows), len(y)),
        "sizes": sizes,
        "rows": rows.tolist(),
        "y": y[rows].tolist(),
        "of": carried_values(cases, rows, drawn),
        "models": portraits,
    }


def _positive(classes: Sequence[str]) -> int:
    return len(classes) - 1


def _sampled(drawn: int, n: int) -> str:
    """Return in words that not every case is drawn, '' if every one is."""
    if drawn == n:
        return ""
    return (
        f"Of {plural(n, 'case')} {drawn} are drawn, evenly spaced in the table; the bars count"
        " them all, to one height. "
    )
