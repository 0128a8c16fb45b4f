"""The planes of models of two columns: what a model says over the values of both."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from psephos.explain.effects import Axis, Pieces, Threshold, axis_of, pieces_of
from psephos.report.study.opened import Reduced
from psephos.report.study.options import guarded

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
