"""The grown tree is the slow twin's, and its prunings are what the definition says."""

from dataclasses import replace

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from psephos._errors import ModelFileError
from psephos.kernels.sorted_trees.cart_search import ENTROPY, GINI, TWOING
from psephos.kernels.sorted_trees.cart_search import worth as worth_of
from psephos.trees.cart import (
    CartProblem,
    CartSettings,
    grow_tree,
    one_se_row,
    prepare,
    presort,
    prunings,
    root_risk,
)
from psephos.trees.cart_growth import cross_validate, growth_of, tree_of

from .cart_twin import Twin, best_of_all_subsets

CRITERIA = {"gini": GINI, "entropy": ENTROPY, "twoing": TWOING}


def table_of(seed, n=40, k=3, missing=0.2, weights="one"):
    """Numbers with ties, numbers without, and two columns of categories."""
    rng = np.random.default_rng(seed)
    X = np.column_stack([
        rng.integers(0, 6, n), rng.standard_normal(n), rng.integers(0, 4, n),
        rng.integers(0, 3, n), rng.standard_normal(n),
    ]).astype(float)  # fmt: skip
    signal = X[:, 0] + 2 * X[:, 1] + 1.5 * (X[:, 2] == 1) + 0.5 * rng.standard_normal(n)
    X[:, 4] = X[:, 1] + 0.4 * X[:, 4]
    y = signal if k == 0 else np.digitize(signal, np.quantile(signal, np.arange(1, k) / k))
    X[rng.random(X.shape) < missing] = np.nan
    weight = {"one": np.ones(n), "whole": rng.integers(1, 4, n) * 1.0, "real": rng.random(n) + 0.1}
    return X, y, weight[weights], {2: 4, 3: 3}


def grown(X, y, weight, n_codes, k, settings, priors=None, loss=None, copies=None):
    copies = np.ones(len(y), np.int64) if copies is None else copies
    problem = CartProblem(k, y, weight, copies, priors, loss)
    data = prepare(problem, presort(X, n_codes))
    rows = np.arange(len(y), dtype=np.int32)
    alpha = settings.cp * root_risk(data, rows)
    tree = grow_tree(data, settings, rows, alpha)
    table = prunings(tree, alpha)
    growth = growth_of(tree, data, table)
    return data, tree, table, growth, tree_of(growth, tree, data, settings.use_surrogates)


def check_rule(growth, r, twin):
    assert growth.column[r] == twin["column"]
    assert growth.counted[r] == twin["counted"]
    assert_allclose(growth.worth[r], twin["worth"], rtol=1e-10)
    at = slice(growth.level_ptr[r], growth.level_ptr[r + 1])
    if twin["threshold"] is None:
        ours = dict(zip(growth.level_code[at], growth.level_branch[at], strict=True))
        first = {int(v) for v in twin["levels"]}
        theirs = {int(v): twin["side"] * (1 if v in first else -1) for v in twin["seen"]}
        assert ours == theirs
    else:
        assert_allclose(growth.threshold[r], twin["threshold"], rtol=1e-12)
        assert growth.side[r] == twin["side"]


def check_like_twin(X, y, weight, n_codes, k, settings, priors=None, loss=None, copies=None):
    data, _, _, growth, tree = grown(
        X, y, weight, n_codes, k, settings, priors=priors, loss=loss, copies=copies
    )
    twin = Twin(
        X, y, weight, data.cart.copies, k, n_codes, CRITERIA[settings.criterion], settings,
        rho=data.cart.rho, alpha=data.cart.alpha, loss=data.cart.loss,
    )  # fmt: skip
    place = {int(number): i for i, number in enumerate(growth.number)}
    assert set(place) == {node["number"] for node in twin.nodes}
    for node in twin.nodes:
        i = place[node["number"]]
        assert growth.n_rows[i] == node["rows"]
        assert_allclose(growth.weight[i], node["weight"])
        assert_allclose(growth.risk[i], node["risk"], atol=1e-9)
        scale = max(twin.nodes[0]["risk"], 1e-300)
        assert_allclose(growth.complexity[i] * scale, node["complexity"], atol=1e-9)
        assert growth.n_rules[i] == len(node["rules"])
        assert growth.n_surrogates[i] == len(node["spare"])
        if k == 0:
            assert_allclose(tree.value[i, 0], node["says"], atol=1e-9)
        for q, rule in enumerate(node["rules"] + node["spare"]):
            r = growth.first[i] + q
            check_rule(growth, r, rule)
            if q >= len(node["rules"]):
                assert_allclose(growth.adjusted[r], rule["adjusted"], atol=1e-10)
    return growth, tree


SMALL = CartSettings(cp=0.0, min_samples_split=6, min_samples_leaf=2)


@pytest.mark.parametrize("weights", ["one", "whole"])
@pytest.mark.parametrize("criterion", ["gini", "entropy", "twoing"])
@pytest.mark.parametrize("k", [2, 3])
def test_classes_are_divided_as_by_the_twin(k, criterion, weights):
    X, y, weight, n_codes = table_of(k, k=k, weights=weights)
    growth, _ = check_like_twin(X, y, weight, n_codes, k, replace(SMALL, criterion=criterion))
    assert len(growth.number) > 5


@pytest.mark.parametrize("use", [0, 1, 2])
@pytest.mark.parametrize("of_known", [False, True])
def test_surrogates_are_used_as_by_the_twin(use, of_known):
    X, y, weight, n_codes = table_of(7, n=50, missing=0.3)
    settings = replace(SMALL, use_surrogates=use, of_known=of_known, cp=0.01)
    check_like_twin(X, y, weight, n_codes, 3, settings)


@pytest.mark.parametrize("weights", ["one", "real"])
def test_numbers_are_divided_as_by_the_twin(weights):
    X, y, weight, n_codes = table_of(3, k=0, weights=weights)
    growth, _ = check_like_twin(X, y, weight, n_codes, 0, replace(SMALL, cp=0.005))
    assert len(growth.number) > 5


def test_priors_losses_and_copies_are_those_of_the_twin():
    X, y, weight, n_codes = table_of(5, weights="whole")
    loss = np.array([[0.0, 1, 4], [1, 0, 1], [2, 3, 0]])
    priors = np.array([0.5, 0.25, 0.25])
    copies = weight.astype(np.int64)
    check_like_twin(X, y, weight, n_codes, 3, SMALL, priors=priors, loss=loss, copies=copies)


def test_weight_two_is_the_row_twice():
    X, y, weight, n_codes = table_of(11, weights="whole")
    times = weight.astype(np.int64)
    once = grown(X, y, weight, n_codes, 3, SMALL, copies=times)[3]
    row = np.repeat(np.arange(len(y)), times)
    often = grown(X[row], y[row], np.ones(len(row)), n_codes, 3, SMALL)[3]
    for name in ("number", "n_rows", "risk", "column", "worth", "threshold", "adjusted", "xerror"):
        assert_allclose(getattr(once, name), getattr(often, name), err_msg=name)


@pytest.mark.parametrize("k", [0, 2, 3])
def test_prunings_are_the_best_subtrees(k):
    """Each row of the table is the subtree of least risk + cp * splits, of all subtrees."""
    X, y, weight, n_codes = table_of(2, n=30, k=k, missing=0.0)
    settings = CartSettings(cp=0.0, min_samples_split=6, min_samples_leaf=3, max_depth=3)
    _, _, table, growth, _ = grown(X, y, weight, n_codes, k, settings)
    place = {int(number): i for i, number in enumerate(growth.number)}

    def subtrees(i):
        number = int(growth.number[i])
        yield growth.risk[i], 0
        if growth.n_rules[i]:
            for left in list(subtrees(place[2 * number])):
                for right in subtrees(place[2 * number + 1]):
                    yield left[0] + right[0], left[1] + right[1] + 1

    every = list(subtrees(0))
    risk = growth.risk[0]
    for cp, splits, error in zip(table.cp, table.n_splits, table.rel_error, strict=True):
        best = min(r / risk + cp * s for r, s in every)
        assert_allclose(error + cp * splits, best, atol=1e-9)
        smallest = min(s for r, s in every if r / risk + cp * s <= best + 1e-9)
        assert splits == smallest
    assert (np.diff(table.cp) < 0).all()
    assert (np.diff(table.n_splits) > 0).all()


def test_pruned_is_grown_to_that_complexity():
    X, y, weight, n_codes = table_of(4, n=60)
    settings = replace(SMALL, cp=0.001)
    _, _, table, growth, tree = grown(X, y, weight, n_codes, 3, settings)
    for cp in table.cp:
        smaller = growth.pruned(float(cp))
        again = grown(X, y, weight, n_codes, 3, replace(settings, cp=float(cp) * (1 + 1e-9)))
        assert set(smaller.number) == set(again[3].number)
        assert len(smaller.column) == len(again[3].column)
        cut = tree.collapse(np.flatnonzero((tree.n_children > 0) & (growth.complexity <= cp)))
        assert_array_equal(cut.n_children > 0, smaller.n_rules > 0)
        assert_allclose(smaller.importance(), again[3].importance())


def test_folds_are_grown_on_the_other_rows():
    """The cross-validated error of a slow loop over folds, rows and complexities."""
    X, y, weight, n_codes = table_of(9, n=48, weights="whole")
    settings = replace(SMALL, cp=0.01)
    data, _, table, growth, _ = grown(X, y, weight, n_codes, 3, settings)
    folds = np.arange(len(y)) % 4

    def part(rows, columns):
        return np.ascontiguousarray(X[np.ix_(rows, columns)])

    risk = growth.risk[0]
    found = cross_validate(data, settings, table, part, folds, 1, risk)
    limits = np.append(10 * table.cp[0], np.sqrt(table.cp[:-1] * table.cp[1:]))
    errors = np.zeros((len(y), len(limits)))
    for fold in range(4):
        kept, out = np.flatnonzero(folds != fold), np.flatnonzero(folds == fold)
        share = weight[kept].sum() / weight.sum()
        held = np.bincount(y[kept], weight[kept], minlength=3)
        own = settings.cp * risk * share / (held.sum() - held.max())
        twig = replace(settings, cp=own)
        _, _, _, inner, tree = grown(X[kept], y[kept], weight[kept], n_codes, 3, twig)
        for i, limit in enumerate(limits):
            weak = inner.complexity * inner.risk[0] <= limit * risk * share
            says = tree.collapse(np.flatnonzero((tree.n_children > 0) & weak)).answers(X[out])
            errors[out, i] = says[:, 0].argmax(axis=1) != y[out]
    total = weight @ errors
    assert_allclose(found.xerror, total / risk)
    spread = np.sqrt(weight @ errors**2 - total**2 / weight.sum())
    assert_allclose(found.xstd, spread / risk)
    row = one_se_row(found)
    least = found.xerror.argmin()
    assert found.xerror[row] <= found.xerror[least] + found.xstd[least]
    assert row == 0 or found.xerror[row - 1] > found.xerror[least] + found.xstd[least]


@pytest.mark.parametrize("jobs", [2, 3])
def test_threads_change_nothing(jobs):
    X, y, weight, n_codes = table_of(1, k=0)
    data, _, table, growth, _ = grown(X, y, weight, n_codes, 0, SMALL)
    folds = np.arange(len(y)) % 5

    def part(rows, columns):
        return np.ascontiguousarray(X[np.ix_(rows, columns)])

    one, more = (
        cross_validate(data, SMALL, table, part, folds, n, growth.risk[0]) for n in (1, jobs)
    )
    assert one.xerror.tobytes() == more.xerror.tobytes()
    assert one.xstd.tobytes() == more.xstd.tobytes()


@pytest.mark.parametrize("criterion", ["gini", "entropy", "twoing"])
@pytest.mark.parametrize("k", [2, 3])
def test_levels_are_divided_best(criterion, k):
    """Two classes in order of their shares, more by every subset: no division is worth more."""
    rng = np.random.default_rng(k)
    levels, n = 6, 60
    x = rng.integers(0, levels, n)
    y = np.minimum(rng.poisson(0.5 + 0.3 * (x % 3)), k - 1)
    settings = CartSettings(min_samples_split=2, min_samples_leaf=1, criterion=criterion, cp=0.0)
    growth = grown(x[:, None] * 1.0, y, np.ones(n), {0: levels}, k, settings)[3]

    def worth(first):
        left = np.bincount(y[np.isin(x, list(first))], minlength=k) * 1.0
        whole = np.bincount(y, minlength=k) * 1.0
        return worth_of(CRITERIA[criterion], whole, left, whole - left)

    assert_allclose(growth.worth[0], best_of_all_subsets(worth, np.unique(x)))


def test_many_levels_are_ordered_by_their_principal_component():
    """Levels of two kinds, with more of them than subsets can be tried: the kinds are divided."""
    rng = np.random.default_rng(0)
    levels = 40
    x = np.repeat(np.arange(levels), 10)
    kind = rng.integers(0, 2, levels)[x]
    y = np.where(kind == 1, rng.integers(0, 2, len(x)), rng.integers(2, 4, len(x)))
    growth = grown(x[:, None] * 1.0, y, np.ones(len(x)), {0: levels}, 4, SMALL)[3]
    at = slice(growth.level_ptr[0], growth.level_ptr[1])
    left = {int(c) for c in growth.level_code[at][growth.level_branch[at] < 0]}
    assert left == set(np.unique(x[kind == 1]).tolist())


def test_a_copy_of_the_split_is_a_surrogate():
    """rpart refuses copies of a categorical split with fewer than two disagreements: [4, 3]."""
    a = np.repeat([0.0, 1.0], 20)
    once, twice = a.copy(), a.copy()
    once[0], twice[:2] = 1.0, 1.0
    X = np.column_stack([a, a, once, twice, a])
    y = a.astype(int)
    growth = grown(X, y, np.ones(40), {1: 2, 2: 2, 3: 2}, 2, SMALL)[3]
    assert growth.column[growth.role == 2].tolist() == [1, 4, 2, 3]


A, B, C, D, GONE = 0.0, 1.0, 2.0, 3.0, np.nan
# What the left (x = 0) and the right rows (x = 1) have in a column of four levels, in which level A
# is as often left as right; and the side it goes to, by hand: rpart takes that of most of the rows
# in which this column is known, and right where these tie.
TIED = {
    "known rows tie, most rows left: right": (
        [A] + [B] * 7 + [C] * 2 + [GONE] * 3, [A] + [C] * 7 + [B] * 2, 1,
    ),
    "known rows tie, most rows right: right": (
        [A] + [B] * 7 + [C] * 2, [A] + [C] * 7 + [B] * 2 + [GONE] * 3, 1,
    ),
    "all rows tie: right": ([A] * 2 + [B] * 7 + [C], [A] * 2 + [C] * 7 + [B], 1),
    "known rows and all left: left": ([A] * 3 + [B] * 8, [A] * 3 + [C] * 6, -1),
    "known rows left, most rows right: left": (
        [A] + [B] * 7, [A] + [C] * 5 + [GONE] * 6, -1,
    ),
    "known rows right, most rows left: right": (
        [A] + [B] * 5 + [GONE] * 6, [A] + [C] * 7, 1,
    ),
    "two levels tie, known rows left: both left": (
        [A, D] + [B] * 7, [A, D] + [C] * 6 + [GONE] * 4, -1,
    ),
}  # fmt: skip


@pytest.mark.parametrize("case", TIED)
def test_a_tied_level_goes_with_most_rows_that_know_the_surrogate(case):
    left, right, side = TIED[case]
    X = np.column_stack([np.repeat([0.0, 1.0], [len(left), len(right)]), [*left, *right]])
    y = X[:, 0].astype(int)
    settings = replace(SMALL, min_samples_split=4, min_samples_leaf=1)
    growth, _ = check_like_twin(X, y, np.ones(len(y)), {1: 4}, 2, settings)
    rule = int(np.flatnonzero(growth.role == 2)[0])
    at = slice(growth.level_ptr[rule], growth.level_ptr[rule + 1])
    sides = dict(zip(growth.level_code[at].tolist(), growth.level_branch[at].tolist(), strict=True))
    assert sides[0] == side
    assert sides.get(3, side) == side


@pytest.mark.parametrize(
    "change",
    [
        {"number": np.zeros(1, np.int64)},
        {"n_rules": np.full(3, 99)},
        {"n_surrogates": np.array([-1, 1, 0])},
        {"column": np.full(3, 5)},
        {"level_ptr": np.array([0, 3, 1, 0])},
        {"worth": np.zeros(3, np.int64)},
        {"threshold": np.zeros((3, 1))},
        {"rel_error": np.zeros(1)},
        {"xerror": np.zeros(1)},
        {"cp": None},
    ],
)
def test_damaged_growth_is_refused(change):
    x = np.repeat([0.0, 1.0], 10)
    growth = grown(np.column_stack([x, x]), x.astype(int), np.ones(20), {}, 2, SMALL)[3]
    assert (len(growth.number), len(growth.column)) == (3, 3)
    with pytest.raises(ModelFileError, match="the growth of a tree is damaged"):
        replace(growth, **change)
