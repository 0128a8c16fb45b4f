"""Reasons of abstentions and of fitted estimators, made from arrays."""

import math
from collections.abc import Sequence

import numpy as np

from psephos._types import Floats, Indices
from psephos.vote.reasons.base import Reason
from psephos.vote.reasons.read import Abstention, FittedEstimator


def read_by(
    X: Floats, read: Sequence[Indices], names: Sequence[str], votes: Floats
) -> list[list[Reason]]:
    """Return, for each row, the reason of each fitted estimator: its name and the values it read.

    An estimator that reads a missing value and votes 0 abstains.
    """
    every: list[list[Reason]] = []
    for x, row in zip(X, votes, strict=True):
        reasons: list[Reason] = []
        for columns, name, vote in zip(read, names, row, strict=True):
            abstained = None if vote.any() else abstention(x, columns, vote)
            cells = tuple(columns.tolist()), tuple(x[columns].tolist())
            reasons.append(abstained or FittedEstimator(tuple(vote.tolist()), *cells, name))
        every.append(reasons)
    return every


def abstention(x: Floats, columns: Indices, answer: Floats) -> Abstention | None:
    """Return the reason of a voter that abstains on missing values; None if none is missing."""
    gaps = columns[np.isnan(x[columns])]
    if not len(gaps):
        return None
    return Abstention(tuple(answer.tolist()), tuple(gaps.tolist()), (math.nan,) * len(gaps))
