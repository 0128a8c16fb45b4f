"""A label of a cohort is the class that it is, or it is refused by name."""

import numpy as np
import pandas as pd
import pytest

from psephos import CARTClassifier, PsephosError, validate

RNG = np.random.default_rng(0)
X = pd.DataFrame(RNG.normal(size=(90, 3)), columns=list("abc"))
ILL = X["a"].to_numpy() + RNG.normal(size=90) > 0


def named(no, yes, kind=None):
    return np.array([yes if one else no for one in ILL], dtype=kind)


def fitted(no, yes, kind=None):
    return CARTClassifier(max_depth=2).fit(X, named(no, yes, kind))


def judged(model, y, **more):
    found = validate(model, X, y, **more)
    return found.about["class_counts"], found.figure("sensitivity")["hits"]


@pytest.mark.parametrize(
    ("classes", "labels"),
    [
        ((0, 1), ("0", "1")),
        ((0, 1), (0.0, 1.0)),
        ((1, 2), (1.0, 2.0)),
        (("0", "1"), (0, 1)),
        ((False, True), ("False", "True")),
        (("1", "1.0"), ("1", "1.0")),
        (("nan", "ok"), ("nan", "ok")),
    ],
)
@pytest.mark.filterwarnings("ignore:the classes .* differ only in case")
def test_a_label_is_the_class_it_equals_or_is_written_as(classes, labels):
    model = fitted(*classes)
    assert judged(model, named(*labels, object)) == judged(model, named(*classes))


@pytest.mark.parametrize(
    ("classes", "labels", "strange"),
    [
        ((0, 1), ("0.0", "1.0"), "'1.0'"),
        ((0, 1), (False, True), "True"),
        ((0, 1), ("False", "True"), "'True'"),
        ((0, 1), ("0", " 1"), "' 1'"),
        ((1, 2), (0, 1), "0"),
        (("0", "1"), (0.0, 1.0), "1.0"),
        (("0", "1"), (False, True), "True"),
        ((False, True), (0, 1), "1"),
        (("1", "1.0"), ("1", "1.00"), "'1.00'"),
        (("01", "1"), ("001", "1"), "'001'"),
        (("well", "ill"), ("well", "Ill"), "'Ill'"),
        (("well", "ill"), ("well ", "ill"), "'well '"),
    ],
)
@pytest.mark.filterwarnings("ignore:the classes .* differ only in case")
def test_what_is_no_class_is_refused_by_name_with_what_to_do(classes, labels, strange):
    model = fitted(*classes)
    with pytest.raises(PsephosError, match=r"--classes old=new \(classes=\)") as error:
        validate(model, X, named(*labels, object))
    assert strange in str(error.value)
    said = judged(model, named(*labels, object), classes=dict(zip(labels, classes, strict=True)))
    assert said == judged(model, named(*classes))


def test_labels_written_alike_are_not_joined_unless_it_is_said():
    model = fitted(0, 1)
    mixed = np.array([0 if not one else (1, "1")[i % 2] for i, one in enumerate(ILL)], object)
    with pytest.raises(PsephosError, match="the label 1 both as a number and as a word"):
        validate(model, X, mixed)
    assert judged(model, mixed, classes={1: 1, "1": 1}) == judged(model, named(0, 1))


def test_labels_are_joined_and_swapped_as_they_are_renamed_alone():
    model = fitted("well", "ill")
    y = np.array(["ill", "CRC"], object)[np.arange(90) % 2]
    counts = validate(model, X, np.where(ILL, y, "well"), classes={"CRC": "ill"}).about
    assert counts["class_counts"] == [ILL.sum(), (~ILL).sum()]
    swapped = validate(model, X, named("ill", "well"), classes={"ill": "well", "well": "ill"})
    assert swapped.figures == validate(model, X, named("well", "ill")).figures


def test_a_class_that_no_case_has_stays_a_class():
    found = validate(fitted("well", "ill"), X[ILL], named("well", "ill")[ILL])
    assert found.about["classes"] == ["ill", "well"]
    assert found.about["class_counts"] == [ILL.sum(), 0]
    assert found.figure("ROC-AUC")["value"] is None


@pytest.mark.parametrize("kind", ["category", "string", "object"])
def test_series_of_any_type_are_read_and_their_gaps_are_no_label(kind):
    model, y = fitted("well", "ill"), pd.Series(named("well", "ill"), dtype=kind)
    assert judged(model, y) == judged(model, y.to_numpy(dtype=object))
    y[3] = None
    with pytest.raises(PsephosError, match=r"1 of 90 cases have no label \(.* '3'\)"):
        validate(model, X, y)


@pytest.mark.parametrize(
    ("wrong", "words"),
    [
        ({"y": []}, "at least one case"),
        ({"y": None}, "one value per row"),
        ({"y": ["ill"] * 3}, "3 values for 90 rows"),
        ({"threshold": "0.5"}, "threshold must be .*; got '0.5'"),
        ({"classes": [("a", "b")]}, "must be a dict"),
        ({"groups": [None] * 90}, "groups is missing in 90 of 90"),
        ({"groups": [np.nan, *range(89)]}, "groups is missing in 1 of 90"),
        ({"groups": pd.Series([pd.NA, *["a"] * 89])}, "groups is missing in 1 of 90"),
    ],
)
def test_what_is_no_cohort_is_refused(wrong, words):
    with pytest.raises(PsephosError, match=words):
        validate(fitted("well", "ill"), X, **({"y": named("well", "ill")} | wrong))


def test_groups_of_several_kinds_stay_apart_and_few_groups_have_no_interval():
    model, y = fitted("well", "ill"), named("well", "ill")
    mixed = validate(model, X, y, groups=np.array([1, "1", "a"] * 30, object))
    assert mixed.about["n_groups"] == 3
    assert {row["level"] for row in mixed.subgroups} == {"1", "'1'", "'a'"}
    assert mixed.figures == validate(model, X, y, groups=list("xyz") * 30).figures
    one = validate(model, X, y, groups=["clinic"] * 90)
    area = one.figure("ROC-AUC")
    assert area["low"] is None or np.isnan(area["low"])
    assert "too few groups" in area["method"]
    assert one.subgroups[0]["n"] == 90


def test_far_values_are_answered_and_said_without_a_number_that_is_none():
    from psephos import SamBAClassifier

    model = SamBAClassifier(n_estimators=3, distance_scale="sum").fit(X, named("well", "ill"))
    for unit in (1e75, 1e149):
        for far in (X * unit, X * np.where(np.arange(90) < 9, unit, 1.0)[:, None]):
            found = validate(model, far, named("well", "ill"))
            assert np.isfinite(found.frame("predictions")["p_ill"]).all()
            assert not {"nan", "inf", "nan.", "inf.", "inf,", "nan,"} & set(str(found).split())
            near = model.vote_.nearest(far.to_numpy(), 3)
            assert np.isfinite(near.share).all()
            assert np.isfinite(near.distance).all()
        assert (near.row[9:, 0] == np.arange(9, 90)).all()  # these are where they were


def test_names_that_several_cases_have_are_told_and_no_groups():
    model, y = fitted("well", "ill"), named("well", "ill")
    found = validate(model, X, y, ids=np.arange(90) // 3)
    assert found.about["notes"][0].startswith("90 cases have 30 names: ")
    assert found.figures == validate(model, X, y).figures
    assert (
        validate(model, X, y, ids=np.arange(90) // 3, groups=np.arange(90) // 3).about["notes"]
        == validate(model, X, y).about["notes"]
        == []
    )
