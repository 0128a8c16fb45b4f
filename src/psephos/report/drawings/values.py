"""The drawings of values: by class over the painted axis, and planes of models of two columns."""

import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from psephos._types import Floats, Indices
from psephos.explain.effects import Axis, Pieces, Threshold, axis_of, pieces_of
from psephos.report.study.opened import Reduced
from psephos.report.study.options import guarded

__all__ = [
    "EIGHTHS", "FEWEST", "strip",
]  # fmt: skip


_PIECES = 64  # of an axis on which answers change gradually
_DIGITS = 4


def plane(
    asked: Reduced,
    used: Sequence[int],
    thresholds: Mapping[int, Sequence[Threshold]],
    gradual: set[int],
    cases: str = "full",
) -> dict[str, Any] | None:
    """Return the probabilities over the values of two columns; None unless both are numbers.

    Returns
    -------
    plane : dict or None
        ``axes``; ``ends``, of the pieces of both; ``chances``, (pieces of the second, pieces of
        the first, K), where zero lies apart as the first piece.
    """
    if any(j in asked.levels for j in used):
        return None
    across, up = (_axis(asked, j, thresholds.get(j, []), j in gradual, cases) for j in used)
    grid = np.array([(a, b) for b in _inside(*up) for a in _inside(*across)])
    X = np.full((len(grid), asked.X.shape[1]), np.nan)
    X[:, list(used)] = grid
    chances: Any = asked.vote.probabilities(X).reshape(len(_inside(*up)), len(_inside(*across)), -1)
    rounded: list[Any] = np.asarray(np.round(chances, _DIGITS), dtype=np.float64).tolist()
    return {
        "axes": [axis.data() for axis, _ in (across, up)],
        "ends": [pieces.ends for _, pieces in (across, up)],
        "chances": rounded,
    }


def _axis(
    asked: Reduced, j: int, thresholds: Sequence[Threshold], gradual: bool, cases: str
) -> tuple[Axis, Pieces]:
    steps = [one.at for one in thresholds]
    axis = axis_of(guarded(asked.X[:, j], cases), steps)
    return axis, pieces_of(axis, steps, gradual, _PIECES)


def _inside(axis: Axis, pieces: Pieces) -> list[float]:
    return [*([0.0] if axis.zero else []), *pieces.inside]


_WIDTH, _TALL, _LEFT, _GAP = 600, 26, 34, 16  # lanes have their names above
_GONE = 60  # of missing values, as wide as the word
_BINS = 48
EIGHTHS, FEWEST = 8, 5  # columns, and least cases of one, where no single case is to be told
_DEPTHS = 4  # of the paint


def _mark(cut: Mapping[str, Any] | None, axis: Mapping[str, Any], left: float) -> Any:
    """Return where the column's cut is drawn, and its text; None if it has none."""
    if cut is None:
        return None
    return {
        "x": round(float(_places(np.array([cut["at"]]), axis, left)[0]), 1),
        "text": cut["text"],
    }


def strip(
    column: Mapping[str, Any],
    values: Floats,
    y: Indices,
    order: Sequence[int],
    kept: bool = True,
) -> dict[str, Any] | None:
    """Return the picture of a column: a lane a class whose columns count its cases by value.

    All lanes have one height unit. Missing values and, before a logarithmic axis, zero have places
    of their own on the left: blocks no taller than a lane, with their counts.

    Parameters
    ----------
    column : mapping
        As `psephos.report.numbers.column_values.portrait` returns it.
    order : sequence of int
        The classes, one a lane, from above.
    kept : bool, default=True
        Whether the page carries single cases: else columns are eighths, of five cases and more.

    Returns
    -------
    picture : dict or None
        Paths and places in the picture's own units; None of a column of categories.
    """
    if column["kind"] != "number" or "axis" not in column:
        return None
    axis = column["axis"]
    gone = _GONE if axis["missing"] else 0
    left = gone + (_LEFT if axis["zero"] else 0)
    inside = np.isfinite(values) & ~((values == 0) & axis["zero"])
    n_bins, least = (_BINS, 1) if kept else (EIGHTHS, FEWEST)
    places = {k: _places(values[inside & (y == k)], axis, left) for k in order}
    counts = {k: np.histogram(places[k], n_bins, (left, _WIDTH))[0] for k in order}
    counts = {k: np.where(n < least, 0, n) for k, n in counts.items()}
    zeros, lacking = (
        {k: n if n >= least else 0 for k in order for n in (int((which & (y == k)).sum()),)}
        for which in ((values == 0) & axis["zero"], np.isnan(values))
    )
    most = max(1, *(int(c.max(initial=0)) for c in counts.values()))
    base = {k: 34 + (i + 1) * _TALL + i * _GAP for i, k in enumerate(order)}
    wide = (_WIDTH - left) / n_bins
    bars = {
        k: [(left + b * wide, wide - 0.6, n) for b, n in enumerate(counts[k].tolist())]
        for k in order
    }
    foot = max(base.values()) + 5
    return {
        "width": _WIDTH,
        "height": foot + 26,
        "foot": foot,
        "lanes": [
            {
                "k": k,
                "base": base[k],
                "zeros": zeros[k],
                "gone": lacking[k],
                "d": _path(
                    [(2, _GONE - 12, lacking[k]), (gone + 2, _LEFT - 8, zeros[k]), *bars[k]],
                    base[k],
                    most,
                ),
            }
            for k in order
        ],
        "paint": _paint(column, axis, gone, left, foot),
        "cut": _mark(column["cut"], axis, left),
        "ends": [_text(axis["low"]), _text(axis["high"])],
        "left": left,
        "gone": gone,
        "zero": axis["zero"],
        "tallest": most,
    }


def _places(values: Floats, axis: Mapping[str, Any], left: float) -> Floats:
    low, high = axis["low"], axis["high"]
    if axis["log"]:
        values, low, high = np.log(np.maximum(values, low)), math.log(low), math.log(high)
    return left + np.clip((values - low) / (high - low), 0, 1) * (_WIDTH - left)


def _path(bars: Sequence[tuple[float, float, int]], base: float, most: int) -> str:
    return "".join(
        f"M{x:.1f} {base}v{-min(n / most, 1) * _TALL:.1f}h{wide:.1f}V{base}z"
        for x, wide, n in bars
        if n
    )


def _paint(
    column: Mapping[str, Any], axis: Any, gone: float, left: float, foot: float
) -> list[dict[str, Any]]:
    """Return the axis in the colour of the class that each piece speaks for, in four depths."""
    moves: list[list[float]] = column["moves"]
    ends = _places(np.array(column["ends"]), axis, left).tolist()
    spans = [*zip(ends, ends[1:], moves, strict=False)]
    if column["zero"] is not None and axis["zero"]:
        spans.append((gone, gone + _LEFT - 4.0, column["zero"]))
    if column["missing"] is not None and gone:
        spans.append((0.0, gone - 8.0, column["missing"]))
    reach = max(1e-9, *(max(one) for *_, one in spans))
    found: dict[tuple[int, int], str] = {}
    for a, b, one in spans:
        k = int(np.argmax(one))
        key = k, min(int(max(one[k], 0.0) / reach * _DEPTHS), _DEPTHS - 1)
        found[key] = found.get(key, "") + f"M{a:.1f} {foot}H{b:.1f}v6H{a:.1f}z"
    return [
        {"k": k, "opacity": round(0.2 + 0.8 * q / (_DEPTHS - 1), 2), "d": d}
        for (k, q), d in found.items()
    ]


def _text(value: float) -> str:
    return f"{value:.3g}".replace("-", "−")
