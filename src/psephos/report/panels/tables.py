"""Further tables: labels, pooled figures of numbers, bounds, Table 1, and the curve."""

import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from psephos.explain.cohort import THIRDS, CohortDisplay, thirds
from psephos.protocol.evaluation.scores import ResultMetric
from psephos.protocol.evaluation.statistics import ONE_PART, one_part
from psephos.protocol.running.curve import failed_words
from psephos.protocol.study.outputs import LABEL_COLUMNS, POOLED_COLUMNS
from psephos.report.study.folder import FEWEST, Folder
from psephos.report.study.standings import Opening, Standing
from psephos.report.words import ShortName, count, number, plural, plus_minus, spanned, three

_COLUMNS = 60  # the most columns of Table 1


def label_figures(folder: Folder, choice: Opening) -> dict[str, object] | None:
    """Return the tables of the models that the page shows, by label; None without labels."""
    if not folder.multilabel:
        return None
    shown = [one for one in choice.named() if one.fits]
    return {
        "words": (
            "Counted over all held-out cases (a case counts each time that it was held out):"
            " sensitivity is the share of cases with the label for which it is predicted, precision"
            " the share of predictions of the label that are right, F1 their harmonic mean."
        ),
        "models": [_table(folder, one) for one in shown],
    }


def cohort_table(
    folder: Folder, columns: Sequence[str], names: Mapping[str, ShortName], kept: bool
) -> dict[str, object] | None:
    """Return Table 1, the cases by class, for the first 60 of these columns.

    None without cases or columns, or if a case may have several labels. If cases are not kept,
    small counts are withheld.
    """
    cases = folder.cases
    if cases is None or folder.multilabel:
        return None
    read = [name for name in dict.fromkeys(columns) if name in cases.names][:_COLUMNS]
    at, fewest = [cases.names.index(name) for name in read], 0 if kept else FEWEST
    codes, classes = np.array(cases.y), tuple(folder.classes)
    if folder.kind == "numbers":
        codes, classes = thirds(codes), THIRDS
    called = tuple(names[name].text for name in read)
    display = CohortDisplay(called, cases.values[:, at], codes, classes, fewest)
    words = (
        "There are no p-values, since they would ignore that models choose columns that differ with"
        " the target."
    )
    if fewest:
        words += f" Counts from 1 to {fewest - 1}, and some that reveal these, are withheld."
    return {"words": words, "heads": display.heads(), "rows": display.lines()} if at else None


def pooled_figures(folder: Folder, rows: Sequence[Standing]) -> dict[str, object] | None:
    """Return the table of figures over all held-out cases; None unless the target is numeric."""
    if folder.kind != "numbers":
        return None
    found = folder.pooled()
    unit = "groups" if folder.about.get("groups") else "cases"
    measures = [one for one in folder.measures if one.name in POOLED_COLUMNS]
    return {
        "words": (
            "Pooled: all held-out cases together, unlike the means over folds above. Pooled R² is 1"
            " less the squared errors as a share of those of predicting the mean of all cases each"
            " time: 0.8 if a fifth of them is left, 0 if it predicts as well as that mean, less if"
            f" worse. Pooled intervals show what other {unit} would change for the same models (the"
            " middle 95 % of a thousand bootstrap draws); those of means over folds show what other"
            " training cases would change, too. MAE is the mean absolute error and RMSE the root of"
            f" the mean squared error, in units of {folder.target} and best at 0."
        ),
        "heads": [f"pooled {one.words}" for one in measures],
        "rows": [
            {"label": s.label, "cells": [_pooled(found[s.key], one) for one in measures]}
            for s in rows
            if s.key in found
        ],
    }


def _pooled(figures: Mapping[str, float | None], measure: ResultMetric) -> dict[str, object]:
    ends = [measure.name, f"{measure.name}_low", f"{measure.name}_high"]
    values = [figures[key] for key in ends]
    text, low, high = (three(v) if measure.unit else number(v) for v in values)
    return {"value": values[0], "text": text, "interval": f"{low} to {high}"}


def _table(folder: Folder, one: Standing) -> dict[str, object]:
    rows: list[dict[str, object]] = []
    for figures in folder.labels(one.key):
        counts, shares = ([figures[key] for key in LABEL_COLUMNS[a:b]] for a, b in ((2, 5), (5, 8)))
        cells = [{"value": value, "text": number(value)} for value in shares]
        rows.append({"label": figures["label"], "counts": list(map(count, counts)), "cells": cells})
    return {"key": one.key, "label": one.label, "rows": rows}


# ------------------------------------------------------------------- bounds
_KINDS = {
    "hold-out, folds": "folds' models, held out",
    "out of bag": "refit, out of bag",
    "published": "refit, published bound",
}


def proved(folder: Folder, rows: Sequence[Standing]) -> dict[str, object] | None:
    """Return the table of bounds, in the order of the other tables; None without bounds."""
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


# ------------------------------------------------------------------- accuracy against columns
def curve_section(folder: Folder, rows: Sequence[Standing]) -> dict[str, Any]:
    """Return the table of the curve, and the lines to draw; None without a curve."""
    labels, points = {s.key: s.label for s in rows}, folder.curve()
    lines: dict[str, list[Sequence[float]]] = {}
    table: list[dict[str, object]] = []
    for one in points:
        price, low, high = (one[name] for name in ("price", "low", "high"))
        if math.isfinite(one["score"]):
            half = high - price if high == high else 0.0
            place = (one["columns"], one["score"], half, one["knee"])
            lines.setdefault(one["model"], []).append(place)
        score = plus_minus(one["score"], one["sd"] if one["folds"] > 1 else None)
        cells = [str(one["k"]), score, spanned(price, low, high)]
        if one["k"] is None:
            cells[::2] = f"all it chose ({count(one['columns'])})", ""
        cells.append(number(one["stability"], 2))
        failed = f"failed in {plural(one['failed'], 'fold')}" if one["failed"] else ""
        marks = ", ".join(filter(None, ["knee" * one["knee"], failed]))
        table.append({"label": labels[one["model"]], "cells": cells, "marks": marks})
    drawn = [{"key": key, "label": labels[key], "points": own} for key, own in lines.items()]
    if not points:
        return {"curve": None}
    return {
        "curve": {
            "rows": table,
            "measure": folder.measure,
            "failed": failed_words(points),
            "one": ONE_PART if one_part(folder.rows) else "",
        },
        "island": {"curve": {"measure": folder.measure, "lines": drawn}} if drawn else {},
    }
