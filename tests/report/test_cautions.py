"""The page warns of figures that look better, or firmer, than they are."""

import csv
import html
import json
import math
from types import SimpleNamespace

import numpy as np
import pytest

from psephos.protocol import compare, table_from_arrays
from psephos.report import build_report, summarise
from psephos.report.page.render import render
from psephos.report.panels.verdict import _unlike, prior_log_loss
from psephos.report.study.folder import read_folder
from psephos.report.study.standings import choose, standings


def edit(path, change):
    with path.open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    for row in rows:
        change(row)
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, list(rows[0]))
        writer.writeheader()
        writer.writerows(rows)


def smallest(folder):
    rows = standings(read_folder(folder))
    return choose(rows, []).smallest.key


def test_the_log_loss_of_class_frequencies_is_that_of_the_majority_model(compared):
    rows = [r for r in read_folder(compared).rows if r["model"] == "majority"]
    prior = prior_log_loss(read_folder(compared))
    assert prior == pytest.approx(np.mean([float(r["log_loss"]) for r in rows]), abs=1e-12)


def test_it_is_not_known_without_the_answers(copy):
    (copy / "predictions.csv").unlink()
    assert math.isnan(prior_log_loss(read_folder(copy)))
    assert "class's frequency in the training part" not in summarise(copy)["measures_note"]


def test_a_class_of_few_cases_is_warned_of(copy):
    about = json.loads((copy / "comparison.json").read_text())
    assert not any(w.startswith("Class ") for w in summarise(copy)["cautions"])
    about["class_counts"][0] = 4
    (copy / "comparison.json").write_text(json.dumps(about))
    name = about["classes"][0]
    told = [w for w in summarise(copy)["cautions"] if w.startswith("Class ")]
    assert told == [
        f"Class {name} has 4 cases only: its figures, and its share of the balanced "
        "accuracy, rest on so few."
    ]


def test_of_one_case_it_is_said_in_the_singular(copy):
    about = json.loads((copy / "comparison.json").read_text())
    about["class_counts"][0] = 1
    (copy / "comparison.json").write_text(json.dumps(about))
    (told,) = [w for w in summarise(copy)["cautions"] if w.startswith("Class ")]
    assert "has 1 case only" in told
    assert told.endswith("rest on so few.")


def test_probabilities_worse_than_class_frequencies_are_warned_of(copy):
    key = smallest(copy)
    edit(copy / "results.csv", lambda r: r.update(log_loss="1.5") if r["model"] == key else None)
    report = summarise(copy)
    told = [
        w
        for w in report["cautions"]
        if w.startswith(f"The held-out probabilities of {key} are worse")
    ]
    assert len(told) == 1
    assert "log-loss (mean over the folds) 1.500 against" in told[0]
    row = next(m for m in report["models"] if m["key"] == key)
    assert [c["mark"] for c in row["cells"] if c["kind"] == "log_loss"] == ["†"]
    edit(copy / "results.csv", lambda r: r.update(log_loss="0.1"))
    report = summarise(copy)
    assert not [w for w in report["cautions"] if "probabilities" in w]
    assert not [c for m in report["models"] for c in m["cells"] if c["mark"]]


def test_columns_that_change_from_fold_to_fold_are_warned_of(copy):
    key = smallest(copy)
    edit(
        copy / "results.csv",
        lambda r: r.update(columns=r["fold"], columns_used="1") if r["model"] == key else None,
    )
    told = [w for w in summarise(copy)["cautions"] if "changes from fold to fold" in w]
    assert any(key in w for w in told)


@pytest.mark.parametrize(("refit", "warned"), [("2", True), ("5", False), ("7", False)])
def test_a_refit_unlike_the_models_of_the_folds_is_warned_of(copy, refit, warned):
    key = "samba"

    def change(row):
        if row["model"] == key:
            row.update(columns_used=str(5 + int(row["fold"]) % 3), balanced_accuracy="1.0")

    edit(copy / "results.csv", change)
    about = json.loads((copy / "comparison.json").read_text("utf-8"))
    about["n_columns"] = 40  # of which so many can be read
    (copy / "comparison.json").write_text(json.dumps(about), "utf-8")
    edit(copy / "refits.csv", lambda r: r.update(columns_used=refit) if r["model"] == key else None)
    told = [w for w in summarise(copy)["cautions"] if w.startswith(f"The refit of {key}")]
    assert bool(told) == warned
    if warned:
        assert "reads 2 columns, the models of the folds 5.8 on average (5 to 7)" in told[0]


@pytest.mark.parametrize(
    ("folds", "refit", "warned"),
    [
        ([4, 4], 6, True),
        ([4, 4], 5, False),
        ([6, 6], 4, True),
        ([5, 5], 7, False),
        ([2, 2], 3, False),
    ],
)
def test_half_as_many_columns_again_is_far(folds, refit, warned):
    """By a factor of 1.5 exactly, and by two columns."""
    spread = SimpleNamespace(mean=float(np.mean(folds)))
    fits = [SimpleNamespace(columns_used=n) for n in folds]
    one = SimpleNamespace(key="a", label="a", fits=fits, columns=spread)
    assert bool(_unlike(SimpleNamespace(refit_columns={"a": refit}), one)) == warned


def test_methods_speak_of_what_ran(compared, summarised):
    report = summarised
    words = " ".join(report["methods"])
    about = json.loads((compared / "comparison.json").read_text("utf-8"))
    assert about["fingerprint"] in words
    assert "Seed: 0." in words
    assert "The last fit ended on 20" in words
    assert "numpy" in words
    labels = {m["label"] for m in report["models"]}
    assert {r["label"] for r in report["recipes"]} == labels
    assert "xgboost" not in words
    notes = {r["label"]: r["notes"] for r in report["recipes"]}
    assert "not Algorithm 3 as published" in notes["samba"]


def test_each_caution_of_the_table_stands_once_with_its_sentence(tmp_path):
    rng = np.random.default_rng(0)
    y = np.where(rng.random(60) < 0.4, "ill", "well")
    table = table_from_arrays(
        np.column_stack([rng.normal(size=60), y == "ill"]), y, column_names=["a", "copy"]
    )
    compare(table, models=["cart"], protocol="quick", out=tmp_path, n_jobs=1, accept=["FD008"])
    known = json.loads((tmp_path / "comparison.json").read_text("utf-8"))["cautions"]
    assert {"FD008"} <= {one["code"] for one in known}
    page = html.unescape(build_report(tmp_path).read_text("utf-8"))
    for one in known:
        accepted = " (accepted)" if one["accepted"] else ""
        line = f">{one['code']} {one['name']}{accepted}: {one['sentence']}"
        assert page.count(line) == page.count(one["sentence"]) == 1


def test_a_column_that_tells_the_class_is_not_folded_away(compared):
    """All other cautions are folded on the screen."""
    report = summarise(compared)
    for code, folded in (("FD009 tells-all", False), ("FD021 sorted-rows", True)):
        page = render(report | {"cautions": [f"{code}: words."]})
        assert ('<details class="printed" open><summary>With caution' in page) == folded
        assert "<summary>With caution (1)" in page
