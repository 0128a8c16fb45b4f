"""A new case: the prediction of the chosen model, and the votes."""

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
from psephos.report.panels.observed import HeldOutNumbers
from psephos.report.study.answers import Positive, group_codes
from psephos.report.study.folder import FEWEST
from psephos.report.study.opened import Facts, Reduced, Saved
from psephos.report.study.options import (
    FIGURES,
    PageOptions,
    brief,
    carried_rows,
    carried_values,
    rounded,
    with_outer_ends,
)
from psephos.report.study.standings import Opening
from psephos.report.words import places, plural, series
from psephos.scoring import plain
from psephos.scoring.vectors import with_rounded_rows
from psephos.vote import Vote

CAPACITY = 3_500_000  # the most bytes of the page for all decision functions
_QUANTILES = 101
_NOTHING = 1e-9  # differences due to rounding errors


def calculator(
    reduced: Reduced,
    key: str,
    order: Sequence[int],
    rows: Indices,
    y: Indices,
    n_classes: int,
    cuts: Sequence[Floats] | None,
    cases: str = "full",
    groups: Indices | None = None,
) -> dict[str, Any] | str:
    """Return the data with which the page predicts a case; a sentence if it cannot.

    Parameters
    ----------
    order : sequence of int
        The columns that a complete case needs, the most important first.
    rows : ndarray of int
        The cases that the page contains.
    y : ndarray of int
        The classes of all cases.
    cuts : sequence of ndarray, optional
        The thresholds of each column: values of cases are rounded, also within the model, but not
        across these. By default values are exact.
    cases : {'rounded', 'full', 'none'}
        What the page contains of cases. With 'none', typical cases are means of ten and more.
    groups : ndarray of int, optional
        The group of each of `rows`: neighbours must be of another one.

    Returns
    -------
    calculator : dict or str
        ``plain``, the decision function; ``fields``, one per column; ``tried``, the possible values
        of each if it is missing, with their shares for categories (`psephos.explain.next_column`);
        ``spread``, by which differences are divided; ``own``, quantiles of the distance of a case
        to its nearest neighbour;
        ``rounding``, a sentence on the effect of rounding.
    """
    found = _function(reduced, key, cases)
    if isinstance(found, str):
        return found
    model, kept, function = found
    for own in (function, function["target"]):
        if own.get("classes"):
            own["classes"] = [  # large integers as text, which a script reads exactly
                str(c) if isinstance(c, int) and abs(c) > 2**53 else c for c in own["classes"]
            ]
    wanted = [*order, *reduced.vote.backup.tolist()]
    spread, X = _spread(reduced), _rows_of(reduced, rows, cuts)
    return {
        "plain": function,
        "fields": fields_of(reduced, wanted, len(order), cases),
        "tried": None if cases == "none" else _tried(reduced, wanted, cuts),
        "spread": [spread[j] for j in order],
        "own": nearest_own(X[:, list(order)], [spread[j] for j in order], groups),
        "typical": [
            None if row is None else _worded(reduced, row, wanted, cuts)
            for row in (typical(reduced, y == k, cases) for k in range(n_classes))
        ],
        "typical_words": typical_words(cases),
        "rounding": "" if cuts is None else _rounding(reduced, model.vote_, rows, X, kept),
    }


def _function(reduced: Reduced, key: str, cases: str) -> tuple[Any, bool, dict[str, Any]] | str:
    """Return a model as in the page, whether its rows are rounded, and its function; or why not."""
    if cases == "none" and reduced.keeps_rows:
        return f"{key} keeps values of training cases, which this page does not have."
    try:
        exact = cases == "full" or not reduced.keeps_rows
        model = reduced.model if exact else with_rounded_rows(reduced.model, FIGURES)
        return model, model is not reduced.model, plain(model)  # the same if other voters keep rows
    except PsephosError as error:
        return f"{key} cannot be evaluated here: {error}"


def fields_of(
    reduced: Reduced, wanted: Sequence[int], n_used: int, cases: str = "full"
) -> list[dict[str, Any]]:
    """Return the fields of a form: name, axis or categories, and position in the function."""
    fields: list[dict[str, Any]] = []
    for i, j in enumerate(wanted):
        kind: dict[str, Any] = {"levels": reduced.levels.get(j)}
        if j not in reduced.levels:
            values = with_outer_ends(reduced.X[:, j], cases)
            known = values[np.isfinite(values)]
            ends = [float(known.min()), float(known.max())] if len(known) else None
            kind = {"axis": axis_of(values).data(), "range": ends}
        one = {"name": reduced.names[j], "whole": reduced.whole[j], "at": j, "backup": i >= n_used}
        fields.append(one | kind)
    return fields


def _tried(
    reduced: Reduced, wanted: Sequence[int], cuts: Sequence[Floats] | None
) -> list[list[list[Any]]] | None:
    """Return the possible values of each field if it is missing, as `next_of` takes them."""
    profile = reduced.profile
    if profile is None:
        return None
    found: list[list[list[Any]]] = []
    for j in wanted:
        values, chances = profile.points(j, VALUES)
        if j in reduced.levels:
            found.append([[reduced.levels[j][int(v)] for v in values], chances.tolist()])
        else:
            found.append([values.tolist() if cuts is None else brief(values, cuts[j])])
    return found


def typical(reduced: Reduced, which: NDArray[np.bool_], cases: str = "full") -> Floats | None:
    """Return the median of each column over some cases; for a category the most frequent code.

    NaN where no case has a value. On a page without cases it is the mean of at least ten values,
    and None if there are fewer cases.
    """
    kept = cases != "none"
    if not kept and which.sum() < FEWEST:
        return None
    found = np.full(reduced.X.shape[1], np.nan)
    for j in range(reduced.X.shape[1]):
        own = reduced.X[which, j]
        own = np.sort(own[~np.isnan(own)])
        if len(own) < (1 if kept else FEWEST):
            continue
        if j in reduced.levels:
            codes, counts = np.unique(own, return_counts=True)
            found[j] = codes[counts.argmax()]
        else:
            found[j] = np.median(own) if kept else own.mean()
    return found


def typical_words(cases: str) -> str:
    """Return the name of the statistic of a typical case."""
    return "mean" if cases == "none" else "median"


def _rows_of(reduced: Reduced, rows: Indices, cuts: Sequence[Floats] | None) -> Floats:
    """Return the cases with the values that the page contains."""
    near = reduced.X[rows].copy()
    for j in range(near.shape[1]):
        if cuts is not None and j not in reduced.levels:
            near[:, j] = rounded(near[:, j], cuts[j])
    return near


def _rounding(reduced: Reduced, vote: Vote, rows: Indices, near: Floats, kept: bool) -> str:
    """Return a sentence on the measured effect of rounding on the answers to the cases."""
    X = reduced.X[rows]
    if not len(X):
        return ""
    off = float(np.abs(vote.probabilities(near) - reduced.vote.probabilities(X)).max())
    what = "Values are rounded in this page"
    what += ", also those of training cases that the model keeps" if kept else ""
    if off <= _NOTHING:
        return f"{what}; that changes none of its answers to the cases."
    size = "less than 0.001" if off < 1e-3 else f"at most {math.ceil(off * 1000) / 1000:.3f}"
    return f"{what}: its answers to the cases change by {size}."


def _worded(
    reduced: Reduced, row: Floats, wanted: Sequence[int], cuts: Sequence[Floats] | None
) -> list[Any]:
    """Return the values of a case for the page: names of categories, None where missing."""

    def shown(j: int) -> Any:
        value = float(row[j])
        if np.isnan(value):
            return None
        if j in reduced.levels:
            return reduced.levels[j][int(value)]
        return value if cuts is None else brief(row[j : j + 1], cuts[j])[0]

    return [shown(j) for j in wanted]


def _spread(reduced: Reduced) -> dict[int, float]:
    """Return the standard deviation of each column; 0 for categories, which differ by 0 or 1."""
    found: dict[int, float] = {}
    for j in range(reduced.X.shape[1]):
        own = reduced.X[~np.isnan(reduced.X[:, j]), j]
        found[j] = 0.0 if j in reduced.levels else (len(own) and float(own.std())) or 1.0
    return found


def nearest_own(X: Floats, spread: Sequence[float], groups: Indices | None = None) -> list[float]:
    """Return quantiles of the cases' distances to their nearest neighbour, sorted.

    The distance is Euclidean over the columns that both cases have, in standard deviations, with 1
    for categories that differ, times the root of the number of columns over that of the shared
    ones. A neighbour must have more than half of the case's columns, and be of another
    group.
    """
    if len(X) < 2 or not X.shape[1]:
        return []
    known = ~np.isnan(X)
    both = known.astype(np.intp) @ known.T.astype(np.intp)
    distance = np.where(2 * both > known.sum(axis=1)[:, None], distances(X, spread), np.nan)
    own = np.arange(len(X)) if groups is None else groups
    distance[np.equal.outer(own, own)] = np.nan
    nearest = np.nanmin(np.where(np.isnan(distance), np.inf, distance), axis=1)
    known = np.sort(nearest[np.isfinite(nearest)])
    if len(known) > _QUANTILES:
        known = np.quantile(known, np.linspace(0, 1, _QUANTILES))
    return [float(f"{v:.6g}") for v in known.tolist()]


def distances(X: Floats, spread: Sequence[float]) -> Floats:
    """Return the distances between rows, as `nearest_own` defines them; NaN if none is defined."""
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
    """Return the size of data in the page, in bytes and as text."""
    size = len(json.dumps(data, ensure_ascii=False, separators=(",", ":")).encode())
    return size, f"{size / 1e6:.1f} MB" if size >= 1e5 else f"{max(size / 1e3, 0.1):.1f} kB"


_SHOWN = 7  # ballots that are shown at first


def case_section(
    saved: Saved,
    choice: Opening | None,
    positive: Positive,
    facts: Mapping[str, Facts],
    options: PageOptions,
    numbers: HeldOutNumbers | None = None,
) -> dict[str, Any]:
    """Return the panel's entries; parameters as of `values_section`.

    Decision functions are included in the order of the verdict until the page is full; for the
    others it says how large they are. With a numeric target the worst cases of `numbers` can be
    opened.
    """
    shown, kept = choice.opened if choice else None, options.cases != "none"
    if saved.folder.kind == "numbers":
        return _of_numbers(saved, shown.key if shown else "", options, numbers)
    absent = "The training cases were not kept." if kept else "This page has no cases."
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
    """Return the panel's entries for a numeric target; decision functions as in `case_section`."""
    worst = {} if numbers is None or options.cases == "none" else numbers.worst()
    models: dict[str, dict[str, object]] = {}
    left, figures = CAPACITY, saved.folder.pooled()
    for key in saved.readable:
        one = _answering(saved, key, options, worst.get(key, ()))
        size, words = size_words(one)
        if size > left:
            one = {"why": _too_large(key, words)}
        left -= size if "plain" in one else 0
        models[key] = {**one, "mae": figures.get(key, {}).get("mae")}
    typically = f"{typical_words(options.cases)} of each column"
    first = _first(saved, shown, 0, options.cases) if "plain" in models.get(shown, {}) else None
    unit = f"The prediction is in units of {saved.folder.target}."
    return {
        "case": first and first | {"unit": unit},
        "case_carries": _carried(saved, models, options.cases == "full"),
        "case_absent": "" if first else models.get(shown, {}).get("why", ""),
        "island": {"number": {"models": models, "typical": typically, "unit": unit}},
    }


def _too_large(key: str, words: str) -> str:
    return (
        f"{key} is not included in this page: it would add at least {words}, more than there is"
        " room for. Use 'psephos predict' and 'psephos explain' with its file."
    )


def _answering(
    saved: Saved, key: str, options: PageOptions, worst: Sequence[int]
) -> dict[str, object]:
    """Return a regressor's decision function, fields and first cases, or why it is not included."""
    reduced, full = saved.reduced(key), options.cases == "full"
    found = _function(reduced, key, options.cases)
    if isinstance(found, str):
        return {"why": found}
    model, kept, function = found
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
    for one in fields:
        one["direction"] = saved.directions(key).get(one["name"], "")
    tried = None if options.cases == "none" else _tried(reduced, wanted, None)
    spread = _spread(reduced)
    for j, own in zip(wanted, tried or (), strict=False):
        if j not in reduced.levels and not full:
            own[0] = np.round(own[0], places(spread[j])).tolist()
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
        "tried": tried,
    }  # fmt: skip


def _briefly(reduced: Reduced, row: Floats, spread: float) -> Floats:
    """Return a case with as few digits as keep its answer to within a 10,000th of the spread."""
    answer = reduced.vote.answers(row[None])[0]
    for figures in range(FIGURES, 17):
        near = np.array([float(f"{v:.{figures}g}") for v in row.tolist()])
        if abs(reduced.vote.answers(near[None])[0] - answer) <= 1e-4 * spread:
            return near
    return row


def _carried(saved: Saved, found: Mapping[str, Mapping[str, Any]], full: bool) -> str:
    """Return a sentence on decision functions in the page with values of training cases."""
    kept = [key for key, one in found.items() if "plain" in one and saved.reduced(key).keeps_rows]
    own = [key for key in kept if full or "that the model keeps" not in found[key]["rounding"]]
    words = ""
    for keys, how in (([k for k in kept if k not in own], "three"), (own, "all")):
        if keys:
            verb = "function of {} holds" if len(keys) == 1 else "functions of {} hold"
            words += f" The decision {verb.format(series(keys))} values of training cases,"
            words += f" to {how} figures."
    return words


def _calculators(saved: Saved, facts: Mapping[str, Facts], options: PageOptions) -> dict[str, Any]:
    """Return the decision function of each model, and values of the cases."""
    cases, full = saved.folder.cases, options.cases == "full"
    assert cases is not None, "models need cases"
    y = np.asarray(cases.y, dtype=np.intp)
    rows = carried_rows(y) if options.cases != "none" else y[:0]
    drawn, groups = _drawn(saved), group_codes(saved.folder, rows)
    models: dict[str, dict[str, Any]] = {}
    values: dict[str, list[Any]] = {}
    left = CAPACITY
    for key in saved.keys:
        reduced = saved.reduced(key)
        order = by_importance(reduced, saved.opened(key))
        cuts = None if full else [saved.cuts[name] for name in reduced.whole]
        one = calculator(
            reduced, key, order, rows, y, len(saved.folder.classes), cuts, options.cases, groups
        )
        if isinstance(one, str):
            models[key] = {"why": one}
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
    """Return the columns whose values the panel of values contains."""
    models = [(saved.reduced(key), saved.opened(key)) for key in saved.keys]
    return {one.whole[j] for one, opened in models for j in drawn_of(by_importance(one, opened))}


def _first(saved: Saved, key: str, positive: int, carried: str) -> dict[str, Any] | None:
    """Return a typical case, its answer and its ballots as text, for a page without script."""
    cases, reduced = saved.folder.cases, saved.reduced(key)
    assert cases is not None, "models need cases"
    which, of = np.ones(len(cases.ids), dtype=bool), "each column"
    if saved.folder.kind == "classes":
        which, of = np.asarray(cases.y) == positive, saved.folder.classes[positive]
    row = None if reduced.keeps_rows and carried == "none" else typical(reduced, which, carried)
    if row is None:
        return None
    answer, votes = reduced.ballot(row)
    return {
        "start": f"the {typical_words(carried)} of {of}",
        "answer": answer,
        "votes": [{"words": words, "weight": percent(weight)} for words, weight in votes[:_SHOWN]],
        "more": plural(len(votes) - _SHOWN, "voter") if len(votes) > _SHOWN else "",
    }
