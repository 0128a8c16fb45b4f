"""No spreadsheet runs a cell that was disarmed, and no number becomes a word."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from psephos.files.escaping import disarmed, disarmed_row


@pytest.mark.parametrize(
    "cell",
    [
        "=cmd|' /C calc'!A0", "+1+1", "-2+3+cmd|' /C calc'!A0", "@SUM(A1)", "\t=1", "\r=1",
        "  =1+1", "\n=1+1", "-", "+", "-abc", "=", "＝1+1", "-1-1", "-٣",
    ],
)  # fmt: skip
def test_a_formula_becomes_a_word(cell):
    assert disarmed(cell) == f"'{cell}"


@pytest.mark.parametrize(
    "cell",
    ["", "a", "01", "-1", "+1", "-1.5e-300", "+.5", "-5.", "-inf", "1e3", "a=b", "x-1", "'=1"],
)
def test_numbers_and_other_words_stay(cell):
    assert disarmed(cell) == cell


@given(st.floats(allow_nan=False))
def test_every_number_stays_a_number(value):
    assert disarmed(repr(value)) == repr(value)


@given(st.text())
def test_no_cell_begins_a_formula_afterwards(cell):
    told = disarmed(cell)
    assert told.removeprefix("'") == cell or told == cell
    if told.lstrip()[:1] in tuple("=+-@＝＋－＠") and told.strip():
        assert math.isfinite(float(told)) or "inf" in told


def test_a_row_keeps_its_numbers():
    assert disarmed_row(["=1", -1, -0.5, "-0.5"]) == ["'=1", -1, -0.5, "-0.5"]
