"""Every scikit-learn estimator check, with no expected failure."""

import pytest
from sklearn.utils.estimator_checks import check_estimator

from psephos.registry import estimator_classes

# members of committees are small, boosting has few rounds, forests few trees and soft trees few
# steps: the checks are of how they are used
SMALL = ("committees", "few columns", "concepts", "boosting", "linear", "forest")


def setting(cls):
    one = cls.contender
    return cls(**one.small) if one.family in SMALL or "soft" in one.name else cls()


ESTIMATORS = {name: setting(cls) for name, cls in estimator_classes().items()}
assert ESTIMATORS, "no estimator is registered: nothing would be checked"


# rows of the checks all have a label, and some tables are too small to tell two classes
@pytest.mark.filterwarnings("ignore::psephos.WeakLabelsWarning")
@pytest.mark.filterwarnings("ignore::psephos.ConstantAnswerWarning")
@pytest.mark.parametrize("name", ESTIMATORS)
def test_estimator_checks(name):
    check_estimator(ESTIMATORS[name], on_skip=None)
