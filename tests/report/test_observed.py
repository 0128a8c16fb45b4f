"""A study of numbers says how large errors are and for whom, and shows the worst cases."""

import csv
import json

import numpy as np
import pytest
from scipy.stats import norm
from sklearn.metrics import mean_absolute_error

from psephos import CARTRegressor, compare
from psephos.protocol import Protocol
from psephos.protocol.tables.table import table_from_arrays
from psephos.report import build_report, summarise, summarise_validation
from psephos.report.study.options import PageOptions
from psephos.validation import validate, write_validation


@pytest.fixture(scope="module")
def study(tmp_path_factory):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(90, 4))
    y = np.round(10 * X[:, 0] + np.where(X[:, 0] > 0.8, 6, 1) * rng.normal(size=90), 3)
    out = tmp_path_factory.mktemp("numbers") / "study"
    models = ["cart-regressor", "proset-regressor"]
    small = Protocol("small", draws=1, inner_folds=2, folds=3)
    ids = [f"<i>{i}</i>" for i in range(90)]
    table = table_from_arrays(X, y, ids=ids, target_name="dose", task="numbers")
    compare(table, models=models, protocol=small, out=out, n_jobs=1)
    return out


def predictions(study, model):
    with (study / "predictions.csv").open(encoding="utf-8", newline="") as file:
        rows = [row for row in csv.DictReader(file) if row["model"] == model]
    return {int(r["row"]): (float(r["truth"]), float(r["predicted"])) for r in rows}


def test_three_sentences_of_ninety_words_with_intervals(study):
    first = summarise(study)["first"]
    assert len(first) == 3
    assert len(" ".join(first).split()) <= 90
    assert all("95 % interval" in one for one in (first[0], first[2]))


def test_where_it_errs_most_is_that_of_predictions(study):
    report = summarise(study)
    shown = report["observed"]
    own = predictions(study, shown["label"])
    y, f = np.array([own[i] for i in sorted(own)]).T
    assert report["first"][2] == f"It {shown['lead']}"
    sizes = [float(row[2]) for row in shown["parts"]]
    worst = shown["parts"][int(np.argmax(sizes))]
    assert f"is {worst[0]} ({worst[1]} cases): mean absolute error {worst[2]}" in shown["lead"]
    cut = float(worst[0].replace("−", "-").split()[-1])
    mine = y > cut if worst[0].startswith("above") else y <= cut
    assert mine.sum() == int(worst[1])
    assert float(worst[2]) == pytest.approx(mean_absolute_error(y[mine], f[mine]), rel=5e-3)
    errors = np.abs(y - f)[mine]
    half = norm.ppf(0.975) * errors.std(ddof=1) / np.sqrt(len(errors))
    low, high = map(float, worst[3].split(" to "))
    assert (low, high) == pytest.approx((errors.mean() - half, errors.mean() + half), rel=1e-2)
    order = sorted(own, key=lambda i: -abs(own[i][1] - own[i][0]))[:10]
    assert [row[0] for row in shown["worst"]] == order
    assert [row[1] for row in shown["worst"]] == [f"case {i + 1}" for i in order]


def decimals(text):
    return len(text.partition(".")[2])


def test_no_number_of_a_row_is_more_precise_than_the_others(study):
    shown = summarise(study)["observed"]
    for _, _, y, f, error, _ in shown["worst"]:
        y, f, error = (text.replace("−", "-") for text in (y, f, error))
        assert decimals(y) <= decimals(f) == decimals(error)
        assert float(error) == pytest.approx(float(f) - float(y), abs=1.1 * 10 ** -decimals(f))
    assert all(decimals(row[4]) == decimals(row[2]) for row in shown["parts"])


def test_every_model_has_its_dots_and_its_worst_cases_can_be_opened(study):
    island = summarise(study)["island"]
    for key, one in island["observed"]["models"].items():
        own = predictions(study, key)
        assert [place for place, *_ in one["dots"]] == sorted(own)
        assert [y for _, y, _ in one["dots"]] == pytest.approx(
            [own[i][0] for i in sorted(own)], abs=6e-3
        )
        assert [row[0] for row in island["number"]["models"][key]["cases"]] == [
            row[0] for row in one["worst"]
        ]
    with (study / "predictions.csv").open(encoding="utf-8", newline="") as file:
        rows = [row for row in csv.DictReader(file) if row["model"] == "proset-regressor"]
    names = [name for name in rows[0] if name.startswith("q")]
    ends = {int(r["row"]): [float(r[names[k]]) for k in (0, -1)] for r in rows}
    stated = island["observed"]["models"]["proset-regressor"]["stated"]
    assert np.array(stated) == pytest.approx(np.array([ends[i] for i in sorted(ends)]), abs=6e-3)


def test_a_page_without_cases_names_none(study, tmp_path):
    options = PageOptions(cases="none")
    report = summarise(study, None, options)
    shown, island = report["observed"], report["island"]
    assert shown["worst"] == []
    assert "dots" not in shown
    assert "the worst cases are not listed" in shown["note"]
    assert "squares" not in shown["note"].lower()  # a page without script draws none
    assert "Squares count ten cases and more" in shown["drawn"]
    assert all(not one["cases"] for one in island["number"]["models"].values() if "cases" in one)
    for one in island["observed"]["models"].values():
        assert not {n for column in one["cells"] for n in column} & set(range(1, 10))
        assert min(int(row[1]) for row in one["parts"]) >= 10
    text = build_report(study, tmp_path / "none.html", cases="none").read_text("utf-8")
    for y, f in predictions(study, shown["label"]).values():
        assert f"{y}," not in text
        assert f"{f:.4g}," not in text or len(f"{f:.4g}") < 4


def test_ids_are_text_and_only_where_they_are_wanted(study):
    assert "<i>" not in json.dumps(summarise(study)["island"]["observed"])
    named = summarise(study, None, PageOptions(ids=True))["observed"]
    assert named["worst"][0][1].startswith("<i>")


@pytest.mark.parametrize("cases", ["rounded", "none"])
def test_a_validation_of_numbers_shows_the_same_of_its_cohort(tmp_path, cases):
    rng = np.random.default_rng(2)
    X = rng.normal(size=(160, 2))
    y = X[:, 0] + rng.normal(size=160)
    found = validate(CARTRegressor(max_depth=2).fit(X[:80], y[:80]), X[80:], y[80:])
    write_validation(found, tmp_path / "v")
    report = summarise_validation(tmp_path / "v", PageOptions(cases=cases))
    rows = found.frame("predictions")
    errors = (rows["predicted"] - rows["truth"]).abs().astype(float).to_numpy()
    shown = report["observed"]
    assert sum(int(row[1]) for row in shown["parts"]) == 80
    sizes = [int(row[1]) * float(row[2]) for row in shown["parts"]]
    assert sum(sizes) / 80 == pytest.approx(errors.mean(), rel=1e-2)
    worst = np.argsort(-errors)[:10].tolist()
    assert [row[0] for row in shown["worst"]] == (worst if cases == "rounded" else [])
    assert ("case by case" in report["carries"]) == (cases == "rounded")
    assert "in the cohort" in build_report(tmp_path / "v", cases=cases).read_text("utf-8")


def test_intervals_of_sizes_begin_at_0_and_far_predictions_stand_at_the_rim(tmp_path):
    X = np.repeat([0.0, 1.0], 20)[:, None]
    model = CARTRegressor(max_depth=1).fit(X, np.repeat([0.25, 9.0], 20))
    cohort = np.repeat([0.0, 1.0, 0.0], [59, 1, 20])[:, None]
    y = np.r_[np.full(40, 0.25), np.linspace(0, 1, 40)]
    write_validation(validate(model, cohort, y), tmp_path / "v")
    shown = summarise_validation(tmp_path / "v")["observed"]
    (low, high), parts = shown["ends"], shown["parts"]
    assert (low, high) == pytest.approx((0.0, 1.2))  # predicted 9, and at least .2 of the range off
    assert all(float(row[3].split(" to ")[0]) >= 0 for row in parts)
    assert any(row[3].startswith("0.00 to") or row[3].startswith("0 to") for row in parts)
