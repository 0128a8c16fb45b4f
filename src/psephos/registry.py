"""The models by name: those of psephos, of installed packages, and those registered by hand.

A model of psephos is one line of `MODELS`. Another package's is found where the package declares it
as an entry point,

.. code-block:: toml

    [project.entry-points."psephos.models"]
    my-model = "my_package.module:MyModelClassifier"

or, in a notebook or a script, where its class is decorated with `register`. A family is imported
when one of its models is first asked for.
"""

from collections.abc import Mapping
from functools import cache
from importlib import import_module
from typing import TYPE_CHECKING, Any, TypeVar

from psephos._errors import PsephosError

if TYPE_CHECKING:
    from psephos.base import VoteEstimator

__all__ = [
    "BUILTIN",
    "MODELS",
    "estimator_class",
    "estimator_classes",
    "import_models",
    "is_registered",
    "model_names",
    "register",
]

#: The models of psephos: the one name of each (on the command line, in results, reports and model
#: folders), and the place of its class. Comparisons list them in this order.
MODELS = {
    "samba": "psephos.models.boosting:SamBAClassifier",
    "adaboost": "psephos.models.boosting:AdaBoostClassifier",
    "local-boosting": "psephos.models.boosting:LocalBoostingClassifier",
    "compressed-samba": "psephos.models.boosting:CompressedSamBAClassifier",
    "swag": "psephos.models.swag:SparseWrapperClassifier",
    "proset": "psephos.models.prototypes:ProsetClassifier",
    "cart": "psephos.models.tree:CARTClassifier",
    "c45": "psephos.models.tree:C45Classifier",
    "c45-rules": "psephos.models.tree:C45RulesClassifier",
    "random-forest": "psephos.models.forest:RandomForestClassifier",
    "extra-trees": "psephos.models.forest:ExtraTreesClassifier",
    "pure-random-forest": "psephos.models.forest:PureRandomForestClassifier",
    "gradient-boosting": "psephos.models.boosting:GradientBoostingClassifier",
    "newton-boosting": "psephos.models.boosting:NewtonBoostingClassifier",
    "rank-ridge": "psephos.models.linear:RankRidgeClassifier",
    "ml-knn": "psephos.models.neighbours:MLKNeighborsClassifier",
    "version-space": "psephos.models.concepts:VersionSpaceClassifier",
    "bayes-optimal": "psephos.models.concepts:BayesOptimalClassifier",
    "gibbs": "psephos.models.concepts:GibbsClassifier",
    "voting": "psephos.models.committees:VotingClassifier",
    "stacking": "psephos.models.committees:StackingClassifier",
    "cascade": "psephos.models.committees:CascadeClassifier",
    "multi-view": "psephos.models.committees:MultiViewClassifier",
    "ensemble-selection": "psephos.models.committees:EnsembleSelectionClassifier",
    "bagging": "psephos.models.committees:BaggingClassifier",
    "column-budget": "psephos.models.columns:ColumnBudgetClassifier",
    "bagging-regressor": "psephos.models.committees:BaggingRegressor",
    "cart-regressor": "psephos.models.tree:CARTRegressor",
    "column-budget-regressor": "psephos.models.columns:ColumnBudgetRegressor",
    "ensemble-selection-regressor": "psephos.models.committees:EnsembleSelectionRegressor",
    "extra-trees-regressor": "psephos.models.forest:ExtraTreesRegressor",
    "gradient-boosting-regressor": "psephos.models.boosting:GradientBoostingRegressor",
    "newton-boosting-regressor": "psephos.models.boosting:NewtonBoostingRegressor",
    "proset-regressor": "psephos.models.prototypes:ProsetRegressor",
    "random-forest-regressor": "psephos.models.forest:RandomForestRegressor",
    "rank-ridge-regressor": "psephos.models.linear:RankRidgeRegressor",
    "swag-regressor": "psephos.models.swag:SparseWrapperRegressor",
    "stacking-regressor": "psephos.models.committees:StackingRegressor",
    "voting-regressor": "psephos.models.committees:VotingRegressor",
}
#: The module of each class of psephos.
BUILTIN = {place.split(":")[1]: place.split(":")[0] for place in MODELS.values()}

_GROUP = "psephos.models"
_registered: dict[str, type[Any]] = {}
_Model = TypeVar("_Model", bound=type[Any])


def register(model: _Model) -> _Model:
    """Make a model known by the name its `contender` declares; a class decorator.

    It can then be saved, loaded, compared, reported and named on the command line (there with
    ``psephos --import MODULE ...``), and `psephos.testing.small_settings` has it.

    Parameters
    ----------
    model : class
        Of `VoteClassifier` or `VoteRegressor`, with `anatomy`, `constraints` and `contender`.

    Returns
    -------
    model : class
        The same.

    Raises
    ------
    PsephosError
        If it declares no name, or its name or its class's name is another model's.

    Notes
    -----
    Such as::

        @psephos.register
        class MineClassifier(VoteClassifier):
            contender = Contender("mine", "tree", notes="ours")
            ...
    """
    contender = model.__dict__.get("contender")
    if contender is None:
        raise PsephosError(
            f"{model.__name__} declares no name: write `contender = Contender(name, family)` in "
            "its body."
        )
    for name, place in _places().items():
        taken = (contender.name == name, model.__name__ == place.split(":")[1])
        if any(taken) and place != _place(model):
            raise PsephosError(
                f"there is a model {name!r} already ({place.replace(':', '.')}): give "
                f"{model.__name__} another {'name' if taken[0] else 'name of the class'}."
            )
    _registered[contender.name] = model
    return model


def is_registered(model: type[Any]) -> bool:
    """Return whether a class is one of psephos's models, or registered, and not one derived."""
    if model.__module__.startswith("psephos."):
        return True
    return model in _registered.values()


def _place(model: type[Any]) -> str:
    return f"{model.__module__}:{model.__qualname__}"


def _places() -> dict[str, str]:
    """Return where the class of each model is, by name."""
    return MODELS | _declared() | {name: _place(model) for name, model in _registered.items()}


@cache
def _declared() -> dict[str, str]:
    """Return what installed packages declare; a name or class of psephos stays psephos's."""
    from importlib.metadata import entry_points  # asked for by few

    found = {one.name: one.value for one in entry_points(group=_GROUP)}
    return {n: v for n, v in found.items() if n not in MODELS and v.split(":")[1] not in BUILTIN}


def model_names() -> dict[str, str]:
    """Return the class of each model by the name it has on the command line and in results."""
    return {name: place.split(":")[1] for name, place in _places().items()}


def estimator_class(name: str) -> "type[VoteEstimator] | None":
    """Return the estimator of that class name, or None; no other family is imported."""
    if name in BUILTIN:
        return getattr(import_module(BUILTIN[name]), name)
    for model in _registered.values():
        if model.__name__ == name:
            return model
    for place in _declared().values():
        module, _, kind = place.partition(":")
        if kind == name:
            return _imported(module, kind)
    return None


def _imported(module: str, kind: str) -> Any:
    try:
        return getattr(import_module(module), kind)
    except (ImportError, AttributeError) as error:
        raise PsephosError(
            f"an installed package declares the model {module}.{kind}, which cannot be imported: "
            f"{error}"
        ) from error


def estimator_classes() -> "Mapping[str, type[VoteEstimator]]":
    """Return all estimators by the name of their class."""
    found = {kind: estimator_class(kind) for kind in model_names().values()}
    return {kind: model for kind, model in found.items() if model is not None}


def import_models(module: str) -> None:
    """Import a module that registers models.

    Raises
    ------
    PsephosError
        If it cannot be imported.
    """
    try:
        import_module(module)
    except PsephosError:
        raise
    except Exception as error:  # whatever a module does when it is imported
        raise PsephosError(
            f"--import {module} cannot be imported: {type(error).__name__}: {error}"
        ) from error
