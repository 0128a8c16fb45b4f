"""Which side of every stump a row falls on."""

import numpy as np
from numpy.typing import NDArray

from psephos.runtime.jit import frozen, jit


@jit
def _left_sides(X, column, threshold, missing_left, category_ptr, category_left, out):
    for i in range(X.shape[0]):
        for t in range(column.shape[0]):
            x = X[i, column[t]]
            first = category_ptr[t]
            n_codes = category_ptr[t + 1] - first
            if np.isnan(x):
                out[i, t] = missing_left[t]
            elif n_codes == 0:
                out[i, t] = x <= threshold[t]
            elif x >= 0.0 and x < n_codes:
                out[i, t] = category_left[first + np.int64(x)]
            else:
                out[i, t] = missing_left[t]


def left_sides(
    X: NDArray[np.float64],
    column: NDArray[np.intp],
    threshold: NDArray[np.float64],
    missing_left: NDArray[np.bool_],
    category_ptr: NDArray[np.intp],
    category_left: NDArray[np.bool_],
    out: NDArray[np.bool_] | None = None,
) -> NDArray[np.bool_]:
    """Side of each row at each stump.

    Parameters
    ----------
    X : (n, q) float64; missing is NaN; a category is its code
    column : (T,) intp
    threshold : (T,) float64; ``x <= threshold`` goes left
    missing_left : (T,) bool; side of NaN and of codes out of range
    category_ptr : (T + 1,) intp; ``category_left[category_ptr[t]:category_ptr[t + 1]]`` are the
        sides of the codes of rule t; empty for a numeric rule
    category_left : (C,) bool
    out : (n, T) bool

    Returns (n, T) bool: True on the left.
    """
    if out is None:
        out = np.empty((X.shape[0], column.shape[0]), np.bool_)
    _left_sides(
        frozen(X, np.float64),
        frozen(column, np.int64),
        frozen(threshold, np.float64),
        frozen(missing_left, np.bool_),
        frozen(category_ptr, np.int64),
        frozen(category_left, np.bool_),
        out,
    )
    return out
