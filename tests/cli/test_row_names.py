"""Messages of a fit name rows as the file does; rows left out are told by compare, too."""

import csv
import json

import pytest

ROWS = [("a", "u"), ("a", "v"), ("b", "u"), ("b", "v")] * 6
LABELS = ["no", "yes", "no", "yes"] * 6


@pytest.fixture
def noisy(tmp_path):
    """A table that no conjunction agrees with: the last case says another class than its like."""
    path = tmp_path / "t.csv"
    with path.open("w", newline="") as file:
        sheet = csv.writer(file)
        sheet.writerow(["id", "a", "b", "y"])
        for i, (row, label) in enumerate(zip(ROWS, LABELS, strict=True)):
            sheet.writerow([f"p{i}", *row, "no" if i == 23 else label])
    return path


def test_a_fit_names_rows_by_their_ids_or_lines(call, noisy, tmp_path):
    asked = ["fit", noisy, "--target", "y", "--model", "version-space", "--out", tmp_path / "m"]
    told = call(*asked, "--id", "id").output
    assert "p23: no conjunction for class yes agrees with it" in told
    told = call(*asked, "--drop", "id").output
    assert "row 25: no conjunction for class yes agrees with it" in told  # its line
    assert "Of 24 rows 1 row left out: row 25: " in call("describe", tmp_path / "m").output
    told = call(*asked, "--id", "id", "--set", "on_collapse=raise")
    assert told.exit_code == 2
    assert "p23: no conjunction" in told.output
    bayes = ["--model", "bayes-optimal", "--set", "noise=0", "--id", "id"]
    told = call("fit", noisy, "--target", "y", *bayes, "--out", tmp_path / "b")
    assert told.exit_code == 2
    assert "agrees with p23 and the rows before" in told.output


def test_compare_tells_of_rows_that_a_model_left_out(call, noisy, tmp_path):
    out = tmp_path / "out"
    models = ["--models", "version-space,majority", "--n-jobs", "1", "--folds", "2"]
    told = call("compare", noisy, "--target", "y", "--id", "id", *models, "--out", out)
    assert told.exit_code == 0, told.output
    sentence = "on all rows p23: no conjunction for class yes"
    assert "warning: version-space: rows were left out in 2 of its 3 fits" in told.output
    kept = json.loads((out / "environment.json").read_text("utf-8"))["warnings"]
    assert [sentence in one for one in kept] == [True]
    page = (out / "report.html").read_text("utf-8")
    assert sentence in page
    assert "Of 24 rows 1 row left out: p23: " in page


def test_a_warning_of_a_fit_names_the_column_of_the_file(call, tmp_path):
    rows = [f"{20181100 + i % 60},{i * 7 % 13},{'ab'[i % 60 > 30]}" for i in range(120)]
    table, out = tmp_path / "t.csv", tmp_path / "m.psephos"
    table.write_text("\n".join(["visit day,dose,y", *rows]), "utf-8")
    how = ["--set", "tree_method=exact", "--set", "n_estimators=2"]
    done = call("fit", table, "--target", "y", "--model", "newton-boosting", *how, "--out", out)
    assert done.exit_code == 0, done.stderr
    assert "makes different values of a column equal: 'visit day' (" in done.stderr
