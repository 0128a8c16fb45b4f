"""A new case: what the chosen model would say of it, and who votes."""

import json
import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from psephos._errors import PsephosError
from psephos._types import Floats, Indices, NDArray
from psephos.explain.effects import axis_of
from psephos.explain.missing_columns import VALUES
from psephos.files.names import number, percent
from psephos.report.numbers.column_values import by_importance, drawn_of
from psephos.report.panels.missed import class_names
from psephos.report.panels.observed import HeldOutNumbers
from psephos.report.study.answers import Positive
from psephos.report.study.folder import FEWEST
from psephos.report.study.opened import Facts, Reduced, Saved
from psephos.report.study.options import (
    FIGURES,
    PageOptions,
    brief,
    carried_rows,
    carried_values,
    guarded,
    rounded,
)
from psephos.report.study.standings import Opening
from psephos.report.words import plural, series, three
from psephos.scoring import plain
from psephos.scoring.rounded_rows import with_rounded_rows
from psephos.vote import Vote

CAPACITY = 3_500_000  # bytes of the page that decision functions may take, together
_QUANTILES = 101
_NOTHING = 1e-9  # rounding errors of sums


def calculator(
    asked: Reduced,
    order: Sequence[int],
    rows: Indices,
    y: Indices,
    n_classes: int,
    cuts: Sequence[Floats] | None,
    cases: str = "full",
) -> dict[str, Any] | str:
    """Return what the page answers a case with, as plain values; a sentence where it cannot.

    Parameters
    ----------
    order : sequence of int
        The columns that a complete case is answered by, the most important first.
    rows : ndarray of int
        The cases that the page carries.
    y : ndarray of int
        The classes of all cases.
    cuts : sequence of ndarray, optional
        The thresholds of each of its columns: values of cases are rounded, in the model as well,
        but not across these. By default nothing is.
    cases : {'rounded', 'full', 'none'}
        How the page carries cases. Where it carries none, typical ones are means of ten and more.

    Returns
    -------
    calculator : dict or str
        ``plain``, the decision function; ``fields``, one a column, in the order they are asked
        in; ``tried``, of each the values, and of categories their shares, over which the next
        measurement is weighed (`psephos.explain.next_column`); ``spread``, by which differences
        are divided; ``own``, quantiles of the distance of a case to the nearest other;
        ``rounding``, what rounding does to the answers, in words.
    """
    try:
        model, kept = (asked.model, False) if cuts is None else light(asked)
        function = plain(model)
        for own in (function, function["target"]):
            if own.get("classes"):
                own["classes"] = list(map(_told_apart, own["classes"]))
    except PsephosError as error:
        return str(error)
    wanted = [*order, *asked.vote.backup.tolist()]
    spread, X = _spread(asked), _rows_of(asked, rows, cuts)
    return {
        "plain": function,
        "fields": fields_of(asked, wanted, len(order), cases),
        "tried": None if cases == "none" else _tried(asked, wanted, cuts),
        "spread": [spread[j] for j in order],
        "own": nearest_own(X[:, list(order)], [spread[j] for j in order]),
        "typical": [
            None if row is None else _worded(asked, row, wanted, cuts)
            for row in (typical(asked, y == k, cases) for k in range(n_classes))
        ],
        "typical_words": typical_words(cases),
        "rounding": "" if cuts is None else _rounding(asked, model.vote_, rows, X, kept),
    }


def _told_apart(label: Any) -> Any:
    """Return a class as a script can hold it, whose numbers are doubles."""
    return str(label) if isinstance(label, int) and abs(label) > 2**53 else label


def fields_of(
    asked: Reduced, wanted: Sequence[int], n_used: int, cases: str = "full"
) -> list[dict[str, Any]]:
    """Return the fields of a form: names, axes or categories, and where they go in the function."""
    fields: list[dict[str, Any]] = []
    for i, j in enumerate(wanted):
        kind: dict[str, Any] = {"levels": asked.levels.get(j)}
        if j not in asked.levels:
            values = guarded(asked.X[:, j], cases)
            known = values[np.isfinite(values)]
            ends = [float(known.min()), float(known.max())] if len(known) else None
            kind = {"axis": axis_of(values).data(), "range": ends}
        one = {"name": asked.names[j], "whole": asked.whole[j], "at": j, "backup": i >= n_used}
        fields.append(one | kind)
    return fields


def _tried(
    asked: Reduced, wanted: Sequence[int], cuts: Sequence[Floats] | None
) -> list[list[list[Any]]] | None:
    """Return the values of each field that a missing one may have, as `next_of` draws them."""
    profile = asked.profile
    if profile is None:
        return None
    found: list[list[list[Any]]] = []
    for j in wanted:
        values, chances = profile.points(j, VALUES)
        if j in asked.levels:
            found.append([[asked.levels[j][int(v)] for v in values], chances.tolist()])
        else:
            found.append([values.tolist() if cuts is None else brief(values, cuts[j])])
    return found


def typical(asked: Reduced, which: NDArray[np.bool_], cases: str = "full") -> Floats | None:
    """Return the median of each column over some cases, of categories the most frequent code.

    NaN where no case has a value. In a page that carries no cases it is the mean, of ten values
    and more; None where so many cases are not there.
    """
    kept = cases != "none"
    if not kept and which.sum() < FEWEST:
        return None
    found = np.full(asked.X.shape[1], np.nan)
    for j in range(asked.X.shape[1]):
        own = asked.X[which, j]
        own = np.sort(own[~np.isnan(own)])
        if len(own) < (1 if kept else FEWEST):
            continue
        if j in asked.levels:
            codes, counts = np.unique(own, return_counts=True)
            found[j] = codes[counts.argmax()]
        else:
            found[j] = np.median(own) if kept else own.mean()
    return found


def typical_words(cases: str) -> str:
    """Return what a typical case is."""
    return "mean" if cases == "none" else "median"


def light(asked: Reduced) -> tuple[Any, bool]:
    """Return the model with the values of training cases that it keeps rounded, and whether so."""
    if not asked.keeps_rows:
        return asked.model, False
    made = with_rounded_rows(asked.model, FIGURES)
    return made, made is not asked.model  # the same where voters of its own keep the rows


def _rows_of(asked: Reduced, rows: Indices, cuts: Sequence[Floats] | None) -> Floats:
    """Return the cases as the page carries them."""
    near = asked.X[rows].copy()
    for j in range(near.shape[1]):
        if cuts is not None and j not in asked.levels:
            near[:, j] = rounded(near[:, j], cuts[j])
    return near


def _rounding(asked: Reduced, vote: Vote, rows: Indices, near: Floats, kept: bool) -> str:
    """Return by how much rounding moves the answers to the carried cases, as measured."""
    X = asked.X[rows]
    if not len(X):
        return ""
    off = float(np.abs(vote.probabilities(near) - asked.vote.probabilities(X)).max())
    what = "Values are rounded in this page"
    what += ", also those of training cases that the model keeps" if kept else ""
    if off <= _NOTHING:
        return f"{what}; that changes none of its answers to the cases."
    size = "less than 0.001" if off < 1e-3 else f"at most {math.ceil(off * 1000) / 1000:.3f}"
    return f"{what}: its answers to the cases change by {size}."


def _worded(
    asked: Reduced, row: Floats, wanted: Sequence[int], cuts: Sequence[Floats] | None
) -> list[Any]:
    """Return the values of a case as the page has them: words of categories, None where missing."""

    def told(j: int) -> Any:
        value = float(row[j])
        if np.isnan(value):
            return None
        if j in asked.levels:
            return asked.levels[j][int(value)]
        return value if cuts is None else brief(row[j : j + 1], cuts[j])[0]

    return [told(j) for j in wanted]


def _spread(asked: Reduced) -> dict[int, float]:
    """Return the standard deviation of each column; 0 of categories, which differ by 0 or 1."""
    found: dict[int, float] = {}
    for j in range(asked.X.shape[1]):
        own = asked.X[~np.isnan(asked.X[:, j]), j]
        found[j] = 0.0 if j in asked.levels else (len(own) and float(own.std())) or 1.0
    return found


def nearest_own(X: Floats, spread: Sequence[float]) -> list[float]:
    """Return quantiles, from the least to the greatest, of cases' distance to the nearest other.

    The distance is Euclidean over the columns that both have, each in its standard deviations, a
    category that differs counting 1, times the root of the number of columns over that of those
    both have. A case that shares but half of the columns that a case has is not near it.
    """
    if len(X) < 2 or not X.shape[1]:
        return []
    known = ~np.isnan(X)
    both = known.astype(np.intp) @ known.T.astype(np.intp)
    distance = np.where(2 * both > known.sum(axis=1)[:, None], distances(X, spread), np.nan)
    np.fill_diagonal(distance, np.nan)
    nearest = np.nanmin(np.where(np.isnan(distance), np.inf, distance), axis=1)
    known = np.sort(nearest[np.isfinite(nearest)])
    if len(known) > _QUANTILES:
        known = np.quantile(known, np.linspace(0, 1, _QUANTILES))
    return [float(f"{v:.6g}") for v in known.tolist()]


def distances(X: Floats, spread: Sequence[float]) -> Floats:
    """Return the distances between rows, as `nearest_own` describes them; NaN where none."""
    n, q = X.shape
    total, both = np.zeros((n, n)), np.zeros((n, n))
    for column, size in zip(X.T, spread, strict=True):
        off = np.subtract.outer(column, column)
        off = off / size if size > 0 else np.where(np.isnan(off), np.nan, off != 0)
        total += np.nan_to_num(off) ** 2
        both += ~np.isnan(off)
    with np.errstate(invalid="ignore", divide="ignore"):
        return np.sqrt(np.where(both > 0, total * q / both, np.nan))


def size_words(data: Any) -> tuple[int, str]:
    """Return the bytes that data take in the page, and in words."""
    size = len(json.dumps(data, ensure_ascii=False, separators=(",", ":")).encode())
    return size, f"{size / 1e6:.1f} MB" if size >= 1e5 else f"{max(size / 1e3, 0.1):.1f} kB"


_SHOWN = 7  # ballots before the reader asks for all


def case_section(
    saved: Saved,
    choice: Opening | None,
    positive: Positive,
    facts: Mapping[str, Facts],
    options: PageOptions,
    numbers: HeldOutNumbers | None = None,
) -> dict[str, Any]:
    """Return what the panel shows; other parameters and the result as of `values_section`.

    Where the target is a number, the worst cases of `numbers` can be opened.

    Decision functions are carried in the order of the verdict until the page is full; the others
    say what they would add.
    """
    shown, kept = choice.opened if choice else None, options.cases != "none"
    if saved.folder.kind == "numbers":
        return _of_numbers(saved, shown.key if shown else "", options, numbers)
    absent = "The training cases were not kept." if kept else "This page carries no cases."
    island: dict[str, Any] = {}
    first, carried = None, ""
    if shown and saved.keys:
        found = _calculators(saved, facts, options)
        island["case"] = found
        carried = _carried(saved, found["models"], options.cases == "full")
    if shown and shown.key in saved.readable:
        first = _first(saved, shown.key, positive.code, options.cases)
    return {
        "case": first,
        "case_carries": carried,
        "case_absent": "" if shown is None or (first and kept) else absent,
        "island": island,
    }


def _of_numbers(
    saved: Saved, shown: str, options: PageOptions, numbers: HeldOutNumbers | None
) -> dict[str, object]:
    """Return what the panel shows where the target is a number; decision functions as there."""
    worst = {} if numbers is None or options.cases == "none" else numbers.worst()
    models: dict[str, dict[str, object]] = {}
    left, figures = CAPACITY, saved.folder.pooled()
    for key in saved.readable:
        one = _answering(saved, key, options, worst.get(key, ()))
        size, words = size_words(one)
        if size > left:
            one = {"why": _too_large(key, words)}
        left -= size if "plain" in one else 0
        error = figures.get(key, {}).get("mae")
        held = ""
        if error is not None:
            held = f"Mean absolute error of the held-out predictions of {key}: {three(error)}."
        models[key] = {**one, "held": held}
    first = None
    if "plain" in models.get(shown, {}):
        reduced = saved.asked(shown)
        row = typical(reduced, np.ones(len(reduced.X), dtype=bool), options.cases)
        first = None if row is None else _stands(reduced, row, f"the {_typical(options)}")
    return {
        "case": first,
        "case_carries": _carried(saved, models, options.cases == "full"),
        "case_absent": "" if first else models.get(shown, {}).get("why", ""),
        "island": {"number": {"models": models, "typical": _typical(options)}},
    }


def _too_large(key: str, words: str) -> str:
    return (
        f"{key} is not carried in this page: it would add at least {words}, more than there is"
        " room for. 'psephos predict' and 'psephos explain' answer from its file."
    )


def _typical(options: PageOptions) -> str:
    return f"{typical_words(options.cases)} of each column"


def _answering(
    saved: Saved, key: str, options: PageOptions, worst: Sequence[int]
) -> dict[str, object]:
    """Return the decision function of a regressor, its fields and cases to start from, or why."""
    reduced = saved.asked(key)
    if options.cases == "none" and reduced.keeps_rows:
        return {"why": f"{key} keeps values of training cases, which this page does not carry."}
    full = options.cases == "full"
    try:
        model, kept = (reduced.model, False) if full else light(reduced)
        function = plain(model)
    except PsephosError as error:
        return {"why": f"{key} cannot be evaluated here: {error}"}
    order = by_importance(reduced, saved.opened(key))
    wanted = [*order, *reduced.vote.backup.tolist()]
    row = typical(reduced, np.ones(len(reduced.X), dtype=bool), options.cases)
    before = reduced.vote.answers(reduced.X)
    cases: list[list[Any]] = []
    for one in [*([] if row is None else [row]), *(reduced.X[i] for i in worst)]:
        brief = one if full else _briefly(reduced, one, float(np.std(before)))
        cases.append(_worded(reduced, brief, wanted, None))
    start = [None] * len(wanted) if row is None else cases.pop(0)
    fields = fields_of(reduced, wanted, len(order), options.cases)
    off = float(np.abs(model.vote_.answers(reduced.X) - before).max()) if kept else 0.0
    rounding = (
        "The values of training cases that the model keeps are rounded: its answers to them change"
        f" by at most {number(off)}."
        if kept
        else ""
    )
    known = [[i, *one] for i, one in zip(worst, cases, strict=True)]
    return {
        "plain": function, "fields": fields, "start": start, "rounding": rounding, "cases": known,
    }  # fmt: skip


def _briefly(reduced: Reduced, row: Floats, spread: float) -> Floats:
    """Return a case with as few figures as keep its answer, to a 10,000th of the spread."""
    answer = reduced.vote.answers(row[None])[0]
    for figures in range(FIGURES, 17):
        near = np.array([float(f"{v:.{figures}g}") for v in row.tolist()])
        if abs(reduced.vote.answers(near[None])[0] - answer) <= 1e-4 * spread:
            return near
    return row


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


def _calculators(saved: Saved, facts: Mapping[str, Facts], options: PageOptions) -> dict[str, Any]:
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
        cuts = None if full else [saved.cuts[name] for name in asked.whole]
        one = calculator(
            asked, order, rows, y, len(saved.folder.about["classes"]), cuts, options.cases
        )
        if isinstance(one, str):
            models[key] = {"why": f"{key} cannot be asked here: {one}"}
            continue
        for field in one["fields"]:
            field |= {"italic": 1} if saved.names[field["whole"]].italic else {}
        names = {field["whole"] for field in one["fields"]} - drawn - values.keys()
        size, words = size_words(one)
        own: dict[str, list[Any]] = {}
        if size <= left:
            own = carried_values(cases, rows, {n: saved.cuts[n] for n in sorted(names)}, full)
            size, words = size_words([one, own])
        if size > left:
            models[key] = {"why": _too_large(key, words)}
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
    """Return what the page has without its script, or cannot carry the model: a typical case."""
    cases, reduced = saved.folder.cases, saved.asked(key)
    assert cases is not None, "there are no models without cases"
    which, of = np.ones(len(cases.ids), dtype=bool), "each column"
    if saved.folder.kind == "classes":
        which, of = np.asarray(cases.y) == positive, class_names(saved.folder)[positive]
    row = None if reduced.keeps_rows and carried == "none" else typical(reduced, which, carried)
    return None if row is None else _stands(reduced, row, f"the {typical_words(carried)} of {of}")


def _stands(reduced: Reduced, row: Floats, start: str) -> dict[str, object]:
    """Return a case, the answer to it and its ballots, as the page has them without its script."""
    answer, votes = reduced.ballot(row)
    return {
        "start": start,
        "answer": answer,
        "votes": [{"words": words, "weight": percent(weight)} for words, weight in votes[:_SHOWN]],
        "more": plural(len(votes) - _SHOWN, "ballot") if len(votes) > _SHOWN else "",
    }
