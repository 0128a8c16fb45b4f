"""The kernel vote on the training rows themselves, for SamBA's vote-driven update."""

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from psephos._errors import PsephosError
from psephos.kernels.prediction.similarity import InverseDistance, Metric, local_sums, pair_sums
from psephos.models.boosting.expertise import Geometry, relevance
from psephos.models.boosting.skeleton import Round

__all__ = ["Squares"]

_Floats = NDArray[np.float64]
_MAX_PAIRS = 10**9  # pairs of a row and an anchor: some seconds a voter


@dataclass
class Squares:
    """The weight of every voter on every training row, each row's own anchor left out or not.

    It gives the vote-driven update the kernel vote on the training rows, at O(rows x anchors) a
    voter. Distances are made anew each time, which is quicker than to read them from memory; while
    no voter reads a new column the sums of the earlier voters stay as they are.
    """

    geometry: Geometry
    leave_one_out: bool
    columns: NDArray[np.intp] = field(default_factory=lambda: np.empty(0, dtype=np.intp))
    total: _Floats = field(init=False)
    heard: _Floats = field(init=False)

    def __post_init__(self) -> None:
        m, k = len(self.geometry.data.y), len(self.geometry.anchors)
        if m * k > _MAX_PAIRS:
            raise PsephosError(
                f"update='vote' weighs {m} training rows against {k} anchors after each voter, "
                "which takes too long: use update='sample', or keep some anchors only "
                "(n_anchors=2000)."
            )
        self.heard = np.empty((m, 0))

    def shares(self, rounds: list[Round], columns: NDArray[np.intp]) -> _Floats:
        """Return each voter's normalised weight on each training row, shape (m, T)."""
        g = self.geometry
        if not np.array_equal(columns, self.columns):
            self.columns, self.heard = columns, self.heard[:, :0]
        new = rounds[self.heard.shape[1] :]
        right = np.stack([r.right[g.anchors] for r in new], axis=1)
        self.total, heard = self._sums(right)
        self.heard = np.concatenate([self.heard, heard], axis=1)
        low, high = relevance(g.data.target.n_classes)
        weights = low * self.total[:, None] + (high - low) * self.heard
        mass = weights.sum(axis=1, keepdims=True)
        return np.divide(weights, mass, out=np.full_like(weights, 1 / len(rounds)), where=mass > 0)

    def _sums(self, right: NDArray[np.bool_]) -> tuple[_Floats, _Floats]:
        """Return (total, heard) of these voters on the training rows."""
        g = self.geometry
        rows = g.read(self.columns)
        s = g.similarity(self.columns, rows)
        metric = Metric(s.column_scale, s.is_category, s.absent)
        kernel = InverseDistance(s.a, s.b, s.scale)
        weight = g.data.weight[g.anchors]
        m, k = len(rows), len(g.anchors)
        if k == m and not s.per_query:
            return pair_sums(rows, metric, kernel, weight, right, self.leave_one_out)
        own = np.full(m, -1)
        if self.leave_one_out:
            own[g.anchors] = np.arange(k)
        return local_sums(
            rows, rows[g.anchors], metric, kernel, weight, right, s.per_query, own=own
        )[:2]
