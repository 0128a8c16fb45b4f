"""What a bag remembers besides the vote: by what seeds rows were drawn, and from what weights."""

from dataclasses import dataclass, replace
from typing import ClassVar, Self

import numpy as np
from numpy.typing import NDArray

from psephos.models.first_fit import REDUCED, SHRUNK, FirstFit
from psephos.trees.forest_rows import Draws
from psephos.vote.codec import register
from psephos.vote.part import Columns, check

__all__ = ["BagMemory"]

_Floats = NDArray[np.float64]


@register
@dataclass(frozen=True)
class BagMemory:
    """How the rows of each member were drawn, as the seed that drew them.

    Parameters
    ----------
    seeds : ndarray of shape (T,), uint64
    mass : ndarray of shape (n,)
        Weights of the training rows, by which rows are drawn.
    size : int
        Draws with replacement a member; 0: rows were not drawn so.
    first_fit : FirstFit, default=None
        What a warm start must find again; None in files of earlier versions.
    """

    tag: ClassVar[str] = "bag memory"
    seeds: NDArray[np.uint64]
    mass: _Floats
    size: int
    first_fit: FirstFit | None = None

    def __post_init__(self) -> None:
        check(self.seeds.ndim == self.mass.ndim == 1, "a bag's memory")
        check(self.seeds.dtype == np.uint64, "seeds are not whole numbers")
        check(self.mass.dtype == np.float64, "numbers are not float64")
        check(bool(np.isfinite(self.mass).all() and (self.mass > 0).all()), "weights of rows")
        check(isinstance(self.size, int) and 0 <= self.size < 2**31, "draws are not a number")
        check(self.size == 0 or len(self.mass) > 0, "no row was drawn from")

    def check_vote(self, vote: object) -> None:
        """Check that the memory is of this vote."""
        check(len(self.seeds) == getattr(vote, "n_voters", -1), "seeds and members differ")

    def select(self, columns: Columns) -> Self:
        """Return the memory on the table reduced to `columns`."""
        first = self.first_fit
        return replace(self, first_fit=first and first.changed(REDUCED, columns=True))

    def take(self, voters: NDArray[np.intp]) -> Self:
        """Return the memory of these members only."""
        first = self.first_fit
        return replace(self, seeds=self.seeds[voters], first_fit=first and first.changed(SHRUNK))

    @property
    def draws(self) -> Draws | None:
        """Return the bootstrap samples; None if there were none."""
        return Draws(self.mass, self.size) if self.size else None
