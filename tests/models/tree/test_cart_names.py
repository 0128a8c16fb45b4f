"""CART under scikit-learn's names: columns drawn at nodes, criteria, depth without a limit."""

import numpy as np
import pytest
from numpy.testing import assert_array_equal
from sklearn.datasets import load_breast_cancer, load_diabetes
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor

from psephos import CARTClassifier, CARTRegressor, PsephosError

X, Y = load_breast_cancer(return_X_y=True)
X0, Y0 = load_diabetes(return_X_y=True)
WHOLE = {"cp": 0, "min_samples_split": 2, "min_samples_leaf": 1, "n_folds": 0, "max_surrogates": 0}


def ranked(n=90):
    """Return a table whose columns tell the classes apart the less, the later they stand."""
    y = np.arange(n) % 2
    noise = np.random.default_rng(0).normal(size=(n, 3))
    return np.column_stack([3.0 * y, 1.5 * y, 0.5 * y]) + noise, y


def roots(make, n=150):
    """Return how often each column is asked first, over seeds."""
    found = [make(seed) for seed in range(n)]
    return np.bincount(found, minlength=3) / n


@pytest.mark.parametrize(("wanted", "shares"), [(1, [1 / 3] * 3), (2, [2 / 3, 1 / 3, 0])])
@pytest.mark.parametrize("numbers", [False, True])
def test_the_best_of_the_columns_drawn_is_asked_as_in_scikit_learn(wanted, shares, numbers):
    table, y = ranked()
    ours, theirs = (
        (CARTRegressor, DecisionTreeRegressor)
        if numbers
        else (CARTClassifier, DecisionTreeClassifier)
    )

    def own(seed):
        model = ours(**WHOLE, max_features=wanted, max_depth=1, random_state=seed).fit(table, y)
        return int(model.tree_.column[0])

    def peer(seed):
        model = theirs(max_features=wanted, max_depth=1, random_state=seed).fit(table, y)
        return int(model.tree_.feature[0])

    for found in (roots(own), roots(peer)):
        assert np.abs(found - shares).max() < 0.13  # 3.4 standard errors
    assert (roots(own)[2] == 0) == (shares[2] == 0)


def test_columns_are_drawn_at_each_node_and_more_where_none_divides():
    table, y = ranked()
    model = CARTClassifier(**WHOLE, max_features=1, random_state=0).fit(table, y)
    assert set(model.tree_.column[model.tree_.column >= 0].tolist()) == {0, 1, 2}
    assert model.score(table, y) == 1.0
    wide = np.column_stack([np.zeros((len(y), 40)), table[:, :1]])  # 40 columns cannot be asked
    for seed in range(5):
        one = CARTClassifier(**WHOLE, max_features=1, random_state=seed).fit(wide, y)
        assert one.tree_.column[0] == 40
    assert len(model.competitors_["node"]) == 0  # among one column there is no next best


@pytest.mark.parametrize("wanted", [None, 30, 1.0])
def test_all_columns_are_no_draw(wanted):
    plain = CARTClassifier(random_state=0).fit(X, Y)
    model = CARTClassifier(max_features=wanted, random_state=3).fit(X, Y)
    assert str(model) == str(CARTClassifier(random_state=3).fit(X, Y))
    assert plain.get_n_leaves() > 1


@pytest.mark.parametrize("wanted", [2, 0.2, "sqrt", "log2"])
def test_draws_depend_on_the_seed_alone(wanted):
    one, two, other = (
        CARTClassifier(max_features=wanted, random_state=seed, n_jobs=jobs).fit(X, Y)
        for seed, jobs in ((0, 1), (0, 2), (1, 1))
    )
    assert_array_equal(one.cptable_["xerror"], two.cptable_["xerror"])
    assert str(one) == str(two) != str(other)
    best = CARTClassifier(max_features=wanted, max_leaf_nodes=4, n_folds=0, random_state=0)
    assert best.fit(X, Y).get_n_leaves() == 4


def test_categories_are_drawn_too():
    table, y = ranked()
    coded = np.column_stack([np.round(table[:, 0]), table[:, 1:]])
    model = CARTClassifier(**WHOLE, max_features=1, categorical_features=[0], random_state=0)
    seen = {int(model.set_params(random_state=s).fit(coded, y).tree_.column[0]) for s in range(20)}
    assert seen == {0, 1, 2}


@pytest.mark.parametrize("wrong", [0, 0.0, 1.5, "all"])
def test_a_wrong_number_of_columns_is_refused(wrong):
    with pytest.raises(PsephosError, match="parameter 'max_features'"):
        CARTClassifier(max_features=wrong).fit(X, Y)


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
