"""Recipes: one file per algorithm, grouped by family."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from psephos import _RECIPES
from psephos.modelfile import load, save

if TYPE_CHECKING:  # for editors and type checkers; at run time see __getattr__
    from psephos.models.boosting import AdaBoostClassifier, SamBAClassifier
    from psephos.models.library import SparseWrapperClassifier, SparseWrapperRegressor
    from psephos.models.prototypes import ProsetClassifier, ProsetRegressor

__all__ = [
    "AdaBoostClassifier",
    "ProsetClassifier",
    "ProsetRegressor",
    "SamBAClassifier",
    "SparseWrapperClassifier",
    "SparseWrapperRegressor",
    "load",
    "save",
]


def __getattr__(name: str) -> Any:
    if name in _RECIPES:
        return getattr(import_module(_RECIPES[name]), name)
    raise AttributeError(f"module 'psephos.models' has no attribute {name!r}")


def __dir__() -> list[str]:
    return __all__
