"""The commands on models that predict numbers."""

import csv
import json
import subprocess
import sys

import numpy as np
import pytest
from click.testing import CliRunner

from psephos import load
from psephos.cli import main


def run(*words, ok=True):
    done = CliRunner().invoke(main, list(map(str, words)))
    assert (done.exit_code == 0) is ok, done.output
    return done.output


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """Return a folder with a table of measurements, categories and gaps, and three models."""
    place = tmp_path_factory.mktemp("numbers")
    rng = np.random.default_rng(0)
    x, site = rng.normal(size=(90, 2)).round(3), rng.integers(0, 3, 90)
    y = (20 + 5 * x[:, 0] + 3 * site + rng.normal(size=90)).round(2)
    for name, rows in (("fit", slice(60)), ("new", slice(60, 90))):
        with (place / f"{name}.csv").open("w", newline="") as file:
            table = zip(x[rows].tolist(), site[rows], site[rows] + 1, y[rows].tolist(), strict=True)
            lines = [[a, b if b > -1.5 else "", "abc"[s], f, v] for (a, b), s, f, v in table]
            csv.writer(file).writerows([["x1", "x2", "site", "few", "y"], *lines])
    given = ("fit", place / "fit.csv", "--target", "y", "--drop", "few")
    run(*given, "--model", "cart", "--out", place / "cart.psephos")
    run(*given, "--out", place / "forest.psephos", "--set", "n_estimators=10")
    run(*given, "--model", "proset-regressor", "--out", place / "proset.psephos")
    return place


def table_of(text):
    return list(csv.DictReader(line for line in text.splitlines() if "," in line))


def test_the_name_of_a_classifier_finds_the_regressor_and_the_default_is_a_forest(folder):
    assert type(load(folder / "cart.psephos")).__name__ == "CARTRegressor"
    assert type(load(folder / "forest.psephos")).__name__ == "RandomForestRegressor"


@pytest.mark.parametrize(
    ("target", "more", "words"),
    [
        ("y", ("--model", "samba"), "samba predicts classes, and 'y' holds numbers"),
        ("y", ("--threshold", 0.5), "--threshold is for two classes, and y holds numbers"),
        ("site", ("--model", "cart-regressor"), "not a number: correct it, or give --task classes"),
        ("few", ("--model", "cart-regressor", "--task", "classes"), "use --model cart, or give"),
        ("y", ("--model", "sklearn-k-nn"), "psephos compare evaluates it"),
    ],
)
def test_what_does_not_fit_the_target_is_refused(folder, target, more, words):
    given = ("--target", target, *more, "--out", folder / "no.psephos")
    assert words in run("fit", folder / "fit.csv", *given, ok=False)


def test_the_name_of_a_regressor_says_that_whole_numbers_are_predicted(folder):
    given = ("--target", "few", "--drop", "site", "--model", "cart-regressor")
    said = run("fit", folder / "fit.csv", *given, "--out", folder / "few.psephos")
    assert "numbers from 1 to 3" in said


def test_a_predicted_distribution_is_written(folder):
    given = ("predict", folder / "proset.psephos", folder / "new.csv")
    rows = table_of(run(*given))
    heads = ["id", "predicted", "standard_deviation", "quantile_0.05", "quantile_0.95", "answered"]
    assert list(rows[0]) == heads
    model = load(folder / "proset.psephos")
    X = np.genfromtxt(folder / "new.csv", delimiter=",", names=True, dtype=None, encoding="utf-8")
    frame = {name: X[name] for name in ("x1", "x2", "site")}
    pandas = pytest.importorskip("pandas", reason="needs pandas")
    found = model.distribution(pandas.DataFrame(frame))
    low = [float(row["quantile_0.05"]) for row in rows]
    np.testing.assert_allclose(low, found.quantile(0.05)[:, 0], rtol=1e-9)
    spread = [float(row["standard_deviation"]) for row in rows]
    np.testing.assert_allclose(spread, np.sqrt(found.moments()[1]), rtol=1e-9)
    twice = table_of(run(*given, "--quantile", 0.5, "--quantile", 0.50))[0]
    assert [name for name in twice if "quantile" in name] == ["quantile_0.5"]


def test_a_scorer_writes_the_distribution_that_predict_writes(folder):
    new, program = folder / "new.csv", folder / "proset.py"
    run("export", folder / "proset.psephos", "--scorer", program)
    for more in ((), ("--quantile", "0.001", "--quantile", "0.5", "--quantile", "0.999")):
        words = [sys.executable, str(program), str(new), *more]
        done = subprocess.run(words, capture_output=True, text=True, check=True)
        rows = table_of(done.stdout)
        wanted = table_of(run("predict", folder / "proset.psephos", new, *more))
        assert list(rows[0]) == list(wanted[0])
        numbers = [name for name in rows[0] if name not in ("id", "answered")]
        found, told = ([[float(r[n]) for n in numbers] for r in each] for each in (rows, wanted))
        np.testing.assert_allclose(found, told, rtol=1e-9)
    refused = subprocess.run(
        [sys.executable, str(program), str(new), "--quantile", "1"],
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert refused.returncode == 2
    assert "above 0 and below 1" in refused.stderr


@pytest.mark.parametrize(
    ("more", "words"),
    [
        (("--quantile", 0.5), "predicts no distribution"),
        (("--threshold", 0.5), "this model predicts numbers"),
        (("--positive", 3), "this model predicts numbers"),
        (("--calibrated",), "predicts numbers: --calibrated is for classifiers"),
        (("--multiplicity",), "library of small classifiers"),
    ],
)
def test_options_of_classes_are_refused_before_a_line_is_written(folder, more, words):
    said = run("predict", folder / "cart.psephos", folder / "new.csv", *more, ok=False)
    assert words in said
    assert "predicted" not in said


@pytest.mark.parametrize("name", ["cart", "forest", "proset"])
def test_ballots_sum_to_the_number(folder, name):
    model, new = folder / f"{name}.psephos", folder / "new.csv"
    sums = {}
    for row in table_of(run("explain", model, new)):
        sums[row["case"]] = sums.get(row["case"], 0.0) + float(row["contribution"])
    told = {row["id"]: float(row["predicted"]) for row in table_of(run("predict", model, new))}
    assert sums == pytest.approx(told, rel=1e-12)


def test_a_scorer_and_the_plain_form_are_written_and_the_model_is_reduced(folder):
    model = folder / "cart.psephos"
    run("export", model, "--scorer", folder / "scorer.py", "--plain", folder / "plain.json")
    assert json.loads((folder / "plain.json").read_text())["classes"] == []
    assert "the scores stored in the file" in run("check", model)
    run("reduce", model, "--out", folder / "small.psephos")
    new = folder / "new.csv"
    assert run("predict", folder / "small.psephos", new) == run("predict", model, new)
    assert "calibrated is for classifiers" in run(
        "export", model, "--calibrated", "--scorer", folder / "no.py", ok=False
    )


def test_list_says_what_a_model_predicts():
    rows = [line.split() for line in run("list").splitlines()]
    kinds = {row[0]: row[1:3] for row in rows if len(row) > 2}
    assert kinds["cart-regressor"][0] == "numbers"
    assert kinds["cart"][0] == "classes"
    assert kinds["ml-knn"] == ["classes,", "labels"]


def test_a_measure_without_a_value_is_the_cause_that_is_given(folder, tmp_path, monkeypatch):
    (tmp_path / "seldom.py").write_text(
        "def known(y_true, y_pred):\n"
        "    return float('nan') if len(y_true) == 20 else abs(y_true - y_pred).mean()\n"
    )
    monkeypatch.syspath_prepend(tmp_path)
    said = run(
        "compare", folder / "fit.csv", "--target", "y", "--drop", "site", "--folds", 3, "--curve",
        "--models", "sklearn-lasso,mean", "--metric", "seldom:known", "--n-jobs", 1,
        "--budget", "draws=2", "--out", tmp_path / "study",
    )  # fmt: skip
    assert "reads columns has a value of the measure" in said
    assert "significantly better" not in said
    absent = "no curve of sklearn-lasso: the measure is not defined in any fold"
    assert absent in " ".join(said.split())
    page = (tmp_path / "study" / "report.html").read_text()
    assert "No fold has a value of the measure (seldom:known)" in page
    assert "Every fit failed" not in page
