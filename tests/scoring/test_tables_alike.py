"""Whatever a table is like: the scorer reads it, or refuses it, as the command does."""

import csv
import gzip
import io
from functools import cache

import numpy as np
import pandas as pd
import pytest
from click.testing import CliRunner

import psephos
from psephos import AdaBoostClassifier, save
from psephos.cli import main
from psephos.scoring.scorer import scorer

_NAMES = ["dose", "Dose", "site", "grade", "flag"]


@cache
def fitted():
    rng = np.random.default_rng(0)
    n = 200
    table = pd.DataFrame(rng.standard_normal((n, 2)), columns=_NAMES[:2])
    table["site"] = pd.Categorical(np.array(["skin", "lüng", "NA"])[rng.integers(0, 3, n)])
    table["grade"] = pd.Categorical(rng.integers(1, 4, n))
    table["flag"] = pd.Categorical(rng.random(n) < 0.5)
    said = table["dose"] + table["Dose"] + (table["site"] == "skin") + (table["grade"] == 2)
    y = np.where(said + table["flag"].astype(bool) > 1.2, "ill", "well")
    model = AdaBoostClassifier(n_estimators=40, random_state=0).fit(table, y)
    assert sorted(model.features_used_) == sorted(_NAMES)
    return model


@cache
def program(model=None):
    names = {"__name__": "scorer"}
    exec(compile(scorer(model or fitted()), "scorer.py", "exec"), names)
    return names["main"]


_ROW = "0.5,-1.5,skin,2,True"
_HEAD = "dose,Dose,site,grade,flag"
TABLES = {
    "plain": f"{_HEAD}\n{_ROW}\n",
    "no end of line": f"{_HEAD}\n{_ROW}",
    "CRLF": f"{_HEAD}\r\n{_ROW}\r\n0.1,2,lüng,1,False\r\n",
    "old Mac": f"{_HEAD}\r{_ROW}\r",
    "BOM": f"\ufeff{_HEAD}\n{_ROW}\n",
    "Latin-1": f"{_HEAD}\n0.5,1,lüng,2,True\n".encode("latin-1"),
    "UTF-16": f"{_HEAD}\n{_ROW}\n".encode("utf-16"),
    "empty": "",
    "no rows": f"{_HEAD}\n",
    "blank first line": f"\n{_HEAD}\n{_ROW}\n",
    "blank lines": f"{_HEAD}\n\n{_ROW}\n   \n{_ROW}\n",
    "cells that are all empty": f"{_HEAD}\n,,,,\n{_ROW}\n",
    "NUL": f"{_HEAD}\n0.5,\0,skin,2,True\n",
    "semicolons": f"{_HEAD}\n{_ROW}\n".replace(",", ";"),
    "semicolons and decimal commas": f"{_HEAD}\n{_ROW}\n".replace(",", ";").replace(".", ","),
    "tabs": f"{_HEAD}\n{_ROW}\n".replace(",", "\t"),
    "bars": f"{_HEAD}\n{_ROW}\n".replace(",", "|"),
    "quoted names of other marks": f'"a;b;c;d;e;f;g",{_HEAD}\n1,{_ROW}\n',
    "decimal comma in quotes": f'{_HEAD}\n"0,5",-1.5,skin,2,True\n',
    "decimal comma": f"{_HEAD}\n0,5,-1.5,skin,2,True\n",
    "thousands": f'{_HEAD}\n"1,234",-1.5,skin,2,True\n',
    "thousands with points": f"{_HEAD}\n1.234.567,-1.5,skin,2,True\n",
    "share": f"{_HEAD}\n5 %,-1.5,skin,2,True\n",
    "bound": f"{_HEAD}\n<0.1,-1.5,skin,2,True\n",
    "unit": f"{_HEAD}\n5 mg,-1.5,skin,2,True\n",
    "text": f"{_HEAD}\n{_ROW}\nhigh,-1.5,skin,2,True\n",
    "underscore": f"{_HEAD}\n1_000,-1.5,skin,2,True\n",
    "power": f"{_HEAD}\n1e5,-1E-5,skin,2,True\n",
    "blanks": f"{_HEAD}\n 1.0 ,\t-1.5, skin ,\u00a02,True\n",
    "full-width": f"{_HEAD}\n１．５,２,skin,２,True\n",
    "other digits": f"{_HEAD}\n٣,-1.5,skin,2,True\n",
    "infinite": f"{_HEAD}\ninf,-1.5,skin,2,True\n",
    "too large": f"{_HEAD}\n{_ROW}\n1e999,-1.5,skin,2,True\n",
    "huge": f"{_HEAD}\n{_ROW}\n1e300,-1.5,skin,2,True\n",
    "hexadecimal": f"{_HEAD}\n0x10,-1.5,skin,2,True\n",
    "minus behind": f"{_HEAD}\n5.10-,-1.5,skin,2,True\n0.5,-1.5,skin,2,True\n",
    "minus on both sides": f"{_HEAD}\n5.10-,-1.5,skin,2,True\n-0.5,-1.5,skin,2,True\n",
    "Fortran": f"{_HEAD}\n1.0D+00,-1.5D0,skin,2,True\n0.5,1,skin,2,True\n",
    "hexadecimal and not": f"{_HEAD}\n0x10,-1.5,skin,2,True\n10,1,skin,2,True\n",
    "missing": f"{_HEAD}\nNA,?,,.,null\n",
    "nan in another way": f"{_HEAD}\n+nan,-1.5,skin,2,True\n",
    "category NA": f"{_HEAD}\n0.5,-1.5,NA,2,True\n0.5,-1.5,n/a,2,True\n",
    "categories as numbers": f"{_HEAD}\n0,1,skin,2.0,1\n0,1,skin,02,0\n0,1,skin,+2,TRUE\n",
    "category in part": f"{_HEAD}\n0.5,1,skin,1e0,true\n0.5,1,skin,3.5,False\n",
    "new category": f"{_HEAD}\n{_ROW}\n0.5,1,bone,2,True\n0.5,1,Skin,2,True\n",
    "new categories alone": f"{_HEAD}\n0.5,1,bone,2,True\n0.5,1,ear,2,True\n",
    "lacks a column": "dose,site,grade,flag\n0.5,skin,2,True\n",
    "lacks all": "a,b\n1,2\n",
    "one column": "dose\n0,5\n",
    "a column twice": f"dose,{_HEAD}\n1,{_ROW}\n",
    "an unread column twice": f"x,x,{_HEAD}\n1,2,{_ROW}\n",
    "another order, and more": "flag,x,grade,site,Dose,dose\nTrue,é,2,skin,-1.5,0.5\n",
    "names of rows": f",{_HEAD}\nfirst,{_ROW}\nsecond,{_ROW}\n",
    "blanks around names": "dose , Dose,site, grade ,flag\n0.5,-1.5,skin,2,True\n",
    "names in quotes": '"dose","Dose","site","grade","flag"\n"0.5","-1.5","skin","2","True"\n',
    "line ends in quotes": f'note,{_HEAD}\n"a\nb",{_ROW}\n"c\r\n\r\nd",0.1,high,skin,2,True\n',
    "an open quote": f'note,{_HEAD}\n"a,{_ROW}\n',
    "text after a quote": f'note,{_HEAD}\n"a"b,{_ROW}\n',
    "a quote in a cell": f'note,{_HEAD}\n5" pipe,{_ROW}\n',
    "too few cells": f"{_HEAD}\n{_ROW}\n0.5,-1.5\n",
    "too many cells": f"{_HEAD}\n{_ROW},9\n",
    "long name": f"{'x' * 3000},{_HEAD}\n1,{_ROW}\n",
}  # fmt: skip
OPTIONS = {
    "decimal comma in quotes": ["--decimal", ","],
    "semicolons and decimal commas": ["--decimal", ","],
    "thousands": ["--thousands", ","],
    "bars": ["--separator", "|"],
    "tabs": ["--separator", "tab"],
    "semicolons": ["--separator", ";;"],
    "plain": ["--decimal", ";"],
    "text": ["--missing", "high"],
    "category NA": ["--missing", "NA"],
    "names of rows": ["--id", "row names"],
    "an unread column twice": ["--id", "x"],
    "a column twice": ["--id", "dose"],
    "another order, and more": ["--id", "x"],
    "long name": ["--id", "y"],
    "blanks around names": ["--id", "dose"],
}
CASES = [*((name, []) for name in TABLES), *OPTIONS.items()]


def both(path, options, capsys, tmp_path, model=None):
    """Return (exit code, rows, notes) of the command and of the scorer."""
    save(model or fitted(), tmp_path / "m.psephos")
    answer = CliRunner().invoke(main, ["predict", str(tmp_path / "m.psephos"), str(path), *options])
    if answer.exception is not None and not isinstance(answer.exception, SystemExit):
        raise answer.exception
    told = answer.exit_code, list(csv.reader(io.StringIO(answer.stdout))), answer.stderr
    code = (program(model) if model else program())([str(path), *options])
    out = capsys.readouterr()
    return told, (code, list(csv.reader(io.StringIO(out.out))), out.err)


def assert_alike(command, own):
    assert own[0] == command[0]
    said = command[2].partition("Repeat with:")[0]  # the scorer does not know its own words
    assert own[2].split() == said.split()
    assert [row[:2] for row in own[1]] == [row[:2] for row in command[1]]
    for one, other in zip(own[1][1:], command[1][1:], strict=True):
        assert one[-1] == other[-1]  # answered
        assert list(map(float, one[2:-1])) == pytest.approx(
            list(map(float, other[2:-1])), abs=1e-12
        )


@pytest.mark.parametrize(("name", "options"), CASES)
def test_the_scorer_reads_a_table_as_the_command(name, options, tmp_path, capsys):
    path, content = tmp_path / "t.csv", TABLES[name]
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    command, own = both(path, options, capsys, tmp_path)
    assert_alike(command, own)


@pytest.mark.parametrize("name", ["share", "bound", "unit"])
def test_what_is_to_be_done_can_be_done(name, tmp_path, capsys):
    (tmp_path / "t.csv").write_text(TABLES[name], "utf-8")
    command, _ = both(tmp_path / "t.csv", [], capsys, tmp_path)
    what = (
        "--limits half reads" if name == "bound" else "write the bare numbers that the model reads"
    )
    assert what in command[2]
    assert "--categorical" not in command[2]  # predict has no such option


def test_cases_without_an_answer_are_named(tmp_path, capsys):
    (tmp_path / "t.csv").write_text(TABLES["cells that are all empty"], "utf-8")
    for found in both(tmp_path / "t.csv", [], capsys, tmp_path):
        assert (
            "Note: 1 case has no answer: answered is false (row 2); explain says why." in (found[2])
        )


@pytest.mark.parametrize("limits", ["half", "limit"])
def test_limits_of_detection_are_read_alike(limits, tmp_path, capsys):
    (tmp_path / "t.csv").write_text(TABLES["bound"], "utf-8")
    given = both(tmp_path / "t.csv", ["--limits", limits], capsys, tmp_path)
    assert_alike(*given)
    for found in given:
        assert found[0] == 0
        assert "limits of detection are read" in found[2]


def test_the_unit_of_the_training_table_is_read_alike_and_another_is_refused(tmp_path, capsys):
    """Numbers with the unit, and bare ones; kg is an error for a model of g."""
    rng = np.random.default_rng(0)
    grams = rng.normal(500, 100, 80).round(1)
    words = {"mass": [f"{v} g" for v in grams], "rent": [f"${v}" for v in grams[::-1]]}
    table = pd.DataFrame({**words, "y": np.where(grams > 500, "high", "low")})
    table.to_csv(tmp_path / "t.csv", index=False)
    data = psephos.read_table(tmp_path / "t.csv", target="y")
    assert data.cells.units == (("mass", "g"), ("rent", "$"))
    np.testing.assert_array_equal(data.X, np.c_[grams, grams[::-1]])
    model = data.named(AdaBoostClassifier(n_estimators=4, random_state=0).fit(data.X, data.y))
    new = tmp_path / "new.csv"
    table.assign(mass=grams).drop(columns="y").to_csv(new, index=False)
    bare = both(new, [], capsys, tmp_path, model)
    table.drop(columns="y").to_csv(new, index=False)
    given = both(new, [], capsys, tmp_path, model)
    for own in (bare, given):
        assert_alike(*own)
        assert own[0][0] == 0
    assert given[0][1] == bare[0][1]
    assert "column 'mass': the unit 'g' beside numbers is left out." in given[0][2]
    new.write_text("mass,rent\n500 g,$5\n0.5 kg,$5\n")
    for code, _, told in both(new, [], capsys, tmp_path, model):
        assert code == 2
        assert "column 'mass' has 'kg' in line 3 besides the unit 'g' of the model: conv" in told


def test_names_with_blanks_around_them(tmp_path, capsys):
    rng = np.random.default_rng(0)
    table = pd.DataFrame(rng.standard_normal((60, 2)), columns=["a ", " b"])
    model = AdaBoostClassifier(n_estimators=4, random_state=0).fit(table, table.sum(axis=1) > 0)
    path = tmp_path / "t.csv"
    table.to_csv(path, index=False)
    command, own = both(path, [], capsys, tmp_path, model)
    assert_alike(command, own)
    assert [row[1] for row in own[1][1:]] == list(map(str, model.predict(table)))
    table.rename(columns={"a ": "b"}).to_csv(path, index=False)
    for told in both(path, [], capsys, tmp_path, model):
        assert told[0] == 2


@pytest.mark.parametrize("kind", ["truth values", "numbers", "words", "no column"])
def test_classes_and_models_of_every_kind(kind, tmp_path, capsys):
    rng = np.random.default_rng(0)
    table = pd.DataFrame(rng.standard_normal((60, 2)), columns=["a", "b"])
    y = {
        "truth values": table.a > 0,
        "numbers": np.where(table.a > 0, 1.0, -2.0),
        "words": np.where(table.a > 0, "it's", "a,b\nc"),
        "no column": np.arange(60) % 2,
    }[kind]
    model = AdaBoostClassifier(n_estimators=3, random_state=0)
    model.fit(table * (kind != "no column"), y)
    assert (model.n_features_used_ == 0) == (kind == "no column")
    path = tmp_path / "t.csv"
    table.rename(columns={"a": "A"} if kind == "no column" else {}).to_csv(path, index=False)
    command, own = both(path, [], capsys, tmp_path, model)
    assert_alike(command, own)
    assert own[0] == 0
    assert [row[1] for row in own[1][1:]] == list(map(str, model.predict(table).tolist()))


def test_files_of_other_kinds(tmp_path, capsys):
    packed = tmp_path / "t.csv.gz"
    packed.write_bytes(gzip.compress(TABLES["plain"].encode()))
    command, own = both(packed, [], capsys, tmp_path)
    assert_alike(command, own)
    assert own[0] == 0
    damaged = tmp_path / "d.csv.gz"
    damaged.write_bytes(packed.read_bytes()[:-12])
    command, own = both(damaged, [], capsys, tmp_path)
    assert own[0] == command[0] == 2
    assert own[2] == command[2]
    for name in ("t.npz", "t.xlsx"):
        (tmp_path / name).write_bytes(b"PK\3\4")
        assert program()([str(tmp_path / name)]) == 2
        assert "is unknown" in capsys.readouterr().err
    assert program()([str(tmp_path)]) == 2
    assert program()([str(tmp_path / "none.csv")]) == 2
