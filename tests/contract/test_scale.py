"""Answers do not depend on the units of columns, nor on the type of float that holds them."""

import warnings

import numpy as np
import pytest
from numpy.testing import assert_allclose
from sklearn.base import clone, is_classifier, is_regressor
from small_settings import small_settings

from psephos import NewtonBoostingClassifier, NewtonBoostingRegressor, PsephosError
from psephos.testing import small_table

# every row of these tables has a label, which weak labels warn of
pytestmark = pytest.mark.filterwarnings("ignore::psephos.WeakLabelsWarning")
SETTINGS = small_settings()
FOREIGN = "scikit-learn's estimator, as it is"
OWN = "the unit of a column matters by definition"
EXCEPT = {
    "adaboost-trees": FOREIGN,
    "samba-trees": FOREIGN,
    "samba-lines": FOREIGN,
    "samba-bayes": FOREIGN,
    "samba-paper": OWN,
    "samba-program": OWN,
    "local-boosting-trees": FOREIGN,
    "compressed-samba": OWN,
    "compressed-samba-near": OWN,
    "swag-naive_bayes": OWN,
    "ml-knn": OWN,
}  # fmt: skip


def table(estimator):
    X, y = small_table(0 if is_regressor(estimator) else 2)
    new = small_table(2, seed=1).X[:30]
    return X, y, new


def answers(estimator, X, y, new):
    model = clone(estimator).fit(X, y)
    return model.predict_proba(new) if hasattr(model, "predict_proba") else model.predict(new)


# the least and the greatest, in all columns and in one: half of them for each model
UNITS = (((-600, True), (480, False)), ((-900, False), (480, True)))


def in_units(k, every, p):
    """A power of two for the first column only, or for all."""
    return np.where(np.arange(p) < (p if every else 1), k, 0)


@pytest.mark.parametrize("name", sorted(set(SETTINGS) - set(EXCEPT)))
def test_a_power_of_two_changes_no_answer(name):
    X, y, new = table(SETTINGS[name])
    plain = answers(SETTINGS[name], X, y, new)
    for k, every in UNITS[sorted(SETTINGS).index(name) % 2]:
        units = in_units(k, every, X.shape[1])
        found = answers(SETTINGS[name], np.ldexp(X, units), y, np.ldexp(new, units))
        assert_allclose(found, plain, rtol=1e-9, atol=1e-9, err_msg=f"2^{k}")


NUMBERS = sorted(name for name, model in SETTINGS.items() if is_regressor(model))


@pytest.mark.parametrize("name", NUMBERS)
def test_answers_are_in_the_unit_of_the_numbers_to_learn(name):
    X, y, new = table(SETTINGS[name])
    plain = answers(SETTINGS[name], X, y, new)
    for k in (-20, 20, -200, 200):
        found = answers(SETTINGS[name], X, np.ldexp(y, k), new)
        assert_allclose(np.ldexp(found, -k), plain, rtol=1e-9, atol=1e-9, err_msg=f"2^{k}")


@pytest.mark.parametrize("name", NUMBERS)
def test_numbers_far_from_zero_are_learnt_as_well(name):
    """Not to the last digit: where two splits gain the same, rounding takes one or the other."""
    X, y, _ = table(SETTINGS[name])
    plain = clone(SETTINGS[name]).fit(X, y).score(X, y)
    for far in (1e6, -(2.0**30)):
        found = clone(SETTINGS[name]).fit(X, y + far).score(X, y + far)
        assert found == pytest.approx(plain, abs=0.15), far


@pytest.mark.parametrize("method", ["exact", "approx", "hist"])
@pytest.mark.parametrize("model", [NewtonBoostingClassifier, NewtonBoostingRegressor])
def test_newton_boosting_in_any_unit_answers_as_in_the_first(model, method):
    """Columns of size 1e-58 were all 0 in float32, and every answer .5."""
    X, y = small_table(0 if model is NewtonBoostingRegressor else 2)
    given = {"tree_method": method, "n_estimators": 5}
    for more in ({}, {"proposal": "local"}) if method == "approx" else ({},):
        plain = model(**given, **more).fit(X, y).predict(X)
        for unit in (1e-300, 1e-200, 1e-58, 1e-40, 1e-30, 1e30, 1e40, 1e58, 1e140):
            found = model(**given, **more).fit(X * unit, y).predict(X * unit)
            same = found == plain if is_classifier(model()) else np.isclose(found, plain, 1e-6)
            assert same.all(), unit


def test_rows_held_out_are_compared_in_the_float_type_of_the_training_rows():
    X, y = small_table(2)
    given = {"n_estimators": 8, "validation_fraction": 0.3, "random_state": 0}
    plain = NewtonBoostingClassifier(**given).fit(X, y)
    small = NewtonBoostingClassifier(**given).fit(X * 2.0**-200, y)
    assert_allclose(small.validation_losses_, plain.validation_losses_, rtol=1e-6)


@pytest.mark.parametrize("name", [n for n, why in EXCEPT.items() if why == OWN])
@pytest.mark.parametrize("k", [-900, 900])
def test_where_the_unit_matters_numbers_beyond_squares_are_refused_by_name(name, k):
    X, y, _ = table(SETTINGS[name])
    with pytest.raises(PsephosError, match=r"column 'column [0-9]+'"):
        clone(SETTINGS[name]).fit(np.ldexp(X, k), y)


@pytest.mark.parametrize("name", sorted(SETTINGS))
def test_float32_answers_as_the_same_values_in_float64(name):
    X, y, new = table(SETTINGS[name])
    X, new = X.astype(np.float32), new.astype(np.float32)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        one = answers(SETTINGS[name], X, y, new)
        other = answers(SETTINGS[name], X.astype(np.float64), y, new.astype(np.float64))
    assert_allclose(one, other, rtol=1e-9, atol=1e-9)
