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
_MAX_PAIRS = 30_000  # rows; a table of all their pairs takes 7 GB


@dataclass
class Squares:
    """Squared distances of all training rows, grown by a column when a voter first reads it.

    It gives the vote-driven update the kernel vote on the training rows, each row's own anchor
    left out or not, at O(m^2) a new column.
    """

    geometry: Geometry
    leave_one_out: bool
    columns: set[int] = field(default_factory=set[int])
    squared: _Floats = field(init=False)
    counts: _Floats | None = field(init=False, default=None)

    def __post_init__(self) -> None:
        m = len(self.geometry.data.y)
        if m > _MAX_PAIRS:
            raise PsephosError(
                f"update='vote' keeps a table of all pairs of the {m} training rows: use "
                "update='sample', or fewer rows."
            )
        self.squared = np.zeros((m, m))

    def shares(self, rounds: list[Round], columns: NDArray[np.intp]) -> _Floats:
        """Return each voter's normalised weight on each training row, shape (m, T)."""
        for column in columns:
            if int(column) not in self.columns:
                self._grow(int(column))
        g = self.geometry
        low, high = relevance(g.data.target.n_classes)
        q = len(self.columns)
        present = None if self.counts is None else self.counts / q
        mean = self._mean(present)
        scale = mean if g.distance_scale == "mean" and mean > 0 else 1.0
        heard_as = np.zeros(len(g.data.y))
        heard_as[g.anchors] = g.data.weight[g.anchors]
        right = np.stack([r.right for r in rounds], axis=1)
        total, heard, _ = sums_from_squared(
            self.squared,
            present,
            InverseDistance(float(g.a), float(g.b), scale),
            heard_as,
            right,
            g.distance_scale == "sum",
            self.leave_one_out,
            absent=mean,
        )
        weights = low * total[:, None] + (high - low) * heard
        mass = weights.sum(axis=1, keepdims=True)
        return np.divide(weights, mass, out=np.full_like(weights, 1 / len(rounds)), where=mass > 0)

    def _grow(self, column: int) -> None:
        one = np.array([column], dtype=np.intp)
        rows = self.geometry.read(one)
        metric = self.geometry.metric(one, rows)
        missing = bool(np.isnan(rows).any())
        if missing and self.counts is None:
            self.counts = np.full_like(self.squared, float(len(self.columns)))
        add_squared(
            self.squared,
            self.counts,
            rows[:, 0],
            float(metric.scale[0]),
            bool(metric.is_category[0]),
        )
        self.columns.add(column)

    def _mean(self, present: _Floats | None) -> float:
        w = self.geometry.data.weight
        if present is None:
            return float(w @ np.sqrt(self.squared) @ w / w.sum() ** 2)
        known = present > 0
        distance = np.sqrt(
            np.divide(self.squared, present, out=np.zeros_like(present), where=known)
        )
        pairs = float(w @ known @ w)
        return float(w @ distance @ w / pairs) if pairs > 0 else 0.0
