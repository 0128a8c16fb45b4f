"""One model a label, for models that tell two classes apart (binary relevance)."""

# pyright: reportMissingTypeStubs=false

from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit
from sklearn import base
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.dummy import DummyClassifier

__all__ = ["OneModelALabel"]

_sklearn: Any = base  # its types say less than they promise


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
                self.estimators_.append(model.fit(X, y, **extra))
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
