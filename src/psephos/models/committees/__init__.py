"""Committees: several models that vote, are stacked, or are selected from a library."""

from psephos.models.committees.adaboost_regressor import AdaBoostRegressor
from psephos.models.committees.bagging import BaggingClassifier, BaggingRegressor
from psephos.models.committees.cascade import CascadeClassifier
from psephos.models.committees.ensemble_selection import (
    EnsembleSelectionClassifier,
    EnsembleSelectionRegressor,
)
from psephos.models.committees.multi_view import MultiViewClassifier, MultiViewRegressor
from psephos.models.committees.stacking import StackingClassifier, StackingRegressor
from psephos.models.committees.voting import VotingClassifier, VotingRegressor

__all__ = [
    "AdaBoostRegressor",
    "BaggingClassifier",
    "BaggingRegressor",
    "CascadeClassifier",
    "EnsembleSelectionClassifier",
    "EnsembleSelectionRegressor",
    "MultiViewClassifier",
    "MultiViewRegressor",
    "StackingClassifier",
    "StackingRegressor",
    "VotingClassifier",
    "VotingRegressor",
]
