"""Which models can answer a row in which columns are missing, and how good they were."""

from typing import Any

import numpy as np

from psephos._input import Table
from psephos.models.swag.assembling import CHOSEN, PRIOR, RESERVE
from psephos.models.swag.library import Library
from psephos.vote import Available, Vote

__all__ = ["usable_models"]

_WORDS = {CHOSEN: "chosen", RESERVE: "reserve", PRIOR: "prior"}


def usable_models(vote: Vote, library: Library, table: Table) -> dict[str, list[Any]]:
    """Return the models that vote on each row, as lists; see `SparseWrapperClassifier.usable`."""
    weighting = vote.weighting
    assert isinstance(weighting, Available)
    models = np.concatenate([np.flatnonzero(library.votes), np.flatnonzero(~library.votes)])
    error = np.append(library.error[models[: vote.n_voters - 1]], np.nan)
    votes = vote.weights(table.values) > 0
    tier = np.where(votes, weighting.tier, PRIOR + 1).min(axis=1)
    asked = votes & ~np.isnan(error)  # the prior has none
    count = asked.sum(axis=1)
    total = np.where(asked, error, 0.0).sum(axis=1)
    mean = np.where(count > 0, total / np.maximum(count, 1), np.nan)
    return {
        "case": table.rows.tolist(),
        "n_models": count.tolist(),
        "source": [_WORDS[int(t)] for t in tier],
        "error": mean.tolist(),
    }
