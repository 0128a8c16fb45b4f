"""Voters made of others lower to the same kind, on what their inner voters lower to."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

from psephos.scoring.reader.vote import WholeVote
from psephos.vote import (
    CodedVoters,
    ComposedVoters,
    Constant,
    JoinedVoters,
    NestedVoters,
    RankedVoters,
    Readout,
    Target,
    Vote,
    linear_models,
)  # fmt: skip
from psephos.vote.plain import kinds_within, to_plain
from psephos.vote.reading.core import unpacked

CODE = Target(np.arange(2)).code
ALL = np.arange(3)
READOUT = Readout("normalised", "share")


def lines(n_features=3):
    rng = np.random.default_rng(n_features)
    shape = (2, 1, n_features)
    constant, columns = rng.standard_normal(shape[:2]), np.arange(n_features)
    coef = rng.standard_normal(shape)
    return linear_models(n_features, columns, coef, constant, CODE, "probability")


def composites():
    source, level = np.array([0, 1, 1, 2]), np.array([np.nan, 0.0, 1.0, np.nan])
    knots, scores = np.array([-1.0, 0.0, 2.0, -2.0, 3.0]), np.array([-1.0, 0.1, 1.5, -0.5, 0.5])
    vote = Vote(lines(), Constant(3, np.array([1.0, 2.0])), READOUT, Target(np.arange(2)))
    return {
        "joined": JoinedVoters((lines(), lines()), np.array([1, 0, 1]), np.array([0, 1, 1])),
        "coded": CodedVoters(3, ALL, lines(4), source, level),
        "ranked": RankedVoters(3, ALL, lines(), knots, scores, np.array([0, 3, 5, 5])),
        "composed": ComposedVoters(lines(), lines(5), ("a", "b")),
        "nested": NestedVoters(3, ALL, (ALL,), (vote,), ((),), "probability", CODE, False),
    }


@pytest.mark.parametrize("name", composites())
def test_lowered_voters_and_their_reader_give_the_same_votes(name):
    part = composites()[name]
    X = np.random.default_rng(1).standard_normal((30, 3))
    X[:, 1] = np.arange(30) % 2
    lowered = part.lowered()
    assert type(lowered) is type(part)
    assert "scores" in kinds_within(to_plain(lowered))
    assert_allclose(lowered.votes(X), part.votes(X), rtol=1e-12, atol=1e-12)
    weights = Constant(3, np.ones(part.n_voters))
    vote = Vote(part, weights, READOUT, Target(np.arange(2)))
    reader = WholeVote(unpacked(to_plain(vote.lowered())))
    assert_allclose([reader.scored(x).score for x in X.tolist()], vote.score(X), atol=1e-12)
    size = np.ones((30, part.n_voters))
    centre = np.array([0.0, 1.0, 0.0])
    moved = part.divided(X, size, centre)
    assert_allclose(lowered.divided(X, size, centre), moved, rtol=1e-9, atol=1e-12)
    for row, other in zip(part.reasons(X), lowered.reasons(X), strict=True):
        assert [reason.answer for reason in row] == [reason.answer for reason in other]
