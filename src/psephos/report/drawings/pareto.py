"""The chart of accuracy against columns used, as plain coordinates; the template only draws."""

import math
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

from psephos.report.words import count, number


@dataclass(frozen=True)
class Frame:
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


WIDE = Frame("wide", 940, 430, 46, 16, 34, 50, 6.9)
MIDDLE = Frame("middle", 620, 400, 46, 12, 34, 50, 6.9)
NARROW = Frame("narrow", 344, 440, 40, 8, 34, 50, 6.6)
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
    points: Sequence[Point], n_columns: int, chance: float, frame: Frame
) -> dict[str, Any]:
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


def _column_ticks(across: _ColumnScale, n_columns: int, frame: Frame) -> list[dict[str, Any]]:
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


def _labels(marks: list[dict[str, Any]], frame: Frame) -> list[dict[str, Any]]:
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
