"""Rules of thumb for p_max: events per variable, and what an embedded method selects."""

from collections.abc import Sequence
from typing import Any

import numpy as np
import sklearn
from numpy.typing import NDArray
from sklearn.linear_model import LassoCV, LogisticRegression
from sklearn.model_selection import GridSearchCV
from sklearn.preprocessing import StandardScaler
from sklearn.svm import l1_min_c

from psephos.models.swag.problem import Folds

__all__ = ["embedded_count", "events_per_variable"]


def events_per_variable(counts: Sequence[int] | NDArray[Any], per: float = 5.0) -> int:
    """Return p_max by the rule of events per variable: rows of the smallest class / `per`.

    Parameters
    ----------
    counts : sequence of int
        Rows of each class; the smallest counts, whichever it is.
    per : float, default=5
        Events wanted for each column; the paper aims at 4 to 7.

    Returns
    -------
    p_max : int
        At least 1.
    """
    return max(1, int(min(counts) // per))


def embedded_count(
    X: NDArray[np.float64],
    y: NDArray[Any],
    n_classes: int,
    folds: Folds,
    weight: NDArray[np.float64] | None = None,
) -> int:
    """Return p_max as the number of columns that an embedded method selects.

    Columns are standardised. Classification: logistic regression with an L1 penalty (more than
    two classes: one for each against the rest, and the union of their columns), its C chosen by
    accuracy on the folds among 12 from the least that selects a column (`l1_min_c`) to 1000 times
    that. Regression: the lasso, its penalty chosen on the folds.

    Parameters
    ----------
    X : ndarray of shape (n, p)
        Without gaps.
    y : ndarray of shape (n,)
    n_classes : int
        0 for regression.
    folds : Folds
    weight : ndarray of shape (n,), default=None

    Returns
    -------
    p_max : int
        At least 1.
    """
    table = StandardScaler().fit_transform(X)
    heavy = {} if weight is None else {"sample_weight": weight}
    trains = np.split(folds.train, folds.train_ptr[1:-1])
    splits = list(zip(trains, np.split(folds.test, folds.test_ptr[1:-1]), strict=True))
    if not n_classes:
        return max(1, int((LassoCV(cv=splits).fit(table, y, **heavy).coef_ != 0).sum()))
    chosen = np.zeros(table.shape[1], dtype=bool)
    for k in range(n_classes) if n_classes > 2 else (1,):
        chosen |= _selected(table, y == k, splits, heavy)
    return max(1, int(chosen.sum()))


def _selected(
    table: NDArray[np.float64], truth: NDArray[np.bool_], splits: Any, heavy: dict[str, Any]
) -> NDArray[np.bool_]:
    """Return which columns the L1 logistic regression of one class against the rest selects."""
    version = tuple(int(part) for part in sklearn.__version__.split(".")[:2])
    lasso: dict[str, Any] = {"l1_ratio": 1.0} if version >= (1, 8) else {"penalty": "l1"}
    model = LogisticRegression(solver="liblinear", random_state=0, max_iter=1000, **lasso)
    path = l1_min_c(table, truth, loss="log") * np.geomspace(1.001, 1000.0, 12)
    found: Any = GridSearchCV(model, {"C": path}, cv=splits).fit(table, truth, **heavy)
    return np.asarray(found.best_estimator_.coef_)[0] != 0
