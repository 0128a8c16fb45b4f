"""Importance weighs what is said: by hand for six models, and what must not change it."""

import pickle

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.datasets import load_breast_cancer
from sklearn.linear_model import LogisticRegression

from psephos import (
    AdaBoostClassifier,
    CARTClassifier,
    NewtonBoostingClassifier,
    ProsetClassifier,
    RandomForestClassifier,
    SamBAClassifier,
    load,
    save,
)
from psephos._errors import PsephosError
from psephos.vote.importance import SampleRows, _centre, baseline_of


def table(n=120, p=6, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, p))
    return X, (X[:, 0] + 0.5 * X[:, 1] > 0).astype(int)


def path_table(tree, said, X):
    """Return (n, p): how far the value moves along each row's path, from the tree's arrays."""
    out = np.zeros(X.shape)

    def value(node):
        below = tree.children(node)
        if not len(below):
            return said[node]
        return np.average([value(int(b)) for b in below], axis=0, weights=tree.share[below])

    for i, x in enumerate(X):
        node = 0
        while tree.n_children[node]:
            j = int(tree.column[node])
            right = not (
                x[j] < tree.threshold[node] if tree.strict else x[j] <= tree.threshold[node]
            )
            below = int(tree.child[node]) + int(right != tree.flip[node])
            out[i, j] += np.abs(value(below) - value(node)).sum()
            node = below
    return out


def by_hand(vote, X):
    """Return (p,): every voter's distance from its mean, divided along its path."""
    votes, weights = vote.votes(X), vote.shares(X)
    voters = getattr(vote.voters, "parts", [vote.voters])[0]
    size = np.abs(weights * (votes - votes.mean(axis=0))[:, :, 0])
    total = np.zeros(X.shape)
    for t in range(vote.n_voters):
        tree = voters.tree(t)
        moves = path_table(tree, tree.value, X)
        whole = moves.sum(axis=1)
        on = whole > 0
        total[on] += moves[on] * (size[on, t] / whole[on])[:, None]
    return total.sum(axis=0) / total.sum()


def test_cart_by_hand():
    X, y = table()
    model = CARTClassifier(min_samples_split=5, min_samples_leaf=2, cp=0.0).fit(X, y)
    vote = model.vote_
    tree = vote.voters.tree(0)
    size = np.abs(vote.votes(X) - vote.votes(X).mean(axis=0))[:, 0, 0]
    moves = path_table(tree, vote.voters.node_votes, X)
    share = moves / moves.sum(axis=1, keepdims=True)
    expected = (size[:, None] * share).sum(axis=0)
    assert (expected > 0).sum() > 1
    assert_allclose(model.feature_importances_, expected / expected.sum(), atol=1e-12)
    assert_allclose(model.local_importance(X), share[:, vote.columns], atol=1e-12)


def test_adaboost_of_stumps_by_hand():
    X, y = table()
    model = AdaBoostClassifier(n_estimators=8).fit(X, y)
    vote = model.vote_
    votes = vote.votes(X)[:, :, 0]
    size = np.abs(vote.shares(X) * (votes - votes.mean(axis=0))).sum(axis=0)
    expected = size @ vote.voters.usage().toarray()  # a stump reads one column
    assert_allclose(model.feature_importances_, expected / expected.sum(), atol=1e-12)


def test_linear_voters_by_hand():
    X, y = table()
    model = AdaBoostClassifier(LogisticRegression(), n_estimators=3).fit(X, y)
    vote = model.vote_
    votes, coef = vote.votes(X)[:, :, 0], vote.voters.coef.reshape(vote.n_voters, -1)
    size = np.abs(vote.shares(X) * (votes - votes.mean(axis=0)))
    terms = np.abs(coef[None] * (X - X.mean(axis=0))[:, None])
    terms /= terms.sum(axis=2, keepdims=True)
    expected = np.einsum("nt,ntj->j", size, terms)
    assert_allclose(model.feature_importances_, expected / expected.sum(), atol=1e-12)


def test_random_forest_by_hand():
    X, y = table(60)
    model = RandomForestClassifier(n_estimators=5, random_state=0).fit(X, y)
    assert_allclose(model.feature_importances_, by_hand(model.vote_, X), atol=1e-12)


def test_newton_boosting_by_hand():
    X, y = table(60)
    model = NewtonBoostingClassifier(n_estimators=4).fit(X, y)
    trees = model.vote_.take(np.arange(1, model.vote_.n_voters))  # without the base score
    assert_allclose(model.feature_importances_, by_hand(trees, X), atol=1e-12)


def test_a_vote_of_carts_by_hand():
    X, y = table()
    model = AdaBoostClassifier(CARTClassifier(max_depth=2), n_estimators=3).fit(X, y)
    vote = model.vote_
    votes = vote.votes(X)[:, :, 0]
    size = np.abs(vote.shares(X) * (votes - votes.mean(axis=0)))
    expected = np.zeros(6)
    for t, (inner, places) in enumerate(zip(vote.voters.inner, vote.voters.places, strict=True)):
        columns = vote.voters.columns[places]
        own = X[:, columns]
        moves = path_table(inner.voters.tree(0), inner.voters.node_votes, own)
        expected[columns] += (size[:, [t]] * moves / moves.sum(axis=1, keepdims=True)).sum(axis=0)
    assert_allclose(model.feature_importances_, expected / expected.sum(), atol=1e-12)


def test_a_base_score_has_no_share():
    X, y = load_breast_cancer(return_X_y=True)
    model = NewtonBoostingClassifier(n_estimators=5).fit(X, y)
    assert_allclose(model.feature_importances_.sum(), 1.0)
    assert_allclose(model.local_importance(X[:9]).sum(axis=1), 1.0)


def test_surrogates_never_asked_have_no_share():
    X, y = load_breast_cancer(return_X_y=True)
    model = CARTClassifier().fit(X, y)
    tree = model.vote_.voters.tree(0)
    asked = np.unique(tree.column[tree.column >= 0])
    assert len(asked) < len(model.vote_.columns)
    assert_array_equal(np.flatnonzero(model.feature_importances_), asked)


def test_a_surrogate_that_was_asked_has_a_share():
    X, y = load_breast_cancer(return_X_y=True)
    model = CARTClassifier().fit(X, y)
    tree = model.vote_.voters.tree(0)
    gap = X[:1].copy()
    gap[0, tree.column[0]] = np.nan
    share = model.local_importance(gap)[0]
    first = tree.surrogates.column[0]
    assert share[np.searchsorted(model.vote_.columns, first)] > 0
    assert share[np.searchsorted(model.vote_.columns, tree.column[0])] == 0


MODELS = [
    AdaBoostClassifier(n_estimators=5), CARTClassifier(), SamBAClassifier(n_estimators=5),
    NewtonBoostingClassifier(n_estimators=5), ProsetClassifier(n_batches=1, random_state=0),
    RandomForestClassifier(n_estimators=9, random_state=0),
]  # fmt: skip


@pytest.mark.parametrize("model", MODELS, ids=lambda m: type(m).__name__)
def test_noise_gets_less_than_what_was_planted(model):
    X, y = table(200)
    found = model.fit(X, y).feature_importances_
    assert found[0] > found[2:].max()
    assert found[:2].sum() > found[2:].sum()


@pytest.mark.parametrize("model", MODELS, ids=lambda m: type(m).__name__)
def test_scaling_and_order_of_voters_change_nothing(model):
    X, y = table()
    found = model.fit(X, y).feature_importances_
    vote = model.vote_
    order = np.random.default_rng(0).permutation(vote.n_voters)
    told = baseline_of(vote.take(order), SampleRows.of(vote, X)).importance
    assert_allclose(told, found[vote.columns], atol=1e-12)
    assert_allclose(model.fit(X * 4.0, y).feature_importances_, found, atol=1e-9)


@pytest.mark.parametrize("model", MODELS, ids=lambda m: type(m).__name__)
def test_files_and_smaller_tables_keep_it(model, tmp_path):
    X, y = table()
    model.fit(X, y)
    save(model, tmp_path / "m")
    again = load(tmp_path / "m")
    assert_array_equal(again.feature_importances_, model.feature_importances_)
    assert_array_equal(again.local_importance(X), model.local_importance(X))
    reduced = model.reduce()
    assert_array_equal(
        reduced.feature_importances_, model.feature_importances_[model.vote_.columns]
    )


def test_a_pruned_tree_is_measured_on_the_same_rows():
    model = CARTClassifier(cp=0.0, min_samples_split=5).fit(*table())
    pruned = model.prune(0.1)
    assert pruned.vote_.voters.nodes.n_nodes < model.vote_.voters.nodes.n_nodes
    assert_allclose(pruned.feature_importances_.sum(), 1.0)


def test_a_pickle_holds_no_training_rows():
    model = CARTClassifier().fit(*table())
    again = pickle.loads(pickle.dumps(model))
    assert again._sample is None
    assert_array_equal(again.feature_importances_, model.feature_importances_)


def test_a_model_without_training_rows_says_so(tmp_path):
    save(CARTClassifier(cp=0.0, min_samples_split=5).fit(*table()), tmp_path / "m")
    with pytest.raises(PsephosError, match="importance needs training rows"):
        _ = load(tmp_path / "m").prune(0.1).feature_importances_


def test_a_fit_does_not_measure_importance():
    model = RandomForestClassifier(n_estimators=5, random_state=0).fit(*table())
    assert model._baseline is None
    assert model._sample.values.shape == (120, model.n_features_used_)


def test_the_centre_of_a_category_is_its_commonest_code():
    X = np.array([[0.0, 1.0], [2.0, 2.0], [2.0, np.nan], [np.nan, 6.0]])
    assert_array_equal(_centre(X, np.array([True, False])), [2.0, 3.0])


def test_without_backup_columns_importance_is_shared_out_again():
    X, y = load_breast_cancer(return_X_y=True)
    X = np.where(np.random.default_rng(0).random(X.shape) < 0.3, np.nan, X)
    model = CARTClassifier().fit(X, y)
    asked = model.feature_importances_
    spare = np.setdiff1d(np.flatnonzero(asked), model.vote_.used)
    assert asked[spare].sum() > 0
    small = model.reduce(backup=False)
    assert_allclose(small.feature_importances_.sum(), 1.0)
    kept = asked[model.vote_.used]
    assert_allclose(small.feature_importances_, kept / kept.sum())
