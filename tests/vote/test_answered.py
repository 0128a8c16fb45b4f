"""A case has an answer where a voter has the values it needs, and its classes do not tie."""

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

from psephos import AdaBoostClassifier, SamBAClassifier, SparseWrapperClassifier, at_threshold
from psephos.testing import small_table
from psephos.vote import Constant, ConstantVoters, Names, Readout, Target, Vote
from psephos.vote.ballots import Ballots
from psephos.vote.operations.joined import join
from psephos.vote.reading.answered import tied, unanswered, unanswered_notes, unanswered_words
from psephos.vote.target import CostTarget, LabelsTarget, RegressionTarget, ThresholdTarget

NAN = float("nan")
TWO, THREE = np.array(["a", "b"]), np.array(["a", "b", "c"])
EVEN = np.array([[0.0, 1.0], [1.0, 0.0]])


@pytest.mark.parametrize(
    ("target", "score", "tie"),
    [
        (Target(TWO), [0.0], True),
        (Target(TWO), [2.0**-41], True),
        (Target(TWO), [-(2.0**-40)], False),
        (Target(THREE), [0.1, 0.1, 0.1 + 2.0**-42], True),
        (Target(THREE), [0.25, 0.25, -0.5], False),  # the first of two, not of all
        (ThresholdTarget(TWO, 1, 0.5, -(2.0**-41)), [0.0], False),  # its rule decides
        (ThresholdTarget(TWO, 0, 0.7, -0.4), [-0.4], False),
        (CostTarget(TWO, EVEN), [0.0], True),
        (CostTarget(TWO, EVEN * [[1.0], [3.0]]), [0.0], False),
        (CostTarget(TWO, EVEN * [[1.0], [3.0]]), [-0.5], True),
        (CostTarget(THREE, np.ones((3, 3))), [1.0, -0.5, -0.5], True),
        (LabelsTarget(THREE), [0.0, 0.0, 0.0], True),
        (LabelsTarget(THREE), [0.0, -0.1, 0.0], False),
        (LabelsTarget(THREE, threshold=0.5), [0.5, 0.5, 0.5], True),
        (RegressionTarget(), [0.0], False),
    ],
)
def test_a_tie_of_each_kind_of_target(target, score, tie):
    assert tied(target, score) == tie


def test_a_voter_with_weight_needs_a_value():
    reads, whole = [[], [0, 1], [1, 2]], [False, False, True]
    x = [NAN, 5.0, NAN]
    assert unanswered(x, [1.0, 1.0, 1.0], reads, whole, False) == ""
    assert unanswered(x, [1.0, 0.0, 1.0], reads, whole, False) == "values"  # it needs both
    assert unanswered([NAN, 5.0, 1.0], [1.0, 0.0, 1.0], reads, whole, False) == ""
    assert unanswered(x, [1.0, 0.0, 0.0], reads, whole, False) == "values"  # a prior alone
    assert unanswered([1.0, 2.0, 3.0], [1.0, 0.0, 0.0], reads, whole, False) == ""  # none missing
    assert unanswered(x, [0.0, 0.0, 0.0], reads, whole, False) == "weight"
    assert unanswered(x, [[0.0, 0.0], [0.0, 0.5], [0.0, 0.0]], reads, whole, False) == ""
    assert unanswered(x, [1.0, 1.0, 1.0], reads, whole, True) == "tie"
    assert unanswered([NAN] * 3, [1.0, 1.0, 1.0], reads, whole, True) == "values"
    assert unanswered([], [1.0], [[]], [False], False) == ""  # a model that reads no column


def test_words_say_what_would_do():
    names, target = Names(list("abcdefghi")), Target(TWO)

    def words(why, x, reads, whole):
        return unanswered_words(why, x, reads, whole, target, names)

    head = "no answer: no voter has the values it needs; "
    x = [NAN] * 9
    assert words("values", x, [[0], [1, 2]], [True, True]) == head + "a would do"
    assert words("values", x, [[0, 3], [1, 2, 4]], [True, True]) == head + "a and d would do"
    assert words("values", x, [[0, 1], [2]], [False, True]) == head + "one of a, b and c would do"
    many = head + "one of a, b, c, d, e, f and 3 more would do"
    assert words("values", x, [list(range(9))], [False]) == many
    assert words("weight", [1.0], [[0]], [False]) == "no answer: no voter has weight here"
    assert words("tie", [1.0], [[0]], [False]) == "no answer: all classes are equal"
    assert words("tie", x, [[0, 1]], [False]) == (
        "no answer: all classes are equal; a and b missing"
    )
    costs = unanswered_words("tie", [1.0], [[0]], [False], CostTarget(TWO, EVEN), names)
    assert costs == "no answer: every answer has the same expected loss"
    notes = unanswered_notes([(f"row {i}", "no answer: so" * (i > 0)) for i in range(9)])
    assert notes[0] == "row 1 has no answer: so."
    assert notes[-1] == "2 more cases without an answer."
    assert len(notes) == 7


def test_a_library_without_its_columns_has_no_answer():
    X, y = small_table(2)
    frame = pd.DataFrame(X, columns=[f"g{j}" for j in range(X.shape[1])])
    library = SparseWrapperClassifier(p_max=1, absent="vote", random_state=0).fit(frame, y)
    read = sorted({frame.columns[j] for j in library.vote_.columns})
    some = frame[:3].copy()
    some.loc[:1, read] = np.nan
    some.loc[1, read[0]] = 0.5
    ballots = library.explain(some)
    assert [bool(why) for why in ballots.unanswered] == [True, False, False]
    if len(read) > 1:
        assert "; one of " in ballots.unanswered[0]
    returned = library.predict(some)[0]
    assert f" would do; predict returns {returned} (" in ballots.answer(0)
    assert str(ballots).splitlines()[0].startswith("row 0: no answer: no voter has the values")
    assert ballots.first(1).unanswered == ballots.unanswered[:1]


def test_a_threshold_answers_ties_and_no_case_without_values():
    X, y = small_table(2, missing=0.2)
    model = at_threshold(AdaBoostClassifier(n_estimators=5).fit(X, y), 0.3, y[0])
    nothing = np.full((1, X.shape[1]), np.nan)
    assert model.explain(nothing).unanswered[0].endswith(" would do")


def test_distances_count_as_values():
    X, y = small_table(2, missing=0.2)
    model = SamBAClassifier(n_estimators=3, random_state=0).fit(X, y)
    for j in model.vote_.columns:
        case = np.full((1, X.shape[1]), np.nan)
        case[0, j] = 0.5
        assert model.explain(case).unanswered == [""]


def test_weights_of_zero_and_voters_that_abstain_answer_nothing():
    voters = join([(np.array([0]), ConstantVoters(1, np.array([[0.0]]), "a voter"))])
    vote = Vote(voters, Constant(1, np.ones(1)), Readout("normalised", "share"), Target(TWO))
    one = Ballots(vote, Names(["x"]), np.zeros((1, 1)), [0])
    assert one.unanswered == ["no answer: all classes are equal"]
    X, y = small_table(2, missing=0.1)
    model = AdaBoostClassifier(n_estimators=3).fit(X, y)
    parts = model.vote_.lowered()
    abstaining = replace(parts, voters=replace(parts.voters, abstains=True, code=None))
    case = np.full((1, X.shape[1]), np.nan)
    score, mass = abstaining.score_and_mass(case)
    assert abstaining.unanswered(case, score, mass) == ["values"]
