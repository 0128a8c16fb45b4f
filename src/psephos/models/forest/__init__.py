"""Forests: the mean of independently grown trees."""

from psephos.models.forest.extra_trees import ExtraTreesClassifier, ExtraTreesRegressor
from psephos.models.forest.pure import PureRandomForestClassifier
from psephos.models.forest.random_forest import RandomForestClassifier, RandomForestRegressor

__all__ = [
    "ExtraTreesClassifier",
    "ExtraTreesRegressor",
    "PureRandomForestClassifier",
    "RandomForestClassifier",
    "RandomForestRegressor",
]
