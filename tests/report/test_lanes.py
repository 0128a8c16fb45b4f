"""Dots in lanes stand at their answers and cover nobody."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from psephos.explain.missed import dodged
from psephos.figures.confusion import UNIT

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
