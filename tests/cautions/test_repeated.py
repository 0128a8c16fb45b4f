"""The command that a message ends with runs on: to an answer, or to another question.

On the table of every caution, with classes and with numbers to learn, and on tables whose cells or
target are written in other ways.
"""

import shlex
import sys
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from click.testing import CliRunner

from psephos.cli import main
from psephos.cli.words import repeated

sys.path.insert(0, str(Path(__file__).parent))
from test_cautions import CASES

N = 60
RNG = np.random.default_rng(3)
MEASURED = RNG.normal(50, 9, N).round(2)
KINDS = {"classes": None, "numbers": MEASURED}
PLANTED = [(code, k, kind) for code, cases in CASES.items() for k in range(len(cases))
           for kind in KINDS]  # fmt: skip


def call(*words):
    result = CliRunner().invoke(main, [str(word) for word in words], prog_name="psephos")
    if result.exception is not None and not isinstance(result.exception, SystemExit):
        raise result.exception
    assert "Usage:" not in result.output, result.output
    return result


def walk(*words):
    """Repeat a command as it says, until it says nothing more; return the last result."""
    seen = []
    done = call(*words)
    while done.exit_code:
        question = done.output.partition("Repeat with:")[0]
        assert question not in seen, question
        seen.append(question)
        assert len(seen) < 6
        again = [one for one in done.output.splitlines() if one.startswith("Repeat with:")]
        if not again:
            return done
        words = shlex.split(again[0].partition("psephos ")[2])
        once = [one for one in words if one in ("--decimal", "--thousands", "--id", "--group")]
        assert len(once) == len(set(once)), words
        done = call(*words)
    return done


def written(path, X, y, **more):
    X = pd.DataFrame(X).rename(columns=str)
    named = not isinstance(X.index, pd.RangeIndex)
    X.assign(**{getattr(y, "name", None) or "y": np.asarray(y)}).to_csv(path, index=named, **more)
    return path


@pytest.mark.parametrize(("code", "k", "kind"), PLANTED)
def test_of_every_caution(code, k, kind, tmp_path):
    X, y, *groups = CASES[code][k][0]
    X = X.assign(who=groups[0]) if groups else X
    y = y if KINDS[kind] is None else np.resize(MEASURED, len(y))
    path = written(tmp_path / "t.csv", X, y)
    target = getattr(y, "name", None) or "y"
    command = "compare" if code in ("FD020", "FD025") else "fit"
    given = ["--models", "majority" if kind == "classes" else "mean", "--no-report", "--n-jobs", 1]
    given = given if command == "compare" else ["--model", "cart"]
    given += ["--group", "who"] if groups else []
    done = walk(command, path, "--target", target, *given, "--out", tmp_path / "out")
    assert not done.exit_code or "Repeat with" not in done.output


def comma(values):
    return [f"{value:.2f}".replace(".", ",") for value in values]


A = RNG.normal(size=N).round(2)
WHOLE = RNG.integers(0, 50, N)
MISSING = np.where(np.arange(N) % 20, MEASURED, np.nan)
# how a table is written, and whether the repeated command ends with a model
TABLES = {
    "decimal commas": ({"a": comma(A), "b": WHOLE, "y": comma(MEASURED)},
                       ["--task", "numbers"], True),
    "the other mark given": ({"a": comma(A), "y": MEASURED.astype(int)},
                             ["--task", "numbers", "--decimal", "."], True),
    "commas in the target": ({"a": WHOLE, "y": comma(MEASURED)}, ["--task", "numbers"], True),
    "two marks": ({"a": A, "b": A + 1, "y": comma(MEASURED)}, ["--task", "numbers"], False),
    "two marks, one given": ({"a": A, "b": A + 1, "y": comma(MEASURED)}, ["--decimal", ","], False),
    "two thousands": ({"a": [f"1.{w + 100}.000" for w in WHOLE],
                       "b": [f"1 {w + 100} 000" for w in WHOLE], "y": MEASURED}, [], False),
    "no number": ({"a": A, "y": MISSING}, [], True),
    "no number, by a mark": ({"a": A, "y": np.where(np.arange(N) % 20, MEASURED, -999)},
                             ["--missing", "-999"], True),
    "dates": ({"a": A, "y": pd.date_range("2021-01-01", periods=N).astype(str)}, [], False),
    "dates as numbers": ({"a": A, "y": pd.date_range("2021-01-01", periods=N).astype(str)},
                         ["--task", "numbers"], False),
    "a unit": ({"a": A, "y": [f"{v} mg" for v in MEASURED]}, ["--task", "numbers"], True),
    "two units": ({"a": A, "y": [f"{v} {'mg' if v > 50 else 'g'}" for v in MEASURED]},
                  ["--task", "numbers"], False),
    "words among numbers": ({"a": [*A[1:].astype(str), "high"], "y": MEASURED}, [], True),
}  # fmt: skip


@pytest.mark.parametrize("name", TABLES)
def test_of_cells_written_otherwise(name, tmp_path):
    columns, given, ends = TABLES[name]
    path = tmp_path / "t.csv"
    pd.DataFrame(columns).to_csv(path, index=False, sep=";")
    out = ("--model", "cart", "--out", tmp_path / "m.psephos")
    done = walk("fit", path, "--target", "y", *given, *out)
    assert (done.exit_code == 0) == ends, done.output
    assert "--drop a" not in done.output


def test_rows_without_a_number_are_left_out(tmp_path):
    path = tmp_path / "t.csv"
    pd.DataFrame({"a": A, "y": MISSING}).to_csv(path, index=False)
    done = call("table", path, "--target", "y", "--task", "numbers", "--unlabeled", "")
    assert done.stdout.startswith("57 cases: numbers from")
    assert "y has no number in 3 rows: left out (--unlabeled)." in done.stdout
    assert "--unlabeled ''" in done.stdout.splitlines()[-1]
    gone = pd.DataFrame({"a": A, "y": np.where(np.isnan(MISSING), -999, MISSING)})
    gone.to_csv(path, index=False)
    done = call("table", path, "--target", "y")
    assert "-999 in the target 'y'" in done.stdout
    following = shlex.split(done.stdout.splitlines()[-1].partition("psephos compare ")[2])
    assert call("table", *following).stdout.startswith("57 cases")


def test_options_of_one_value_are_replaced_and_contradictions_left_out():
    words = ["fit", "t.csv", "--decimal", ".", "--drop", "a", "--id=n"]
    assert repeated(words, [("--decimal", ","), ("--drop", "b"), ("--drop", "b")]) == [
        "fit", "t.csv", "--drop", "a", "--id=n", "--decimal", ",", "--drop", "b",
    ]  # fmt: skip
    assert repeated(words, [("--id", "k")])[-2:] == ["--id", "k"]
    again = repeated(["fit", "--drop", "who", "--drop", "a"], [("--group", "who=*_*")])
    assert again == ["fit", "--drop", "a", "--group", "who=*_*"]
    assert repeated(words, [("--thousands", "."), ("--thousands", " ")]) == words
    gone = [("--missing", f"{name}={word}") for name in "abc" for word in ("-", "k.A.", "9")]
    own = ["--missing", "a=9", "--missing", "b=9", "--missing", "c=9"]  # a number may be a value
    often = repeated(["fit"], [*gone, ("--missing", "b=+")])
    assert sorted(often) == sorted(["fit", "--missing", "-", "--missing", "k.A.", *own,
                                    "--missing", "b=+"])  # fmt: skip
    assert repeated(["fit"], gone[:2]) == ["fit", "--missing", "a=-", "--missing", "a=k.A."]
    marked = [("--missing", f"{name}=state=bad") for name in "abc"]  # the word has a =
    assert repeated(["fit"], marked)[2::2] == ["a=state=bad", "b=state=bad", "c=state=bad"]


def test_columns_with_the_same_words_are_one_paragraph(tmp_path):
    path = tmp_path / "t.csv"
    words = [["-", "k.A."], ["k.A.", "-"], ["-", "k.A."]]
    columns = {f"m{j}": [*own, *(A[2:] + j).astype(str)] for j, own in enumerate(words)}
    pd.DataFrame({**columns, "y": ["ill", "well"] * 30}).to_csv(path, index=False)
    done = call("table", path, "--target", "y")
    (wrong,) = (line for line in done.output.splitlines() if "has text in" in line)
    assert wrong.endswith("(The same in 2 other columns: 'm1', 'm2'.)")
    assert done.output.rstrip().endswith("--missing - --missing k.A.")
