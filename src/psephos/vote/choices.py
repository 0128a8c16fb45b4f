"""Read-outs other than sums and means: majority, greatest weight, one drawn, ranks, medians.

Each turns the votes and weights of some rows into shares and votes whose products, the
contributions, sum over voters to the score.
"""

import hashlib
from collections.abc import Callable
from typing import Any

import numpy as np

from psephos._types import Floats, Indices

TIE = 1e-12  # cumulative shares round
_Terms = tuple[Floats, Floats]  # shares and the votes they multiply, (n, T, K)


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
    shares = _shares(np.where(voting, weights, 0.0))
    return _each(shares, votes), (k * share - 1.0) / (k - 1)


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
