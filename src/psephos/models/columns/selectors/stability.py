"""Columns that correlate with the target, one at a time, or that return on halves of the rows."""

import numpy as np
from numpy.typing import NDArray

from psephos.models.columns.problem import SelectionProblem
from psephos.models.columns.selectors.lars import drawn_rows, entries, screened

_HALVES = 100
_ENTRIES = 20
_SCREENED = 1000


def stability(problem: SelectionProblem) -> NDArray[np.float64]:
    """Return (p,) the share of 100 halves of the rows in which a column enters among the first 20.

    The lasso of each half is that of `lars`, on the 1,000 columns that correlate most with the
    target there. Of several classes each is told from the rest, and the shares are added up.
    """
    total = np.zeros(problem.scored.shape[1])
    for r in range(problem.targets.shape[1]):
        first = screened(problem.correlation[:, r], 10 * _SCREENED)
        Z = problem.scored.scores(first)
        for half in range(_HALVES):
            rows = drawn_rows(problem, 0.5, (3, r, half))
            entered = first[entries(problem, r, rows, Z, _SCREENED, _ENTRIES)]
            total[entered] += 1.0 / _HALVES
    return problem.by_column(total)


def univariate(problem: SelectionProblem) -> NDArray[np.float64]:
    """Return (p,) absolute correlations of each column's normal scores with the target.

    Of several classes each is told from the rest, and the correlations are added up.
    """
    return problem.by_column(problem.correlation.sum(axis=1))
