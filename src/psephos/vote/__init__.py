"""The noun of the library: a vote is voters, their weights and a read-out."""

from psephos.vote.availability import Available
from psephos.vote.ballots import Ballots, Names
from psephos.vote.branching import BranchVoters
from psephos.vote.coded import CodedVoters, design_matrix
from psephos.vote.composed import ComposedVoters, answer_names
from psephos.vote.foreign import ForeignVoters, from_estimators
from psephos.vote.forests import ForestVoters
from psephos.vote.gates import ConfidenceGate, OutputWeights
from psephos.vote.gaussian import NaiveBayesVoters, QuadraticVoters
from psephos.vote.joined import JoinedVoters, join
from psephos.vote.kernel import KernelVoters
from psephos.vote.linear import LinearVoters
from psephos.vote.mixed import mixed_voters, neighbour_vote
from psephos.vote.neighbours import CaseVoters, Neighbours
from psephos.vote.nested import NestedVoters
from psephos.vote.part import Voters, Weighting
from psephos.vote.prototype_kernels import KernelWeights
from psephos.vote.prototype_voters import PrototypeVoters
from psephos.vote.prototypes import (
    KernelScaling,
    PrototypeBatch,
    mixture_moments,
    prototype_vote,
)
from psephos.vote.readout import Readout
from psephos.vote.rules import FirstMatch, RuleVoters
from psephos.vote.similarity import InverseDistance
from psephos.vote.target import (
    AnyTarget,
    CostTarget,
    LabelsTarget,
    NumbersTarget,
    RegressionTarget,
    Target,
)
from psephos.vote.trees import TreeVoters
from psephos.vote.vote import Vote
from psephos.vote.voters import ConstantVoters, StumpVoters
from psephos.vote.weights import Constant, Local, Nearest

__all__ = [
    "AnyTarget",
    "Available",
    "Ballots",
    "BranchVoters",
    "CaseVoters",
    "CodedVoters",
    "ComposedVoters",
    "ConfidenceGate",
    "Constant",
    "ConstantVoters",
    "CostTarget",
    "FirstMatch",
    "ForeignVoters",
    "ForestVoters",
    "InverseDistance",
    "JoinedVoters",
    "KernelScaling",
    "KernelVoters",
    "KernelWeights",
    "LabelsTarget",
    "LinearVoters",
    "Local",
    "NaiveBayesVoters",
    "Names",
    "Nearest",
    "Neighbours",
    "NestedVoters",
    "NumbersTarget",
    "OutputWeights",
    "PrototypeBatch",
    "PrototypeVoters",
    "QuadraticVoters",
    "Readout",
    "RegressionTarget",
    "RuleVoters",
    "StumpVoters",
    "Target",
    "TreeVoters",
    "Vote",
    "Voters",
    "Weighting",
    "answer_names",
    "design_matrix",
    "from_estimators",
    "join",
    "mixed_voters",
    "mixture_moments",
    "neighbour_vote",
    "prototype_vote",
]
