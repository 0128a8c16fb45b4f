import csv
import json
import math

import pytest

from psephos.protocol.outputs import RESULT_COLUMNS
from psephos.report.figures import choose, standings
from psephos.report.folder import read_folder


def folder(tmp_path, **models):
    """Return a folder of models given as (origin, scores, columns)."""
    rows, about = [], {}
    for key, (origin, scores, columns) in models.items():
        about[key] = {"family": "x", "origin": origin}
        for fold, score in enumerate(scores):
            failed = score is None
            row = {
                "model": key,
                "repeat": 0,
                "fold": fold,
                "n_train": 80,
                "n_test": 20,
                "balanced_accuracy": score,
                "columns_used": None if failed else columns,
                "status": "failed" if failed else "ok",
                "error": "broke" if failed else "",
            }
            rows.append({c: "" if row.get(c) is None else str(row[c]) for c in RESULT_COLUMNS})
    with (tmp_path / "results.csv").open("w", newline="") as file:
        writer = csv.DictWriter(file, RESULT_COLUMNS)
        writer.writeheader()
        writer.writerows(rows)
    (tmp_path / "comparison.json").write_text(json.dumps({"models": about, "classes": ["a", "b"]}))
    return read_folder(tmp_path)


def test_means_spreads_and_order(tmp_path):
    rows = standings(
        folder(
            tmp_path,
            low=("baseline", [0.5, 0.7], 3),
            high=("psephos", [0.8, 0.8], 9),
            broken=("baseline", [None, None], 0),
        )
    )
    assert [s.key for s in rows] == ["high", "low", "broken"]
    assert rows[1].score == pytest.approx(0.6)
    assert rows[1].score_sd == pytest.approx(math.sqrt(0.02))
    assert math.isnan(rows[2].score)
    assert not rows[2].drawn
    assert len(rows[2].failed) == 2


def test_optimal_models_are_those_no_other_beats(tmp_path):
    rows = standings(
        folder(
            tmp_path,
            few=("psephos", [0.7], 2),
            worse=("baseline", [0.69], 2),
            more=("baseline", [0.7], 5),
            best=("baseline", [0.9], 50),
        )
    )
    assert {s.key for s in rows if s.optimal} == {"few", "best"}


def test_the_card_goes_to_the_fewest_columns_within_a_standard_error(tmp_path):
    made = folder(
        tmp_path,
        best=("baseline", [0.7, 0.9, 0.8, 0.8], 100),
        large=("psephos", [0.79, 0.79, 0.79, 0.79], 30),
        small=("psephos", [0.78, 0.78, 0.78, 0.78], 3),
        tiny=("psephos", [0.6, 0.6, 0.6, 0.6], 1),
    )
    choice = choose(standings(made), ["large", "small", "tiny"])
    assert choice is not None
    assert choice.model.key == "small"
    assert choice.within
    assert choice.standard_error == pytest.approx(math.sqrt(0.02 / 3) / 2)


def test_if_none_comes_near_the_best_of_psephos_is_shown_and_it_is_said(tmp_path):
    made = folder(
        tmp_path,
        best=("baseline", [0.9, 0.9], 100),
        a=("psephos", [0.6, 0.6], 1),
        b=("psephos", [0.7, 0.7], 9),
    )
    choice = choose(standings(made), ["a", "b"])
    assert choice is not None
    assert (choice.model.key, choice.within) == ("b", False)


def test_no_card_without_a_saved_model(tmp_path):
    assert choose(standings(folder(tmp_path, a=("psephos", [0.6], 1))), []) is None
