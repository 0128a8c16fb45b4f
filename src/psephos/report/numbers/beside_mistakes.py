"""Beside each mistake: the values of the columns that weigh most with the model that made it."""

from typing import Any

import numpy as np

from psephos.explain.effects import value_text
from psephos.report.numbers.column_values import by_importance
from psephos.report.study.carried import carried_rows, carried_values
from psephos.report.study.saved import Saved

MOST = 3  # columns


def beside(saved: Saved, key: str, full: bool) -> list[dict[str, Any]]:
    """Return the most important columns, each with its values as the page carries and writes them.

    Parameters
    ----------
    key : str
        A model that has a file.
    full : bool
        Whether values keep all their figures.

    Returns
    -------
    columns : list of dict
        ``name``, ``whole``, ``italic``, ``unit``, and under ``of`` the text of each carried row.
    """
    cases = saved.folder.cases
    if cases is None or key not in saved.keys:
        return []
    asked = saved.asked(key)
    whole = [asked.whole[j] for j in by_importance(asked, saved.opened(key))[:MOST]]
    rows = carried_rows(np.asarray(cases.y, dtype=np.intp))
    values = carried_values(cases, rows, {name: saved.cuts(name) for name in whole}, full)
    return [
        {
            "name": saved.names[name].text,
            "whole": name,
            "italic": saved.names[name].italic,
            "unit": saved.names[name].unit,
            "of": dict(zip(rows.tolist(), map(_text, values[name]), strict=True)),
        }
        for name in whole
    ]


def _text(value: Any) -> str:
    if value is None:
        return "missing"
    return value if isinstance(value, str) else value_text(float(value))
