"""C45RulesClassifier: rules as voters, the first that holds is heard."""

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.datasets import load_iris

from psephos import C45RulesClassifier, PsephosError
from psephos.trees.tree_leaves import RuleTest
from psephos.vote import FirstMatch, rule_voters
from psephos.vote.voters.rules import chains_of_tests

RULES = [
    (RuleTest(4, "<=", 1.0),),
    (RuleTest(1, "=", 2.0), RuleTest(4, ">", 3.0)),
    (),
]
CODE = np.array([[1.0], [-1.0], [1.0]])
X = np.zeros((4, 5))
X[:, 4], X[:, 1] = [0.5, 5.0, 5.0, np.nan], [0, 2, 0, 2]


def parts():
    voters = rule_voters(RULES, CODE, 5)
    return voters, FirstMatch(voters, np.arange(3), np.array([0.5, 0.25, 0.25]))


def test_rules_speak_where_they_hold():
    voters, _ = parts()
    assert_array_equal(voters.columns, [1, 4])
    assert_array_equal(voters.lowered().holds(X), [[1, 0, 1], [0, 1, 1], [0, 0, 1], [0, 0, 1]])
    assert_array_equal(voters.votes(X)[:, :, 0], [[1, 0, 1], [0, -1, 1], [0, 0, 1], [0, 0, 1]])
    names = ["a", "b", "c", "d", "e"]
    assert voters.rule(0, names, {}) == "if e <= 1"
    assert voters.rule(1, names, {1: ["x", "y", "z"]}) == "if b in {z} and e > 3"
    assert voters.rule(2, names, {}) == "otherwise"


def test_the_first_is_heard():
    voters, first = parts()
    assert_array_equal(first.weights(X), [[1, 0, 0], [0, 1, 0], [0, 0, 1], [0, 0, 1]])
    other = first.take(np.array([2, 0, 1]))
    assert_array_equal(other.weights(X), first.weights(X)[:, [2, 0, 1]])
    assert_array_equal(first.take(np.array([1, 2])).weights(X), [[0, 1], [1, 0], [0, 1], [0, 1]])
    assert_allclose(other.mean_share(), [0.25, 0.5, 0.25])
    assert_array_equal(voters.take(np.array([0])).columns, [4])


def test_usage_says_who_reads_what():
    voters, first = parts()
    assert_array_equal(voters.usage().toarray()[:, [1, 4]], [[0, 1], [1, 1], [1, 1]])
    assert_array_equal(first.usage().toarray()[:, [1, 4]], [[0, 1], [1, 1], [1, 1]])
    small = first.select(np.array([1, 3, 4]))
    assert_array_equal(small.weights(X[:, [1, 3, 4]]), first.weights(X))


@pytest.mark.parametrize(
    "change",
    [
        {"op": np.array([0, 3, 1])},
        {"feature": np.array([0, 1, 2])},
        {"ptr": np.array([0, 2, 1, 3])},
        {"ptr": np.array([0, 1, 3])},
        {"value": CODE[:, 0]},
        {"bound": np.zeros(2)},
    ],
)
def test_damaged_rules_are_refused(change):
    given = {"n_features": 5, "columns": np.array([1, 4]), "ptr": np.array([0, 1, 3, 3])}
    given |= {"feature": np.array([1, 0, 1]), "op": np.array([0, 2, 1]), "value": CODE}
    given |= {"bound": np.array([1.0, 2.0, 3.0])}
    assert_array_equal(chains_of_tests(**given).votes(X), parts()[0].votes(X))
    with pytest.raises(PsephosError, match="inconsistent part"):
        chains_of_tests(**{**given, **change})


@pytest.mark.parametrize("rank", [[0, 0, 1], [0, 1]])
def test_damaged_order_is_refused(rank):
    with pytest.raises(PsephosError, match="inconsistent part"):
        FirstMatch(parts()[0], np.array(rank), np.ones(3) / 3)


def test_rules_of_iris():
    features, y = load_iris(return_X_y=True)
    model = C45RulesClassifier(random_state=0).fit(features, y)
    rules = model.rules_
    assert list(rules.columns) == ["rule", "class", "accuracy", "share"]
    assert rules["rule"].tolist()[-1] == "otherwise"
    assert_allclose(rules["share"].sum(), 1)
    assert model.vote_.n_voters == len(rules) == len(model.rule_errors_)
    assert model.score(features, y) > 0.97
    assert set(np.unique(model.predict_proba(features))) == {0.0, 1.0}


def test_categories_and_gaps():
    rng = np.random.default_rng(0)
    kind = rng.choice(["a", "b", "c"], 90)
    table = pd.DataFrame({"kind": pd.Categorical(kind), "size": rng.standard_normal(90)})
    y = np.where(kind == "b", "yes", "no")
    model = C45RulesClassifier(random_state=0).fit(table, y)
    assert model.score(table, y) == 1.0
    assert "if kind in {b}" in model.rules_["rule"].tolist()
    lost = pd.DataFrame({"kind": pd.Categorical([None], ["a", "b", "c"]), "size": [np.nan]})
    assert_array_equal(model.predict(lost), model.rules_["class"].tolist()[-1:])


def test_the_draws_change_nothing_here():
    features, y = load_iris(return_X_y=True)
    said = {tuple(C45RulesClassifier(random_state=s).fit(features, y).describe()) for s in (0, 1)}
    assert len(said) == 1
