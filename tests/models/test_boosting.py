"""The endings of the boosting loop, and what the recipes promise of them."""

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.tree import DecisionTreeClassifier

from psephos import (
    AdaBoostClassifier,
    C45Classifier,
    CARTClassifier,
    PsephosError,
    SamBAClassifier,
)
from psephos._errors import UnknownLevelWarning
from psephos.models.boosting.loop import boost
from psephos.testing import small_table


class Fixed:
    """A learner that has its answers ready; None where it finds nothing."""

    def __init__(self, answers):
        self.answers = answers
        self.asked = []

    def learn(self, pi, task):
        self.asked.append(pi)
        answer = self.answers[min(task, len(self.answers) - 1)]
        return None if answer is None else (task, np.array(answer))

    def voters(self, found):
        return found


Y = np.array([0, 0, 1, 1])


def double_wrong(pi, rounds):
    return np.where(rounds[-1].right, pi, 2 * pi)


def run(answers, n_rounds=5, reweight=double_wrong, prior=None, **kwargs):
    learner = Fixed(answers)
    prior = np.ones(4) if prior is None else prior
    return learner, boost(learner, Y, prior, n_rounds, 0.5, reweight, **kwargs)


def test_algorithm_1_step_by_step():
    learner, found = run([[0, 0, 1, 0], [0, 1, 1, 1]], n_rounds=2, prior=np.array([1.0, 1, 1, 3]))
    assert found.reason == "no better than chance"  # the first errs on half of the weight
    learner, found = run([[0, 0, 1, 0], [0, 1, 1, 1]], n_rounds=2)
    assert found.reason == "all voters"
    assert_allclose(learner.asked[0], [0.25] * 4)
    assert_allclose(learner.asked[1], [0.2, 0.2, 0.2, 0.4])
    assert_allclose([r.error for r in found.rounds], [0.25, 0.2])
    assert_array_equal(found.rounds[1].right, [True, False, True, True])


@pytest.mark.parametrize(
    ("answers", "reason", "kept"),
    [
        ([None], "no better than chance", 0),
        ([[1, 1, 0, 0]], "no better than chance", 0),
        ([[0, 1, 1, 0]], "no better than chance", 0),
        ([[0, 0, 1, 0], None], "no better than chance", 1),
        ([[0, 0, 1, 0], [1, 1, 1, 1]], "no better than chance", 2),
        ([[0, 0, 1, 1]], "no effect", 1),
        ([[0, 0, 1, 0], [0, 0, 1, 1]], "no effect", 2),
    ],
)
def test_endings(answers, reason, kept):
    _, found = run(answers)
    assert (found.reason, len(found.rounds)) == (reason, kept)


def test_enough_is_enough():
    _, found = run([[0, 0, 1, 0], [0, 1, 1, 1]], enough=lambda rounds: len(rounds) == 1)
    assert (found.reason, len(found.rounds)) == ("validation", 1)


# ---------------------------------------------------------------------- recipes
@pytest.mark.parametrize("make", [AdaBoostClassifier, SamBAClassifier])
def test_noise_ends_the_search(make):
    X = np.tile([[0.0], [1.0]], (10, 1))
    y = np.repeat([0, 1], 10)
    model = make().fit(X, y)
    assert model.stopped_ == "no better than chance"
    assert len(model.estimator_errors_) == 0
    assert_array_equal(model.predict(X), np.zeros(20))


@pytest.mark.parametrize("n_classes", [2, 3])
def test_heaviest_class_answers_where_nobody_can(n_classes):
    X, y = np.zeros((9, 2)), np.arange(9) % n_classes
    w = np.where(y == n_classes - 1, 5.0, 1.0)
    for make in (AdaBoostClassifier, SamBAClassifier):
        model = make().fit(X, y, sample_weight=w)
        assert_array_equal(model.predict(X), np.full(9, n_classes - 1))


def test_perfect_voter():
    X = np.arange(12.0)[:, None]
    y = (X[:, 0] > 5).astype(int)
    ada = AdaBoostClassifier().fit(X, y)
    assert (ada.stopped_, ada.vote_.n_voters) == ("no effect", 1)
    sample = SamBAClassifier(update="sample").fit(X, y)
    assert (sample.stopped_, sample.vote_.n_voters) == ("no effect", 1)
    assert_allclose(sample.decision_function(X), 2 * y - 1)


def test_validation_share_keeps_the_best_number_of_voters():
    X, y = small_table(n=120)
    y = np.where(np.random.default_rng(0).random(120) < 0.25, np.roll(y, 1), y)
    for make in (AdaBoostClassifier, SamBAClassifier):
        params = {"validation_fraction": 0.4, "random_state": 1, "n_iter_no_change": 3}
        model = make(n_estimators=40, **params).fit(X, y)
        assert model.stopped_ in ("validation", "all voters", "no effect")
        assert model.vote_.n_voters == len(model.estimator_errors_) < 40
        again = make(n_estimators=model.vote_.n_voters + 3, **params).fit(X, y)
        assert_allclose(again.decision_function(X), model.decision_function(X))


@pytest.mark.parametrize("groups", [False, True])
def test_validation_share_that_leaves_a_class_out(groups):
    X, y = small_table(n=20)
    y = np.array(["a"] * 17 + ["b"] * 3)
    kwargs = {"groups": np.r_[np.arange(17), 99, 99, 99]} if groups else {}
    share = 0.5 if groups else 0.06
    with pytest.raises(PsephosError, match="validation_fraction"):
        SamBAClassifier(validation_fraction=share, random_state=0).fit(X, y, **kwargs)


def test_copies_are_one_row_of_added_weight():
    X, y = small_table(missing=0.1)
    order = np.r_[np.arange(60), 3, 3, 8, 59]
    model = SamBAClassifier(n_estimators=4).fit(X[order], y[order])
    local = model.vote_.weighting
    assert_array_equal(local.rows, np.arange(60))
    assert_allclose(local.anchor_weight[[3, 8, 59, 0]], [3, 2, 2, 1])
    other = y.copy()
    other[3] = "ham" if y[3] == "egg" else "egg"
    both = SamBAClassifier(n_estimators=4).fit(np.vstack([X, X[3]]), np.append(y, other[3]))
    assert len(both.vote_.weighting.rows) == 61  # another label is another row


def test_negative_zero_is_zero():
    X, y = small_table()
    X[:, 5] = 0.0
    X = np.vstack([X, X[7]])
    X[60, 5] = -0.0
    model = SamBAClassifier(n_estimators=3).fit(X, np.append(y, y[7]))
    assert len(model.vote_.weighting.rows) == 60


def test_anchors_are_drawn_from_distinct_rows():
    X, y = small_table()
    model = SamBAClassifier(n_estimators=3, n_anchors=25, random_state=0).fit(X, y)
    rows = model.vote_.weighting.rows
    assert len(np.unique(rows)) == 25
    twice = np.r_[np.arange(60), np.arange(60)]
    SamBAClassifier(n_estimators=2, n_anchors=60).fit(X[twice], y[twice])
    with pytest.raises(PsephosError, match="n_anchors=61 is more than the 60 distinct"):
        SamBAClassifier(n_anchors=61).fit(X[twice], y[twice])


def test_weights_of_any_total():
    """Only AdaBoost's and SamBA's proportions matter, also to voters with a penalty."""
    X, y = small_table()
    w = np.random.default_rng(0).uniform(0.5, 2, 60)
    for model in (SamBAClassifier(n_estimators=4), AdaBoostClassifier(n_estimators=4)):
        one = model.fit(X, y, sample_weight=w).decision_function(X)
        assert_allclose(model.fit(X, y, sample_weight=1024 * w).decision_function(X), one)


def test_stumps_are_the_trees_of_depth_one():
    X, y = small_table(seed=3)
    X = X.astype(np.float32)
    X[:, 2] = np.random.default_rng(0).standard_normal(60).astype(np.float32)
    tree = DecisionTreeClassifier(max_depth=1)
    own = AdaBoostClassifier(n_estimators=6).fit(X, y)
    theirs = AdaBoostClassifier(tree, n_estimators=6, random_state=0).fit(X, y)
    assert_allclose(own.decision_function(X), theirs.decision_function(X), atol=1e-12)


def test_category_rules_are_learned_and_worded():
    rng = np.random.default_rng(0)
    site = rng.integers(0, 5, 80).astype(float)
    y = np.isin(site, [1, 3])
    X = np.column_stack([rng.standard_normal(80), site])
    X[:4, 1] = np.nan
    y[:4] = True
    for make in (AdaBoostClassifier, SamBAClassifier):
        model = make(n_estimators=1, categorical_features=[1]).fit(X, y)
        rule = model.describe()[1]
        assert "column 1 in {1.0, 3.0} or missing" in rule or "column 1 in {0.0, 2.0, 4.0}" in rule
        assert_array_equal(model.predict(X), y)
        with pytest.warns(UnknownLevelWarning):
            assert_array_equal(model.predict([[0.0, np.nan], [0.0, 17.0]]), [True, True])


@pytest.mark.parametrize("boosted", [AdaBoostClassifier, SamBAClassifier])
def test_categories_are_categories_to_the_voters_too(boosted):
    """Codes handed on as numbers would be cut by an order that categories do not have."""
    rng = np.random.default_rng(0)
    colour = rng.permutation(np.repeat(["blue", "green", "red", "teal"], 20))
    frame = pd.DataFrame({"n": rng.standard_normal(80), "colour": pd.Categorical(colour)})
    y = np.isin(colour, ["blue", "teal"])
    for voter in (C45Classifier(), CARTClassifier(n_folds=0, max_depth=2)):
        model = boosted(voter, n_estimators=2, random_state=0).fit(frame, y)
        assert model.score(frame, y) == 1.0
        inner = model.explain(frame.iloc[:3]).open(0, 0)
        assert "colour = " in str(inner)
        assert " in {" in str(inner)
        assert_array_equal(model.predict(frame.astype({"colour": str})), y)
    with pytest.raises(PsephosError, match="'colour' hold categories, and the estimator Decision"):
        boosted(DecisionTreeClassifier(max_depth=2), n_estimators=2).fit(frame, y)
