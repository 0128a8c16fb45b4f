"""The training rows in the form that selectors of columns use."""

from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

import numpy as np
from scipy import sparse

from psephos._types import Floats, Indices
from psephos.estimator.columns import dense_columns
from psephos.estimator.input import Context
from psephos.models.committees.fitting import Data
from psephos.models.linear.scoring import ScoredColumns

_QUANTILES = 1000
_FOLDS = 5
_PRIOR = 5.0  # weight of a difference of 0 in the mean target of a level, in rows
_ROUNDING = 1e-12  # of the greatest size: a column that deviates by less is constant


@dataclass(frozen=True)
class _Scored(ScoredColumns):
    n_ranked: int  # columns from here on stand for themselves, 0 if missing

    def scores(self, columns: Indices | slice = slice(None)) -> Floats:
        found = super().scores(columns)
        means = np.arange(self.shape[1])[columns] >= self.n_ranked
        found[:, means] = np.nan_to_num(self.numbers(columns)[:, means])
        return found


@dataclass(frozen=True)
class SelectionProblem:
    """The input of a selector.

    Parameters
    ----------
    data : Data
        The rows, labels and weights.
    depth : int
        Depth to which rankings are combined.
    stable : bool, default=False
        Whether selectors make more draws, so that the result depends less on the seed.
    agreement : list of ndarray
        Filled by the selector 'lars': the agreement of its draws, by the number of entries.
    """

    data: Data
    depth: int
    stable: bool = False
    agreement: list[Floats] = field(default_factory=list[Floats])

    @property
    def context(self) -> Context:
        """Return the context of the fit, with its seeds."""
        return self.data.context

    @property
    def weight(self) -> Floats:
        """Return the (n,) weights of rows, 1 if none were given."""
        weight = self.data.weight
        return np.ones(len(self.data.y)) if weight is None else weight

    @cached_property
    def encoded(self) -> tuple[Data, Indices, int]:
        """Return the rows with numbers for categories, the column of the table behind each, and r.

        The first r are columns of the table, the others mean targets, in standard deviations.

        A category of two levels is its code. One of more levels is, per target, the mean target of
        the rows of its level in the other four of five folds, as a difference from those folds'
        mean and shrunk towards 0: so a category has no more chances than a number has.
        """
        X, fold = self.data.X, self._folds()
        found = {j: self._mean_targets(j, fold) for j in self.data.categories}
        found = {j: numbers for j, numbers in found.items() if numbers is not None}
        if not found:
            return replace(self.data, categories=()), np.arange(X.shape[1]), X.shape[1]
        rest = np.setdiff1d(np.arange(X.shape[1]), [*found]).astype(np.intp)
        source = np.r_[rest, *(np.full(Z.shape[1], j) for j, Z in found.items())].astype(np.intp)
        blocks = [X[:, rest], *found.values()]
        X = sparse.hstack(blocks, "csc") if sparse.issparse(X) else np.hstack(blocks)
        words = [self.data.words[j] for j in source.tolist()]
        return replace(self.data, X=X, categories=(), words=words), source, len(rest)

    def _mean_targets(self, column: int, fold: Indices) -> Floats | None:
        """Return (n, R): the other folds' mean targets of each row's level, less those of all rows.

        None for two levels or fewer.
        """
        values = dense_columns(self.data.X, np.array([column]))[:, 0]
        levels = np.unique(values[~np.isnan(values)])
        if len(levels) <= 2:
            return None
        codes = np.searchsorted(levels, values)  # a missing value is beyond the last level
        out = np.zeros(self.targets.shape)
        for f in np.unique(fold).tolist() if fold.any() else ():
            other, own = fold != f, fold == f
            w, y = self.weight[other], self.targets[other]
            y = y - w @ y / w.sum()
            total = np.bincount(codes[other], w, len(levels) + 1) + _PRIOR
            for r in range(y.shape[1]):
                sums = np.bincount(codes[other], w * y[:, r], len(levels) + 1)
                out[own, r] = (sums / total)[codes[own]]
        out[codes == len(levels)] = np.nan
        size = np.nanstd(out, axis=0)
        return out / np.where(size > 0, size, 1.0)

    def _folds(self) -> Indices:
        """Return the fold of each row, (n,): classes are divided evenly, groups stay together."""
        draw, groups = self.context.generator(7), self.data.groups
        if groups is not None:
            _, codes = np.unique(groups, return_inverse=True)
            return draw.permutation(int(codes.max()) + 1)[codes] % _FOLDS
        order = np.lexsort((draw.random(len(self.data.y)), self.data.y))
        fold = np.empty(len(order), dtype=np.intp)
        fold[order] = np.arange(len(order)) % _FOLDS
        return fold

    @cached_property
    def scored(self) -> ScoredColumns:
        """Return the (n, q) normal scores of the training ranks; mean targets are as they are."""
        data, _, n_ranked = self.encoded
        return _Scored(data.X, self.weight, None, _QUANTILES, n_ranked)

    @cached_property
    def targets(self) -> Floats:
        """Return the targets, (n, R).

        The target of regression, less its mean and divided by a power of two; 1 for the second of
        two classes and 0 for the first; for more classes a 0/1 column per class.
        """
        y, n_classes = self.data.y, self.data.n_classes
        if not n_classes:
            y = np.ldexp(y, -int(np.frexp(np.abs(y).max(initial=0.0))[1]))[:, None]
            return _centred(y, self.weight / self.weight.sum())
        return (y[:, None] == np.arange(0 if n_classes > 2 else 1, n_classes)).astype(np.float64)

    def by_column(self, scores: Floats) -> Floats:
        """Return (p,) scores of the table's columns: the greatest over their numeric columns."""
        out = np.zeros(self.data.X.shape[1])
        np.maximum.at(out, self.encoded[1], scores)
        return out

    @cached_property
    def correlation(self) -> Floats:
        """Return the (q, R) absolute correlations of normal scores with each target."""
        parts = (self.scored.scores(part) for part in self.scored.parts())
        return np.vstack([correlations(Z, self.targets, self.weight) for Z in parts])


def correlations(Z: Floats, targets: Floats, weight: Floats) -> Floats:
    """Return (P, R) absolute weighted correlations; 0 with a constant."""
    share: Any = weight / weight.sum()
    Z, targets = standardised(Z, share), standardised(targets, share)
    Z *= share[:, None]
    return np.abs(Z.T @ targets)


def standardised(values: Floats, share: Floats) -> Floats:
    """Return columns (n, q) scaled to weighted mean 0 and standard deviation 1; constants to 0."""
    out = _centred(values, share)
    size = np.sqrt(share @ (out * out))
    out /= np.where(size > _ROUNDING * np.abs(values).max(axis=0), size, np.inf)
    return out


def _centred(values: Floats, share: Floats) -> Floats:
    """Return columns less their weighted means; constants become exactly 0."""
    out = values - share @ values
    out -= share @ out  # corrects the rounding of a mean that is large against the deviation
    out[:, values.max(axis=0) == values.min(axis=0)] = 0.0
    return out
