"""Names of columns that are no strings, and frames whose columns come in another order."""

import warnings

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from numpy.testing import assert_array_equal
from sklearn.base import clone

from psephos import (
    AdaBoostClassifier,
    CARTRegressor,
    MultiViewClassifier,
    NewtonBoostingClassifier,
    PsephosError,
    RandomForestClassifier,
    SamBAClassifier,
    SoftTreeClassifier,
    SparseWrapperClassifier,
    VotingClassifier,
    load,
    save,
    validate,
)

MODELS = [
    AdaBoostClassifier(n_estimators=4), RandomForestClassifier(4, random_state=0),
    NewtonBoostingClassifier(n_estimators=3), CARTRegressor(n_folds=0),
    SparseWrapperClassifier(p_max=2, m=5, random_state=0),
    VotingClassifier([("a", RandomForestClassifier(2, random_state=0))]),
]  # fmt: skip
SPELT = {
    "floats": ([100.5 + j for j in range(12)], [f"{100.5 + j}" for j in range(12)]),
    "whole": ([7 + j for j in range(12)], [f"{7 + j}" for j in range(12)]),
    "backwards": (list(range(12))[::-1], [f"{j}" for j in range(12)][::-1]),
    "levels": (pd.MultiIndex.from_product([["a", ""], range(6)]), None),
    "mixed": (["mz", 3.5, ("x", "y"), *range(9)], ["mz", "3.5", "x_y", *map(str, range(9))]),
    "times": (pd.date_range("2020-01-01", periods=12), None),
}


MORE = pd.DataFrame({"more": np.ones(60)})


def frame(names=None):
    """Return a frame whose columns have these names, and labels that hang on two."""
    X = np.random.default_rng(0).standard_normal((60, 12))
    y = (X[:, 3] + 0.5 * X[:, 5] > 0).astype(int)
    X = pd.DataFrame(X)
    if names is not None:
        X.columns = names
    return X, y


def backwards(X):
    return X[list(X.columns)[::-1]]


@pytest.mark.parametrize("made", MODELS, ids=lambda model: type(model).__name__)
def test_counted_columns_in_another_order_are_refused(made, tmp_path):
    X, y = frame()
    model = clone(made).fit(X, y)
    save(model, tmp_path / "m")
    for one in (model, load(tmp_path / "m")):
        assert_array_equal(one.predict(pd.DataFrame(X.to_numpy())), model.predict(X))
        assert_array_equal(one.predict(X.to_numpy()), model.predict(X))
        for order in (list(range(12))[::-1], [1, 0, *range(2, 12)]):
            with pytest.raises(PsephosError, match="same order as they were in fit"):
                one.predict(X[order])
        with pytest.raises(PsephosError, match=r"now missing:\n- 0\nAdd"):
            one.predict(X.drop(columns=0).assign(new=1.0))
        with pytest.raises(PsephosError, match=r"X has 11 features, but .* expecting 12"):
            one.predict(X.drop(columns=11))
    arrays = clone(made).fit(X.to_numpy(), y)
    with pytest.raises(PsephosError, match=r"Column '11' is at the position of '0'"):
        arrays.predict(backwards(X))


def test_a_frame_of_other_whole_names_is_read_by_position_with_a_warning():
    X, y = frame()
    model = AdaBoostClassifier(n_estimators=4).fit(X.to_numpy(), y)
    years = X.set_axis(range(2000, 2012), axis=1)
    with pytest.warns(UserWarning, match="was fitted without feature names"):
        assert_array_equal(model.predict(years), model.predict(X))
    named = AdaBoostClassifier(n_estimators=4).fit(years, y)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert_array_equal(named.predict(X), model.predict(X))
        assert_array_equal(named.predict(years), model.predict(X))


@pytest.mark.parametrize("kind", SPELT)
def test_names_are_kept_as_words(kind, tmp_path):
    names, words = SPELT[kind]
    X, y = frame(names)
    model = AdaBoostClassifier(n_estimators=4).fit(X, y)
    if words is not None:
        assert list(model.schema_.names) == words
    fourth = model.schema_.names[3]
    assert fourth in model.features_used_
    assert f"if {fourth} <= " in "\n".join(model.describe())
    assert f"{fourth} = " in str(model.explain(X[:1]))
    assert not hasattr(model, "feature_names_in_")  # scikit-learn's, of strings alone
    save(model, tmp_path / "m")
    for one in (model, load(tmp_path / "m")):
        assert one.schema_.names == model.schema_.names
        assert not hasattr(one, "feature_names_in_")
        assert_array_equal(one.predict(X), model.predict(X))
        assert_array_equal(one.predict(X.to_numpy()), model.predict(X))
        with pytest.raises(PsephosError, match="same order as they were in fit"):
            one.predict(backwards(X))
        with pytest.raises(PsephosError, match="unseen at fit time:\n- more\nDrop"):
            one.predict(pd.concat([X.set_axis(model.schema_.names, axis=1), MORE], axis=1))
        reduced = one.reduce()
        assert not hasattr(reduced, "feature_names_in_")
        assert_array_equal(reduced.predict(backwards(X)), model.predict(X))


def test_words_in_place_of_numbers_are_the_same_names():
    X, y = frame(SPELT["floats"][0])
    model = AdaBoostClassifier(n_estimators=4).fit(X, y)
    words = X.set_axis(SPELT["floats"][1], axis=1)
    assert_array_equal(model.predict(words), model.predict(X))
    assert_array_equal(model.predict(pl.from_pandas(words)), model.predict(X))
    by_words = AdaBoostClassifier(n_estimators=4).fit(pl.from_pandas(words), y)
    assert by_words.feature_names_in_.tolist() == SPELT["floats"][1]
    assert_array_equal(by_words.predict(X), model.predict(X))
    with pytest.raises(PsephosError, match="same order as they were in fit"):
        by_words.predict(backwards(X))


@pytest.mark.parametrize("twice", [[1, "1"], [2.5, "2.5"], [("a", "b"), "a_b"]])
def test_two_names_of_one_word_are_refused(twice):
    X, y = frame([*twice, *(f"c{j}" for j in range(10))])
    with pytest.raises(PsephosError, match=f"two columns are named '{twice[1]}'"):
        AdaBoostClassifier(n_estimators=4).fit(X, y)
    model = AdaBoostClassifier(n_estimators=4).fit(X.iloc[:, 1:], y)
    with pytest.raises(PsephosError, match="two columns are named"):
        model.predict(X)


def test_columns_of_an_arrow_table_may_be_alike():
    table = pa.table({"a": [0.0, 1.0, 2.0, 3.0] * 5, "b": [0.0, 1.0, 2.0, 3.0] * 5})
    model = AdaBoostClassifier(n_estimators=1).fit(table, np.arange(20) % 4 > 1)
    assert model.feature_names_in_.tolist() == ["a", "b"]


def test_a_reduced_model_finds_counted_columns_by_their_numbers(tmp_path):
    X, y = frame()
    model = AdaBoostClassifier(n_estimators=12).fit(X, y)
    used = model.features_used_.tolist()
    assert len(used) > 1
    save(model.reduce(), tmp_path / "m")
    for one in (model.reduce(), load(tmp_path / "m"), model.reduce().reduce()):
        for given in (X, X[used], X[used[::-1]], backwards(X), X.to_numpy()[:, used]):
            assert_array_equal(one.predict(given), model.predict(X))
        with pytest.raises(PsephosError, match=f"has no column '{used[-1]}'"):
            one.predict(X.drop(columns=used[-1]))


def test_a_later_batch_is_matched_by_name():
    X, y = frame(SPELT["floats"][0])
    model = SoftTreeClassifier(1, random_state=0).partial_fit(X, y)
    with pytest.raises(PsephosError, match="same order as they were in fit"):
        model.partial_fit(backwards(X), y)
    counted, y = frame()
    model = SoftTreeClassifier(1, random_state=0).partial_fit(counted, y)
    with pytest.raises(PsephosError, match="same order as they were in fit"):
        model.partial_fit(backwards(counted), y)


def test_parameters_name_columns_by_their_words():
    X, y = frame(SPELT["floats"][0])
    whole = X.assign(**{"code": 0}).rename(columns={"code": 9.5})
    whole[9.5] = np.arange(60) % 3
    model = SamBAClassifier(n_estimators=3, categorical_features=["9.5"]).fit(whole, y)
    assert model.schema_.levels == {12: (0, 1, 2)}
    views = MultiViewClassifier(
        [("one", ["103.5"]), ("two", ["104.5"])], estimator=RandomForestClassifier(2)
    )
    assert {"103.5"} <= set(views.fit(X, y).features_used_)
    X, _ = frame(SPELT["whole"][0])
    with pytest.warns(UserWarning, match="positions .* To give names, give strings: '7'"):
        SamBAClassifier(n_estimators=3, categorical_features=[0]).fit(X.round(), y)


def test_a_view_may_be_absent_and_a_column_of_another_name_not():
    X, y = frame(SPELT["floats"][0])
    members = [("one", ["103.5", "104.5"]), ("two", ["105.5"])]
    model = MultiViewClassifier(members, estimator=RandomForestClassifier(3, random_state=0))
    model.fit(X, y)
    without = X.assign(**{"104.5": np.nan})[[*X.columns]]
    without[104.5] = np.nan
    less = X.drop(columns=104.5)
    assert_array_equal(model.predict_proba(less), model.predict_proba(without))
    assert_array_equal(model.predict_proba(backwards(less)), model.predict_proba(without))
    with pytest.raises(PsephosError, match=r"'other' .* is not one the model was fitted on"):
        model.predict(less.assign(other=1.0))
    counted, _ = frame()
    model = MultiViewClassifier([("one", [3, 4])], estimator=RandomForestClassifier(3))
    model.fit(counted, y)
    with pytest.raises(PsephosError, match="yet now missing"):
        model.predict(counted.drop(columns=4))


@pytest.mark.parametrize("kind", ["floats", "levels"])
def test_a_cohort_is_matched_by_name(kind):
    X, y = frame(SPELT[kind][0])
    model = RandomForestClassifier(4, random_state=0).fit(X[:40], y[:40])

    def auc(cohort):
        return validate(model, cohort, y[40:]).figure("ROC-AUC")["value"]

    assert auc(backwards(X)[40:]) == auc(X[40:])
    assert auc(X.drop(columns=[X.columns[3]])[40:]) < auc(X[40:])
