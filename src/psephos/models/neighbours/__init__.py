"""Votes of the nearest training cases."""

from psephos.models.neighbours.ml_knn import MLKNeighborsClassifier

__all__ = ["MLKNeighborsClassifier"]
