"""Soft thresholds of C4.5, as old model files have them: what rows are told, and their words."""

import importlib.util
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal

from psephos import PsephosError
from psephos.trees.c45 import C45Options, c45_text, grow_c45, leaf_table
from psephos.trees.tree import join_trees
from psephos.trees.tree_text import export_text, rules_table
from psephos.vote import branch_voters

_FILE = Path(__file__).with_name("test_c45.py")
_SPEC = importlib.util.spec_from_file_location("c45_soft_cases", _FILE)
cases = importlib.util.module_from_spec(_SPEC)
_SPEC.loader.exec_module(cases)
tables = cases.tables

KINDS = {"j48": {}, "c45": {"release": "c45"}}


# ---------------------------------------------------------------------- the twin
def branch_of(tree, node, x):
    """The branch of a value, or None."""
    codes = tree.code_branch[tree.code_ptr[node] : tree.code_ptr[node + 1]]
    if np.isnan(x):
        return None
    if not len(codes):
        return int(x > tree.threshold[node])
    return int(codes[int(x)]) if 0 <= x < len(codes) and codes[int(x)] >= 0 else None


def parts_of(tree, node, x):
    """Where a row of value x goes from a node: [(child, part)]; [] if it stays."""
    children = [int(c) for c in tree.children(node)]
    soft = tree.softly(node)
    b = branch_of(tree, node, x)
    if b is None:
        total = sum(tree.share[c] for c in children)
        return [(c, tree.share[c] / total) for c in children if tree.share[c] > 0]
    if soft is None:
        return [(children[b], 1.0)]
    first = np.interp(x, [soft[0], tree.threshold[node], soft[1]], [1.0, 0.5, 0.0])
    if soft[0] == tree.threshold[node]:
        first = 1.0 if x <= soft[0] else np.interp(x, soft, [0.5, 0.0])
    if soft[1] == tree.threshold[node]:
        first = 0.0 if x > soft[1] else np.interp(x, soft, [1.0, 0.5])
    return [(children[0], first), (children[1], 1.0 - first)]


def told(tree, row, node=0):
    """What a tree tells a row."""
    parts = parts_of(tree, node, row[tree.column[node]]) if tree.n_children[node] else []
    return sum(part * told(tree, row, c) for c, part in parts) if parts else tree.value[node]


def softened(tree, low, high):
    """Return a tree with soft thresholds: so far below and above, none with every third rule."""
    soft = np.arange(tree.n_nodes) % 3 < 2
    lower, upper = tree.threshold - soft * low, tree.threshold + soft * high
    return replace(tree, lower=lower, upper=upper)


@settings(max_examples=80)
@given(
    tables(), st.sampled_from(sorted(KINDS)),
    *[st.sampled_from([0.0, 0.3, 1.0, 7.0])] * 2,
)  # fmt: skip
def test_answers_are_the_twins(table, kind, low, high):
    X, y, w, k, n_codes = table
    options = C45Options(pruning=False, least=1.0, **KINDS[kind])
    tree = softened(grow_c45(X, y, w, k, n_codes, options), low, high)
    rng = np.random.default_rng(len(y))
    new = X[rng.integers(0, len(y), 40)] + 0.3 * rng.standard_normal((40, X.shape[1]))
    for j in n_codes:
        new[:, j] = rng.integers(-1, 8, 40)
    new[rng.random(new.shape) < 0.1] = np.nan
    both = np.vstack([X, new])
    answers = tree.answers(both)[:, 0]
    assert_allclose(answers, [told(tree, row) for row in both], atol=1e-12)
    assert_allclose(answers.sum(axis=1), 1)
    ends = tree.leaves(both)[:, 0]
    assert_allclose(answers[ends >= 0], tree.value[ends[ends >= 0]])


def test_a_share_by_hand():
    """1 at the lower value, 1/2 at the threshold, 0 at the upper."""
    tree = small(lower=2.0, upper=9.0)
    x = np.array([0.0, 2.0, 3.5, 5.0, 6.0, 9.0, 10.0])
    assert_allclose(tree.answers(x[:, None])[:, 0, 0], [1, 1, 0.75, 0.5, 0.375, 0, 0])
    assert_array_equal(tree.leaves(x[:, None])[:, 0], [1, 1, -1, -1, -1, 2, 2])
    half = small(lower=5.0, upper=9.0)
    assert_allclose(half.answers(x[:, None])[:, 0, 0], [1, 1, 1, 1, 0.375, 0, 0])
    other = small(lower=2.0, upper=5.0)
    assert_allclose(other.answers(x[:, None])[:, 0, 0], [1, 1, 0.75, 0.5, 0, 0, 0])
    hard = small(lower=5.0, upper=5.0)
    assert_allclose(hard.answers(x[:, None])[:, 0, 0], [1, 1, 1, 1, 0, 0, 0])
    large = small(lower=-1.7e308, threshold=0.0, upper=1.7e308)
    assert_allclose(large.answers(np.array([[-0.85e308], [0.85e308]]))[:, 0, 0], [0.75, 0.25])
    tiny = small(lower=0.0, threshold=5e-324, upper=1e-323)
    assert np.isfinite(tiny.answers(np.array([[0.0], [5e-324], [1e-323]]))).all()


def small(lower=2.0, threshold=5.0, upper=9.0):
    """One rule; the first branch is 'no', the second 'yes'."""
    X, y = np.arange(10.0)[:, None], (np.arange(10) > 4) * 1
    tree = grow_c45(X, y, np.ones(10), 2, {}, C45Options())
    assert tree.n_nodes == 3
    tree = replace(tree, threshold=np.array([threshold, np.nan, np.nan]))
    edges = (np.array([edge, np.nan, np.nan]) for edge in (lower, upper))
    return replace(tree, **dict(zip(("lower", "upper"), edges, strict=True)))


# ---------------------------------------------------------------------- words
def table_of_noise(n=120):
    rng = np.random.default_rng(3)
    X = np.round(rng.random((n, 2)) * 10, 1)
    y = (X[:, 0] + rng.standard_normal(n) > 5) * 1
    return X, y


def soft_tree(n=120):
    X, y = table_of_noise(n)
    return softened(grow_c45(X, y, np.ones(n), 2, {}, C45Options()), 0.5, 0.7), X, y


def test_words():
    tree = small(lower=2.25, upper=9.0)
    names, classes = ["size"], ["no", "yes"]
    assert c45_text(tree, names, {}, classes).splitlines() == [
        "size <= 5 [2.25, 9]: no (5.0)",
        "size > 5 [2.25, 9]: yes (5.0)",
    ]
    table = leaf_table(tree, names, {}, classes)
    assert table["rule"][0].startswith("size <= 5 (softly from 2.25 to 9) or missing")
    assert (
        export_text(tree, names, {}, classes)
        .splitlines()[1]
        .startswith("size > 5 (softly from 2.25 to 9): yes")
    )
    hard = replace(tree, lower=tree.threshold, upper=tree.threshold)
    assert c45_text(hard, names, {}, classes).startswith("size <= 5: no")
    assert "softly" not in leaf_table(hard, names, {}, classes)["rule"][0]


def test_conditions_of_soft_thresholds_stay_apart():
    X = np.repeat(np.arange(12.0), 10)[:, None]
    y = np.repeat([0, 1, 0], 40)
    options = C45Options(least=1.0, pruning=False)
    tree = softened(grow_c45(X, y, np.ones(120), 2, {}, options), 1.0, 1.0)
    assert tree.depth == 2
    hard = replace(tree, lower=tree.threshold, upper=tree.threshold)
    assert "3 < a <= 7" in " ".join(export_rules(hard))
    cuts = tree.n_children > 0
    wide = replace(tree, lower=np.where(cuts, 1.0, np.nan), upper=np.where(cuts, 9.0, np.nan))
    rules = " ; ".join(export_rules(wide))
    assert "a > 3 (softly from 1 to 9)" in rules
    assert "a <= 7 (softly from 1 to 9)" in rules
    assert " < a" not in rules


def export_rules(tree):
    return rules_table(tree, ["a"])["rule"]


# ---------------------------------------------------------------------- as voters
def test_voters_are_taken_and_joined():
    tree, X, _ = soft_tree()
    assert tree.lower[0] < tree.threshold[0] <= tree.upper[0]
    voters = branch_voters([tree, tree], 2)
    assert_allclose(voters.votes(X), tree.answers(X, (0, 0)))
    alone = voters.take(np.array([1]))
    assert_array_equal(alone.votes(X), voters.votes(X)[:, 1:])
    again = voters.tree(1)
    assert_array_equal(again.lower, tree.lower)
    assert "softly" in voters.rule(0, ["a", "b"], {})
    leaf = tree.collapse([0])
    assert np.isnan(leaf.lower).all()
    assert len(leaf.upper) == 1
    assert join_trees([leaf, tree])[1].lower.shape == (1 + tree.n_nodes,)


@pytest.mark.parametrize(
    "change",
    [
        {"lower": [9.0, np.nan, np.nan]},
        {"upper": [1.0, np.nan, np.nan]},
        {"upper": [np.nan] * 3},
        {"upper": [np.inf, np.nan, np.nan]},
        {"lower": [2.0, 1.0, np.nan]},
        {"lower": [2.0]},
        {"lower": None},
        {"strict": True},
        {"flip": [True, False, False]},
    ],
    ids=str,
)
def test_hostile_files_are_refused(change):
    part = branch_voters([small()], 1)
    arrays = {name: np.array(v) if isinstance(v, list) else v for name, v in change.items()}
    with pytest.raises(PsephosError, match="inconsistent part of a vote"):
        replace(part, nodes=replace(part.nodes, **arrays))


def test_soft_and_hard_trees_are_not_joined():
    tree, X, y = soft_tree()
    hard = grow_c45(X, y, np.ones(len(y)), 2, {}, C45Options())
    with pytest.raises(PsephosError, match="compare in different ways"):
        branch_voters([tree, hard], 2)
