import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.base import clone
from sklearn.datasets import load_iris
from sklearn.ensemble import RandomForestClassifier, RandomForestRegressor
from sklearn.linear_model import LogisticRegression
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer
from sklearn.tree import DecisionTreeClassifier

from psephos import (
    CARTClassifier,
    CARTRegressor,
    PsephosError,
    SoftTreeClassifier,
    SoftTreeRegressor,
    twice_learn,
)


def taught(n=150):
    X, y = load_iris(return_X_y=True)
    return X, RandomForestClassifier(20, random_state=0).fit(X, y)


def test_probabilities_are_weights_of_rows_once_a_class():
    X, forest = taught()
    tree = twice_learn(DecisionTreeClassifier(max_depth=1, random_state=0), forest, X)
    root = tree.tree_.value[0, 0]
    assert_allclose(root, forest.predict_proba(X).mean(axis=0), rtol=1e-10)
    halves = twice_learn(
        DecisionTreeClassifier(max_depth=1, random_state=0), forest, X, np.arange(150.0)
    )
    expected = np.average(forest.predict_proba(X), axis=0, weights=np.arange(150.0))
    assert_allclose(halves.tree_.value[0, 0], expected, rtol=1e-10)


def test_any_estimator_learns_from_any_teacher_and_table():
    X, forest = taught()
    frame = pd.DataFrame(X, columns=list("abcd"))
    forest = clone_on(frame)
    tree = twice_learn(CARTClassifier(random_state=0), forest, frame)
    assert tree.feature_names_in_.tolist() == list("abcd")
    line = twice_learn(LogisticRegression(max_iter=1000), forest, frame)
    assert line.score(frame, forest.predict(frame)) > 0.9


def clone_on(frame):
    return RandomForestClassifier(20, random_state=0).fit(frame, load_iris().target)


def test_an_estimator_of_soft_labels_is_given_them():
    X, forest = taught()
    one = twice_learn(SoftTreeClassifier(2, max_iter=10, random_state=0), forest, X)
    two = SoftTreeClassifier(2, max_iter=10, random_state=0).distill(forest, X)
    assert_array_equal(one.predict_proba(X), two.predict_proba(X))


def test_a_pipeline_is_taught_as_its_last_step():
    X, forest = taught()
    line = LogisticRegression(max_iter=1000)
    chain = make_pipeline(FunctionTransformer(), line)
    expected = twice_learn(clone(line), forest, X).predict_proba(X)
    assert_array_equal(twice_learn(chain, forest, X).predict_proba(X), expected)
    weight, numbers = np.arange(150.0), RandomForestRegressor(10, random_state=0).fit(X, X[:, 0])
    tree = CARTRegressor(random_state=0)
    found = twice_learn(make_pipeline(FunctionTransformer(), clone(tree)), numbers, X, weight)
    assert_array_equal(found.predict(X), twice_learn(tree, numbers, X, weight).predict(X))


def test_what_cannot_be_taught_is_refused():
    X, forest = taught()
    with pytest.raises(
        PsephosError, match=r"must accept sample weights, .*; KNeighborsClassifier does not"
    ):
        twice_learn(KNeighborsClassifier(), forest, X)


def test_regressors_learn_numbers_and_no_names_of_classes():
    X, forest = taught()
    numbers = RandomForestRegressor(10, random_state=0).fit(X, X[:, 0])
    weight = np.arange(150.0)
    tree = twice_learn(CARTRegressor(random_state=0), numbers, X, weight)
    same = CARTRegressor(random_state=0).fit(X, numbers.predict(X), weight)
    assert_array_equal(tree.predict(X), same.predict(X))
    with pytest.raises(PsephosError, match="RandomForestClassifier predicts classes"):
        twice_learn(CARTRegressor(), forest, X)
    with pytest.raises(PsephosError, match="RandomForestClassifier predicts classes"):
        SoftTreeRegressor().distill(forest, X)
    with pytest.raises(PsephosError, match="RandomForestRegressor has no probabilities"):
        twice_learn(CARTClassifier(), numbers, X)
