"""Boosting: one skeleton, two instances."""

from psephos.models.boosting.adaboost import AdaBoostClassifier
from psephos.models.boosting.samba import SamBAClassifier

__all__ = ["AdaBoostClassifier", "SamBAClassifier"]
