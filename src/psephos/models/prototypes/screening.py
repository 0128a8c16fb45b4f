"""Descents of a batch that evaluate fewer candidates, drop small columns, and try columns again.

Most candidates end at weight 0, and one that is there adds nothing to f: only its derivative says
whether it should have weight again. Between two looks at all of them that derivative is taken to be
what it was, upwards, which holds the candidate where it is.

A column of v_d = 0 has no derivative by v_d, so no descent brings it back; by v_d^2 it has one,
which says whether the data would gain from it.
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from psephos.models.prototypes.objective import BatchObjective
from psephos.models.prototypes.optimiser import Minimum, descend

_Floats = NDArray[np.float64]
_EVERY = 10  # evaluations from one look at all candidates to the next
_ROUNDS = 3  # descents at most
_FEW = 200  # candidates below which it does not pay
_SMALL = (0.3, 0.1, 0.03, 0.01)  # shares of the greatest inverse bandwidth
_WORTH = 0.8  # share of candidates active above which the others are not left out
_TRIED = (0.1, 0.3, 1.0)  # inverse bandwidths at which a column enters
_SHARES = (0.03, 0.1, 0.3, 1.0)  # of the greatest, at which many enter


class Screened:
    """``objective(theta) -> (f, gradient)``, the gradient by inactive candidates not always new.

    f is exact. `settled` says whether a point found with it is one of the whole objective.
    """

    def __init__(self, objective: BatchObjective) -> None:
        self._whole = objective
        self._some: BatchObjective | None = None
        self._kept = np.empty(0, np.intp)  # entries of theta that the part has
        self._inactive = np.empty(0, np.intp)  # those it has not
        self._gradient = np.empty(0)
        self._left = 0

    def __call__(self, theta: _Floats) -> tuple[float, _Floats]:
        """Value and gradient."""
        some = self._some
        if some is None or self._left == 0 or np.count_nonzero(theta[self._inactive]):
            return self._look(theta)
        self._left -= 1
        value, gradient = some(theta[self._kept])
        whole = self._gradient.copy()
        whole[self._kept] = gradient
        return value, whole

    def settled(self, theta: _Floats) -> bool:
        """Return whether all inactive candidates may stay so; if not, the next look sees it."""
        gradient = self._look(theta)[1]
        q, m = self._whole.n_columns, self._whole.n_candidates
        return not ((theta[q : q + m] == 0.0) & (gradient[q : q + m] < 0.0)).any()

    def _look(self, theta: _Floats) -> tuple[float, _Floats]:
        """Evaluate all, and choose whom to leave out until the next time."""
        value, gradient = self._whole(theta)
        q, m = self._whole.n_columns, self._whole.n_candidates
        active = (theta[q : q + m] > 0.0) | (gradient[q : q + m] <= 0.0)
        self._some, self._left = None, _EVERY - 1
        if 0 < active.sum() <= _WORTH * m:
            keep = np.ones(len(theta), dtype=np.bool_)
            keep[q : q + m] = active
            self._kept, self._inactive = np.flatnonzero(keep), np.flatnonzero(~keep)
            self._some, self._gradient = self._whole.among(np.flatnonzero(active)), gradient
        return value, gradient


def descend_screened(objective: BatchObjective, start: _Floats, **options: Any) -> Minimum:
    """Return what `descend` finds; where candidates are many, most evaluations leave out some.

    Should one that was left out gain weight after all, the descent goes on from where it ended.
    """
    if objective.n_candidates < _FEW:
        return descend(objective, start, **options)
    screened = Screened(objective)
    found = total = Minimum(start, np.inf, 0, 0, "", False)
    for _ in range(_ROUNDS):
        found = descend(screened, found.x, **options)
        total = found.after(total)
        if screened.settled(found.x):
            break
    return total


def descend_thinned(objective: BatchObjective, start: _Floats, **options: Any) -> Minimum:
    """Return what `descend_screened` finds, continued after small columns were set to 0.

    Where many columns still have small weights, iterations lower the objective by little though
    it would be lower without them. Columns below .3, .1, .03 or .01 of the greatest inverse
    bandwidth are dropped, whichever is lowest, if that lowers the objective.
    """
    found = descend_screened(objective, start, **options)
    for _ in range(_ROUNDS):
        thinner = _thinner(objective, found)
        if thinner is None:
            break
        found = descend_screened(objective, thinner, **options).after(found, len(_SMALL))
    return found


def _thinner(objective: BatchObjective, found: Minimum) -> _Floats | None:
    """Return the lowest point without small columns, if one is below the minimum found."""
    v = found.x[: objective.n_columns]
    lowest, best = found.f, None
    for share in _SMALL:
        small = np.flatnonzero((v > 0.0) & (v < share * v.max()))
        if len(small) == 0:
            break
        x = found.x.copy()
        x[small] = 0.0
        value = objective.by_weights(x)[0]
        if value < lowest:
            lowest, best = value, x
    return best


def let_in(objective: BatchObjective, x: _Floats) -> _Floats:
    """Return the point with all columns let in whose derivative of f by v_d^2 is negative.

    They enter at .03, .1, .3 or 1 of the greatest, whichever is lowest; if none is lower than the
    point, that. It is where a descent goes on that
    found columns useless under a stronger penalty.
    """
    enter = np.flatnonzero(objective.reentry(x) < 0.0)
    if len(enter) == 0:
        return x
    trials = [x] + [x.copy() for _ in _SHARES]
    for trial, share in zip(trials[1:], _SHARES, strict=True):
        trial[enter] = share * x[: objective.n_columns].max()
    return trials[int(np.argmin([objective(trial)[0] for trial in trials]))]


def descend_with_reentry(
    objective: BatchObjective, start: _Floats, n_columns: int, **options: Any
) -> Minimum:
    """Return the lowest point of a descent, and of one more for each column that re-enters.

    After each descent the column at 0 whose derivative by v_d^2 is the most negative is set to
    .1, .3 or 1, whichever is lowest; the next descent starts there if it is below the last
    minimum. It ends when no column lowers the objective, or ``n_columns`` have entered.
    """
    found = descend_thinned(objective, start, **options)
    for _ in range(n_columns):
        slope = objective.reentry(found.x)
        column = int(np.argmin(slope))
        if slope[column] >= 0.0:
            break
        starts = [found.x.copy() for _ in _TRIED]
        for x, v in zip(starts, _TRIED, strict=True):
            x[column] = v
        values = [objective(x)[0] for x in starts]
        best = int(np.argmin(values))
        if values[best] >= found.f:
            break
        again = descend_thinned(objective, starts[best], **options)
        found = again.after(found, len(_TRIED) + 1)
    return found
