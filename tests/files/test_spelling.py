"""Names and labels that differ in spelling alone, between files or in one."""

import pytest

from psephos.files.spelling import near_key, nearly


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("glucose", "Glucose"), ("weight", "Weight (kg)"), ("CRP", "crp [mg/L]"), ("7", "007"),
        ("body weight", "Body_Weight"), ("P7", "p-07"), ("7", "7.0"), ("AAACGT", "AAACGT-1"),
        ("S000028", "S000028-1"),
        ("x.1", "x1"), ("body\u2013weight", "body-weight"), ("CRP\u200b", "crp"), ("ＣＲＰ", "CRP"),
        ("m.z", "m/z"), ("0", "00"),
    ],
)  # fmt: skip
def test_spellings_of_one_name_have_one_key(one, other):
    assert nearly([one], ["z", other]) == {one: other}


@pytest.mark.parametrize(
    ("one", "other"),
    [("1.5", "15"), ("CD4+", "CD4"), ("CD4-", "CD4"), ("neut%", "neut#"), ("G(1)", "G(2)"),
     ("P-7", "P-8"), ("glucose-1", "glucose-2"), ("10", "1"), ("0.07", "0.7"),
     ("(a)", "(b)"), ("1_1", "11")],
)  # fmt: skip
def test_other_names_have_other_keys(one, other):
    assert nearly([one], [other]) == {}
    assert near_key(one) == near_key(one.upper())
