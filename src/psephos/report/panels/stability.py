"""Stability: the columns that the model of each fold reads."""

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

from psephos.protocol.evaluation.stability import positions_of
from psephos.protocol.evaluation.statistics import ONE_PART
from psephos.report.panels.verdict import UNSTABLE
from psephos.report.study.folder import Folder
from psephos.report.study.standings import Standing
from psephos.report.words import ShortName, count, of, plural, rate, series, span

_SQUARES = 10  # the most fits that are drawn one by one
ROWS = 30  # the most columns that are drawn one by one; of more, a histogram
_LISTED = 60  # the most columns of a model in its table
_NAMED = 4  # the most columns that are named


def stability_section(
    folder: Folder,
    rows: Sequence[Standing],
    final: Mapping[str, Sequence[str]],
    names: Mapping[str, ShortName],
    first: str | None,
) -> dict[str, Any]:
    """Return the panel's entries of the page's dictionary.

    Parameters
    ----------
    final : dict of str to list of str
        The columns that each saved model, fitted to all cases, reads.
    names : dict of str to ShortName
        Names of columns on the page.
    first : str or None
        The model that is shown first.
    """
    columns = [str(c) for c in folder.about.get("columns", ())]
    read: dict[str, list[list[int]]] = {}
    for row in folder.rows:
        if row.get("columns") is not None and row["status"] == "ok":
            read.setdefault(row["model"], []).append(positions_of(row["columns"]))
    models = {s.key: _model(s, read.get(s.key, []), final.get(s.key), columns, names) for s in rows}
    listed: list[int] = sorted({row[0] for one in models.values() for row in one["rows"]})
    where = {j: k for k, j in enumerate(listed)}
    for one in models.values():
        one["rows"] = [[where[j], *more] for j, *more in one["rows"]]
    called = [_called(columns[j], names) for j in listed]
    return {
        "stability": models.get(first or "") or _nothing("No model was fitted."),
        "stability_columns": called,
        "island": {"stability": {"columns": called, "models": models}},
    }


def _model(
    s: Standing,
    folds: Sequence[Sequence[int]],
    final: Sequence[str] | None,
    columns: Sequence[str],
    names: Mapping[str, ShortName],
) -> dict[str, Any]:
    if not folds or not columns:
        return _nothing("Which columns the models of its folds read was not kept.")
    if not any(folds):
        return _nothing(f"{s.label} reads no column.")
    if len(folds) == 1:
        return _nothing(f"In how many folds {s.label} reads a column: {ONE_PART}.")
    if all(len(own) == len(columns) for own in folds):
        return _nothing(f"{s.label} reads every column in every fold.")
    times = Counter(j for own in folds for j in own)
    last = set(final or ())
    where = {name: j for j, name in enumerate(columns)}
    half, sets = len(folds) / 2, [set(own) for own in folds]
    everyone = {*times, *(where[name] for name in last if name in where)}
    drawn = {j for j in everyone if times[j] > half or columns[j] in last}
    every = sorted(everyone, key=lambda j: (j not in drawn, -times[j], columns[j] not in last, j))
    single = len(folds) <= _SQUARES
    return {
        "kind": "tally" if len(drawn) > ROWS else "grid",
        "words": _words(s, times, len(folds), columns, names),
        "n": len(folds),
        "single": single,
        "drawn": len(drawn),
        "final": final is not None,
        "rows": [
            [j, times[j], "".join("01"[j in own] for own in sets) if single else "",
             int(columns[j] in last)]
            for j in every[:_LISTED]
        ],
        "tally": _tally(times, len(folds)),
        "note": _note(len(drawn), len(every), len(folds), final is not None),
    }  # fmt: skip


def _nothing(words: str) -> dict[str, Any]:
    return {"kind": "none", "words": words, "note": "", "rows": []}


def _called(name: str, names: Mapping[str, ShortName]) -> dict[str, Any]:
    """Return the name of a column on the page, and its full name if that differs."""
    shown = names.get(name) or ShortName(name)
    called: dict[str, Any] = {"name": shown.text}
    if shown.italic:
        called["italic"] = 1
    if shown.text != name:
        called["whole"] = name
    return called


def _tally(times: Counter[int], n: int) -> list[list[int]]:
    """Return (number of fits, number of columns read in so many fits), the most fits first."""
    many = Counter(times.values())
    return [[k, many[k]] for k in range(n, 0, -1) if many[k] or n <= _SQUARES]


def _words(
    s: Standing, times: Counter[int], n: int, columns: Sequence[str], names: Mapping[str, ShortName]
) -> str:
    always = [j for j, k in times.items() if k == n]
    once = sum(k == 1 for k in times.values())
    words = f"The {count(n)} models of {s.label} read {plural(len(times), 'column')} between them: "
    if len(times) == 1:
        words += f"it is read {'every time' if always else of(max(times.values()), n, 'times')}."
    elif always:
        words += f"{count(len(always))} {'is' if len(always) == 1 else 'are'} read every time"
        if len(always) <= _NAMED:
            shown = [names[columns[j]].text if columns[j] in names else columns[j] for j in always]
            words += f" ({series(shown)})"
    else:
        words += "none is read every time"
    if len(times) > 1:
        words += f", {count(once) if once else 'none'} only once."
    found = s.summary.stability
    if not math.isfinite(found.value):
        return words
    interval = span(found.low, found.high)
    words += (
        f" The stability is {rate(found.value)}"
        + (f" (95 % interval {interval}, which takes the folds as independent)" if interval else "")
        + ", where 1 means always the same columns and 0 columns chosen at random."
    )
    if found.value < UNSTABLE:
        words += " Fitted to other cases it would read other columns."
    return words


def _note(drawn: int, every: int, n: int, final: bool) -> str:
    if drawn > ROWS:
        words = (
            "Too many columns to draw: the number of columns by the number of fits that read them."
        )
    else:
        least = n // 2 + 1
        words = f"Columns that are read at least {count(least)} times"
        words += ", or by the fit to all cases." if final else "."
        if every > _LISTED:
            words += f" The table lists {_LISTED} of all {count(every)}: these, then those that are"
            words += " read most often."
        elif every > drawn:
            other = every - drawn
            words += f" The other {f'{count(other)} are' if other > 1 else 'one is'} in the table."
    return words + " Training parts overlap, so other cases would give less agreement."
