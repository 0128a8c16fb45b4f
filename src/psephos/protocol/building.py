"""How the contenders are built from the values that were drawn."""

# pyright: reportMissingTypeStubs=false

from typing import Any

import sklearn
from sklearn.dummy import DummyClassifier
from sklearn.ensemble import GradientBoostingClassifier, RandomForestClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.multiclass import OneVsRestClassifier
from sklearn.neighbors import KNeighborsClassifier
from sklearn.svm import SVC
from sklearn.tree import DecisionTreeClassifier

from psephos.protocol.contender import Params
from psephos.protocol.pipelines import Shape, prepared

__all__ = [
    "adaboost",
    "c45",
    "c45_rules",
    "cart",
    "extra_trees",
    "gradient_boosting",
    "majority",
    "newton_boosting",
    "proset",
    "pure_random_forest",
    "random_forest",
    "samba",
    "sklearn_decision_tree",
    "sklearn_gradient_boosting",
    "sklearn_k_nn",
    "sklearn_l1_logistic",
    "sklearn_random_forest",
    "sklearn_svm_rbf",
    "swag",
    "xgboost",
]

_HIST_COLUMNS = 1000


def majority(params: Params, shape: Shape, seed: int) -> Any:
    """Return a constant answer: the class shares of the training part."""
    return DummyClassifier(strategy="prior", **params)


def sklearn_l1_logistic(params: Params, shape: Shape, seed: int) -> Any:
    """Return a logistic regression with an L1 penalty; above two classes one against the rest."""
    # coordinate descent beats saga by an order of magnitude on fat tables, but knows two classes
    version = tuple(int(part) for part in sklearn.__version__.split(".")[:2])
    l1: Params = {"l1_ratio": 1.0} if version >= (1, 8) else {"penalty": "l1"}
    model: Any = LogisticRegression(
        solver="liblinear", max_iter=200, tol=1e-3, random_state=seed, **l1, **params
    )
    if shape.n_classes > 2:
        model = OneVsRestClassifier(model)
    return prepared(model, shape, scale=True)


def sklearn_random_forest(params: Params, shape: Shape, seed: int) -> Any:
    """Return a random forest of scikit-learn."""
    return prepared(RandomForestClassifier(random_state=seed, **params), shape)


def sklearn_svm_rbf(params: Params, shape: Shape, seed: int) -> Any:
    """Return a support vector machine with a Gaussian kernel."""
    model = SVC(kernel="rbf", break_ties=shape.n_classes > 2, random_state=seed, **params)
    return prepared(model, shape, scale=True)


def sklearn_k_nn(params: Params, shape: Shape, seed: int) -> Any:
    """Return k nearest neighbours."""
    return prepared(KNeighborsClassifier(**params), shape, scale=True)


def sklearn_decision_tree(params: Params, shape: Shape, seed: int) -> Any:
    """Return a decision tree of scikit-learn."""
    return prepared(DecisionTreeClassifier(random_state=seed, **params), shape)


def sklearn_gradient_boosting(params: Params, shape: Shape, seed: int) -> Any:
    """Return gradient boosting of scikit-learn."""
    return prepared(GradientBoostingClassifier(random_state=seed, **params), shape)


def xgboost(params: Params, shape: Shape, seed: int) -> Any:
    """Return XGBoost."""
    import xgboost  # pyright: ignore[reportMissingImports, reportMissingTypeStubs]

    booster: Any = xgboost
    return prepared(booster.XGBClassifier(n_jobs=1, random_state=seed, **params), shape)


def samba(params: Params, shape: Shape, seed: int) -> Any:
    """Return SamBA."""
    from psephos.models import SamBAClassifier

    found: Any = SamBAClassifier
    return found(categorical_features=_categorical(shape), random_state=seed, **params)


def swag(params: Params, shape: Shape, seed: int) -> Any:
    """Return SWAG with logistic regressions, its search kept to seconds."""
    from psephos.models import SparseWrapperClassifier

    found: Any = SparseWrapperClassifier
    settings: Params = {"m": 2000, "n_folds": 5} | params
    return found(
        "logistic", categorical_features=_categorical(shape), random_state=seed, **settings
    )


def proset(params: Params, shape: Shape, seed: int) -> Any:
    """Return proset."""
    from psephos.models import ProsetClassifier

    found: Any = ProsetClassifier
    return found(categorical_features=_categorical(shape), random_state=seed, **params)


def cart(params: Params, shape: Shape, seed: int) -> Any:
    """Return CART of psephos, pruned by the rule of one standard error."""
    from psephos.models import CARTClassifier

    found: Any = CARTClassifier
    settings: Params = {"cp": 1e-4, "one_standard_error": True} | params
    # A surrogate would only be read where a value is missing, or a category new.
    if not (shape.missing or shape.categorical):
        settings = {"max_surrogates": 0} | settings
    return found(categorical_features=_categorical(shape), random_state=seed, **settings)


def c45(params: Params, shape: Shape, seed: int) -> Any:
    """Return C4.5, which draws nothing."""
    from psephos.models import C45Classifier

    found: Any = C45Classifier
    return found(categorical_features=_categorical(shape), **params)


def c45_rules(params: Params, shape: Shape, seed: int) -> Any:
    """Return the rules of a C4.5 tree."""
    from psephos.models import C45RulesClassifier

    found: Any = C45RulesClassifier
    return found(categorical_features=_categorical(shape), random_state=seed, **params)


def random_forest(params: Params, shape: Shape, seed: int) -> Any:
    """Return a random forest of psephos."""
    from psephos.models import RandomForestClassifier as Own

    found: Any = Own
    return found(categorical_features=_categorical(shape), random_state=seed, **params)


def extra_trees(params: Params, shape: Shape, seed: int) -> Any:
    """Return extremely randomised trees of psephos."""
    from psephos.models import ExtraTreesClassifier

    found: Any = ExtraTreesClassifier
    return found(categorical_features=_categorical(shape), random_state=seed, **params)


def pure_random_forest(params: Params, shape: Shape, seed: int) -> Any:
    """Return a pure random forest of psephos, which reads numbers only."""
    from psephos.models import PureRandomForestClassifier

    found: Any = PureRandomForestClassifier
    model = found(random_state=seed, **params)
    return prepared(model, shape) if shape.categorical else model


def gradient_boosting(params: Params, shape: Shape, seed: int) -> Any:
    """Return gradient boosting of psephos."""
    from psephos.models import GradientBoostingClassifier as Own

    found: Any = Own
    return found(categorical_features=_categorical(shape), random_state=seed, **params)


def newton_boosting(params: Params, shape: Shape, seed: int) -> Any:
    """Return second-order boosting of psephos."""
    from psephos.models import NewtonBoostingClassifier

    found: Any = NewtonBoostingClassifier
    # a histogram for each level and column is kept: gigabytes on the widest tables
    method = "hist" if shape.n_columns <= _HIST_COLUMNS else "exact"
    return found(method, categorical_features=_categorical(shape), random_state=seed, **params)


def adaboost(params: Params, shape: Shape, seed: int) -> Any:
    """Return AdaBoost of psephos."""
    from psephos.models import AdaBoostClassifier

    found: Any = AdaBoostClassifier
    rest = dict(params)
    depth, weight = rest.pop("max_depth", 1), rest.pop("class_weight", None)
    if depth == 1 and weight is None:  # the library's own stump
        return found(categorical_features=_categorical(shape), random_state=seed, **rest)
    # class weights live in the trees, as with scikit-learn's AdaBoost, which has none of its own
    tree = DecisionTreeClassifier(max_depth=depth, class_weight=weight, random_state=seed)
    model = found(tree, random_state=seed, **rest)
    # trees of scikit-learn know no categories and would read codes as numbers
    return prepared(model, shape) if shape.categorical else model


def _categorical(shape: Shape) -> list[int] | None:
    return list(shape.categorical) or None
