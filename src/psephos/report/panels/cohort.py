"""Panels of a validation: figures, shift and familiarity of the cohort, recalibration."""

import math
import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from psephos.explain.cohort import given_counts
from psephos.files.names import class_words, value_text
from psephos.report.numbers.measures import of_given, withheld
from psephos.report.study.folder import FEWEST
from psephos.report.words import chance, count, difference, number, of, plural, rate, span
from psephos.validation.numbers import of_a_number
from psephos.validation.shift import familiarity_words, shift_words, voter_words

_RATES = ("accuracy", "sensitivity", "specificity", "predictive value", "ROC-AUC")
_OF_LEVELS = (["balanced accuracy"], ["mae", "mean error", "r2"])  # for classes, and for numbers
_CLIPPED = "probabilities clipped"
_BARS = 10  # bars of the familiarity
_LISTED = 200  # the most columns of the table


def figures_section(found: Mapping[str, Any], subgroups: bool, kept: bool) -> dict[str, Any]:
    """Return the table of all figures and, if requested, that of subgroups.

    If cases are not kept, figures of few cases are withheld.
    """
    fewest = 0 if kept else FEWEST
    parts = [_subgroup(row, found["about"]["classes"], fewest) for row in found["subgroups"]]
    few = _few(found, fewest)
    rows = [_figure(row, few) for row in found["figures"] if row["figure"] != _CLIPPED]
    clipped = [
        f"{plural(int(row['value']), 'probability', 'probabilities')} of"
        f" {class_words(row['class'])} within 1e-6 of 0 or 1 counted as 1e-6 from it, for the"
        " calibration."
        for row in found["figures"]
        if row["figure"] == _CLIPPED and row["value"]
    ]
    groups, classes = found["about"]["n_groups"], found["about"]["classes"]
    notes = [] if groups is None else [f"Intervals take {plural(groups, 'group')} as independent."]
    return {
        "level": f"{100 * found['about']['level']:g} %",
        "rows": rows,
        "notes": [*notes, *clipped],
        "subgroups": parts if subgroups else [],
        "heads": [*classes, *_OF_LEVELS[not classes]],
        "numbers": bool(found["about"].get("target")),
    }


def _few(found: Mapping[str, Any], fewest: int) -> bool:
    """Return whether a count of the confusion table is withheld, and so all figures made of it."""
    cells = [row[c] for c in found["about"]["classes"] for row in found["confusion"]]
    return any(0 < n < fewest for n in cells)


def _figure(row: Mapping[str, Any], few: bool = False) -> list[str]:
    if few and (row["hits"] is not None or "accuracy" in row["figure"]):
        why = f"withheld: one of its counts is below {FEWEST}"
        return [_named(row["figure"], row["class"]), "–", "", "", why]
    return [
        _named(row["figure"], row["class"]),
        _value(row["figure"], row["value"]),
        _interval(row),
        "" if row["hits"] is None else of(row["hits"], row["n"]),
        row["method"],
    ]


def _named(figure: str, name: str) -> str:
    head, rest, _ = figure.partition(" against the rest")
    return f"{head} of {class_words(name)}{rest}" if name else figure


def _value(figure: str, value: float | None) -> str:
    """Return a figure as text: rates to two decimals, areas never as 1.00."""
    if value is None:
        return "–"
    if of_a_number(figure):
        return value_text(value, 4)
    if "ROC-AUC" in figure:
        return chance(value)
    if any(figure.endswith(word) for word in _RATES):
        return rate(value)
    return number(value, 2 if "calibration" in figure else 3)


def _interval(row: Mapping[str, Any]) -> str:
    if row["low"] is None or row["high"] is None:
        return ""
    if of_a_number(row["figure"]):
        return " to ".join(_value(row["figure"], row[key]) for key in ("low", "high"))
    if any(word in row["figure"] for word in _RATES):
        return span(row["low"], row["high"])
    digits = 2 if "calibration" in row["figure"] else 3
    return f"{number(row['low'], digits)} to {number(row['high'], digits)}"


def _subgroup(row: Mapping[str, Any], classes: Sequence[str], fewest: int) -> list[str]:
    name, figures = f"{row['by']} {row['level']}", _OF_LEVELS[not classes]
    if row["n"] < fewest:
        return [name, f"< {fewest}", *["–"] * (len(classes) + len(figures))]
    given = given_counts([row[f"n_{c}"] for c in classes], fewest)
    right = [
        text if n is None else of_given(row[f"right_{c}"], n, "", fewest).strip()
        for c, (n, text) in zip(classes, given, strict=True)
    ]
    sure = not fewest or all(re.match(r"\d+ of", one) for one in right)
    return [
        name,
        count(row["n"]),
        *right,
        *(_of_level(row, figure) if sure else "–" for figure in figures),
    ]


def _of_level(row: Mapping[str, Any], figure: str) -> str:
    """Return a figure of a subgroup, with its interval."""
    key = figure.replace(" ", "_")
    one = {"figure": figure, **{end: row.get(f"{key}_{end}") for end in ("low", "high")}}
    inside = _interval(one)
    return _value(figure, row.get(key)) + (f" ({inside})" if inside else "")


# ---------------------------------------------------------------------- columns, familiarity
def alike_section(found: Mapping[str, Any], names: Mapping[str, str], kept: bool) -> dict[str, Any]:
    """Return the usable voters, the shift of the columns, and the familiarity of the cases.

    Parameters
    ----------
    names : mapping of str to str
        Names of columns on the page.
    kept : bool
        Whether the page may show single cases.
    """
    shift, near = found["shift"], found["familiarity"]
    rows = [dict(zip(shift["columns"], cells, strict=True))
            for cells in zip(*shift["columns"].values(), strict=True)]  # fmt: skip
    rows.sort(key=lambda row: (row["there"], -_excess(row)))
    shares = [float(v) for r in found["predictions"] for v in [r.get("share_farther")] if v]
    drawn = near is not None and len(shares) == near["n"] and near["n_kept"] >= FEWEST and kept
    return {
        "speaking": _sentences(voter_words(found["speaking"])),
        "shift": _sentences(shift_words(shift, found["about"]["n_cases"])),
        "columns": [
            _column(row, names, 0 if kept else found["about"]["n_cases"]) for row in rows[:_LISTED]
        ],
        "unlisted": max(len(rows) - _LISTED, 0),
        "compared": shift["trained_rows"] is not None,
        "familiarity": _sentences(familiarity_words(near)),
        "tenths": _tenths(shares, near["expected"]) if drawn and near else None,
        "mass": near is not None and "weight" in near["measure"],
    }


def _sentences(lines: Sequence[str]) -> list[str]:
    return [line[0].upper() + line[1:] for line in lines]


def _excess(row: Mapping[str, Any]) -> float:
    return -math.inf if row["distance"] is None else row["distance"] - row["chance"]


def _column(row: Mapping[str, Any], names: Mapping[str, str], n: int) -> dict[str, Any]:
    """Return the line of a column; counts of few of `n` cases are withheld (0: none are)."""

    def cell(value: float | None, write: Callable[[float], str]) -> str:
        return "–" if value is None else write(value)

    def share(value: float) -> str:
        return f"{100 * value:.0f} %"

    name = names.get(row["column"], row["column"])
    distance, least = row["distance"], row["chance"]
    outside, lost = (row["outside"], round(n * row["missing"])) if row["there"] else (None, 0)
    beyond = distance is not None and distance > least
    return {
        "name": name,
        "whole": row["column"] if row["column"] != name else "",
        "beyond": beyond,
        "bar": None if distance is None else [round(distance, 4), round(min(least, 1.0), 4)],
        "cells": [
            row["role"],
            "not in the cohort"
            if not row["there"]
            else f"< {FEWEST} cases"
            if n and withheld(lost, n)
            else share(row["missing"]),
            cell(row["trained_missing"], share),
            cell(row["difference"], lambda v: difference(v, 2)),
            f"< {FEWEST}" if n and outside and outside < FEWEST else cell(row["outside"], count),
            cell(distance, lambda v: f"{rate(v)}{', more than chance' if beyond else ''}"),
        ],
    }


def _tenths(shares: Sequence[float], expected: Sequence[float]) -> list[dict[str, Any]]:
    """Return the cases by tenths of the training cases, the least familiar first.

    Each tenth has the number expected of cases like the training ones, which ties may make differ
    from a tenth.
    """
    which = np.minimum((np.array(shares) * _BARS).astype(int), _BARS - 1)
    counts = np.bincount(which, minlength=_BARS).tolist()
    usual = [len(shares) * share for share in expected]
    top = max(*counts, *usual)
    return [
        {"name": f"{10 * b} to {10 * b + 10} %", "n": n, "usual": count(usual[b]),
         "bar": [round(n / top, 4), round(usual[b] / top, 4)]}
        for b, n in enumerate(counts)
    ]  # fmt: skip


# ---------------------------------------------------------------------- recalibration
def recalibration_section(found: Mapping[str, Any]) -> dict[str, Any]:
    """Return the figures before and after recalibration on the cohort itself."""
    again = found["recalibration"]
    if again["method"] is None:
        return {"why": again["why"], "rows": [], "words": ""}
    before = {(row["figure"], row["class"]): row for row in found["figures"]}
    rows: list[list[str]] = []
    for after in again["figures"]:
        was = before.get((after["figure"], after["class"]))
        if was is not None and after["figure"] != _CLIPPED:
            name, *_ = _figure(after)
            rows.append([name, *_pair(was), *_pair(after)])
    what, command = "A sigmoid of the probabilities", "psephos validate --recalibrate FILE"
    if again["method"] == "line":
        start, slope = (_value("slope", again[key]) for key in ("offset", "slope"))
        what, command = f"The line {start} + {slope} × the prediction", ""
    return {
        "why": "",
        "rows": rows,
        "words": f"{what}, fitted in {plural(again['n_folds'], 'fold')} of"
        " the cohort and evaluated on the cases left out, would change the figures as below. It is"
        " fitted to this cohort: a model with it is no longer the one that was validated, and needs"
        " a validation on another cohort.",
        "command": command,
    }


def _pair(row: Mapping[str, Any]) -> list[str]:
    return [_value(row["figure"], row["value"]), _interval(row)]
