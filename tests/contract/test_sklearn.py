"""Every scikit-learn estimator check, with no expected failure."""

from sklearn.utils.estimator_checks import parametrize_with_checks

from psephos.registry import estimator_classes

# members of committees are small, and boosting has few rounds: the checks are of how they are used
SMALL = ("committees", "few columns", "concepts", "boosting")
ESTIMATORS = [
    cls(**cls.contender.small) if cls.contender.family in SMALL else cls()
    for cls in estimator_classes().values()
]
assert ESTIMATORS, "no estimator is registered: nothing would be checked"


@parametrize_with_checks(ESTIMATORS)
def test_estimator_check(estimator, check):
    check(estimator)
