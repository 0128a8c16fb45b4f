"""Every node of a grown tree is what the definition asks for, whatever the ties."""

from itertools import pairwise

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from psephos.kernels.small_models.tree import (
    SmallTreeGrowth,
    TreeTable,
    draw,
    grow,
    leaf_of,
    mix,
    room,
)

# NumPy says so where kernels run uncompiled
pytestmark = pytest.mark.filterwarnings("ignore:overflow")

_START = np.uint64(7)


def table_of(X, y):
    values = np.ascontiguousarray(X.T, dtype=np.float64)
    order = np.argsort(values, axis=1, kind="stable").astype(np.uint32)
    return TreeTable(values, order, np.asarray(y, dtype=np.float64))


def grown(X, y, w, rule, columns, state=_START):
    """The tree as (columns at nodes, first children, thresholds, weights, sums)."""
    work, tree = room(len(y), len(columns), rule.n_classes)
    work.mass[:, 0] = w
    columns = np.asarray(columns, dtype=np.int64)
    table = table_of(X, y)
    nodes = grow(
        table,
        rule,
        columns,
        np.uint64(state),
        work,
        tree,
        work.left if rule.n_classes > 2 else None,
    )
    leaves = [leaf_of(table.values, columns, *tree, i) for i in range(len(y))]
    return tree.link[:nodes].copy(), tree.sums[:nodes].copy(), np.array(leaves)


def impurity(y, w, n_classes):
    """Weight times Gini's impurity, or times the variance."""
    if n_classes:
        total = np.array([w[y == k].sum() for k in range(n_classes)])
        return w.sum() - (total**2).sum() / w.sum()
    return (w * (y - np.average(y, weights=w)) ** 2).sum()


def cuts(values, y, w, n_classes, least):
    """All admissible (threshold, fall of the impurity) of one column."""
    levels = np.unique(values)
    for low, high in pairwise(levels):
        left = values <= low
        if min(left.sum(), (~left).sum()) >= least:
            sides = [impurity(y[s], w[s], n_classes) for s in (left, ~left)]
            yield float(low) / 2 + float(high) / 2, impurity(y, w, n_classes) - sum(sides)


def check_tree(X, y, w, rule, columns, state=_START):
    """Follow the rows down the tree and check every node against the definition."""
    link, sums, leaves = grown(X, y, w, rule, columns, state)
    seen = 0

    def visit(node, rows, depth):
        nonlocal seen
        seen += 1
        inside = rows[w[rows] > 0]
        got_y, got_w = y[inside], w[inside]
        assert_allclose(sums[node, 1], got_w.sum(), rtol=1e-12)
        if rule.n_classes == 2:
            assert_allclose(sums[node, 2], got_w[got_y == 1].sum(), rtol=1e-12, atol=1e-12)
        elif rule.n_classes:
            total = [got_w[got_y == k].sum() for k in range(rule.n_classes)]
            assert_allclose(sums[node, 2:], total, rtol=1e-12, atol=1e-12)
        else:
            assert_allclose(sums[node, 2], (got_w * got_y).sum(), rtol=1e-9, atol=1e-9)
        options = [
            list(cuts(X[inside, j], got_y, got_w, rule.n_classes, rule.least)) for j in columns
        ]
        varied = sum(len(np.unique(X[inside, j])) > 1 for j in columns)
        f = link[node, 0]
        if f < 0:
            assert (leaves[rows] == node).all()
            pure = len(np.unique(got_y)) < 2
            assert (
                pure
                or depth == rule.max_depth
                or rule.max_features < len(columns)
                or not any(options)
            )
            assert pure or depth == rule.max_depth or not all(options)
            return
        assert depth < rule.max_depth
        assert len(np.unique(got_y)) > 1
        threshold = sums[node, 0]
        fall = dict(options[f])[threshold]
        if rule.max_features >= varied:
            best = max(value for option in options for _, value in option)
        else:  # the best of its column at least
            best = max(value for _, value in options[f])
        assert fall >= best - 1e-9 * max(impurity(got_y, got_w, rule.n_classes), 1e-300)
        left = X[rows, columns[f]] <= threshold
        first = link[node, 1]
        assert node < first
        visit(first, rows[left], depth + 1)
        visit(first + 1, rows[~left], depth + 1)

    visit(0, np.arange(len(y)), 0)
    assert seen == len(link)


def problem(n_classes, n=40, p=4, seed=0, levels=None):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, p))
    if levels:
        X = np.round(X * levels) / levels
    y = rng.integers(0, n_classes, n) if n_classes else rng.standard_normal(n)
    X[:, 0] += 0.7 * y
    return X, y


@pytest.mark.parametrize("n_classes", [0, 2, 3])
@pytest.mark.parametrize("max_depth", [1, 3, 2**31])
@pytest.mark.parametrize("least", [1, 4])
def test_every_cut_is_the_best_there_is(n_classes, max_depth, least):
    for seed, levels in enumerate((None, 1)):
        X, y = problem(n_classes, seed=seed, levels=levels)
        w = np.random.default_rng(seed).integers(0, 4, len(y)).astype(float)
        columns = [0, 2, 3]
        check_tree(X, y, w, SmallTreeGrowth(n_classes, max_depth, least, 3), columns)
        check_tree(X, y, w + 0.25 * w**2, SmallTreeGrowth(n_classes, max_depth, least, 1), columns)


@pytest.mark.parametrize("n_classes", [0, 2, 3])
def test_degenerate_columns(n_classes):
    X, y = problem(n_classes, n=12)
    X[:, 1] = 5.0  # constant
    X[:, 2] = X[:, 0]
    w = np.ones(12)
    for drawn in (1, 3):
        check_tree(X, y, w, SmallTreeGrowth(n_classes, 9, 1, drawn), [0, 1, 2])
    link, _, _ = grown(X, y, w, SmallTreeGrowth(n_classes, 9, 1, 1), [1])
    assert len(link) == 1
    link, _, _ = grown(X, y, w, SmallTreeGrowth(n_classes, 9, 1, 3), [0, 1, 2])
    assert 2 not in link[:, 0]  # of equals the first
    for rows in (0, 1):  # no row, one row
        few = (np.arange(12) < rows).astype(float)
        link, sums, leaves = grown(X, y, few, SmallTreeGrowth(n_classes, 9, 1, 3), [0, 1, 2])
        assert link[:, 0].tolist() == [-1]
        assert sums[0, 1] == rows
        assert (leaves == 0).all()
    link, sums, _ = grown(X, y, w, SmallTreeGrowth(n_classes, 9, 1, 0), [])
    assert link[:, 0].tolist() == [-1]
    assert sums[0, 1] == 12


def test_equal_cuts_of_a_column():
    """Both cuts leave the same impurity: the lower value wins."""
    X, y = np.array([[1.0], [2.0], [4.0]]), np.array([0, 1, 0])
    link, sums, _ = grown(X, y, np.ones(3), SmallTreeGrowth(2, 1, 1, 1), [0])
    assert link[0].tolist() == [0, 1]
    assert sums[0, 0] == 1.5
    assert_array_equal(sums[1:, 1:], [[1, 0], [2, 1]])


@pytest.mark.parametrize("low", [-1e16, 5e-324, 1.0, 2.0**53, 1.7e308])
def test_neighbours_in_float64_are_told_apart(low):
    high = np.nextafter(low, np.inf)
    X, y = np.array([[low], [high]], dtype=float), np.array([0, 1])
    link, sums, leaves = grown(X, y, np.ones(2), SmallTreeGrowth(2, 9, 1, 1), [0])
    assert len(link) == 3
    assert low <= sums[0, 0] < high
    assert leaves.tolist() == [1, 2]


def test_splitmix():
    """The first numbers of the generator's published sequence for the seed 1234567."""
    state, said = np.uint64(1234567), []
    for _ in range(3):
        state = np.uint64((int(state) + 0x9E3779B97F4A7C15) % 2**64)
        said.append(int(mix(state)))
    assert said == [6457827717110365317, 3203168211198807973, 9817491932198370423]
    after, number = draw(np.uint64(1234567), 1000)
    assert int(number) == (said[0] >> 32) * 1000 >> 32
    assert int(after) == (1234567 + 0x9E3779B97F4A7C15) % 2**64


def test_columns_are_drawn_alike_often():
    """With one column a node, each of three equally good columns is the root equally often."""
    X, y = problem(2, n=20, p=1)
    X = np.repeat(X, 3, axis=1)
    roots = np.zeros(3)
    for k in range(120):
        state = mix(np.uint64(k))
        link, _, _ = grown(X, y, np.ones(20), SmallTreeGrowth(2, 1, 1, 1), [0, 1, 2], state)
        roots[link[0, 0]] += 1
    assert (((roots - 40) ** 2) / 40).sum() < 13.8  # chi-square of 2 degrees, one in a thousand
