"""Which missing measurement of a case would tell most: by how far its value may move the answer."""

from typing import Any

from psephos._errors import PsephosError
from psephos._types import TableLike
from psephos.estimator.vote_estimator import VoteEstimator
from psephos.vote.next_column import NextColumn, next_of


def next_column(model: VoteEstimator, X: TableLike) -> NextColumn:
    """Return which missing measurement of each case would move the answer most.

    For a column j that a case x lacks and the model reads::

        change_j(x) = sum over v of P_j(v) * 1/2 * sum over k of |p_k(x, x_j = v) - p_k(x)|
        flips_j(x)  = sum over v of P_j(v) * [the class of (x, x_j = v) is another than that of x]

    P_j is the training distribution of column j alone, as the model keeps it: the shares of
    categories, or ten values at the middles of tenths, between the quantiles that are kept. It does
    not know what the case's other values say of the missing one. Of numbers, change is the mean
    absolute change of the answer.

    Parameters
    ----------
    model : fitted estimator
        That answers where values are missing: a library (swag), trees, and what abstains.
    X : frame or array of shape (n, p)
        Cases; NaN where not measured. With ``absent='vote'`` frames may lack columns.

    Returns
    -------
    found : NextColumn
        No line for a case that lacks nothing, or for a column that no training row had.

    Raises
    ------
    PsephosError
        If the model keeps no summary of its training columns, or cannot answer without a value.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.datasets import load_iris
    >>> from psephos import CARTClassifier
    >>> from psephos.explain import next_column
    >>> X, y = load_iris(return_X_y=True)
    >>> model = CARTClassifier(max_depth=2).fit(X, y)
    >>> next_column(model, np.array([[5.0, 3.0, np.nan, np.nan]])).column
    ['column 2', 'column 3']
    """
    table = model._table(X)
    baseline = model._known_baseline()
    if baseline is None or baseline.profile is None:
        raise PsephosError(
            f"next_column needs what the training columns were like, which this "
            f"{type(model).__name__} does not keep: fit it again, or save and load it with this "
            "version after a fit."
        )
    columns = model.vote_.columns
    names = [model.schema_.words().columns[j] for j in columns.tolist()]
    values: Any = table.dense(columns)
    return next_of(
        model.vote_.select(columns), baseline.profile, names, values, table.rows.tolist()
    )
