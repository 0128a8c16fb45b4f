"""`Vote`: F(x) = sum_t w_t(x) h_t(x), and the predictions and explanations of all models."""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, ClassVar, NamedTuple, cast

import numpy as np

from psephos._errors import PsephosError
from psephos._types import Array, Floats, Indices, NDArray, Usage, Values, sparse
from psephos.files.names import Names, backup_words
from psephos.vote.codec import content_of, register
from psephos.vote.importance import Baseline, column_moves
from psephos.vote.operations.distance_weights import DistanceWeights, Nearest
from psephos.vote.part import (
    Breakpoints,
    Columns,
    Voters,
    Weighting,
    check,
    joined_marks,
    over_outputs,
)
from psephos.vote.reading.answered import needing_all, tied, unanswered, unanswered_words
from psephos.vote.readout import Readout
from psephos.vote.reasons import Reason
from psephos.vote.target import AnyTarget


class Terms(NamedTuple):
    """The parts of the score of some cases."""

    votes: Floats  # (n, T, K)
    shares: Floats  # (n, T), as `Vote.shares`
    contributions: Floats  # (n, T, K): their sum over the voters is the score


_BLOCK = 1 << 22  # numbers in one (rows, voters, outputs) block: 32 MiB
_CELLS = 1 << 26  # numbers of the table that are dense at once: 512 MiB


@register
@dataclass(frozen=True, repr=False)
class Vote:
    """A fitted model: voters, their weights, and how the weighted vote becomes a prediction.

    Parameters
    ----------
    voters : Voters
        T voters; ``votes(X)`` is (n, T, K).
    weighting : Weighting
        Their weights; ``weights(X)`` is (n, T).
    readout : Readout
    target : Target, LabelsTarget, RegressionTarget or NumbersTarget

    Notes
    -----
    X is always the table the model was fitted on, shape (n, p), dense or sparse; only the columns
    in `columns` are read. Sums run over blocks of rows, so memory stays small for any n and T.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from psephos import AdaBoostClassifier
    >>> X, y = load_iris(return_X_y=True)
    >>> vote = AdaBoostClassifier(n_estimators=3).fit(X[50:], y[50:]).vote_
    >>> vote
    Vote(3 of stump voters, constant weights, normalised, reading 2 of 4 columns)
    >>> bool(abs(vote.score(X) - vote.contributions(X).sum(axis=1)).max() < 1e-12)
    True
    """

    tag: ClassVar[str] = "vote"
    voters: Voters
    weighting: Weighting
    readout: Readout
    target: AnyTarget

    def __post_init__(self) -> None:
        parts: Any = ((self.voters, Voters), (self.weighting, Weighting))
        for part, base in parts:
            words = f"{type(part).__name__} does not derive from psephos.vote.{base.__name__}"
            check(isinstance(part, base), words)
        check(self.voters.n_voters == self.weighting.n_voters > 0, "voters and weights differ")
        check(self.voters.n_features == self.weighting.n_features, "tables differ")
        numbers = self.target.kind in ("regression", "numbers")
        classes_only = self.readout.score in ("majority", "borda")
        check(not (numbers and classes_only), f"numbers have no {self.readout.score}")
        fault = self.weighting.fits(self.target, self.readout.is_sum)
        check(not fault, fault)

    # ------------------------------------------------------------------ columns that are read
    @property
    def n_voters(self) -> int:
        """Return T."""
        return self.voters.n_voters

    @property
    def n_features(self) -> int:
        """Return p, the number of columns of the table."""
        return self.voters.n_features

    @cached_property
    def columns(self) -> Columns:
        """Return the sorted columns that voters or weights read."""
        return np.union1d(self.voters.columns, self.weighting.columns).astype(np.intp)

    def usage(self) -> Usage:
        """Return the (T, p) boolean CSR table of columns that each voter or its weight reads."""
        table: Any = self.voters.usage() + self.weighting.usage()
        if self.weighting.needs_votes:
            own = self.voters.usage()
            found = self.weighting.asks(own)
            table = table + (own if found is None else found)
        return table.astype(bool)

    @cached_property
    def used(self) -> Columns:
        """Return the sorted columns that predictions of cases without missing values depend on."""
        return self.primary().columns

    @cached_property
    def backup(self) -> Columns:
        """Return the sorted columns that are read only where another is missing."""
        return np.setdiff1d(self.columns, self.used)

    @property
    def near_only(self) -> Columns:
        """Return the sorted columns that only the distance between cases reads.

        No voter with more than one possible vote reads them; voters that are training cases read
        all of their columns.
        """
        if not isinstance(self.weighting.lowered(), DistanceWeights):
            return np.empty(0, dtype=np.intp)
        voters, read = self.voters, self.voters.columns
        if not voters.are_cases():
            test = [[w for w, _ in voters.sides(t)] != ["always"] for t in range(self.n_voters)]
            read = np.unique(sparse.csr_array(voters.usage())[np.flatnonzero(test)].indices)
        return np.setdiff1d(self.weighting.columns, read)

    def primary_voters(self) -> Indices:
        """Return the voters that are left in `primary`."""
        return self.weighting.primary_voters()

    def reserve(self) -> NDArray[np.bool_]:
        """Return the mask, (T,), of voters that have weight only where values are missing."""
        return self.weighting.reserve()

    def primary(self) -> "Vote":
        """Return the vote without the columns that are read only where a value is missing.

        Its predictions are the same for cases without missing values or unknown categories.
        """
        kept = self.primary_voters()
        vote = self if len(kept) == self.n_voters else self.take(kept)
        return replace(vote, voters=vote.voters.primary())

    def select(self, columns: Columns) -> "Vote":
        """Return the same vote on the table reduced to `columns` (sorted; all it reads)."""
        voters, weighting = (part.select(columns) for part in (self.voters, self.weighting))
        return replace(self, voters=voters, weighting=weighting)

    def derived(self, X: Floats) -> tuple["Vote", Floats]:
        """Return a vote with the same predictions, and the rows that it reads in place of X.

        Column j of these rows depends on column j of X alone: where only that column changes, the
        normal scores of the others need not be computed again.
        """
        if len(self.weighting.columns) or not self.readout.is_sum:
            return self, X
        voters, rows = self.voters.derived(X)
        return replace(self, voters=voters), rows

    def lowered(self) -> "Vote":
        """Return the vote with its parts as operations, which scorer, page, SQL and ONNX read."""
        return replace(self, voters=self.voters.lowered(), weighting=self.weighting.lowered())

    def named_rows(self, names: Array) -> "Vote":
        """Return the vote with the training rows it keeps named, instead of numbered.

        Parameters
        ----------
        names : ndarray of str of shape (n,)
            Names of all rows that it was fitted on.
        """
        voters, weighting = (part.named_rows(names) for part in (self.voters, self.weighting))
        return replace(self, voters=voters, weighting=weighting)

    def take(self, voters: Indices) -> "Vote":
        """Return the vote of these voters only, in this order."""
        return replace(self, voters=self.voters.take(voters), weighting=self.weighting.take(voters))

    def truncate(self, n_voters: int) -> "Vote":
        """Return the vote of the first `n_voters`; their weights do not change."""
        if not 1 <= n_voters <= self.n_voters:
            raise PsephosError(f"cannot keep {n_voters} of {self.n_voters} voters.")
        return self.take(np.arange(n_voters))

    @property
    def _compact(self) -> "Vote":
        return self if len(self.columns) == self.n_features else self._selected

    @cached_property
    def _selected(self) -> "Vote":
        return self.select(self.columns)

    def _own_sums(self) -> Any:
        """Return the weighting's kernel for (sum, mass) with these voters, if it has one.

        It holds no (n, T) table, and picks the columns it reads from rows of the whole table.
        """
        return self.weighting.sums_with(self.voters)

    @property
    def _adds_up(self) -> bool:
        """Whether the score is a sum over voters with one weight each, known without the votes."""
        return self.readout.is_sum and not self.weighting.needs_votes

    def _reads_in_place(self, X: Values) -> bool:
        """Whether rows are read without a copy, by weights that pick their own columns."""
        lies = type(X) is np.ndarray and X.dtype == np.float64 and X.flags.carray
        if not lies or X.shape[1:] != (self.n_features,):
            return False
        return self._own_sums() is not None

    def _blocks(self, X: Any, in_place: bool) -> Iterator[tuple[slice, Floats]]:
        """Yield (slice, rows) blocks, dense float64, of the columns read; of all if `in_place`."""
        rows = X.shape[0]
        per_row = self.n_voters if self._own_sums() is None else 1  # weights
        width = max(1, len(self.columns))
        size = min(8192, _BLOCK // max(1, per_row * self.target.n_outputs), _CELLS // width)
        size = max(1, size)
        read: Any = X[:, self.columns].tocsr() if sparse.issparse(X) else X
        whole = in_place or sparse.issparse(X) or len(self.columns) == self.n_features
        for start in range(0, rows, size):
            part = slice(start, min(start + size, rows))
            yield part, _dense(read[part] if whole else np.take(read[part], self.columns, axis=1))

    def _dense(self, X: Values) -> Floats:
        return _dense(X[:, self.columns])

    # ------------------------------------------------------------------ the sum
    def score(self, X: Values) -> Floats:
        """Return F, shape (n, K)."""
        return self.score_and_mass(X)[0]

    def mass(self, X: Values) -> Floats:
        """Return the raw total weight, sum over t of ``|w_t(x)|``, shape (n,)."""
        return self.score_and_mass(X)[1]

    def score_and_mass(self, X: Values) -> tuple[Floats, Floats]:
        """Return F, shape (n, K), and the raw mass, shape (n,), in one pass."""
        score = np.empty((X.shape[0], self.target.n_outputs))
        mass = np.empty(X.shape[0])
        if not self._adds_up:
            for part, read in self._blocks(X, in_place=False):
                votes, weights = self._compact._votes_and_weights(read)
                shares, terms = self._terms(votes, weights, read)
                score[part] = (shares * terms).sum(axis=1)
                mass[part] = np.abs(over_outputs(weights)).sum(axis=1)
            return self.target.level(score), mass
        in_place = self._reads_in_place(X)
        reader = self if in_place else self._compact
        for part, read in self._blocks(X, in_place):
            total, size, log_scale = reader._sums(read)
            mass[part] = size
            if log_scale is not None:
                with np.errstate(over="ignore"):
                    true_scale = np.exp(log_scale)
                    mass[part] *= true_scale
                    if self.readout.score == "sum":
                        total = total * true_scale[:, None]
            score[part] = self.readout.finish(total, size)
        return self.target.level(score), mass

    def _sums(self, X: Floats) -> tuple[Floats, Floats, Floats | None]:
        """Return (sum_t of w_t votes_t, sum_t of abs(w_t), log_scale): (n, K), (n,), (n,).

        The true sums are exp(log_scale) times these; None: they are these.
        """
        own = self._own_sums()
        if own is not None:
            return (*own(X), None)
        weights, log_scale = self.weighting.relative(X)
        return self.voters.weighted_sum(weights, X), np.abs(weights).sum(axis=1), log_scale

    def _votes_and_weights(self, read: Floats, n: int | None = None) -> tuple[Floats, Floats]:
        """Return (votes, weights) of the first n voters on rows of the columns that are read.

        Votes are (n, T, K), weights (n, T), or (n, T, K) where they differ by output; a common
        factor of a row's weights is left out where the read-out divides by their sum.
        """
        votes = self.voters.votes(read)[:, :n]
        if not self.weighting.needs_votes:
            return votes, self.weighting.relative(read)[0][:, :n]
        first = self.weighting.take(np.arange(votes.shape[1], dtype=np.intp))
        return votes, cast("Any", first).of_votes(votes, self.target)

    def _terms(self, votes: Floats, weights: Floats, read: Floats) -> tuple[Floats, Floats]:
        """Return (shares, votes), whose product sums over voters to the score."""
        if not self.readout.is_sum:
            return self.readout.terms(votes, weights, read, self.target)
        each = weights if weights.ndim == 3 else weights[:, :, None]
        if self.readout.score == "normalised":
            size = np.abs(each).sum(axis=1, keepdims=True)
            each = each / np.where(size > 0, size, 1.0)
        return np.broadcast_to(each, votes.shape), votes

    @property
    def has_densities(self) -> bool:
        """Return whether it predicts the distribution of a number: voters vote with densities."""
        found = self.voters.components() if self.target.kind == "regression" else None
        return found is not None and bool(found[1].all())

    def answers(self, X: Any) -> Array:
        """Return the prediction of each row, from the score and the calibration, if any."""
        return self.decided(*self.score_and_mass(X))

    def decided(self, score: Floats, mass: Floats | None = None) -> Array:
        """Return the predictions of (n, K) scores; `mass` is as for `Readout.probabilities`."""
        return self.target.decode(self.readout.decided(score, self.target, mass))

    def unanswered(self, X: Values, score: Floats, mass: Floats) -> list[str]:
        """Return why each row has no answer, from its score and mass; '' if it has one.

        Reasons are 'weight', 'values' and 'tie': see `psephos.vote.reading.answered.unanswered`.
        """
        decided = self.readout.decided(score, self.target, mass).tolist()
        found = ["tie" if tied(self.target, row) else "" for row in decided]
        read = self._dense(X)
        rows = np.flatnonzero(np.isnan(read).any(axis=1) | ~(mass > 0))
        if not len(rows):
            return found
        some, compact = read[rows], self._compact
        if self.weighting.needs_votes:
            weights = compact._votes_and_weights(some)[1]
        else:
            weights = compact.weighting.relative(some)[0]
        for i, x, own in zip(rows.tolist(), some.tolist(), weights.tolist(), strict=True):
            found[i] = unanswered(x, own, *compact.column_needs, bool(found[i]))
        return found

    @cached_property
    def column_needs(self) -> tuple[list[list[int]], list[bool]]:
        """Return the columns of each voter and its distances, and whether it needs all of them."""
        vote = self.lowered()
        table = vote.voters.usage()
        if isinstance(vote.weighting, DistanceWeights):
            table = table + vote.weighting.usage()
        reads = [np.flatnonzero(row).tolist() for row in table.toarray()]
        return reads, needing_all(vote.voters, vote.weighting)

    def unanswered_words(self, X: Values, score: Floats, mass: Floats, names: Names) -> list[str]:
        """Return a sentence on why each row has no answer and what it needs; '' if it has one."""
        how = *self._compact.column_needs, self.target, names.select(self.columns.tolist())
        rows = zip(self.unanswered(X, score, mass), self._dense(X).tolist(), strict=True)
        return [why and unanswered_words(why, x, *how) for why, x in rows]

    def probabilities(self, X: Values) -> Floats:
        """Return the (n, n_classes) probabilities of rows."""
        score, mass = self.score_and_mass(X)
        return self.readout.probabilities(score, self.target, mass)

    def votes(self, X: Values) -> Floats:
        """Return every vote, shape (n, T, K): for small tables."""
        return self._compact.voters.votes(self._dense(X))

    def leaves(self, X: Values) -> Indices:
        """Return the node (0: the root) at which each row ends in each tree, (n, trees).

        It is -1 where a row is divided among leaves. Voters that are not trees are left out.
        """
        read, voters = self._dense(X), self._compact.voters
        parts: Any = voters.joined_parts()
        ends = [(part.leaves(read), part.root) for part in parts if hasattr(part, "root")]
        none = np.empty((len(read), 0), dtype=np.intp)
        return np.hstack([none, *(np.where(leaf < 0, -1, leaf - at) for leaf, at in ends)])

    def weights(self, X: Values) -> Floats:
        """Return every raw weight, (n, T), for small tables; mean size of weights by output."""
        read = self._dense(X)
        if self.weighting.needs_votes:
            return over_outputs(self._compact._votes_and_weights(read)[1])
        return self._compact.weighting.weights(read)

    def constant_weights(self) -> Floats | None:
        """Return the raw weights, (T,), if they are the same for every case; else None."""
        if self.weighting.needs_votes or len(self.weighting.columns):
            return None
        return np.array(self.weighting.weights(np.zeros((1, self.n_features)))[0])

    def reasons(self, X: Values) -> list[list[Reason]]:
        """Return the reason of each vote, for each row; columns are numbers of the table."""
        read = self._dense(X)
        reasons = self._compact.weighting.because(read, self._compact.voters.reasons(read))
        if self._compact is self:
            return reasons
        where: list[int] = self.columns.tolist()
        return [[reason.mapped(where, {}) for reason in row] for row in reasons]

    def weighed(self, X: Values) -> Indices | None:
        """Return the indices of voters with weight on some row; None if all may have weight."""
        return self._compact.weighting.weighed(self._dense(X))

    def similarities(self, X: Values) -> Floats | None:
        """Return (n, T) similarities of rows to voters that are training cases; else None."""
        return self._compact.weighting.similarities(self._dense(X))

    def open(
        self, voter: int, X: Values, names: Names, member: int | None = None
    ) -> tuple["Vote", Floats, Names] | None:
        """Return (vote, rows, names) of a voter that is itself a vote; None if it is not one.

        With `member`, of voters that read the answers of members: the vote of that member.
        """
        voters = self._compact.voters
        of = voters if member is None else voters.read_members()
        at = voter if member is None else member
        own = names.select(self.columns.tolist())
        return None if of is None else of.open(at, self._dense(X), own)

    def marks(self) -> Breakpoints:
        """Return (columns, values) near which conformance vectors are drawn."""
        return joined_marks([self.voters.marks(), self.weighting.marks()])

    def training_rows(self) -> int:
        """Return the number of training rows of which the vote keeps values."""
        return max(self.voters.training_rows(), self.weighting.training_rows())

    def alike(self) -> list[list[int]]:
        """Return the voters in groups of equal content, in the order of the first of each."""
        groups: dict[Any, list[int]] = {}
        for t in range(self.n_voters):
            groups.setdefault(content_of(self.voters.take(np.array([t])), t), []).append(t)
        return list(groups.values())

    def __repr__(self) -> str:
        kind = getattr(type(self.voters), "tag", type(self.voters).__name__)
        read = f"{len(self.used)} of {self.n_features} columns{backup_words(len(self.backup))}"
        head = f"Vote({self.n_voters} of {kind}, {self.weighting_words()}"
        return f"{head}, {self.readout.score}, reading {read})"

    def shares(self, X: Values) -> Floats:
        """Return the weights as the score uses them, (n, T): divided by the mass unless a sum.

        Weights that differ by output, and those of read-outs that pick voters, are averaged over
        outputs.
        """
        if self.readout.score == "sum":
            return self.weights(X)
        return over_outputs(self.output_shares(X))

    def output_shares(self, X: Values) -> Floats:
        """Return the weights as the score uses them, (n, T, K); (n, T, 1) if alike by output."""
        read = self._dense(X)
        if not self._adds_up:
            return self._terms(*self._compact._votes_and_weights(read), read)[0]
        if self.readout.score == "sum":
            return self.weights(X)[:, :, None]
        return _shares(self._compact.weighting.relative(read)[0])[:, :, None]

    def contributions(self, X: Values) -> Floats:
        """Return the (n, T, K) contributions, whose sum over the voters is the score."""
        return self.terms(X).contributions

    def terms(self, X: Values) -> Terms:
        """Return the votes, their weights as the score uses them, and the products of the two."""
        read = self._dense(X)
        if self._adds_up:
            votes = self._compact.voters.votes(read)
            each = self.output_shares(X)
            return Terms(votes, each[:, :, 0], each * votes)
        votes, weights = self._compact._votes_and_weights(read)
        each, entered = self._terms(votes, weights, read)
        shares = over_outputs(weights if self.readout.score == "sum" else each)
        return Terms(votes, shares, each * entered)

    def staged_scores(self, X: Values) -> Iterator[Floats]:
        """Yield the score of the first 1, 2, ..., T voters, each (n, K)."""
        return (score for score, _ in self.staged(X))

    def staged(self, X: Values) -> Iterator[tuple[Floats, Floats | None]]:
        """Yield (score, mass) of the first 1, 2, ..., T voters: (n, K) and (n,).

        The mass is None where weights depend on the votes, and where a read-out picks voters.
        """
        compact = self._compact
        read = self._dense(X)
        if not self._adds_up:
            for t in range(1, self.n_voters + 1):
                shares, votes = self._terms(*compact._votes_and_weights(read, t), read)
                yield self.target.level((shares * votes).sum(axis=1)), None
            return
        weights, log_scale = compact.weighting.relative(read)
        if self.readout.score == "sum" and log_scale is not None:
            weights = weights * np.exp(log_scale)[:, None]
        total = np.zeros((len(read), self.target.n_outputs))
        mass = np.zeros(len(read))
        for t in range(self.n_voters):
            one = np.array([t])
            total = total + compact.voters.take(one).weighted_sum(weights[:, one], read)
            mass = mass + np.abs(weights[:, t])
            yield self.target.level(self.readout.finish(total, mass)), mass

    def anchor_scores(self) -> Floats:
        """Return (m, K): the sums over t of E_t[i] h_t(z_i) at the anchors z_i.

        Theorem 1 of the SamBA paper is about this vote: anchor i has its own expertise even where
        other anchors equal it on the columns read.

        Raises
        ------
        PsephosError
            If the weights are not local.
        """
        found = self.weighting.anchor_scores(self.voters)
        if found is None:
            raise PsephosError("anchor_scores needs local weights: this vote has no anchors.")
        return found

    # ------------------------------------------------------------------ measures
    def margins(self, X: Values, y: Indices) -> Floats:
        """Return each row's margin in [-1, 1]: the vote for its class, divided by the mass.

        For K > 2 classes the margin of the SAMME coding lies in [-1/(K-1), 1].
        """
        score, mass = self.score_and_mass(X)
        if self.readout.score == "sum":
            score = score / mass[:, None]
        return self.target.margin(score, y)

    def local_importance(self, X: Values, baseline: Baseline) -> Floats:
        """Return (n, q): the share of each of `columns` in the move of a row's score from its mean.

        The mean is that of the training rows. Rows sum to 1, or to 0 if no column moves the score.
        """
        out = np.empty((X.shape[0], len(self.columns)))
        for part, read in self._blocks(X, in_place=False):
            out[part] = _shares(column_moves(self._compact, read, baseline))
        return out

    def nearest(self, X: Values, k: int = 5) -> Nearest | None:
        """Return the k training cases of greatest weight for each row; None if none is kept."""
        vote = self._compact
        return vote.weighting.nearest(vote.voters, vote.target, self._dense(X), k)

    def weighting_words(self) -> str:
        """Return a short description of the weights."""
        return self.weighting.words()


def _shares(weights: Floats) -> Floats:
    """Return weights divided by the sum of their sizes; zero where no voter has a weight."""
    size = np.abs(weights).sum(axis=1, keepdims=True)
    return weights / np.where(size > 0, size, 1.0)


def _dense(part: Any) -> Floats:
    whole: Any = part.toarray() if sparse.issparse(part) else part
    return np.ascontiguousarray(whole, dtype=np.float64)
