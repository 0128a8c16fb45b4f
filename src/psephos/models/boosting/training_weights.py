"""Local weights on the training rows themselves, for SamBA's `update="vote"`."""

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from psephos._errors import PsephosError
from psephos.kernels.prediction.similarity import local_sums, pair_sums
from psephos.models.boosting.expertise import Geometry, relevance
from psephos.models.boosting.loop import Round

_Floats = NDArray[np.float64]
_MAX_PAIRS = 10**9  # pairs of a row and an anchor: some seconds a voter


@dataclass
class TrainingWeights:
    """The local weight of every voter on every training row, kept from round to round.

    It costs O(rows x anchors) a round. Distances are computed anew each time, which is quicker than
    to read them from memory; the sums of earlier voters are kept while no voter reads a new column.
    """

    geometry: Geometry
    leave_one_out: bool  # whether an anchor is left out of the sums of its own row
    columns: NDArray[np.intp] = field(default_factory=lambda: np.empty(0, dtype=np.intp))
    total: _Floats = field(init=False)
    where_right: _Floats = field(init=False)

    def __post_init__(self) -> None:
        m, k = len(self.geometry.data.y), len(self.geometry.anchors)
        if m * k > _MAX_PAIRS:
            raise PsephosError(
                f"update='vote' weighs {m} training rows against {k} anchors after each voter, "
                "which takes too long: use update='sample', or keep some anchors only "
                "(n_anchors=2000)."
            )
        self.where_right = np.empty((m, 0))

    def shares(self, rounds: list[Round], columns: NDArray[np.intp]) -> _Floats:
        """Return each voter's normalised weight on each training row, shape (m, T)."""
        g = self.geometry
        if not np.array_equal(columns, self.columns):
            self.columns, self.where_right = columns, self.where_right[:, :0]
        new = rounds[self.where_right.shape[1] :]
        right = np.stack([r.right[g.anchors] for r in new], axis=1)
        self.total, where_right = self._sums(right)
        self.where_right = np.concatenate([self.where_right, where_right], axis=1)
        low, high = relevance(g.data.target.n_classes)
        weights = low * self.total[:, None] + (high - low) * self.where_right
        mass = weights.sum(axis=1, keepdims=True)
        return np.divide(weights, mass, out=np.full_like(weights, 1 / len(rounds)), where=mass > 0)

    def _sums(self, right: NDArray[np.bool_]) -> tuple[_Floats, _Floats]:
        """Return `local_sums` (total, where_right) of these voters on the training rows."""
        g = self.geometry
        rows = g.read(self.columns)
        s = g.similarity(self.columns, rows)
        weight = g.data.weight[g.anchors]
        m, k = len(rows), len(g.anchors)
        if k == m and not s.per_query:
            return pair_sums(rows, s.metric, s.kernel, weight, right, self.leave_one_out)
        own = np.full(m, -1)
        if self.leave_one_out:
            own[g.anchors] = np.arange(k)
        return local_sums(
            rows, rows[g.anchors], s.metric, s.kernel, weight, right, s.per_query, own=own
        )[:2]
