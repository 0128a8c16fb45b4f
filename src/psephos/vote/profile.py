"""Summaries of the training columns of a vote, each by itself: they reveal no training row."""

from dataclasses import field, replace
from typing import Any, ClassVar, Self

import numpy as np

from psephos._types import Floats, Indices, NDArray
from psephos.files.field_types import Nullable
from psephos.vote.codec import register
from psephos.vote.part import check, check_columns, check_part, check_ptr

LEVELS = (0.0, 0.1, 0.25, 0.5, 0.75, 0.9, 1.0)  # quantiles that are kept


@register
class Profile:
    """A summary of each training column that a vote reads, from at most 512 evenly spaced rows.

    Validation compares a cohort with it, and `next_column` draws missing measurements from it.

    Parameters
    ----------
    n_rows : int
        Number of rows that were summarised.
    missing : ndarray of shape (q,)
        Share of them without a value.
    quantiles : ndarray of shape (q, 7)
        The least value, the quantiles 0.1, 0.25, 0.5, 0.75 and 0.9 (linear between values), and
        the greatest value; NaN for a column of categories or without values.
    mean, spread : ndarray of shape (q,)
        Mean and standard deviation (divisor n - 1; 0 for one value); NaN for the same columns.
    category : ndarray of shape (c,), intp
        Positions of columns of categories.
    ptr : ndarray of shape (c + 1,), intp
        Where the shares of each begin.
    share : ndarray
        The share of each level among the rows with a value.
    mass : ndarray of shape (7,) or (0,), default=empty
        The same quantiles of the total weight of a row, if training cases vote or weights depend
        on them.
    """

    tag: ClassVar[str] = "profile of columns"
    n_rows: int
    missing: Floats
    quantiles: Nullable
    mean: Nullable
    spread: Nullable
    category: Indices
    ptr: Indices
    share: Floats
    mass: Nullable = field(default_factory=lambda: np.empty(0))

    def __post_init__(self) -> None:
        check_part(self)
        q, c = len(self.missing), len(self.category)
        check(self.n_rows > 0, "a profile of no rows")
        check(self.missing.ndim == 1 and self.quantiles.shape == (q, len(LEVELS)), "quantiles")
        check(self.mean.shape == self.spread.shape == (q,), "means of other columns")
        check_columns(self.category, q)
        check_ptr(self.ptr, c, len(self.share), "shares of levels")
        with np.errstate(invalid="ignore"):
            check(not bool((np.diff(self.quantiles, axis=1) < 0).any()), "quantiles fall")
        check((self.missing >= 0) & (self.missing <= 1), "a share of missing values")
        check(self.share >= 0, "a share of a level")
        check(self.mass.shape in ((0,), (len(LEVELS),)), "a mass")

    @property
    def n_columns(self) -> int:
        """Return q."""
        return len(self.missing)

    def levels(self, column: int) -> Floats | None:
        """Return the shares of the levels of the column at a position; None of numbers."""
        at = int(np.searchsorted(self.category, column))
        if at == len(self.category) or self.category[at] != column:
            return None
        return self.share[self.ptr[at] : self.ptr[at + 1]]

    def take(self, kept: NDArray[np.bool_]) -> Self:
        """Return the profile of some of the columns."""
        stays = kept[self.category]
        sizes = np.diff(self.ptr)
        place = np.cumsum(kept) - 1
        return replace(
            self,
            missing=self.missing[kept],
            quantiles=np.ascontiguousarray(self.quantiles[kept]),
            mean=self.mean[kept],
            spread=self.spread[kept],
            category=place[self.category[stays]].astype(np.intp),
            ptr=np.concatenate([[0], np.cumsum(sizes[stays])]).astype(np.intp),
            share=self.share[np.repeat(stays, sizes)],
        )

    def points(self, column: int, n: int) -> tuple[Floats, Floats]:
        """Return values of a column and their probabilities: its levels, or n quantiles.

        Quantiles are interpolated between those that are kept; a column without values has none.
        """
        shares = self.levels(column)
        if shares is not None:
            some = np.flatnonzero(shares > 0)
            return np.asarray(some, dtype=np.float64), shares[some]
        known = self.quantiles[column]
        if np.isnan(known).any():
            return np.empty(0), np.empty(0)
        at = (np.arange(n) + 0.5) / n
        between: Any = np.interp
        values: Floats = between(at, LEVELS, known)
        return values, np.full(n, 1.0 / n)


def profile_of(X: Floats, is_category: NDArray[np.bool_]) -> Profile:
    """Return the profile of the columns of training rows (n, q); categories are codes."""
    known = ~np.isnan(X)
    count = known.sum(axis=0)
    numbers = np.flatnonzero((count > 0) & ~is_category)
    quantiles = np.full((X.shape[1], len(LEVELS)), np.nan)
    mean, spread = np.full(X.shape[1], np.nan), np.full(X.shape[1], np.nan)
    with np.errstate(over="ignore", invalid="ignore"):  # values may be as large as floats go
        quantiles[numbers] = _quantiles(X[:, numbers], count[numbers])
        if len(numbers):
            part = X[:, numbers]
            mean[numbers] = np.nanmean(part, axis=0)
            several = count[numbers] > 1
            spread[numbers] = 0.0
            spread[numbers[several]] = np.nanstd(part[:, several], axis=0, ddof=1)
    for table in (quantiles, mean, spread):
        table[np.isinf(table)] = np.nan
    category = np.flatnonzero(is_category)
    counts: list[Any] = [np.bincount(X[known[:, j], j].astype(np.intp)) for j in category.tolist()]
    sizes = [len(one) for one in counts]
    shares = [one / max(int(one.sum()), 1) for one in counts]
    return Profile(
        n_rows=len(X),
        missing=1.0 - count / len(X),
        quantiles=quantiles,
        mean=mean,
        spread=spread,
        category=category.astype(np.intp),
        ptr=np.concatenate([[0], np.cumsum(sizes)]).astype(np.intp),
        share=np.concatenate([np.empty(0), *shares]),
    )


def _quantiles(X: Floats, count: Indices) -> Floats:
    """Return the interpolated quantiles, (q, 7), of columns that have `count` values each."""
    ordered = np.sort(X, axis=0)  # missing values come last
    found: list[Floats] = []
    for level in LEVELS:
        at = level * (count - 1)
        low = np.floor(at).astype(np.intp)
        high = np.minimum(low + 1, count - 1)
        below: Floats = np.take_along_axis(ordered, low[None], axis=0)[0]
        above: Floats = np.take_along_axis(ordered, high[None], axis=0)[0]
        between: Floats = below + (at - low) * (above - below)
        found.append(np.where(low == high, below, between))
    return np.maximum.accumulate(np.stack(found, axis=1), axis=1)
