"""Reasons: why a voter votes as it does on one case, as data from which sentences are made.

A reason is the path taken with the case's own values, the terms of a score, or the training case
that votes. `answer` is the vote, and can be checked against the data: every test holds, terms add
up to scores, scores give the answer.
"""

from psephos.vote.reasons.abstaining import abstention, read_by
from psephos.vote.reasons.base import Always, Reason, reason_and_vote, without_weight
from psephos.vote.reasons.gates import Gate, Route
from psephos.vote.reasons.paths import InLeaf, Path, Spread, Test
from psephos.vote.reasons.read import Abstention, CaseLike, FittedEstimator, Inner, OfAnswers
from psephos.vote.reasons.scores import Score, Term

__all__ = [
    "Abstention", "Always", "CaseLike", "FittedEstimator", "Gate", "InLeaf", "Inner", "OfAnswers",
    "Path", "Reason", "Route", "Score", "Spread", "Term", "Test", "abstention", "read_by",
    "reason_and_vote", "without_weight",
]  # fmt: skip
