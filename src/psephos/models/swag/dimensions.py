"""What the search saw at each number of columns."""

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from psephos.vote.ballots import frame_of
from psephos.vote.codec import register
from psephos.vote.part import check

__all__ = ["Dimensions"]

_Floats = NDArray[np.float64]


@register
@dataclass(frozen=True)
class Dimensions:
    """What the search saw at each number of columns, strong or not.

    Parameters
    ----------
    dimension : ndarray of shape (D,)
    n_candidates : ndarray of shape (D,)
        Models judged.
    n_strong : ndarray of shape (D,)
        Models kept.
    threshold : ndarray of shape (D,)
        The alpha-quantile of the errors.
    median : ndarray of shape (D,)
    best : ndarray of shape (D,)
    counts : ndarray of shape (D, bins)
        Histogram of the errors.
    edges : ndarray of shape (bins + 1,)
    """

    tag: ClassVar[str] = "library dimensions"
    dimension: NDArray[np.intp]
    n_candidates: NDArray[np.intp]
    n_strong: NDArray[np.intp]
    threshold: _Floats
    median: _Floats
    best: _Floats
    counts: NDArray[np.intp]
    edges: _Floats

    def __post_init__(self) -> None:
        d = len(self.dimension)
        rows = (self.n_candidates, self.n_strong, self.threshold, self.median, self.best)
        check(all(a.shape == (d,) for a in rows), "dimensions differ in number")
        whole = (self.dimension, self.n_candidates, self.n_strong, self.counts)
        check(all(a.dtype == np.intp for a in whole), "counts are not integers")
        numbers = (self.threshold, self.median, self.best, self.edges)
        check(all(a.dtype == np.float64 for a in numbers), "errors are not float64")
        check(self.edges.ndim == 1, "edges are not in a row")
        check(self.counts.shape == (d, max(len(self.edges) - 1, 0)), "a histogram has other bins")

    def columns(self) -> dict[str, list[Any]]:
        """Return the table as lists, without the histogram."""
        names = ("dimension", "n_candidates", "n_strong", "best", "threshold", "median")
        return {name: getattr(self, name).tolist() for name in names}

    def frame(self, backend: str | None = None) -> Any:
        """Return one row per number of columns as a data frame."""
        return frame_of(self.columns(), backend)
