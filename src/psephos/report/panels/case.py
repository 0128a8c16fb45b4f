"""A new case: what the chosen model would say of it, and who votes."""

from collections.abc import Mapping
from typing import Any

import numpy as np

from psephos.report.numbers.calculators import (
    CAPACITY,
    calculator,
    size_words,
    typical,
    typical_words,
)
from psephos.report.numbers.column_values import by_importance, drawn_of
from psephos.report.numbers.training_ballots import casebook
from psephos.report.panels.missed import class_names
from psephos.report.study.answers import Positive
from psephos.report.study.carried import carried_rows, carried_values
from psephos.report.study.opened import Facts
from psephos.report.study.options import Options
from psephos.report.study.saved import Saved
from psephos.report.study.standings import Choice
from psephos.report.words import plural, series
from psephos.vote.names import percent

_SHOWN = 7  # ballots before the reader asks for all


def case_section(
    saved: Saved,
    choice: Choice | None,
    positive: Positive,
    facts: Mapping[str, Facts],
    options: Options,
) -> dict[str, Any]:
    """Return what the panel shows; other parameters and the result as of `values_section`.

    Decision functions are carried in the order of the verdict until the page is full; the others
    say what they would add.
    """
    shown, kept = choice.opened if choice else None, options.cases != "none"
    island: dict[str, Any] = {"ballots": None}
    first = book = None
    carried = ""
    if shown and saved.keys:
        found = _calculators(saved, facts, options)
        island["case"] = found
        carried = _carried(saved, found["models"], options.cases == "full")
        if "plain" in found["models"][shown.key]:
            first = _first(saved, shown.key, positive.code, options.cases)
    if shown and first is None and kept:
        book = casebook(saved.folder, saved.opened(shown.key), shown.key)
        island["ballots"] = book["embedded"] if book else None
    return {
        "case": first,
        "ballots": book,
        "case_carries": carried,
        "ballots_absent": "" if shown is None or (first and kept) else _absent(kept),
        "island": island,
    }


def _carried(saved: Saved, found: Mapping[str, Mapping[str, Any]], full: bool) -> str:
    """Return which decision functions in the page hold values of training cases."""
    kept = [key for key, one in found.items() if "plain" in one and saved.asked(key).keeps_rows]
    own = [key for key in kept if full or "that the model keeps" not in found[key]["rounding"]]
    words = ""
    for keys, how in (([k for k in kept if k not in own], "three"), (own, "all")):
        if keys:
            verb = "function of {} holds" if len(keys) == 1 else "functions of {} hold"
            words += f" The decision {verb.format(series(keys))} values of training cases,"
            words += f" to {how} figures."
    return words


def _absent(kept: bool) -> str:
    return "The training cases were not kept." if kept else "This page carries no cases."


def _calculators(saved: Saved, facts: Mapping[str, Facts], options: Options) -> dict[str, Any]:
    """Return what the page answers cases with, by model, and the values it starts from."""
    cases, full = saved.folder.cases, options.cases == "full"
    assert cases is not None, "there are no models without cases"
    y = np.asarray(cases.y, dtype=np.intp)
    rows = carried_rows(y) if options.cases != "none" else y[:0]
    drawn = _drawn(saved)
    models: dict[str, dict[str, Any]] = {}
    values: dict[str, list[Any]] = {}
    left = CAPACITY
    for key in saved.keys:
        asked = saved.asked(key)
        if options.cases == "none" and asked.keeps_rows:
            models[key] = {
                "why": f"{key} keeps values of training cases, which this page does not carry."
            }
            continue
        order = by_importance(asked, saved.opened(key))
        cuts = None if full else [saved.cuts(name) for name in asked.whole]
        one = calculator(
            asked, order, rows, y, len(saved.folder.about["classes"]), cuts, options.cases
        )
        if isinstance(one, str):
            models[key] = {"why": f"{key} cannot be asked here: {one}"}
            continue
        for field in one["fields"]:
            shown = saved.names[field["whole"]]
            field |= {"italic": 1} if shown.italic else {}
            field |= {"unit": shown.unit} if shown.unit else {}
        names = {field["whole"] for field in one["fields"]} - drawn - values.keys()
        own = carried_values(cases, rows, {n: saved.cuts(n) for n in sorted(names)}, full)
        size, words = size_words([one, own])
        if size > left:
            models[key] = {
                "why": f"{key} is not carried in this page: it would add {words}, and the page is"
                " full. 'psephos predict' and 'psephos explain' answer from its file."
            }
            continue
        left -= size
        models[key] = one | {"says": facts[key].says}
        values |= own
    return {"models": models, "of": values}


def _drawn(saved: Saved) -> set[str]:
    """Return the columns whose values the panel of values carries."""
    found: set[str] = set()
    for key in saved.keys:
        asked = saved.asked(key)
        found |= {asked.whole[j] for j in drawn_of(by_importance(asked, saved.opened(key)))}
    return found


def _first(saved: Saved, key: str, positive: int, carried: str) -> dict[str, Any] | None:
    """Return what stands in the page before its script runs: a typical case and its ballots."""
    cases, asked = saved.folder.cases, saved.asked(key)
    assert cases is not None, "there are no models without cases"
    row = typical(asked, np.asarray(cases.y) == positive, carried)
    if row is None:
        return None
    answer, votes = asked.ballot(row)
    return {
        "start": f"the {typical_words(carried)} of {class_names(saved.folder)[positive]}",
        "answer": answer,
        "votes": [{"words": words, "weight": percent(weight)} for words, weight in votes[:_SHOWN]],
        "more": plural(len(votes) - _SHOWN, "further ballot") if len(votes) > _SHOWN else "",
    }
