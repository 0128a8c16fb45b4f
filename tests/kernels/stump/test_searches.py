import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from psephos.kernels.numerics.criteria import opposite_labels
from psephos.kernels.stump import (
    FLAG,
    ROW,
    Worth,
    gain,
    quantise,
    round_weights,
    screen_error,
    screen_gini,
)
from psephos.trees.stump import sort_columns


@pytest.mark.parametrize("n_classes", [2, 3, 5])
def test_gain(random_seed, n_classes):
    rng = np.random.default_rng(random_seed)
    for _ in range(50):
        left, right = rng.integers(0, 4, (2, n_classes)).astype(float)
        parent = left + right
        worth = [left[k] + right[m] for k in range(n_classes) for m in range(n_classes) if k != m]
        error = gain(Worth(True, n_classes), parent, left, right)
        assert error == max(worth) - parent.max()
        k, m = opposite_labels(left, right)
        assert k != m
        assert left[k] + right[m] == max(worth)

        def impurity(t):
            return t.sum() * (1 - ((t / t.sum()) ** 2).sum()) if t.sum() > 0 else 0.0

        want = impurity(parent) - impurity(left) - impurity(right)
        assert_allclose(gain(Worth(None, n_classes), parent, left, right), want, atol=1e-12)
        mirrored = gain(Worth(None, n_classes), parent, right, left)
        assert mirrored == gain(Worth(None, n_classes), parent, left, right)


def test_rounded_weights_add_exactly_in_any_order(random_seed):
    rng = np.random.default_rng(random_seed)
    for scale in (1e-200, 1.0, 1e200):
        w = rng.random(1000) * 10.0 ** rng.uniform(-15, 0, 1000) * scale
        r = round_weights(w)
        assert_allclose(r, w, rtol=0, atol=w.sum() * 2.0**-52)
        sums = [float(r[rng.permutation(1000)].cumsum()[-1]) for _ in range(5)]
        assert len(set(sums)) == 1
    whole = np.array([1.0, 2.0, 3.0])
    assert_array_equal(round_weights(whole), whole)
    assert_array_equal(round_weights(np.zeros(3)), np.zeros(3))


def test_a_side_below_the_least_weight_is_worth_nothing():
    for n_classes in (2, 3):
        left, right = np.ones(n_classes), np.arange(1.0, n_classes + 1)
        for kind in (None, True):
            none, some = (Worth(kind, n_classes, n_classes + more) for more in (0.5, 0.0))
            assert gain(none, left + right, left, right) == -np.inf
            assert gain(some, left + right, left, right) > -np.inf


def _awkward_columns(rng, n):
    special = np.array([np.nan, np.inf, -np.inf, 0.0, -0.0, 5e-324, -5e-324, 1e300, 1.0, -1.0])
    columns = [
        rng.standard_normal(n),
        rng.standard_normal(n).astype(np.float32).round(1),  # ties the leading bits tell apart
        rng.standard_normal(n).round(1),
        special[rng.integers(0, len(special), n)],
        special[rng.integers(1, len(special), n)],
        1.0 + rng.permutation(n) * 2.0**-52,  # all agree in their leading bits
        -1.0 - rng.integers(0, 9, n) * 2.0**-52,
        np.where(rng.random(n) < 0.3, np.nan, rng.standard_normal(n)),
        np.where(np.arange(n) == 0, -np.nan, np.arange(n)),
        np.full(n, np.nan),
        np.full(n, -0.0),
    ]
    return np.array(columns)


@pytest.mark.parametrize("n", [1, 2, 40, 333])
def test_columns_are_sorted_and_their_thresholds_flagged(random_seed, n):
    values = _awkward_columns(np.random.default_rng(random_seed), n)
    rows, n_present, kept = sort_columns(values)
    present = n - np.isnan(values).sum(axis=1)
    assert_array_equal(n_present, present)
    rows_of = {j: rows[j] for j in np.flatnonzero(kept).tolist()}
    for j, x in enumerate(values):
        m = int(present[j])
        numbers = np.sort(x)[:m]
        cut = np.append(numbers[1:] > numbers[:-1], 0 < m < n)[: max(m, 1)]
        assert kept[j] == cut.any()
        if j in rows_of:
            named = rows_of[j] & ROW
            assert_array_equal(np.sort(named[:m]), np.flatnonzero(~np.isnan(x)))
            assert_array_equal(x[named[:m]], numbers)
            assert (named[m:] == n).all()
            assert_array_equal(rows_of[j][:m] >= FLAG, cut)


@pytest.mark.parametrize("flagged", [False, True])
def test_screens_bound_every_column(random_seed, flagged):
    rng = np.random.default_rng(random_seed)
    n, p = 37, 24
    order = np.stack([rng.permutation(n) for _ in range(p)]).astype(np.uint32)
    chosen = rng.random(order.shape) < 0.5 if flagged else np.ones(order.shape, bool)
    chosen[:, 0], chosen[:, -1] = True, chosen[:, -1] & flagged
    order |= chosen * FLAG
    w = np.append(rng.random(n), 0.0)
    y = np.append(rng.integers(0, 2, n), 0)
    signed, d_all, w_all, error = quantise(w, y)
    assert 2**29 - 2 * n <= w_all < 2**30
    errors, ginis, sums = np.empty(p), np.empty(p), np.empty((2, n), np.int32)
    screen_error(order, signed, d_all, sums, errors)
    screen_gini(order, signed, d_all, w_all, sums, ginis)
    unit = w_all / w.sum()
    for j in range(p):
        rows, where = order[j] & ROW, order[j] > ROW
        d = np.cumsum(np.where(y == 1, w, -w)[rows])
        s = np.cumsum(w[rows])
        top = np.abs(2 * d - d[-1])[where].max() * unit
        assert abs(errors[j] - top) <= error + 1e-6 * w_all * (error > 0)
        with np.errstate(divide="ignore", invalid="ignore"):
            right = np.where(s < s[-1], (d[-1] - d) ** 2 / (s[-1] - s), 0.0)
            value = (d**2 / s + right)[where]
        best = np.nanmax(value) * unit
        assert abs(ginis[j] - best) <= 2.0**-20 * best + 6 * error + 8


def test_a_screen_tries_missing_rows_on_both_sides(random_seed):
    rng = np.random.default_rng(random_seed)
    n, present = 50, 41
    order = np.full((1, n), n, np.uint32)
    order[0, :present] = rng.permutation(n)[:present]
    order[0, :present] |= (rng.random(present) < 0.5) * FLAG
    values = np.empty(1)
    y = np.append(rng.integers(0, 2, n), 0)
    signed, total, *_ = quantise(np.append(rng.random(n), 0.0), y)
    sums = np.cumsum(signed[order[0] & ROW].astype(np.int64))
    screen_error(order, signed, total, np.empty((2, n), np.int32), values)
    absent = total - sums[-1]
    tries = np.abs(2 * np.stack([sums, sums + absent]) - total)
    assert values[0] == tries[:, order[0] > ROW].max()


def test_no_weight_no_screen():
    assert quantise(np.zeros(3), np.zeros(3, np.int64)) is None
