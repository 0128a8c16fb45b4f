import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from psephos import PsephosError
from psephos.files.names import Names
from psephos.vote import CodedVoters, Constant, Readout, RegressionTarget, SoftTreeVoters, Vote
from psephos.vote.reasons import Gate, Route, Term


def soft(**changes):
    rng = np.random.default_rng(0)
    coef = rng.standard_normal((2, 3, 2))
    coef[1, :, 1] = 0.0
    fields = {
        "n_features": 5, "columns": np.array([1, 3]),
        "centre": np.array([10.0, -1.0]), "scale": np.array([2.0, 0.5]),
        "coef": coef, "bias": rng.standard_normal((2, 3)),
        "gaps": np.array([0]), "absent": rng.standard_normal((2, 3, 1)),
        "leaf": rng.standard_normal((2, 4, 1)),
    }  # fmt: skip
    return SoftTreeVoters(**{**fields, **changes})


def rows(n=20, seed=1):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, 5)) * 3 + [0, 10, 0, -1, 0]
    X[::4, 1] = np.nan
    X[1::5, 3] = np.nan
    return X


def said(voters, t, x):
    """One tree's vote on one row, by the docstring."""
    z = (x[voters.columns] - voters.centre) / voters.scale
    reach = [1.0] + [0.0] * 6
    for g in range(3):
        odds = voters.bias[t, g]
        for j in range(2):
            if not np.isnan(z[j]):
                odds += voters.coef[t, g, j] * z[j]
            elif j == 0:
                odds += voters.absent[t, g, 0]
        left = 1 / (1 + np.exp(-odds))
        reach[2 * g + 1] = reach[g] * left
        reach[2 * g + 2] = reach[g] * (1 - left)
    return np.array(reach[3:]) @ voters.leaf[t]


def test_votes_are_the_definition_missing_values_too():
    voters, X = soft(), rows()
    expected = [[said(voters, t, x) for t in range(2)] for x in X]
    assert_allclose(voters.votes(X), expected, rtol=1e-12)
    for i in range(3):
        assert_array_equal(voters.votes(X[i : i + 1])[0], voters.votes(X)[i])


def test_values_of_any_size_have_a_vote():
    X = np.full((2, 5), 1e300)
    X[1] = -1e300
    assert np.isfinite(soft(scale=np.array([1e-200, 0.5])).votes(X)).all()


def test_a_column_without_weight_is_not_read():
    voters = soft()
    assert_array_equal(voters.usage().toarray()[:, [1, 3]], [[True, True], [True, False]])
    one = voters.take(np.array([1]))
    assert_array_equal(one.columns, [1])
    assert_array_equal(one.votes(rows())[:, 0], voters.votes(rows())[:, 1])
    only_gaps = soft(coef=np.zeros((2, 3, 2))).take(np.array([0, 1]))
    assert_array_equal(only_gaps.columns, [1])
    assert only_gaps.absent.shape == (2, 3, 1)


def test_selecting_columns_changes_no_vote():
    voters, X = soft(), rows()
    assert_array_equal(voters.select(np.array([1, 2, 3])).votes(X[:, 1:4]), voters.votes(X))


def test_reasons_are_the_likeliest_way():
    voters, X = soft(), rows()
    for row, x, votes in zip(voters.reasons(X), X, voters.votes(X), strict=True):
        for t, reason in enumerate(row):
            assert isinstance(reason, Route)
            assert reason.answer == tuple(votes[t])
            assert len(reason.gates) == 2
            assert reason.share >= 0.25  # of four leaves the likeliest
            for column, value in reason.cells():
                assert value == x[column] or (np.isnan(value) and np.isnan(x[column]))
    names = Names(["a", "b", "c", "d", "e"])
    words = voters.reasons(X[:1])[0][0].words(names)
    assert words.startswith("the likeliest way (")
    assert "b = missing" in words
    assert "gate 1" in words
    rule = voters.rule(0, names.columns, {})
    assert rule == (
        "a soft tree of depth 2 on 2 columns; its first gate goes left by log-odds -2.33 - 0.132 "
        "× d + 0.126 × b (numbers in standard deviations from their means, nothing missing)"
    )


@pytest.mark.parametrize("side", ["left", "right"])
def test_the_words_of_a_gate_are_its_whole_sum(side):
    terms = (
        Term(0, 1.6, (-0.14,)),
        Term(1, 63.0, (2.0,)),
        Term(2, 0.5, (-0.1,)),
        Term(3, 7.0, (0.25,)),
    )
    odds = 2.0 - 0.14 - 0.1 + 0.25 + 0.5 - 3.0
    chance = 1 / (1 + np.exp(-odds))
    gate = Gate(1, side, chance, terms, 0.5, 4, -3.0)
    words = gate.words(Names(["g", "age", "c", "d"]))
    assert words == (
        f"gate 1: 38.0 % go {side} (log-odds -0.14 (g = 1.6) + 2 (age = 63) - 0.1 (c = 0.5) "
        "+ 0.75 (5 more) - 3 = -0.49)"
    )


def test_gates_without_a_column_say_so():
    nothing = soft(coef=np.zeros((2, 3, 2)), absent=np.zeros((2, 3, 1)))
    names = Names(["a", "b", "c", "d", "e"])
    words = nothing.reasons(rows(2))[0][0].words(names)
    assert words.startswith("the likeliest way (")
    assert "gate 1: 91.1 % go right (log-odds 2.325, no column)" in words
    assert nothing.rule(0, names.columns, {}) == "a soft tree of depth 2 on 0 columns"


def test_importance_goes_to_what_moves_the_gates():
    voters, X = soft(), np.nan_to_num(rows())
    size = np.abs(np.random.default_rng(2).standard_normal((len(X), 2)))
    centre = np.array([0.0, 10, 0, -1, 0])
    moved = voters.divided(X, size, centre)
    assert_allclose(moved.sum(axis=1), size.sum(axis=1), rtol=1e-10)
    assert not moved[:, [0, 2, 4]].any()
    still = X.copy()
    still[:, 3] = -1  # at its mean: column 3 moves nothing
    assert not voters.divided(still, size, centre)[:, 3].any()


def test_categories_are_told_in_words():
    inner = soft(n_features=2, columns=np.array([0, 1]))
    coded = CodedVoters(2, np.array([0, 1]), inner, np.array([0, 1]), np.array([np.nan, 1.0]))
    X = np.array([[11.0, 1.0], [9.0, 0.0]])
    words = [r[0].words(Names(["dose", "kind"], {1: ["no", "yes"]})) for r in coded.reasons(X)]
    assert "(kind = yes)" in words[0]
    assert "(kind = no, not yes)" in words[1]
    data = coded.reasons(X)[1][0].data(Names(["dose", "kind"], {1: ["no", "yes"]}))
    assert data["kind"] == "route"
    assert {t["column"] for g in data["gates"] for t in g["terms"]} == {"dose", "kind"}


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"leaf": np.zeros((2, 3, 1))}, "not complete"),
        ({"coef": np.zeros((2, 3, 1))}, "coef is not"),
        ({"bias": np.zeros((2, 2))}, "bias is not"),
        ({"absent": np.zeros((2, 3, 2))}, "absent is not"),
        ({"gaps": np.array([2])}, "columns are not sorted"),
        ({"scale": np.array([1.0, 0.0])}, "scale is not above 0"),
        ({"centre": np.zeros(1)}, "no centre or scale"),
    ],
)
def test_inconsistent_trees_are_refused(changes, words):
    with pytest.raises(PsephosError, match=words):
        soft(**changes)


def test_a_vote_of_soft_trees_adds_up():
    vote = Vote(
        soft(), Constant(5, np.array([1.0, 0.5])), Readout("sum", "identity"), RegressionTarget()
    )
    X = rows()
    expected = vote.votes(X)[:, 0] + 0.5 * vote.votes(X)[:, 1]
    assert_allclose(vote.score(X), expected, rtol=1e-12)
