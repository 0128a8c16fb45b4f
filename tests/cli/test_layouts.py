"""Tables whose features are in rows, and labels in another file, by command."""

import json

import numpy as np
import pandas as pd
import pytest


# ------------------------------------------------------------------- how a table lies in its file
@pytest.fixture
def turned(tmp_path, call):
    """A model of a table in rows, the same table turned round, and the labels of its cases."""
    rng = np.random.default_rng(3)
    values = rng.normal(size=(3, 40))
    names = [f"s{i}" for i in range(40)]
    (tmp_path / "genes.csv").write_text(
        "\n".join([",".join(["gene", *names])]
                  + [",".join([f"g{j}", *map(repr, row.tolist())]) for j, row in enumerate(values)])
    )  # fmt: skip
    y = np.where(values[0] > 0, "ill", "well")
    (tmp_path / "labels.csv").write_text(
        "\n".join(["sample,state", *(f"{n},{v}" for n, v in zip(names, y, strict=True))])
    )
    lines = [",".join([n, *map(repr, values[:, i].tolist()), y[i]]) for i, n in enumerate(names)]
    (tmp_path / "cases.csv").write_text("\n".join(["sample,g0,g1,g2,state", *lines]))
    options = ("--target", "state", "--id", "sample", "--model", "adaboost", "--out")
    plain = call("fit", tmp_path / "cases.csv", *options, tmp_path / "a.psephos")
    assert plain.exit_code == 0, plain.output
    return tmp_path, options


def test_features_in_rows_and_labels_elsewhere_by_command(turned, call):
    folder, options = turned
    found = call(
        "fit", folder / "genes.csv", "--labels-from", folder / "labels.csv", *options,
        folder / "b.psephos",
    )  # fmt: skip
    assert found.exit_code == 0, found.output
    assert "features are in rows: read as 40 cases of 3 columns (--no-transpose" in found.stderr
    assert (folder / "a.psephos").read_bytes() == (folder / "b.psephos").read_bytes()


@pytest.mark.parametrize("more", [[], ["--transpose"]])
def test_predictions_for_features_in_rows(turned, call, more):
    folder, _ = turned
    plain = call("predict", folder / "a.psephos", folder / "cases.csv", "--id", "sample")
    found = call("predict", folder / "a.psephos", folder / "genes.csv", "--id", "sample", *more)
    assert found.exit_code == 0, found.output
    assert found.stdout == plain.stdout
    assert "Note: features are in rows" in found.stderr
    along = call("predict", folder / "a.psephos", folder / "genes.csv", "--no-transpose")
    assert along.exit_code == 2
    assert "has no column 'g0'" in along.stderr


def test_a_validation_for_features_in_rows(turned, call):
    folder, _ = turned
    asked = ("--target", "state", "--id", "sample", "--json")
    plain = call("validate", folder / "a.psephos", folder / "cases.csv", *asked)
    found = call(
        "validate", folder / "a.psephos", folder / "genes.csv", "--labels-from",
        folder / "labels.csv", *asked,
    )  # fmt: skip
    assert found.exit_code == 0, found.output
    mine, theirs = (json.loads(one.stdout) for one in (found, plain))
    assert mine.pop("about").keys() == theirs.pop("about").keys()
    assert mine == theirs
    assert len(mine) > 3


def test_a_word_that_is_kept_by_command(turned, call):
    folder, options = turned
    text = (folder / "cases.csv").read_text().replace("ill", "NA")
    (folder / "cases.csv").write_text(text)
    refused = call("fit", folder / "cases.csv", *options, folder / "c.psephos")
    assert refused.exit_code == 2
    kept = call("fit", folder / "cases.csv", "--keep-word", "NA", *options, folder / "c.psephos")
    assert kept.exit_code == 0, kept.output
    assert "NA" in kept.stderr


def test_names_that_stand_twice_hide_no_complaint_on_cells(tmp_path, call):
    rows = "".join(f"c{i},{i * 5 % 11},{i * i % 7},0.{i}5,{'uv'[i % 2]}\n" for i in range(12))
    path = tmp_path / "t.csv"
    path.write_text("id,a,a,,y\n" + rows.replace("c3,4", "c3,low"))
    refused = call("table", path, "--target", "y")
    assert refused.exit_code == 2
    for words in ("column 4 of 't.csv' has no name", "'a' occurs twice", "in line 5 ('low')"):
        assert words in refused.stderr
    again = ["--duplicates", "number", "--missing", "low", "--id", "id"]
    assert f"--target y {' '.join(again)}\n" in refused.stderr
    settled = call("table", path, "--target", "y", *again)
    assert settled.exit_code == 0, settled.output
    assert "12 cases: u 6, v 6. 3 columns: 3 numeric." in settled.stdout


@pytest.mark.parametrize("kind", ["csv", "xlsx"])
def test_a_row_of_totals_is_left_out(kind, tmp_path, call):
    rng = np.random.default_rng(0)
    rows = [[i, *rng.normal(size=2).round(3).tolist(), "ab"[i % 2]] for i in range(30)]
    rows.append(["Toplam", 1.0, 2.0, "a"])
    frame = pd.DataFrame(rows, columns=["no", "u", "v", "y"])
    path = tmp_path / f"t.{kind}"
    frame.to_csv(path, index=False) if kind == "csv" else frame.to_excel(path, index=False)
    found = call("table", path, "--target", "y")
    assert "leave out this last row, a total (--skip-last 1)" in found.output
    assert "--skip-last 1" in found.output.splitlines()[-1]
    assert "--missing Toplam" not in found.output
    found = call("table", path, "--target", "y", "--skip-last", "1")
    assert "30 cases" in found.output
    assert "the last line is left out (--skip-last): line 32." in found.output
    frame.iloc[:30].to_csv(tmp_path / "whole.csv", index=False)
    options = ("--target", "y", "--drop", "no", "--model", "cart", "--out")
    assert call("fit", path, "--skip-last", "1", *options, tmp_path / "a.psephos").exit_code == 0
    assert call("fit", tmp_path / "whole.csv", *options, tmp_path / "b.psephos").exit_code == 0
    assert (tmp_path / "a.psephos").read_bytes() == (tmp_path / "b.psephos").read_bytes()


def test_only_lines_and_sheets_have_last_rows_to_leave_out(tmp_path, call):
    np.save(tmp_path / "t.npy", np.arange(8.0).reshape(4, 2))
    found = call("table", tmp_path / "t.npy", "--skip-last", "1")
    assert found.exit_code == 2
    assert "--skip-last does not apply to" in found.stderr
