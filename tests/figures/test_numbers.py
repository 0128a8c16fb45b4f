"""Figures of predicted numbers beside scikit-learn; how often intervals hold the truth."""

import numpy as np
import pytest
from scipy.stats import linregress
from sklearn.metrics import r2_score, root_mean_squared_error

from psephos.figures import mean, number_line, r2, rmse


def _drawn(n, seed):
    rng = np.random.default_rng(seed)
    said = rng.normal(3, 2, n)
    return 1 + 0.8 * said + rng.normal(size=n), said


def test_values_are_those_of_other_programs():
    truth, said = _drawn(80, 0)
    assert r2(truth, said).value == pytest.approx(r2_score(truth, said))
    assert rmse(truth, said).value == pytest.approx(root_mean_squared_error(truth, said))
    start, slope = number_line(truth, said)
    line = linregress(said, truth)
    assert (start.value, slope.value) == pytest.approx((line.intercept, line.slope))
    # the error of a line in an error of equal size everywhere, nearly
    half = (slope.high - slope.low) / 2 / 1.96
    assert half == pytest.approx(line.stderr, rel=0.2)


def test_intervals_hold_the_truth():
    # of ever more cases: R2 = 1 - E (y - f)^2 / var y, and so on
    large, said = _drawn(400_000, 1)
    wanted = [r2(large, said).value, rmse(large, said).value, 1.0, 0.8]
    held = np.zeros(4)
    for seed in range(300):
        truth, said = _drawn(100, 2 + seed)
        found = [r2(truth, said), rmse(truth, said), *number_line(truth, said)]
        held += [one.low <= true <= one.high for one, true in zip(found, wanted, strict=True)]
    assert (held / 300 > 0.9).all()
    assert (held / 300 < 0.99).all()


def test_groups_widen_intervals_and_copies_add_nothing():
    truth, said = _drawn(60, 3)
    groups = np.tile(np.arange(60), 4)
    four = r2(np.tile(truth, 4), np.tile(said, 4), groups)
    once = r2(truth, said)
    assert four.value == pytest.approx(once.value)
    assert four.high - four.low == pytest.approx(once.high - once.low, rel=0.05)
    assert "groups" in four.method


def test_what_cannot_be_said_says_why():
    same = r2([2.0, 2.0], [1.0, 3.0])
    assert np.isnan(same.value)
    assert same.method == "all cases have the same number"
    start, slope = number_line([1.0, 2.0, 3.0], [2.0, 2.0, 2.0])
    assert np.isnan(start.value)
    assert np.isnan(slope.value)
    assert mean([0.5]).method == "one alone has no interval"


def test_the_interval_of_a_share_ends_at_one():
    truth = np.arange(10.0)
    found = r2(truth, truth + np.where(truth == 5, 4, 0))
    assert found.low < found.value < found.high == 1
