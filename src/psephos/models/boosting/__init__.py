"""Boosting: AdaBoost and SamBA on one loop; gradient and second-order trees."""

from psephos.models.boosting.adaboost import AdaBoostClassifier
from psephos.models.boosting.compressed_samba import CompressedSamBAClassifier
from psephos.models.boosting.compression import SampleCompression
from psephos.models.boosting.gradient import (
    GradientBoostingClassifier,
    GradientBoostingRegressor,
)
from psephos.models.boosting.local_boosting import LocalBoostingClassifier
from psephos.models.boosting.newton import NewtonBoostingClassifier, NewtonBoostingRegressor
from psephos.models.boosting.samba import SamBAClassifier
from psephos.models.boosting.skeleton import BoostingRound

__all__ = [
    "AdaBoostClassifier",
    "BoostingRound",
    "CompressedSamBAClassifier",
    "GradientBoostingClassifier",
    "GradientBoostingRegressor",
    "LocalBoostingClassifier",
    "NewtonBoostingClassifier",
    "NewtonBoostingRegressor",
    "SamBAClassifier",
    "SampleCompression",
]
