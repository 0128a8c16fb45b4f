"""`transform` of voting and stacking: what members answer, as scikit-learn's tables."""

import numpy as np
import pytest
from sklearn import ensemble as peers
from sklearn.datasets import load_diabetes, load_wine
from sklearn.linear_model import LinearRegression, LogisticRegression, Ridge
from sklearn.naive_bayes import GaussianNB
from sklearn.preprocessing import scale

import psephos

X, Y = load_wine(return_X_y=True)
X = scale(X)
MEMBERS = [("line", LogisticRegression()), ("bayes", GaussianNB())]


@pytest.mark.parametrize("classes", [2, 3])
@pytest.mark.parametrize("voting", ["soft", "hard"])
def test_voting_has_the_table_of_scikit_learn(classes, voting):
    table, labels = X[classes > Y], Y[classes > Y]
    ours = psephos.VotingClassifier(MEMBERS, voting=voting).fit(table, labels)
    theirs = peers.VotingClassifier(MEMBERS, voting=voting).fit(table, labels)
    np.testing.assert_allclose(ours.transform(table), theirs.transform(table), atol=1e-12)
    assert list(ours.get_feature_names_out()) == list(theirs.get_feature_names_out())


@pytest.mark.parametrize("classes", [2, 3])
@pytest.mark.parametrize("passthrough", [False, True])
def test_stacking_has_the_table_of_scikit_learn(classes, passthrough):
    table, labels = X[classes > Y], Y[classes > Y]
    final = LogisticRegression()
    ours = psephos.StackingClassifier(MEMBERS, final_estimator=final, passthrough=passthrough)
    theirs = peers.StackingClassifier(MEMBERS, final, passthrough=passthrough)
    ours.fit(table, labels)
    theirs.fit(table, labels)
    np.testing.assert_allclose(ours.transform(table), theirs.transform(table), atol=1e-12)
    assert list(ours.get_feature_names_out()) == list(theirs.get_feature_names_out())


def test_numbers_of_regressors_and_pandas_out():
    table, numbers = load_diabetes(return_X_y=True)
    members = [("line", LinearRegression()), ("ridge", Ridge())]
    ours = psephos.VotingRegressor(members).fit(table, numbers)
    theirs = peers.VotingRegressor(members).fit(table, numbers)
    np.testing.assert_allclose(ours.transform(table), theirs.transform(table), rtol=1e-9)
    frame = ours.set_output(transform="pandas").transform(table[:2])
    assert list(frame.columns) == ["votingregressor_line", "votingregressor_ridge"]


def test_pooled_members_without_a_weight_are_left_out():
    model = psephos.StackingClassifier([*MEMBERS, ("same", GaussianNB())], random_state=0)
    model.fit(X, Y)
    assert model.transform(X).shape == (len(X), 3 * model.vote_.n_voters)
    assert len(model.get_feature_names_out()) == 3 * model.vote_.n_voters
