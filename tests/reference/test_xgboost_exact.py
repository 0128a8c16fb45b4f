"""Exact second-order boosting, bit for bit the margins of XGBoost's own exact trees."""

import gzip

import numpy as np
import pytest
from numpy.testing import assert_array_equal

from psephos import NewtonBoostingClassifier, NewtonBoostingRegressor

xgboost = pytest.importorskip("xgboost", reason="compares with the xgboost package")

pytestmark = pytest.mark.reference

ROUNDS = 10
VERSION = tuple(int(number) for number in xgboost.__version__.split(".")[:2])
NAMES = {
    "binary": "binary:logistic", "number": "reg:squarederror", "classes": "multi:softprob",
}  # fmt: skip


def table(missing=0.0, n=1500, p=12, seed=0):
    """Continuous, discrete, rounded and constant columns, and three kinds of target."""
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, p))
    X[:, 3] = rng.integers(0, 5, n)
    X[:, 4] = np.round(X[:, 4], 1)
    X[:, 5] = 1.0
    number = X[:, 0] * X[:, 1] + X[:, 2] + 0.5 * X[:, 3] + 0.3 * rng.standard_normal(n)
    X[rng.random(X.shape) < missing] = np.nan
    kinds = {
        "binary": (number > 1).astype(int),
        "number": number,
        "classes": np.digitize(number, [0, 1, 2]),
    }
    return X.astype(np.float32), kinds


def peer_margin(X, y, new, kind, rounds=ROUNDS, **params):
    matrix = xgboost.DMatrix(X, y)
    settings = {"tree_method": "exact", "nthread": 1, "objective": NAMES[kind], **params}
    if kind == "classes":
        settings["num_class"] = len(np.unique(y))
    model = xgboost.train(settings, matrix, rounds)
    return [model.predict(xgboost.DMatrix(cases), output_margin=True) for cases in (X, new)]


def in_float32(model, X):
    """Return the base score and the leaves added up in float32, tree by tree, as XGBoost does."""
    terms = model.contributions(X).astype(np.float32)
    margin = np.zeros((terms.shape[0], *terms.shape[2:]), np.float32)
    for t in range(terms.shape[1]):
        margin += terms[:, t]
    return margin


def compare(X, y, new, kind, rounds=ROUNDS, **params):
    Model = NewtonBoostingRegressor if kind == "number" else NewtonBoostingClassifier
    ours = Model("exact", n_estimators=rounds, **params).fit(X, y)
    peer = peer_margin(X, y, new, kind, rounds, **params)
    for cases, expected in zip((X, new), peer, strict=True):
        margin = in_float32(ours, cases)
        assert margin.dtype == expected.dtype == np.float32
        assert_array_equal(bits(margin), bits(expected))
        score = ours.predict(cases) if kind == "number" else ours.decision_function(cases)
        assert np.abs(score - margin).max() <= 1e-5 * max(1.0, np.abs(score).max())


def bits(margin):
    """Return float32 as integers; beside XGBoost above 3.2, which may say -0 for 0, -0 is 0."""
    return (margin + np.float32(0.0) if VERSION > (3, 2) else margin).view(np.int32)


CONFIGURATIONS = [
    ("binary", 0.0, {}),
    ("number", 0.0, {}),
    ("classes", 0.0, {}),
    ("binary", 0.0, {"gamma": 1.0}),
    ("binary", 0.0, {"reg_alpha": 0.5}),
    ("number", 0.0, {"reg_lambda": 0.0}),
    ("binary", 0.0, {"max_delta_step": 0.3}),
    ("binary", 0.0, {"min_child_weight": 0.0}),
    ("binary", 0.3, {}),
    ("classes", 0.3, {}),
    # beyond the ten of the specification
    ("number", 0.3, {"gamma": 0.5, "reg_alpha": 0.2, "learning_rate": 0.1}),
    ("classes", 0.0, {"max_delta_step": 0.5, "reg_alpha": 0.1}),
    ("binary", 0.3, {"min_child_weight": 0.0, "reg_lambda": 0.0}),
    ("binary", 0.0, {"max_depth": 12}),
    ("number", 0.0, {"min_child_weight": 30.0, "max_depth": 3}),
    ("binary", 0.0, {"base_score": 0.5}),
    ("number", 0.3, {"monotone_constraints": (1, 0, 1, -1) + (0,) * 8}),
    ("number", 0.0, {"monotone_constraints": (1, 0, 1, 1) + (0,) * 8, "reg_alpha": 0.1}),
]


@pytest.mark.parametrize(("kind", "missing", "params"), CONFIGURATIONS)
def test_margins_have_the_same_bits(kind, missing, params):
    bounded = "max_delta_step" in params or "monotone_constraints" in params
    if bounded and "reg_alpha" in params and VERSION > (3, 2):
        pytest.skip("XGBoost above 3.2 takes alpha into the gain of a bounded weight")
    X, kinds = table(missing)
    new, _ = table(missing, seed=1, n=400)
    compare(X, kinds[kind], new, kind, **params)


@pytest.mark.parametrize("n", [2, 3, 5, 9])
def test_few_rows(n):
    rng = np.random.default_rng(n)
    X = rng.standard_normal((n, 2)).astype(np.float32)
    compare(X, np.arange(n) % 2, X, "binary")


def test_cuts_between_neighbours_in_float32():
    """The reference puts a cut below both, where the missing go right: one child is empty."""
    low = np.nextafter(np.float32(1), np.float32(2))
    for least in (np.float32(1), low):
        value = np.array([least, np.nextafter(least, np.float32(2)), np.nan], np.float32)
        X = np.repeat(value, [20, 20, 10])[:, None]
        for missing in (0.0, 1.0):
            y = np.repeat([0.0, 1.0, missing], [20, 20, 10])
            compare(X, y, X, "number", rounds=2)


def real(folder, name):
    path = folder / name / f"{name}.npz"
    if path.exists():
        with np.load(path, allow_pickle=False) as archive:
            return archive["X"].astype(np.float32), np.unique(archive["y"], return_inverse=True)[1]
    with gzip.open(folder / name / f"{name}.csv.gz", "rt") as file:
        rows = [line.rstrip().split(",") for line in file][1:]
    X = np.array([row[:-1] for row in rows], dtype=np.float32)
    return X, np.unique([row[-1] for row in rows], return_inverse=True)[1]


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "kind", "rounds"),
    [("magic", "binary", 10), ("spambase", "binary", 10), ("satellite", "classes", 5),
     ("letter", "classes", 2), ("shuttle", "classes", 3)],
)  # fmt: skip
def test_real_sets(data_dir, name, kind, rounds):
    X, y = real(data_dir, name)
    compare(X, y, X[::7], kind, rounds)


@pytest.mark.slow
def test_real_set_with_holes(data_dir):
    X, y = real(data_dir, "magic")
    X[np.random.default_rng(0).random(X.shape) < 0.3] = np.nan
    compare(X, y, X[::7], "binary", 5)


@pytest.mark.parametrize("seed", range(3))
def test_rows_of_weight_zero_are_left_out_where_xgboost_lets_them_propose_cuts(seed):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((80, 4)).astype(np.float32)
    y = 2 * X[:, 0] + X[:, 1] ** 2 + 0.3 * rng.standard_normal(80)
    weight = (rng.random(80) < 0.5).astype(float)
    kept = weight > 0
    params = {"max_depth": 3, "base_score": 0.0, "n_estimators": 10}
    ours = in_float32(NewtonBoostingRegressor("exact", **params).fit(X, y, weight), X)
    theirs = [
        xgboost.XGBRegressor(tree_method="exact", n_jobs=1, **params)
        .fit(X[rows], y[rows], sample_weight=weight[rows])
        .predict(X, output_margin=True)
        for rows in (kept, slice(None))
    ]
    assert_array_equal(ours.ravel(), theirs[0])
    assert np.abs(theirs[1] - theirs[0]).max() > 0.1
