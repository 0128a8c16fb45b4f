"""Importance of columns: how much each one moves the score, over training rows."""

from dataclasses import replace
from typing import Any, ClassVar, NamedTuple, Self

import numpy as np

from psephos._types import Floats, Indices, NDArray, sparse
from psephos.vote.codec import register
from psephos.vote.part import Columns, check, check_part, evenly, over_outputs
from psephos.vote.profile import LEVELS, Profile, profile_of

_ROWS, _FEWEST = 512, 32  # training rows that importance is measured on
_NUMBERS = 1 << 20  # of them: 8 MiB
_BLOCK = 1 << 20  # numbers in one (rows, columns) or (rows, voters, outputs) block


@register
class Baseline:
    """Training means of a fitted vote, from which importance is measured.

    Parameters
    ----------
    centre : ndarray of shape (q,)
        The training mean of each column that the vote reads; of a category the most frequent code.
    votes : ndarray of shape (T, K)
        The mean vote of each voter.
    weights : ndarray of shape (T,)
        Its mean weight, as the score uses it.
    importance : ndarray of shape (q,)
        The importance of each column that is read; the sum is 1, or 0 if no column moves the score.
    profile : Profile, default=None
        A summary of each column that is read; older files have none.
    """

    tag: ClassVar[str] = "baseline"
    centre: Floats
    votes: Floats
    weights: Floats
    importance: Floats
    profile: Profile | None = None

    def __post_init__(self) -> None:
        check_part(self)
        arrays = (self.centre, self.votes, self.weights, self.importance)
        check(all(bool(np.isfinite(a).all()) for a in arrays), "a training mean is not finite")
        flat = self.centre.ndim == self.weights.ndim == self.importance.ndim == 1
        check(flat and self.votes.ndim == 2, "training means have another shape")
        check(self.importance >= 0, "an importance is below 0")
        same = self.profile is None or self.profile.n_columns == len(self.centre)
        check(same, "a profile of other columns")

    def check_vote(self, vote: Any) -> None:
        """Raise PsephosError unless these are the means of this vote."""
        shape = (vote.n_voters, vote.target.n_outputs)
        fits = self.votes.shape == shape and self.weights.shape == shape[:1]
        check(fits, "training means of other voters")
        read = self.centre.shape == self.importance.shape == vote.columns.shape
        check(read, "training means of other columns")

    def primary(self, vote: Any) -> Self:
        """Return the means of `vote.primary()`, from those of `vote`.

        The importance is that of the whole vote, normalised over the remaining columns.
        """
        voters, kept = vote.primary_voters(), np.isin(vote.columns, vote.used)
        importance = self.importance[kept]
        total = importance.sum()
        return replace(
            self,
            centre=self.centre[kept],
            votes=self.votes[voters],
            weights=self.weights[voters],
            importance=importance / total if total > 0 else importance,
            profile=None if self.profile is None else self.profile.take(kept),
        )


class SampleRows(NamedTuple):
    """Evenly spaced training rows in the columns that a vote reads, for its importance."""

    columns: Columns  # (c,), sorted
    values: Floats  # (n, c)
    labels: Floats | None = None  # (n,), classes as indices; None if unknown
    total: int = 0  # number of rows that were sampled
    several: bool = False  # several calls of partial_fit, which may have repeated rows

    @classmethod
    def of(cls, vote: Any, X: Any, y: Any = None) -> Self:
        """Return at most 512 rows of a training table (n, p), fewer if there are many columns.

        `vote` None reads all columns; y (n,), if given, are the labels as numbers.
        """
        every = np.arange(int(X.shape[1]), dtype=np.intp)
        columns: Columns = every if vote is None else vote.columns
        rows = evenly_spaced(X.shape[0], most_rows(len(columns)))
        if sparse.issparse(X):
            part: Any = X.tocsr()[rows][:, columns].toarray()
        else:  # copies only these
            part = X[np.ix_(rows, columns)]
        labels = None if y is None else np.asarray(y, dtype=np.float64)[rows]
        return cls(columns, np.ascontiguousarray(part, dtype=np.float64), labels, X.shape[0])

    def on(self, vote: Any) -> Self:
        """Return the rows in the columns of a vote, which must be among these."""
        values = self.values[:, np.isin(self.columns, vote.columns)]
        return self._replace(columns=vote.columns, values=np.ascontiguousarray(values))

    def reduced(self, vote: Any) -> Self:
        """Return the rows in a table of the columns of a vote."""
        return self.on(vote)._replace(columns=np.arange(len(vote.columns)))

    def after(self, earlier: Self | None) -> Self:
        """Return a sample of earlier rows and these, in proportion to their total numbers."""
        if earlier is None or not np.array_equal(self.columns, earlier.columns):
            return self
        total, most = earlier.total + self.total, most_rows(len(self.columns))
        n, first = len(earlier.values), most * earlier.total // total if total > most else most
        last = n + evenly_spaced(len(self.values), most - first if total > most else most)
        at = np.append(evenly_spaced(n, first), last)
        both: Any = earlier.labels, self.labels
        labels = None if any(one is None for one in both) else np.concatenate(both)[at]
        values = np.vstack([earlier.values, self.values])[at]
        return self._replace(values=values, labels=labels, total=total, several=True)


def most_rows(n_columns: int) -> int:
    """Return the greatest number of rows of a sample."""
    return max(_FEWEST, min(_ROWS, _NUMBERS // max(1, n_columns)))


def evenly_spaced(n: int, most: int) -> Columns:
    """Return the evenly spaced positions of at most `most` of n rows."""
    at = sorted({i * (n - 1) // max(most - 1, 1) for i in range(most)}) if n > most else range(n)
    return np.array(at, dtype=np.intp)


def baseline_of(vote: Any, rows: SampleRows, categories: Any = ()) -> Baseline:
    """Return the training means of a vote and the importance of each column it reads.

    `rows` must have the columns it reads; `categories` are the columns of codes.
    """
    columns, dense, *_ = rows.on(vote)
    is_category = np.isin(columns, list(categories))
    centre = _centre(dense, is_category)
    compact = vote.select(columns)
    votes = np.zeros((vote.n_voters, vote.target.n_outputs))
    weights = np.zeros(vote.n_voters)
    for part in _rows(compact, len(dense)):
        votes += compact.votes(dense[part]).sum(axis=0) / len(dense)
        weights += compact.shares(dense[part]).sum(axis=0) / len(dense)
    profile = profile_of(dense, is_category) if len(dense) else None
    kept = compact.weighting.kept_cases(), compact.weighting.prototype_batches()
    if profile is not None and any(one is not None for one in kept):
        mass = np.quantile(compact.mass(dense), LEVELS)
        profile = replace(profile, mass=np.where(np.isfinite(mass), mass, np.nan))
    baseline = Baseline(centre, votes, weights, np.zeros(len(columns)), profile)
    total = np.zeros(len(columns))
    for part in _rows(compact, len(dense)):
        total += column_moves(compact, dense[part], baseline).sum(axis=0)
    share = total / total.sum() if 0 < total.sum() < np.inf else np.zeros(len(columns))
    return replace(baseline, importance=share)


def _centre(X: Floats, is_category: NDArray[np.bool_]) -> Floats:
    known = ~np.isnan(X)
    number = np.maximum(known.sum(axis=0), 1)
    centre = (np.where(known, X, 0.0) / number).sum(axis=0)  # divided first: no sum overflows
    for j in np.flatnonzero(is_category & known.any(axis=0)):
        values, counts = np.unique(X[known[:, j], j], return_counts=True)
        centre[j] = values[counts.argmax()]
    return np.nan_to_num(centre)


def _rows(vote: Any, n: int) -> list[slice]:
    width = max(vote.n_features, vote.n_voters * vote.target.n_outputs, 1)
    step = max(1, _BLOCK // width)
    return [slice(i, min(i + step, n)) for i in range(0, n, step)]


def column_moves(vote: Any, X: Floats, baseline: Baseline) -> Floats:
    """Return (n, p), at least 0: how much each column moves the score of each row.

    A voter adds w h to the score, its weight times its vote. This is ``w (h - mean h)``, due to the
    vote, plus ``(w - mean w) mean h``, due to the weight, plus a constant; means are over the
    training rows. The size of the first term, summed over outputs, is divided among the columns
    that the voter reads, that of the second among the columns that its weight reads. The table must
    have only the columns that the vote reads.
    """
    votes, weights = vote.votes(X), vote.output_shares(X)
    by_vote = (np.abs(weights) * np.abs(votes - baseline.votes)).sum(axis=2)
    by_weight = np.abs(over_outputs(weights) - baseline.weights) * np.abs(baseline.votes).sum(1)
    centre = baseline.centre
    with np.errstate(over="ignore", invalid="ignore"):  # values may be as large as floats go
        found = vote.voters.divided(X, by_vote, centre)
        usage = vote.weighting.asks(vote.voters.usage())
        if usage is None:
            found = found + vote.weighting.divided(X, by_weight, centre)
        else:
            found = found + evenly(usage, by_weight)
    return np.where(np.isfinite(found), found, 0.0)


def path_moves(
    leaf: Indices,
    parent: Indices,
    step: Floats,
    decided: Any,
    size: Floats,
    group: Indices,
    width: int,
) -> Floats:
    """Return (n, width): the sizes (n, T) of voters made of trees, divided along the rows' paths.

    `leaf` (n, trees) is the node where each row ends in each tree, -1: the tree is left out.
    `parent` (nodes,) is -1 at a root. `step` (nodes,) is the change of the vote from the parent to
    the node. `decided` maps arrays (row, node) to the column that decided at an inner node. `group`
    (trees,) is the voter of each tree.
    """
    n, voters = size.shape
    row, tree = np.nonzero(leaf >= 0)
    node, voter = leaf[row, tree], row * voters + group[tree]
    total = np.bincount(voter, _from_root(parent, step)[node], n * voters)
    some = total > 0
    rate = np.where(some, size.ravel(), 0.0) / np.where(some, total, 1.0)
    rate = rate[voter]
    flat = np.zeros(n * width)
    while len(node):
        above = parent[node]
        on = np.flatnonzero(above >= 0)
        row, rate, node, above = row[on], rate[on], node[on], above[on]
        flat += np.bincount(row * width + decided(row, above), step[node] * rate, n * width)
        node = above
    return flat.reshape(n, width)


def _from_root(parent: Indices, step: Floats) -> Floats:
    """Return the sum of the steps from the root to each node."""
    total, above = step.copy(), parent
    while (on := np.flatnonzero(above >= 0)).size:
        total[on] += step[above[on]]
        above = np.where(above >= 0, parent[above], -1)
    return total
