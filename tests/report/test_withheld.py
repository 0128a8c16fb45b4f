"""A page without cases gives no count from 1 to 9, nor what such a count follows from."""

import re
from itertools import pairwise, product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from psephos import CARTClassifier, PsephosError
from psephos.report import build_report, render, summarise, summarise_validation
from psephos.report.numbers.classes import given_grid
from psephos.report.numbers.measures import of_given, withheld
from psephos.report.study.options import PageOptions
from psephos.validation import validate, write_validation

NONE = PageOptions(cases="none")
FEWEST = 10


def few(n):
    return 0 < n < FEWEST


@pytest.mark.parametrize(
    ("hits", "n", "words"),
    [
        (31, 48, "31 of 48 ill"),
        (48, 48, "48 of 48 ill"),
        (0, 48, "0 of 48 ill"),
        (9, 48, "fewer than 10 of 48 ill"),
        (39, 48, "all but fewer than 10 of 48 ill"),
        (38, 48, "38 of 48 ill"),
        (5, 12, "fewer than 10 of 12 ill"),
    ],
)
def test_a_count_or_what_may_be_said_of_it(hits, n, words):
    assert of_given(hits, n, "ill", FEWEST) == words
    assert withheld(hits, n) == (words != f"{hits} of {n} ill")
    assert of_given(hits, n, "ill", 0) == f"{hits} of {n} ill"


@settings(max_examples=300, deadline=None)
@given(st.lists(st.lists(st.integers(0, 30), min_size=3, max_size=3), min_size=3, max_size=3))
def test_no_small_count_follows_from_a_table_and_its_sums(grid):
    """A reader knows the rows' sums, and what stands in place of a cell."""
    grid = [row if sum(row) >= FEWEST else [0, 0, 0] for row in grid]  # of such no page is made
    cells = given_grid(grid, "none")
    for row, shown, c in zip(grid, cells, range(3), strict=True):
        hidden = [j for j in range(3) if isinstance(shown[j], str)]
        assert all(shown[j] == row[j] and not few(row[j]) for j in set(range(3)) - set(hidden))
        if c not in hidden:  # what is missed follows from what is found
            assert not few(sum(row) - row[c])
        said = {"< 10": range(1, FEWEST), "10 or more": range(FEWEST, 91), "withheld": range(1, 91)}
        ranges = [said[shown[j]] for j in hidden]
        left = sum(row[j] for j in hidden)
        could = [one for one in product(*ranges) if sum(one) == left]
        assert all(len({one[i] for one in could}) > 1 for i in range(len(hidden)))


def of_two(builders, folder, n, shift, seed=0):
    truth, proba = builders.of_two(n, seed, shift)
    builders.written_folder(folder, truth, {"a": [proba]}, ["healthy", "ill"])
    return truth, proba[:, 1]


def test_thresholds_part_no_few_cases(builders, tmp_path):
    of_two(builders, tmp_path, 400, 0.4)
    whole, page = summarise(tmp_path), summarise(tmp_path, options=NONE)
    model = page["island"]["missed"]["models"]["a"]
    assert model["edges"][0] == 0.0
    assert 0.5 in model["edges"]
    assert 5 < len(model["edges"]) < 12
    for own in model["bins"].values():
        assert not any(map(few, own))
    steps = np.array(model["curves"]["steps"])
    assert not any(few(n) for a, b in pairwise(steps.tolist()) for n in np.subtract(b, a))
    assert [sum(model["bins"][k]) for k in ("pos", "neg")] == steps[-1].tolist()
    assert [row[0] for row in model["tenths"]] == [f"{t:.1f}" for t in model["edges"][1:-1]]
    shown = {row[0]: row for row in whole["island"]["missed"]["models"]["a"]["tenths"]}
    assert all(row == shown[row[0]] for row in model["tenths"])
    assert page["first"] == whole["first"]


def test_small_counts_at_the_threshold_are_withheld(builders, tmp_path):
    truth, p = of_two(builders, tmp_path, 200, 2.0, 1)
    found, cleared = ((p >= 0.5) & (truth == 1)).sum(), ((p < 0.5) & (truth == 0)).sum()
    m, n = (truth == 1).sum(), (truth == 0).sum()
    assert few(m - found)
    assert few(n - cleared)
    page = summarise(tmp_path, options=NONE)
    model = page["island"]["missed"]["models"]["a"]
    assert set(model) == {"label", "lead", "absent"}
    assert page["first"][2] == (
        f"It finds all but fewer than 10 of {m} ill and clears all but fewer than 10 of {n}"
        " healthy, called ill from 0.50."
    )
    text = render(page)
    assert "withholds counts from 1 to 9" in text
    for k, of in ((found, m), (m - found, m), (cleared, n), (n - cleared, n)):
        assert not re.search(rf"\b{k} of {of}\b", text)


def test_a_measure_stands_where_its_own_counts_are_given(builders, tmp_path):
    rng = np.random.default_rng(0)
    truth = np.repeat([1, 0], [50, 70])
    p = np.where(np.arange(120) % 50 < np.where(truth == 1, 30, 3), 0.8, 0.2) + rng.random(120) / 9
    folder = tmp_path / "study"
    builders.written_folder(folder, truth, {"a": [np.column_stack([1 - p, p])]}, ["healthy", "ill"])
    assert ((p >= 0.5) & (truth == 0)).sum() in range(1, 10)
    found = ((p >= 0.5) & (truth == 1)).sum()
    first = summarise(folder, options=NONE)["first"][2]
    assert first.startswith(f"It finds {found} of 50 ill (sensitivity {found / 50:.2f}, ")
    assert "and clears all but fewer than 10 of 70 healthy, called" in first
    page = build_report(folder, tmp_path / "none.html", cases="none").read_text("utf-8")
    assert f"finds {found} of 50 ill" in page


def test_a_class_of_few_cases_is_not_counted(builders, tmp_path):
    truth = np.repeat([1, 0], [7, 70])
    proba = np.full((77, 2), 0.5)
    builders.written_folder(tmp_path, truth, {"a": [proba]}, ["healthy", "ill"])
    page = summarise(tmp_path, options=NONE)
    assert "fewer than 10 answers of a are to cases of one class" in page["missed"]["absent"]
    assert not any("of 7 " in one or "of 70 " in one for one in page["first"])


def test_several_classes_withhold_what_few_are(builders, tmp_path):
    rng = np.random.default_rng(0)
    truth = np.repeat(np.arange(3), [60, 50, 40])
    said = np.where(rng.random(150) < np.array([0.95, 0.6, 0.9])[truth], truth, (truth + 1) % 3)
    proba = np.full((150, 3), 0.1)
    proba[np.arange(150), said] = 0.8
    builders.written_folder(tmp_path, truth, {"a": [proba]}, ["x", "y", "z"])
    whole, page = summarise(tmp_path), summarise(tmp_path, options=NONE)
    model, full = (one["island"]["missed"]["models"]["a"] for one in (page, whole))
    assert any(few(n) for row in full["grid"] for n in row)
    assert not any(isinstance(n, int) and few(n) for row in model["grid"] for n in row)
    assert not any(few(n) for about in model["bins"] for own in about for n in own)
    for c, row in enumerate(model["rows"]):
        if isinstance(model["grid"][c][c], int):
            assert row[1:4] == full["rows"][c][1:4]
        else:
            assert row[1].startswith("all but fewer than 10 of ")
            assert row[2:4] == ["–", ""]
    assert {row[2] for row in model["rows"]} > {"–"}
    assert (
        page["first"][2]
        == "It predicts 10 or more of 150 cases correctly; of the 3 classes"
        + (whole["first"][2].split("of the 3 classes")[1])
    )
    for curve in model["curves"]:
        assert not any(few(n) for a, b in pairwise(curve["steps"]) for n in np.subtract(b, a))
    assert render(page)


def test_columns_count_no_few_cases(compared, summarised):
    whole, values = (
        summarised["island"]["values"],
        summarise(compared, options=NONE)["island"]["values"],
    )
    seen = 0
    for key, model in values["models"].items():
        for column, full in zip(model["columns"], whole["models"][key]["columns"], strict=True):
            parts = [
                *column["counts"].values(),
                *(one["counts"] for one in column.get("levels", ())),
            ]
            parts += [*column.get("bins", {}).get("counts", ())]
            assert not any(isinstance(n, int) and few(n) for own in parts for n in own)
            if any(isinstance(n, str) for own in parts for n in own):
                seen += full["words"] != column["words"]
                assert not re.search(r"\d of \d", column["words"])
    assert seen


# ---------------------------------------------------------------------- validations
def cohort(folder, n):
    rng = np.random.default_rng(n)
    X = rng.normal(size=(60 + n, 2))
    X[60:63, 0] += 9  # beyond all training cases
    y = np.where(X[:, 0] + rng.normal(size=60 + n) / 3 > 0, "ill", "well")
    model = CARTClassifier(max_depth=1).fit(X[:60], y[:60])
    write_validation(validate(model, X[60:], y[60:]), folder)
    return folder


def test_a_validation_withholds_what_its_confusion_table_gives_away(tmp_path):
    whole, page = (summarise_validation(cohort(tmp_path / "v", 80), o) for o in (None, NONE))
    cells = whole["missed"]["counts"]
    assert any(few(cells[key]) for key in ("found", "missed", "alarms", "cleared"))
    rows = {row[0]: row for row in page["judged"]["rows"]}
    for row in whole["judged"]["rows"]:
        made = bool(row[3]) or "accuracy" in row[0]
        assert rows[row[0]][1:4] == (["–", "", ""] if made else row[1:4])
    assert rows["sensitivity of ill"][4].startswith("withheld")
    assert rows["ROC-AUC of ill"][1] != "–"
    assert any("fewer than 10 of" in one for one in page["verdict"])
    outside = [row["cells"][4] for row in whole["alike"]["columns"]]
    assert any(few(int(n)) for n in outside)
    given_ = [row["cells"][4] for row in page["alike"]["columns"]]
    assert given_ == ["< 10" if few(int(n)) else n for n in outside]


@pytest.mark.parametrize("n", [9, 10])
def test_fewer_than_ten_cases_have_no_page_without_cases(tmp_path, n):
    place = cohort(tmp_path / "v", n)
    assert summarise_validation(place)["data_line"].startswith(f"{n} cases")
    if n < FEWEST:
        with pytest.raises(PsephosError, match=r"needs at least 10 cases, .*; got 9"):
            summarise_validation(place, NONE)
    else:
        assert summarise_validation(place, NONE)["data_line"].startswith("10 cases")
