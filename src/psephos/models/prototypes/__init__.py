"""Proset: training rows (prototypes) that vote for their own class or number, weighted locally."""

from psephos.models.prototypes.proset import ProsetClassifier, ProsetRegressor

__all__ = ["ProsetClassifier", "ProsetRegressor"]
