"""With groups, what counts cases names the groups beside, as counted from predictions.csv."""

import csv
import re

import numpy as np
import pytest

from psephos import compare
from psephos.protocol import Protocol
from psephos.protocol.tables.table import table_from_arrays
from psephos.report import summarise
from psephos.report.study.folder import read_folder
from psephos.report.study.options import PageOptions
from psephos.report.words import cases_of, groups_of, in_groups


@pytest.fixture(scope="module", params=[2, 3], ids=["two classes", "three classes"])
def study(request, tmp_path_factory):
    rng = np.random.default_rng(1)
    k, groups = request.param, np.repeat(np.arange(20), 6)
    y = rng.integers(k, size=120)
    X = rng.normal(size=(120, 3)) + 1.2 * y[:, None]
    X[:, 1] += rng.normal(size=20)[groups]
    table = table_from_arrays(X, np.array(["a", "b", "c"])[y], groups=groups)
    out = tmp_path_factory.mktemp("grouped") / "study"
    small = Protocol("small", draws=1, inner_folds=2, folds=3)
    compare(table, models=["cart"], protocol=small, out=out, n_jobs=1)
    with (out / "predictions.csv").open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    truth = np.array(["abc".index(row["truth"]) for row in rows])
    chances = np.array([[float(row[f"p_{c}"]) for c in "abc"[:k]] for row in rows])
    return out, truth, chances, groups[[int(row["row"]) for row in rows]]


def test_the_first_screen_names_the_groups_of_missed_cases(study):
    out, truth, chances, groups = study
    report = summarise(out)
    assert report["data_line"].startswith("120 cases of 20 groups, 3 columns")
    third, k = report["first"][2], chances.shape[1]
    if k == 2:
        code = report["missed"]["positive"]
        yes, mine = chances[:, code] >= 0.5, truth == code
        for wrong in (mine & ~yes, ~mine & yes):
            n, own = len(np.unique(groups[wrong])), mine if wrong[mine].any() else ~mine
            assert f"{wrong.sum()} of {own.sum()} " in third
            assert f", in {n} of {len(np.unique(groups[own]))}" in third
        assert third.count(" groups") == 1
        assert report["island"]["missed"]["units"]["noun"] == ("group", "groups")
    else:
        said = chances.argmax(axis=1)
        shares = [np.mean(said[truth == c] == c) for c in range(k)]
        right = (truth == said) & (truth == int(np.argmin(shares)))
        assert f"{(truth == said).sum()} of 120 cases of 20 groups" in third
        assert f"{right.sum()} of " in third
        n = len(np.unique(groups[truth == np.argmin(shares)]))
        assert f", in {len(np.unique(groups[right]))} of {n} groups, sensitivity" in third
        wrong = [(truth == 1) & (said != 1), (truth != 1) & (said == 1)]
        missed, alarms = (len(np.unique(groups[one])) for one in wrong)
        beside = report["missed"]["model"]["cost_in"][1]
        n, others = (len(np.unique(groups[own])) for own in (truth == 1, truth != 1))
        assert beside == f", in {missed} of {n} groups and {alarms} of {others} groups"


def test_a_page_without_cases_has_no_group_of_a_case(study):
    report = summarise(study[0], None, PageOptions(cases="none"))
    assert report["island"]["missed"]["units"] is None
    assert not re.search("in .* of 20 groups", report["first"][2])


def test_groups_are_called_by_their_column_where_it_is_a_word():
    assert groups_of(14, "subject") == "14 subjects"
    assert groups_of(1, "Patient_ID") == "1 patient"
    assert groups_of(3, "family") == "3 families"
    assert groups_of(3, "batch") == "3 batches"
    assert groups_of(12, "groups") == "12 groups"
    assert groups_of(12, "<b>no 3</b>") == "12 groups (<b>no 3</b>)"
    assert cases_of(1, None, "") == "1 case"
    assert in_groups(np.array([0, 0, 2]), np.arange(5), "subject") == ", in 2 of 5 subjects"
    assert in_groups(np.array([], dtype=int), np.arange(5), "subject") == ""


def test_what_was_permuted_stayed_within_the_groups(study):
    words = read_folder(study[0]).permuted("cart").words
    assert "shuffled among held-out cases within each of the 20 groups (single cases of a" in words


def test_nouns_of_groups_in_the_plural():
    names = ("mouse", "child_id", "Woman", "patient", "family", "batch", "patient no.")
    assert [groups_of(3, name).removeprefix("3 ") for name in names] == [
        "mice", "children", "women", "patients", "families", "batches", "groups (patient no.)",
    ]  # fmt: skip
