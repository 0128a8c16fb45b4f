"""Validation of models that predict numbers."""

import csv
import json
import re

import numpy as np
import pandas as pd
import pytest
from click.testing import CliRunner
from sklearn.metrics import mean_absolute_error, mean_pinball_loss, r2_score
from sklearn.metrics import root_mean_squared_error as rmse

from psephos import (
    CARTRegressor,
    ProsetRegressor,
    PsephosError,
    SparseWrapperRegressor,
    save,
    validate,
)
from psephos.cli import main
from psephos.files.names import number
from psephos.report import build_report
from psephos.validation import read_validation, write_validation


def _cohort(n, seed, scale=1.0):
    rng = np.random.default_rng(seed)
    X = pd.DataFrame(rng.normal(size=(n, 3)), columns=list("abc"))
    X["site"] = pd.Categorical(np.array(["north", "south"])[np.arange(n) % 2])
    y = 30 + 8 * X["a"] + 4 * (X["site"] == "south") + rng.normal(size=n)
    return X, scale * y.to_numpy()


@pytest.fixture(scope="module", name="model")
def _model():
    return ProsetRegressor(random_state=0).fit(*_cohort(100, 0))


@pytest.fixture(scope="module", name="found")
def _found(model):
    X, y = _cohort(80, 1)
    return validate(model, X, y, by={"where": X["site"].astype(str)})


def test_figures_are_those_of_scikit_learn(model, found):
    X, y = _cohort(80, 1)
    said, stated = model.predict(X), model.distribution(X)
    low, high = stated.quantile([0.05, 0.95]).T
    wanted = {
        "r2": r2_score(y, said),
        "mae": mean_absolute_error(y, said),
        "rmse": rmse(y, said),
        "mean error": (said - y).mean(),
        "coverage of 90 % intervals": ((y >= low) & (y <= high)).mean(),
        "crps": stated.crps(y).mean(),
        "pinball loss at 0.05": mean_pinball_loss(y, low, alpha=0.05),
        "pinball loss at 0.95": mean_pinball_loss(y, high, alpha=0.95),
    }
    got = {name: found.figure(name)["value"] for name in wanted}
    assert got == pytest.approx(wanted, rel=1e-9)
    assert all(row["low"] < row["value"] < row["high"] for row in found.figures)


def test_the_words_have_the_unit_of_the_target_and_leave_classes_out(found):
    words = str(found)
    assert "(numbers from" in words
    assert "ROC" not in words
    assert "where north: 40 cases; mae" in words
    assert not found.rows("confusion")
    assert not found.rows("calibration")
    assert found.heads("subgroups")[:3] == ["by", "level", "n"]


def test_cases_without_an_answer_are_counted_and_apart():
    X, y = _cohort(100, 0)
    model = SparseWrapperRegressor(random_state=0, p_max=1).fit(X[["a"]], y)
    new, truth = _cohort(40, 1)
    new.loc[[3, 7], "a"] = np.nan
    found = validate(model, new[["a"]], truth)
    assert found.about["unanswered"] == ["3", "7"]
    assert "2 of 40 cases got no answer (3, 7)" in str(found)
    rows = {row["level"]: row for row in found.rows("subgroups") if row["by"] == "answered"}
    assert {level: row["n"] for level, row in rows.items()} == {"no": 2, "yes": 38}
    kept = validate(model, new.drop([3, 7])[["a"]], np.delete(truth, [3, 7]))
    assert rows["yes"]["mae"] == pytest.approx(kept.figure("mae")["value"])
    assert "got no answer" not in str(kept)


def test_a_line_is_judged_on_other_cases_and_no_part_of_the_model(model):
    X, y = _cohort(80, 1, scale=2.0)  # in other units
    found = validate(model, X, y)
    again = {row["figure"]: row["value"] for row in found.recalibration["figures"]}
    assert found.figure("r2")["high"] < 0 < 0.9 < again["r2"]
    assert any("in the units of the fit?" in one for one in found.about["cautions"])
    fitted = [row["recalibrated"] for row in found.predictions]
    assert r2_score(y, fitted) == pytest.approx(again["r2"])
    with pytest.raises(PsephosError, match=r"no map of numbers: take .* × the number"):
        found.recalibrated()


def test_groups_stay_whole_in_the_folds_of_the_line(model):
    X, y = _cohort(12, 1)
    few = validate(model, X, y, groups=np.arange(12) % 4)
    assert few.recalibration["method"] is None
    assert "at least 5 cases (groups)" in few.recalibration["why"]


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ({"threshold": 0.5}, "threshold (--threshold) needs a classifier"),
        ({"positive": 1}, "positive (--positive) needs a classifier"),
        ({"classes": {1: 2}}, "classes (--classes) needs a classifier"),
    ],
)
def test_what_is_of_classes_is_refused(model, given, words):
    with pytest.raises(PsephosError) as refused:
        validate(model, *_cohort(20, 1), **given)
    assert words in str(refused.value)


@pytest.mark.parametrize(
    ("value", "words"), [("high", "'high'"), (np.nan, "no number"), (None, "no number")]
)
def test_a_case_without_a_number_is_named(model, value, words):
    X, y = _cohort(20, 1)
    y = [*y[:4], value, *y[5:]]
    with pytest.raises(PsephosError, match=f"case '4' has {words} in the target"):
        validate(model, X, y)


def test_training_cases_are_told(model):
    assert "look like training cases" in str(validate(model, *_cohort(100, 0)))


def test_a_constant_prediction_has_no_line():
    X, y = _cohort(60, 0)
    tree = CARTRegressor(max_depth=1, min_samples_split=100).fit(X, y)
    found = validate(tree, *_cohort(30, 1))
    assert found.figure("slope")["value"] is None
    assert found.recalibration["method"] is None


def test_folder_page_and_command(model, found, tmp_path):
    write_validation(found, tmp_path / "folder")
    told = read_validation(tmp_path / "folder")
    assert told["about"]["target"].startswith("numbers from")
    with (tmp_path / "folder" / "predictions.csv").open() as file:
        rows = list(csv.DictReader(file))
    assert {"truth", "predicted", "quantile_0.05", "recalibrated", "by_where"} <= set(rows[0])
    page = build_report(tmp_path / "folder").read_text("utf-8")
    assert "pinball loss at 0.05" in page
    row = re.search(r'<th scope="row">where north</th>(.*?)</tr>', page, re.S).group(1)
    mae = found.rows("subgroups")[0]["mae"]
    assert re.findall(r">([^<]+)</td>", row)[0] == "40"
    assert re.findall(r">([^<]+)</td>", row)[1].startswith(f"{number(mae)} (")
    assert "× the prediction" in page
    assert "Whom does it miss" not in page
    X, y = _cohort(80, 1)
    save(model, tmp_path / "m.psephos")
    X.assign(y=y).to_csv(tmp_path / "new.csv", index=False)
    words = ["validate", str(tmp_path / "m.psephos"), str(tmp_path / "new.csv"), "--target", "y"]
    done = CliRunner().invoke(main, [*words, "--json"])
    figures = json.loads(done.stdout)["figures"]
    assert figures[0]["value"] == pytest.approx(found.figures[0]["value"], rel=1e-9)
    for more, sentence in (
        (["--threshold", "0.5"], "needs a classifier"),
        (["--calibrated"], "predicts numbers: --calibrated"),
        (["--recalibrate", str(tmp_path / "r.psephos")], "no map of numbers"),
    ):
        done = CliRunner().invoke(main, [*words, *more])
        assert done.exit_code == 2
        assert sentence in done.output
