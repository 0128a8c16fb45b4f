"""Gaussian learners against scikit-learn's estimators fitted on the same splits."""

from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.special import softmax
from sklearn.discriminant_analysis import (
    LinearDiscriminantAnalysis,
    QuadraticDiscriminantAnalysis,
)
from sklearn.model_selection import RepeatedStratifiedKFold
from sklearn.naive_bayes import GaussianNB

from psephos import PsephosError
from psephos.models.swag.learners.closed_forms import (
    LinearDiscriminantLearner,
    NaiveBayesLearner,
)
from psephos.models.swag.problem import Folds, SearchProblem
from psephos.vote import Target

_FOUR = QuadraticDiscriminantAnalysis(store_covariance=True)
_FOUR.fit([[0.0], [2.0], [0.0], [2.0]], [0, 0, 1, 1])
BIASED = np.isclose(_FOUR.covariance_[0][0, 0], 1.0)  # scikit-learn divides by n, once by n - 1
OLD = pytest.mark.skipif(not BIASED, reason="this scikit-learn divides a covariance by n - 1")

PEERS = [
    (LinearDiscriminantLearner(), LinearDiscriminantAnalysis(solver="lsqr")),
    pytest.param(LinearDiscriminantLearner(), LinearDiscriminantAnalysis(), marks=OLD),
    (NaiveBayesLearner(), GaussianNB()),
    (NaiveBayesLearner(0.05), GaussianNB(var_smoothing=0.05)),
]
LEARNERS = [
    LinearDiscriminantLearner(),
    NaiveBayesLearner(),
]


def problem(n_classes=2, n=60, p=6, weights=False, seed=0):
    rng = np.random.default_rng(seed)
    y = rng.permutation(np.arange(n) % n_classes)
    X = rng.standard_normal((n, p)) + np.outer(y, rng.standard_normal(p))
    X = X * rng.uniform(0.5, 4, p) + rng.standard_normal(p)
    weight = rng.uniform(0.5, 2, n) if weights else np.ones(n)
    splits = RepeatedStratifiedKFold(n_splits=5, n_repeats=2, random_state=0).split(X, y)
    return SearchProblem(np.asfortranarray(X), y, n_classes, weight, Folds.of(splits))


def by_peer(peer, at, columns):
    ends = (at.folds.train_ptr, at.folds.train_ptr[1:], at.folds.test_ptr, at.folds.test_ptr[1:])
    out = []
    for a, b, c, d in zip(*ends, strict=False):
        train, test = at.folds.train[a:b], at.folds.test[c:d]
        weight = {"sample_weight": at.weight[train]} if isinstance(peer, GaussianNB) else {}
        peer.fit(at.X[np.ix_(train, columns)], at.y[train], **weight)
        T = at.X[np.ix_(test, columns)]
        if isinstance(peer, GaussianNB):
            log = peer.predict_joint_log_proba(T)
            out.append(log[:, 1:] - log[:, :1] if at.n_classes == 2 else log)
        else:
            out.append(peer.decision_function(T).reshape(len(test), -1))
    return np.concatenate(out)


def centred(scores):
    """Log-posteriors up to a constant of the row."""
    return scores - scores.mean(axis=1, keepdims=True) if scores.shape[1] > 1 else scores


@pytest.mark.parametrize(("learner", "peer"), PEERS)
@pytest.mark.parametrize("n_classes", [2, 3])
def test_out_of_fold_scores_are_scikit_learns(learner, peer, n_classes):
    at = problem(n_classes)
    for columns in (np.array([3]), np.array([0, 4]), np.array([0, 1, 2, 5])):
        scores = learner.bind(at).scores(columns[None])[0]
        peers = by_peer(peer, at, columns)
        assert_allclose(centred(scores), centred(peers), rtol=1e-8, atol=1e-8)


@pytest.mark.parametrize("n_classes", [2, 3])
def test_weighted_naive_bayes_is_scikit_learns(n_classes):
    """But for the smoothing, 1e-9 of another variance."""
    at = problem(n_classes, weights=True)
    scores = NaiveBayesLearner().bind(at).scores(np.array([[0, 1, 4]]))[0]
    peers = by_peer(GaussianNB(), at, np.array([0, 1, 4]))
    assert_allclose(centred(scores), centred(peers), rtol=1e-6, atol=1e-6)


@pytest.mark.parametrize("learner", LEARNERS, ids=repr)
def test_the_same_bytes_in_any_batch_and_thread(learner):
    at = problem(3, weights=True)
    subsets = np.array([(a, b) for a in range(6) for b in range(a + 1, 6)])
    bound = learner.bind(at)
    whole = bound.scores(subsets)
    with ThreadPoolExecutor(2) as pool:
        parts = list(pool.map(learner.bind(at).scores, np.array_split(subsets, 4)))
    assert_array_equal(np.concatenate(parts), whole)
    assert_array_equal(bound.scores(subsets[7:8])[0], whole[7])


@pytest.mark.parametrize("learner", LEARNERS, ids=repr)
@pytest.mark.parametrize("n_classes", [2, 3])
def test_voters_say_what_the_scores_say(learner, n_classes):
    at = problem(n_classes, weights=True)
    same = SearchProblem(
        at.X, at.y, n_classes, at.weight, Folds.of([(np.arange(60), np.arange(60))])
    )
    code = Target(np.arange(n_classes)).code
    subsets = [np.array([1, 4]), np.array([0, 2, 5]), np.array([3]), np.array([], dtype=np.intp)]
    bound = learner.bind(at)
    answer = bound.fit(subsets, "answer", code)
    share = bound.fit(subsets, "probability", code)
    for t, columns in enumerate(subsets):
        scores = learner.bind(same).scores(columns[None])[0]
        full = np.column_stack([np.zeros(60), scores]) if n_classes == 2 else scores
        assert_array_equal(answer.votes(at.X)[:, t], code[full.argmax(axis=1)])
        assert_allclose(share.votes(at.X)[:, t], softmax(full, axis=1) @ code, atol=1e-9)
        assert_array_equal(np.flatnonzero(answer.usage().toarray()[t]), columns)
    gaps = at.X.copy()
    gaps[:5, 2] = np.nan
    votes = answer.votes(gaps)
    assert_array_equal(votes[:5, 1], 0.0)
    assert_array_equal(np.delete(votes, 1, axis=1), np.delete(answer.votes(at.X), 1, axis=1))


@pytest.mark.parametrize("learner", LEARNERS, ids=repr)
@pytest.mark.parametrize("n_classes", [2, 3])
def test_voters_of_degenerate_tables(learner, n_classes):
    at = problem(n_classes)
    at.X[:, 0], at.X[:, 1] = 7.5, at.X[:, 2]
    at.y[at.y == 1] = 0  # the second class has no row
    bound = learner.bind(at)
    code = Target(np.arange(n_classes)).code
    voters = bound.fit([np.array([0]), np.array([0, 1, 2])], "probability", code)
    said = voters.votes(at.X)
    assert np.isfinite(said).all()
    assert not voters.usage().toarray()[:, 0].any()
    share = np.bincount(at.y, minlength=n_classes) / 60
    assert_allclose(said[:, 0], np.tile(share @ code, (60, 1)), atol=1e-9)
    none = bound.fit([], "answer", code)
    assert none.n_voters == 0
    assert bound.remarks(np.array([[0, 1]])) == {}


@pytest.mark.parametrize(
    ("learner", "word"),
    [
        (NaiveBayesLearner(-1.0), "var_smoothing"),
        (NaiveBayesLearner("much"), "var_smoothing"),
    ],
)
def test_a_bad_parameter_is_named(learner, word):
    with pytest.raises(PsephosError, match=word):
        learner.bind(problem())


@pytest.mark.parametrize("learner", LEARNERS, ids=repr)
def test_what_they_cannot_serve_is_refused(learner):
    at = problem()
    for n_classes in (0, 1):
        with pytest.raises(PsephosError, match="two or more classes"):
            learner.bind(SearchProblem(at.X, at.y, n_classes, at.weight, at.folds))
    with pytest.raises(PsephosError, match="no number to say"):
        learner.bind(at).fit([np.array([0])], "value", np.array([[-1.0], [1.0]]))
