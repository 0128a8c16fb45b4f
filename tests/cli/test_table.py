"""What is understood of a table, and the command that comes next."""

import shlex

import numpy as np
import pandas as pd
import pytest

import psephos


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
        "30 cases. 3 columns: 2 numeric, 1 categorical. Left out: case (--id), c 1 (--drop).",
        "target   columns of 2 to 12 different values: y",
        "missing  2 cells",
    ]
    path = shlex.quote(str(cases / "t.csv"))
    assert lines[-1] == f"next     psephos compare {path} --id case --drop 'c 1' --target y"
    assert "id       none" in call("table", cases / "t.csv").stdout


def test_patterns_of_columns(tmp_path, call):
    rng = np.random.default_rng(0)
    names = ["q1", "q10", "q11", "q2", "r[1]", "r1", "y"]
    frame = pd.DataFrame(rng.integers(0, 4, size=(40, 7)), columns=names)
    frame.insert(0, "n", [f"p{i}" for i in range(40)])
    frame.assign(y=["u", "v"] * 20).to_csv(tmp_path / "t.csv", index=False)
    path = (tmp_path / "t.csv", "--target", "y", "--id", "n")
    found = call("table", *path, "--drop", "q1?", "--drop", "r[1]", "--categorical", "q*").stdout
    left = "Left out: n (--id), q10 (--drop), q11 (--drop), r[1] (--drop)."
    assert f"3 columns: 1 numeric, 2 categorical. {left}" in found
    every = call("table", *path, "--drop", "[!r]*").stdout  # no column with another role
    assert "2 columns: 2 numeric. Left out: n (--id), q1 (--drop), q10 (--drop), q11" in every
    for option in ("--drop", "--categorical"):
        wrong = call("table", *path, option, "z*")
        assert (
            f"no column of 't.csv' without another role matches 'z*' ({option}); there are 'n'"
            in wrong.stderr
        )
        assert "--transpose" not in wrong.stderr
    data = psephos.read_table(path[0], target="y", drop=["q1?"], categorical=["q*"])
    assert data.left_out == ("q10 (--drop)", "q11 (--drop)")
    assert data.categorical == {"q1", "q2"}


def test_a_proposal_is_not_shown_as_given(tmp_path, call):
    frame = pd.DataFrame({"a": [f"{i} cm" if i % 3 else f"{i} in" for i in range(30)]})
    frame.assign(b=range(30), y=["u", "v"] * 15).to_csv(tmp_path / "t.csv", index=False)
    assert "Left out: a (as proposed below)." in call("table", tmp_path / "t.csv").stdout
    assert "Left out: a (--drop)." in call("table", tmp_path / "t.csv", "--drop", "a").stdout


def test_the_largest_of_several_sheets_is_in_the_next_command(cases, call):
    pytest.importorskip("python_calamine")
    pytest.importorskip("openpyxl")
    with pd.ExcelWriter(cases / "t.xlsx") as writer:
        pd.DataFrame({"read": ["this", "first"]}).to_excel(writer, sheet_name="help", index=False)
        pd.read_csv(cases / "t.csv").to_excel(writer, sheet_name="the cases", index=False)
    found = call("table", cases / "t.xlsx", "--drop", "case").stdout
    assert "'help' (3 x 1), 'the cases' (31 x 5)" in found
    assert "--drop case --sheet 'the cases' --target y" in found.splitlines()[-1]
    known = call("table", cases / "t.xlsx", "--id", "case", "--target", "y").stdout
    assert "sheet 'the cases' is read, the only one of 2 with the columns 'case', 'y'" in known


def test_columns_that_may_hold_codes_are_named(tmp_path, call):
    rng = np.random.default_rng(0)
    frame = pd.DataFrame({
        "travel": rng.integers(1, 5, 60), "smokes": rng.integers(0, 2, 60),
        "ward": list("abc") * 20,
        "age": rng.integers(20, 60, 60), "share": rng.integers(1, 4, 60) / 4,
        "y": ["ill", "well"] * 30,
    })  # fmt: skip
    frame.loc[3, "travel"] = np.nan
    frame.to_csv(tmp_path / "t.csv", index=False)
    found = call("table", tmp_path / "t.csv", "--target", "y").stdout
    assert "codes    travel: whole numbers of few values; if they stand for names" in found
    listed = call("table", tmp_path / "t.csv", "--target", "y", "--categorical", "travel").stdout
    assert "codes" not in listed


def test_classes_need_a_target(cases, call):
    done = call("table", cases / "t.csv", "--classes", "a=b")
    assert done.exit_code != 0
    assert "--classes names classes of the target: name it with --target." in done.stderr


@pytest.mark.parametrize("turned", [[], ["--transpose"]])
def test_a_table_with_its_target(cases, call, turned):
    found = call("table", cases / "rows.csv", "--target", "y", "--id", "case", *turned)
    assert found.exit_code == 0, found.output
    assert found.stdout.startswith("30 cases: ill ")
    assert "missing  2 cells\n" in found.stdout
    assert "note     features are in rows: read as 30 cases of 4 columns" in found.stdout
    again = shlex.split(found.stdout.splitlines()[-1])
    assert again[1:3] == ["psephos", "compare"]
    assert again[4:] == [
        "--target",
        "y",
        "--id",
        "case",
        *turned,
        "--drop",
        "b",
    ]  # it is the target


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
    assert "caution  FD001 dates: " in call("table", path).stdout  # without a target, too


def test_what_fit_would_refuse_is_listed_without_a_target(cases, tmp_path, call):
    text = "a;b;y\n" + "".join(f"{i},5;{i % 5};{'uv'[i % 2]}\n" for i in range(20))
    (tmp_path / "comma.csv").write_text(f"{text}1;2\n")
    found = call("table", tmp_path / "comma.csv")
    assert found.exit_code == 0, found.output
    assert "wrong    line 22 of 'comma.csv' has 2 cells where" in found.stdout
    assert "wrong    column 'a' has numbers in another notation ('0,5' in line 2" in found.stdout
    last = found.stdout.splitlines()[-1]
    assert last.endswith("comma.csv --decimal , --target COLUMN")
    genes = pd.DataFrame(np.random.default_rng(1).normal(size=(60, 30))).add_prefix("p")
    genes.rename("g{}".format).rename_axis("gene").to_csv(tmp_path / "genes.csv")
    found = call("table", tmp_path / "genes.csv")
    assert "wrong    Its first column holds 60 different words beside 30 other" in found.stdout
    assert "different words" not in call("table", cases / "t.csv").stdout
    assert "different words" not in call("table", tmp_path / "genes.csv", "--transpose").stdout
    (tmp_path / "headless.csv").write_text("1,2,3\n4,5,6\n7,8,9\n")
    found = call("table", tmp_path / "headless.csv")
    assert "holds numbers only" in found.stderr
    (tmp_path / "case.csv").write_text("ill,5.5,3,4.5\n" + "ill,4,3.5,5\nwell,6,2,4\n" * 5)
    assert "caution  FD030 no-names" in call("table", tmp_path / "case.csv").stdout


@pytest.fixture
def patients(tmp_path):
    """Cases in sums, with a sentinel, ids, dates and an index."""
    rng = np.random.default_rng(1)
    frame = pd.DataFrame(rng.normal(10, 2, size=(40, 2)).round(2), columns=["a", "b"])
    frame["y"] = np.where(frame["b"] > 10, "ill", "well")
    frame["a"] = np.where(np.arange(40) % 15 == 0, -999, frame["a"])
    frame.insert(0, "nr", range(101, 141))
    frame["seen"] = [f"2021-{i // 20 + 1:02d}-{i % 20 + 1:02d}" for i in range(40)]
    text = frame.to_csv(index=False)
    path = tmp_path / "t.csv"
    path.write_text(text + f"Summe,{frame['a'].sum():.2f},{frame['b'].sum():.2f},,\n")
    return path


def test_the_next_command_is_not_refused(patients, call):
    found = call("table", patients, "--target", "y", "--drop", "b")
    words = shlex.split(found.stdout.splitlines()[-1])[2:]
    assert words[2:] == [
        "--target", "y", "--drop", "b", "--id", "nr", "--drop", "seen", "--missing", "-999",
    ]  # fmt: skip
    lines = [line for line in found.stdout.splitlines() if line.startswith("caution")]
    assert [line.endswith("Stops fit and compare.") for line in lines] == [
        line.split()[1] in ("FD002", "FD003", "FD004") for line in lines
    ]
    again = call("table", *words[1:])
    assert again.exit_code == 0, again.output
    assert "Stops " not in again.stdout


def test_a_caution_without_a_remedy_comes_first(tmp_path, call):
    path = tmp_path / "t.csv"
    path.write_text("x,y\n" + "".join(f"{i % 7}.5,{'aAbb'[i % 4]}\n" for i in range(40)))
    found = call("table", path, "--target", "y")
    assert "next     after correcting FD034: psephos compare" in found.stdout


def test_replicates_without_a_column_that_names_them_need_a_group(tmp_path, call):
    rng = np.random.default_rng(0)
    X = np.repeat(rng.normal(size=(20, 12)), 2, axis=0)
    X[::2, 0] += 0.25  # not exact copies
    lines = [",".join([*map(str, row), "ab"[i // 2 % 2]]) for i, row in enumerate(X.round(3))]
    path = tmp_path / "t.csv"
    path.write_text("\n".join([",".join([*(f"m{j}" for j in range(12)), "y"]), *lines]))
    found = call("table", path, "--target", "y")
    assert "caution  FD020" in found.stdout
    assert found.stdout.rstrip().endswith("--target y --group COLUMN")


def test_a_row_of_sums_without_a_label_is_left_out(patients, call):
    found = call("table", patients, "--target", "y")
    assert found.stdout.startswith("40 cases: ")
    assert "note     line 42 has no y, and sums or means (Summe): left out." in found.stdout
    text = patients.read_text()
    patients.write_text(text.replace("Summe", str(sum(range(101, 141)))))
    assert call("table", patients, "--target", "y").exit_code == 0  # its numbers are sums
    patients.write_text(f"{text.rpartition('Summe')[0]}141,9.5,10.1,,2021-03-01\n")
    assert "no value in 1 row (line 42)" in call("table", patients, "--target", "y").stderr


def test_a_row_of_sums_is_reported_among_new_cases(patients, call):
    settled = ("--id", "nr", "--drop", "seen", "--missing", "-999")
    model = patients.with_name("m.psephos")
    asked = ("--target", "y", "--model", "cart", "--out", model)
    assert call("fit", patients, *asked, *settled).exit_code == 0
    found = call("predict", model, patients, "--id", "nr")
    assert "FD033 total-row: The last row (Summe) seems not to be a case" in found.stderr


def test_notes_and_row_names_are_said_once(tmp_path, call):
    path = tmp_path / "t.csv"
    rows = "".join(f"r{i},{i % 7}.5,{(i * 3) % 5},{'ab'[i % 2]}\n" for i in range(40))
    path.write_text(f"a title,,,\n,x,z,y\n{rows}")
    asked = ("--target", "y", "--protocol", "demo", "--models", "majority", "--no-report")
    found = call("compare", path, *asked, "--out", tmp_path / "out", "--n-jobs", "1")
    assert found.exit_code == 0, found.output
    assert found.output.count("left out as a title") == 1
    assert "Left out: row names." in found.output


@pytest.fixture
def german(tmp_path):
    """A list with a title, commas, words for missing values, thousands, remarks and sums."""
    lines = ["Patientenliste;;;;", "", "Nr;CRP;Thrombozyten;Bemerkung;Befund"]
    for i in range(40):
        crp = "k. A." if i % 9 == 0 else f"{i % 7 + 1},{i % 10}"
        lines.append(f"{i + 1};{crp};{100 + i}.000;Brief {i};{'ja' if i % 2 else 'nein'}")
    path = tmp_path / "t.csv"
    path.write_text("\n".join([*lines, "Summe;142,6;4.780.000;;"]) + "\n")
    return path


@pytest.mark.parametrize("command", ["table", "fit", "compare"])
def test_all_that_is_wrong_is_one_message_with_the_command(german, call, command):
    out = () if command == "table" else ("--out", german.with_name("out"))
    found = call(command, german, "--target", "Befund", *out)
    assert found.exit_code == 2
    for part in ("'CRP' has numbers", "'Thrombozyten' has", "'k. A.'", "FD002 words-once"):
        assert part in found.stderr
    words = shlex.split(found.stderr.splitlines()[-1].removeprefix("Repeat with:  "))
    added = words[words.index("--decimal") :]
    pairs = set(zip(added[::2], added[1::2], strict=True))
    assert pairs == {
        ("--decimal", ","), ("--thousands", "."), ("--missing", "k. A."), ("--id", "Nr"),
        ("--drop", "Bemerkung"),
    }  # fmt: skip
    again = call("table", german, "--target", "Befund", *added)
    assert again.exit_code == 0, again.output
    assert "Stops " not in again.stdout


def test_a_complaint_without_a_remedy_ends_the_search(tmp_path, call):
    path = tmp_path / "t.csv"
    path.write_text("a,b,y\n" + "".join(f"1;{i % 3},{i}.5,{'uv'[i % 2]}\n" for i in range(20)))
    found = call("compare", path, "--target", "z")
    assert "Repeat with" not in found.stderr
    assert "no column 'z'" in found.stderr


RNG = np.random.default_rng(3)
SICK = RNG.random(80) < 0.4


def measured():
    """Return 80 rows of two measurements and a target."""
    frame = pd.DataFrame(
        {"crp": RNG.normal(size=80).round(3), "lac": RNG.normal(2, 1, 80).round(1)}
    )
    return frame.astype(object).assign(t=np.where(SICK, "Sim", "Não"))


def last_words(found):
    return shlex.split(found.stdout.splitlines()[-1])


def test_a_total_row_makes_no_column_categorical(tmp_path, call):
    """Nor does `--categorical` silence the caution on classes that differ in case."""
    frame, path = measured(), tmp_path / "t.csv"
    frame = frame.astype(object)
    frame.loc[np.flatnonzero(SICK)[:8], "t"] = "sim"
    frame.loc[80] = ["Total", None, int(SICK.sum())]
    frame.to_csv(path, index=False)
    found = call("table", path)
    assert "target   columns of 2 to 12 different values: t\n" in found.stdout
    assert last_words(found)[1:] == [
        "psephos", "compare", str(path), "--skip-last", "1", "--target", "t",
    ]  # fmt: skip
    for more in ([], ["--categorical", "t"], ["--task", "classes"]):
        found = call("table", path, "--target", "t", "--skip-last", "1", *more)
        assert "caution  FD034 classes-alike" in found.stdout
    named = frame.assign(
        crp=[*frame["crp"][:80], 0.5], case=[*map("p{}".format, range(80)), "Total"]
    )
    named.to_csv(path, index=False)
    found = call("table", path)
    assert "column 't' has words, and" in found.stdout
    assert last_words(found)[4:] == ["--skip-last", "1", "--id", "case", "--target", "COLUMN"]
    found = call("compare", path, "--target", "t")
    assert f"class '{SICK.sum()}' has" not in found.stderr
    assert "note     line 82 has" in call("table", path, "--target", "t").stdout
    code = np.where(SICK, "a", "b").astype(object)
    code[-1] = "3"  # the last row is a case like the others
    measured().assign(code=code).to_csv(path, index=False)
    assert "--skip-last" not in call("table", path).stdout


def test_what_advises_is_in_the_command_to_repeat(tmp_path, call):
    path = tmp_path / "t.csv"
    frame = measured().assign(nr=range(301, 381))
    frame["chip"] = [f"{1 + 4 * (i % 2):02d}/03/2012" for i in range(80)]
    frame.to_csv(path, index=False)
    listed = last_words(call("table", path, "--target", "t"))
    done = call("compare", path, "--target", "t")
    again = next(one for one in done.stderr.splitlines() if one.startswith("Repeat with"))
    assert shlex.split(again)[4:] == listed[3:]
    assert "FD001 dates" in done.stderr
    assert again.endswith("--drop chip")


def test_few_words_among_numbers_are_missing(tmp_path, call):
    frame, path = measured(), tmp_path / "t.csv"
    frame.loc[[3, 9, 20], "lac"], frame.loc[[30, 41], "lac"] = "-", "s/ dados"
    frame.to_csv(path, index=False)
    for asked in (
        ["table", path],
        ["table", path, "--target", "t"],
        ["compare", path, "--target", "t"],
    ):
        found = call(*asked)
        words = shlex.split(found.output.splitlines()[-1])
        pairs = ["--missing", "lac=-", "--missing", "lac=s/ dados"]
        assert [one for one in words if "lac" in one or one == "--missing"] == pairs
    frame.loc[50:53, "lac"] = ["k", "l", "m", "n"]
    frame.to_csv(path, index=False)
    assert last_words(call("table", path))[4:6] == ["--drop", "lac"]
    frame = measured()
    frame.loc[:20, "lac"] = "<0.5"
    frame.to_csv(path, index=False)
    found = call("table", path)
    assert "the lowest or highest there are, not missing: --limits half reads half" in found.stdout
    assert last_words(found)[4:6] == ["--limits", "half"]
    found = call("table", path, "--limits", "half")
    assert (
        "note     column 'lac': limits of detection are read (--limits): <0.5 as 0.25 (in 21)."
        in (found.stdout)
    )
    frame.assign(crp=frame["lac"], pct=frame["lac"].replace("<0.5", "<1")).to_csv(path, index=False)
    found = call("table", path).stdout
    assert "(The same in 2 other columns: 'lac', 'pct'.)" in found
    notes = (
        "note     columns 'crp' (in 21), 'lac' (in 21): limits of detection are read (--limits): "
    )
    assert f"{notes}<0.5 as 0.25." in found
    assert (
        "note     column 'pct': limits of detection are read (--limits): <1 as 0.5 (in 2" in found
    )


def test_fewer_groups_or_rows_of_a_class_than_folds_are_reckoned_with(tmp_path, call):
    frame, path = measured(), tmp_path / "t.csv"
    frame["t"] = ["u", "v"] * 40
    frame.assign(donor=[f"D{k % 4}" for k in range(80)]).to_csv(path, index=False)
    found = call("table", path, "--target", "t")
    assert last_words(found)[4:] == ["--target", "t", "--group", "donor", "--folds", "4"]
    frame.loc[:2, "t"] = "w"
    frame.to_csv(path, index=False)
    assert last_words(call("table", path, "--target", "t"))[-2:] == ["--folds", "3"]


def test_all_complaints_with_the_other_decimal_mark(tmp_path, call):
    """Those that are met once the decimal comma is read are in the same message."""
    frame, path = measured(), tmp_path / "t.csv"
    for name in ("crp", "lac"):
        frame[name] = [str(v).replace(".", ",") for v in frame[name]]
    frame.loc[[3, 9], "lac"], frame.loc[[5], "crp"] = "-", ">1.000,0"
    frame.assign(nr=range(301, 381)).to_csv(path, index=False, sep=";")
    found = call("table", path)
    assert last_words(found)[4:] == [
        "--decimal", ",", "--drop", "crp", "--missing", "-", "--id", "nr",
        "--target", "COLUMN",
    ]  # fmt: skip
    assert call("table", *last_words(found)[3:-1], "t").exit_code == 0


def test_one_option_that_settles_many_columns_is_not_repeated(tmp_path, call):
    path, rows = tmp_path / "t.csv", RNG.random((20, 30)).round(3)
    frame = pd.DataFrame(rows).add_prefix("w").map(lambda v: str(v).replace(".", ","))
    frame.insert(0, "device", ["A", "B"] * 10)
    frame.to_csv(path, index=False, sep=";")
    found = call("table", path)
    assert found.stdout.count("wrong    column") == 1
    assert "(The same in 29 other columns: 'w1', 'w2', 'w3', 'w4', 'w5' and 24 more.)" in (
        found.stdout
    )
    assert last_words(found)[4:] == ["--decimal", ",", "--target", "COLUMN"]  # no last column


@pytest.mark.parametrize("decimal", [".", ","])
def test_fractions_of_few_values_are_asked_about_whatever_the_decimal_mark(decimal, tmp_path, call):
    """Nine different values in 60 rows: classes or a measurement, which the user says."""
    frame, path = pd.DataFrame(RNG.normal(size=(60, 2)).round(4), columns=["a", "b"]), "t.csv"
    frame["score"] = 1 + RNG.integers(0, 9, 60) / 2
    path = tmp_path / path
    frame.to_csv(path, index=False, sep=";", decimal=decimal)
    asked = (path, "--decimal", decimal, "--target", "score")
    for command in (("table",), ("compare", "--out", tmp_path / "o")):
        found = call(*command, *asked)
        assert found.exit_code == 2
        assert "the target 'score' holds measurements (line" in found.stderr
    assert "60 cases: numbers from 1 to 5" in call("table", *asked, "--task", "numbers").stdout
    classes = call("table", *asked, "--task", "classes").stdout
    assert f"'1{decimal}5'" in classes or f"1{decimal}5 (" in classes


@pytest.mark.parametrize("word", ["b.d.", "BDL", "<LOD", "< LLOQ", "n.d.", "n/d", "unter NWG"])
def test_words_for_less_than_can_be_measured(word, tmp_path, call):
    """In few rows or in most of them they make no category of a column of numbers."""
    for n in (2, 50):
        frame, path = measured(), tmp_path / "t.csv"
        frame["lac"] = [word if i < n else str(v) for i, v in enumerate(frame["lac"])]
        frame.to_csv(path, index=False)
        found = call("table", path)
        assert "which are the lowest and not missing, write a number for each" in found.stdout
        assert f"column 'lac' has text in line 2 ({word!r}), line 3 ({word!r})" in found.stdout
        assert f"as missing (--missing {word!r})" in found.stdout or (
            f"--missing 'lac={word}'" in found.stdout
        )
        assert last_words(found)[4:] == ["--target", "t"]  # a choice that is the user's
    frame.loc[51:60, "lac"] = "<LOQ"
    frame.to_csv(path, index=False)
    found = call("table", path)
    assert "--categorical" not in found.stdout
    frame = measured()
    frame.loc[[3, 9], "lac"] = "<0.5"
    frame.to_csv(path, index=False)
    found = call("table", path).stdout
    assert "not missing: --limits half reads half of a lower one, and an upper one itself" in found


def test_new_cases_without_a_value_and_a_total_by_name(tmp_path, call):
    """Rows of empty cells below the cases are left out; a total is found in the first column."""
    frame = measured().drop(columns="t").astype(float)
    frame.insert(0, "ward", [f"w{i}" for i in range(80)])
    model, new = tmp_path / "m.psephos", tmp_path / "new.csv"
    frame.assign(t=SICK).to_csv(tmp_path / "t.csv", index=False)
    settled = ("--target", "t", "--drop", "ward", "--model", "cart", "--out", model)
    done = call("fit", tmp_path / "t.csv", *settled)
    assert done.exit_code == 0, done.output
    new.write_text(frame.iloc[:2].to_csv(index=False) + "Gesamt,1,2\n,,\n,,\n")
    found = call("predict", model, new)
    assert found.stdout.count("\n") == 4
    assert "Note: empty lines are left out: 2." in found.stderr
    assert "The last row (Gesamt) seems not to be a case: it is named 'Gesamt'" in found.stderr
