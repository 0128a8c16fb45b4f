"""Linear models, naive Bayes and quadratic discriminants, lowered to `Scores`."""

import re
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from psephos import PsephosError, SparseWrapperClassifier
from psephos.files.names import Names
from psephos.vote import Target, linear_models, naive_bayes_models, quadratic_models
from psephos.vote.codec import decode, encode
from psephos.vote.operations.scores import Scores

CODE = {k: Target(np.arange(k)).code for k in (2, 3)}
COLUMNS = np.array([0, 2, 3])


def lines(n_classes, says, abstains):
    rng = np.random.default_rng(n_classes)
    scores = 1 if says == "value" or n_classes == 2 else n_classes
    coef = rng.standard_normal((4, scores, 3))
    coef[1, :, 0] = coef[2] = 0.0
    value = np.zeros((1, 1)) if says == "value" else CODE[n_classes]
    constant = rng.standard_normal((4, scores))
    return linear_models(5, COLUMNS, coef, constant, value, says, abstains, 1.5)


def bayes(n_classes, says, abstains):
    rng = np.random.default_rng(n_classes)
    shape = (4, n_classes, 3)
    reads = np.array([[1, 1, 1], [0, 1, 0], [0, 0, 0], [1, 0, 1]], dtype=bool)
    moments = rng.standard_normal(shape), rng.uniform(0.2, 3.0, shape)
    prior = rng.standard_normal(shape[:2])
    return naive_bayes_models(5, COLUMNS, *moments, prior, CODE[n_classes], reads, says, abstains)


def quadratic(n_classes, says, abstains):
    rng = np.random.default_rng(n_classes)
    ptr, position = np.array([0, 3, 4, 4, 6]), np.array([0, 1, 2, 1, 0, 2])
    tables = rng.standard_normal((n_classes, 6)), rng.standard_normal((n_classes, 14))
    constant = rng.standard_normal((4, n_classes))
    code = CODE[n_classes]
    return quadratic_models(5, COLUMNS, ptr, position, *tables, constant, code, says, abstains)


CASES = [(make, k, s) for make in (lines, bayes, quadratic) for k in (2, 3)
         for s in ("answer", "probability")] + [(lines, 2, "value")]  # fmt: skip


def rows(missing=0.0, n=40):
    rng = np.random.default_rng(7)
    X = rng.standard_normal((n, 5)) * 2
    X[rng.random(X.shape) < missing] = np.nan
    return X


@pytest.mark.parametrize(("make", "n_classes", "says"), CASES)
def test_lowered_voters_give_the_same_votes(make, n_classes, says):
    part, X = make(n_classes, says, True), rows(missing=0.2)
    scores = part.lowered()
    assert isinstance(scores, Scores)
    assert scores.lowered() is scores
    votes = part.votes(X)
    assert_allclose(scores.votes(X), votes, rtol=1e-12, atol=1e-12)
    assert_array_equal(scores.usage().toarray(), part.usage().toarray())
    reader = scores._reader
    assert_allclose([reader.votes(x) for x in X.tolist()], votes, rtol=1e-12, atol=1e-12)
    for row, answers in zip(part.reasons(X), votes, strict=True):
        assert_allclose([reason.answer for reason in row], answers, rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize(("make", "n_classes", "says"), CASES)
def test_scores_are_moved_taken_and_kept(make, n_classes, says):
    scores, X = make(n_classes, says, True).lowered(), rows(missing=0.1)
    votes, arrays = scores.votes(X), {}
    again = decode(encode(scores, arrays, "v"), arrays)
    assert_array_equal(again.votes(X), votes)
    assert_array_equal(scores.select(COLUMNS).votes(X[:, COLUMNS]), votes)
    for some in ([2, 0], [1], [3, 3]):
        taken = scores.take(np.array(some))
        assert_array_equal(taken.votes(X), votes[:, some])
        assert_array_equal(taken.usage().toarray(), scores.usage().toarray()[some])


@pytest.mark.parametrize("make", [lines, bayes, quadratic])
def test_a_missing_value_is_refused_where_voters_do_not_abstain(make):
    scores, X = make(2, "answer", False).lowered(), rows()
    X[3, 2] = np.nan
    with pytest.raises(PsephosError, match=r"row 3 of these lacks a value that voters by"):
        scores.votes(X)
    with pytest.raises(ValueError, match=r"lacks a value that voters by .* need"):
        scores._reader.votes(X[3].tolist())


def test_what_a_reason_shows_adds_up():
    X = rows()
    for make in (lines, bayes):
        for row, x in zip(make(3, "probability", False).reasons(X), X, strict=True):
            for reason in row:
                sums = np.sum([reason.constant, *(t.added for t in reason.terms)], axis=0)
                assert_allclose(sums, reason.scores, rtol=1e-12, atol=1e-12)
                spread = [max(t.added) - min(t.added) for t in reason.terms]
                assert spread == sorted(spread, reverse=True)
                assert all(t.value == x[t.column] for t in reason.terms)


@pytest.mark.parametrize(
    "change",
    [
        {"coef": None},
        {"centre": np.zeros((1, 9))},
        {"coef": np.zeros((1, 3))},
        {"constant": np.zeros((3, 1))},
        {"ptr": np.array([0, 3, 1, 5, 5])},
        {"position": np.zeros(8, dtype=np.intp)},
        {"says": "maybe"},
        {"slope": 0.0},
        {"value": np.zeros((3, 1))},
    ],
)
def test_inconsistent_scores_are_refused(change):
    with pytest.raises(PsephosError, match="inconsistent part of a vote"):
        replace(lines(2, "answer", False).lowered(), **change)


# ---------------------------------------------------------------------- printed rules are true
_TERM = re.compile(r"(^|[+-]) ?(-?[\d.e+-]+) × (\w+)")
_RULE = re.compile(r"^Voter (\d+).*?: if (.*) ([+-]) ([\d.e+]+) > 0 then (\w+), otherwise (\w+)\.")


@pytest.mark.parametrize("name", ["lda", "logistic"])
@pytest.mark.parametrize("first_day", [20181100.0, 0.0])
def test_a_printed_linear_rule_divides_the_cases_as_its_voter_does(name, first_day):
    rng = np.random.default_rng(0)
    X = pd.DataFrame({"day": first_day + rng.integers(1, 90, 200), "crp": rng.normal(size=200)})
    y = np.where((X.day - first_day - 45) / 26 + X.crp + rng.normal(size=200) * 0.4 > 0, "a", "b")
    model = SparseWrapperClassifier(name, p_max=2, random_state=0).fit(X, y)
    votes, seen = model.vote_.voters.votes(X.to_numpy()), 0
    for found in filter(None, map(_RULE.search, str(model).splitlines())):
        voter, terms, sign, constant, over, under = found.groups()
        score = np.full(len(X), float(sign + constant))
        for minus, by, column in _TERM.findall(terms):
            score += float(minus + by) * X[column].to_numpy()
        voted = np.where(votes[:, int(voter) - 1, 0] > 0, "b", "a")
        assert_array_equal(np.where(score > 0, over, under), voted, found[0])
        seen += "day" in terms
    assert seen


@pytest.mark.parametrize("first_day", [20181100.0, 0.0])
def test_a_printed_sum_is_the_sum_of_its_printed_terms(first_day):
    rng = np.random.default_rng(1)
    X = np.column_stack([first_day + rng.integers(1, 90, 60), rng.normal(size=60)])
    by = np.array([[-0.13713426, -2.9471853]])
    constant = np.array([-float(by[0] @ X.mean(axis=0))])
    voters = linear_models(2, np.arange(2), by[None], constant[None], CODE[2], "answer", False, 1.0)
    for (reason,), x in zip(voters.reasons(X), X, strict=True):
        words = reason.words(Names(["day", "crp"]))
        left, right = words.removesuffix(" > 0").removesuffix(" <= 0").split(" = ")
        printed = re.sub(r" \(\w+\)", "", left).replace("- ", "-").replace("+ ", "+")
        total = sum(
            float(np.prod([float(factor) for factor in term.split(" × ")]))
            for term in re.split(r"(?<! ×) (?=[+-])", printed)
        )
        true = float(by[0] @ x + constant[0])
        assert total == pytest.approx(true, rel=0.05), words
        assert float(right) == pytest.approx(true, rel=1e-3), words
        assert (total > 0) == words.endswith(" > 0")
