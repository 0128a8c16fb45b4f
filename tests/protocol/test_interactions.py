"""Products of two columns: made of a table, and computed wherever a model is used."""

import csv
import subprocess
import sys
from itertools import combinations

import numpy as np
import pandas as pd
import polars as pl
import pytest
from click.testing import CliRunner
from numpy.testing import assert_array_equal

from psephos import load, read_table
from psephos._errors import PsephosError
from psephos.cli import main
from psephos.protocol.tables import files


def call(*words):
    result = CliRunner().invoke(main, list(map(str, words)))
    assert result.exit_code == 0, result.output
    return result


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """60 cases whose class is the sign of a product, as csv and parquet, and with products."""
    place, rng = tmp_path_factory.mktemp("products"), np.random.default_rng(0)
    frame = pd.DataFrame(rng.normal(size=(60, 4)), columns=["age", "dose in mg", "c", "d"])
    frame["state"] = np.where(frame["age"] * frame["dose in mg"] > 0, "ill", "well")
    frame.loc[3, "c"] = np.nan
    frame.to_csv(place / "base.csv", index=False)
    frame.to_parquet(place / "base.parquet")
    for a, b in combinations(frame.columns[:4], 2):
        frame[f"{a} × {b}"] = frame[a] * frame[b]
    frame.to_csv(place / "hand.csv", index=False)
    for name, more in (("base.csv", True), ("base.parquet", True), ("hand.csv", False)):
        words = ["--target", "state", "--model", "adaboost", "--set", "n_estimators=9"]
        out = place / f"{name}.psephos"
        call("fit", place / name, *words, "--out", out, *(["--interactions"] if more else []))
    return place


def answers(folder, model, table, *more):
    return call("predict", folder / model, folder / table, *more).stdout


def test_a_model_is_that_of_products_made_by_hand(folder):
    models = [folder / f"{name}.psephos" for name in ("base.csv", "base.parquet", "hand.csv")]
    assert len({path.read_bytes() for path in models}) == 1
    table = read_table(folder / "base.csv", target="state", interactions=True)
    assert table.names[3:6] == ("d", "age × dose in mg", "age × c")
    assert_array_equal(table.X[:, 5], table.X[:, 0] * table.X[:, 2])
    assert np.isnan(table.X[3, 5])
    assert table.cautions() == read_table(folder / "base.csv", target="state").cautions()


def test_commands_need_only_the_base_columns(folder):
    model = folder / "base.csv.psephos"
    call("reduce", model, "--out", folder / "small.psephos")
    expected = answers(folder, model.name, "hand.csv")
    for name in ("base.csv", "base.parquet"):
        lines = answers(folder, model.name, name).splitlines()
        assert [row[1:] for row in csv.reader(lines)] == [
            row[1:] for row in csv.reader(expected.splitlines())
        ]
        assert answers(folder, "small.psephos", name).splitlines() == lines
    assert "× " in call("explain", model, folder / "base.csv").output
    shown = call("validate", model, folder / "base.csv", "--target", "state")
    assert "'age × dose in mg'" in shown.output
    assert "Left out: 2 columns that the model does not read" in shown.output
    assert "a table needs only" in call("describe", model).output
    lacking = pd.read_csv(folder / "base.csv").drop(columns="age")
    lacking.to_csv(folder / "lacking.csv", index=False)
    refused = CliRunner().invoke(main, ["predict", str(model), str(folder / "lacking.csv")])
    assert "no column 'age × dose in mg'" in refused.output
    assert "computed if the columns a and b are there" in refused.output


def test_frames_need_only_the_base_columns(folder):
    model, hand = load(folder / "base.csv.psephos"), pd.read_csv(folder / "hand.csv")
    hand = hand.drop(columns="state")
    base = hand.iloc[:, :4]
    expected = model.predict_proba(hand)
    for frame in (base, pl.from_pandas(base), base.iloc[:, ::-1].assign(other="word")):
        assert_array_equal(model.predict_proba(frame), expected)
    assert_array_equal(model.reduce().predict_proba(base), expected)
    with pytest.raises(ValueError, match="age × dose in mg"):
        model.reduce().predict_proba(base.drop(columns="age"))


def test_a_scorer_computes_products_and_other_forms_say_that_they_do_not(folder):
    model, scorer = folder / "base.csv.psephos", folder / "scorer.py"
    assert "×" not in call("export", model, "--scorer", scorer).stderr
    run = [sys.executable, "-I", str(scorer), str(folder / "base.csv")]
    found = subprocess.run(run, capture_output=True, text=True, encoding="utf-8", check=True)
    assert found.stdout == answers(folder, model.name, "base.csv")
    assert "computed from its two columns" in found.stderr
    made = call("export", model, "--sql", folder / "model.sql")
    assert "all other forms read them as columns" in made.stderr
    assert '"age × dose in mg"' in (folder / "model.sql").read_text(encoding="utf-8")


def test_products_too_large_are_refused_alike(folder):
    huge = pd.read_csv(folder / "base.csv")
    huge[["age", "dose in mg"]] = 1e140
    huge.to_csv(folder / "huge.csv", index=False)
    model, scorer = folder / "base.csv.psephos", folder / "again.py"
    call("export", model, "--scorer", scorer)
    run = [sys.executable, "-I", str(scorer), str(folder / "huge.csv")]
    by_scorer = subprocess.run(run, capture_output=True, text=True, encoding="utf-8", check=False)
    refused = CliRunner().invoke(main, ["predict", str(model), str(folder / "huge.csv")])
    for text in (by_scorer.stderr, refused.output):
        assert "column 'age × dose in mg' is" in text
        assert "line 2" in text


def test_names_and_sizes_that_are_refused(folder, tmp_path, monkeypatch):
    with pytest.raises(PsephosError, match="has the word ×"):
        read_table(folder / "hand.csv", target="state", interactions=True)
    one = tmp_path / "one.csv"
    one.write_text("a,b,y\n1,red,p\n2,blue,q\n3,red,p\n4,blue,q\n")
    with pytest.raises(PsephosError, match="multiplies numeric columns, and 'one' has 1"):
        read_table(one, target="y", interactions=True)
    monkeypatch.setattr(files, "_MOST", 580 * 4)
    with pytest.raises(PsephosError, match=r"4 numeric columns .* 6 products .* until 3 numeric"):
        read_table(folder / "base.csv", target="state", interactions=True)
    monkeypatch.setattr(files, "_MOST", 580 * 6)
    assert read_table(folder / "base.csv", target="state", interactions=True).n_products == 6


def test_categories_are_not_multiplied_and_constants_are(tmp_path):
    path = tmp_path / "t.csv"
    path.write_text("a,word,one,y\n1.5,red,1,p\n2.5,blue,1,q\n3.5,red,1,p\n4.5,blue,1,q\n")
    table = read_table(path, target="y", interactions=True)
    assert table.names == ("a", "word", "one", "a × one")
    assert_array_equal(table.X[:, 3], table.X[:, 0])
    shown = call("table", path, "--target", "y", "--interactions").stdout
    assert "4 columns: 3 numeric, 1 categorical" in shown
    assert "1 column of products of two (a × one) added to 3." in shown
    assert "--interactions" in shown.splitlines()[-1]
