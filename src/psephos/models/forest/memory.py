"""What a forest remembers of its growth besides the vote: columns' worth, and who was drawn."""

from dataclasses import dataclass, replace
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray

from psephos.models.first_fit import REDUCED, SHRUNK, FirstFit
from psephos.trees.forest_rows import Draws
from psephos.vote.codec import register
from psephos.vote.part import Columns, check

__all__ = ["ForestMemory"]

_Floats = NDArray[np.float64]


@register
@dataclass(frozen=True)
class ForestMemory:
    """How a forest was grown.

    Which rows a tree was grown on is kept as the seed that drew them, n + T numbers in all.

    Parameters
    ----------
    impurity : ndarray of shape (p,)
        Each column's share of the decrease of the impurity.
    seeds : ndarray of shape (T,), uint64
    mass : ndarray of shape (m,)
        Weights of the distinct training rows, by which rows were drawn.
    size : int
        Draws a tree; 0: every tree was grown on all rows.
    first_fit : FirstFit, default=None
        What a warm start must find again; None in files of earlier versions.
    """

    tag: ClassVar[str] = "forest memory"
    impurity: _Floats
    seeds: NDArray[np.uint64]
    mass: _Floats
    size: int
    first_fit: FirstFit | None = None

    def __post_init__(self) -> None:
        check(self.impurity.ndim == self.seeds.ndim == self.mass.ndim == 1, "a forest's memory")
        check(self.impurity.dtype == self.mass.dtype == np.float64, "numbers are not float64")
        check(self.seeds.dtype == np.uint64, "seeds are not whole numbers")
        check(bool(np.isfinite(self.mass).all() and (self.mass > 0).all()), "weights of rows")
        check(isinstance(self.size, int) and 0 <= self.size < 2**31, "draws are not a number")
        check(self.size == 0 or len(self.mass) > 0, "no row was drawn from")

    def check_vote(self, vote: Any) -> None:
        """Check that the memory is of this vote."""
        check(len(self.seeds) == vote.n_voters, "seeds and trees differ")
        check(len(self.impurity) == vote.n_features, "columns differ")

    def select(self, columns: Columns) -> Self:
        """Return the memory on the table reduced to `columns`."""
        first = self.first_fit and self.first_fit.changed(REDUCED, columns=True)
        return replace(self, impurity=self.impurity[columns], first_fit=first)

    def take(self, voters: NDArray[np.intp]) -> Self:
        """Return the memory of these trees only; `impurity` stays that of all."""
        first = self.first_fit and self.first_fit.changed(SHRUNK)
        return replace(self, seeds=self.seeds[voters], first_fit=first)

    @property
    def draws(self) -> Draws | None:
        """Return the bootstrap samples; None if there were none."""
        return Draws(self.mass, self.size) if self.size else None
