"""C4.5's windows: against their description, and what must hold of any window."""

import importlib.util
from dataclasses import fields
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal

from psephos.trees.c45 import C45Options, grow_c45
from psephos.trees.c45_windows import first_window, grow_windowed

_SPEC = importlib.util.spec_from_file_location(
    "c45_windows_cases", Path(__file__).with_name("test_c45.py")
)
cases = importlib.util.module_from_spec(_SPEC)
_SPEC.loader.exec_module(cases)
twin, tables, OPTIONS, same = cases.twin, cases.tables, cases.OPTIONS, cases.same

SIZES = st.one_of(st.none(), st.integers(1, 12))


def draws(seed, trials=1):
    return [np.random.default_rng([seed, t]) for t in range(trials)]


def equal(one, other):
    """Assert that two trees are the same bytes."""
    for field in fields(one):
        if field.name != "surrogates":
            a, b = getattr(one, field.name), getattr(other, field.name)
            assert np.asarray(a).tobytes() == np.asarray(b).tobytes(), field.name


# ---------------------------------------------------------------------- the twin
def shares_of(tree, node, i, above=None):
    """What the twin's tree tells row i."""
    own = node.counts / node.counts.sum() if node.counts.sum() > 0 else above
    if not node.children:
        return own
    b = tree.branch(node, i)
    if b >= 0:
        return shares_of(tree, node.children[b], i, own)
    entered = [(s, c) for s, c in zip(node.shares, node.children, strict=True) if s > 0]
    return sum(s * shares_of(tree, c, i, own) for s, c in entered)


def windowed_twin(table, options, trials, size, increment):
    """The tree of the trials, read as chapter and docstring say."""
    _, y, weight, k, _ = table
    n = len(y)
    size = min(n, size or max(n // 5, int(2 * np.sqrt(n))))
    increment = increment or max(size // 5, 1)
    tree = twin.Twin(*table, **options)
    best = None
    for generator in trials:
        window, waiting = [], list(generator.permutation(n))
        while len(window) < size:
            turn = []
            for a in range(k):
                turn += [i for i in waiting if y[i] == a][:1]
            turn.sort(key=waiting.index)
            waiting = [i for i in waiting if i not in turn]
            window += turn
        window = sorted(window[:size])
        kept = None
        while True:
            root = tree.grow([(i, weight[i]) for i in window])
            if tree.collapse:
                tree.collapsed(root)
            said = [shares_of(tree, root, i) for i in range(n)]
            wrong = [
                i for i in range(n) if np.flatnonzero(said[i] >= said[i].max() - 1e-6)[0] != y[i]
            ]
            errors = sum(weight[i] for i in wrong)
            if kept is not None and errors > kept[0] - 1e-6:
                break
            kept = errors, root
            outside = [i for i in wrong if i not in window]
            if not outside:
                break
            number = max(increment, -(-len(outside) // 2))
            window = sorted([*window, *generator.permutation(outside)[:number]])
        rows = list(enumerate(weight))
        tree.recount(kept[1], rows)
        if tree.pruning:
            tree.prune(kept[1], rows)
        estimate = sum(tree.errors(leaf.counts) for leaf in kept[1].leaves())
        if best is None or estimate < best[0] - 1e-6:
            best = estimate, kept[1]
    return best[1]


@settings(max_examples=80)
@given(tables(), OPTIONS, SIZES, SIZES, st.integers(1, 3))
def test_tree_is_the_twins(table, options, size, increment, trials):
    tree = grow_windowed(*table, C45Options(**options), draws(7, trials), size, increment)
    same(tree, windowed_twin(table, options, draws(7, trials), size, increment))


# ---------------------------------------------------------------------- the window
@settings(max_examples=60)
@given(st.integers(0, 2**32 - 1), st.integers(1, 60), st.integers(1, 5))
def test_classes_of_a_window_are_as_even_as_can_be(seed, n, k):
    rng = np.random.default_rng(seed)
    y, size = rng.choice(k, n, p=rng.dirichlet(np.ones(k))), int(rng.integers(1, n + 1))
    window = first_window(y, size, rng)
    assert_array_equal(window, np.unique(window))
    assert len(window) == size
    held, there = np.bincount(y[window], minlength=k), np.bincount(y, minlength=k)
    fewest = held[held < there].min(initial=n)  # where rows are left no class has two rows less
    assert held.max() <= fewest + 1


def test_every_row_may_be_drawn():
    y = np.repeat([0, 1], [30, 6])
    rng = np.random.default_rng(0)
    times = sum(np.bincount(first_window(y, 12, rng), minlength=36) for _ in range(300))
    assert_allclose(times[30:], 300)
    assert times[:30].min() > 30
    assert times[:30].max() < 100


# ---------------------------------------------------------------------- any window
KINDS = {"j48": {}, "c45": {"release": "c45"}, "groups": {"release": "c45", "grouped": True}}


@settings(max_examples=90)
@given(tables(), st.sampled_from(sorted(KINDS)), st.booleans(), st.booleans())
def test_a_window_of_all_rows_is_no_window(table, kind, pruning, actual):
    options = C45Options(pruning=pruning, actual_split_value=actual, **KINDS[kind])
    found = list(table[4])
    plain = grow_c45(*table, options, found)
    equal(grow_windowed(*table, options, draws(0, 2), len(table[1]), 1, found), plain)
    equal(grow_windowed(*table, options, draws(0), 10**6, None, found), plain)


@settings(max_examples=90)
@given(tables(), st.sampled_from(sorted(KINDS)), st.booleans(), SIZES, SIZES)
def test_windowed_tree_is_sound(table, kind, pruning, size, increment):
    """It counts all rows, whatever the window was; the same seed gives the same bytes."""
    X, y, w, k, n_codes = table
    options = C45Options(pruning=pruning, least=1.0, **KINDS[kind])
    tree = grow_windowed(*table, options, draws(3, 2), size, increment)
    equal(tree, grow_windowed(*table, options, draws(3, 2), size, increment))
    assert_allclose(tree.counts[0], np.bincount(y, w, k))
    assert_allclose(tree.value.sum(axis=1), 1)
    for node in np.flatnonzero(tree.n_children):
        children = tree.children(node)
        assert (children > node).all()
        assert_allclose(tree.share[children].sum(), 1)
        assert_allclose(tree.counts[children].sum(axis=0), tree.counts[node], atol=1e-4)
        if tree.column[node] not in n_codes:
            assert tree.threshold[node] in X[:, tree.column[node]]


@pytest.mark.parametrize("kind", KINDS)
def test_classes_and_categories_the_window_lacks(kind):
    """Three rare classes and a rare category; one row in the first window, one more a cycle."""
    rng = np.random.default_rng(0)
    X = np.column_stack([rng.integers(0, 3, 120), rng.standard_normal(120)]).astype(float)
    y = (X[:, 1] > 0).astype(np.intp)
    X[:3, 0], y[:3] = 3, [2, 3, 4]
    options = C45Options(pruning=False, least=1.0, **KINDS[kind])
    tree = grow_windowed(X, y, np.ones(120), 6, {0: 5}, options, draws(0), 1, 1, [0])
    assert_array_equal(tree.counts[0], [*np.bincount(y), 0])
    assert (tree.answers(X)[3:, 0].argmax(axis=1) == y[3:]).all()
    left = tree.code_branch[tree.code_ptr[0] : tree.code_ptr[1]]
    assert len(left) in (0, 5)


def test_a_clean_rule_needs_few_of_the_rows():
    """Rows that tell nothing new stay outside; the tree is right on all."""
    rng = np.random.default_rng(1)
    X = rng.random((2000, 4))
    y = (X[:, 0] > 0.4) & (X[:, 2] > 0.6)
    tree = grow_windowed(X, y * 1, np.ones(2000), 2, {}, C45Options(), draws(0, 5), 60)
    assert ((tree.answers(X)[:, 0, 1] > 0.5) == y).mean() > 0.995
    assert tree.counts[0].sum() == 2000


def test_the_best_of_more_trials_is_no_worse():
    """The pessimistic errors of the tree kept do not rise with the number of trials."""
    from psephos.kernels.sorted_trees.c45_prune import added_errors

    rng = np.random.default_rng(2)
    X = rng.random((300, 5))
    y = ((X[:, 0] > 0.4) ^ (rng.random(300) < 0.2)) * 1
    options = C45Options()

    def errors(trials):
        tree = grow_windowed(X, y, np.ones(300), 2, {}, options, draws(4, trials))
        counts = tree.counts[tree.n_children == 0]
        n = counts.sum(axis=1)
        e = n - counts.max(axis=1)
        return sum(b + added_errors(a, b, options.limit()) for a, b in zip(n, e, strict=True) if a)

    found = [errors(trials) for trials in (1, 2, 4, 8)]
    assert (np.diff(found) <= 1e-6).all()
    assert found[-1] < found[0]


@pytest.mark.parametrize("release", ["j48", "c45"])
@pytest.mark.parametrize(
    "X",
    [np.full((9, 2), np.nan), np.ones((9, 2)), np.full((1, 3), 7.0), np.arange(9.0)[:, None]],
    ids=["nothing known", "constant", "one row", "numbers"],
)
def test_poor_tables(X, release):
    y = (np.arange(len(X)) > 4).astype(np.intp)
    options = C45Options(release=release)
    for size in (None, 1, 3):
        tree = grow_windowed(X, y, np.ones(len(X)), 2, {}, options, draws(0, 2), size, 1)
        assert tree.counts[0].sum() == len(X)
        assert tree.n_leaves <= (2 if X[0, 0] == 0 else 1)
