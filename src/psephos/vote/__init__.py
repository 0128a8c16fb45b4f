"""Votes: voters, their weights and a read-out, which together are every fitted model."""

from psephos.files.field_types import Nullable, Thresholds
from psephos.files.names import Names
from psephos.vote.ballots import Ballots
from psephos.vote.codec import register as register_part
from psephos.vote.operations.cases import CaseVoters, PrototypeVoters
from psephos.vote.operations.columns import CodedVoters, RankedVoters, design_matrix, normal_scores
from psephos.vote.operations.distance_weights import Nearest
from psephos.vote.operations.gates import SoftTreeVoters
from psephos.vote.operations.joined import ComposedVoters, JoinedVoters, answer_names, as_read, join
from psephos.vote.operations.machines import KernelVoters
from psephos.vote.operations.nested import NestedVoters
from psephos.vote.operations.scores import (
    Scores,
    linear_models,
    naive_bayes_models,
    quadratic_models,
)
from psephos.vote.operations.weights import Available, ConfidenceGate, Constant, OutputWeights
from psephos.vote.part import Voters, Weighting
from psephos.vote.readout import Readout
from psephos.vote.target import (
    AnyTarget,
    CostTarget,
    LabelsTarget,
    NumbersTarget,
    RegressionTarget,
    Target,
)
from psephos.vote.vote import Vote
from psephos.vote.voters.foreign import ForeignVoters, from_estimators
from psephos.vote.voters.hypotheses import CountedHypotheses, HypothesisVoters
from psephos.vote.voters.mixed import mixed_voters, neighbour_vote
from psephos.vote.voters.prototypes import (
    KernelScaling,
    KernelWeights,
    PrototypeBatch,
    prototype_vote,
)
from psephos.vote.voters.rules import FirstMatch, leaf_gates, rule_voters
from psephos.vote.voters.stumps import ConstantVoters, StumpVoters
from psephos.vote.voters.trees import TreeVoters, branch_voters, forest_voters
from psephos.vote.weights.local import InverseDistance, Local, LocalRelevance, Neighbours

__all__ = [
    "AnyTarget", "Available", "Ballots", "CaseVoters", "CodedVoters", "ComposedVoters",
    "ConfidenceGate", "Constant", "ConstantVoters", "CostTarget", "CountedHypotheses", "FirstMatch",
    "ForeignVoters", "HypothesisVoters", "InverseDistance", "JoinedVoters", "KernelScaling",
    "KernelVoters", "KernelWeights", "LabelsTarget", "Local", "LocalRelevance", "Names", "Nearest",
    "Neighbours", "NestedVoters", "Nullable", "NumbersTarget", "OutputWeights", "PrototypeBatch",
    "PrototypeVoters", "RankedVoters", "Readout", "RegressionTarget", "Scores", "SoftTreeVoters",
    "StumpVoters", "Target", "Thresholds", "TreeVoters", "Vote", "Voters", "Weighting",
    "answer_names", "as_read", "branch_voters", "design_matrix", "forest_voters", "from_estimators",
    "join", "leaf_gates", "linear_models", "mixed_voters", "naive_bayes_models",
    "neighbour_vote", "normal_scores", "prototype_vote", "quadratic_models", "register_part",
    "rule_voters",
]  # fmt: skip
