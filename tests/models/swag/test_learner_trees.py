"""Tiny trees against scikit-learn's on the same splits, and forests against their own trees."""

from concurrent.futures import ThreadPoolExecutor
from itertools import combinations

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.ensemble import RandomForestClassifier, RandomForestRegressor
from sklearn.model_selection import KFold
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor

from psephos import PsephosError
from psephos.models.sampling import drawn_columns
from psephos.models.swag.learners.trees import ForestLearner, TreeLearner
from psephos.models.swag.problem import Folds, SearchProblem
from psephos.vote import Target

# NumPy says so where kernels run uncompiled
pytestmark = pytest.mark.filterwarnings("ignore:overflow")


def problem(n_classes, n=60, p=5, seed=0, weighted=True, splits=4, **changes):
    """A table all of whose sums are exact, so that equal cuts are equal to the last bit."""
    rng = np.random.default_rng(seed)
    y = rng.integers(0, n_classes, n) if n_classes else np.round(rng.standard_normal(n) * 64) / 64
    X = rng.standard_normal((n, p))
    X[:, ::2] += 0.6 * y[:, None]
    fields = {
        "X": np.asfortranarray(X),
        "y": y,
        "n_classes": n_classes,
        "weight": rng.integers(1, 5, n).astype(float) if weighted else np.ones(n),
        "folds": Folds.of(KFold(splits, shuffle=True, random_state=seed).split(X)),
        "seed": 11,
    }
    return SearchProblem(**{**fields, **changes})


def splits_of(folds):
    for s in range(folds.n_splits):
        tests = slice(int(folds.test_ptr[s]), int(folds.test_ptr[s + 1]))
        yield folds.train[folds.train_ptr[s] : folds.train_ptr[s + 1]], folds.test[tests], tests


def peer_scores(problem, columns, random_state=0, **settings):
    """What scikit-learn's tree says, as scores."""
    out = np.empty((problem.folds.n_tests, problem.n_outputs))
    kind = DecisionTreeClassifier if problem.n_classes else DecisionTreeRegressor
    for train, test, at in splits_of(problem.folds):
        X, y = problem.X[:, columns], problem.y
        model = kind(random_state=random_state, **settings).fit(
            X[train], y[train], problem.weight[train]
        )
        if not problem.n_classes:
            out[at, 0] = model.predict(X[test])
            continue
        p = np.zeros((len(test), problem.n_classes))
        p[:, model.classes_] = model.predict_proba(X[test])
        least = 1 / (2 * len(train) + 2)
        if problem.n_classes == 2:
            p = p.clip(least, 1 - least)
            out[at, 0] = np.log(p[:, 1] / p[:, 0])
        else:
            out[at] = np.log(np.maximum(p, least))
    return out


def answers(scores):
    return (scores[..., 0] > 0).astype(int) if scores.shape[-1] == 1 else scores.argmax(-1)


SETTINGS = [
    {"max_depth": 1},
    {"max_depth": 3},
    {"max_depth": None},
    {"max_depth": 4, "min_samples_leaf": 5},
]


@pytest.mark.parametrize(
    ("n_classes", "settings"),
    [*((k, one) for k in (0, 2) for one in SETTINGS), (3, SETTINGS[1]), (5, SETTINGS[3])],
)
def test_trees_are_those_of_scikit_learn(n_classes, settings):
    """Where two columns cut a node alike, scikit-learn draws; rows it is not sure of are left."""
    given = problem(n_classes)
    bound = TreeLearner(**settings).bind(given)
    for d in (1, 3):
        subsets = np.array(list(combinations(range(5), d)))[: 4 if d == 1 else 2]
        peers = np.stack(
            [
                [peer_scores(given, columns, seed, **settings) for columns in subsets]
                for seed in range(12 if d > 1 else 1)
            ]
        )
        sure = (np.ptp(peers, axis=0) < 1e-9).all(axis=2)
        assert sure.mean() > (0.1 if d > 1 else 1 - 1e-9)
        assert_allclose(bound.scores(subsets)[sure], peers[0][sure], rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize("n_classes", [2, 3])
def test_ties_within_a_column_are_broken_alike(n_classes):
    """Whole numbers without weights: equal values and equal cuts abound."""
    given = problem(n_classes, weighted=False)
    given = problem(n_classes, weighted=False, X=np.asfortranarray(np.round(given.X)))
    bound = TreeLearner(max_depth=3).bind(given)
    subsets = np.arange(5)[:, None]
    expected = np.stack([peer_scores(given, columns, max_depth=3) for columns in subsets])
    assert_allclose(bound.scores(subsets), expected, rtol=1e-9, atol=1e-9)
    assert_array_equal(answers(bound.scores(subsets)), answers(expected))


@pytest.mark.parametrize("learner", [TreeLearner(), ForestLearner(5, max_depth=4)])
@pytest.mark.parametrize("n_classes", [0, 2, 3])
def test_a_candidate_has_the_same_bytes_in_any_batch_and_thread(learner, n_classes):
    bound = learner.bind(problem(n_classes))
    subsets = np.array(list(combinations(range(5), 3)))
    whole = bound.scores(subsets)
    assert_array_equal(bound.scores(subsets[::-1])[::-1], whole)
    with ThreadPoolExecutor(2) as pool:
        parts = list(pool.map(lambda b: bound.scores(subsets[b : b + 1])[0], range(len(subsets))))
    assert_array_equal(np.stack(parts), whole)


@pytest.mark.parametrize("n_classes", [0, 2, 3])
def test_a_forest_without_chance_is_its_tree(n_classes):
    given, subsets = problem(n_classes), np.array([[0, 1], [2, 4]])
    tree = TreeLearner(max_depth=None, min_samples_leaf=2).bind(given)
    forest = ForestLearner(3, None, min_samples_leaf=2, bootstrap=False).bind(given)
    assert_allclose(forest.scores(subsets), tree.scores(subsets), rtol=1e-12, atol=1e-12)


def test_seeds_make_forests():
    given, subsets = vars(problem(2)), np.array([[0, 1]])
    bound = [
        ForestLearner(5).bind(SearchProblem(**{**given, "seed": seed})) for seed in (1, 1, 2, -1)
    ]
    first, again, other, negative = (b.scores(subsets) for b in bound)
    assert_array_equal(first, again)
    assert (first != other).any()
    assert (first != negative).any()


@pytest.mark.parametrize("n_classes", [0, 2, 3])
def test_forests_err_as_often_as_scikit_learn(n_classes):
    """Mean difference of out-of-fold losses over candidates: within four standard errors of 0."""
    given = problem(n_classes, n=80, p=8, weighted=False, splits=5)
    subsets = np.array(list(combinations(range(8), 3)))[::4]
    ours = ForestLearner(15).bind(given).scores(subsets)
    kind = RandomForestClassifier if n_classes else RandomForestRegressor
    truth, gaps = given.y[given.folds.test], []
    for columns, scores in zip(subsets, ours, strict=True):
        said = np.empty(len(truth))
        for train, test, at in splits_of(given.folds):
            X = given.X[:, columns]
            forest = kind(15, max_features="sqrt", random_state=0)
            said[at] = forest.fit(X[train], given.y[train]).predict(X[test])
        if n_classes:
            gaps.append((answers(scores) != truth).mean() - (said != truth).mean())
        else:
            gaps.append(((scores[:, 0] - truth) ** 2).mean() - ((said - truth) ** 2).mean())
    assert np.std(gaps) > 0
    assert abs(np.mean(gaps)) < 4 * np.std(gaps) / np.sqrt(len(gaps))


# ---------------------------------------------------------------------- on all rows
def whole(n_classes):
    """All rows train, and all rows are tests."""
    n = 60
    folds = Folds.of([(np.arange(n), np.arange(n))])
    return problem(n_classes, n=n, folds=folds)


def code_of(n_classes):
    return Target(np.arange(n_classes)).code if n_classes else np.ones((1, 1))


@pytest.mark.parametrize("n_classes", [0, 2, 3])
@pytest.mark.parametrize(
    "learner",
    [TreeLearner(1), TreeLearner(), ForestLearner(4, None, max_depth=3, bootstrap=False)],
)
def test_voters_say_what_the_scores_say(learner, n_classes):
    given, code = whole(n_classes), code_of(n_classes)
    subsets = [np.array([0, 2]), np.array([1, 3, 4]), np.array([3])]
    bound = learner.bind(given)
    scores = [bound.scores(subset[None])[0] for subset in subsets]
    if not n_classes:
        voters = bound.fit(subsets, "value", code)
        assert_allclose(voters.votes(given.X)[:, :, 0], np.hstack(scores), rtol=1e-12, atol=1e-12)
        return
    voters = bound.fit(subsets, "answer", code)
    said = np.stack([code[answers(s)] for s in scores], axis=1)
    assert_array_equal(voters.votes(given.X), said)
    shares = bound.fit(subsets, "probability", code).votes(given.X)
    if n_classes == 2:  # p_1 - p_0
        least = 1 / (2 * 60 + 2)
        p = ((1 + shares[:, :, 0]) / 2).clip(least, 1 - least)
        assert_allclose(np.log(p / (1 - p)), np.hstack(scores), rtol=1e-7, atol=1e-9)
    else:
        p = (shares * 2 + 1) / 3  # the inverse of SAMME's coding
        expected = np.stack(scores, axis=1)
        assert_allclose(np.log(np.maximum(p, 1 / (2 * 60 + 2))), expected, rtol=1e-7, atol=1e-9)


@pytest.mark.parametrize("learner", [TreeLearner(), ForestLearner(6)])
@pytest.mark.parametrize("n_classes", [0, 2, 3])
def test_voters_name_what_they_read_and_abstain_without_it(learner, n_classes):
    given, code = whole(n_classes), code_of(n_classes)
    says = "answer" if n_classes else "value"
    subsets = [np.array([0, 2]), np.array([1, 2, 4]), np.empty(0, dtype=np.intp)]
    voters = learner.bind(given).fit(subsets, says, code)
    usage = voters.usage().toarray()
    for t, subset in enumerate(subsets):
        assert set(np.flatnonzero(usage[t])) <= set(subset)
    assert usage.any(axis=1).tolist() == [True, True, False]
    votes = voters.votes(given.X)
    for j in range(5):
        X = given.X.copy()
        X[::2, j] = np.nan
        expected = votes.copy()
        expected[::2, usage[:, j]] = 0
        assert_array_equal(voters.votes(X), expected)


def test_forests_differ_by_their_subsets_alone():
    bound, code = ForestLearner(6).bind(whole(2)), code_of(2)
    subsets = [np.array([0, 2]), np.array([1, 2, 4])]
    both = bound.fit(subsets, "probability", code).votes(whole(2).X)
    for t in (0, 1):
        alone = bound.fit(subsets[t : t + 1], "probability", code).votes(whole(2).X)
        assert_array_equal(alone[:, 0], both[:, t])


# ---------------------------------------------------------------------- degenerate problems
@pytest.mark.parametrize("learner", [TreeLearner(), ForestLearner(5)])
@pytest.mark.parametrize("n_classes", [0, 2, 3])
def test_degenerate_problems_have_finite_scores(learner, n_classes):
    n = 12
    rng = np.random.default_rng(0)
    y = np.arange(n) * 3 // n % max(n_classes, 1) if n_classes else np.repeat([0.0, 1e6], 6)
    X = rng.standard_normal((n, 7))
    X[:, 1], X[:, 2], X[:, 3] = 4.0, X[:, 0], 1e300 * X[:, 0]
    few = Folds.of(
        [
            (np.flatnonzero(y == y[0]), np.arange(n)),  # one class
            (np.array([0, 11]), np.arange(n)),  # fewer rows than columns
            (np.array([5]), np.arange(n)),
            (np.arange(n), np.empty(0, dtype=int)),
        ]
    )
    given = problem(n_classes, n=n, p=7, X=np.asfortranarray(X), y=y, folds=few)
    given = SearchProblem(**{**vars(given), "weight": rng.uniform(0.1, 3, n)})
    bound = learner.bind(given)
    scores = bound.scores(np.array([np.arange(7)]))
    assert scores.shape == (1, 36, given.n_outputs)
    assert np.isfinite(scores).all()
    one_class = scores[0, :n]
    assert (one_class == one_class[0]).all()
    if n_classes:
        assert (answers(one_class) == y[0]).all()
    else:
        assert_allclose(one_class, y[0], atol=1e-9)
    priors = bound.scores(np.empty((1, 0), dtype=np.intp))  # no column
    assert (priors[0, :n] == priors[0, 0]).all()
    constant = bound.scores(np.array([[1]]))
    assert (constant[0, :n] == constant[0, 0]).all()
    if isinstance(learner, TreeLearner):
        assert_allclose(constant, priors, rtol=1e-12, atol=1e-9)
    assert bound.scores(np.empty((0, 2), dtype=np.intp)).shape == (0, 36, given.n_outputs)


def test_a_tie_names_the_first_class():
    given = problem(2, n=8, p=1, weighted=False, y=np.arange(8) % 2, X=np.ones((8, 1), order="F"))
    even = Folds.of([(np.arange(8), np.arange(8))])
    bound = TreeLearner().bind(SearchProblem(**{**vars(given), "folds": even}))
    assert_array_equal(bound.scores(np.array([[0]])), 0)


def test_large_numbers_that_vary_little():
    """A regression is the same wherever its numbers begin."""
    given = problem(0)
    subsets = np.array([[0, 1], [2, 3]])
    near, far = (
        TreeLearner().bind(problem(0, y=given.y + offset)).scores(subsets) - offset
        for offset in (0.0, 2.0**30)
    )
    assert_allclose(far, near, atol=1e-5)


# ---------------------------------------------------------------------- parameters
@pytest.mark.parametrize(
    ("make", "name"),
    [
        (lambda: TreeLearner(max_depth=0), "max_depth"),
        (lambda: TreeLearner(min_samples_leaf=0.5), "min_samples_leaf"),
        (lambda: ForestLearner(n_estimators=0), "n_estimators"),
        (lambda: ForestLearner(max_features="all"), "max_features"),
        (lambda: ForestLearner(max_features=0), "max_features"),
        (lambda: ForestLearner(max_features=1.5), "max_features"),
        (lambda: ForestLearner(bootstrap=1), "bootstrap"),
    ],
)
def test_wrong_parameters_are_named(make, name):
    with pytest.raises(PsephosError, match=f"parameter '{name}' (is|must be)"):
        make()


@pytest.mark.parametrize(
    ("max_features", "expected"),
    [
        ("sqrt", [1, 1, 1, 2, 2, 3]),
        ("log2", [1, 1, 1, 2, 2, 3]),
        (None, [1, 2, 3, 4, 6, 9]),
        (3, [1, 2, 3, 3, 3, 3]),
        (0.5, [1, 1, 1, 2, 3, 4]),
    ],
)
def test_columns_drawn_are_those_of_scikit_learn(max_features, expected):
    sizes = [1, 2, 3, 4, 6, 9]
    assert [drawn_columns(max_features, d) for d in sizes] == expected
    X, y = np.random.default_rng(0).random((10, 9)), np.arange(10) % 2
    for d, drawn in zip(sizes, expected, strict=True):
        if max_features != 3:
            tree = DecisionTreeClassifier(max_features=max_features).fit(X[:, :d], y)
            assert tree.max_features_ == drawn
