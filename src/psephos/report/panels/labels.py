"""How well each label is found, where a case may have several."""

from typing import Any

from psephos.report.study.folder import Folder
from psephos.report.study.standings import Opening, Standing
from psephos.report.words import count, number


def label_figures(folder: Folder, choice: Opening) -> dict[str, Any] | None:
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


def _table(folder: Folder, one: Standing) -> dict[str, Any]:
    rows: list[dict[str, Any]] = []
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
