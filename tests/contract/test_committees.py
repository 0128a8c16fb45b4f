"""Weights by output, a confidence gate and voters that read answers: the whole contract."""

import sys
from pathlib import Path

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from psephos import PsephosError, compare, load, register, registry
from psephos.protocol import Protocol
from psephos.protocol.tables.table import table_from_arrays
from psephos.report import build_report
from psephos.testing import Case, parametrize_with_contract, small_table
from psephos.vote import (
    ConfidenceGate,
    Constant,
    ConstantVoters,
    LabelsTarget,
    OutputWeights,
    Readout,
    RegressionTarget,
    Target,
    Vote,
)
from psephos.vote.operations.weights import certainty

sys.path.insert(0, str(Path(__file__).parent))
import committees

KINDS = {
    "stack": committees.StackClassifier(),
    "cascade": committees.GatedClassifier(),
    "gate": committees.GatedClassifier(first=False),
    "reader": committees.ReaderClassifier(),
}
FOLDS = "rows are folded, or a member of another library is not told the weights"
CASES = {
    f"{name}, {k} classes": Case(model, k, no_repetition=FOLDS)
    for name, model in KINDS.items()
    for k in (2, 3)
}


@pytest.fixture(autouse=True, scope="module")
def _known_here_only():
    made = {type(model) for model in KINDS.values()}
    for model in made:
        register(model)
    yield
    for model in made:
        registry._registered.pop(model.contender.name)


@parametrize_with_contract(CASES)
def test_contract(check):
    check()


def test_they_are_compared_and_reported(tmp_path):
    X, y = small_table(2)
    names = [type(KINDS[kind]).contender.name for kind in ("stack", "cascade", "reader")]
    done = compare(
        table_from_arrays(X, y),
        models=names,
        protocol=Protocol(folds=2, draws=2),
        out=tmp_path / "study",
        n_jobs=1,
    )
    assert not done.failures, done.words()
    page = build_report(tmp_path / "study").read_text("utf-8")
    for name in names:
        assert name in page
        model = load(tmp_path / "study" / "models" / f"{name}.psephos")
        assert (model.vote_.answers(X) == y).mean() > 0.6


def test_a_stack_weighs_class_by_class():
    """The score of class k is the sum over members of w_tk times what they say for k."""
    X, y = small_table(3)
    model = committees.StackClassifier().fit(X, y)
    code = np.eye(3) * 1.5 - 0.5
    parts = [member.fit(X, y).predict_proba(X) @ code for member in committees.members()]
    wanted = np.einsum("tk,tnk->nk", model.vote_.weighting.alpha, np.array(parts))
    assert_allclose(model.decision_function(X), wanted, atol=1e-9)
    assert np.ptp(model.vote_.weighting.alpha, axis=1).min() > 0.01  # they differ by class


def test_a_cascade_stops_at_the_first_that_is_sure():
    X, y = small_table(2)
    model = committees.GatedClassifier().fit(X, y)
    parts = [member.fit(X, y).predict_proba(X) for member in committees.members()]
    heard = [
        next((t for t in range(3) if parts[t][i].max() >= 0.8 - 1e-12), 2) for i in range(len(X))
    ]
    wanted = np.array([parts[t][i] for i, t in enumerate(heard)])
    assert_allclose(model.predict_proba(X), wanted, atol=1e-9)
    assert set(heard) == {0, 1, 2}
    assert_array_equal(model.vote_.weights(X).argmax(axis=1), heard)
    assert "the first that is at least 80.0 % sure, else the last" in model.describe()[0]
    assert "%" not in model.describe()[1]


def said(votes, alpha, threshold, first, target=None):
    """Return the score of two rows' worth of the same fixed votes."""
    votes = np.array(votes, dtype=float)
    gate = ConfidenceGate(
        1, np.array(alpha, float), np.array(threshold, float), np.arange(len(votes)), first
    )
    target = target or Target(np.array(["a", "b"]))
    made = Vote(ConstantVoters(1, votes, "fixed"), gate, Readout("normalised", "share"), target)
    return made.score(np.zeros((1, 1)))[0], made


def test_who_is_heard_by_hand():
    half = [0.9] * 3
    assert_allclose(said([[0.2], [-0.9], [1.0]], [1, 1, 1], half, True)[0], [-0.9])
    assert_allclose(said([[0.2], [-0.1], [0.0]], [1, 1, 1], half, True)[0], [-0.1])  # last speaks
    assert_allclose(said([[0.2], [-0.9], [1.0]], [1, 1, 3], half, False)[0], [2.1 / 4])
    assert_allclose(said([[0.2], [-0.1], [0.0]], [1, 1, 1], half, False)[0], [0.1 / 3])
    labels = LabelsTarget(np.array(["p", "q"]))
    score, made = said([[1.0, 0.2], [-0.9, 0.9]], [1, 1], [0.9, 0.9], True, labels)
    assert_allclose(score, [-0.9, 0.9])
    assert_allclose(certainty(made.votes(np.zeros((1, 1))), labels), [[0.6, 0.95]])
    turned = made.take(np.array([1, 0]))
    assert_allclose(turned.score(np.zeros((1, 1)))[0], score)


def test_weights_that_do_not_fit_are_refused():
    votes = ConstantVoters(1, np.ones((2, 1)), "fixed")
    two = Target(np.array(["a", "b"]))
    share = Readout("normalised", "share")
    with pytest.raises(PsephosError, match="weights and outputs differ in number"):
        Vote(votes, OutputWeights(1, np.ones((2, 3))), share, two)
    with pytest.raises(PsephosError, match="only sums take a weight for each output"):
        Vote(votes, OutputWeights(1, np.ones((2, 1))), Readout("majority", "share"), two)
    gate = ConfidenceGate(1, np.ones(2), np.ones(2), np.arange(2), True)
    with pytest.raises(PsephosError, match="numbers have no probability"):
        Vote(votes, gate, Readout("sum", "identity"), RegressionTarget())
    with pytest.raises(PsephosError, match="these weights depend on the votes"):
        gate.weights(np.zeros((1, 1)))
    with pytest.raises(PsephosError, match="two voters have one rank"):
        ConfidenceGate(1, np.ones(2), np.ones(2), np.zeros(2, dtype=np.intp), True)
    with pytest.raises(PsephosError, match="not a probability"):
        ConfidenceGate(1, np.ones(2), np.array([0.5, 1.5]), np.arange(2), True)


def test_normalised_by_output():
    values = np.array([[1.0, -0.5, -0.5], [-0.5, 1.0, -0.5]])
    alpha = np.array([[3.0, 1.0, 1.0], [1.0, 1.0, 1.0]])
    target = Target(np.array(["a", "b", "c"]))
    vote = Vote(
        ConstantVoters(1, values, "fixed"), OutputWeights(1, alpha), Readout("normalised", "share"),
        target,
    )  # fmt: skip
    X = np.zeros((2, 1))
    wanted = (alpha * values).sum(axis=0) / alpha.sum(axis=0)
    assert_allclose(vote.score(X), [wanted] * 2)
    assert_allclose(vote.mass(X), np.abs(alpha).mean(axis=1).sum())
    assert_allclose(vote.shares(X)[0], (alpha / alpha.sum(axis=0)).mean(axis=1))
    plain = Vote(vote.voters, Constant(1, np.array([2.0, 1.0])), vote.readout, target)
    alike = Vote(
        vote.voters, OutputWeights(1, np.repeat([[2.0], [1.0]], 3, axis=1)), vote.readout, target
    )
    assert_allclose(alike.score(X), plain.score(X))
    assert_allclose(alike.mass(X), plain.mass(X))


def test_answers_are_read_and_opened():
    X, y = small_table(3)
    model = committees.ReaderClassifier().fit(X, y)
    assert len(model.anatomy_.voters) == 2
    for kind, voters in zip(("branching tree", "stump"), model.anatomy_.voters, strict=True):
        assert voters.startswith(f"votes of {kind} voters on answers of votes of stump voters")
    ballots = model.explain(X[:3])
    words = " ".join(ballots.words(0, t) for t in range(2))
    assert " for " in words
    opened = ballots.open(0, 1)
    assert opened is not None
    assert opened.vote.n_voters == 3
    assert opened.answer(0).split()[0] in ("egg", "ham", "jam")  # words, not the codes of inside
    member = ballots.open(0, 1, member=0)
    assert member is not None
    first = committees.members()[0].fit(X, y)
    assert_allclose(member.score[0], first.decision_function(X[:1])[0], atol=1e-12)
    assert committees.StackClassifier().fit(X, y).explain(X[:1]).open(0, 0, member=0) is None
