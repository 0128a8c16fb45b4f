"""What can be proved of the models, as a table beside their estimates."""

from collections.abc import Sequence
from typing import Any

from psephos.report.study.folder import Folder
from psephos.report.study.standings import Standing
from psephos.report.words import number

_KINDS = {
    "hold-out, folds": "folds' models, held out",
    "out of bag": "refit, out of bag",
    "published": "refit, published bound",
}


def proved(folder: Folder, rows: Sequence[Standing]) -> dict[str, Any] | None:
    """Return the table of bounds, models in the order of the others; None if none was written."""
    kinds = [kind for kind in _KINDS if any(row["bound"] == kind for row in folder.bounds)]
    if not kinds:
        return None
    own = {(row["model"], row["bound"]): row for row in folder.bounds}
    reasons: dict[str, list[str]] = {}
    why = {row["told"] for row in folder.bounds}
    for s in rows:
        for kind in kinds:
            row = own.get((s.key, kind))
            if row is not None and row["value"] == "":
                reasons.setdefault(f"{_KINDS[kind]}: {row['told']}", []).append(s.label)
    constant = folder.constant_error
    none = len(why) == 1 and not any(row["value"] for row in folder.bounds)
    chances = sorted({100 * (1 - float(row["delta"])) for row in folder.bounds})
    return {
        "heads": [_KINDS[kind] for kind in kinds],
        "chance": " or ".join(f"{chance:.4g} %" for chance in chances),
        "constant": number(constant),
        "none": next(iter(why)) if none else "",
        "rows": [
            {
                "key": s.key,
                "label": s.label,
                "ours": s.ours,
                "cells": [_cell(own.get((s.key, kind)), constant) for kind in kinds],
            }
            for s in rows
        ],
        "reasons": [{"labels": ", ".join(who), "words": words} for words, who in reasons.items()],
    }


def _cell(row: dict[str, str] | None, constant: float) -> dict[str, str]:
    if row is None:
        return {"text": "–", "mark": ""}
    if row["value"] == "":
        return {"text": "does not hold", "mark": ""}
    value = float(row["value"])
    return {"text": number(value), "mark": "" if value < constant else "vacuous"}
