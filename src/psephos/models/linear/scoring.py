"""Normal scores of the ranks of each column's values among the training rows."""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise

import numpy as np
from scipy.special import ndtri

from psephos._types import Floats, Indices, Values
from psephos.estimator.columns import dense_columns
from psephos.models.design import Design
from psephos.trees.tree import spans_of
from psephos.vote import design_matrix, normal_scores

_BLOCK = 2**22  # values ranked at once


@dataclass(frozen=True)
class ScoredColumns:
    """The normal scores of a table's columns, computed in blocks of columns.

    Parameters
    ----------
    X : ndarray or CSC array of shape (n, p)
        Numbers, and codes of categories.
    weight : ndarray of shape (n,)
    design : Design
        The q numeric columns of a table with categories; None: the columns themselves.
    n_quantiles : int
        Maximum number of values of a column whose scores are kept.
    """

    X: Values
    weight: Floats
    design: Design | None
    n_quantiles: int

    @property
    def shape(self) -> tuple[int, int]:
        """Return (n, q)."""
        q = self.X.shape[1] if self.design is None else len(self.design.source)
        return self.X.shape[0], q

    def parts(self) -> Iterator[slice]:
        """Yield the columns in blocks."""
        n, q = self.shape
        step = max(1, _BLOCK // max(n, 1))
        yield from (slice(j, min(j + step, q)) for j in range(0, q, step))

    def numbers(self, columns: Indices | slice) -> Floats:
        """Return the values of some design columns, (n, c)."""
        if self.design is None:
            return dense_columns(self.X, columns)
        source, at = np.unique(self.design.source[columns], return_inverse=True)
        return design_matrix(dense_columns(self.X, source), at, self.design.level[columns])

    @cached_property
    def knots(self) -> tuple[Floats, Floats, Indices]:
        """Return (knots, scores, start) for `psephos.vote.normal_scores`, as in `score_knots`."""
        found = [score_knots(self.numbers(p), self.weight, self.n_quantiles) for p in self.parts()]
        knots = np.concatenate([np.empty(0), *(f[0] for f in found)])
        scores = np.concatenate([np.empty(0), *(f[1] for f in found)])
        counts = np.concatenate([np.zeros(1, np.intp), *(np.diff(f[2]) for f in found)])
        return knots, scores, counts.cumsum(dtype=np.intp)

    def scores(self, columns: Indices | slice = slice(None)) -> Floats:
        """Return the normal scores of some columns, (n, c)."""
        knots, scores, start = self.knots
        own, rows = spans_of(start, np.arange(self.shape[1])[columns])
        return normal_scores(self.numbers(columns), knots[rows], scores[rows], own)

    def gram(self) -> Floats:
        """Return Z Z', with Z the scores of all columns: (n, n)."""
        total = np.zeros((self.shape[0],) * 2)
        for part in self.parts():
            Z = self.scores(part)
            total += Z @ Z.T
        return total

    def combined(self, rows: Floats) -> Floats:
        """Return the sums of the rows of Z with these weights: (m, n) gives (m, q)."""
        return np.hstack([rows @ self.scores(part) for part in self.parts()])


def score_knots(X: Floats, weight: Floats, n_quantiles: int) -> tuple[Floats, Floats, Indices]:
    """Return the values of each column and their normal scores.

    The score of a value v of a column is ``Phi^-1((W_below + W_equal / 2) / W)``, with W the weight
    of the rows whose value is below v, equal to it, or not missing.

    `X` (n, q); `weight` (n,); `n_quantiles`: maximum number of values kept per column; if there are
    more, values at even steps of the score are kept.

    Returns
    -------
    knots, scores : (m,); column by column, values ascending
    start : (q + 1,); the first knot of each column
    """
    columns = np.ascontiguousarray(X.T)
    order = np.argsort(columns, axis=1, kind="stable")
    value = np.take_along_axis(columns, order, axis=1) + 0.0  # -0.0 is 0.0
    w = np.where(np.isnan(value), 0.0, (weight / weight.max())[order])  # missing values are last
    below = np.cumsum(w, axis=1)
    total = below[:, -1:]
    last = np.ones(value.shape, dtype=bool)  # whether the next value differs
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
    return knots[rows], score[rows], np.array([0, *map(len, kept)]).cumsum(dtype=np.intp)


def _thinned(score: Floats, n_quantiles: int) -> Indices:
    """Return the indices of at most `n_quantiles` scores at even steps, both ends included."""
    if len(score) <= n_quantiles:
        return np.arange(len(score))
    found = np.searchsorted(score, np.linspace(score[0], score[-1], n_quantiles))
    return np.unique(np.clip(found, 0, len(score) - 1))
