"""Trees as voters: abstaining, words, and files that lie."""

from dataclasses import fields, replace

import numpy as np
import pytest
from numpy.testing import assert_array_equal

from psephos import PsephosError
from psephos.testing import plain_evaluation
from psephos.vote import TreeVoters
from psephos.vote.codec import decode, encode

NAMES = [f"c{j}" for j in range(6)]


def whole(*numbers):
    return np.array(numbers, dtype=np.intp)


def trees(**changes):
    """A stump on c1, a leaf, and a tree that asks for c4, then c1."""
    fields = {
        "n_features": 6,
        "columns": whole(1, 4),
        "root": whole(0, 3, 4),
        "feature": whole(0, -1, -1, -1, 1, -1, 0, -1, -1),
        "threshold": np.array([0.5, 0, 0, 0, -1, 0, 2, 0, 0]),
        "missing_left": np.zeros(9, dtype=bool),
        "first": whole(1, -1, -1, -1, 5, -1, 7, -1, -1),
        "second": whole(2, -1, -1, -1, 6, -1, 8, -1, -1),
        "value": np.arange(9.0)[:, None] + 1,
        "single": True,
    }
    return TreeVoters(**{**fields, **changes})


def category_trees(**changes):
    """The same trees, but c4 is a category: {0, 2} of three codes go to the first child."""
    ptr = np.zeros(10, dtype=np.intp)
    ptr[5:] = 3
    threshold = trees().threshold.copy()
    threshold[4] = np.nan
    sets = {"category_ptr": ptr, "category_left": np.array([True, False, True])}
    return trees(**{"threshold": threshold, **sets, **changes})


def cases(n=50, missing=0.0):
    rng = np.random.default_rng(0)
    X = rng.standard_normal((n, 6)) * 2
    X[rng.random(X.shape) < missing] = np.nan
    return X


def test_votes_by_hand():
    X = np.zeros((4, 6))
    X[:, 1], X[:, 4] = [0, 1, 1, 3], [-2, -2, 0, 0]
    expected = [[2, 4, 6], [3, 4, 6], [3, 4, 8], [3, 4, 9]]
    for abstains in (False, True):
        assert_array_equal(trees(abstains=abstains).votes(X)[:, :, 0], expected)


def test_a_tree_abstains_where_it_lacks_a_value():
    X = cases(missing=0.3)
    voters = trees(abstains=True)
    lacks = np.isnan(X)
    expected = trees().votes(np.nan_to_num(X))
    expected[lacks[:, 1], 0] = 0
    expected[lacks[:, 1] | lacks[:, 4], 2] = 0
    assert_array_equal(voters.votes(X), expected)
    assert (expected == 0).any(axis=(0, 2)).tolist() == [True, False, True]
    routed = trees(missing_left=np.ones(9, dtype=bool)).votes(X)
    assert_array_equal(routed[lacks[:, 1], 0], 2)


def test_codes_go_by_their_set():
    X = np.zeros((7, 6))
    X[:, 4], X[:, 1] = [0, 1, 2, 3, -1, np.nan, 1], [0, 0, 0, 0, 0, 0, 3]
    left = np.zeros(9, dtype=bool)
    assert_array_equal(category_trees().votes(X)[:, 2, 0], [6, 8, 6, 8, 8, 8, 9])
    left[4] = True
    assert_array_equal(category_trees(missing_left=left).votes(X)[:, 2, 0], [6, 8, 6, 6, 6, 6, 9])


@pytest.mark.parametrize("single", [False, True])
@pytest.mark.parametrize("codes", [False, True])
def test_numpy_and_the_kernel_end_at_the_same_leaves(codes, single):
    voters = (category_trees if codes else trees)(single=single)
    X = np.tile(cases(missing=0.2), (200, 1))  # so many answers that the kernel is used
    X[::3, 1] = np.nextafter(0.5, 1)  # 0.5 as float32
    X[::2, 4] = np.arange(len(X) // 2) % 5 - 1
    leaves = voters.leaves(X)
    with plain_evaluation():
        assert_array_equal(voters.leaves(X), leaves)
    assert leaves[3, 0] == (1 if single else 2)


@pytest.mark.parametrize("codes", [False, True])
@pytest.mark.parametrize("abstains", [False, True])
def test_moved_trees_answer_alike(abstains, codes):
    voters = (category_trees if codes else trees)(abstains=abstains)
    X = cases(missing=0.2)
    X[::2, 4] = np.arange(25) % 5 - 1
    votes = voters.votes(X)
    assert_array_equal(voters.select(whole(1, 3, 4)).votes(X[:, [1, 3, 4]]), votes)
    for some in ([2, 0], [1], [2, 2], []):
        taken = voters.take(whole(*some))
        assert_array_equal(taken.votes(X), votes[:, some])
        assert_array_equal(taken.usage().toarray(), voters.usage().toarray()[some])
    arrays = {}
    again = decode(encode(voters, arrays, "v"), arrays)
    assert again.abstains is abstains
    assert_array_equal(again.votes(X), votes)


def test_trees_in_words():
    voters = trees()
    assert voters.rule(0, NAMES, {}) == "c1 <= 0.5"
    assert voters.rule(1, NAMES, {}) == "a tree of 1 leaves on no column"
    assert voters.rule(2, NAMES, {}) == "a tree of 3 leaves on c1, c4, which first asks if c4 <= -1"
    left = trees(missing_left=np.ones(9, dtype=bool))
    assert left.rule(0, NAMES, {}) == "c1 <= 0.5 or missing"
    assert replace(left, abstains=True).rule(0, NAMES, {}) == "c1 <= 0.5"
    said = [[(when, float(value[0])) for when, value in voters.sides(t)] for t in range(3)]
    assert said == [[("if so", 2.0), ("otherwise, also if missing", 3.0)], [("always", 4.0)], []]
    assert left.sides(0)[1][0] == replace(left, abstains=True).sides(0)[1][0] == "otherwise"


@pytest.mark.parametrize("codes", [False, True])
def test_a_tree_in_branches_answers_alike(codes):
    left = np.arange(9) % 2 == 0
    voters = (category_trees if codes else trees)(missing_left=left)
    X = cases(missing=0.2)
    X[::2, 4] = np.arange(25) % 5 - 1
    told = [voters.tree(t).answers(X)[:, 0] for t in range(3)]
    assert_array_equal(np.stack(told, axis=1), voters.votes(X))
    assert [voters.tree(t).n_nodes for t in range(3)] == [3, 1, 5]
    stays = replace(voters, abstains=True).tree(2)
    gaps = np.isnan(X[:, 4])
    assert_array_equal(stays.leaves(X)[gaps], 0)


def test_categories_in_words():
    levels = {4: ["skin", "lung", "bone"]}
    said = category_trees().rule(2, NAMES, levels)
    assert said == "a tree of 3 leaves on c1, c4, which first asks if c4 in {skin, bone}"


def test_inconsistent_categories_are_refused():
    good = category_trees()
    ptr = good.category_ptr
    for name, bad in [
        ("category_ptr", ptr[:0]),
        ("category_ptr", ptr[:-1]),
        ("category_ptr", ptr.astype(np.int32)),
        ("category_ptr", np.where(np.arange(10) == 3, 2**62, ptr)),
        ("category_ptr", np.where(np.arange(10) == 9, 2, ptr)),
        ("category_ptr", np.where(np.arange(10) == 0, -1, ptr)),
        ("category_left", np.ones(3)),
        ("category_left", np.ones(2, dtype=bool)),
    ]:
        with pytest.raises(PsephosError, match="inconsistent part of a vote"):
            replace(good, **{name: bad})


def test_only_leaves_name_an_answer():
    good = trees()
    answer = np.where(good.feature < 0, 0, -1)
    named = replace(good, value=np.ones((1, 1)), answer=answer)
    for inner in (0, -3, -(2**62)):
        with pytest.raises(PsephosError, match="a leaf lacks an answer, or another node has one"):
            replace(named, answer=np.where(good.feature < 0, 0, inner))


def test_inconsistent_trees_are_refused():
    good = trees()
    for name, bad in [
        ("columns", whole(4, 1)),
        ("columns", whole(1)),
        ("columns", whole(1, 9)),
        ("root", whole(1, 3, 4)),
        ("root", whole(0, 3, 3)),
        ("root", whole(0, 2**63 - 1, -2)),
        ("second", whole(1, -1, -1, -1, 6, -1, 8, -1, -1)),
        ("first", whole(0, -1, -1, -1, 5, -1, 7, -1, -1)),
        ("second", whole(9, -1, -1, -1, 6, -1, 8, -1, -1)),
        ("threshold", np.zeros(8)),
        ("value", np.zeros((8, 1))),
        ("value", np.zeros((9, 1), dtype=np.float32)),
        ("missing_left", np.zeros(9)),
    ]:
        assert name in {field.name for field in fields(good)}
        with pytest.raises(PsephosError, match="inconsistent part of a vote"):
            replace(good, **{name: bad})
