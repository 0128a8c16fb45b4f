"""How many equally good models of a library disagree with its answer to a case."""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from psephos._errors import PsephosError
from psephos.vote.vote import Vote

_BLOCK = 1 << 20


class Multiplicity(NamedTuple):
    """For each row, all (n,): the answer, how many models were asked and say another, and which.

    `rival` is the class that most of those say, -1 where none does.
    """

    answer: NDArray[np.intp]
    asked: NDArray[np.intp]
    against: NDArray[np.intp]
    rival: NDArray[np.intp]


def multiplicity_of(vote: Vote, X: NDArray[np.float64]) -> Multiplicity:
    """Return who disagrees among the models that are asked about each row of X, shape (n, p).

    Asked are the models of the lowest tier that have all their columns: those that vote, and with
    ``vote='best'`` those that would. A voter that reads nothing is no model.
    """
    weighting: Any = vote.weighting
    target: Any = vote.target
    library = weighting.available(X[:0]) is not None
    if not library or target.kind not in ("binary", "multiclass"):
        raise PsephosError(
            "multiplicity is that of a library of small models that give classes (swag): the "
            "voters of other models are no models that answer by themselves."
        )
    tier: NDArray[np.intp] = weighting.tier
    reads: NDArray[np.bool_] = weighting.reads
    counts = np.zeros((len(X), target.n_classes), dtype=np.intp)
    step = max(1, _BLOCK // (vote.n_voters * target.n_outputs))
    for start in range(0, len(X), step):
        rows = X[start : start + step]
        can = weighting.available(rows) & reads.any(axis=1)
        first = np.where(can, tier, tier.max() + 1).min(axis=1, keepdims=True)
        votes = vote.votes(rows)
        said: NDArray[np.intp] = target.answers(votes.reshape(-1, votes.shape[2])).reshape(
            votes.shape[:2]
        )
        voting = can & (tier == first)
        for k in range(target.n_classes):
            counts[start : start + step, k] = (voting & (said == k)).sum(axis=1)
    score, mass = vote.score_and_mass(X)
    answer: NDArray[np.intp] = target.chosen(vote.readout.decided(score, target, mass))
    asked = counts.sum(axis=1)
    others = counts.copy()
    others[np.arange(len(X)), answer] = 0
    against = others.sum(axis=1)
    rival = np.where(against > 0, others.argmax(axis=1), -1)
    return Multiplicity(answer, asked, against, rival)
