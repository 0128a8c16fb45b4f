"""Whether ballots are true: the data of every reason is evaluated on its case."""

import json
import operator
import re
from typing import Any

import numpy as np
from numpy.testing import assert_allclose, assert_array_equal

from psephos.vote import Vote, reasons
from psephos.vote.ballots import Ballots
from psephos.vote.part import log_odds
from psephos.vote.voters.rules import FirstMatch

_ROUNDING = re.compile(r"\d(\.\d+)?e-(1[4-9]|2\d)\b|\bnan\b")
_NUMBER = r"([+-]?[\d.]+(?:e[+-]?\d+)?)"
_COMPARED = re.compile(rf" = {_NUMBER} (<=|<|>=|>) {_NUMBER}(?: and (<=|<|>=|>) {_NUMBER})?(?!\S)")
_HOLDS = {"<=": operator.le, "<": operator.lt, ">": operator.gt, ">=": operator.ge}


def assert_ballots_are_true(ballots: Ballots, X: Any) -> None:
    """Check that every reason holds for its case and gives the vote.

    Tests hold for the case's own values, as data and as they are printed; terms add up to scores,
    and scores give the answer; parts of a case that is divided have shares that sum to 1; a voter
    abstains only where a value is missing; a vote within the vote answers as stated.

    Parameters
    ----------
    ballots : Ballots
    X : ndarray of shape (n, p)
        The cases, encoded.

    Raises
    ------
    AssertionError
        With the numbers.
    """
    votes, usage = ballots.vote.votes(ballots.X), ballots.vote.voters.usage()
    usage = (usage + ballots.vote.weighting.usage() if _by_leaf(ballots.vote) else usage).toarray()
    for i, row in enumerate(ballots.reasons):
        for t, reason in enumerate(row):
            assert_array_equal(reason.answer, votes[i, t])
            for column, value in reason.cells():
                assert usage[t, column], f"voter {t} does not read column {column}"
                assert _same(value, X[i, column]), (value, X[i, column])
            _assert_holds(reason, ballots.vote)
            json.dumps(reason.data(ballots.names), allow_nan=True)
            words = ballots.words(i, t)
            assert not _ROUNDING.search(words), words
            _assert_reads_true(words)
            if isinstance(reason, reasons.InLeaf):
                assert reason.reached == bool(ballots.shares[i, t])
            if isinstance(reason, reasons.Inner | reasons.OfAnswers):
                _assert_opens(ballots, i, t)
    _assert_are_near(ballots)
    _assert_lines_sum_up(ballots)


def _by_leaf(vote: Vote) -> bool:
    """Return whether weights are those of leaves, whose tests stand in the ballots."""
    return isinstance(vote.weighting, FirstMatch) and vote.weighting.leaves


def _assert_are_near(ballots: Ballots) -> None:
    """Check the similarities of training cases, where the weights have one."""
    weighting: Any = ballots.vote.weighting
    each = ((i, t, one) for i, row in enumerate(ballots.reasons) for t, one in enumerate(row))
    near = [(i, t, one.similarity) for i, t, one in each if isinstance(one, reasons.CaseLike)]
    if not near:
        return
    i, t, similarity = map(np.array, zip(*near, strict=True))
    if ballots.vote.similarities(ballots.X) is None:
        assert np.isnan(similarity).all()
        return
    weights = ballots.vote.weights(ballots.X)[i, t]
    assert_allclose(similarity * weighting.weight[t], weights, rtol=1e-12)


def _same(value: float, given: float) -> bool:
    """Return whether a value is the case's own."""
    if np.isnan(value) or np.isnan(given):
        return bool(np.isnan(value) and np.isnan(given))
    return value == given


def _assert_reads_true(words: str) -> None:
    """Check every comparison of numbers in a sentence."""
    for value, *compared in _COMPARED.findall(words):
        for relation, bound in zip(compared[::2], compared[1::2], strict=True):
            assert not relation or _HOLDS[relation](float(value), float(bound)), words


def _assert_holds(reason: reasons.Reason, vote: Vote) -> None:
    if isinstance(reason, reasons.Path):
        assert all(test.holds() for test in reason.tests), reason
        assert reason.tests, "a path without a test"
    if isinstance(reason, reasons.InLeaf):
        _assert_holds(reason.way, vote)
        _assert_holds(reason.because, vote)
        assert reason.because.answer == reason.answer
    if isinstance(reason, reasons.Spread):
        assert_allclose(sum(reason.shares), 1.0, atol=1e-12)
        answers = np.array([path.answer for path in reason.paths])
        assert_allclose(np.array(reason.shares) @ answers, reason.answer, atol=1e-12)
        for path in reason.paths:
            _assert_holds(path, vote)
    if isinstance(reason, reasons.Abstention):
        assert reason.columns, "nothing is missing"
        assert np.isnan(reason.values).all()
        assert not np.any(reason.answer)
    if isinstance(reason, reasons.OfAnswers):
        assert_array_equal(reason.told.answer, reason.answer)
        _assert_holds(reason.told, vote)
    if isinstance(reason, reasons.Route):
        _assert_opens_gates(reason)
    if isinstance(reason, reasons.Score):
        _assert_adds_up(reason, vote)


def _assert_opens_gates(reason: reasons.Route) -> None:
    """Check that terms open the gates, that the way is one, and that its share is its chances'."""
    way = [gate.number for gate in reason.gates]
    assert way[0] == 1
    for gate, after in zip(reason.gates, way[1:], strict=False):
        assert after == 2 * gate.number + (gate.side == "right")
    for gate in reason.gates:
        log_odds = gate.constant + sum(term.added[0] for term in gate.terms) + gate.rest
        assert_allclose(gate.chance, 0.5 + 0.5 * np.tanh(0.5 * log_odds), atol=1e-9)
    assert_allclose(reason.share, np.prod([gate.chance for gate in reason.gates]), rtol=1e-12)


def _assert_adds_up(reason: reasons.Score, vote: Any) -> None:
    scores = np.array(reason.scores)
    for term in reason.terms:
        if term.coef:
            assert_allclose(np.array(term.coef) * term.entered, term.added, rtol=1e-12)
    if reason.constant:
        added = sum((np.array(term.added) for term in reason.terms), np.zeros(len(scores)))
        assert_allclose(added + reason.constant, scores, rtol=1e-9, atol=1e-9)
    if reason.readout == "value":
        assert_array_equal(scores, reason.answer)
        return
    each = np.append(0.0, scores) if len(scores) == 1 else scores
    code = vote.target.code[: len(each)]
    if reason.readout == "answer":
        assert_array_equal(code[each.argmax()], reason.answer)
        return
    share = np.exp(reason.slope * (each - each.max()))
    share /= share.sum()
    odds = log_odds(share[None], len(reason.answer))[0]
    answer = odds if reason.readout == "log-odds" else share @ code
    assert_allclose(answer, reason.answer, atol=1e-9, rtol=1e-6)


def _assert_opens(ballots: Ballots, case: int, voter: int) -> None:
    """Check the ballots of a vote within the vote."""
    inner = ballots.open(case, voter)
    if inner is None:  # a forest of small trees
        return
    assert_ballots_are_true(inner, np.asarray(inner.X))
    answer = ballots.reasons[case][voter].answer
    if inner.vote.target.kind == "regression":
        assert_array_equal(inner.score[0], answer)


def _assert_lines_sum_up(ballots: Ballots) -> None:
    """Check that merged voters are all there and contribute what they did one by one."""
    for case in range(len(ballots)):
        lines = ballots.lines(case)
        voters = sorted(t for line in lines for t in line.voters)
        numbers = ballots.voter_numbers
        if ballots.numbers is not None:  # neighbours: those of this case alone
            numbers = [n for n, s in zip(numbers, ballots.shares[case], strict=True) if s != 0]
        assert voters == numbers
        assert_allclose(sum(line.contribution for line in lines), ballots.score[case], atol=1e-10)
