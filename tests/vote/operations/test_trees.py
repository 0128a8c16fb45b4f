"""Parts lowered to `Trees` vote as they do, row by row too, and are printed as they divide."""

import importlib.util
import operator
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from psephos import CARTRegressor
from psephos.files.names import Names
from psephos.trees.tree_leaves import Condition, bound_words
from psephos.trees.tree_text import export_text
from psephos.vote import StumpVoters
from psephos.vote.operations.trees import Trees
from psephos.vote.plain import from_plain, to_plain
from psephos.vote.reading.core import unpacked
from psephos.vote.reading.trees import TreeReader

_FILE = Path(__file__).parents[2] / "scoring" / "families.py"
_SPEC = importlib.util.spec_from_file_location("families_of_trees", _FILE)
families = importlib.util.module_from_spec(_SPEC)
_SPEC.loader.exec_module(families)

OF_TREES = [
    "adaboost, 2 classes, 0.2 missing",
    "cart, 3 classes, 0.2 missing",
    "cart-stays, 2 classes, 0.2 missing",
    "c45, 3 classes, 0.2 missing",
    "c45-soft, 2 classes, 0.2 missing",
    "c45-rules, 3 classes, 0.2 missing",
    "random-forest, 3 classes, 0.2 missing",
    "swag-forest, 3 classes, 0.0 missing",
    "newton-boosting, frame",
    "gibbs, 2 classes, 0.0 missing",
    "cart, frame",
    "c45, frame",
]
_HOLDS = {"<=": operator.le, "<": operator.lt, ">": operator.gt, ">=": operator.ge}


def parts_of(voters):
    return [part for part in getattr(voters, "parts", (voters,)) if hasattr(part, "lowered")]


def rows(part, levels, rng, n=80):
    """Rows about the thresholds of a part: missing values, unknown categories, extremes."""
    X = rng.normal(size=(n, part.n_features)) * 2
    columns, values = part.marks()
    for i in range(n):
        for k in rng.integers(len(columns), size=min(len(columns), 3)):
            if np.isfinite(values[k]):
                X[i, columns[k]] = np.nextafter(values[k], rng.choice([values[k], -9e9, 9e9]))
    for j, known in levels.items():
        X[:, j] = rng.integers(0, len(known), n)
    X[rng.random(X.shape) < 0.2] = np.nan
    return X


@pytest.mark.parametrize("name", OF_TREES)
def test_the_operation_and_its_reader_vote_as_the_part(name, random_seed):
    model = families.fitted(name)
    rng, levels = np.random.default_rng(random_seed), model.schema_.words().levels
    found = [part for part in parts_of(model.vote_.voters) if type(part.lowered()) is Trees]
    assert found
    for part in found:
        lowered, X = part.lowered(), rows(part, levels, rng)
        wanted = part.votes(X)
        assert_allclose(lowered.votes(X), wanted, rtol=0, atol=1e-12)
        plain = to_plain(lowered)
        assert_array_equal(from_plain(plain).votes(X), lowered.votes(X))
        reader = TreeReader(unpacked(plain))
        assert_allclose([reader.votes(x) for x in X.tolist()], wanted, rtol=0, atol=1e-12)
        some = np.arange(part.n_voters)[::-2].copy()
        assert_array_equal(lowered.take(some).votes(X), lowered.votes(X)[:, some])
        assert_array_equal(lowered.usage().toarray(), part.usage().toarray())
        plainly = lowered.nodes.leaves(lowered._read(X), lowered.root)
        assert_array_equal(lowered.leaves(X), plainly)  # the kernel and its plain twin


def stumps(thresholds, left, right):
    t = len(thresholds)
    votes = [np.full((t, 1), side) for side in (left, right)]
    return StumpVoters(
        1, np.array([0]), np.zeros(t, np.intp), np.asarray(thresholds), np.zeros(t, np.bool_),
        np.zeros(t + 1, np.intp), np.empty(0, np.bool_), *votes,
    )  # fmt: skip


def test_400_printed_thresholds_divide_close_values_as_the_model_does(random_seed):
    rng = np.random.default_rng(random_seed)
    data = np.round(rng.normal(size=(300, 2)), 2)
    days = 20180000 + rng.integers(0, 400, (100, 2))
    thresholds = np.concatenate([data.mean(axis=1), days.mean(axis=1)])
    voters = stumps(thresholds, 1.0, -1.0)
    names = Names(["day"])
    assert len(thresholds) == 400
    for t, bound in enumerate(thresholds.tolist()):
        _, relation, words = voters.rule(t, names.columns, names.levels).split()
        near = [bound, np.nextafter(bound, 9e9), np.nextafter(bound, -9e9), round(bound, 2)]
        near += [round(bound, 1), bound + 0.5, bound - 0.5]
        held = voters.votes(np.array(near)[:, None])[:, t, 0] > 0
        assert [_HOLDS[relation](x, float(words)) for x in near] == held.tolist(), words


def line_of(lines, x):
    """Return which line of a printed tree a case ends at, by what is printed alone."""
    depth = 0
    for i, line in enumerate(lines):
        if line.count("|   ") != depth:
            continue
        asked, _, leaf = line.replace("|   ", "").replace(" or missing", "").partition(": ")
        relation, bound = asked.split()[-2:]
        if _HOLDS[relation](x, float(bound)):
            if leaf:
                return i
            depth += 1
    raise AssertionError(f"no line is for {x!r}")


@pytest.mark.parametrize("how", [{}, {"single": True}, {"strict": True}])
def test_400_thresholds_of_printed_trees_divide_close_values_as_the_model_does(how, random_seed):
    rng = np.random.default_rng(random_seed)
    days = 20180000.0 + rng.choice(4000, 250, replace=False)
    shares = 0.3 + np.cumsum(rng.uniform(1e-7, 1e-6, 250))
    printed = 0
    for values in (days, shares):
        grown = CARTRegressor(n_folds=0, min_samples_split=2, min_samples_leaf=1, cp=0.0)
        grown.fit(values[:, None], rng.permutation(len(values)).astype(float))
        tree = replace(grown.vote_.voters.tree(0), **how)
        lines, bounds = export_text(tree).splitlines(), tree.threshold[tree.n_children > 0]
        near = np.concatenate([values, bounds, *(np.nextafter(bounds, e) for e in (-9e9, 9e9))])
        if tree.single:
            near = near.astype(np.float32).astype(np.float64)
        leaves = tree.leaves(near[:, None]).ravel().tolist()
        pairs = set(zip([line_of(lines, x) for x in near.tolist()], leaves, strict=True))
        assert len(pairs) == len(set(leaves)) == len({line for line, _ in pairs})
        printed += len(bounds)
    assert printed >= 400


def test_thresholds_of_single_precision_are_short_and_divide_single_values(random_seed):
    rng = np.random.default_rng(random_seed)
    values = np.sort(rng.normal(size=100).astype(np.float32))
    for bound in (values[1:].astype(np.float64) + values[:-1]) / 2:
        for op, holds in _HOLDS.items():
            relation, words = bound_words(Condition(0, op, float(bound), 0.0, single=True))
            assert len(words) <= 12
            for x in values.tolist():
                assert holds(x, bound) == _HOLDS[relation](x, float(words))


def test_a_voter_of_one_answer_is_a_constant():
    same, names = stumps([0.5, 1.5], 1.0, 1.0), Names(["dose"])
    assert same.rule(0, names.columns, names.levels) == "always"
    assert [when for when, _ in same.sides(0)] == ["always"]
    ((first, _),) = same.reasons(np.array([[0.2]]))
    assert first.words(names) == "always"
    other = stumps([0.5], 1.0, -1.0)
    assert other.rule(0, names.columns, names.levels) == "dose <= 0.5"
    assert len(other.sides(0)) == 2


def test_stumps_hold_where_their_rules_say():
    X = np.array([[0.5, 1.0], [2.0, 3.0], [np.nan, np.nan], [1.0, 9.0], [1.5, -1.0]])
    sides = np.ones((3, 1))
    voters = StumpVoters(
        2, np.array([0, 1]), np.array([0, 0, 1]), np.array([1.0, np.inf, np.nan]),
        np.array([True, False, True]), np.array([0, 0, 0, 4]),
        np.array([False, True, True, False]), sides, -sides,
    )  # fmt: skip
    wanted = [
        [True, True, True],
        [False, True, False],
        [True, False, True],
        [True, True, True],  # code 9 is unknown: as missing
        [False, True, True],  # and so is a negative one
    ]
    assert_array_equal(voters.votes(X)[:, :, 0] > 0, wanted)


def test_forests_are_the_mean_of_their_trees(random_seed):
    model = families.fitted("swag-forest, 3 classes, 0.0 missing")
    forests = next(p for p in model.vote_.voters.parts if p.kind == "forest voters")
    lowered, rng = forests.lowered(), np.random.default_rng(random_seed)
    X = rng.normal(size=(40, forests.n_features))
    shares = lowered.value[lowered._of_node[lowered.leaves(X)]]
    for t, (a, b) in enumerate(zip(forests.group[:-1], forests.group[1:], strict=True)):
        mean = shares[:, a:b].mean(axis=1)
        wanted = forests.code[mean.argmax(axis=1)] if forests.says == "answer" else None
        if wanted is not None:
            assert_array_equal(forests.votes(X)[:, t], wanted)


def test_a_threshold_of_minus_zero_is_zero():
    for single in (False, True):
        assert bound_words(Condition(0, "<=", -0.0, 0.0, single=single)) == ("<=", "0")
    assert bound_words(Condition(0, ">", -0.0, 0.0), 4) == (">", "0")
