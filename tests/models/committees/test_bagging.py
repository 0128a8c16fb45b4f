"""Bagging: samples of rows and columns, answers out of bag, members added later."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.base import clone
from sklearn.datasets import load_diabetes, load_wine
from sklearn.linear_model import LinearRegression, LogisticRegression
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier
from sklearn.tree import DecisionTreeClassifier

from psephos import (
    BaggingClassifier,
    BaggingRegressor,
    CARTClassifier,
    PsephosError,
    load,
    save,
    shrink,
)
from psephos.models.training import ordered_groups
from psephos.trees.forest import Bootstraps
from psephos.vote.codec import decode, encode

X, Y = load_wine(return_X_y=True)
TREE = CARTClassifier(max_depth=3, n_folds=0)


def counts_of(model, x=X, y=Y):
    """Return how often each row of a table was drawn for each member."""
    draws = model.memory_.draws
    group = ordered_groups(np.column_stack([y, x]))
    return np.array([draws.counts(seed) for seed in model.memory_.seeds])[:, group]


@pytest.mark.parametrize("estimator", [TREE, DecisionTreeClassifier(max_depth=3, random_state=0)])
def test_members_are_fitted_on_their_samples(estimator):
    model = BaggingClassifier(estimator, 5, random_state=0).fit(X, Y)
    counts = counts_of(model)
    assert (counts.sum(axis=1) == len(X)).all()
    assert 0.58 < (counts > 0).mean() < 0.68  # 1 - 1 / e
    rows = [np.flatnonzero(c) for c in counts]
    said = [
        estimator.fit(X[r], Y[r], sample_weight=c[r].astype(float)).predict_proba(X)
        for c, r in zip(counts, rows, strict=True)
    ]
    assert_allclose(model.predict_proba(X), np.mean(said, axis=0), atol=1e-9)


def test_a_member_that_takes_no_weights_is_given_rows_as_often():
    model = BaggingClassifier(KNeighborsClassifier(3), 4, random_state=0).fit(X, Y)
    said = []
    for count in counts_of(model):
        rows = np.repeat(np.arange(len(X)), count.astype(int))
        said.append(KNeighborsClassifier(3).fit(X[rows], Y[rows]).predict_proba(X))
    assert (np.abs(model.predict_proba(X) - np.mean(said, axis=0)).max(axis=1) < 1e-9).mean() > 0.9


def test_out_of_bag_answers_are_of_members_that_did_not_see_the_row():
    model = BaggingClassifier(TREE, 7, oob_score=True, random_state=1).fit(X, Y)
    out = counts_of(model) == 0
    votes = model.vote_.votes(X)
    for i in range(0, len(X), 7):
        if out[:, i].any():
            mean = votes[i, out[:, i]].mean(axis=0)
            assert_allclose(model.oob_decision_function_[i], (2 * mean + 1) / 3, atol=1e-12)
        else:
            assert np.isnan(model.oob_decision_function_[i]).all()
    known = out.any(axis=0)
    right = model.oob_decision_function_[known].argmax(axis=1) == Y[known]
    assert model.oob_score_ == pytest.approx(right.mean())


def test_columns_are_drawn_without_replacement_or_with():
    model = BaggingClassifier(GaussianNB(), 30, max_features=5, random_state=0).fit(X, Y)
    sizes = model.usage().sum(axis=1)
    assert (np.asarray(sizes).ravel() == 5).all()
    more = BaggingClassifier(
        GaussianNB(), 30, max_features=5, bootstrap_features=True, random_state=0
    ).fit(X, Y)
    sizes = np.asarray(more.usage().sum(axis=1)).ravel()
    assert sizes.max() <= 5
    assert sizes.min() < 5


@pytest.mark.parametrize("estimator", [TREE, GaussianNB(), DecisionTreeClassifier(max_depth=2)])
def test_members_added_later_are_those_of_a_larger_bag(estimator):
    options = {"oob_score": True, "random_state": 3, "max_features": 0.7}
    whole = BaggingClassifier(estimator, 9, **options).fit(X, Y)
    model = BaggingClassifier(estimator, 4, warm_start=True, **options).fit(X, Y)
    first = model.vote_.votes(X)
    model.set_params(n_estimators=9).fit(X, Y)
    assert_array_equal(model.vote_.votes(X)[:, :4], first)
    assert_array_equal(model.vote_.votes(X), whole.vote_.votes(X))
    assert_allclose(model.oob_decision_function_, whole.oob_decision_function_)
    assert_array_equal(model.memory_.seeds, whole.memory_.seeds)
    again = model.vote_.votes(X)
    assert_array_equal(model.fit(X, Y).vote_.votes(X), again)
    for change, words in (
        ({"n_estimators": 3}, "n_estimators must be at least the 9 members"),
        ({"max_samples": 0.5}, "must be those of the first fit"),
    ):
        with pytest.raises(PsephosError, match=words):
            BaggingClassifier.fit(model.set_params(**{"n_estimators": 9, **change}), X, Y)
        model.set_params(n_estimators=9, max_samples=1.0)


def test_uncertainty_is_that_of_its_definition():
    model = BaggingClassifier(TREE, 20, random_state=0).fit(X, Y)
    votes = model.vote_.votes(X)
    shares = (2 * votes + 1) / 3
    found = model.uncertainty(X)
    with np.errstate(divide="ignore", invalid="ignore"):
        entropy = -np.nansum(shares * np.log(shares), axis=2).mean(axis=1)
    assert_allclose(found.aleatoric, entropy, atol=1e-9)
    assert_allclose(found.variance, shares.var(axis=1), atol=1e-12)
    counts = counts_of(model).astype(float)
    off = shares - shares.mean(axis=1, keepdims=True)
    covariance = np.einsum("ntk,ti->nik", off, counts - counts.mean(axis=0)) / 20
    noise = len(X) * (off**2).sum(axis=1) / 20**2
    assert_allclose(found.jackknife, (covariance**2).sum(axis=1) - noise, atol=1e-9)
    stays = BaggingClassifier(TREE, 5, bootstrap=False, max_samples=0.5, random_state=0)
    assert stays.fit(X, Y).uncertainty(X).jackknife is None


def test_numbers_weights_files_and_threads(tmp_path):
    x, y = load_diabetes(return_X_y=True)
    weight = np.random.default_rng(0).integers(1, 4, len(y)).astype(float)
    model = BaggingRegressor(n_estimators=20, oob_score=True, random_state=0)
    model.fit(x, y, sample_weight=weight)
    assert 0.1 < model.oob_score_ < 0.6
    assert counts_of(model, x, y).sum(axis=1)[0] == weight.sum()
    assert isinstance(model.memory_.draws, Bootstraps)
    more = BaggingRegressor(n_estimators=20, oob_score=True, random_state=0, n_jobs=2)
    assert_array_equal(more.fit(x, y, sample_weight=weight).predict(x), model.predict(x))
    save(model, tmp_path / "bag")
    again = load(tmp_path / "bag")
    assert_array_equal(again.predict(x), model.predict(x))
    assert_array_equal(again.uncertainty(x).jackknife, model.uncertainty(x).jackknife)


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"max_features": 14}, "max_features must be at most .*, 13; got 14"),
        ({"max_samples": 200, "bootstrap": False}, "number of rows, 178, without replacement"),
        ({"oob_score": True, "bootstrap": False}, "set bootstrap=True"),
        ({"estimator": GaussianNB}, "not its class"),
        ({"estimator": LinearRegression()}, "must be a classifier"),
        ({"n_estimators": 0}, "n_estimators"),
    ],
)
def test_what_cannot_be_used_is_named(options, words):
    with pytest.raises(PsephosError, match=words):
        BaggingClassifier(**{"estimator": TREE, **options}).fit(X, Y)


def test_a_sample_of_one_class_says_that_class():
    model = BaggingClassifier(TREE, 4, max_samples=1, random_state=0).fit(X, Y)
    drawn = counts_of(model).argmax(axis=1)
    assert_array_equal(model.vote_.votes(X)[0].argmax(axis=1), Y[drawn])
    assert "the one class of its sample" in " ".join(model.explain(X[:1]).columns()["reason"])


@pytest.mark.parametrize(
    "estimator", [LogisticRegression(), GaussianNB(), DecisionTreeClassifier(), TREE]
)
def test_members_need_not_know_all_classes(estimator, tmp_path):
    rng = np.random.default_rng(0)
    x, y = rng.normal(size=(43, 5)), np.repeat([0, 1, 2], [20, 20, 3])
    model = BaggingClassifier(estimator, 40, random_state=0).fit(x, y)
    counts = counts_of(model, x, y)
    lacks = (counts[:, y == 2] == 0).all(axis=1)
    assert 0 < lacks.sum() < 40
    for t in np.flatnonzero(lacks):
        rows = np.repeat(np.arange(43), counts[t].astype(int))
        said = (2 * model.vote_.votes(x)[:, t] + 1) / 3
        assert_allclose(said[:, 2], 0, atol=1e-12)
        alone = clone(estimator).fit(x[rows], y[rows])
        if not isinstance(estimator, DecisionTreeClassifier):  # which is seeded by the bag
            assert_allclose(said[:, :2], alone.predict_proba(x), atol=1e-6)
    save(model, tmp_path / "bag")
    assert_array_equal(load(tmp_path / "bag").predict_proba(x), model.predict_proba(x))


def other_tables():
    yield "X", {"X": X + 0.01}
    yield "y", {"y": np.roll(Y, 1)}
    yield "sample_weight", {"sample_weight": 1.0 + np.arange(len(X)) % 2}


@pytest.mark.parametrize("bootstrap", [True, False])
@pytest.mark.parametrize(("word", "given"), other_tables())
def test_a_warm_start_on_another_table_is_refused(bootstrap, word, given):
    model = BaggingClassifier(TREE, 2, warm_start=True, bootstrap=bootstrap, random_state=0)
    model.fit(X, Y).set_params(n_estimators=4)
    with pytest.raises(PsephosError, match=rf"{word}.* is not\. To fit anew"):
        model.fit(**{"X": X, "y": Y, **given})
    same = np.arange(len(X))[::-1] if bootstrap else np.arange(len(X))
    assert model.fit(X[same], Y[same]).vote_.n_voters == 4  # a bootstrap draws rows by content


@pytest.mark.parametrize(
    ("change", "word"),
    [
        ({"max_features": 0.5}, "max_features"),
        ({"random_state": 1}, "random_state"),
        ({"bootstrap_features": True}, "bootstrap_features"),
        ({"estimator": GaussianNB()}, "estimator"),
        ({"estimator__max_depth": 2}, "estimator"),
    ],
)
def test_a_warm_start_with_other_parameters_is_refused(change, word, tmp_path):
    options = {"n_estimators": 2, "warm_start": True, "random_state": 0}
    model = BaggingClassifier(clone(TREE), **options).fit(X, Y)
    save(model, tmp_path / "bag")
    for one in (model, load(tmp_path / "bag")):
        one.set_params(n_estimators=3, **change)
        with pytest.raises(PsephosError, match=rf"oob_score\): {word} is not"):
            one.fit(X, Y)
    free = BaggingClassifier(clone(TREE), **options).fit(X, Y)
    free.set_params(n_estimators=3, oob_score=True, n_jobs=2).fit(X, Y)


def test_a_warm_start_needs_the_model_as_it_was_fitted():
    model = BaggingClassifier(TREE, 6, warm_start=True, random_state=0).fit(X, Y)
    for changed, words in (
        (model.reduce(), "reduced to some of its columns"),
        (shrink(model, 4, X, Y), "left with some of its members"),
    ):
        x = X if changed.n_features_in_ == X.shape[1] else X[:, model.vote_.columns]
        assert changed.left_out(x, Y) is not None
        with pytest.raises(PsephosError, match=words):
            changed.set_params(n_estimators=8).fit(x, Y)


def test_what_was_left_out_is_asked_of_the_training_rows():
    model = BaggingClassifier(TREE, 3, random_state=0).fit(X, Y)
    assert_array_equal(model.left_out(X, Y), counts_of(model) == 0)
    assert model.left_out(X + 1.0, Y) is None
    assert model.left_out(X, np.roll(Y, 1)) is None
    with pytest.raises(PsephosError, match="Give held-out rows"):
        shrink(model, 5, X + 1.0, Y, out_of_bag=True)


def test_files_of_versions_without_marks_go_on():
    model = BaggingClassifier(TREE, 2, warm_start=True, random_state=0).fit(X, Y)
    arrays = {}
    content = encode(model.memory_, arrays, "")
    del content["fields"]["first_fit"]
    model.memory_ = decode(content, arrays)
    assert model.left_out(X, Y) is not None
    assert model.set_params(n_estimators=4).fit(X, Y).memory_.first_fit is not None
