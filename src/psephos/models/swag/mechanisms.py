"""The learning mechanisms by name."""

from collections.abc import Mapping
from typing import Any

from psephos.models.swag.generic import GenericLearner
from psephos.models.swag.learners.gaussian import LinearDiscriminantLearner, NaiveBayesLearner
from psephos.models.swag.learners.lasso import LassoLogisticLearner
from psephos.models.swag.learners.least_squares import LeastSquaresLearner, RidgeLearner
from psephos.models.swag.learners.logistic import LogisticLearner
from psephos.models.swag.learners.quadratic import QuadraticDiscriminantLearner
from psephos.models.swag.learners.support import LinearSVMLearner, RBFSVMLearner
from psephos.models.swag.learners.trees import ForestLearner, TreeLearner
from psephos.models.swag.problem import Learner

__all__ = ["CLASSIFIERS", "REGRESSORS", "Mechanism", "make_mechanism"]

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


class Mechanism:
    """What `learner` may be: a name of `names`, a batched learner, or a scikit-learn estimator."""

    def __init__(self, names: Mapping[str, Learner]) -> None:
        self.names = names

    def allows(self, value: Any) -> bool:
        """Return whether the value can serve as a learner."""
        if isinstance(value, str):
            return value in self.names
        if isinstance(value, type):  # the class, where an instance is meant
            return False
        own = hasattr(value, "bind")
        return own or all(hasattr(value, method) for method in ("fit", "predict", "get_params"))

    def words(self) -> str:
        """Return what may be a learner."""
        names = ", ".join(map(repr, self.names))
        return f"one of {names}, or a scikit-learn estimator (an instance, not its class)"


def make_mechanism(value: Any, names: Mapping[str, Learner]) -> Learner:
    """Return the learner that a parameter means."""
    if isinstance(value, str):
        return names[value]
    return value if hasattr(value, "bind") else GenericLearner(value)
