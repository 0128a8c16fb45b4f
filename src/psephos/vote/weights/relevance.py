"""Local expertise in numbers: how relevant each voter is to each anchor, by any function."""

from dataclasses import dataclass, replace
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray

from psephos.kernels.prediction.similarity import local_sums
from psephos.vote.codec import register
from psephos.vote.marks import Marks
from psephos.vote.part import ReadsLike, Weighting, check, check_part, usage_of_all
from psephos.vote.weights.local import Local, Nearest
from psephos.vote.weights.similarity import InverseDistance

_Floats = NDArray[np.float64]


@register
@dataclass(frozen=True)
class LocalRelevance(ReadsLike, Weighting):
    """Local expertise of any size: w_t(x) = sum_i g_i s(x, z_i) E_t[i] over the anchors z_i.

    `Local` stores an expertise that has two values, for right and wrong; this is for all others.

    Parameters
    ----------
    local : Local
        Of no voters: the anchors, their weights g and the similarity s.
    relevance : ndarray of shape (m, T)
        E, at least 0.
    """

    tag: ClassVar[str] = "local relevance"
    read_by: ClassVar[str] = "local"
    local: Local
    relevance: _Floats

    def __post_init__(self) -> None:
        check_part(self)
        check(self.local.n_voters == 0, "the anchors of numbers have voters")
        m = len(self.local.anchors)
        table = self.relevance.ndim == 2 and len(self.relevance) == m
        check(table, "relevance is not a row an anchor")
        check(bool((self.relevance >= 0).all()), "relevance is negative")

    @property
    def n_voters(self) -> int:
        return self.relevance.shape[1]

    @property
    def similarity(self) -> InverseDistance:
        """Return s."""
        return self.local.similarity

    @property
    def anchors(self) -> _Floats:
        """Return the (m, q) anchors, on the columns the similarity reads."""
        return self.local.anchors

    @property
    def anchor_weight(self) -> _Floats:
        """Return g, (m,)."""
        return self.local.anchor_weight

    @property
    def anchor_class(self) -> NDArray[np.intp]:
        """Return the index of each anchor's class, (m,)."""
        return self.local.anchor_class

    @property
    def expertise(self) -> _Floats:
        """Return E, (m, T), as `Local` has it."""
        return self.relevance

    def relative(self, X: _Floats) -> tuple[_Floats, _Floats]:
        a, s = self.local, self.local.similarity
        _, weights, log_scale = local_sums(
            np.ascontiguousarray(X[:, self.columns], dtype=np.float64), a.anchors, s.metric,
            s.kernel, a.anchor_weight, self.relevance, s.per_query,
        )  # fmt: skip
        return weights, log_scale

    def weights(self, X: _Floats) -> _Floats:
        relative, log_scale = self.relative(X)
        with np.errstate(over="ignore"):
            return relative * np.exp(log_scale)[:, None]

    def mean_share(self) -> _Floats:
        """Return each voter's share of the relevance over all anchors."""
        total = self.local.anchor_weight @ self.relevance
        return total / total.sum() if total.any() else np.full(len(total), 1 / max(1, len(total)))

    def words(self) -> str:
        return self.local.words()

    def nearest(self, voters: Any, target: Any, X: _Floats, k: int) -> Nearest:
        meaning = "Weights here depend on the case: a voter weighs more where it was relevant."
        return self.local.nearest(voters, target, X, k)._replace(meaning=meaning)

    def kept_cases(self) -> _Floats:
        return self.anchors

    def local_similarity(self) -> InverseDistance:
        return self.similarity

    def anchor_scores(self, voters: Any) -> _Floats:
        votes = voters.select(self.columns).votes(self.local.anchors)
        return np.einsum("mt,mtk->mk", self.relevance, votes)

    def usage(self) -> Any:
        return usage_of_all(self)

    def divided(self, X: _Floats, size: _Floats, centre: _Floats) -> _Floats:
        """Return (n, p): sizes (n, T) divided by each column's part of the distance."""
        return self.local.divided(X, size, centre)

    def named_rows(self, names: NDArray[Any]) -> Self:
        return replace(self, local=self.local.named_rows(names))

    def marks(self) -> Marks:
        """Return (columns, values) about the range of the anchors."""
        return self.local.marks()

    def training_rows(self) -> int:
        return self.local.training_rows()

    def take(self, voters: NDArray[np.intp]) -> Self:
        return replace(self, relevance=self.relevance[:, voters])
