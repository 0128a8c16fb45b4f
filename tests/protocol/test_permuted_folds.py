"""Columns permuted in a study: by the models of the folds, once, the same for any jobs."""

import json
import warnings

import numpy as np
import pandas as pd
import pytest
from sklearn.metrics import log_loss, roc_auc_score

from psephos import CARTClassifier, PsephosError
from psephos._errors import ModelFileError
from psephos.explain import PermutedDisplay
from psephos.protocol import Protocol, compare, read_folds
from psephos.protocol.running import permuted_folds
from psephos.protocol.study import folds
from psephos.protocol.tables.table import table_from_arrays
from psephos.report.study.folder import read_folder

MODELS = ["cart", "samba", "sklearn-l1-logistic"]
PLAN = Protocol(folds=3, inner_folds=2, draws=2)


def _table(n=90):
    rng = np.random.default_rng(0)
    X = pd.DataFrame(rng.normal(size=(n, 4)), columns=list("abcd"))
    X["kind"] = np.where(rng.random(n) < 0.5, "x", "y")
    y = np.where(X["a"] + (X["kind"] == "x") + rng.normal(size=n) / 3 > 0.5, "ill", "well")
    return X, y


def _compare(folder, models=MODELS, given=None, **more):
    X, y = given or _table()
    usual = {"n_jobs": 1, "protocol": PLAN}
    return compare(X, y, models=list(models), out=folder, **usual | more)


def _balanced(proba, truth, _fold):
    codes = proba.argmax(axis=1)
    return np.mean([(codes[truth == k] == k).mean() for k in np.unique(truth)])


def _held_to_permuting(folder, X, y, score, groups=None):
    """Hold each figure of CART in permuted.csv against 100 permutations; return these means."""
    rows = pd.read_csv(folder / "permuted.csv")
    answers = pd.read_csv(folder / "predictions.csv").query("model == 'cart'")
    found = []
    for fold in read_folds(folder)["cart"]:
        own = rows.query("model == 'cart' and repeat == @fold.repeat and fold == @fold.fold")
        test = answers.query("repeat == @fold.repeat and fold == @fold.fold")["row"].to_numpy()
        held, truth, rng = X.iloc[test], (y[test] == "well").astype(int), np.random.default_rng(1)
        block = np.zeros(len(test)) if groups is None else groups[test]
        home = np.argsort(block, kind="stable")
        read = {fold.model.schema_.names[j] for j in fold.model.vote_.columns}
        for column, worse in own.set_index("column")["worse"].dropna().items():
            if column not in read:
                assert worse == 0
                continue
            many = pd.concat([held] * 100, ignore_index=True)
            for draw in range(100):
                values = held[column].to_numpy()[np.lexsort((rng.random(len(test)), block))]
                many.loc[draw * len(test) + home, column] = values
            each = np.split(fold.model.predict_proba(many), 100)
            after = [score(proba, truth, fold) for proba in each]
            cost = score(fold.model.predict_proba(held), truth, fold) - np.mean(after)
            assert worse == pytest.approx(cost, abs=4 * np.std(after) / np.sqrt(20) + 1e-12)
            found.append(cost)
    return found


@pytest.fixture(scope="module", name="study")
def _study(tmp_path_factory):
    folder = tmp_path_factory.mktemp("study") / "out"
    return _compare(folder), folder


def test_of_kept_folds_it_is_what_permuting_by_hand_costs(study):
    found, folder = study
    rows = pd.read_csv(folder / "permuted.csv")
    assert set(rows["model"]) == {"cart", "samba"}  # models of other libraries are not kept
    assert rows.to_dict("records") == pd.DataFrame(found.permuted).to_dict("records")
    assert max(_held_to_permuting(folder, *_table(), _balanced)) > 0.2


def test_the_same_bytes_for_any_number_of_jobs_and_nothing_is_measured_twice(
    study, tmp_path, monkeypatch
):
    _, folder = study
    _compare(tmp_path / "out", n_jobs=2)
    name = "permuted.csv"
    assert (tmp_path / "out" / name).read_bytes() == (folder / name).read_bytes()
    monkeypatch.setattr(permuted_folds, "_measured", None)  # any measurement would fail
    again = _compare(folder)
    assert again.permuted == study[0].permuted


def test_a_study_without_models_of_folds_has_none_until_it_keeps_them(study, tmp_path):
    _, folder = study
    without = _compare(tmp_path / "out", ["cart"], fold_models=False)
    assert without.permuted == []
    assert not (tmp_path / "out" / "permuted.csv").exists()
    with pytest.raises(PsephosError, match="whose columns were permuted"):
        PermutedDisplay.from_rows(without.permuted, "cart")
    assert _compare(tmp_path / "out", ["cart"]).permuted
    told = json.loads((folder / "comparison.json").read_text())["files"]
    assert "permuted.csv" in told


def _bytes_of(folder):
    names = ("permuted.csv", "comparison.json", "results.csv")
    return [(folder / name).read_bytes() for name in names]


def test_models_too_large_to_be_kept_are_measured_and_deleted(study, tmp_path, monkeypatch):
    _, folder = study
    monkeypatch.setattr(folds, "MOST_BYTES", 10)
    _compare(tmp_path / "out")
    assert (tmp_path / "out/permuted.csv").read_bytes() == (folder / "permuted.csv").read_bytes()
    assert list((tmp_path / "out" / "folds").iterdir()) == []
    about = json.loads((tmp_path / "out" / "comparison.json").read_text())
    assert all("more than 10" in one["not_kept"] for one in about["folds"]["samba"])
    assert read_folds(tmp_path / "out") == {}
    monkeypatch.setattr(folds, "_LARGEST", 10)  # of such there is no file at all
    assert _compare(tmp_path / "none", ["cart"]).permuted == []
    assert not (tmp_path / "none" / "folds").exists()


def test_a_study_interrupted_before_large_models_are_measured_goes_on(tmp_path, monkeypatch):
    monkeypatch.setattr(folds, "MOST_BYTES", 10)
    _compare(tmp_path / "whole", n_jobs=2)
    measured, calls = permuted_folds._measured, []

    def interrupted(*given):
        calls.append(given)
        if len(calls) > 3:
            raise KeyboardInterrupt
        return measured(*given)

    monkeypatch.setattr(permuted_folds, "_measured", interrupted)
    with pytest.raises(KeyboardInterrupt):
        _compare(tmp_path / "out")
    files = sorted((tmp_path / "out" / "folds").iterdir())
    assert len(files) == 6
    files[0].write_bytes(b"damaged")  # is fitted again
    monkeypatch.setattr(permuted_folds, "_measured", measured)
    _compare(tmp_path / "out")
    assert _bytes_of(tmp_path / "out") == _bytes_of(tmp_path / "whole")
    assert list((tmp_path / "out" / "folds").iterdir()) == []


def test_a_display_is_the_mean_over_folds(study):
    found, _ = study
    table = PermutedDisplay.from_rows(found.permuted, "samba").frame().set_index("column")
    rows = pd.DataFrame(found.permuted).query("model == 'samba'")
    assert set(rows["measure"]) == {"balanced_accuracy"}
    np.testing.assert_allclose(table["worse"], rows.groupby("column")["worse"].mean()[table.index])
    assert table.index[0] in {"a", "kind"}
    assert table["worse"].iloc[0] > 0.1


@pytest.mark.parametrize(
    ("metric", "score"),
    [
        ("log_loss", lambda proba, truth, _: -log_loss(truth, proba)),
        ("roc_auc", lambda proba, truth, _: roc_auc_score(truth, proba[:, 1])),
    ],
)
def test_the_measure_is_that_of_the_study(tmp_path, metric, score):
    found = _compare(tmp_path / "out", ["cart"], metric=metric)
    assert {row["measure"] for row in found.permuted} == {metric}
    assert max(_held_to_permuting(tmp_path / "out", *_table(), score)) > 0.1


def test_a_cost_is_that_at_the_threshold_of_the_fold(tmp_path):
    found = _compare(tmp_path / "out", ["cart"], cost={"missed": 8}, positive="ill")
    assert {row["measure"] for row in found.permuted} == {"cost"}
    rows = pd.read_csv(tmp_path / "out" / "results.csv").set_index(["repeat", "fold"])
    assert (rows["threshold"] < 0.3).any()

    def cost(proba, truth, fold):
        ill = proba[:, 0] >= rows.loc[(fold.repeat, fold.fold), "threshold"]
        return -(8 * (~ill & (truth == 0)).sum() + (ill & (truth == 1)).sum()) / len(truth)

    assert max(_held_to_permuting(tmp_path / "out", *_table(), cost)) > 0.2


def test_groups_keep_their_values_and_a_column_of_groups_has_no_figure(tmp_path):
    rng = np.random.default_rng(0)
    groups = np.repeat(np.arange(40), 5)
    X = pd.DataFrame({"level": 2 * rng.normal(size=40)[groups] + rng.normal(size=200),
                      "group": rng.normal(size=40)[groups]})  # fmt: skip
    y = np.where(X["level"] + X["group"] + rng.normal(size=200) / 3 > 0, "ill", "well")
    found = _compare(tmp_path / "out", ["cart"], (X, y), groups=groups, protocol="demo")
    kinds = {(row["column"], row["worse"] is None) for row in found.permuted}
    assert kinds >= {("level", False), ("group", True)}
    within = _held_to_permuting(tmp_path / "out", X, y, _balanced, groups)
    with pytest.raises(AssertionError):  # freely it would cost more
        _held_to_permuting(tmp_path / "out", X, y, _balanced)
    assert max(within) > 0.05


def test_a_category_that_a_fold_has_not_is_missing():
    rng = np.random.default_rng(0)
    X = pd.DataFrame({"a": rng.normal(size=120), "kind": rng.choice(["u", "v", "w"], 120)})
    y = np.where((X["kind"] == "v") ^ (rng.random(120) < 0.1), "ill", "well")
    X.loc[::7, "kind"] = None
    X.loc[::10, "kind"] = "x"
    train = np.flatnonzero(X["kind"] != "x")
    model = CARTClassifier(max_depth=2).fit(X.iloc[train], y[train])
    table, rows = table_from_arrays(X, y), np.arange(120)[::-1]
    codes = permuted_folds._encoded(table, rows, model)[:, 1]
    known = [{"u": 0, "v": 1, "w": 2}.get(word, np.nan) for word in X["kind"].iloc[rows]]
    np.testing.assert_array_equal(codes, known)


def test_a_model_that_fails_is_not_measured(tmp_path, monkeypatch):
    def fails(*_given):
        raise ValueError("no answer")

    monkeypatch.setattr(permuted_folds, "_by_column", fails)
    assert _compare(tmp_path / "out", ["cart"]).permuted == []


def test_a_target_constant_in_groups_is_measured_by_whole_groups(tmp_path):
    rng = np.random.default_rng(0)
    groups = np.repeat(np.arange(40), 4)
    X = pd.DataFrame(rng.normal(size=(40, 3))[groups], columns=list("abc"))
    X += rng.normal(size=X.shape) / 20
    y = np.where(X["a"][::4] > 0, "ill", "well")[groups]
    compare(X, y, models=["cart"], protocol="demo", out=tmp_path / "out", groups=groups, n_jobs=1)
    about = json.loads((tmp_path / "out" / "comparison.json").read_text())
    assert about["permuted"] == "groups"
    worse = pd.read_csv(tmp_path / "out" / "permuted.csv").groupby("column")["worse"].mean()
    assert worse["a"] > 0.3
    words = read_folder(tmp_path / "out").permuted("cart").words
    assert "shuffled between whole held-out groups (one target in each of the 40" in words
    assert "no figure" not in words


def test_a_model_of_a_fold_that_cannot_be_read_does_not_end_the_study(tmp_path, monkeypatch):
    def refuse(path):
        raise ModelFileError(f"{path} is damaged.")

    monkeypatch.setattr("psephos.modelfile.load", refuse)
    with warnings.catch_warnings(record=True) as found:
        warnings.simplefilter("always")
        results = _compare(tmp_path / "out", ["cart"])
    words = [str(one.message) for one in found]
    assert "not measured for cart in repeat 0, fold 0, whose model cannot be read:" in words[0]
    assert all(one.endswith("the file is damaged.") for one in words)
    assert results.permuted == []
    monkeypatch.undo()
    assert _compare(tmp_path / "out", ["cart"]).permuted  # measured then


def test_swag_with_a_constant_column_is_kept_and_permuted(tmp_path):
    rng = np.random.default_rng(0)
    X = pd.DataFrame({"a": rng.normal(size=100), "b": rng.normal(size=100), "k": 7.0})
    y = np.where(X["a"] + rng.normal(size=100) / 2 > 0, "yes", "no")
    found = _compare(tmp_path / "out", ["swag"], (X, y))
    assert {row["column"] for row in found.permuted} >= {"a"}
    for fold in read_folds(tmp_path / "out")["swag"]:
        library = fold.model.library_
        assert library.votes.sum() + 1 == fold.model.vote_.n_voters
