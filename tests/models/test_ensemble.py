"""`estimators_`, `len(model)` and `estimator_weights_`: voters as fitted estimators."""

import pickle

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.datasets import load_diabetes, load_wine
from sklearn.exceptions import NotFittedError
from sklearn.linear_model import LogisticRegression
from sklearn.naive_bayes import GaussianNB

import psephos
from psephos import PsephosError

X, Y = load_wine(return_X_y=True, as_frame=True)
WORDS = np.array(["red", "rosé", "white"])[Y]
NUMBERS = load_diabetes(return_X_y=True)

#: Classifiers whose probabilities are the mean of their voters', by weight.
MEANS = [
    psephos.RandomForestClassifier(6, random_state=0),
    psephos.ExtraTreesClassifier(6, random_state=0),
    psephos.PureRandomForestClassifier(5, random_state=0),
    psephos.BaggingClassifier(n_estimators=3, random_state=0),
    psephos.BaggingClassifier(GaussianNB(), n_estimators=3, max_features=0.5, random_state=0),
    psephos.VotingClassifier(
        [("tree", psephos.CARTClassifier(n_folds=0)), ("bayes", GaussianNB())], weights=[1, 2]
    ),
    psephos.SamBAClassifier(n_estimators=4),
    psephos.StackingClassifier(
        [("tree", psephos.CARTClassifier(n_folds=0)), ("bayes", GaussianNB())], cv=3, random_state=0
    ),
    psephos.ColumnBudgetClassifier(3, selector="univariate", random_state=0),
]


@pytest.mark.parametrize("model", MEANS, ids=lambda model: type(model).__name__)
@pytest.mark.parametrize("classes", [2, 3])
def test_the_mean_of_the_voters_is_the_answer(model, classes):
    table, labels = X[classes > Y], WORDS[classes > Y]
    model = clone(model).fit(table, labels)
    weights = model.vote_.weights(table.to_numpy())
    mean = sum(
        (weights[:, t] / weights.sum(axis=1))[:, None] * voter.predict_proba(table)
        for t, voter in enumerate(model)
    )
    np.testing.assert_allclose(mean, model.predict_proba(table), atol=1e-12)
    assert len(model) == len(model.estimators_) == model.vote_.n_voters


@pytest.mark.parametrize("classes", [2, 3])
def test_the_weighted_vote_of_boosted_voters_is_the_answer(classes):
    table, labels = X[classes > Y], WORDS[classes > Y]
    model = psephos.AdaBoostClassifier(n_estimators=7).fit(table, labels)
    votes = np.zeros((len(table), classes))
    for weight, voter in zip(model.estimator_weights_, model.estimators_, strict=True):
        votes += weight * (voter.predict(table)[:, None] == model.classes_)
    assert np.array_equal(model.classes_[votes.argmax(axis=1)], model.predict(table))


@pytest.mark.parametrize(
    "model",
    [
        psephos.GradientBoostingClassifier(n_estimators=4, random_state=0),
        psephos.NewtonBoostingClassifier(n_estimators=4),
        psephos.NewtonBoostingClassifier("hist", n_estimators=4),
    ],
    ids=lambda model: type(model).__name__,
)
@pytest.mark.parametrize("classes", [2, 3])
def test_trees_and_the_constant_sum_to_the_score(model, classes):
    table, labels = X[classes > Y], WORDS[classes > Y]
    model = clone(model).fit(table, labels)
    outputs = 1 if classes == 2 else classes
    assert model.estimators_.shape == (model.n_estimators_, outputs)
    assert len(model) == model.n_estimators_ == 4
    score = np.stack(
        [
            model.init_[c] + sum(tree.predict(table) for tree in model.estimators_[:, c])
            for c in range(outputs)
        ],
        axis=1,
    )
    decided = model.decision_function(table).reshape(len(table), outputs)
    np.testing.assert_allclose(score, decided, atol=1e-12)


@pytest.mark.parametrize(
    "model",
    [
        psephos.RandomForestRegressor(5, random_state=0),
        psephos.VotingRegressor([("tree", psephos.CARTRegressor(n_folds=0))]),
    ],
    ids=lambda model: type(model).__name__,
)
def test_the_mean_of_regressors_is_the_answer(model):
    model = clone(model).fit(*NUMBERS)
    mean = np.mean([voter.predict(NUMBERS[0]) for voter in model], axis=0)
    np.testing.assert_allclose(mean, model.predict(NUMBERS[0]), rtol=1e-12)


def test_a_voter_is_a_fitted_estimator():
    model = psephos.AdaBoostClassifier(n_estimators=3).fit(X, WORDS)
    voter = model[0]
    assert list(voter.feature_names_in_) == list(X.columns)
    assert list(voter.classes_) == ["red", "rosé", "white"]
    assert voter.n_features_used_ == 1
    assert str(voter).splitlines()[1].startswith("Voter 1 (100.0 %): if ")
    assert voter.feature_importances_.sum() == pytest.approx(1.0)
    assert voter.explain(X[:1]).columns()
    copy = pickle.loads(pickle.dumps(voter))
    assert np.array_equal(copy.predict(X), voter.predict(X))
    with pytest.raises(PsephosError, match="fit the ensemble"):
        clone(voter).fit(X, WORDS)


def test_voters_are_indexed_as_a_list():
    model = psephos.RandomForestClassifier(4, random_state=0).fit(X, WORDS)
    last = model[3].predict_proba(X)
    assert np.array_equal(model[-1].predict_proba(X), last)
    assert len(model.estimators_[1:]) == 3
    assert repr(model.estimators_) == "<4 voters of RandomForestClassifier>"
    with pytest.raises(IndexError):
        model[4]


def test_an_ensemble_that_is_not_fitted_has_no_voters():
    model = psephos.RandomForestClassifier()
    assert bool(model)
    assert not hasattr(model, "estimators_")
    with pytest.raises(NotFittedError):
        len(model)


def test_local_weights_have_no_constant():
    model = psephos.SamBAClassifier(n_estimators=3).fit(X, WORDS)
    with pytest.raises(AttributeError, match=r"use vote_.weights\(X\)"):
        model.estimator_weights_  # noqa: B018
    assert not hasattr(model, "estimator_weights_")


def test_a_loaded_ensemble_has_its_voters(tmp_path):
    model = psephos.AdaBoostClassifier(n_estimators=3).fit(X, WORDS)
    psephos.save(model, tmp_path / "m.psephos")
    loaded = psephos.load(tmp_path / "m.psephos")
    assert np.array_equal(loaded[1].predict(X), model[1].predict(X))


def test_staged_scores_end_with_the_score():
    model = psephos.AdaBoostClassifier(n_estimators=5).fit(X, WORDS)
    scores = list(model.staged_score(X, WORDS))
    assert len(scores) == 5
    assert scores[-1] == model.score(X, WORDS)
    numbers = psephos.GradientBoostingRegressor(n_estimators=3).fit(*NUMBERS)
    assert list(numbers.staged_score(*NUMBERS))[-1] == pytest.approx(numbers.score(*NUMBERS))


def test_a_member_is_named():
    members = [("line", LogisticRegression(max_iter=5000)), ("bayes", GaussianNB())]
    model = psephos.VotingClassifier(members).fit(X / X.max(), WORDS)
    assert list(model.named_estimators_) == ["line", "bayes"]
    answers = model.named_estimators_.bayes.predict(X / X.max())
    assert np.array_equal(answers, GaussianNB().fit(X / X.max(), WORDS).predict(X / X.max()))


def test_a_tree_of_an_ensemble_has_leaves():
    model = psephos.RandomForestClassifier(3, random_state=0).fit(X, WORDS)
    assert np.array_equal(model[1].apply(X), model.apply(X)[:, 1])
    boosted = psephos.GradientBoostingClassifier(n_estimators=2).fit(X, WORDS)
    assert np.array_equal(boosted[1][2].apply(X), boosted.apply(X)[:, 1, 2])
    bayes = psephos.BaggingClassifier(GaussianNB(), 2, random_state=0).fit(X, WORDS)
    with pytest.raises(PsephosError, match="are not trees"):
        bayes[0].apply(X)
