"""Trees of any number of branches as voters: moved, saved, in words, and files that lie."""

from dataclasses import fields, replace

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from psephos import PsephosError
from psephos.trees.tree import SPREAD, STAY, Surrogates, Tree
from psephos.vote import Constant, Readout, Target, Vote, branch_voters
from psephos.vote.codec import decode, encode

from ...trees.tree_twin import CODES, answer, cases, random_tree

NAMES = ["age", "dose", "site", "note", "stage", "grade", "c6", "c7"]
LEVELS = {2: ["skin", "lung", "bone", "eye"], 5: ["low", "mid", "high"]}


def whole(*numbers):
    return np.array(numbers, dtype=np.intp)


def shares(n, n_classes, rng):
    drawn = rng.random((n, n_classes))
    return drawn / drawn.sum(axis=1, keepdims=True)


def grown(n_classes=3, seed=0, **kind):
    """Trees of 4, 0, 9 and 1 splits on columns 0 to 5."""
    rng = np.random.default_rng(seed)
    trees = [random_tree(rng, n, **kind) for n in (4, 0, 9, 1)]
    return [replace(tree, value=shares(tree.n_nodes, n_classes, rng)) for tree in trees]


def voters(n_classes=3, **kind):
    return branch_voters(grown(n_classes, **kind), 8, Target(np.arange(n_classes)).code)


def table(n=60, missing=0.3):
    rng = np.random.default_rng(1)
    return np.hstack([cases(rng, n, missing), rng.standard_normal((n, 2))])


# ---------------------------------------------------------------------- what they say
@pytest.mark.parametrize("n_classes", [2, 3])
def test_votes_are_the_shares_in_code(n_classes):
    part, X = voters(n_classes), table()
    for t, tree in enumerate(grown(n_classes)):
        expected = np.array([answer(tree, row) for row in X]) @ part.code
        assert_allclose(part.votes(X)[:, t], expected, atol=1e-12)


def test_without_codes_the_value_is_the_vote():
    trees, X = grown(1), table()
    part = branch_voters(trees, 8)
    for t, tree in enumerate(trees):
        assert_array_equal(part.votes(X)[:, t], tree.answers(X)[:, 0])


@pytest.mark.parametrize("n_classes", [2, 4])
def test_the_share_link_gives_the_shares_back(n_classes):
    tree, X = grown(n_classes)[2], table()
    target = Target(np.arange(n_classes))
    part = branch_voters([tree], 8, target.code)
    vote = Vote(part, Constant(8, np.ones(1)), Readout("normalised", "share"), target)
    shown = vote.readout.probabilities(vote.score(X), target)
    assert_allclose(shown, tree.answers(X)[:, 0], atol=1e-15)


def test_leaves_are_nodes_of_the_whole():
    part, X = voters(), table()
    leaves, root = part.leaves(X), part.root
    for t, tree in enumerate(grown()):
        alone = tree.leaves(X)[:, 0]
        assert_array_equal(leaves[:, t], np.where(alone < 0, -1, alone + root[t]))


@pytest.mark.parametrize("compare", [{}, {"strict": True}, {"single": True}])
def test_plain_trees_go_the_same_ways(compare):
    """Trees of thresholds alone have a shorter way for rows that lack nothing."""
    trees, X = grown(codes=False, missing=SPREAD, **compare), table(80, missing=0.05)
    for tree in trees:  # some values are thresholds, or beyond
        bounds = tree.threshold[tree.column >= 0]
        X[rng_places(len(bounds)), tree.column[tree.column >= 0]] = bounds
    X[5] = -np.inf
    trees[2].threshold[0] = -np.inf
    part = branch_voters(trees, 8)
    assert part.lowered()._packed is not None
    assert 0 < np.isnan(X[:, part.columns]).any(axis=1).sum() < len(X)
    read = X[:, part.columns]
    assert_array_equal(part.votes(X), part.nodes.answers(read, part.root))
    assert_array_equal(part.leaves(X), part.nodes.leaves(read, part.root))
    assert voters().lowered()._packed is None


def rng_places(n):
    return np.random.default_rng(3).integers(0, 80, n)


def test_usage_counts_rules_and_surrogates():
    usage = voters().usage().toarray()
    for t, tree in enumerate(grown()):
        read = np.union1d(tree.column[tree.column >= 0], tree.surrogates.column)
        assert_array_equal(np.flatnonzero(usage[t]), read)
    alone = grown()[2]
    rules = np.unique(alone.column[alone.column >= 0])
    bare = replace(alone, surrogates=Surrogates.none(alone.n_nodes))
    assert_array_equal(branch_voters([bare], 8).columns, rules)


# ---------------------------------------------------------------------- moved
def test_moved_trees_answer_alike():
    part, X = voters(), table()
    votes = part.votes(X)
    assert_array_equal(part.select(whole(*range(6))).votes(X[:, :6]), votes)
    for some in ([2, 0], [1], [3, 3, 2], []):
        taken = part.take(whole(*some))
        assert_array_equal(taken.votes(X), votes[:, some])
        assert_array_equal(taken.usage().toarray(), part.usage().toarray()[some])
        assert_array_equal(np.flatnonzero(taken.usage().toarray().any(axis=0)), taken.columns)


def test_a_tree_comes_back_as_it_was():
    part = voters()
    for t, tree in enumerate(grown()):
        again = part.tree(t)
        for field in fields(Tree):
            if field.name != "surrogates":
                assert_array_equal(getattr(again, field.name), getattr(tree, field.name))
        for field in fields(Surrogates):
            one, other = (getattr(x.surrogates, field.name) for x in (again, tree))
            assert_array_equal(one, other)


def test_trees_come_back_from_plain_data():
    part, X = voters(), table()
    arrays = {}
    again = decode(encode(part, arrays, "v"), arrays)
    assert_array_equal(again.votes(X), part.votes(X))
    assert [again.rule(t, NAMES, LEVELS) for t in range(4)] == [
        part.rule(t, NAMES, LEVELS) for t in range(4)
    ]


def test_trees_that_compare_differently_are_not_joined():
    one, two = grown()[:2]
    with pytest.raises(PsephosError, match="compare in different ways"):
        branch_voters([one, replace(two, strict=True)], 8)


# ---------------------------------------------------------------------- words
def stump(column, threshold, codes=(), branches=2, missing=STAY, flip=False, share=None):
    n = 1 + branches
    share = [1.0, *(share or [1 / branches] * branches)]
    return Tree(
        whole(1, *[0] * branches), whole(branches, *[0] * branches),
        whole(column, *[-1] * branches), np.array([threshold, *[np.nan] * branches]),
        np.array([flip, *[False] * branches]), whole(0, *[len(codes)] * n), whole(*codes),
        whole(missing, *[STAY] * branches), np.array(share), Surrogates.none(n),
        value=np.arange(n * 1.0)[:, None], counts=np.ones((n, 3)), n_rows=whole(*[5] * n),
        gain=np.zeros(n),
    )  # fmt: skip


def test_trees_in_words():
    trees = [
        stump(1, 0.5),
        stump(1, 1 / 3, missing=0),
        stump(1, 0.5, missing=1, flip=True),
        stump(1, np.inf, missing=1),
        stump(2, np.nan, (0, 1, -1, 0), missing=SPREAD, share=[0.25, 0.75]),
        stump(2, np.nan, (0, 1, 2, 2), branches=3),
    ]
    part = branch_voters([*trees, grown(1)[1]], 8)
    assert [part.rule(t, NAMES, LEVELS) for t in range(7)] == [
        "dose <= 0.5",
        "dose <= 0.3333333333333333 or missing",
        "dose > 0.5",
        "dose is present",
        "site in {skin, eye} or missing (25%)",
        "a tree of 3 leaves on site, which first asks for site",
        "a tree of 1 leaves on no column",
    ]
    assert part.rule(4, NAMES, {}) == "site in {0, 3} or missing (25%)"
    said = [[(when, float(v[0])) for when, v in part.sides(t)] for t in range(6)]
    other = ["", "", ", also if missing", "", ", also if missing (75%)"]
    wanted = [[("if so", 1.0), (f"otherwise{one}", 2.0)] for one in other]
    wanted[0].append(("if missing", 0.0))  # a row that ends at the root
    assert said == [*wanted, []]
    assert [when for when, _ in part.sides(6)] == ["always"]
    larger = branch_voters(grown(codes=False), 8)
    assert larger.rule(2, NAMES, LEVELS).startswith("a tree of 10 leaves on age, dose, note, stage")


# ---------------------------------------------------------------------- files that lie
def refused(part, change):
    with pytest.raises(PsephosError, match="inconsistent part of a vote"):
        change(part)


def changed(name, place, number, of=None):
    """Write a number at a place of an array: of the voters, the nodes, or the surrogates."""

    def change(part):
        owner = {None: part, "nodes": part.nodes, "spare": part.nodes.surrogates}[of]
        array = getattr(owner, name).copy()
        array[place] = number
        owner = replace(owner, **{name: array})
        if of == "spare":
            owner = replace(part.nodes, surrogates=owner)
        return owner if of is None else replace(part, nodes=owner)

    return change


def test_a_changed_copy_is_accepted_where_nothing_is_changed():
    part = voters()
    for name, of in (("root", None), ("child", "nodes"), ("column", "spare")):
        change = changed(name, 0, getattr(part if of is None else part.nodes, name)[0], of)
        if of != "spare":
            change(part)


LIES = [
    ("columns", 0, 5, None), ("columns", -1, 8, None), ("root", 0, 1, None),
    ("root", 1, 0, None), ("root", 1, -1, None), ("root", -1, 10**9, None),
    ("child", 0, 0, "nodes"), ("child", 0, -5, "nodes"), ("child", 0, 10**12, "nodes"),
    ("child", 0, 2, "nodes"), ("n_children", 0, 40, "nodes"), ("n_children", 0, -1, "nodes"),
    ("n_children", 0, 2**62, "nodes"), ("n_children", -1, 2, "nodes"),
    ("column", 0, 6, "nodes"), ("column", 0, -1, "nodes"), ("column", -1, 0, "nodes"),
    ("code_ptr", 0, 1, "nodes"), ("code_ptr", 1, 10**6, "nodes"), ("code_ptr", -1, 0, "nodes"),
    ("code_ptr", 2, -(2**63), "nodes"), ("code_branch", 0, 9, "nodes"),
    ("code_branch", 0, -2, "nodes"), ("missing", 0, -3, "nodes"), ("missing", 0, 9, "nodes"),
    ("share", 1, np.nan, "nodes"), ("share", 1, np.inf, "nodes"), ("share", 1, -0.5, "nodes"),
    ("ptr", 1, 99, "spare"), ("ptr", -1, 0, "spare"), ("ptr", 0, 1, "spare"),
    ("column", 0, 6, "spare"), ("column", 0, -1, "spare"),
    ("code_ptr", -1, 0, "spare"), ("code_ptr", 1, 2**62, "spare"),
    ("code_branch", 0, 9, "spare"), ("code_branch", 0, -2, "spare"),
]  # fmt: skip


@pytest.mark.parametrize("lie", LIES, ids=str)
def test_inconsistent_trees_are_refused(lie):
    part = voters()
    assert len(part.nodes.surrogates.code_branch) > 0 < len(part.nodes.code_branch)
    refused(part, changed(*lie))


def test_wrong_kinds_are_refused():
    part = voters()
    nodes, spare = part.nodes, part.nodes.surrogates
    for name in (f.name for f in fields(Tree)):
        value = getattr(nodes, name)
        if isinstance(value, np.ndarray):
            other = value.astype(np.float32 if value.dtype != np.float32 else float)
            refused(part, lambda p, n=name, o=other: replace(p, nodes=replace(nodes, **{n: o})))
            short = value[:-1]
            if name != "code_branch":  # its end is that of the pointers
                refused(part, lambda p, n=name, o=short: replace(p, nodes=replace(nodes, **{n: o})))
        refused(part, lambda p, n=name: replace(p, nodes=replace(nodes, **{n: "words"})))
    for name in (f.name for f in fields(Surrogates)):
        for bad in ("words", getattr(spare, name).astype(np.float32), getattr(spare, name)[:-1]):
            bare = replace(nodes, surrogates=replace(spare, **{name: bad}))
            refused(part, lambda p, b=bare: replace(p, nodes=b))
    for code in (np.ones((2, 3)), np.ones(3), np.ones((3, 3), np.float32)):
        refused(part, lambda p, c=code: replace(p, code=c))
    refused(part, lambda p: replace(p, nodes=spare))
    refused(part, lambda p: replace(p, root=p.root.astype(np.int32)))


def test_a_tree_that_shares_its_branches_is_refused():
    """Two parents of one child would make the walk of a row in parts exponential."""
    nodes = stump(0, 0.0, branches=3, codes=(0, 1, 2), missing=SPREAD)
    double = replace(
        nodes,
        n_children=whole(3, 2, 0, 0),
        child=whole(1, 2, 0, 0),
        column=whole(0, 0, -1, -1),
        threshold=np.array([np.nan, 0, np.nan, np.nan]),
    )
    with pytest.raises(PsephosError, match="no parent or two"):
        branch_voters([double], 1)
    shared = replace(double, n_children=whole(2, 1, 0, 0), code_branch=whole(0, 1, 1))
    shared = replace(
        shared, code_ptr=whole(0, 3, 4, 4, 4), code_branch=whole(0, 1, 1, 0),
        missing=whole(SPREAD, SPREAD, STAY, STAY),
    )  # fmt: skip
    with pytest.raises(PsephosError, match="two parents"):
        branch_voters([shared], 1)


def test_codes_are_those_of_the_twin():
    """The random trees do ask for both categorical columns."""
    part = voters()
    asked = {int(part.columns[j]) for j in part.nodes.column if j >= 0}
    assert set(CODES) <= asked


@pytest.mark.parametrize("seed", range(4))
def test_whatever_is_accepted_can_be_walked(seed):
    """Numbers changed anywhere: refused by a sentence, or harmless."""
    rng = np.random.default_rng(seed)
    part, X = voters(), table(20, missing=0.5)
    accepted = 0
    for _ in range(250):
        arrays = {}
        data = encode(part, arrays, "v")
        for _ in range(rng.integers(1, 3)):
            name = rng.choice([name for name, array in arrays.items() if array.size])
            array = arrays[name] = arrays[name].copy()
            place = tuple(rng.integers(k) for k in array.shape)
            if array.dtype.kind == "i":
                odd = [-(2**62), -3, -1, 0, 2**31, 2**62, int(rng.integers(60))]
                array[place] = odd[rng.integers(len(odd))]
            elif array.dtype.kind == "f":
                array[place] = rng.choice([np.nan, np.inf, -np.inf, -1.0, 0.0, 1e300])
        try:
            changed = decode(data, arrays)
        except PsephosError:
            continue
        accepted += 1
        with np.errstate(all="ignore"):
            assert changed.votes(X).shape == (20, 4, 3)
        assert changed.leaves(X).max() < changed.nodes.n_nodes
        assert changed.usage().shape == (4, 8)
        assert len([changed.tree(t).depth for t in range(4)]) == 4
    assert accepted > 20
