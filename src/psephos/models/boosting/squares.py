"""The kernel vote on the training rows themselves, for SamBA's vote-driven update."""

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from psephos._errors import PsephosError
from psephos.kernels.similarity import InverseDistance, add_squared, sums_from_squared
from psephos.models.boosting.expertise import Geometry, relevance
from psephos.models.boosting.skeleton import Round

__all__ = ["Squares"]

_Floats = NDArray[np.float64]
_BLOCK = 64  # rows
_MAX_PAIRS = 10**9  # pairs of a row and an anchor: 8 GB


@dataclass
class Squares:
    """Squared distances of the training rows to the anchors, grown by a column when first read.

    It gives the vote-driven update the kernel vote on the training rows, each row's own anchor
    left out or not, at O(rows x anchors) a new column.
    """

    geometry: Geometry
    leave_one_out: bool
    columns: set[int] = field(default_factory=set[int])
    squared: _Floats = field(init=False)
    counts: _Floats | None = field(init=False, default=None)
    mean: float = field(init=False, default=0.0)

    def __post_init__(self) -> None:
        m, k = len(self.geometry.data.y), len(self.geometry.anchors)
        if m * k > _MAX_PAIRS:
            raise PsephosError(
                f"update='vote' keeps a table of {m} training rows by {k} anchors, which is too "
                "large: use update='sample', or keep some anchors only (n_anchors=2000)."
            )
        self.squared = np.zeros((m, k))

    def shares(self, rounds: list[Round], columns: NDArray[np.intp]) -> _Floats:
        """Return each voter's normalised weight on each training row, shape (m, T)."""
        new = [int(column) for column in columns if int(column) not in self.columns]
        for column in new:
            self._grow(column)
        g = self.geometry
        low, high = relevance(g.data.target.n_classes)
        present = None if self.counts is None else self.counts / len(self.columns)
        self.mean = self._mean(present) if new else self.mean
        right = np.stack([r.right[g.anchors] for r in rounds], axis=1)
        total, heard, _ = sums_from_squared(
            self.squared,
            present,
            InverseDistance(float(g.a), float(g.b), g.scale(self.mean)),
            g.data.weight[g.anchors],
            right,
            g.distance_scale == "sum",
            g.anchors if self.leave_one_out else np.full(len(g.anchors), -1),
            row_groups=np.arange(len(g.data.y)),
            absent=self.mean,
        )
        weights = low * total[:, None] + (high - low) * heard
        mass = weights.sum(axis=1, keepdims=True)
        return np.divide(weights, mass, out=np.full_like(weights, 1 / len(rounds)), where=mass > 0)

    def _grow(self, column: int) -> None:
        one = np.array([column], dtype=np.intp)
        rows = self.geometry.read(one)
        metric = self.geometry.metric(one, rows)
        if np.isnan(rows).any() and self.counts is None:
            self.counts = np.full_like(self.squared, float(len(self.columns)))
        x, scale = rows[:, 0], float(metric.scale[0])
        anchors = x[self.geometry.anchors]
        add_squared(self.squared, self.counts, x, scale, bool(metric.is_category[0]), anchors)
        self.columns.add(column)

    def _mean(self, present: _Floats | None) -> float:
        """Return the mean distance of training rows to anchors, by weight.

        The fitted similarity takes the mean over all training rows (a fixed share of them above
        10,000); with fewer anchors than rows the two differ by sampling.
        """
        weight = self.geometry.data.weight
        heard = weight[self.geometry.anchors]
        total = pairs = 0.0
        for start in range(0, len(weight), _BLOCK):  # blocks that stay in the cache
            rows = slice(start, start + _BLOCK)
            block = self.squared[rows]
            if present is None:
                pairs += float(weight[rows].sum() * heard.sum())
            else:
                share = present[rows]
                block = np.divide(block, share, out=np.zeros_like(block), where=share > 0)
                pairs += float(weight[rows] @ (share > 0) @ heard)
            total += float(weight[rows] @ (np.sqrt(block) @ heard))
        return total / pairs if pairs > 0 else 0.0
