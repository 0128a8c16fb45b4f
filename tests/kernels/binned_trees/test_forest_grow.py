"""Every node of a grown tree is what the definition asks for."""

import importlib.util
from pathlib import Path

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from psephos.kernels.binned_trees.forest_grow import (
    BinnedSample,
    ForestGrowth,
    blank,
    grow,
    kind_of,
    workspace,
)
from psephos.kernels.numerics.criteria import ENTROPY, GINI, SQUARED_ERROR, Criterion
from psephos.trees.bins import Bins
from psephos.trees.forest import Unbinned

_spec = importlib.util.spec_from_file_location(
    "forest_twin", Path(__file__).parent / "forest_twin.py"
)
twin = importlib.util.module_from_spec(_spec)
_spec.loader.exec_module(twin)

# NumPy says so where kernels run uncompiled
pytestmark = pytest.mark.filterwarnings("ignore:overflow", "ignore:invalid value", "ignore:divide")

CRITERIA = {
    ("gini", 2): Criterion(GINI, 2),
    ("gini", 3): Criterion(GINI, 3),
    ("entropy", 2): Criterion(ENTROPY, 2),
    ("entropy", 3): Criterion(ENTROPY, 3),
    ("squared_error", 0): Criterion(SQUARED_ERROR, 0),
}


def problem(n_classes, n=60, p=4, seed=0, missing=0.0, categories=(), levels=None):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, p))
    if levels:
        X = np.round(X * levels) / levels
    for j in categories:
        X[:, j] = rng.integers(0, 5, n)
    signal = np.nan_to_num(X[:, 0]) + 0.5 * np.nan_to_num(X[:, 1])
    y = rng.integers(0, n_classes, n) if n_classes else np.round(np.exp(0.5 * signal), 2)
    if n_classes:
        y = np.where(rng.random(n) < 0.5, y, np.digitize(signal, [0.0, 1.0][: n_classes - 1]))
    X[rng.random(X.shape) < missing] = np.nan
    return X, y


def grown(X, y, w, crit, n_classes, rule, random=False, categories=(), seed=7):
    """The bins and the tree; `random` may be "values", which need no bins."""
    unbinned = random == "values"
    bins = Bins.of(X, dict.fromkeys(categories, 5))
    is_category = np.isin(np.arange(X.shape[1]), categories)
    table = BinnedSample(bins.codes, bins.n_bins, bins.ptr, bins.low, bins.high, is_category)
    if unbinned:
        given = Unbinned(np.ascontiguousarray(X.T))
        empty = given.low, given.high, is_category
        table = BinnedSample(given.codes, given.n_bins, given.ptr, *empty)
    kind = kind_of(len(y), n_classes, bool(random), unbinned)
    rows = np.flatnonzero(w > 0).astype(np.uint32)
    answers = y[rows].astype(np.float64 if n_classes <= 2 else np.uint32)
    parts = rows, answers, w[rows].astype(float)
    work = workspace(len(y), n_classes, parts[1], kind, X.shape[1])
    tree = blank(2 * len(y) - 1, len(y), len(work.sums), len(y))
    nodes, told, sets = grow(crit, rule, table, *parts, np.uint64(seed), work, tree, *kind)
    done = {name: getattr(tree, name)[:nodes] for name in tree._fields}
    done |= {"sums": tree.sums[:told], "sets": tree.sets[:sets]}
    for node in np.flatnonzero(done["link"][:, 0] >= 0) if unbinned else ():
        f, threshold = done["link"][node, 0], done["threshold"][node]
        lows = bins.low[bins.ptr[f] : bins.ptr[f + 1]]  # each value's own: the last on the left
        done["link"][node, 2] = np.searchsorted(lows, threshold, side="right") - 1
    return bins, type(tree)(**done)


def goes_left(tree, node, codes, n_bins):
    """Which rows of a column go to the first child of a node."""
    if tree.link[node, 3] >= 0:
        return tree.sets[tree.link[node, 3], codes] == 1
    return np.where(codes == n_bins, tree.missing_left[node], codes <= tree.link[node, 2])


def check_leaf(tree, node, got, pure, n_classes):
    """What the leaf answers is what its rows (answers, weights) make."""
    told, (y, w) = tree.link[node, 1], got
    if not n_classes:
        assert_allclose(tree.sums[told], [w.sum(), (w * y).sum()], rtol=1e-9, atol=1e-9)
    elif pure:
        assert told == y[0]
    else:
        totals = [w[y == k].sum() for k in range(n_classes)]
        assert_allclose(tree.sums[told - n_classes], totals, rtol=1e-9, atol=1e-9)


def check(X, y, w, name, n_classes, rule, crit=None, random=False, categories=(), seed=7):
    """Follow the rows down the tree and check every node against the definition."""
    crit = crit or CRITERIA[name, n_classes]
    bins, tree = grown(X, y, w, crit, n_classes, rule, random, categories, seed)
    seen = 0
    p = X.shape[1]

    def visit(node, rows, depth):
        nonlocal seen
        seen += 1
        got = [y[rows], w[rows].astype(float)]
        options = [
            twin.falls(
                bins.codes[j, rows], *got, bins.n_bins[j], j in categories, name, n_classes,
                rule.least, crit.least,
            )
            for j in range(p)
        ]  # fmt: skip
        f = tree.link[node, 0]
        pure = len(np.unique(got[0])) < 2
        small = len(rows) < rule.min_split or depth >= rule.max_depth
        if f < 0:
            check_leaf(tree, node, got, pure, n_classes)
            assert pure or small or rule.max_features < p or not any(options) or random
            return
        assert not pure
        assert not small
        left = goes_left(tree, node, bins.codes[f, rows], bins.n_bins[f])
        assert min(left.sum(), (~left).sum()) >= rule.least
        whole, sides = (
            twin.impurity(*got, name, n_classes),
            [twin.impurity(got[0][s], got[1][s], name, n_classes) for s in (left, ~left)],
        )
        scale = 2.0 if name == "gini" and n_classes == 2 else 1.0  # numbers 0 and 1: half of Gini
        assert_allclose(scale * tree.gain[node], whole - sum(sides), rtol=1e-6, atol=1e-6)
        if not random:
            best = max(options[f])
            if rule.max_features == p:
                best = max(value for option in options for value in option)
            assert whole - sum(sides) >= best - 1e-7 * max(whole, 1.0)
        if f not in categories:
            values = X[rows, f]
            threshold = tree.threshold[node]
            by_value = np.where(np.isnan(values), tree.missing_left[node], values <= threshold)
            assert_array_equal(left, by_value)
        if not (bins.codes[f, rows] == bins.n_bins[f]).any():
            more = left.sum() > len(left) / 2
            assert tree.missing_left[node] == more
        visit(tree.link[node, 1], rows[left], depth + 1)
        visit(tree.link[node, 1] + 1, rows[~left], depth + 1)

    visit(0, np.flatnonzero(w > 0), 0)
    assert seen == len(tree.link)
    return tree


ALL = ForestGrowth(99, 2, 1, 4)


@pytest.mark.parametrize("random", [False, True, "values"], ids=["best", "random", "values"])
@pytest.mark.parametrize(("name", "n_classes"), CRITERIA)
def test_every_node(name, n_classes, random):
    for seed, missing in ((0, 0.0), (1, 0.2)):
        X, y = problem(n_classes, seed=seed, missing=missing, levels=8)
        w = np.random.default_rng(seed).integers(0, 3, len(y))
        check(X, y, w, name, n_classes, ALL, random=random)


@pytest.mark.parametrize("n_classes", [0, 2, 3])
def test_large_nodes_are_counted_as_small_ones_are_sorted(n_classes):
    X, y = problem(n_classes, n=220, missing=0.1)
    name = "gini" if n_classes else "squared_error"
    check(X, y, np.ones(len(y)), name, n_classes, ForestGrowth(3, 2, 1, 4))


@pytest.mark.parametrize("random", [False, True], ids=["best", "random"])
@pytest.mark.parametrize("n_classes", [0, 2, 3])
def test_categories(n_classes, random):
    X, y = problem(n_classes, missing=0.1, categories=(0, 2))
    name = "gini" if n_classes else "squared_error"
    check(X, y, np.ones(len(y)), name, n_classes, ALL, random=random, categories=(0, 2))


@pytest.mark.parametrize("random", [False, True, "values"], ids=["best", "random", "values"])
@pytest.mark.parametrize("n_classes", [2, 3])
def test_least_rows_and_weight_and_fewer_columns(n_classes, random):
    X, y = problem(n_classes, n=90, missing=0.1)
    w = np.random.default_rng(3).uniform(0.5, 2.0, len(y))
    crit = Criterion(GINI, n_classes, 9.0)
    tree = check(X, y, w, "gini", n_classes, ForestGrowth(5, 12, 4, 2), crit, random)
    assert tree.sums.sum(axis=1).min(initial=9.0) >= 9.0


@pytest.mark.parametrize("random", [True, "values"])
def test_random_places_are_even(random):
    """A column of 0, 1, ..., 9 is cut in each of its nine gaps about as often."""
    X = np.arange(10.0)[:, None]
    y = np.arange(10) % 2
    rule = ForestGrowth(1, 2, 1, 1)
    cuts = [
        grown(X, y, np.ones(10), CRITERIA["gini", 2], 2, rule, random, seed=s)[1].threshold[0]
        for s in range(450)
    ]
    found = np.bincount(np.floor(cuts).astype(int), minlength=9)
    assert ((found - 50.0) ** 2 / 50.0).sum() < 21.0  # chi squared, 8 degrees of freedom: 0.7 %


def test_constant_columns_are_passed_over():
    X, y = problem(2, p=6)
    X[:, :5] = 1.0
    _, tree = grown(X, y, np.ones(len(y)), CRITERIA["gini", 2], 2, ForestGrowth(99, 2, 1, 1))
    assert (tree.link[:, 0] == 5).sum() > 1
    X[:, 5] = 1.0
    _, tree = grown(X, y, np.ones(len(y)), CRITERIA["gini", 2], 2, ForestGrowth(99, 2, 1, 1))
    assert len(tree.link) == 1


def test_a_tree_depends_on_its_seed_alone():
    X, y = problem(3)
    w, rule = np.ones(len(y)), ForestGrowth(99, 2, 1, 2)
    same = [grown(X, y, w, CRITERIA["gini", 3], 3, rule, seed=s)[1] for s in (5, 6, 5)]
    for a, b in zip(same[0], same[2], strict=True):
        assert_array_equal(a, b)
    assert len(same[0].link) != len(same[1].link) or (same[0].link != same[1].link).any()
