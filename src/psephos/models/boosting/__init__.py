"""Boosting: AdaBoost and SamBA on one loop; gradient and second-order trees."""

from psephos.models.boosting.adaboost import AdaBoostClassifier
from psephos.models.boosting.gradient import (
    GradientBoostingClassifier,
    GradientBoostingRegressor,
)
from psephos.models.boosting.newton import NewtonBoostingClassifier, NewtonBoostingRegressor
from psephos.models.boosting.samba import SamBAClassifier

__all__ = [
    "AdaBoostClassifier",
    "GradientBoostingClassifier",
    "GradientBoostingRegressor",
    "NewtonBoostingClassifier",
    "NewtonBoostingRegressor",
    "SamBAClassifier",
]
