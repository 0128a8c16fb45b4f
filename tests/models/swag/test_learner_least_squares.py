"""Least squares and ridge against scikit-learn's estimators fitted on the same splits."""

from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.linear_model import LinearRegression, Ridge, RidgeClassifier
from sklearn.model_selection import KFold
from sklearn.preprocessing import StandardScaler

from psephos import PsephosError
from psephos.models.swag.learners.closed_forms import LeastSquaresLearner, RidgeLearner
from psephos.models.swag.problem import Folds, SearchProblem
from psephos.vote import Target

PEERS = [
    (LeastSquaresLearner(), LinearRegression(), False, (0,)),
    (RidgeLearner(), Ridge(), True, (0,)),
    (RidgeLearner(5.0, scale=False), Ridge(5.0), False, (0,)),
    (RidgeLearner(), RidgeClassifier(), True, (2, 3)),
    (RidgeLearner(5.0, scale=False), RidgeClassifier(5.0), False, (2, 3)),
]
CASES = [(*case[:3], n_classes) for case in PEERS for n_classes in case[3]]


def problem(n_classes=0, n=60, p=6, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, p)) * rng.uniform(0.5, 4, p) + rng.standard_normal(p)
    y = 30 + X @ rng.standard_normal(p) + rng.standard_normal(n)
    if n_classes:
        y = np.searchsorted(np.quantile(y, np.arange(1, n_classes) / n_classes), y)
    weight = rng.uniform(0.5, 2, n)
    folds = Folds.of(KFold(5, shuffle=True, random_state=0).split(X))
    return SearchProblem(np.asfortranarray(X), y, n_classes, weight, folds)


def by_peer(peer, at, columns, scale):
    ends = (at.folds.train_ptr, at.folds.train_ptr[1:], at.folds.test_ptr, at.folds.test_ptr[1:])
    out = []
    for a, b, c, d in zip(*ends, strict=False):
        train, test = at.folds.train[a:b], at.folds.test[c:d]
        X, T = at.X[np.ix_(train, columns)], at.X[np.ix_(test, columns)]
        if scale:
            scaler = StandardScaler().fit(X, sample_weight=at.weight[train])
            X, T = scaler.transform(X), scaler.transform(T)
        peer.fit(X, at.y[train], sample_weight=at.weight[train])
        said = peer.decision_function(T) if at.n_classes else peer.predict(T)
        out.append(said.reshape(len(test), -1))
    return np.concatenate(out)


@pytest.mark.parametrize(("learner", "peer", "scale", "n_classes"), CASES)
def test_out_of_fold_scores_are_scikit_learns(learner, peer, scale, n_classes):
    at = problem(n_classes)
    for columns in (np.array([3]), np.array([0, 4]), np.array([0, 1, 2, 5])):
        scores = learner.bind(at).scores(columns[None])[0]
        assert_allclose(scores, by_peer(peer, at, columns, scale), rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize("n_classes", [0, 3])
def test_the_same_bytes_in_any_batch_and_thread(n_classes):
    at = problem(n_classes)
    subsets = np.array([(a, b) for a in range(6) for b in range(a + 1, 6)])
    bound = RidgeLearner().bind(at)
    whole = bound.scores(subsets)
    with ThreadPoolExecutor(2) as pool:
        parts = list(pool.map(RidgeLearner().bind(at).scores, np.array_split(subsets, 4)))
    assert_array_equal(np.concatenate(parts), whole)
    assert_array_equal(bound.scores(subsets[7:8])[0], whole[7])


@pytest.mark.parametrize("learner", [LeastSquaresLearner(), RidgeLearner(2.0)], ids=repr)
def test_voters_of_numbers_predict(learner):
    at = problem()
    same = SearchProblem(at.X, at.y, 0, at.weight, Folds.of([(np.arange(60), np.arange(60))]))
    subsets = [np.array([1, 4]), np.array([0, 2, 5]), np.array([], dtype=np.intp)]
    voters = learner.bind(at).fit(subsets, "value", np.zeros((0, 1)))
    for t, columns in enumerate(subsets):
        scores = learner.bind(same).scores(columns[None])[0]
        assert_allclose(voters.votes(at.X)[:, t], scores, rtol=1e-12)
        assert_array_equal(np.flatnonzero(voters.usage().toarray()[t]), columns)
    gaps = at.X.copy()
    gaps[:5, 2] = np.nan
    votes = voters.votes(gaps)
    assert_array_equal(votes[:5, 1], 0.0)
    assert_array_equal(votes[:, [0, 2]], voters.votes(at.X)[:, [0, 2]])


@pytest.mark.parametrize("n_classes", [2, 3])
def test_voters_of_classes_answer(n_classes):
    at = problem(n_classes)
    same = SearchProblem(
        at.X, at.y, n_classes, at.weight, Folds.of([(np.arange(60), np.arange(60))])
    )
    code = Target(np.arange(n_classes)).code
    subsets = [np.array([1, 4]), np.array([0, 2, 5])]
    bound = RidgeLearner().bind(at)
    voters = bound.fit(subsets, "answer", code)
    for t, columns in enumerate(subsets):
        scores = RidgeLearner().bind(same).scores(columns[None])[0]
        side = scores[:, 0] > 0 if n_classes == 2 else scores.argmax(axis=1)
        assert_array_equal(voters.votes(at.X)[:, t], code[side.astype(int)])
    assert bound.remarks(np.array([[0, 1]])) == {}
    with pytest.raises(PsephosError, match="no probabilities"):
        bound.fit(subsets, "probability", code)
    with pytest.raises(PsephosError, match="says its 'answer'"):
        bound.fit(subsets, "value", code)


def test_what_they_cannot_serve_is_refused():
    at = problem()
    with pytest.raises(PsephosError, match="LinearDiscriminantLearner or RidgeLearner"):
        LeastSquaresLearner().bind(problem(2))
    with pytest.raises(PsephosError, match="only one"):
        RidgeLearner().bind(
            SearchProblem(at.X, np.zeros(60, dtype=np.intp), 1, at.weight, at.folds)
        )
    with pytest.raises(PsephosError, match="'alpha'"):
        RidgeLearner(-1.0).bind(at)
    with pytest.raises(PsephosError, match="'scale'"):
        RidgeLearner(scale="yes").bind(at)
    with pytest.raises(PsephosError, match="says its 'value'"):
        RidgeLearner().bind(at).fit([np.array([0])], "answer", np.array([[-1.0], [1.0]]))
