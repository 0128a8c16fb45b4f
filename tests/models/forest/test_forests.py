"""What forests promise beyond the contract: out-of-bag answers, importances, uncertainty."""

import numpy as np
import pytest
import scipy.special
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse
from sklearn.base import clone, is_classifier

from psephos import (
    ExtraTreesClassifier,
    ExtraTreesRegressor,
    PsephosError,
    PureRandomForestClassifier,
    RandomForestClassifier,
    RandomForestRegressor,
    load,
    save,
)
from psephos._errors import UnknownLevelWarning
from psephos.trees.bins import Bins

ALL = [
    ExtraTreesClassifier,
    ExtraTreesRegressor,
    PureRandomForestClassifier,
    RandomForestClassifier,
    RandomForestRegressor,
]
GROWN = [cls for cls in ALL if cls is not PureRandomForestClassifier]


def table(n=150, p=4, n_classes=2, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, p))
    signal = X[:, 0] + 0.5 * X[:, 1] + 0.3 * rng.standard_normal(n)
    if n_classes == 0:
        return X, signal
    return X, np.digitize(signal, [0.0, 0.8][: n_classes - 1])


def fitted(cls, X, y, **options):
    return cls(**{"n_estimators": 8, "random_state": 0, **options}).fit(X, y)


def answers(model, X):
    return model.predict_proba(X) if is_classifier(model) else model.predict(X)


def for_kind(cls, **options):
    return table(n_classes=2 if is_classifier(cls()) else 0, **options)


@pytest.mark.parametrize("cls", ALL)
def test_threads_change_nothing(cls):
    X, y = for_kind(cls)
    one, two = (fitted(cls, X, y, n_jobs=j) for j in (1, 3))
    assert_array_equal(answers(one, X), answers(two, X))


@pytest.mark.parametrize("cls", ALL)
def test_corners_of_tables(cls):
    X, y = for_kind(cls)
    X[:, 2] = 1.0  # constant
    X[:, 3] = np.nan
    model = fitted(cls, X, y)
    assert not np.isin([2, 3], model.features_used_).any()
    assert_array_equal(answers(model, X), answers(fitted(cls, sparse.csr_array(X), y), X))
    flat = fitted(cls, np.ones((6, 2)), y[:6] if len(np.unique(y[:6])) > 1 else np.arange(6) % 2)
    assert flat.n_features_used_ == 0
    everything = X.copy()
    everything[np.random.default_rng(0).random(X.shape) < 0.3] = np.nan
    assert np.isfinite(answers(fitted(cls, everything, y), everything)).all()
    weight = np.zeros(len(y))
    first = [int(np.flatnonzero(y == label)[0]) for label in np.unique(y)[:2]]
    weight[first] = 1.0
    heavy = cls(n_estimators=20, random_state=0).fit(X, y, sample_weight=weight)
    assert np.isfinite(answers(heavy, X)).all()


@pytest.mark.parametrize("cls", [RandomForestRegressor, ExtraTreesRegressor])
def test_one_row(cls):
    assert (
        fitted(cls, np.ones((1, 2)), np.array([3.5])).predict(np.zeros((2, 2))).tolist()
        == [3.5] * 2
    )


@pytest.mark.parametrize("cls", ALL)
def test_very_many_columns(cls):
    rng = np.random.default_rng(0)
    X = rng.standard_normal((20, 100_000))
    y = np.arange(20) % 2
    assert fitted(cls, X, y, n_estimators=3).predict(X).shape == (20,)


@pytest.mark.parametrize("cls", [ExtraTreesClassifier, ExtraTreesRegressor])
def test_columns_of_fat_tables_are_not_binned_for_extra_trees(cls, monkeypatch):
    X, y = np.random.default_rng(0).standard_normal((300, 301)), np.arange(300) % 2

    def refuse(*arguments):
        raise AssertionError("binned")

    monkeypatch.setattr(Bins, "of", refuse)
    options = {"n_estimators": 2, "max_features": "sqrt"}
    gaps = np.where(X < 1.5, X, np.nan)
    for values in (X, gaps, X.astype(np.float32)):
        one, two = (answers(fitted(cls, values, y, n_jobs=j, **options), values) for j in (1, 3))
        assert_array_equal(one, two)
    beyond = [
        (X[:, :300], {}),  # no more columns than rows
        (np.tile(X[:, :26], (4, 40))[:1001], {}),  # too many rows
        (sparse.csc_array(X), {}),
        (np.round(abs(X)), {"categorical_features": [3]}),
        (X, {"bootstrap": True}),
        (X, {"max_bins": 254}),
    ]
    for values, more in beyond:
        with pytest.raises(AssertionError, match="binned"):
            fitted(cls, values, np.resize(y, values.shape[0]), **options, **more)


@pytest.mark.parametrize("cls", GROWN)
def test_very_many_categories(cls):
    rng = np.random.default_rng(0)
    X = np.column_stack([np.arange(3000), rng.integers(0, 3, 3000)]).astype(float)
    y = (X[:, 1] == 1).astype(int)
    model = fitted(cls, X, y, categorical_features=[0, 1], max_features=None)
    assert (np.round(model.predict(X)) == y).mean() > 0.95
    with pytest.warns(UnknownLevelWarning):
        unseen = model.predict(np.array([[-5.0, 1.0], [np.nan, np.nan]]))
    assert unseen.shape == (2,)


@pytest.mark.parametrize("n_classes", [2, 3])
def test_out_of_bag_answers_are_of_trees_that_left_a_row_out(n_classes):
    X, y = table(n_classes=n_classes)
    model = fitted(RandomForestClassifier, X, y, oob_score=True, n_estimators=5)
    memory = model.memory_
    group = group_of(X, y, memory)
    expected = np.full((len(y), n_classes), np.nan)
    shares = np.stack(
        [
            model.vote_.readout.probabilities(model.vote_.votes(X)[:, t], model.vote_.target)
            for t in range(5)
        ],
        axis=1,
    )
    left_out = np.stack([memory.draws.counts(seed) == 0 for seed in memory.seeds], axis=1)[group]
    for i in range(len(y)):
        if left_out[i].any():
            expected[i] = shares[i, left_out[i]].mean(axis=0)
    assert_allclose(model.oob_decision_function_, expected, atol=1e-12)
    heard = ~np.isnan(expected[:, 0])
    assert 0 < heard.sum() < len(y)
    assert model.oob_score_ == (expected[heard].argmax(axis=1) == y[heard]).mean()


def group_of(X, y, memory):
    from psephos.trees.forest import ForestRows

    rows = ForestRows.of(X, {}, y, np.ones(len(y)), 255, None)
    assert_array_equal(rows.mass, memory.mass)
    return rows.group


def test_out_of_bag_numbers():
    X, y = table(400, n_classes=0)
    model = fitted(RandomForestRegressor, X, y, oob_score=True, n_estimators=50)
    error = ((y - model.oob_prediction_) ** 2).sum()
    assert_allclose(model.oob_score_, 1 - error / ((y - y.mean()) ** 2).sum())
    new, truth = table(400, n_classes=0, seed=1)
    assert abs(model.oob_score_ - model.score(new, truth)) < 0.1


def test_nothing_is_out_of_no_bag():
    X, y = table()
    with pytest.raises(PsephosError, match="bootstrap=True"):
        fitted(ExtraTreesClassifier, X, y, oob_score=True)
    model = fitted(ExtraTreesClassifier, X, y)
    assert not hasattr(model, "oob_score_")
    assert not hasattr(model, "oob_decision_function_")
    assert model.uncertainty(X).jackknife is None


def test_importances_differ_as_the_docstring_says():
    """Noise of many values has impurity importance, but no permutation importance."""
    rng = np.random.default_rng(0)
    X = np.column_stack([rng.integers(0, 2, 600), rng.standard_normal((600, 2))])
    y = np.where(rng.random(600) < 0.2, rng.integers(0, 2, 600), X[:, 0]).astype(int)
    model = fitted(RandomForestClassifier, X[:300], y[:300], n_estimators=50)
    impurity = model.impurity_importance_
    permutation = model.permutation_importance(X[300:], y[300:], random_state=0)
    assert_allclose(impurity.sum(), 1.0)
    assert impurity[1] > 0.15
    assert permutation.importances.shape == (3, 5)
    assert permutation.importances_mean[0] > 0.2
    assert abs(permutation.importances_mean[1]) < 0.06
    assert_array_equal(model.reduce().impurity_importance_, impurity[model.vote_.columns])


@pytest.mark.parametrize("n_classes", [2, 3])
def test_uncertainty_by_the_formulas(n_classes):
    X, y = table(n_classes=n_classes)
    new = table(40, n_classes=n_classes, seed=1)[0]
    model = fitted(RandomForestClassifier, X, y, n_estimators=12)
    found = model.uncertainty(new)
    votes = model.vote_.votes(new)
    shares = np.stack(
        [
            model.vote_.readout.probabilities(votes[:, t], model.vote_.target)
            for t in range(votes.shape[1])
        ],
        axis=1,
    )
    entropy = scipy.special.entr(shares).sum(axis=2)
    total = scipy.special.entr(shares.mean(axis=1)).sum(axis=1)
    assert_allclose(found.total, total, atol=1e-12)
    assert_allclose(found.aleatoric, entropy.mean(axis=1), atol=1e-12)
    assert_allclose(found.epistemic, total - entropy.mean(axis=1), atol=1e-12)
    assert (found.epistemic >= 0).all()
    counts = np.array([model.memory_.draws.counts(s) for s in model.memory_.seeds], float)
    off = counts - counts.mean(axis=0)
    for k in range(n_classes):
        t = shares[:, :, k]
        covariance = (t - t.mean(axis=1, keepdims=True)) @ off / len(off)
        noise = len(y) / len(off) ** 2 * ((t - t.mean(axis=1, keepdims=True)) ** 2).sum(axis=1)
        expected = (covariance**2).sum(axis=1) - noise
        if n_classes == 2:
            assert_allclose(found.variance, t.var(axis=1), atol=1e-12)
            assert_allclose(found.jackknife, expected, atol=1e-12)
        else:
            assert_allclose(found.variance[:, k], t.var(axis=1), atol=1e-12)
            assert_allclose(found.jackknife[:, k], expected, atol=1e-12)


def test_the_jackknife_is_the_variance_over_samples():
    """Of the forest's answer, over training samples drawn anew; many trees, one place."""
    rng = np.random.default_rng(0)
    told, guessed = [], []
    for seed in range(60):
        X = rng.random((60, 1))
        y = X[:, 0] + 0.5 * rng.standard_normal(60)
        model = RandomForestRegressor(150, min_samples_leaf=5, random_state=seed).fit(X, y)
        told.append(model.predict([[0.5]])[0])
        guessed.append(model.uncertainty(np.array([[0.5]])).jackknife[0])
    assert 0.5 < np.mean(guessed) / np.var(told, ddof=1) < 2.0


def test_a_saved_forest_remembers(tmp_path):
    X, y = table(n_classes=0)
    model = fitted(RandomForestRegressor, X, y, oob_score=True)
    save(model, tmp_path / "a.psephos")
    again = load(tmp_path / "a.psephos")
    for one, two in zip(model.uncertainty(X), again.uncertainty(X), strict=True):
        assert_array_equal(one, two)
    assert_array_equal(again.impurity_importance_, model.impurity_importance_)
    assert_array_equal(again.oob_prediction_, model.oob_prediction_)
    assert again.oob_score_ == model.oob_score_


def test_parameters_say_how_many():
    X, y = table(p=9)
    for wanted, number in (
        ("sqrt", 3),
        ("log2", 3),
        (None, 9),
        (0.5, 4),
        (2, 2),
        (1.0, 9),
        (99, 9),
    ):
        one = fitted(RandomForestClassifier, X, y, max_features=wanted)
        two = fitted(RandomForestClassifier, X, y, max_features=number)
        assert_array_equal(one.predict_proba(X), two.predict_proba(X))
    assert fitted(RandomForestClassifier, X, y, max_samples=0.5).memory_.size == 75
    assert fitted(RandomForestClassifier, X, y, max_samples=20).memory_.size == 20
    assert fitted(RandomForestClassifier, X, y, max_depth=1).vote_.voters.feature.shape == (24,)
    leaf = fitted(ExtraTreesClassifier, X, y, min_samples_leaf=0.2)
    assert_array_equal(
        leaf.predict_proba(X),
        fitted(ExtraTreesClassifier, X, y, min_samples_leaf=30).predict_proba(X),
    )
    split = fitted(ExtraTreesClassifier, X, y, min_samples_split=0.5)
    assert_array_equal(
        split.predict_proba(X),
        fitted(ExtraTreesClassifier, X, y, min_samples_split=75).predict_proba(X),
    )


def test_scaled_weights_change_no_tree():
    X, y = table()
    weight = np.random.default_rng(0).uniform(0.5, 2.0, len(y))
    one, two = (clone(ExtraTreesClassifier(8, random_state=0)) for _ in range(2))
    one.fit(X, y, sample_weight=weight)
    two.fit(X, y, sample_weight=1024.0 * weight)
    assert_array_equal(one.predict_proba(X), two.predict_proba(X))


@pytest.mark.parametrize("split", ["uniform", "midpoint", "balanced"])
def test_pure_cells_vote_the_shares_of_their_rows(split):
    X, y = table(n_classes=3, p=2)
    X[:, 1] = 4.0 + 100.0 * X[:, 1]
    model = fitted(PureRandomForestClassifier, X, y, split=split, max_leaf_nodes=9, n_estimators=3)
    leaves, votes = model.vote_.voters.leaves(X), model.vote_.votes(X)
    for t in range(3):
        shares = model.vote_.readout.probabilities(votes[:, t], model.vote_.target)
        for leaf in np.unique(leaves[:, t]):
            here = leaves[:, t] == leaf
            expected = np.bincount(y[here], minlength=3) / here.sum()
            assert_allclose(shares[here], np.tile(expected, (here.sum(), 1)), atol=1e-12)
    values = model.vote_.voters.value
    empty = np.isclose(values, 0.0).all(axis=1)
    assert empty.any()  # no row ends at an inner node either: equal shares
    other = fitted(
        PureRandomForestClassifier, X, y[::-1].copy(), split=split, max_leaf_nodes=9, n_estimators=3
    )
    assert_array_equal(other.vote_.voters.threshold, model.vote_.voters.threshold)  # no label asked


def test_weights_that_are_too_many_rows_are_refused():
    X, y = np.arange(20.0)[:, None], np.arange(20) % 2
    with pytest.raises(PsephosError, match="counts of rows"):
        RandomForestClassifier(2).fit(X, y, sample_weight=np.full(20, 1e9))


@pytest.mark.parametrize("power", [-80, 100])
def test_importances_do_not_depend_on_the_unit(random_seed, power):
    rng = np.random.default_rng(random_seed)
    X = rng.standard_normal((80, 3))
    y = X[:, 0] + X[:, 1] + 0.2 * rng.standard_normal(80)
    model = RandomForestRegressor(1, bootstrap=False, max_depth=2, random_state=0)  # without ties
    expected = model.fit(X, y).impurity_importance_
    assert_allclose(model.fit(X, np.ldexp(y, power)).impurity_importance_, expected)


def test_no_side_of_a_cut_is_without_weight(random_seed):
    rng = np.random.default_rng(random_seed)
    X = rng.standard_normal((300, 4))
    y = X[:, 0] + 0.1 * rng.standard_normal(300)
    w = np.exp(-0.3 * np.arange(300))
    model = RandomForestRegressor(10, bootstrap=False, max_depth=2, random_state=0)
    assert np.isfinite(model.fit(X, y, sample_weight=w).impurity_importance_).all()
    assert model.score(X, y, sample_weight=w) > 0.7


def test_numbers_without_squares(random_seed):
    rng = np.random.default_rng(random_seed)
    X, y = rng.standard_normal((60, 2)), np.arange(60) % 3
    with pytest.raises(PsephosError, match=r"\|y\| must be below"):
        RandomForestRegressor(3).fit(X, 1e155 * X[:, 0])
    model = RandomForestClassifier(3, bootstrap=False, random_state=0)
    heavy = model.fit(X, y, sample_weight=np.full(60, 1e160)).predict_proba(X)
    assert_allclose(heavy, model.fit(X, y).predict_proba(X))


@pytest.mark.parametrize("bootstrap", [True, False])
@pytest.mark.parametrize("cls", GROWN)
def test_limits_count_equal_rows_one_by_one(cls, bootstrap, random_seed):
    rng = np.random.default_rng(random_seed)
    X = rng.integers(0, 2, (600, 2)).astype(float)
    y = np.where(rng.random(600) < 0.1, 1 - X[:, 0], X[:, 0]).astype(int)
    limits = {"min_samples_leaf": 20, "min_samples_split": 0.1, "max_features": None}
    model = fitted(cls, X, y, bootstrap=bootstrap, **limits)
    assert (np.round(model.predict(X)) == y).mean() > 0.85
    weight = rng.integers(1, 4, 600)
    every = rng.permutation(np.repeat(np.arange(600), weight))
    one = cls(5, bootstrap=bootstrap, random_state=0, **limits).fit(X, y, sample_weight=weight)
    two = cls(5, bootstrap=bootstrap, random_state=0, **limits).fit(X[every], y[every])
    assert_array_equal(one.vote_.voters.threshold, two.vote_.voters.threshold)
    assert_allclose(answers(one, X), answers(two, X))
    real, again = rng.uniform(0.5, 2.0, 600), rng.permutation(600)
    one.fit(X, y, sample_weight=real)
    two.fit(X[again], y[again], sample_weight=real[again])
    assert len(one.vote_.voters.feature) > 5
    assert_allclose(answers(one, X), answers(two, X))


@pytest.mark.parametrize("cls", GROWN)
def test_no_leaf_is_smaller_than_its_limit(cls):
    X, y = for_kind(cls)
    X = np.round(X, 1)
    model = fitted(cls, X, y, bootstrap=False, min_samples_leaf=12, n_estimators=3)
    for t in range(3):
        assert np.unique(model.vote_.voters.leaves(X)[:, t], return_counts=True)[1].min() >= 12


@pytest.mark.parametrize("weight", [1.0, 0.3])
@pytest.mark.parametrize("limit", [{"min_samples_split": 3}, {"min_samples_leaf": 2}])
def test_limits_count_equal_rows(limit, weight):
    x, y = np.array([[0.0], [0.0], [1.0], [1.0]]), [0, 0, 1, 1]
    model = ExtraTreesClassifier(3, random_state=0, **limit).fit(x, y, [weight] * 4)
    assert_array_equal(model.predict_proba(x)[:, 1], y)  # four rows, though two differ
