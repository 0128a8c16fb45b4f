"""Local expertise: voters weigh more on a case where they were right on similar training rows."""

from dataclasses import dataclass, replace
from typing import Any, ClassVar, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray

from psephos.files.field_types import Nullable
from psephos.kernels.prediction.similarity import distances, local_sums, similarities
from psephos.vote.codec import register
from psephos.vote.marks import Marks, range_marks
from psephos.vote.part import (
    Columns,
    ReadsColumns,
    Weighting,
    check,
    check_part,
    named_of,
    usage_of_all,
)
from psephos.vote.weights.similarity import InverseDistance

_Floats = NDArray[np.float64]
_MOST = np.finfo(np.float64).max  # what a distance beyond float64 counts as


class Nearest(NamedTuple):
    """The training cases of greatest weight for each case, all (n, k).

    Position among those the weights keep, distance, share of the total weight, name or position
    in the training table, and class (or number) in words. `meaning` says what they are to the vote.
    """

    anchor: NDArray[np.intp]
    distance: _Floats
    share: _Floats
    row: NDArray[Any]
    answer: NDArray[Any]
    meaning: str


@register
@dataclass(frozen=True)
class Local(ReadsColumns, Weighting):
    """Local expertise: w_t(x) = sum_i g_i s(x, z_i) E_t[i] over the anchors z_i.

    A voter weighs more near anchors it was right on: E_t[i] is `high` where voter t was right on
    anchor i and `low` where it was wrong. So w_t(x) = low A + (high - low) R_t, where A is the sum
    of g_i s(x, z_i) over all anchors and R_t that over the anchors where voter t was right.

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
        g: how often each row counts.
    right : ndarray of shape (m, ceil(T / 8)), uint8
        The bit table of who was right where, eight voters a byte, first voter in the highest bit.
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
    anchor_weight: _Floats
    right: NDArray[np.uint8]
    voters: int
    low: float
    high: float
    rows: NDArray[Any]
    anchor_class: NDArray[np.intp]

    def __post_init__(self) -> None:
        check_part(self)
        m = len(self.anchors)
        check(m > 0 and self.anchors.shape == (m, len(self.columns)), "anchors have other columns")
        check(self.anchor_weight.shape == (m,), "anchors and their weights differ in number")
        check(bool((self.anchor_weight > 0).all()), "anchor weights are not positive")
        finite = not np.isinf(self.anchors).any() and np.isfinite(self.anchor_weight).all()
        check(bool(finite), "anchors or their weights are infinite")
        check(self.voters >= 0, "a number of voters is negative")
        check(self.right.shape == (m, (self.voters + 7) // 8), "the bit table has another shape")
        check(self.rows.shape == (m,) == self.anchor_class.shape, "anchors lack names or classes")
        check(bool((self.anchor_class >= 0).all()), "anchor classes are negative")
        check(len(self.similarity.column_scale) == len(self.columns), "column scales are missing")
        check(0 < self.low <= self.high < np.inf, "expertise is not positive")

    @property
    def n_voters(self) -> int:
        return self.voters

    @property
    def was_right(self) -> NDArray[np.bool_]:
        """Return the (m, T) truth table of who was right where."""
        bits = np.unpackbits(self.right, axis=1, count=self.voters)
        return bits.astype(bool)

    @property
    def expertise(self) -> _Floats:
        """Return the (m, T) expertise."""
        return np.where(self.was_right, self.high, self.low)

    def _read(self, X: _Floats) -> _Floats:
        read = X if len(self.columns) == X.shape[1] else X[:, self.columns]
        return np.ascontiguousarray(read, dtype=np.float64)

    def relative(self, X: _Floats) -> tuple[_Floats, _Floats]:
        s = self.similarity
        total, where_right, log_scale = local_sums(
            self._read(X),
            self.anchors,
            s.metric,
            s.kernel,
            self.anchor_weight,
            self.was_right,
            s.per_query,
        )
        return self.low * total[:, None] + (self.high - self.low) * where_right, log_scale

    def weights(self, X: _Floats) -> _Floats:
        relative, log_scale = self.relative(X)
        with np.errstate(over="ignore"):
            return relative * np.exp(log_scale)[:, None]

    def mean_share(self) -> _Floats:
        """Return each voter's share of the expertise over all anchors."""
        total = self.anchor_weight @ self.expertise
        return total / total.sum()

    def words(self) -> str:
        return "weights by local expertise"

    def nearest(self, voters: Any, target: Any, X: _Floats, k: int) -> Nearest:
        inside = self.anchor_class.max() < target.n_classes
        check(bool(inside), "anchors do not fit the classes")
        s, read = self.similarity, self._read(X)
        metric, by = s.metric, s.per_query
        distance = np.minimum(distances(read, self.anchors, metric), _MOST)
        share = similarities(read, self.anchors, metric, s.kernel, self.anchor_weight, by)
        share *= self.anchor_weight
        share /= share.sum(axis=1, keepdims=True)
        order = np.argsort(-share, axis=1, kind="stable")[:, :k]
        pick = np.take_along_axis
        return Nearest(
            order,
            pick(distance, order, 1),
            pick(share, order, 1),
            self.rows[order],
            target.classes.astype(str)[self.anchor_class][order],
            "Weights here depend on the case: a voter weighs more where it was right about these.",
        )

    def kept_cases(self) -> _Floats:
        return self.anchors

    def local_similarity(self) -> InverseDistance:
        return self.similarity

    def anchor_scores(self, voters: Any) -> _Floats:
        votes = voters.select(self.columns).votes(self.anchors)
        return np.einsum("mt,mtk->mk", self.expertise, votes)

    def usage(self) -> Any:
        return usage_of_all(self)

    def divided(self, X: _Floats, size: _Floats, centre: _Floats) -> _Floats:
        """Return (n, p): sizes (n, T) divided by each column's part of the distance.

        It is the squared distance, as the similarity measures it, of a row from the row of column
        means (for a category, from the most frequent one).
        """
        s = self.similarity
        away = self._read(X) - centre[self.columns]
        out = np.zeros((len(X), self.n_features))
        out[:, self.columns] = divided_by_distance(away, size, s.column_scale, s.is_category)
        return out

    def named_rows(self, names: NDArray[Any]) -> Self:
        return replace(self, rows=named_of(self.rows, names))

    def marks(self) -> Marks:
        """Return (columns, values) about the range of the anchors."""
        return range_marks(self.columns, self.anchors, self.similarity.is_category)

    def training_rows(self) -> int:
        """Return how many rows of the training table are kept; prototypes (row -1) are none."""
        return int((self.rows != -1).sum()) if self.rows.dtype.kind == "i" else len(self.rows)

    def take(self, voters: NDArray[np.intp]) -> Self:
        right = np.packbits(self.was_right[:, voters], axis=1)
        return replace(self, voters=len(voters), right=right)


def divided_by_distance(
    away: _Floats, size: _Floats, scale: _Floats, is_category: NDArray[np.bool_]
) -> _Floats:
    """Return (n, q): the sizes (n, T) divided by each column's part of a squared distance.

    `away` (n, q) are rows less what they are compared with; NaN where either is missing. `scale`
    and `is_category` are (q,).
    """
    part = np.where(is_category, away != 0, (away / scale) ** 2)
    part[np.isnan(away)] = 0.0
    total = part.sum(axis=1, keepdims=True)
    moved = size.sum(axis=1, keepdims=True)
    return part * np.divide(moved, total, out=np.zeros_like(total), where=total > 0)
