"""The k nearest of many cases: screened by matrix products, selected by exact differences.

``|x - z|^2 = |x|^2 + |z|^2 - 2 x z`` is a matrix product, but rounding would make the order of
equally near cases arbitrary. It is therefore only a screen for cases that may be among the k
nearest, within the rounding of single precision; their distances are then sums of squared
differences, and of equals the first is chosen. For small integers (word counts, 0 and 1) the
products are exact and give the distances. The plain equivalent is a stable sort of the distances of
`psephos.vote.operations.distance`.
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from psephos.runtime.jit import jit, run_blocks
from psephos.runtime.threads import one_thread

_Floats = NDArray[np.float64]
_ROWS, _CASES = 256, 4096  # of a tile of products


@jit
def _squared(x, z):
    """Return the sum of squared differences, in the order of the columns."""
    total = 0.0
    for f in range(x.shape[0]):
        diff = x[f] - z[f]
        total += diff * diff
    return total


@jit
def _take(products, first, X, Z, half, slack, own, exact, index, squared):
    """Keep the nearest cases of a tile: `index`, `squared` (B, k), nearest first.

    ``products`` (B, C) are ``x z`` of the cases from `first` on, ``half`` (C,) half of their
    squared lengths, and ``slack`` (B,) the greatest error of ``half - products`` less half of
    |x|^2. Case ``own[r]`` (-1: none) is left out. If products are `exact`, so are distances.
    """
    k = index.shape[1]
    for r in range(products.shape[0]):
        near, place = squared[r], index[r]
        limit = np.float32(0.5 * near[k - 1] + slack[r])
        for c in range(products.shape[1]):
            if not half[c] - products[r, c] <= limit:
                continue
            i = first + c
            if i == own[r]:
                continue
            u = 2.0 * (half[c] - products[r, c] - slack[r]) if exact else _squared(X[r], Z[i])
            if not u < near[k - 1]:
                continue
            j = k - 1
            while j > 0 and near[j - 1] > u:
                near[j], place[j] = near[j - 1], place[j - 1]
                j -= 1
            near[j], place[j] = u, i
            limit = np.float32(0.5 * near[k - 1] + slack[r])


def nearest_cases(
    X: _Floats, Z: _Floats, k: int, own: Any = None, n_jobs: int | None = None
) -> tuple[NDArray[np.intp], _Floats]:
    """Return the positions and Euclidean distances of the k nearest cases of each row.

    `X` (n, q): finite, as are the cases. `Z` (m, q): at least k cases (one more if `own` leaves one
    out). `own` (n,): the case to leave out for each row, -1 for none.

    Returns
    -------
    index, distance : (n, k); nearest first; of equally near cases the first in the table
    """
    X, Z = np.ascontiguousarray(X, dtype=np.float64), np.ascontiguousarray(Z, dtype=np.float64)
    n, q = X.shape
    left = np.full(n, -1, dtype=np.int64) if own is None else np.asarray(own, dtype=np.int64)
    exact = _exact(X, Z)
    middle, unit = (np.zeros(q), 1.0) if exact else _middle(X, Z)
    low = Z.astype(np.float32) if exact else ((Z - middle) / unit).astype(np.float32)
    half = 0.5 * np.einsum("ij,ij->i", low, low, dtype=np.float64)
    index = np.full((n, k), -1, dtype=np.int64)
    squared = np.full((n, k), np.inf)
    error = 0.0 if exact else 8.0 * (q + 8) * float(np.finfo(np.float32).eps)
    most, scaled_cases = float(half.max(initial=0.0)), Z if unit == 1 else Z / unit

    def block(b: int) -> None:
        rows = slice(b * _ROWS, min((b + 1) * _ROWS, n))
        x = (X[rows] if exact else (X[rows] - middle) / unit).astype(np.float32)
        own_half = 0.5 * np.einsum("ij,ij->i", x, x, dtype=np.float64)
        slack = error * (own_half + most) - own_half
        scaled = X[rows] if unit == 1 else X[rows] / unit
        near = squared[rows]
        for first in range(0, len(Z), _CASES):
            part = slice(first, first + _CASES)
            _take(
                x @ low[part].T, first, scaled, scaled_cases, half[part].astype(np.float32), slack,
                left[rows], exact, index[rows], near,
            )  # fmt: skip

    with one_thread():  # of BLAS: where cores are busy its threads wait for each other
        run_blocks(block, -(-n // _ROWS), n_jobs)
    return index.astype(np.intp), unit * np.sqrt(squared)


def _exact(X: _Floats, Z: _Floats) -> bool:
    """Return whether single precision holds all sums of products: of small whole numbers."""
    most = 0.0
    for table in (Z, X):
        most = max(most, float(table.max(initial=0.0)), -float(table.min(initial=0.0)))
    if not 4.0 * X.shape[1] * most * most < 2.0**23:  # most**2 raises where it overflows
        return False
    return all(bool((table == np.rint(table)).all()) for table in (Z, X))


def _middle(X: _Floats, Z: _Floats) -> tuple[_Floats, float]:
    """Return what is taken off all rows, the mean of the cases, and the largest number then."""
    middle = Z.mean(axis=0)
    size = max(
        float(np.abs(Z - middle).max(initial=0.0)), float(np.abs(X - middle).max(initial=0.0))
    )
    return middle, size if 0 < size < np.inf else 1.0
