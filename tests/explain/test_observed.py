"""Predicted against observed: tables equal what is computed by hand."""

import numpy as np
import pytest
from sklearn.metrics import mean_absolute_error

from psephos._errors import PsephosError
from psephos.explain import ObservedDisplay


def display(n=103, seed=0, **more):
    rng = np.random.default_rng(seed)
    y = np.round(rng.normal(50, 12, n), 1)
    return ObservedDisplay.from_predictions(y, y + rng.normal(0, 1 + (y > 55) * 4), **more)


def test_parts_hold_every_case_once_and_their_errors():
    one = display()
    parts = one.parts()
    assert sum(p.n for p in parts) == 103
    assert [p.low for p in parts[1:]] == [p.high for p in parts[:-1]]
    for p in parts:
        mine = (one.observed > p.low) & (one.observed <= p.high)
        size = mean_absolute_error(one.observed[mine], one.predicted[mine])
        assert p.n == mine.sum() >= 10
        assert p.size.value == pytest.approx(size)
        assert p.size.low < size < p.size.high
        rest = mean_absolute_error(one.observed[~mine], one.predicted[~mine])
        assert p.rest == pytest.approx(rest)
    assert max(parts, key=lambda p: p.size.value) in parts[-2:]


def test_no_part_is_of_fewer_than_ten_cases():
    y = np.r_[np.zeros(55), np.arange(1, 9)]
    assert [p.n for p in ObservedDisplay.from_predictions(y, y).parts()] == [63]
    assert len(display(19).parts()) == 1
    coarse = display().parts(unit=10.0)
    assert {p.high % 10 for p in coarse[:-1]} == {0.0}
    assert min(p.n for p in coarse) >= 10


def test_the_table_has_the_greatest_errors_first():
    one = display(ids=[f"p{i}" for i in range(103)])
    found = one.table()
    sizes = np.abs(found["error"])
    assert (np.diff(sizes) <= 0).all()
    assert sizes[0] == np.abs(one.predicted - one.observed).max()
    at = int(found["case"][0][1:])
    assert found["observed"][0] == one.observed[at]


def test_several_predictions_of_a_case_count_with_the_mean_of_their_errors():
    one = ObservedDisplay.from_predictions([1.0, 2.0], [[0.0, 2.0], [2.5, np.nan]])
    assert one.predicted.tolist() == [1.0, 2.5]
    assert one.sizes.tolist() == [1.0, 0.5]


def test_groups_are_the_units_of_intervals_and_are_counted():
    groups = np.repeat(np.arange(21), 5)[:103]
    for p in display(groups=groups).parts():
        mine = (display().observed > p.low) & (display().observed <= p.high)
        assert p.n_groups == len(set(groups[mine].tolist()))
        assert "group" in p.size.method


def test_stated_intervals_cover_whom_they_cover():
    one = ObservedDisplay.from_predictions([1, 2, 3], [1, 2, 9], stated=[[0, 1], [1, 3], [8, 9]])
    assert one.covered().tolist() == [True, True, False]


def test_ends_of_parts_have_three_figures_and_more_where_they_are_close():
    y = np.linspace(0, 87.6543, 100)
    ends = [p.high for p in ObservedDisplay.from_predictions(y, y).parts()[:-1]]
    np.testing.assert_allclose(ends, np.quantile(y, [0.2, 0.4, 0.6, 0.8]), atol=0.05)
    assert [float(f"{end:.3g}") for end in ends] == ends
    near = ObservedDisplay.from_predictions(4000 + y / 100, y).parts()
    assert [round(p.high - 4000, 5) for p in near[:-1]] == [0.18, 0.35, 0.53, 0.7]


def test_stated_intervals_are_in_the_table_and_drawn_at_their_cases():
    pyplot = pytest.importorskip("matplotlib.pyplot")
    stated = np.array([[0.0, 1.0], [1.0, 3.0], [8.0, 9.5]])
    one = ObservedDisplay.from_predictions([1, 2, 3], [1, 2, 9], stated=stated)
    table = one.table()
    assert table["case"] == ["2", "0", "1"]
    assert (table["low"], table["high"]) == ([8.0, 0.0, 1.0], [9.5, 1.0, 3.0])
    lines = one.plot().collections[0].get_segments()
    np.testing.assert_array_equal(lines, [[[1, 0], [1, 1]], [[2, 1], [2, 3]], [[3, 8], [3, 9.5]]])
    assert np.isnan(display().table()["low"]).all()
    pyplot.close("all")


@pytest.mark.parametrize(
    ("y", "predicted", "words"),
    [
        ([1.0, 2.0], [1.0], r"got shapes \(2,\) and \(1,\)"),
        ([1.0, 2.0], [1.0, np.nan], "must be finite; row 1 is not"),
    ],
)
def test_what_is_no_number_is_refused(y, predicted, words):
    with pytest.raises(PsephosError, match=words):
        ObservedDisplay.from_predictions(y, predicted)


def test_it_draws_a_dot_a_case():
    pyplot = pytest.importorskip("matplotlib.pyplot")
    axes = display().plot()
    assert len(axes.collections[-1].get_offsets()) == 103
    pyplot.close("all")
