"""Read-out of a weighted vote: from votes and weights to a score and probabilities.

Read-outs other than sums and means (`CHOICES`) turn the votes and weights of some rows into shares
and votes whose products, the contributions, sum over voters to the score.
"""

# pyright: reportMissingTypeStubs=false

import hashlib
from collections.abc import Callable
from typing import Any, ClassVar, NamedTuple

import numpy as np

from psephos._types import Floats, Indices
from psephos.vote.calibration import (
    ClassVotes,
    Isotonic,
    PosteriorTable,
    Sigmoid,
    Temperature,
    special,
)
from psephos.vote.codec import register
from psephos.vote.part import check
from psephos.vote.target import AnyTarget

_LINKS = ("share", "logistic", "identity")
TIE = 1e-12  # cumulative shares round
_Terms = tuple[Floats, Floats]  # shares and the votes they multiply, (n, T, K)


class _Settings(NamedTuple):
    """Arguments of read-outs besides votes and weights."""

    target: AnyTarget
    seed: int
    cut: float


def _each(share: Floats, votes: Floats) -> Floats:
    return np.broadcast_to(share[:, :, None], votes.shape)


def _shares(weights: Floats) -> Floats:
    size = np.abs(weights).sum(axis=1, keepdims=True)
    return np.abs(weights) / np.where(size > 0, size, 1.0)


def _majority(votes: Floats, weights: Floats, rows: Floats, settings: Any) -> _Terms:
    """Count each voter, by its weight, for the class it votes for; a vote of 0 abstains."""
    voting = (votes != 0).any(axis=2)
    if settings.target.kind == "multilabel":
        vote = np.sign(votes)
    else:
        flat = settings.target.answers(votes.reshape(-1, votes.shape[2]))
        vote = settings.target.code[flat].reshape(votes.shape)
    return _each(_shares(np.where(voting, weights, 0.0)), votes), vote


def _loudest(votes: Floats, weights: Floats, rows: Floats, settings: Any) -> _Terms:
    """Take the vote of the voter of greatest weight (maximum a posteriori), the first of equals."""
    return _alone(votes, np.abs(weights).argmax(axis=1))


def _drawn(votes: Floats, weights: Floats, rows: Floats, settings: Any) -> _Terms:
    """Take the vote of one voter, drawn in proportion to the weights (Gibbs)."""
    ends = np.cumsum(_shares(weights), axis=1)
    at = uniform_of(rows, settings.seed) * ends[:, -1]
    return _alone(votes, np.minimum((ends <= at[:, None]).sum(axis=1), votes.shape[1] - 1))


def _alone(votes: Floats, voter: Indices) -> _Terms:
    share = np.zeros_like(votes)
    share[np.arange(len(votes)), voter] = 1.0
    return share, votes


def uniform_of(rows: Floats, seed: int) -> Floats:
    """Return a number in [0, 1) for each row: a hash of its content and a seed.

    It does not depend on the other rows or their order; -0.0 equals 0.0, and all NaN are equal.
    """
    plain = np.where(np.isnan(rows), np.nan, rows + 0.0)
    key = seed.to_bytes(8, "little")
    hashed = [hashlib.blake2b(row.tobytes(), digest_size=8, key=key).digest() for row in plain]
    return np.array([int.from_bytes(h, "little") >> 11 for h in hashed]) / 2.0**53


def _borda(votes: Floats, weights: Floats, rows: Floats, settings: Any) -> _Terms:
    """Give K - 1 points to each voter's first class, 0 to its last; equals share their points.

    Points are normalised to sum to 1 and coded as votes; for two classes it is the majority.
    """
    k = votes.shape[2]
    if k == 1:
        return _majority(votes, weights, rows, settings)
    voting = (votes != votes[:, :, :1]).any(axis=2)
    from scipy.stats import rankdata  # tables are read, and most votes answered, without it

    points = rankdata(votes, axis=2) - 1.0
    share = points / (k * (k - 1) / 2.0)
    return _each(_shares(np.where(voting, weights, 0.0)), votes), (k * share - 1.0) / (k - 1)


def _median(votes: Floats, weights: Floats, rows: Floats, settings: Any) -> _Terms:
    """Take the weighted median, output by output; between two voters, half of each."""
    order, ends, _ = _ordered(votes, weights)
    low = (ends < 0.5 - TIE).sum(axis=1, keepdims=True)
    high = np.minimum((ends <= 0.5 + TIE).sum(axis=1, keepdims=True), votes.shape[1] - 1)
    kept = np.zeros_like(votes)
    np.put_along_axis(kept, low, 0.5, axis=1)
    np.put_along_axis(kept, high, np.where(low == high, 1.0, 0.5), axis=1)
    return _back(kept, order), votes


def _trimmed(votes: Floats, weights: Floats, rows: Floats, settings: Any) -> _Terms:
    """Take the mean without the share `cut` of the weight at either end, output by output."""
    order, ends, ordered = _ordered(votes, weights)
    inside = np.minimum(ends, 1.0 - settings.cut) - np.maximum(ends - ordered, settings.cut)
    kept = np.clip(inside, 0.0, None)
    return _back(kept / kept.sum(axis=1, keepdims=True), order), votes


def _ordered(votes: Floats, weights: Floats) -> tuple[Indices, Floats, Floats]:
    """Return the order of votes, output by output, their cumulative shares, and their shares."""
    order = np.argsort(votes, axis=1, kind="stable")
    ordered = np.take_along_axis(_each(_shares(weights), votes), order, axis=1)
    return order, np.cumsum(ordered, axis=1), ordered


def _back(kept: Floats, order: Indices) -> Floats:
    out = np.zeros_like(kept)
    np.put_along_axis(out, order, kept, axis=1)
    return out


#: The functions of scores other than sum and normalised.
CHOICES: dict[str, Callable[[Floats, Floats, Floats, Any], _Terms]] = {
    "majority": _majority,
    "loudest": _loudest,
    "drawn": _drawn,
    "borda": _borda,
    "median": _median,
    "trimmed mean": _trimmed,
}
_SCORES = ("sum", "normalised", *CHOICES)


@register
class Readout:
    """Score and link of a vote.

    Parameters
    ----------
    score : {'sum', 'normalised', 'majority', 'loudest', 'drawn', 'borda', 'median', 'trimmed mean'}
        sum: F(x) = sum_t w_t(x) h_t(x). normalised: the same divided by the mass,
        ``mass(x) = sum_t |w_t(x)|``. majority: each voter counts for the class it votes for.
        loudest: the voter of greatest weight alone (maximum a posteriori). drawn: one voter, drawn
        with a probability proportional to its weight (Gibbs); the draw depends on the row's content
        and `seed` only, not on the order of rows or on batches. borda: ranks of classes. median,
        trimmed mean: of the votes, output by output.
    link : {'share', 'logistic', 'identity'}
        From a score to probabilities. share: the share of the weight that voted for the class,
        ((K - 1) F_k + 1) / K, which is (1 + F) / 2 for two classes. logistic: softmax of
        `slope` * F, which is 1 / (1 + exp(-slope * F)) for two classes. identity: the score is
        the prediction (regression).
    slope : float
        Slope of the logistic link; 1 otherwise.
    seed : int, default=0
        Seed of the draws of 'drawn'.
    cut : float, default=0.0
        The share of the weight that a trimmed mean leaves out at either end.
    calibration : Sigmoid, Isotonic, Temperature, PosteriorTable or ClassVotes, default=None
        Map from the link's probabilities to calibrated (or weighted) ones, by which the class is
        then predicted.
    """

    tag: ClassVar[str] = "readout"
    score: str
    link: str
    slope: float = 1.0
    seed: int = 0
    cut: float = 0.0
    calibration: Sigmoid | Isotonic | Temperature | PosteriorTable | ClassVotes | None = None

    def __post_init__(self) -> None:
        check(self.score in _SCORES, f"unknown score {self.score!r}")
        check(self.link in _LINKS, f"unknown link {self.link!r}")
        check(self.link != "share" or self.score != "sum", "a share needs a normalised sum")
        check(0 < self.slope < np.inf, "the slope of a link is not a positive number")
        check(0 <= self.seed < 2**63, "the seed of a draw is not a whole number from 0 on")
        check(0 <= self.cut < 0.5, "a trimmed mean leaves out less than half at either end")
        check(self.calibration is None or self.link != "identity", "numbers are not calibrated")

    @property
    def is_sum(self) -> bool:
        """Return whether the score is a weighted sum or mean of the votes."""
        return self.score not in CHOICES

    def terms(self, votes: Floats, weights: Floats, rows: Floats, target: AnyTarget) -> _Terms:
        """Return (shares, votes), (n, T, K), of a read-out that is not a sum.

        The score is the sum over voters of share times vote.

        Parameters
        ----------
        votes : ndarray of shape (n, T, K)
        weights : ndarray of shape (n, T)
        rows : ndarray of shape (n, q)
            The cases, on the columns that the vote reads.
        target : Target or the like
        """
        return CHOICES[self.score](votes, weights, rows, _Settings(target, self.seed, self.cut))

    def decided(self, score: Floats, target: AnyTarget, mass: Floats | None = None) -> Floats:
        """Return the (n, K) scores after calibration; the scores themselves if there is none.

        `mass` (n,) is as for `probabilities`.
        """
        if self.calibration is None:
            return score
        chances = self.probabilities(score, target, mass)
        k = target.n_classes
        if target.kind == "multilabel":
            return 2.0 * chances - 1.0
        return 2.0 * chances[:, 1:] - 1.0 if k == 2 else (k * chances - 1.0) / (k - 1)

    def finish(self, total: Floats, mass: Floats) -> Floats:
        """Return the score from the (n, K) sums and the (n,) mass."""
        if self.score == "sum":
            return total
        divisor = np.where(mass > 0, mass, 1.0)  # where no voter has weight the sum is zero already
        return total / divisor[:, None]

    def probabilities(self, score: Floats, target: AnyTarget, mass: Floats | None = None) -> Floats:
        """Return (n, n_classes) probabilities from an (n, K) score; of labels, one each.

        `mass` (n,) is 0 on rows where no voter has weight: a table of posteriors then uses the
        prior. None: there are no such rows.
        """
        linked, apart = self._linked(score, target), target.kind == "multilabel"
        if self.calibration is None:
            return linked
        chances = self.calibration.chances(linked, apart)
        if mass is None or not isinstance(self.calibration, PosteriorTable):
            return chances
        return self.calibration.with_prior(chances, mass > 0, apart)

    def _linked(self, score: Floats, target: AnyTarget) -> Floats:
        check(self.link != "identity", "a vote that answers with numbers has no probabilities")
        k = target.n_classes
        if target.kind == "multilabel":  # each label on its own
            shares = np.clip((1.0 + score) / 2.0, 0.0, 1.0)
            return shares if self.link == "share" else special().expit(self.slope * score)
        if self.link == "share":
            if k == 2:
                up = np.minimum(np.maximum((1.0 + score[:, 0]) / 2.0, 0.0), 1.0)  # sums round
                return _both(up)
            return shares_of(score)
        if k == 2:
            return _both(special().expit(self.slope * score[:, 0]))
        return special().softmax(self.slope * score, axis=1)


def shares_of(score: Floats) -> Floats:
    """Return the share of the weight that votes for each class, (n, K), K > 2; rows sum to 1.

    ``((K - 1) F_k + 1) / K`` of a score F (n, K), which is a mean of codes of classes: 1 in the
    column of the class, -1 / (K - 1) elsewhere. Where no voter votes for a class, 1 / K.
    """
    k = score.shape[1]
    shares = (k - 1.0) * np.ascontiguousarray(score, dtype=np.float64)
    shares += 1.0
    shares /= k
    np.maximum(shares, 0.0, out=shares)  # sums round
    total = shares.sum(axis=1)
    none = total == 0.0
    if none.any():
        shares[none], total[none] = 1.0, k
    shares /= total[:, None]
    return shares


def _both(up: Floats) -> Floats:
    """Return (n, 2) probabilities from those of the second class."""
    both = np.empty((len(up), 2))
    np.subtract(1.0, up, out=both[:, 0])
    both[:, 1] = up
    return both
