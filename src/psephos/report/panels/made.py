"""How the page was made: recipe, settings, what was not done, checklist, how to cite."""

import json
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from psephos import __version__
from psephos.report.study.answers import Positive
from psephos.report.study.standings import Standing
from psephos.report.study.folder import Folder
from psephos.report.panels.methods import methods, recipes
from psephos.report.panels.tripod import tripod
from psephos.report.words import series

__all__ = ["made_section"]


def made_section(
    folder: Folder,
    rows: Sequence[Standing],
    shown: Standing | None,
    positive: Positive,
    answers: bool,
    grouped: bool,
) -> dict[str, Any]:
    """Return what the panel shows: entries of the page's dictionary.

    Parameters
    ----------
    folder : Folder
    rows : sequence of Standing
    shown : Standing or None
        The model that is shown first.
    positive : Positive
    answers, grouped : bool
        Whether the page has held-out answers, and figures of groups.
    """
    told = recipes(folder, rows)
    models = {s.key: _of_model(folder, s, one) for s, one in zip(rows, told, strict=True)}
    warned: Any = folder.environment.get("warnings") or []
    return {
        "methods": methods(folder, rows),
        "recipes": told,
        "warnings": [str(w) for w in warned][:20],
        "model_made": models.get(shown.key) if shown else None,
        "not_done": _not_done(folder),
        "positive_words": ""
        if folder.multilabel
        else f"{folder.about['classes'][positive.code]}: {positive.rule}",
        "tripod": tripod(_facts(folder, shown, answers, grouped)),
        "cite": _cite(folder),
        "island": {"made": models},
    }


def _of_model(folder: Folder, s: Standing, recipe: Mapping[str, str]) -> dict[str, str]:
    """Return what is said of the chosen model: its settings after the search on all cases."""
    params = folder.refit_params.get(s.key)
    if params is None:
        settings = "not written down"
    else:
        settings = "; ".join(f"{name} {_value(v)}" for name, v in sorted(params.items()))
    notes = recipe["notes"]
    return {
        "label": s.label,
        "notes": f"{notes}." if notes else "",
        "settings": settings or "the defaults of the comparison",
    }


def _value(value: Any) -> str:
    if isinstance(value, float):
        return f"{value:.4g}"
    return value if isinstance(value, str) else json.dumps(value)


def _not_done(folder: Folder) -> str:
    words = ["No data from elsewhere were asked", "settings other than those drawn were not tried"]
    if not folder.multilabel:
        words += [
            "no threshold was chosen",
            "no answer was recalibrated, unless you choose so where this page offers it",
        ]
    words += [
        "intervals were not widened for many comparisons",
        "nothing here says that a column causes anything",
    ]
    return f"{series(words)}."


def _facts(folder: Folder, shown: Standing | None, answers: bool, grouped: bool) -> dict[str, Any]:
    about, cases = folder.about, folder.cases
    read = folder.refit_columns.get(shown.key) if shown else None
    models: Mapping[str, Mapping[str, Any]] = about.get("models", {})
    return {
        "n": folder.n_rows,
        "classes": [str(c) for c in about["classes"]],
        "sizes": folder.sizes,
        "columns": folder.n_columns,
        "events": min(folder.sizes) if folder.sizes and not folder.multilabel else None,
        "read": read,
        "missing": None if cases is None else _missing(cases.values),
        "grouped": about.get("groups"),
        "balanced": [
            key
            for key, one in models.items()
            if "balanced" in str(one.get("distributions", {}).get("class_weight", ""))
        ],
        "model": shown.label if shown else None,
        "saved": shown is not None and shown.key in folder.models,
        "answers": answers,
        "subgroups": grouped,
        "made": f"psephos {_version(folder)}",
    }


def _missing(values: Any) -> tuple[int, int]:
    """Return how many of the values kept are missing, and how many there are."""
    if values.dtype == object:
        absent = sum(v is None or v != v for v in values.ravel().tolist())
    else:
        absent = int(np.isnan(values).sum())
    return absent, int(values.size)


def _version(folder: Folder) -> str:
    return str(folder.environment.get("versions", {}).get("psephos", __version__))


def _cite(folder: Folder) -> str:
    print_of = str(folder.about.get("fingerprint") or "")
    name = folder.about.get("dataset") or folder.path.name
    words = f"psephos {_version(folder)}, report of {name}"
    return f"{words}, table {print_of[:12]}." if print_of else f"{words}."
