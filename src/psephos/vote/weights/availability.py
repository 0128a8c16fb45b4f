"""Weights of voters that count only where the columns they read were measured."""

from dataclasses import dataclass, replace
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray

from psephos.vote.codec import register
from psephos.vote.part import Columns, ReadsColumns, Weighting, check, check_part, usage_at

_Floats = NDArray[np.float64]


@register
@dataclass(frozen=True)
class Available(ReadsColumns, Weighting):
    """w_t(x) = alpha_t where every column voter t reads has a value in x, else 0.

    A gate on what was measured: of a library of small models, those vote whose columns are there.
    Voters stand in tiers: on each case only the lowest tier with such a voter has weight. So a
    reserve votes where none of the chosen can, and a voter that reads nothing (the training prior)
    where no other can.

    Parameters
    ----------
    n_features : int
        Columns of the table.
    columns : ndarray of shape (q,)
        Sorted columns that some voter reads.
    reads : ndarray of shape (T, q), bool
        Who reads which of them.
    alpha : ndarray of shape (T,)
        Positive weights.
    tier : ndarray of shape (T,), intp
        Not negative.
    loudest : bool
        Whether of those voters only the one of greatest alpha has weight (the first of equals).
    partly : ndarray of shape (T,), bool, default=None
        Voters that count where any column they read has a value, not all: they know what to say
        where some are missing. None: no voter is such.
    """

    tag: ClassVar[str] = "available"
    n_features: int
    columns: Columns
    reads: NDArray[np.bool_]
    alpha: _Floats
    tier: NDArray[np.intp]
    loudest: bool = False
    partly: NDArray[np.bool_] | None = None

    def __post_init__(self) -> None:
        check_part(self)
        t = len(self.alpha)
        check(self.alpha.ndim == 1, "alpha is not (T,)")
        check(
            bool(np.isfinite(self.alpha).all() and (self.alpha > 0).all()), "alpha is not above 0"
        )
        check(self.reads.shape == (t, len(self.columns)), "who reads what has another shape")
        check(self.tier.shape == (t,), "tiers and weights differ in number")
        check(bool((self.tier >= 0).all()), "a tier is negative")
        same = self.partly is None or self.partly.shape == (t,)
        check(same, "who needs not all has another shape")

    @property
    def n_voters(self) -> int:
        return len(self.alpha)

    def available(self, X: _Floats) -> NDArray[np.bool_]:
        """Return (n, T): which voters have what they need in each row of X, shape (n, p)."""
        missing = np.isnan(X[:, self.columns])
        can = np.ones((len(X), self.n_voters), dtype=bool)
        gaps = np.flatnonzero(missing.any(axis=1))
        if len(gaps):
            wanted = missing[gaps].astype(np.float32) @ self.reads.T.astype(np.float32)
            can[gaps] = wanted == 0
            if self.partly is not None:
                can[gaps] |= self.partly & (wanted < self.reads.sum(axis=1))
        return can

    def weights(self, X: _Floats) -> _Floats:
        can = self.available(X)
        none = self.tier.max(initial=0) + 1
        first = np.where(can, self.tier, none).min(axis=1, initial=none)
        weights = np.where(can & (self.tier == first[:, None]), self.alpha, 0.0)
        if self.loudest:
            others = np.arange(self.n_voters) != weights.argmax(axis=1)[:, None]
            weights[others] = 0.0
        return weights

    def mean_share(self) -> _Floats:
        """Return each voter's share of the weight where nothing is missing."""
        whole = self.weights(np.zeros((1, self.n_features)))[0]
        return whole / whole.sum()

    def words(self) -> str:
        if self.loudest:
            return "the best whose columns were measured"
        if self.partly is not None and self.partly.any():
            return "those whose columns were measured, or any of them where some will do"
        return "those whose columns were measured"

    def reserve(self) -> NDArray[np.bool_]:
        """Return which voters stand above the lowest tier."""
        return self.tier > self.tier.min()

    def primary_voters(self) -> NDArray[np.intp]:
        """Return the voters that a complete case needs, and those left where all is missing.

        Of the tier that has weight where nothing is missing, those that read no more columns than
        the voters with weight there; and those with weight where all is missing.
        """
        some = self.weights(np.zeros((1, self.n_features)))[0] > 0
        none = self.weights(np.full((1, self.n_features), np.nan))[0] > 0
        more = self.reads & ~self.reads[some].any(axis=0)
        first = self.tier == self.tier[some].min(initial=0)
        return np.flatnonzero((first & ~more.any(axis=1)) | none)

    def usage(self) -> Any:
        """Return the (T, p) table: a voter's weight depends on the columns it reads itself."""
        return usage_at(self, *np.nonzero(self.reads))

    def take(self, voters: NDArray[np.intp]) -> Self:
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
