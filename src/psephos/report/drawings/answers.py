"""The drawings of held-out answers: one dot a case in lanes, one lane a class, and small curves.

Curves are paths of one fixed frame: the page draws them as they stand here.
"""

import math
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from itertools import pairwise
from typing import Any

import numpy as np

from psephos._types import JsonObject, NDArray
from psephos.explain.missed import dodged
from psephos.figures import Estimate, calibration_table, net_benefit
from psephos.figures.calibration import CalibrationBin
from psephos.figures.confusion import UNIT, in_millionths
from psephos.report.numbers.measures import Fourfold, lowered
from psephos.report.words import chance, count, of, plural, rate, span

MOST = 400  # cases of a lane that are dots; of more, those called rightly are columns
BINS = 50  # columns of a lane


@dataclass(frozen=True)
class Ground:
    """The size of the drawing: the script has the same numbers."""

    width: float = 940
    left: float = 128
    right: float = 12
    top: float = 44  # of the first lane
    lane: float = 96
    gap: float = 30  # between lanes, for their counts

    @property
    def inner(self) -> float:
        """Return the width of the axis from 0 to 1."""
        return self.width - self.left - self.right

    def base(self, lane: int) -> float:
        """Return where the dots of a lane stand."""
        return self.top + (lane + 1) * self.lane + lane * self.gap

    def height(self, lanes: int) -> float:
        """Return the height of the whole drawing."""
        return self.base(lanes - 1) + 44


def lanes_drawing(
    units: NDArray[np.int64],
    truth: NDArray[np.intp],
    order: Sequence[int],
    wrong: Any,
    two: bool,
    edges: Sequence[float] | None = None,
) -> dict[str, Any]:
    """Return the lanes of the page's first state.

    Parameters
    ----------
    units : ndarray of shape (n,)
        Answers in millionths.
    truth : ndarray of shape (n,)
        Codes of classes.
    order : sequence of int
        The classes, one a lane, from above.
    wrong : ndarray of bool of shape (n,)
        The cases that were called wrongly.
    two : bool
        Whether there is a threshold, whose counts stand above each lane.
    edges : sequence of float, optional
        Where columns begin that count all cases, if no single one is to be drawn.
    """
    ground = Ground() if two else Ground(top=8, lane=64, gap=14)
    ends = [e for e in edges or [b / BINS for b in range(BINS)] if e < 1]
    lanes = [
        _lane(ground, k, units[truth == code].tolist(), wrong[truth == code].tolist(), ends,
              edges is not None)
        for k, code in enumerate(order)
    ]  # fmt: skip
    most = max((max(lane["bars"], default=0) for lane in lanes), default=0)
    for lane in lanes:
        lane["bars"] = _bars(ground, lane, most, [*ends, 1.0]) if lane["bars"] else []
    return {
        "ground": {**asdict(ground), "inner": ground.inner},
        "height": ground.height(len(lanes)),
        "lanes": lanes,
        "ticks": [
            {"x": ground.left + t / 5 * ground.inner, "text": f"{t / 5:.1f}"} for t in range(6)
        ],
        "tallest": most,
    }


def _lane(
    ground: Ground, k: int, units: list[int], wrong: list[bool], ends: list[float], counted: bool
) -> dict[str, Any]:
    base, binned = ground.base(k), counted or len(units) > MOST
    right = [u for u, bad in zip(units, wrong, strict=True) if not bad]
    drawn = [i for i, bad in enumerate(wrong) if bad or not binned]
    if counted or (binned and len(drawn) > MOST):  # mistakes are many, too: all are columns
        right, drawn = units, []
    radius, places = dodged([units[i] for i in drawn], ground.inner, ground.lane)
    return {
        "base": base,
        "cases": plural(len(units), "case"),
        "radius": radius,
        "dots": [
            {"x": round(ground.left + x, 1), "y": round(base - y, 1), "wrong": wrong[i]}
            for i, (x, y) in zip(drawn, places, strict=True)
        ],
        "bars": _binned(right, ends) if binned else [],
    }


def _binned(units: Sequence[int], ends: Sequence[float]) -> list[int]:
    """Return how many answers stand from each end to the next; 1 is in the last column."""
    which = np.searchsorted(in_millionths(ends), np.array(units, np.int64), "right") - 1
    return np.bincount(which, minlength=len(ends)).tolist()


def _bars(
    ground: Ground, lane: dict[str, Any], most: int, ends: Sequence[float]
) -> list[dict[str, float]]:
    heights = [n / most * ground.lane if most else 0.0 for n in lane["bars"]]
    return [
        {
            "x": round(ground.left + a * ground.inner + 0.5, 2),
            "y": round(lane["base"] - h, 2),
            "width": round((b - a) * ground.inner - 1, 2),
            "height": round(h, 2),
            "n": n,
        }
        for (a, b), h, n in zip(pairwise(ends), heights, lane["bars"], strict=True)
        if n
    ]


FRAME = {"width": 214, "height": 206, "left": 34, "right": 8, "top": 10, "bottom": 34}
GRID = np.arange(1, 91) / 100  # thresholds of the net benefit
_BINS = 5  # of the calibration
_FEWEST = 10  # cases of a fifth, where no single answer is to be told
_W = FRAME["width"] - FRAME["left"] - FRAME["right"]
_H = FRAME["height"] - FRAME["top"] - FRAME["bottom"]
_LEAST = 0.05  # a stretch of thresholds that is named is at least as long
_CROWDED = 0.8  # precision from which on a curve is where words on top would stand
_NEAR = 0.4  # points nearer to a line than this, in units of the frame, are left out

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class RocSteps:
    """What is found, and at how many false alarms, from each answer that occurs downwards.

    The first step calls nobody; its threshold is infinite.
    """

    threshold: Floats  # (s,) falling
    found: NDArray[np.int64]  # (s,) positive cases called
    alarms: NDArray[np.int64]  # (s,) other cases called


def steps(answers: Floats, positive: NDArray[np.bool_]) -> RocSteps:
    """Return the steps of a model's answers; of equal answers all are called at once."""
    order = np.argsort(-answers, kind="stable")
    ranked, hit = answers[order], positive[order]
    last = np.append(np.flatnonzero(np.diff(ranked)), len(ranked) - 1)
    return RocSteps(
        threshold=np.append(np.inf, ranked[last]),
        found=np.append(0, np.cumsum(hit)[last]),
        alarms=np.append(0, np.cumsum(~hit)[last]),
    )


def worth(grid: Floats, model: Floats, everyone: Floats) -> tuple[float, float] | None:
    """Return the longest stretch of thresholds where a model is worth more than no model.

    That is: more than calling everyone positive and than calling nobody. None where no stretch
    is at least 0.05 long.
    """
    better = model > np.maximum(everyone, 0.0) + 1e-9
    edges = np.flatnonzero(np.diff(np.concatenate([[0], better.astype(np.int8), [0]])))
    runs = [(int(a), int(b) - 1) for a, b in zip(edges[::2], edges[1::2], strict=True)]
    if not runs:
        return None
    a, b = max(runs, key=lambda run: run[1] - run[0])
    low, high = float(grid[a]), float(grid[b])
    return (low, high) if high - low >= _LEAST - 1e-9 else None


def curves_drawing(
    answers: Floats,
    positive: NDArray[np.bool_],
    area: Estimate,
    pos: str,
    groups: NDArray[np.intp] | None = None,
    edges: Sequence[float] | None = None,
) -> JsonObject:
    """Return the ROC, precision, calibration and net benefit of one model, in units of `FRAME`.

    Parameters
    ----------
    area : Estimate
        Under the ROC curve.
    pos : str
        What positive cases are called.
    groups : ndarray of int of shape (n,), optional
        Cases that belong together.
    edges : sequence of float, optional
        The thresholds at which curves are told, if not at every answer: where a page carries no
        single answer. Fifths of the calibration are then of at least ten cases.
    """
    m, n = int(positive.sum()), int((~positive).sum())
    found = steps(answers if edges is None else lowered(answers, edges), positive)
    fifths = calibration_table(positive, answers, _BINS, groups)
    told = edges is None or min((one.seen.n for one in fifths), default=0) >= _FEWEST
    return {
        "roc": _roc(found, m, n, area),
        "pr": _precision(found, m, n, pos),
        "cal": [_group(one, pos) for one in fifths] if told else [],
        "nb": _benefit(answers, positive, edges),
    }


def _roc(found: RocSteps, m: int, n: int, area: Estimate) -> JsonObject:
    return {
        "d": _line(found.alarms / n, found.found / m) if m and n else "",
        "area": f"area {chance(area.value)}" if math.isfinite(area.value) else "",
        "interval": span(area.low, area.high),
    }


def _precision(found: RocSteps, m: int, n: int, pos: str) -> JsonObject:
    called = found.found + found.alarms
    some = called > 0
    share = m / (m + n)
    return {
        "d": _line(found.found[some] / m, found.found[some] / called[some]) if m else "",
        "base": _y(share),
        "text": f"{round(100 * share)} % if all are called" if m else f"no {pos}",
        "at": _beside_base(found.found[some] / max(m, 1), found.found[some] / called[some], share),
    }


def _beside_base(recall: Floats, precision: Floats, share: float) -> tuple[float, float, str]:
    """Return where words on the base line stand off the curve: beneath it, else on top, right."""
    left, low = FRAME["left"] + 5, FRAME["height"] - FRAME["bottom"] - 5
    beneath = _y(share) + 15
    if beneath <= low and (precision[recall > 0] >= share - 1e-9).all():
        return left, beneath, "start"
    if precision[recall > 0.2].max(initial=0.0) < _CROWDED:
        return FRAME["width"] - FRAME["right"], FRAME["top"] + 10, "end"
    return left, min(beneath, low), "start"


def _group(one: CalibrationBin, pos: str) -> JsonObject:
    told, seen = one.told, one.seen
    known = math.isfinite(seen.low + seen.high)  # all of one group: there is no interval
    counts = [count(seen.n), of(seen.hits, seen.n, pos)]
    return {
        "x": _x(told),
        "y": _y(seen.value),
        "y1": _y(seen.low if known else seen.value),
        "y2": _y(seen.high if known else seen.value),
        "cells": [chance(told), *counts, rate(seen.value), span(seen.low, seen.high)],
    }


def _benefit(
    answers: Floats, positive: NDArray[np.bool_], edges: Sequence[float] | None
) -> JsonObject:
    """Return the curve of a model and that of calling everyone, on an axis from -0.1."""
    top = benefit_top(float(positive.mean()))
    grid = benefit_grid(edges)
    model, everyone = benefits(answers, positive, grid)
    return {
        "d": _path(grid, model, top),
        "all": _path(grid, everyone, top),
        "zero": _up(0.0, top),
        "top": top,
    }


def benefit_grid(edges: Sequence[float] | None) -> Floats:
    """Return the thresholds at which the net benefit is told."""
    return GRID if edges is None else np.array([e for e in edges if 0 < e <= GRID[-1]])


def benefits(
    answers: Floats, positive: NDArray[np.bool_], grid: Floats = GRID
) -> tuple[Floats, Floats]:
    """Return the net benefit at thresholds of a model, and of calling everyone positive.

    Answers are compared in millionths, as all counts of the page are.
    """
    found = net_benefit(positive, in_millionths(answers) / UNIT, grid.tolist())
    return np.array([b.model.value for b in found]), np.array([b.everyone.value for b in found])


def marks_at(c: Fourfold, threshold: float, worth: float, top: float) -> dict[str, Any]:
    """Return where a threshold of these counts and this net benefit stands on each curve."""
    called = c.found + c.alarms
    both = c.positive and c.negative
    return {
        "roc": [_x(c.alarms / c.negative), _y(c.found / c.positive)] if both else None,
        "pr": [_x(c.found / c.positive), _y(c.found / called)] if called and c.positive else None,
        "cal": _x(threshold),
        "nb": [_x(threshold), _up(worth, top)] if threshold <= GRID[-1] and worth >= -0.1 else None,
    }


def benefit_top(share: float) -> float:
    """Return where the axis of the net benefit ends: above the share that is positive."""
    return math.ceil(10 * share + 0.2) / 10


# ---------------------------------------------------------------------- paths
def _x(value: float) -> float:
    return round(FRAME["left"] + value * _W, 1)


def _y(value: float) -> float:
    return round(FRAME["top"] + (1 - value) * _H, 1)


def _up(value: float, top: float) -> float:
    return round(FRAME["top"] + (top - value) / (top + 0.1) * _H, 1)


def _line(x: Floats, y: Floats) -> str:
    """Return a curve in the unit square."""
    return _joined(_thinned(FRAME["left"] + x * _W, FRAME["top"] + (1 - y) * _H))


def _path(x: Floats, y: Floats, top: float) -> str:
    """Return the part of a curve of net benefits that the axis holds."""
    inside = y >= -0.1
    across = FRAME["left"] + x[inside] * _W
    return _joined(_thinned(across, FRAME["top"] + (top - y[inside]) / (top + 0.1) * _H))


def _joined(points: Floats) -> str:
    return "M" + "L".join(f"{x:g} {y:g}" for x, y in points.tolist()) if len(points) else ""


def _thinned(x: Floats, y: Floats) -> Floats:
    """Return a line without the points that nobody could see: Douglas & Peucker (1973)."""
    place = np.round(np.column_stack([x, y]), 1)
    if len(place) < 3:
        return place
    keep, stack = {0, len(place) - 1}, [(0, len(place) - 1)]
    while stack:
        a, b = stack.pop()
        if b - a < 2:
            continue
        along, inner = place[b] - place[a], place[a + 1 : b] - place[a]
        length = math.hypot(*along)
        if length:
            off = np.abs(along[0] * inner[:, 1] - along[1] * inner[:, 0]) / length
        else:
            off = np.hypot(inner[:, 0], inner[:, 1])
        far = int(np.argmax(off))
        if off[far] > _NEAR:
            keep.add(a + 1 + far)
            stack += [(a, a + 1 + far), (a + 1 + far, b)]
    return place[sorted(keep)]
