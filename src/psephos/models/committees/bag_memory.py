"""What a bag keeps besides the vote: by what seeds rows were drawn, and from what weights."""

from dataclasses import dataclass, field, replace
from typing import ClassVar, Self

import numpy as np
from numpy.typing import NDArray

from psephos.models.first_fit import REDUCED, FirstFit
from psephos.models.sampling import Draw
from psephos.vote.codec import register
from psephos.vote.part import Columns, check

_Floats = NDArray[np.float64]


@register
@dataclass(frozen=True)
class BagMemory(Draw):
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
    ranked : bool, default=False
        Whether rows are numbered in the order of their values, which has no unit; in files of
        earlier versions in that of their bytes.
    grouped : bool, default=False
        Whether whole groups were drawn: `mass` and `size` are then of groups.
    dropped : ndarray of uint64, default=empty
        The seeds of those that `shrink` left out.
    """

    tag: ClassVar[str] = "bag memory"
    seeds: NDArray[np.uint64]
    mass: _Floats
    size: int
    first_fit: FirstFit | None = None
    ranked: bool = False
    grouped: bool = False
    dropped: NDArray[np.uint64] = field(default_factory=lambda: np.empty(0, np.uint64))

    def __post_init__(self) -> None:
        self.check_draw()

    def check_vote(self, vote: object) -> None:
        """Check that the memory is of this vote."""
        check(len(self.seeds) == getattr(vote, "n_voters", -1), "seeds and members differ")

    def select(self, columns: Columns) -> Self:
        """Return the memory on the table reduced to `columns`."""
        first = self.first_fit
        return replace(self, first_fit=first and first.changed(REDUCED, columns=True))
