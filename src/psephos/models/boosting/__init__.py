"""Boosting: AdaBoost and SamBA on one loop; gradient, second-order and soft trees."""

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
from psephos.models.boosting.soft import (
    SoftGradientBoostingClassifier,
    SoftGradientBoostingRegressor,
)

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
    "SoftGradientBoostingClassifier",
    "SoftGradientBoostingRegressor",
]
