"""Few columns first, then a vote on them; and a fitted vote made smaller."""

from psephos.models.columns.budget import ColumnBudgetClassifier, ColumnBudgetRegressor

__all__ = ["ColumnBudgetClassifier", "ColumnBudgetRegressor"]
