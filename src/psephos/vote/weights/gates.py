"""Weights by output, and weights that depend on the votes."""

from dataclasses import dataclass, replace
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray

from psephos._errors import PsephosError
from psephos.vote.codec import register
from psephos.vote.names import percent
from psephos.vote.part import ReadsNothing, Weighting, check, check_part, sparse

_Floats = NDArray[np.float64]
_ROUNDING = 1e-12


class _OfVotes(ReadsNothing, Weighting):
    """Weights that are known only beside the votes; `asks` says which columns they depend on."""

    needs_votes: ClassVar[bool] = True

    def weights(self, X: _Floats) -> _Floats:
        """Refuse: the vote has them, from `of_votes`."""
        raise PsephosError("these weights need the votes: ask the vote for its weights.")


@register
@dataclass(frozen=True)
class OutputWeights(_OfVotes):
    """w_tk everywhere: one weight per voter and output, such as a stacker's, class by class.

    Parameters
    ----------
    n_features : int
        Columns of the table; none is read.
    alpha : ndarray of shape (T, K)
    """

    tag: ClassVar[str] = "by output"
    n_features: int
    alpha: _Floats

    def __post_init__(self) -> None:
        check_part(self)
        check(self.alpha.ndim == 2, "alpha is not (T, K)")
        size = np.abs(self.alpha)
        check(bool(np.isfinite(size).all() and (size > 0).any()), "alpha is not finite, or zero")

    @property
    def n_voters(self) -> int:
        return len(self.alpha)

    def fits(self, target: Any, is_sum: bool) -> str:
        if self.alpha.shape[1] != target.n_outputs:
            return "weights and outputs differ in number"
        return "" if is_sum else "only sums take a weight for each output"

    def of_votes(self, votes: _Floats, target: Any) -> _Floats:
        """Return the (n, T, K) weights."""
        return np.broadcast_to(self.alpha, votes.shape)

    def mean_share(self) -> _Floats:
        """Return each voter's share of the total weight of all outputs."""
        size = np.abs(self.alpha).sum(axis=1)
        return size / size.sum()

    def words(self) -> str:
        return "weights by output"

    def take(self, voters: NDArray[np.intp]) -> Self:
        return replace(self, alpha=self.alpha[voters])


@register
@dataclass(frozen=True)
class ConfidenceGate(_OfVotes):
    """w_t(x) = alpha_t where voter t is sure enough of its answer to x, else 0.

    A cascade (``first=True``) asks one voter after the other and stops at the first that is sure
    enough; the last that does not abstain answers where none is sure. A gate (``first=False``)
    weighs all that are sure enough, and all voters where none is.

    Parameters
    ----------
    n_features : int
        Columns of the table; the weights read none, but depend on all that the voters read.
    alpha : ndarray of shape (T,)
        Positive.
    threshold : ndarray of shape (T,)
        The probability (0 to 1) from which each voter is sure enough; see `certainty`.
    rank : ndarray of shape (T,), intp
        The order in which a cascade asks.
    first : bool
        Whether it is a cascade.
    """

    tag: ClassVar[str] = "confidence"
    n_features: int
    alpha: _Floats
    threshold: _Floats
    rank: NDArray[np.intp]
    first: bool

    def __post_init__(self) -> None:
        check_part(self)
        t = len(self.alpha)
        shapes = (self.alpha.shape, self.threshold.shape, self.rank.shape)
        check(all(shape == (t,) for shape in shapes), "weights and thresholds differ in number")
        positive = (self.alpha > 0).all() and np.isfinite(self.alpha).all()
        check(t > 0 and bool(positive), "alpha is not above 0")
        sound = ((self.threshold >= 0) & (self.threshold <= 1)).all()
        check(bool(sound), "a threshold is no probability")
        check(len(np.unique(self.rank)) == t, "two voters have one rank")

    @property
    def n_voters(self) -> int:
        return len(self.alpha)

    def fits(self, target: Any, is_sum: bool) -> str:
        return "numbers have no probability" if target.kind == "regression" else ""

    def of_votes(self, votes: _Floats, target: Any) -> _Floats:
        """Return the (n, T) weights beside votes of shape (n, T, K)."""
        sure = certainty(votes, target)
        counts = sure >= self.threshold - _ROUNDING
        counts &= sure > 0
        none = ~counts.any(axis=1)
        if not self.first:
            counts[none] = True
            return np.where(counts, self.alpha, 0.0)
        order = np.argsort(self.rank)
        place = counts[:, order].argmax(axis=1)
        last = len(order) - 1 - (sure[:, order] > 0)[:, ::-1].argmax(axis=1)
        voter = order[np.where(none, last, place)]
        weights = np.zeros(sure.shape)
        weights[np.arange(len(sure)), voter] = self.alpha[voter]
        return weights

    def asks(self, usage: Any) -> Any:
        """Return the (T, p) table of the columns that each weight depends on.

        Whether a voter has weight depends on all votes: on those before it in a cascade, on those
        after it where none is sure.
        """
        all_voters: Any = sparse.csr_array(np.ones((self.n_voters, self.n_voters), dtype=bool))
        return (all_voters @ usage).astype(bool)

    def mean_share(self) -> _Floats:
        """Return each voter's share of the weight where all are sure enough."""
        return self.alpha / self.alpha.sum()

    def words(self) -> str:
        if self.n_voters == 1:
            return "constant weights"
        least = np.unique(self.threshold)
        bound = percent(least[0])
        sure = f"{bound} sure" if len(least) == 1 else f"{bound} to {percent(least[-1])} sure"
        if self.first:
            return f"the first that is at least {sure}, else the last"
        return f"those at least {sure}, or all where none is"

    def take(self, voters: NDArray[np.intp]) -> Self:
        """Return these voters' weights only; a cascade asks them in the same order."""
        alpha, threshold, rank = self.alpha[voters], self.threshold[voters], self.rank[voters]
        return replace(self, alpha=alpha, threshold=threshold, rank=rank)


def certainty(votes: _Floats, target: Any) -> _Floats:
    """Return the probability that each voter gives its answer, (n, T); 0 where it abstains.

    Votes (n, T, K) are means of the codes of classes: ((K - 1) max v + 1) / K, which is (1 +
    abs(v)) / 2 for two classes; of several labels a row it is that of the label it is least sure
    of. Larger votes, such as log-odds, are as sure as can be.
    """
    k = target.n_classes
    if target.kind == "multilabel":
        sure = (1.0 + np.abs(votes).min(axis=2)) / 2.0
    elif k == 2:
        sure = (1.0 + np.abs(votes[:, :, 0])) / 2.0
    else:
        sure = ((k - 1) * votes.max(axis=2) + 1.0) / k
    return np.where((votes != 0).any(axis=2), np.clip(sure, 0.0, 1.0), 0.0)
