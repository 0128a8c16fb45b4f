"""Columns counted on the user's table, through whatever stands before the model."""

import numpy as np
import pytest
from numpy.testing import assert_array_equal
from sklearn.compose import ColumnTransformer
from sklearn.decomposition import PCA
from sklearn.ensemble import BaggingClassifier, GradientBoostingClassifier, RandomForestClassifier
from sklearn.feature_selection import SelectKBest, VarianceThreshold
from sklearn.impute import SimpleImputer
from sklearn.linear_model import LogisticRegression
from sklearn.multiclass import OneVsRestClassifier
from sklearn.neighbors import KNeighborsClassifier
from sklearn.neural_network import MLPClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler
from sklearn.svm import SVC
from sklearn.tree import DecisionTreeClassifier

from psephos._errors import PsephosError
from psephos.estimator.contender import Shape
from psephos.protocol import columns_used, known_models
from psephos.protocol.running.contenders import prepared

RNG = np.random.default_rng(0)
X = RNG.normal(size=(80, 12))
Y = (X[:, 3] + X[:, 7] > 0).astype(int)


def test_each_kind_of_model():
    assert_array_equal(
        columns_used(DecisionTreeClassifier(max_depth=1).fit(X[:, :8], Y), 8).size, 1
    )
    assert_array_equal(columns_used(KNeighborsClassifier().fit(X, Y), 12), np.arange(12))
    assert_array_equal(columns_used(SVC().fit(X, Y), 12), np.arange(12))
    assert (
        columns_used(known_models()["majority"].build({}, Shape(12, 2), 0).fit(X, Y), 12).size == 0
    )
    with pytest.raises(PsephosError, match="does not know which columns MLPClassifier reads"):
        columns_used(MLPClassifier(max_iter=1000).fit(X, Y), 12)
    with pytest.raises(PsephosError, match="the step PCA"):
        columns_used(make_pipeline(PCA(3), SVC()).fit(X, Y), 12)


def scrambling_tells(model, columns):
    """Check that scrambling all other columns changes nothing."""
    other = np.setdiff1d(np.arange(X.shape[1]), columns)
    scrambled = X.copy()
    scrambled[:, other] = RNG.permuted(scrambled[:, other], axis=0) * 3
    assert_array_equal(model.predict(scrambled), model.predict(X))


@pytest.mark.parametrize(
    "model",
    [
        RandomForestClassifier(3, max_depth=2, random_state=0),
        GradientBoostingClassifier(n_estimators=3, max_depth=2, random_state=0),
        BaggingClassifier(DecisionTreeClassifier(max_depth=2), 3, max_features=4, random_state=0),
        make_pipeline(SelectKBest(k=4), StandardScaler(), SVC()),
        make_pipeline(VarianceThreshold(), SelectKBest(k=5), DecisionTreeClassifier(max_depth=3)),
        known_models()["sklearn-l1-logistic"].build({"C": 0.1}, Shape(12, 2), 0),
        known_models()["samba"].build({"n_estimators": 4}, Shape(12, 2), 0),
        known_models()["adaboost"].build({"n_estimators": 4}, Shape(12, 2), 0),
        known_models()["adaboost"].build({"n_estimators": 4, "max_depth": 2}, Shape(12, 2), 0),
    ],
)
def test_other_columns_do_not_matter(model):
    model.fit(X, Y)
    used = columns_used(model, 12)
    assert 0 < used.size < 12
    assert used.tolist() == sorted(set(used.tolist()))
    scrambling_tells(model, used)


def test_coefficients_that_are_zero_do_not_count():
    model = LogisticRegression()
    model.fit(X, Y)
    model.coef_[:] = 0
    model.coef_[0, [2, 9]] = (1e-9, -1)
    assert_array_equal(columns_used(model, 12), [2, 9])
    three = OneVsRestClassifier(LogisticRegression()).fit(X, np.arange(80) % 3)
    for k, one in enumerate(three.estimators_):
        one.coef_[:] = 0
        one.coef_[0, k + 4] = 1
    assert_array_equal(columns_used(three, 12), [4, 5, 6])


def test_a_category_and_an_indicator_count_once():
    table = X[:, :4].copy()
    table[:, 1] = RNG.integers(5, size=80)
    table[:, 3] = RNG.integers(3, size=80)
    table[::7, 0] = np.nan
    table[::9, 3] = np.nan
    y = np.isin(table[:, 3], [0, 2]).astype(int)
    model = prepared(DecisionTreeClassifier(max_depth=4), Shape(4, 2, (1, 3), missing=True)).fit(
        table, y
    )
    assert set(columns_used(model, 4).tolist()) <= {0, 1, 2, 3}
    assert 3 in columns_used(model, 4)
    every = prepared(KNeighborsClassifier(), Shape(4, 2, (1, 3), missing=True), scale=True).fit(
        table, y
    )
    assert_array_equal(columns_used(every, 4), [0, 1, 2, 3])
    flagged = make_pipeline(SimpleImputer(add_indicator=True), LogisticRegression()).fit(table, y)
    flagged[-1].coef_[:] = 0
    flagged[-1].coef_[0, 5] = 1  # the second indicator: of column 3
    assert_array_equal(columns_used(flagged, 4), [3])


def test_reordering_and_dropping_steps():
    step = ColumnTransformer(
        [
            ("codes", OneHotEncoder(), [2]),
            ("gone", "drop", [0]),
            ("rest", "passthrough", slice(3, 6)),
        ]
    )
    table = X[:, :6].copy()
    table[:, 2] = RNG.integers(3, size=80)
    model = make_pipeline(step, LogisticRegression()).fit(table, Y)
    model[-1].coef_[:] = 0
    model[-1].coef_[0, [1, 5]] = 1  # the second level of column 2; the last of 3, 4, 5
    assert_array_equal(columns_used(model, 6), [2, 5])


def test_an_imputer_that_drops_an_empty_column():
    table = X[:, :3].copy()
    table[:, 1] = np.nan
    model = make_pipeline(SimpleImputer(), LogisticRegression())
    with pytest.warns(UserWarning, match="without any observed values"):
        model.fit(table, Y)
    assert_array_equal(columns_used(model, 3), [0, 2])


def test_xgboost_columns_are_those_of_its_splits():
    pytest.importorskip("xgboost")
    model = known_models()["xgboost"].build({"n_estimators": 3, "max_depth": 2}, Shape(12, 2), 0)
    model.fit(X, Y)
    used = columns_used(model, 12)
    assert 0 < used.size < 12
    scrambling_tells(model, used)
