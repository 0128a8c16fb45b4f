"""Squared distances of rows from points, for local expertise, prototypes, nearest neighbours."""

from dataclasses import replace
from functools import cached_property
from importlib import import_module
from typing import Any, ClassVar, Self

import numpy as np

from psephos._errors import PsephosError
from psephos._types import Floats, Indices, NDArray, Usage
from psephos.files.field_types import AnySize, Nullable
from psephos.files.field_types import Distance as _Size
from psephos.vote import part
from psephos.vote.codec import register

PRIOR = -1  # the batch of a point that is at distance 0 from every row
#: Metrics between rows of numbers, by the names of scikit-learn and SciPy.
METRICS = (
    "euclidean", "manhattan", "chebyshev", "cosine", "correlation", "braycurtis", "canberra",
    "hamming", "jaccard",
)  # fmt: skip


@register
class Batches(part.ReadsColumns):
    """The batch of each point, and the columns that a batch compares.

    Parameters
    ----------
    n_features : int
        p, the columns of the table.
    columns : ndarray of shape (q,), intp
        Sorted columns that some batch reads.
    inverse_bandwidth : ndarray of shape (B, q)
        Factor of scaled differences in each batch; 0 for columns that it does not compare.
    batch : ndarray of shape (T,), intp
        The batch of each point; -1: a prior, at distance 0 from every row.
    """

    tag: ClassVar[str] = "prototype batches"
    n_features: int
    columns: part.Columns
    inverse_bandwidth: Floats
    batch: Indices

    def __post_init__(self) -> None:
        part.check_part(self)
        v = self.inverse_bandwidth
        part.check(v.ndim == 2, "inverse bandwidths are not (B, q)")
        part.check(v.shape[1] == len(self.columns), "inverse bandwidths have other columns")
        part.check(np.isfinite(v) & (v >= 0), "an inverse bandwidth is below 0")
        part.check(self.batch.ndim == 1, "batches are not in a row")
        part.check((self.batch >= PRIOR) & (self.batch < len(v)), "a voter's batch does not exist")

    @property
    def n_voters(self) -> int:
        return len(self.batch)

    def usage(self) -> Usage:
        """Return the (T, p) table of the columns on which each point is compared."""
        used = np.zeros((self.n_voters, len(self.columns)), dtype=bool)
        own = self.batch != PRIOR
        used[own] = self.inverse_bandwidth[self.batch[own]] > 0
        return part.usage_at(self, *np.nonzero(used))

    def take(self, voters: Indices) -> tuple[Self, part.Columns]:
        """Return the batches of these points, and the positions of the columns still read."""
        batch = self.batch[voters]
        kept = np.unique(batch[batch != PRIOR])
        inverse = self.inverse_bandwidth[kept]
        read = np.flatnonzero((inverse > 0).any(axis=0))
        renamed = np.where(batch == PRIOR, PRIOR, np.searchsorted(kept, batch)).astype(np.intp)
        inverse, columns = np.ascontiguousarray(inverse[:, read]), self.columns[read]
        some = replace(self, columns=columns, inverse_bandwidth=inverse, batch=renamed)
        return some, read


@register
class Distance(part.ReadsLike):
    """Squared distances of a row x from m points: u_i, the sum over j of ((z_j - point_ij) v_j)^2.

    z is the scaled row, ``z_j = (x_j - centre_j) inverse_j``, and v is the row of
    `inverse_bandwidth` of the point's batch. For categories the difference is 0 or 1.

    Parameters
    ----------
    batches : Batches
        The columns, v, and the batch of each point.
    centre, inverse : ndarray of shape (q,)
        Centre and 1 / scale of each column.
    is_category : ndarray of shape (q,), bool
    points : ndarray of shape (m, q)
        In scaled units, NaN where missing. Those of a prior are not used.
    gaps : ndarray of shape (B, q) or (0, q)
        The square of a column where the row or the point has a missing value. Of shape (0, q): the
        sum over the columns P that both have is multiplied by q / abs(P) instead.
    absent : float
        Without `gaps`: the distance where no column has a value in both.
    farthest : float
        A row with abs(z_j v_j) above it raises.
    metric : str
        euclidean, or the name of another metric between the rows z v and point v; rows must then
        have no missing value.
    """

    tag: ClassVar[str] = "distance"
    read_by: ClassVar[str] = "batches"
    batches: Batches
    centre: AnySize
    inverse: AnySize
    is_category: NDArray[np.bool_]
    points: Nullable
    gaps: Floats
    absent: _Size
    farthest: _Size = np.inf
    metric: str = "euclidean"

    def __post_init__(self) -> None:
        part.check_part(self)
        q, v = len(self.columns), self.batches.inverse_bandwidth
        scales = (self.centre, self.inverse, self.is_category)
        part.check(all(a.shape == (q,) for a in scales), "scales and columns differ in number")
        part.check(self.points.shape == (self.batches.n_voters, q), "points have another shape")
        part.check(self.gaps.shape in (v.shape, (0, q)), "gaps have another shape")
        part.check(self.absent >= 0 and self.farthest >= 0, "a distance is negative")
        part.check(self.metric in METRICS, f"unknown metric {self.metric!r}")

    @classmethod
    def of_cases(
        cls, of: Any, cases: Floats, scale: Floats, is_category: NDArray[np.bool_], **more: Any
    ) -> Self:
        """Return the distance from cases on a part's columns, with differences over `scale`."""
        q, none = len(scale), np.zeros(len(cases), dtype=np.intp)
        batches = Batches(of.n_features, of.columns, 1.0 / scale[None], none)
        return cls(batches, np.zeros(q), np.ones(q), is_category, cases, np.empty((0, q)), **more)

    def scaled(self, X: Floats) -> Floats:
        """Return the (n, q) scaled columns z of rows of the table."""
        with np.errstate(over="ignore"):
            return (X[:, self.columns] - self.centre) * self.inverse

    @cached_property
    def _members(self) -> list[tuple[Any, Floats]]:
        """Return the positions of each batch's points (a slice if possible), and their values."""
        members: list[tuple[Any, Floats]] = []
        for b in range(len(self.batches.inverse_bandwidth)):
            own = np.flatnonzero(self.batches.batch == b)
            together = len(own) > 0 and own[-1] - own[0] == len(own) - 1
            where = slice(int(own[0]), int(own[-1]) + 1) if together else own
            members.append((where, np.ascontiguousarray(self.points[own].T)))
        return members

    def squares(self, z: Floats) -> Floats:
        """Return (n, m) squared distances of scaled rows.

        They are summed column by column: equal rows are at exactly 0, and a row's distances do not
        depend on the other rows.
        """
        self.refuse_far(z)
        out = np.zeros((len(z), len(self.points)))
        if self.metric != "euclidean":
            spatial: Any = import_module("scipy.spatial")  # late: it takes memory
            part.check_present(z, f"distances by the metric {self.metric!r}")
            name = {"manhattan": "cityblock"}.get(self.metric, self.metric)
            v = self.batches.inverse_bandwidth[0]
            return spatial.distance.cdist(z * v, self.points * v, name) ** 2
        with np.errstate(over="ignore"):
            for b, (where, _) in enumerate(self._members):
                out[:, where] = self._of_batch(z, b)
        return out

    def _of_batch(self, z: Floats, b: int) -> Floats:
        """Return (n, J) squared distances from the points of a batch."""
        v, points = self.batches.inverse_bandwidth[b], self._members[b][1]
        q, total, term = z.shape[1], *np.zeros((2, len(z), points.shape[1]))
        missing = np.zeros(total.shape) if not len(self.gaps) else None
        for j in np.flatnonzero(v > 0).tolist():
            np.subtract(z[:, j, None], points[j], out=term)
            lacks = np.isnan(term) if np.isnan(z[:, j]).any() or np.isnan(points[j]).any() else None
            if self.is_category[j]:
                np.not_equal(term, 0, out=term, casting="unsafe")
            term *= v[j]
            term *= term
            if lacks is not None:
                term[lacks] = 0.0 if missing is not None else self.gaps[b, j]
                if missing is not None:
                    missing += lacks
            total += term
        if missing is None or not missing.any():
            return total
        known = q - missing
        shared = total * (q / np.maximum(known, 1.0))
        return np.where(missing == 0, total, np.where(known > 0, shared, self.absent**2))

    def parts(self, z: Floats, point: Floats, b: int) -> Floats:
        """Return (n, q): the contribution of each column to the square; `gaps` where missing."""
        gap = z - point
        apart = np.where(self.is_category & ~np.isnan(gap), gap != 0, gap)
        with np.errstate(over="ignore"):
            square = (apart * self.batches.inverse_bandwidth[b]) ** 2
        return np.where(np.isnan(square), self.gaps[b] if len(self.gaps) else 0.0, square)

    def refuse_far(self, z: Floats) -> None:
        """Raise PsephosError for a row so far away that differences between points are lost."""
        if self.farthest == np.inf:
            return
        sizes = np.abs(np.nan_to_num(z)) * self.batches.inverse_bandwidth[0]
        far = sizes.max(axis=1, initial=0.0) > self.farthest
        if far.any():
            raise far_error((z / self.inverse + self.centre)[far.argmax()])

    def take(self, points: Indices) -> Self:
        """Return the distance from these points, without columns that no batch compares."""
        batches, read = self.batches.take(points)
        batch = np.unique(self.batches.batch[points])
        gaps = self.gaps[batch[batch != PRIOR]] if len(self.gaps) else self.gaps
        return replace(
            self,
            batches=batches,
            centre=self.centre[read],
            inverse=self.inverse[read],
            is_category=self.is_category[read],
            points=np.ascontiguousarray(self.points[points][:, read]),
            gaps=np.ascontiguousarray(gaps[:, read]),
        )


def check_scale(scale: Floats) -> None:
    """Check that the scales of columns are positive numbers."""
    part.check((scale > 0) & (scale < np.inf), "a column scale is not positive")


def far_error(row: Floats) -> PsephosError:
    """Return the error of a row that is too far from all points."""
    values = np.nan_to_num(row)
    return PsephosError(
        "a row is so far from the training cases that distances cannot be computed (it "
        f"holds {values[np.abs(values).argmax()]:.3g}): check the units of its columns."
    )
