"""The training rows as selectors of columns are given them."""

from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np

from psephos._types import Floats
from psephos.estimator.input import Context
from psephos.models.committees.fitting import Data
from psephos.models.design import Design
from psephos.models.linear.scoring import ScoredColumns

_QUANTILES = 1000
_ROUNDING = 1e-12  # of the greatest size: a column that deviates by less is constant


@dataclass(frozen=True)
class SelectionProblem:
    """What a selector may look at.

    Parameters
    ----------
    data : Data
        The rows, labels and weights.
    depth : int
        How many columns of a ranking count where rankings are joined.
    stable : bool, default=False
        Whether selectors draw more, so that the seed matters less.
    agreement : list of ndarray
        Filled by the selector 'lars': how alike its draws are, by the number of entries.
    """

    data: Data
    depth: int
    stable: bool = False
    agreement: list[Floats] = field(default_factory=list[Floats])

    @property
    def context(self) -> Context:
        """Return where seeds come from."""
        return self.data.context

    @property
    def weight(self) -> Floats:
        """Return the (n,) weights of rows, 1 if none were given."""
        weight = self.data.weight
        return np.ones(len(self.data.y)) if weight is None else weight

    @cached_property
    def design(self) -> Design:
        """Return which numbers are made of the columns: of a category 0/1 columns."""
        n_codes = np.zeros(self.data.X.shape[1], dtype=np.intp)
        n_codes[list(self.data.categories)] = 1
        return Design.of(n_codes, self.data.X)

    @cached_property
    def scored(self) -> ScoredColumns:
        """Return the (n, P) normal scores of the training ranks of the design's columns."""
        design = self.design if self.data.categories else None
        return ScoredColumns(self.data.X, self.weight, design, _QUANTILES)

    @cached_property
    def targets(self) -> Floats:
        """Return what is to be told, a column each.

        The number, less its mean and in units of a power of two; 1 for the second of two classes
        and 0 for the first; of more, one column a class, 1 for it and 0 for the rest.
        """
        y, n_classes = self.data.y, self.data.n_classes
        if not n_classes:
            y = np.ldexp(y, -int(np.frexp(np.abs(y).max(initial=0.0))[1]))[:, None]
            return _centred(y, self.weight / self.weight.sum())
        return (y[:, None] == np.arange(0 if n_classes > 2 else 1, n_classes)).astype(np.float64)

    def by_column(self, scores: Floats) -> Floats:
        """Return (p,) scores of the table's columns from those of the design's: the greatest."""
        out = np.zeros(self.data.X.shape[1])
        np.maximum.at(out, self.design.source, scores)
        return out

    @cached_property
    def correlation(self) -> Floats:
        """Return the (P, R) absolute correlations of normal scores with each target."""
        parts = (self.scored.scores(part) for part in self.scored.parts())
        return np.vstack([correlations(Z, self.targets, self.weight) for Z in parts])


def correlations(Z: Floats, targets: Floats, weight: Floats) -> Floats:
    """Return (P, R) absolute weighted correlations; 0 where one side is constant."""
    share: Any = weight / weight.sum()
    Z, targets = standardised(Z, share), standardised(targets, share)
    Z *= share[:, None]
    return np.abs(Z.T @ targets)


def standardised(values: Floats, share: Floats) -> Floats:
    """Return columns (n, q) of weighted mean 0 and deviation 1; 0 where one is constant."""
    out = _centred(values, share)
    size = np.sqrt(share @ (out * out))
    out /= np.where(size > _ROUNDING * np.abs(values).max(axis=0), size, np.inf)
    return out


def _centred(values: Floats, share: Floats) -> Floats:
    """Return columns less their weighted means; what rounding leaves of a constant one is 0."""
    out = values - share @ values
    out -= share @ out  # a mean that is large beside the deviation is rounded
    out[:, values.max(axis=0) == values.min(axis=0)] = 0.0
    return out
