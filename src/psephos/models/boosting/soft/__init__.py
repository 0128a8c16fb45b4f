"""Soft gradient boosting, and what all models of soft trees share."""

from psephos.models.boosting.soft.estimators import (
    SoftGradientBoostingClassifier,
    SoftGradientBoostingRegressor,
)

__all__ = ["SoftGradientBoostingClassifier", "SoftGradientBoostingRegressor"]
