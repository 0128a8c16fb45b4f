"""The learning mechanisms by name."""

from collections.abc import Mapping
from typing import Any

from psephos.estimator.params import Accepts, is_estimator
from psephos.models.swag.generic import GenericLearner
from psephos.models.swag.learners.gaussian import LinearDiscriminantLearner, NaiveBayesLearner
from psephos.models.swag.learners.lasso import LassoLogisticLearner
from psephos.models.swag.learners.least_squares import LeastSquaresLearner, RidgeLearner
from psephos.models.swag.learners.logistic import LogisticLearner
from psephos.models.swag.learners.quadratic import QuadraticDiscriminantLearner
from psephos.models.swag.learners.support import LinearSVMLearner, RBFSVMLearner
from psephos.models.swag.learners.trees import ForestLearner, TreeLearner
from psephos.models.swag.problem import Learner

CLASSIFIERS: dict[str, Learner] = {
    "logistic": LogisticLearner(),
    "lasso": LassoLogisticLearner(),
    "lda": LinearDiscriminantLearner(),
    "qda": QuadraticDiscriminantLearner(),
    "naive_bayes": NaiveBayesLearner(),
    "ridge": RidgeLearner(),
    "linear_svm": LinearSVMLearner(),
    "rbf_svm": RBFSVMLearner(),
    "stump": TreeLearner(max_depth=1),
    "tree": TreeLearner(max_depth=3),
    "forest": ForestLearner(),
}
REGRESSORS: dict[str, Learner] = {
    "least_squares": LeastSquaresLearner(),
    "ridge": RidgeLearner(),
    "stump": TreeLearner(max_depth=1),
    "tree": TreeLearner(max_depth=3),
    "forest": ForestLearner(),
}


def mechanism(names: Mapping[str, Learner]) -> Accepts:
    """Return what `learner` may be: one of the names, a batched learner, or an estimator."""

    def learns(value: Any) -> bool:
        if isinstance(value, str):
            return value in names
        return is_estimator(value) or (hasattr(value, "bind") and not isinstance(value, type))

    words = ", ".join(map(repr, names))
    return Accepts(
        learns, f"one of {words}, or a scikit-learn estimator (an instance, not its class)"
    )


def make_mechanism(value: Any, names: Mapping[str, Learner]) -> Learner:
    """Return the learner that a parameter means."""
    if isinstance(value, str):
        return names[value]
    return value if hasattr(value, "bind") else GenericLearner(value)
