"""Explanations as objects: from a fitted estimator to a frame and a plot."""

from psephos.explain.errors import ErrorDisplay
from psephos.explain.network import ColumnNetwork

__all__ = ["ColumnNetwork", "ErrorDisplay"]
