"""C4.5's tree: the compiled engine against its description, and tables that try it."""

import importlib.util
from pathlib import Path

import numba
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal

from psephos.trees.c45 import C45Options, c45_text, grow_c45

_SPEC = importlib.util.spec_from_file_location("c45_twin", Path(__file__).with_name("c45_twin.py"))
twin = importlib.util.module_from_spec(_SPEC)
_SPEC.loader.exec_module(twin)

RELEASES = ("j48", "c45")


def same(tree, node, at=0):
    """Assert that a tree is the twin's below a node."""
    assert_allclose(tree.counts[at], node.counts, atol=1e-8)
    assert tree.n_children[at] == len(node.children)
    if node.children:
        assert tree.column[at] == node.column
        assert_array_equal(tree.threshold[at], node.threshold)
        for child, inner in zip(tree.children(at), node.children, strict=True):
            same(tree, inner, child)


@st.composite
def tables(draw):
    """Tables of numbers with ties, of categories not all of which occur, and of gaps."""
    n, p = draw(st.integers(1, 40)), draw(st.integers(1, 4))
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    k = draw(st.integers(2, 3))
    n_codes = {j: int(rng.integers(1, 6)) for j in range(p) if rng.random() < 0.5}
    X = np.round(rng.standard_normal((n, p)) * 2) / draw(st.sampled_from([1, 4]))
    for j, codes in n_codes.items():
        X[:, j] = rng.integers(0, codes, n)
    signal = np.nan_to_num(X[:, 0]) + 0.7 * rng.standard_normal(n) > 0
    y = np.where(rng.random(n) < 0.7, signal, rng.integers(0, k, n))
    X[rng.random((n, p)) < draw(st.sampled_from([0.0, 0.2, 0.6]))] = np.nan
    weights = st.sampled_from([np.ones(n), rng.integers(1, 4, n) * 1.0, rng.uniform(0.3, 3, n)])
    return X, y.astype(np.intp), draw(weights), k, n_codes


OPTIONS = st.fixed_dictionaries(
    {
        "least": st.sampled_from([1.0, 2.0, 3.5]),
        "confidence": st.sampled_from([0.05, 0.25, 0.5, 0.6]),
        "gap": st.sampled_from([0.0, 1e-5, 0.3]),
        "pruning": st.booleans(),
        "by_gain": st.booleans(),
    }
)


@settings(max_examples=150)
@given(tables(), OPTIONS)
def test_tree_is_the_twins(table, options):
    same(grow_c45(*table, C45Options(**options)), twin.Twin(*table, **options).tree())


@settings(max_examples=40)
@given(tables(), st.sampled_from(RELEASES), st.booleans())
def test_weight_two_is_the_row_twice(table, release, by_gain):
    X, y, _, k, n_codes = table
    copies = np.random.default_rng(len(y)).integers(1, 4, len(y))
    twice = np.repeat(np.arange(len(y)), copies)
    options = C45Options(release=release, by_gain=by_gain)
    one = grow_c45(X, y, copies * 1.0, k, n_codes, options)
    many = grow_c45(X[twice], y[twice], np.ones(len(twice)), k, n_codes, options)
    assert_array_equal(one.column, many.column)
    assert_allclose(one.threshold, many.threshold)
    assert_allclose(one.counts, many.counts, atol=1e-9)


@settings(max_examples=90)
@given(tables(), st.sampled_from(RELEASES))
def test_tree_is_sound(table, release):
    X, y, w, k, n_codes = table
    options = C45Options(release=release)
    tree = grow_c45(X, y, w, k, n_codes, options)
    assert_allclose(tree.counts[0], np.bincount(y, w, k))
    assert_allclose(tree.value.sum(axis=1), 1)
    for node in np.flatnonzero(tree.n_children):
        children = tree.children(node)
        assert (children > node).all()
        assert_allclose(tree.share[children].sum(), 1)
        assert_allclose(tree.counts[children].sum(axis=0), tree.counts[node], atol=1e-4)
        assert (tree.counts[children].sum(axis=1) >= 2 - 1e-5).sum() >= (release == "j48")


@settings(max_examples=40)
@given(tables(), st.sampled_from(RELEASES))
def test_codes_nobody_declared_are_those_of_the_rows(table, release):
    """Empty codes between the others change nothing but their names."""
    X, y, w, k, n_codes = table
    options = C45Options(release=release)
    apart, dense, sizes = X.copy(), X.copy(), {}
    for j in n_codes:
        held = np.unique(X[~np.isnan(X[:, j]), j])
        dense[:, j] = np.where(np.isnan(X[:, j]), np.nan, np.searchsorted(held, X[:, j]))
        apart[:, j], sizes[j] = 2 * dense[:, j] + 1, max(len(held), 1)
    wide = {j: 2 * size + 3 for j, size in sizes.items()}
    one = grow_c45(dense, y, w, k, sizes, options)
    many = grow_c45(np.asfortranarray(apart), y, w, k, wide, options, list(wide))
    assert_array_equal(one.column, many.column)
    assert_allclose(one.counts, many.counts)
    for node in np.flatnonzero(np.diff(one.code_ptr)):
        codes = one.code_branch[one.code_ptr[node] : one.code_ptr[node + 1]]
        others = many.code_branch[many.code_ptr[node] : many.code_ptr[node + 1]]
        assert_array_equal(others[1 : 2 * len(codes) : 2], codes)
        assert (np.delete(others, np.arange(1, 2 * len(codes), 2)) == -1).all()


def test_gain_prefers_many_branches():
    """A column like an identifier has the greatest gain; its ratio is poor."""
    n = 60
    y = (np.arange(n) % 2).astype(np.intp)
    X = np.column_stack([np.arange(n) // 3, np.where(np.arange(n) % 6 == 0, 1 - y, y)]) * 1.0
    X[:, 0] = np.arange(n) // 4 * 2 + y
    n_codes = {0: 30, 1: 2}
    options = {"release": "c45", "pruning": False}
    assert grow_c45(X, y, np.ones(n), 2, n_codes, C45Options(**options)).column[0] == 1
    gain = grow_c45(X, y, np.ones(n), 2, n_codes, C45Options(by_gain=True, **options))
    assert gain.column[0] == 0
    assert gain.n_leaves == 30


@pytest.mark.parametrize("release", RELEASES)
def test_shares_that_are_as_good_as_nothing(release):
    """Rows of so little weight that a share of it is none are not counted as codes."""
    rng = np.random.default_rng(0)
    n = 200
    X = rng.integers(0, 3, (n, 6)).astype(float)
    y = rng.integers(0, 2, n)
    w = np.where(np.arange(n) < 100, 1.0, 5e-324)
    X[100:, :5] = np.nan
    options = C45Options(release=release, pruning=False, least=1.0)
    tree = grow_c45(X, y, w, 2, dict.fromkeys(range(6), 3), options)
    assert_allclose(tree.counts[tree.n_children == 0].sum(), 100, atol=1e-3)


@pytest.mark.parametrize("release", RELEASES)
@pytest.mark.parametrize(
    "X",
    [
        np.full((9, 2), np.nan),
        np.ones((9, 2)),
        np.full((1, 3), 7.0),
        np.column_stack([np.arange(9.0), np.full(9, np.nan), np.ones(9)]),
    ],
    ids=["nothing known", "constant", "one row", "one column of use"],
)
def test_poor_tables(X, release):
    y = (np.arange(len(X)) > 4).astype(np.intp)
    tree = grow_c45(X, y, np.ones(len(X)), 2, {}, C45Options(release=release))
    assert tree.n_leaves == (2 if X[0, 0] == 0 else 1)


@pytest.mark.parametrize("release", RELEASES)
def test_nearly_all_weight_on_one_row(release):
    X, y = np.arange(30.0)[:, None], np.arange(30) % 2
    w = np.full(30, 1e-9)
    w[7] = 1e9
    tree = grow_c45(X, y, w, 2, {}, C45Options(release=release))
    assert tree.n_leaves == 1
    assert tree.value[0].argmax() == 1


@pytest.mark.parametrize("release", RELEASES)
def test_rows_that_miss_nearly_everything(release, random_seed):
    rng = np.random.default_rng(random_seed)
    X = rng.standard_normal((120, 5))
    y = (X[:, :3].sum(axis=1) > 0).astype(np.intp)
    X[rng.random(X.shape) < 0.8] = np.nan
    options = C45Options(release=release, pruning=False)
    tree = grow_c45(X, y, np.ones(120), 2, {}, options)
    assert tree.n_leaves > 2
    assert_allclose(tree.counts[tree.n_children == 0].sum(), 120, atol=1e-3)


def test_many_categories():
    """1e5 categories: a column like an identifier is not split on, nor does it cost."""
    n = 2000
    rng = np.random.default_rng(0)
    codes = rng.integers(0, 100_000, n).astype(float)
    X = np.column_stack([codes, rng.standard_normal(n)])
    y = (X[:, 1] > 0.3).astype(np.intp)
    tree = grow_c45(X, y, np.ones(n), 2, {0: 100_000}, C45Options())
    assert_array_equal(tree.columns, [1])
    alone = grow_c45(X[:, :1] % 50 + 99_950, y, np.ones(n), 2, {0: 100_000}, C45Options())
    assert alone.n_leaves in (1, 100_000)
    unpruned = C45Options(pruning=False)
    codes = (rng.integers(0, 100, n) + 99_900).astype(float)[:, None]
    wide = grow_c45(codes, (codes[:, 0] % 2).astype(np.intp), np.ones(n), 2, {0: 100_000}, unpruned)
    assert wide.n_leaves == 100_000
    assert (wide.counts.sum(axis=1) > 0).sum() == 101


def test_many_columns():
    rng = np.random.default_rng(0)
    y = np.arange(20) % 2
    p = 2_000 if numba.config.DISABLE_JIT else 100_000  # as plain Python it takes its time
    X = rng.standard_normal((20, p))
    X[:, p // 2] = y
    tree = grow_c45(X, y, np.ones(20), 2, {}, C45Options())
    assert tree.n_leaves == 2


def test_long_chain():
    """A tree as deep as it is large needs no deep stack."""
    n = 120 if numba.config.DISABLE_JIT else 400
    X, w = np.arange(n, dtype=float)[:, None], 1.1 ** np.arange(n)
    y = (np.arange(n) % 2).astype(np.intp)
    tree = grow_c45(X, y, w, 2, {}, C45Options(least=1, pruning=False))
    assert tree.depth >= n // 2
    assert grow_c45(X, y, w, 2, {}, C45Options(least=1)).n_leaves <= tree.n_leaves


def test_text():
    codes = np.repeat([0.0, 1.0, 2.0], 8)
    number = np.tile([1.0, 1.0, 1.0, 1.0, 2.5, 2.5, 2.5, 2.5], 3)
    y = np.where(codes == 1, number > 2, codes == 2).astype(np.intp)
    X = np.column_stack([codes, number])
    words = (["kind", "size"], {0: ["a", "b", "c", "d"]}, ["no", "yes"])
    tree = grow_c45(X, y, np.ones(24), 2, {0: 4}, C45Options())
    assert c45_text(tree, *words).splitlines() == [
        "kind = a: no (8.0)",
        "kind = b",
        "|   size <= 1: no (4.0)",
        "|   size > 1: yes (4.0)",
        "kind = c: yes (8.0)",
        "kind = d: no (0.0)",
    ]
    alone = grow_c45(X[:3], y[:3], np.ones(3), 2, {0: 4}, C45Options())
    assert c45_text(alone, *words) == "no (3.0)"


def test_a_threshold_is_a_value_of_the_table():
    X = np.array([0.0, 0, 1, 1, 8, 8, 9, 9, 4])[:, None]
    y, w = np.array([0, 0, 0, 0, 1, 1, 1, 1, 1]), np.ones(9)
    assert grow_c45(X, y, w, 2, {}, C45Options(least=1.0)).threshold[0] == 1.0


@pytest.mark.parametrize("release", RELEASES)
@pytest.mark.parametrize("k", [-900, -30, 30, 900])
def test_a_tree_does_not_depend_on_the_unit_of_a_column(release, k):
    rng = np.random.default_rng(3)
    X, w = rng.standard_normal((80, 3)), np.ones(80)
    y = (X[:, 0] + 0.5 * rng.standard_normal(80) > 0).astype(np.intp)
    options = C45Options(release=release)
    one, other = (grow_c45(np.ldexp(X, e), y, w, 2, {}, options) for e in (0, k))
    assert one.n_leaves > 1
    assert_array_equal(one.column, other.column)
    assert_array_equal(np.ldexp(one.threshold, k), other.threshold)


def test_any_two_different_values_are_cut_apart_unless_a_gap_is_asked_for():
    X = np.repeat([1.0, np.nextafter(1.0, 2.0)], 5)[:, None]
    y, w = np.repeat([0, 1], 5), np.ones(10)
    assert grow_c45(X, y, w, 2, {}, C45Options()).n_leaves == 2
    assert grow_c45(X, y, w, 2, {}, C45Options(gap=1e-5)).n_leaves == 1
