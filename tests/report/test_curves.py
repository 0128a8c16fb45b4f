"""The curves of held-out answers, beside scikit-learn's, a plain DeLong, and simulations."""

import json

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.metrics import precision_recall_curve, roc_auc_score, roc_curve

from psephos.figures import area, calibration_table, in_millionths
from psephos.report.numbers.curves import (
    GRID,
    benefits,
    curves_of,
    worth,
)
from psephos.report.numbers.measures import thresholds
from psephos.report.words import chance


def answered(seed=0, n=80, levels=None):
    rng = np.random.default_rng(seed)
    positive = rng.random(n) < 0.4
    answers = 1 / (1 + np.exp(-(rng.normal(size=n) + 1.2 * positive - 0.5)))
    return (np.round(answers * levels) / levels if levels else answers), positive


@pytest.mark.parametrize("levels", [None, 7, 1])
def test_steps_are_scikit_learns(levels):
    answers, positive = answered(levels=levels)
    fallout, found, _ = roc_curve(positive, answers, drop_intermediate=False)
    hits, alarms = thresholds(in_millionths(answers), positive)[1].T
    np.testing.assert_allclose(hits / positive.sum(), found)
    np.testing.assert_allclose(alarms / (~positive).sum(), fallout)
    precision, recall, _ = precision_recall_curve(positive, answers)
    np.testing.assert_allclose(hits[1:] / (hits + alarms)[1:], precision[:-1][::-1])
    np.testing.assert_allclose(hits[1:] / positive.sum(), recall[:-1][::-1])


def delong(answers, positive):
    """The variance of the area by the definition: every pair of cases compared."""
    a, b = answers[positive][:, None], answers[~positive][None]
    wins = (a > b) + 0.5 * (a == b)
    m, n = wins.shape
    return wins.mean(), wins.mean(axis=1).var(ddof=1) / m + wins.mean(axis=0).var(ddof=1) / n


@given(st.integers(0, 10**6), st.sampled_from([None, 3, 20]))
def test_the_area_and_its_error_are_delongs(seed, levels):
    answers, positive = answered(seed, 40, levels)
    if positive.all() or not positive.any():
        return
    found, (value, variance) = area(positive, answers), delong(answers, positive)
    assert found.value == pytest.approx(roc_auc_score(positive, answers))
    assert found.value == pytest.approx(value)
    if 0 < value < 1 and 2 <= positive.sum() <= 38:
        half = 1.959963984540054 * np.sqrt(variance) / (value * (1 - value))
        ends = 1 / (1 + np.exp(-(np.log(value / (1 - value)) + np.array([-half, half]))))
        assert (found.low, found.high) == pytest.approx(ends)


def test_the_interval_of_the_area_holds_the_truth_about_as_often_as_it_says():
    rng, inside, n = np.random.default_rng(2), 0, 1000
    truth = 0.8413447460685429  # P(x > y) of normals sqrt(2) apart
    for _ in range(n):
        positive = np.arange(100) < 40
        answers = rng.normal(size=100) + np.sqrt(2) * positive
        found = area(positive, answers)
        inside += found.low <= truth <= found.high
    assert 0.92 < inside / n < 0.975


def test_of_one_class_there_is_no_area():
    assert np.isnan(area(np.array([True, True]), np.array([0.2, 0.3])).value)


@pytest.mark.parametrize("levels", [None, 6, 1])
def test_the_calibration_is_of_fifths_of_the_cases(levels):
    answers, positive = answered(3, 97, levels)
    drawn = curves_of(answers, positive, area(positive, answers), "ill")["cal"]
    ours = calibration_table(positive, answers, 5)
    assert len(drawn) == len(ours)
    for cells, one in zip((row["cells"] for row in drawn), ours, strict=True):
        mine = (answers >= one.low) & (answers <= one.high)
        assert cells[1:3] == [str(mine.sum()), f"{positive[mine].sum()} of {mine.sum()} ill"]
        assert cells[0] == chance(answers[mine].mean())
        assert cells[3] == f"{positive[mine].mean():.2f}"
    if levels is None:
        assert {int(row["cells"][1]) for row in drawn} <= {19, 20}


@pytest.mark.parametrize("n", [6, 60, 500])
@pytest.mark.parametrize("levels", [0, 7])
def test_every_answer_is_near_the_middle_of_a_run_of_cases(n, levels):
    answers, positive = answered(6, n)
    if levels:
        answers = np.round(answers * levels) / levels
    runs = curves_of(answers, positive, area(positive, answers), "ill")["like"]
    units, size = in_millionths(answers), min(max(round(n / 5), 10), 40, n)
    ties = np.unique(units, return_counts=True)[1].max()
    for v in units:
        near = min(runs, key=lambda one: abs(one["at"] - v / 1e6))
        number, _, hits, _, _ = near["cells"]
        assert size <= int(number) <= size + 2 * (ties - 1)
        assert hits.endswith(f" of {number} ill")
        place, middle = np.searchsorted(np.sort(units), [v, round(near["at"] * 1e6)])
        assert abs(place - middle) <= size / 2 + ties


def test_the_net_benefit_is_its_definition():
    answers, positive = answered(4)
    m, n = int(positive.sum()), int((~positive).sum())
    model, everyone = benefits(answers, positive)
    for t, a, b in zip(GRID, model, everyone, strict=True):
        called = answers >= t
        tp, fp = (called & positive).sum(), (called & ~positive).sum()
        assert a == pytest.approx(tp / 80 - fp / 80 * t / (1 - t))
        assert b == pytest.approx(m / 80 - n / 80 * t / (1 - t))


def test_every_stretch_where_a_model_is_worth_something_is_counted_to_its_ends():
    nothing, one = np.zeros(99), np.zeros(99)
    one[9:14] = one[39:60] = one[61:99] = 0.1
    found = worth(GRID, one, nothing)
    ends = [(0.10, 0.14), (0.40, 0.60), (0.62, 0.99)]
    assert found == [pytest.approx(pair) for pair in ends]
    assert worth(GRID, nothing, nothing) == []


@pytest.mark.parametrize(("n", "levels"), [(80, None), (3000, None), (200, 5)])
def test_a_curve_has_at_most_201_steps_from_nobody_to_everyone(n, levels):
    answers, positive = answered(5, n, levels)
    called = [np.count_nonzero(answers[positive] >= t) for t in (2, *np.unique(answers)[::-1])]
    shown = curves_of(answers, positive, area(positive, answers), "ill")["steps"]
    assert len(shown) == min(len(called), 201)
    assert all(found in called for found, _ in shown)
    assert (shown[0], shown[-1]) == ([0, 0], [positive.sum(), (~positive).sum()])


def test_a_fifth_of_one_group_has_a_point_without_an_interval():
    answers = np.repeat([0.1, 0.3, 0.5, 0.7, 0.9], 8)
    positive = np.tile([False, True], 20)
    drawn = curves_of(answers, positive, area(positive, answers), "ill", np.repeat(range(5), 8))
    assert len(drawn["cal"]) == 5
    assert all(len(set(point["at"][1:])) == 1 for point in drawn["cal"])
    json.dumps(drawn, allow_nan=False)
