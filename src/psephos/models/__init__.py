"""Recipes: one file per algorithm, grouped by family."""

from psephos.modelfile import load, save
from psephos.models.boosting import AdaBoostClassifier, SamBAClassifier

__all__ = ["AdaBoostClassifier", "SamBAClassifier", "load", "save"]
