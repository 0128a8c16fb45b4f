"""Weights by training cases near a case.

Local expertise: voters have more weight on cases like those on which they were right. k nearest
neighbours: the training cases nearest to a case have weight.
"""

from dataclasses import field, replace
from functools import cached_property
from typing import Any, ClassVar, Self

import numpy as np

from psephos._types import Array, Floats, Indices, NDArray
from psephos.files.field_types import AnySize, Nullable
from psephos.files.field_types import Distance as _Size
from psephos.kernels.prediction import fused
from psephos.vote import part
from psephos.vote.codec import register
from psephos.vote.lowered import WeighedAsLowered
from psephos.vote.operations import distance_weights
from psephos.vote.operations.cases import CaseVoters
from psephos.vote.operations.distance import METRICS, Distance, check_scale, far_error
from psephos.vote.part import check, check_part, check_within, named_of
from psephos.vote.target import AnyTarget

_CELLS = 1 << 22  # distances held at once
_FEW = 128  # number of cases up to which sorting all distances is faster than screening
_FAR, _FARTHER = 1e100, 1e10  # greatest number of a row: absolute, and relative to the cases


@register
class InverseDistance:
    """SamBA's similarity, s(x, z) = 1 / (a^b + (d(x, z) / scale)^b) (seed paper, equation 1).

    d is Euclidean over the columns P of q that both rows have: ``sqrt(q / |P| * sum)`` of squared
    differences, where numbers are divided by their column's scale and categories differ by 0 or 1.
    The distance of identical rows is exactly 0. Two rows with no column in common are at distance
    `absent`.

    Parameters
    ----------
    a : float
        Distance floor (smoothness); at 0, a case that coincides with anchors is compared with those
        only.
    b : float
        Locality.
    scale : float
        Divides every distance.
    per_query : bool
        Whether to divide the distances of a case by their sum over the anchors, not by `scale`.
    column_scale : ndarray of shape (q,)
    is_category : ndarray of shape (q,), bool
    absent : float
    """

    tag: ClassVar[str] = "inverse distance"
    a: float
    b: float
    scale: float
    per_query: bool
    column_scale: AnySize
    is_category: NDArray[np.bool_]
    absent: float

    def __post_init__(self) -> None:
        check_part(self)
        shape = self.column_scale.shape
        check(len(shape) == 1 and shape == self.is_category.shape, "column scales differ in number")
        check_scale(self.column_scale)
        numbers = (self.a, self.b, self.scale, self.absent)
        check(all(0 <= v < np.inf for v in numbers), "similarity is not finite")
        check(self.per_query in (True, False), "per_query is not a truth value")
        check(self.scale > 0 and self.b > 0, "similarity has no scale")

    def for_kernels(self) -> tuple[Any, Any]:
        """Return the parameters of the distance and of the similarity for the kernels."""
        from psephos.kernels.prediction.similarity import InverseKernel, Metric

        metric = Metric(self.column_scale, self.is_category, self.absent)
        return metric, InverseKernel(self.a, self.b, self.scale)


class _Expertise(WeighedAsLowered):
    """Base class of weights by expertise at anchors."""

    columns: part.Columns | Any
    similarity: Any
    anchors: Any
    anchor_weight: Any
    expertise: Any

    def _summed(self, X: Floats, table: NDArray[Any]) -> tuple[Floats, Floats, Floats]:
        """Return the `local_sums` of rows with a table (m, T) of the anchors."""
        from psephos.kernels.prediction.similarity import local_sums

        s, read = self.similarity, np.ascontiguousarray(X[:, self.columns], dtype=np.float64)
        metric, kernel = s.for_kernels()
        weight = self.anchor_weight
        return local_sums(read, self.anchors, metric, kernel, weight, table, s.per_query)

    def kept_cases(self) -> Floats:
        return self.anchors

    def local_similarity(self) -> InverseDistance:
        return self.similarity

    def anchor_scores(self, voters: part.Voters) -> Floats:
        votes = voters.select(self.columns).votes(self.anchors)
        return np.einsum("mt,mtk->mk", self.expertise, votes)


@register
class Local(part.ReadsColumns, _Expertise):
    """Local expertise: w_t(x) = sum_i g_i s(x, z_i) E_t[i] over the anchors z_i.

    A voter has more weight near anchors on which it was right: E_t[i] is `high` where voter t was
    right on anchor i and `low` where it was wrong. So w_t(x) = low A + (high - low) R_t, where A is
    the sum of g_i s(x, z_i) over all anchors and R_t that over the anchors where voter t was right.

    Parameters
    ----------
    n_features : int
        Columns of the table.
    columns : ndarray of shape (q,)
        Sorted columns the similarity reads.
    similarity : InverseDistance
    anchors : ndarray of shape (m, q)
        Training rows on those columns only.
    anchor_weight : ndarray of shape (m,)
        g: the number of rows that each anchor counts for.
    right : ndarray of shape (m, ceil(T / 8)), uint8
        Bits of which voter was right where, eight voters a byte, the first in the highest bit.
    voters : int
        T, `n_voters`; model files have it under this name.
    low, high : float
        The two values of expertise.
    rows : ndarray of shape (m,)
        Identifiers of the anchors: positions in the training table, or its own row names.
    anchor_class : ndarray of shape (m,)
        Index of each anchor's class.
    """

    tag: ClassVar[str] = "local"
    n_features: int
    columns: part.Columns
    similarity: InverseDistance
    anchors: Nullable
    anchor_weight: Floats
    right: NDArray[np.uint8]
    voters: int
    low: float
    high: float
    rows: NDArray[Any]
    anchor_class: Indices

    def __post_init__(self) -> None:
        check_part(self)
        m = len(self.anchors)
        check(m > 0 and self.anchors.shape == (m, len(self.columns)), "anchors have other columns")
        check(self.anchor_weight.shape == (m,), "anchors and their weights differ in number")
        check(self.anchor_weight > 0, "anchor weights are not positive")
        finite = not np.isinf(self.anchors).any() and np.isfinite(self.anchor_weight).all()
        check(finite, "anchors or their weights are infinite")
        check(self.voters >= 0, "a number of voters is negative")
        check(self.right.shape == (m, (self.voters + 7) // 8), "the bit table has another shape")
        check(self.rows.shape == (m,) == self.anchor_class.shape, "anchors lack names or classes")
        check(self.anchor_class >= 0, "anchor classes are negative")
        check(len(self.similarity.column_scale) == len(self.columns), "column scales are missing")
        check(0 < self.low <= self.high < np.inf, "expertise is not positive")

    @property
    def n_voters(self) -> int:
        return self.voters

    @property
    def was_right(self) -> NDArray[np.bool_]:
        """Return the (m, T) mask of which voter was right at which anchor."""
        return np.unpackbits(self.right, axis=1, count=self.voters).astype(bool)

    @property
    def expertise(self) -> Floats:
        """Return the (m, T) expertise."""
        return np.where(self.was_right, self.high, self.low)

    @cached_property
    def _operation(self) -> distance_weights.DistanceWeights:
        s = self.similarity
        scales = s.column_scale, s.is_category
        distance = Distance.of_cases(self, self.anchors, *scales, absent=s.absent)
        profile = distance_weights.InversePower(s.a, s.b, s.scale, s.per_query)
        table = distance_weights.RightOrWrong(self.right, self.voters, self.low, self.high)
        return distance_weights.DistanceWeights(distance, profile, self.anchor_weight, table)

    def relative(self, X: Floats) -> tuple[Floats, Floats]:
        if not fused():
            return self.lowered().relative(X)
        total, where_right, log_scale = self._summed(X, self.was_right)
        return self.low * total[:, None] + (self.high - self.low) * where_right, log_scale

    def nearest(self, voters: Any, target: Any, X: Floats, k: int) -> distance_weights.Nearest:
        check(self.anchor_class.max() < target.n_classes, "anchors do not fit the classes")
        order, apart, share = self.lowered().nearest_points(X, k)
        return distance_weights.Nearest(
            order,
            apart,
            share,
            self.rows[order],
            target.classes.astype(str)[self.anchor_class][order],
            "Weights here depend on the case: a voter weighs more where it was right about these.",
        )

    def named_rows(self, names: Array) -> Self:
        return replace(self, rows=named_of(self.rows, names))

    def training_rows(self) -> int:
        """Return the number of training rows kept; prototypes (row -1) do not count."""
        return int((self.rows != -1).sum()) if self.rows.dtype.kind == "i" else len(self.rows)

    def take(self, voters: Indices) -> Self:
        right = np.packbits(self.was_right[:, voters], axis=1)
        return replace(self, voters=len(voters), right=right)


@register
class LocalRelevance(part.ReadsLike, _Expertise):
    """Local expertise of any size: w_t(x) = sum_i g_i s(x, z_i) E_t[i] over the anchors z_i.

    The expertise of `Local` has two values, for right and wrong; here it is any number.

    Parameters
    ----------
    local : Local
        A part without voters: the anchors, their weights g and the similarity s.
    relevance : ndarray of shape (m, T)
        E, at least 0.
    """

    tag: ClassVar[str] = "local relevance"
    read_by: ClassVar[str] = "local"
    local: Local
    relevance: Floats

    def __post_init__(self) -> None:
        check_part(self)
        check(self.local.n_voters == 0, "the part with the anchors has voters")
        m = len(self.local.anchors)
        check(self.relevance.ndim == 2 and len(self.relevance) == m, "relevance is not (m, T)")
        check(self.relevance >= 0, "relevance is negative")

    @property
    def n_voters(self) -> int:
        return self.relevance.shape[1]

    @property
    def similarity(self) -> InverseDistance:
        """Return s."""
        return self.local.similarity

    @property
    def anchors(self) -> Floats:
        """Return the (m, q) anchors, on the columns the similarity reads."""
        return self.local.anchors

    @property
    def anchor_weight(self) -> Floats:
        """Return g, (m,)."""
        return self.local.anchor_weight

    @property
    def anchor_class(self) -> Indices:
        """Return the index of each anchor's class, (m,)."""
        return self.local.anchor_class

    @property
    def expertise(self) -> Floats:
        """Return E, (m, T)."""
        return self.relevance

    @cached_property
    def _operation(self) -> distance_weights.DistanceWeights:
        return replace(self.local.lowered(), table=distance_weights.Degrees(self.relevance))

    def relative(self, X: Floats) -> tuple[Floats, Floats]:
        if not fused():
            return self.lowered().relative(X)
        return self._summed(X, self.relevance)[1:]

    def nearest(self, voters: Any, target: Any, X: Floats, k: int) -> distance_weights.Nearest:
        meaning = "Weights here depend on the case: a voter weighs more where it was relevant."
        return self.local.nearest(voters, target, X, k)._replace(meaning=meaning)

    def named_rows(self, names: Array) -> Self:
        return replace(self, local=self.local.named_rows(names))

    def training_rows(self) -> int:
        return self.local.training_rows()

    def take(self, voters: Indices) -> Self:
        return replace(self, relevance=self.relevance[:, voters])


@register
class Neighbours(part.ReadsColumns, WeighedAsLowered):
    """w_t(x) = 1 if training case t is among the k nearest of x, else 0.

    Distances are Euclidean over the columns P that both rows have, ``sqrt(q / |P| * sum)`` of
    squared differences, where numbers are divided by their column's scale and categories differ by
    0 or 1. Rows with no column in common are at distance `absent`, and are not neighbours if it is
    infinite. Of equally near cases the first in the table are used. Other metrics need rows without
    missing values, and no categories.

    Parameters
    ----------
    n_features : int
        Columns of the table.
    columns : ndarray of shape (q,)
        Sorted columns the distance reads.
    cases : ndarray of shape (m, q)
        All training cases, NaN where missing.
    voter : ndarray of shape (T,)
        The case of each voter.
    k : int
    by_distance : bool
        Whether a neighbour's weight is 1 / distance; if some are at distance 0, only they have
        weight.
    column_scale : ndarray of shape (q,)
    is_category : ndarray of shape (q,), bool
    absent : float
    metric : str, default='euclidean'
        One of `METRICS`, as scikit-learn and SciPy name them.
    mass : ndarray of shape (m,), default=empty
        Number of cases that each case counts for; 1 if empty. The nearest are then used until their
        total mass is k, the last in part.
    needed : bool, default=False
        Whether a row without any neighbour raises, as for regression; otherwise no voter has weight
        there.
    """

    tag: ClassVar[str] = "neighbours"
    weighs_few: ClassVar[bool] = True
    n_features: int
    columns: part.Columns
    cases: Nullable
    voter: Indices
    k: int
    by_distance: bool
    column_scale: AnySize
    is_category: NDArray[np.bool_]
    absent: _Size
    metric: str = "euclidean"
    mass: Floats = field(default_factory=lambda: np.empty(0))
    needed: bool = False

    def __post_init__(self) -> None:
        check_part(self)
        check(self.metric in METRICS, f"unknown metric {self.metric!r}")
        m, q = len(self.cases), len(self.columns)
        check(self.cases.shape == (m, q), "cases have another shape")
        check(not np.isinf(self.cases).any(), "a case is infinite")
        check(self.voter.ndim == 1 and len(self.voter) > 0, "voters are not in a row")
        check_within(self.voter, m, "a voter is not a case")
        check(self.mass.shape in ((0,), (m,)), "cases and their mass differ in number")
        check(self.mass > 0, "the mass of a case is not positive")
        known = self.mass.sum() if len(self.mass) else m
        check(1 <= self.k <= known, "there are fewer cases than neighbours")
        shapes = self.column_scale.shape == self.is_category.shape == (q,)
        check(shapes, "scales and columns differ in number")
        check_scale(self.column_scale)
        check(self.absent >= 0, "a distance is negative")

    @property
    def n_voters(self) -> int:
        return len(self.voter)

    def found(
        self, X: Floats, k: int | None = None, own: Any = None, n_jobs: int | None = None
    ) -> tuple[Indices, Floats]:
        """Return the k nearest cases of each row of X, (n, p), and their distances, nearest first.

        `own` (n,) are cases to leave out, each row's own. Cases that are not neighbours have an
        infinite distance.

        Raises
        ------
        PsephosError
            If a distance is beyond the range of float64.
        """
        read, distance = np.ascontiguousarray(X[:, self.columns]), self.lowered().distance
        distance.refuse_far(read)
        order, apart = self._found(read, self.k if k is None else k, own, n_jobs)
        row, place = np.nonzero(~np.isfinite(apart))
        both = ~(np.isnan(read[row]) | np.isnan(self.cases[order[row, place]])).all(axis=1)
        if both.any():
            raise far_error(read[row[both.argmax()]])
        return order, apart

    @cached_property
    def _operation(self) -> distance_weights.DistanceWeights:
        scales = self.column_scale, self.is_category
        size = float(np.abs(np.nan_to_num(self.cases) / self.column_scale).max(initial=0.0))
        distance = Distance.of_cases(
            self, self.cases, *scales, absent=self.absent, metric=self.metric,
            farthest=max(_FAR, size * _FARTHER),
        )  # fmt: skip
        profile = distance_weights.NearestK(self.k, self.by_distance, self.needed)
        mass = self.mass if len(self.mass) else np.ones(len(self.cases))
        return distance_weights.DistanceWeights(
            distance, profile, mass, distance_weights.OwnPoint(self.voter)
        )

    def _found(self, read: Floats, k: int, own: Any, n_jobs: int | None) -> tuple[Indices, Floats]:
        left = np.full(len(read), -1) if own is None else np.asarray(own)
        order, apart = np.empty((len(read), k), dtype=np.intp), np.empty((len(read), k))
        plain, scale = self._plain or not fused(), self.column_scale
        every = np.isnan(read).any(axis=1) | plain
        some, rest = np.flatnonzero(~every), np.flatnonzero(every)
        if len(some):
            from psephos.kernels.prediction.similarity import nearest_cases

            found = nearest_cases(read[some] / scale, self.cases / scale, k, left[some], n_jobs)
            order[some], apart[some] = found
        step = max(1, _CELLS // len(self.cases))
        for start in range(0, len(rest), step):
            rows = rest[start : start + step]
            far = np.sqrt(self.lowered().distance.squares(read[rows]))
            there = np.flatnonzero(left[rows] >= 0)
            far[there, left[rows][there]] = np.nan  # sorted after infinite distances
            order[rows] = np.argsort(far, axis=1, kind="stable")[:, :k]
            apart[rows] = np.take_along_axis(far, order[rows], axis=1)
        return order, apart

    @cached_property
    def _plain(self) -> bool:
        """Return whether all distances are computed and sorted, not screened by matrix products.

        True if a case has a missing value, a column is a category, the metric is not Euclidean, or
        there are few cases. This depends on the cases only: otherwise the number of rows could
        change rounding, and so the order of equally near cases.
        """
        few = self.metric != "euclidean" or len(self.cases) <= _FEW
        return bool(few or self.is_category.any() or np.isnan(self.cases).any())

    def counted(
        self, X: Floats, own: Any = None, n_jobs: int | None = None
    ) -> tuple[Indices, Floats, Floats]:
        """Return the nearest cases of each row, their distances, and their counted masses.

        A case of `own` has its mass reduced by 1.
        """
        if not len(self.mass):
            order, apart = self.found(X, own=own, n_jobs=n_jobs)
            return order, apart, (apart < np.inf).astype(np.float64)
        width, most = self.k, len(self.cases)
        while True:
            order, apart = self.found(X, min(width, most), n_jobs=n_jobs)
            mass = np.where(apart < np.inf, self.mass[order], 0.0)
            if own is not None:
                mass = np.maximum(mass - (order == np.asarray(own)[:, None]), 0.0)
            before = np.cumsum(mass, axis=1) - mass
            counts = np.clip(self.k - before, 0.0, mass)
            enough = (counts.sum(axis=1) >= self.k * (1 - 1e-12)) | np.isinf(apart[:, -1])
            if width >= most or enough.all():
                return order, apart, counts
            width *= 2

    def _raw(self, X: Floats) -> tuple[Indices, Floats, Floats]:
        """Return the nearest cases of each row, their distances and raw weights."""
        order, apart, counts = self.counted(X)
        return (
            order,
            apart,
            distance_weights.NearestK(self.k, self.by_distance, self.needed).weighed(apart, counts),
        )

    def relative(self, X: Floats) -> tuple[Floats, Floats]:
        order, _, raw = self._raw(X)
        out = np.zeros((len(X), len(self.cases)))
        np.put_along_axis(out, order, raw, axis=1)
        return out[:, self.voter], np.zeros(len(X))

    def sums_with(self, voters: Any) -> Any:
        """Return a function of rows to (sums, mass) over the k nearest; None if unsupported.

        part.Voters must be all training cases in their order.
        """
        every = np.arange(len(self.cases))
        same = isinstance(voters, CaseVoters) and np.array_equal(self.voter, every)
        if not same or voters.n_voters != len(every):
            return None

        def sums(X: Floats) -> tuple[Floats, Floats]:
            order, _, raw = self._raw(X)
            total = np.zeros((len(X), voters.values.shape[1]))
            for i in range(order.shape[1]):
                total += raw[:, i, None] * voters.values[order[:, i]]
            return total, raw.sum(axis=1)

        return sums

    def weighed(self, X: Floats) -> Indices:
        """Return the indices of voters that are a neighbour of some row of X, rising."""
        order, _, raw = self._raw(X)
        return np.flatnonzero(np.isin(self.voter, order[raw > 0]))

    def mean_share(self) -> Floats:
        """Return each voter's share of the weight over the training cases."""
        read = np.zeros((len(self.cases), self.n_features))
        read[:, self.columns] = self.cases
        order, _, raw = self._raw(read)
        total = np.bincount(order.ravel(), raw.ravel(), len(self.cases))[self.voter]
        return total / total.sum() if total.any() else np.full(self.n_voters, 1 / self.n_voters)

    def nearest(
        self, voters: part.Voters, target: AnyTarget, X: Floats, k: int
    ) -> distance_weights.Nearest | None:
        """Return the nearest neighbours of each row of X, shape (n, p)."""
        order, apart, raw = self._raw(X)
        total = raw.sum(axis=1, keepdims=True)
        found = order[:, :k], apart[:, :k], (raw / np.where(total > 0, total, 1.0))[:, :k]
        return distance_weights.cases_near(self.voter, voters, target, found)

    def kept_cases(self) -> Floats:
        return self.cases

    def training_rows(self) -> int:
        return len(self.cases)

    def take(self, voters: Indices) -> Self:
        """Return the weights of these voters; the k nearest are still those of all cases."""
        return replace(self, voter=self.voter[voters])
