"""One dot a case in lanes, one lane a class: where each stands, in the units of the drawing."""

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from psephos.explain.missed import dodged
from psephos.figures.confusion import in_millionths
from psephos.report.words import plural

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
