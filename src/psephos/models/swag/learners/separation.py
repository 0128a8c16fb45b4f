"""Whether classes are separable by a linear score: then plain logistic models have no solution.

Two classes are separable if some score ``b + beta x``, not 0 on all rows, is on the right side of
0, or at 0, for every row: complete or quasi-complete separation (Albert and Anderson, Biometrika
71, 1984). More classes: if scores of theirs, not all equal, exist where no row's own class is below
another. Else the likelihood has its greatest value at finite coefficients.
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import linprog

from psephos.kernels.small_models.logistic import logistic_model
from psephos.kernels.small_models.newton import PAD

__all__ = ["is_separable"]

_Floats = NDArray[np.float64]
_RIDGE = 1e-9
_CERTAIN = 11.0  # log-odds: a row that is right by less still pulls, by more than the ridge


def is_separable(X: _Floats, y: NDArray[Any], n_classes: int) -> bool:
    """Return whether the rows of X (n, d) with class codes y are separable.

    Decided by a fit with next to no ridge: separable if it has every row right; not separable if
    no row is right by more than 11 log-odds, since then pulls of every row, none of them nothing,
    balance (Stiemke's lemma); else by a linear programme.
    """
    n, d = X.shape
    spread = X.std(axis=0)
    standard = (X - X.mean(axis=0)) / np.where(spread > 0, spread, 1.0)
    ones = np.column_stack([standard, np.ones(n)])
    weight, codes = np.zeros((2, -(-n // PAD) * PAD))
    weight[:n], codes[:n] = 1.0, y
    coef = np.zeros((n_classes if n_classes > 2 else 1, d + 1))
    table, columns = np.asfortranarray(standard), np.arange(d)
    logistic_model(table, codes, weight, columns, _RIDGE, True, 1e-4, 200, coef)
    margins = _margins(ones @ coef.T, y)
    if (margins > 1e-9).all():
        return True
    if margins.max() < _CERTAIN:
        return False
    return _programme(ones, y, len(coef))


def _margins(scores: _Floats, y: NDArray[Any]) -> _Floats:
    """Return how far each row's own class is above the others, from scores (n, K)."""
    if scores.shape[1] == 1:
        return np.where(y == 1, scores[:, 0], -scores[:, 0])
    own = np.take_along_axis(scores, y[:, None], axis=1)
    others = np.where(np.arange(scores.shape[1]) == y[:, None], -np.inf, scores)
    return own[:, 0] - others.max(axis=1)


def _programme(A: _Floats, y: NDArray[Any], K: int) -> bool:
    """Return whether a score with coefficients within 1 is right or 0 on all rows, not all 0."""
    if K == 1:
        sides = np.where(y == 1, 1.0, -1.0)[:, None] * A
    else:
        blocks: list[_Floats] = []
        for k in range(K):
            other = np.flatnonzero(y != k)
            block = np.zeros((len(other), K, A.shape[1]))
            block[np.arange(len(other)), y[other]] = A[other]
            block[:, k] = -A[other]
            blocks.append(block.reshape(len(other), -1))
        sides = np.concatenate(blocks)
    found: Any = linprog(
        -sides.mean(axis=0), A_ub=-sides, b_ub=np.zeros(len(sides)), bounds=(-1, 1)
    )
    return found.status == 0 and bool(-found.fun > 1e-6)
