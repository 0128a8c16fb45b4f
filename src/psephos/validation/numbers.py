"""Validation of predicted numbers: their figures, and the effect of a recalibration by a line."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import ClassVar

import numpy as np

from psephos._errors import PsephosError
from psephos._types import Array, Cell, Floats, Json, NDArray
from psephos.figures import Estimate, mean, number_line, r2, rmse, share
from psephos.files.names import ends, number
from psephos.models.prototypes.mixture import NormalMixture

_TAILS = (0.05, 0.25, 0.75, 0.95)  # the ends of intervals of 90 % and 50 %
_FOLDS, _FEWEST = 10, 5  # folds of a line, and cases (groups) below which none is fitted
_WRITTEN = ("r2", "mae", "rmse", "mean error", "slope", "intercept", "crps")


@dataclass(frozen=True)
class AnsweredNumbers:
    """Predictions of cases whose numbers are known.

    Parameters
    ----------
    truth, predicted : ndarray of shape (n,)
    stated : NormalMixture or None
        The distributions that the model predicts.
    groups : ndarray of shape (n,), default=None
    level : float, default=0.95
    """

    truth: Floats
    predicted: Floats
    stated: NormalMixture | None
    groups: Array | None = None
    level: float = 0.95
    classes: ClassVar[list[str]] = []
    two: ClassVar[bool] = False
    positive: ClassVar[int] = 0

    def take(self, kept: NDArray[np.bool_]) -> "AnsweredNumbers":
        """Return some of the cases."""
        stated = self.stated and replace(self.stated, share=self.stated.share[kept])
        groups = None if self.groups is None else self.groups[kept]
        return AnsweredNumbers(self.truth[kept], self.predicted[kept], stated, groups, self.level)

    def figures(self) -> list[tuple[str, Estimate]]:
        """Return figures of the predictions, and of the predicted distributions if any."""
        truth, predicted, among = self.truth, self.predicted, (self.groups, self.level)
        start, slope = number_line(truth, predicted, *among)
        found = [
            ("r2", r2(truth, predicted, *among)),
            ("mae", mean(np.abs(predicted - truth), *among)),
            ("rmse", rmse(truth, predicted, *among)),
            ("mean error", mean(predicted - truth, *among)),
            ("slope", slope),
            ("intercept", start),
        ]
        if self.stated is None:
            return found
        ends = self.ends.T
        for low, high in ((0, 3), (1, 2)):
            inside = (truth >= ends[low]) & (truth <= ends[high])
            words = f"coverage of {100 * (_TAILS[high] - _TAILS[low]):.0f} % intervals"
            found.append((words, share(inside, *among)))
        found.append(("crps", mean(self.stated.crps(truth), *among)))
        for k in (0, 3):
            over = truth - ends[k]
            lost = np.maximum(_TAILS[k] * over, (_TAILS[k] - 1) * over)
            found.append((f"pinball loss at {_TAILS[k]:g}", mean(lost, *among)))
        return found

    @cached_property
    def ends(self) -> Floats:
        """Return the quantiles at the ends of intervals, (n, 4); empty without distributions."""
        return np.empty((0, 4)) if self.stated is None else self.stated.quantile(_TAILS)

    @property
    def target(self) -> str:
        """Return the range and the mean of the true numbers, in words."""
        low, middle, high = ends([float(f(self.truth)) for f in (np.min, np.mean, np.max)])
        return f"numbers from {low} to {high}, mean {middle}"

    def row(self, i: int, again: Floats | None) -> dict[str, Json]:
        """Return truth and prediction of a case."""
        truth, predicted = float(self.truth[i]), float(self.predicted[i])
        row: dict[str, Json] = {"truth": truth, "predicted": predicted}
        if self.stated is not None:
            low, _, _, high = self.ends[i].tolist()
            row |= {"quantile_0.05": low, "quantile_0.95": high}
        return row if again is None else {**row, "recalibrated": float(again[i])}

    def line(self, groups: Array, seed: int) -> tuple[dict[str, Json], Floats | None]:
        """Return the recalibration by a line, and its cross-fitted predictions."""
        own = np.unique(groups, return_inverse=True)[1]
        n = int(own.max()) + 1
        if n < _FEWEST or np.ptp(self.predicted) == 0:
            why = f"a line needs different predictions of at least {_FEWEST} cases (groups)."
            return {"method": None, "why": why}, None
        n_folds, again = min(_FOLDS, n), np.empty_like(self.predicted)
        fold = (np.random.default_rng(seed).permutation(n) % n_folds)[own]
        for k in range(n_folds):
            start, slope = _line(self.truth[fold != k], self.predicted[fold != k])
            again[fold == k] = start + slope * self.predicted[fold == k]
        start, slope = _line(self.truth, self.predicted)
        why = f"a file holds no map of numbers: take {number(start)} + {number(slope)} × the number"
        return {
            "method": "line", "why": why, "n_folds": n_folds, "slope": slope, "offset": start,
            "can_be_saved": False,
        }, again  # fmt: skip


def of_a_number(figure: str) -> bool:
    """Return whether a figure has the unit of the target, or is otherwise printed by its size."""
    return figure in _WRITTEN or figure.startswith("pinball")


def _line(truth: Floats, predicted: Floats) -> tuple[float, float]:
    start, slope = (one.value for one in number_line(truth, predicted))
    return (start, slope) if slope == slope else (float(truth.mean()), 0.0)


def numbers_of(y: Sequence[Cell], names: Sequence[str]) -> Floats:
    """Return the numbers of the cases.

    Raises
    ------
    PsephosError
        If a case has no number, or something else.
    """
    for name, value in zip(names, y, strict=True):
        if not (isinstance(value, int | float | np.number) and np.isfinite(value)):
            what = "no number" if value in ("", None) or value != value else f"{value!r}"
            raise PsephosError(
                f"case {name!r} has {what} in the target, which a model of numbers needs: correct "
                "it, or leave out the cases without one (--classes =)."
            )
    return np.array(y, dtype=np.float64)
