"""Boosting: one skeleton, two instances, and second-order trees."""

from psephos.models.boosting.adaboost import AdaBoostClassifier
from psephos.models.boosting.newton import NewtonBoostingClassifier, NewtonBoostingRegressor
from psephos.models.boosting.samba import SamBAClassifier

__all__ = [
    "AdaBoostClassifier",
    "NewtonBoostingClassifier",
    "NewtonBoostingRegressor",
    "SamBAClassifier",
]
