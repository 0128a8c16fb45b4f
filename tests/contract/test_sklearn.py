"""Every scikit-learn estimator check, with no expected failure."""

import pytest
from sklearn.utils.estimator_checks import check_estimator

from psephos.registry import estimator_classes

# members of committees are small, and boosting has few rounds: the checks are of how they are used
SMALL = ("committees", "few columns", "concepts", "boosting", "linear")
ESTIMATORS = {
    name: cls(**cls.contender.small) if cls.contender.family in SMALL else cls()
    for name, cls in estimator_classes().items()
}
assert ESTIMATORS, "no estimator is registered: nothing would be checked"


@pytest.mark.parametrize("name", ESTIMATORS)
def test_estimator_checks(name):
    check_estimator(ESTIMATORS[name], on_skip=None)
