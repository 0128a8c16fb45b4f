"""How accurate, on how few columns: the chart, and the table with differences from the best."""

import math
from collections import Counter
from collections.abc import Collection, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from psephos._types import JsonObject
from psephos.protocol.evaluation.scores import ResultMetric, main_metric
from psephos.report.study.folder import Folder
from psephos.report.study.standings import Opening, Pair, Standing
from psephos.report.words import (
    count,
    difference,
    number,
    plural,
    plus_minus,
    series,
    small_difference,
)


@dataclass(frozen=True)
class PlotFrame:
    """The size of a drawing and the margins of its axes, in units of its view box."""

    name: str
    width: float
    height: float
    left: float
    right: float
    top: float
    bottom: float
    letter: float  # width of a letter of a label, about

    @property
    def inner_right(self) -> float:
        """Return where the plotting area ends."""
        return self.width - self.right

    @property
    def inner_bottom(self) -> float:
        """Return where the plotting area ends below."""
        return self.height - self.bottom


WIDE = PlotFrame("wide", 940, 430, 46, 16, 34, 50, 6.9)
MIDDLE = PlotFrame("middle", 620, 400, 46, 12, 34, 50, 6.9)
NARROW = PlotFrame("narrow", 344, 440, 40, 8, 34, 50, 6.6)
FRAMES = (WIDE, MIDDLE, NARROW)  # text is never scaled: the page shows the widest that fits


@dataclass(frozen=True)
class Point:
    """One model: where it stands, and its fits one by one."""

    key: str
    label: str
    readable: bool  # whether the page can show its votes
    frontier: bool
    columns: float
    score: float
    fits: tuple[tuple[float, float], ...]  # (columns, score) of each fit
    final: float | None  # columns of its final fit, to all cases


@dataclass(frozen=True)
class _ColumnScale:
    """0 has a place of its own, 0 to 1 is linear, from 1 on the scale is logarithmic."""

    start: float
    end: float
    top: float

    @property
    def step(self) -> float:
        """Return the width of the stretch from 0 to 1."""
        return 0.11 * (self.end - self.start)

    def __call__(self, columns: float) -> float:
        if columns <= 1:
            return self.start + self.step * max(columns, 0.0)
        part = math.log(columns) / math.log(max(self.top, 2.0))
        return self.start + self.step + (self.end - self.start - self.step) * min(part, 1.0)


def pareto_chart(
    points: Sequence[Point], n_columns: int, chance: float, frame: PlotFrame
) -> JsonObject:
    """Return the chart of `points` in the coordinates of `frame`.

    Parameters
    ----------
    points : sequence of Point
        In the order of the table.
    n_columns : int
        Columns of the table: the right end of the axis.
    chance : float
        The balanced accuracy of a constant answer, drawn as a line.

    Returns
    -------
    chart : dict
        Only numbers, strings and lists.
    """
    low, step = _score_range(points, chance)
    across = _ColumnScale(frame.left + 16, frame.inner_right - 8, max(n_columns, 2))

    def up(score: float) -> float:
        part = (min(max(score, low), 1.0) - low) / (1.0 - low)
        return frame.inner_bottom - part * (frame.inner_bottom - frame.top)

    marks = [_mark(p, across, up) for p in points]
    labels = _labels(marks, frame)
    return {
        "frame": {**asdict(frame), "x2": frame.inner_right, "y2": frame.inner_bottom},
        "marks": [m | {"text": t} for m, t in zip(marks, labels, strict=True)],
        "x_ticks": _column_ticks(across, n_columns, frame),
        "y_ticks": [
            {"y": _r(up(v)), "text": number(v, 1 if step == 0.1 else 2)}
            for v in _score_ticks(low, step)
        ],
        "chance": {
            "y": _r(up(chance)),
            "text": f"constant prediction {number(chance, 2)}",
            "inside": chance >= low,
        },
        "front": _front(points, across, up),
    }


def _mark(p: Point, across: _ColumnScale, up: Any) -> dict[str, Any]:
    below = up(p.score) == up(-1.0)  # the bottom of the axis, or under it
    columns = [c for c, _ in p.fits]
    return {
        "key": p.key,
        "label": f"{p.label} ↓ {number(p.score, 2)}" if below else p.label,
        "below": below,
        "readable": p.readable,
        "frontier": p.frontier,
        "columns": p.columns,
        "score": p.score,
        "x": _r(across(p.columns)),
        "y": _r(up(p.score)),
        "span": [_r(across(min(columns))), _r(across(max(columns)))] if columns else None,
        "fits": [{"x": _r(across(c)), "y": _r(up(s))} for c, s in p.fits],
        "final": None if p.final is None else _r(across(p.final)),
    }


def _front(points: Sequence[Point], across: _ColumnScale, up: Any) -> str:
    """Return the path along the frontier: a stair, for nothing lies between two models."""
    best = sorted((p.columns, p.score) for p in points if p.frontier)
    steps: list[str] = []
    for i, (columns, score) in enumerate(best):
        x, y = _r(across(columns)), _r(up(score))
        steps.append(f"M{x} {y}" if i == 0 else f"H{x}V{y}")
    return "".join(steps)


def _score_range(points: Sequence[Point], chance: float) -> tuple[float, float]:
    """Return where the axis of scores starts, and the step of its ticks.

    Models that read nothing do not count if they would press the others together: they are then
    drawn at the foot of the axis, with their score written beside them.
    """
    reading = [min([p.score, *(score for _, score in p.fits)]) for p in points if p.columns > 0]
    low = min(reading, default=chance)
    if low - chance < 0.2 or not reading:
        low = min([low, chance, *(p.score for p in points)])
    step = 0.1 if low < 0.8 else 0.05
    return max(round(math.floor((low - 0.004) / step) * step, 2), 0.0), step


def _score_ticks(low: float, step: float) -> list[float]:
    return [round(low + step * i, 2) for i in range(round((1.0 - low) / step) + 1)]


def _column_ticks(across: _ColumnScale, n_columns: int, frame: PlotFrame) -> list[dict[str, Any]]:
    """Return ticks at 0, 1 and round numbers, and the number of columns at the end."""
    decades = math.log10(max(n_columns, 2))
    steps = (
        (1, 2, 5) if decades <= 2.2 else (1, 3) if decades <= 3.2 and frame is not NARROW else (1,)
    )
    values = [s * 10**k for k in range(math.ceil(decades) + 1) for s in steps]
    end = across(n_columns)
    width = frame.letter * (len(count(n_columns)) + 2.5)
    inside = [v for v in values if v < n_columns and end - across(v) > width]
    return [{"x": _r(across(v)), "text": count(v)} for v in [0, *inside, n_columns]]


def _labels(marks: list[dict[str, Any]], frame: PlotFrame) -> list[dict[str, Any]]:
    """Place each label beside its point where it covers least; readable models choose first."""
    taken = [(m["x"] - 6, m["y"] - 6, m["x"] + 6, m["y"] + 6) for m in marks]
    soft = [  # folds, drawn when their model is read
        (fit["x"] - 3, fit["y"] - 3, fit["x"] + 3, fit["y"] + 3)
        for m in marks
        if m["readable"]
        for fit in m["fits"]
    ]
    placed: dict[int, dict[str, Any]] = {}
    for i in sorted(range(len(marks)), key=lambda i: (not marks[i]["readable"], i)):
        mark, width = marks[i], frame.letter * len(marks[i]["label"])
        best: tuple[float, dict[str, Any], tuple[float, float, float, float]] | None = None
        for rank, (dx, dy, anchor) in enumerate(_PLACES):
            x, y = mark["x"] + dx, mark["y"] + dy
            left = x - {"start": 0.0, "middle": width / 2, "end": width}[anchor]
            box = (left, y - 10, left + width, y + 3)
            outside = max(frame.left + 2 - box[0], box[2] - frame.inner_right - 10, 0)
            outside += max(frame.top - 10 - box[1], box[3] - frame.inner_bottom + 2, 0)
            cover = sum(_overlap(box, other) for j, other in enumerate(taken) if j != i)
            cover += sum(_overlap(box, other) for other in soft) / 2
            cost = 3 * cover + 40 * outside + 3 * rank
            if best is None or cost < best[0]:
                far = abs(dy) > 16
                best = (cost, {"x": _r(x), "y": _r(y), "anchor": anchor, "far": far}, box)
        assert best is not None
        placed[i] = best[1]
        taken.append(best[2])
    return [placed[i] for i in range(len(marks))]


_PLACES = [
    (dx, 4.0 + dy, anchor)
    for dy in (0, -14, 14, -28, 28, -42, 42, -56, 56, -70, 70, -84, 84)
    for dx, anchor in ((11.0, "start"), (-11.0, "end"))
] + [(0.0, -12.0, "middle"), (0.0, 20.0, "middle")]


def _overlap(a: tuple[float, ...], b: tuple[float, ...]) -> float:
    wide = min(a[2], b[2]) - max(a[0], b[0])
    high = min(a[3], b[3]) - max(a[1], b[1])
    return max(wide, 0.0) * max(high, 0.0)


def interval_strip(
    rows: Sequence[tuple[float, float, float]], reach: float | None = None, width: float = 220
) -> Any:
    """Return intervals (middle, low, high) on one axis through zero, which ends at +-reach.

    By default nothing is cut off.
    """
    if reach is None:
        reach = max([0.05, *(abs(v) for row in rows for v in row if math.isfinite(v))]) * 1.04

    def across(value: float) -> float:
        return _r(width / 2 * (1 + max(min(value / reach, 1.0), -1.0)))

    bars = [{"x": across(m), "x1": across(lo), "x2": across(hi)} for m, lo, hi in rows]
    return {"width": width, "zero": width / 2, "reach": reach, "bars": bars}


def _r(value: float) -> float:
    return round(value, 2)


_FEW = 10  # cases of a fold
_FOLDS = 20  # fits of a model that are drawn one by one, at most


def accuracy_section(
    folder: Folder,
    rows: Sequence[Standing],
    choice: Opening | None,
    found: Sequence[Pair],
    prior: float,
    unsure: Collection[str],
    kept: bool = True,
) -> dict[str, Any]:
    """Return what the panel shows: entries of the page's dictionary.

    Parameters
    ----------
    found : sequence of Pair
        Differences from the best.
    prior : float
        The log-loss of the class frequencies, NaN if not known.
    unsure : collection of str
        Models whose log-loss is worse than that.
    kept : bool, default=True
        Whether the page carries single cases: else it tells no fold of fewer than ten, and of
        fits that failed no more than how many, for errors may name a case.
    """
    measured = rows[0].summary.measures  # a folder of another version has others
    measures = [one for one in folder.measures if one.name in measured]
    best = choice.best if choice else None
    judged = {p.key: p for p in found}
    reach = _reach(found)
    n_columns = folder.n_columns
    return {
        "measure": folder.measure,
        "chart": _charts(folder, rows, n_columns, kept),
        "chart_note": _chart_note(rows),
        "any_frontier": any(s.frontier for s in rows if s.drawn),
        "measures": [{"key": one.name, "words": one.words} for one in measures],
        "n_main": sum(one.first for one in measures),
        "models": [
            _model(s, measures, folder, judged.get(s.key), best, reach, s.key in unsure)
            for s in rows
        ],
        "any_failed": any(s.failed for s in rows),
        "n_fits_words": plural(len({f.split for s in rows for f in [*s.fits, *s.failed]}), "fold"),
        "measures_note": _measures_note(folder, prior)
        + _not_measured([one.words for one in folder.measures if one.name not in measured]),
        "prior_words": number(prior) if math.isfinite(prior) else "",
        "difference_note": _difference_note(found, best),
        "voters_note": _voters_note(rows),
        "stability_note": _stability_note(rows),
        "failures": _failures(rows, kept),
    }


# ---------------------------------------------------------------------- the chart
def _charts(
    folder: Folder, rows: Sequence[Standing], n_columns: int, kept: bool
) -> list[JsonObject]:
    points = [_point(s, folder, kept) for s in rows if s.drawn]
    return [pareto_chart(points, n_columns, folder.constant, frame) for frame in FRAMES]


def _point(s: Standing, folder: Folder, kept: bool) -> Point:
    measure = main_metric(s.summary.measures)
    fits = [
        (f.columns_used, f.measures[measure])
        for f in s.fits
        if f.columns_used is not None and measure in f.measures and (kept or f.n_test >= _FEW)
    ]
    return Point(
        key=s.key,
        label=s.label,
        readable=s.key in folder.models,
        frontier=s.frontier,
        columns=s.columns.mean,
        score=s.score,
        fits=tuple(fits) if len(fits) <= _FOLDS else (),
        final=folder.refit_columns.get(s.key),
    )


def _chart_note(rows: Sequence[Standing]) -> str:
    many = any(len(s.fits) > _FOLDS for s in rows)
    line = "The dashed line joins models to which no other is equal on fewer columns. "
    return (
        "Each name is a model's mean over the held-out folds. Filled marks can be read on this"
        " page; of hollow ones there are answers only. "
        + (line if any(s.frontier for s in rows if s.drawn) else "")
        + (
            "For the model being read, a bar spans the columns of its folds' models, too many to"
            " draw one by one"
            if many
            else "For the model being read, small dots are its folds and the bar spans their"
            " columns"
        )
        + "; the triangle on the axis marks the columns of its fit to all cases."
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
    cells = [_measured(s, one) for one in measures]
    if unsure:
        cells[[one.name for one in measures].index("log_loss")]["mark"] = "†"
    columns = s.columns
    spread = count(columns.sd) if columns.sd > 0 else ""
    words = f"{count(columns.mean)} ± {spread}" if spread else count(columns.mean)
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
        "voters": _cell(voters, count(voters), "", "voters"),
        "draws": _cell(draws, count(draws), "", "draws"),
        "difference": _difference(pair, reach, best is not None and s.key == best.key),
        "fits": str(len(s.fits)) + (f" ({len(s.failed)} failed)" if s.failed else ""),
        "n_fits": len(s.fits),
        "sentence": (
            f"{s.label}: {folder.measure} {plus_minus(s.score, s.score_sd)}, columns used {words}"
        ),
    }


def _measured(s: Standing, measure: ResultMetric) -> dict[str, Any]:
    one = s.spread(measure.name)
    digits = 2 if measure.greatest == 1 else 3  # where the measure is not a rate
    spread = number(one.sd, digits) if one.n > 1 else ""
    text = number(one.mean, digits)
    if text == "1.00" and one.mean < 1:
        text = ">0.99"
    return _cell(one.mean, text, spread, measure.name)


def _cell(value: float, text: str, spread: str, kind: str) -> dict[str, Any]:
    known = value if math.isfinite(value) else None
    return {"value": known, "text": text, "spread": spread, "kind": kind, "mark": ""}


def _reach(found: Sequence[Pair]) -> float:
    """Return where the axis of differences ends; a constant answer does not stretch it."""
    sizes = [abs(v) for p in found if p.reads for v in (p.low, p.mean, p.high) if math.isfinite(v)]
    return 1.04 * max([0.05, *sizes])


def _difference(pair: Pair | None, reach: float, best: bool) -> dict[str, Any]:
    if pair is None:
        return {"text": "the best" if best else "–", "interval": "", "value": None, "bar": None,
                "whole": "the best" if best else ""}  # fmt: skip
    known = math.isfinite(pair.low)
    low, high = (pair.low, pair.high) if known else (pair.mean, pair.mean)
    strip = interval_strip([(pair.mean, low, high)], reach, width=120)
    interval = f"{difference(pair.low, 2)} to {difference(pair.high, 2)}" if known else "one fold"
    return {
        "text": small_difference(pair.mean),
        "interval": interval,
        "value": pair.mean,
        "whole": f"{small_difference(pair.mean)}, 95 % interval from {interval}"
        if known
        else interval,
        "bar": {**strip["bars"][0], "width": strip["width"], "zero": strip["zero"]},
    }


def _difference_note(found: Sequence[Pair], best: Standing | None) -> str:
    if best is None or not found:
        return ""
    return (
        f"Differences are from {best.label}, on the same folds, with 95 % intervals corrected for"
        " training sets that overlap (Nadeau & Bengio 2003): one by one, not for many comparisons"
        f" at once. {best.label} was picked as the best on these folds, which flatters it a little."
    )


# ---------------------------------------------------------------------- notes
def _measures_note(folder: Folder, prior: float) -> str:
    """Return what the measures of the table are."""
    if folder.multilabel:
        return (
            "Average precision is, for each of a case's labels, the share of its labels among all"
            " that are ranked as high, and the mean of that; Hamming loss is the share of wrong"
            " answers over all cases and labels; one-error is how often the label ranked first is"
            " not the case's; coverage is how many labels must be passed in the ranking to have"
            " all of the case's; ranking loss is the share of pairs of a label that it has and one"
            " that it has not which are ranked wrongly. Average precision is best at 1, the others"
            " at 0 (coverage: at the number of a case's labels less one)."
        )
    words = (
        "Balanced accuracy is the mean share of each class found; ROC-AUC is"
        f" {_auc_words(len(folder.about['classes']))}; log-loss is lower where the stated"
        " probabilities are better."
    )
    if math.isfinite(prior):
        words += (
            " Stating each class's frequency in the training part has a log-loss of"
            f" {number(prior)}; † is worse."
        )
    return words


def _not_measured(names: Sequence[str]) -> str:
    return f" Not measured when this comparison was made: {series(names)}." if names else ""


def _auc_words(n_classes: int) -> str:
    if n_classes == 2:
        return "the chance that a case of one class is ranked above one of the other"
    return (
        "the mean over the classes of the chance that a case of the class is ranked above one of"
        " the others"
    )


def _stability_note(rows: Sequence[Standing]) -> str:
    if not any(math.isfinite(s.summary.stability.value) for s in rows):
        return ""
    return (
        "Stability is how alike the columns used are from fold to fold: 1 always the same, 0 no"
        " more alike than columns drawn by lot (Nogueira, Sechidis & Brown 2018). Training parts"
        " overlap, so that it would be lower on new cases. It is not defined for a model that reads"
        " every column, or none."
    )


def _voters_note(rows: Sequence[Standing]) -> str:
    absent = any(s.fits and not s.summary.n_voters.n for s in rows)
    return "A dash under voters marks a model that is no ensemble." if absent else ""


def _failures(rows: Sequence[Standing], kept: bool) -> list[dict[str, str]]:
    found: list[dict[str, str]] = []
    for s in rows:
        errors = (f.error if kept else "results.csv tells why." for f in s.failed)
        for error, n in Counter(errors).most_common():
            words = f"{n} of {plural(len(s.fits) + len(s.failed), 'fit')}"
            found.append({"label": s.label, "words": words, "error": error})
    return found
