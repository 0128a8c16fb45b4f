"""The training rows in the form that selectors of columns use."""

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
    def design(self) -> Design:
        """Return the numeric design of the columns: 0/1 columns for categories."""
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
        """Return (p,) scores of the table's columns: the greatest over their design columns."""
        out = np.zeros(self.data.X.shape[1])
        np.maximum.at(out, self.design.source, scores)
        return out

    @cached_property
    def correlation(self) -> Floats:
        """Return the (P, R) absolute correlations of normal scores with each target."""
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
