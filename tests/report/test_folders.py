"""Folders that are damaged, and comparisons in which something failed."""

import csv
import json
import shutil

import numpy as np
import pytest

from psephos import CARTClassifier, save
from psephos._errors import ModelFileError, PsephosError
from psephos.report import build_report, summarise
from psephos.report.study.folder import read_folder


def edit(path, change):
    with path.open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    change(rows)
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, list(rows[0]))
        writer.writeheader()
        writer.writerows(rows)


def test_a_folder_that_is_no_comparison_is_named(tmp_path):
    with pytest.raises(PsephosError, match=r"has no results\.csv"):
        summarise(tmp_path)


@pytest.mark.parametrize("name", ["comparison.json", "cases.npz"])
def test_a_damaged_file_is_named(copy, name):
    (copy / name).write_bytes(b"{ broken")
    with pytest.raises(PsephosError, match=name):
        summarise(copy)


@pytest.mark.parametrize(
    "name", ["results.csv", "predictions.csv", "refits.csv", "bounds.csv", "cases.npz"]
)
def test_a_file_that_was_changed_later_is_refused(name, compared, tmp_path):
    shutil.copytree(compared, tmp_path / "copy")
    read_folder(tmp_path / "copy")
    path = tmp_path / "copy" / name
    if name == "cases.npz":
        np.savez(path, **dict(np.load(path)))  # the same, but not compressed
    else:
        path.write_bytes(path.read_bytes().replace(b"\n", b"\r\n", 1))
    with pytest.raises(PsephosError, match=rf"'{name}' in .* was changed or deleted after it"):
        read_folder(tmp_path / "copy")
    if name not in ("cases.npz", "results.csv"):  # a folder without results is not finished
        path.unlink()
        with pytest.raises(PsephosError, match=rf"{name}"):
            read_folder(tmp_path / "copy")


def test_a_damaged_model_file_is_refused_and_no_report_is_left(copy):
    (copy / "report.html").unlink(missing_ok=True)
    for file in (copy / "models").glob("*.psephos"):
        file.write_bytes(file.read_bytes()[:-200])
    with pytest.raises(ModelFileError):
        build_report(copy)
    assert not list(copy.glob("*.html"))


def test_a_folder_of_a_later_version_is_refused(copy):
    path = copy / "comparison.json"
    about = json.loads(path.read_text("utf-8"))
    path.write_text(json.dumps(about | {"schema": about["schema"] + 1}), "utf-8")
    with pytest.raises(PsephosError, match="later version"):
        summarise(copy)


def test_a_folder_of_before_columns_were_kept_has_no_stability(copy):
    """Schema 1: results.csv without `columns`."""
    about = copy / "comparison.json"
    about.write_text(json.dumps(json.loads(about.read_text("utf-8")) | {"schema": 1}), "utf-8")
    whole = summarise(copy)
    edit(copy / "results.csv", lambda rows: [row.pop("columns") for row in rows])
    report = summarise(copy)
    assert {m["stability"]["text"] for m in report["models"]} == {"–"}
    assert {m["stability"]["text"] for m in whole["models"]} != {"–"}
    kinds = [
        {m["kind"] for m in r["island"]["stability"]["models"].values()} for r in (whole, report)
    ]
    assert kinds[0] > {"none"}
    assert kinds[1] == {"none"}
    assert whole["stability_note"]
    assert report["stability_note"] == ""


@pytest.mark.parametrize("count", ["many", "1e3", ""])
def test_a_number_that_is_none_is_named(copy, count):
    edit(copy / "results.csv", lambda rows: rows[0].update(n_train=count))
    with pytest.raises(PsephosError, match=r"results\.csv"):
        summarise(copy)


def test_failed_fits_are_shown_with_their_reason(copy):
    def fail(rows):
        for row in rows:
            if row["model"] == "sklearn-l1-logistic" and (
                row["fold"] == "0" or row["repeat"] == "1"
            ):
                row.update(
                    status="failed", error="it <broke>", balanced_accuracy="", columns_used=""
                )

    edit(copy / "results.csv", fail)
    report = summarise(copy)
    (failure,) = report["failures"]
    assert failure == {
        "label": "sklearn-l1-logistic",
        "words": "1 of 5 fits",
        "error": "it <broke>",
    }
    assert "it &lt;broke&gt;" in build_report(copy).read_text("utf-8")
    row = next(m for m in report["models"] if m["key"] == "sklearn-l1-logistic")
    assert row["fits"] == "4 (1 failed)"


def test_a_model_that_only_failed_is_listed_and_not_drawn(copy):
    def fail(rows):
        for row in rows:
            if row["model"] == "sklearn-decision-tree":
                row.update(status="failed", error="no", balanced_accuracy="", columns_used="")

    edit(copy / "results.csv", fail)
    report = summarise(copy)
    assert "sklearn-decision-tree" in [m["key"] for m in report["models"]]
    assert "sklearn-decision-tree" not in [p["key"] for p in report["island"]["chart"]["points"]]
    assert "sklearn-decision-tree" in build_report(copy).read_text("utf-8")


def test_without_models_of_psephos_there_is_no_card_but_a_sentence(copy):
    def leave(rows):
        rows[:] = [row for row in rows if row["model"] not in ("samba", "adaboost", "swag")]

    edit(copy / "results.csv", leave)
    report = summarise(copy)
    assert report["card"] is None
    assert report["case"] is None
    assert "No model of psephos" in build_report(copy).read_text("utf-8")


def test_a_report_needs_nothing_but_plain_values(copy):
    json.dumps(summarise(copy), allow_nan=False)


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("classes", ["a", "a"]),
        ("class_counts", ["x", "y"]),
        ("n_rows", "many"),
        ("columns", {"a": 1}),
        ("protocol_settings", {"name": "quick"}),
        ("models", ["samba"]),
    ],
)
def test_an_entry_of_another_kind_in_comparison_json_is_a_sentence(name, value, copy):
    path = copy / "comparison.json"
    path.write_text(json.dumps(json.loads(path.read_text("utf-8")) | {name: value}), "utf-8")
    with pytest.raises(PsephosError, match=r"comparison\.json' is damaged .*comparison again"):
        summarise(copy)


def test_comparison_json_without_classes_is_a_sentence(copy):
    path = copy / "comparison.json"
    about = json.loads(path.read_text("utf-8"))
    del about["classes"]
    path.write_text(json.dumps(about), "utf-8")
    with pytest.raises(PsephosError, match=r"is damaged \(KeyError: 'classes'"):
        summarise(copy)


@pytest.mark.parametrize("name", ["results.csv", "refits.csv", "predictions.csv", "bounds.csv"])
def test_a_csv_without_its_header_is_a_sentence(name, copy):
    path = copy / name
    path.write_text("".join(path.read_text("utf-8").splitlines(keepends=True)[1:]), "utf-8")
    with pytest.raises(PsephosError, match=rf"{name}' is damaged \(it has no column"):
        summarise(copy)


def test_a_folder_of_before_bounds_were_written_has_no_table_of_them(copy):
    (copy / "bounds.csv").unlink()
    assert summarise(copy)["proved"] is None


@pytest.mark.parametrize("cell", ["\\ud800", "nine"])
def test_columns_of_a_refit_that_are_none_are_a_sentence(cell, copy):
    edit(copy / "refits.csv", lambda rows: rows[0].update(columns_used=cell))
    with pytest.raises(PsephosError, match=r"refits\.csv' is damaged"):
        summarise(copy)


def test_a_model_file_of_other_classes_is_a_sentence(copy):
    rng = np.random.default_rng(0)
    other = CARTClassifier().fit(rng.normal(size=(20, 3)), np.arange(20) % 2)
    for file in (copy / "models").glob("*.psephos"):
        save(other, file)
    with pytest.raises(PsephosError, match="its classes are not those of comparison"):
        summarise(copy)
