"""A comparison in a notebook: a table of its models, with words for what they cannot say."""

import math
from html import escape
from typing import Any

from psephos.protocol.displays import AccuracyDisplay
from psephos.vote.names import MINUS, fixed

__all__ = ["comparison_html"]

_CELL = "padding:2px 10px 2px 0;text-align:left"


def comparison_html(comparison: Any) -> str:
    """Return how the run ended, and a row a model: columns, accuracy, difference from the best."""
    words = comparison.words()
    parts = [f"<p><b>{escape(words[0].upper() + words[1:])}</b></p>"]
    if any(row["status"] == "ok" for row in comparison.results):
        display = AccuracyDisplay.from_comparison(comparison)
        parts += [_table(display, comparison), f"<p>{escape(_note(comparison))}</p>"]
    return f"<div>{''.join(parts)}</div>"


def _table(display: AccuracyDisplay, comparison: Any) -> str:
    table = display.table()
    stable = {one.model: one.stability.value for one in comparison.summary()}
    rows = [dict(zip(table, row, strict=True)) for row in zip(*table.values(), strict=True)]
    rows.sort(key=lambda row: (-row["n"], -row["score"] if row["score"] == row["score"] else 0.0))
    heads = ("model", "columns", display.measure.replace("_", " "), "folds",
             f"less that of {display.reference}", "95 % interval", "stability")  # fmt: skip
    body = [
        (
            row["model"] + (" *" if row["frontier"] else ""),
            _span(row["columns_low"], row["columns_high"], 0),
            _number(row["score"]) + ("" if math.isnan(row["sd"]) else f" ± {_number(row['sd'])}"),
            str(row["n"]),
            _number(row["difference"]),
            _span(row["low"], row["high"], 3),
            _number(stable[row["model"]], 2),
        )
        for row in rows
    ]
    head = "".join(f'<th style="{_CELL}">{escape(one)}</th>' for one in heads)
    lines = "".join(
        "<tr>" + "".join(f'<td style="{_CELL}">{escape(one)}</td>' for one in row) + "</tr>"
        for row in body
    )
    return f"<table><thead><tr>{head}</tr></thead><tbody>{lines}</tbody></table>"


def _note(comparison: Any) -> str:
    words = "* none is better in both accuracy and columns. Mean ± standard deviation over folds."
    found = comparison.selected()
    if found is None:
        return words
    return (
        f"{words} The fewest columns within one standard error of the best: {found.model}, "
        "selected on these same folds."
    )


def _number(value: float, digits: int = 3) -> str:
    return "–" if math.isnan(value) else fixed(value, digits).replace("-", MINUS)


def _span(low: float, high: float, digits: int) -> str:
    if math.isnan(low) or math.isnan(high):
        return "–"
    one, two = _number(low, digits), _number(high, digits)
    return one if digits == 0 and one == two else f"{one} to {two}"
