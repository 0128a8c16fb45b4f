"""Linear models."""

from psephos.models.linear.rank_ridge import RankRidgeClassifier, RankRidgeRegressor

__all__ = ["RankRidgeClassifier", "RankRidgeRegressor"]
