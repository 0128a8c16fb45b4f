"""Voters of several kinds in one vote: each says what its estimator says, and can be saved."""

from typing import ClassVar

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.datasets import load_diabetes, load_wine
from sklearn.impute import SimpleImputer
from sklearn.linear_model import Lasso, LinearRegression, LogisticRegression, Ridge
from sklearn.naive_bayes import BernoulliNB, GaussianNB
from sklearn.neighbors import KNeighborsClassifier, KNeighborsRegressor
from sklearn.pipeline import make_pipeline
from sklearn.svm import SVC, SVR
from sklearn.tree import (
    DecisionTreeClassifier,
    DecisionTreeRegressor,
    ExtraTreeClassifier,
    ExtraTreeRegressor,
)

from psephos import (
    CARTClassifier,
    CARTRegressor,
    PsephosError,
    SamBAClassifier,
    load,
    registry,
    save,
)
from psephos.base import Anatomy, VoteClassifier
from psephos.estimator.contender import Contender
from psephos.testing.ballots import assert_ballots_are_true
from psephos.vote import (
    Constant,
    Neighbours,
    Readout,
    RegressionTarget,
    Vote,
    mixed_voters,
    neighbour_vote,
)


class Committee(VoteClassifier):
    """The mean of the probabilities of a list of estimators."""

    anatomy = Anatomy(("joined voters", "nested voters"), "constant", "normalised", "fitted apart")
    contender = Contender("committee-of-a-test", "committees")
    constraints: ClassVar = {}

    def __init__(self, says="probability", members=()):
        self.says = says
        self.members = members

    def _fit_vote(self, table, labels, weight, context):
        X = table.dense()
        fitted = [member.fit(X, labels.y) for member in self.members]
        voters = mixed_voters(fitted, X.shape[1], labels.target.code, self.says)
        constant = Constant(X.shape[1], np.ones(len(fitted)))
        return Vote(voters, constant, Readout("normalised", "share"), labels.target), {}


@pytest.fixture(autouse=True, scope="module")
def _known_here_only():
    registry.register(Committee)
    yield
    registry._registered.pop("committee-of-a-test")


def wine(n_classes):
    X, y = load_wine(return_X_y=True)
    keep = y < n_classes
    rng = np.random.default_rng(0)
    order = rng.permutation(np.flatnonzero(keep))
    X = (X - X.mean(axis=0)) / X.std(axis=0)
    return X[order], y[order]


MEMBERS = {
    "ours and k-NN": lambda: [
        KNeighborsClassifier(4),
        SamBAClassifier(n_estimators=4, random_state=0),
        CARTClassifier(random_state=0),
    ],
    "scikit-learn's": lambda: [
        GaussianNB(), LogisticRegression(max_iter=500), KNeighborsClassifier(3, weights="distance")
    ],
    "trees": lambda: [
        DecisionTreeClassifier(max_depth=3, random_state=0), ExtraTreeClassifier(random_state=0),
        KNeighborsClassifier(3),
    ],
}  # fmt: skip


@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize("says", ["probability", "answer"])
@pytest.mark.parametrize("kind", MEMBERS)
def test_a_mixed_list_says_what_its_estimators_say(kind, says, n_classes, tmp_path):
    X, y = wine(n_classes)
    model = Committee(says, MEMBERS[kind]()).fit(X[:90], y[:90])
    parts = [member.fit(X[:90], y[:90]) for member in MEMBERS[kind]()]
    if says == "probability":
        wanted = np.mean([part.predict_proba(X) for part in parts], axis=0)
    else:
        wanted = np.mean([np.eye(n_classes)[part.predict(X)] for part in parts], axis=0)
    assert_allclose(model.predict_proba(X), wanted, atol=1e-9)
    path = tmp_path / "m.psephos"
    save(model, path)
    assert_array_equal(load(path).predict_proba(X), model.predict_proba(X))
    assert_ballots_are_true(model.explain(X[:4]), X[:4])
    opened = model.explain(X[:1]).open(0, 2 * (kind != "ours and k-NN"))
    assert "row " in str(opened)  # the k nearest, one level down
    assert len(model.describe()) == 4
    assert abs(model.feature_importances_.sum() - 1) < 1e-9


class Product(Committee):
    """The product of the probabilities of a list of estimators: the sum of their log-odds."""

    anatomy = Anatomy(("joined voters", "nested voters"), "constant", "sum", "fitted apart")
    contender = Contender("product-of-a-test", "committees")

    def _fit_vote(self, table, labels, weight, context):
        X = table.dense()
        fitted = [member.fit(X, labels.y) for member in self.members]
        voters = mixed_voters(fitted, X.shape[1], labels.target.code, "log-odds")
        constant = Constant(X.shape[1], np.ones(len(fitted)))
        return Vote(voters, constant, Readout("sum", "logistic"), labels.target), {}


@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize("kind", MEMBERS)
def test_log_odds_of_a_mixed_list_add_up(kind, n_classes, tmp_path):
    X, y = wine(n_classes)
    model = Product(members=MEMBERS[kind]()).fit(X[:90], y[:90])
    chances = [part.fit(X[:90], y[:90]).predict_proba(X) for part in MEMBERS[kind]()]
    wanted = np.prod([np.maximum(c, 1e-9) for c in chances], axis=0)
    wanted /= wanted.sum(axis=1, keepdims=True)
    assert_allclose(model.predict_proba(X), wanted, rtol=1e-6, atol=1e-12)
    registry.register(Product)
    try:
        save(model, tmp_path / "m.psephos")
        loaded = load(tmp_path / "m.psephos")
    finally:
        registry._registered.pop("product-of-a-test")
    assert_array_equal(loaded.predict_proba(X), model.predict_proba(X))
    assert_ballots_are_true(model.explain(X[:4]), X[:4])


def test_log_odds_of_what_is_kept_as_it_is():
    X, y = wine(3)
    members = [BernoulliNB()]
    model = Product(members=members).fit(X, y)
    assert_allclose(model.predict_proba(X), members[0].predict_proba(X), atol=1e-9)


def test_what_is_not_known_is_kept_and_cannot_be_saved(tmp_path):
    X, y = wine(2)
    members = [SVC(), DecisionTreeClassifier(max_depth=2, random_state=0)]
    model = Committee("answer", members).fit(X, y)
    assert 0.9 < model.score(X, y) <= 1
    with pytest.raises(PsephosError, match="its voters are SVC"):
        save(model, tmp_path / "m.psephos")
    with pytest.raises(PsephosError, match="SVC has no predict_proba"):
        Committee("probability", members).fit(X, y)
    with pytest.raises(PsephosError, match="at least one estimator"):
        Committee("answer", []).fit(X, y)
    with pytest.raises(PsephosError, match=r"says must be one of .*; got 'loud'"):
        Committee("loud", members).fit(X, y)


@pytest.mark.parametrize("weights", ["uniform", "distance"])
@pytest.mark.parametrize("k", [1, 5])
def test_neighbours_are_scikit_learns(weights, k):
    X, y = wine(3)
    for made, target in ((KNeighborsClassifier, y), (KNeighborsRegressor, X[:, 0] * 2.0)):
        peer = made(k, weights=weights).fit(X[:80], target[:80])
        vote = neighbour_vote(peer)
        rows = np.vstack([X[75:], X[:3] + 1e-3])
        if made is KNeighborsClassifier:
            chances = vote.readout.probabilities(vote.score(rows), vote.target)
            assert_allclose(chances, peer.predict_proba(rows), atol=1e-12)
            assert_array_equal(vote.answers(rows), peer.predict(rows))
        else:
            assert_allclose(vote.score(rows)[:, 0], peer.predict(rows), rtol=1e-9)
        found = vote.nearest(rows, k)
        apart, place = peer.kneighbors(rows)
        assert_allclose(found.distance, apart, atol=1e-9)
        assert_array_equal(found.row, place)
        assert_allclose(found.share.sum(axis=1), 1.0)
        assert_allclose(vote.weights(rows).sum(axis=1), vote.mass(rows))
        few = vote.take(np.arange(10))
        assert_allclose(few.weights(rows), vote.weights(rows)[:, :10])
        small = vote.select(np.arange(13))
        assert_array_equal(small.score(rows), vote.score(rows))


def test_equally_near_the_first_is_heard():
    cases = np.array([[0.0], [1.0], [1.0], [-1.0]])
    vote = neighbour_vote(KNeighborsClassifier(2).fit(cases, [0, 1, 0, 0]))
    assert_array_equal(vote.weights(np.zeros((1, 1))), [[1, 1, 0, 0]])
    other = KNeighborsClassifier(2, metric="manhattan").fit(cases, [0, 1, 0, 0])
    assert neighbour_vote(other) is None
    with pytest.raises(PsephosError, match="fewer cases than neighbours"):
        Neighbours(
            1, np.arange(1), cases, np.arange(4), 5, False, np.ones(1), np.zeros(1, dtype=bool), 0.0
        )


def test_a_row_without_a_value_has_no_neighbour():
    X, y = wine(3)
    blank = np.full((1, 13), np.nan)
    classes = neighbour_vote(KNeighborsClassifier(3).fit(X, y))
    assert classes.mass(blank).tolist() == [0.0]
    chances = classes.readout.probabilities(classes.score(blank), classes.target)
    assert_allclose(chances, 1 / 3)
    numbers = neighbour_vote(KNeighborsRegressor(3).fit(X, X[:, 0]))
    with pytest.raises(PsephosError, match="a value in no column"):
        numbers.score(np.vstack([X[:1], blank]))


NUMBERS = {
    "lines": lambda: [LinearRegression(), Ridge(), Lasso(0.1)],
    "trees": lambda: [
        DecisionTreeRegressor(max_depth=3, random_state=0), ExtraTreeRegressor(random_state=0),
        CARTRegressor(random_state=0),
    ],
    "a pipeline": lambda: [make_pipeline(SimpleImputer(), LinearRegression()), SVR()],
}  # fmt: skip


def mean_of(members, X):
    n, one = X.shape[1], np.zeros((1, 1))
    voters = mixed_voters(members, n, one, "value")
    return Vote(voters, Constant(n, np.ones(len(members))), MEAN, RegressionTarget())


MEAN = Readout("normalised", "identity")


@pytest.mark.parametrize("kind", NUMBERS)
def test_numbers_of_a_mixed_list_are_their_mean(kind):
    X, y = load_diabetes(return_X_y=True)
    members = [member.fit(X[:200], y[:200]) for member in NUMBERS[kind]()]
    vote = mean_of(members, X)
    assert_allclose(vote.answers(X), np.mean([m.predict(X) for m in members], axis=0), rtol=1e-9)
    foreign = any(
        "Foreign" in type(p).__name__ or "Subset" in type(p).__name__ for p in parts(vote)
    )
    assert foreign == (kind == "a pipeline")


def parts(vote):
    return getattr(vote.voters, "parts", [vote.voters])


def test_a_member_is_asked_where_a_value_is_missing_or_the_vote_refuses():
    X, y = load_diabetes(return_X_y=True)
    row = X[:2].copy()
    row[0, 5] = np.nan
    imputed = [make_pipeline(SimpleImputer(), LinearRegression()).fit(X, y)]
    tree = [DecisionTreeRegressor(max_depth=3).fit(X, y)]
    for members in (imputed, tree, [*imputed, *tree]):
        wanted = np.mean([m.predict(row) for m in members], axis=0)
        assert_allclose(mean_of(members, X).answers(row), wanted)
    for member in (LinearRegression(), SVR()):
        with pytest.raises(PsephosError, match=r"missing|lacks a value"):
            mean_of([member.fit(X, y)], X).answers(row)
    Xc, yc = wine(2)
    gap = Xc[:2].copy()
    gap[1, 3] = np.nan
    for says, member in (("answer", SVC()), ("probability", BernoulliNB())):
        model = Committee(says, [member]).fit(Xc, yc)
        with pytest.raises(PsephosError, match=r"takes no missing values, and 1 of 2 rows"):
            model.predict(gap)
