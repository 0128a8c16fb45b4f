"""Products of pairs of columns, and real data with such products that needs no download."""

from collections.abc import Sequence
from itertools import combinations
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from psephos._errors import PsephosError
from psephos._types import TableLike
from psephos.files.cases import TIMES


class LabelledTable(NamedTuple):
    """A table with its labels.

    Parameters
    ----------
    X : ndarray of shape (n_samples, n_features)
    y : ndarray of shape (n_samples,), str
    columns : list of str
    target : str
        The name of y.
    """

    X: NDArray[np.float64]
    y: NDArray[np.str_]
    columns: list[str]
    target: str


def first_order_products(
    X: TableLike, names: Sequence[str] | None = None
) -> tuple[NDArray[np.float64], list[str]]:
    """Return the columns of a table and the products of all pairs of columns, with their names.

    A product has a name such as "flatness × gain". A model fitted on a data frame with these names
    computes a product from its two columns at prediction, if the frame does not have it. `psephos
    compare --interactions` adds the same products to a file.

    Parameters
    ----------
    X : array or data frame of shape (n, p)
        Numbers; NaN is a missing value, and its products are missing, too.
    names : sequence of str, default=None
        None: those of the data frame, else x0, x1, ...

    Returns
    -------
    X : ndarray of shape (n, p + p (p - 1) / 2)
    names : list of str

    References
    ----------
    Molinari et al. (2020), "SWAG: A Wrapper Method for Sparse Learning", section 3: 36 columns of
    a flow meter and their 630 first-order interactions.

    Examples
    --------
    >>> from psephos.datasets import first_order_products
    >>> X, names = first_order_products([[2.0, 3.0, 5.0]], ["a", "b", "c"])
    >>> X.tolist(), names
    ([[2.0, 3.0, 5.0, 6.0, 10.0, 15.0]], ['a', 'b', 'c', 'a × b', 'a × c', 'b × c'])
    """
    single = np.asarray(X, dtype=np.float64)
    if single.ndim != 2:
        raise PsephosError(f"X must be a table of two dimensions; got {single.ndim}.")
    n, p = single.shape
    own = getattr(X, "columns", [f"x{j}" for j in range(p)]) if names is None else names
    called = [str(name) for name in own]
    if len(called) != p:
        raise PsephosError(f"names must have one name per column, {p}; got {len(called)}.")
    whole, at = np.empty((n, p + p * (p - 1) // 2)), p
    whole[:, :p] = single
    for j in range(p - 1):
        others = single[:, j + 1 :]
        whole[:, at : at + p - 1 - j] = single[:, [j]] * others
        at += p - 1 - j
    return whole, [*called, *map(TIMES.join, combinations(called, 2))]


def breast_cancer_interactions() -> LabelledTable:
    """Return 569 cases of breast cancer and 465 columns: 30 measurements and their 435 products.

    A product of two measurements has a name such as "mean radius × worst area".

    Returns
    -------
    table : LabelledTable
        y holds 'benign' and 'malignant'.

    References
    ----------
    W. N. Street, W. H. Wolberg and O. L. Mangasarian (1993), "Nuclear feature extraction for
    breast tumor diagnosis"; the copy in scikit-learn.
    """
    from sklearn.datasets import load_breast_cancer

    data: Any = load_breast_cancer()
    X, columns = first_order_products(data.data, data.feature_names)
    return LabelledTable(X, np.asarray(data.target_names)[data.target], columns, "diagnosis")
