"""Cohorts in files: however they are written, they are judged as the frame that they hold."""

import json

import numpy as np
import pandas as pd
import pytest
from click.testing import CliRunner

import psephos
from psephos.cli.app import main


def table(n, seed):
    rng = np.random.default_rng(seed)
    X = pd.DataFrame(rng.normal(size=(n, 4)).round(3), columns=list("abcd"))
    return X, np.where(X["a"] + X["b"] + rng.normal(size=n) > 0, "ill", "well")


X, Y = table(60, 1)


@pytest.fixture(scope="module", name="model")
def _model(tmp_path_factory):
    path = tmp_path_factory.mktemp("model") / "m.psephos"
    psephos.save(psephos.CARTClassifier(max_depth=3).fit(*table(100, 0)), path)
    return path


def judged(model, path, *options):
    """Return the figures that the command tells, or its message."""
    found = CliRunner().invoke(main, ["validate", str(model), str(path), "--json", *options])
    assert found.exit_code in (0, 2), found.exception
    return json.loads(found.stdout)["figures"] if found.exit_code == 0 else found.stderr


@pytest.fixture(scope="module", name="figures")
def _figures(model):
    return json.loads(json.dumps(psephos.validate(psephos.load(model), X, Y).data()))["figures"]


@pytest.mark.parametrize(
    ("name", "form", "options"),
    [
        ("c.csv", {}, ()),
        ("c.csv", {"sep": ";", "decimal": ","}, ("--decimal", ",")),
        ("c.tsv", {"sep": "\t"}, ()),
        ("c.csv.gz", {}, ()),
        ("c.csv", {"encoding": "utf-8-sig"}, ()),
        ("c.csv", {"columns": ["z", "y", "d", "c", "b", "a"]}, ("--id", "z")),
    ],
)
def test_tables_of_any_form(model, figures, tmp_path, name, form, options):
    X.assign(y=Y, z=range(60)).to_csv(tmp_path / name, index=False, **form)
    assert judged(model, tmp_path / name, "--target", "y", *options) == figures


@pytest.mark.parametrize("options", [(), ("--target", "y")])
def test_arrays_with_labels_or_codes_of_classes(model, figures, tmp_path, options):
    path, names = tmp_path / "c.npz", np.array(list("abcd"))
    codes = (Y == "well").astype(int)
    for y, more in (
        (Y, {}),
        (codes, {"classes": np.array(["ill", "well"])}),
        (1.0 - codes, {"classes": np.array(["well", "ill"])}),
    ):
        np.savez(path, X=X.to_numpy(), feature_names=names, y=y, **more)
        assert judged(model, path, *options) == figures
    np.savez(path, X=X.to_numpy(), feature_names=names, y=codes - 1, classes=["ill", "well"])
    assert "holds the code -1, but 'classes' names 2 classes" in judged(model, path, *options)
    np.savez(path, X=X.to_numpy(), feature_names=names, y=codes.astype(float))
    assert "labels that are not classes of the model: '0', '1'" in judged(model, path, *options)
    renamed = ("--classes", "0=ill", "--classes", "1=well")
    assert judged(model, path, *options, *renamed) == figures


@pytest.mark.parametrize(
    ("change", "options", "words"),
    [
        ({"y": [s.upper() for s in Y]}, (), "'ILL', 'WELL'"),
        ({"y": [None, *Y[1:]]}, (), "1 of 60 cases have no label (the first is case 'row 2')"),
        ({"y": Y}, ("--positive", "Ill"), "positive must be a class of the model"),
        ({"y": Y}, ("--classes", "CRC=ill"), "renames 'CRC', which no case of the cohort has"),
        ({"y": Y, "g": [None, *"s" * 59]}, ("--group", "g"), "missing in 1 of 60"),
        ({"y": Y, "a": ["x", *X["a"][1:]]}, (), "column 'a' has text in line 2"),
    ],
)
def test_what_cannot_be_judged_is_refused_in_a_sentence(model, tmp_path, change, options, words):
    X.assign(**change).to_csv(tmp_path / "c.csv", index=False)
    assert words in judged(model, tmp_path / "c.csv", "--target", "y", *options)


def test_clinics_are_told_one_by_one_and_one_clinic_has_no_interval(model, tmp_path):
    path = tmp_path / "c.csv"
    X.assign(y=Y, g=list("stu") * 20).to_csv(path, index=False)
    few = {row["figure"]: row for row in judged(model, path, "--target", "y", "--group", "g")}
    assert few["ROC-AUC"]["low"] < few["ROC-AUC"]["high"]
    X.assign(y=Y, g="s").to_csv(path, index=False)
    one = {row["figure"]: row for row in judged(model, path, "--target", "y", "--group", "g")}
    assert one["ROC-AUC"]["value"] == few["ROC-AUC"]["value"]
    assert one["ROC-AUC"]["low"] is None
