"""The comparison: what it refuses, what it writes, and that the number of jobs changes no byte."""

import csv
import ctypes
import hashlib
import importlib.util
import json
import os
import re
import signal
import sys
import time
from functools import partial
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.naive_bayes import GaussianNB

from psephos import RandomForestClassifier
from psephos._errors import MissingExtraError, PsephosError
from psephos.bounds import folds_bound
from psephos.estimator.contender import Shape
from psephos.estimator.distributions import Choice, Integers, LogUniform, Uniform
from psephos.models import load
from psephos.protocol import (
    PROTOCOLS,
    Contender,
    DataTable,
    Protocol,
    columns_used,
    known_models,
)
from psephos.protocol import compare as compare_on_all_cores
from psephos.protocol.evaluation.scores import answers_of, balanced_accuracy
from psephos.protocol.evaluation.splits import inner_splits, outer_splits, seed_of
from psephos.protocol.evaluation.stability import positions_of
from psephos.protocol.running.columns import final_step
from psephos.protocol.running.contenders import contenders, default_models
from psephos.protocol.running.proofs import refit_bounds
from psephos.protocol.tables.labels import Partial
from psephos.registry import model_names

_SPEC = importlib.util.spec_from_file_location(
    "kill_target", Path(__file__).with_name("kill_target.py")
)
assert _SPEC is not None
assert _SPEC.loader is not None
kill_target = importlib.util.module_from_spec(_SPEC)
_SPEC.loader.exec_module(kill_target)

SMALL, MODELS, TABLE = kill_target.PROTOCOL, kill_target.MODELS, kill_target.small_table()
compare = partial(compare_on_all_cores, n_jobs=1)  # no workers to start, and patches hold
# fmt: off
RESULT_COLUMNS = (
    "dataset", "protocol", "model", "repeat", "fold", "n_train", "n_test", "n_columns",
    "draws", "balanced_accuracy", "accuracy", "roc_auc", "log_loss", "training",
    "columns_used", "columns", "n_voters", "params", "status", "error",
)
# fmt: on
# (timings and, in the environment, versions are not results)
SAME = (
    "results.csv",
    "predictions.csv",
    "refits.csv",
    "bounds.csv",
    "comparison.json",
    "cases.npz",
)


def rows_of(path):
    with path.open(newline="", encoding="utf-8") as file:
        return list(csv.DictReader(file))


def content(folder):
    files = [folder / name for name in SAME] + sorted((folder / "models").glob("*.psephos"))
    return {str(path.relative_to(folder)): path.read_bytes() for path in files}


@pytest.fixture(scope="module")
def done(tmp_path_factory):
    folder = tmp_path_factory.mktemp("done")
    return compare(TABLE, models=MODELS, protocol=SMALL, out=folder), folder


# ------------------------------------------------------------------- what is written
def test_the_folder(done):
    comparison, folder = done
    results = rows_of(folder / "results.csv")
    assert tuple(results[0]) == RESULT_COLUMNS
    assert [(r["model"], r["fold"]) for r in results] == [
        (m, str(f)) for m in MODELS for f in range(3)
    ]
    assert {r["status"] for r in results} == {"ok"}
    for row, kept in zip(results, comparison.results, strict=True):
        assert row["balanced_accuracy"] == repr(kept["balanced_accuracy"])
        assert json.loads(row["params"]) == json.loads(kept["params"])
    about = json.loads((folder / "comparison.json").read_text())
    digests = about.pop("files")
    about.pop("checksum")
    tables = {"results.csv", "predictions.csv", "refits.csv", "bounds.csv", "permuted.csv"}
    assert set(digests) == tables | {
        "cases.npz",
        "models/adaboost.psephos",
        "models/samba.psephos",
    }
    for name, digest in digests.items():
        assert digest == hashlib.sha256((folder / name).read_bytes()).hexdigest()
    assert about == json.loads(json.dumps(comparison.about))
    assert about["classes"] == ["ill", "well"]
    assert about["categories"] == {"site": ["a", "b", "c"]}
    assert list(about["models"]) == list(MODELS)
    assert {r["model"] for r in rows_of(folder / "refits.csv")} == set(MODELS)
    timings = rows_of(folder / "timings.csv")
    assert len(timings) == len(MODELS) * 4
    assert all(float(r["fit_seconds"]) >= 0 for r in timings)
    assert "numpy" in json.loads((folder / "environment.json").read_text())["versions"]


def test_training_scores_are_of_the_training_parts():
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(60, 3)), rng.integers(0, 2, 60)
    found = compare(X, y, ["sklearn.tree:DecisionTreeClassifier", "majority"], "demo")
    grown, constant = ([r for r in found.results if r["model"] == m] for m in found.about["models"])
    assert {r["training"] for r in grown} == {1.0}
    assert max(r["balanced_accuracy"] for r in grown) < 0.9
    assert {r["training"] for r in constant} == {0.5}
    assert [one.training.mean for one in found.summary()] == [1.0, 0.5]
    target = X.sum(axis=1) + rng.normal(size=60)
    fitted, mean = compare(X, target, ["sklearn-ridge", "mean"], "demo", task="numbers").summary()
    assert fitted.training.mean > fitted.score > 0.5
    assert abs(mean.training.mean) < 1e-12


def test_a_file_is_read_as_read_table_reads_it(tmp_path):
    rng = np.random.default_rng(0)
    y, X = np.arange(40) % 2, rng.normal(size=(40, 2))
    X[:, 0] += 3 * y
    heads = ["gene", *(f"s{i}" for i in range(40))]
    rows = [[name, *map(str, X[:, j])] for j, name in enumerate("ab")]
    genes, cases = tmp_path / "genes.csv", tmp_path / "cases.csv"
    genes.write_text("\n".join(";".join(row) for row in [heads, *rows]), "cp1252")
    cases.write_text("\n".join(["case,state", *(f"s{i},{'uv'[c]}" for i, c in enumerate(y))]))
    form = {"separator": ";", "transpose": True, "labels_from": cases, "id": "case", "drop": ["b"]}
    with pytest.warns(UserWarning, match="features are in rows"):
        found = compare(genes, "state", ["cart"], "demo", **form)
    wanted = compare(X[:, :1], np.array(["u", "v"])[y], ["cart"], "demo", column_names=["a"])
    assert_array_equal(
        *(one.frame("pandas")["balanced_accuracy"].to_numpy() for one in (found, wanted))
    )
    with pytest.raises(PsephosError, match=r"is read \(sheet, drop\) can be given only if"):
        compare(X, y, ["cart"], "demo", sheet=1, drop=["a"])
    with pytest.raises(TypeError, match="'seperator'"):
        compare(genes, "state", ["cart"], "demo", seperator=";")


def test_predictions_give_back_the_results(done):
    _, folder = done
    classes = ["ill", "well"]
    told = rows_of(folder / "predictions.csv")
    for row in rows_of(folder / "results.csv"):
        mine = [r for r in told if (r["model"], r["fold"]) == (row["model"], row["fold"])]
        assert len(mine) == int(row["n_test"])
        proba = np.array([[float(r[f"p_{c}"]) for c in classes] for r in mine])
        truth = np.array([classes.index(r["truth"]) for r in mine])
        loss = -np.mean(np.log(np.clip(proba[np.arange(len(truth)), truth], 1e-15, 1)))
        assert_allclose(float(row["log_loss"]), loss, rtol=1e-12)
        assert_array_equal([TABLE.y[int(r["row"])] for r in mine], [r["truth"] for r in mine])
    for model in MODELS:
        rows = [int(r["row"]) for r in told if r["model"] == model]
        assert sorted(rows) == list(range(TABLE.n_rows))  # each row held out once


def test_saved_models_know_names_and_levels(done):
    comparison, folder = done
    assert set(comparison.models) == {"samba", "adaboost"}
    cases = np.load(folder / "cases.npz", allow_pickle=False)
    assert_array_equal(cases["y"], TABLE.codes)
    read: set[str] = set()
    for name, model in comparison.models.items():
        kept = load(folder / "models" / f"{name}.psephos")
        assert kept.schema_.names == TABLE.names
        assert set(kept.classes_.tolist()) == {"ill", "well"}
        if kept.schema_.levels:
            assert kept.schema_.levels == {8: ("a", "b", "c")}
        raw = pd.DataFrame(TABLE.X, columns=list(TABLE.names))
        raw["site"] = [("a", "b", "c")[int(v)] for v in TABLE.X[:, 8]]
        assert_array_equal(kept.decision_function(raw), model.decision_function(raw))
        read |= set(kept.features_used_.tolist())
        row = next(r for r in comparison.refits if r["model"] == name)
        assert row["columns_used"] == len(kept.features_used_) == kept.n_features_used_
    assert set(cases["names"].tolist()) == read
    places = [TABLE.names.index(name) for name in cases["names"].tolist()]
    assert_array_equal(cases["values"], TABLE.X[:, places])


def test_the_library_of_a_saved_model_knows_the_names_too(tmp_path):
    own = Protocol(folds=2, inner_folds=2, draws=1)
    model = compare(TABLE, models=["swag"], protocol=own, out=tmp_path).models["swag"]
    kept = load(tmp_path / "models" / "swag.psephos")
    for one in (model, kept):
        library = one.library_
        assert library.words == tuple(TABLE.names[j] for j in library.columns)
        assert set(one.features_used_.tolist()) <= set(library.words)


def test_rows_can_be_made_again_by_hand(done):
    """The tree of fold 1, refitted outside the protocol with the parameters of its row."""
    _, folder = done
    row = next(
        r
        for r in rows_of(folder / "results.csv")
        if (r["model"], r["fold"]) == ("sklearn-decision-tree", "1")
    )
    train, test = outer_splits(TABLE, SMALL, 0)[1]
    seed = seed_of(0, "model", "sklearn-decision-tree", 0, 1)
    model = known_models()["sklearn-decision-tree"].build(
        json.loads(row["params"]), Shape(9, 2, (8,), True), seed
    )
    model.fit(TABLE.X[train], TABLE.codes[train])
    answers = answers_of(model, TABLE.X[test], 2)
    assert float(row["balanced_accuracy"]) == balanced_accuracy(answers.codes, TABLE.codes[test])
    assert int(row["columns_used"]) == columns_used(model, 9).size
    assert positions_of(row["columns"]) == columns_used(model, 9).tolist()


def test_the_comparison_object(done):
    comparison, _ = done
    assert comparison.words().startswith("all 20 fits succeeded; written to ")
    assert len(comparison.frame("pandas")) == len(comparison.frame("polars")) == 15
    assert {s.model for s in comparison.summary()} == set(MODELS)
    assert comparison.pareto()[0].model == "majority"
    assert comparison.difference("samba", "sklearn-k-nn").n == 3
    with pytest.raises(PsephosError, match="'sambo' did not take part: did you mean 'samba'"):
        comparison.difference("sambo", "sklearn-k-nn")


# ------------------------------------------------------------------- same seed, same bytes
def test_two_jobs_give_the_same_bytes(done, tmp_path):
    compare(TABLE, models=MODELS, protocol=SMALL, out=tmp_path, n_jobs=2)
    assert content(tmp_path) == content(done[1])


def test_a_fit_depends_on_no_other(done):
    one = compare(TABLE, models=["sklearn-k-nn"], protocol=SMALL)
    assert one.results == [r for r in done[0].results if r["model"] == "sklearn-k-nn"]
    other = compare(TABLE, models=["sklearn-k-nn"], protocol=SMALL, random_state=1)
    assert other.results != one.results


def test_resuming_does_nothing_again(done, monkeypatch):
    _, folder = done
    before, journal = content(folder), (folder / "journal.jsonl").read_bytes()
    monkeypatch.setattr("psephos.protocol.running.spread.run_task", None)  # any fit would fail
    again = compare(TABLE, models=MODELS, protocol=SMALL, out=folder)
    assert again.results == done[0].results
    assert set(again.models) == {"samba", "adaboost"}
    assert content(folder) == before
    assert (folder / "journal.jsonl").read_bytes() == journal


def test_a_torn_journal_and_lost_files(done, tmp_path):
    compare(TABLE, models=MODELS, protocol=SMALL, out=tmp_path)
    journal = tmp_path / "journal.jsonl"
    lines = journal.read_bytes().splitlines(keepends=True)
    lines[3] = b'{"key": "torn in the mid\n'
    journal.write_bytes(b"".join(lines[:12]) + lines[12][: len(lines[12]) // 2])
    (tmp_path / "results.csv").unlink()
    next((tmp_path / "fits").iterdir()).write_bytes(b"damaged")
    compare(TABLE, models=MODELS, protocol=SMALL, out=tmp_path)
    assert content(tmp_path) == content(done[1])
    told = json.loads((tmp_path / "environment.json").read_text())["warnings"]
    assert told == ["journal.jsonl has 1 damaged line, ignored."]


def test_the_bar_says_what_is_left(capsys):
    compare(TABLE, models=["majority"], protocol=SMALL, progress=True)
    told = capsys.readouterr()
    assert "majority done" in told.err
    assert "4 of 4 fits" in told.err
    assert not told.out


# ------------------------------------------------------------------- failures
def _broken(params, shape, seed):
    class Broken:
        def fit(self, X, y):
            raise RuntimeError("no\nmemory")

    return Broken()


def test_a_failing_model_is_a_row_and_the_run_goes_on(tmp_path):
    broken = Contender("broken", "none", build=_broken, origin="baseline")
    comparison = compare(TABLE, models=[broken, "majority"], protocol=SMALL, out=tmp_path)
    rows = rows_of(tmp_path / "results.csv")
    assert [r["status"] for r in rows] == ["failed"] * 3 + ["ok"] * 3
    assert rows[0]["error"] == "RuntimeError: no memory"
    assert rows[0]["balanced_accuracy"] == rows[0]["columns_used"] == ""
    assert len(comparison.failures) == 3
    words = "4 of 8 fits failed (1 of 2 models in every fold: broken; the first: broken, repeat 0, "
    assert comparison.words().startswith(f"{words}fold 0: RuntimeError: no memory)")
    assert comparison.summary()[0].n_failed == 3
    assert len(json.loads((tmp_path / "environment.json").read_text())["warnings"]) == 4


def test_a_model_that_ends_its_program_is_a_failed_fit():
    class Leaving:
        def fit(self, X, y):
            sys.exit(0)

    leaving = Contender("leaving", "none", build=lambda p, s, seed: Leaving(), origin="baseline")
    found = compare(TABLE, models=[leaving, "majority"], protocol=SMALL, n_jobs=1)
    assert [row["status"] for row in found.results] == ["failed"] * 3 + ["ok"] * 3
    assert found.failures[0]["error"] == "SystemExit: 0"


class _Odd:
    """It answers what it was told to."""

    classes_ = np.array([0, 1])

    def __init__(self, proba, label):
        self.proba, self.label = proba, label

    def fit(self, X, y):
        return self

    def predict(self, X):
        return np.full(len(X), self.label)

    def predict_proba(self, X):
        return np.tile(self.proba, (len(X), 1))


@pytest.mark.parametrize(
    ("proba", "label", "words"),
    [
        ([np.nan, np.nan], 0, "NaN as a probability in 20 of 20 rows"),
        ([1.5, -0.5], 0, "probabilities outside [0, 1] in 20 of 20 rows"),
        ([np.inf, 0.0], 0, "probabilities outside [0, 1]"),
        ([0.9, 0.9], 0, "probabilities that do not sum to 1"),
        ([0.5, 0.3, 0.2], 0, "probabilities of shape (20, 3) for 20 rows and 2 classes"),
        ([0.5, 0.5], np.nan, "class codes; it predicts something else in 20 of 20 rows"),
        ([0.5, 0.5], 2, "class codes; it predicts something else in 20 of 20 rows"),
    ],
)
def test_answers_that_are_no_probabilities_are_a_failed_row(tmp_path, proba, label, words):
    odd = Contender("odd", "none", build=lambda *_: _Odd(proba, label), origin="baseline")
    found = compare(TABLE, models=[odd, "majority"], protocol=SMALL, out=tmp_path)
    rows = rows_of(tmp_path / "results.csv")
    assert [r["status"] for r in rows] == ["failed"] * 3 + ["ok"] * 3
    assert all(words in r["error"] and not r["log_loss"] for r in rows[:3])
    assert "odd" not in {r["model"] for r in rows_of(tmp_path / "predictions.csv")}
    assert len(found.failures) == 3


def test_every_model_gets_the_same_number_of_draws_and_says_so(done):
    for one in PROTOCOLS.values():
        assert not one.draws_of, one.name
    _, folder = done
    told = {r["model"]: r["draws"] for r in rows_of(folder / "results.csv")}
    assert told["samba"] == "2"
    assert told["majority"] == "1"  # nothing to set
    assert told["sklearn-k-nn"] == "3"
    assert done[0].about["models"]["majority"]["draws"] == 1


def test_a_draw_that_fails_has_lost(tmp_path):
    greedy = Contender(
        "greedy",
        "neighbours",
        {"quick": {"n_neighbors": Integers(18, 40)}},  # inner training parts hold 20 rows
        build=known_models()["sklearn-k-nn"].build,
        origin="baseline",
    )
    own = Protocol(folds=3, inner_folds=2, draws=8)
    comparison = compare(TABLE, models=[greedy], protocol=own, out=tmp_path)
    assert not comparison.failures
    assert sum(int(r["draws_failed"]) for r in rows_of(tmp_path / "timings.csv")) > 0


def sentence(text):
    return pytest.raises(PsephosError, match=re.escape(text))


X3, Y3 = TABLE.X[:, :3], TABLE.y


@pytest.mark.parametrize(
    ("arguments", "text"),
    [
        ({"y": None}, "y is missing"),
        ({"y": np.zeros(60)}, "has one class only ('0')"),
        ({"y": ["rare"] * 3 + ["b"] * 57}, "class 'rare' has 3 rows, fewer than the 5 folds"),
        ({"groups": ["g", "h", "i"] * 20}, "'groups' names 3 groups, fewer than the 5 folds"),
        ({"models": ["samba", "adabost"]}, "there is no model 'adabost': did you mean 'adaboost'?"),
        ({"models": ["samba", "samba"]}, "models names 'samba' twice"),
        ({"models": []}, "models is empty"),
        ({"protocol": "quik"}, "unknown protocol 'quik': did you mean 'quick'?"),
        ({"random_state": None}, "'random_state' must be"),
        ({"random_state": -1}, "'random_state' must be"),
        ({"column_names": ["a"]}, "1 names for 3 columns"),
        ({"metric": len}, "'metric' must be None, the name of a"),
        ({"budget": 8}, "budget must be draws=8"),
        ({"cost": True}, "--cost (cost=) must be missed=5 (in Python also 5)"),
        ({"cost": {"alarm": 3}}, "got {'alarm': 3}"),
        ({"cost": {"missed": None}}, "got {'missed': None}"),
        ({"curve": "yes"}, "'curve' must be True or False"),
        ({"time_limit": "x"}, "'time_limit' must be a finite number above 0"),
        ({"select": "two-se"}, "'select' must be one of None, 'best', 'one-se'"),
        ({"repeats": 1.5}, "compare has no parameter 'repeats'"),
        ({"groups": [*"abcde" * 11, *"abcd", None]}, "groups has no value in row 59"),
    ],
)
def test_sentences_before_anything_is_fitted(tmp_path, arguments, text):
    with sentence(text):
        compare(X3, **{"y": Y3, "out": tmp_path / "new", **arguments})
    assert not (tmp_path / "new").exists()


def test_more_sentences(tmp_path):
    with sentence("X is a DataTable, which has its own y"):
        compare(TABLE, Y3)
    (tmp_path / "file").write_text("")
    with sentence("cannot be written"):
        compare(X3, Y3, models=["majority"], out=tmp_path / "file" / "folder")
    with sentence("parameter 'folds' must be a whole number of at least 2"):
        Protocol(folds=1)
    with sentence("parameter 'outer' must be"):
        Protocol(outer="loo")
    with sentence("rows in a training part, fewer than the 5 inner folds"):
        compare(X3, ["rare"] * 5 + ["b"] * 55, models=["majority"], protocol="samba")
    with sentence("all rows of class 'u' are in one group"):
        groups = np.arange(60) // 6
        compare(X3, np.where(groups == 0, "u", "v"), groups=groups, models=["majority"])
    gone = Contender("x", "none", build=_broken, needs="no_such_package")
    with pytest.raises(MissingExtraError, match="pip install"):
        contenders([gone])


# ------------------------------------------------------------------- splits
def test_groups_are_never_split():
    groups = np.array([f"g{i % 12}" for i in range(60)])
    table = DataTable(TABLE.X, TABLE.y, TABLE.names, groups=groups, group_name="who")
    for name in ("quick", "samba"):
        for train, test in outer_splits(table, PROTOCOLS[name], 0):
            assert not set(groups[train]) & set(groups[test])
            for a, b in inner_splits(table.codes[train], groups[train], 3, 1):
                assert not set(groups[train][a]) & set(groups[train][b])
                assert len(np.unique(table.codes[train][a])) == 2
    assert not compare(table, models=["majority", "samba"], protocol=SMALL).failures


def test_a_search_of_its_own_does_not_divide_a_group_either(monkeypatch):
    """SWAG judges candidates in folds of its own: it is told the groups, in every fit."""
    from psephos import SparseWrapperClassifier

    heard, whole = [], SparseWrapperClassifier.fit

    def fit(self, X, y, *args, groups=None, **rest):
        heard.append((len(X), None if groups is None else len(set(groups))))
        return whole(self, X, y, *args, groups=groups, **rest)

    monkeypatch.setattr(SparseWrapperClassifier, "fit", fit)
    groups = np.array([f"g{i % 12}" for i in range(60)])
    table = DataTable(TABLE.X, TABLE.y, TABLE.names, groups=groups, group_name="who")
    own = Protocol(folds=2, inner_folds=2, draws=2)
    assert not compare(table, models=["swag"], protocol=own).failures
    assert set(heard) == {(60, 12), (30, 6), (15, 3)}
    heard.clear()
    assert not compare(TABLE, models=["swag"], protocol=own).failures
    assert {groups for _, groups in heard} == {None}


def test_presets_split_as_they_say():
    quick = outer_splits(TABLE, PROTOCOLS["quick"], 0)
    assert len(quick) == 5
    assert_array_equal(np.sort(np.concatenate([test for _, test in quick])), np.arange(60))
    samba = outer_splits(TABLE, PROTOCOLS["samba"], 0)
    assert [len(test) for _, test in samba] == [12] * 10
    assert len({tuple(test.tolist()) for _, test in samba}) == 10
    share = np.mean(TABLE.codes)
    assert all(abs(np.mean(TABLE.codes[test]) - share) < 0.06 for _, test in [*quick, *samba])
    assert "10 stratified random splits, 20% of rows to test" in PROTOCOLS["samba"].words()
    for repeats, words in ((1, "3-fold cross-validation;"), (2, "cross-validation repeated 2 ti")):
        assert words in Protocol(folds=3, repeats=repeats).words()


def contenders_with_what_is_drawn():
    """Each with the presets that draw otherwise, and with two or three classes."""
    for i, (name, one) in enumerate((n, c) for n, c in known_models().items() if c.available):
        yield name, "quick", 2 if one.two_classes else 2 + i % 2
        if any(one.drawn("quick", k) != one.drawn("samba", k) for k in (2, 3)):
            yield name, "samba", 2 if one.two_classes else 3 - i % 2


@pytest.mark.parametrize(("name", "preset", "n_classes"), contenders_with_what_is_drawn())
@pytest.mark.filterwarnings("ignore::psephos._errors.CollapseWarning")
def test_every_contender_runs_with_what_is_drawn(name, preset, n_classes):
    rng = np.random.default_rng(1)
    y = rng.integers(n_classes, size=60)
    kept = [0, 2, 3, 7, 8]  # one with missing values, and the category
    X = TABLE.X[:, kept] + np.where(np.arange(5) == 2, y[:, None], 0)
    some = None
    if known_models()[name].partial_labels:  # a third of the rows has no label
        some = Partial(np.where(np.arange(60) % 3 == 0, -1, y), 1, True, 0.5)
    levels = {4: ("a", "b", "c")} if n_classes == 2 else {}
    table = DataTable(X, y, tuple(TABLE.names[j] for j in kept), levels, partial=some)
    own = Protocol(
        outer="shuffle", folds=2, inner_folds=2, draws=1, defaults_first=False,
        distributions=preset,
    )  # fmt: skip
    comparison = compare(table, models=[name], protocol=own)
    assert not comparison.failures, comparison.words()
    assert all(r["columns_used"] <= 5 for r in comparison.results)
    votes = (
        known_models()[name].ensemble or known_models()[name].origin == "psephos"
    )  # a tree is one
    assert (comparison.results[0]["n_voters"] is not None) == votes


def test_what_takes_part_if_nothing_is_named():
    assert set(default_models()) == {
        "samba", "swag", "proset", "random-forest", "newton-boosting", "rank-ridge",
        "column-budget-4", "column-budget-8", "column-budget-16", "sklearn-l1-logistic",
        "sklearn-svm-rbf", "majority",
    }  # fmt: skip
    known = [c for c in known_models().values() if c.available]
    others = [c.name for c in known if not c.default]
    assert [c.name for c in contenders(others)] == others
    every = [c.name for c in known if c.default or not c.variant_of]
    assert [c.name for c in contenders("all")] == every


def test_a_model_has_one_name():
    """What the command fits is what a comparison compares, and peers say whose they are."""
    names = model_names()
    ours = {n for n, kind in names.items() if kind.endswith("Classifier")}
    known = known_models()
    assert ours == {n for n, c in known.items() if c.origin == "psephos" and not c.variant_of}
    assert {n for n in names if n.endswith("-regressor")} == set(names) - ours
    for name, one in known.items():
        model = final_step(one.build({}, Shape(12, 2), 0))
        package = type(model).__module__.split(".")[0]
        if package == "psephos":
            assert type(model).__name__ == names[one.variant_of or name]
        else:
            assert name.split("-")[0] == package or name == "majority"


def test_own_trees_are_built_for_the_table():
    wide, gaps = Shape(5000, 2), Shape(12, 2, (3,), missing=True)
    newton, cart = known_models()["newton-boosting"].build, known_models()["cart"].build
    assert newton({}, wide, 0).tree_method == "exact"
    assert newton({}, gaps, 0).tree_method == "hist"
    assert cart({}, wide, 0).max_surrogates == 0
    assert cart({}, Shape(12, 2, (3,)), 0).max_surrogates == 5  # for categories unseen
    tree = cart({"criterion": "entropy"}, gaps, 7)
    assert tree.max_surrogates == 5
    assert tree.one_standard_error
    assert (tree.categorical_features, tree.random_state) == ([3], 7)


def test_the_samba_preset_is_the_papers():
    """Supplement E.3.2, with the two-class losses; its Lasso has no distribution there."""
    weights = Choice(("balanced", None))
    expected = {
        "samba": {
            "n_estimators": Integers(1, 70),
            "a": LogUniform(1e-10, 1),
            "b": Uniform(0.1, 6),
            "class_weight": weights,
        },
        "adaboost": {
            "n_estimators": Integers(1, 100),
            "max_depth": Integers(1, 3),
            "class_weight": weights,
        },
        "sklearn-random-forest": {
            "n_estimators": Integers(1, 300),
            "max_depth": Integers(1, 10),
            "criterion": Choice(("gini", "entropy")),
        },
        "sklearn-k-nn": {
            "n_neighbors": Integers(1, 10),
            "weights": Choice(("uniform", "distance")),
            "algorithm": Choice(("auto", "ball_tree", "kd_tree", "brute")),
            "p": Choice((1, 2)),
        },
        "sklearn-svm-rbf": {"C": LogUniform(1e-3, 1e3)},
        "sklearn-decision-tree": {
            "max_depth": Integers(1, 300),
            "criterion": Choice(("gini", "entropy")),
            "splitter": Choice(("best", "random")),
            "class_weight": weights,
        },
        "sklearn-gradient-boosting": {
            "n_estimators": Integers(1, 300),
            "max_depth": Integers(1, 10),
            "loss": Choice(("log_loss", "exponential")),
            "learning_rate": Uniform(0, 1),
        },
        "xgboost": {
            "n_estimators": Integers(1, 300),
            "max_depth": Integers(1, 10),
            "objective": Choice(("binary:logistic", "binary:hinge")),
            "learning_rate": Uniform(0, 1),
        },
    }
    assert {n: known_models()[n].drawn("samba", 2) for n in expected} == expected
    assert known_models()["sklearn-gradient-boosting"].drawn("samba", 3)["loss"] == Choice(
        ("log_loss",)
    )
    preset = PROTOCOLS["samba"]
    assert (preset.repeats, preset.folds, preset.draws, preset.inner_folds) == (10, 5, 50, 5)
    assert not preset.defaults_first
    rng = np.random.default_rng(0)
    drawn = [LogUniform(1e-10, 1).draw(rng) for _ in range(2000)]
    assert 1e-10 <= min(drawn) < max(drawn) <= 1
    assert abs(np.mean(np.log10(drawn)) + 5) < 0.3
    assert {Integers(1, 3).draw(rng) for _ in range(100)} == {1, 2, 3}


# ------------------------------------------------------------------- what can be proved
def test_bounds_are_told_of_folds_and_refits(done):
    comparison, folder = done
    told = rows_of(folder / "bounds.csv")
    assert [(r["model"], r["bound"]) for r in told] == [
        (r["model"], r["bound"]) for r in comparison.bounds
    ]
    for model in MODELS:
        rows = [r for r in comparison.results if r["model"] == model]
        errors = [round((1 - r["accuracy"]) * r["n_test"]) for r in rows]
        counts = comparison.about["class_counts"]
        constant = min(counts) / sum(counts)
        limit = folds_bound(errors, [r["n_test"] for r in rows], 2, constant_error=constant)
        mine = next(r for r in told if (r["model"], r["bound"]) == (model, "hold-out, folds"))
        assert mine["value"] == repr(limit.value)
        assert mine["vacuous"] == str(limit.vacuous)
        assert float(mine["constant_error"]) == pytest.approx(constant)
    published = {r["model"]: r for r in told if r["bound"] == "published"}
    assert set(published) == {"samba", "adaboost"}
    assert published["samba"]["value"] == published["adaboost"]["value"] == ""
    assert "prior over the voters that were found" in published["samba"]["told"]
    assert "chosen after the data" in published["adaboost"]["told"]


def test_a_forest_is_bounded_by_its_rows_out_of_bag():
    rng = np.random.default_rng(0)
    X = rng.random((120, 4))
    y = (X[:, 0] > 0.5).astype(int)

    def build(params, shape, seed):
        return RandomForestClassifier(5, max_depth=2, random_state=seed)

    few = Contender("few-trees", "forest", {}, build=build)
    found = compare(X, y, models=[few], protocol=SMALL, n_jobs=1)
    rows = {row["bound"]: row for row in found.bounds}
    assert rows["out of bag"]["value"] > 0
    assert "settings were not chosen by these rows" in rows["out of bag"]["told"]
    grouped = compare(X, y, models=[few], protocol=SMALL, n_jobs=1, groups=np.arange(120) // 2)
    assert {row["value"] for row in grouped.bounds} == {None}
    assert all("rows of one group are not" in row["told"] for row in grouped.bounds)


# ------------------------------------------------------------------- budgets
def test_a_budget_of_draws_is_the_same_for_every_model_and_its_default_comes_first(tmp_path):
    models = ["samba", "sklearn-k-nn", "majority"]
    given = {"models": models, "protocol": SMALL, "budget": "draws=2", "out": tmp_path}
    comparison = compare(TABLE, **given)
    drawn = {(row["model"], row["draws"]) for row in comparison.results}
    assert drawn == {("samba", 2), ("sklearn-k-nn", 2), ("majority", 1)}
    used = {row["model"]: row for row in rows_of(tmp_path / "used.csv")}
    assert list(used) == models
    assert (used["samba"]["fits"], used["samba"]["draws"]) == ("4", "8")
    same = compare(TABLE, models=models, protocol=SMALL.within("draws=2"))
    assert same.results == comparison.results


def test_a_budget_of_seconds_ends_a_search_and_a_resumed_study_keeps_what_was_tried(tmp_path):
    asked = []

    class Slow(GaussianNB):
        def fit(self, X, y, **more):
            asked.append(self.var_smoothing)
            time.sleep(0.01)
            return super().fit(X, y, **more)

    space = {"quick": {"var_smoothing": LogUniform(1e-9, 1e-3)}}
    slow = Contender(
        "slow", "bayes", space, build=lambda params, shape, seed: Slow(**params), origin="baseline"
    )
    given = {"models": [slow, "majority"], "protocol": SMALL, "out": tmp_path}
    numeric = DataTable(np.nan_to_num(TABLE.X), TABLE.y, TABLE.names)
    first = compare(numeric, **given, budget="seconds=0.2")
    assert asked[:2] == [1e-9] * 2
    draws = [row["draws"] for row in first.results if row["model"] == "slow"]
    assert all(2 <= n <= 20 for n in draws)
    assert "random search for 0.2 s" in first.about["protocol"]
    assert first.about["models"]["slow"]["draws"] is None
    n_fits = len(asked)
    again = compare(numeric, **given, budget="seconds=0.2")
    assert (len(asked), again.results) == (n_fits, first.results)
    one = compare(numeric, **{**given, "out": None}, budget="seconds=0.001")
    assert [row["draws"] for row in one.results] == [1] * 6


@pytest.mark.parametrize("budget", ["8", "draws=0", "draws=-1", "seconds=0", "seconds=nan", "s=3"])
def test_a_budget_is_draws_or_seconds(budget):
    with pytest.raises(PsephosError, match=r"draws=8 .* or seconds=60"):
        SMALL.within(budget)


def test_settings_whose_number_was_not_fixed_share_delta_by_their_order():
    model = RandomForestClassifier(n_estimators=5, random_state=0).fit(TABLE.X[:, :2], TABLE.y)
    fixed = refit_bounds(model, TABLE.X[:, :2], TABLE.y, 6)
    timed = refit_bounds(model, TABLE.X[:, :2], TABLE.y, 2, timed=True)
    assert [row["value"] for row in fixed] == [row["value"] for row in timed]
    assert "best of 2 by these rows, each with delta / 6" in timed[0]["told"]


# ------------------------------------------------------------------- lost workers, time limits
def falling(params, shape, seed, folder, what):
    """Return naive Bayes that once kills its process, or whose smoother settings never end."""

    class Falling(GaussianNB):
        def fit(self, X, y):
            mark = Path(folder) / "killed"
            if what == "killed" and not mark.exists():
                mark.touch()
                os.kill(os.getpid(), signal.SIGKILL)
            if what == "hangs" and self.var_smoothing > 1e-6:
                ctypes.PyDLL(None).sleep(1000)  # as compiled code that holds Python's lock
            return super().fit(X, y)

    return Falling(**params)


def bayes(folder, what):
    build = partial(falling, folder=str(folder), what=what)
    space = {"quick": {"var_smoothing": LogUniform(1e-9, 1e-3)}}
    return Contender("bayes", "bayes", space, build=build, origin="baseline")


@pytest.fixture(scope="module")
def numeric():
    return DataTable(np.nan_to_num(TABLE.X), TABLE.y, TABLE.names, dataset="small")


@pytest.mark.skipif(not hasattr(signal, "SIGKILL"), reason="no SIGKILL on this system")
def test_a_comparison_whose_worker_is_killed_ends_with_the_same_bytes(numeric, tmp_path):
    given = {"protocol": SMALL, "random_state": 0}
    models = ["adaboost", "majority"]
    compare(numeric, models=[bayes(tmp_path, ""), *models], out=tmp_path / "whole", **given)
    fatal = [bayes(tmp_path, "killed"), *models]
    compare(numeric, models=fatal, out=tmp_path / "lost", n_jobs=2, **given)
    assert (tmp_path / "killed").exists()
    for name in ("results.csv", "predictions.csv", "refits.csv"):
        assert (tmp_path / "lost" / name).read_bytes() == (tmp_path / "whole" / name).read_bytes()


@pytest.mark.skipif(os.name != "posix", reason="it calls sleep of the C library")
def test_draws_beyond_the_time_limit_fail_and_all_else_goes_on(numeric, tmp_path):
    plan = Protocol(folds=2, inner_folds=2, draws=2)  # each stop costs a new process
    given = {"models": [bayes(tmp_path, "hangs"), "majority"], "protocol": plan}
    found = compare(numeric, time_limit=1.5, out=tmp_path / "out", **given)
    assert {row["status"] for row in found.results} == {"ok"}
    used = {row["model"]: row for row in found.used}
    assert used["bayes"]["draws"] == 6
    assert used["bayes"]["draws_failed"] == used["bayes"]["draws_stopped"] > 0
    assert used["majority"]["draws_stopped"] == 0
    again = compare(numeric, time_limit=1.5, out=tmp_path / "out", **given)
    assert again.used == found.used  # nothing was fitted anew


def test_a_time_limit_changes_no_byte_where_nothing_is_stopped(done, tmp_path):
    compare(TABLE, models=MODELS, protocol=SMALL, out=tmp_path, time_limit=300)
    assert content(tmp_path) == content(done[1])


@pytest.mark.parametrize("limit", [0, -1, float("nan"), "3"])
def test_a_time_limit_is_a_number_above_0(limit):
    with pytest.raises(PsephosError, match="number above 0"):
        compare(TABLE, models=["majority"], protocol=SMALL, time_limit=limit)
