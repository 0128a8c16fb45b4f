"""Models of folds are kept, small and checked; maps go with models."""

import json

import numpy as np
import pandas as pd
import pytest

import psephos
from psephos import PsephosError
from psephos.figures import levelled
from psephos.protocol import compare, read_folds
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
        np.testing.assert_array_equal(levelled(p[:, 1]), rows["p_well"])
        assert one.model.n_features_in_ == max(1, len(one.model.vote_.columns))


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
