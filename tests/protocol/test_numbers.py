"""Numbers as targets: folds, measures, comparisons, the command and the page."""

import csv
import json
import math
import re
from collections import defaultdict

import numpy as np
import pandas as pd
import pytest
from click.testing import CliRunner
from numpy.testing import assert_allclose
from sklearn import metrics
from sklearn.dummy import DummyRegressor
from sklearn.linear_model import Ridge
from sklearn.tree import DecisionTreeRegressor

from psephos import ProsetRegressor, PsephosError, load
from psephos.cli.app import main
from psephos.protocol import Protocol, better_than_constant, compare, known_models, read_folds
from psephos.protocol import table_from_arrays as table_of
from psephos.protocol.evaluation.answers import LEVELS, number_answers_of
from psephos.protocol.evaluation.splits import inner_splits, outer_splits, strata
from psephos.protocol.evaluation.statistics import design_effect, pooled_numbers
from psephos.protocol.running.columns import columns_used
from psephos.protocol.running.contenders import built, contenders, default_models
from psephos.protocol.running.tasks import shape_of
from psephos.report import build_report, summarise
from psephos.report.study.options import PageOptions
from psephos.report.words import three

SMALL = Protocol("small", folds=3, inner_folds=2, draws=2)
MODELS = ["cart-regressor", "proset-regressor", "mean", "sklearn-lasso", "sklearn-ridge"]
MEASURES = {
    "r2": metrics.r2_score,
    "mae": metrics.mean_absolute_error,
    "rmse": lambda y, p: metrics.mean_squared_error(y, p) ** 0.5,
}


def data(n=60, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 4))
    return X, 10 + 3 * X[:, 1] - X[:, 2] ** 2 + 0.3 * rng.normal(size=n)


@pytest.fixture(scope="module")
def study(tmp_path_factory):
    X, y = data()
    X[3, 0] = np.nan
    out = tmp_path_factory.mktemp("numbers") / "study"
    return compare(X, y, models=MODELS, protocol=SMALL, n_jobs=1, out=out)


def csv_of(path):
    with path.open(newline="") as file:
        return list(csv.DictReader(file))


# ------------------------------------------------------------------- folds
@pytest.mark.parametrize("n", [9, 37, 200])
def test_folds_hold_each_part_of_the_target_alike(n):
    X, y = data(n)
    table = table_of(X, y)
    parts = outer_splits(table, SMALL, 0)
    assert sorted(np.concatenate([test for _, test in parts]).tolist()) == list(range(n))
    own = strata(y, 3)
    assert len(np.unique(own)) == max(1, min(5, n // 6))
    assert (np.diff(own[np.argsort(y)]) >= 0).all()
    for _, test in parts:
        counts = np.bincount(own[test], minlength=own.max() + 1)
        assert (np.abs(counts - np.bincount(own) / 3) < 1).all()


def test_equal_numbers_make_fewer_parts_and_few_rows_are_refused():
    y = np.array([0.0] * 50 + [0.5, 1.5, 2.5])
    assert set(strata(y, 5).tolist()) == {0}
    assert len(inner_splits(y, None, 5, 0)) == 5
    X = np.zeros((5, 1))
    with pytest.raises(PsephosError, match="5 rows, too few"):
        outer_splits(table_of(X, np.arange(5) / 3), SMALL, 0)


def test_groups_are_not_divided_outside_or_inside():
    X, y = data(60)
    groups = np.arange(60) // 4
    table = table_of(X, y, groups=groups)
    for train, test in outer_splits(table, SMALL, 0):
        assert not set(groups[train]) & set(groups[test])
        for first, second in inner_splits(y[train], groups[train], 2, 0):
            assert not set(groups[train][first]) & set(groups[train][second])


# ------------------------------------------------------------------- measures
def test_every_figure_is_that_of_scikit_learn(study):
    answers, truth = defaultdict(list), data()[1]
    for row in csv_of(study.out / "predictions.csv"):
        assert float(row["truth"]) == truth[int(row["row"])]
        answers[row["model"], row["repeat"], row["fold"]].append(row)
    results = csv_of(study.out / "results.csv")
    assert len(results) == 15
    for row in results:
        own = answers[row["model"], row["repeat"], row["fold"]]
        y, said = ([float(one[key]) for one in own] for key in ("truth", "predicted"))
        for name, peer in MEASURES.items():
            assert_allclose(float(row[name]), peer(y, said), rtol=1e-12, atol=1e-12)
        stated = row["model"] == "proset-regressor"
        assert (row["pinball"] != "") is (row["crps"] != "") is (row["coverage_90"] != "") is stated
        if stated:
            quantiles = [[float(one[f"q_{100 * q:02.0f}"]) for one in own] for q in LEVELS]
            losses = [
                metrics.mean_pinball_loss(y, one, alpha=q)
                for q, one in zip(LEVELS, quantiles, strict=True)
            ]
            assert_allclose(float(row["pinball"]), np.mean(losses), rtol=1e-12)
            inside = [a <= v <= b for a, v, b in zip(quantiles[0], y, quantiles[-1], strict=True)]
            assert float(row["coverage_90"]) == np.mean(inside)
    for row in csv_of(study.out / "pooled.csv"):
        own = [one for key, each in answers.items() if key[0] == row["model"] for one in each]
        y, said = ([float(one[key]) for one in own] for key in ("truth", "predicted"))
        for name, peer in MEASURES.items():
            assert_allclose(float(row[name]), peer(y, said), rtol=1e-12, atol=1e-12)
            assert float(row[f"{name}_low"]) < float(row[name]) < float(row[f"{name}_high"])


def test_crps_is_that_of_the_stated_distribution():
    X, y = data(80)
    model = ProsetRegressor(random_state=0).fit(X[:60], y[:60])
    found = number_answers_of(model, X[60:])
    draws = found.stated.sample(4000, np.random.default_rng(0))
    by_draws = np.abs(draws - y[60:, None]).mean(axis=1)
    by_draws -= np.abs(draws[:, ::2] - draws[:, 1::2]).mean(axis=1) / 2
    assert_allclose(found.stated.crps(y[60:]).mean(), by_draws.mean(), rtol=0.05)
    assert number_answers_of(Ridge().fit(X, y), X).stated is None


def test_intervals_are_of_cases_or_whole_groups_and_cover():
    rng, inside = np.random.default_rng(0), 0
    for seed in range(200):
        y, e = rng.normal(size=(2, 60))
        found = pooled_numbers(y, y + e, np.arange(60), seed)
        inside += found["rmse_low"] <= 1 <= found["rmse_high"]
    assert 0.86 <= inside / 200 <= 0.99
    wide = pooled_numbers(y, y + np.repeat(e[:10], 6), np.arange(60) // 6, 0)
    alone = pooled_numbers(y, y + np.repeat(e[:10], 6), np.arange(60), 0)
    assert wide["mae_high"] - wide["mae_low"] > 1.5 * (alone["mae_high"] - alone["mae_low"])
    assert pooled_numbers(np.ones(9), np.zeros(9), np.arange(9), 0)["r2"] is None


# ------------------------------------------------------------------- better than the mean
def rows_of(X, y, groups, seed):
    models = {
        "line": Ridge(10),
        "tree": DecisionTreeRegressor(max_depth=2),
        "mean": DummyRegressor(),
    }
    table, rows, said = (
        table_of(X, y, task="numbers", groups=groups),
        [],
        dict.fromkeys(models, y * 0),
    )
    for fold, (train, test) in enumerate(outer_splits(table, Protocol(), seed)):
        for name, model in models.items():
            said[name][test] = model.fit(X[train], y[train]).predict(X[test])
            own = {k: peer(y[test], said[name][test]) for k, peer in MEASURES.items()}
            rows.append(
                {"model": name, "repeat": 0, "fold": fold, "n_train": len(train), "status": "ok",
                 "n_test": len(test), "columns_used": 0 if name == "mean" else 1,
                 "n_voters": None, **own}
            )  # fmt: skip
    flat = [row for row in rows if row["model"] == "mean"]
    about = {
        "task": "numbers", "classes": [], "n_rows": len(y), "deviation": float(y.std()),
        "constant": float(np.mean([row["r2"] for row in flat])),
        "constant_rmse": [row["rmse"] for row in flat], "independent_rows": table.n_independent,
    }  # fmt: skip
    if groups is not None:
        about["design_effects"] = {m: design_effect(y, one, groups) for m, one in said.items()}
    return rows, about


@pytest.mark.parametrize("kind", ["normal", "heavy tails", "groups"])
def test_on_numbers_by_lot_a_model_is_called_better_as_seldom_as_is_said(kind):
    rng, groups, found = np.random.default_rng(0), None, []
    for seed in range(60):
        X, y = rng.normal(size=(30, 6)), rng.normal(size=30)
        if kind == "heavy tails":
            y = np.exp(1.5 * y)
        if kind == "groups":
            groups = np.arange(30) // 3
            X, y = X + 2 * X[groups], y + 2 * y[groups]
        found.append(min(better_than_constant(*rows_of(X, y, groups, seed), chance=0.99).values(),
                         default=1))  # fmt: skip
    for chance in (0.05, 0.2):
        assert np.mean(np.array(found) <= chance) <= chance
    y = X[:, 0] + rng.normal(size=30) / 4
    assert set(better_than_constant(*rows_of(X, y, groups, 0))) == {"line", "tree"}


# ------------------------------------------------------------------- a study
def test_a_comparison_of_numbers_says_so_and_ranks_by_r_squared(study):
    assert study.contents.startswith("60 cases: numbers from ")
    assert study.about["task"] == "numbers"
    assert study.about["classes"] == study.about["class_counts"] == []
    assert study.words().startswith("all 20 fits succeeded")
    assert study.bounds == []
    order = [one.model for one in sorted(study.summary(), key=lambda s: -s.score)]
    assert order[-1] == "mean"
    assert "sklearn-ridge" in study.better()
    assert "mean" not in study.better()
    ours = study.difference("sklearn-ridge", "mean")
    assert ours.low > 0
    assert_allclose(ours.mean, study.difference("sklearn-ridge", "mean", "r2").mean)
    assert "by R² in 2 folds" in study.about["protocol"]


def test_the_same_run_fits_nothing_again_and_models_are_kept(study):
    journal = (study.out / "journal.jsonl").read_bytes()
    X, y = data()
    X[3, 0] = np.nan
    again = compare(X, y, models=MODELS, protocol=SMALL, n_jobs=1, out=study.out)
    assert (study.out / "journal.jsonl").read_bytes() == journal
    assert again.results == study.results
    with pytest.raises(PsephosError, match="holds another study"):
        compare(X, np.round(y), "mean", SMALL, task="numbers", n_jobs=1, out=study.out)
    model = load(study.out / "models" / "cart-regressor.psephos")
    frame = pd.DataFrame(X, columns=model.feature_names_in_)
    assert_allclose(model.predict(frame), study.models["cart-regressor"].predict(frame))
    assert model.score(frame, y) > 0.5
    assert len(read_folds(study.out)["cart-regressor"]) == 3


def test_models_of_the_other_kind_and_several_numbers_are_refused_with_a_way_out():
    X, y = data()
    for models, target, words in (
        ("samba", y, "'samba' predicts classes, and the target holds numbers"),
        ("sklearn-ridge", y > 10, "'sklearn-ridge' predicts numbers, and the target holds classes"),
        (None, np.column_stack([y, y]), "Name one target; some regressors"),
    ):
        with pytest.raises(PsephosError, match=words):
            compare(X, target, models=models, n_jobs=1)
    with pytest.raises(PsephosError, match="positive"):
        compare(X, y, positive="3", n_jobs=1)
    found = contenders(["cart", "sklearn-random-forest", "mean"], "numbers")
    assert [one.name for one in found] == [
        "cart-regressor", "sklearn-random-forest-regressor", "mean",
    ]  # fmt: skip


def test_every_family_takes_part_and_peers_read_any_table():
    known = known_models("numbers")
    assert not set(known) & set(known_models())
    assert {one.family for one in known.values()} >= {
        "boosting", "tree", "forest", "few columns", "prototypes", "linear", "library",
        "neighbours", "none", "committees",
    }  # fmt: skip
    assert {"sklearn-elastic-net", "sklearn-k-nn-regressor", "adaboost-regressor"} < set(known)
    assert {"mean", "sklearn-ridge", "column-budget-4-regressor"} < set(default_models("numbers"))
    X, y = data(40)
    mixed = np.column_stack([X, np.arange(40) % 3])
    mixed[1, 0] = mixed[2, 4] = np.nan
    table = table_of(mixed, y, categorical=[4])
    for name, one in known.items():
        if one.origin == "psephos":
            continue
        model = built(one, {}, shape_of(table), 0).fit(table.X, table.y)
        assert np.isfinite(model.predict(table.X)).all()
        used = columns_used(model, 5).tolist()
        assert used == ([] if name == "mean" else used)
        if name in ("sklearn-ridge", "sklearn-k-nn-regressor"):
            assert used == [0, 1, 2, 3, 4]


# ------------------------------------------------------------------- command and page
def call(*arguments):
    return CliRunner().invoke(main, [str(a) for a in arguments])


def test_the_command_goes_from_csv_to_page(tmp_path):
    X, y = data(40)
    frame = pd.DataFrame(X, columns=[*"abcd"]).assign(kind=["u", "v"] * 20, price=y)
    frame["id"] = [f"p{i}" for i in range(40)]
    table, out = tmp_path / "t.csv", tmp_path / "out"
    frame.to_csv(table, index=False)
    done = call("compare", table, "--target", "price", "--id", "id", "--models",
                "cart-regressor,mean", "--folds", "3", "--out", out, "--n-jobs", "1")  # fmt: skip
    assert done.exit_code == 0, done.output
    assert "40 cases: numbers from " in done.stderr
    assert "R²" in done.stdout
    assert (out / "report.html").exists()


def test_the_page_has_the_table_and_a_live_model_and_leaves_classes_out(study):
    page = summarise(study.out)
    assert [key for key, _ in page["contents"]] == [
        "observed", "accuracy", "values", "case", "stability", "methods",
    ]  # fmt: skip
    assert page["measures"][0]["words"] == "R²"
    by_label = {row["label"]: row["cells"] for row in page["pooled"]["rows"]}
    kept = {row["model"]: row for row in csv_of(study.out / "pooled.csv")}
    assert by_label["mean"][1]["value"] == float(kept["mean"]["mae"])
    live = page["island"]["number"]["models"]
    assert set(live) == {"cart-regressor", "proset-regressor"}
    one = live["cart-regressor"]
    assert len(one["fields"]) == len(one["start"])
    assert json.dumps(one["plain"])
    first, model = page["case"], study.models["cart-regressor"]
    shown = max(("cart-regressor", "proset-regressor"), key=lambda m: page_score(study, m))
    assert first["start"] == "the median of each column"
    assert_allclose(
        float(first["answer"].replace("−", "-")),
        study.models[shown].predict(starting().median().to_frame().T)[0],
        rtol=1e-3,
    )
    assert model.vote_.target.kind == "regression"
    text = build_report(study.out).read_text("utf-8")
    assert 'data-test="pooled"' in text
    assert "nan" not in text.split("<script")[0].split("<body>")[1].replace("dominan", "")
    for gone in ("misses", "ROC", "threshold"):
        assert f"{gone} " not in page["first"][0]
    assert summarise(study.out, "proset") == summarise(study.out, "proset-regressor")
    assert "MAE is the mean absolute error" in page["pooled"]["words"]
    said = pd.read_csv(study.out / "predictions.csv").query("model == 'cart-regressor'")
    size, low = (said.truth - said.predicted).abs(), -math.inf
    like = page["island"]["observed"]["models"]["cart-regressor"]["like"]
    assert like[-1][0] is None
    for high, _, n, mae, *_ in like:
        own = (said.predicted > low) & (said.predicted <= (math.inf if high is None else high))
        assert (n, mae) == (str(own.sum()), three(size[own].mean()))
        low = high
    assert re.search(r", a number: [-−\d.]+ to [-−\d.]+\. Errors", page["data_line"])
    none = summarise(study.out, options=PageOptions(cases="none"))
    assert ", a number. Errors" in none["data_line"]  # the ends are of single cases
    assert build_report(study.out, cases="none").exists()
    with pytest.raises(PsephosError, match="left out for a numeric target"):
        build_report(study.out, positive="x")


def page_score(study, model):
    return next(one.score for one in study.summary() if one.model == model)


def starting():
    X, _ = data()
    X[3, 0] = np.nan
    return pd.DataFrame(X, columns=[f"column {j}" for j in range(4)])
