"""SamBA's parts: merged rows, distances, and the local weights made of what voters got right."""

from dataclasses import dataclass, field
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from psephos._errors import PsephosError
from psephos._input import Context
from psephos.kernels.similarity import InverseDistance as InverseKernel
from psephos.kernels.similarity import Metric, add_squared, mean_distance, sums_from_squared
from psephos.models.boosting.learners import Training
from psephos.models.boosting.skeleton import Round
from psephos.vote import InverseDistance, Local, Voters

__all__ = ["Geometry", "Squares", "anchors_of", "distinct_rows", "relevance"]

_Floats = NDArray[np.float64]
_ANCHORS = 1 << 20  # task id of the seed that draws anchors: above any number of voters
_KEY_COLUMNS = 64  # rows that differ in these columns are different: compare the rest only if not
_MAX_PAIRS = 30_000  # rows; a table of all their pairs takes 7 GB


def relevance(n_classes: int) -> tuple[float, float]:
    """Return omega where a voter is wrong and where it is right: exp(-1/(K-1)) and e."""
    return float(np.exp(-1.0 / (n_classes - 1))), float(np.e)


def distinct_rows(data: Training) -> Training:
    """Return the training rows with copies (same row, same label) made one of added weight.

    A row of weight 2 is then the row given twice, in every part of the algorithm; so leaving a
    row out leaves out its copies. The first copy's identifier is kept.
    """
    values = data.table.values
    head: Any = values[:, :_KEY_COLUMNS]
    head = head.toarray() if sp.issparse(head) else np.asarray(head)
    groups = _groups(np.column_stack([head.astype(np.float64), data.y]))
    if groups.max() + 1 == len(groups):
        return data
    suspects = np.flatnonzero(np.bincount(groups)[groups] > 1)
    rest: Any = values[suspects]
    rest = rest.toarray() if sp.issparse(rest) else np.asarray(rest)
    same = _groups(np.column_stack([rest.astype(np.float64), data.y[suspects]]))
    first = np.arange(len(groups))
    first[suspects] = suspects[_first_of(same)]
    kept = np.unique(first)
    weight = np.bincount(first, data.weight, minlength=len(first))[kept]
    return data.take(kept)._replace(weight=weight)


def _groups(rows: _Floats) -> NDArray[np.intp]:
    """Return a group number per row; equal rows share it (missing equals missing, -0 equals 0)."""
    plain = np.ascontiguousarray(np.where(np.isnan(rows), np.nan, rows) + 0.0)
    keys = plain.view(np.dtype((np.void, plain.dtype.itemsize * plain.shape[1]))).ravel()
    return np.unique(keys, return_inverse=True)[1].astype(np.intp)


def _first_of(groups: NDArray[np.intp]) -> NDArray[np.intp]:
    """Return for each row the position of the first row of its group."""
    first = np.full(groups.max() + 1, len(groups))
    np.minimum.at(first, groups, np.arange(len(groups)))
    return first[groups]


def anchors_of(n_rows: int, n_anchors: int | None, context: Context) -> NDArray[np.intp]:
    """Return the rows that serve as anchors: all, or `n_anchors` drawn without replacement.

    Raises
    ------
    PsephosError
        If more anchors are asked for than there are distinct rows.
    """
    if n_anchors is None:
        return np.arange(n_rows)
    if n_anchors > n_rows:
        raise PsephosError(
            f"n_anchors={n_anchors} is more than the {n_rows} distinct training rows: lower it, "
            "or use None for all rows."
        )
    drawn = context.generator(_ANCHORS).choice(n_rows, n_anchors, replace=False)
    return np.sort(drawn).astype(np.intp)


@dataclass(frozen=True)
class Geometry:
    """SamBA's distance and similarity settings, and the training rows they speak of.

    Parameters
    ----------
    data : Training
        Distinct rows.
    anchors : ndarray of shape (m',)
        Rows that serve as anchors.
    a, b : float
    distance_scale : {'mean', 'sum', None}
    column_scale : {'std', None}
    """

    data: Training
    anchors: NDArray[np.intp]
    a: float
    b: float
    distance_scale: str | None
    column_scale: str | None

    def read(self, columns: NDArray[np.intp]) -> _Floats:
        """Return the training rows on these columns, dense float64."""
        part: Any = self.data.table.values[:, columns]
        return np.asarray(part.toarray() if sp.issparse(part) else part, dtype=np.float64)

    def metric(self, columns: NDArray[np.intp], rows: _Floats) -> Metric:
        """Return the distance on these columns; rows with nothing in common are left open."""
        levels = self.data.table.schema.levels
        category = np.array([int(j) in levels for j in columns], dtype=bool)
        scale = np.ones(len(columns))
        if self.column_scale == "std" and len(columns):
            scale = np.where(category, 1.0, _spread(rows, self.data.weight))
        return Metric(scale, category, 0.0)

    def similarity(self, columns: NDArray[np.intp], rows: _Floats) -> InverseDistance:
        """Return the similarity on these columns, scaled by the training pairs' mean distance."""
        metric = self.metric(columns, rows)
        mean = mean_distance(rows, self.data.weight, metric)
        scale = mean if self.distance_scale == "mean" and mean > 0 else 1.0
        return InverseDistance(
            a=float(self.a),
            b=float(self.b),
            scale=scale,
            per_query=self.distance_scale == "sum",
            column_scale=metric.scale,
            is_category=metric.is_category,
            absent=mean,
        )

    def local(self, rounds: list[Round], voters: Voters) -> Local:
        """Return the local weights of these rounds: equation (1) with Algorithm 3's line 9.

        omega is divided by its sum over anchors and voters and multiplied by the anchors' total
        weight (m where no row has a weight), so that mass times decision is the source's sum.
        """
        low, high = relevance(self.data.target.n_classes)
        columns = voters.columns
        rows = self.read(columns)
        weight = self.data.weight[self.anchors]
        right = np.stack([r.right[self.anchors] for r in rounds], axis=1)
        total = float((weight @ np.where(right, high, low)).sum())
        scale = float(weight.sum()) / total
        return Local(
            n_features=voters.n_features,
            columns=columns,
            similarity=self.similarity(columns, rows),
            anchors=np.ascontiguousarray(rows[self.anchors]),
            anchor_weight=weight,
            right=np.packbits(right, axis=1),
            voters=len(rounds),
            low=low * scale,
            high=high * scale,
            rows=self.data.table.rows[self.anchors],
            anchor_class=self.data.y[self.anchors],
        )


def _spread(rows: _Floats, weight: _Floats) -> _Floats:
    """Return each column's weighted standard deviation over the rows that have it, 1 if none."""
    present = ~np.isnan(rows)
    w = present * weight[:, None]
    total = np.maximum(w.sum(axis=0), np.finfo(float).tiny)
    filled = np.where(present, rows, 0.0)
    mean = (w * filled).sum(axis=0) / total
    variance = (w * np.where(present, rows - mean, 0.0) ** 2).sum(axis=0) / total
    return np.where(variance > 0, np.sqrt(variance), 1.0)


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
            InverseKernel(float(g.a), float(g.b), scale),
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
            self.squared, self.counts, rows[:, 0], float(metric.scale[0]), bool(metric.is_category[0])
        )
        self.columns.add(column)

    def _mean(self, present: _Floats | None) -> float:
        w = self.geometry.data.weight
        if present is None:
            return float(w @ np.sqrt(self.squared) @ w / w.sum() ** 2)
        known = present > 0
        distance = np.sqrt(np.divide(self.squared, present, out=np.zeros_like(present), where=known))
        pairs = float(w @ known @ w)
        return float(w @ distance @ w / pairs) if pairs > 0 else 0.0
