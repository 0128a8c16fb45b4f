"""psephos: few voters, named and counted.

Every fitted model is a vote, ``F(x) = sum_t w_t(x) h_t(x)``, whose voters name the columns they
read. Public names are loaded on first use, so that ``import psephos`` (and ``psephos --help``)
costs almost nothing.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:  # for editors and type checkers; at run time see __getattr__
    from psephos._errors import PsephosError, UnknownLevelWarning
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

#: The models: the one name of each (on the command line, in results, reports and model folders),
#: and its class. A family is imported when one of its models is first asked for.
_MODELS = {
    "adaboost": "psephos.models.boosting:AdaBoostClassifier",
    "c45": "psephos.models.tree:C45Classifier",
    "c45-rules": "psephos.models.tree:C45RulesClassifier",
    "cart": "psephos.models.tree:CARTClassifier",
    "cart-regressor": "psephos.models.tree:CARTRegressor",
    "extra-trees": "psephos.models.forest:ExtraTreesClassifier",
    "extra-trees-regressor": "psephos.models.forest:ExtraTreesRegressor",
    "gradient-boosting": "psephos.models.boosting:GradientBoostingClassifier",
    "gradient-boosting-regressor": "psephos.models.boosting:GradientBoostingRegressor",
    "newton-boosting": "psephos.models.boosting:NewtonBoostingClassifier",
    "newton-boosting-regressor": "psephos.models.boosting:NewtonBoostingRegressor",
    "proset": "psephos.models.prototypes:ProsetClassifier",
    "proset-regressor": "psephos.models.prototypes:ProsetRegressor",
    "pure-random-forest": "psephos.models.forest:PureRandomForestClassifier",
    "random-forest": "psephos.models.forest:RandomForestClassifier",
    "random-forest-regressor": "psephos.models.forest:RandomForestRegressor",
    "samba": "psephos.models.boosting:SamBAClassifier",
    "swag": "psephos.models.swag:SparseWrapperClassifier",
    "swag-regressor": "psephos.models.swag:SparseWrapperRegressor",
}
_RECIPES = {place.split(":")[1]: place.split(":")[0] for place in _MODELS.values()}
_PUBLIC = _RECIPES | {
    "Ballots": "psephos.vote",
    "ProsetSearchCV": "psephos.protocol",
    "PsephosError": "psephos._errors",
    "UnknownLevelWarning": "psephos._errors",
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
    "UnknownLevelWarning",
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
