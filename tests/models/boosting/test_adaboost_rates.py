"""AdaBoost at any learning rate is scikit-learn's, as far as float64 carries the sample weights."""

import warnings

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.datasets import load_iris, make_classification
from sklearn.ensemble import AdaBoostClassifier as Theirs
from sklearn.tree import DecisionTreeClassifier
from thorough import seeds

from psephos import AdaBoostClassifier, LocalBoostingClassifier, PsephosError, SamBAClassifier
from psephos.models.boosting.loop import TOO_GREAT

_NOISE = 1e-10  # errors below it are made of sample weights near machine epsilon: rounding alone


def _table(classes, seed):
    return make_classification(
        120, 6, n_informative=4, n_redundant=0, n_classes=classes, flip_y=0.1, random_state=seed
    )


def _both(X, y, rate, own=True, n=40):
    tree = DecisionTreeClassifier(max_depth=1, random_state=0)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        theirs = Theirs(tree, n_estimators=n, learning_rate=rate, random_state=0).fit(X, y)
        ours = AdaBoostClassifier(
            None if own else tree, n_estimators=n, learning_rate=rate, random_state=0
        ).fit(X, y)
    return ours, theirs


@pytest.mark.parametrize("own", [True, False], ids=["stumps", "trees"])
@pytest.mark.parametrize("rate", [0.1, 0.5, 1, 1.5, 2])
def test_moderate_rates_are_scikit_learns_voters(rate, own):
    for classes in (2, 3):
        for seed in seeds(1, 3):
            X, y = _table(classes, seed)
            ours, theirs = _both(X, y, rate, own)
            n = len(theirs.estimators_)
            assert_allclose(ours.estimator_errors_, theirs.estimator_errors_[:n], rtol=1e-6)
            weights = ours.vote_.weighting.alpha
            assert_allclose(weights, theirs.estimator_weights_[:n], rtol=1e-6)
            assert_allclose(ours.predict_proba(X), theirs.predict_proba(X), atol=1e-9)


@pytest.mark.parametrize("rate", [2.5, 3, 5, 10, 23, 100, 1e300])
def test_great_rates_fit_as_scikit_learn_does(rate):
    compared = 0
    for classes in (2, 3):
        for seed in range(3):
            X, y = _table(classes, seed)
            ours, theirs = _both(X, y, rate, own=False)
            assert ours.stopped_ in ("all voters", "no better than chance", TOO_GREAT)
            assert np.isfinite(ours.decision_function(X)).all()
            errors = theirs.estimator_errors_[: len(theirs.estimators_)]
            tiny = np.flatnonzero(errors < _NOISE)
            n = int(tiny[0]) if len(tiny) else len(errors)
            assert_allclose(ours.estimator_errors_[:n], errors[:n], rtol=0.3)
            early = min(n, 4)  # errors of rounding grow by the rate in each round
            assert_allclose(ours.estimator_errors_[:early], errors[:early], rtol=1e-4)
            compared += n
    assert compared >= 6


def test_a_rate_of_2_keeps_the_first_voters_weight():
    """Weights of rows that all voters get right fell to 1e-38, and the last voters decided."""
    X, y = load_iris(return_X_y=True)
    ours, theirs = _both(X, y, 2, own=False, n=50)
    assert ours.estimator_errors_.min() > 1e-15
    assert_array_equal(ours.predict(X), theirs.predict(X))


def test_two_classes_at_a_rate_of_2_are_learned():
    X, y = make_classification(80, 5, random_state=1)
    ours, theirs = _both(X, y, 2, n=50)
    assert ours.score(X, y) == theirs.score(X, y) == 1.0


def test_sample_weights_beyond_float64_end_the_search_with_a_warning():
    X, y = load_iris(return_X_y=True)
    with pytest.warns(UserWarning, match="learning_rate=100: after 2 of 50 voters .* lower"):
        model = AdaBoostClassifier(learning_rate=100).fit(X, y)
    assert (model.stopped_, model.vote_.n_voters) == (TOO_GREAT, 2)


def test_a_row_of_weight_0_stays_out_at_any_rate():
    X, y = _table(2, 0)
    weight = np.ones(len(y))
    weight[::7] = 0
    y_wrong = np.where(weight == 0, 1 - y, y)
    for rate in (1, 2, 3):
        a = AdaBoostClassifier(learning_rate=rate, random_state=0).fit(X, y_wrong, weight)
        b = AdaBoostClassifier(learning_rate=rate, random_state=0).fit(X, y, weight)
        assert_array_equal(a.predict_proba(X), b.predict_proba(X))


def test_a_rate_that_no_weight_could_hold_is_refused():
    for rate in (1e301, 1e-301):
        with pytest.raises(
            PsephosError, match=r"learning_rate.*at least 1e-300 and at most 1e\+300"
        ):
            AdaBoostClassifier(learning_rate=rate).fit(*_table(2, 0))


@pytest.mark.parametrize(
    "model",
    [
        SamBAClassifier(n_estimators=800, criterion="error"),
        LocalBoostingClassifier(n_estimators=800),
        LocalBoostingClassifier(
            n_estimators=800, relevance="right", difficulty="log-odds", weighting="log-odds"
        ),
    ],
)
def test_many_rounds_of_the_same_loop_stay_numbers(model):
    X, y = _table(2, 1)
    model.fit(X, y)
    assert len(model.estimator_errors_) == 800 or model.stopped_ != "all voters"
    assert ((model.estimator_errors_ > 1e-6) & (model.estimator_errors_ < 0.5)).all()
    assert np.isfinite(model.decision_function(X)).all()
