"""How many columns a small model may read at most, where a rule is given instead of a number."""

from collections.abc import Sequence
from typing import Any

import numpy as np
import sklearn
from numpy.typing import NDArray
from sklearn.linear_model import LassoCV, LogisticRegression
from sklearn.model_selection import GridSearchCV
from sklearn.preprocessing import StandardScaler
from sklearn.svm import l1_min_c

from psephos.models.swag.problem import Folds, Problem

_EPV_MOST = 6


def most_columns(given: Any, problem: Problem) -> Any:
    """Return p_max of its rule: a number, or 'curve', which the search itself follows.

    Events are rows, counted as often as their weights say where these are whole numbers.
    """
    if given == "epv":
        whole = bool((problem.weight == np.round(problem.weight)).all())  # repetitions of rows
        weight = problem.weight if whole else np.ones(len(problem.y))
        events = np.bincount(problem.y, weight) if problem.n_classes else [weight.sum() / 2]
        return min(_EPV_MOST, events_per_variable(events))
    if given == "embedded":
        weight = problem.weight
        return embedded_count(problem.X, problem.y, problem.n_classes, problem.folds, weight)
    return given


def events_per_variable(counts: Sequence[int] | NDArray[Any], per: float = 5.0) -> int:
    """Return p_max by the rule of events per variable: rows of the smallest class / `per`.

    At least 1. The paper aims at 4 to 7 events for each column.
    """
    return max(1, int(min(counts) // per))


def embedded_count(
    X: NDArray[np.float64],
    y: NDArray[Any],
    n_classes: int,
    folds: Folds,
    weight: NDArray[np.float64] | None = None,
) -> int:
    """Return p_max, at least 1, as the number of columns that an embedded method selects.

    Columns, without gaps, are standardised. Classification: logistic regression with an L1 penalty
    (more than two classes: one for each against the rest, and the union of their columns), its C
    chosen by accuracy on the folds among 12 from the least that selects a column (`l1_min_c`) to
    1000 times that. Regression: the lasso, its penalty chosen on the folds.
    """
    table = StandardScaler().fit_transform(X)
    weights = {} if weight is None else {"sample_weight": weight}
    trains = np.split(folds.train, folds.train_ptr[1:-1])
    splits = list(zip(trains, np.split(folds.test, folds.test_ptr[1:-1]), strict=True))
    if not n_classes:
        return max(1, int((LassoCV(cv=splits).fit(table, y, **weights).coef_ != 0).sum()))
    chosen = np.zeros(table.shape[1], dtype=bool)
    for k in range(n_classes) if n_classes > 2 else (1,):
        chosen |= _selected(table, y == k, splits, weights)
    return max(1, int(chosen.sum()))


def _selected(
    table: NDArray[np.float64], truth: NDArray[np.bool_], splits: Any, weights: dict[str, Any]
) -> NDArray[np.bool_]:
    """Return which columns the L1 logistic regression of one class against the rest selects."""
    version = tuple(int(part) for part in sklearn.__version__.split(".")[:2])
    lasso: dict[str, Any] = {"l1_ratio": 1.0} if version >= (1, 8) else {"penalty": "l1"}
    model = LogisticRegression(solver="liblinear", random_state=0, max_iter=1000, **lasso)
    path = l1_min_c(table, truth, loss="log") * np.geomspace(1.001, 1000.0, 12)
    found: Any = GridSearchCV(model, {"C": path}, cv=splits).fit(table, truth, **weights)
    return np.asarray(found.best_estimator_.coef_)[0] != 0
