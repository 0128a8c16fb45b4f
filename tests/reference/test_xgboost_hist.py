"""Trees on histograms, level by level and best first: XGBoost's own where bins lose nothing."""

import numpy as np
import pytest
from numpy.testing import assert_array_equal

from psephos import NewtonBoostingRegressor

xgboost = pytest.importorskip("xgboost", reason="compares with the xgboost package")

pytestmark = pytest.mark.reference


def in_float32(model, X):
    """Return the base score and the leaves added up in float32, tree by tree, as XGBoost does."""
    terms = model.contributions(X).astype(np.float32)
    margin = np.zeros((terms.shape[0], *terms.shape[2:]), np.float32)
    for t in range(terms.shape[1]):
        margin += terms[:, t]
    return margin


def table(seed, missing, n=800, p=6):
    """Fewer values a column than bins; squared error, whose sums both sides hold exactly."""
    rng = np.random.default_rng(seed)
    X = np.round(rng.standard_normal((n, p)), 1).astype(np.float32)
    y = X[:, 0] * X[:, 1] + X[:, 2] + 0.3 * rng.standard_normal(n)
    X[rng.random(X.shape) < missing] = np.nan
    return X, y.astype(np.float32)


CONFIGURATIONS = [
    {},
    {"gamma": 0.5},
    {"gamma": 2.0},
    {"gamma": 5.0, "max_depth": None},
    {"gamma": 1.0, "reg_alpha": 0.5, "reg_lambda": 0.0},
    {"grow_policy": "lossguide"},
    {"grow_policy": "lossguide", "max_leaves": 12},
    {"grow_policy": "lossguide", "max_leaves": 40, "max_depth": None},
    {"grow_policy": "lossguide", "max_depth": None},
    {"grow_policy": "lossguide", "max_leaves": 30, "gamma": 2.0},
    {"grow_policy": "lossguide", "max_leaves": 9, "min_child_weight": 20.0, "reg_alpha": 0.5},
    {"max_leaves": 11},
    {"max_leaves": 30, "gamma": 2.0},
]


@pytest.mark.parametrize("params", CONFIGURATIONS)
@pytest.mark.parametrize("missing", [0.0, 0.1])
@pytest.mark.parametrize("seed", [0, 1])
def test_a_tree_is_the_same(params, missing, seed):
    X, y = table(seed, missing)
    ours = NewtonBoostingRegressor("hist", n_estimators=1, base_score=0.5, **params).fit(X, y)
    settings = {
        "tree_method": "hist", "nthread": 1, "base_score": 0.5,
        **{name: 0 if value is None else value for name, value in params.items()},
    }  # fmt: skip
    peer = xgboost.train(settings, xgboost.DMatrix(X, y), 1)
    rows = peer.trees_to_dataframe()
    columns = [int(name[1:]) for name in rows["Feature"] if name != "Leaf"]
    trees = ours.vote_.voters.parts[1]
    assert (trees.feature < 0).sum() == (rows["Feature"] == "Leaf").sum()
    assert sorted(trees.columns[trees.feature[trees.feature >= 0]]) == sorted(columns)
    assert_array_equal(in_float32(ours, X), peer.predict(xgboost.DMatrix(X)))
