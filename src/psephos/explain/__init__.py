"""Explanations as objects: from a fitted estimator to a frame and a plot."""

from psephos.explain.bias_variance import BiasVarianceDisplay
from psephos.explain.cohort import CohortDisplay
from psephos.explain.column_curve import ColumnCurveDisplay
from psephos.explain.column_values import ValuesDisplay
from psephos.explain.diversity import DiversityDisplay
from psephos.explain.errors import ErrorDisplay, MechanismDisplay
from psephos.explain.missed import MissedDisplay
from psephos.explain.missing_columns import NextColumn, next_column
from psephos.explain.network import ColumnNetwork
from psephos.explain.observed import ObservedDisplay
from psephos.explain.permuting import PermutedDisplay
from psephos.explain.prototype_plots import BatchMap, ColumnMap, DecisionSurface
from psephos.explain.prototypes import (
    PrototypeBallot,
    PrototypeTable,
    familiarity,
    familiarity_p_value,
    reference_point,
)
from psephos.explain.selection import SelectionTest, selection_test
from psephos.explain.tree import TreeDisplay, export_text

__all__ = [
    "BatchMap", "BiasVarianceDisplay", "CohortDisplay", "ColumnCurveDisplay", "ColumnMap",
    "ColumnNetwork", "DecisionSurface", "DiversityDisplay", "ErrorDisplay", "MechanismDisplay",
    "MissedDisplay", "NextColumn", "ObservedDisplay", "PermutedDisplay", "PrototypeBallot",
    "PrototypeTable", "SelectionTest", "TreeDisplay", "ValuesDisplay", "export_text", "familiarity",
    "familiarity_p_value", "next_column", "reference_point", "selection_test",
]  # fmt: skip
