"""Every scikit-learn estimator check, with no expected failure."""

import pytest
from sklearn.utils.estimator_checks import check_estimator

from psephos import CARTClassifier, CARTRegressor
from psephos.registry import estimator_classes


def pair(cart):
    """Return two members that are fitted soon."""
    return {"estimators": [("a", cart(n_folds=0)), ("b", cart(max_depth=1, n_folds=0))], "cv": 2}


# the checks are of how estimators are used: these are smaller yet than in other tests
SMALLER = {
    "ColumnBudgetClassifier": {"estimator": CARTClassifier(n_folds=0)},
    "ColumnBudgetRegressor": {"estimator": CARTRegressor(n_folds=0)},
    "CascadeClassifier": pair(CARTClassifier) | {"max_levels": 1},
    "EnsembleSelectionClassifier": pair(CARTClassifier),
    "EnsembleSelectionRegressor": pair(CARTRegressor),
    "StackingClassifier": pair(CARTClassifier),
    "StackingRegressor": pair(CARTRegressor),
    "LinearTreeClassifier": {"n_folds": 0},
    "LinearTreeRegressor": {"n_folds": 0},
    "ProsetClassifier": {"n_candidates": 30, "tol": 1e-3},
    "ProsetRegressor": {"n_candidates": 30, "tol": 1e-3},
    "SoftGradientBoostingClassifier": {"n_estimators": 2, "max_iter": 30},
    "SoftGradientBoostingRegressor": {"n_estimators": 2, "max_iter": 30},
    "RankRidgeClassifier": {"alphas": (1.0,)},
    "VersionSpaceClassifier": {"max_boundary": 100},
}
# single trees and SWAG are fitted soon as they are; some checks ask for their usual accuracy
AS_THEY_ARE = (
    "CARTClassifier", "CARTRegressor", "C45Classifier", "C45RulesClassifier",
    "SparseWrapperClassifier", "SparseWrapperRegressor",
)  # fmt: skip
ESTIMATORS = {
    name: cls(**({} if name in AS_THEY_ARE else cls.contender.small | SMALLER.get(name, {})))
    for name, cls in estimator_classes().items()
}
assert ESTIMATORS, "no estimator is registered: nothing would be checked"


# rows of the checks all have a label, and some tables are too small to tell two classes
@pytest.mark.filterwarnings("ignore::psephos.WeakLabelsWarning")
@pytest.mark.filterwarnings("ignore::psephos.ConstantAnswerWarning")
@pytest.mark.parametrize("name", ESTIMATORS)
def test_estimator_checks(name):
    check_estimator(ESTIMATORS[name], on_skip=None)
