"""Accuracy against columns: the chart, and the table with differences from the best."""

import math
from collections import Counter
from collections.abc import Collection, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any

from psephos.protocol.evaluation.scores import ResultMetric
from psephos.protocol.evaluation.statistics import ONE_PART, FoldSpread
from psephos.report.study.folder import FEWEST, Folder
from psephos.report.study.standings import Opening, Pair, Standing
from psephos.report.words import (
    count,
    number,
    places,
    plural,
    plus_minus,
    series,
    small_difference,
)


@dataclass(frozen=True)
class Point:
    """One model on the chart, with its fits."""

    key: str
    label: str
    sentence: str
    readable: bool  # whether it has a file, so that the page can show its votes
    frontier: bool
    columns: float
    score: float
    fits: tuple[tuple[float, float], ...]  # (columns, score) of each fit
    final: float | None  # columns of its final fit, to all cases


_FOLDS = 20  # the most fits of a model that are drawn one by one


def accuracy_section(
    folder: Folder,
    rows: Sequence[Standing],
    choice: Opening | None,
    found: Sequence[Pair],
    prior: float,
    unsure: Collection[str],
    kept: bool = True,
) -> dict[str, Any]:
    """Return the panel's entries of the page's dictionary.

    Parameters
    ----------
    found : sequence of Pair
        Differences from the best.
    prior : float
        The log-loss of the class frequencies, NaN if not known.
    unsure : collection of str
        Models whose log-loss is worse than `prior`.
    kept : bool, default=True
        Whether the page contains single cases; if not, it shows no fold of fewer than ten cases,
        and only the number of failed fits, since their errors may name a case.
    """
    measured = rows[0].summary.measures  # a folder of another version has other measures
    stated = [
        one for one in folder.measures if one.first or any(s.spread(one.name).n for s in rows)
    ]
    measures = [one for one in stated if one.name in measured]
    best = choice.best if choice else None
    pairs, n = {p.key: p for p in found}, len({f.split for f in folder.fits})
    reach, points = _reach(found), [_point(s, folder, kept) for s in rows if s.drawn]
    return {
        "measure": folder.measure,
        "chart_note": _chart_note(rows),
        "any_frontier": any(s.frontier for s in rows if s.drawn),
        "measures": [{"key": one.name, "words": one.words} for one in measures],
        "n_main": sum(one.first for one in measures),
        "models": [
            _model(s, measures, folder, pairs.get(s.key), best, reach, s.key in unsure)
            for s in rows
        ],
        "any_failed": any(s.failed for s in rows),
        "caption": f"Means over {plural(n, 'fold')}; behind ± one standard deviation"
        if n > 1
        else f"Figures of one test part; spread, intervals and stability: {ONE_PART}",
        "measures_note": _measures_note(folder, prior)
        + _not_measured([one.words for one in folder.measures if one.name not in measured]),
        "difference_note": _difference_note(found, best),
        "voters_note": _voters_note(rows),
        "stability_note": _stability_note(rows),
        "failures": _failures(rows, kept),
        "island": {
            "chart": {
                "measure": folder.measure,
                "points": [asdict(one) for one in points],
                "n_columns": folder.n_columns,
                "constant": folder.constant,
                **_ends(folder, points),
            }
        },
    }


# ---------------------------------------------------------------------- the chart
def _point(s: Standing, folder: Folder, kept: bool) -> Point:
    measure = s.summary.ranked_by.name
    fits = [
        (f.columns_used, f.measures[measure])
        for f in s.fits
        if f.columns_used is not None and measure in f.measures and (kept or f.n_test >= FEWEST)
    ]
    return Point(
        key=s.key,
        label=s.label.removesuffix("-regressor"),
        sentence=_sentence(s, folder),
        readable=s.key in folder.models,
        frontier=s.frontier,
        columns=s.columns.mean,
        score=s.score,
        fits=tuple(fits) if len(fits) <= _FOLDS else (),
        final=folder.refit_columns.get(s.key),
    )


def _ends(folder: Folder, points: Sequence[Point]) -> dict[str, list[float]]:
    """Return the worst and the best value of the axis, for a measure that is not a rate."""
    measure = folder.measures[0]
    if not measure.ranks and folder.kind != "numbers":
        return {}
    each = [v for p in points if p.columns > 0 for v in (p.score, *(s for _, s in p.fits))]
    constant = folder.constant  # it is not drawn if it would compress the models that read columns
    if not each or min(abs(v - constant) for v in each) < 0.5 * (max(each) - min(each)):
        each += [constant, *(p.score for p in points)]
    room = 0.08 * (max(each) - min(each)) or 0.05
    low, high = max(min(each) - room, measure.least), min(max(each) + room, measure.greatest)
    return {"ends": [low, high][:: measure.sign]}


def _chart_note(rows: Sequence[Standing]) -> str:
    line = "The dashed line joins models that are better than each model with fewer columns. "
    folds = "small dots are its folds and the bar spans their columns"
    if any(len(s.fits) > _FOLDS for s in rows):
        folds = "a bar spans the columns of its folds' models, which are too many to draw"
    return (
        "Each named mark is a model's mean over the held-out folds. Models with filled marks can be"
        " read on this page, unless too large; of those with hollow marks it has only figures."
        f" {line * any(s.frontier for s in rows)}For the model being read, {folds}; the triangle on"
        " the axis marks the columns of its fit to all cases."
    )


# ---------------------------------------------------------------------- the table
def _model(
    s: Standing,
    measures: Sequence[ResultMetric],
    folder: Folder,
    pair: Pair | None,
    best: Standing | None,
    reach: float,
    unsure: bool,
) -> dict[str, Any]:
    cells = [_measured(s.spread(one.name), one) for one in measures]
    if unsure:
        cells[[one.name for one in measures].index("log_loss")]["mark"] = "†"
    columns = s.columns
    spread = count(columns.sd) if columns.sd > 0 else ""
    draws = math.nan if s.draws is None else s.draws
    voters, stability = s.summary.n_voters.mean, s.summary.stability.value
    return {
        "key": s.key,
        "label": s.label,
        "readable": s.key in folder.models,
        "frontier": s.frontier,
        "cells": cells,
        "columns": _cell(columns.mean, count(columns.mean), spread, "columns"),
        "stability": _cell(stability, number(stability, 2), "", "stability"),
        "training": _measured(s.summary.training, s.summary.ranked_by),
        "voters": _cell(voters, count(voters), "", "voters"),
        "draws": _cell(draws, count(draws), "", "draws"),
        "difference": _difference(pair, reach, best is not None and s.key == best.key),
        "fits": str(len(s.fits)) + (f" ({len(s.failed)} failed)" if s.failed else ""),
    }


def _sentence(s: Standing, folder: Folder) -> str:
    """Return the description of a model's mark."""
    columns = s.columns
    words = count(columns.mean) + (f" ± {count(columns.sd)}" if columns.sd > 0 else "")
    one = s.spread(s.summary.ranked_by.name)
    score = plus_minus(one.mean, one.sd if one.n > 1 else None)
    return f"{s.label}: {folder.measure} {score}, columns used {words}"


def _measured(one: FoldSpread, measure: ResultMetric) -> dict[str, Any]:
    digits = 2 if measure.greatest == 1 else places(one.mean) if measure.unit else 3
    spread = number(one.sd, digits) if one.n > 1 else ""
    text = number(one.mean, digits)
    if text == "1.00" and one.mean < 1:
        text = ">0.99"
    return _cell(one.mean, text, spread, measure.name)


def _cell(value: float, text: str, spread: str, kind: str) -> dict[str, Any]:
    known = value if math.isfinite(value) else None
    return {"value": known, "text": text, "spread": spread, "kind": kind, "mark": ""}


def _reach(found: Sequence[Pair]) -> float:
    """Return the end of the axis of differences, ignoring models that read no column."""
    sizes = [abs(v) for p in found if p.reads for v in (p.low, p.mean, p.high) if math.isfinite(v)]
    return 1.04 * max([0.05, *sizes])


def _difference(pair: Pair | None, reach: float, best: bool) -> dict[str, Any]:
    if pair is None:
        return {"text": "the best" if best else "–", "interval": "", "value": None, "bar": None,
                "whole": "the best" if best else ""}  # fmt: skip
    known = math.isfinite(pair.low)
    low, high = (pair.low, pair.high) if known else (pair.mean, pair.mean)
    return {
        "text": small_difference(pair.mean),
        "interval": pair.interval or "–",
        "value": pair.mean,
        "whole": f"{small_difference(pair.mean)}, 95 % interval {pair.interval or ONE_PART}",
        "bar": [round(v / reach, 4) for v in (pair.mean, low, high)],
    }


def _difference_note(found: Sequence[Pair], best: Standing | None) -> str:
    if best is None or not found:
        return ""
    if not any(p.interval for p in found):
        return f"Differences are from {best.label}, which was picked as the best on these cases."
    return (
        f"Differences are from {best.label}, on the same folds, with 95 % intervals corrected for"
        " training sets that overlap (Nadeau & Bengio 2003): one by one, not for many comparisons"
        f" at once. {best.label} was picked as the best on these folds, which favours it a little."
    )


# ---------------------------------------------------------------------- notes
def _measures_note(folder: Folder, prior: float) -> str:
    """Return the definitions of the table's measures, and the one that models are ranked by."""
    if folder.about.get("metric"):
        which = f"Models are ranked by {folder.measure}"
        own = replace(folder, about={k: v for k, v in folder.about.items() if k != "metric"})
        better = "less" if folder.measures[0].lower_is_better else "more"
        return f"{which}: {better} is better. {_measures_note(own, prior)}"
    if folder.multilabel:
        return (
            "Average precision is, averaged over a case's labels, the share of its labels among all"
            " labels ranked at least as high; Hamming loss is the share of wrong answers over all"
            " cases and labels; one-error is the share of cases whose first label in the ranking is"
            " wrong; coverage is the number of labels to go through in the ranking to find all of a"
            " case's; ranking loss is the share of wrongly ordered pairs of a label that a case has"
            " and one that it lacks. Average precision is best at 1, the others at 0 (coverage: at"
            " the number of a case's labels less one)."
        )
    if folder.kind == "numbers":
        return (
            "R², MAE and RMSE are of each fold, R² against the mean of its own cases. For models"
            " that predict a distribution, pinball loss is the mean over the 5, 25, 50, 75 and 95 %"
            " quantiles, and CRPS over all quantiles, both in the unit of the target and best at 0;"
            " coverage is the share of cases between the 5 and 95 % quantiles, at best 0.9."
        )
    words = (
        "Balanced accuracy is the mean share of each class found; ROC-AUC is the chance that a case"
        " of one class is ranked above one of the others, averaged over the classes; log-loss is"
        " lower for better probabilities."
    )
    if math.isfinite(prior):
        words += (
            " Stating each class's frequency in the training part has a log-loss of"
            f" {number(prior)}; † is worse."
        )
    return words


def _not_measured(names: Sequence[str]) -> str:
    return f" Not measured when this comparison was made: {series(names)}." if names else ""


def _stability_note(rows: Sequence[Standing]) -> str:
    if not any(math.isfinite(s.summary.stability.value) for s in rows):
        return ""
    return (
        "Stability is the similarity of the columns used from fold to fold: 1 if they are always"
        " the same, 0 if as similar as columns drawn at random (Nogueira, Sechidis & Brown 2018)."
        " Training parts overlap, so it would be lower on new cases. It is not defined for a model"
        " that reads every column, or none."
    )


def _voters_note(rows: Sequence[Standing]) -> str:
    absent = any(s.fits and not s.summary.n_voters.n for s in rows)
    return "A dash under voters marks a model that is not an ensemble." if absent else ""


def _failures(rows: Sequence[Standing], kept: bool) -> list[dict[str, str]]:
    found: list[dict[str, str]] = []
    for s in rows:
        errors = (f.error if kept else "results.csv has the error." for f in s.failed)
        for error, n in Counter(errors).most_common():
            words = f"{n} of {plural(len(s.fits) + len(s.failed), 'fit')}"
            found.append({"label": s.label, "words": words, "error": error})
    return found
