"""Theorem 1 of the SamBA paper, and what its vote promises, over generated tables."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal

from psephos import AdaBoostClassifier, SamBAClassifier
from psephos.vote import Target

pytestmark = pytest.mark.theory


@st.composite
def tables(draw, max_classes=2):
    """Small tables of few values: ties, and rows that coincide with other labels."""
    n = draw(st.integers(4, 24))
    p = draw(st.integers(1, 4))
    values = draw(st.integers(2, 6))
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    X = rng.integers(0, values, (n, p)).astype(float)
    classes = draw(st.integers(2, max_classes))
    y = rng.integers(0, classes, n)
    y[:classes] = np.arange(classes)
    X += draw(st.sampled_from([0.0, 0.5])) * rng.standard_normal((n, p)).round(1)
    if draw(st.booleans()):  # weights of any size, among them equal ones
        return X, y, rng.choice([1e-3, 0.5, 1.0, 1.0, 7.0], n) * rng.choice([1.0, 0.3])
    return X, y, np.ones(n)


@settings(max_examples=200)
@given(tables(), st.sampled_from(["error", "gini"]), st.floats(0.2, 8.0))
def test_theorem_1(table, criterion, b):
    """At a = 0 the weighted training error is at most prod(1 - gamma_t) <= exp(-sum gamma_t)."""
    X, y, w = table
    model = SamBAClassifier(
        n_estimators=12, a=0.0, b=b, criterion=criterion, update="sample", distance_scale=None,
        column_scale=None,
    ).fit(X, y, sample_weight=w)  # fmt: skip
    if model.vote_.weighting.tag != "local":  # no voter beats chance: the theorem has no T >= 1
        assert len(model.estimator_errors_) == 0
        return
    gamma = 0.5 - model.estimator_errors_
    local = model.vote_.weighting
    label = np.where(local.anchor_class == 1, 1.0, -1.0)
    wrong = np.sign(model.vote_.anchor_scores()[:, 0]) != label
    error = local.anchor_weight @ wrong / local.anchor_weight.sum()
    assert_allclose(local.anchor_weight.sum(), w.sum())  # pi_1 is the weights, copies merged
    assert (gamma > 0).all()
    assert error <= np.prod(1 - gamma) + 1e-12
    assert np.prod(1 - gamma) <= np.exp(-gamma.sum()) + 1e-12


@settings(max_examples=60)
@given(tables(max_classes=4), st.sampled_from(["mean", "sum", None]), st.sampled_from([0.0, 0.3]))
def test_margins_and_shares(table, scale, a):
    X, y, w = table
    k = len(np.unique(y))
    for model in (
        SamBAClassifier(n_estimators=5, a=a, distance_scale=scale),
        AdaBoostClassifier(n_estimators=5),
    ):
        model.fit(X, y, sample_weight=w)
        cases = np.vstack([X, X + 0.25])
        margins = model.margins(cases, np.concatenate([y, y]))
        assert margins.min() >= -1 / (k - 1) - 1e-12
        assert margins.max() <= 1 + 1e-12
        assert_allclose(model.vote_.shares(cases).sum(axis=1), 1, atol=1e-12)
        assert (model.vote_.shares(cases) >= 0).all()
        assert_allclose(model.predict_proba(cases).sum(axis=1), 1, atol=1e-12)
        assert np.abs(model.decision_function(cases)).max() <= 1 + 1e-12


class Coded(Target):
    """The target with SAMME's coding written out for any K, two among them."""

    tag = "coded target"
    n_outputs = property(lambda self: self.n_classes)

    @property
    def code(self):
        k = self.n_classes
        return np.where(np.eye(k, dtype=bool), 1.0, -1.0 / (k - 1))

    def answers(self, score):  # a tie goes to the first class, within rounding
        return (score >= score.max(axis=1, keepdims=True)).argmax(axis=1)

    def margin(self, score, y):
        k = self.n_classes
        return (k - 1) / k * np.einsum("nk,nk->n", self.code[y], score)


@settings(max_examples=60)
@given(tables(), st.sampled_from(["sample", "vote"]), st.sampled_from(["error", "gini"]))
def test_multiclass_coding_at_two_classes_is_the_binary_algorithm(table, update, criterion):
    X, y, w = table
    settings = {"n_estimators": 6, "criterion": criterion}
    for model in (
        SamBAClassifier(update=update, a=0.2, **settings),
        AdaBoostClassifier(**settings),
    ):
        binary = model.fit(X, y, sample_weight=w).vote_
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr("psephos.vote.Target", Coded)
            coded = model.fit(X, y, sample_weight=w).vote_
        assert isinstance(coded.target, Coded)
        assert coded.n_voters == binary.n_voters
        assert_array_equal(coded.columns, binary.columns)
        assert_allclose(coded.score(X), binary.score(X) * [-1, 1], atol=1e-12)
        assert_allclose(coded.mass(X), binary.mass(X), rtol=1e-12)
        assert_allclose(coded.margins(X, y), binary.margins(X, y), atol=1e-12)


def fat(seed=0, n=50, p=6):
    rng = np.random.default_rng(seed)
    y = rng.integers(0, 2, n)
    X = rng.standard_normal((n, p))
    X[:, :2] += 0.7 * y[:, None]
    return X, y, rng.standard_normal((40, p)) * 1.5


def test_large_floor_gives_global_weights():
    """As a grows every anchor is heard alike: the weights tend to the sums of omega."""
    X, y, Z = fat()
    gaps = []
    for a in (1.0, 3.0, 10.0, 100.0):
        model = SamBAClassifier(n_estimators=6, a=a, b=2.0, update="sample").fit(X, y)
        local = model.vote_.weighting
        everywhere = local.anchor_weight @ local.expertise
        gaps.append(np.abs(model.vote_.shares(Z) - everywhere / everywhere.sum()).max())
    assert gaps == sorted(gaps, reverse=True)
    assert gaps[-1] < 1e-4


def test_larger_locality_hears_the_nearest_more():
    X, y, Z = fat()
    top = []
    for b in (0.5, 1.0, 2.0, 4.0, 8.0):
        model = SamBAClassifier(n_estimators=6, a=0.0, b=b, update="sample").fit(X, y)
        top.append(model.vote_.nearest(Z, 1).share.mean())
    assert top == sorted(top)


def test_a_row_at_distance_zero_hears_only_itself():
    X, y, _ = fat()
    model = SamBAClassifier(n_estimators=6, a=0.0, b=2.0, update="sample").fit(X, y)
    local = model.vote_.weighting
    assert_allclose(
        model.vote_.shares(X), local.expertise / local.expertise.sum(axis=1, keepdims=True)
    )
    assert_allclose(model.vote_.nearest(X, 1).share, 1.0)
    assert_array_equal(model.vote_.nearest(X, 1).anchor[:, 0], np.arange(len(X)))


def test_coinciding_rows_are_heard_together_but_keep_their_identity():
    """Rows equal on the columns read hear all that coincide; Theorem 1's vote tells them apart."""
    X = np.array([[0.0, 5], [0, 6], [0, 7], [1, 5], [1, 6], [2, 9]])
    y = np.array([0, 0, 1, 1, 1, 1])
    model = SamBAClassifier(n_estimators=1, a=0.0, update="sample").fit(X, y)
    assert_array_equal(model.vote_.columns, [0])
    local = model.vote_.weighting
    heard = local.expertise[:3].sum()
    assert_allclose(model.mass(X[:3]), heard)
    own = model.vote_.anchor_scores()[:, 0]
    assert_allclose(np.abs(own), local.expertise[:, 0])
    assert_allclose(own[2], -local.low)  # the voter is wrong there, and is heard least there


@pytest.mark.parametrize("update", ["sample", "vote"])
@pytest.mark.parametrize("column_scale", ["std", None])
@pytest.mark.parametrize("factor", [2.0**-20, 2.0**30])
def test_scale_of_the_table_changes_nothing(update, column_scale, factor):
    X, y, Z = fat(3)
    model = SamBAClassifier(n_estimators=8, update=update, column_scale=column_scale)
    before = model.fit(X, y).decision_function(Z)
    assert_allclose(model.fit(X * factor, y).decision_function(Z * factor), before, rtol=1e-12)


def test_scale_of_one_column_changes_nothing_when_columns_are_scaled():
    X, y, Z = fat(4)
    by = 2.0 ** np.array([-3, 5, 0, 9, -8, 1])
    model = SamBAClassifier(n_estimators=8)
    before = model.fit(X, y).decision_function(Z)
    assert_allclose(model.fit(X * by, y).decision_function(Z * by), before, rtol=1e-10)


def test_class_weights_equal_sample_weights_and_balance_counts_weights():
    X, y, Z = fat(5)
    model = SamBAClassifier(n_estimators=5, class_weight={0: 3.0, 1: 0.5})
    plain = SamBAClassifier(n_estimators=5)
    assert_array_equal(
        model.fit(X, y).decision_function(Z),
        plain.fit(X, y, sample_weight=np.where(y == 0, 3.0, 0.5)).decision_function(Z),
    )
    balanced = SamBAClassifier(n_estimators=5, class_weight="balanced")
    twice = 1.0 + (np.arange(len(y)) % 3 == 0)
    order = np.repeat(np.arange(len(y)), twice.astype(int))
    assert_allclose(
        balanced.fit(X, y, sample_weight=twice).decision_function(Z),
        balanced.fit(X[order], y[order]).decision_function(Z),
        rtol=1e-9,
    )
    none = (np.arange(len(y)) % 4 > 0).astype(float)
    assert_allclose(
        balanced.fit(X, y, sample_weight=none).decision_function(Z),
        balanced.fit(X[none > 0], y[none > 0]).decision_function(Z),
        rtol=1e-12,
    )
