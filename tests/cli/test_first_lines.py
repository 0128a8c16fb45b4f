"""What the command prints first, how it reads numbers of other programs, and whom it is about."""

import csv
import io
import json
import shutil
import subprocess
import sys

import numpy as np
import pytest

from psephos.cli.app import main

from .conftest import HEADER, rows_of, write_csv

_FORMS = {
    "sap": (lambda v: f"{abs(v):.2f}" + "-" * bool(v < 0), "12.50-", -12.5),
    "fortran": (lambda v: f"{v:.3e}".replace("e", "D"), "-1.25D+01", -12.5),
    "hexadecimal": (lambda v: hex(round(abs(v) * 100)), "0x1F", 31.0),
}


def table_of(write):
    rng = np.random.default_rng(0)
    values = np.where(np.arange(40) % 2, 1.0, -1.0) * rng.uniform(1, 9, 40) + (np.arange(40) % 2)
    return values, [[write(v), f"{w:.3f}"] for v, w in zip(values, rng.random(40), strict=True)]


@pytest.mark.parametrize("form", _FORMS)
def test_numbers_of_other_programs_are_read_at_fit_predict_and_by_the_scorer(call, tmp_path, form):
    write, cell, value = _FORMS[form]
    values, cells = table_of(write)
    own = values if form != "hexadecimal" else np.round(np.abs(values) * 100)
    labels = np.where(own > np.median(own), "ill", "well")
    rows = [[*row, label] for row, label in zip(cells, labels, strict=True)]
    table = write_csv(tmp_path / "t.csv", ["g", "h", "y"], rows)
    done = call("fit", table, "--target", "y", "--model", "cart", "--out", tmp_path / "m.psephos")
    assert done.exit_code == 0, done.output
    assert "2 columns: 2 numeric." in done.stderr
    assert done.stderr.count(f"column 'g' is written as {cells[0][0]}, read as ") == 1
    one = write_csv(tmp_path / "one.csv", ["g", "h"], [[cell, "0.5"]])
    plain = write_csv(tmp_path / "plain.csv", ["g", "h"], [[repr(value), "0.5"]])
    answer = call("predict", tmp_path / "m.psephos", one)
    assert f"column 'g' is written as {cell}, read as {value:g}." in answer.stderr
    assert answer.stdout == call("predict", tmp_path / "m.psephos", plain).stdout
    scorer = tmp_path / "scorer.py"
    assert call("export", tmp_path / "m.psephos", "--scorer", scorer).exit_code == 0
    told = subprocess.run(
        [sys.executable, str(scorer), str(one)], capture_output=True, text=True, check=True
    )
    assert told.stdout == answer.stdout
    assert f"written as {cell}" in told.stderr
    judged = write_csv(tmp_path / "c.csv", ["g", "h", "y"], rows)
    found = call("validate", tmp_path / "m.psephos", judged, "--target", "y", "--json")
    figures = {one["figure"]: one["value"] for one in json.loads(found.stdout)["figures"]}
    assert figures["balanced accuracy"] == 1.0


def test_fit_and_validate_begin_with_cases_classes_and_columns(call, table, columns, tmp_path):
    model = tmp_path / "m.psephos"
    done = call("fit", table, *columns, "--drop", "noise", "--model", "cart", "--out", model)
    assert done.stderr.splitlines()[0] == (
        "48 cases in 12 groups (batch): ill 24, well 24. 3 columns: 2 numeric, 1 categorical. "
        "Left out: name (--id), batch (--group), noise (--drop)."
    )
    assert done.stdout == f"{model}\n"
    found = call("validate", model, table, *columns[:4], "--json")
    first = found.stderr.splitlines()[0]
    assert first.startswith("48 cases: ill 24, well 24. ")
    assert "Left out: name (--id), " in first
    assert "that the model does not read." in first
    json.loads(found.stdout)


def test_records_and_labels_are_counted_too(call, tmp_path):
    rows = [[i // 2, i % 7, "ill" if i % 3 == 0 else ""] for i in range(30)]
    table = write_csv(tmp_path / "pu.csv", ["a", "b", "y"], rows)
    given = ("--target", "y", "--unlabeled", "", "--model", "cart", "--out", tmp_path / "m.psephos")
    done = call("fit", table, *given)
    assert done.stderr.startswith("30 cases: ill 10, without a label 20. 2 columns: 2 numeric.\n")
    rows = [[i // 2, i % 5, i % 2, int(i % 3 == 0)] for i in range(30)]
    table = write_csv(tmp_path / "labels.csv", ["a", "b", "one", "2"], rows)
    done = call("fit", table, "--labels", "2", "--model", "ml-knn", "--out", tmp_path / "m.psephos")
    assert done.stderr.startswith("30 cases, 2 labels: one 15, 2 (10). 2 columns: 2 numeric.\n")


# ------------------------------------------------------------------- targets in doubt
def ages(folder, n=120):
    rng = np.random.default_rng(0)
    return write_csv(folder / "age.csv", ["a", "age"], [[rng.random(), 20 + i % 60]
                                                        for i in range(n)])  # fmt: skip


@pytest.mark.parametrize("command", ["fit", "compare"])
def test_a_measurement_is_refused_as_target_unless_insisted_on(call, tmp_path, command):
    out = ("--model", "cart", "--out", tmp_path / "m.psephos")
    given = out if command == "fit" else ("--out", tmp_path / "study")
    done = call(command, ages(tmp_path), "--target", "age", *given)
    assert done.exit_code == 2
    assert "the target 'age' has 60 values in 120 rows: is it a measurement?" in done.output
    assert "--task numbers" in done.output
    assert "--task classes" in done.output
    done = call("fit", ages(tmp_path), "--target", "age", "--categorical", "age", *out)
    assert done.exit_code == 0, done.output
    assert "20 (2), 21 (2)" in done.stderr
    assert "warning" not in done.stderr


@pytest.mark.parametrize("command", ["fit", "compare"])
def test_one_class_written_in_several_ways_is_refused_unless_insisted_on(call, tmp_path, command):
    rows = [[i // 2, ["Yes", "No", "yes", "No"][i % 4]] for i in range(40)]
    table = write_csv(tmp_path / "t.csv", ["a", "y"], rows)
    out = ("--model", "cart", "--out", tmp_path / "m.psephos")
    given = out if command == "fit" else ("--out", tmp_path / "study")
    done = call(command, table, "--target", "y", *given)
    assert done.exit_code == 2
    assert "differ only in case, blanks, hyphens or the form of a number: " in done.output
    assert "'Yes' (10 rows) and 'yes' (10 rows). Spell them alike" in done.output
    assert "--accept FD034" in done.output
    done = call("fit", table, "--target", "y", "--categorical", "y", *out)
    assert done.stderr.startswith("40 cases: No 20, Yes 10, yes 10.")
    assert "warning" not in done.stderr
    done = call("fit", table, "--target", "y", "--accept", "FD034", *out)
    assert done.exit_code == 0
    assert "40 cases: No 20, Yes 10, yes 10." in done.stderr


def test_validate_names_the_class_that_a_label_seems_to_be(call, model, table, tmp_path):
    rows = [[v.upper() if v == "ill" else v for v in row] for row in rows_of(48, 0)]
    other = write_csv(tmp_path / "other.csv", HEADER, rows)
    done = call("validate", model, other, "--target", "state")
    assert done.exit_code == 2
    assert (
        "--classes old=new (classes=) maps labels to classes ('ILL=ill' for 24 cases)"
        in done.output
    )


# ------------------------------------------------------------------- the positive class
@pytest.fixture(scope="module", name="study")
def _study(table, columns, tmp_path_factory):
    from click.testing import CliRunner

    folder = tmp_path_factory.mktemp("positive") / "out"
    chosen = ["--models", "cart,majority", "--protocol", "demo", "--no-report", "--n-jobs", "1"]
    told = CliRunner().invoke(
        main, ["compare", str(table), *columns, *chosen, "--positive", "well", "--out", str(folder)]
    )
    assert told.exit_code == 0, told.output
    assert told.stderr.startswith("48 cases in 12 groups (batch): ill 24, well 24. ")
    return folder


def positive_of(page):
    text = page.read_text("utf-8")
    told = json.loads(text.split('id="data">')[1].split("</script>")[0])["missed"]
    return told["classes"][told["positive"]]


def test_the_page_is_about_the_class_that_compare_named(call, study, tmp_path):
    assert json.loads((study / "comparison.json").read_text())["positive"] == "well"
    page = tmp_path / "page.html"
    assert call("report", study, "--out", page).exit_code == 0
    assert positive_of(page) == "well"
    assert "the comparison names it (--positive)" in page.read_text("utf-8")
    assert call("report", study, "--out", page, "--positive", "ill").exit_code == 0
    assert positive_of(page) == "ill"
    about = json.loads((study / "comparison.json").read_text())
    del about["positive"]  # as an older version wrote it
    old = tmp_path / "old"
    shutil.copytree(study, old)
    about.pop("checksum")  # older folders have none
    (old / "comparison.json").write_text(json.dumps(about))
    done = call("report", old, "--out", page)
    assert done.exit_code == 0, done.output
    assert positive_of(page) == "ill"


def test_a_positive_class_that_is_none_and_the_old_use_are_sentences(
    call, table, columns, tmp_path
):
    out = ("--out", tmp_path / "s")
    done = call("compare", table, *columns, "--positive", "Well", *out)
    assert "--positive (positive=) is 'Well': not a class of the target 'state'" in done.output
    assert "did you mean 'well'" in done.output
    for command in ("compare", "fit"):
        given = ("--unlabeled", "well", "--positive", "ill", "--out", tmp_path / "m.psephos")
        done = call(command, table, *columns, *given)
        assert done.exit_code == 2
        assert "the class whose records are certain is --recorded-class" in done.output
    for more in ((), ("--recorded-class", "ill", "--unlabeled", "well")):  # fit reads it nowhere
        done = call("fit", table, *columns, "--positive", "ill", *more, "--out", tmp_path / "m")
        assert done.exit_code == 2
        assert "the class whose records are certain is --recorded-class" in done.output


def test_output_that_is_csv_stays_csv(call, model, table):
    done = call("predict", model, table, "--id", "name")
    rows = list(csv.reader(io.StringIO(done.stdout)))
    assert len(rows) == 49
    assert {len(row) for row in rows} == {5}
