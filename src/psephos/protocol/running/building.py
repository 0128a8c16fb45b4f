"""How models of other libraries are built, and what they need before they can read a table."""

# pyright: reportMissingTypeStubs=false

from typing import Any, Self

import numpy as np
import sklearn.base
from numpy.typing import NDArray
from scipy.special import expit
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.compose import ColumnTransformer
from sklearn.dummy import DummyClassifier
from sklearn.impute import SimpleImputer
from sklearn.linear_model import LogisticRegression
from sklearn.multiclass import OneVsRestClassifier
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import Pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler
from sklearn.svm import SVC

from psephos.estimator.contender import Params, Shape
from psephos.models.cloning import fitted

_sklearn: Any = sklearn.base  # its types say less than they promise


def majority(params: Params, shape: Shape, seed: int) -> Any:
    """Return a constant answer: the class shares of the training part."""
    return DummyClassifier(strategy="prior", **params)


def seeded(kind: Any, params: Params, shape: Shape, seed: int) -> Any:
    """Return an estimator of scikit-learn that draws."""
    return prepared(kind(random_state=seed, **params), shape)


def l1_logistic(params: Params, shape: Shape, seed: int) -> Any:
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


def svm(params: Params, shape: Shape, seed: int) -> Any:
    """Return a support vector machine with a Gaussian kernel."""
    model = SVC(kernel="rbf", break_ties=shape.n_classes > 2, random_state=seed, **params)
    return prepared(model, shape, scale=True)


def k_nn(params: Params, shape: Shape, seed: int) -> Any:
    """Return k nearest neighbours."""
    return prepared(KNeighborsClassifier(**params), shape, scale=True)


def xgboost(params: Params, shape: Shape, seed: int) -> Any:
    """Return XGBoost."""
    import xgboost  # pyright: ignore[reportMissingImports, reportMissingTypeStubs]

    booster: Any = xgboost
    return prepared(booster.XGBClassifier(n_jobs=1, random_state=seed, **params), shape)


# ------------------------------------------------------------------- what they need of a table
def prepared(model: Any, shape: Shape, *, scale: bool = False) -> Pipeline:
    """Return `model` behind the steps the table needs, all fitted inside the training part.

    Numbers: the median where missing, then, with `scale`, mean 0 and variance 1. Categories: the
    most frequent level where missing, then one column of 0 and 1 per level; a level not seen in
    training is 0 throughout.
    """
    number: list[tuple[str, Any]] = []
    if shape.missing:
        number.append(("impute", SimpleImputer(strategy="median", keep_empty_features=True)))
    if scale:
        number.append(("scale", StandardScaler()))
    if not shape.categorical:
        return Pipeline([*number, ("model", model)])
    category: list[tuple[str, Any]] = []
    if shape.missing:
        filler = SimpleImputer(strategy="most_frequent", keep_empty_features=True)
        category.append(("impute", filler))
    category.append(("encode", OneHotEncoder(handle_unknown="ignore", sparse_output=False)))
    parts: list[tuple[str, Any, list[int]]] = []
    numeric = [j for j in range(shape.n_columns) if j not in set(shape.categorical)]
    if numeric:
        parts.append(("numbers", Pipeline(number) if number else "passthrough", numeric))
    parts.append(("categories", Pipeline(category), list(shape.categorical)))
    return Pipeline([("columns", ColumnTransformer(parts)), ("model", model)])


# ------------------------------------------------------------------- one model a label
class OneModelALabel(ClassifierMixin, BaseEstimator):
    """A clone of `estimator` a label, fitted on whether a row has it.

    scikit-learn's OneVsRestClassifier and MultiOutputClassifier do this, but a label that all
    training rows have, or none, ends the fit of the second and moves the threshold of the first.
    Here such a label has a constant answer.

    Parameters
    ----------
    estimator : classifier
    """

    def __init__(self, estimator: Any) -> None:
        self.estimator = estimator

    def fit(self, X: Any, Y: NDArray[Any], **extra: Any) -> Self:
        """Fit a model a column of Y, (n, K) of 0 and 1."""
        self.estimators_: list[Any] = []
        for y in np.asarray(Y).T:
            model: Any = _sklearn.clone(self.estimator)
            if (y == y[0]).all():
                constant: Any = DummyClassifier(strategy="constant", constant=y[0])
                self.estimators_.append(constant.fit(X, y))
            else:
                self.estimators_.append(fitted(model, X, y, **extra))
        return self

    def predict(self, X: Any) -> NDArray[np.intp]:
        """Return the (n, K) table of 0 and 1: the labels that the models give."""
        said = [model.predict(X) for model in self.estimators_]
        return np.column_stack(said).astype(np.intp)

    def predict_proba(self, X: Any) -> NDArray[np.float64]:
        """Return the (n, K) probabilities; 1 / (1 + exp(-d)) of a model that has none."""
        return np.column_stack([_chance(model, X) for model in self.estimators_])


def _chance(model: Any, X: Any) -> NDArray[np.float64]:
    if not hasattr(model, "predict_proba"):
        return np.asarray(expit(model.decision_function(X)), dtype=np.float64)
    chances = np.asarray(model.predict_proba(X), dtype=np.float64)
    known: list[int] = np.asarray(model.classes_).tolist()
    return chances[:, known.index(1)] if 1 in known else np.zeros(len(chances))
