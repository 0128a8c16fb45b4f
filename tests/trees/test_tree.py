"""A tree read and changed: its size, its leaves, what is left when nodes are collapsed."""

import re
from dataclasses import fields

import numpy as np
import pytest
from numpy.testing import assert_array_equal

from psephos.trees.tree import SPREAD, STAY, Surrogates, Tree, join_trees
from psephos.trees.tree_leaves import Condition, condition_words, leaves_of, way_words
from psephos.trees.tree_text import answers_of, export_text, rules_table

from .tree_twin import CODES, answer, assemble, cases, parts, random_tree

NAMES = ["age", "dose", "site", "note", "stage", "grade"]
LEVELS = {2: ["skin", "lung", "bone", "eye"], 5: ["low", "mid", "high"]}


def by_hand(**changes):
    """Site: skin or eye: dose <= 0.5, then age < 3 or not; lung; bone (missing goes there)."""
    asked = [
        (1, 3, (2, np.nan, False, [0, 1, 2, 0]), 2, []),
        (4, 2, (1, 0.5, False, []), SPREAD, [(0, 7.0, True, [])]),
        None, None, None,
        (6, 2, (1, 2.0, True, []), STAY, []),
        None, None,
    ]  # fmt: skip
    share = [1.0, 0.5, 0.3, 0.2, 0.25, 0.75, 0.4, 0.6]
    value = np.array([[p, 1 - p] for p in np.linspace(0, 1, 8)])
    return assemble(asked, share, value, np.random.default_rng(0), **changes)


def same(a, b):
    for kind, one, other in ((Tree, a, b), (Surrogates, a.surrogates, b.surrogates)):
        for field in fields(kind):
            if field.name != "surrogates":
                assert_array_equal(getattr(one, field.name), getattr(other, field.name))


# ---------------------------------------------------------------------- size and shape
def test_size_depth_and_columns():
    tree = by_hand()
    assert (tree.n_nodes, tree.n_leaves, tree.depth) == (8, 5, 3)
    assert tree.columns.tolist() == [0, 1, 2]
    assert tree.children(0).tolist() == [1, 2, 3]
    leaf = tree.collapse([0])
    assert (leaf.n_nodes, leaf.n_leaves, leaf.depth, len(leaf.columns)) == (1, 1, 0, 0)


def test_collapsed_nodes_end_rows_there(random_seed):
    rng = np.random.default_rng(random_seed)
    for _ in range(20):
        tree, X = random_tree(rng, 12), cases(rng, 20)
        cut = rng.choice(np.flatnonzero(tree.n_children), 3)
        got = tree.collapse(cut)
        stopped = {int(c) for c in cut}
        kept = [i for i in range(tree.n_nodes) if not above(tree, i) & stopped]
        assert_array_equal(got.value, tree.value[kept])
        assert_array_equal(got.n_rows, tree.n_rows[kept])
        pruned = stopping(tree, cut)
        for row in X:
            ends = {kept.index(node): part for node, part in parts(pruned, row)[0].items()}
            assert parts(got, row)[0] == pytest.approx(ends)


def above(tree, node):
    """The nodes on the way to a node, without it."""
    way = set()
    for parent in range(node - 1, -1, -1):
        if node in tree.children(parent).tolist():
            way.add(parent)
            node = parent
    return way


def stopping(tree, nodes):
    """The tree with these nodes made leaves, and nothing renumbered."""
    number = tree.n_children.copy()
    number[nodes] = 0
    return Tree(**{**vars(tree), "n_children": number})


def test_collapsing_nothing_changes_nothing(random_seed):
    tree = random_tree(np.random.default_rng(random_seed), 9)
    same(tree.collapse([]), tree)
    same(tree.collapse(np.flatnonzero(tree.n_children == 0)), tree)


def test_trees_are_joined_and_taken_apart(random_seed):
    rng = np.random.default_rng(random_seed)
    trees = [random_tree(rng, int(n)) for n in (3, 0, 7)]
    root, nodes = join_trees(trees)
    assert root.tolist() == [0, trees[0].n_nodes, trees[0].n_nodes + 1]
    assert nodes.n_leaves == sum(tree.n_leaves for tree in trees)
    assert nodes.depth == max(tree.depth for tree in trees)
    same(join_trees(trees[:1])[1], trees[0])


# ---------------------------------------------------------------------- opened into leaves
def test_conditions_by_hand():
    ways = {leaf.node: leaf.conditions for leaf in leaves_of(by_hand())}
    assert list(ways) == [4, 6, 7, 2, 3]
    skin = Condition(2, "in", (0, 3), 0.0)
    assert ways[4] == (skin, Condition(1, "<=", 0.5, 0.25, surrogates=True))
    assert ways[6] == (skin, Condition(1, ">", 2.0, 0.0, surrogates=True))
    low, high = (Condition(1, *way, 0.0, surrogates=True) for way in ((">", 0.5), ("<=", 2.0)))
    assert ways[7] == (skin, low, high)
    assert ways[2] == (Condition(2, "in", (1,), 0.0),)
    assert ways[3] == (Condition(2, "in", (2,), 1.0),)
    strict = {leaf.node: leaf.conditions for leaf in leaves_of(by_hand(strict=True))}
    assert [c.op for c in strict[7]] == ["in", ">=", "<"]


def holds(condition, row):
    x, value = row[condition.column], condition.value
    if condition.op == "in":
        return x in value
    return {"<=": x <= value, "<": x < value, ">": x > value, ">=": x >= value}[condition.op]


@pytest.mark.parametrize("strict", [False, True])
def test_known_rows_meet_the_conditions_of_their_leaf_alone(strict, random_seed):
    rng = np.random.default_rng(random_seed)
    for _ in range(10):
        tree = random_tree(rng, 15, missing=STAY, surrogates=0, strict=strict)
        leaves = leaves_of(tree)
        assert sorted(leaf.node for leaf in leaves) == np.flatnonzero(tree.n_children == 0).tolist()
        for row in cases(rng, 30, missing=0):
            met = [leaf.node for leaf in leaves if all(holds(c, row) for c in leaf.conditions)]
            end = int(tree.leaves(row[None])[0, 0])
            assert met == ([] if tree.n_children[end] else [end])
        for leaf in leaves:
            for column in {c.column for c in leaf.conditions}:
                assert sum(c.column == column for c in leaf.conditions) <= 2


def test_the_share_of_missing_rows_is_that_of_the_walk(random_seed):
    """A row that lacks everything: its part at a leaf is the product over the columns."""
    rng = np.random.default_rng(random_seed)
    for _ in range(10):
        tree = random_tree(rng, 8, missing=SPREAD, surrogates=0)
        ends = parts(tree, np.full(6, np.nan))[0]
        for leaf in leaves_of(tree):
            shares = {c.column: c.missing for c in leaf.conditions}
            expected = ends.get(leaf.node, 0.0)
            assert np.prod(list(shares.values())) == pytest.approx(expected)


def test_conditions_in_words():
    def words(op, value, missing=0.0, column=1):
        return condition_words(Condition(column, op, value, missing), NAMES, LEVELS)

    assert words("<=", 1 / 3) == "dose <= 0.3333333333333333"
    assert words(">", 2.0, 1.0) == "dose > 2 or missing"
    assert words("<", 2.0, 0.25) == "dose < 2 or missing (25%)"
    assert words("<=", np.inf) == "dose is present"
    assert words(">", np.inf, 1.0) == "dose is missing"
    assert words("in", (0, 9), 0.0, 2) == "site in {skin, 9}"
    assert words("in", (-1,), 0.0, 2) == "site in {-1}"
    assert words("in", (), 1.0, 2) == "site is missing"
    many = words("in", tuple(range(20)), 0.0, 3)
    assert many == "note in {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, and 8 more}"
    low, high = Condition(1, ">", 0.5, 0.0), Condition(1, "<=", 2.0, 0.0)
    assert way_words([low, high], NAMES, LEVELS) == "0.5 < dose <= 2"
    assert way_words([low, Condition(1, "<=", np.inf, 0.0)], NAMES, LEVELS) == "dose > 0.5"
    both = [Condition(0, ">=", 1.0, 1.0), Condition(1, "<=", 2.0, 1.0)]
    assert way_words(both, NAMES, {}) == "(age >= 1 or missing) and (dose <= 2 or missing)"
    assert way_words([], NAMES, LEVELS) == "always"


# ---------------------------------------------------------------------- text
def test_text_by_hand():
    tree = by_hand()
    tree.counts[:] = 0
    tree.counts[:, :2] = tree.value * 7
    text = export_text(tree, NAMES, LEVELS, ["no", "yes"], spread=True)
    assert text.splitlines() == [
        "site in {skin, eye}",
        "|   dose <= 0.5 or missing with its surrogates (25%): no (57%, weight 7)",
        "|   dose > 0.5 or missing with its surrogates (75%)",
        "|   |   dose > 2: no (86%, weight 7)",
        "|   |   dose <= 2: no (100%, weight 7)",
        "site in {lung}: yes (71%, weight 7)",
        "site in {bone} or missing: yes (57%, weight 7)",
    ]
    plain = export_text(tree, NAMES, LEVELS, ["no", "yes"])
    assert plain == re.sub(r" or missing with its surrogates \(\d+%\)", "", text)
    assert plain.splitlines()[-1] == text.splitlines()[-1]
    short = export_text(tree, NAMES, LEVELS, ["no", "yes"], max_depth=1)
    assert short.splitlines()[0] == ("site in {skin, eye}: yes (86%, weight 7) and 3 leaves below")
    assert len(short.splitlines()) == 3
    assert export_text(tree.collapse([0]), NAMES, {}, ["no", "yes"]) == "yes (100%, weight 7)"
    numbers = export_text(tree.collapse([0]))
    assert numbers == "0, 1 (weight 7)"


def test_rules_have_a_row_a_leaf():
    tree = by_hand()
    table = rules_table(tree, NAMES, LEVELS, ["no", "yes"])
    assert table["node"] == [4, 6, 7, 2, 3]
    assert table["rule"][2] == "site in {skin, eye} and 0.5 < dose <= 2"
    assert table["answer"] == ["no", "no", "no", "yes", "yes"]
    assert table["share_no"] == tree.value[table["node"], 0].tolist()
    assert table["n_rows"] == tree.n_rows[table["node"]].tolist()
    np.testing.assert_allclose(table["weight"], tree.counts[table["node"]].sum(axis=1))
    assert rules_table(tree)["rule"][0].startswith("column 2 in {0, 3} and (column 1 <= 0.5")


def test_a_tree_of_classes_answers_its_greatest_share():
    told = answers_of(by_hand(), ["no", "yes"])
    assert told.words[:2] == ["yes", "yes"]
    assert told.share(0) == 1.0
    assert answers_of(by_hand()).share(0) is None


def test_random_trees_read_every_column():
    """The twin meets numbers and categories."""
    tree = random_tree(np.random.default_rng(0), 40)
    assert set(CODES) < set(tree.columns.tolist())
    row = np.full(6, np.nan)
    assert answer(tree, row).shape == (3,)
