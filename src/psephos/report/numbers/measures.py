"""What a threshold on held-out answers costs: counts, four measures, and their intervals."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from psephos.figures import Estimate, confusion, in_millionths

TENTHS = tuple(k / 10 for k in range(1, 10))


@dataclass(frozen=True)
class Counts:
    """The confusion table of two classes, the positive one first."""

    found: int  # positive and called so
    missed: int
    alarms: int  # negative and called positive
    cleared: int

    @property
    def positive(self) -> int:
        """Return the number of positive cases."""
        return self.found + self.missed

    @property
    def negative(self) -> int:
        """Return the number of the other cases."""
        return self.alarms + self.cleared


def counts_at(units: NDArray[np.int64], positive: NDArray[np.bool_], threshold: float) -> Counts:
    """Return the confusion table of a threshold.

    Parameters
    ----------
    units : ndarray of shape (n,)
        Answers, by `in_millionths`.
    threshold : float
        A case is called positive if its answer is at least this.
    """
    called = units >= in_millionths(threshold)
    return Counts(
        found=int((called & positive).sum()),
        missed=int((~called & positive).sum()),
        alarms=int((called & ~positive).sum()),
        cleared=int((~called & ~positive).sum()),
    )


def lowered(answers: NDArray[np.float64], edges: Sequence[float]) -> NDArray[np.float64]:
    """Return answers lowered to the edge at or below each: called alike from every edge on."""
    places = np.searchsorted(in_millionths(edges), in_millionths(answers), "right") - 1
    return np.asarray(edges)[places]


def four(
    units: NDArray[np.int64],
    positive: NDArray[np.bool_],
    threshold: float,
    groups: NDArray[np.intp] | None = None,
) -> list[Estimate]:
    """Return sensitivity, specificity, PPV and NPV; with groups these are independent, not cases.

    The intervals are Wilson's, with groups at the number of independent cases (Rao & Scott).
    """
    found = confusion(positive, units >= in_millionths(threshold), groups)
    return [found.sensitivity, found.specificity, found.ppv, found.npv]
