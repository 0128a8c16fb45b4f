"""The one dispatch to compiled sums; every pair equals the generic sum over voters (tested)."""

import numpy as np
from numpy.typing import NDArray

from psephos.kernels.vote_sums import sum_sides
from psephos.vote.part import Voters
from psephos.vote.voters import StumpVoters

__all__ = ["weighted_sum"]

_Floats = NDArray[np.float64]


def weighted_sum(voters: Voters, weights: _Floats, X: _Floats) -> _Floats:
    """Return the (n, K) sum over t of weights[:, t] * votes(X)[:, t]."""
    if isinstance(voters, StumpVoters):
        out = np.zeros((len(X), voters.left.shape[1]))
        sum_sides(voters.holds(X), np.ascontiguousarray(weights), voters.left, voters.right, out)
        return out
    return np.einsum("nt,ntk->nk", weights, voters.votes(X))
