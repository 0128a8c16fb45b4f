"""Cells are numbers, words or missing; numbers in another notation are errors."""

import math

import numpy as np
import pytest

from psephos._errors import PsephosError
from psephos.files.cells import MISSING, Cells, number_and_unit, number_form, plain_number
from psephos.files.columns import (
    in_one_form,
    numbers_among,
    refuse_numbers_in_words,
    without_limits,
)
from psephos.files.levels import LevelCodes, merged
from psephos.files.spelling import alike


@pytest.mark.parametrize("word", [*MISSING, " NA "])
def test_missing_words_are_no_value(word):
    assert math.isnan(Cells().number(word))
    assert Cells().is_missing(word.strip())


@pytest.mark.parametrize("word", ["nAn", "-nan", "1_2", "none", "0x10", "1,5", "\0", "1\0", "−5"])
def test_other_words_are_words(word):
    assert Cells().number(word) is None


@pytest.mark.parametrize(
    ("cells", "word", "value"),
    [
        (Cells(decimal=","), "1,5", 1.5),
        (Cells(decimal=","), "-,5e3", -500.0),
        (Cells(decimal=","), "1.5", None),
        (Cells(decimal=",", thousands="."), "1.234.567,5", 1234567.5),
        (Cells(decimal=",", thousands="."), "1.5", None),
        (Cells(thousands=","), "1,234.5", 1234.5),
        (Cells(thousands=","), "12,34", None),
        (Cells(thousands=","), "1234.5", 1234.5),
        (Cells(thousands=" "), "1\u202f234 567", 1234567.0),
        (Cells(thousands="'"), "1'234", 1234.0),
        (Cells(decimal=","), "inf", math.inf),
        (Cells(decimal=","), ",", None),
    ],
)
def test_marks_of_numbers(cells, word, value):
    assert cells.number(word) == value


def test_a_missing_number_is_missing_however_it_is_written():
    cells = Cells().but(missing=["-9", "n.d."])
    assert all(math.isnan(cells.number(word)) for word in ("-9", "-9.0", "-9e0", "n.d.", ""))
    assert math.isnan(cells.number("NA"))  # added to the list, not put in its place
    assert cells.but(keep=["NA"]).number("NA") is None
    assert Cells.of(cells.data()) == cells


@pytest.mark.parametrize(
    ("settings", "sentence"),
    [
        ({"decimal": ";"}, r"the decimal mark .--decimal. must be"),
        ({"thousands": "1"}, "or a space; got '1'"),
        ({"decimal": ",", "thousands": ","}, "both are ','"),
    ],
)
def test_marks_that_cannot_be(settings, sentence):
    with pytest.raises(PsephosError, match=sentence):
        Cells(**settings)


@pytest.mark.parametrize(
    ("words", "remedy"),
    [
        (["5,1", "3,25", "4,0"], "--decimal ,"),
        (["1.234.567", "2.345.678", "1.000.000"], "--thousands ."),
        (["1,234", "2,345", "3,456"], "--thousands , if the comma separates thousands"),
        (["1.234,5", "2.345,5", "12,5"], "--decimal , --thousands ."),
        (["1 234", "2\u00a0345", "3\u202f456"], '--thousands " "'),
        (["5 %", "6%", "7.5 %"], "write the bare numbers"),
        (["<0.1", "> 20", "≥3"], "--categorical 'c'"),
        (["<20", "20-30", ">30"], "--categorical 'c'"),
        (["5 mg", "10 mg", "2.5 mg/l"], "write the bare numbers"),
        (["5mg", "10mg", "20mg"], "write the bare numbers"),
        (["$5", "$7.50", "€ 3"], "write the bare numbers"),
        (["-5 %", "−6", "– 7"], "write the bare numbers"),
        (["1:20", "1:40", "1:80"], "write the bare numbers"),
    ],
)
def test_numbers_written_another_way_are_refused_with_the_remedy(words, remedy):
    with pytest.raises(PsephosError) as caught:
        refuse_numbers_in_words("c", [None, *words], lambda i: f"line {i + 2}")
    sentence = str(caught.value)
    assert remedy in sentence
    for i, word in enumerate(words):
        assert f"{word!r} in line {i + 3}" in sentence


@pytest.mark.parametrize(
    "words",
    [
        ["1a", "1b", "2a"], ["T1", "T2", "T3"], ["2020-01-05", "2021-02-03"], ["1st", "2nd", "3rd"],
        ["low", "high", "2 doors"], ["12/05/2020", "13/06/2021"], ['5" pipe', "hose"],
        ["k__Bacteria|p__5", "x"], ["A+", "B-"], ["192.168.0.1", "10.0.0.1"],
    ],
)  # fmt: skip
def test_words_stay_words(words):
    refuse_numbers_in_words("c", words, str)


def test_forms_look_at_the_whole_word():
    assert number_form("5,1") == "decimal comma"
    assert number_form("x" * 10**6) == number_form("5" * 10**6 + "x") == number_form("") == ""


@pytest.mark.parametrize(
    ("word", "form", "plain"),
    [
        ("5.10-", "a minus behind", "-5.10"), ("1.234,56-", "a minus behind", "-1.234,56"),
        ("1.0D+00", "a Fortran exponent", "1.0E+00"), ("-.5d-3", "a Fortran exponent", "-.5E-3"),
        ("2D-1", "a Fortran exponent", "2E-1"), ("3d+00", "a Fortran exponent", "3E+00"),
        ("0x1F", "hexadecimal", "31"), ("-0XfF", "hexadecimal", "-255"),
        ("1D05", "", "1D05"), ("2D10", "", "2D10"), ("0x" + "a" * 14, "", "0x" + "a" * 14),
        ("B-", "", "B-"), ("20-30", "", "20-30"), ("0x", "", "0x"), ("--5-", "", "--5-"),
    ],
)  # fmt: skip
def test_numbers_of_other_programs(word, form, plain):
    assert plain_number(word) == (form, plain)
    assert Cells().number(word) is None  # a cell alone says no form: its column does


def test_such_a_number_in_another_decimal_mark_has_its_remedy():
    assert number_form("5,10-") == number_form("−5,1") == "decimal comma"
    assert plain_number("−5.1e3")[1] == "-5.1e3"
    assert number_form("1.234,56-") == "both"
    assert number_form("5.10-") == "a minus behind"


@pytest.mark.parametrize(
    ("labels", "same"),
    [
        (["Yes", "yes ", "No"], [["Yes", "yes "]]), (["1", "1.0", "2"], [["1", "1.0"]]),
        (["TRUE", "True", "no"], [["TRUE", "True"]]), (["a  b", "a b"], [["a  b", "a b"]]),
        (["01", "1"], []), (["straße", "STRASSE"], [["straße", "STRASSE"]]), (["a", "b"], []),
    ],
)  # fmt: skip
def test_labels_that_differ_only_in_how_they_are_written(labels, same):
    assert alike(labels) == same


# ---------------------------------------------------------------------- categories
@pytest.mark.parametrize(
    "levels", [(1, 2, 3), (1.0, 2.0, 3.0), ("1", "2", "3"), ("01", "02", "03")]
)
def test_levels_match_by_value(levels):
    find = LevelCodes(levels)
    for value in (2, 2.0, "2", "2.0", " 2 ", "2e0", "02", np.int8(2), np.float32(2), np.str_("2")):
        assert find.code(value) == 1.0
    assert all(math.isnan(find.code(value)) for value in (4, "4", "two", "2,0", "2_0", ""))


def test_an_exponent_without_sign_behind_whole_figures_is_a_name():
    assert merged(["0E1", "0E2"]) == {"0E1": "0E1", "0E2": "0E2"}
    assert merged(["1e+05", "1.0E5", "100000"])["1.0E5"] == "1e+05"


def test_levels_that_differ_as_words_stay_apart():
    find = LevelCodes(("01", "1", "a"))
    assert [find.code(v) for v in ("01", "1", 1, 1.0, "1.0", "a")] == [0, 1, 1, 1, 1, 2]
    assert math.isnan(find.code("001"))
    assert math.isnan(find.code("A"))
    large = LevelCodes(("9007199254740992", "9007199254740993"))
    assert [large.code(v) for v in ("9007199254740993", 9007199254740993, 2.0**53)] == [1, 1, 0]
    truth = LevelCodes((False, True))
    assert [truth.code(v) for v in ("True", True, 1, 0.0, "False")] == [1, 1, 1, 0, 0]


def test_values_of_one_number_are_one_level():
    assert merged(["1.0", "1", "01", "x"]) == {"1.0": "1", "1": "1", "01": "01", "x": "x"}
    assert merged(["2", 2, 2.0]) == {"2": 2, 2: 2}


def test_a_truth_value_is_the_word_that_writes_it():
    find = LevelCodes(("False", "True"))
    assert (find.code(True), find.code(np.False_), find.code("True")) == (1.0, 0.0, 1.0)
    assert (LevelCodes(("0", "1")).code(True), LevelCodes((False, True)).code("True")) == (1.0, 1.0)


@pytest.mark.parametrize(
    "pair",
    [
        ("yes", "yes\u200b"),
        ("yes", "\ufeffyes"),
        ("yes", "\u200eyes"),
        ("\u00e9", "e\u0301"),
        ("1", "\uff11"),
        ("non-case", "non\u2011case"),
        ("1", "1.0D0"),
        ("-1", "1-"),
        ("1", "0x1"),
    ],
)
def test_labels_that_look_the_same_are_alike(pair):
    assert alike([*pair, "other"]) == [list(pair)]


@pytest.mark.parametrize("word", ["1.0D0", "2.5d1", "1.0D+00"])
def test_a_fortran_number_among_words_is_not_a_number_with_a_unit(word):
    assert number_form(word) == "a Fortran exponent"
    with pytest.raises(PsephosError, match="in another notation"):
        refuse_numbers_in_words("a", [word, "***", word], lambda i: f"row {i}")


def test_limits_of_detection_are_offered_half_and_a_decimal_mark_comes_first():
    words, comma = [*["<0,6"], *[None] * 20], Cells(decimal=",")
    for given in (words, ["<0,6"] * 9 + words):
        with pytest.raises(PsephosError, match="--limits half reads half of a lower one") as one:
            refuse_numbers_in_words("CRP", given, lambda i: f"line {i}", cells=comma)
        assert one.value.options == (("--limits", "half"),)
    with pytest.raises(PsephosError, match=r"--decimal ,$"):
        refuse_numbers_in_words("CRP", ["<0,6", "1,5", "2,5", *words[1:]], lambda i: f"line {i}")
    for word in ("<0,6 %", "~5", "<-2", "<0"):  # no option reads them as numbers
        with pytest.raises(PsephosError, match="write a number for each") as one:
            refuse_numbers_in_words("CRP", [word, *words], lambda i: f"line {i}", cells=comma)
        assert one.value.options == (("--drop", "CRP"),)


@pytest.mark.parametrize(
    ("limits", "word", "value"),
    [
        ("half", "<0.5", 0.25), ("half", "<= 3", 1.5), ("half", ">60", 60.0), ("half", "≥ 7", 7.0),
        ("limit", "<0.5", 0.5), ("limit", "≤-2", -2.0), ("half", "<-2", None), ("half", "<0", None),
        ("", "<0.5", None), ("half", "5", None), ("half", "<LOD", None), ("half", ">5-7", None),
    ],
)  # fmt: skip
def test_what_a_limit_of_detection_stands_for(limits, word, value):
    assert Cells(limits=limits).limit(word) == value


@pytest.mark.parametrize(
    ("word", "parts"),
    [
        ("898.50 €", ("898.50", "€")), ("$12", ("12", "$")), ("-$1,200.5", ("-1,200.5", "$")),
        ("12 kg", ("12", "kg")), ("45%", ("45", "%")), ("45 %", ("45", "%")),
        ("1 234,5 mg / l", ("1 234,5", "mg / l")), ("37.5 °C", ("37.5", "°C")),
        ("1e-3 M", ("1e-3", "M")), ("12a", ("", "")), ("12kg", ("", "")), ("12", ("", "")),
        ("$12 US", ("", "")), ("kg 12", ("", "")), ("20-30 kg", ("", "")), ("< 5 %", ("", "")),
    ],
)  # fmt: skip
def test_the_unit_of_a_number(word, parts):
    assert number_and_unit(word) == parts


def test_numbers_of_one_unit_are_read_and_of_two_are_refused():
    def read(*words, fitted=False, cells=None, numbers=()):
        given, place = [*words, *numbers], lambda i: f"line {i}"
        return numbers_among("c", given, cells or Cells(), place, [], fitted=fitted)

    assert read("1 g", "2.5 g") == ([1.0, 2.5], [None, None], "g")
    assert read("1 g", numbers=[math.nan])[1:] == ([None, None], "g")
    assert read(numbers=[math.nan])[1:] == ([None], "")
    assert read("1 g", numbers=[2.0]) == ([None, 2.0], ["1 g", None], "")
    assert read("1 g", "trace")[2] == ""
    assert read("1,5 g", cells=Cells(decimal=",")) == ([1.5], [None], "g")
    assert read("1,5 g") == ([None], ["1,5"], "g")  # the mark is a question of its own
    assert read("1 g", fitted=True)[2] == ""  # a model of bare numbers
    for fitted, own in (False, "'g' in line 0: .*--categorical"), (True, "'g' of the model"):
        of_grams = Cells(units=(("c", "g"),))
        with pytest.raises(PsephosError, match=f"'c' has 'kg' in line 1 besides the unit {own}"):
            read("1 g", "1 kg", fitted=fitted, cells=of_grams)
    assert read("1 g", numbers=[2.0], fitted=True, cells=of_grams)[0] == [1.0, 2.0]
    assert Cells.of(of_grams.data()) == of_grams == of_grams.but(["-"]).but(keep=["-"])
    assert "units" not in Cells().data()


def test_limits_of_detection_beside_numbers_are_numbers_and_else_words():
    half, notes = Cells(limits="half", decimal=","), list[str]()
    read, odd = without_limits("c", [None, 2.0, None], ["<0,5", None, "k"], half, notes)
    assert (read, odd) == ([0.25, 2.0, None], [None, None, "k"])
    assert notes == ["column 'c': limits of detection are read (--limits): <0,5 as 0.25 (in 1)."]
    bands = ([None, None], ["<5", ">=5"])
    assert without_limits("c", *bands, half, notes) == bands
    assert without_limits("c", *bands, half, notes, fitted=True)[0] == [2.5, 5.0]
    assert without_limits("c", [None, 1.0], ["<5", None], Cells(), notes)[0] == [None, 1.0]
    kept = Cells.of(half.data())
    assert kept == half
    assert "limits" not in Cells().data()


def test_fortran_exponents_without_a_point_are_numbers_beside_one_with_a_sign():
    def read(words, *, fitted=False):
        notes = list[str]()
        return in_one_form("v", [None] * len(words), words, Cells(), notes, fitted=fitted), notes

    found, notes = read(["1D3", "2D-1", "3D+00"])
    assert found == [1000.0, 0.2, 3.0]
    assert notes == ["column 'v' is written as 1D3, read as 1000."]
    assert read(["1D3", "1.0D3"])[0] == [1000.0, 1000.0]
    assert read(["1D3", "2D10"]) == (None, [])  # codes look so, too
    assert read(["1D3", "2D10"], fitted=True)[0] == [1000.0, 2e10]
    assert read(["1D3", "2D-1", "x"]) == (None, [])


@pytest.mark.parametrize("word", ["nd", "w=nd", "q*=nd"])
def test_a_word_is_missing_or_a_value_and_not_both(word):
    with pytest.raises(PsephosError, match="leave one of them out"):
        Cells().but(["-", word], keep=["nd"])
    assert "nd" not in Cells(("nd",)).but(["w=and"], keep=["nd"]).missing
