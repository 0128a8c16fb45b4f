"""Forests beside scikit-learn's, and the shape of pure random cells beside theory and simulation.

The slopes below were simulated once by an independent program (k = 16 ... 4096; mean side of the
cell of a random point) and agree with the exponents that are derived in `side_exponent`.
"""

import numpy as np
import pytest
import sklearn.ensemble as peer
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.datasets import load_breast_cancer, load_diabetes, load_digits, load_wine
from sklearn.model_selection import StratifiedShuffleSplit
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor

from psephos import (
    ExtraTreesClassifier,
    ExtraTreesRegressor,
    RandomForestClassifier,
    RandomForestRegressor,
)
from psephos.trees.forest import SPLITS, pure_tree, side_exponent

pytestmark = [pytest.mark.reference, pytest.mark.slow]

SLOPES = {
    (1, "uniform"): -0.359, (1, "midpoint"): -0.561, (1, "balanced"): -1.000,
    (2, "uniform"): -0.181, (2, "midpoint"): -0.247, (2, "balanced"): -0.500,
    (3, "uniform"): -0.115, (3, "midpoint"): -0.171, (3, "balanced"): -0.337,
}  # fmt: skip


@pytest.mark.parametrize(("d", "split"), SLOPES)
def test_side_exponents(d, split):
    rng = np.random.default_rng(d)
    sizes = 2 ** np.arange(4, 13)
    means = []
    for i, k in enumerate(sizes):
        trees = [pure_tree(split, d, int(k), 1000 * seed + i) for seed in range(60)]
        means.append(np.mean([tree.sides(rng.random((200, d))).mean() for tree in trees]))
    slope = np.polyfit(np.log(sizes), np.log(means), 1)[0]
    assert_allclose(slope, SLOPES[d, split], atol=0.07)
    assert_allclose(slope, -side_exponent(split, d), atol=0.07)


def test_the_order_of_side_exponents():
    for d in (1, 2, 3):
        exponents = [side_exponent(split, d) for split in SPLITS]
        assert exponents == sorted(exponents)


@pytest.mark.parametrize("depth", [1, 2, 3])
def test_a_tree_that_sees_all_is_scikit_learns(depth):
    """Of few values: the same columns, thresholds and answers, where no ties decide."""
    options = {"bootstrap": False, "max_features": None, "max_depth": depth}
    if depth < 3:  # the third cuts of wine are perfect in several columns
        X, y = load_wine(return_X_y=True)
        ours = RandomForestClassifier(1, **options).fit(X, y)
        theirs = DecisionTreeClassifier(max_depth=depth, random_state=0).fit(X, y)
        assert_allclose(ours.predict_proba(X), theirs.predict_proba(X), atol=1e-12)
        check_cuts(ours.vote_.voters, theirs.tree_)
    X, y = load_diabetes(return_X_y=True, scaled=False)
    X = np.round(X, 1)
    ours = RandomForestRegressor(1, **options).fit(X, y)
    theirs = DecisionTreeRegressor(max_depth=depth, random_state=0).fit(X, y)
    assert_allclose(ours.predict(X), theirs.predict(X), rtol=1e-12)
    check_cuts(ours.vote_.voters, theirs.tree_)


def check_cuts(voters, tree):
    """Compare the cuts of both, in whatever order the nodes are."""
    inner = voters.feature >= 0
    mine = sorted(zip(voters.columns[voters.feature[inner]], voters.threshold[inner], strict=True))
    other = tree.feature >= 0
    peers = sorted(zip(tree.feature[other], tree.threshold[other], strict=True))
    assert_array_equal([j for j, _ in mine], [j for j, _ in peers])
    assert_allclose([t for _, t in mine], [t for _, t in peers], rtol=1e-6)  # theirs are float32


@pytest.mark.parametrize("model", ["RandomForestClassifier", "ExtraTreesClassifier"])
@pytest.mark.parametrize("load", [load_wine, load_breast_cancer, load_digits])
def test_as_good_as_scikit_learns(load, model):
    X, y = load(return_X_y=True)
    own = {"RandomForestClassifier": RandomForestClassifier}.get(model, ExtraTreesClassifier)
    splits = StratifiedShuffleSplit(6, test_size=1 / 3, random_state=0)
    found = []
    for seed, (train, test) in enumerate(splits.split(X, y)):
        both = own(random_state=seed), getattr(peer, model)(random_state=seed)
        found.append([m.fit(X[train], y[train]).score(X[test], y[test]) for m in both])
    difference = np.subtract(*np.array(found).T)
    error = difference.std(ddof=1) * np.sqrt(1 / 6 + 1 / 2)  # splits share rows
    assert abs(difference.mean()) < max(3.0 * error, 0.01)


@pytest.mark.parametrize(
    ("own", "model"),
    [
        (RandomForestRegressor, "RandomForestRegressor"),
        (ExtraTreesRegressor, "ExtraTreesRegressor"),
    ],
)
def test_numbers_as_good_as_scikit_learns(own, model):
    X, y = load_diabetes(return_X_y=True)
    found = []
    for seed in range(5):
        test = np.random.default_rng(seed).permutation(len(y))[:150]
        train = np.setdiff1d(np.arange(len(y)), test)
        both = own(random_state=seed), getattr(peer, model)(random_state=seed)
        found.append([m.fit(X[train], y[train]).score(X[test], y[test]) for m in both])
    assert abs(np.subtract(*np.array(found).T).mean()) < 0.03


def test_out_of_bag_as_scikit_learns():
    X, y = load_digits(return_X_y=True)
    ours = [RandomForestClassifier(oob_score=True, random_state=s).fit(X, y) for s in range(3)]
    theirs = [
        peer.RandomForestClassifier(oob_score=True, random_state=s).fit(X, y) for s in range(3)
    ]
    difference = np.mean([m.oob_score_ for m in ours]) - np.mean([m.oob_score_ for m in theirs])
    assert abs(difference) < 0.01
    shares = [m.oob_decision_function_ for m in (ours[0], theirs[0])]
    assert np.abs(shares[0] - shares[1]).mean() < 0.05
    importance = [np.mean([getattr(m, n) for m in models], axis=0) for models, n in (
        (ours, "impurity_importance_"), (theirs, "feature_importances_"))]  # fmt: skip
    assert np.corrcoef(*importance)[0, 1] > 0.98


@pytest.mark.parametrize("name", ["vote", "credit_a", "hepatitis"])
def test_categories_and_missing_values(data_dir, name):
    """Out of bag on real tables with both; scikit-learn's accuracies there are .97, .87, .84."""
    from psephos.protocol import read_table

    table = read_table(data_dir / name / f"{name}.csv", target="target")
    model = RandomForestClassifier(
        oob_score=True, random_state=0, categorical_features=sorted(table.categories) or None
    )
    assert model.fit(table.X, table.y).oob_score_ > {"vote": 0.94, "credit_a": 0.84}.get(name, 0.8)
