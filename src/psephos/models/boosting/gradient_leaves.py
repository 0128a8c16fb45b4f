"""What gradient boosting asks of a loss, and the sums of a tree's leaves it is given."""

from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

_Floats = NDArray[np.float64]
_Whole = NDArray[np.intp]
_SLACK = 1e-12  # of a leaf's weight: a share that is reached but for rounding is reached


class Leaves:
    """The rows of a tree's leaves.

    `leaf` (m,): the leaf of each row. `number`: leaves are numbered below it. `weight` (m,).
    """

    def __init__(self, leaf: _Whole, number: int, weight: _Floats) -> None:
        self.leaf, self.number, self.weight = leaf, number, weight

    def sums(self, values: _Floats) -> _Floats:
        """Return the weighted sum of each leaf's values, (number,)."""
        sums: Any = np.bincount(self.leaf, self.weight * values, minlength=self.number)
        return sums  # of floats: weights are

    def ratios(self, above: _Floats, below: _Floats) -> _Floats:
        """Return the ratios of two weighted sums, 0 where the second is 0."""
        over, under = self.sums(above), self.sums(below)
        return np.divide(over, under, out=np.zeros(self.number), where=under > 0)

    def means(self, values: _Floats) -> _Floats:
        """Return the weighted mean of each leaf's values, 0 in a leaf without rows."""
        return self.ratios(values, np.ones(len(values)))

    def quantiles(self, values: _Floats, share: float) -> _Floats:
        """Return each leaf's least value that `share` of its weight does not exceed."""
        order = np.lexsort((values, self.leaf))
        leaf = self.leaf[order]
        held = np.bincount(leaf, self.weight[order], minlength=self.number)
        ends = np.cumsum(np.bincount(leaf, minlength=self.number))
        # Weights cumulated within the leaf, from 0 at its first row.
        total = np.cumsum(np.append(0.0, self.weight[order]))
        begin = np.append(0, ends[:-1])
        within = total[1:] - total[begin][leaf]
        reached = within >= (share - _SLACK) * held[leaf]
        first = np.full(self.number, len(order))
        np.minimum.at(first, leaf[reached], np.flatnonzero(reached))
        first = np.minimum(first, np.maximum(ends - 1, 0))
        return np.where(ends > begin, values[order][first], 0.0)


class GradientLoss(Protocol):
    """A loss L(y, F) of margins F."""

    @property
    def n_outputs(self) -> int:
        """Return K."""
        ...

    def start(self, y: NDArray[Any], weight: _Floats) -> _Floats:
        """Return the (K,) constant of least loss."""
        ...

    def residuals(self, margin: _Floats, y: NDArray[Any], weight: _Floats) -> _Floats:
        """Return -dL/dF, (n, K)."""
        ...

    def answers(
        self, residual: _Floats, margin: _Floats, y: NDArray[Any], leaves: Leaves
    ) -> _Floats:
        """Return what each leaf adds to a margin, before shrinkage.

        `residual`, `margin` (m,): of the output that the tree is for. `y` (m,).
        """
        ...

    def loss(self, margin: _Floats, y: NDArray[Any], weight: _Floats) -> float:
        """Return the weighted mean loss, on scikit-learn's scale."""
        ...
