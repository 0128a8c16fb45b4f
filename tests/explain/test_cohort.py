"""Table 1: the cases by class."""

import numpy as np
import pandas as pd
import pytest

from psephos import PsephosError
from psephos.explain import CohortDisplay


@pytest.fixture(name="cases")
def _cases():
    rng = np.random.default_rng(0)
    n = 300
    frame = pd.DataFrame({
        "dose": rng.normal(size=n).round(2),
        "sex": rng.choice(["f", "m", "x"], n, p=[0.6, 0.37, 0.03]),
    })  # fmt: skip
    frame.loc[rng.choice(n, 20, replace=False), "dose"] = np.nan
    frame.loc[rng.choice(n, 5, replace=False), "sex"] = None
    return frame, np.where(rng.random(n) < 0.4, "ill", "well")


def test_figures_are_those_of_pandas(cases):
    frame, y = cases
    table = CohortDisplay.from_cases(frame, y).frame()
    for (column, kind, name), own in table.groupby(["column", "category", "class"]):
        values = frame.loc[y == name, column]
        row = own.iloc[0]
        if kind == "missing":
            assert row["count"] == values.isna().sum()
        elif column == "sex":
            assert row["count"] == (values == kind).sum()
        else:
            ends = values.quantile([0.25, 0.5, 0.75]).tolist()
            assert row[["low", "median", "high"]].tolist() == pytest.approx(ends)
            assert row["text"].startswith(f"{ends[1]:.4g}".replace("-", "−"))
    assert len(table) == 2 * (2 + 4)


def test_no_small_count_is_given_nor_follows_from_the_others(cases):
    frame, y = cases
    full = CohortDisplay.from_cases(frame, y).frame()
    table = CohortDisplay.from_cases(frame, y, fewest=10).frame()
    small = full["count"].between(1, 9)
    assert small.any()
    assert table.loc[small, "count"].isna().all()
    assert (table.loc[small, "text"] == "< 10").all()
    for _, own in table.groupby(["column", "class"]):
        assert own["count"].isna().sum() != 1
    few = CohortDisplay.from_cases(frame[:12], y[:12], fewest=10).frame()
    assert few[["low", "median", "high"]].isna().all(axis=None)


def test_small_classes_are_withheld_in_the_heads():
    X, y = np.zeros((25, 1)), np.repeat(["a", "b", "c"], [3, 10, 12])
    assert CohortDisplay.from_cases(X, y, ["g"]).heads() == [
        "column",
        "a, n 3",
        "b, n 10",
        "c, n 12",
    ]
    withheld = CohortDisplay.from_cases(X, y, ["g"], fewest=10)
    assert withheld.heads() == ["column", "a, n < 10", "b, n 10 or more", "c, n 12"]


def test_a_number_is_set_out_by_thirds_and_many_categories_have_a_rest():
    y = np.arange(90.0)
    frame = pd.DataFrame({"kind": [f"k{i % 15:02}" for i in range(90)]})
    display = CohortDisplay.from_cases(frame, y)
    assert np.bincount(display.codes).tolist() == [30, 30, 30]
    table = display.frame()
    assert table.groupby("class")["count"].sum().tolist() == [30, 30, 30]
    assert (table[table["category"] == "other categories"]["count"] == 6).all()
    assert [line[0] for line in display.lines()][-2:] == [
        "kind: other categories", "kind: missing",
    ]  # fmt: skip


def test_equal_numbers_are_in_one_third():
    y = np.r_[np.zeros(20), np.arange(1, 21)]
    assert np.bincount(CohortDisplay.from_cases(np.zeros((40, 1)), y).codes).tolist() == [20, 7, 13]


def test_it_is_drawn_as_its_table(cases):
    pytest.importorskip("matplotlib", reason="needs matplotlib (extra 'plot')").use("Agg")
    display = CohortDisplay.from_cases(*cases)
    (drawn,) = display.plot().tables
    assert drawn[1, 1].get_text().get_text() == display.lines()[0][1]


@pytest.mark.parametrize(
    ("counts", "cells"),
    [
        ([89, 10, 1], ["10 or more", "10 or more", "< 10"]),
        ([98, 1, 1], ["10 or more", "< 10", "< 10"]),
        ([60, 30, 5, 0], ["60", "10 or more", "< 10", "0"]),
        ([60, 2, 1], ["60", "< 10", "< 10"]),
        ([50, 50, 0], ["50", "50", "0"]),
    ],
)
def test_withheld_counts_leave_more_than_one_possibility(counts, cells):
    words = np.repeat(["a", "b", "c", "d"][: len(counts)], counts)
    found = CohortDisplay.from_cases(words[:, None], np.zeros(len(words)), ["g"], fewest=10)
    kinds = [row[0] for row in found.lines() if row[0] != "g: missing"]
    given = dict(found.lines())
    wanted = {f"g: {w}": c for w, c, n in zip("abcd", cells, counts, strict=False) if n}
    assert {kind: given[kind] for kind in kinds} == wanted


def test_mixed_columns_lose_no_value():
    X = np.array([["low"], ["low"], [1], [2], [None], ["missing"]], dtype=object)
    lines = CohortDisplay.from_cases(X, [2, 10, 2, 10, 2, 10], ["g"]).lines()
    assert [line[0] for line in lines] == [
        "g: low", "g: 1", "g: 2", "g: the word missing", "g: missing",
    ]  # fmt: skip
    assert [sum(int(line[k]) for line in lines) for k in (1, 2)] == [3, 3]


def test_targets_with_gaps_and_other_lengths_are_refused():
    X = np.zeros((4, 1))
    with pytest.raises(PsephosError, match="no missing values"):
        CohortDisplay.from_cases(X, [1.0, np.nan, 2.0, 3.0])
    with pytest.raises(PsephosError, match="y must have one value for each"):
        CohortDisplay.from_cases(X, [1.0, 2.0])
