"""What gaps cost a candidate, and that its errors are its own."""

import pickle
from dataclasses import dataclass

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import LinearRegression
from sklearn.naive_bayes import GaussianNB

from psephos.models.swag.evaluation import Evaluation
from psephos.models.swag.mechanisms import GenericLearner
from psephos.models.swag.problem import Folds
from psephos.models.training import make_splits
from psephos.vote import join


@dataclass(frozen=True)
class Counting:
    """A generic learner that draws nothing, so that candidates may share what is bound."""

    estimator: object
    asked: list

    def bind(self, problem):
        self.asked.append(problem)
        return GenericLearner(self.estimator).bind(problem)


def table(n_classes=2, seed=0, n=60):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 5))
    signal = X[:, 0] + X[:, 1] + 0.5 * rng.normal(size=n)
    y = signal
    if n_classes:
        y = np.searchsorted(np.quantile(signal, np.arange(1, n_classes) / n_classes), signal)
    X[::7, 1] = np.nan
    X[::7, 3] = np.nan
    X[5, 4] = np.nan
    return X, y


CODE = np.array([[-1.0], [1.0]])
SUBSETS = np.array([[0, 1], [0, 2], [1, 3], [2, 4], [0, 3], [1, 4]])


@pytest.mark.parametrize("n_classes", [0, 2, 3])
def test_gaps_are_trained_around_and_scored_by_the_prior(n_classes):
    X, y = table(n_classes)
    folds = Folds.of(make_splits(y, n_classes, n_folds=4))
    weight = np.random.default_rng(2).uniform(0.5, 2, 60)
    model = GaussianNB() if n_classes else LinearRegression()
    evaluation = Evaluation.of(GenericLearner(model), X, y, n_classes, folds=folds, weight=weight)
    scores = evaluation.scores(SUBSETS)
    for b, columns in enumerate(SUBSETS):
        for s in range(4):
            train = folds.train[folds.train_ptr[s] : folds.train_ptr[s + 1]]
            rows = np.arange(folds.test_ptr[s], folds.test_ptr[s + 1])
            test = folds.test[rows]
            seen = train[~np.isnan(X[train][:, columns]).any(axis=1)]
            heard = ~np.isnan(X[test][:, columns]).any(axis=1)
            model.fit(X[seen][:, columns], y[seen], weight[seen])
            asked = X[test[heard]][:, columns]
            if n_classes == 0:
                said, prior = (
                    model.predict(asked)[:, None],
                    np.average(y[train], weights=weight[train]),
                )
            else:
                said = np.log(np.clip(model.predict_proba(asked), 1e-12, 1))
                prior = np.log(np.bincount(y[train], weight[train]) / weight[train].sum())
                if n_classes == 2:
                    said, prior = said[:, 1:] - said[:, :1], prior[1] - prior[0]
            assert_allclose(scores[b, rows[heard]], said, rtol=1e-9)
            assert_allclose(
                scores[b, rows[~heard]], np.broadcast_to(prior, scores[b, rows[~heard]].shape)
            )
    assert_array_equal(evaluation.errors(SUBSETS).error, evaluation.measure.errors(scores).error)


def test_candidates_with_the_same_rows_share_what_is_bound():
    X, y = table()
    asked = []
    folds = Folds.of(make_splits(y, 2, n_folds=4))
    evaluation = Evaluation.of(Counting(GaussianNB(), asked), X, y, 2, folds=folds)
    together = evaluation.scores(SUBSETS)
    assert len(asked) == 1 + 3  # no gap; gaps of 1 and 3; of 4; of both
    assert all(np.isfinite(problem.X).all() for problem in asked)
    assert {len(problem.y) for problem in asked} == {60, 51, 59, 50}
    for b, subset in enumerate(SUBSETS):
        assert_array_equal(evaluation.scores(subset[None])[0], together[b])


def test_learners_that_draw_have_the_same_errors_in_any_batch():
    X, y = table()
    folds = Folds.of(make_splits(y, 2, n_folds=3))
    forest = GenericLearner(RandomForestClassifier(3))
    evaluation = Evaluation.of(forest, X, y, 2, folds=folds)
    together = evaluation.scores(SUBSETS)
    for b, subset in enumerate(SUBSETS):
        assert_array_equal(evaluation.scores(subset[None])[0], together[b])


def test_a_split_that_cannot_be_trained_is_scored_by_the_prior():
    X, y = table()
    X[y == 1, 2] = np.nan  # of what can be read, all is one class
    X[:, 3] = np.nan
    folds = Folds.of(make_splits(y, 2, n_folds=3))
    evaluation = Evaluation.of(GenericLearner(GaussianNB()), X, y, 2, folds=folds)
    scores = evaluation.scores(np.array([[2], [3]]))
    assert_allclose(scores, 0.0, atol=1e-12)
    voters = join(evaluation.fit([np.array([2]), np.array([0])], "answer", CODE))
    votes = voters.votes(np.zeros((1, 5)))
    assert votes[0, 0, 0] == -1.0  # the prior of the rows that can be read


@pytest.mark.parametrize("estimator", [GaussianNB(), RandomForestClassifier(3)])
def test_the_final_fit_reads_complete_rows_and_keeps_the_order(estimator):
    X, y = table()
    folds = Folds.of(make_splits(y, 2, n_folds=3))
    evaluation = Evaluation.of(GenericLearner(estimator), X, y, 2, folds=folds)
    subsets = [np.array([1]), np.array([0, 2]), np.array([1, 3]), np.array([2]), np.array([0, 1])]
    voters = join(evaluation.fit(subsets, "probability", CODE))
    table_ = voters.usage().toarray()
    assert [np.flatnonzero(row).tolist() for row in table_] == [s.tolist() for s in subsets]
    votes = voters.votes(X)
    assert (votes[0, [0, 2, 4]] == 0).all()
    assert (votes[0, [1, 3]] != 0).all()
    if isinstance(estimator, GaussianNB):
        seen = ~np.isnan(X[:, 1])
        model = GaussianNB().fit(X[seen][:, [0, 1]], y[seen])
        p = model.predict_proba(X[seen][:, [0, 1]])
        assert_allclose(votes[seen, 4, 0], p[:, 1] - p[:, 0])


def test_what_is_bound_does_not_travel():
    X, y = table()
    folds = Folds.of(make_splits(y, 2, n_folds=3))
    evaluation = Evaluation.of(GenericLearner(GaussianNB()), X, y, 2, folds=folds)
    first = evaluation.scores(SUBSETS)
    assert "_bound" in evaluation.__dict__
    copy = pickle.loads(pickle.dumps(evaluation))
    assert "_bound" not in copy.__dict__
    assert_array_equal(copy.scores(SUBSETS), first)
    assert evaluation.n_parts == 3
    assert evaluation.chunk == 16


@pytest.mark.filterwarnings("error")
def test_a_score_that_is_not_finite_is_the_prior_s():
    X, y = table()
    X = np.column_stack([X, np.ones(60)])
    X = np.where(np.isnan(X), 0.0, X)
    folds = Folds.of(make_splits(y, 2, n_folds=3))
    evaluation = Evaluation.of(GenericLearner(GaussianNB()), X, y, 2, folds=folds)
    bare = evaluation.bound().scores(np.array([[5], [0]]))
    assert np.isnan(bare[0]).all()
    scores = evaluation.scores(np.array([[5], [0]]))
    assert_allclose(scores[0], 0.0, atol=1e-12)  # as many rows of each class
    assert_array_equal(scores[1], bare[1])
