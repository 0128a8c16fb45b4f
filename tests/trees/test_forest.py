"""A forest's trees: routed, counted and told as they were grown."""

import importlib.util
from pathlib import Path

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from psephos.kernels.binned_trees.forest_grow import ForestGrowth
from psephos.trees.forest import Bootstraps, ForestRows, grow_forest

_spec = importlib.util.spec_from_file_location(
    "forest_twin", Path(__file__).parent.parent / "kernels" / "binned_trees" / "forest_twin.py"
)
twin = importlib.util.module_from_spec(_spec)
_spec.loader.exec_module(twin)

# NumPy says so where kernels run uncompiled
pytestmark = pytest.mark.filterwarnings("ignore:overflow", "ignore:invalid value")

SEEDS = np.array([3, 2**63 + 1, 9], np.uint64)


def forest(n_classes, n_jobs=None, random=False, categories=(1,), criterion=None):
    rng = np.random.default_rng(0)
    X = np.round(rng.standard_normal((60, 3)), 1)
    X[:, 1] = rng.integers(0, 6, 60)
    X[rng.random(X.shape) < 0.1] = np.nan
    y = rng.integers(0, n_classes, 60) if n_classes else np.abs(X[:, 0]).round(1)
    y = np.nan_to_num(y)
    rows = ForestRows.of(X, dict.fromkeys(categories, 6), y, np.ones(60), 255, n_jobs)
    draws = Bootstraps(rows.mass, 60)
    criterion = criterion or ("gini" if n_classes else "squared_error")
    rule = ForestGrowth(99, 2, 1, 2)
    found = grow_forest(rows, n_classes, criterion, rule, SEEDS, draws, n_jobs, 0.0, random)
    return X, y, rows, draws, found


def leaf_of(nodes, tree, x):
    node = nodes.root[tree]
    while nodes.column[node] >= 0:
        value = x[nodes.column[node]]
        start, end = 0, 0
        if len(nodes.category_ptr):
            start, end = nodes.category_ptr[node], nodes.category_ptr[node + 1]
        if np.isnan(value):
            left = nodes.missing_left[node]
        elif end > start:
            left = nodes.category_left[start + int(value)]
        else:
            left = value <= nodes.threshold[node]
        node = nodes.first[node] if left else nodes.second[node]
    return node


@pytest.mark.parametrize("random", [False, True], ids=["best", "random"])
@pytest.mark.parametrize("n_classes", [0, 2, 3])
def test_leaves_hold_the_answers_of_their_rows(n_classes, random):
    X, _, rows, draws, found = forest(n_classes, random=random)
    nodes = found.nodes()
    assert (np.isnan(nodes.threshold) == ((nodes.column < 0) | (nodes.column == 1))).all()
    answers = found.answers()
    assert ((nodes.answer < 0) == (nodes.column >= 0)).all()
    assert nodes.answer.max() == len(answers) - 1
    for t, seed in enumerate(SEEDS):
        count = draws.counts(seed)
        ends = nodes.answer[np.array([leaf_of(nodes, t, x) for x in X])]
        assert (ends >= 0).all()
        for leaf in np.unique(ends):  # all of one class, or one leaf
            groups = np.unique(rows.group[ends == leaf])
            inside = groups[count[groups] > 0]
            if len(inside) == 0:
                continue
            said = rows.y[inside].astype(float)
            if n_classes:
                weights = [count[inside][said == k].sum() for k in range(n_classes)]
                expected = np.array(weights) / sum(weights)
            else:
                expected = np.average(said, weights=count[inside])
            assert_allclose(answers[leaf], np.atleast_1d(expected), atol=1e-12)


def test_threads_change_nothing():
    for random in (False, True):
        one, two = (forest(3, n_jobs=j, random=random)[-1].nodes() for j in (1, 3))
        for name in ("root", "column", "threshold", "missing_left", "first", "category_left"):
            assert_array_equal(getattr(one, name), getattr(two, name))


def test_importance_is_the_share_of_the_decrease():
    *_, found = forest(2)
    total = np.zeros(3)
    for tree in found.trees:
        worth = np.zeros(3)
        for node in np.flatnonzero(tree.link[:, 0] >= 0):
            worth[tree.link[node, 0]] += tree.gain[node]
        total += worth / worth.sum()
    assert_allclose(found.impurity_importance(), total / 3, atol=1e-12)


@pytest.mark.parametrize(
    ("name", "n_classes"), [("entropy", 2), ("entropy", 3), ("squared_error", 0)]
)
def test_every_criterion_grows_to_the_end(name, n_classes):
    *_, found = forest(n_classes, criterion=name)
    assert all(len(tree.link) > 10 for tree in found.trees)


def test_no_category_means_no_set():
    *_, found = forest(2, categories=())
    assert len(found.nodes().category_ptr) == len(found.nodes().category_left) == 0


@pytest.mark.parametrize("random", [False, True], ids=["best", "random"])
@pytest.mark.parametrize("weights", ["drawn", "whole", "real"])
@pytest.mark.parametrize("n_classes", [0, 2, 3])
def test_limits_count_a_row_as_often_as_it_is_there(n_classes, weights, random):
    rng = np.random.default_rng(n_classes)
    X = rng.integers(0, 3, (120, 3)).astype(float)
    X[rng.random(X.shape) < 0.1] = np.nan
    y = np.nan_to_num(X[:, 0]) + rng.integers(0, 2, 120)
    y = y if n_classes == 0 else (y % n_classes).astype(int)
    w = rng.integers(1, 4, 120).astype(float) if weights != "real" else rng.uniform(0.5, 2.0, 120)
    rows = ForestRows.of(X, {}, y, w, 255, None, counted=weights == "real")
    draws = Bootstraps(rows.mass, 150) if weights == "drawn" else None
    criterion, rule = "gini" if n_classes else "squared_error", ForestGrowth(99, 14, 5, 3)
    found = grow_forest(rows, n_classes, criterion, rule, SEEDS, draws, None, 0.0, random)
    for t, seed in enumerate(SEEDS):
        number = {"drawn": lambda s=seed: draws.counts(s), "whole": lambda: rows.mass}
        copies = number.get(weights, lambda: np.ones(len(rows.mass)))().astype(int)
        every = np.repeat(np.arange(len(copies)), copies)
        assert len(every) > 100
        mass = rows.mass[every] if weights == "real" else np.ones(len(every))
        table = rows.bins.codes[:, rows.first[every]], rows.bins.n_bins, rows.y[every], mass
        assert twin.obeys(found.trees[t], *table, criterion, n_classes, 14, 5, random)
        assert len(found.trees[t].link) > 5
        assert not twin.obeys(found.trees[t], *table, criterion, n_classes, 99, 5, random)


def test_rows_stay_apart_where_weights_do_not_count_them():
    X, y, w = np.ones((4, 1)), np.zeros(4, int), np.array([1.0, 2.0, 3.0, 2.0])
    assert ForestRows.of(X, {}, y, w, 255, None, counted=True).mass.tolist() == [8.0]
    assert ForestRows.of(X, {}, y, w / 4.0, 255, None).mass.tolist() == [2.0]
    apart = ForestRows.of(X, {}, y, w / 4.0, 255, None, counted=True)
    assert apart.mass.tolist() == [0.25, 0.5, 0.5, 0.75]  # not in the order of the table
    assert apart.group.tolist() in ([0, 1, 3, 2], [0, 2, 3, 1])
    assert (apart.number, apart.counts) == (4.0, False)
    many = ForestRows.of(X, {}, y, w * 2.0**31, 255, None)
    assert (many.number, many.counts) == (2.0**34, False)


FORMS = {
    "numbers": lambda X: X,
    "ties": np.round,
    "gaps": lambda X: np.where(np.sin(40.0 * X) < -0.7, np.nan, X),
    "constant": lambda X: np.where(np.arange(X.shape[1]) % 3 > 0, 1.0, X),
    "neighbours": lambda X: 1.0 + np.round(X) * 2.0**-52,
    "huge": lambda X: X * 5e307,
}


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize(
    ("criterion", "n_classes"),
    [("gini", 2), ("gini", 3), ("entropy", 2), ("entropy", 3), ("squared_error", 0)],
)  # fmt: skip
def test_values_and_bins_of_each_value_grow_the_same_trees(criterion, n_classes, form):
    rng = np.random.default_rng(n_classes)
    X = FORMS[form](rng.standard_normal((64, 80)))
    X[7] = X[3]
    y = rng.integers(0, n_classes or 9, 64)
    y[7] = y[3]
    # Sums of these, and their mean, are exact: rows may be added in any order.
    uneven = np.tile([0.5, 1.5], 32) if n_classes else np.ones(64)
    for w, rule in ((np.ones(64), ForestGrowth(99, 2, 1, 8)), (uneven, ForestGrowth(4, 8, 3, 8))):
        both = [
            ForestRows.of(X, {}, y / 4.0 if n_classes == 0 else y, w, 255, None, unbinned=unbinned)
            for unbinned in (False, True)
        ]
        assert len(both[1].mass) == 63
        binned, found = (
            grow_forest(rows, n_classes, criterion, rule, SEEDS, None, None, 0.05, True)
            for rows in both
        )
        assert_allclose(found.answers(), binned.answers(), rtol=1e-14)
        for name, told in vars(binned.nodes()).items():
            assert_array_equal(getattr(found.nodes(), name), told)


def test_values_are_read_in_any_layout_and_order_of_rows():
    rng = np.random.default_rng(0)
    X, y = rng.standard_normal((150, 200)).astype(np.float32), rng.standard_normal(150)
    order = rng.permutation(150)
    forms = (X, y), (np.asfortranarray(X), y), (np.repeat(X, 2, axis=1)[:, ::2], y)
    told = []
    for values, answers in (*forms, (X[order], y[order])):
        before = values.copy()
        for n_jobs in (1, 3):
            rows = ForestRows.of(values, {}, answers, np.ones(150), 255, n_jobs, unbinned=True)
            rule = ForestGrowth(99, 2, 1, 20)
            found = grow_forest(rows, 0, "squared_error", rule, SEEDS, None, n_jobs, 0.0, True)
            assert_array_equal(values, before)
            told.append(b"".join(part.tobytes() for part in vars(found.nodes()).values()))
    assert len(set(told)) == 1
