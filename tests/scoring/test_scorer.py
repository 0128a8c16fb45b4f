"""The scorer: one program, Python alone, that answers as `psephos predict` and `explain`."""

import copy
import csv
import io
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from click.testing import CliRunner

from psephos import CARTClassifier, recalibrated, save
from psephos._errors import PsephosError
from psephos.cli import main
from psephos.recalibrating import recalibration_of
from psephos.scoring import conformance, joining, plain
from psephos.scoring.scorer import scorer


def opened(text):
    """Return the names of a scorer, run in this process."""
    names = {"__name__": "scorer"}
    exec(compile(text, "scorer.py", "exec"), names)
    return names


def rows_of(text):
    return list(csv.reader(io.StringIO(text)))


def write(table, path):
    table.insert(0, "who", [f"case {i}" for i in range(len(table))])
    table.to_csv(path, index=False)
    return path


@pytest.fixture
def cases(families, tmp_path):
    table = families.frame()[0].iloc[::3].copy()
    table["unread"] = "anything, at all"
    return write(table, tmp_path / "cases.csv")


def asked(text, *argv, capsys):
    assert opened(text)["main"](list(map(str, argv))) == 0
    return capsys.readouterr()


def run(*argv):
    answer = CliRunner().invoke(main, list(map(str, argv)))
    assert answer.exit_code == 0, answer.output
    return rows_of(answer.stdout)


def equal(found, wanted):
    assert len(found) == len(wanted)
    for one, other in zip(found, wanted, strict=True):
        for a, b in zip(one, other, strict=True):
            if a != b:
                assert float(a) == pytest.approx(float(b), rel=1e-12, abs=1e-12)


@pytest.mark.parametrize("name", ["samba", "cart", "c45", "newton-boosting", "ml-knn"])
def test_it_answers_as_the_command(name, families, cases, tmp_path, capsys):
    model = families.fitted(f"{name}, frame")
    save(model, tmp_path / "m.psephos")
    text = scorer(model)
    found = asked(text, cases, "--id", "who", capsys=capsys)
    equal(rows_of(found.out), run("predict", tmp_path / "m.psephos", cases, "--id", "who"))
    told = rows_of(asked(text, cases, "--explain", "--id", "who", capsys=capsys).out)
    wanted = run("explain", tmp_path / "m.psephos", cases, "--id", "who", "--details")
    heads = told[0]
    at = [wanted[0].index(head) for head in heads[:-1]]  # details: numbers of rounding
    equal([row[:-1] for row in told], [[row[i] for i in at] for row in wanted])


@pytest.mark.parametrize("name", ["samba, frame", "swag, 3 classes, 0.2 missing", "labels"])
def test_it_names_the_cases_without_an_answer_as_the_command_does(name, families, tmp_path, capsys):
    model = families.fitted(name)
    save(model, tmp_path / "m.psephos")
    columns = [column["name"] for column in plain(model)["columns"]]
    if model.schema_.names is None:
        columns = [f"x{j}" for j in range(model.schema_.n_features)]
    with (tmp_path / "t.csv").open("w", newline="", encoding="utf-8") as file:
        blank = [[""] * len(columns)] * 9
        csv.writer(file).writerows([["who", *columns], *([i, *row] for i, row in enumerate(blank))])
    argv = tmp_path / "t.csv", "--id", "who"
    text = scorer(model)
    found = asked(text, *argv, capsys=capsys)
    told = run("predict", tmp_path / "m.psephos", *argv)
    equal(rows_of(found.out), told)
    assert told[0][-1] == "answered"
    assert {row[-1] for row in told[1:]} == {"false"}
    notes = asked(text, *argv, "--explain", capsys=capsys).err
    answer = CliRunner().invoke(main, ["explain", str(tmp_path / "m.psephos"), *map(str, argv)])
    assert answer.exit_code == 0, answer.output
    both = [
        [line for line in one.splitlines() if "no answer" in line or "without an answer" in line]
        for one in (notes, answer.stderr)
    ]
    assert both[0] == both[1]
    assert both[0][0].startswith("Note: 0 has no answer: no voter has the values it needs; ")
    assert both[0][-1] == "Note: 3 more cases without an answer."


@pytest.mark.parametrize("name", ["samba, frame", "random-forest, 3 classes, 0.2 missing"])
def test_calibrated_it_answers_as_the_calibrated_command(name, families, tmp_path, capsys):
    model = families.fitted(name)
    n = len(model.classes_)
    rng = np.random.default_rng(1)
    chances = rng.dirichlet(np.ones(n), 80)
    codes = np.array([rng.choice(n, p=row) for row in chances**2 / (chances**2).sum(1)[:, None]])
    light = copy.copy(model)
    light.recalibration_ = recalibration_of(chances, codes, method=METHODS[n])
    save(light, tmp_path / "m.psephos")
    told = conformance(light, 50, random_state=7)
    names = [c["name"] for c in plain(light)["columns"]]
    schema = light.schema_.words().columns
    path = tmp_path / "t.csv"
    with path.open("w", newline="", encoding="utf-8") as file:
        rows = [dict(zip(names, row, strict=True)) for row in told["rows"]]
        csv.writer(file).writerows([schema, *([row.get(c) for c in schema] for row in rows)])
    text = scorer(light)
    found = asked(text, path, "--calibrated", capsys=capsys)
    equal(rows_of(found.out), run("predict", tmp_path / "m.psephos", path, "--calibrated"))
    assert "probabilities and predictions are mapped by a" in found.err
    plainly = asked(text, path, capsys=capsys).out
    assert plainly != found.out
    equal(rows_of(plainly), run("predict", tmp_path / "m.psephos", path))
    ballots = asked(text, path, "--explain", "--calibrated", capsys=capsys).out
    assert ballots == asked(text, path, "--explain", capsys=capsys).out
    # written through the map, and asked for no more
    mapped = scorer(recalibrated(light))
    assert asked(mapped, path, capsys=capsys).out == found.out
    opened(mapped)["main"]([str(path), "--calibrated"])
    assert "has no map of held-out answers" in capsys.readouterr().err


METHODS = {2: "isotonic", 3: "sigmoid"}


@pytest.mark.parametrize("change", ["column", "level", "class", "threshold"])
def test_check_sees_names_and_classes(change, families, capsys):
    text = scorer(families.fitted("cart, frame"))
    names = opened(text)
    data = names["json"].loads(names["MODEL"])
    columns, kept = data["model"]["columns"], data["vectors"]["words"]
    assert any(words.startswith("voter 1: ") for words in kept)
    if change == "column":
        columns[0]["name"] = "another"
    elif change == "level":
        own = next(c for c in columns if "levels" in c)
        own["levels"][:2] = own["levels"][1::-1]
    elif change == "class":
        classes = [data["model"]["classes"], data["model"]["target"]["classes"]]
        for own in classes:
            own[:2] = own[1::-1]
    else:
        voters = data["model"]["voters"]
        voters["value"] = [[v * (1 + 1e-9) for v in row] for row in voters["value"]]
    assert names["run_scorer"](names["MODEL"], "", ["--check"]) == 0
    assert "names and ballots are the same" in capsys.readouterr().out
    assert names["run_scorer"](names["json"].dumps(data), "", ["--check"]) == 2
    assert "damaged" in capsys.readouterr().err


def test_every_scorer_checks_itself(model, capsys):
    assert "names and ballots" in asked(scorer(model), "--check", capsys=capsys).out


def test_it_runs_where_nothing_is_installed(families, cases, tmp_path):
    path = tmp_path / "scorer.py"
    path.write_text(scorer(families.fitted("samba, frame")), "utf-8")
    command = [sys.executable, "-I", "-S", str(path)]  # no packages of this environment
    done = subprocess.run(
        [*command, str(cases), "--check", "--out", str(tmp_path / "out.csv")],
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith("16 generated rows have the right scores")
    assert len(rows_of((tmp_path / "out.csv").read_text("utf-8"))) == 21


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="this system has no full device")
def test_a_full_disk_is_told_and_leaves_the_file_of_before(families, cases, tmp_path):
    path, out = tmp_path / "scorer.py", tmp_path / "out.csv"
    path.write_text(scorer(families.fitted("samba, frame")), "utf-8")
    command = [sys.executable, str(path), str(cases)]
    ours = [sys.executable, "-m", "psephos", "list"]
    buffered = {name: value for name, value in os.environ.items() if name != "PYTHONUNBUFFERED"}
    for one in (command, ours):
        with open("/dev/full", "w") as full:
            done = subprocess.run(
                one, stdout=full, stderr=subprocess.PIPE, check=False, env=buffered
            )
        assert done.returncode == 2
        assert b"no space left" in done.stderr.lower()
        assert b"ignored" not in done.stderr
    out.write_text("before")
    limited = 'ulimit -f 1; trap "" XFSZ; exec "$@"'  # files of a kilobyte at most
    command = ["bash", "-c", limited, "", *command, "--explain", "--out", str(out)]
    done = subprocess.run(command, capture_output=True, check=False)
    assert done.returncode == 2
    assert b"cannot be written" in done.stderr
    assert out.read_text() == "before"
    assert sorted(tmp_path.iterdir()) == sorted([path, out, cases])


def test_an_older_python_is_told(families, monkeypatch):
    text = scorer(families.fitted("cart, frame"))
    monkeypatch.setattr(sys, "version_info", (3, 10, 13))
    with pytest.raises(SystemExit, match=r"needs Python 3\.11 or newer"):
        opened(text)


def test_bad_tables_are_refused_in_a_sentence(families, tmp_path, capsys):
    main_of = opened(scorer(families.fitted("cart, frame")))["main"]
    table = families.frame()[0]
    lacks = tmp_path / "lacks.csv"
    table.drop(columns="g1").to_csv(lacks, index=False)
    assert main_of([str(lacks)]) == 2
    assert "has no column 'g1': the model reads it" in capsys.readouterr().err
    table["g1"] = table["g1"].astype(object)
    table.loc[3, "g1"] = "high"
    words = tmp_path / "words.csv"
    table.to_csv(words, index=False)
    assert main_of([str(words)]) == 2
    assert "has text in line 5 ('high')" in capsys.readouterr().err
    assert main_of([str(tmp_path / "none.csv")]) == 2
    assert main_of([str(words), "--id", "nobody"]) == 2


def test_a_new_category_is_missing_and_told(families, tmp_path, capsys):
    model = families.fitted("cart, frame")
    table = families.frame()[0].iloc[:6].copy()
    table["site"] = table["site"].astype(object)
    table.loc[0, "site"] = "elsewhere"
    table.to_csv(tmp_path / "t.csv", index=False)
    found = asked(scorer(model), tmp_path / "t.csv", capsys=capsys)
    if "site" in [c["name"] for c in opened(scorer(model))["json"].loads(
        opened(scorer(model))["MODEL"])["model"]["columns"]]:  # fmt: skip
        assert "('elsewhere'); they are read as missing" in found.err
    assert len(rows_of(found.out)) == 7


def test_columns_without_names_are_found_by_place(families, tmp_path, capsys):
    model = families.fitted("adaboost, 2 classes, 0.2 missing")
    X = families.small_table(2, seed=1).X
    path = tmp_path / "t.csv"
    head = ",".join(f"x{j}" for j in range(12))
    np.savetxt(path, X, delimiter=",", header=head, comments="")
    found = rows_of(asked(scorer(model), path, capsys=capsys).out)[1:]
    assert [row[1] for row in found] == model.predict(X).tolist()
    np.savetxt(path, X[:, :5], delimiter=",", header="a,b,c,d,e", comments="")
    assert opened(scorer(model))["main"]([str(path)]) == 2
    assert "a table of 12 columns without names" in capsys.readouterr().err


def test_strings_of_the_data_are_data(families):
    text = scorer(families.fitted("cart, frame"), 'a"""b.py')
    assert opened(text)["main"](["--check"]) == 0


def test_readers_are_joined_without_a_name_twice(monkeypatch):
    text = joining.program()
    assert "import numpy" not in text
    assert "from psephos" not in text
    monkeypatch.setattr(joining, "_READER", (*joining._READER, "core2"))
    monkeypatch.setattr(joining.Path, "read_text", lambda path, _: "def single(x):\n    return x\n")
    joining.program.cache_clear()
    with pytest.raises(PsephosError, match="single must be defined once"):
        joining.program()
    joining.program.cache_clear()


def test_a_scorer_writes_over_nothing_that_it_reads(families, cases, tmp_path):
    path = tmp_path / "scorer.py"
    path.write_text(scorer(families.fitted("samba, frame")), "utf-8")
    before = [one.read_bytes() for one in (path, cases)]
    link = tmp_path / "link.csv"
    link.symlink_to(cases)
    for out in (cases, link, path):
        done = subprocess.run(
            [sys.executable, "-I", str(path), str(cases), "--out", str(out)],
            capture_output=True, text=True, check=False,
        )  # fmt: skip
        assert done.returncode == 2
        assert "is an input file: give another" in done.stderr
    assert [one.read_bytes() for one in (path, cases)] == before


def test_a_scorer_writes_utf8_whatever_the_terminal(tmp_path):
    table = pd.DataFrame({"größe": [1.0, 2.0, 3.0, 4.0] * 10})
    model = CARTClassifier(n_folds=0).fit(table, np.array(["krank", "gesünder"])[[0, 0, 1, 1] * 10])
    path = tmp_path / "scorer.py"
    path.write_text(scorer(model), "utf-8")
    table.to_csv(tmp_path / "t.csv", index=False)
    done = subprocess.run(
        [sys.executable, str(path), str(tmp_path / "t.csv")], capture_output=True, check=False,
        env={"PYTHONIOENCODING": "ascii", "LC_ALL": "C"},
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert "gesünder" in done.stdout.decode("utf-8")
