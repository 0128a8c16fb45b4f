"""The anatomy of fitted models, against what one would say by hand."""

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression
from sklearn.tree import DecisionTreeClassifier

from psephos import (
    AdaBoostClassifier,
    CARTClassifier,
    GradientBoostingClassifier,
    ProsetClassifier,
    RandomForestClassifier,
    SamBAClassifier,
    SparseWrapperClassifier,
)
from psephos.testing import small_table

PLAIN = ("constant", "normalised")
BY_HAND = {
    "boosted stumps": (AdaBoostClassifier(n_estimators=3), ("stump voters",), *PLAIN),
    "a bag of CARTs": (
        AdaBoostClassifier(CARTClassifier(n_folds=0, max_depth=1), n_estimators=3),
        ("votes of branching tree voters",), *PLAIN,
    ),
    "boosted trees of another library": (
        AdaBoostClassifier(DecisionTreeClassifier(max_depth=2), n_estimators=3),
        ("tree voters",), *PLAIN,
    ),
    "local linear models": (
        SamBAClassifier(LogisticRegression(), n_estimators=3),
        ("linear voters",), "local", "normalised",
    ),
    "a base score and trees": (
        GradientBoostingClassifier(n_estimators=2),
        ("constant voters", "tree voters"), "constant", "sum",
    ),
    "a forest": (RandomForestClassifier(n_estimators=3), ("tree voters",), *PLAIN),
    "prototypes": (ProsetClassifier(), ("prototype voters",), "prototype kernels", "normalised"),
    "a library and its prior": (
        SparseWrapperClassifier("lda", p_max=2, m=20, alpha=0.3, n_folds=3),
        ("linear voters", "constant voters"), "available", "normalised",
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", BY_HAND)
def test_the_anatomy_is_that_of_the_fitted_vote(name):
    made, voters, weights, readout = BY_HAND[name]
    seeded = {"random_state": 0} if "random_state" in made.get_params() else {}
    X, y = small_table(2)
    model = made.set_params(**seeded).fit(X, y)
    found = model.anatomy_
    assert (found.voters, found.weighting, found.readout) == (voters, weights, readout)
    assert found.found_by == model.anatomy.found_by
    total = model.feature_importances_.sum()
    assert np.isclose(total, 1.0)
