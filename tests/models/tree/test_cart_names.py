"""CART under scikit-learn's names: criteria, depth without a limit."""

import numpy as np
import pytest
from sklearn.datasets import load_breast_cancer, load_diabetes
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor

from psephos import CARTClassifier, CARTRegressor, PsephosError

X, Y = load_breast_cancer(return_X_y=True)
X0, Y0 = load_diabetes(return_X_y=True)
WHOLE = {"cp": 0, "min_samples_split": 2, "min_samples_leaf": 1, "n_folds": 0, "max_surrogates": 0}


def test_criteria_have_scikit_learns_names():
    plain = {"min_samples_leaf": 5, **PLAIN}
    entropy = CARTClassifier(criterion="entropy", **plain).fit(X, Y)
    assert str(CARTClassifier(criterion="log_loss", **plain).fit(X, Y)) == str(entropy)
    squares = CARTRegressor(**plain).fit(X0, Y0)
    for name in ("squared_error", "friedman_mse"):
        assert str(CARTRegressor(criterion=name, **plain).fit(X0, Y0)) == str(squares)
        peer = DecisionTreeRegressor(criterion="squared_error", max_depth=3).fit(X0, Y0)
        own = CARTRegressor(criterion=name, max_depth=3, **WHOLE).fit(X0, Y0)
        assert np.allclose(own.predict(X0), peer.predict(X0))
    for name in ("absolute_error", "poisson"):
        with pytest.raises(PsephosError, match=r"parameter 'criterion'.*squared_error"):
            CARTRegressor(criterion=name).fit(X0, Y0)


PLAIN = {"n_folds": 0}


def test_no_limit_of_depth_is_the_deepest_that_can_be():
    steps = np.arange(150.0)[:, None]  # of alternating classes the best cuts are at the ends
    classes = np.arange(150) % 2
    depth = {
        limit: CARTClassifier(**WHOLE, max_depth=limit).fit(steps, classes).get_depth()
        for limit in (5, 30, 62, None)
    }
    assert depth[5] == 5
    assert 28 <= depth[30] <= 30  # a last cut that saves nothing is taken back
    assert 60 <= depth[62] == depth[None] <= 62
    peer = DecisionTreeClassifier(max_depth=None, random_state=0).fit(steps, classes)
    assert peer.get_depth() > 62  # which has no such limit
    for wrong in (63, 0):
        with pytest.raises(PsephosError, match="parameter 'max_depth'"):
            CARTClassifier(max_depth=wrong).fit(steps, classes)
