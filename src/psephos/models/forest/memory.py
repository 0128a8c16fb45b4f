"""What a forest keeps besides the vote: the decrease of impurity by column, and its draws."""

from dataclasses import dataclass, field, replace
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray

from psephos.models.first_fit import REDUCED, FirstFit
from psephos.models.sampling import Draw
from psephos.vote.codec import register
from psephos.vote.part import Columns, check

_Floats = NDArray[np.float64]


@register
@dataclass(frozen=True)
class ForestMemory(Draw):
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
    ranked : bool, default=False
        Whether rows are numbered by the rank of y, which has no unit; in files of earlier versions
        by its bits.
    grouped : bool, default=False
        Whether whole groups were drawn: `mass` and `size` are then of groups.
    dropped : ndarray of uint64, default=empty
        The seeds of those that `shrink` left out.
    """

    tag: ClassVar[str] = "forest memory"
    impurity: _Floats
    seeds: NDArray[np.uint64]
    mass: _Floats
    size: int
    first_fit: FirstFit | None = None
    ranked: bool = False
    grouped: bool = False
    dropped: NDArray[np.uint64] = field(default_factory=lambda: np.empty(0, np.uint64))

    def __post_init__(self) -> None:
        whole = self.impurity.ndim == 1 and self.impurity.dtype == np.float64
        check(whole, "importances are not a list of float64")
        self.check_draw()

    def check_vote(self, vote: Any) -> None:
        """Check that the memory is of this vote."""
        check(len(self.seeds) == vote.n_voters, "seeds and trees differ")
        check(len(self.impurity) == vote.n_features, "columns differ")

    def select(self, columns: Columns) -> Self:
        """Return the memory on the table reduced to `columns`."""
        first = self.first_fit and self.first_fit.changed(REDUCED, columns=True)
        return replace(self, impurity=self.impurity[columns], first_fit=first)
