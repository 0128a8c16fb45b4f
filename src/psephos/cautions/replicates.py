"""Rows that are replicates of each other: nearer than rows of such a table are by chance.

For two rows, q of a column is the share of random pairs of rows whose values are at least as close.
The closeness of the rows is the sum of -log q over the columns without its two smallest terms,
since a replicate may differ in one or two columns. For random pairs that sum has about a gamma
distribution; its mean and variance are estimated from them, so that columns may be dependent.
Replicates are pairs so close that less than one would be expected in twenty such tables. They must
also be 1.45 times as close as 99 % of the other candidates, because the tail of that distribution
is only approximate.

Where the columns depend strongly on each other, as those of spectra do, two rows that are close in
one are close in all, and the sum is not informative. The test is then repeated on the leading
principal components of the columns.
"""

import numpy as np
from scipy.special import gammaincc

from psephos._types import Floats, Indices, NDArray

_PAIRS, _MOST_COLUMNS = 4096, 256  # number of random pairs; maximum number of columns
# Random sets of columns in which neighbours are searched, the size of a set, the neighbours of
# a row, and the rows from which there are a third as many sets.
_SUBSETS, _TREE, _NEAR, _LONG = 16, 8, 3, 1000
_EQUAL, _SHARE = 3, 0.25  # minimum number and share of columns in which other candidates are equal
_LEAST_COLUMNS, _CHANCE = 4, 0.05
_FARTHEST = 16.0  # maximum of -log q
_COMMON = 0.5  # median share of the commonest value of a column in a table that is mostly empty
_ROUNDED = 1e-5  # distance from 1 of the correlation of a column with itself in another unit
_TIMES = 1.45  # closeness relative to the 99th percentile of the other candidates
# Components: how many; tested if the effective number of columns is below this share of them,
# this share of their values differs, and there are at least this many columns; rows per component.
_COMPONENTS, _WORTH, _DIFFERENT, _WIDE, _ROWS = 16, 0.2, 0.5, 32, 3


def replicates(X: Floats, seed: int = 0) -> list[tuple[int, int]]:
    """Return pairs of rows that are replicates, the first row before the second.

    Parameters
    ----------
    X : ndarray of shape (n, p)
        NaN where missing.
    seed : int, default=0
    """
    rng = np.random.default_rng(seed)
    varying = np.flatnonzero(
        np.nanmax(X, axis=0, initial=-np.inf) > np.nanmin(X, axis=0, initial=np.inf)
    )
    if len(varying) < _LEAST_COLUMNS or len(X) < 10:
        return []
    if len(varying) > _MOST_COLUMNS:
        varying = np.sort(rng.choice(varying, _MOST_COLUMNS, replace=False))
    kept = X[:, varying]
    kept = kept[:, ~_again(kept)]
    if kept.shape[1] < _LEAST_COLUMNS:
        return []
    found, worth = _close_pairs(kept, rng)
    if kept.shape[1] >= _WIDE and worth < _WORTH * kept.shape[1] and _differ(kept) > _DIFFERENT:
        common = np.array([_commonest(column) for column in kept.T])
        more = _close_pairs(_components(kept), rng)[0]
        found |= {pair for pair in more if (kept[pair[0]] != common).mean() > _DIFFERENT}
    return sorted(found)


def _again(X: Floats) -> NDArray[np.bool_]:
    """Return a mask of columns that equal an earlier one in another unit, up to rounding."""
    scores = np.nan_to_num((X - np.nanmean(X, axis=0)) / np.nanstd(X, axis=0))
    scores /= np.sqrt((scores**2).sum(axis=0))
    return np.triu(np.abs(scores.T @ scores) > 1 - _ROUNDED, 1).any(axis=0)


def _close_pairs(X: Floats, rng: np.random.Generator) -> tuple[set[tuple[int, int]], float]:
    """Return the pairs of replicates, and the effective number of independent columns of X."""
    pairs = _candidates(X, rng)
    i = rng.integers(len(X), size=_PAIRS)
    j = (i + rng.integers(1, len(X), size=_PAIRS)) % len(X)
    closeness = _Closeness(X, np.abs(X[i] - X[j]))
    usual = closeness.of(np.abs(X[i] - X[j]))
    mean, high = np.quantile(usual, (0.5, 0.9))  # replicates among them would change the variance
    variance = ((high - mean) / 1.2816) ** 2
    if variance == 0 or mean == 0:
        return set(), X.shape[1]
    found = closeness.of(np.abs(X[pairs[:, 0]] - X[pairs[:, 1]]))
    chance = gammaincc(mean**2 / variance, found * mean / variance) * len(X) * (len(X) - 1) / 2
    close = chance < _CHANCE
    others = found[~close]
    if len(others):
        close &= found > _TIMES * np.quantile(others, 0.99)
    close &= _alike_where_rare(X, pairs)
    return {(a, b) for a, b in pairs[close].tolist()}, mean**2 / variance


def _differ(X: Floats) -> float:
    """Return the share of rows with distinct values, the median over columns."""
    ordered = np.sort(X, axis=0)
    return float(np.median((np.diff(ordered, axis=0) > 0).mean(axis=0)))


def _components(X: Floats) -> Floats:
    """Return the leading principal components of the standardised columns."""
    scores = X - np.nanmean(X, axis=0)
    scores = np.nan_to_num(scores / np.nanstd(scores, axis=0))
    first = min(_COMPONENTS, len(X) // _ROWS)
    return scores @ np.linalg.eigh(scores.T @ scores)[1][:, -first:]


def _alike_where_rare(X: Floats, pairs: Indices) -> NDArray[np.bool_]:
    """Return which pairs may be replicates in a table most of which is one value, such as 0.

    Any two rows are close there. Of the values where neither row has the common one, more than half
    and more than four must be equal.
    """
    common = np.array([_commonest(column) for column in X.T])
    same = common == X
    if np.median(same.mean(axis=0)) < _COMMON:
        return np.ones(len(pairs), dtype=bool)
    first, second = (X[pairs[:, k]] for k in (0, 1))
    rare = ~same[pairs[:, 0]] & ~same[pairs[:, 1]]
    return (rare & (first == second)).sum(axis=1) > np.maximum(rare.sum(axis=1) / 2, _LEAST_COLUMNS)


def _commonest(column: Floats) -> float:
    values, counts = np.unique(column[~np.isnan(column)], return_counts=True)
    return float(values[counts.argmax()])


class _Closeness:
    """How rarely values of each column are so close."""

    def __init__(self, X: Floats, random: Floats):
        n = len(X)
        self._sorted = np.sort(random, axis=0)  # NaN last
        self._held = np.maximum((~np.isnan(random)).sum(axis=0), 1)
        counts = [np.unique(column[~np.isnan(column)], return_counts=True)[1] for column in X.T]
        ties = [int(((c - 1) * (c - 2)).sum()) for c in counts]  # beside those with one other row
        self._ties = np.maximum(ties, 2) / (n * (n - 1))

    def of(self, differences: Floats) -> Floats:
        """Return the sum of -log q over the columns, for each pair.

        The two smallest terms are left out; of 5 to 7 columns one, of fewer none.
        """
        out = np.zeros_like(differences)
        for k in range(differences.shape[1]):
            d, known = differences[:, k], self._sorted[: self._held[k], k]
            below = np.searchsorted(known, 0.0, side="right")  # as close as closest
            upto = np.searchsorted(known, d, side="right")
            first = known[min(below, len(known) - 1)]
            with np.errstate(divide="ignore", invalid="ignore"):
                closer = np.minimum(d / first, 1.0) if first > 0 else 1.0
            share = np.where(upto > below, upto, below + closer) / self._held[k]
            share = np.where(d == 0, self._ties[k], np.maximum(share, self._ties[k]))
            share = np.clip(share, np.exp(-_FARTHEST), 1.0)
            out[:, k] = np.where(np.isnan(d), 0.0, -np.log(share))
        cut = 0 if out.shape[1] < 5 else 1 if out.shape[1] < 8 else 2
        return np.sort(out, axis=1)[:, cut:].sum(axis=1)


def _candidates(X: Floats, rng: np.random.Generator) -> Indices:
    """Return pairs that are neighbours by ranks in some sets of columns, or equal in a quarter."""
    from scipy.spatial import KDTree  # slow to import, and predictions do not need it

    n, p = X.shape
    ends = [[np.searchsorted(np.sort(x), x, side) for side in ("left", "right")] for x in X.T]
    ranks = np.where(np.isnan(X), 0.5, np.sum(ends, axis=1).T / (2 * n))
    pairs: list[Indices] = []
    for _ in range(_SUBSETS if n < _LONG else _SUBSETS // 3):
        columns = rng.choice(p, min(p, max(3, min(_TREE, p // 2))), replace=False)
        near = KDTree(ranks[:, columns]).query(ranks[:, columns], k=_NEAR + 1)[1]
        pairs.append(np.column_stack([np.repeat(np.arange(n), _NEAR + 1), near.ravel()]))
    order = np.argsort(X, axis=0, kind="stable")
    equal, column = np.nonzero(np.diff(np.take_along_axis(X, order, axis=0), axis=0) == 0)
    beside = order[equal, column] * n + order[equal + 1, column]
    found, times = np.unique(beside, return_counts=True)
    found = found[times >= max(_EQUAL, p * _SHARE)]
    every = np.sort(np.concatenate([*pairs, np.stack(divmod(found, n), axis=1)]), axis=1)
    return np.unique(every[every[:, 0] != every[:, 1]], axis=0)
