"""Columns by folds: those that are read again, beside results.csv."""

import csv
from collections import Counter
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from psephos.protocol import selection_stability
from psephos.protocol.evaluation.stability import positions_of
from psephos.report import build_report, summarise
from psephos.report.panels.stability import _model


def study(builders, path, columns, n_columns=60, repeats=1):
    truth, proba = builders.of_two(40)
    return builders.written_folder(
        path, truth, {"a": [proba] * repeats}, ["no", "yes"], columns={"a": columns},
        n_columns=n_columns,
    )  # fmt: skip


def test_the_grid_is_that_of_the_results(compared, summarised):
    told = summarised["island"]["stability"]
    with (compared / "results.csv").open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    for key, model in told["models"].items():
        folds = [positions_of(r["columns"]) for r in rows if r["model"] == key]
        if model["kind"] == "none":
            assert len({len(own) for own in folds}) == 1
            continue
        times = Counter(j for own in folds for j in own)
        names = [told["columns"][row[0]] for row in model["rows"]]
        assert [row[1] for row in model["rows"]] == sorted(times.values(), reverse=True)
        flags = np.array([[int(f) for f in row[2]] for row in model["rows"]])
        assert flags.sum(axis=0).tolist() == [len(own) for own in folds]
        assert len({c["name"] for c in names}) == len(names)


def test_words_count_what_came_back(builders, tmp_path):
    columns = [[0, 1, 2], [0, 1, 3], [0, 2, 4], [0, 5], [0, 1]]
    report = summarise(study(builders, tmp_path, columns))
    told = report["stability"]
    value = selection_stability(columns, 60).value
    assert told["words"].startswith(
        "The 5 models of a read 6 columns between them: 1 is read every time (column 0), 3 only"
        f" once. The stability is {value:.2f}"
    )
    assert told["kind"] == "grid"
    assert [row[1:3] for row in told["rows"][: told["drawn"]]] == [[5, "11111"], [3, "11001"]]
    assert "The other 4 are in the table" in told["note"]
    assert not told["final"]
    build_report(tmp_path)


def test_the_grid_draws_what_its_caption_says():
    """A column of the last fit that no fold read is listed before one that was read once."""
    spread = SimpleNamespace(value=0.5, low=np.nan, high=np.nan)
    one: Any = SimpleNamespace(label="a", summary=SimpleNamespace(stability=spread))
    told = _model(one, [[0, 1], [0], [0]], ["b", "d"], ["b", "c", "d", "e"], {})
    assert [row[0] for row in told["rows"]] == [0, 2, 1]
    assert told["drawn"] == 2
    assert "or by the fit to all cases. The other one is in the table." in told["note"]


def test_of_one_column_it_is_said_how_often_it_came_back(builders, tmp_path):
    told = summarise(study(builders, tmp_path, [[7]] * 5))["stability"]["words"]
    assert told.startswith(
        "The 5 models of a read 1 column between them: it is read every time. The stability"
    )
    told = summarise(study(builders, tmp_path, [[7], [7], [], [7], []]))["stability"]["words"]
    assert told.startswith("The 5 models of a read 1 column between them: it is read 3 of 5 times.")
    told = summarise(study(builders, tmp_path, [[7, 8]] * 5))["stability"]["words"]
    assert "2 are read every time (column 7 and column 8), none only once." in told


@pytest.mark.parametrize(("shared", "said"), [(6, False), (0, True)])
def test_poor_stability_is_told_as_one_choice_among_several(builders, tmp_path, shared, said):
    columns = [[*range(shared), 10 + k, 20 + k] for k in range(5)]
    told = summarise(study(builders, tmp_path, columns))["stability"]
    assert ("Fitted to other cases it would read other columns." in told["words"]) == said


def test_over_thirty_columns_are_counted(builders, tmp_path):
    columns = [[*range(35), 40 + k] for k in range(5)]
    told = summarise(study(builders, tmp_path, columns))["stability"]
    assert told["kind"] == "tally"
    assert told["tally"] == [[5, 35], [4, 0], [3, 0], [2, 0], [1, 5]]


def test_many_fits_are_counted_and_not_drawn_one_by_one(builders, tmp_path):
    told = summarise(study(builders, tmp_path, [[0, 1]] * 5, repeats=3))["stability"]
    assert not told["single"]
    assert [row[1] for row in told["rows"]] == [15, 15]


@pytest.mark.parametrize(
    ("columns", "said"),
    [([[]] * 5, "a reads no column."), ([list(range(60))] * 5, "reads every column in every fold")],
)
def test_where_nothing_can_be_compared_it_is_said(builders, tmp_path, columns, said):
    told = summarise(study(builders, tmp_path, columns))["stability"]
    assert said in told["words"]
    assert told["kind"] == "none"
    build_report(tmp_path)
