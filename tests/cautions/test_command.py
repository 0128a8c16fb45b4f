"""The command ends on what cannot be meant, says how to go on, and goes on if it is insisted on."""

import json
import shlex
from itertools import pairwise

import numpy as np
import pandas as pd
import pytest
from click.testing import CliRunner

from psephos import PsephosError, load, read_table
from psephos.cli import main
from psephos.protocol.tables.table import table_from_arrays
from psephos.report import summarise

N = 60
RNG = np.random.default_rng(0)
Y = RNG.permutation(np.repeat(["ill", "well"], N // 2))
ROWS = RNG.normal(size=(N, 12)).round(4)


def call(*words):
    result = CliRunner().invoke(main, [str(word) for word in words], prog_name="psephos")
    if result.exception is not None and not isinstance(result.exception, SystemExit):
        raise result.exception
    return result


@pytest.fixture
def table(tmp_path):
    """An id of numbers, an index, dates, a sentinel and the target again."""
    X = pd.DataFrame(ROWS[:, :3], columns=["a", "b", "c"])
    X.insert(0, "Unnamed: 0", range(N))
    X["visit"] = pd.date_range("2021-01-01", periods=N).astype(str)
    X["b"] = np.where(np.arange(N) < 3, -999, X["b"])
    X["outcome"] = (Y == "ill") * 1
    X.assign(state=Y).to_csv(tmp_path / "my table.csv", index=False)
    return tmp_path / "my table.csv"


def repeated(done):
    line = next(one for one in done.output.splitlines() if one.startswith("Repeat with:"))
    return shlex.split(line.partition("psephos ")[2])


def test_all_refusals_come_in_one_message_with_the_command_to_repeat(table, tmp_path):
    out = ("--out", tmp_path / "m.psephos")
    done = call("fit", table, "--target", "state", "--model", "cart", *out)
    assert done.exit_code == 2
    for code in ("FD002", "FD004", "FD008"):
        assert f"{code} " in done.output
    assert "FD007 sentinel: " in done.stderr
    assert "-999 in 'b'" in done.stderr
    assert "--accept FD002 --accept FD004 --accept FD008" in done.output
    words = repeated(done)
    assert words[words.index("--id") + 1] == "Unnamed: 0"
    done = call(*words)
    assert done.exit_code == 0, done.output
    assert words[words.index("--missing") + 1] == "-999"
    assert "FD007" not in done.stderr


def test_a_word_declared_missing_elsewhere_is_named(tmp_path):
    rng = np.random.default_rng(0)
    frame = pd.DataFrame({"a": rng.normal(size=30).round(3).astype(str), "b": list("xyz") * 10})
    frame.loc[[2, 5], "a"] = frame.loc[[3, 4], "b"] = "neuv."
    frame.assign(y=["ill", "well"] * 15).to_csv(tmp_path / "t.csv", index=False)
    done = call("table", tmp_path / "t.csv", "--target", "y", "--missing", "a=neuv.")
    assert "FD007 sentinel: Some values may stand for missing ones: 'neuv.' in 'b'." in done.output
    assert "--missing neuv." in done.output
    frame["b"] = frame["b"].replace("neuv.", "-").replace("x", "+")
    frame["a"] = frame["a"].replace("neuv.", "-")
    frame.assign(y=["ill", "well"] * 15).to_csv(tmp_path / "rhesus.csv", index=False)
    done = call("table", tmp_path / "rhesus.csv", "--target", "y", "--missing", "a=-")
    assert "FD007" not in done.output  # beside + it is a finding
    done = call("table", tmp_path / "t.csv", "--target", "y", "--missing", "neuv.")
    assert "FD007" not in done.output


def test_what_is_accepted_is_printed(table, tmp_path):
    more = [word for code in ("FD002", "FD004", "FD008") for word in ("--accept", code)]
    done = call("fit", table, "--target", "state", "--model", "cart", "--out",
                tmp_path / "m.psephos", *more)  # fmt: skip
    assert done.exit_code == 0
    assert done.stderr.count("Accepted (--accept).") == 3
    words = "Fitted with accepted cautions: FD002 words-once, FD004 saved-index, FD008 targ"
    assert words in call("describe", tmp_path / "m.psephos").output
    model = load(tmp_path / "m.psephos")
    assert model.reduce().accepted_ == model.accepted_
    assert model.fit(ROWS, Y).accepted_ == ()
    done = call("fit", table, "--target", "state", "--out", tmp_path / "m", "--accept", "FD2")
    assert done.exit_code == 2
    assert "'FD2', which is not a caution" in done.output


@pytest.fixture
def measured_twice(tmp_path):
    again = ROWS[:20].copy()
    again[:, 0] += 0.1
    X = pd.DataFrame(np.vstack([ROWS, again]), columns=[f"g{i}" for i in range(12)])
    X["patient"] = [f"p{i}" for i in [*range(N), *range(20)]]
    X.assign(state=[*Y, *Y[:20]]).to_csv(tmp_path / "t.csv", index=False)
    return tmp_path / "t.csv"


def test_replicates_that_folds_divide_end_compare_unless_grouped_or_accepted(
    measured_twice, tmp_path
):
    given = ("compare", measured_twice, "--target", "state", "--models", "adaboost", "--n-jobs", 1)
    given = (*given, "--protocol", "quick", "--no-report", "--drop", "patient")
    done = call(*given, "--out", tmp_path / "s")
    assert done.exit_code == 2
    assert "FD020 replicates: 40 rows seem to be replicates" in done.output
    assert not (tmp_path / "s").exists()
    assert "FD025 divided-subjects: Column 'patient' is not learnt from" in done.output
    done = call(*given, "--out", tmp_path / "s", "--accept", "FD020", "--accept", "FD025")
    assert done.exit_code == 0, done.output
    kept = json.loads((tmp_path / "s" / "comparison.json").read_text())["cautions"]
    assert [(one["code"], one["accepted"]) for one in kept] == [("FD020", True), ("FD025", True)]
    listed = summarise(tmp_path / "s")["cautions"]
    assert any(one.startswith("FD020 replicates (accepted): 40 rows seem") for one in listed)
    assert "FD020 replicates (accepted)" in done.stderr
    assert load(tmp_path / "s" / "models" / "adaboost.psephos").accepted_ == (
        "FD020 replicates", "FD025 divided-subjects",
    )  # fmt: skip
    grouped = [*given[:-2], "--group", "patient"]
    done = call(*grouped, "--out", tmp_path / "g")
    assert done.exit_code == 0, done.output
    assert "FD020" not in done.output
    out = ("--out", tmp_path / "m.psephos")
    done = call("fit", measured_twice, "--target", "state", "--drop", "patient", *out)
    assert done.exit_code == 0  # without folds nothing is divided
    assert "FD020" in done.stderr


def test_too_few_rows_for_the_folds_are_in_the_same_message(measured_twice, tmp_path):
    X = pd.read_csv(measured_twice)
    X.loc[:3, "state"] = "rare"
    X.to_csv(measured_twice, index=False)
    out = ("--out", tmp_path / "s", "--no-report")
    done = call("compare", measured_twice, "--target", "state", *out)
    assert done.exit_code == 2
    assert "FD020 replicates: " in done.output
    assert "Also, class 'rare' has 4 rows, fewer than the 5 folds" in done.output
    again = [one for one in done.output.splitlines() if ":  psephos compare" in one]
    assert len(again) == 2
    assert all("--folds 4" in one for one in again)
    assert (
        "Besides"
        not in call("compare", measured_twice, "--target", "state", "--folds", 4, *out).output
    )


def test_copies_that_stay_together_are_not_divided(tmp_path):
    X = pd.DataFrame(np.vstack([ROWS, ROWS[:20]]), columns=[f"g{i}" for i in range(12)])
    X.assign(state=[*Y, *Y[:20]]).to_csv(tmp_path / "t.csv", index=False)
    given = ("compare", tmp_path / "t.csv", "--target", "state", "--models", "majority")
    given = (*given, "--n-jobs", 1, "--no-report", "--out", tmp_path / "s")
    assert call(*given).exit_code == 0
    done = call(*given, "--copies", "apart", "--replace")
    assert done.exit_code == 2
    assert "FD020" in done.output


def test_predict_and_validate_say_that_units_changed(tmp_path):
    values = np.exp(RNG.normal(1, 0.3, N)) + (Y == "ill")
    X = pd.DataFrame({"a": values, "b": ROWS[:, 1], "state": Y})
    X.to_csv(tmp_path / "t.csv", index=False)
    X.assign(a=values * 18.016).to_csv(tmp_path / "new.csv", index=False)
    X.assign(a=values + 500).to_csv(tmp_path / "far.csv", index=False)
    model = tmp_path / "m.psephos"
    fit = ("fit", tmp_path / "t.csv", "--target", "state", "--model", "adaboost", "--out", model)
    assert call(*fit).exit_code == 0
    assert "FD04" not in call("predict", model, tmp_path / "t.csv").stderr
    assert "FD041 other-units: The unit seems to have changed: 'a'" in call(
        "predict", model, tmp_path / "new.csv").stderr  # fmt: skip
    assert "FD040 beyond-range" in call("predict", model, tmp_path / "far.csv").stderr
    done = call("validate", model, tmp_path / "new.csv", "--target", "state")
    assert "FD041 other-units" in done.stdout


@pytest.fixture
def visits(tmp_path):
    """Three visits of each of 30 persons, who are named in each row."""
    person, visit = np.divmod(np.arange(90), 3)
    X = pd.DataFrame(RNG.normal(size=(30, 4))[person] + RNG.normal(size=(90, 4)), columns=[*"abcd"])
    X["who"] = [f"P{k:03}_V{v + 1}" for k, v in zip(person, visit, strict=True)]
    X["person"], X["scanned"] = X["who"].str[:4], [f"2021-03-{k + 1:02}" for k in person]
    X["state"] = np.array(["ill", "well"])[person % 2]
    X.to_csv(tmp_path / "visits.csv", index=False)
    return tmp_path / "visits.csv"


def following(path, *more):
    last = call("table", path, "--target", "state", *more).stdout.splitlines()[-1]
    return shlex.split(last.partition("psephos compare ")[2])


def test_visits_numbered_within_persons_are_not_divided(visits):
    table = pd.read_csv(visits).drop(columns=["who", "person", "scanned"])
    count = np.arange(len(table))
    for step, fires in ((10 * (count // 3) + count % 3 + 1001, True), (count + 1001, False)):
        visits.write_text(table.assign(visit=step).to_csv(index=False))
        found = str(read_table(visits, target="state", id="visit").cautions())
        stems = "Name it as the group (--group 'visit=*?': 30 groups such as '100')"
        assert (stems in found) is fires


@pytest.mark.parametrize("more", [(), ("--drop", "who"), ("--id", "who")])
def test_persons_named_by_a_part_of_a_word_stay_in_one_fold(visits, tmp_path, more):
    words = following(visits, "--drop", "person", "--drop", "scanned", *more)
    grouped = words[words.index("--group") + 1]
    assert grouped in ("who=*_*", "person")
    assert ("--drop", grouped.partition("=")[0]) not in [*pairwise(words)]
    run = ("--models", "majority", "--n-jobs", 1, "--no-report", "--out", tmp_path / "s")
    assert call("compare", *words, *run).exit_code == 0


def test_a_dropped_column_of_subjects_ends_compare_and_not_fit(visits, tmp_path):
    given = (visits, "--target", "state", "--drop", "person", "--drop", "who", "--drop", "scanned")
    run = ("--models", "majority", "--n-jobs", 1, "--no-report", "--out", tmp_path / "s")
    done = call("compare", *given, *run)
    assert done.exit_code == 2
    assert "FD025 divided-subjects: Column 'person' is not learnt from" in done.output
    assert call("compare", *repeated(done)[1:]).exit_code == 0
    impossible = call("fit", visits, "--target", "state", "--id", "person", "--out", "m")
    assert "make it the group (--group)" in impossible.output
    assert repeated(impossible)[2:] == ["--target", "state", "--out", "m", "--group", "person"]
    assert call("fit", *given, "--out", tmp_path / "m.psephos").exit_code == 0
    table = read_table(visits, target="state", drop=["person", "scanned"], group="who=*_V*")
    assert sorted(set(table.groups)) == [f"P{k:03}" for k in range(30)]
    assert "FD025" not in str(table.cautions())
    with pytest.raises(PsephosError, match=r"'P000_V1' in line 2, which does not match \*-\*"):
        read_table(visits, target="state", group="who=*-*")


def test_a_table_without_a_target_knows_subjects_and_offers_words_first(visits):
    counts = pd.DataFrame(RNG.integers(0, 5, (90, 12)), columns=[f"gene{k}" for k in range(12)])
    visits.write_text(pd.concat([counts, pd.read_csv(visits)], axis=1).to_csv(index=False))
    done = call("table", visits, "--drop", "who", "--drop", "scanned")
    assert "target   columns of 2 to 12 different values: state, and 12 of numbers" in done.stdout
    assert "FD024 subjects: Column 'person' names subjects with several rows each:" in done.stdout
    assert "--group person" in done.stdout.splitlines()[-1]


def test_without_a_target_no_column_tells_its_range(tmp_path):
    path = tmp_path / "t.csv"
    seasons = [season for season in ("winter", "spring", "summer") for _ in range(20)]
    rows = "".join(f"{i * 37 % 60 / 7:.2f},{season}\n" for i, season in enumerate(seasons))
    path.write_text("a,season\n" + rows)
    assert "FD009" not in call("table", path).output
    path.write_text("a,season,y\n" + "".join(f"{r},{i}.5\n" for i, r in enumerate(rows.split())))
    done = call("table", path, "--target", "y", "--task", "numbers")
    assert "FD009" in done.output
    assert done.stdout.splitlines()[-1].endswith("--drop season")  # the next command


def test_listed_categories_are_not_tested_for_dates(tmp_path):
    X = pd.DataFrame(ROWS[:, :3], columns=["a", "b", "c"]).assign(
        stay=[f"0{k % 3}:30" for k in range(N)], visit=[f"2021-0{k % 3 + 1}-07" for k in range(N)]
    )
    X.assign(state=Y).to_csv(tmp_path / "t.csv", index=False)
    given = (tmp_path / "t.csv", "--categorical", "stay")
    done = call("table", *given, "--target", "state")
    assert "FD001 dates: Column 'visit' holds" in done.output
    assert following(*given)[-2:] == ["--drop", "visit"]
    assert (
        "FD001" not in call("table", *given, "--target", "state", "--categorical", "visit").output
    )
    both = {"categorical": ["stay", "visit"]}
    assert "FD001" not in str(read_table(tmp_path / "t.csv", target="state", **both).cautions())
    assert "FD001" not in str(table_from_arrays(X, Y, **both).cautions())
    one = table_from_arrays(X, Y, categorical=["stay"])
    assert "FD001 dates: Column 'visit' holds" in str(one.cautions())


def test_a_row_counter_with_an_empty_cell_is_not_offered_as_the_id(tmp_path):
    X = pd.DataFrame(ROWS[:, :3], columns=["a", "b", "c"])
    X.insert(0, "nth", np.where(np.arange(N) == 7, np.nan, np.arange(N) + 1.0))
    X.assign(state=Y).to_csv(tmp_path / "t.csv", index=False)
    done = call("table", tmp_path / "t.csv", "--target", "state")
    assert "FD003 row-numbers: Column 'nth' counts the rows" in done.output
    assert "Leave it out. Stops" in done.output
    assert following(tmp_path / "t.csv")[-2:] == ["--drop", "nth"]
    X.assign(nth=np.arange(N) + 1, state=Y).to_csv(tmp_path / "t.csv", index=False)
    done = call("table", tmp_path / "t.csv", "--target", "state")
    assert "Leave it out, or name it as the id. Stops" in done.output
    assert following(tmp_path / "t.csv")[-2:] == ["--id", "nth"]


@pytest.mark.parametrize(
    ("beside", "more", "wanted"),
    [
        ("age", (), ["q*=9"]),
        ("quality", (), ["q[0-9]*=9"]),
        ("q7", (), [f"q{k}=9" for k in range(1, 7)]),
        ("who", ("--group", "who"), ["q[0-9]*=9"]),
        ("q 1 of who", ("--id", "q 1 of who"), ["q[0-9]*=9"]),
        ("state_q", (), ["q*=9"]),
    ],
)
def test_a_code_of_all_numbered_columns_is_named_by_a_pattern(tmp_path, beside, more, wanted):
    rng = np.random.default_rng(3)
    X = pd.DataFrame(rng.integers(1, 5, (N, 6)), columns=[f"q{k}" for k in range(1, 7)])
    X = X.where(rng.random((N, 6)) > 0.2, 9)
    X[beside] = [f"P{k % 12}" if beside == "who" else f"a{k}x" for k in range(N)]
    if not more:
        X[beside] = 20 + rng.integers(0, 40, N) if beside != "q7" else rng.integers(1, 5, N)
    path = tmp_path / "t.csv"
    X.assign(state=Y).to_csv(path, index=False)
    words = following(path, *more)
    assert [own for flag, own in pairwise(words) if flag == "--missing"] == wanted
    table = read_table(path, target="state", missing=wanted)
    numbers = [j for j, name in enumerate(table.names) if name[1:].isdigit()]
    assert not (table.X[:, numbers] == 9).any()
    assert "FD007" not in str(table.cautions())


def test_codes_of_some_of_the_numbered_columns_are_named_one_by_one(tmp_path):
    X = pd.DataFrame(
        np.random.default_rng(3).integers(1, 5, (N, 4)), columns=["q1", "q2", "q3", "b"]
    )
    X.iloc[:5, :2] = 9
    X.assign(state=Y).to_csv(tmp_path / "t.csv", index=False)
    words = following(tmp_path / "t.csv")
    assert [own for flag, own in pairwise(words) if flag == "--missing"] == ["q1=9", "q2=9"]
