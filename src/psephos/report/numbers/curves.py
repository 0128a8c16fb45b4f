"""The curves of held-out answers: ROC, precision, calibration and net benefit of a model."""

import math
from collections.abc import Sequence

import numpy as np

from psephos._types import JsonObject, NDArray
from psephos.figures import Estimate, calibration_table, net_benefit, share
from psephos.figures.calibration import CalibrationBin
from psephos.figures.confusion import UNIT, in_millionths
from psephos.report.numbers.measures import lowered, thresholds, withheld
from psephos.report.words import chance, count, of, rate, span

BINS = 50  # bins of a lane
FRAME = {"width": 214, "height": 218, "left": 34, "right": 8, "top": 10, "bottom": 46}
GRID = np.arange(1, 100) / 100  # thresholds of the net benefit
_BINS = 5  # bins of the calibration
_LEAST, _MOST = 10, 40  # cases of a run of answers
_DIGITS = 4  # decimals

Floats = NDArray[np.float64]


def worth(grid: Floats, model: Floats, everyone: Floats) -> list[tuple[float, float]]:
    """Return the ranges of thresholds where a model has more net benefit than no model, sorted.

    No model means calling everyone positive, or nobody.
    """
    better = model > np.maximum(everyone, 0.0) + 1e-9
    edges = np.flatnonzero(np.diff(np.concatenate([[0], better.astype(np.int8), [0]])))
    return list(zip(grid[edges[::2]].tolist(), grid[edges[1::2] - 1].tolist(), strict=True))


def curves_of(
    answers: Floats,
    positive: NDArray[np.bool_],
    area: Estimate,
    pos: str,
    groups: NDArray[np.intp] | None = None,
    edges: Sequence[float] | None = None,
    always: Sequence[float] = (),
) -> JsonObject:
    """Return the data of the ROC, precision, calibration and net benefit curves of one model.

    ``at`` and ``steps`` are the table of `thresholds`; ``every``, whether it has all answers;
    ``cal``, about five groups of the calibration; ``like``, runs of cases by their answers; ``nb``,
    the net benefit of the model and of calling everyone positive.

    Parameters
    ----------
    area : Estimate
        The area under the ROC curve.
    pos : str
        The name of positive cases.
    groups : ndarray of int of shape (n,), optional
        The group of each case.
    edges : sequence of float, optional
        For a page without cases: the only thresholds of the curves. Fifths of the calibration are
        then given only if none of their counts is withheld.
    always : sequence of float, default=()
        Thresholds that the table must have.
    """
    counted = in_millionths(answers if edges is None else lowered(answers, edges))
    at, called = thresholds(counted, positive, always)
    fifths = calibration_table(positive, answers, _BINS, groups)
    few = edges is not None and any(withheld(one.seen.hits, one.seen.n) for one in fifths)
    fifths = [] if few else fifths
    means = [_run(b.predicted, f"about {chance(b.predicted)}", b.seen, pos) for b in fifths]
    share, grid = float(positive.mean()), np.append(0.0, benefit_grid(edges))  # at 0 all are called
    model, everyone = benefits(answers, positive, grid)
    return {
        "at": at.tolist(),
        "every": len(at) == len(np.unique(counted)),
        "steps": called.tolist(),
        "roc": {
            "area": f"area {chance(area.value)}" if math.isfinite(area.value) else "",
            "interval": span(area.low, area.high, chance),
        },
        "pr": f"{round(100 * share)} % if all are called" if share else f"no {pos}",
        "cal": [_group(one, pos) for one in fifths],
        "like": means if edges is not None else _runs(answers, positive, pos, groups),
        "nb": {
            "at": grid.tolist(),
            "model": np.round(model, _DIGITS).tolist(),
            "all": np.round(everyone, _DIGITS).tolist(),
            "top": math.ceil(10 * share + 0.2) / 10,  # the axis ends above the share
        },
    }


def _runs(
    answers: Floats, positive: NDArray[np.bool_], pos: str, groups: NDArray[np.intp] | None
) -> list[JsonObject]:
    """Return overlapping runs of a fifth of the cases, 10 to 40, in the order of their answers.

    Cases with equal answers (in millionths) are in the same runs. ``at`` is the median answer.
    """
    units = in_millionths(answers)
    order = np.sort(units)
    size = min(max(round(len(order) / _BINS), _LEAST), _MOST, len(order))
    ends = {(order[k], order[k + size - 1]) for k in range(0, len(order) - size + 1, size // 2)}
    found: list[JsonObject] = []
    for low, high in sorted(ends | {(order[-size], order[-1])}):
        own = (units >= low) & (units <= high)
        seen = share(positive[own], None if groups is None else groups[own])
        between = " to ".join(dict.fromkeys([chance(low / UNIT), chance(high / UNIT)]))
        at = float(np.median(units[own]) / UNIT)
        found.append(_run(at, between, seen, pos))
    return found


def _run(at: float, between: str, seen: Estimate, pos: str) -> JsonObject:
    cells = [count(seen.n), between, of(seen.hits, seen.n, pos), rate(seen.value)]
    return {"at": at, "cells": [*cells, span(seen.low, seen.high)]}


def _group(one: CalibrationBin, pos: str) -> JsonObject:
    predicted, seen = one.predicted, one.seen
    ends = (seen.low, seen.high) if math.isfinite(seen.low + seen.high) else (seen.value,) * 2
    counts = [count(seen.n), of(seen.hits, seen.n, pos)]
    return {
        "at": [round(v, _DIGITS) for v in (predicted, seen.value, *ends)],
        "cells": [chance(predicted), *counts, rate(seen.value), span(seen.low, seen.high)],
    }


def benefit_grid(edges: Sequence[float] | None) -> Floats:
    """Return the thresholds at which the net benefit is shown."""
    return GRID if edges is None else np.array([e for e in edges if 0 < e < 1])


def benefits(
    answers: Floats, positive: NDArray[np.bool_], grid: Floats = GRID
) -> tuple[Floats, Floats]:
    """Return the net benefit of a model, and of calling everyone positive, at some thresholds.

    Answers are compared in millionths, as in all counts of the page.
    """
    found = net_benefit(positive, in_millionths(answers) / UNIT, grid.tolist())
    return np.array([b.model.value for b in found]), np.array([b.everyone.value for b in found])
