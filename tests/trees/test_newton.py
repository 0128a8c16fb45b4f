"""Trees of second-order boosting: exact, binned and proposed anew, against slow twins."""

from dataclasses import replace

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from psephos.kernels.sorted_trees.newton_gain import Penalty
from psephos.trees.newton import TreeLimits, TreeSample, drawn, prune, whole_scales
from psephos.trees.newton_grow import bin_table, grow_binned, grow_exact, proposer, sort_table

F = np.float32
# NumPy says so where kernels run uncompiled
pytestmark = pytest.mark.filterwarnings("ignore:overflow")


def table(seed=0, n=60, p=5, missing=0.1, levels=8):
    """Few values a column, so that bins lose nothing; gradients that sums hold exactly."""
    rng = np.random.default_rng(seed)
    values = rng.integers(0, levels, (p, n)).astype(F)
    values[rng.random((p, n)) < missing] = np.nan
    gh = np.stack([rng.integers(-64, 65, n) / 64, rng.integers(16, 65, n) / 64], axis=1).astype(F)
    return values, gh


def growth(p, depth=3, directions=None, **costs):
    constrained = directions is not None
    given = np.zeros(p, np.int64) if directions is None else np.array(directions)
    return TreeLimits(Penalty(constrained=constrained, **costs), depth, given)


def everything(values):
    p, n = values.shape
    return TreeSample(np.ones(n, bool), np.arange(p), n_features=p)


def worth(pen, gh):
    g, h = gh.astype(float).sum(axis=0)
    return g * g / (h + pen.lam)


def twin_loss(values, gh, rows, pen):
    """Return the greatest gain of any cut of some rows, the missing on either side."""
    best = 0.0
    for x in values:
        known = x[rows][~np.isnan(x[rows])]
        for cut in [*np.unique(known)[1:], np.inf]:
            for side in (False, True):
                left = np.where(np.isnan(x[rows]), side, x[rows] < cut)
                parts = [gh[rows[left]], gh[rows[~left]]]
                if min(part[:, 1].astype(float).sum() for part in parts) < pen.least:
                    continue
                if min(map(len, parts)) == 0:
                    continue
                best = max(best, sum(worth(pen, q) for q in parts) - worth(pen, gh[rows]))
    return best


def rows_of(tree, values):
    """Return the rows that reach each node."""
    rows = {0: np.arange(values.shape[1])}
    for node in range(tree.n_nodes):
        if tree.feature[node] >= 0:
            x = values[tree.feature[node], rows[node]]
            left = np.where(np.isnan(x), tree.missing_left[node], x < tree.threshold[node])
            one = int(tree.first[node])
            rows[one], rows[one + 1] = rows[node][left], rows[node][~left]
    return rows


def grow(method, values, gh, limits, draws=None, n_jobs=None):
    draws = draws or everything(values)
    if method == "exact":
        return grow_exact(sort_table(values), gh, limits, draws, n_jobs)
    if method == "hist":
        return grow_binned(bin_table(values, {}, 256), gh, limits, draws)
    return grow_binned(proposer(values, {}, 256, n_jobs)(gh, draws), gh, limits, draws)


METHODS = ["exact", "hist", "approx"]


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("costs", [{}, {"lam": 0.0, "least": 2.0}, {"least": 0.0, "lam": 3.0}])
@pytest.mark.parametrize("seed", [0, 1])
def test_every_node_splits_best_and_every_leaf_is_the_newton_step(method, costs, seed):
    values, gh = table(seed)
    limits = growth(5, **costs)
    pen = limits.penalty
    tree, position = grow(method, values, gh, limits)
    rows = rows_of(tree, values)
    depth = {0: 0}
    for node in range(tree.n_nodes):
        mine = rows[node]
        inner = tree.feature[node] >= 0
        g, h = gh[mine].astype(float).sum(axis=0)
        assert_allclose(tree.weight[node], -g / (h + pen.lam), rtol=1e-6, atol=1e-7)
        assert_allclose(tree.cover[node], h)
        best = twin_loss(values, gh, mine, pen) if depth[node] < 3 else 0.0
        assert_allclose(tree.loss[node], best, rtol=1e-4, atol=1e-5)
        assert inner == (best > 1e-5)
        if inner:
            one = int(tree.first[node])
            depth[one] = depth[one + 1] = depth[node] + 1
        else:
            assert_array_equal(position[mine], node)


def chosen(tree, best_first, most):
    """Return the nodes of a whole tree that are split when its leaves are limited."""
    waiting, inner = [(0, 0)], []  # (order in which they are made, node)
    made = 1
    while waiting and len(inner) + 1 < most:
        able = [pair for pair in waiting if tree.feature[pair[1]] >= 0]
        if not able:
            break
        best = min(able, key=lambda pair: (-tree.loss[pair[1]] if best_first else 0.0, pair[0]))
        waiting.remove(best)
        inner.append(best[1])
        one = int(tree.first[best[1]])
        waiting += [(made, one), (made + 1, one + 1)]
        made += 2
    return inner


@pytest.mark.parametrize("best_first", [False, True])
@pytest.mark.parametrize("held", [1, 2**23])  # histograms are made again, or kept
@pytest.mark.parametrize("most", [2, 7, 13, 1000])
def test_limited_trees_split_the_chosen_leaves(best_first, held, most, monkeypatch):
    monkeypatch.setattr("psephos.trees.newton_grow._HELD", held)
    values, gh = table(11, n=90)
    limits = growth(5, depth=6, least=0.5)
    whole, _ = grow("hist", values, gh, limits)
    tree, position = grow(
        "hist", values, gh, replace(limits, max_leaves=most, best_first=best_first)
    )
    inner = chosen(whole, best_first, most)
    leaf = np.zeros(90, int)
    for node, rows in rows_of(whole, values).items():
        if node in inner:
            leaf[rows] = 0
            for child in whole.first[node] + np.arange(2):
                leaf[rows_of(whole, values)[child]] = child
    assert tree.n_nodes == 2 * len(inner) + 1
    assert len(set(zip(leaf, position, strict=True))) == len(set(leaf)) == len(set(position))
    assert_array_equal(tree.leaves(values), position)
    assert_allclose(np.sort(tree.loss[tree.feature >= 0]), np.sort(whole.loss[inner]))


@pytest.mark.parametrize("method", ["hist", "approx"])
def test_a_weak_split_is_not_made_on_bins(method):
    values, gh = table(12, n=90)
    free, _ = grow(method, values, gh, growth(5))
    gamma = float(np.median(free.loss[free.feature >= 0]))
    limits = growth(5, gamma=gamma)
    tree, position = grow(method, values, gh, limits)
    rows, whole = rows_of(tree, values), rows_of(free, values)
    assert 1 < tree.n_nodes < free.n_nodes
    for node in range(tree.n_nodes):
        if tree.feature[node] < 0:
            same = [k for k, mine in whole.items() if np.array_equal(mine, rows[node])]
            assert tree.loss[node] == 0
            assert all(free.loss[k] < F(gamma) for k in same)
    assert (tree.loss[tree.feature >= 0] >= F(gamma)).all()
    best, where = grow(method, values, gh, replace(limits, best_first=True))
    assert_array_equal(best.weight[where], tree.weight[position])


@pytest.mark.parametrize("method", METHODS)
def test_left_out_rows_and_columns_are_not_asked(method):
    values, gh = table(3, n=80)
    kept = np.random.default_rng(0).random(80) < 0.6
    draws = TreeSample(kept, np.array([1, 3]), n_features=5)
    tree, position = grow(method, values, gh, growth(5), draws)
    assert set(tree.feature.tolist()) <= {-1, 1, 3}
    noisy = gh.copy()
    noisy[~kept] = 9.0
    again, _ = grow(method, values, noisy, growth(5), draws)
    assert_array_equal(again.feature, tree.feature)
    assert_array_equal(again.weight, tree.weight)
    assert_array_equal(tree.leaves(values), position)


@pytest.mark.parametrize("method", METHODS)
def test_columns_are_drawn_by_level_and_node(method):
    values, gh = table(4, p=8, n=90)

    def tree_of(seed):
        rng = np.random.default_rng(seed)
        draws = TreeSample(np.ones(90, bool), np.arange(8), 0.5, 0.5, rng, 8)
        return grow(method, values, gh, growth(8), draws)[0]

    assert_array_equal(tree_of(0).feature, tree_of(0).feature)
    assert len({tuple(tree_of(seed).feature) for seed in range(6)}) > 1
    assert_array_equal(drawn(np.random.default_rng(0), np.arange(9), 0.01).shape, [1])


@pytest.mark.parametrize("method", METHODS)
def test_directions_hold(method):
    rng = np.random.default_rng(0)
    values = rng.standard_normal((2, 300)).astype(F)
    target = values[0] + np.sin(3 * values[1]) + 0.5 * rng.standard_normal(300)
    gh = np.stack([-target, np.ones(300)], axis=1).astype(F)
    tree, _ = grow(method, values, gh, growth(2, 5, directions=[1, -1]))
    line = np.linspace(-3, 3, 200, dtype=F)
    for other in (-1, 0, 1):
        rising = np.stack([line, np.full(200, other, F)])
        falling = np.stack([np.full(200, other, F), line])
        assert (np.diff(tree.weight[tree.leaves(rising)]) >= 0).all()
        assert (np.diff(tree.weight[tree.leaves(falling)]) <= 0).all()
    free, _ = grow(method, values, gh, growth(2, 5))
    assert (np.diff(free.weight[free.leaves(rising)]) < 0).any()


@pytest.mark.parametrize("method", METHODS)
def test_threads_change_nothing(method):
    values, gh = table(5, n=64, p=40, levels=50)
    one, two = (grow(method, values, gh, growth(40), n_jobs=jobs)[0] for jobs in (None, 2))
    for name in ("feature", "threshold", "missing_left", "first", "loss", "weight"):
        assert_array_equal(getattr(one, name), getattr(two, name))


def test_many_blocks_of_columns_keep_the_lowest_of_equals(monkeypatch):
    values, gh = table(6, p=13)
    values[9] = values[2]
    values[12] = values[2]
    whole, _ = grow("exact", values, gh, growth(13))
    monkeypatch.setattr("psephos.trees.newton_grow._BLOCK", 1)
    parts, _ = grow("exact", values, gh, growth(13))
    assert_array_equal(whole.feature, parts.feature)
    assert_array_equal(whole.threshold, parts.threshold)
    assert not {9, 12} & set(whole.feature.tolist())


def test_pruning_undoes_weak_splits_from_below():
    values, gh = table(7)
    tree, position = grow("exact", values, gh, growth(5, 4, least=0.0))
    gamma = float(np.median(tree.loss[tree.feature >= 0]))
    before = tree.feature.copy()
    own = prune(tree, gamma)
    for node in range(tree.n_nodes):
        if before[node] >= 0:
            pair = tree.first[node] + np.arange(2)
            weak = (tree.feature[pair] < 0).all() and tree.loss[node] < F(gamma)
            assert (tree.feature[node] < 0) == weak
    assert_array_equal(own[position], tree.leaves(values))
    tree.answer = tree.weight
    small = tree.compact()
    assert small.n_nodes == 2 * int((small.feature >= 0).sum()) + 1 < tree.n_nodes
    assert_array_equal(small.weight[small.leaves(values)], tree.weight[tree.leaves(values)])


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("n", [1, 2])
def test_tables_with_nothing_to_cut(method, n):
    values = np.stack([np.full(n, 2.0), np.full(n, np.nan)]).astype(F)
    tree, position = grow(method, values, np.ones((n, 2), F), growth(2, least=0.0))
    assert tree.n_nodes == 1
    assert_array_equal(position, np.zeros(n))


def categories(method, values, gh, n_codes, limits):
    draws = everything(values)
    if method == "exact":
        return grow_exact(sort_table(values, n_codes), gh, limits, draws)
    if method == "hist":
        return grow_binned(bin_table(values, n_codes, 256), gh, limits, draws)
    return grow_binned(proposer(values, n_codes, 256, None)(gh, draws), gh, limits, draws)


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("size", [7, 300])
def test_categories_are_divided_along_their_mean_gradients(method, size):
    rng = np.random.default_rng(0)
    n = 900
    code = rng.integers(0, size, n).astype(F)
    code[:30] = np.nan
    effect = rng.permutation(np.where(np.arange(size) < size // 2, 1.0, -1.0))
    gradient = np.where(np.isnan(code), -1.0, effect[np.nan_to_num(code).astype(int)])
    values = np.stack([rng.standard_normal(n), code]).astype(F)
    gh = np.stack([gradient, np.ones(n)], axis=1).astype(F)
    tree, position = categories(method, values, gh, {1: size}, growth(2, 1))
    assert tree.feature[0] == 1
    seen = np.unique(code[~np.isnan(code)]).astype(int)
    if size == 7 or method == "exact":  # the others share a byte between rare ones
        assert len(set(tree.sets[0][seen] == (effect[seen] > 0))) == 1
        assert_allclose(np.abs(tree.weight[1:]), 1, atol=0.01)
    assert_array_equal(tree.leaves(values), position)


def test_whole_numbers_stay_below_two_to_the_thirty():
    gh = np.array([[1e-30, 1e-30], [-3e20, 5.0]])
    for lam in (0.0, 1.0, 1e30):
        scale = whole_scales(gh, np.ones(2, bool), Penalty(lam=lam))
        assert (np.abs(gh).sum(axis=0) * scale <= 2**30).all()
        assert lam * scale[1] <= 2**41
        assert [np.frexp(factor)[0] for factor in scale] == [0.5, 0.5]  # powers of two
