"""Would other cases have led to the same columns: who came back in which fold."""

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

from psephos.explain.effects import value_text
from psephos.protocol.evaluation.stability import positions_of
from psephos.protocol.evaluation.statistics import ONE_PART
from psephos.protocol.study.folder import damaged
from psephos.protocol.study.folds import FoldModel, read_folds, returned_of
from psephos.report.panels.missed import class_names
from psephos.report.panels.verdict import UNSTABLE
from psephos.report.study.folder import Folder
from psephos.report.study.standings import Standing
from psephos.report.words import ShortName, class_kinds, count, of, plural, rate, series, span

MOST = 30  # rules that are drawn one by one
_SQUARES = 10  # fits that are drawn one by one


def rules_section(
    folder: Folder, models: Sequence[str], place: Mapping[str, int]
) -> dict[str, dict[str, Any]]:
    """Return what came back of each model's rules: its words, and a row a rule.

    A rule is a question on a column that speaks for one class, whatever its threshold
    (`psephos.protocol.returned`). A row holds the column, the class, the categories asked for, the
    thresholds in the folds, in how many folds it stands, a mark for each fold (1: asks it, 0: does
    not, -: its model was not kept), whether the fit to all asks it, and at which values.

    Parameters
    ----------
    place : dict of str to int
        Where each column of the table is.
    """
    from psephos.models import load

    if folder.kind != "classes":
        return {}
    kept, told = read_folds(folder.path), folder.about.get("folds")
    found: dict[str, dict[str, Any]] = {}
    for key in models:
        if key not in kept:
            found[key] = _none(_not_kept(key, told))
            continue
        final = load(folder.models[key]) if key in folder.models else None
        found[key] = _rules_of(folder, key, kept[key], final, place)
    return found


def _none(words: str) -> dict[str, Any]:
    return {"words": words, "rows": [], "n": 0, "single": False, "final": False}


def _not_kept(key: str, told: Mapping[str, Any] | None) -> str:
    if told is None:
        return "The models of the folds were not kept in this study: its rules cannot be counted."
    why = {str(one["not_kept"]) for one in told.get(key, ()) if "not_kept" in one}
    if why:
        words = f"No model of a fold was kept of {key}, so that its rules cannot be counted"
        return f"{words}: {sorted(why)[0]}."
    return f"The models of the folds of {key} were not kept: its rules cannot be counted."


def _rules_of(
    folder: Folder,
    key: str,
    folds: Sequence[FoldModel],
    final: Any,
    place: Mapping[str, int],
) -> dict[str, Any]:
    classes = [str(one) for one in folder.about["classes"]]
    found = returned_of(folds, final, classes)
    strange = [row for row in found.rules if row["column"] not in place]
    if strange or any(row["toward"] not in classes for row in found.rules):
        raise damaged(folder.path / "folds", "a model has columns or classes of another study")
    fits = sorted((f.repeat, f.fold) for f in folder.fits if f.model == key and not f.error)
    have = {(one.repeat, one.fold) for one in folds}
    if not found.rules:
        return _none(
            f"{key} asks no question of single columns, such as a threshold, and adds no terms of"
            " them: it has no rules to be counted."
        )
    drawn = [row for row in found.rules if row["folds"] > found.n_folds / 2 or row["final"]][:MOST]
    single = len(fits) <= _SQUARES
    return {
        "words": _rule_words(key, found.rules, found.n_folds, len(fits), final is not None),
        "rows": [
            [
                place[row["column"]], classes.index(row["toward"]), row["levels"], _span(row),
                row["folds"], _marks(row, fits, have) if single else "", int(row["final"]),
                _values(row["final_bounds"]),
            ]
            for row in drawn
        ],
        "n": found.n_folds,
        "fits": len(fits),
        "single": single,
        "final": final is not None,
        "note": _rules_note(drawn, found.rules, found.n_folds, final is not None),
    }  # fmt: skip


def _marks(row: Mapping[str, Any], fits: Sequence[tuple[int, int]], have: Any) -> str:
    asked = set(row["which"])
    return "".join("-" if one not in have else "01"[one in asked] for one in fits)


def _span(row: Mapping[str, Any]) -> str:
    """Return the thresholds of a rule in the folds: one, or from the lowest to the highest."""
    if row["low"] is None:
        return ""
    low, high = value_text(row["low"]), value_text(row["high"])
    return low if low == high else f"{low} to {high}"


def _values(bounds: Sequence[float]) -> str:
    texts = list(dict.fromkeys(value_text(one) for one in bounds))
    return series(texts) if len(texts) <= 3 else f"{texts[0]} to {texts[-1]}"


def _rule_words(key: str, rules: Sequence[Any], n: int, fits: int, final: bool) -> str:
    read = [row for row in rules if row["folds"]]
    if n == 1:
        return f"Of {key} one model of a fold was kept: nothing can be said of what comes back."
    always = sum(row["folds"] == n for row in rules)
    once = sum(row["folds"] == 1 for row in rules)
    kept = f"The {count(n)} models" if n == fits else f"The {n} of {fits} models that were kept"
    words = f"{kept} of {key} ask {plural(len(read), 'rule')} between them: "
    if len(read) == 1:
        words += f"it came back {'every time' if always else of(read[0]['folds'], n, 'times')}."
    else:
        words += f"{count(always) if always else 'none'} came back every time,"
        words += f" {count(once) if once else 'none'} only once."
    if not final:
        return words
    new = sum(row["final"] and not row["folds"] for row in rules)
    own = sum(row["final"] for row in rules)
    if own == 1:
        stood = "in no fold's" if new else "in at least one fold's"
        return f"{words} The one rule of the model fitted to all cases stood {stood}."
    return words + (
        f" Of the {plural(own, 'rule')} of the model fitted to all cases, {count(own - new)} stood"
        " in at least one fold's."
    )


def _rules_note(drawn: Sequence[Any], rules: Sequence[Any], n: int, final: bool) -> str:
    words = (
        "A rule is a column and the class that its higher values, or the categories named, speak"
        " for; its threshold may differ from fold to fold."
    )
    if len(drawn) == len(rules):
        return words
    words += f" Drawn are rules that came back at least {count(n // 2 + 1)} times"
    words += ", or that the fit to all cases asks" if final else ""
    words += f" (at most {MOST})" if len(drawn) == MOST else ""
    return words + f"; {plural(len(rules) - len(drawn), 'other')} are not."


ROWS = 30  # columns that are drawn one by one; of more, how many came back how often
_LISTED = 60  # columns of a model in its table
_NAMED = 4


def stability_section(
    folder: Folder,
    rows: Sequence[Standing],
    final: Mapping[str, Sequence[str]],
    names: Mapping[str, ShortName],
    first: str | None,
    positive: int,
) -> dict[str, Any]:
    """Return what the panel shows: entries of the page's dictionary.

    Parameters
    ----------
    final : dict of str to list of str
        The columns that each saved model, fitted to all cases, reads.
    names : dict of str to Shown
        What columns are called.
    first : str or None
        The model that is shown first.
    positive : int
        The class that answers are about.
    """
    columns = [str(c) for c in folder.about.get("columns", ())]
    read: dict[str, list[list[int]]] = {}
    for row in folder.rows:
        if row.get("columns") is not None and row["status"] == "ok":
            read.setdefault(row["model"], []).append(positions_of(row["columns"]))
    models = {s.key: _model(s, read.get(s.key, []), final.get(s.key), columns, names) for s in rows}
    place = {name: j for j, name in enumerate(columns)}
    rules = rules_section(folder, list(models), place) if columns else {}
    every = [*models.values(), *rules.values()]
    told: list[int] = sorted({row[0] for one in every for row in one["rows"]})
    where = {j: k for k, j in enumerate(told)}
    for one in every:
        one["rows"] = [[where[j], *more] for j, *more in one["rows"]]
    called = [_called(columns[j], names) for j in told]
    kinds = class_kinds(len(folder.about["classes"]), positive)
    shared = {"columns": called, "classes": class_names(folder), "kinds": kinds}
    return {
        "stability": models.get(first or "") or _nothing("No model was fitted."),
        "rules": rules.get(first or ""),
        "stability_shared": shared,
        "island": {"stability": {**shared, "models": models, "rules": rules}},
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
        return _nothing(f"{s.label} reads every column every time; there is nothing to compare.")
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
    """Return what a column is called, and its whole name where that is another."""
    shown = names.get(name) or ShortName(name)
    called: dict[str, Any] = {"name": shown.text}
    if shown.italic:
        called["italic"] = 1
    if shown.text != name:
        called["whole"] = name
    return called


def _tally(times: Counter[int], n: int) -> list[list[int]]:
    """Return how many columns came back in so many fits, the most first."""
    many = Counter(times.values())
    return [[k, many[k]] for k in range(n, 0, -1) if many[k] or n <= _SQUARES]


def _words(
    s: Standing, times: Counter[int], n: int, columns: Sequence[str], names: Mapping[str, ShortName]
) -> str:
    if n == 1:
        return (
            f"{s.label} was fitted to part of the cases once only, reading"
            f" {plural(len(times), 'column')}: nothing can be said of its stability."
        )
    always = [j for j, k in times.items() if k == n]
    once = sum(k == 1 for k in times.values())
    words = f"The {count(n)} models of {s.label} read {plural(len(times), 'column')} between them: "
    if len(times) == 1:
        words += f"it came back {'every time' if always else of(max(times.values()), n, 'times')}."
    elif always:
        words += f"{count(len(always))} came back every time"
        if len(always) <= _NAMED:
            shown = [names[columns[j]].text if columns[j] in names else columns[j] for j in always]
            words += f" ({series(shown)})"
    else:
        words += "none came back every time"
    if len(times) > 1:
        words += f", {count(once) if once else 'none'} only once."
    found = s.summary.stability
    if not math.isfinite(found.value):
        return words
    interval = span(found.low, found.high)
    words += (
        f" The stability is {rate(found.value)}"
        + (f" (95 % interval {interval}, which takes the folds as independent)" if interval else "")
        + ", where 1 is always the same columns and 0 as by lot."
    )
    if found.value < UNSTABLE:
        words += " Its columns are one choice among several that would have served."
    return words


def _note(drawn: int, every: int, n: int, final: bool) -> str:
    if drawn > ROWS:
        words = "Too many to name one by one: the number of columns by how often they came back."
    else:
        least = n // 2 + 1
        words = f"Columns that came back at least {count(least)} times"
        words += ", or that the fit to all cases reads." if final else "."
        if every > _LISTED:
            words += (
                f" The table lists {_LISTED} of all {count(every)}: these, then those that came"
            )
            words += " back most often."
        elif every > drawn:
            other = every - drawn
            words += f" The other {f'{count(other)} are' if other > 1 else 'one is'} in the table."
    return words + " Training parts overlap, so that other cases would give less agreement."
