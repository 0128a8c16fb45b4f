"""Columns by how much they decrease the impurity of a forest."""

import numpy as np
from numpy.typing import NDArray

from psephos.models.columns.problem import SelectionProblem
from psephos.models.committees.fitting import MemberTask, fit_all
from psephos.models.forest import RandomForestClassifier, RandomForestRegressor

_TREES = 2000
_LEAF = 5  # rows of a leaf for numbers: cuts below tell neighbouring rows apart, and cost most


def importance(problem: SelectionProblem) -> NDArray[np.float64]:
    """Return (p,) impurity importances of a forest of 2,000 trees.

    Trees of classes are grown pure, those of numbers to leaves of at least 5 rows.
    """
    jobs = problem.data.n_jobs
    forest = (
        RandomForestClassifier(_TREES, n_jobs=jobs)
        if problem.data.n_classes
        else RandomForestRegressor(_TREES, max_features="sqrt", min_samples_leaf=_LEAF, n_jobs=jobs)
    )
    model = fit_all(problem.data, [MemberTask(forest, (1, 0))])[0]
    return model.impurity_importance_
