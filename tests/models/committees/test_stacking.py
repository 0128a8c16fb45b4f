"""Stacking and cascades: one plan of folds, no leak, weights that are the optimum."""

from typing import ClassVar

import numpy as np
import pytest
import scipy.optimize
from numpy.testing import assert_allclose, assert_array_equal
from sklearn import ensemble
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.datasets import load_breast_cancer, load_diabetes, load_wine
from sklearn.dummy import DummyClassifier
from sklearn.linear_model import LinearRegression, LogisticRegression
from sklearn.model_selection import StratifiedKFold, cross_val_predict
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier, KNeighborsRegressor

from psephos import (
    CARTClassifier,
    CARTRegressor,
    CascadeClassifier,
    MultiViewClassifier,
    PsephosError,
    RandomForestClassifier,
    SamBAClassifier,
    StackingClassifier,
    StackingRegressor,
)
from psephos.models.committees.fitting import mean_vote
from psephos.models.committees.levels import (
    chances_of,
    logistic_weights,
    pool_weights,
    square_weights,
)

X, Y = load_wine(return_X_y=True)
TREE, BAYES = CARTClassifier(max_depth=2, n_folds=0), GaussianNB()
MEMBERS = [("tree", TREE), ("bayes", BAYES)]


class Recorder(ClassifierMixin, BaseEstimator):
    """1-nearest neighbour that keeps what it was fitted on: rows carry their number."""

    seen: ClassVar[list] = []

    def fit(self, X, y):
        Recorder.seen.append((X.copy(), y.copy()))
        self.near_ = KNeighborsClassifier(1).fit(X, y)
        self.classes_ = self.near_.classes_
        return self

    def predict(self, X):
        return self.near_.predict(X)

    def predict_proba(self, X):
        return self.near_.predict_proba(X)


def test_out_of_fold_answers_are_scikit_learns():
    cv = StratifiedKFold(4, shuffle=True, random_state=0)
    model = StackingClassifier(MEMBERS, cv=cv, random_state=0).fit(X, Y)
    losses = []
    for one in (TREE, BAYES):
        said = cross_val_predict(one, X, Y, cv=cv, method="predict_proba")
        losses.append(-np.log(np.maximum(said[np.arange(len(Y)), Y], 1e-9)).mean())
    assert_allclose(model.member_scores_[0], losses, rtol=1e-9)


def test_groups_are_never_divided_and_reach_members():
    group = np.arange(60) // 3
    x = np.column_stack([np.arange(60.0), np.random.default_rng(0).normal(size=60)])
    y = np.repeat(np.arange(20) % 2, 3)
    for make in (
        lambda one: StackingClassifier([("a", one)], levels=[[("b", one)]], cv=3, random_state=0),
        lambda one: CascadeClassifier(
            [("a", one)], max_levels=2, early_stopping=False, cv=3, random_state=0
        ),
    ):
        Recorder.seen.clear()
        make(Recorder()).fit(x, y, groups=group)
        sizes = []
        for table, _ in Recorder.seen:
            if table.shape[1] == 2:  # the first level
                known, count = np.unique(group[table[:, 0].astype(int)], return_counts=True)
                assert (count == 3).all()
                sizes.append(len(known))
        assert max(sizes) == 20
        assert len(sizes) == 1 + 3 + 3


def test_what_a_test_fold_is_answered_by_knows_none_of_its_labels():
    """Other labels in one fold leave what is fitted for it as it was, at both levels."""
    rng = np.random.default_rng(1)
    x, y = rng.normal(size=(60, 3)), np.arange(60) % 2
    fold = np.arange(60) // 20
    cv = [(np.flatnonzero(fold != f), np.flatnonzero(fold == f)) for f in range(3)]

    def fits(labels):
        Recorder.seen.clear()
        levels = [[("b", Recorder())]]
        StackingClassifier([("a", Recorder())], levels=levels, cv=cv, passthrough=True).fit(
            x, labels
        )
        return [t.tobytes() + c.tobytes() for t, c in Recorder.seen if len(t) < 60]

    turned = np.where(fold == 0, 1 - y, y)
    before, after = fits(y), fits(turned)
    free = [b == a for b, a in zip(before, after, strict=True)]
    # fits without fold 0: one of level 1, one of level 2, and two that leave out a second fold
    assert sum(free) == 4


@pytest.mark.parametrize("grouped", [False, True])
def test_noise_stays_noise_at_every_level(grouped):
    """On labels that mean nothing members that learn by heart are right by chance only."""
    losses, right = [], []
    for seed in range(16):
        rng = np.random.default_rng(seed)
        x, y = rng.normal(size=(60, 4)), rng.permutation(np.arange(60) % 2)
        groups = rng.integers(0, 20, 60) if grouped else None
        if grouped:  # a group has one label
            y = (np.arange(20) % 2)[groups]
        near = [("near", KNeighborsClassifier(1)), ("tree", CARTClassifier(cp=0, n_folds=0))]
        train = rng.permutation(60) < 40 if groups is None else groups < 13
        few = None if groups is None else groups[train]
        stack = StackingClassifier(
            near, levels=[near, near], passthrough=True, cv=4, random_state=seed
        ).fit(x[train], y[train], groups=few)
        cascade = CascadeClassifier(
            near, max_levels=3, early_stopping=False, cv=4, random_state=seed
        )
        cascade.fit(x[train], y[train], groups=few)
        losses.append([s[0] for s in stack.member_scores_])  # of 1-NN: the share of errors
        right.append([m.score(x[~train], y[~train]) for m in (stack, cascade)])
    share = np.array(losses) / -np.log(1e-9)
    for found in (*share.T, *np.array(right).T):
        error = found.std(ddof=1) / np.sqrt(len(found))
        assert abs(found.mean() - 0.5) < 3 * error + 0.01


@pytest.mark.parametrize("classes", [2, 3])
@pytest.mark.parametrize("passthrough", [False, True])
def test_a_final_estimator_is_given_probabilities_as_in_scikit_learn(classes, passthrough):
    rows = np.flatnonzero(np.isin(Y, range(classes)))
    x, y = (X[rows] - X.mean(axis=0)) / X.std(axis=0), np.array(["red", "rose", "white"])[Y[rows]]
    cv = StratifiedKFold(4, shuffle=True, random_state=0)
    pairs = [("tree", TREE), ("knn", KNeighborsClassifier(7))]
    options = {"cv": cv, "passthrough": passthrough}
    line = LogisticRegression(max_iter=10000, tol=1e-8)
    theirs = ensemble.StackingClassifier(pairs, line, **options).fit(x, y)
    ours = StackingClassifier(pairs, final_estimator=line, random_state=0, **options).fit(x, y)
    if not passthrough:
        assert_allclose(ours.predict_proba(x), theirs.predict_proba(x), atol=1e-6)
    voters = ours.vote_.voters
    own = voters.table(x)[:, x.shape[1] :]
    known = theirs.transform(x)[:, : own.shape[1]]
    assert_allclose(own, known, atol=1e-12)
    assert voters.answers[-1] == ("knn's P(rose)" if classes == 2 else "knn's P(white)")


def test_a_ballot_shows_the_probability_that_is_read():
    rows = np.flatnonzero(Y < 2)
    pairs = [("knn", KNeighborsClassifier(7))]
    model = StackingClassifier(pairs, final_estimator=LogisticRegression(), random_state=0)
    model.fit(X[rows], Y[rows])
    share = KNeighborsClassifier(7).fit(X[rows], Y[rows]).predict_proba(X[rows])[:, 1]
    case = int(np.flatnonzero((share > 0.1) & (share < 0.4))[0])
    reason = " ".join(model.explain(X[rows][[case]]).columns()["reason"])
    assert f"{share[case]:.4g} (knn's P(1))" in reason


@pytest.mark.parametrize("final", ["pool", "logistic"])
def test_a_copy_has_the_weight_of_its_original(final):
    three = StackingClassifier([*MEMBERS, ("copy", TREE)], final_estimator=final, random_state=0)
    alpha = three.fit(X, Y).vote_.weighting.alpha
    assert_allclose(alpha[2], alpha[0], rtol=1e-3)
    two = StackingClassifier(MEMBERS, final_estimator=final, random_state=0).fit(X, Y)
    other = two.vote_.weighting.alpha
    assert_allclose(alpha[0] + alpha[2], other[0], rtol=1e-2 if final == "pool" else 0.3)


def test_of_two_regressors_that_say_the_same_one_has_weight():
    x, y = load_diabetes(return_X_y=True)
    pairs = [("near", KNeighborsRegressor(9)), ("line", LinearRegression())]
    two = StackingRegressor(pairs, random_state=0).fit(x, y)
    three = StackingRegressor([*pairs, ("copy", pairs[0][1])], random_state=0).fit(x, y)
    assert three.vote_.n_voters == 2
    assert_allclose(np.sort(three.vote_.weighting.alpha), np.sort(two.vote_.weighting.alpha))


def test_a_level_that_does_not_help_ends_the_cascade():
    x, y = load_breast_cancer(return_X_y=True)
    pairs = [("forest", RandomForestClassifier(20))]
    model = CascadeClassifier(pairs, max_levels=3, random_state=0).fit(x, y)
    scores = model.level_scores_
    assert len(scores) == min(model.n_levels_ + 1, 3)
    falls = np.diff(scores) < 0
    assert falls[: model.n_levels_ - 1].all()
    assert model.n_levels_ == 3 or not falls[model.n_levels_ - 1]


def test_a_gate_answers_early_where_the_first_level_is_sure():
    model = CascadeClassifier(
        MEMBERS, max_levels=2, early_stopping=False, threshold=0.9, random_state=0
    )
    model.fit(X, Y)
    assert model.vote_.n_voters == model.n_levels_ == 2
    votes = model.vote_.votes(X)
    sure = (2 * votes.max(axis=2) + 1) / 3 >= 0.9
    assert 10 < sure[:, 0].sum() < len(X)
    assert_array_equal(model.vote_.weights(X) > 0, np.column_stack([sure[:, 0], ~sure[:, 0]]))


@pytest.mark.parametrize("classes", [2, 3])
def test_weights_of_a_pool_are_the_optimum(classes):
    rng = np.random.default_rng(2)
    y = rng.integers(0, classes, 200)
    logits = rng.normal(size=(200, 4, classes)) + np.eye(classes)[y][:, None] * [[1], [2], [0], [1]]
    chances = np.exp(logits) / np.exp(logits).sum(axis=2, keepdims=True)
    code = np.array([[-1.0], [1.0]]) if classes == 2 else np.where(np.eye(3) > 0, 1.0, -0.5)
    votes, weight = chances @ code, rng.uniform(0.5, 2, 200)
    assert_allclose(chances_of(votes, classes), chances, atol=1e-12)
    own = chances[np.arange(200)[:, None], np.arange(4), y[:, None]]

    def loss(w):
        return -np.average(np.log(own @ w), weights=weight)

    ours = pool_weights(votes, y, weight, classes)
    best = scipy.optimize.minimize(
        loss, np.full(4, 0.25), bounds=[(0, 1)] * 4, method="SLSQP", options={"ftol": 1e-12},
        constraints={"type": "eq", "fun": lambda w: w.sum() - 1},
    )  # fmt: skip
    assert loss(ours) <= best.fun + 1e-6
    assert_allclose(ours, best.x, atol=0.01)
    assert (logistic_weights(votes, y, weight, classes) >= 0).all()


def test_weights_of_numbers_are_the_optimum():
    rng = np.random.default_rng(3)
    y = rng.normal(size=100)
    said = y[:, None] + rng.normal(size=(100, 3)) * [0.5, 1.0, 3.0] + [0.0, 0.5, 0.0]
    ours = square_weights(said[:, :, None], y, None)
    best = scipy.optimize.minimize(
        lambda w: ((said @ w - y) ** 2).mean(), np.full(3, 1 / 3), bounds=[(0, 1)] * 3,
        method="SLSQP", options={"ftol": 1e-14},
        constraints={"type": "eq", "fun": lambda w: w.sum() - 1},
    )  # fmt: skip
    assert_allclose(ours, best.x, atol=1e-4)


def test_a_member_without_weight_reads_no_column():
    tree = CARTClassifier(max_depth=2, n_folds=0)
    rng = np.random.default_rng(4)
    x = np.column_stack([X[:, 6], rng.normal(size=(len(X), 2))])
    views = MultiViewClassifier([("signal", tree, [0]), ("noise", tree, [1, 2])], random_state=0)
    views.fit(x, Y)
    said = pool_weights(np.array([[[1.0], [-1.0]]] * 9), np.ones(9, dtype=int), None, 2)
    assert said.tolist() == [1.0, 0.0]
    vote = mean_vote(views.vote_.voters.take(np.arange(2)), views.vote_.target, said)
    assert vote.columns.tolist() == [0]


def test_a_stack_is_a_member_of_a_stack():
    inner = StackingClassifier(MEMBERS, cv=3)
    outer = StackingClassifier([("stack", inner), ("samba", SamBAClassifier(n_estimators=3))], cv=3)
    model = outer.fit(X, Y)
    assert model.score(X, Y) > 0.95
    terms = model.contributions(X)
    assert_allclose(terms.sum(axis=1), model.decision_function(X), atol=1e-9)


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"cv": 200}, "cv must be at most the number of rows, 178; got 200"),
        ({"cv": [(np.arange(0, 178, 2), np.arange(1, 178, 2))]}, "89 of 178 rows"),
        ({"cv": "five"}, "'cv' must be .*; got 'five'"),
        ({"cv": 2, "levels": [MEMBERS, MEMBERS]}, "more folds than there are levels, 3; got 2"),
        ({"levels": MEMBERS}, "a list of lists"),
        ({"final_estimator": "vote"}, "must be 'pool', 'logistic' or a classifier"),
        ({"final_estimator": CARTRegressor()}, "must be a classifier"),
    ],
)
def test_what_cannot_be_used_is_named(options, words):
    with pytest.raises(PsephosError, match=words):
        StackingClassifier(MEMBERS, **options).fit(X, Y)


def test_a_class_of_one_row_is_named():
    y = Y.copy()
    y[y == 2] = 0
    y[0] = 2
    with pytest.raises(PsephosError, match="class '2' has 1 row"):
        StackingClassifier(MEMBERS).fit(X, y)


def test_numbers_and_a_reader_of_answers():
    rng = np.random.default_rng(5)
    x = rng.normal(size=(120, 3))
    y = x[:, 0] + 0.1 * rng.normal(size=120)
    pairs = [("tree", CARTRegressor(n_folds=0)), ("stump", CARTRegressor(max_depth=1, n_folds=0))]
    pool = StackingRegressor(pairs, random_state=0).fit(x, y)
    assert pool.score(x, y) > 0.8
    read = StackingRegressor(pairs, final_estimator=CARTRegressor(n_folds=0), random_state=0)
    read.fit(x, y)
    assert "tree's answer" in " ".join(read.explain(x[:1]).columns()["reason"])
    line = StackingClassifier(MEMBERS, final_estimator=LogisticRegression()).fit(X, Y)
    assert line.vote_.voters.tag == "composed voters"


def test_words_say_who_has_no_weight_and_whose_answers_are_read():
    members = [*MEMBERS, ("prior", DummyClassifier())]
    stack = StackingClassifier(members, cv=3, random_state=0).fit(X, Y)
    idle = [name for name in stack.member_names_ if name not in stack.vote_.voters.names]
    assert idle
    assert stack.describe()[-1] == f"Without weight: {', '.join(idle)} (see member_names_)."
    cascade = CascadeClassifier(MEMBERS, threshold=0.9, early_stopping=False, random_state=0)
    first, second = cascade.fit(X, Y).describe()[1:]
    assert "answer" not in first
    assert "and on members' answers (tree's P(0), tree's P(1)," in second
