"""Accuracy against columns: what is ranked, what is fitted again, and what the folder keeps."""

import json
from dataclasses import replace

import joblib
import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_array_equal
from scipy.sparse import csc_array
from sklearn.ensemble import BaggingClassifier, RandomForestClassifier
from sklearn.linear_model import LinearRegression, LogisticRegression, Ridge
from sklearn.metrics import balanced_accuracy_score
from sklearn.multiclass import OneVsRestClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler
from sklearn.svm import SVC
from sklearn.tree import DecisionTreeClassifier

from psephos import PsephosError
from psephos.cli.words import show_knees
from psephos.estimator.contender import Shape
from psephos.protocol import (
    CurveDisplay,
    compare,
    known_models,
    paired_difference,
    selection_stability,
    table_from_arrays,
)
from psephos.protocol.evaluation.splits import PROTOCOLS, outer_splits
from psephos.protocol.evaluation.stability import positions_of
from psephos.protocol.running.columns import importances
from psephos.protocol.running.curve import curve_points, curve_tasks, ranked_columns
from psephos.protocol.running.progress import Forecast, plan_words
from psephos.protocol.running.runner import _tasks
from psephos.protocol.running.tasks import cheapest, fitted_part, inner_parts, shape_of
from psephos.report import build_report, summarise

RNG = np.random.default_rng(3)
X = RNG.normal(size=(90, 9))
Y = np.where(X[:, 2] + X[:, 6] + 0.4 * RNG.normal(size=90) > 0, "ill", "well")
KIND = RNG.integers(3, size=90)
NAMES = ["majority", "sklearn-l1-logistic", "cart", "sklearn-svm-rbf"]


def mixed():
    """A category, missing values and groups beside numbers."""
    values = np.column_stack([KIND, X])
    values[RNG.random(values.shape) < 0.02] = np.nan
    return table_from_arrays(values, Y, categorical=[0], groups=np.repeat(np.arange(45), 2))


@pytest.fixture(scope="module", name="given")
def _given(tmp_path_factory):
    table, folder = mixed(), tmp_path_factory.mktemp("curve") / "study"
    return table, folder, compare(table, models=NAMES, protocol="demo", n_jobs=1, curve=True,
                                  out=folder)  # fmt: skip


# ------------------------------------------------------------------- ranking
@pytest.mark.parametrize(
    "model",
    [
        DecisionTreeClassifier(max_depth=3),
        RandomForestClassifier(20, random_state=0),
        make_pipeline(StandardScaler(), LogisticRegression()),
        OneVsRestClassifier(LogisticRegression()),
        BaggingClassifier(DecisionTreeClassifier(max_depth=2), 40, max_features=6, random_state=0),
        known_models()["adaboost"].build({"n_estimators": 20}, Shape(9, 2), 0),
    ],
)
def test_what_decides_is_ranked_first(model):
    found = importances(model.fit(X, Y), X)
    assert set(np.argsort(-found)[:2].tolist()) == {2, 6}
    assert (found >= 0).all()


def test_a_coefficient_counts_in_deviations_of_its_column_and_members_count_alike():
    scale = np.array([1, 1, 1e-3, 1, 1, 1, 1e3, 1, 1])
    y = X[:, 2] + X[:, 6] / 2
    found = importances(LinearRegression().fit(X * scale, y), X * scale)
    assert found[2] / found[6] == pytest.approx(2 * X[:, 2].std() / X[:, 6].std())
    assert importances(SVC().fit(X, Y), X) is None
    coded = make_pipeline(OneHotEncoder(sparse_output=False), Ridge(1e-6))
    one = importances(coded.fit(KIND[:, None], (KIND == 1) * 1.0), KIND[:, None])
    assert one.shape == (1,)
    assert one[0] > 0


@pytest.mark.parametrize("name", ["sklearn-l1-logistic", "sklearn-svm-rbf", "cart"])
def test_the_ranking_does_not_see_the_test_part(name):
    table, plan = mixed(), PROTOCOLS["demo"]
    task = _tasks(table, plan, [known_models()[name]], outer_splits(table, plan, 0), 0)[0]
    ranked = ranked_columns(task, {}, table)
    values, y = table.X.copy(), table.y.copy()
    values[task.test] = values[task.test[::-1]] * [1, *[-5] * 9]
    y[task.test] = np.where(y[task.test] == "ill", "well", "ill")
    assert_array_equal(ranked_columns(task, {}, replace(table, X=values, y=y)), ranked)
    assert {3, 7} <= set(ranked[:3].tolist())  # the category is the first column


def test_of_a_wide_table_the_columns_that_differ_most_are_permuted():
    wide = np.hstack([RNG.normal(size=(90, 300)), X])
    table, plan = table_from_arrays(wide, Y), PROTOCOLS["demo"]
    models = [known_models()["sklearn-k-nn"]]
    task = _tasks(table, plan, models, outer_splits(table, plan, 0), 0)[0]
    ranked = ranked_columns(task, {}, table)
    assert len(ranked) == 256
    assert {302, 306} <= set(ranked.tolist())


# ------------------------------------------------------------------- points
def test_a_point_is_the_tuned_model_on_its_first_columns(given):
    table, _, study = given
    tuned = {(r["model"], r["repeat"], r["fold"]): r for r in study.results}
    splits = outer_splits(table, PROTOCOLS["demo"], 0)
    build = known_models()["sklearn-l1-logistic"].build
    rows = [r for r in study.curve if r["model"] == "sklearn-l1-logistic"]
    assert [r["k"] for r in rows[:5]] == [1, 2, 4, 8, "all"]
    for row in rows:
        fit = tuned[row["model"], row["repeat"], row["fold"]]
        columns = positions_of(row["columns"])
        assert (
            row["columns_used"]
            == len(columns)
            == min(row["columns_used"] if row["k"] == "all" else row["k"], fit["columns_used"])
        )
        if row["k"] == "all" or row["seconds"] is None:
            assert row["balanced_accuracy"] == fit["balanced_accuracy"]
            assert row["columns"] == fit["columns"]
            continue
        train, test = splits[row["fold"]]
        narrow = table.part(np.array(columns))
        model = build(json.loads(fit["params"]), shape_of(narrow), 0)
        model.fit(narrow.X[train], table.codes[train])
        said = model.predict(narrow.X[test])
        assert row["balanced_accuracy"] == balanced_accuracy_score(table.codes[test], said)


def test_the_table_has_prices_stability_and_the_knee_of_each_model(given):
    study = given[2]
    curve = CurveDisplay.from_comparison(study).frame()
    assert list(dict.fromkeys(curve["model"])) == NAMES[1:]  # the majority ranks nothing
    rows = pd.DataFrame(study.curve)
    own = rows[rows["model"] == "sklearn-svm-rbf"]
    scores = own.pivot(index="fold", columns="k", values="balanced_accuracy")
    ratio = own["n_test"].sum() / own["n_train"].sum()
    told = curve[curve["model"] == "sklearn-svm-rbf"].set_index("columns")
    for k in (1, 2, 4, 8):
        price = paired_difference(scores["all"], scores[k], ratio)
        assert told.loc[k, ["price", "low", "high"]].tolist() == pytest.approx(
            [price.mean, price.low, price.high]
        )
        sets = [positions_of(one) for one in own[own["k"] == k]["columns"]]
        assert told.loc[k, "stability"] == pytest.approx(selection_stability(sets, 10).value)
    means = scores.mean()
    best = scores[means.idxmax()]
    near = means >= means.max() - best.std() / np.sqrt(len(best)) - 1e-12
    knee = min(10 if k == "all" else k for k in means.index[near])
    assert told.index[told["knee"]].tolist() == [knee]
    assert set(told.loc[2, ["k", "folds", "failed"]]) == {2, 5, 0}


def test_a_point_that_fails_is_kept_as_that_and_is_no_knee():
    def build(params, shape, seed):
        if shape.n_columns in (2, 3):
            raise PsephosError("not on two columns.")
        return known_models()["sklearn-l1-logistic"].build({"C": 5.0}, shape, seed)

    model = replace(known_models()["sklearn-l1-logistic"], name="choosy", build=build,
                    distributions={})  # fmt: skip
    study = compare(X, Y, [model], "demo", n_jobs=1, curve=True)
    assert not study.failures
    failed = [row for row in study.curve if row["status"] != "ok"]
    assert {row["k"] for row in failed} == {2}
    assert failed[0]["error"] == "not on two columns."
    points = CurveDisplay.from_comparison(study).points
    assert next(p["k"] for p in points if p["knee"]) in (4, 8, None)
    assert {p["k"]: p["failed"] for p in points} == dict.fromkeys((1, 4, 8, None), 0) | {2: 5}
    assert np.isnan(next(p["score"] for p in points if p["k"] == 2))


def test_the_views_of_a_point_are_those_of_its_columns():
    views = (("blood", ("b", "a")), ("urine", ("f",)), ("scan", ("c", "g")))
    table = table_from_arrays(X, Y)
    table = replace(table, names=tuple("abcdefghi"), views=views)
    assert table.part(np.array([1, 6])).views == (("blood", ("b",)), ("scan", ("g",)))
    assert shape_of(table.part(np.array([1, 6]))).views == [("blood", (0,)), ("scan", (1,))]
    known = known_models()["multi-view"]

    def build(params, shape, seed):
        return known.build(params, shape, seed).set_params(estimator=DecisionTreeClassifier())

    models = [replace(known, build=build), "sklearn-l1-logistic"]
    study = compare(table, models=models, protocol="demo", n_jobs=1, curve=True)
    assert [row["error"] for row in study.curve if row["status"] != "ok"] == []
    assert {row["k"] for row in study.curve if row["model"] == "multi-view"} == {1, 2, 4, "all"}


def test_points_that_failed_are_named_and_tried_again(tmp_path, capsys):
    broken = [True]

    def build(params, shape, seed):
        if broken[0] and shape.n_columns <= 2:
            raise PsephosError("case 7 is not for two columns.")
        return known_models()["sklearn-l1-logistic"].build({"C": 5.0}, shape, seed)

    model = replace(known_models()["sklearn-l1-logistic"], name="choosy", build=build,
                    distributions={})  # fmt: skip
    study = compare(X, Y, [model], "demo", n_jobs=1, curve=True, out=tmp_path / "s")
    words = (
        "Points of the curve that failed: choosy on 1 column (in 5 of 5 folds) and choosy on 2 "
        "columns (in 5 of 5 folds); a point that failed in more folds"
    )
    show_knees(study)
    told = capsys.readouterr().out
    assert words in told
    assert told.endswith("The first error in curve.csv: case 7 is not for two columns.\n")
    page = summarise(tmp_path / "s")
    assert page["curve"]["failed"].startswith(words)
    assert [row["marks"] for row in page["curve"]["rows"]][:2] == ["failed in 5 folds"] * 2
    assert page["curve"]["failed"] in build_report(tmp_path / "s").read_text("utf-8")
    assert all(len(point) == 4 for point in page["island"]["curve"]["lines"][0]["points"])
    broken[0] = False
    again = compare(X, Y, [model], "demo", n_jobs=1, curve=True, out=tmp_path / "s")
    assert {row["status"] for row in again.curve} == {"ok"}
    show_knees(again)
    assert "failed" not in capsys.readouterr().out


def test_numbers_classes_and_sparse_tables_have_curves():
    y = X[:, 2] + X[:, 6] + 0.3 * RNG.normal(size=90)
    study = compare(X, y, ["sklearn-lasso", "sklearn-k-nn-regressor", "mean"], "demo",
                    n_jobs=1, curve=True)  # fmt: skip
    points = {(p["model"], p["k"]): p for p in CurveDisplay.from_comparison(study).points}
    assert points["sklearn-lasso", 2]["score"] > 0.6 > points["sklearn-lasso", 1]["score"]
    assert points["sklearn-k-nn-regressor", 2]["score"] > 0.4
    three = np.digitize(y, [-0.7, 0.7]).astype(str)
    sparse = csc_array(np.where(np.abs(X) > 0.4, X, 0.0))
    study = compare(sparse, three, ["cart", "sklearn-l1-logistic"], "demo", n_jobs=1, curve=True)
    assert {p["model"] for p in curve_points(study.curve, study.about)} == {
        "cart",
        "sklearn-l1-logistic",
    }


# ------------------------------------------------------------------- the folder, and the page
def test_a_study_made_without_a_curve_gets_one_without_its_fits(given, tmp_path):
    table, folder, study = given
    plain = compare(table, models=NAMES, protocol="demo", n_jobs=1, out=tmp_path / "s")
    assert not plain.curve
    assert not (tmp_path / "s" / "curve.csv").exists()
    before = (tmp_path / "s" / "journal.jsonl").read_text().count("\n")
    n_points = 5 * len(NAMES)
    with joblib.parallel_config("threading"):
        later = compare(table, models=NAMES, protocol="demo", n_jobs=2, out=tmp_path / "s",
                        curve=True)  # fmt: skip
    lines = (tmp_path / "s" / "journal.jsonl").read_text().count("\n")
    assert lines == before + n_points
    for name in ("results.csv", "curve.csv", "refits.csv"):
        assert (tmp_path / "s" / name).read_bytes() == (folder / name).read_bytes(), name
    assert [row["columns"] for row in later.curve] == [row["columns"] for row in study.curve]
    again = compare(table, models=NAMES, protocol="demo", n_jobs=1, out=tmp_path / "s", curve=True)
    assert (tmp_path / "s" / "journal.jsonl").read_text().count("\n") == lines
    assert again.curve == later.curve
    timed = pd.read_csv(tmp_path / "s" / "timings.csv")
    assert timed["k"].notna().sum() == sum(row["seconds"] is not None for row in later.curve)
    compare(table, models=NAMES[:2], protocol="demo", n_jobs=1, out=tmp_path / "s")
    assert not (tmp_path / "s" / "curve.csv").exists()


def test_the_page_has_the_table_and_the_lines(given):
    _, folder, study = given
    report = summarise(folder)
    points = CurveDisplay.from_comparison(study).points
    assert len(report["curve"]["rows"]) == len(points)
    drawn = [point for line in report["island"]["curve"]["lines"] for point in line["points"]]
    assert [point[:2] for point in drawn] == [(p["columns"], p["score"]) for p in points]
    assert "curve-lines" in build_report(folder).read_text("utf-8")
    text = (folder / "curve.csv").read_text("utf-8")
    try:
        (folder / "curve.csv").write_text(text.replace("0.", "0;", 1), "utf-8")
        with pytest.raises(PsephosError, match=r"curve\.csv"):
            summarise(folder)
    finally:
        (folder / "curve.csv").write_text(text, "utf-8")


def test_what_has_no_curve_is_refused_in_a_sentence(given):
    labels = (X[:, :2] > 0).astype(int)
    with pytest.raises(PsephosError, match="several labels per row: leave curve"):
        compare(X, labels, ["cart"], "demo", n_jobs=1, curve=True)
    partly = np.where(RNG.random(90) < 0.3, "", Y)
    with pytest.raises(PsephosError, match="partly recorded labels: leave curve"):
        compare(X, partly, ["cart"], "demo", n_jobs=1, curve=True, unlabeled="")
    with pytest.raises(PsephosError, match="call compare with curve=True"):
        CurveDisplay.from_comparison(replace(given[2], curve=()))
    with pytest.raises(PsephosError, match="from_comparison needs the result of compare"):
        CurveDisplay.from_comparison("study")


def test_the_picture_has_a_line_a_model(given):
    pytest.importorskip("matplotlib", reason="needs matplotlib (extra 'plot')").use("Agg")
    axes = CurveDisplay.from_comparison(given[2]).plot()
    assert [text.get_text() for text in axes.get_legend().get_texts()] == NAMES[1:]


def test_the_plan_counts_the_fits_of_the_curve(given):
    table, plan = given[0], PROTOCOLS["demo"]
    fits = _tasks(table, plan, [known_models()["cart"]], outer_splits(table, plan, 0), 0)
    tasks = [*fits, *curve_tasks(table, fits)]
    words = plan_words(tasks, Forecast(tasks, shape_of(table), 1))
    # five folds of the tuned fit again, and of 1, 2, 4 and 8 of 10 columns
    assert words[0].endswith("up to 25 of them for the curve")
    alone = plan_words(fits, Forecast(fits, shape_of(table), 1))
    assert "curve" not in alone[0]


def test_of_a_cost_each_point_has_a_threshold_of_its_own(tmp_path):
    table = table_from_arrays(X, Y, positive="ill")
    compare(table, models=["sklearn-l1-logistic"], protocol="demo", n_jobs=1, curve=True,
            cost={"missed": 5}, out=tmp_path / "study")  # fmt: skip
    rows = pd.read_csv(tmp_path / "study" / "curve.csv", dtype={"k": str})
    narrow = rows[rows["k"] != "all"]
    assert (narrow.groupby(["repeat", "fold"])["threshold"].nunique() > 1).any()
    row = narrow[narrow["k"] == "1"].iloc[0]
    model = known_models()["sklearn-l1-logistic"]
    plan = replace(PROTOCOLS["demo"], metric="cost@5")
    tasks = _tasks(table, plan, [model], outer_splits(table, plan, 0), 0)
    task = next(t for t in tasks if t.split == (row["repeat"], row["fold"]))
    part, params = (
        table.part(np.array(positions_of(str(row["columns"])))),
        json.loads(row["params"]),
    )
    p, yes = [], []
    for train, test in inner_parts(task, part, part.codes):
        fitted = fitted_part(replace(task, train=train), params, shape_of(part), part)
        p.append(fitted.predict_proba(part.X[test])[:, 0])
        yes.append(part.codes[test] == 0)
    assert row["threshold"] == cheapest(np.concatenate(p), np.concatenate(yes), 5.0)
    keys = {t.key for t in curve_tasks(table, tasks)}
    plain = [replace(t, protocol=PROTOCOLS["demo"]) for t in tasks]
    assert not keys & {t.key for t in curve_tasks(table, plain)}  # other points, other keys
