"""How many equally good models of a library disagree with its answer to a case."""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from psephos._errors import PsephosError
from psephos._types import Floats, Indices
from psephos.vote.vote import Vote

_BLOCK = 1 << 20


class Multiplicity(NamedTuple):
    """Predictions of a library's models on each row, all arrays of shape (n,).

    `answer` is the class that the vote predicts, `n_models` the number of models evaluated,
    `against` the number that predict another class, and `rival` the class that most of these
    predict, -1 where none does.
    """

    answer: Indices
    n_models: Indices
    against: Indices
    rival: Indices


def multiplicity_of(vote: Vote, X: Floats) -> Multiplicity:
    """Return how many models of a library disagree with its prediction for each row of X, (n, p).

    Evaluated are the models of the lowest tier whose columns all have a value, also those that
    ``vote='best'`` gives no weight. A voter that reads no column does not count as a model.
    """
    weighting: Any = vote.weighting
    target: Any = vote.target
    library = weighting.available(X[:0]) is not None
    if not library or target.kind not in ("binary", "multiclass"):
        raise PsephosError(
            "multiplicity needs a library of small classifiers (swag): the voters of other models "
            "do not predict on their own."
        )
    tier: Indices = weighting.tier
    reads: NDArray[np.bool_] = weighting.reads
    counts = np.zeros((len(X), target.n_classes), dtype=np.intp)
    step = max(1, _BLOCK // (vote.n_voters * target.n_outputs))
    for start in range(0, len(X), step):
        rows = X[start : start + step]
        can = weighting.available(rows) & reads.any(axis=1)
        first = np.where(can, tier, tier.max() + 1).min(axis=1, keepdims=True)
        votes = vote.votes(rows)
        flat: Indices = target.answers(votes.reshape(-1, votes.shape[2]))
        predicted = flat.reshape(votes.shape[:2])
        voting = can & (tier == first)
        for k in range(target.n_classes):
            counts[start : start + step, k] = (voting & (predicted == k)).sum(axis=1)
    score, mass = vote.score_and_mass(X)
    answer: Indices = target.chosen(vote.readout.decided(score, target, mass))
    n_models = counts.sum(axis=1)
    counts[np.arange(len(X)), answer] = 0
    against = counts.sum(axis=1)
    return Multiplicity(answer, n_models, against, np.where(against > 0, counts.argmax(axis=1), -1))
