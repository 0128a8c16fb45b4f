"""Columns permuted in a study: by the kept models of the folds, once, the same for any jobs."""

import json

import numpy as np
import pandas as pd
import pytest

from psephos import PsephosError
from psephos.explain import PermutedDisplay
from psephos.protocol import compare, read_folds
from psephos.protocol.running import permuting

MODELS = ["cart", "samba", "sklearn-l1-logistic"]


def _table(n=90):
    rng = np.random.default_rng(0)
    X = pd.DataFrame(rng.normal(size=(n, 4)), columns=list("abcd"))
    X["kind"] = np.where(rng.random(n) < 0.5, "x", "y")
    y = np.where(X["a"] + (X["kind"] == "x") + rng.normal(size=n) / 3 > 0.5, "ill", "well")
    return X, y


def _compare(folder, models=MODELS, **more):
    X, y = _table()
    return compare(X, y, models=list(models), protocol="demo", out=folder, **{"n_jobs": 1} | more)


@pytest.fixture(scope="module", name="study")
def _study(tmp_path_factory):
    folder = tmp_path_factory.mktemp("study") / "out"
    return _compare(folder), folder


def test_of_kept_folds_it_is_what_permuting_by_hand_costs(study):
    found, folder = study
    rows = pd.read_csv(folder / "permuted.csv")
    assert set(rows["model"]) == {"cart", "samba"}  # models of other libraries are not kept
    assert rows.to_dict("records") == pd.DataFrame(found.permuted).to_dict("records")
    X, y = _table()
    answers = pd.read_csv(folder / "predictions.csv").query("model == 'cart'")
    for fold in read_folds(folder)["cart"]:
        own = rows.query("model == 'cart' and repeat == @fold.repeat and fold == @fold.fold")
        worse = own.set_index("column")["worse"]
        test = answers.query("repeat == @fold.repeat and fold == @fold.fold")["row"].to_numpy()
        read = [fold.model.schema_.names[j] for j in fold.model.vote_.columns]
        assert (worse[~worse.index.isin(read)] == 0).all()
        if "a" not in read or "a" not in worse:
            continue
        truth = (y[test] == "well").astype(int)
        rng, each = np.random.default_rng(1), []
        for _ in range(400):
            permuted = X.iloc[test].copy()
            permuted["a"] = rng.permutation(permuted["a"].to_numpy())
            each.append(_balanced(fold.model.predict(permuted), truth))
        plain = _balanced(fold.model.predict(X.iloc[test]), truth)
        error = 4 * np.std(each) / np.sqrt(20)
        assert worse["a"] == pytest.approx(plain - np.mean(each), abs=error)


def _balanced(codes, truth):
    return np.mean([(codes[truth == k] == k).mean() for k in np.unique(truth)])


def test_the_same_bytes_for_any_number_of_jobs_and_nothing_is_measured_twice(
    study, tmp_path, monkeypatch
):
    _, folder = study
    _compare(tmp_path / "out", n_jobs=2)
    name = "permuted.csv"
    assert (tmp_path / "out" / name).read_bytes() == (folder / name).read_bytes()
    monkeypatch.setattr(permuting, "_measured", None)  # any measurement would fail
    again = _compare(folder)
    assert again.permuted == study[0].permuted


def test_a_study_without_models_of_folds_has_none_until_it_keeps_them(study, tmp_path):
    _, folder = study
    without = _compare(tmp_path / "out", ["cart"], fold_models=False)
    assert without.permuted == []
    assert not (tmp_path / "out" / "permuted.csv").exists()
    with pytest.raises(PsephosError, match="were not permuted"):
        PermutedDisplay.from_rows(without.permuted, "cart")
    assert _compare(tmp_path / "out", ["cart"]).permuted
    told = json.loads((folder / "comparison.json").read_text())["files"]
    assert "permuted.csv" in told


def test_a_display_is_the_mean_over_folds(study):
    found, _ = study
    table = PermutedDisplay.from_rows(found.permuted, "samba").frame().set_index("column")
    rows = pd.DataFrame(found.permuted).query("model == 'samba'")
    assert set(rows["measure"]) == {"balanced_accuracy"}
    np.testing.assert_allclose(table["worse"], rows.groupby("column")["worse"].mean()[table.index])
    assert table.index[0] in {"a", "kind"}
    assert table["worse"].iloc[0] > 0.1


@pytest.mark.parametrize("metric", ["log_loss", "roc_auc"])
def test_the_measure_is_that_of_the_study(tmp_path, metric):
    found = _compare(tmp_path / "out", ["cart"], metric=metric)
    table = PermutedDisplay.from_rows(found.permuted, "cart")
    assert table.measure == metric
    assert table.worse[0] > (0, 0, 0, 0, 0)  # also where smaller is better


def test_a_model_that_fails_is_not_measured(tmp_path, monkeypatch):
    def fails(*_given):
        raise ValueError("no answer")

    monkeypatch.setattr(permuting, "_by_column", fails)
    assert _compare(tmp_path / "out", ["cart"]).permuted == []
