"""Columns one at a time: the correlation of normal scores with the target."""

import numpy as np
from numpy.typing import NDArray

from psephos.models.columns.problem import SelectionProblem


def univariate(problem: SelectionProblem) -> NDArray[np.float64]:
    """Return (p,) absolute correlations of each column's normal scores with the target.

    Of several classes each is told from the rest, and the correlations are added up.
    """
    return problem.by_column(problem.correlation.sum(axis=1))
