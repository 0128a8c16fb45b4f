"""Bins of columns from mergeable weighted quantile summaries of their blocks."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Self

import numpy as np

from psephos._errors import PsephosError
from psephos._types import Array, ArrayLike, Floats, NDArray
from psephos.kernels.binned_trees.bins import code_values, even_bins
from psephos.runtime.jit import run_blocks
from psephos.trees.bins import MAX_BINS, category_bins, code_categories
from psephos.trees.newton_grow import edges
from psephos.trees.out_of_core.rows import weights_of

_LEAST = 1 << 11  # least number of points: fewer would not save time
_BUFFER = 8  # buffered rows per point kept: sorting is faster than merging


@dataclass(frozen=True, eq=False)
class QuantileSummary:
    """A summary of weighted numbers from which ranks are computed with a known error.

    Of data D with total weight w(D), it keeps values x_1 < ... < x_k, including the least and the
    greatest, each with a weight. Let R(x) be the sum of the weights kept up to x. The error of the
    summary is the least eps with, for every x::

        0 <= weight of D up to x - R(x) <= eps w(D)

    A summary of all rows has error 0; merging gives the larger error of the two; pruning to 2 b
    points adds at most 1 / b. The error of any sequence of merges and prunes, over blocks of a file
    or over machines, is therefore known.

    Parameters
    ----------
    points : ndarray of shape (2, k)
        Values (ascending) and weights; `of` builds a summary from data.

    References
    ----------
    Chen & Guestrin (2016), "XGBoost: a scalable tree boosting system", KDD, supplement A, whose
    summaries bound ranks from both sides. Greenwald & Khanna (2001), SIGMOD. Zhang & Wang (2007),
    SSDBM.

    Examples
    --------
    >>> from psephos.trees.out_of_core.bins import QuantileSummary
    >>> left = QuantileSummary.of([1.0, 2.0, 2.0], [1.0, 0.5, 0.5])
    >>> both = left.merge(QuantileSummary.of([5.0]))
    >>> both.values.tolist(), both.total
    ([1.0, 2.0, 5.0], 3.0)
    """

    points: Floats

    @classmethod
    def of(cls, values: ArrayLike, weights: ArrayLike | None = None) -> Self:
        """Return the exact summary of rows.

        Parameters
        ----------
        values : array-like of shape (n,)
            Missing (NaN) rows are left out.
        weights : array-like of shape (n,), default=None
            None is 1 for every row. Rows of weight 0 are left out.
        """
        return cls.of_known(*_known(values, weights))

    @classmethod
    def of_known(cls, values: Array, weights: Floats | None = None) -> Self:
        """Return the exact summary of finite values of positive weights."""
        if weights is None:
            values, weights = np.sort(values), np.ones(len(values))
        else:
            order = np.argsort(values, kind="stable")  # equal values: in the order of the rows
            values, weights = values[order], weights[order]
        first = np.flatnonzero(np.append(True, values[1:] != values[:-1])[: len(values)])
        own = np.add.reduceat(weights, first) if len(first) else weights
        return cls(np.stack([values[first].astype(np.float64), own]))

    @property
    def values(self) -> Floats:
        """Return the kept values, ascending."""
        return self.points[0]

    @property
    def total(self) -> float:
        """Return the weight of all rows."""
        return float(np.cumsum(self.points[1])[-1]) if len(self) else 0.0

    def __len__(self) -> int:
        return self.points.shape[1]

    def merge(self, other: "QuantileSummary") -> "QuantileSummary":
        """Return the summary of the rows of both."""
        if not len(self) or not len(other):
            return other if len(other) else self
        return QuantileSummary.of_known(*np.concatenate([self.points, other.points], axis=1))

    def prune(self, b: int) -> "QuantileSummary":
        """Return a summary of at most 2 b points, of an error greater by at most 1 / b.

        Of the points whose cumulative weights lie in the same of b equal parts of the total, the
        first and the last are kept; the last gets the weight of those between.
        """
        if len(self) <= 2 * b:
            return self
        upto = np.cumsum(self.points[1])
        ends = np.diff(np.ceil(upto * (b / upto[-1]))) > 0
        kept = np.append(True, ends) | np.append(ends, True)
        return QuantileSummary(np.stack([self.values[kept], np.diff(upto[kept], prepend=0.0)]))

    def bins(self, max_bins: int) -> tuple[Floats, Floats]:
        """Return the least and the greatest kept value of each of at most `max_bins` bins.

        If there are at most as many kept values as bins, each has its own. Otherwise bins are
        filled in order, each until its weight is nearest to an equal share of the remaining weight:
        a frequent value has its own bin, and the others share the rest.
        """
        if len(self) <= max_bins:
            return self.values, self.values
        least, greatest = np.empty((2, max_bins))
        n = even_bins(*self.points, len(self), self.total, max_bins, least, greatest)
        return least[:n], greatest[:n]


def _known(
    values: ArrayLike, weights: ArrayLike | None
) -> tuple[Array, NDArray[np.float64] | None]:
    """Return the values and weights of rows that count, after checks."""
    x = np.asarray(values)
    if x.dtype not in (np.float32, np.float64):
        x = x.astype(np.float64)
    w = weights_of(0, weights)
    if x.ndim != 1 or (w is not None and w.shape != x.shape):
        raise PsephosError(
            "a summary needs one column, with a weight for each row; got values of shape "
            f"{x.shape} and weights of shape {None if w is None else w.shape}."
        )
    known = ~np.isnan(x)
    if w is not None:
        known &= w > 0.0
        w = w[known] if not known.all() else w
    x = x[known] if not known.all() else x
    infinite = np.flatnonzero(np.isinf(x))
    if len(infinite):
        raise PsephosError(
            f"a value is infinite (row {int(np.flatnonzero(known)[infinite[0]])}): replace it by "
            "a number, or by NaN if it is missing."
        )
    return x, w


@dataclass
class SummaryStream:
    """A summary of a stream of rows with a given error, in bounded memory.

    Rows are buffered, 8 b at a time; a full buffer is sorted and pruned to 2 b points (level 1).
    Two summaries of one level are merged and pruned to one of the next level. A row is pruned once
    per level, so that with b = ceil(levels / eps) the error is at most eps. The result depends on
    the rows and their order, but not on the blocks in which they come.
    """

    eps: float  # greatest error, as a share of the total weight
    # expected number of rows, which sets the number of levels; with more rows, each further level
    # adds eps / levels to the error
    max_rows: int = 1 << 32
    b: int = field(init=False)
    _levels: list[QuantileSummary | None] = field(init=False, default_factory=list)
    _waiting: list[tuple[Array, NDArray[np.float64] | None]] = field(
        init=False, default_factory=list
    )
    _n_waiting: int = field(init=False, default=0)

    def __post_init__(self) -> None:
        levels = 1
        while _BUFFER * self._size(levels) * 2 ** (levels - 1) < self.max_rows:
            levels += 1
        self.b = self._size(levels)

    def _size(self, levels: int) -> int:
        return max(math.ceil(levels / self.eps), _LEAST)

    def push(self, values: ArrayLike, weights: ArrayLike | None = None) -> None:
        """Add rows; see `QuantileSummary.of`."""
        x, w = _known(values, weights)
        full = _BUFFER * self.b
        while len(x):
            take = min(len(x), full - self._n_waiting)
            # copied, so that the buffer does not keep the caller's block in memory
            self._waiting.append((x[:take].copy(), None if w is None else w[:take].copy()))
            self._n_waiting += take
            x, w = x[take:], None if w is None else w[take:]
            if self._n_waiting == full:
                full_one = self._exact().prune(self.b)
                self._waiting, self._n_waiting = [], 0
                self._carry(full_one)

    def _exact(self) -> QuantileSummary:
        """Return the exact summary of the waiting rows."""
        x = np.concatenate([np.empty(0, np.float32), *(part for part, _ in self._waiting)])
        if all(w is None for _, w in self._waiting):
            return QuantileSummary.of_known(x)
        ones = [np.ones(len(part)) if w is None else w for part, w in self._waiting]
        return QuantileSummary.of_known(x, np.concatenate(ones))

    def _carry(self, summary: QuantileSummary) -> None:
        for level, other in enumerate(self._levels):
            if other is None:
                self._levels[level] = summary
                return
            self._levels[level] = None
            summary = other.merge(summary).prune(self.b)
        self._levels.append(summary)

    def summary(self) -> QuantileSummary:
        """Return the summary of all rows so far; more can be added."""
        whole = self._exact()
        for other in self._levels:
            whole = whole if other is None else other.merge(whole)
        return whole


_BINS = 256


@dataclass(frozen=True)
class BlockBins:
    """The bins of a table's columns."""

    # (p,); bins of known values, also the code of a missing value; negative: of categories
    n_bins: NDArray[np.int64]
    # (p, 256); a code of at most b is ``value < cuts[j, b]``; the last cut is above all values
    cuts: NDArray[np.float64]
    # (n_codes,) uint8 each; the bin of each code of a categorical column
    categories: Mapping[int, NDArray[np.uint8]] = field(
        default_factory=dict[int, NDArray[np.uint8]]
    )

    @classmethod
    def of(
        cls, summaries: Sequence[QuantileSummary], max_bin: int = 256,
        mass: Mapping[int, Floats] | None = None,
    ) -> Self:  # fmt: skip
        """Return bins of nearly equal weight.

        `max_bin`: bins of a column, including that of missing values. `mass`: the weight of the
        rows of each code of a categorical column, whose summary is empty.
        """
        if not 3 <= max_bin <= _BINS:
            raise PsephosError(f"max_bin must be from 3 to {_BINS}; got {max_bin}.")
        found = [s.bins(min(max_bin - 1, MAX_BINS)) for s in summaries]
        n_bins = np.array([len(low) for low, _ in found], dtype=np.int64)
        low, high = np.full((2, len(found), _BINS), np.nan)
        for j, (lows, highs) in enumerate(found):
            low[j, : len(lows)], high[j, : len(highs)] = lows, highs
        maps = {j: category_bins(own) for j, own in (mass or {}).items()}
        for j, one in maps.items():
            n_bins[j] = -int(one.max(initial=0)) - 1
        return cls(n_bins, edges(low, high, n_bins), maps)

    def codes(self, columns: Array, n_jobs: int | None = None) -> NDArray[np.uint8]:
        """Return the (p, m) bins of values (p, m)."""
        out = np.empty(columns.shape, dtype=np.uint8)

        def work(j: int) -> None:
            if j in self.categories:
                code_categories(columns[j], self.categories[j], out[j])
                return
            padded, inner = np.full(_BINS, np.inf), max(int(self.n_bins[j]) - 1, 0)
            # value >= cut is value > the number before the cut
            padded[:inner] = np.nextafter(self.cuts[j, :inner], -np.inf)
            code_values(columns[j], padded, int(self.n_bins[j]), out[j])

        run_blocks(work, len(columns), n_jobs)
        return out
