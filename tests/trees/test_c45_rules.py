"""Rules from a tree: dropped tests, description lengths by hand, order, and the last look."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from psephos.trees import c45_rules
from psephos.trees.c45 import C45Options, grow_c45
from psephos.trees.c45_rules import C45Rule, find_rules, matches
from psephos.trees.tree_leaves import RuleTest

OPTIONS = C45Options(release="c45", pruning=False)
LIMIT = OPTIONS.limit()


def data(X, y, n_codes=None, n_classes=2, weight=None):
    X, y = np.asarray(X, float), np.asarray(y, np.intp)
    weight = np.ones(len(y)) if weight is None else np.asarray(weight, float)
    return c45_rules._Data(X, y, weight, n_classes, n_codes or {})


def rules_of(X, y, n_codes=None, n_classes=2, seed=0):
    X, y, n_codes = np.asarray(X, float), np.asarray(y, np.intp), n_codes or {}
    weight, draws = np.ones(len(y)), np.random.default_rng(seed)
    tree = grow_c45(X, y, weight, n_classes, n_codes, OPTIONS)
    return find_rules(tree, X, y, weight, n_codes, LIMIT, draws)


def answers(found, X):
    out, left = np.full(len(X), found.default), np.ones(len(X), bool)
    for rule in found.rules:
        held = np.all([matches(t, X) for t in rule.tests], axis=0) & left
        out[held], left[held] = rule.target, False
    return out


def test_a_missing_value_meets_no_test():
    X = np.array([[1.0], [2.0], [np.nan]])
    for op, held in [("<=", [1, 0, 0]), (">", [0, 1, 0]), ("=", [1, 0, 0])]:
        assert_array_equal(matches(RuleTest(0, op, 1.0), X), np.array(held, bool))


def test_tests_of_no_use_are_dropped():
    """Only the first column matters; the test on the second is dropped."""
    X = np.column_stack([np.repeat([0.0, 1.0], 10), np.tile([0.0, 1.0], 10)])
    y = np.repeat([0, 1], 10)
    tests = (RuleTest(1, ">", 0.0), RuleTest(0, "<=", 0.0))
    rule = c45_rules._generalised(tests, 0, data(X, y), LIMIT)
    assert rule.tests == (RuleTest(0, "<=", 0.0),)
    assert_allclose(rule.error, 1 - 0.25**0.1)  # ten rows, none wrong


def test_rules_worse_than_guessing_are_dropped():
    y = np.repeat([0, 1], [90, 10])
    X = np.arange(100.0)[:, None]
    assert c45_rules._generalised((RuleTest(0, "<=", 1.0),), 1, data(X, y), LIMIT) is None


def test_bits_of_a_test():
    """Two columns: three codes in eight known rows of nine, and four distinct numbers."""
    X = np.array([[0, 1, 2, 0, 1, 2, 0, 0, np.nan], [1, 2, 3, 4, 1, 2, 3, 4, 1]]).T
    bits = c45_rules._TestBits.of(data(X, np.arange(9) % 2, {0: 3}))
    share = np.array([4, 2, 2]) / 9
    branch = np.array([-(share * np.log2(share)).sum(), 2.0])
    assert_allclose(bits.branch, branch)
    p = branch / branch.sum()
    assert_allclose(bits.choice, -(p * np.log2(p)).sum())
    rule = C45Rule((RuleTest(0, "=", 1.0), RuleTest(1, ">", 2.0)), 0, 0.1)
    assert_allclose(bits.rule(rule), 2 * bits.choice + branch.sum() + 1.0 - 1.0)
    assert bits.rule(C45Rule((), 0, 0.1)) == 0.0


def test_bits_of_exceptions():
    """Twenty rows, eight covered, two of them wrongly, one left out."""

    def bits(n, e, expected):
        return -e * np.log2(expected / n) - (n - e) * np.log2(1 - expected / n)

    value = c45_rules._exception_bits(20.0, np.array([8.0]), np.array([2.0]), np.array([1.0]))
    assert_allclose(value, np.log2(20) + bits(8, 2, 2) + bits(12, 1, 1.5))
    value = c45_rules._exception_bits(20.0, np.array([12.0]), np.array([2.0]), np.array([1.0]))
    assert_allclose(value, np.log2(20) + bits(12, 2, 1.5) + bits(8, 1, 1))
    nothing = np.zeros(1)
    assert_allclose(c45_rules._exception_bits(16.0, nothing, nothing, nothing), 4.0)


def test_costs_of_a_step_are_the_costs_after_it():
    rng = np.random.default_rng(3)
    cover = c45_rules._Cover(
        rng.uniform(5, 20, 7),
        rng.random((7, 40)) < 0.4,
        rng.random(40) < 0.5,
        rng.uniform(1, 2, 40),
    )
    chosen = rng.random(7) < 0.5
    _, steps = cover.costs(chosen)
    for i, cost in enumerate(steps):
        other = chosen.copy()
        other[i] = not other[i]
        assert_allclose(cover.costs(other)[0], cost, rtol=1e-12)


@pytest.mark.parametrize("seed", range(20))
def test_weights_that_round_promise_nothing_and_climbing_ends(seed):
    """Of fractional weights a sum that is nothing is 1e-16; its bits were once infinitely few."""
    rng = np.random.default_rng(seed)
    own = rng.random(60) < 0.3
    held = (rng.random((12, 60)) < 0.3) & (own | (rng.random((12, 1)) < 0.5))
    weight = np.where(own, 60 / (2 * own.sum()), 60 / (2 * (~own).sum())) * 0.1
    cover = c45_rules._Cover(np.full(12, 30.0), held, own, weight)
    for i in range(12):
        one = np.arange(12) == i
        step = cover.costs(one)[1][i]  # dropped again: no rule is left
        assert_allclose(step, cover.costs(np.zeros(12, bool))[0], rtol=1e-9)
    for share in np.linspace(0, 1, 11):
        cost, chosen = c45_rules._climb(cover, rng.random(12) < share)
        assert np.isfinite(cost)
        assert_allclose(cost, cover.costs(chosen)[0], rtol=1e-9)


def test_climbing_finds_what_trying_all_finds(monkeypatch):
    rng = np.random.default_rng(0)
    X = rng.integers(0, 3, (150, 5)).astype(float)
    y = ((X[:, 0] == 1) & (X[:, 1] == 2) | (X[:, 2] == 0) & (rng.random(150) < 0.9)).astype(int)
    codes = dict.fromkeys(range(5), 3)
    every = rules_of(X, y, codes)
    monkeypatch.setattr(c45_rules, "_EXHAUSTIVE", 0)
    climbed = rules_of(X, y, codes)
    assert {r.tests for r in climbed.rules} == {r.tests for r in every.rules}


def test_known_rules_are_found():
    """Class 1 where a = 1 and b = 1, or c > 5; else class 0."""
    rng = np.random.default_rng(1)
    X = np.column_stack([rng.integers(0, 3, (400, 2)), rng.uniform(0, 10, 400).round(1)])
    y = ((X[:, 0] == 1) & (X[:, 1] == 1)) | (X[:, 2] > 5)
    found = rules_of(X, y, {0: 3, 1: 3})
    ones = {frozenset(r.tests) for r in found.rules if r.target == 1}
    assert frozenset({RuleTest(2, ">", 5.0)}) in ones
    assert frozenset({RuleTest(0, "=", 1.0), RuleTest(1, "=", 1.0)}) in ones
    assert_array_equal(answers(found, X), y)


def test_a_harmful_rule_is_dropped():
    """The first rule is wrong where the second would be right, more often than the reverse."""
    X = np.array([0.0, 0, 0, 1, 1, 1])[:, None]
    table = data(X, [0, 1, 1, 1, 1, 1])
    rules = [C45Rule((RuleTest(0, "<=", 0.0),), 0, 0.5), C45Rule((RuleTest(0, "<=", 9.0),), 1, 0.1)]
    assert c45_rules._polished(rules, 0, table) == rules[1:]
    assert c45_rules._polished(rules, 0, data(X, [0, 0, 1, 1, 1, 1])) == rules


def test_default_is_the_heaviest_of_what_is_left():
    X = np.arange(6.0)[:, None]
    rules = [C45Rule((RuleTest(0, "<=", 2.0),), 0, 0.1)]
    assert c45_rules._default(rules, data(X, [0, 0, 0, 1, 2, 2], n_classes=3)) == 2
    assert c45_rules._default(rules, data(X, [0, 1, 1, 0, 1, 2], n_classes=3)) == 1  # tie: more
    everything = [C45Rule((RuleTest(0, "<=", 9.0),), 0, 0.1)]
    assert c45_rules._default(everything, data(X, [0, 0, 1, 1, 1, 2], n_classes=3)) == 1


@pytest.mark.parametrize("y", [np.zeros(12), np.arange(12) % 2])
def test_no_rule_is_better_than_none(y):
    found = rules_of(np.ones((12, 2)), y)
    assert found.rules == ()
    assert found.default == 0
