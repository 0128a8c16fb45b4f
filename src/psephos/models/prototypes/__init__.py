"""Proset: training rows that vote for their own class or number, each weighted nearby."""

from psephos.models.prototypes.proset import ProsetClassifier, ProsetRegressor

__all__ = ["ProsetClassifier", "ProsetRegressor"]
