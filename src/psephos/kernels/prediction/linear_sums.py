"""Sums of a few columns each: the scores of many sparse linear models."""

import numpy as np
from numpy.typing import NDArray

from psephos.runtime.jit import frozen, jit


@jit
def _linear_rows(columns, ptr, position, coef, out):
    n_voters, n_rows, n = out.shape
    for t in range(n_voters):
        for r in range(n_rows):
            score = out[t, r]
            for e in range(ptr[t], ptr[t + 1]):
                column, by = columns[position[e]], coef[e, r]
                for i in range(n):
                    score[i] += by * column[i]


def linear_scores(
    X: NDArray[np.float64], coef: NDArray[np.float64], intercept: NDArray[np.float64]
) -> NDArray[np.float64]:
    """Return ``intercept[t, r] + sum_j coef[t, r, j] X[:, j]``, shape (T, R, n).

    A model's sum runs over the columns where any of its R rows has a coefficient that is not 0,
    in their order: what stands in other columns, missing or infinite, and which other models are
    there changes no bit of it.

    `X` (n, q); `coef` (T, R, q); `intercept` (T, R).
    """
    read = (coef != 0).any(axis=1)
    voter, position = np.nonzero(read)
    ptr = np.concatenate([[0], np.cumsum(read.sum(axis=1))]).astype(np.intp)
    out = np.zeros((*intercept.shape, len(X)))
    _linear_rows(frozen(X.T), ptr, position, frozen(coef[voter, :, position]), out)
    out += intercept[:, :, None]
    return out
