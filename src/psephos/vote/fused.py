"""The one dispatch to compiled sums; every pair equals the generic sum over voters (tested)."""

import numpy as np
from numpy.typing import NDArray

from psephos.kernels.prediction.leaf_sums import sum_leaves
from psephos.kernels.prediction.vote_sums import sum_sides
from psephos.vote.joined import JoinedVoters
from psephos.vote.part import Voters, Weighting
from psephos.vote.prototype_kernels import KernelWeights
from psephos.vote.prototype_voters import PrototypeVoters
from psephos.vote.trees import TreeVoters
from psephos.vote.voters import StumpVoters

__all__ = ["heard", "prototypes_of", "weighted_sum"]

_Floats = NDArray[np.float64]


def weighted_sum(voters: Voters, weights: _Floats, X: _Floats) -> _Floats:
    """Return the (n, K) sum over t of weights[:, t] * votes(X)[:, t]."""
    if isinstance(voters, StumpVoters):
        out = np.zeros((len(X), voters.left.shape[1]))
        sum_sides(voters.holds(X), np.ascontiguousarray(weights), voters.left, voters.right, out)
        return out
    if isinstance(voters, TreeVoters) and not voters.abstains:
        out = np.zeros((len(X), voters.value.shape[1]))
        sum_leaves(voters.rows(X), np.ascontiguousarray(weights), voters.value, out)
        return out
    if isinstance(voters, JoinedVoters):
        where = _places(voters)
        if where is not None:
            parts = zip(voters.parts, where, strict=True)
            sums = [weighted_sum(part, weights[:, mine], X) for part, mine in parts]
            return np.sum(sums, axis=0)
    return np.einsum("nt,ntk->nk", weights, voters.votes(X))


def _places(voters: JoinedVoters) -> list[NDArray[np.intp]] | None:
    """Return where each part's voters stand; None if one stands nowhere, or twice."""
    where = [np.flatnonzero(voters.part == k) for k in range(len(voters.parts))]
    where = [mine[np.argsort(voters.place[mine])] for mine in where]
    for part, mine in zip(voters.parts, where, strict=True):
        if not np.array_equal(voters.place[mine], np.arange(part.n_voters)):
            return None
    return where


def heard(
    voters: Voters, weighting: Weighting, X: _Floats
) -> tuple[_Floats, _Floats, _Floats | None]:
    """Return (sum over t of w_t votes_t, sum over t of |w_t|, log_scale): (n, K), (n,), (n,).

    The true sums are exp(log_scale) times these; None: they are these.
    """
    direct = prototypes_of(voters, weighting)
    if direct is not None:
        return (*direct[1].heard(X, direct[0].answers), None)
    weights, log_scale = weighting.relative(X)
    return weighted_sum(voters, weights, X), np.abs(weights).sum(axis=1), log_scale


def prototypes_of(
    voters: Voters, weighting: Weighting
) -> tuple[PrototypeVoters, KernelWeights] | None:
    """Return both if their sums are made without a table of weights."""
    if not (isinstance(voters, PrototypeVoters) and isinstance(weighting, KernelWeights)):
        return None
    return (voters, weighting) if weighting.has_prior else None
