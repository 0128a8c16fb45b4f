"""Real data that needs no download: scikit-learn's breast cancer table, with its interactions."""

from itertools import combinations
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray


class LabelledTable(NamedTuple):
    """A table with its labels.

    Parameters
    ----------
    X : ndarray of shape (n_samples, n_features)
    y : ndarray of shape (n_samples,), str
    columns : list of str
    target : str
        What y is called.
    """

    X: NDArray[np.float64]
    y: NDArray[np.str_]
    columns: list[str]
    target: str


def breast_cancer_interactions() -> LabelledTable:
    """Return 569 cases of breast cancer and 465 columns: 30 measurements and their 435 products.

    The products of two different measurements are called "mean radius × worst area".

    Returns
    -------
    table : LabelledTable
        y holds 'benign' and 'malignant'.

    References
    ----------
    W. N. Street, W. H. Wolberg and O. L. Mangasarian (1993), "Nuclear feature extraction for
    breast tumor diagnosis"; the copy that scikit-learn carries.
    """
    from sklearn.datasets import load_breast_cancer

    data: Any = load_breast_cancer()
    single: NDArray[np.float64] = data.data
    names = [str(name) for name in data.feature_names]
    pairs = list(combinations(range(len(names)), 2))
    left, right = np.array(pairs).T
    return LabelledTable(
        X=np.hstack([single, single[:, left] * single[:, right]]),
        y=np.asarray(data.target_names)[data.target],
        columns=[*names, *(f"{names[i]} × {names[j]}" for i, j in pairs)],
        target="diagnosis",
    )
