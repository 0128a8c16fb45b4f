"""Recipes: one file per algorithm, grouped by family."""

from psephos.modelfile import load, save
from psephos.models.boosting import AdaBoostClassifier, SamBAClassifier
from psephos.models.library import SparseWrapperClassifier, SparseWrapperRegressor

__all__ = [
    "AdaBoostClassifier",
    "SamBAClassifier",
    "SparseWrapperClassifier",
    "SparseWrapperRegressor",
    "load",
    "save",
]
