"""Voters heard only where what they read was measured."""

import numpy as np
import pytest
from numpy.testing import assert_array_equal

from psephos._errors import PsephosError
from psephos.vote import (
    Available,
    Constant,
    ConstantVoters,
    Readout,
    RegressionTarget,
    Target,
    Vote,
)
from psephos.vote.codec import decode, encode

NAN = np.nan
READS = np.array([[True, True, False], [False, False, True], [False, False, False]])
ALPHA = np.array([2.0, 1.0, 1.0])
X = np.array(
    [
        [1.0, 1, 1, 1, 1],
        [1.0, NAN, 1, 1, 1],
        [1.0, 1, 1, NAN, 1],
        [NAN, 1, 1, 1, NAN],
        [1.0, NAN, NAN, NAN, NAN],
    ]
)


TIERS = [np.array([0, 0, 0]), np.array([0, 0, 1]), np.array([1, 0, 2])]


def weights(tier=TIERS[1], loudest=False):
    return Available(5, np.array([1, 2, 3]), READS, ALPHA, tier, loudest)


def by_hand(row, tier, loudest):
    columns = np.array([1, 2, 3])
    can = [not any(np.isnan(row[columns[reads]])) for reads in READS]
    heard = min(t for t, c in zip(tier, can, strict=True) if c)
    w = [a if c and t == heard else 0.0 for a, c, t in zip(ALPHA, can, tier, strict=True)]
    if loudest:
        best = int(np.argmax(w))
        w = [v if t == best else 0.0 for t, v in enumerate(w)]
    return w


@pytest.mark.parametrize("tier", TIERS, ids=str)
@pytest.mark.parametrize("loudest", [False, True])
def test_weights_follow_what_was_measured(tier, loudest):
    expected = [by_hand(row, tier, loudest) for row in X]
    assert_array_equal(weights(tier, loudest).weights(X), expected)


@pytest.mark.parametrize("loudest", [False, True])
def test_select_take_and_the_file_change_nothing(loudest):
    part = weights(loudest=loudest)
    smaller = part.select(np.array([1, 2, 3]))
    assert_array_equal(smaller.weights(X[:, 1:4]), part.weights(X))
    order = np.array([2, 0, 1])
    assert_array_equal(part.take(order).weights(X), part.weights(X)[:, order])
    assert_array_equal(part.take(order).tier, [1, 0, 0])
    assert_array_equal(part.take(np.array([1])).columns, [3])
    arrays = {}
    again = decode(encode(part, arrays, "w"), arrays)
    assert_array_equal(again.weights(X), part.weights(X))


def test_the_mean_share_is_what_a_whole_row_hears():
    assert_array_equal(weights().mean_share(), [2 / 3, 1 / 3, 0])
    assert_array_equal(weights(loudest=True).mean_share(), [1, 0, 0])


def test_usage_names_what_each_reads():
    assert_array_equal(weights().usage().toarray()[:, 1:4], READS)


@pytest.mark.parametrize(
    "change",
    [
        {"alpha": np.array([1.0, 0.0, 1.0])},
        {"alpha": np.array([1.0, np.inf, 1.0])},
        {"reads": READS[:2]},
        {"reads": READS.astype(int)},
        {"tier": np.array([0, -1, 0])},
        {"tier": np.array([0, 1])},
        {"tier": np.array([0.0, 1.0, 1.0])},
        {"columns": np.array([1, 3, 2])},
        {"columns": np.array([1, 2, 5])},
    ],
)
def test_parts_that_do_not_fit_are_refused(change):
    parts = {
        "n_features": 5,
        "columns": np.array([1, 2, 3]),
        "reads": READS,
        "alpha": ALPHA,
        "tier": TIERS[1],
        **change,
    }
    with pytest.raises(PsephosError):
        Available(**parts)


def test_a_case_on_which_nobody_is_heard_scores_zero():
    target = Target(np.array(["a", "b"]))
    code = np.array([[1.0], [-1.0], [1.0]])
    voters = ConstantVoters(5, code, "said")
    vote = Vote(voters, weights(), Readout("normalised", "share"), target)
    assert_array_equal(vote.score(X[4:]), [[1.0]])  # the third voter reads nothing
    silent = vote.take(np.array([0, 1]))
    score, mass = silent.score_and_mass(X[4:])
    assert_array_equal(score, [[0.0]])
    assert_array_equal(mass, [0.0])
    assert_array_equal(silent.contributions(X[4:]), np.zeros((1, 2, 1)))


def test_a_vote_of_numbers():
    voters = ConstantVoters(2, np.array([[1.0], [4.0]]), "said")
    readout = Readout("normalised", "identity")
    vote = Vote(voters, Constant(2, np.array([2.0, 1.0])), readout, RegressionTarget())
    score = vote.score(np.zeros((2, 2)))
    assert_array_equal(score, [[2.0], [2.0]])
    assert_array_equal(vote.target.decode(score), [2.0, 2.0])
    assert vote.target.words(score) == ["2", "2"]
    with pytest.raises(PsephosError, match="no probabilities"):
        readout.probabilities(score, vote.target)
    with pytest.raises(PsephosError, match="needs classes"):
        vote.margins(np.zeros((2, 2)), np.zeros(2, dtype=int))
