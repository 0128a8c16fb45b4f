import math

import pytest

from psephos.files.names import signs
from psephos.report.words import (
    chance,
    count,
    difference,
    group_noun,
    number,
    places,
    plural,
    plus_minus,
    series,
    span,
    three,
)


def test_numbers_have_a_true_minus_and_never_a_minus_zero():
    assert number(-0.1234) == "−0.123"
    assert number(-0.0001) == "0.000"
    assert difference(0.25) == "+0.250"
    assert difference(-0.25) == "−0.250"
    assert difference(0.0001) == "0.000"


@pytest.mark.parametrize(
    ("plain", "shown"),
    [
        ("log-odds of -: - 3.9 × 1 (A9 = t) = -1.5", "log-odds of -: − 3.9 × 1 (A9 = t) = −1.5"),
        ("-2782 × 'IMF->NSR' - 7e-05 × a-2 (-1, 2)", "−2782 × 'IMF->NSR' − 7e−05 × a-2 (−1, 2)"),
        ("2026-11-30 → -", "2026-11-30 → -"),
    ],
)  # fmt: skip
def test_signs_are_true_minuses_and_names_keep_their_hyphens(plain, shown):
    assert signs(plain) == shown


@pytest.mark.parametrize("nothing", [None, math.nan, math.inf])
def test_what_is_not_known_is_a_dash(nothing):
    assert number(nothing) == "–"
    assert count(nothing) == "–"
    assert plus_minus(nothing, 0.1) == "–"


def test_counts_are_whole_where_they_are_whole():
    assert count(4.0) == "4"
    assert count(4.25) in {"4.2", "4.3"}
    assert count(2000) == "2000"
    assert count(100_000) == "100\u202f000"
    assert plural(1, "column") == "1 column"
    assert plural(2, "column") == "2 columns"
    assert series(["a", "b", "c"]) == "a, b and c"
    assert series([]) == ""


def test_a_difference_that_is_not_known_is_a_dash():
    assert difference(math.nan) == "–"


def test_no_probability_is_printed_as_certain():
    assert [chance(p) for p in (0.0, 0.004, 0.5, 0.996, 1.0)] == [
        "<0.01", "<0.01", "0.50", ">0.99", ">0.99",
    ]  # fmt: skip


def test_three_figures_of_either_sign():
    assert [three(v) for v in (2.0, -2.0, 1234.5, -0.5)] == ["2.00", "−2.00", "1234", "−0.500"]


def test_an_interval_needs_both_ends():
    assert span(0.5, 0.79) == "0.50 to 0.79"
    assert span(0.5, math.inf) == span(-math.inf, 0.5) == ""


def test_nouns_that_end_in_x_have_es():
    assert group_noun("box_id") == ("box", "boxes")


def test_decimals_that_show_three_figures():
    assert [places(v) for v in (2.17, -0.359, 0.0603, 43.6, 9999.0)] == [2, 3, 4, 1, 0]
    assert [places(v) for v in (0.0, math.nan, math.inf)] == [0, 0, 0]
