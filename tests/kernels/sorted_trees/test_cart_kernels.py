"""The pieces of CART's kernels, each against what it says it does."""

import math

import numba
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal

from psephos.kernels.sorted_trees.cart_node import agree_numbers, divide, divide_rows, sent
from psephos.kernels.sorted_trees.cart_search import (
    ENTROPY,
    GINI,
    ROW,
    SHIFT,
    TWOING,
    Cart,
    Scratch,
    Slots,
    cut_between,
    keep_rows,
    put,
    scan_classes,
    scan_numbers,
    sorted_columns,
)
from psephos.kernels.sorted_trees.cart_search import worth as worth_of


def called(kernel):
    """Return a function that calls a kernel which has no wrapper for Python."""
    return numba.njit(error_model="numpy")(lambda *given: kernel(*given))


scan_classes, scan_numbers = called(scan_classes), called(scan_numbers)
agree_numbers, sent = called(agree_numbers), called(sent)
cut_between, put = called(cut_between), called(put)
divide, divide_rows = called(divide), called(divide_rows)
CRITERIA = {"gini": GINI, "entropy": ENTROPY, "twoing": TWOING}


def cart_of(y, weight, k=0, alpha=None, copies=None):
    """Training rows without columns."""
    n = len(y)
    ones, none = np.ones(max(k, 1)), np.zeros(0)
    copies = np.ones(n, np.int64) if copies is None else copies
    alpha = ones if alpha is None else alpha
    return Cart(
        k, np.asarray(y if k else none, np.int32), none if k else np.asarray(y, float), weight,
        copies, alpha, ones, 1 - np.eye(max(k, 1)),
        True, np.zeros(2, np.int64), none, np.ones(1),
    )  # fmt: skip


def sorted_column(x):
    """Return (keys, distinct values) of one column."""
    keys, known, n_values, values = sorted_columns(x[None])
    assert len(values) == n_values[0]
    return keys[0, : known[0]], values


def test_columns_of_a_block_are_sorted_on_their_own():
    block = np.array([[2.0, 1.0, 2.0], [np.nan, 0.5, np.nan], [np.nan] * 3])
    keys, known, n_values, values = sorted_columns(block)
    assert_array_equal(known, [3, 1, 0])
    assert_array_equal(n_values, [2, 1, 0])
    assert_array_equal(values, [1.0, 2.0, 0.5])
    assert_array_equal(keys[0] >> SHIFT, [0, 1, 1])
    assert_array_equal(keys[1, :1], [1])


def test_columns_are_sorted_without_what_is_missing():
    keys, values = sorted_column(np.array([2.0, np.nan, -0.0, 2.0, 0.0, -1.5]))
    assert_array_equal(values, [-1.5, 0.0, 2.0])
    assert_array_equal(keys >> SHIFT, [0, 1, 1, 2, 2])
    assert sorted((keys & ROW).tolist()) == [0, 2, 3, 4, 5]
    assert sorted_column(np.full(3, np.nan))[0].shape == (0,)
    assert sorted_column(np.zeros(0))[1].shape == (0,)


@given(st.floats(-1e300, 1e300), st.floats(0, 1e10))
def test_cuts_divide(low, gap):
    high = max(low + gap, math.nextafter(low, math.inf))
    assert low < cut_between(low, high) <= high


@given(st.lists(st.integers(0, 5), max_size=12), st.integers(0, 4))
def test_slots_hold_the_best_in_order(worths, room):
    slots = Slots(
        np.zeros((room, 6), np.int64), np.zeros((room, 3)), None,
    )  # fmt: skip
    slots.whole[:, 5] = np.arange(room)
    held = 0
    for i, worth in enumerate(worths):
        slot, held = put(slots, held, float(worth))
        if slot >= 0:
            slots.whole[slot, 0] = i
    kept = [slots.whole[slots.whole[i, 5], 0] for i in range(held)]
    assert kept == sorted(range(len(worths)), key=lambda i: -worths[i])[:room]  # stable


@pytest.mark.parametrize("name", CRITERIA)
@pytest.mark.parametrize("weighted", [False, True])
def test_cuts_of_classes_are_the_best(name, weighted):
    rng = np.random.default_rng(0)
    n, k = 30, 3
    y, x = rng.integers(0, k, n), rng.integers(0, 9, n).astype(float)
    weight = rng.integers(1, 4, n) * 1.0 if weighted else np.ones(n)
    alpha = np.array([0.5, 1.0, 2.5]) if weighted else np.ones(k)
    keys, values = sorted_column(x)
    crit, data = CRITERIA[name], cart_of(y, weight, k, alpha)
    held = np.bincount(y, weight, minlength=k)
    empty = np.zeros(1, np.int8), np.zeros(1, np.int64), np.zeros(1, np.int32)
    work = Scratch(np.zeros((6, k)), *empty, None)
    work.sums[0] = held
    worth, low, high, side = scan_classes(crit, data, 4, keys[None], 0, 0, n, n, work)
    total = alpha * held
    none = worth_of(crit, total, total, np.zeros(k))
    best = (0.0, -1, 0)
    for cut in range(len(values) - 1):
        below = x <= values[cut]
        if min(below.sum(), (~below).sum()) < 4:
            continue
        left = alpha * np.bincount(y[below], weight[below], minlength=k)
        gain = worth_of(crit, total, left, total - left) - none
        means = [(np.arange(k) * s).sum() / s.sum() for s in (left, total - left)]
        if gain > best[0] + 1e-12:
            best = (gain, cut, -1 if means[0] < means[1] else 1)
    assert_allclose(worth, best[0])
    assert (low, high, side) == (best[1], best[1] + 1, best[2])


def test_cuts_of_numbers_are_the_best():
    rng = np.random.default_rng(1)
    x, y, weight = rng.integers(0, 9, 30) * 1.0, rng.standard_normal(30), rng.random(30) + 0.1
    keys, values = sorted_column(x)
    data = cart_of(y, weight)
    worth, low, _, side = scan_numbers(data.target, data, 5, keys[None], 0, 0, 30, 30)

    def squares(rows):
        return (weight[rows] * (y[rows] - np.average(y[rows], weights=weight[rows])) ** 2).sum()

    falls = {
        cut: squares(x >= 0) - squares(x <= values[cut]) - squares(x > values[cut])
        for cut in range(len(values) - 1)
        if min((x <= values[cut]).sum(), (x > values[cut]).sum()) >= 5
    }
    best = max(falls, key=lambda cut: falls[cut])
    assert low == best
    assert_allclose(worth, falls[best])
    means = [np.average(y[s], weights=weight[s]) for s in (x <= values[best], x > values[best])]
    assert side == (-1 if means[0] < means[1] else 1)


@given(st.lists(st.tuples(st.integers(0, 4), st.sampled_from([-1, 0, 1])), min_size=1, max_size=14))
def test_agreement_is_counted(rows):
    x = np.array([row[0] for row in rows], float)
    go = np.array([row[1] for row in rows], np.int8)
    keys, values = sorted_column(x)
    n = len(x)
    data = cart_of(np.zeros(n), np.ones(n))
    left, right, number = sent(data, keys[None], 0, 0, n, go)
    assert (left, right, number) == ((go < 0).sum(), (go > 0).sum(), (go != 0).sum())
    best, where = max(left, right), 0
    for cut in range(len(values) - 1):
        below = x <= values[cut]
        if min((below & (go != 0)).sum(), (~below & (go != 0)).sum()) < 2:
            continue
        for side in (1, -1):
            agreement = (np.where(below, side, -side) == go).sum()
            if agreement > best:
                best, where = agreement, side
    found = agree_numbers(data, keys[None], 0, 0, n, go, left, right, number)
    assert (found[0], found[3]) == (best, where)


@given(st.lists(st.tuples(st.integers(0, 3), st.sampled_from([-1, 0, 1])), min_size=1, max_size=12))
def test_entries_stay_sorted_when_they_are_divided(rows):
    x = np.array([row[0] if row[0] < 3 else np.nan for row in rows])
    go = np.array([row[1] for row in rows], np.int8)
    n = len(x)
    entries = sorted_column(x)[0]
    known = np.array([len(entries)])
    for right in (True, False):
        keys = np.zeros((1, n), np.int64)
        keys[0, : len(entries)] = entries
        order, buffer = np.arange(n, dtype=np.int32), np.zeros(n, np.int32)
        n_left, n_right = divide_rows(order, 0, n, go, buffer)
        assert_array_equal(order[:n_left], np.flatnonzero(go < 0))
        assert_array_equal(order[n_left : n_left + n_right], np.flatnonzero(go > 0))
        out = np.zeros((2, 1), np.int64)
        divide(keys, known, 0, go, n_left, right, out[0], out[1], np.zeros(n, np.int64))
        for lives, side, at, m in zip((True, right), (-1, 1), (0, n_left), out[:, 0], strict=True):
            if lives:
                assert_array_equal(keys[0, at : at + m], entries[go[entries & ROW] == side])


def test_rows_of_a_fold_are_kept_in_order():
    entries = sorted_column(np.array([3.0, 1.0, 2.0, 1.0]))[0][None]
    kept = np.array([True, False, True, True])
    out, known = np.zeros((1, 4), np.int64), np.zeros(1, np.int64)
    keep_rows(entries, np.array([4]), kept, out, known)
    assert known[0] == 3
    assert_array_equal(out[0, :3] & ROW, [3, 2, 0])


@given(st.lists(st.tuples(*[st.integers(0, 9)] * 2), min_size=2, max_size=2))
def test_twoing_of_two_classes_is_half_of_gini(counts):
    left, right = (np.array(c, float) for c in counts)
    if left.sum() and right.sum():
        half = worth_of(GINI, left + right, left, right) / 2
        assert_allclose(worth_of(TWOING, left + right, left, right), half, atol=1e-12)


@given(st.lists(st.tuples(*[st.integers(0, 9)] * 4), min_size=2, max_size=2))
def test_twoing_is_the_best_of_all_pairs_of_superclasses(counts):
    left, right = (np.array(c, float) for c in counts)
    if left.sum() and right.sum():
        best = 0.0
        for mask in range(1, 8):
            members = np.array([mask >> i & 1 for i in range(4)], bool)
            one, two = (np.array([s[members].sum(), s[~members].sum()]) for s in (left, right))
            best = max(best, worth_of(GINI, one + two, one, two) / 2)
        assert_allclose(worth_of(TWOING, left + right, left, right), best, atol=1e-12)


def test_entropy_falls_by_the_formula():
    left, right = np.array([3.0, 1, 0]), np.array([0.0, 2, 5])
    whole = left + right
    fall = worth_of(ENTROPY, whole, left, right) - worth_of(ENTROPY, whole, whole, np.zeros(3))

    def entropy(s):
        p = s[s > 0] / s.sum()
        return -s.sum() * (p * np.log(p)).sum()

    assert_allclose(fall, entropy(whole) - entropy(left) - entropy(right))
