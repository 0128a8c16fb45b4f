"""psephos: few voters, named and counted.

Every fitted model is a vote, ``F(x) = sum_t w_t(x) h_t(x)``, whose voters name the columns they
read. Public names are loaded on first use, so that ``import psephos`` (and ``psephos --help``)
costs almost nothing.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from psephos.registry import BUILTIN

if TYPE_CHECKING:  # for editors and type checkers; at run time see __getattr__
    from psephos._errors import (
        CollapseWarning,
        ConstantAnswerWarning,
        PsephosError,
        TableWarning,
        UnknownLevelWarning,
        WeakLabelsWarning,
    )
    from psephos.calibrating import at_threshold, calibrate
    from psephos.modelfile import load, save
    from psephos.models.boosting.adaboost import AdaBoostClassifier
    from psephos.models.boosting.compressed_samba import CompressedSamBAClassifier
    from psephos.models.boosting.gradient import (
        GradientBoostingClassifier,
        GradientBoostingRegressor,
    )
    from psephos.models.boosting.local_boosting import LocalBoostingClassifier
    from psephos.models.boosting.newton import NewtonBoostingClassifier, NewtonBoostingRegressor
    from psephos.models.boosting.out_of_core import fit_blocks, fit_partitions
    from psephos.models.boosting.samba import SamBAClassifier
    from psephos.models.boosting.soft.estimators import (
        SoftGradientBoostingClassifier,
        SoftGradientBoostingRegressor,
    )
    from psephos.models.columns.budget import ColumnBudgetClassifier, ColumnBudgetRegressor
    from psephos.models.columns.shrink import shrink
    from psephos.models.committees.adaboost_regressor import AdaBoostRegressor
    from psephos.models.committees.bagging import BaggingClassifier, BaggingRegressor
    from psephos.models.committees.cascade import CascadeClassifier
    from psephos.models.committees.ensemble_selection import (
        EnsembleSelectionClassifier,
        EnsembleSelectionRegressor,
    )
    from psephos.models.committees.multi_view import MultiViewClassifier, MultiViewRegressor
    from psephos.models.committees.stacking import StackingClassifier, StackingRegressor
    from psephos.models.committees.voting import VotingClassifier, VotingRegressor
    from psephos.models.concepts.bayes_optimal import BayesOptimalClassifier
    from psephos.models.concepts.gibbs import GibbsClassifier
    from psephos.models.concepts.version_space import VersionSpaceClassifier
    from psephos.models.distilling import twice_learn
    from psephos.models.forest.extra_trees import ExtraTreesClassifier, ExtraTreesRegressor
    from psephos.models.forest.pure import PureRandomForestClassifier
    from psephos.models.forest.random_forest import RandomForestClassifier, RandomForestRegressor
    from psephos.models.linear.rank_ridge import RankRidgeClassifier, RankRidgeRegressor
    from psephos.models.neighbours.ml_knn import MLKNeighborsClassifier
    from psephos.models.prototypes.proset import ProsetClassifier, ProsetRegressor
    from psephos.models.swag.wrapper import SparseWrapperClassifier, SparseWrapperRegressor
    from psephos.models.tree.c45 import C45Classifier
    from psephos.models.tree.c45_rules import C45RulesClassifier
    from psephos.models.tree.cart import CARTClassifier, CARTRegressor
    from psephos.models.tree.linear_tree import LinearTreeClassifier, LinearTreeRegressor
    from psephos.models.tree.soft_tree import SoftTreeClassifier, SoftTreeRegressor
    from psephos.models.weak.liois import LIoISClassifier
    from psephos.models.weak.one_sided import OneSidedNoiseClassifier
    from psephos.models.weak.pu import PUClassifier
    from psephos.protocol import ProsetSearchCV, check_table, compare, read_table
    from psephos.recalibrating import recalibrated
    from psephos.registry import register
    from psephos.trees.out_of_core import ArrayRows, ParquetRows, dask_partitions
    from psephos.validation import Validation, validate
    from psephos.vote import Ballots, Vote

__version__ = "0.1.0.dev0"

_PUBLIC = BUILTIN | {
    "ArrayRows": "psephos.trees.out_of_core",
    "Ballots": "psephos.vote",
    "CollapseWarning": "psephos._errors",
    "ConstantAnswerWarning": "psephos._errors",
    "ParquetRows": "psephos.trees.out_of_core",
    "ProsetSearchCV": "psephos.protocol",
    "PsephosError": "psephos._errors",
    "TableWarning": "psephos._errors",
    "UnknownLevelWarning": "psephos._errors",
    "Validation": "psephos.validation",
    "Vote": "psephos.vote",
    "WeakLabelsWarning": "psephos._errors",
    "at_threshold": "psephos.calibrating",
    "calibrate": "psephos.calibrating",
    "check_table": "psephos.protocol",
    "compare": "psephos.protocol",
    "dask_partitions": "psephos.trees.out_of_core",
    "fit_blocks": "psephos.models.boosting.out_of_core",
    "fit_partitions": "psephos.models.boosting.out_of_core",
    "load": "psephos.modelfile",
    "read_table": "psephos.protocol",
    "recalibrated": "psephos.recalibrating",
    "register": "psephos.registry",
    "save": "psephos.modelfile",
    "shrink": "psephos.models.columns.shrink",
    "twice_learn": "psephos.models.distilling",
    "validate": "psephos.validation",
}

__all__ = [
    "AdaBoostClassifier", "AdaBoostRegressor", "ArrayRows", "BaggingClassifier",
    "BaggingRegressor", "Ballots", "BayesOptimalClassifier", "C45Classifier",
    "C45RulesClassifier", "CARTClassifier", "CARTRegressor", "CascadeClassifier",
    "CollapseWarning", "ColumnBudgetClassifier", "ColumnBudgetRegressor",
    "CompressedSamBAClassifier", "ConstantAnswerWarning", "EnsembleSelectionClassifier",
    "EnsembleSelectionRegressor", "ExtraTreesClassifier", "ExtraTreesRegressor", "GibbsClassifier",
    "GradientBoostingClassifier", "GradientBoostingRegressor", "LIoISClassifier",
    "LinearTreeClassifier", "LinearTreeRegressor",
    "LocalBoostingClassifier", "MLKNeighborsClassifier", "MultiViewClassifier",
    "MultiViewRegressor", "NewtonBoostingClassifier", "NewtonBoostingRegressor",
    "OneSidedNoiseClassifier", "PUClassifier", "ParquetRows", "ProsetClassifier",
    "ProsetRegressor", "ProsetSearchCV",
    "PsephosError", "PureRandomForestClassifier", "RandomForestClassifier", "RandomForestRegressor",
    "RankRidgeClassifier", "RankRidgeRegressor", "SamBAClassifier",
    "SoftGradientBoostingClassifier", "SoftGradientBoostingRegressor", "SoftTreeClassifier",
    "SoftTreeRegressor", "SparseWrapperClassifier", "SparseWrapperRegressor", "StackingClassifier",
    "StackingRegressor", "TableWarning", "UnknownLevelWarning", "Validation",
    "VersionSpaceClassifier", "Vote", "VotingClassifier", "VotingRegressor", "WeakLabelsWarning",
    "__version__", "at_threshold", "calibrate", "check_table", "compare", "dask_partitions",
    "fit_blocks", "fit_partitions", "load", "read_table", "recalibrated", "register", "save",
    "shrink", "twice_learn", "validate",
]  # fmt: skip


def __getattr__(name: str) -> Any:
    if name in _PUBLIC:
        return getattr(import_module(_PUBLIC[name]), name)
    raise AttributeError(f"module 'psephos' has no attribute {name!r}")


def __dir__() -> list[str]:
    return __all__
