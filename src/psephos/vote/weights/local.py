"""Local expertise: voters have more weight on cases like those on which they were right."""

from dataclasses import replace
from functools import cached_property
from typing import Any, ClassVar, Self

import numpy as np

from psephos._types import Array, Floats, Indices, NDArray
from psephos.files.field_types import AnySize, Nullable
from psephos.kernels.prediction import fused
from psephos.vote.codec import register
from psephos.vote.lowered import WeighedAsLowered
from psephos.vote.operations import distance_weights
from psephos.vote.operations.distance import Distance, check_scale
from psephos.vote.part import Columns, ReadsColumns, ReadsLike, Voters, check, check_part, named_of


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

    columns: Columns | Any
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

    def anchor_scores(self, voters: Voters) -> Floats:
        votes = voters.select(self.columns).votes(self.anchors)
        return np.einsum("mt,mtk->mk", self.expertise, votes)


@register
class Local(ReadsColumns, _Expertise):
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
    columns: Columns
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
class LocalRelevance(ReadsLike, _Expertise):
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
