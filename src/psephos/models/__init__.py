"""Recipes: one file per algorithm, grouped by family."""

from psephos.modelfile import load, save
from psephos.models.boosting import AdaBoostClassifier, SamBAClassifier
from psephos.models.library import SparseWrapperClassifier, SparseWrapperRegressor
from psephos.models.prototypes import ProsetClassifier, ProsetRegressor

__all__ = [
    "AdaBoostClassifier",
    "ProsetClassifier",
    "ProsetRegressor",
    "SamBAClassifier",
    "SparseWrapperClassifier",
    "SparseWrapperRegressor",
    "load",
    "save",
]
