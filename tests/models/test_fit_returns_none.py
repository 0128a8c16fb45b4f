"""An estimator whose `fit` returns None is used as scikit-learn uses it: the object is fitted."""

import numpy as np
import pytest
from numpy.testing import assert_array_equal
from sklearn.base import BaseEstimator, ClassifierMixin, RegressorMixin
from sklearn.datasets import make_classification
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor

import psephos
from psephos.explain import ColumnCurveDisplay

X, Y = make_classification(60, 5, random_state=0)
NUMBER = X @ np.arange(1.0, 6.0)
POSITIVE = np.where((Y == 1) & (np.arange(60) % 2 == 0), 1.0, np.nan)


class Quiet(ClassifierMixin, BaseEstimator):
    """A tree whose `fit` returns None."""

    def __init__(self, random_state=None):
        self.random_state = random_state

    def fit(self, X, y, sample_weight=None):
        self.tree_ = DecisionTreeClassifier(max_depth=2, random_state=0).fit(X, y, sample_weight)
        self.classes_ = self.tree_.classes_
        self.feature_importances_ = self.tree_.feature_importances_

    def predict(self, X):
        return self.tree_.predict(X)

    def predict_proba(self, X):
        return self.tree_.predict_proba(X)


class Loud(Quiet):
    """The same as scikit-learn asks for."""

    def fit(self, X, y, sample_weight=None):
        super().fit(X, y, sample_weight)
        return self


class QuietNumbers(RegressorMixin, BaseEstimator):
    def fit(self, X, y, sample_weight=None):
        self.tree_ = DecisionTreeRegressor(max_depth=2, random_state=0).fit(X, y, sample_weight)

    def predict(self, X):
        return self.tree_.predict(X)


class LoudNumbers(QuietNumbers):
    def fit(self, X, y, sample_weight=None):
        super().fit(X, y, sample_weight)
        return self


def _two(one):
    return [("a", one()), ("b", one())]


CLASSIFIERS = {
    "bagging": lambda one: psephos.BaggingClassifier(one(), 3, random_state=0),
    "voting": lambda one: psephos.VotingClassifier(_two(one)),
    "stacking": lambda one: psephos.StackingClassifier(_two(one), random_state=0),
    "stacking on one": lambda one: psephos.StackingClassifier(
        _two(one), final_estimator=one(), random_state=0
    ),
    "selection": lambda one: psephos.EnsembleSelectionClassifier(_two(one), random_state=0),
    "cascade": lambda one: psephos.CascadeClassifier(_two(one), random_state=0),
    "views": lambda one: psephos.MultiViewClassifier(
        [("u", [0, 1]), ("v", [2, 3])], estimator=one(), random_state=0
    ),
    "budget": lambda one: psephos.ColumnBudgetClassifier(
        2, selector=one(), estimator=one(), random_state=0
    ),
    "swag": lambda one: psephos.SparseWrapperClassifier(one(), p_max=1, random_state=0),
    "adaboost": lambda one: psephos.AdaBoostClassifier(one(), n_estimators=3, random_state=0),
    "samba": lambda one: psephos.SamBAClassifier(one(), n_estimators=3, random_state=0),
}


@pytest.mark.parametrize("name", sorted(CLASSIFIERS))
def test_classifiers(name):
    make = CLASSIFIERS[name]
    quiet, loud = make(Quiet).fit(X, Y), make(Loud).fit(X, Y)
    assert_array_equal(quiet.predict_proba(X), loud.predict_proba(X))


@pytest.mark.parametrize("risk", ["unbiased"])
def test_some_labels(risk):
    quiet, loud = (
        psephos.PUClassifier(one(), prior=0.5, risk=risk, random_state=0).fit(X, POSITIVE)
        for one in (Quiet, Loud)
    )
    assert_array_equal(quiet.predict(X), loud.predict(X))


def test_regressors():
    for make in (
        lambda one: psephos.BaggingRegressor(one(), 3, random_state=0),
        lambda one: psephos.VotingRegressor(_two(one)),
        lambda one: psephos.StackingRegressor(_two(one), random_state=0),
    ):
        quiet, loud = make(QuietNumbers).fit(X, NUMBER), make(LoudNumbers).fit(X, NUMBER)
        assert_array_equal(quiet.predict(X), loud.predict(X))


def test_students():
    teacher = psephos.CARTClassifier(random_state=0).fit(X, Y)
    student = psephos.twice_learn(Quiet(), teacher, X)
    assert_array_equal(student.predict(X), psephos.twice_learn(Loud(), teacher, X).predict(X))


def test_curves_of_columns():
    quiet, loud = (
        ColumnCurveDisplay.from_estimator(
            psephos.ColumnBudgetClassifier(2, estimator=one(), random_state=0), X, Y, n_columns=(1,)
        )
        for one in (Quiet, Loud)
    )
    assert_array_equal(quiet.reference, loud.reference)
