"""Normal scores of the training ranks: where the values of a column stand among each other."""

from itertools import pairwise
from typing import Any

import numpy as np
from scipy.special import ndtri

from psephos._types import Floats, Indices

_BLOCK = 2**22  # values ranked at once


def score_knots(X: Floats, weight: Floats, n_quantiles: int) -> tuple[Floats, Floats, Indices]:
    """Return the values of each column and their normal scores, for `psephos.vote.normal_scores`.

    The score of a value v of a column is ``Phi^-1((W_below + W_equal / 2) / W)``, with W the weight
    of the rows whose value is below v, equal to it, or not missing.

    `X` (n, q); `weight` (n,); `n_quantiles`: most values kept of a column: of more, so many at even
    steps of the score.

    Returns
    -------
    knots, scores : (m,); one column after the other, each column's values rising
    start : (q + 1,)
    """
    n, q = X.shape
    step = max(1, _BLOCK // max(n, 1))
    blocks = [_block(X[:, j : j + step], weight, n_quantiles) for j in range(0, q, step)]
    knots = np.concatenate([np.empty(0), *(b[0] for b in blocks)])
    scores = np.concatenate([np.empty(0), *(b[1] for b in blocks)])
    counts: Any = np.concatenate([np.zeros(1, np.intp), *(b[2] for b in blocks)])
    return knots, scores, np.cumsum(counts).astype(np.intp)


def _block(X: Floats, weight: Floats, n_quantiles: int) -> tuple[Floats, Floats, Indices]:
    """Return knots, scores and the number of knots of each column of a block."""
    columns = np.ascontiguousarray(X.T)
    order = np.argsort(columns, axis=1, kind="stable")
    value = np.take_along_axis(columns, order, axis=1) + 0.0  # -0.0 is 0.0
    w = np.where(np.isnan(value), 0.0, (weight / weight.max())[order])  # the missing are last
    below = np.cumsum(w, axis=1)
    total = below[:, -1:]
    last = np.ones(value.shape, dtype=bool)  # the last row of its value
    last[:, :-1] = value[:, 1:] != value[:, :-1]
    last &= ~np.isnan(value)
    counts = last.sum(axis=1)
    upto, knots = below[last], value[last]
    start = np.concatenate([[0], np.cumsum(counts)])
    first = np.zeros(len(knots), dtype=bool)
    first[start[:-1][counts > 0]] = True
    before = np.where(first, 0.0, np.append(0.0, upto[:-1]))
    score = ndtri((before + upto) / 2 / np.repeat(total[:, 0], counts))
    kept = [_thinned(score[a:b], n_quantiles) + a for a, b in pairwise(start.tolist())]
    rows = np.concatenate([np.empty(0, np.intp), *kept]).astype(np.intp)
    return knots[rows], score[rows], np.array([len(k) for k in kept], dtype=np.intp)


def _thinned(score: Floats, n_quantiles: int) -> Indices:
    """Return the positions of at most so many scores, the ends among them, at even steps."""
    if len(score) <= n_quantiles:
        return np.arange(len(score))
    found = np.searchsorted(score, np.linspace(score[0], score[-1], n_quantiles))
    return np.unique(np.clip(found, 0, len(score) - 1))
