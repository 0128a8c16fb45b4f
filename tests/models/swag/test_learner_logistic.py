"""Logistic learners against scikit-learn's pipeline, fitted split by split."""

import threading
import warnings

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import RepeatedStratifiedKFold
from sklearn.preprocessing import StandardScaler

from psephos import PsephosError
from psephos.models.swag.learners.logistic import LogisticLearner, _programme, is_separable
from psephos.models.swag.problem import Folds, SearchProblem
from psephos.vote import Target


def problem(n_classes=2, n=66, weighted=False, seed=0, repeats=1):
    rng = np.random.default_rng(seed)
    y = rng.permutation(np.arange(n) % n_classes)
    X = rng.standard_normal((n, 6)) * [1, 1, 1, 10, 0.1, 1] + [0, 0, 0, 50, 0, 0]
    X[:, [0, 2, 3]] += rng.standard_normal((n_classes, 3))[y]
    weight = rng.uniform(0.3, 2, n) if weighted else np.ones(n)
    cv = RepeatedStratifiedKFold(n_splits=5, n_repeats=repeats, random_state=0)
    folds = Folds.of(cv.split(X, y))
    return SearchProblem(np.asfortranarray(X), y, n_classes, weight, folds)


def peer(data, columns, C=1.0, scale=True):
    """What scikit-learn's estimator says, split by split; its surest solver."""
    out = np.empty((data.folds.n_tests, data.n_outputs))
    folds = data.folds
    for s in range(folds.n_splits):
        train = folds.train[folds.train_ptr[s] : folds.train_ptr[s + 1]]
        here = slice(folds.test_ptr[s], folds.test_ptr[s + 1])
        w = data.weight[train]
        A, B = data.X[np.ix_(train, columns)], data.X[np.ix_(folds.test[here], columns)]
        if scale:
            scaler = StandardScaler().fit(A, sample_weight=w)
            A, B = scaler.transform(A), scaler.transform(B)
        model = LogisticRegression(C=C, tol=1e-12, max_iter=1000, solver="newton-cholesky")
        model.fit(A, data.y[train], sample_weight=w)
        out[here] = model.decision_function(B).reshape(len(B), -1)
    return out


@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("scale", [True, False])
@pytest.mark.parametrize("C", [0.3, 100.0])
def test_out_of_fold_scores_equal_scikit_learn(n_classes, weighted, scale, C):
    data = problem(n_classes, weighted=weighted)
    subsets = np.array([[0, 3], [1, 4]]) if scale else np.array([[0, 2], [1, 5]])
    scores = LogisticLearner(C=C, scale=scale).bind(data).scores(subsets)
    assert scores.shape == (2, data.folds.n_tests, data.n_outputs)
    for b, columns in enumerate(subsets):
        assert_allclose(scores[b], peer(data, columns, C, scale), rtol=1e-4, atol=2e-5)


@pytest.mark.parametrize("n_classes", [2, 3])
def test_separable_candidates_have_scikit_learn_s_answers(n_classes):
    data = problem(n_classes)
    X = data.X.copy(order="F")
    X[:, 0] = data.y + 0.3 * np.tanh(X[:, 0])
    data = SearchProblem(X, data.y, n_classes, data.weight, data.folds)
    C = 1e4 if n_classes == 2 else 100.0
    scores = LogisticLearner(C=C).bind(data).scores(np.array([[0, 1]]))[0]
    with warnings.catch_warnings():  # it goes on with another solver, which is as good here
        warnings.simplefilter("ignore", ConvergenceWarning)
        other = peer(data, [0, 1], C)
    said = (scores > 0, other > 0) if n_classes == 2 else (scores.argmax(1), other.argmax(1))
    assert_array_equal(*said)
    assert np.isfinite(LogisticLearner(C=1e9).bind(data).scores(np.array([[0, 1]]))).all()


def test_a_candidate_does_not_see_the_others():
    data = problem(repeats=2)
    rng = np.random.default_rng(1)
    subsets = np.array([np.sort(rng.choice(6, 3, replace=False)) for _ in range(20)])
    bound = LogisticLearner().bind(data)
    whole = bound.scores(subsets)
    assert_array_equal(bound.scores(subsets[::-1])[::-1], whole)
    assert_array_equal(bound.scores(subsets[7:8]), whole[7:8])
    halves = [None, None]

    def work(i):
        halves[i] = bound.scores(subsets[10 * i : 10 * i + 10])

    threads = [threading.Thread(target=work, args=(i,)) for i in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert_array_equal(np.concatenate(halves), whole)


@pytest.mark.parametrize("n_classes", [2, 3])
def test_voters_are_the_model_of_all_rows(n_classes):
    data = problem(n_classes, weighted=True)
    code = Target(np.arange(n_classes)).code
    bound = LogisticLearner(C=5.0).bind(data)
    subsets = [np.array([0, 3]), np.array([4]), np.empty(0, dtype=np.intp)]
    voters = bound.fit(subsets, "probability", code)
    assert_array_equal(voters.columns, [0, 3, 4])
    usage = voters.usage().toarray()
    assert_array_equal(usage.sum(axis=1), [2, 1, 0])
    said = voters.votes(data.X)
    for t, columns in enumerate(subsets[:2]):
        A = StandardScaler().fit(data.X[:, columns], sample_weight=data.weight)
        model = LogisticRegression(C=5.0, tol=1e-12, solver="newton-cholesky", max_iter=1000)
        model.fit(A.transform(data.X[:, columns]), data.y, sample_weight=data.weight)
        shares = model.predict_proba(A.transform(data.X[:, columns]))
        assert_allclose(said[:, t], shares @ code, atol=1e-5)
        answers = bound.fit(subsets, "answer", code).votes(data.X)[:, t]
        assert_array_equal(answers, code[shares.argmax(axis=1)])
    prior = np.bincount(data.y, data.weight) / data.weight.sum()
    assert_allclose(said[:, 2], np.broadcast_to(prior @ code, said[:, 2].shape), atol=1e-9)
    missing = data.X.copy()
    missing[0, 3] = np.nan
    assert_array_equal(voters.votes(missing)[0, 0], 0.0)
    assert_array_equal(voters.votes(missing)[1:], said[1:])


def test_a_constant_column_is_not_read():
    data = problem()
    X = data.X.copy(order="F")
    X[:, 1] = 3.3
    data = SearchProblem(X, data.y, 2, data.weight, data.folds)
    bound = LogisticLearner().bind(data)
    assert_array_equal(bound.scores(np.array([[0, 1]])), bound.scores(np.array([[0]])))
    voters = bound.fit([np.array([0, 1])], "answer", Target(np.arange(2)).code)
    assert_array_equal(voters.columns, [0])


@pytest.mark.parametrize("n_classes", [2, 3])
def test_separable_is_remarked(n_classes):
    data = problem(n_classes)
    X = data.X.copy(order="F")
    X[:, 0] = data.y**2 + 0.3 * np.tanh(X[:, 0])  # complete: gaps between the classes
    X[:, 1] = (data.y == 1) * np.arange(66) % 2  # quasi-complete: only class 1 has it
    data = SearchProblem(X, data.y, n_classes, data.weight, data.folds)
    subsets = np.array([[0, 5], [1, 5], [2, 3], [4, 5], [0, 1]])
    found = LogisticLearner().bind(data).remarks(subsets)["separable"]
    assert_array_equal(found, [True, True, False, False, True])


def test_separable_is_what_a_linear_programme_finds():
    """Small integers: complete and quasi-complete separation are frequent."""
    rng, found = np.random.default_rng(3), []
    for _ in range(400):
        n, d = rng.integers(6, 40), rng.integers(1, 4)
        X = rng.integers(0, 4, (n, d)).astype(float)
        y = (X[:, 0] + rng.normal(0, 0.5, n) > 1.5).astype(np.intp)
        if 0 < y.sum() < n:
            standard = (X - X.mean(axis=0)) / np.where(X.std(axis=0) > 0, X.std(axis=0), 1.0)
            exact = _programme(np.column_stack([standard, np.ones(n)]), y, 1)
            assert is_separable(X, y, 2) == exact
            found.append(exact)
    assert 30 < sum(found) < len(found) - 30


@pytest.mark.parametrize("k", [3, 4])
def test_separable_is_what_a_linear_programme_finds_of_more_classes(k):
    rng, found = np.random.default_rng(4), []
    for _ in range(120):
        n, d = rng.integers(6, 30), rng.integers(1, 3)
        X = rng.integers(0, 4, (n, d)).astype(float)
        y = np.clip(X[:, 0] + rng.normal(0, 1.0, n), 0, k - 1).round().astype(np.intp)
        if len(np.unique(y)) == k:
            standard = (X - X.mean(axis=0)) / np.where(X.std(axis=0) > 0, X.std(axis=0), 1.0)
            exact = _programme(np.column_stack([standard, np.ones(n)]), y, k)
            assert is_separable(X, y, k) == exact
            found.append(exact)
    assert 10 < sum(found) < len(found) - 10


def test_separable_though_two_of_three_classes_tie():
    """Class 2 does not occur at x = 1: its score there falls without end."""
    assert is_separable(np.array([[0.0], [0.0], [0.0], [1.0], [1.0]]), np.array([0, 1, 2, 0, 1]), 3)


def test_nearly_separable_is_not_separable():
    data = problem()
    X = data.X.copy(order="F")
    X[:, 0] = 2.0 * data.y + 0.3 * np.tanh(X[:, 0])
    wrong = np.flatnonzero(data.y == 0)[0]
    X[wrong, 0] = X[data.y == 1, 0].min() + 0.01
    bound = LogisticLearner().bind(SearchProblem(X, data.y, 2, data.weight, data.folds))
    X[:, 1] = 0.0
    assert_array_equal(bound.remarks(np.array([[0, 1]]))["separable"], [False])


@pytest.mark.parametrize("name", ["C", "tol", "max_iter"])
@pytest.mark.parametrize("value", [0, -1.0, np.inf, np.nan, True, "1"])
def test_bad_hyperparameters(name, value):
    with pytest.raises(PsephosError, match=f"'{name}' must be a finite number above 0"):
        LogisticLearner(**{name: value})


def test_regression_is_refused():
    data = problem()
    numbers = SearchProblem(data.X, data.y.astype(float), 0, data.weight, data.folds)
    with pytest.raises(PsephosError, match="choose another learner"):
        LogisticLearner().bind(numbers)
