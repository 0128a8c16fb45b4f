"""Dots in lanes stand at their answers, cover nobody, and count everyone."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from psephos.explain.missed import dodged
from psephos.figures.confusion import UNIT
from psephos.report.drawings.answers import BINS, MOST, lanes_drawing

units = st.lists(st.sampled_from([0, UNIT, 500_000]) | st.integers(0, UNIT), max_size=150)


@given(units, st.sampled_from([300.0, 800.0]))
def test_dots_cover_nobody_and_stay_in_the_lane(answers, width):
    radius, places = dodged(answers, width, 96.0)
    xy = np.array(places).reshape(-1, 2)
    assert np.all(xy[:, 1] >= radius)
    assert np.all(xy[:, 1] <= 96)
    for half in (np.array(answers) * 2 <= UNIT, np.array(answers) * 2 > UNIT):
        own = xy[half] if len(xy) else xy
        apart = np.sqrt(((own[:, None] - own[None]) ** 2).sum(axis=2))
        np.fill_diagonal(apart, 99)
        assert apart.min(initial=99) >= 2 * radius


@given(st.lists(st.integers(0, UNIT), max_size=60, unique=True))
def test_dots_that_have_room_stand_at_their_answers(answers):
    _, places = dodged(answers, 800.0, 5000.0)
    assert [x for x, _ in places] == pytest.approx([a / UNIT * 800 for a in answers])


def test_piles_at_either_end_spread_inwards():
    _, places = dodged([0] * 90 + [UNIT] * 90, 800.0, 96.0)
    assert all(0 <= x <= 60 for x, _ in places[:90])
    assert all(740 <= x <= 800 for x, _ in places[90:])


@pytest.mark.parametrize("n", [MOST, MOST + 1, 5000])
def test_every_case_is_a_dot_or_counted_in_a_column(n):
    rng = np.random.default_rng(0)
    answers, truth = rng.integers(0, UNIT + 1, size=2 * n), np.arange(2 * n) % 2
    wrong = (answers >= 900_000) != (truth == 0)
    drawn = lanes_drawing(answers, truth, [0, 1], wrong, two=True)
    for code, lane in enumerate(drawn["lanes"]):
        mine, bad = truth == code, wrong & (truth == code)
        dots, bars = lane["dots"], lane["bars"]
        assert len(dots) + sum(b["n"] for b in bars) == n
        if n <= MOST:
            assert not bars
            assert sum(d["wrong"] for d in dots) == bad.sum()
        elif bad.sum() <= MOST:
            assert len(dots) == bad.sum()
            assert all(d["wrong"] for d in dots)
        else:
            assert not dots
            told = np.histogram(answers[mine] / UNIT, bins=BINS, range=(0, 1))[0]
            assert [b["n"] for b in bars] == [k for k in told.tolist() if k]
    heights = [b["height"] / b["n"] for lane in drawn["lanes"] for b in lane["bars"]]
    assert np.ptp(heights) < 0.011 if heights else n <= MOST  # one unit in both lanes
