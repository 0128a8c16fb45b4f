"""Support vector machines for the search, against scikit-learn's on the same splits."""

from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.model_selection import StratifiedKFold
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC

from psephos import PsephosError
from psephos.models.swag.learners.support import C_GRID, LinearSVMLearner, RBFSVMLearner
from psephos.models.swag.problem import Folds, SearchProblem
from psephos.vote import Scores, Target
from psephos.vote.operations.machines import KernelVoters

SUBSETS = np.array([[0, 1, 4], [1, 2, 5], [0, 3, 5], [2, 3, 4]])


def problem(seed, n_classes=2, n=70, weights=False):
    rng = np.random.default_rng(seed)
    y = rng.permutation(np.arange(n) % n_classes)
    X = rng.standard_normal((n, 6))
    X[:, :4] += rng.standard_normal((n_classes, 4))[y]
    X = np.asfortranarray(X * rng.uniform(0.1, 9, 6) + rng.normal(0, 5, 6))
    weight = rng.uniform(0.3, 2, n) if weights else np.ones(n)
    splits = list(StratifiedKFold(5, shuffle=True, random_state=seed).split(X, y))
    return SearchProblem(X, y, n_classes, weight, Folds.of(splits))


def splits_of(problem):
    folds = problem.folds
    for s in range(folds.n_splits):
        train = folds.train[folds.train_ptr[s] : folds.train_ptr[s + 1]]
        test = slice(folds.test_ptr[s], folds.test_ptr[s + 1])
        yield train, folds.test[test], test


def peer_scores(problem, subset, estimator, scale=True):
    out = np.empty((problem.folds.n_tests, problem.n_outputs))
    X = problem.X[:, subset]
    for train, test, place in splits_of(problem):
        w, name = problem.weight[train], type(estimator).__name__.lower()
        weights = {f"{name}__sample_weight": w}
        steps = [estimator]
        if scale:
            weights["standardscaler__sample_weight"] = w
            steps = [StandardScaler(), estimator]
        model = make_pipeline(*steps).fit(X[train], problem.y[train], **weights)
        out[place] = model.decision_function(X[test]).reshape(len(test), -1)
    return out


def answers(scores):
    return (scores[..., 0] > 0).astype(int) if scores.shape[-1] == 1 else scores.argmax(axis=-1)


@pytest.mark.parametrize(("n_classes", "weights"), [(2, False), (2, True), (3, True), (4, False)])
@pytest.mark.parametrize(
    ("learner", "peer"),
    [
        # A power of two: elsewhere LIBSVM may take a row at its bound, but for rounding, to be
        # free, and the end of an interval of intercepts for the only one.
        (LinearSVMLearner(C=0.5), SVC(kernel="linear", C=0.5, tol=1e-8)),
        (LinearSVMLearner(C=20.0), SVC(kernel="linear", C=20.0, tol=1e-8)),
        (RBFSVMLearner(tol=1e-8), SVC(tol=1e-8)),
        (RBFSVMLearner(C=30.0, gamma=0.2, tol=1e-8), SVC(C=30.0, gamma=0.2, tol=1e-8)),
    ],
)
def test_scores_are_those_of_scikit_learn(random_seed, learner, peer, n_classes, weights):
    task = problem(random_seed, n_classes, weights=weights)
    mine = learner.bind(task).scores(SUBSETS)
    assert mine.shape == (4, 70, task.n_outputs)
    for b, subset in enumerate(SUBSETS):
        assert_allclose(mine[b], peer_scores(task, subset, peer), atol=2e-4)


def test_answers_are_those_of_scikit_learn_at_its_own_tolerance(random_seed):
    task = problem(random_seed)
    for learner, peer in (
        (LinearSVMLearner(), SVC(kernel="linear")),
        (RBFSVMLearner(), SVC()),
    ):
        scores = learner.bind(task).scores(SUBSETS)
        theirs = np.stack([peer_scores(task, subset, peer) for subset in SUBSETS])
        clear = abs(theirs) > 0.02  # both stop at a gradient of 1e-3
        assert_array_equal((scores > 0)[clear], (theirs > 0)[clear])
        assert clear.mean() > 0.95


@pytest.mark.parametrize("learner", [LinearSVMLearner(C=0.25), RBFSVMLearner(tol=1e-8)])
def test_without_scaling(random_seed, learner):
    task = problem(random_seed)
    X = np.asfortranarray((task.X - task.X.mean(axis=0)) / task.X.std(axis=0) * [1, 2, 1, 3, 1, 1])
    task = SearchProblem(X + 0.4, task.y, 2, task.weight, task.folds)
    linear = isinstance(learner, LinearSVMLearner)
    peer = SVC(kernel="linear" if linear else "rbf", C=learner.C, tol=1e-8)
    mine = type(learner)(**{**vars(learner), "scale": False}).bind(task).scores(SUBSETS)
    for b, subset in enumerate(SUBSETS):
        assert_allclose(mine[b], peer_scores(task, subset, peer, scale=False), atol=2e-4)


@pytest.mark.parametrize("n_classes", [2, 3])
def test_the_grid_takes_the_best_of_each_candidate(random_seed, n_classes):
    task = problem(random_seed, n_classes, weights=True)
    bound = RBFSVMLearner(C=None, tol=1e-6).bind(task)
    chosen, mine = bound.remarks(SUBSETS)["C"], bound.scores(SUBSETS)
    each = [RBFSVMLearner(C=C, tol=1e-6).bind(task).scores(SUBSETS) for C in C_GRID]
    test = task.folds.test
    wrong = [((answers(s) != task.y[test]) * task.weight[test]).sum(axis=1) for s in each]
    for b in range(4):
        best = int(np.argmin([w[b] for w in wrong]))
        assert chosen[b] == C_GRID[best]
        assert_allclose(mine[b], each[best][b], atol=2e-3)
    code = Target(np.arange(n_classes)).code
    voters = bound.fit(list(SUBSETS), "answer", code)
    for b in range(4):
        alone = RBFSVMLearner(C=float(chosen[b]), tol=1e-6).bind(task)
        expected = alone.fit([SUBSETS[b]], "answer", code).votes(task.X)
        assert_array_equal(voters.votes(task.X)[:, [b]], expected)
    assert RBFSVMLearner(C=(2.0,)).bind(task).remarks(SUBSETS) == {}


def sigest(X):
    """Return caret's width by loops over all pairs of rows."""
    Z = (X - X.mean(axis=0)) / X.std(axis=0)
    apart = [((a - b) ** 2).sum() for i, a in enumerate(Z) for b in Z[:i]]
    low, high = np.quantile([one for one in apart if one > 0], [0.1, 0.9])
    return (1 / low + 1 / high) / 2


def test_widths_of_caret_are_those_of_each_candidate(random_seed):
    task = problem(random_seed)
    X = task.X.copy(order="F")
    X[40:] = X[0]  # pairs of equal rows do not count
    task = SearchProblem(X, task.y, 2, task.weight, task.folds)
    mine = RBFSVMLearner(C=4.0, gamma="sigest", tol=1e-8).bind(task)
    scores = mine.scores(SUBSETS)
    code = Target(np.arange(2)).code
    for b, subset in enumerate(SUBSETS):
        alone = RBFSVMLearner(C=4.0, gamma=sigest(X[:, subset]), tol=1e-8).bind(task)
        assert_allclose(scores[b], alone.scores(SUBSETS[[b]])[0], atol=1e-6)
        voters = (one.fit([subset], "probability", code) for one in (mine, alone))
        whole, given = (one.votes(X) for one in voters)
        assert_allclose(whole, given, atol=1e-6)


def test_widths_of_many_rows_are_of_drawn_pairs_and_constant_columns_have_some(monkeypatch):
    task = problem(3)
    exact = RBFSVMLearner(gamma="sigest").bind(task)._widths(SUBSETS)
    monkeypatch.setattr("psephos.models.swag.learners.support._PAIRS", 1500)
    drawn, again = (RBFSVMLearner(gamma="sigest").bind(task)._widths(SUBSETS) for _ in range(2))
    assert_array_equal(drawn, again)
    assert (drawn != exact).all()
    assert_allclose(drawn, exact, rtol=0.15)
    flat = SearchProblem(np.ones_like(task.X), task.y, 2, task.weight, task.folds)
    assert np.isfinite(RBFSVMLearner(gamma="sigest").bind(flat).scores(SUBSETS)).all()


def test_blocks_threads_and_batches_give_the_same_bytes(random_seed, monkeypatch):
    task = problem(random_seed, 3)
    for learner in (
        LinearSVMLearner(),
        RBFSVMLearner(),
        RBFSVMLearner(C=(0.5, 4.0)),
        RBFSVMLearner(gamma="sigest"),
    ):
        bound = learner.bind(task)
        together = bound.scores(SUBSETS)
        with ThreadPoolExecutor(2) as pool:
            alone = list(pool.map(lambda b, bound=bound: bound.scores(SUBSETS[[b]]), range(4)))
        assert np.concatenate(alone).tobytes() == together.tobytes()
        with monkeypatch.context() as patch:
            patch.setattr("psephos.models.swag.learners.support._NUMBERS", 1)
            assert bound.scores(SUBSETS).tobytes() == together.tobytes()


@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize(
    ("learner", "peer"),
    [
        (LinearSVMLearner(), SVC(kernel="linear", tol=1e-8, break_ties=True)),
        (RBFSVMLearner(tol=1e-8), SVC(tol=1e-8, break_ties=True)),
    ],
)
def test_voters_say_what_the_peer_says(random_seed, learner, peer, n_classes):
    task = problem(random_seed, n_classes)
    peer = SVC(**{**peer.get_params(), "break_ties": n_classes > 2})
    code = Target(np.arange(n_classes)).code
    subsets = [np.array([1, 4]), np.array([0, 2, 5]), np.array([3])]
    voters = learner.bind(task).fit(subsets, "answer", code)
    kernel = isinstance(learner, RBFSVMLearner) or n_classes > 2
    assert type(voters) is (KernelVoters if kernel else Scores)
    shares = learner.bind(task).fit(subsets, "probability", code).votes(task.X)
    usage = voters.usage().toarray()
    for t, subset in enumerate(subsets):
        model = make_pipeline(StandardScaler(), peer).fit(task.X[:, subset], task.y)
        margin = np.atleast_2d(model.decision_function(task.X[:, subset]).T).T
        if n_classes == 2:
            margin = np.column_stack([-margin, margin]) / 2
        clear = np.ptp(np.sort(margin, axis=1)[:, -2:], axis=1) > 5e-3
        assert clear.mean() > 0.9
        said = code[model.predict(task.X[:, subset])]
        assert_array_equal(voters.votes(task.X)[clear, t], said[clear])
        p = np.exp(margin) / np.exp(margin).sum(axis=1, keepdims=True)
        assert_allclose(shares[:, t], p @ code, atol=1e-3)
        assert_array_equal(np.flatnonzero(usage[t]), subset)
    gap = task.X.copy()
    gap[0, 4] = np.nan
    votes = voters.votes(gap)
    assert (votes[0, 0] == 0).all()
    assert_array_equal(votes[:, 1:], voters.votes(task.X)[:, 1:])


@pytest.mark.parametrize("n_classes", [2, 3])
def test_no_column_gives_the_prior(n_classes):
    X = np.asfortranarray(np.zeros((9, 1)))
    y = (
        np.array([0, 1, 1, 1, 1, 1, 1, 1, 0])
        if n_classes == 2
        else np.array([0, 1, 1, 2] + [1] * 5)
    )
    task = SearchProblem(X, y, n_classes, np.ones(9), Folds.of([(np.arange(9), np.arange(9))]))
    code = Target(np.arange(n_classes)).code
    for learner in (
        LinearSVMLearner(),
        RBFSVMLearner(),
        RBFSVMLearner(C=None),
    ):
        bound = learner.bind(task)
        for subset in ([], [0]):  # a constant column tells no more than none
            subset = np.array(subset, dtype=np.intp)
            assert (answers(bound.scores(subset[None])) == 1).all()
            voters = bound.fit([subset], "answer", code)
            assert_array_equal(voters.votes(X)[:, 0], np.tile(code[1], (9, 1)))
        assert bound.fit([], "answer", code).n_voters == 0


@pytest.mark.parametrize(
    ("learner", "name"),
    [
        (LinearSVMLearner(C=0), "C"),
        (LinearSVMLearner(scale="yes"), "scale"),
        (RBFSVMLearner(C=-1.0), "C"),
        (RBFSVMLearner(C=()), "C"),
        (RBFSVMLearner(C=(1.0, np.inf)), "C"),
        (RBFSVMLearner(gamma="auto"), "gamma"),
        (RBFSVMLearner(gamma=0), "gamma"),
        (RBFSVMLearner(tol=0), "tol"),
    ],
)
def test_bad_hyperparameters(learner, name):
    with pytest.raises(PsephosError, match=rf"\b{name}\b"):
        learner.bind(problem(0))


def test_targets_that_are_not_classes(monkeypatch):
    task = problem(0)
    for learner in (LinearSVMLearner(), RBFSVMLearner()):
        with pytest.raises(PsephosError, match="this target is numbers"):
            learner.bind(SearchProblem(task.X, task.y * 1.0, 0, task.weight, task.folds))
        with pytest.raises(PsephosError, match="not a 'value'"):
            learner.bind(task).fit(list(SUBSETS), "value", np.eye(2))
        with monkeypatch.context() as patch:
            patch.setattr("psephos.models.swag.learners.support.MOST_ROWS", 60)
            with pytest.raises(PsephosError, match="at most 60 rows"):
                learner.bind(task)
