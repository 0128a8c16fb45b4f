"""What is understood of a table, and the command that comes next."""

import shlex

import numpy as np
import pandas as pd
import pytest


@pytest.fixture
def cases(tmp_path):
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(rng.normal(size=(30, 3)), columns=["a", "b", "c 1"])
    frame.loc[[2, 5], "a"] = np.nan
    frame["y"] = np.where(frame["b"] > 0, "ill", "well")
    frame.insert(0, "case", [f"p{i}" for i in range(30)])
    frame.to_csv(tmp_path / "t.csv", index=False)
    frame.set_index("case").T.to_csv(tmp_path / "rows.csv")
    return tmp_path


def test_a_table_without_a_target(cases, call):
    found = call("table", cases / "t.csv", "--id", "case", "--drop", "c 1")
    assert found.exit_code == 0, found.output
    lines = found.stdout.splitlines()
    assert lines[:3] == [
        "30 rows. 5 columns: 3 of numbers, 2 with words.",
        "target   2 to 12 different values are in y",
        "missing  2 cells",
    ]
    path = shlex.quote(str(cases / "t.csv"))
    assert lines[-1] == f"next     psephos compare {path} --id case --drop 'c 1' --target COLUMN"
    assert "id       none" in call("table", cases / "t.csv").stdout


@pytest.mark.parametrize("turned", [[], ["--transpose"]])
def test_a_table_with_its_target(cases, call, turned):
    found = call("table", cases / "rows.csv", "--target", "y", "--id", "case", *turned)
    assert found.exit_code == 0, found.output
    assert found.stdout.startswith("30 cases: ill ")
    assert "missing  2 cells\n" in found.stdout
    assert "note     features are in rows: read as 30 cases of 4 columns" in found.stdout
    again = shlex.split(found.stdout.splitlines()[-1])
    assert again[1:3] == ["psephos", "compare"]
    assert again[4:] == ["--target", "y", "--id", "case", *turned]


def test_a_complaint_is_that_of_the_other_commands(cases, call):
    asked = (cases / "t.csv", "--target", "z")
    mine, theirs = call("table", *asked), call("compare", *asked)
    assert mine.exit_code == theirs.exit_code == 2
    assert mine.stderr.splitlines()[-1] == theirs.stderr.splitlines()[-1]
    assert "no column 'z'" in mine.stderr


def test_cautions_are_listed(tmp_path, call):
    path = tmp_path / "t.csv"
    path.write_text(
        "x,when,y\n" + "".join(f"{i % 7}.5,2021-02-{i + 1:02d},{'ab'[i % 2]}\n" for i in range(20))
    )
    assert "caution  FD001 dates: " in call("table", path, "--target", "y").stdout
    assert "caution  FD" not in call("table", path).stdout
