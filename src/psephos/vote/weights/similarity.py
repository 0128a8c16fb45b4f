"""Similarities between a case and the anchors: frozen data, evaluated by compiled kernels."""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from psephos.files.field_types import AnySize
from psephos.kernels.prediction.similarity import InverseKernel, Metric
from psephos.vote.codec import register
from psephos.vote.part import check, check_part


@register
@dataclass(frozen=True)
class InverseDistance:
    """SamBA's similarity, s(x, z) = 1 / (a^b + (d(x, z) / scale)^b) (seed paper, equation 1).

    d is Euclidean over the q columns both rows have: sqrt(q/|P| * sum of squared differences over
    P, the columns present in both), each number divided by its column's scale, a category
    differing by 0 or 1. It is computed by differences, so identical rows are at exactly zero. Two
    rows with no column in common are at distance `absent`.

    Parameters
    ----------
    a : float
        Distance floor (smoothness); at 0 only the anchors that coincide with a case count.
    b : float
        Locality.
    scale : float
        Divides every distance.
    per_query : bool
        Divide the distances of each case by their sum over the anchors instead of by `scale`.
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
        check(
            bool(((self.column_scale > 0) & (self.column_scale < np.inf)).all()),
            "a column scale is not positive",
        )
        numbers = (self.a, self.b, self.scale, self.absent)
        check(all(0 <= v < np.inf for v in numbers), "similarity is not finite")
        check(self.per_query in (True, False), "per_query is not a truth value")
        check(self.scale > 0 and self.b > 0, "similarity has no scale")

    @property
    def metric(self) -> Metric:
        """Return the distance as the kernels take it."""
        return Metric(self.column_scale, self.is_category, self.absent)

    @property
    def kernel(self) -> InverseKernel:
        """Return the parameters of the weight as the kernels take them."""
        return InverseKernel(self.a, self.b, self.scale)
