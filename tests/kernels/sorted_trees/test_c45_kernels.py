"""C4.5's kernels against their formulas; also with the JIT off."""

import numba
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from scipy.stats import norm

from psephos.kernels.numerics.ordering import sort_rows
from psephos.kernels.sorted_trees import c45_grow, c45_prune
from psephos.kernels.sorted_trees.c45_grow import (
    TIE,
    C45Growth,
    Counts,
    Nodes,
    best_cut,
    code_worth,
    grow,
    x_log2_x,
)
from psephos.kernels.sorted_trees.c45_prune import (
    Limit,
    added_errors,
    collapse,
    pessimistic,
    prune,
    reached,
)
from psephos.runtime.jit import frozen


def called(kernel):
    """Return a function that calls a kernel which has no wrapper for Python."""
    return numba.njit(error_model="numpy")(lambda *given: kernel(*given))


best_cut, code_worth = called(best_cut), called(code_worth)
x_log2_x, pessimistic = called(x_log2_x), called(pessimistic)
J48 = Limit(0.25, float(norm.ppf(0.75)), False)
OLD = Limit(0.25, 0.6925, True)
NONE = np.empty(0)


def rule(k=2, least=2.0, old=False, n=100.0):
    return C45Growth(k, least, 0.0 if old else TIE, old, n)


def counts(codes, k):
    return Counts(
        np.zeros((codes, k)), np.zeros(codes), np.empty(codes, np.int64), np.empty(k), np.zeros(k),
        np.empty((2, k)), np.empty(k, np.int64), np.empty(k, np.bool_),
    )  # fmt: skip


def entropy(bag):
    p = np.asarray(bag)[np.asarray(bag) > 0] / np.sum(bag)
    return -(p * np.log2(p)).sum()


def test_x_log2_x():
    table = np.array([0.0, 0.0, 2.0])
    for x, expected in [
        (0.0, 0.0),
        (2.0, 2.0),
        (8.0, 24.0),
        (0.5, -0.5),
        (1e-7, 0.0),
        (-1e-9, 0.0),
    ]:
        assert x_log2_x(x, table) == expected
        assert x_log2_x(x, NONE) == expected


@pytest.mark.parametrize(
    ("n", "e", "added"),
    [
        (1, 0, 0.75), (2, 0, 1.0), (6, 0, 1.237797), (16, 0, 1.327935), (100, 0, 1.376730),
        (2, 1, 0.791493), (6, 1, 1.303507), (14, 2, 1.603344), (16, 1, 1.475715),
        (100, 10, 2.749611), (168, 1, 1.573759), (10, 0.5, 1.353528), (10, 9.7, 0.3),
    ],
)  # fmt: skip
def test_added_errors_of_j48(n, e, added):
    assert_allclose(added_errors(float(n), float(e), J48), added, atol=1e-6)


@pytest.mark.parametrize(
    ("n", "e", "added"),
    [
        (2, 1, 0.796241), (6, 1, 1.326485), (14, 2, 1.636154), (16, 1, 1.506894),
        (100, 10, 2.814705), (10, 9.7, 0.201),
    ],
)  # fmt: skip
def test_added_errors_of_release_8(n, e, added):
    assert_allclose(added_errors(float(n), float(e), OLD), added, atol=1e-6)


def test_little_confidence_is_needed_for_none():
    assert added_errors(10.0, 2.0, Limit(0.6, -0.25, False)) == 0.0
    assert pessimistic(np.array([8.0, 2.0]), Limit(0.6, -0.25, False)) == 2.0
    assert pessimistic(np.zeros(3), J48) == 0.0


@settings(max_examples=60)
@given(st.integers(0, 2**32 - 1), st.integers(2, 4), st.integers(0, 30), st.booleans())
def test_best_cut_is_the_best(seed, k, n, old):
    rng = np.random.default_rng(seed)
    x, y, w = rng.integers(0, 8, n) / 2.0, rng.integers(0, k, n), rng.choice([0.5, 1.0, 2.0], n)
    weight, r = w.sum() + 1.5, rule(k, 1.0, old)
    order = np.argsort(x, kind="stable").astype(np.int32)
    c = counts(1, k)
    c.total[:] = np.bincount(y, w, k)
    gain, ratio, at = best_cut(order, n, float(w.sum()), x, y, w, weight, r, NONE, c)
    found, least = [], max(min(0.1 * w.sum() / k, 25.0), 1.0)
    for cut in np.unique(x)[:-1]:
        bags = [np.bincount(y[side], w[side], k) for side in (x <= cut, x > cut)]
        if min(bag.sum() for bag in bags) >= least:
            left = w.sum() * entropy(c.total) - sum(bag.sum() * entropy(bag) for bag in bags)
            found.append((left / weight, cut, [bag.sum() for bag in bags]))
    if at < 0:
        worth = max((f[0] for f in found), default=0.0)
        few = w.sum() < (2.0 if old else 2 * least)
        assert few or worth - np.log2(max(len(found), 1)) / weight < 2 * TIE
        return
    best = max(f[0] for f in found)
    first = next(f for f in found if f[0] > best - 1e-9)
    assert_allclose(gain, best - np.log2(len(found)) / weight, atol=1e-5)
    if sum(f[0] > best - 1e-5 for f in found) == 1:
        assert x[order[at]] == first[1]
        assert_allclose(ratio, gain / entropy([*first[2], 1.5]), rtol=1e-9)


def bagged(codes, y, k, n_codes):
    c = counts(n_codes, k)
    for code, label in zip(codes, y, strict=True):
        c.bag[code, label] += 1
        c.weight[code] += 1
        c.total[label] += 1
    met = np.unique(codes)
    c.seen[: len(met)] = met
    return len(met), c


def test_codes():
    codes, y = np.repeat([0, 2, 3], [4, 3, 1]), np.array([0, 0, 0, 1, 1, 1, 1, 1])
    met, c = bagged(codes, y, 2, 5)
    valid, gain, ratio = code_worth(met, 10.0, rule(), NONE, c)
    assert valid
    assert_allclose(gain, (8 * entropy([3, 5]) - 4 * entropy([3, 1])) / 10)
    assert_allclose(ratio, gain / entropy([4, 3, 1, 2]))
    assert not code_worth(met, 10.0, rule(least=4.0), NONE, c)[0]


def tree_of(X, y, n_codes, r, w=None):
    w = np.ones(len(y)) if w is None else w
    X = frozen(np.asarray(X, float).T)
    numeric = n_codes == 0
    order, _, known = sort_rows(X[numeric])
    at = np.cumsum(numeric) - 1
    listed = np.ones(len(X), np.bool_)
    c = counts(max(n_codes.max(), 1), r.n_classes)
    return (
        X,
        w,
        grow(X, y, w, n_codes, at, order, known, listed, r, NONE, c),
    )


def spread_rows():
    """Three codes and a gap; the second column cuts one code's rows apart."""
    codes = np.array([0, 0, 0, 0, 1, 1, 1, 1, 1, 1, np.nan, np.nan])
    number = np.array([1, 1, 1, 1, 1, 1, 1, 5, 5, 5, 1, 5])
    y = np.array([0, 0, 0, 0, 0, 0, 0, 1, 1, 1, 0, 1])
    return np.column_stack([codes, number]), y


def test_missing_rows_are_divided():
    X, y = spread_rows()
    r = rule(least=1.0)
    _, _, nodes = tree_of(X[:, :1], y, np.array([3]), r)
    assert np.isnan(nodes.threshold[0])
    assert_array_equal(nodes.n_children, [3, 0, 0, 0])
    assert_allclose(nodes.counts[1:], [[4.4, 0.4], [3.6, 3.6], [0, 0]])
    assert_allclose(nodes.share[1:], [0.4, 0.6, 0])
    assert_array_equal(nodes.n_rows, [12, 6, 8, 0])


def test_a_threshold_is_the_middle_of_two_values():
    X = np.array([0.0, 0, 1, 1, 8, 8, 9, 9, 4])[:, None]
    y, r = np.array([0, 0, 0, 0, 1, 1, 1, 1, 1]), rule(least=1.0)
    _, _, nodes = tree_of(X, y, np.zeros(1, np.int64), r)
    assert nodes.threshold[0] == 2.5


def test_collapse_and_prune():
    X, y = spread_rows()
    noise = y.copy()
    noise[0] = 1
    for limit in (J48, OLD):
        r = rule(least=1.0, old=limit.old)
        table, w, nodes = tree_of(X, noise, np.array([3, 0]), r)
        size = len(nodes.child)
        collapse(nodes, limit.old)
        prune(table, noise, w, nodes, limit)
        old, child = reached(nodes)
        assert len(old) < size
        leaves = nodes.n_children[old] == 0
        assert_allclose(nodes.counts[old[leaves]].sum(), 12)
        assert (child[~leaves] > np.flatnonzero(~leaves)).all()


@pytest.mark.parametrize("old", [False, True])
def test_room_may_be_short_at_any_node(old, monkeypatch):
    """Growth and pruning go on where they stopped: a room that is always too short changes nothing.

    Columns with gaps make rows part of every branch, so that all lists grow longer than the table.
    """
    rng = np.random.default_rng(5)
    n_codes = np.array([0, 3, 0])
    X = np.column_stack([rng.integers(0, 9, 60), rng.integers(0, 3, 60), rng.random(60)])
    y = np.where(X[:, 1] > 0, X[:, 0] > 4, 2 * (X[:, 2] > 0.5)).astype(np.int64)
    X[rng.random(X.shape) < 0.2] = np.nan
    r = rule(3, 1.0, old=old)

    def whole():
        table, w, nodes = tree_of(X, y, n_codes, r)
        grown = [array.copy() for array in nodes]
        prune(table, y, w, nodes, OLD if old else J48)
        return grown, nodes

    grown, pruned = whole()
    asked = []

    def as_long_as_asked(a, size, rest=0):
        asked.append(size)
        out = np.full((max(size, len(a)), *a.shape[1:]), rest, a.dtype)
        out[: len(a)] = a
        return out

    begin = c45_grow._begin

    def begin_short(*given):
        nodes, room = begin(*given)
        few = {name: getattr(room, name)[:1] for name in ("waiting", "start", "up")}
        few["arena"], few["weights"] = room.arena[:, :61].copy(), room.weights[:61]
        return Nodes(*(array[:1] for array in nodes)), room._replace(**few)

    monkeypatch.setattr(c45_grow, "longer", as_long_as_asked)
    monkeypatch.setattr(c45_prune, "longer", as_long_as_asked)
    monkeypatch.setattr(c45_grow, "_begin", begin_short)
    monkeypatch.setattr(c45_prune, "_VISITS_FIRST", 1)
    again, same = whole()
    for one, other in zip((*grown, *pruned), (*again, *same), strict=True):
        assert_array_equal(one, other)
    assert len(asked) > 3
