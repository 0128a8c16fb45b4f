"""Hypotheses as parts of a vote: what they check, and what taking and selecting keep."""

from dataclasses import replace

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from psephos import PsephosError
from psephos.vote import CountedHypotheses, HypothesisVoters
from psephos.vote.voters.conjunctive_space import ConjunctiveSpace, Hypotheses
from psephos.vote.voters.hypotheses import in_words

SPACE = ConjunctiveSpace(
    5, np.array([1, 2, 4]), np.array([True, False, False]), np.array([3, 4, 2]),
    (np.empty(0), np.array([0.5, 1.5, 2.5]), np.array([0.0])),
)  # fmt: skip
LOW = np.array([[2, -1, -1], [-1, 1, 0], [-1, -1, -1], [0, 0, 0]], dtype=np.int32)
HIGH = np.array([[2, 4, 2], [3, 2, 0], [3, 4, 2], [0, 1, 0]], dtype=np.int32)
EMPTY = np.array([False, False, False, True])
YES, NO = np.array([1.0]), np.array([-1.0])
VOTERS = HypothesisVoters.of(SPACE, Hypotheses(LOW, HIGH, EMPTY), YES, NO)
X = np.array(
    [
        [9, 2, 1, 9, -1],
        [9, 0, 2, 9, 0],
        [9, 2, 3, 9, 1],
        [9, np.nan, 1, 9, -1],
        [9, 2, np.nan, 9, 1.0],
    ]
)


def test_votes_are_yes_where_all_tests_hold():
    held = np.array([[1, 1, 1, 0], [0, 1, 1, 0], [1, 0, 1, 0], [0, 1, 1, 0], [1, 0, 1, 0]])
    assert_array_equal(VOTERS.votes(X)[:, :, 0], 2 * held - 1)
    weights = np.random.default_rng(0).random((5, 4))
    expected = np.einsum("nt,ntk->nk", weights, VOTERS.votes(X))
    assert_allclose(VOTERS.weighted_sum(weights, X), expected, rtol=1e-14)
    names = [f"x{j}" for j in range(5)]
    rules = [VOTERS.rule(t, names, {1: list("abc")}) for t in range(4)]
    assert rules == [
        "x1 in {c}", "x2 > 0.5 and x2 <= 2.5 and x4 <= 0", "any case (no test)",
        "no case (the empty hypothesis)",
    ]  # fmt: skip


def test_taken_hypotheses_hold_the_columns_they_test():
    one = VOTERS.take(np.array([1]))
    assert one.columns.tolist() == [2, 4]
    assert_array_equal(one.votes(X)[:, 0], VOTERS.votes(X)[:, 1])
    small = one.select(np.array([2, 4]))
    assert_array_equal(small.votes(X[:, [2, 4]]), one.votes(X))
    assert VOTERS.take(np.array([2, 3])).columns.tolist() == []


def test_parts_check_what_they_are_made_of():
    for bad in (
        {"low": LOW[:, :2]}, {"high": HIGH.astype(np.int64)}, {"high": HIGH + 9},
        {"low": np.where(LOW == 1, 3, LOW).astype(np.int32)}, {"empty": EMPTY[:2]}, {"no": YES[:0]},
    ):  # fmt: skip
        with pytest.raises(PsephosError, match="inconsistent part"):
            replace(VOTERS, **bad)
    for bad in (
        {"size": np.array([3, 5, 2])}, {"cuts": SPACE.cuts[:2]}, {"columns": np.array([1, 1, 4])},
        {"cuts": (np.empty(0), np.array([0.5, 0.5, 2.5]), np.array([0.0]))},
    ):  # fmt: skip
        with pytest.raises(PsephosError, match="inconsistent part"):
            replace(SPACE, **bad)
    low = np.array([2, 1, 0], dtype=np.int32)
    negatives = np.array([[0, 1, 1]], dtype=np.int32)
    counted = CountedHypotheses(SPACE, low, low, False, negatives, "uniform", YES, NO)
    for bad in (
        {"low": low[:2]}, {"high": low + 9}, {"negatives": negatives + 9}, {"prior": "long"},
        {"negatives": negatives[0]}, {"no": YES[:0]},
    ):  # fmt: skip
        with pytest.raises(PsephosError, match="inconsistent part"):
            replace(counted, **bad)
    contradicted = replace(counted, negatives=low[None])
    with pytest.raises(PsephosError, match="no hypothesis is consistent"):
        contradicted.votes(X)


def test_large_numbers_in_words():
    assert in_words(1_099_511_627_777) == "1,099,511,627,777"
    assert in_words(10**24) == "10^24.00"
    assert in_words(3**100_000) == "10^47712.13"
