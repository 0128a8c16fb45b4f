"""C4.5's soft thresholds, as model files hold them: near a threshold a row is in both branches."""

from dataclasses import dataclass, replace
from typing import ClassVar, Self

import numpy as np
from numpy.typing import NDArray

from psephos.files.field_types import Thresholds
from psephos.runtime.jit import frozen
from psephos.trees.tree import Tree

_Floats = NDArray[np.float64]
_Whole = NDArray[np.intp]
_Flags = NDArray[np.bool_]


@dataclass(frozen=True, kw_only=True)
class SoftTree(Tree):
    """A tree whose thresholds are soft; earlier versions fitted them, and this one reads them.

    A row of value x goes to the first branch with a share that is 1 up to `lower`, 1/2 at
    `threshold` and 0 from `upper` on, and linear in between; with the rest it goes to the second.
    Rules do not flip, and neither `strict` nor `single` is set.

    Parameters
    ----------
    lower, upper : ndarray of shape (nodes,)
        About `threshold`, both equal to it where it is not soft; NaN where it is NaN.
    """

    tag: ClassVar[str] = "tree nodes with soft thresholds"
    by_node: ClassVar[tuple[str, ...]] = (*Tree.by_node, "lower", "upper")
    lower: Thresholds
    upper: Thresholds

    def softly(self, node: int) -> tuple[float, float] | None:
        """Return where a row is part of both branches of a node; None if nowhere."""
        lower, upper = float(self.lower[node]), float(self.upper[node])
        return (lower, upper) if lower < upper else None

    def _bounds(self) -> tuple[_Floats, _Floats]:
        return frozen(self.lower), frozen(self.upper)

    def of_nodes(self, nodes: _Whole, leaf: _Flags) -> Self:
        """Return these nodes in this order, those of `leaf` without their rules."""
        bounds = (np.where(leaf, np.nan, bound[nodes]) for bound in (self.lower, self.upper))
        lower, upper = bounds
        return replace(super().of_nodes(nodes, leaf), lower=lower, upper=upper)
