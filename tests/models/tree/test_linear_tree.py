"""Linear trees: what they recover, what one leaf is, and what their ballots say."""

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.linear_model import LogisticRegression, Ridge

from psephos import LinearTreeClassifier, LinearTreeRegressor, PsephosError, load, save
from psephos.testing import assert_ballots_are_true
from psephos.trees.linear import LinearProblem, LinearSettings, best_split, complexities

ONE = {"max_depth": 0, "n_folds": 0}


def pieces(n=400, seed=0):
    """Two lines that cross at a cut of another column, where the plain mean is the same."""
    rng = np.random.default_rng(seed)
    X = rng.uniform(-1, 1, (n, 3))
    return X, np.where(X[:, 1] > 0.25, 2 * X[:, 0], -2 * X[:, 0]) + X[:, 2]


def standardised(X):
    return (X - X.mean(axis=0)) / X.std(axis=0)


def test_a_piecewise_linear_function_is_recovered():
    X, y = pieces()
    model = LinearTreeRegressor(1e-6, random_state=0).fit(X, y)
    assert model.tree_.n_leaves == 2
    assert model.tree_.column[0] == 1
    below = X[X[:, 1] <= 0.25, 1].max(), X[X[:, 1] > 0.25, 1].min()
    assert below[0] <= model.tree_.threshold[0] < below[1]
    lines = model.vote_.voters
    assert_allclose(lines.coef, [[-2, 0, 1, 2, 0, 1]], atol=1e-5)
    new, wanted = pieces(seed=1)
    far = np.abs(new[:, 1] - 0.25) > 0.02
    assert_allclose(model.predict(new)[far], wanted[far], atol=1e-4)


def test_classes_that_cross_are_recovered():
    X, y = pieces(2000)
    labels = y > 0
    model = LinearTreeClassifier(1.0, random_state=0).fit(X, labels)
    new, wanted = pieces(2000, seed=1)
    assert model.tree_.column[0] == 1
    assert abs(model.tree_.threshold[0] - 0.25) < 0.02
    plain = LogisticRegression().fit(X, labels).score(new, wanted > 0)
    assert model.score(new, wanted > 0) > 0.97 > plain + 0.1


@pytest.mark.parametrize("alpha", [0.5, 20.0])
def test_one_leaf_is_ridge_regression(alpha):
    X, y = pieces()
    y = y + np.random.default_rng(1).standard_normal(len(y))
    weight = np.random.default_rng(2).uniform(0.5, 2.0, len(y))
    model = LinearTreeRegressor(alpha, **ONE).fit(X, y, sample_weight=weight)
    mean = weight @ X / weight.sum()
    Z = (X - mean) / np.sqrt(weight @ (X - mean) ** 2 / weight.sum())
    peer = Ridge(alpha).fit(Z, y, sample_weight=weight)
    assert_allclose(model.predict(X), peer.predict(Z), atol=1e-9)


@pytest.mark.parametrize("n_classes", [2, 3])
def test_one_leaf_is_logistic_regression(n_classes):
    X, y = pieces(200)
    y = np.digitize(
        y + np.random.default_rng(1).standard_normal(len(y)), [0.0, 1.0][: n_classes - 1]
    )
    model = LinearTreeClassifier(3.0, **ONE).fit(X, y)
    peer = LogisticRegression(C=1 / 3.0, tol=1e-10, max_iter=10_000).fit(standardised(X), y)
    assert_allclose(model.predict_proba(X), peer.predict_proba(standardised(X)), atol=2e-5)


def test_a_node_is_a_correction_of_the_one_above():
    """The coefficients of a child, written as the formula says, are the least."""
    X, y = pieces()
    model = LinearTreeRegressor(7.0, max_depth=1, n_folds=0).fit(X, y)
    tree = model.tree_
    Z = np.column_stack([np.ones(len(X)), standardised(X)])
    rows = X[:, tree.column[0]] <= tree.threshold[0]
    power = np.ldexp(1.0, int(np.frexp(np.abs(y).max())[1]))
    full = Ridge(7.0).fit(Z[:, 1:], y / power)
    start = np.append(full.intercept_, full.coef_)
    own = Z[rows]
    step = np.linalg.solve(own.T @ own + 7.0 * np.eye(4), own.T @ (y[rows] / power - own @ start))
    scores = own @ (start + step) * power
    assert_allclose(model.predict(X[rows]), scores, atol=1e-8)


def slow_worth(Z, g, w, left, kappa, penalty):
    """What a split is worth, as the module's formula reads."""
    A = np.column_stack([np.ones(len(Z)), Z])

    def side(rows):
        G = A[rows].T @ (w[rows, None] * g[rows])
        H = kappa * (A[rows].T * w[rows]) @ A[rows] + penalty * np.eye(A.shape[1])
        return 0.5 * (G * np.linalg.solve(H, G)).sum()

    return side(left) + side(~left) - side(np.ones(len(left), bool))


@pytest.mark.parametrize("n_classes", [0, 2, 3])
def test_the_best_split_is_the_best_by_the_formula(n_classes):
    rng = np.random.default_rng(n_classes)
    X = rng.integers(0, 12, (80, 3)).astype(float)
    X[rng.random(80) < 0.2, 1] = np.nan
    Z = standardised(np.nan_to_num(X))
    y = (X[:, 0] > 5) * Z[:, 2] + 0.3 * rng.standard_normal(80)
    Y = {0: y[:, None], 2: (y > 0)[:, None] * 1.0}.get(n_classes)
    if Y is None:
        Y = np.eye(3)[np.digitize(y, [-0.3, 0.3])]
    w = rng.uniform(0.5, 2, 80)
    problem = LinearProblem(X, Z, Y, w, np.ones(80, int), np.zeros(3, int), n_classes)
    F = np.zeros(Y.shape)
    split = best_split(problem, np.arange(80), F, np.arange(3), LinearSettings(2.0, 3, 4, 5))
    g, every = Y - problem.means(F), []
    for j in range(3):
        for bound in np.unique(X[~np.isnan(X[:, j]), j])[:-1]:
            for gap in (False, True) if np.isnan(X[:, j]).any() else (False,):
                left = np.where(np.isnan(X[:, j]), gap, X[:, j] <= bound)
                known = ~np.isnan(X[:, j])
                if min(left[known].sum(), (~left[known]).sum()) >= 5:
                    every.append(slow_worth(Z, g, w, left, problem.curvature, 2.0))
    x = X[:, split.column]
    left = np.where(np.isnan(x), split.missing == 0, x <= split.threshold)
    assert_allclose(split.worth, slow_worth(Z, g, w, left, problem.curvature, 2.0), rtol=1e-6)
    assert_allclose(split.worth, max(every), rtol=1e-6)


def test_a_split_saves_at_least_what_it_is_worth():
    """The bound: correcting both sides lowers the penalised log-loss by the worth or more."""
    X, y = pieces(300)
    model = LinearTreeClassifier(5.0, max_depth=1, n_folds=0).fit(X, y > 0)
    whole = LinearTreeClassifier(5.0, **ONE).fit(X, y > 0)

    def loss(one):
        return -np.log(one.predict_proba(X)[np.arange(300), (y > 0).astype(int)]).sum()

    assert model.tree_.gain[0] > 0
    assert loss(whole) - loss(model) >= model.tree_.gain[0] * 0.999


def test_weakest_links_go_first():
    """Each pruning has the least loss plus limit times leaves of all prunings of the tree."""
    X, y = pieces()
    tree = LinearTreeRegressor(1.0, n_folds=0, max_depth=3).fit(X, y + np.abs(X[:, 0])).tree_
    assert tree.n_leaves > 4
    rng, risk = np.random.default_rng(0), np.ones(tree.n_nodes)
    for node in np.flatnonzero(tree.n_children)[::-1].tolist():  # each split saves something
        risk[node] = risk[tree.children(node)].sum() + rng.uniform(0.1, 1)
    found = complexities(tree, risk)
    assert (found[tree.n_children == 0] == -np.inf).all()

    def least(node, limit):
        own = risk[node] + limit
        return own if not tree.n_children[node] else min(
            own, sum(least(child, limit) for child in tree.children(node)))  # fmt: skip

    def pruned(node, limit):
        if found[node] <= limit:
            return risk[node] + limit
        return sum(pruned(child, limit) for child in tree.children(node))

    for limit in [0.0, *np.unique(found[tree.n_children > 0]) + 1e-9, 10.0]:
        assert pruned(0, limit) == pytest.approx(least(0, limit))


def test_pruning_by_held_out_rows_finds_one_leaf_where_all_is_linear():
    rng = np.random.default_rng(3)
    X = rng.standard_normal((300, 4))
    y = X @ [1.0, -1.0, 0.5, 0.0] + rng.standard_normal(300)
    model = LinearTreeRegressor(one_standard_error=True, random_state=0).fit(X, y)
    assert model.tree_.n_leaves == 1
    assert model.vote_.n_voters == 1
    labels = np.where(y > 1, "high", np.where(y < -1, "low", "middle"))
    model = LinearTreeClassifier(one_standard_error=True, random_state=0).fit(X, labels)
    assert model.tree_.n_leaves == 1


# ---------------------------------------------------------------------- tables of all kinds
def frame(n=300, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 3))
    site = rng.integers(0, 3, n)
    y = np.where(site == 2, 2.0, -1.0) * X[:, 0] + X[:, 1] + 0.1 * rng.normal(size=n)
    X[rng.random(X.shape) < 0.1] = np.nan
    table = pd.DataFrame(X, columns=["dose", "age", "noise"])
    table["site"] = pd.Categorical(np.array(["skin", "lung", "bone"])[site])
    table.loc[:4, "site"] = None
    return table, y


@pytest.mark.parametrize("classes", [0, 2, 3])
def test_ballots_of_mixed_tables_are_true(classes):
    table, y = frame()
    labels = y if not classes else np.digitize(y, [0.0, 1.0][: classes - 1])
    kind = LinearTreeClassifier if classes else LinearTreeRegressor
    model = kind(1.0, random_state=0).fit(table, labels)
    assert model.tree_.n_leaves > 1
    ballots = model.explain(table[::3])
    assert_ballots_are_true(ballots, ballots.X)
    column = table.columns[model.tree_.column[0]]
    assert column == "site"
    for case in range(10):
        first, *others = ballots.lines(case)
        assert first.words.startswith("in this leaf (site ")
        assert all(line.words.startswith("another leaf (") for line in others)
        assert all(line.words.endswith(": not reached") for line in others)
    told = model.describe()
    assert told[1].split(": ")[1].startswith("in the leaf site in {")


def test_a_missing_value_is_the_training_mean_in_the_models():
    table, y = frame()
    model = LinearTreeRegressor(1.0, random_state=0).fit(table, y)
    gap, mean = table.copy(), table.copy()
    gap["age"], mean["age"] = np.nan, table["age"].mean()
    assert "age" not in table.columns[model.tree_.column[model.tree_.column >= 0]]
    assert_allclose(model.predict(gap), model.predict(mean), atol=1e-12)


def test_a_row_of_weight_two_is_the_row_twice():
    X, y = pieces(120)
    y = y + 0.1 * np.random.default_rng(0).standard_normal(120)
    weight = np.random.default_rng(1).integers(1, 4, 120)
    rows = np.repeat(np.arange(120), weight)
    one = LinearTreeRegressor(random_state=0).fit(X, y, sample_weight=weight)
    two = LinearTreeRegressor(random_state=0).fit(X[rows], y[rows])
    assert_allclose(one.predict(X), two.predict(X), atol=1e-8)


def test_the_same_bytes_whatever_the_threads(tmp_path):
    table, y = frame(150)
    for jobs in (1, 2):
        save(LinearTreeRegressor(random_state=0, n_jobs=jobs).fit(table, y), tmp_path / f"{jobs}")
    again = LinearTreeRegressor(random_state=0, n_jobs=2).fit(table, y)
    one, two = (load(tmp_path / f"{jobs}") for jobs in (1, 2))
    assert_array_equal(one.predict(table), two.predict(table))
    assert_array_equal(one.predict(table), again.predict(table))
    assert_array_equal(one.tree_.value, two.tree_.value)


def test_a_fat_table_is_read_in_few_columns():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((40, 5000))
    y = (X[:, 7] + 0.1 * rng.standard_normal(40) > 0).astype(int)
    model = LinearTreeClassifier(10.0, n_folds=3, random_state=0).fit(X, y)
    assert model.n_features_used_ <= 8 + 6
    assert 7 in model.vote_.columns


def test_groups_stay_together_and_single_rows_of_a_class_need_no_folds():
    X, y = pieces(60)
    groups = np.arange(60) // 20
    model = LinearTreeRegressor(random_state=0).fit(X, y, groups=groups)
    assert model.losses_.min() > 0
    labels = np.where(np.arange(60) == 5, "rare", np.where(y > 0, "a", "b"))
    model = LinearTreeClassifier(random_state=0).fit(X, labels)
    assert_array_equal(model.losses_, 0.0)


def test_numbers_whose_squares_overflow_are_refused():
    X, y = pieces(60)
    with pytest.raises(PsephosError, match="Divide y"):
        LinearTreeRegressor().fit(X, y * 1e150)
