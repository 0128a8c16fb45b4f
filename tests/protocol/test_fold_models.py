"""Models of folds are kept, small and checked; what came back is counted; maps go with models."""

import json

import numpy as np
import pandas as pd
import pytest

import psephos
from psephos import AdaBoostClassifier, PsephosError
from psephos.protocol import compare, read_folds, returned
from psephos.protocol.study.folds import ColumnRule, FoldModel, returned_of, rules_of
from psephos.recalibrating import recalibrated


def _table():
    rng = np.random.default_rng(0)
    X = pd.DataFrame(rng.normal(size=(60, 6)), columns=list("abcdef"))
    return X, np.where(X["a"] > 0.1, "ill", "well")


def _compare(folder, models=("cart", "majority"), **more):
    X, y = _table()
    return compare(X, y, models=list(models), protocol="demo", n_jobs=1, out=folder, **more)


@pytest.fixture(scope="module", name="study")
def _study(tmp_path_factory):
    folder = tmp_path_factory.mktemp("study") / "out"
    return _compare(folder), folder


def test_a_fold_model_answers_its_fold_as_predictions_say(study):
    _, folder = study
    X, _y = _table()
    told = pd.read_csv(folder / "predictions.csv")
    folds = read_folds(folder)["cart"]
    assert len(folds) == len(told.query("model == 'cart'")[["repeat", "fold"]].drop_duplicates())
    for one in folds:
        rows = told.query("model == 'cart' and repeat == @one.repeat and fold == @one.fold")
        p = one.model.predict_proba(X.iloc[rows["row"]])
        np.testing.assert_array_equal(p[:, 1], rows["p_well"])
        assert one.model.n_features_in_ == max(1, len(one.model.vote_.columns))


def test_columns_and_rules_that_returned(study):
    found, folder = study
    told = returned(folder, "cart")
    positions = [row["columns"] for row in found.results if row["model"] == "cart"]
    assert told.n_folds == len(positions)
    first = told.columns[0]
    assert first["column"] == "a"
    assert first["folds"] == sum("0" in str(text) for text in positions)
    rule = told.rules[0]
    assert (rule["column"], rule["toward"], rule["final"]) == ("a", "ill", True)
    assert rule["low"] <= rule["median"] <= rule["high"]
    assert abs(rule["median"] - 0.1) < 0.2
    assert len(told.frame()) == len(told.rules)
    with pytest.raises(PsephosError, match="no models of folds"):
        returned(folder, "logistic")


def test_rules_are_those_of_the_voters():
    X, y = _table()
    model = AdaBoostClassifier(n_estimators=1).fit(X, y)
    (rule,) = rules_of(model)
    assert rule == ColumnRule("a", 0, rule.bound)
    tree = psephos.CARTClassifier(max_depth=1).fit(X, y)
    assert rules_of(tree) == [ColumnRule("a", 0, float(tree.vote_.voters.tree(0).threshold[0]))]
    words = X.assign(a=np.where(X["a"] > 0.1, "hot", "cold")).astype({"a": "category"})
    stump = AdaBoostClassifier(n_estimators=1).fit(words, y)
    (rule,) = rules_of(stump)
    assert (rule.toward == 0) == (rule.levels == ("hot",))


def test_sides_that_differ_are_two_rules():
    X, y = _table()
    one = AdaBoostClassifier(n_estimators=1).fit(X, y == "ill")
    two = AdaBoostClassifier(n_estimators=1).fit(X, y == "well")
    told = returned_of([FoldModel(0, 0, one), FoldModel(0, 1, two)])
    assert [row["folds"] for row in told.columns] == [2]
    assert [row["folds"] for row in told.rules] == [1, 1]
    assert {row["toward"] for row in told.rules} == {"0", "1"}
    same = returned_of([FoldModel(0, 0, one), FoldModel(0, 1, one)], one)
    assert [(row["folds"], row["same"], row["final"]) for row in same.rules] == [(2, 2, True)]


def test_a_lost_or_damaged_fold_model_is_refused_and_made_again(study, monkeypatch):
    _, folder = study
    path = sorted((folder / "folds").glob("*.psephos"))[0]
    whole, marks = path.read_bytes(), (folder / "comparison.json").read_bytes()
    path.write_bytes(whole[:-1] + b"x")
    with pytest.raises(PsephosError, match="damaged"):
        read_folds(folder)
    _compare(folder)
    assert path.read_bytes() == whole
    assert (folder / "comparison.json").read_bytes() == marks
    monkeypatch.setattr("psephos.protocol.running.spread.run_task", None)  # any fit would fail
    _compare(folder)


def test_without_them_figures_and_models_are_the_same(study, tmp_path, monkeypatch):
    _, folder = study
    _compare(tmp_path / "out", fold_models=False)
    for name in ("results.csv", "predictions.csv", "models/cart.psephos"):
        assert (tmp_path / "out" / name).read_bytes() == (folder / name).read_bytes()
    assert not (tmp_path / "out" / "folds").exists()
    assert read_folds(tmp_path / "out") == {}
    _compare(tmp_path / "out")  # kept after all
    assert len(read_folds(tmp_path / "out")["cart"]) == 5
    monkeypatch.setattr("psephos.protocol.study.folds.MOST_BYTES", 10)
    _compare(tmp_path / "small")
    told = json.loads((tmp_path / "small" / "comparison.json").read_text())["folds"]
    assert all("more than 10" in one["not_kept"] for one in told["cart"])
    monkeypatch.setattr("psephos.protocol.running.spread.run_task", None)
    _compare(tmp_path / "small")  # what is too large is not tried again


def test_the_map_is_of_the_held_out_answers(study):
    found, folder = study
    model = psephos.load(folder / "models" / "cart.psephos")
    assert found.models["cart"].recalibration_.words() == model.recalibration_.words()
    told = pd.read_csv(folder / "predictions.csv").query("model == 'cart'")
    held = model.recalibration_
    p = np.clip(np.where(told["truth"] == "well", told["p_well"], told["p_ill"]), 1e-15, 1)
    assert held.n_cases == told["row"].nunique()
    weight = 1 / told.groupby("row")["row"].transform("count")
    assert held.log_loss == pytest.approx(-np.average(np.log(p), weights=weight))
    X, _ = _table()
    assert recalibrated(model).predict_proba(X).shape == (60, 2)
