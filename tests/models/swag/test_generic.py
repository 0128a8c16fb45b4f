"""Any scikit-learn estimator as a learner, and its voters."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import LinearRegression, LogisticRegression, RidgeClassifier
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC
from sklearn.tree import DecisionTreeRegressor

from psephos import PsephosError
from psephos.models.swag.mechanisms import GenericLearner
from psephos.models.swag.problem import Folds, SearchProblem
from psephos.models.training import make_splits
from psephos.vote import Target

SUBSETS = np.array([[0, 2], [1, 3], [0, 4]])


def problem(n_classes, weight=None, seed=0):
    rng = np.random.default_rng(seed)
    X = np.asfortranarray(rng.normal(size=(60, 5)))
    signal = X[:, 0] + X[:, 1] + 0.3 * rng.normal(size=60)
    y = signal
    if n_classes:
        y = np.searchsorted(np.quantile(signal, np.arange(1, n_classes) / n_classes), signal)
    folds = Folds.of(make_splits(y, n_classes, n_folds=3))
    return SearchProblem(X, y, n_classes, np.ones(60) if weight is None else weight, folds, seed)


@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize(
    "estimator",
    [
        LogisticRegression(),
        GaussianNB(),
        RidgeClassifier(),
        SVC(),
        SVC(decision_function_shape="ovo"),
        KNeighborsClassifier(),
        make_pipeline(StandardScaler(), LogisticRegression()),
    ],
    ids=lambda e: type(e).__name__,
)
def test_scores_decide_as_predict_does(estimator, n_classes):
    data = problem(n_classes)
    scores = GenericLearner(estimator).bind(data).scores(SUBSETS)
    assert scores.shape == (3, 60, 1 if n_classes == 2 else 3)
    assert np.isfinite(scores).all()
    folds = data.folds
    for s in range(3):
        train = folds.train[folds.train_ptr[s] : folds.train_ptr[s + 1]]
        rows = slice(folds.test_ptr[s], folds.test_ptr[s + 1])
        test = folds.test[rows]
        model = estimator.fit(data.X[train][:, [0, 2]], data.y[train])
        said = scores[0, rows]
        answer = (said[:, 0] > 0) if n_classes == 2 else said.argmax(axis=1)
        assert_array_equal(answer, model.predict(data.X[test][:, [0, 2]]))


def test_log_odds_of_probabilities():
    data = problem(2)
    scores = GenericLearner(GaussianNB()).bind(data).scores(SUBSETS[:1])
    train, rows = data.folds.train[: data.folds.train_ptr[1]], slice(0, data.folds.test_ptr[1])
    p = GaussianNB().fit(data.X[train][:, [0, 2]], data.y[train])
    p = p.predict_proba(data.X[data.folds.test[rows]][:, [0, 2]])
    assert_allclose(scores[0, rows, 0], np.log(p[:, 1] / p[:, 0]))
    sure = GenericLearner(KNeighborsClassifier(1)).bind(data).scores(SUBSETS)
    assert set(np.unique(np.abs(sure).round(3))) == {round(12 * np.log(10), 3)}


def test_regression():
    data = problem(0)
    scores = GenericLearner(LinearRegression()).bind(data).scores(SUBSETS)
    train, rows = data.folds.train[: data.folds.train_ptr[1]], slice(0, data.folds.test_ptr[1])
    model = LinearRegression().fit(data.X[train][:, [1, 3]], data.y[train])
    assert_allclose(scores[1, rows, 0], model.predict(data.X[data.folds.test[rows]][:, [1, 3]]))


def test_seeds_depend_on_the_candidate_alone():
    learner = GenericLearner(make_pipeline(StandardScaler(), RandomForestClassifier(3)))
    bound = learner.bind(problem(2))
    together = bound.scores(SUBSETS)
    for subset, scores in zip(SUBSETS, together, strict=True):
        assert_array_equal(bound.scores(subset[None])[0], scores)
    other = learner.bind(problem(2)).scores(SUBSETS)
    assert_array_equal(together, other)
    seeds = {
        bound._fitted(np.ones((60, 2)), c, slice(None), s)[-1].random_state
        for c in SUBSETS
        for s in range(3)
    }
    assert len(seeds) == 9


def test_weights():
    weight = np.random.default_rng(1).uniform(0.5, 2.0, 60)
    data = problem(2, weight)
    for estimator in (GaussianNB(), make_pipeline(StandardScaler(), LogisticRegression())):
        heavy = GenericLearner(estimator).bind(data).scores(SUBSETS)
        assert (
            np.abs(heavy - GenericLearner(estimator).bind(problem(2)).scores(SUBSETS)).max() > 0.01
        )
    for estimator in (
        KNeighborsClassifier(),
        make_pipeline(StandardScaler(), KNeighborsClassifier()),
    ):
        with pytest.raises(PsephosError, match="does not accept sample_weight"):
            GenericLearner(estimator).bind(data)
        GenericLearner(estimator).bind(problem(2, np.full(60, 2.0)))


def test_refusals():
    with pytest.raises(PsephosError, match="must be a classifier; LinearRegression is a regressor"):
        GenericLearner(LinearRegression()).bind(problem(2))
    with pytest.raises(PsephosError, match="must be a regressor; GaussianNB is a classifier"):
        GenericLearner(GaussianNB()).bind(problem(0))
    failing = GenericLearner(KNeighborsClassifier(100)).bind(problem(2))
    with pytest.raises(
        PsephosError, match=r"KNeighborsClassifier fails on columns \[0, 2\]"
    ) as caught:
        failing.scores(SUBSETS)
    assert caught.value.__cause__ is not None
    with pytest.raises(PsephosError, match="has no predict_proba"):
        GenericLearner(RidgeClassifier()).bind(problem(2)).fit(SUBSETS, "probability", np.eye(2))


# ------------------------------------------------------------------ voters
MIXED = [np.array([0, 2]), np.array([3]), np.empty(0, dtype=np.intp), np.array([1, 2, 4])]


@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize("says", ["answer", "probability"])
def test_voters_say_what_their_estimators_say(says, n_classes):
    data = problem(n_classes)
    code = Target(np.arange(n_classes)).code
    voters = GenericLearner(GaussianNB()).bind(data).fit(MIXED, says, code)
    X = np.random.default_rng(1).normal(size=(20, 5))
    X[3, 2] = np.nan
    votes = voters.votes(X)
    assert votes.shape == (20, 4, code.shape[1])
    for t, columns in enumerate(MIXED):
        if len(columns):
            model = GaussianNB().fit(data.X[:, columns], data.y)
            filled = np.nan_to_num(X[:, columns])
            said = code[model.predict(filled)]
            if says == "probability":
                said = model.predict_proba(filled) @ code
        else:
            share = np.bincount(data.y) / len(data.y)
            said = np.tile(code[share.argmax()] if says == "answer" else share @ code, (20, 1))
        missing = np.isnan(X[:, columns]).any(axis=1)
        assert_allclose(votes[:, t], np.where(missing[:, None], 0.0, said))
    assert (votes[3, 0] == 0).all()
    assert (votes[3, 1] != 0).any()


def test_voters_name_their_columns_and_can_be_reduced():
    data = problem(2)
    voters = (
        GenericLearner(LinearDiscriminantAnalysis())
        .bind(data)
        .fit(MIXED, "answer", Target(np.arange(2)).code)
    )
    X = np.random.default_rng(1).normal(size=(20, 5))
    table = voters.usage().toarray()
    assert [np.flatnonzero(row).tolist() for row in table] == [s.tolist() for s in MIXED]
    some = voters.take(np.array([2, 1]))
    assert some.columns.tolist() == [3]
    assert_array_equal(some.votes(X), voters.votes(X)[:, [2, 1]])
    kept = np.array([0, 2, 3])
    reduced = voters.take(np.array([1, 0])).select(kept)
    assert_array_equal(reduced.votes(X[:, kept]), voters.votes(X)[:, [1, 0]])
    assert voters.rule(0, list("abcde"), {}) == "LinearDiscriminantAnalysis on a, c"
    assert voters.rule(2, list("abcde"), {}) == "DummyClassifier on no column"
    assert voters.sides(0) == []
    assert "cannot write as plain data" in voters.refusal()


def test_numbers_are_predicted():
    data = problem(0)
    voters = (
        GenericLearner(DecisionTreeRegressor()).bind(data).fit(MIXED, "value", np.empty((0, 0)))
    )
    votes = voters.votes(np.asarray(data.X))
    assert_allclose(votes[:, 1, 0], data.y)  # a full tree knows its training rows
    assert_allclose(votes[:, 2, 0], data.y.mean())
