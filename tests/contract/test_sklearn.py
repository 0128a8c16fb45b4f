"""Every scikit-learn estimator check, with no expected failure."""

from sklearn.utils.estimator_checks import parametrize_with_checks

from psephos.base import estimator_classes


@parametrize_with_checks([cls() for cls in estimator_classes().values()])
def test_estimator_check(estimator, check):
    check(estimator)
