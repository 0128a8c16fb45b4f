"""The curves of held-out answers, beside scikit-learn's, a plain DeLong, and simulations."""

import json

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.metrics import precision_recall_curve, roc_auc_score, roc_curve

from psephos.figures import area, calibration_table
from psephos.figures.confusion import UNIT
from psephos.report.drawings.answers import (
    FRAME,
    GRID,
    benefits,
    curves_drawing,
    marks_at,
    steps,
    worth,
)
from psephos.report.numbers.measures import Fourfold
from psephos.report.words import chance


def answered(seed=0, n=80, levels=None):
    rng = np.random.default_rng(seed)
    positive = rng.random(n) < 0.4
    answers = 1 / (1 + np.exp(-(rng.normal(size=n) + 1.2 * positive - 0.5)))
    return (np.round(answers * levels) / levels if levels else answers), positive


@pytest.mark.parametrize("levels", [None, 7, 1])
def test_steps_are_scikit_learns(levels):
    answers, positive = answered(levels=levels)
    fallout, found, thresholds = roc_curve(positive, answers, drop_intermediate=False)
    ours = steps(answers, positive)
    assert ours.threshold.tolist() == thresholds.tolist()
    np.testing.assert_allclose(ours.found / positive.sum(), found)
    np.testing.assert_allclose(ours.alarms / (~positive).sum(), fallout)
    precision, recall, _ = precision_recall_curve(positive, answers)
    called = (ours.found + ours.alarms)[1:]
    np.testing.assert_allclose(ours.found[1:] / called, precision[:-1][::-1])
    np.testing.assert_allclose(ours.found[1:] / positive.sum(), recall[:-1][::-1])


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
    drawn = curves_drawing(answers, positive, area(positive, answers), "ill")["cal"]
    ours = calibration_table(positive, answers, 5)
    assert len(drawn) == len(ours)
    for cells, one in zip((row["cells"] for row in drawn), ours, strict=True):
        mine = (answers >= one.low) & (answers <= one.high)
        assert cells[1:3] == [str(mine.sum()), f"{positive[mine].sum()} of {mine.sum()} ill"]
        assert cells[0] == chance(answers[mine].mean())
        assert cells[3] == f"{positive[mine].mean():.2f}"
    if levels is None:
        assert {int(row["cells"][1]) for row in drawn} <= {19, 20}


def test_the_net_benefit_is_its_definition():
    answers, positive = answered(4)
    m, n = int(positive.sum()), int((~positive).sum())
    model, everyone = benefits(answers, positive)
    for t, a, b in zip(GRID, model, everyone, strict=True):
        called = answers >= t
        tp, fp = (called & positive).sum(), (called & ~positive).sum()
        assert a == pytest.approx(tp / 80 - fp / 80 * t / (1 - t))
        assert b == pytest.approx(m / 80 - n / 80 * t / (1 - t))


def test_a_stretch_where_a_model_is_worth_something_is_the_longest_and_long_enough():
    grid = np.arange(1, 91) / 100
    nothing, one = np.zeros(90), np.zeros(90)
    one[9:14] = one[39:60] = 0.1
    assert worth(grid, one, nothing) == pytest.approx((0.40, 0.60))
    assert worth(grid, nothing, nothing) is None
    one[39:60] = 0
    assert worth(grid, one, nothing) is None  # 0.04 long


# ------------------------------------------------------------------- as drawn
def points_of(path):
    return np.array([[float(v) for v in pair.split()] for pair in path[1:].split("L")])


def distance_to(path, x, y):
    """Return how far a point is from a line of points."""
    p, q = points_of(path)[:-1], points_of(path)[1:]
    along = q - p
    length = np.maximum((along**2).sum(axis=1), 1e-12)
    t = np.clip(((np.array([x, y]) - p) * along).sum(axis=1) / length, 0, 1)
    return np.sqrt((((p + t[:, None] * along) - [x, y]) ** 2).sum(axis=1)).min()


@pytest.mark.parametrize(("n", "levels"), [(80, None), (3000, None), (200, 5)])
def test_paths_pass_through_scikit_learns_points_and_are_short(n, levels):
    answers, positive = answered(5, n, levels)
    drawn = curves_drawing(answers, positive, area(positive, answers), "ill")
    wide = FRAME["width"] - FRAME["left"] - FRAME["right"]
    high = FRAME["height"] - FRAME["top"] - FRAME["bottom"]

    def place(x, y):
        return FRAME["left"] + x * wide, FRAME["top"] + (1 - y) * high

    fallout, found, _ = roc_curve(positive, answers, drop_intermediate=False)
    for x, y in zip(fallout[::7], found[::7], strict=True):
        assert distance_to(drawn["roc"]["d"], *place(x, y)) < 0.6
    assert points_of(drawn["roc"]["d"])[0] == pytest.approx(place(0, 0), abs=0.06)
    assert points_of(drawn["roc"]["d"])[-1] == pytest.approx(place(1, 1), abs=0.06)
    precision, recall, _ = precision_recall_curve(positive, answers)
    for x, y in zip(recall[:-1][::7], precision[:-1][::7], strict=True):
        assert distance_to(drawn["pr"]["d"], *place(x, y)) < 0.6
    assert len(drawn["roc"]["d"]) + len(drawn["pr"]["d"]) < 12_000


def test_marks_stand_on_the_curves():
    answers, positive = answered(6)
    drawn = curves_drawing(answers, positive, area(positive, answers), "ill")
    for t in (0.2, 0.5, 0.77):
        called = (answers * UNIT).astype(int) >= t * UNIT
        c = Fourfold(*(int(v.sum()) for v in (called & positive, ~called & positive,
                                            called & ~positive, ~called & ~positive)))  # fmt: skip
        marks = marks_at(
            c, t, float(benefits(answers, positive, np.array([t]))[0][0]), drawn["nb"]["top"]
        )
        assert distance_to(drawn["roc"]["d"], *marks["roc"]) < 0.6
        assert distance_to(drawn["pr"]["d"], *marks["pr"]) < 0.6
        assert distance_to(drawn["nb"]["d"], *marks["nb"]) < 1.5  # between two hundredths
    assert marks_at(Fourfold(0, 5, 0, 5), 1.0, 0.0, 0.6)["pr"] is None
    assert marks_at(Fourfold(0, 5, 0, 5), 1.0, 0.0, 0.6)["nb"] is None


def test_a_fifth_of_one_group_has_a_point_without_an_interval():
    answers = np.repeat([0.1, 0.3, 0.5, 0.7, 0.9], 8)
    positive = np.tile([False, True], 20)
    drawn = curves_drawing(
        answers, positive, area(positive, answers), "ill", np.repeat(range(5), 8)
    )
    assert len(drawn["cal"]) == 5
    assert all(point["y1"] == point["y2"] == point["y"] for point in drawn["cal"])
    json.dumps(drawn, allow_nan=False)
