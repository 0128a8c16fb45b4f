"""The models by name: those of psephos, and those that users register.

A model of psephos is one line of `MODELS`. Another model is known after its module, where its
class is decorated with `register`, has been imported. The models of psephos are imported on first
use.
"""

from collections.abc import Mapping
from importlib import import_module
from typing import TYPE_CHECKING, Any, TypeVar

from psephos._errors import PsephosError

if TYPE_CHECKING:
    from psephos.base import VoteEstimator

#: The models of psephos: the name of each (on the command line, in results, reports and model
#: folders), and the path of its class in `psephos.models`. Comparisons list them in this order.
_PATHS = {
    "samba": "boosting.samba:SamBAClassifier",
    "adaboost": "boosting.adaboost:AdaBoostClassifier",
    "local-boosting": "boosting.local_boosting:LocalBoostingClassifier",
    "compressed-samba": "boosting.compressed_samba:CompressedSamBAClassifier",
    "swag": "swag.wrapper:SparseWrapperClassifier",
    "proset": "prototypes.proset:ProsetClassifier",
    "cart": "tree.cart:CARTClassifier",
    "linear-tree": "tree.linear_tree:LinearTreeClassifier",
    "c45": "tree.c45:C45Classifier",
    "c45-rules": "tree.c45_rules:C45RulesClassifier",
    "random-forest": "forest.random_forest:RandomForestClassifier",
    "extra-trees": "forest.extra_trees:ExtraTreesClassifier",
    "pure-random-forest": "forest.pure:PureRandomForestClassifier",
    "gradient-boosting": "boosting.gradient:GradientBoostingClassifier",
    "newton-boosting": "boosting.newton:NewtonBoostingClassifier",
    "soft-boosting": "boosting.soft.estimators:SoftGradientBoostingClassifier",
    "soft-tree": "tree.soft_tree:SoftTreeClassifier",
    "rank-ridge": "linear.rank_ridge:RankRidgeClassifier",
    "ml-knn": "neighbours.ml_knn:MLKNeighborsClassifier",
    "pu": "weak.pu:PUClassifier",
    "one-sided-noise": "weak.one_sided:OneSidedNoiseClassifier",
    "liois": "weak.liois:LIoISClassifier",
    "version-space": "concepts.version_space:VersionSpaceClassifier",
    "bayes-optimal": "concepts.bayes_optimal:BayesOptimalClassifier",
    "gibbs": "concepts.gibbs:GibbsClassifier",
    "voting": "committees.voting:VotingClassifier",
    "stacking": "committees.stacking:StackingClassifier",
    "cascade": "committees.cascade:CascadeClassifier",
    "multi-view": "committees.multi_view:MultiViewClassifier",
    "ensemble-selection": "committees.ensemble_selection:EnsembleSelectionClassifier",
    "bagging": "committees.bagging:BaggingClassifier",
    "column-budget": "columns.budget:ColumnBudgetClassifier",
    "adaboost-regressor": "committees.adaboost_regressor:AdaBoostRegressor",
    "bagging-regressor": "committees.bagging:BaggingRegressor",
    "cart-regressor": "tree.cart:CARTRegressor",
    "column-budget-regressor": "columns.budget:ColumnBudgetRegressor",
    "ensemble-selection-regressor": "committees.ensemble_selection:EnsembleSelectionRegressor",
    "extra-trees-regressor": "forest.extra_trees:ExtraTreesRegressor",
    "gradient-boosting-regressor": "boosting.gradient:GradientBoostingRegressor",
    "linear-tree-regressor": "tree.linear_tree:LinearTreeRegressor",
    "multi-view-regressor": "committees.multi_view:MultiViewRegressor",
    "newton-boosting-regressor": "boosting.newton:NewtonBoostingRegressor",
    "proset-regressor": "prototypes.proset:ProsetRegressor",
    "random-forest-regressor": "forest.random_forest:RandomForestRegressor",
    "rank-ridge-regressor": "linear.rank_ridge:RankRidgeRegressor",
    "soft-boosting-regressor": "boosting.soft.estimators:SoftGradientBoostingRegressor",
    "soft-tree-regressor": "tree.soft_tree:SoftTreeRegressor",
    "swag-regressor": "swag.wrapper:SparseWrapperRegressor",
    "stacking-regressor": "committees.stacking:StackingRegressor",
    "voting-regressor": "committees.voting:VotingRegressor",
}
MODELS = {name: f"psephos.models.{path}" for name, path in _PATHS.items()}
#: The module of each class of psephos.
BUILTIN = {place.split(":")[1]: place.split(":")[0] for place in MODELS.values()}

_BASE = "psephos.estimator.vote_estimator.VoteEstimator"
_registered: dict[str, type[Any]] = {}
_Model = TypeVar("_Model", bound=type[Any])


def register(model: _Model) -> _Model:
    """Register a model under the name that its `contender` declares (a class decorator).

    It can then be saved, loaded, compared, reported and named on the command line (there with
    ``psephos --import MODULE ...``).

    Parameters
    ----------
    model : class
        Derived from `VoteClassifier` or `VoteRegressor`, with `anatomy`, `constraints` and
        `contender`.

    Returns
    -------
    model : class
        The same class.

    Raises
    ------
    PsephosError
        If it is not derived from an estimator of psephos, declares no name, or its name or class
        name is already taken.

    Examples
    --------
    >>> from psephos import CARTClassifier, register
    >>> from psephos.protocol import Contender, known_models
    >>> @register
    ... class OneSplitClassifier(CARTClassifier):
    ...     contender = Contender("one-split", "tree", notes="a tree of one split")
    >>> "one-split" in known_models()
    True
    """
    _check_estimator(model)
    contender = model.__dict__.get("contender")
    if contender is None:
        raise PsephosError(
            f"{model.__name__} declares no name: write `contender = Contender(name, family)` in "
            "its body."
        )
    for name, place in _places().items():
        taken = (contender.name == name, model.__name__ == _class_name(place))
        if any(taken) and place != _place(model):
            raise PsephosError(
                f"there is a model {name!r} already ({place.replace(':', '.')}): give "
                f"{model.__name__} another {'name' if taken[0] else 'class name'}."
            )
    _registered[contender.name] = model
    return model


def _check_estimator(model: Any) -> None:
    bases = model.__mro__ if isinstance(model, type) else ()  # the base itself is in a layer above
    if not any(f"{one.__module__}.{one.__name__}" == _BASE for one in bases):
        raise PsephosError(
            f"{model!r} cannot be registered: derive a class from psephos.base.VoteClassifier or "
            "VoteRegressor, and register the class."
        )


def is_registered(model: type[Any]) -> bool:
    """Return whether a class is itself (not by inheritance) a model of psephos or registered."""
    if model.__module__.startswith("psephos."):
        return True
    return model in _registered.values()


def _place(model: type[Any]) -> str:
    return f"{model.__module__}:{model.__qualname__}"


def _places() -> dict[str, str]:
    """Return the path of the class of each model, by name."""
    return MODELS | {name: _place(model) for name, model in _registered.items()}


def _class_name(place: str) -> str:
    """Return the name of a class, without the classes or functions around it."""
    return place.rpartition(":")[2].rpartition(".")[2]


def model_names() -> dict[str, str]:
    """Return the class name of each model, by its name on the command line and in results."""
    return {name: _class_name(place) for name, place in _places().items()}


def estimator_class(name: str) -> "type[VoteEstimator] | None":
    """Return the estimator with that class name, or None; no other family is imported."""
    if name in BUILTIN:
        return builtin(name)
    return next((m for m in _registered.values() if m.__name__ == name), None)


def variant(name: str) -> tuple[str, Mapping[str, Any]]:
    """Return the model of a variant's name, and the parameters that the variant fixes.

    Any other name is returned as it is, without parameters.
    """
    for base, kind in model_names().items():
        if name.startswith(f"{base.removesuffix('-regressor')}-") and name not in model_names():
            model = estimator_class(kind)
            variants = model.contender.variants if model else {}
            if name in variants:
                return base, variants[name]
    return name, {}


def builtin(name: str) -> Any:
    """Return the class of psephos with that name; the error says where it is missing."""
    module = import_module(BUILTIN[name])
    if not hasattr(module, name):
        raise PsephosError(
            f"{module.__file__} has no {name}, but registry.py lists it there: correct its path."
        )
    return getattr(module, name)


def estimator_classes() -> "Mapping[str, type[VoteEstimator]]":
    """Return all estimators by the name of their class."""
    own = {model.__name__: model for model in _registered.values()}
    return {kind: own[kind] if kind in own else builtin(kind) for kind in model_names().values()}


def import_models(module: str) -> None:
    """Import a module that registers models."""
    try:
        import_module(module)
    except PsephosError:
        raise
    except Exception as error:  # an imported module may raise anything
        raise PsephosError(
            f"--import {module} cannot be imported: {type(error).__name__}: {error}"
        ) from error
