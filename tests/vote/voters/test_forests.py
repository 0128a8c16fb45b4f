"""Forests as voters: means of trees, abstaining, words, and files that lie."""

from dataclasses import replace

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from psephos import PsephosError
from psephos.vote import TreeVoters, forest_voters, naive_bayes_models
from psephos.vote.codec import decode, encode

NAMES = [f"c{j}" for j in range(6)]
CODES = {2: np.array([[-1.0], [1.0]]), 3: np.eye(3) * 1.5 - 0.5}


def whole(*numbers):
    return np.array(numbers, dtype=np.intp)


def shares(n_classes, n, seed=0):
    drawn = np.random.default_rng(seed).random((n, n_classes))
    return drawn / drawn.sum(axis=1, keepdims=True)


def stumps(value):
    """Five stumps on c0, c0, c2, c5, c5."""
    feature = np.full(15, -1, dtype=np.intp)
    first = np.full(15, -1, dtype=np.intp)
    feature[::3], first[::3] = [0, 0, 1, 2, 2], np.arange(5) * 3 + 1
    threshold = np.where(feature >= 0, np.linspace(-1, 1, 15), 0)
    second = np.where(first >= 0, first + 1, -1).astype(np.intp)
    flags = np.zeros(15, dtype=bool)
    tables = (feature, threshold, flags, first, second, value)
    return TreeVoters(6, whole(0, 2, 5), np.arange(5) * 3, *tables, single=True)


def forests(n_classes=2, says="answer", **changes):
    """Forests of two stumps, one stump and two stumps."""
    value = shares(n_classes, 15) if n_classes else np.arange(15.0)[:, None]
    code = CODES[n_classes] if n_classes else np.ones((1, 1))
    return forest_voters(
        **{
            "trees": stumps(value),
            "group": whole(0, 2, 3, 5),
            "value": code,
            "says": says,
            **changes,
        }
    )


def cases(n=60, missing=0.0):
    rng = np.random.default_rng(1)
    X = rng.standard_normal((n, 6))
    X[rng.random(X.shape) < missing] = np.nan
    return X


KINDS = [(2, "answer"), (3, "answer"), (2, "probability"), (3, "probability"), (0, "value")]


@pytest.mark.parametrize(("n_classes", "says"), KINDS)
def test_forests_say_what_the_mean_says(n_classes, says):
    voters, X = forests(n_classes, says), cases()
    single = stumps(voters.value).votes(X)
    means = [single[:, [0, 1]].mean(axis=1), single[:, 2], single[:, [3, 4]].mean(axis=1)]
    mean = np.stack(means, axis=1)
    if says == "value":
        expected = mean
    elif says == "answer":
        expected = voters.code[mean.argmax(axis=2)]
    else:
        expected = mean @ voters.code
    assert_allclose(voters.votes(X), expected, rtol=1e-12, atol=1e-12)


def test_equal_shares_name_the_first_class():
    voters = forests(2, trees=stumps(np.full((15, 2), 0.5)))
    assert_array_equal(voters.votes(cases()), -1)


@pytest.mark.parametrize(("n_classes", "says"), KINDS)
@pytest.mark.parametrize("abstains", [False, True])
def test_moved_forests_answer_alike(n_classes, says, abstains, monkeypatch):
    voters, X = forests(n_classes, says, abstains=abstains), cases(missing=0.1)
    votes = voters.votes(X)
    assert_array_equal(voters.select(whole(0, 1, 2, 5)).votes(X[:, [0, 1, 2, 5]]), votes)
    for some in ([2, 0], [1], [1, 1], []):
        taken = voters.take(whole(*some))
        assert_array_equal(taken.votes(X), votes[:, some])
        assert_array_equal(taken.usage().toarray(), voters.usage().toarray()[some])
    assert_array_equal(voters.take(whole(1)).columns, [2])
    arrays = {}
    again = decode(encode(voters, arrays, "v"), arrays)
    assert (again.says, again.abstains) == (says, abstains)
    assert_array_equal(again.votes(X), votes)
    assert_array_equal(voters.votes(X), votes)


def test_a_forest_abstains_where_it_lacks_a_value():
    X, lacks = cases(missing=0.3), np.isnan(cases(missing=0.3))
    expected = forests().votes(np.nan_to_num(X))
    for t, column in enumerate((0, 2, 5)):
        expected[lacks[:, column], t] = 0
    assert_array_equal(forests(abstains=True).votes(X), expected)
    assert (forests().votes(X) != 0).all()


def test_forests_in_words():
    voters = forests()
    assert (voters.n_voters, voters.n_features) == (3, 6)
    assert_array_equal(voters.columns, [0, 2, 5])
    assert_array_equal(voters.usage().toarray().nonzero(), [[0, 1, 2], [0, 2, 5]])
    assert voters.rule(0, NAMES, {}) == "a forest of 2 trees on c0"
    assert voters.sides(0) == []


def test_inconsistent_forests_are_refused():
    good = stumps(shares(2, 15))
    other = naive_bayes_models(6, whole(0), *[np.ones((1, 2, 1))] * 2, np.ones((1, 2)), CODES[2])
    for changes in (
        {"trees": other},
        {"trees": replace(good, abstains=True)},
        {"group": whole(0, 2, 3)},
        {"group": whole(0, 2, 2, 5)},
        {"group": whole(1, 2, 3, 5)},
        {"group": whole()},
        {"group": np.array([0.0, 5.0])},
        {"value": CODES[3]},
        {"value": CODES[2][:, 0]},
        {"says": "yes"},
        {"says": "value"},
    ):
        with pytest.raises(PsephosError, match="inconsistent part of a vote"):
            forests(**changes)
