"""Fitted scikit-learn classifiers as voters: the same answers, as plain arrays or in memory."""

import numpy as np
import pytest
import scipy.sparse as sp
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import (
    LogisticRegression,
    Perceptron,
    RidgeClassifier,
    SGDClassifier,
)
from sklearn.naive_bayes import GaussianNB
from sklearn.svm import SVC, LinearSVC
from sklearn.tree import DecisionTreeClassifier, ExtraTreeClassifier

from psephos import AdaBoostClassifier, PsephosError, SamBAClassifier, load, save
from psephos.testing import small_table
from psephos.vote import (
    ForeignVoters,
    Target,
    from_estimators,
)

# scikit-learn 1.6 calls the newest SciPy's optimiser with options that it warns of
pytestmark = pytest.mark.filterwarnings("ignore:scipy.optimize:DeprecationWarning")

NAMES = [f"c{j}" for j in range(7)]


def table(n_classes, n=200, seed=0, missing=0.0):
    rng = np.random.default_rng(seed)
    y = rng.integers(0, n_classes, n)
    X = rng.standard_normal((n, 7))
    X[:, [1, 4]] += rng.standard_normal((n_classes, 2))[y]
    X[rng.random(X.shape) < missing] = np.nan
    return X, y


def said(voters, X):
    """The class index each voter speaks for."""
    n, T, K = voters.votes(X).shape
    target = Target(np.arange(len(voters.value) if K > 1 else 2))
    return target.answers(voters.votes(X).reshape(-1, K)).reshape(n, T)


KINDS = [
    (DecisionTreeClassifier(max_depth=4), "tree voters"),
    (DecisionTreeClassifier(), "tree voters"),
    (ExtraTreeClassifier(max_depth=3), "tree voters"),
    (LogisticRegression(), "linear voters"),
    (LinearSVC(C=0.02, penalty="l1", dual=False), "linear voters"),
    (RidgeClassifier(), "linear voters"),
    (SGDClassifier(), "linear voters"),
    (Perceptron(), "linear voters"),
    (LogisticRegression(fit_intercept=False), "linear voters"),
    (GaussianNB(), "naive Bayes voters"),
    (SVC(gamma=0.3), "ForeignVoters"),
    (RandomForestClassifier(3, max_depth=2), "ForeignVoters"),
]


def three(kind, n_classes, **kwargs):
    """Three voters fitted with other weights, and the classifiers they came from."""
    X, y = table(n_classes, **kwargs)
    fitted = []
    for seed in range(3):
        w = np.random.default_rng(seed).uniform(0.1, 2, len(y))
        model = type(kind)(**kind.get_params())
        if "random_state" in model.get_params():
            model.set_params(random_state=seed)
        fitted.append(model.fit(X, y, sample_weight=w))
    return from_estimators(fitted, 7, Target(np.arange(n_classes)).code), fitted


@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize(("kind", "expected"), KINDS)
def test_voters_say_what_scikit_learn_says(kind, expected, n_classes):
    voters, fitted = three(kind, n_classes)
    assert voters.kinds() == (expected,)
    X, _ = table(n_classes, n=3000, seed=9)
    answers = np.stack([model.predict(X) for model in fitted], axis=1)
    assert (said(voters, X) == answers).mean() == 1.0
    code = Target(np.arange(n_classes)).code
    assert_array_equal(voters.votes(X), code[answers])


@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize(("kind", "expected"), KINDS)
def test_voters_move_to_smaller_tables(kind, expected, n_classes):
    voters, _ = three(kind, n_classes)
    X, _ = table(n_classes, n=300, seed=9)
    votes = voters.votes(X)
    columns = voters.columns
    assert_array_equal(voters.select(columns).votes(X[:, columns]), votes)
    assert_array_equal(voters.take(np.array([2, 0])).votes(X), votes[:, [2, 0]])
    assert_array_equal(voters.take(np.array([1])).usage().toarray(), voters.usage().toarray()[[1]])
    usage = voters.usage().toarray()
    assert_array_equal(np.flatnonzero(usage.any(axis=0)), columns)
    for t in range(3):  # what a voter does not name does not matter to it
        other = np.where(usage[t], X, 50.0)
        assert_array_equal(voters.votes(other)[:, t], votes[:, t])
        assert str(usage[t].sum()) in voters.rule(t, NAMES, {}) or "c" in voters.rule(t, NAMES, {})


def test_trees_with_missing_values():
    for missing in (0.0, 0.3):  # without any in fit, scikit-learn sends them to the larger side
        voters, fitted = three(DecisionTreeClassifier(max_depth=4), 3, missing=missing)
        X, _ = table(3, n=3000, seed=9, missing=0.3)
        answers = np.stack([model.predict(X) for model in fitted], axis=1)
        assert_array_equal(said(voters, X), answers)


def test_trees_compare_in_single_precision():
    """A value between a threshold and its float32 neighbour falls where scikit-learn says."""
    voters, fitted = three(DecisionTreeClassifier(max_depth=3), 2)
    thresholds = voters.threshold[voters.feature >= 0]
    near = thresholds.astype(np.float32).astype(float)
    steps = [np.nextafter(near, -9), near, np.nextafter(near, 9), thresholds, near + 1e-9]
    values = np.concatenate(steps)
    X, _ = table(2, n=len(values) * 7)
    for j in range(7):
        X[j * len(values) : (j + 1) * len(values), j] = values
    answers = np.stack([model.predict(X) for model in fitted], axis=1)
    assert_array_equal(said(voters, X), answers)


def test_a_tree_that_is_one_leaf():
    X, y = table(2)
    stumps = [DecisionTreeClassifier(max_depth=d, random_state=0).fit(X, y) for d in (1, 2)]
    leaf = DecisionTreeClassifier(min_samples_leaf=150).fit(X, y)
    voters = from_estimators([stumps[0], leaf, stumps[1]], 7, Target(np.arange(2)).code)
    assert voters.usage().toarray()[1].sum() == 0
    assert_array_equal(said(voters, X)[:, 1], leaf.predict(X))
    assert_array_equal(said(voters.take(np.array([1, 2])), X)[:, 1], stumps[1].predict(X))
    assert voters.rule(1, NAMES, {}) == "a tree of 1 leaves on no column"


def test_voters_that_need_every_value_say_so():
    X, _ = table(2, missing=0.1)
    row = int(np.isnan(X).any(axis=1).argmax())
    bayes = (GaussianNB(), "voters by Gaussian naive Bayes")
    for kind, words in ((LogisticRegression(), "voters by a linear model"), bayes):
        voters, _ = three(kind, 2)
        with pytest.raises(PsephosError, match=f"row {row} of these lacks a value that {words}"):
            voters.votes(X)


def test_linear_rules_in_words():
    voters, fitted = three(LinearSVC(C=0.02, penalty="l1", dual=False), 2)
    rule = voters.rule(0, NAMES, {})
    for j in np.flatnonzero(fitted[0].coef_[0]):
        assert f"{abs(fitted[0].coef_[0, j]):.4g} × c{j}" in rule
    assert rule.endswith("> 0")


def test_sparse_coefficients():
    X, y = table(3)
    model = LogisticRegression().fit(X, y)
    dense = from_estimators([model], 7, Target(np.arange(3)).code)
    sparse = from_estimators([model.sparsify()], 7, Target(np.arange(3)).code)
    assert_allclose(sparse.coef, dense.coef)


# ---------------------------------------------------------------------- foreign voters in a model
class Threshold(ClassifierMixin, BaseEstimator):
    """Somebody's classifier: it reads one column, and says so."""

    def __init__(self, column=0):
        self.column = column

    def fit(self, X, y, sample_weight=None):
        self.classes_ = np.unique(y)
        self.feature_importances_ = np.arange(X.shape[1]) == self.column
        self.cut_ = np.average(X[:, self.column], weights=sample_weight)
        return self

    def predict(self, X):
        return (X[:, self.column] <= self.cut_).astype(int)


@pytest.mark.parametrize("make", [SamBAClassifier, AdaBoostClassifier])
@pytest.mark.parametrize(
    "voter",
    [
        SVC(),
        RandomForestClassifier(3, max_depth=2),
        Threshold(1),
        LogisticRegression(max_iter=2000),
    ],
)
@pytest.mark.parametrize("n_classes", [2, 3])
def test_any_classifier_may_vote(make, voter, n_classes, tmp_path):
    if isinstance(voter, Threshold) and n_classes == 3:
        pytest.skip("this voter tells two classes apart")
    X, y = small_table(n_classes)
    model = make(voter, n_estimators=3, random_state=0).fit(X, y)
    foreign = isinstance(model.vote_.voters, ForeignVoters)
    assert foreign != isinstance(voter, LogisticRegression)
    assert (model.predict(X) == y).mean() > 0.6
    assert_allclose(model.contributions(X).sum(axis=1), model.decision_function(X), atol=1e-12)
    assert len(model.describe()) == 1 + model.vote_.n_voters
    if foreign:
        name = type(voter).__name__
        with pytest.raises(PsephosError, match=f"its voters are {name}, which psephos cannot"):
            save(model, tmp_path / "model.psephos")
        assert not list(tmp_path.iterdir())
    else:
        save(model, tmp_path / "model.psephos")
        assert_array_equal(load(tmp_path / "model.psephos").predict(X), model.predict(X))


@pytest.mark.parametrize("make", [SamBAClassifier, AdaBoostClassifier])
@pytest.mark.parametrize("voter", [RandomForestClassifier(2, max_depth=1), Threshold(1), SVC()])
def test_foreign_voters_reduce(make, voter):
    X, y = small_table()
    model = make(voter, n_estimators=2, random_state=0).fit(X, y)
    reduced = model.reduce()
    used = model.vote_.columns
    assert reduced.n_features_in_ == len(used)
    assert_array_equal(reduced.decision_function(X[:, used]), model.decision_function(X))
    assert_array_equal(reduced.reduce().decision_function(X[:, used]), model.decision_function(X))
    assert len(used) == 1 or not isinstance(voter, Threshold)


def test_seeds_of_voters_follow_the_model():
    X, y = small_table()
    voter = RandomForestClassifier(2, max_depth=1)
    scores = [
        AdaBoostClassifier(voter, n_estimators=3, random_state=s).fit(X, y).decision_function(X)
        for s in (0, 0, 1)
    ]
    assert_array_equal(scores[0], scores[1])
    assert not np.array_equal(scores[0], scores[2])
    assert voter.random_state is None


def test_sparse_tables_reach_the_voter():
    X, y = small_table()
    X[np.abs(X) < 0.5] = 0
    tree = DecisionTreeClassifier(max_depth=2)
    model = AdaBoostClassifier(tree, n_estimators=3, random_state=0)
    dense = model.fit(X, y).decision_function(X)
    assert_allclose(model.fit(sp.csr_array(X), y).decision_function(sp.csr_array(X)), dense)
