"""SWAG, the Sparse Wrapper AlGorithm: a library of small models that vote."""

from psephos.models.library.library import Library
from psephos.models.library.wrapper import SparseWrapperClassifier, SparseWrapperRegressor

__all__ = ["Library", "SparseWrapperClassifier", "SparseWrapperRegressor"]
