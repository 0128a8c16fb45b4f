"""Recipes: one file per algorithm, grouped by family."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from psephos.modelfile import load, save
from psephos.registry import BUILTIN

if TYPE_CHECKING:  # for editors and type checkers; at run time see __getattr__
    from psephos.models.boosting import (
        AdaBoostClassifier,
        CompressedSamBAClassifier,
        GradientBoostingClassifier,
        GradientBoostingRegressor,
        LocalBoostingClassifier,
        NewtonBoostingClassifier,
        NewtonBoostingRegressor,
        SamBAClassifier,
    )
    from psephos.models.columns import ColumnBudgetClassifier, ColumnBudgetRegressor
    from psephos.models.committees import (
        BaggingClassifier,
        BaggingRegressor,
        CascadeClassifier,
        EnsembleSelectionClassifier,
        EnsembleSelectionRegressor,
        MultiViewClassifier,
        StackingClassifier,
        StackingRegressor,
        VotingClassifier,
        VotingRegressor,
    )
    from psephos.models.concepts import (
        BayesOptimalClassifier,
        GibbsClassifier,
        VersionSpaceClassifier,
    )
    from psephos.models.forest import (
        ExtraTreesClassifier,
        ExtraTreesRegressor,
        PureRandomForestClassifier,
        RandomForestClassifier,
        RandomForestRegressor,
    )
    from psephos.models.linear import RankRidgeClassifier, RankRidgeRegressor
    from psephos.models.neighbours import MLKNeighborsClassifier
    from psephos.models.prototypes import ProsetClassifier, ProsetRegressor
    from psephos.models.swag import SparseWrapperClassifier, SparseWrapperRegressor
    from psephos.models.tree import (
        C45Classifier,
        C45RulesClassifier,
        CARTClassifier,
        CARTRegressor,
    )

__all__ = [
    "AdaBoostClassifier",
    "BaggingClassifier",
    "BaggingRegressor",
    "BayesOptimalClassifier",
    "C45Classifier",
    "C45RulesClassifier",
    "CARTClassifier",
    "CARTRegressor",
    "CascadeClassifier",
    "ColumnBudgetClassifier",
    "ColumnBudgetRegressor",
    "CompressedSamBAClassifier",
    "EnsembleSelectionClassifier",
    "EnsembleSelectionRegressor",
    "ExtraTreesClassifier",
    "ExtraTreesRegressor",
    "GibbsClassifier",
    "GradientBoostingClassifier",
    "GradientBoostingRegressor",
    "LocalBoostingClassifier",
    "MLKNeighborsClassifier",
    "MultiViewClassifier",
    "NewtonBoostingClassifier",
    "NewtonBoostingRegressor",
    "ProsetClassifier",
    "ProsetRegressor",
    "PureRandomForestClassifier",
    "RandomForestClassifier",
    "RandomForestRegressor",
    "RankRidgeClassifier",
    "RankRidgeRegressor",
    "SamBAClassifier",
    "SparseWrapperClassifier",
    "SparseWrapperRegressor",
    "StackingClassifier",
    "StackingRegressor",
    "VersionSpaceClassifier",
    "VotingClassifier",
    "VotingRegressor",
    "load",
    "save",
]


def __getattr__(name: str) -> Any:
    if name in BUILTIN:
        return getattr(import_module(BUILTIN[name]), name)
    raise AttributeError(f"module 'psephos.models' has no attribute {name!r}")


def __dir__() -> list[str]:
    return __all__
