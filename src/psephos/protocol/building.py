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

from psephos.contender import Params, Shape
from psephos.protocol.pipelines import prepared

__all__ = [
    "majority",
    "sklearn_decision_tree",
    "sklearn_gradient_boosting",
    "sklearn_k_nn",
    "sklearn_l1_logistic",
    "sklearn_random_forest",
    "sklearn_svm_rbf",
    "xgboost",
]


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
