"""Voters made of voters: joined kinds, and categories as 0/1 columns."""

import numpy as np
import pytest
from numpy.testing import assert_array_equal

from psephos._errors import ModelFileError, PsephosError
from psephos.vote import (
    CodedVoters,
    ConstantVoters,
    ForeignVoters,
    JoinedVoters,
    Scores,
    StumpVoters,
    design_matrix,
    join,
    linear_models,
)
from psephos.vote.codec import decode, encode

CODE = np.array([[-1.0], [1.0]])
NAN = np.nan


def lines(n_features=5):
    coef = np.array([[[1.0, 0.0]], [[0.5, -2.0]], [[0.0, 1.0]]])
    return linear_models(n_features, np.array([0, 3]), coef, np.array([[0.1], [0.0], [-0.2]]), CODE)


def stumps(n_features=5):
    return StumpVoters(
        n_features=n_features,
        columns=np.array([1, 3]),
        feature=np.array([1, 0]),
        threshold=np.array([0.25, -0.5]),
        missing_left=np.array([False, True]),
        category_ptr=np.zeros(3, dtype=np.intp),
        category_left=np.zeros(0, dtype=bool),
        left=CODE[[0, 1]],
        right=CODE[[1, 0]],
    )


def joined():
    order = [np.array([3, 0, 4]), np.array([1, 2])]
    return join([(order[0], lines()), (order[1], stumps())])


def cases(n=30, p=5, seed=0):
    return np.random.default_rng(seed).standard_normal((n, p))


def round_trip(part):
    arrays = {}
    return decode(encode(part, arrays, "v"), arrays)


# ---------------------------------------------------------------------- joined
def test_joined_voters_say_what_their_parts_say():
    X = cases()
    said = joined().votes(X)
    assert_array_equal(said[:, [3, 0, 4]], lines().votes(X))
    assert_array_equal(said[:, [1, 2]], stumps().votes(X))
    usage = joined().usage().toarray()
    assert_array_equal(usage[[3, 0, 4]], lines().usage().toarray())
    assert_array_equal(usage[[1, 2]], stumps().usage().toarray())
    assert_array_equal(joined().columns, [0, 1, 3])
    names = list("abcde")
    assert joined().rule(0, names, {}) == lines().rule(1, names, {})
    assert joined().rule(2, names, {}) == stumps().rule(1, names, {})
    assert joined().sides(1)[0][0] == stumps().sides(0)[0][0]


@pytest.mark.parametrize("voters", [[0], [4, 1], [2, 1], [3, 2, 1, 0, 4], [1, 1, 0]], ids=str)
def test_joined_voters_can_be_taken_and_moved(voters):
    X = cases()
    part = joined().take(np.array(voters))
    assert_array_equal(part.votes(X), joined().votes(X)[:, voters])
    assert_array_equal(part.usage().toarray(), joined().usage().toarray()[voters])
    columns = part.columns
    assert_array_equal(part.select(columns).votes(X[:, columns]), part.votes(X))
    assert_array_equal(round_trip(part).votes(X), part.votes(X))


def test_one_part_in_order_stays_what_it_is():
    assert isinstance(join([(np.arange(3), lines())]), Scores)
    turned = join([(np.array([2, 0, 1]), lines())])
    assert_array_equal(turned.votes(cases())[:, [2, 0, 1]], lines().votes(cases()))


@pytest.mark.parametrize(
    ("part", "place"),
    [([0, 2], [0, 0]), ([0, -1], [0, 0]), ([0, 1], [0, 2]), ([0, 1], [-1, 0]), ([0], [0, 1])],
    ids=str,
)
def test_joined_parts_that_do_not_fit_are_refused(part, place):
    parts = (lines(), stumps())
    with pytest.raises(PsephosError):
        JoinedVoters(parts, np.array(part, dtype=np.intp), np.array(place, dtype=np.intp))


def test_tables_of_different_width_are_not_joined():
    with pytest.raises(PsephosError, match="different tables"):
        join([(np.array([0, 1, 2]), lines()), (np.array([3, 4]), stumps(6))])


def test_a_foreign_part_cannot_be_written():
    foreign = ForeignVoters.of([object()], [np.array([0])], 5, "answer", CODE)
    whole = join([(np.array([0]), foreign), (np.array([1, 2]), stumps())])
    with pytest.raises(ModelFileError, match="object"):
        encode(whole, {}, "v")


# ---------------------------------------------------------------------- coded
SOURCE = np.array([0, 1, 1, 1, 2])
LEVEL = np.array([NAN, 0.0, 1.0, 2.0, 1.0])


def coded():
    inner = linear_models(
        5,
        np.arange(5),
        np.array([[[1.0, 2.0, 0.0, -1.0, 0.0]], [[0.0, 0.0, 0.0, 0.0, 1.5]]]),
        np.array([[-0.5], [-0.7]]),
        CODE,
    )
    return CodedVoters(6, np.array([1, 2, 4]), inner, SOURCE, LEVEL)


def table(n=40, seed=1):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, 6))
    X[:, 2] = rng.integers(0, 3, n)
    X[:, 4] = rng.integers(0, 2, n)
    return X


def test_design_by_hand():
    X = np.array([[0.5, 2.0, 0.0], [NAN, NAN, 1.0], [1.0, 1.0, NAN]])
    expected = [[0.5, 0, 0, 1, 0], [NAN, NAN, NAN, NAN, 1], [1.0, 0, 1, 0, NAN]]
    assert_array_equal(design_matrix(X, SOURCE, LEVEL), expected)


def test_coded_voters_answer_by_hand():
    X = table()
    site, dose = X[:, 2], X[:, 1]
    first = dose + 2.0 * (site == 0) - (site == 2) - 0.5 > 0
    second = 1.5 * (X[:, 4] == 1) - 0.7 > 0
    said = coded().votes(X)[:, :, 0]
    assert_array_equal(said, np.where(np.column_stack([first, second]), 1.0, -1.0))


def test_a_category_is_one_column():
    expected = np.zeros((2, 6), dtype=bool)
    expected[0, [1, 2]] = expected[1, 4] = True
    assert_array_equal(coded().usage().toarray(), expected)
    names = ["a", "dose", "site", "b", "sex", "c"]
    levels = {2: ["skin", "lung", "bone"], 4: ["f", "m"]}
    assert "(site is skin)" in coded().rule(0, names, levels)
    assert "dose" in coded().rule(0, names, levels)
    assert "(sex is m)" in coded().rule(1, names, levels)


@pytest.mark.parametrize("voters", [[0], [1], [1, 0]], ids=str)
def test_coded_voters_can_be_taken_and_moved(voters):
    X = table()
    part = coded().take(np.array(voters))
    assert_array_equal(part.votes(X), coded().votes(X)[:, voters])
    smaller = part.select(part.columns)
    assert_array_equal(smaller.votes(X[:, part.columns]), part.votes(X))
    assert_array_equal(round_trip(part).votes(X), part.votes(X))


def test_a_design_that_does_not_fit_is_refused():
    inner = ConstantVoters(5, CODE[:1], "said")
    with pytest.raises(PsephosError):
        CodedVoters(6, np.array([1, 2, 4]), inner, SOURCE[:4], LEVEL[:4])
    with pytest.raises(PsephosError):
        CodedVoters(6, np.array([1, 2]), inner, SOURCE, LEVEL)
