"""Weightings: constant, by output, by available columns, by the confidence of voters."""

from dataclasses import replace
from typing import Any, ClassVar, Self

import numpy as np

from psephos._errors import PsephosError
from psephos._types import Floats, Indices, NDArray, Usage
from psephos.files.names import percent
from psephos.vote import part
from psephos.vote.codec import register
from psephos.vote.target import AnyTarget


@register
class Available(part.ReadsColumns, part.Weighting):
    """w_t(x) = alpha_t where every column that voter t reads has a value in x, else 0.

    The models of a library vote if their columns were measured. On each case only the lowest tier
    with such a voter has weight: voters of a higher tier, the reserve, vote where none of the
    chosen can, and a voter that reads no column (the training prior) where no other can.

    Parameters
    ----------
    n_features : int
        Columns of the table.
    columns : ndarray of shape (q,)
        Sorted columns that some voter reads.
    reads : ndarray of shape (T, q), bool
        The columns that each voter reads.
    alpha : ndarray of shape (T,)
        Positive weights.
    tier : ndarray of shape (T,), intp
        At least 0.
    loudest : bool
        Whether only the voter of greatest alpha (the first of equals) has weight among them.
    partly : ndarray of shape (T,), bool, default=None
        Voters that can vote if any column they read has a value, rather than all. None: no voter.
    """

    tag: ClassVar[str] = "available"
    n_features: int
    columns: part.Columns
    reads: NDArray[np.bool_]
    alpha: Floats
    tier: Indices
    loudest: bool = False
    partly: NDArray[np.bool_] | None = None

    def __post_init__(self) -> None:
        part.check_part(self)
        t = len(self.alpha)
        part.check(self.alpha.ndim == 1, "alpha is not (T,)")
        part.check(np.isfinite(self.alpha).all() and (self.alpha > 0).all(), "alpha is not above 0")
        part.check(self.reads.shape == (t, len(self.columns)), "reads has another shape")
        part.check(self.tier.shape == (t,), "tiers and weights differ in number")
        part.check(self.tier >= 0, "a tier is negative")
        part.check(self.partly is None or self.partly.shape == (t,), "partly has another shape")

    @property
    def n_voters(self) -> int:
        return len(self.alpha)

    def available(self, X: Floats) -> NDArray[np.bool_]:
        """Return the mask, (n, T), of voters whose columns have values in rows of X, (n, p)."""
        missing = np.isnan(X[:, self.columns])
        can = np.ones((len(X), self.n_voters), dtype=bool)
        gaps = np.flatnonzero(missing.any(axis=1))
        if len(gaps):
            wanted = missing[gaps].astype(np.float32) @ self.reads.T.astype(np.float32)
            can[gaps] = wanted == 0
            if self.partly is not None:
                can[gaps] |= self.partly & (wanted < self.reads.sum(axis=1))
        return can

    def weights(self, X: Floats) -> Floats:
        can = self.available(X)
        none = self.tier.max(initial=0) + 1
        first = np.where(can, self.tier, none).min(axis=1, initial=none)
        weights = np.where(can & (self.tier == first[:, None]), self.alpha, 0.0)
        if self.loudest:
            weights[np.arange(self.n_voters) != weights.argmax(axis=1)[:, None]] = 0.0
        return weights

    def mean_share(self) -> Floats:
        """Return each voter's share of the weight on a case without missing values."""
        whole = self.weights(np.zeros((1, self.n_features)))[0]
        return whole / whole.sum()

    def words(self) -> str:
        if self.loudest:
            return "the best whose columns were measured"
        if self.partly is not None and self.partly.any():
            return "those whose columns were measured, or any of them where some will do"
        return "those whose columns were measured"

    def reserve(self) -> NDArray[np.bool_]:
        """Return the mask of voters above the lowest tier."""
        return self.tier > self.tier.min()

    def primary_voters(self) -> Indices:
        """Return the voters that a complete case needs, and those for a case without any value.

        The first are the voters of the lowest usable tier that read no column beyond those of the
        voters with weight on a complete case.
        """
        some = self.weights(np.zeros((1, self.n_features)))[0] > 0
        none = self.weights(np.full((1, self.n_features), np.nan))[0] > 0
        more = self.reads & ~self.reads[some].any(axis=0)
        first = self.tier == self.tier[some].min(initial=0)
        return np.flatnonzero((first & ~more.any(axis=1)) | none)

    def usage(self) -> Usage:
        """Return the (T, p) table: a weight depends on the columns that its voter reads."""
        return part.usage_at(self, *np.nonzero(self.reads))

    def take(self, voters: Indices) -> Self:
        reads = self.reads[voters]
        kept = np.flatnonzero(reads.any(axis=0))
        return replace(
            self,
            columns=self.columns[kept],
            reads=np.ascontiguousarray(reads[:, kept]),
            alpha=self.alpha[voters],
            tier=self.tier[voters],
            partly=None if self.partly is None else self.partly[voters],
        )


class _Alpha(part.ReadsNothing, part.Weighting):
    """Base class of weights that read no column, in the field `alpha`, (T,) or (T, K)."""

    alpha: Floats

    @property
    def n_voters(self) -> int:
        return len(self.alpha)

    def mean_share(self) -> Floats:
        """Return each voter's share of the total weight, of all outputs or if all are confident."""
        size = np.abs(self.alpha).reshape(len(self.alpha), -1).sum(axis=1)
        return size / size.sum()

    def take(self, voters: Indices) -> Self:
        own: Any = self
        return replace(own, alpha=self.alpha[voters])


@register
class Constant(_Alpha):
    """w_t(x) = alpha_t for every case, as in boosting.

    Parameters
    ----------
    n_features : int
        Columns of the table; none is read.
    alpha : ndarray of shape (T,)
        Of either sign where the score is a sum; at least 0 with another read-out.
    """

    tag: ClassVar[str] = "constant"
    n_features: int
    alpha: Floats

    def __post_init__(self) -> None:
        part.check_part(self)
        part.check(self.alpha.ndim == 1, "alpha is not (T,)")
        size = np.abs(self.alpha)
        with np.errstate(over="ignore"):
            total = size.sum()
        part.check(np.isfinite(total) and (size > 0).any(), "alpha's sum is not finite, or zero")

    def fits(self, target: AnyTarget, is_sum: bool) -> str:
        if is_sum or (self.alpha >= 0).all():
            return ""
        return "a weight is below 0, which only a sum of votes can use"

    def weights(self, X: Floats) -> Floats:
        return np.broadcast_to(self.alpha, (len(X), len(self.alpha)))

    def words(self) -> str:
        return "constant weights"


_ROUNDING = 1e-12


class _OfVotes(_Alpha):
    """Base class of weights that depend on the votes; `asks` returns the columns involved."""

    needs_votes: ClassVar[bool] = True

    def weights(self, X: Floats) -> Floats:
        """Raise PsephosError: such weights are computed by `of_votes`."""
        raise PsephosError("these weights depend on the votes: call Vote.weights instead.")


@register
class OutputWeights(_OfVotes):
    """w_tk for every case: one weight per voter and output, such as those of a stacker.

    Parameters
    ----------
    n_features : int
        Columns of the table; none is read.
    alpha : ndarray of shape (T, K)
    """

    tag: ClassVar[str] = "by output"
    n_features: int
    alpha: Floats

    def __post_init__(self) -> None:
        part.check_part(self)
        part.check(self.alpha.ndim == 2, "alpha is not (T, K)")
        size = np.abs(self.alpha)
        part.check(np.isfinite(size).all() and (size > 0).any(), "alpha is not finite, or zero")

    def fits(self, target: AnyTarget, is_sum: bool) -> str:
        if self.alpha.shape[1] != target.n_outputs:
            return "weights and outputs differ in number"
        return "" if is_sum else "only sums take a weight for each output"

    def of_votes(self, votes: Floats, target: AnyTarget) -> Floats:
        """Return the (n, T, K) weights."""
        return np.broadcast_to(self.alpha, votes.shape)

    def words(self) -> str:
        return "weights by output"


@register
class ConfidenceGate(_OfVotes):
    """w_t(x) = alpha_t where voter t is confident enough of its vote on x, else 0.

    In a cascade (``first=True``) only the first confident voter has weight, or the last that does
    not abstain if none is confident. In a gate (``first=False``) all confident voters have weight,
    or all voters if none is.

    Parameters
    ----------
    n_features : int
        Columns of the table; the weights read none, but depend on all that the voters read.
    alpha : ndarray of shape (T,)
        Positive.
    threshold : ndarray of shape (T,)
        The probability (0 to 1) from which each voter is confident enough; see `certainty`.
    rank : ndarray of shape (T,), intp
        The order of voters in a cascade.
    first : bool
        Whether it is a cascade.
    """

    tag: ClassVar[str] = "confidence"
    n_features: int
    alpha: Floats
    threshold: Floats
    rank: Indices
    first: bool

    def __post_init__(self) -> None:
        part.check_part(self)
        t = len(self.alpha)
        shapes = (self.alpha.shape, self.threshold.shape, self.rank.shape)
        part.check(shapes == ((t,),) * 3, "weights and thresholds differ in number")
        positive = (self.alpha > 0).all() and np.isfinite(self.alpha).all()
        part.check(t > 0 and bool(positive), "alpha is not above 0")
        sound = ((self.threshold >= 0) & (self.threshold <= 1)).all()
        part.check(sound, "a threshold is not a probability")
        part.check(len(np.unique(self.rank)) == t, "two voters have one rank")

    def fits(self, target: AnyTarget, is_sum: bool) -> str:
        return "numbers have no probability" if target.kind == "regression" else ""

    def of_votes(self, votes: Floats, target: AnyTarget) -> Floats:
        """Return the (n, T) weights of votes of shape (n, T, K)."""
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
        """Return the (T, p) table of the columns on which each weight depends.

        Whether a voter has weight depends on all votes: on those before it in a cascade, and on
        those after it if none is confident.
        """
        all_voters: Any = part.sparse.csr_array(np.ones((self.n_voters, self.n_voters), dtype=bool))
        return (all_voters @ usage).astype(bool)

    def words(self) -> str:
        if self.n_voters == 1:
            return "constant weights"
        least = np.unique(self.threshold)
        bound = percent(least[0])
        sure = f"{bound} sure" if len(least) == 1 else f"{bound} to {percent(least[-1])} sure"
        if self.first:
            return f"the first that is at least {sure}, else the last"
        return f"those at least {sure}, or all where none is"

    def take(self, voters: Indices) -> Self:
        """Return the weights of these voters; a cascade keeps their order."""
        alpha, threshold, rank = self.alpha[voters], self.threshold[voters], self.rank[voters]
        return replace(self, alpha=alpha, threshold=threshold, rank=rank)


def certainty(votes: Floats, target: AnyTarget) -> Floats:
    """Return the probability of each voter's predicted class, (n, T); 0 where it abstains.

    Votes (n, T, K) are mean codes of classes: the probability is ((K - 1) max v + 1) / K, which is
    (1 + abs(v)) / 2 for two classes; for multilabel targets it is the least over the labels. Larger
    votes, such as log-odds, have the probability 1.
    """
    k = target.n_classes
    if target.kind == "multilabel":
        sure = (1.0 + np.abs(votes).min(axis=2)) / 2.0
    elif k == 2:
        sure = (1.0 + np.abs(votes[:, :, 0])) / 2.0
    else:
        sure = ((k - 1) * votes.max(axis=2) + 1.0) / k
    return np.where((votes != 0).any(axis=2), np.clip(sure, 0.0, 1.0), 0.0)
