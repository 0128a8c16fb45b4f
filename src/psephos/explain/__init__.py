"""Explanations as objects: from a fitted estimator to a frame and a plot."""

from psephos.explain.errors import ErrorDisplay
from psephos.explain.network import ColumnNetwork
from psephos.explain.permuting import selection_test
from psephos.explain.selection import SelectionTest

__all__ = ["ColumnNetwork", "ErrorDisplay", "SelectionTest", "selection_test"]
