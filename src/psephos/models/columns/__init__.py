"""Votes on few columns: columns are selected first, or a fitted vote is reduced."""

from psephos.models.columns.budget import ColumnBudgetClassifier, ColumnBudgetRegressor

__all__ = ["ColumnBudgetClassifier", "ColumnBudgetRegressor"]
