"""Ways to part the cases, and what their words say."""

import numpy as np

from psephos.report.numbers.measures import _column, by_levels


def test_a_value_equal_to_the_printed_median_is_not_above_it():
    values = np.array([1, 2, 3, 4, 5, 6, 7, 8, 9, np.nan])
    (parted,) = _column("age", values)
    assert parted.levels == ["up to 5", "above 5", "missing"]
    assert parted.of == [0, 0, 0, 0, 0, 1, 1, 1, 1, 2]


def test_cases_without_a_group_are_a_level_of_their_own():
    (parted,) = by_levels("site", ["b", None, "a", "b"])
    assert (parted.levels, parted.of) == (["a", "b", "missing"], [1, 2, 0, 1])
    (parted,) = by_levels("site", ["missing", None, "a", ""])
    assert (parted.levels, parted.of) == (["", "a", "missing", "no value"], [2, 3, 1, 0])
    (whole,) = by_levels("site", ["b", "a"])
    assert whole.levels == ["a", "b"]
    (few,) = _column("stage", np.array([1.0, 2.0, np.nan, 1.0]))
    assert (few.levels, few.of) == (["1", "2", "missing"], [0, 1, 2, 0])


def test_groups_are_what_their_words_say_though_the_median_has_more_figures():
    values = np.array([1.0, 2.0, 3.0, 4.1234, 4.12, 4.125, 7.0, 8.0, 9.0])
    (parted,) = _column("age", values)
    printed = float(parted.levels[0].removeprefix("up to "))
    assert parted.of == [int(v > printed) for v in values.tolist()]
    assert printed in values
