"""How well each label is found, where a case may have several; figures of all cases, of numbers."""

from collections.abc import Mapping, Sequence

from psephos.protocol.evaluation.scores import ResultMetric
from psephos.protocol.study.outputs import POOLED_COLUMNS
from psephos.report.study.folder import Folder
from psephos.report.study.standings import Opening, Standing
from psephos.report.words import MINUS, count, number


def label_figures(folder: Folder, choice: Opening) -> dict[str, object] | None:
    """Return the tables of the models that the page shows, a row a label; None without labels."""
    if not folder.multilabel:
        return None
    shown = [one for one in choice.named() if one.fits]
    return {
        "words": (
            "Counted over all held-out cases (a case that was held out several times counts each"
            " time): sensitivity is the share of the cases with the label that are given it,"
            " precision the share of those given it that have it, F1 their harmonic mean."
        ),
        "models": [_table(folder, one) for one in shown],
    }


def pooled_figures(folder: Folder, rows: Sequence[Standing]) -> dict[str, object] | None:
    """Return the table of figures over all held-out cases; None unless the target is a number."""
    if folder.kind != "numbers":
        return None
    found = folder.pooled()
    unit = "groups" if folder.about.get("groups") else "cases"
    measures = [one for one in folder.measures if one.name in POOLED_COLUMNS]
    return {
        "words": (
            "All held-out cases together. Intervals hold the middle 95 % of a thousand draws of as"
            f" many {unit}, with replacement. Predictions are not fitted again in these: other"
            " training cases would move the figures more. R² is the share of the squared deviations"
            " from the mean that is explained, and below 0 where the mean of these cases is nearer."
            " MAE is the mean absolute error and RMSE the root of the mean squared error, in the"
            " unit of the target and best at 0."
        ),
        "heads": [one.words for one in measures],
        "rows": [
            {"label": s.label, "cells": [_pooled(found[s.key], one) for one in measures]}
            for s in rows
            if s.key in found
        ],
    }


def _pooled(figures: Mapping[str, float | None], measure: ResultMetric) -> dict[str, object]:
    ends = [measure.name, f"{measure.name}_low", f"{measure.name}_high"]
    values = [figures[key] for key in ends]
    text, low, high = ("–" if v is None else measure.text(v, 3).replace("-", MINUS) for v in values)
    return {"value": values[0], "text": text, "interval": f"{low} to {high}"}


def _table(folder: Folder, one: Standing) -> dict[str, object]:
    rows: list[dict[str, object]] = []
    for figures in folder.labels(one.key):
        n, given, found = figures["rows"], figures["given"], figures["found"]
        shares = (
            found / n if n else None,
            found / given if given else None,
            2 * found / (n + given) if n + given else None,
        )
        cells = [{"value": value, "text": number(value)} for value in shares]
        rows.append(
            {"label": figures["label"], "counts": [count(k) for k in (n, given, found)],
             "cells": cells}
        )  # fmt: skip
    return {"key": one.key, "label": one.label, "rows": rows}
