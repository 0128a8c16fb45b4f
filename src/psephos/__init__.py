"""psephos: few voters, named and counted.

Every fitted model is a vote, ``F(x) = sum_t w_t(x) h_t(x)``, whose voters name the columns they
read. Public names are loaded on first use, so that ``import psephos`` (and ``psephos --help``)
costs almost nothing.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:  # for editors and type checkers; at run time see __getattr__
    from psephos._errors import PsephosError
    from psephos.models import (
        AdaBoostClassifier,
        C45Classifier,
        C45RulesClassifier,
        CARTClassifier,
        CARTRegressor,
        ExtraTreesClassifier,
        ExtraTreesRegressor,
        GradientBoostingClassifier,
        GradientBoostingRegressor,
        NewtonBoostingClassifier,
        NewtonBoostingRegressor,
        ProsetClassifier,
        ProsetRegressor,
        PureRandomForestClassifier,
        RandomForestClassifier,
        RandomForestRegressor,
        SamBAClassifier,
        SparseWrapperClassifier,
        SparseWrapperRegressor,
        load,
        save,
    )
    from psephos.protocol import ProsetSearchCV, compare, read_table
    from psephos.vote import Ballots, Vote

__version__ = "0.1.0.dev0"

#: Where each recipe is; a family is imported when one of its recipes is first asked for.
_RECIPES = {
    "AdaBoostClassifier": "psephos.models.boosting",
    "C45Classifier": "psephos.models.tree",
    "C45RulesClassifier": "psephos.models.tree",
    "CARTClassifier": "psephos.models.tree",
    "CARTRegressor": "psephos.models.tree",
    "ExtraTreesClassifier": "psephos.models.forest",
    "ExtraTreesRegressor": "psephos.models.forest",
    "GradientBoostingClassifier": "psephos.models.boosting",
    "GradientBoostingRegressor": "psephos.models.boosting",
    "NewtonBoostingClassifier": "psephos.models.boosting",
    "NewtonBoostingRegressor": "psephos.models.boosting",
    "ProsetClassifier": "psephos.models.prototypes",
    "ProsetRegressor": "psephos.models.prototypes",
    "PureRandomForestClassifier": "psephos.models.forest",
    "RandomForestClassifier": "psephos.models.forest",
    "RandomForestRegressor": "psephos.models.forest",
    "SamBAClassifier": "psephos.models.boosting",
    "SparseWrapperClassifier": "psephos.models.library",
    "SparseWrapperRegressor": "psephos.models.library",
}
_PUBLIC = _RECIPES | {
    "Ballots": "psephos.vote",
    "ProsetSearchCV": "psephos.protocol",
    "PsephosError": "psephos._errors",
    "Vote": "psephos.vote",
    "compare": "psephos.protocol",
    "load": "psephos.modelfile",
    "read_table": "psephos.protocol",
    "save": "psephos.modelfile",
}

__all__ = [
    "AdaBoostClassifier",
    "Ballots",
    "C45Classifier",
    "C45RulesClassifier",
    "CARTClassifier",
    "CARTRegressor",
    "ExtraTreesClassifier",
    "ExtraTreesRegressor",
    "GradientBoostingClassifier",
    "GradientBoostingRegressor",
    "NewtonBoostingClassifier",
    "NewtonBoostingRegressor",
    "ProsetClassifier",
    "ProsetRegressor",
    "ProsetSearchCV",
    "PsephosError",
    "PureRandomForestClassifier",
    "RandomForestClassifier",
    "RandomForestRegressor",
    "SamBAClassifier",
    "SparseWrapperClassifier",
    "SparseWrapperRegressor",
    "Vote",
    "__version__",
    "compare",
    "load",
    "read_table",
    "save",
]


def __getattr__(name: str) -> Any:
    if name in _PUBLIC:
        return getattr(import_module(_PUBLIC[name]), name)
    raise AttributeError(f"module 'psephos' has no attribute {name!r}")


def __dir__() -> list[str]:
    return __all__
