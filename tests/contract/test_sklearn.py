"""Every scikit-learn estimator check, with no expected failure."""

from sklearn.utils.estimator_checks import parametrize_with_checks

from psephos.registry import estimator_classes

# members of committees are small: the checks are of what is made of them
OF_MEMBERS = ("committees", "few columns", "concepts")
ESTIMATORS = [
    cls(**cls.contender.small) if cls.contender.family in OF_MEMBERS else cls()
    for cls in estimator_classes().values()
]
assert ESTIMATORS, "no estimator is registered: nothing would be checked"


@parametrize_with_checks(ESTIMATORS)
def test_estimator_check(estimator, check):
    check(estimator)
