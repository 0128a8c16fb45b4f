"""Names that scikit-learn's users look for, beside scikit-learn's own answers."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.base import clone, is_classifier
from sklearn.datasets import load_breast_cancer, load_diabetes, load_iris
from sklearn.ensemble import GradientBoostingClassifier as PeerBoosting
from sklearn.ensemble import GradientBoostingRegressor as PeerBoostingRegressor
from sklearn.exceptions import NotFittedError
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier
from sklearn.tree import DecisionTreeRegressor
from sklearn.utils.class_weight import compute_sample_weight

from psephos import (
    C45Classifier,
    CARTClassifier,
    CARTRegressor,
    ExtraTreesClassifier,
    GradientBoostingClassifier,
    GradientBoostingRegressor,
    MLKNeighborsClassifier,
    NewtonBoostingClassifier,
    PsephosError,
    PureRandomForestClassifier,
    RandomForestClassifier,
    RandomForestRegressor,
)
from psephos.registry import estimator_classes
from psephos.testing import small_table
from psephos.trees.forest import ForestRows

X2, Y2 = load_breast_cancer(return_X_y=True)
X3, Y3 = load_iris(return_X_y=True)
X0, Y0 = load_diabetes(return_X_y=True)
CLASSES = {n: c for n, c in estimator_classes().items() if is_classifier(c(**c.contender.small))}


# ---------------------------------------------------------------------- every classifier
@pytest.mark.filterwarnings("ignore::psephos.WeakLabelsWarning")
@pytest.mark.parametrize("name", sorted(CLASSES))
def test_every_classifier_has_logarithms_and_the_number_of_classes(name):
    cls = CLASSES[name]
    model = cls(**cls.contender.small)
    with pytest.raises(NotFittedError):
        model.predict_log_proba([[0.0]])
    assert not hasattr(model, "n_classes_")
    k = 2 if cls.binary_only else 3
    X, y = small_table(k)
    model.fit(X, y)
    assert model.n_classes_ == k
    chances = model.predict_proba(X)
    with np.errstate(divide="ignore"):
        assert_array_equal(model.predict_log_proba(X), np.log(chances))


def test_logarithms_are_those_of_scikit_learn():
    ours = RandomForestClassifier(3, random_state=0).fit(X3, Y3).predict_log_proba(X3)
    assert np.isneginf(ours).any()  # without a warning
    assert ours.shape == GaussianNB().fit(X3, Y3).predict_log_proba(X3).shape


def test_of_several_labels_each_has_two_classes():
    labels = np.column_stack([Y3 == 0, Y3 == 1, X3[:, 0] > 5.8]).astype(int)
    model = MLKNeighborsClassifier().fit(X3, labels)
    assert model.n_classes_ == [2, 2, 2]
    peer = KNeighborsClassifier().fit(X3, labels)
    assert model.n_classes_ == [len(one) for one in peer.classes_]
    with np.errstate(divide="ignore"):
        assert_allclose(model.predict_log_proba(X3), np.log(model.predict_proba(X3)))


# ---------------------------------------------------------------------- apply
def same_parts(ours, theirs):
    """Return whether two numberings divide rows alike."""
    pairs = set(zip(ours.tolist(), theirs.tolist(), strict=True))
    return len(pairs) == len(set(ours.tolist())) == len(set(theirs.tolist()))


@pytest.mark.parametrize(("X", "y"), [(X2, Y2), (X3, Y3)])
def test_boosted_trees_divide_rows_as_scikit_learns(X, y):
    both = {"n_estimators": 3, "random_state": 0}
    ours = GradientBoostingClassifier(**both).fit(X, y).apply(X)
    theirs = PeerBoosting(**both).fit(X, y).apply(X)
    assert ours.shape == theirs.shape
    columns = zip(ours.reshape(len(X), -1).T, theirs.reshape(len(X), -1).T, strict=True)
    assert all(same_parts(*pair) for pair in columns)


def test_trees_of_numbers_divide_rows_as_scikit_learns():
    both = {"n_estimators": 3, "random_state": 0}
    ours = GradientBoostingRegressor(**both).fit(X0, Y0).apply(X0)
    theirs = PeerBoostingRegressor(**both).fit(X0, Y0).apply(X0)
    assert ours.shape == theirs.shape == (len(X0), 3)
    assert all(same_parts(*pair) for pair in zip(ours.T, theirs.T, strict=True))
    own = CARTRegressor(
        cp=0, min_samples_split=2, min_samples_leaf=1, max_depth=3, n_folds=0
    ).fit(X0, Y0)  # fmt: skip
    peer = DecisionTreeRegressor(max_depth=3).fit(X0, Y0)
    assert same_parts(own.apply(X0), peer.apply(X0))


def test_leaves_are_nodes_of_the_tree():
    for model in (CARTClassifier(n_folds=0), C45Classifier(), CARTRegressor(n_folds=0)):
        fitted = clone(model).fit(X2, Y2)
        leaves, tree = fitted.apply(X2), fitted.tree_
        assert leaves.shape == (len(X2),)
        assert (tree.n_children[leaves] == 0).all()
        if is_classifier(model):
            assert_allclose(fitted.predict_proba(X2), tree.value[leaves], atol=1e-12)
        else:
            assert_array_equal(fitted.predict(X2), tree.value[leaves, 0])
    gaps = np.full((1, X2.shape[1]), np.nan)
    assert C45Classifier().fit(X2, Y2).apply(gaps)[0] == -1  # spread over the branches


@pytest.mark.parametrize(
    "model",
    [
        RandomForestClassifier(4, random_state=0),
        ExtraTreesClassifier(4, random_state=0),
        PureRandomForestClassifier(4, random_state=0),
        RandomForestRegressor(4, random_state=0),
        NewtonBoostingClassifier(n_estimators=4, random_state=0),
    ],
)
def test_forests_have_a_column_a_tree(model):
    fitted = clone(model).fit(X2, Y2)
    leaves = fitted.apply(X2)
    assert leaves.shape == (len(X2), 4)
    votes = fitted.vote_.votes(X2)[:, -4:, 0]
    for t in range(4):
        by_leaf = [np.ptp(votes[leaves[:, t] == leaf, t]) for leaf in np.unique(leaves[:, t])]
        assert max(by_leaf) == 0
    few = fitted.reduce()
    assert_array_equal(few.apply(X2[:, few.schema_.names or fitted.vote_.columns]), leaves)


# ---------------------------------------------------------------------- criteria
def test_two_names_of_one_gain():
    for cls, other in ((RandomForestRegressor, {}), (GradientBoostingRegressor, {"max_depth": 2})):
        both = {"n_estimators": 4, "random_state": 0, **other}
        one, two = (
            cls(criterion=name, **both).fit(X0, Y0).predict(X0)
            for name in ("squared_error", "friedman_mse")
        )
        assert_array_equal(one, two)
    for cls in (RandomForestRegressor, GradientBoostingRegressor):
        with pytest.raises(
            PsephosError, match=r"parameter 'criterion' must be .*; got 'absolute_error'"
        ):
            cls(criterion="absolute_error").fit(X0, Y0)


# ---------------------------------------------------------------------- balanced_subsample
def unbalanced(k, seed=0):
    rng = np.random.default_rng(seed)
    y = rng.choice(k, 150, p=[0.1, 0.9] if k == 2 else [0.1, 0.3, 0.6])
    return rng.normal(size=(150, 5)) + y[:, None], y


@pytest.mark.parametrize("k", [2, 3])
@pytest.mark.parametrize("kind", [RandomForestClassifier, ExtraTreesClassifier])
def test_leaves_hold_the_weights_that_scikit_learn_gives_a_bootstrap(kind, k):
    X, y = unbalanced(k)
    model = kind(6, max_depth=1, class_weight="balanced_subsample", bootstrap=True, random_state=0)
    model.fit(X, y)
    voters, leaves, draws = model.vote_.voters, model.apply(X), model.memory_.draws
    table, labels, weight, _ = model.read(X, y)
    rows = ForestRows.of(table.values, table.n_codes, labels.y, weight, model.max_bins, None)
    for t, seed in enumerate(model.memory_.seeds):
        counts = draws.counts(seed)[rows.group].astype(int)
        drawn = np.repeat(np.arange(len(y)), counts)
        own = counts * compute_sample_weight("balanced", y, indices=drawn)
        for leaf in np.unique(leaves[:, t]):
            inside = leaves[:, t] == leaf
            share = np.bincount(y[inside], own[inside], k)
            share = share / share.sum()
            vote = 2.0 * share[1:] - 1.0 if k == 2 else (k * share - 1.0) / (k - 1)
            assert_allclose(voters.votes(X[inside][:1])[0, t], vote, atol=1e-12)


def test_without_a_bootstrap_it_is_balanced():
    X, y = unbalanced(2)
    both = {"n_estimators": 5, "max_depth": 2, "random_state": 0}
    one, two = (
        ExtraTreesClassifier(class_weight=name, **both).fit(X, y).predict_proba(X)
        for name in ("balanced", "balanced_subsample")
    )
    assert_allclose(one, two, atol=1e-12)


def test_the_rare_class_is_found_and_out_of_bag_rows_are_those_that_were_not_drawn():
    X, y = unbalanced(2, seed=3)
    own = RandomForestClassifier(
        40, max_depth=2, class_weight="balanced_subsample", oob_score=True, random_state=0
    ).fit(X, y)
    plain = RandomForestClassifier(40, max_depth=2, oob_score=True, random_state=0).fit(X, y)
    assert (own.predict(X) == 0).sum() > (plain.predict(X) == 0).sum()
    assert_array_equal(own.left_out(X, y), plain.left_out(X, y))
    assert_array_equal(own.classes_, [0, 1])


def test_a_warm_start_keeps_the_balance():
    X, y = unbalanced(2)
    warm = {"warm_start": True, "random_state": 0, "n_estimators": 3}
    model = RandomForestClassifier(class_weight="balanced_subsample", **warm).fit(X, y)
    model.set_params(n_estimators=6).fit(X, y)
    whole = RandomForestClassifier(6, class_weight="balanced_subsample", random_state=0).fit(X, y)
    assert_array_equal(model.predict_proba(X), whole.predict_proba(X))
    for first, then in (("balanced_subsample", None), (None, "balanced_subsample")):
        model = RandomForestClassifier(class_weight=first, **warm).fit(X, y)
        with pytest.raises(PsephosError, match="class_weight"):
            model.set_params(class_weight=then, n_estimators=6).fit(X, y)
    with pytest.raises(PsephosError, match="parameter 'class_weight'"):
        CARTClassifier(class_weight="balanced_subsample").fit(X, y)
