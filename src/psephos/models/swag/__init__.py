"""SWAG, the Sparse Wrapper AlGorithm: a library of small models that vote."""

from psephos.models.swag.library import Library
from psephos.models.swag.wrapper import SparseWrapperClassifier, SparseWrapperRegressor

__all__ = ["Library", "SparseWrapperClassifier", "SparseWrapperRegressor"]
