"""Explanations as objects: from a fitted estimator to a frame and a plot."""

from psephos.explain.errors import ErrorDisplay
from psephos.explain.network import ColumnNetwork
from psephos.explain.permuting import selection_test
from psephos.explain.prototype_ballots import PrototypeBallot
from psephos.explain.prototype_plots import BatchMap, ColumnMap, DecisionSurface
from psephos.explain.prototypes import (
    PrototypeTable,
    familiarity,
    familiarity_p_value,
    reference_point,
)
from psephos.explain.selection import SelectionTest

__all__ = [
    "BatchMap",
    "ColumnMap",
    "ColumnNetwork",
    "DecisionSurface",
    "ErrorDisplay",
    "PrototypeBallot",
    "PrototypeTable",
    "SelectionTest",
    "familiarity",
    "familiarity_p_value",
    "reference_point",
    "selection_test",
]
