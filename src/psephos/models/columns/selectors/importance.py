"""Scores of columns by a model's importances, or by each column's correlation."""

import numpy as np

from psephos._errors import PsephosError
from psephos._types import Estimator, Floats
from psephos.models.columns.problem import SelectionProblem
from psephos.models.committees.fitting import Data, MemberTask, fit_all
from psephos.models.forest.random_forest import RandomForestClassifier, RandomForestRegressor

_TREES, _STABLE = 2000, 10_000
_LEAF = 5  # rows of a leaf for regression: smaller leaves fit noise and cost most of the time


def importance(problem: SelectionProblem) -> Floats:
    """Return (p,) impurity importances of a forest of 2,000 trees (10,000 if `problem.stable`).

    Classification trees are grown until pure, regression trees to leaves of at least 5 rows.
    """
    jobs, trees = problem.data.n_jobs, _STABLE if problem.stable else _TREES
    forest = (
        RandomForestClassifier(trees, n_jobs=jobs)
        if problem.data.n_classes
        else RandomForestRegressor(trees, max_features="sqrt", min_samples_leaf=_LEAF, n_jobs=jobs)
    )
    model = fit_all(problem.encoded[0], [MemberTask(forest, (1, 0))])[0]
    return problem.by_column(model.impurity_importance_)


def of_model(data: Data, estimator: Estimator) -> Floats:
    """Return (p,) importances, or absolute coefficients, of an estimator fitted on all columns.

    Raises
    ------
    PsephosError
        If it has neither `feature_importances_` nor `coef_`.
    """
    model = fit_all(data, [MemberTask(estimator, (5,))])[0]
    p = data.X.shape[1]
    for name in ("feature_importances_", "coef_"):
        found = getattr(model, name, None)
        if found is not None and np.shape(found)[-1:] == (p,):
            return np.abs(np.asarray(found, dtype=np.float64)).reshape(-1, p).sum(axis=0)
    raise PsephosError(
        "a selector must have feature_importances_ or coef_ once it is fitted, or be a name such "
        f"as 'blend'; got {type(estimator).__name__}."
    )


def univariate(problem: SelectionProblem) -> Floats:
    """Return (p,) absolute correlations of each column's normal scores with the target.

    With more than two classes, the correlations of each class against the rest are summed.
    """
    return problem.by_column(problem.correlation.sum(axis=1))
