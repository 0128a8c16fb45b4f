"""Folders of versions that measured less, or more: what is absent was not measured."""

import csv
import json
import shutil
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner

from psephos import PsephosError
from psephos.cli import main
from psephos.protocol import compare, read_table
from psephos.protocol.evaluation.splits import PROTOCOLS
from psephos.protocol.study.folder import Journal, sha256_of
from psephos.report import build_report, summarise

OLD = Path(__file__).parents[1] / "old_files"


@pytest.fixture
def study(tmp_path):
    shutil.copytree(OLD / "study", tmp_path / "study")
    return tmp_path / "study"


@pytest.fixture
def validation(tmp_path):
    shutil.copytree(OLD / "validation", tmp_path / "validation")
    return tmp_path / "validation"


def rewrite(folder, change):
    """Change the rows of results.csv, as another version would have written them."""
    path = folder / "results.csv"
    with path.open(encoding="utf-8", newline="") as file:
        rows = [change(dict(row)) for row in csv.DictReader(file)]
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, list(rows[0]), lineterminator="\n")
        writer.writeheader()
        writer.writerows(rows)
    about = json.loads((folder / "comparison.json").read_text("utf-8"))
    about["files"]["results.csv"] = sha256_of(path)
    (folder / "comparison.json").write_text(json.dumps(about), "utf-8")


def without(*names):
    return lambda row: {key: cell for key, cell in row.items() if key not in names}


def run(*arguments):
    result = CliRunner().invoke(main, [str(one) for one in arguments])
    assert result.exit_code == 0, result.output
    return result


@pytest.mark.parametrize("absent", [("log_loss",), ("roc_auc",), ("roc_auc", "log_loss")])
def test_a_measure_that_a_study_lacks_was_not_measured(study, absent):
    whole = summarise(study)
    rewrite(study, without(*absent))
    found = summarise(study)
    left = [one for one in whole["measures"] if one["key"] not in absent]
    assert found["measures"] == left
    assert found["n_main"] == 2 - ("roc_auc" in absent)
    assert all(len(model["cells"]) == len(left) for model in found["models"])
    words = {"roc_auc": "ROC-AUC", "log_loss": "log-loss"}
    assert "Not measured when this comparison was made: " in found["measures_note"]
    assert all(words[one] in found["measures_note"].partition("Not measured")[2] for one in absent)
    assert "Not measured" not in whole["measures_note"]
    run("report", study, "--out", study / "page.html")
    page = (study / "page.html").read_text("utf-8")
    assert "Not measured when this comparison was made" in page
    assert ('class="num k-roc_auc"' in page) == ("roc_auc" not in absent)


def test_a_measure_that_this_version_does_not_know_is_left_out(study):
    build_report(study)
    before = summarise(study)
    rewrite(study, lambda row: {"brier": "0.125", **row, "calibration": "high"})
    after = summarise(study)
    assert after["measures"] == before["measures"]
    assert after["models"] == before["models"]
    assert "brier" not in run("report", study).output


def test_a_study_without_the_measure_it_is_ranked_by_is_refused_by_its_name(study):
    rewrite(study, without("balanced_accuracy"))
    with pytest.raises(PsephosError, match=r"results.csv' is damaged \(it has no column 'balanced"):
        summarise(study)


def forget(folder, measure):
    """Take a measure out of the journal, and add one that this version does not know."""
    journal = Journal(folder / "journal.jsonl")
    entries = list(journal._entries.values())
    journal.clear()
    for entry in entries:
        if "measures" in entry:
            kept = {name: v for name, v in entry["measures"].items() if name != measure}
            entry["measures"] = {**kept, "brier": 0.125}
        journal.add(entry)
    journal.close()


@pytest.mark.parametrize("measure", ["log_loss", "roc_auc"])
def test_a_study_that_goes_on_has_no_figure_of_what_was_not_measured(tmp_path, measure):
    cases, study = OLD / "tables" / "cases.csv", tmp_path / "study"
    table = read_table(cases, target="state", id="name", group="batch")
    names = ["adaboost", "cart", "majority"]
    protocol = replace(PROTOCOLS["demo"], folds=3)
    compare(table, models=names, protocol=protocol, n_jobs=1, out=study)
    forget(study, measure)
    before = (study / "journal.jsonl").read_bytes()
    found = compare(table, models=names, protocol=protocol, n_jobs=1, out=study)
    assert (study / "journal.jsonl").read_bytes() == before
    assert {row[measure] for row in found.results} == {None}
    assert all("brier" not in row for row in found.results)
    assert np.isnan(found.summary()[0].measures[measure].mean)
    assert found.frame()[measure].isna().all()
    with pytest.raises(PsephosError, match=f"no common split on which '{measure}' is"):
        found.difference("adaboost", "cart", measure)
    printed = run(
        "compare", cases, "--target", "state", "--id", "name", "--group", "batch", "--models",
        ",".join(names), "--protocol", "demo", "--folds", 3, "--n-jobs", 1, "--out", study,
    )  # fmt: skip
    line = next(one for one in printed.output.splitlines() if one.startswith("adaboost"))
    assert line.split()[2] == "-" if measure == "roc_auc" else "-" not in line.split()[:3]
    assert (study / "report.html").exists()


def test_a_comparison_that_lacks_a_measure_is_shown_without_it(study, capsys):
    """Rows that were read from the csv file of an earlier version."""
    from psephos.cli.words import show_summary
    from psephos.protocol import Comparison

    rewrite(study, without("roc_auc"))
    with (study / "results.csv").open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    about = json.loads((study / "comparison.json").read_text("utf-8"))
    found = Comparison(rows, about, None)
    show_summary(found)
    printed = capsys.readouterr().out
    assert "balanced accuracy" in printed
    assert "ROC-AUC" not in printed
    assert found.frame()["roc_auc"].isna().all()


# ---------------------------------------------------------------------- validations
def edited(folder, change):
    path = folder / "validation.json"
    content = json.loads(path.read_text("utf-8"))
    content["figures"] = change(content["figures"])
    again = content["recalibration"]
    if again["method"] is not None:
        again["figures"] = change(again["figures"])
    path.write_text(json.dumps(content), "utf-8")


@pytest.mark.parametrize("absent", ["ROC-AUC", "calibration in the large", "Brier score"])
def test_a_figure_that_a_validation_lacks_was_not_measured(validation, absent):
    whole = build_page(validation)
    names = {row["figure"] for row in json_of(validation)["figures"]}
    assert absent in names
    edited(validation, lambda rows: [row for row in rows if row["figure"] != absent])
    page = build_page(validation)
    assert ("it was not measured" in page) == (absent == "ROC-AUC")
    assert len(page) < len(whole)
    run("report", validation)


def test_a_figure_that_this_version_does_not_know_is_a_row_of_its_table(validation):
    new = {"figure": "sharpness", "class": "ill", "value": 0.25, "low": None, "high": None,
           "hits": None, "n": 30, "method": "as later versions do"}  # fmt: skip
    edited(validation, lambda rows: [*rows, new])
    page = build_page(validation)
    assert "sharpness of ill" in page
    assert "as later versions do" in page


def json_of(folder):
    return json.loads((folder / "validation.json").read_text("utf-8"))


def build_page(folder):
    return Path(build_report(folder)).read_text("utf-8")
