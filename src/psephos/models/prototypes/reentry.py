"""Columns whose weights a descent has set to 0, tried once more.

A column of v_d = 0 has no derivative by v_d, so no descent brings it back; by v_d^2 it has one,
which says whether the data would gain from it.
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from psephos.models.prototypes.objective import BatchObjective
from psephos.models.prototypes.optimiser import Minimum
from psephos.models.prototypes.screening import descend_thinned

__all__ = ["descend_with_reentry", "let_in"]

_Floats = NDArray[np.float64]
_TRIED = (0.1, 0.3, 1.0)  # inverse bandwidths at which a column enters
_SHARES = (0.03, 0.1, 0.3, 1.0)  # of the greatest, at which many enter


def let_in(objective: BatchObjective, x: _Floats) -> _Floats:
    """Return the point with all columns that f would fall by at .03, .1, .3 or 1 of the greatest.

    Whichever is lowest; if none is lower than the point, that. It is where a descent goes on that
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
        found = again._replace(
            n_iterations=found.n_iterations + again.n_iterations,
            n_evaluations=found.n_evaluations + again.n_evaluations + len(_TRIED) + 1,
        )
    return found
