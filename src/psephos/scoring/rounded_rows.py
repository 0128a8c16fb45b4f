"""Rounding of the training rows that a model keeps."""

import copy
from dataclasses import replace
from typing import Any

import numpy as np

from psephos.scoring.vectors import to_digits
from psephos.vote import Local, LocalRelevance, Neighbours, Vote
from psephos.vote.operations.cases import CaseVoters, PrototypeVoters
from psephos.vote.part import Voters
from psephos.vote.weights.gaussian_kernels import KernelWeights


def with_rounded_rows(estimator: Any, digits: int) -> Any:
    """Return a copy of a fitted estimator with rounded training rows; itself if it keeps none.

    Parameters
    ----------
    estimator : fitted estimator of psephos
    digits : int
        Significant digits of each value; at least 1.
    """
    vote: Vote = estimator.vote_
    voters: Voters = vote.voters
    weights: Any = vote.weighting
    if isinstance(voters, CaseVoters):
        voters = replace(voters, cases=to_digits(voters.cases, digits))
    if isinstance(weights, Local):
        weights = replace(weights, anchors=to_digits(weights.anchors, digits))
    elif isinstance(weights, LocalRelevance):
        local = replace(weights.local, anchors=to_digits(weights.local.anchors, digits))
        weights = replace(weights, local=local)
    elif isinstance(weights, Neighbours):
        weights = replace(weights, cases=to_digits(weights.cases, digits))
    elif isinstance(weights, KernelWeights) and isinstance(voters, PrototypeVoters):
        cases = to_digits(voters.cases, digits)
        voters = replace(voters, cases=cases)
        scaled = (cases - weights.centre) * weights.inverse
        weights = replace(weights, prototypes=np.ascontiguousarray(scaled))
    if voters is vote.voters and weights is vote.weighting:
        return estimator
    other = copy.copy(estimator)
    other.vote_ = replace(vote, voters=voters, weighting=weights)
    return other
