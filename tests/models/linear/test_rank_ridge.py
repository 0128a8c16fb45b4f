"""Ridge on normal scores: by hand, against scikit-learn, and what does not change it."""

import numpy as np
import pandas as pd
import pytest
import scipy.sparse
from numpy.testing import assert_allclose, assert_array_equal
from scipy.special import ndtri
from scipy.stats import rankdata
from sklearn.datasets import load_diabetes, load_wine
from sklearn.linear_model import LogisticRegression, Ridge

from psephos import PsephosError, RankRidgeClassifier, RankRidgeRegressor, load, save
from psephos.models.linear.ridge import score_knots
from psephos.vote import normal_scores

X, Y = load_wine(return_X_y=True)
D, NUMBERS = load_diabetes(return_X_y=True)


def scores_by_hand(X):
    return ndtri((rankdata(X, axis=0) - 0.5) / len(X))


def test_scores_are_those_of_mid_ranks():
    whole = score_knots(X, np.ones(len(X)), 1000)
    assert_allclose(normal_scores(X, *whole), scores_by_hand(X), atol=1e-12)


def test_weights_are_repeats():
    weight = np.random.default_rng(0).integers(1, 4, len(X))
    one = score_knots(X, weight.astype(float), 1000)
    two = score_knots(np.repeat(X, weight, axis=0), np.ones(weight.sum()), 1000)
    for a, b in zip(one, two, strict=True):
        assert_allclose(a, b, atol=1e-12)


def test_missing_values_are_the_median_and_ends_are_level():
    table = np.array([[1.0, np.nan], [2.0, np.nan], [4.0, np.nan], [np.nan, np.nan]])
    whole = score_knots(table, np.ones(4), 10)
    cases = np.array([[np.nan, 3.0], [-9.0, 3.0], [9.0, 3.0], [3.0, np.nan]])
    scores = normal_scores(cases, *whole)
    low, middle, high = ndtri((np.arange(3) + 0.5) / 3)
    assert_allclose(scores[:, 0], [0.0, low, high, (middle + high) / 2])
    assert_array_equal(scores[:, 1], 0.0)


def test_few_quantiles_bend_little():
    values = np.random.default_rng(1).exponential(size=(5000, 1))
    few = score_knots(values, np.ones(5000), 200)
    assert len(few[0]) <= 200
    step = 2 * ndtri(1 - 0.5 / 5000) / 199
    assert np.abs(normal_scores(values, *few) - scores_by_hand(values)).max() < step


@pytest.mark.parametrize("classes", [2, 3])
@pytest.mark.parametrize("wide", [False, True])
def test_one_penalty_is_logistic_regression_on_the_scores(classes, wide):
    rows = classes > Y
    table, y = X[rows], Y[rows]
    if wide:
        noise = np.random.default_rng(2).standard_normal((len(table), 400))
        table = np.hstack([table, noise])
    model = RankRidgeClassifier(2.0).fit(table, y)
    Z = scores_by_hand(table)
    peer = LogisticRegression(C=0.5, tol=1e-8, max_iter=10_000).fit(Z, y)
    assert_allclose(model.predict_proba(table), peer.predict_proba(Z), atol=2e-5)


@pytest.mark.parametrize("wide", [False, True])
def test_one_penalty_is_ridge_on_the_scores(wide):
    noise = np.random.default_rng(2).standard_normal((len(D), 600))
    table = np.hstack([D, noise]) if wide else D
    model = RankRidgeRegressor(20.0).fit(table, NUMBERS * 1e150)
    Z = scores_by_hand(table)
    peer = Ridge(20.0).fit(Z, NUMBERS)
    assert_allclose(model.predict(table) / 1e150, peer.predict(Z), rtol=1e-7)


def test_the_penalty_is_that_of_least_loss():
    model = RankRidgeClassifier([0.1, 5.0, 1000.0], random_state=0).fit(X, Y)
    assert model.alpha_ == model.alphas_[model.losses_.argmin()]
    assert model.losses_[2] > model.losses_.min()
    noise = np.random.default_rng(0).standard_normal((60, 30))
    words = np.repeat([0, 1], 30)
    blind = RankRidgeClassifier([0.1, 5.0, 1000.0], random_state=0).fit(noise, words)
    assert blind.alpha_ == 1000.0


def test_monotone_changes_of_a_column_change_nothing():
    bent = np.column_stack([np.exp(X[:, 0]), X[:, 1] ** 3, *X[:, 2:].T])
    one = RankRidgeClassifier(random_state=0).fit(X, Y).predict_proba(X)
    assert_allclose(RankRidgeClassifier(random_state=0).fit(bent, Y).predict_proba(bent), one)


def test_the_order_of_rows_changes_nothing():
    order = np.random.default_rng(0).permutation(len(X))
    one = RankRidgeClassifier(random_state=0).fit(X, Y)
    two = RankRidgeClassifier(random_state=0).fit(X[order], Y[order])
    assert_array_equal(one.predict_proba(X), two.predict_proba(X))


def test_groups_are_held_out_whole():
    rng = np.random.default_rng(3)
    group = np.repeat(np.arange(20), 5)
    marks = rng.standard_normal((20, 40))[group]  # tell the subject, not the class
    y = (np.arange(20) % 2)[group]
    plain = RankRidgeClassifier(random_state=0).fit(marks + 1e-6 * rng.random(marks.shape), y)
    grouped = RankRidgeClassifier(random_state=0).fit(marks, y, groups=group)
    assert plain.losses_.min() < 0.3 < 0.6 < grouped.losses_.min()


def test_a_class_of_one_row_is_trained_on():
    y = np.array(["a"] * 10 + ["b"] * 10 + ["c"])
    table = np.arange(21.0)[:, None]
    model = RankRidgeClassifier(0.01, random_state=0).fit(table, y)
    assert RankRidgeClassifier(random_state=0).fit(table, y).losses_.all()
    assert_array_equal(model.predict([[0.0], [15.0], [20.0]]), ["a", "b", "c"])


def test_rows_that_cannot_be_divided():
    with pytest.warns(UserWarning, match="and 3 is used: there is only one group"):
        model = RankRidgeClassifier().fit(X[:, :4], Y, groups=np.ones(len(Y)))
    assert model.alpha_ == 3.0
    assert not model.losses_.any()


def test_a_normal_score_of_zero_is_written_as_zero():
    """The median of an even number of rows is between two of them, up to a rounding error."""
    values = np.sort(np.random.default_rng(6).normal(size=(6, 1)), axis=0)
    model = RankRidgeClassifier().fit(values, np.arange(6) > 2)
    assert " × 0 (" in str(model.explain(np.median(values, axis=0)[None]))


def test_categories_and_a_file(tmp_path):
    rng = np.random.default_rng(4)
    colour = rng.choice(["blue", "green", "red"], 90)
    size = rng.standard_normal(90)
    size[::9] = np.nan
    table = pd.DataFrame({"size": size, "colour": pd.Categorical(colour)})
    y = np.where((colour == "red") ^ (rng.random(90) < 0.1), "yes", "no")
    model = RankRidgeClassifier(random_state=0).fit(table, y)
    assert model.score(table, y) > 0.85
    words = str(model.explain(table[:1]))
    assert f"(normal score at colour = {colour[0]}" in words
    assert "(normal score at size missing)" in words
    save(model, tmp_path / "model.psephos")
    again = load(tmp_path / "model.psephos")
    assert_array_equal(again.predict_proba(table), model.predict_proba(table))
    assert (again.alpha_, again.losses_.tolist()) == (model.alpha_, model.losses_.tolist())


@pytest.mark.parametrize("alphas", [0, [], [1.0, -1.0], "auto"])
def test_penalties_are_positive(alphas):
    with pytest.raises(PsephosError, match=r"'alphas'.*above 0"):
        RankRidgeClassifier(alphas).fit(X, Y)


def test_losses_are_means_over_the_rows_held_out():
    """The row of a class that has no other is in no test part; slopes are 0."""
    table = np.random.default_rng(5).standard_normal((21, 3))
    y = np.repeat([0, 1, 2], [10, 10, 1])
    weight = np.full(21, 3.0)
    model = RankRidgeClassifier([1e9, 1e10], random_state=0).fit(table, y, weight)
    assert_allclose(model.losses_, np.log(17 / 8), rtol=1e-4)


def test_a_sparse_table_gives_the_same_model():
    """Its columns are made dense a few at a time, as those of a dense one are."""
    rng = np.random.default_rng(0)
    X = np.where(rng.random((40, 300)) < 0.9, 0.0, rng.integers(1, 5, (40, 300)))
    X[3, 7] = np.nan
    X[5] = X[6]
    y = np.where(X[:, 0] + X[:, 1] + rng.random(40) > 0.7, "ill", "well")
    y[5] = y[6]
    dense = RankRidgeClassifier(random_state=0).fit(X, y)
    held = RankRidgeClassifier(random_state=0).fit(scipy.sparse.csr_array(X), y)
    assert_array_equal(held.predict_proba(scipy.sparse.csr_array(X)), dense.predict_proba(X))
    assert held.alpha_ == dense.alpha_
